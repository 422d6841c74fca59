#include "engine/cql/schema/describe.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/create_statement.h"
#include "engine/cql/schema/system_schema_tables.h"
#include "engine/cql/schema/system_tables.h"
#include "engine/cql/syntax/parser.h"
#include "engine/shard/catalog.h"
#include "gtest/gtest.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace describe_test {

using Kind = cql::DescribeStatement::Kind;

constexpr char kListItemsText[] = R"(CREATE TABLE ks.list_items (
    feature_key text,
    entity_id text,
    item_key text,
    value blob,
    PRIMARY KEY ((feature_key, entity_id), item_key)
) WITH CLUSTERING ORDER BY (item_key DESC)
    AND bloom_filter_fp_chance = 0.01
    AND caching = {'keys': 'ALL', 'rows_per_partition': 'ALL'}
    AND comment = ''
    AND compaction = {'class': 'SizeTieredCompactionStrategy'}
    AND compression = {'sstable_compression': 'org.apache.cassandra.io.compress.LZ4Compressor'}
    AND crc_check_chance = 1
    AND default_time_to_live = 0
    AND gc_grace_seconds = 864000
    AND max_index_interval = 2048
    AND memtable_flush_period_in_ms = 0
    AND min_index_interval = 128
    AND speculative_retry = '99.0PERCENTILE';
)";

constexpr char kQuotedText[] = R"(CREATE TABLE "Other"."T" (
    "p""k" int,
    "Up" text,
    "Down" timestamp,
    "token" text STATIC,
    "Value" frozen<list<int>>,
    many map<text, frozen<set<int>>>,
    PRIMARY KEY ("p""k", "Up", "Down")
) WITH CLUSTERING ORDER BY ("Up" ASC, "Down" DESC)
    AND bloom_filter_fp_chance = 0.01
    AND caching = {'keys': 'ALL', 'rows_per_partition': 'ALL'}
    AND comment = 'it''s one'
    AND compaction = {'class': 'X', 'a': '1', 'z': '2'}
    AND compression = {}
    AND crc_check_chance = 0.125
    AND default_time_to_live = 60
    AND gc_grace_seconds = 864000
    AND max_index_interval = 2048
    AND memtable_flush_period_in_ms = 0
    AND min_index_interval = 128
    AND speculative_retry = '99.0PERCENTILE';
)";

