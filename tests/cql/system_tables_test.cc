#include "engine/cql/schema/system_tables.h"

#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/shard/catalog.h"
#include "gtest/gtest.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace system_tables_test {

struct TableColumns {
  const char* keyspace;
  const char* table;
  const char* columns;
};

// As drivers and tools know them. Source: ScyllaDB db/system_keyspace.cc,
// db/system_distributed_keyspace.cc.
const TableColumns kScylla[] = {
    {"system", "local",
     "(key text) | bootstrapped text, broadcast_address inet, cluster_name text, cql_version text, "
     "data_center text, gossip_generation int, host_id uuid, listen_address inet, "
     "native_protocol_version text, partitioner text, rack text, release_version text, "
     "rpc_address inet, schema_version uuid, supported_features text, tokens set<text>, "
     "truncated_at map<uuid, blob>"},
    {"system", "peers",
     "(peer inet) | data_center text, host_id uuid, preferred_ip inet, rack text, "
     "release_version text, rpc_address inet, schema_version uuid, supported_features text, "
     "tokens set<text>"},
    {"system", "versions", "(key text) | build_id text, build_mode text, version text"},
    {"system", "clients",
     "(address inet), port int, client_type text | client_options map<text, text>, "
     "connection_stage text, driver_name text, driver_version text, hostname text, "
     "protocol_version int, scheduling_group text, shard_id int, ssl_cipher_suite text, "
     "ssl_enabled boolean, ssl_protocol text, username text"},
    {"system", "built_views", "(keyspace_name text), view_name text"},
    {"system", "IndexInfo", "(table_name text), index_name text"},
    {"system", "scylla_local", "(key text) | value text"},
    {"system", "hints", "(target_id uuid), hint_id timeuuid, message_version int | mutation blob"},
    {"system", "batchlog", "(id uuid) | data blob, version int, written_at timestamp"},
    {"system", "peer_events", "(peer inet) | hints_dropped map<uuid, int>"},
    {"system", "range_xfers", "(token_bytes blob) | requested_at timestamp"},
    {"system", "compactions_in_progress",
     "(id uuid) | columnfamily_name text, inputs set<int>, keyspace_name text"},
    {"system", "compaction_history",
     "(id uuid) | bytes_in bigint, bytes_out bigint, columnfamily_name text, compacted_at "
     "timestamp, keyspace_name text, rows_merged map<int, bigint>"},
    {"system", "sstable_activity",
     "(keyspace_name text, columnfamily_name text, generation int) | rate_120m double, "
     "rate_15m double"},
    {"system", "large_partitions",
     "(keyspace_name text, table_name text), sstable_name text, partition_size bigint, "
     "partition_key text | compaction_time timestamp, dead_rows bigint, range_tombstones bigint, "
     "rows bigint"},
    {"system", "large_rows",
     "(keyspace_name text, table_name text), sstable_name text, row_size bigint, partition_key "
     "text, clustering_key text | compaction_time timestamp"},
    {"system", "large_cells",
     "(keyspace_name text, table_name text), sstable_name text, cell_size bigint, partition_key "
     "text, clustering_key text, column_name text | collection_elements bigint, compaction_time "
     "timestamp"},
    {"system", "service_levels_v2", "(service_level text) | timeout duration, workload_type text"},
    {"system_distributed", "service_levels",
     "(service_level text) | timeout duration, workload_type text"},
    {"system", "view_build_status_v2",
     "(keyspace_name text, view_name text), host_id uuid | status text"},
    {"system_distributed", "view_build_status",
     "(keyspace_name text, view_name text), host_id uuid | status text"},
    {"system", "views_builds_in_progress",
     "(keyspace_name text), view_name text | generation_number int, last_token text"},
    {"system", "scylla_views_builds_in_progress",
     "(keyspace_name text), view_name text, cpu_id int | first_token text, generation_number int, "
     "next_token text"},
    {"system_traces", "sessions",
     "(session_id uuid) | client inet, command text, coordinator inet, duration int, "
     "parameters map<text, text>, request text, request_size int, response_size int, "
     "started_at timestamp, username text"},
    {"system_traces", "events",
     "(session_id uuid), event_id timeuuid | activity text, scylla_parent_id bigint, "
     "scylla_span_id bigint, source inet, source_elapsed int, thread text"},
};

