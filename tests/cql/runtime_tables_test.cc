#include "engine/cql/schema/runtime_tables.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/shard/catalog.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace runtime_tables_test {

class RuntimeTablesTest : public ::testing::Test {
 protected:
  RuntimeTablesTest() {
    node_.host_id = Uuid::FromRandomBits(1, 2);
    node_.start_seconds = 1000;
    cql::AddRuntimeTables(tables_, [this](const cql::VirtualReadContext&) { return facts_; });
    cql::AddSizeEstimates(tables_, [](const TableDefinition& table) {
      EXPECT_EQ(table.name, "list_items") << "what is computed has no size";
      return cql::TableSize{100, 25'000};
    });
    catalog_.Change([this](Schema& schema) {
      shard::Catalog::PutTable(schema, testing::ListItems("ks", /*local=*/true));
      tables_.PutInto(schema);
      return true;
    });
  }

  std::vector<testing::NamedRow> Read(const char* name) {
    const auto schema = catalog_.snapshot();
    const cql::VirtualTable* table = tables_.Find("system", name);
    EXPECT_NE(table, nullptr) << name;
    const std::string address("\x0a\1\2\3");
    return testing::NamedRows(*table, {*schema, node_, address, 1'060'500'000'000});
  }

  cql::RuntimeFacts facts_;
  cql::VirtualTables tables_;
  shard::Catalog catalog_;
  cql::NodeFacts node_;
};

struct TableColumns {
  const char* table;
  const char* columns;
};

// Source: ScyllaDB db/virtual_tables.cc, build_schema of each table.
TEST_F(RuntimeTablesTest, ColumnsAreThoseOfScylla) {
  const TableColumns cases[] = {
      {"cluster_status",
       "(peer inet) | dc text, host_id uuid, load text, owns float, status text, tokens int, "
       "up boolean"},
      {"token_ring",
       "(keyspace_name text), table_name text, start_token text, endpoint inet | dc text, "
       "end_token text, rack text"},
      {"snapshots",
       "(keyspace_name text), table_name text, snapshot_name text | live bigint, total bigint"},
      {"protocol_servers",
       "(name text) | listen_addresses frozen<list<text>>, protocol text, protocol_version text"},
      {"runtime_info", "(group text), item text | value text"},
      {"size_estimates",
       "(keyspace_name text), table_name text, range_start text, range_end text | "
       "mean_partition_size bigint, partitions_count bigint"},
      {"raft_state", "(group_id timeuuid), disposition ascii, server_id uuid | can_vote boolean"},
  };
  for (const TableColumns& c : cases) {
    const cql::VirtualTable* table = tables_.Find("system", c.table);
    ASSERT_NE(table, nullptr) << c.table;
    EXPECT_EQ(testing::ColumnsAsText(*table->definition()), c.columns) << c.table;
  }
}

// Source: ScyllaDB db/size_estimates_virtual_reader.cc.
TEST_F(RuntimeTablesTest, SizesGoWithThePartsOfTheRing) {
  node_.tokens = {"4"};
  const auto lines = [this] {
    std::vector<std::string> sizes;
    for (const testing::NamedRow& row : Read("size_estimates")) {
      const auto text = [&row](const char* column) { return row.at(column).value_or("null"); };
      const auto number = [&](const char* column) {
        return std::to_string(cql::DecodeInteger(text(column)));
      };
      sizes.push_back(text("keyspace_name") + "." + text("table_name") + " " + text("range_start") +
                      " " + text("range_end") + " " + number("partitions_count") + " of " +
                      number("mean_partition_size"));
    }
    return sizes;
  };
  EXPECT_EQ(lines(), std::vector<std::string>{"ks.list_items 4 4 100 of 250"});
  // A quarter, a half, and a quarter round the end.
  node_.tokens = {"4611686018427387904", "-4611686018427387904", "0"};
  EXPECT_EQ(lines(), (std::vector<std::string>{
                         "ks.list_items -4611686018427387904 0 25 of 250",
                         "ks.list_items 0 4611686018427387904 25 of 250",
                         "ks.list_items 4611686018427387904 -4611686018427387904 50 of 250"}));
}

// Source: ScyllaDB db/virtual_tables.cc, token_ring_table; service/storage_service.cc,
// describe_ring.
TEST_F(RuntimeTablesTest, TheRingHasARowForEachTokenOfEachKeyspace) {
  node_.tokens = {"5", "-7", "10"};
  std::vector<std::string> ring;
  for (const testing::NamedRow& row : Read("token_ring")) {
    EXPECT_EQ(row.at("keyspace_name"), "ks") << "those of the node alone are in no ring";
    EXPECT_EQ(row.at("table_name"), "<ALL>");
    EXPECT_EQ(row.at("endpoint"), "\x0a\1\2\3");
    EXPECT_EQ(row.at("dc"), "datacenter1");
    EXPECT_EQ(row.at("rack"), "rack1");
    ring.push_back(*row.at("start_token") + " to " + *row.at("end_token"));
  }
  EXPECT_EQ(ring, (std::vector<std::string>{"-7 to 5", "10 to -7", "5 to 10"}));
  node_.tokens = {"0"};
  const auto whole = Read("token_ring");
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].at("start_token"), "0");
  EXPECT_EQ(whole[0].at("end_token"), "0");
}