std::shared_ptr<const TableDefinition> Quoted() {
  TableDefinition table;
  table.keyspace = "Other";
  table.name = "T";
  table.id = Uuid::FromRandomBits(3, 4);
  table.columns = {
      {"p\"k", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
      {"Up", CqlType::kText, ColumnKind::kClustering, 0, false},
      {"Down", CqlType::kTimestamp, ColumnKind::kClustering, 1, true},
      {"token", CqlType::kText, ColumnKind::kStatic, 0, false},
      {"many", DataType::Map(CqlType::kText, DataType::Frozen(DataType::Set(CqlType::kInt))),
       ColumnKind::kRegular, 0, false},
      {"Value", DataType::Frozen(DataType::List(CqlType::kInt)), ColumnKind::kRegular, 0, false}};
  table.indexes = {{"by_value", "Value", false}, {"Again", "Value", true}};
  table.options.default_ttl_seconds = 60;
  table.options.comment = "it's one";
  table.options.crc_check_chance = 0.125;
  table.options.compaction = {{"z", "2"}, {"class", "X"}, {"a", "1"}};
  table.options.compression = {};
  CompleteTable(table);
  return std::make_shared<const TableDefinition>(std::move(table));
}

class DescribeTest : public ::testing::Test {
 protected:
  DescribeTest() {
    cql::VirtualTables tables;
    cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
    cql::AddSystemSchemaTables(tables, /*looks_like_scylla=*/true);
    tables.PutInto(schema_);
    shard::Catalog::PutTable(schema_, testing::ListItems("ks", /*local=*/true));
    shard::Catalog::PutTable(schema_, Quoted());
  }

  cql::CqlOr<cql::Description> Run(Kind kind, const char* keyspace, const char* name,
                                   std::string_view current = {}) {
    statement_.kind = kind;
    statement_.name = {keyspace, name, {}};
    return cql::Describe(statement_, {schema_, node_, {}, 0}, current);
  }
  // Rows as "keyspace type name"; the statements go to `statements_`.
  std::vector<std::string> Names(Kind kind, const char* keyspace, const char* name,
                                 std::string_view current = {}) {
    const cql::CqlOr<cql::Description> description = Run(kind, keyspace, name, current);
    statements_.clear();
    if (!description.ok()) return {description.error().message};
    std::vector<std::string> names;
    for (const cql::VirtualRow& row : description->rows) {
      EXPECT_EQ(row.size(), description->columns.size());
      names.push_back(*row[0] + " " + *row[1] + " " + *row[2]);
      if (row.size() > 3) statements_.push_back(*row[3]);
    }
    return names;
  }
  std::string Error(Kind kind, const char* keyspace, const char* name,
                    std::string_view current = {}) {
    const cql::CqlOr<cql::Description> description = Run(kind, keyspace, name, current);
    if (description.ok()) return "";
    EXPECT_EQ(description.error().code, CqlErrorCode::kInvalid);
    return description.error().message;
  }

  Schema schema_;
  cql::NodeFacts node_;
  cql::DescribeStatement statement_;
  std::vector<std::string> statements_;
};

using Lines = std::vector<std::string>;

TEST_F(DescribeTest, ATableComesWithItsIndexes) {
  const Lines expected = {"ks table list_items", "ks index list_items_by_value_index"};
  EXPECT_EQ(Names(Kind::kTable, "ks", "list_items"), expected);
  ASSERT_EQ(statements_.size(), 2u);
  EXPECT_EQ(statements_[0], kListItemsText);
  EXPECT_EQ(
      statements_[1],
      "CREATE INDEX list_items_by_value ON ks.list_items((feature_key, entity_id), value);\n");
  EXPECT_EQ(Names(Kind::kTable, "", "list_items", "ks"), expected) << "of the current keyspace";
  EXPECT_EQ(Names(Kind::kAny, "", "list_items", "ks"), expected) << "by its name alone";
  EXPECT_EQ(Names(Kind::kAny, "ks", "list_items"), expected);
}

TEST_F(DescribeTest, NamesAreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(Names(Kind::kTable, "Other", "T"),
            (Lines{R"("Other" table "T")", R"("Other" index "Again_index")",
                   R"("Other" index by_value_index)"}));
  EXPECT_EQ(statements_.at(0), kQuotedText);
  EXPECT_EQ(statements_.at(1),
            "CREATE INDEX \"Again\" ON \"Other\".\"T\"((\"p\"\"k\"), full(\"Value\"));\n");
  EXPECT_EQ(statements_.at(2), "CREATE INDEX by_value ON \"Other\".\"T\"(full(\"Value\"));\n");
}

TEST_F(DescribeTest, AnIndexIsFoundByItsName) {
  EXPECT_EQ(Names(Kind::kIndex, "ks", "list_items_by_value"),
            Lines{"ks index list_items_by_value_index"});
  EXPECT_EQ(Names(Kind::kAny, "", "list_items_by_value", "ks"),
            Lines{"ks index list_items_by_value_index"});
}

TEST_F(DescribeTest, AKeyspaceComesWithEverythingUnlessOnlyItIsMeant) {
  EXPECT_EQ(Names(Kind::kKeyspace, "ks", ""),
            (Lines{"ks keyspace ks", "ks table list_items", "ks index list_items_by_value_index"}));
  EXPECT_EQ(statements_.at(0),
            "CREATE KEYSPACE ks WITH replication = {'class': "
            "'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '1'} AND "
            "durable_writes = true AND tablets = {'enabled': false};");
  EXPECT_EQ(Names(Kind::kKeyspace, "", "", "ks").size(), 3u);
  EXPECT_EQ(Names(Kind::kAny, "", "ks", "Other").size(), 3u) << "before tables of that name";
  statement_.only = true;
  EXPECT_EQ(Names(Kind::kKeyspace, "ks", ""), Lines{"ks keyspace ks"});
}

TEST_F(DescribeTest, TheSchemaIsThatOfUsersUnlessItIsFull) {
  EXPECT_EQ(Names(Kind::kSchema, "", ""),
            (Lines{R"("Other" keyspace "Other")", R"("Other" table "T")",
                   R"("Other" index "Again_index")", R"("Other" index by_value_index)",
                   "ks keyspace ks", "ks table list_items", "ks index list_items_by_value_index"}));
  statement_.full = true;
  EXPECT_GT(Names(Kind::kSchema, "", "").size(), 30u);
}

TEST_F(DescribeTest, InternalsAreTheId) {
  statement_.with_internals = true;
  Names(Kind::kTable, "Other", "T");
  EXPECT_NE(statements_.at(0).find(") WITH ID = " + Uuid::FromRandomBits(3, 4).ToString() +
                                   "\nAND CLUSTERING ORDER BY"),
            std::string::npos)
      << statements_[0];
}

// Source: ScyllaDB schema/schema.cc, get_create_statement.
TEST_F(DescribeTest, InternalsAreTheColumnsThatWereDroppedToo) {
  TableDefinition table;
  table.keyspace = "ks";
  table.name = "D";
  table.columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                   {"c", CqlType::kInt, ColumnKind::kClustering, 0, false},
                   {"s", CqlType::kText, ColumnKind::kStatic, 0, false},
                   {"v", CqlType::kInt, ColumnKind::kRegular, 0, false}};
  table.dropped = {{"Gone", {DataType::List(CqlType::kInt), 7}}, {"s", {CqlType::kAscii, -8}}};
  CompleteTable(table);
  const std::string text = cql::CreateTableText(table, /*with_internals=*/true);
  const std::string head =
      "CREATE TABLE ks.\"D\" (\n    p int,\n    c int,\n    v int,\n    \"Gone\" list<int>,\n"
      "    s ascii,\n    PRIMARY KEY (p, c)\n) WITH ID = ";
  EXPECT_EQ(text.substr(0, head.size()), head);
  const std::string tail =
      "';\n\nALTER TABLE ks.\"D\" DROP \"Gone\" USING TIMESTAMP 7;"
      "\nALTER TABLE ks.\"D\" DROP s USING TIMESTAMP -8;"
      "\nALTER TABLE ks.\"D\" ADD s text STATIC;";
  EXPECT_EQ(text.substr(text.size() - tail.size()), tail);
  EXPECT_EQ(cql::CreateTableText(table, /*with_internals=*/false).find("Gone"), std::string::npos);
}