class SystemTablesTest : public ::testing::Test {
 protected:
  SystemTablesTest() {
    node_.host_id = Uuid::FromRandomBits(1, 2);
    catalog_.Change([](Schema& schema) {
      shard::Catalog::PutTable(schema, testing::ListItems("ks", /*local=*/true));
      return true;
    });
  }

  std::vector<testing::NamedRow> Read(const cql::VirtualTables& tables, const char* name,
                                      std::string_view local_address = {}) {
    const auto schema = catalog_.snapshot();
    const cql::VirtualTable* table = tables.Find("system", name);
    EXPECT_NE(table, nullptr) << name;
    return testing::NamedRows(*table, {*schema, node_, local_address, 0});
  }

  shard::Catalog catalog_;
  cql::NodeFacts node_;
};

TEST_F(SystemTablesTest, ColumnsAreThoseOfScylla) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  for (const TableColumns& expected : kScylla) {
    const cql::VirtualTable* table = tables.Find(expected.keyspace, expected.table);
    ASSERT_NE(table, nullptr) << expected.table;
    EXPECT_EQ(testing::ColumnsAsText(*table->definition()), expected.columns) << expected.table;
  }
  Schema schema;
  tables.PutInto(schema);
  size_t count = 0;
  for (const auto& [name, keyspace] : schema.keyspaces) count += keyspace->tables.size();
  EXPECT_EQ(count, std::size(kScylla)) << "and there are no others";
}

// Source: ScyllaDB db/system_keyspace.cc, large_partitions, large_rows, large_cells.
TEST_F(SystemTablesTest, LargeThingsComeBySizeFromTheLargest) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  for (const char* name : {"large_partitions", "large_rows", "large_cells"}) {
    for (const ColumnDefinition& column : tables.Find("system", name)->definition()->columns) {
      EXPECT_EQ(column.descending, column.name.ends_with("_size")) << name << " " << column.name;
    }
  }
}

TEST_F(SystemTablesTest, DriversTellTheLooksApartByWhatIsMissing) {
  cql::VirtualTables scylla;
  cql::AddSystemTables(scylla, /*looks_like_scylla=*/true, nullptr);
  EXPECT_EQ(scylla.Find("system", "peers_v2"), nullptr);
  EXPECT_EQ(scylla.Find("system_virtual_schema", "tables"), nullptr);
  cql::VirtualTables cassandra;
  cql::AddSystemTables(cassandra, /*looks_like_scylla=*/false, nullptr);
  EXPECT_NE(cassandra.Find("system", "peers_v2"), nullptr);
  EXPECT_NE(cassandra.Find("system_virtual_schema", "tables"), nullptr);
  EXPECT_EQ(cassandra.Find("system", "versions"), nullptr);
  EXPECT_EQ(cassandra.Find("system", "clients"), nullptr);
}

TEST_F(SystemTablesTest, LocalSaysWhatDriversInsistOn) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  const std::string address("\x0a\1\2\3");
  const auto rows = Read(tables, "local", address);
  ASSERT_EQ(rows.size(), 1u);
  const testing::NamedRow& local = rows[0];
  EXPECT_EQ(local.at("key"), "local");
  EXPECT_EQ(local.at("bootstrapped"), "COMPLETED");
  EXPECT_EQ(local.at("release_version"), "3.0.8");
  EXPECT_EQ(local.at("cql_version"), "3.3.1");
  EXPECT_EQ(local.at("native_protocol_version"), "4");
  EXPECT_EQ(local.at("partitioner"), "org.apache.cassandra.dht.Murmur3Partitioner");
  EXPECT_EQ(local.at("data_center"), "datacenter1");
  EXPECT_EQ(local.at("rack"), "rack1");
  EXPECT_EQ(local.at("host_id"), std::string(node_.host_id.view()));
  EXPECT_EQ(local.at("schema_version"), std::string(catalog_.snapshot()->version.view()));
  EXPECT_EQ(testing::AsElements(DataType::Set(CqlType::kText), local.at("tokens")),
            std::vector<std::string>{"0"});
  for (const char* column : {"rpc_address", "broadcast_address", "listen_address"}) {
    EXPECT_EQ(local.at(column), address) << column;
  }
  EXPECT_EQ(local.at("truncated_at"), std::nullopt);
}

