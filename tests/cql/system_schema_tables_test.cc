#include "engine/cql/schema/system_schema_tables.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/cql/schema/system_tables.h"
#include "engine/model/token.h"
#include "engine/shard/catalog.h"
#include "gtest/gtest.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace system_schema_tables_test {

using testing::NamedRow;

struct TableColumns {
  const char* table;
  const char* columns;
};

// As drivers know them.
const TableColumns kScylla[] = {
    {"keyspaces",
     "(keyspace_name text) | durable_writes boolean, replication frozen<map<text, text>>"},
    {"tables",
     "(keyspace_name text), table_name text | bloom_filter_fp_chance double, "
     "caching frozen<map<text, text>>, comment text, compaction frozen<map<text, text>>, "
     "compression frozen<map<text, text>>, crc_check_chance double, "
     "dclocal_read_repair_chance double, default_time_to_live int, "
     "extensions frozen<map<text, blob>>, flags frozen<set<text>>, gc_grace_seconds int, id uuid, "
     "max_index_interval int, memtable_flush_period_in_ms int, min_index_interval int, "
     "read_repair_chance double, speculative_retry text"},
    {"columns",
     "(keyspace_name text), table_name text, column_name text | clustering_order text, "
     "column_name_bytes blob, kind text, position int, type text"},
    {"indexes",
     "(keyspace_name text), table_name text, index_name text | kind text, "
     "options frozen<map<text, text>>"},
    {"views",
     "(keyspace_name text), view_name text | base_table_id uuid, base_table_name text, "
     "bloom_filter_fp_chance double, caching frozen<map<text, text>>, comment text, "
     "compaction frozen<map<text, text>>, compression frozen<map<text, text>>, "
     "crc_check_chance double, dclocal_read_repair_chance double, default_time_to_live int, "
     "extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid, "
     "include_all_columns boolean, max_index_interval int, memtable_flush_period_in_ms int, "
     "min_index_interval int, read_repair_chance double, speculative_retry text, "
     "where_clause text"},
    {"view_virtual_columns", "(keyspace_name text), view_name text, column_name text | type text"},
    {"types",
     "(keyspace_name text), type_name text | field_names frozen<list<text>>, "
     "field_types frozen<list<text>>"},
    {"functions",
     "(keyspace_name text), function_name text, argument_types frozen<list<text>> | "
     "argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, "
     "return_type text"},
    {"aggregates",
     "(keyspace_name text), aggregate_name text, argument_types frozen<list<text>> | "
     "final_func text, initcond text, return_type text, state_func text, state_type text"},
    {"scylla_aggregates",
     "(keyspace_name text), aggregate_name text, argument_types frozen<list<text>> | "
     "reduce_func text, state_type text"},
    {"triggers",
     "(keyspace_name text), table_name text, trigger_name text | "
     "options frozen<map<text, text>>"},
    {"dropped_columns",
     "(keyspace_name text), table_name text, column_name text | dropped_time timestamp, type text"},
    {"computed_columns",
     "(keyspace_name text), table_name text, column_name text | computation blob"},
    {"scylla_keyspaces",
     "(keyspace_name text) | initial_tablets int, storage_options frozen<map<text, text>>, "
     "storage_type text"},
    {"scylla_tables",
     "(keyspace_name text), table_name text | cdc frozen<map<text, text>>, "
     "committed_by_group0 boolean, partitioner text, version uuid"},
};