// Source: ScyllaDB schema/schema.cc, schema_properties.
TEST_F(DescribeTest, ExtensionsStandBehindTheOtherOptionsByName) {
  TableDefinition table;
  table.keyspace = "ks";
  table.name = "t";
  table.columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false}};
  table.options.schema_extensions = {
      {"tombstone_gc", PropertyMap{{"mode", "timeout"}, {"propagation_delay_in_seconds", "3600"}}},
      {"cdc", PropertyMap{}},
      {"paxos_grace_seconds", 10},
      {"scylla_tags", PropertyMap{{"system:synchronous_view_updates", "true"}}}};
  CompleteTable(table);
  const std::string options =
      "\n    AND speculative_retry = '99.0PERCENTILE'"
      "\n    AND cdc = {}"
      "\n    AND paxos_grace_seconds = 10"
      "\n    AND scylla_tags = {'system:synchronous_view_updates': 'true'}"
      "\n    AND tombstone_gc = {'mode': 'timeout', 'propagation_delay_in_seconds': '3600'}";
  EXPECT_NE(cql::CreateTableText(table, false).find(options + ";\n"), std::string::npos)
      << cql::CreateTableText(table, false);
  table.view = ViewDefinition{"base", {}, false, "p IS NOT NULL"};
  const std::string synchronous = options + "\n    AND synchronous_updates = true;\n";
  EXPECT_NE(cql::CreateViewText(table, false).find(synchronous), std::string::npos)
      << cql::CreateViewText(table, false);
}

TEST_F(DescribeTest, ListingsNameAndDoNotDescribe) {
  const cql::CqlOr<cql::Description> tables = Run(Kind::kTables, "", "", "ks");
  ASSERT_TRUE(tables.ok());
  ASSERT_EQ(tables->columns.size(), 3u);
  EXPECT_EQ(tables->columns[0].first, "keyspace_name");
  EXPECT_EQ(tables->columns[1].first, "type");
  EXPECT_EQ(tables->columns[2].first, "name");
  EXPECT_EQ(Names(Kind::kTables, "", "", "ks"), Lines{"ks table list_items"});
  EXPECT_GT(Names(Kind::kTables, "", "").size(), 20u) << "of all keyspaces";
  EXPECT_EQ(
      Names(Kind::kKeyspaces, "", ""),
      (Lines{R"("Other" keyspace "Other")", "ks keyspace ks", "system keyspace system",
             "system_distributed keyspace system_distributed",
             "system_schema keyspace system_schema", "system_traces keyspace system_traces"}));
  EXPECT_EQ(Names(Kind::kKeyspaces, "", "", "ks"), Lines{"ks keyspace ks"});
  for (const Kind kind : {Kind::kTypes, Kind::kFunctions, Kind::kAggregates}) {
    EXPECT_TRUE(Names(kind, "", "").empty());
  }
}