TEST_F(SystemTablesTest, WhoComesThroughNoSocketIsSentToLoopback) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  EXPECT_EQ(Read(tables, "local")[0].at("rpc_address"), std::string({"\x7f\0\0\1", 4}));
}

TEST_F(SystemTablesTest, ASchemaChangeIsSeenInLocal) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  const auto before = Read(tables, "local")[0].at("schema_version");
  catalog_.Change([](Schema&) { return true; });
  EXPECT_NE(Read(tables, "local")[0].at("schema_version"), before);
}

TEST_F(SystemTablesTest, ThereAreNoPeers) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  EXPECT_TRUE(Read(tables, "peers").empty());
}

TEST_F(SystemTablesTest, IndexesAreBuilt) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  const auto rows = Read(tables, "IndexInfo");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("table_name"), "ks");
  EXPECT_EQ(rows[0].at("index_name"), "list_items_by_value");
}

TEST_F(SystemTablesTest, TheVersionIsThere) {
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, nullptr);
  EXPECT_EQ(Read(tables, "versions").at(0).at("version"), "2025.1.0");
}

class TwoClients final : public cql::ClientDirectory {
 public:
  std::vector<cql::ClientFacts> Clients() const override {
    cql::ClientFacts first;
    first.address = std::string("\x0a\0\0\1", 4);
    first.port = 50'001;
    first.protocol_version = 4;
    first.shard = 3;
    first.driver_name = "python";
    first.driver_version = "3.29";
    first.user = "anonymous";
    first.options = {{"CQL_VERSION", "3.4.5"}, {"DRIVER_NAME", "python"}, {"APPLICATION", "x"}};
    cql::ClientFacts second;
    second.address = first.address;
    second.port = 1024;
    second.protocol_version = 4;
    second.is_ready = false;
    return {first, second};
  }
};

// Sources: ScyllaDB db/virtual_tables.cc, clients_table; client_data.cc, to_string.
TEST_F(SystemTablesTest, ClientsAreThoseWhoAreConnected) {
  const TwoClients directory;
  cql::VirtualTables tables;
  cql::AddSystemTables(tables, /*looks_like_scylla=*/true, &directory);
  const auto rows = Read(tables, "clients");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(testing::AsInt(rows[0].at("port")), 1024) << "by port within an address";
  EXPECT_EQ(rows[0].at("driver_name"), std::nullopt);
  EXPECT_EQ(rows[0].at("username"), "anonymous") << "who has not said it yet";
  EXPECT_EQ(rows[0].at("connection_stage"), "AUTHENTICATING");
  EXPECT_TRUE(testing::AsMap(rows[0].at("client_options")).empty());
  EXPECT_EQ(rows[1].at("connection_stage"), "READY");
  EXPECT_EQ(rows[1].at("driver_name"), "python");
  EXPECT_EQ(testing::AsInt(rows[1].at("shard_id")), 3);
  EXPECT_EQ(
      testing::AsMap(rows[1].at("client_options")),
      (PropertyMap{{"APPLICATION", "x"}, {"CQL_VERSION", "3.4.5"}, {"DRIVER_NAME", "python"}}));
  EXPECT_EQ(rows[1].at("ssl_cipher_suite"), std::nullopt);

  cql::VirtualTables alone;
  cql::AddSystemTables(alone, /*looks_like_scylla=*/true, nullptr);
  EXPECT_TRUE(Read(alone, "clients").empty());
}

}  // namespace system_tables_test
}  // namespace liststore