// A table whose names need quotes, with everything that columns can be.
std::shared_ptr<const TableDefinition> Quoted() {
  TableDefinition table;
  table.keyspace = "My Keyspace";
  table.name = "T";
  table.id = Uuid::FromRandomBits(3, 4);
  table.columns = {{"p\"k", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                   {"Up", CqlType::kText, ColumnKind::kClustering, 0, false},
                   {"Down", CqlType::kTimestamp, ColumnKind::kClustering, 1, true},
                   {"fixed", CqlType::kText, ColumnKind::kStatic, 0, false},
                   {"many", DataType::Set(CqlType::kText), ColumnKind::kRegular, 0, false},
                   {"Value", CqlType::kText, ColumnKind::kRegular, 0, false}};
  table.indexes = {{"Local", "Value", true}, {"global", "Value", false}};
  table.options.default_ttl_seconds = 60;
  table.options.comment = "it's one";
  CompleteTable(table);
  return std::make_shared<const TableDefinition>(std::move(table));
}

class SystemSchemaTest : public ::testing::Test {
 protected:
  SystemSchemaTest() {
    cql::AddSystemTables(tables_, /*looks_like_scylla=*/true, nullptr);
    cql::AddSystemSchemaTables(tables_, /*looks_like_scylla=*/true);
    catalog_.Change([this](Schema& schema) {
      tables_.PutInto(schema);
      shard::Catalog::PutTable(schema, testing::ListItems("ks", /*local=*/true));
      shard::Catalog::PutTable(schema, Quoted());
      return true;
    });
  }

  // Rows of one keyspace, in the order in which they come.
  std::vector<NamedRow> Read(const char* name, std::string_view keyspace) {
    const auto schema = catalog_.snapshot();
    std::vector<NamedRow> rows =
        testing::NamedRows(*tables_.Find("system_schema", name), {*schema, node_, {}, 0});
    std::erase_if(rows, [keyspace](const NamedRow& row) {
      return row.at("keyspace_name") != std::string(keyspace);
    });
    return rows;
  }

  shard::Catalog catalog_;
  cql::NodeFacts node_;
  cql::VirtualTables tables_;
};

TEST_F(SystemSchemaTest, ColumnsAreThoseOfScylla) {
  for (const TableColumns& expected : kScylla) {
    const cql::VirtualTable* table = tables_.Find("system_schema", expected.table);
    ASSERT_NE(table, nullptr) << expected.table;
    EXPECT_EQ(testing::ColumnsAsText(*table->definition()), expected.columns) << expected.table;
  }
  EXPECT_EQ(catalog_.snapshot()->FindKeyspace("system_schema")->tables.size(), std::size(kScylla))
      << "and there are no others";
}

TEST_F(SystemSchemaTest, CassandraHasNoneOfScyllasOwn) {
  cql::VirtualTables cassandra;
  cql::AddSystemSchemaTables(cassandra, /*looks_like_scylla=*/false);
  EXPECT_EQ(cassandra.Find("system_schema", "scylla_tables"), nullptr);
  EXPECT_NE(cassandra.Find("system_schema", "tables"), nullptr);
}

TEST_F(SystemSchemaTest, KeyspacesNameTheirStrategy) {
  const auto user = Read("keyspaces", "ks");
  ASSERT_EQ(user.size(), 1u);
  EXPECT_EQ(user[0].at("durable_writes"), "\1");
  EXPECT_EQ(testing::AsMap(user[0].at("replication")),
            (PropertyMap{{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                         {"replication_factor", "1"}}));
  for (const char* keyspace : {"system", "system_schema"}) {
    const auto rows = Read("keyspaces", keyspace);
    ASSERT_EQ(rows.size(), 1u) << keyspace;
    EXPECT_EQ(testing::AsMap(rows[0].at("replication")),
              (PropertyMap{{"class", "org.apache.cassandra.locator.LocalStrategy"}}));
  }
  // Sources: ScyllaDB db/system_distributed_keyspace.cc, tracing/trace_keyspace_helper.cc.
  for (const auto& [keyspace, factor] :
       {std::pair("system_distributed", "3"), std::pair("system_traces", "2")}) {
    EXPECT_EQ(testing::AsMap(Read("keyspaces", keyspace).at(0).at("replication")),
              (PropertyMap{{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                           {"replication_factor", factor}}));
  }
}

TEST_F(SystemSchemaTest, PartitionsComeByToken) {
  const auto schema = catalog_.snapshot();
  for (const char* name : {"keyspaces", "tables", "columns"}) {
    const cql::VirtualTable* table = tables_.Find("system_schema", name);
    Token last = Token::FromBiased(0);
    for (const NamedRow& row : testing::NamedRows(*table, {*schema, node_, {}, 0})) {
      const Token token = TokenOf(*row.at("keyspace_name"));
      EXPECT_LE(last, token) << name;
      last = token;
    }
  }
}

TEST_F(SystemSchemaTest, TablesShowTheirOptions) {
  const auto rows = Read("tables", "My Keyspace");
  ASSERT_EQ(rows.size(), 1u);
  const NamedRow& table = rows[0];
  EXPECT_EQ(table.at("table_name"), "T");
  EXPECT_EQ(testing::AsElements(DataType::Set(CqlType::kText), table.at("flags")),
            std::vector<std::string>{"compound"});
  EXPECT_EQ(table.at("id"), std::string(Uuid::FromRandomBits(3, 4).view()));
  EXPECT_EQ(testing::AsDouble(table.at("bloom_filter_fp_chance")), 0.01);
  EXPECT_EQ(testing::AsDouble(table.at("crc_check_chance")), 1.0);
  EXPECT_EQ(testing::AsInt(table.at("default_time_to_live")), 60);
  EXPECT_EQ(testing::AsInt(table.at("gc_grace_seconds")), 864'000);
  EXPECT_EQ(testing::AsInt(table.at("max_index_interval")), 2048);
  EXPECT_EQ(testing::AsInt(table.at("min_index_interval")), 128);
  EXPECT_EQ(testing::AsInt(table.at("memtable_flush_period_in_ms")), 0);
  EXPECT_EQ(table.at("comment"), "it's one");
  EXPECT_EQ(table.at("speculative_retry"), "99.0PERCENTILE");
  EXPECT_EQ(testing::AsMap(table.at("caching")),
            (PropertyMap{{"keys", "ALL"}, {"rows_per_partition", "ALL"}}));
  EXPECT_EQ(testing::AsMap(table.at("compaction")),
            (PropertyMap{{"class", "SizeTieredCompactionStrategy"}}));
  EXPECT_TRUE(testing::AsMap(table.at("extensions")).empty());
}

TEST_F(SystemSchemaTest, CountersAreFlagged) {
  catalog_.Change([](Schema& schema) {
    shard::Catalog::PutTable(
        schema, testing::NewTable("ks", "counts",
                                  {{"k", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                                   {"a", CqlType::kCounter, ColumnKind::kRegular, 0, false},
                                   {"b", CqlType::kCounter, ColumnKind::kRegular, 0, false}}));
    return true;
  });
  EXPECT_EQ(
      testing::AsElements(DataType::Set(CqlType::kText), Read("tables", "ks").at(0).at("flags")),
      (std::vector<std::string>{"compound", "counter"}));
}

// name, kind, position, clustering_order, type.
using ColumnRow = std::tuple<std::string, std::string, int, std::string, std::string>;

// Those of one table.
std::vector<ColumnRow> ColumnRows(const std::vector<NamedRow>& rows, const std::string& table) {
  std::vector<ColumnRow> columns;
  for (const NamedRow& row : rows) {
    if (row.at("table_name") != table) continue;
    EXPECT_EQ(row.at("column_name"), row.at("column_name_bytes"));
    columns.emplace_back(*row.at("column_name"), *row.at("kind"),
                         testing::AsInt(row.at("position")), *row.at("clustering_order"),
                         *row.at("type"));
  }
  return columns;
}

TEST_F(SystemSchemaTest, ColumnsSayWhatTheyAre) {
  EXPECT_EQ(ColumnRows(Read("columns", "ks"), "list_items"),
            (std::vector<ColumnRow>{{"entity_id", "partition_key", 1, "NONE", "text"},
                                    {"feature_key", "partition_key", 0, "NONE", "text"},
                                    {"item_key", "clustering", 0, "DESC", "text"},
                                    {"value", "regular", -1, "NONE", "blob"}}));
  EXPECT_EQ(ColumnRows(Read("columns", "My Keyspace"), "T"),
            (std::vector<ColumnRow>{{"Down", "clustering", 1, "DESC", "timestamp"},
                                    {"Up", "clustering", 0, "ASC", "text"},
                                    {"Value", "regular", -1, "NONE", "text"},
                                    {"fixed", "static", -1, "NONE", "text"},
                                    {"many", "regular", -1, "NONE", "set<text>"},
                                    {"p\"k", "partition_key", 0, "NONE", "int"}}));
}

TEST_F(SystemSchemaTest, CassandraWritesOrdersInLowerCase) {
  node_.looks_like_scylla = false;
  const auto rows = ColumnRows(Read("columns", "My Keyspace"), "T");
  EXPECT_EQ(std::get<3>(rows.at(0)), "desc");
  EXPECT_EQ(std::get<3>(rows.at(1)), "asc");
  EXPECT_EQ(std::get<3>(rows.at(2)), "none");
}

TEST_F(SystemSchemaTest, IndexesNameTheirTarget) {
  const auto target = [](const NamedRow& row) {
    return testing::AsMap(row.at("options")).at("target");
  };
  const auto items = Read("indexes", "ks");
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].at("table_name"), "list_items");
  EXPECT_EQ(items[0].at("index_name"), "list_items_by_value");
  EXPECT_EQ(items[0].at("kind"), "COMPOSITES");
  EXPECT_EQ(target(items[0]), R"({"pk":["feature_key","entity_id"],"ck":["value"]})");
  const auto quoted = Read("indexes", "My Keyspace");
  ASSERT_EQ(quoted.size(), 2u);
  EXPECT_EQ(target(quoted[0]), R"({"pk":["p\"k"],"ck":["Value"]})") << "names are not quoted";
  EXPECT_EQ(target(quoted[1]), R"("Value")") << "a global one is the column as CQL writes it";
}

// Names are quoted where CQL has to read them. Source: ScyllaDB
// index/secondary_index_manager.cc, create_view_for_index.
TEST_F(SystemSchemaTest, ViewsOfIndexesNameTheirTable) {
  const auto views = Read("views", "My Keyspace");
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].at("view_name"), "Local_index");
  EXPECT_EQ(views[1].at("view_name"), "global_index");
  EXPECT_NE(views[0].at("id"), views[1].at("id"));
  for (const NamedRow& view : views) {
    EXPECT_EQ(view.at("base_table_name"), "T");
    EXPECT_EQ(view.at("base_table_id"), std::string(Uuid::FromRandomBits(3, 4).view()));
    EXPECT_EQ(view.at("where_clause"), "\"Value\" IS NOT NULL");
    EXPECT_EQ(testing::AsInt(view.at("default_time_to_live")), 0) << "as ScyllaDB's views have";
    EXPECT_EQ(view.at("comment"), "");
  }
  EXPECT_EQ(ColumnRows(Read("columns", "My Keyspace"), "global_index"),
            (std::vector<ColumnRow>{{"Down", "clustering", 3, "DESC", "timestamp"},
                                    {"Up", "clustering", 2, "ASC", "text"},
                                    {"Value", "partition_key", 0, "NONE", "text"},
                                    {"idx_token", "clustering", 0, "ASC", "bigint"},
                                    {"p\"k", "clustering", 1, "ASC", "int"}}));
}

TEST_F(SystemSchemaTest, TheSystemDescribesItself) {
  bool found = false;
  for (const ColumnRow& column : ColumnRows(Read("columns", "system_schema"), "keyspaces")) {
    found = found ||
            column == ColumnRow{"replication", "regular", -1, "NONE", "frozen<map<text, text>>"};
  }
  EXPECT_TRUE(found);
  const auto tables = Read("scylla_tables", "ks");
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].at("table_name"), "list_items");
  EXPECT_EQ(tables[0].at("partitioner"), std::nullopt);
  EXPECT_EQ(tables[1].at("table_name"), "list_items_by_value_index");
}

TEST_F(SystemSchemaTest, WhatThereIsNoneOfIsEmpty) {
  const auto schema = catalog_.snapshot();
  for (const char* name :
       {"types", "functions", "aggregates", "scylla_aggregates", "triggers", "scylla_keyspaces"}) {
    EXPECT_TRUE(tables_.Find("system_schema", name)->Rows({*schema, node_, {}, 0}).empty());
  }
}

}  // namespace system_schema_tables_test
}  // namespace liststore