TEST_F(DescribeTest, TheClusterIsThisNode) {
  const cql::CqlOr<cql::Description> plain = Run(Kind::kCluster, "", "", "system");
  ASSERT_TRUE(plain.ok());
  ASSERT_EQ(plain->columns.size(), 3u);
  EXPECT_EQ(plain->rows.at(0).at(0), "liststore");
  EXPECT_EQ(plain->rows.at(0).at(1), "org.apache.cassandra.dht.Murmur3Partitioner");
  EXPECT_EQ(plain->rows.at(0).at(2), "org.apache.cassandra.locator.SimpleSnitch");

  node_.tokens = {"100", "-5"};
  const cql::CqlOr<cql::Description> ring = Run(Kind::kCluster, "", "", "ks");
  ASSERT_TRUE(ring.ok());
  ASSERT_EQ(ring->columns.size(), 4u);
  EXPECT_EQ(ring->columns[3].first, "range_ownership");
  const DataType& type = ring->columns[3].second;
  EXPECT_EQ(type.ToString(), "map<text, frozen<list<text>>>");
  const std::vector<std::string> elements = testing::AsElements(type, ring->rows.at(0).at(3));
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(elements[0], "-5");
  EXPECT_EQ(elements[2], "100");
  EXPECT_EQ(testing::AsElements(type.parameters()[1], elements[1]), Lines{"127.0.0.1"});
}