// Source: ScyllaDB db/virtual_tables.cc, cluster_status_table.
TEST_F(RuntimeTablesTest, TheClusterIsThisNode) {
  facts_.stored_bytes = 4321;
  node_.tokens = {"5", "-7"};
  const auto rows = Read("cluster_status");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("peer"), "\x0a\1\2\3");
  EXPECT_EQ(rows[0].at("host_id"), std::string(node_.host_id.view()));
  EXPECT_EQ(rows[0].at("status"), "NORMAL");
  EXPECT_EQ(rows[0].at("load"), "4321");
  EXPECT_EQ(testing::AsInt(rows[0].at("tokens")), 2);
  EXPECT_EQ(rows[0].at("owns"), std::string("\x3f\x80\0\0", 4));
  EXPECT_EQ(rows[0].at("up"), std::string("\1"));
}

// Source: ScyllaDB db/virtual_tables.cc, protocol_servers_table; transport/controller.cc.
TEST_F(RuntimeTablesTest, TheOneServerIsThatOfCql) {
  facts_.cql_addresses = {"127.0.0.1:9042", "127.0.0.1:19042"};
  const auto rows = Read("protocol_servers");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("name"), "native transport");
  EXPECT_EQ(rows[0].at("protocol"), "cql");
  EXPECT_EQ(rows[0].at("protocol_version"), "3.3.1");
  EXPECT_EQ(testing::AsElements(DataType::List(CqlType::kText), rows[0].at("listen_addresses")),
            facts_.cql_addresses);
}

struct Item {
  const char* group;
  const char* item;
  const char* value;
};

// Source: ScyllaDB db/virtual_tables.cc, runtime_info_table.
TEST_F(RuntimeTablesTest, RuntimeInfo) {
  facts_.memory_limit_bytes = 1000;
  facts_.memory_used_bytes = 300;
  facts_.stored_bytes = 200;
  facts_.partitions = 7;
  const Item cases[] = {
      {"cache", "entries", "0"},
      {"cache", "hit_rate_recent", "0"},
      {"cache", "hit_rate_total", "nan"},
      {"cache", "hits", "0"},
      {"cache", "memory_free", "0"},
      {"cache", "memory_total", "0"},
      {"cache", "memory_used", "0"},
      {"cache", "misses", "0"},
      {"cache", "requests_recent", "0"},
      {"cache", "requests_total", "0"},
      {"generic", "gossip_active", "true"},
      {"generic", "incremental_backup_enabled", "false"},
      {"generic", "load", "0"},
      {"generic", "trace_probability", "0"},
      {"generic", "uptime", "60 seconds"},
      {"memory", "free", "700"},
      {"memory", "total", "1000"},
      {"memory", "used", "300"},
      {"memtable", "entries", "7"},
      {"memtable", "memory_free", "100"},
      {"memtable", "memory_total", "300"},
      {"memtable", "memory_used", "200"},
  };
  std::map<std::pair<std::string, std::string>, std::string> found;
  for (const testing::NamedRow& row : Read("runtime_info")) {
    found[{*row.at("group"), *row.at("item")}] = *row.at("value");
  }
  EXPECT_EQ(found.size(), std::size(cases));
  for (const Item& c : cases) {
    EXPECT_EQ((found[{c.group, c.item}]), c.value) << c.group << " " << c.item;
  }
}

TEST_F(RuntimeTablesTest, ThereAreNoSnapshots) {
  EXPECT_TRUE(Read("snapshots").empty());
  EXPECT_TRUE(Read("raft_state").empty());
}

}  // namespace runtime_tables_test
}  // namespace liststore