TEST_F(DescribeTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(Error(Kind::kTable, "ks", "x"), "Table 'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kTable, "nope", "x"), "'nope' not found in keyspaces");
  EXPECT_EQ(Error(Kind::kTable, "", "x"), "No keyspace specified and no current keyspace");
  EXPECT_EQ(Error(Kind::kKeyspace, "", ""), "'' not found in keyspaces");
  EXPECT_EQ(Error(Kind::kKeyspace, "nope", ""), "'nope' not found in keyspaces");
  EXPECT_EQ(Error(Kind::kIndex, "ks", "x"), "Table for existing index 'x' not found in 'ks'");
  EXPECT_EQ(Error(Kind::kMaterializedView, "ks", "x"),
            "Materialized view 'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kType, "ks", "x"), "Type 'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kFunction, "ks", "x"), "Function 'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kAggregate, "ks", "x"), "Aggregate 'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kAny, "", "x"), "'x' not found in keyspaces");
  EXPECT_EQ(Error(Kind::kAny, "", "x", "ks"), "'x' not found in keyspace 'ks'");
  EXPECT_EQ(Error(Kind::kAny, "nope", "x"), "'x' not found in keyspaces");
  EXPECT_EQ(Error(Kind::kTables, "", "", "gone"), "'gone' not found in keyspaces");
}

// ---- What is printed parses, and says what it was printed from.

template <typename T>
T Parsed(const std::string& text) {
  const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
  EXPECT_TRUE(statement.ok()) << text << "\n" << (statement.ok() ? "" : statement.error().message);
  if (!statement.ok() || !std::holds_alternative<T>(statement->node)) {
    ADD_FAILURE() << text;
    return {};
  }
  return std::get<T>(statement->node);
}

PropertyMap MapOf(const cql::Property& property) {
  const auto* map = std::get_if<cql::Property::Map>(&property.value);
  EXPECT_NE(map, nullptr) << property.name;
  return map == nullptr ? PropertyMap() : PropertyMap(map->begin(), map->end());
}

std::string TextOf(const cql::Property& property) {
  const auto* text = std::get_if<std::string>(&property.value);
  EXPECT_NE(text, nullptr) << property.name;
  return text == nullptr ? "" : *text;
}

void CheckOptions(const std::vector<cql::Property>& properties, const TableOptions& options) {
  const std::map<std::string, PropertyMap> maps = {{"caching", options.caching},
                                                   {"compaction", options.compaction},
                                                   {"compression", options.compression}};
  const std::map<std::string, std::string> texts = {
      {"comment", options.comment}, {"speculative_retry", options.speculative_retry}};
  const std::map<std::string, double> numbers = {
      {"bloom_filter_fp_chance", options.bloom_filter_fp_chance},
      {"crc_check_chance", options.crc_check_chance},
      {"default_time_to_live", static_cast<double>(options.default_ttl_seconds)},
      {"gc_grace_seconds", static_cast<double>(options.gc_grace_seconds)},
      {"max_index_interval", options.max_index_interval},
      {"memtable_flush_period_in_ms", options.memtable_flush_period_in_ms},
      {"min_index_interval", options.min_index_interval}};
  EXPECT_EQ(properties.size(), maps.size() + texts.size() + numbers.size());
  for (const cql::Property& property : properties) {
    SCOPED_TRACE(property.name);
    if (maps.contains(property.name)) {
      EXPECT_EQ(MapOf(property), maps.at(property.name));
    } else if (texts.contains(property.name)) {
      EXPECT_EQ(TextOf(property), texts.at(property.name));
    } else {
      EXPECT_EQ(std::stod(TextOf(property)), numbers.at(property.name));
    }
  }
}

void CheckTable(const cql::CreateTableStatement& parsed, const TableDefinition& table) {
  EXPECT_EQ(parsed.table.keyspace, table.keyspace);
  EXPECT_EQ(parsed.table.name, table.name);
  ASSERT_EQ(parsed.columns.size(), table.columns.size());
  for (const auto& column : parsed.columns) {
    const ColumnDefinition* expected = table.FindColumn(column.name);
    ASSERT_NE(expected, nullptr) << column.name;
    EXPECT_EQ(cql::ToString(column.type), expected->type.ToString()) << column.name;
    EXPECT_EQ(column.is_static, expected->kind == ColumnKind::kStatic) << column.name;
  }
  const auto names = [&table](ColumnKind kind) {
    std::vector<std::string> found;
    for (const ColumnDefinition* column : table.ColumnsOf(kind)) found.push_back(column->name);
    return found;
  };
  EXPECT_EQ(parsed.partition_keys,
            std::vector<std::vector<std::string>>{names(ColumnKind::kPartitionKey)});
  EXPECT_EQ(parsed.clustering_key, names(ColumnKind::kClustering));
  ASSERT_EQ(parsed.clustering_order.size(), parsed.clustering_key.size());
  for (const cql::ColumnOrder& order : parsed.clustering_order) {
    EXPECT_EQ(order.descending, table.FindColumn(order.column)->descending) << order.column;
  }
  CheckOptions(parsed.properties, table.options);
}

TEST_F(DescribeTest, TablesParseBack) {
  for (const auto& [keyspace_name, keyspace] : schema_.keyspaces) {
    for (const auto& [name, table] : keyspace->tables) {
      SCOPED_TRACE(keyspace_name + "." + name);
      if (table->is_index_view()) continue;  // described by its index
      CheckTable(
          Parsed<cql::CreateTableStatement>(cql::CreateTableText(*table, /*with_internals=*/false)),
          *table);
      const auto internals =
          Parsed<cql::CreateTableStatement>(cql::CreateTableText(*table, /*with_internals=*/true));
      EXPECT_EQ(internals.properties.size(), 13u) << "and the id";
    }
  }
}

TEST_F(DescribeTest, IndexesParseBack) {
  for (const auto& table :
       {schema_.FindTable("ks", "list_items"), schema_.FindTable("Other", "T")}) {
    for (const IndexDefinition& index : table->indexes) {
      const auto parsed = Parsed<cql::CreateIndexStatement>(cql::CreateIndexText(*table, index));
      EXPECT_EQ(parsed.name, index.name);
      EXPECT_EQ(parsed.table.name, table->name);
      ASSERT_EQ(parsed.targets.size(), index.local ? 2u : 1u);
      EXPECT_EQ(parsed.targets.back().columns, std::vector<std::string>{index.column});
      if (!index.local) continue;
      EXPECT_EQ(parsed.targets[0].kind, cql::IndexTarget::Kind::kColumns);
      EXPECT_EQ(parsed.targets[0].columns.size(), table->CountOf(ColumnKind::kPartitionKey));
    }
  }
}

TEST_F(DescribeTest, KeyspacesParseBack) {
  for (const auto& [name, keyspace] : schema_.keyspaces) {
    const auto parsed = Parsed<cql::CreateKeyspaceStatement>(cql::CreateKeyspaceText(*keyspace));
    EXPECT_EQ(parsed.keyspace, name);
    ASSERT_EQ(parsed.properties.size(), 3u);
    EXPECT_EQ(parsed.properties[0].name, "replication");
    EXPECT_EQ(MapOf(parsed.properties[0]), keyspace->replication);
    EXPECT_EQ(TextOf(parsed.properties[1]), "true");
    EXPECT_EQ(MapOf(parsed.properties[2]), (PropertyMap{{"enabled", "false"}}));
  }
}

}  // namespace describe_test
}  // namespace liststore
