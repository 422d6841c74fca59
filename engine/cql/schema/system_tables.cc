#include "engine/cql/schema/system_tables.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::cql {
namespace {

constexpr std::string_view kLoopback = {"\x7f\0\0\1", 4};
constexpr char kPartitioner[] = "org.apache.cassandra.dht.Murmur3Partitioner";

// The column is an int: it stands still from 2038 on, where ScyllaDB does not start any more
// (gms/generation-number.cc, get_generation_number).
int32_t GossipGeneration(int64_t start_seconds) {
  return static_cast<int32_t>(
      std::min<int64_t>(start_seconds, std::numeric_limits<int32_t>::max()));
}

// The one row: what a driver needs to accept the node. Sources: ScyllaDB `db/system_keyspace.cc`
// (build_bootstrap_info, save_local_info).
void ListLocal(const VirtualReadContext& context, RowCollector& rows) {
  const NodeFacts& node = context.node;
  LS_DCHECK(!node.tokens.empty(), "drivers drop nodes without tokens");
  const std::string address =
      EncodeInet(context.local_address.empty() ? kLoopback : context.local_address);
  rows.Row()
      .Set("key", "local")
      .Set("bootstrapped", "COMPLETED")
      .Set("broadcast_address", address)
      .Set("cluster_name", node.cluster_name)
      .Set("cql_version", node.cql_version)
      .Set("data_center", node.data_center)
      .Set("gossip_generation", EncodeInt(GossipGeneration(node.start_seconds)))
      .Set("host_id", EncodeUuid(node.host_id))
      .Set("listen_address", address)
      .Set("native_protocol_version", "4")
      .Set("partitioner", kPartitioner)
      .Set("rack", node.rack)
      .Set("release_version", node.release_version)
      .Set("rpc_address", address)
      .Set("schema_version", EncodeUuid(context.schema.version))
      .Set("supported_features", "")
      .Set("tokens", EncodeTextSet(node.tokens));
}

void ListVersions(const VirtualReadContext& context, RowCollector& rows) {
  rows.Row()
      .Set("key", "local")
      .Set("build_id", "")
      .Set("build_mode", "release")
      .Set("version", context.node.scylla_version);
}

void ListClients(const ClientDirectory& clients, RowCollector& rows) {
  for (const ClientFacts& client : clients.Clients()) {
    rows.Row()
        .Set("address", EncodeInet(client.address))
        .Set("port", EncodeInt(client.port))
        .Set("client_type", "cql")
        .Set("client_options", EncodeTextMap(client.options))
        .Set("connection_stage", client.is_ready ? "READY" : "AUTHENTICATING")
        .Set("protocol_version", EncodeInt(client.protocol_version))
        .Set("shard_id", EncodeInt(client.shard))
        .Set("ssl_enabled", EncodeBoolean(!client.tls_protocol.empty()))
        .Set("username", client.user.empty() ? "anonymous" : client.user);
    if (!client.tls_protocol.empty()) {
      rows.Set("ssl_protocol", client.tls_protocol);
      rows.Set("ssl_cipher_suite", client.tls_cipher_suite);
    }
    if (!client.driver_name.empty()) rows.Set("driver_name", client.driver_name);
    if (!client.driver_version.empty()) rows.Set("driver_version", client.driver_version);
  }
}

// Which indexes are built: all of them, for they are built before CREATE INDEX answers.
// `table_name` is the keyspace, for a historic reason.
void ListBuiltIndexes(const VirtualReadContext& context, RowCollector& rows) {
  for (const auto& [keyspace_name, keyspace] : context.schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      for (const IndexDefinition& index : table->indexes) {
        rows.Row().Set("table_name", keyspace_name).Set("index_name", index.name);
      }
    }
  }
}

// Calls visit(definition) for each view. To a Cassandra an index has none.
template <typename Visit>
void ForEachView(const VirtualReadContext& context, Visit visit) {
  for (const auto& [keyspace_name, keyspace] : context.schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (!table->view || (table->is_index_view() && !context.node.looks_like_scylla)) continue;
      visit(*table);
    }
  }
}

// The same of views.
void ListBuiltViews(const VirtualReadContext& context, RowCollector& rows) {
  ForEachView(context, [&rows](const TableDefinition& view) {
    rows.Row().Set("keyspace_name", view.keyspace).Set("view_name", view.name);
  });
}

// The same as ScyllaDB has it, for each node.
void ListViewBuilds(const VirtualReadContext& context, RowCollector& rows) {
  ForEachView(context, [&](const TableDefinition& view) {
    rows.Row()
        .Set("keyspace_name", view.keyspace)
        .Set("view_name", view.name)
        .Set("host_id", EncodeUuid(context.node.host_id))
        .Set("status", "SUCCESS");
  });
}

enum class Look : uint8_t {
  kBoth,
  kScyllaOnly,
  kCassandra4  // only a Cassandra, from that version on
};

struct SystemTable {
  TableSpec spec;
  // nullptr: always empty.
  void (*rows)(const VirtualReadContext&, RowCollector&);
  Look look = Look::kBoth;
};

// Sources: ScyllaDB `db/system_keyspace.cc`, `db/virtual_tables.cc`,
// `tracing/trace_keyspace_helper.cc`; Cassandra `SystemKeyspace.java`,
// `VirtualSchemaKeyspace.java`.
constexpr SystemTable kSystemTables[] = {
    {{"system", "local", "key text", "",
      "bootstrapped text, broadcast_address inet, cluster_name text, cql_version text, "
      "data_center text, gossip_generation int, host_id uuid, listen_address inet, "
      "native_protocol_version text, partitioner text, rack text, release_version text, "
      "rpc_address inet, schema_version uuid, supported_features text, tokens set<text>, "
      "truncated_at map<uuid, blob>",
      "this node"},
     ListLocal},
    {{"system", "peers", "peer inet", "",
      "data_center text, host_id uuid, preferred_ip inet, rack text, release_version text, "
      "rpc_address inet, schema_version uuid, supported_features text, tokens set<text>",
      "the other nodes"},
     nullptr},
    {{"system", "peers_v2", "peer inet", "peer_port int",
      "data_center text, host_id uuid, native_address inet, native_port int, preferred_ip inet, "
      "preferred_port int, rack text, release_version text, schema_version uuid, tokens set<text>",
      "the other nodes"},
     nullptr,
     Look::kCassandra4},
    {{"system", "built_views", "keyspace_name text", "view_name text", "", "views that are built"},
     ListBuiltViews},
    {{"system", "view_build_status_v2", "keyspace_name text, view_name text", "host_id uuid",
      "status text", "views that are built, by node"},
     ListViewBuilds,
     Look::kScyllaOnly},
    {{"system_distributed", "view_build_status", "keyspace_name text, view_name text",
      "host_id uuid", "status text", "views that are built, by node"},
     ListViewBuilds},
    {{"system", "views_builds_in_progress", "keyspace_name text", "view_name text",
      "generation_number int, last_token text", "views that are being built"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "scylla_views_builds_in_progress", "keyspace_name text",
      "view_name text, cpu_id int", "first_token text, generation_number int, next_token text",
      "views that are being built"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "IndexInfo", "table_name text", "index_name text", "", "indexes that are built"},
     ListBuiltIndexes},
    {{"system", "versions", "key text", "", "build_id text, build_mode text, version text",
      "the server's version"},
     ListVersions,
     Look::kScyllaOnly},
    {{"system", "scylla_local", "key text", "", "value text", "what the node remembers"},
     nullptr,
     Look::kScyllaOnly},
    // What ScyllaDB notes of its files, of other nodes and of writes that wait for them, and of
    // service levels: nothing.
    {{"system", "hints", "target_id uuid", "hint_id timeuuid, message_version int", "mutation blob",
      "writes that wait for other nodes"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "batchlog", "id uuid", "", "data blob, version int, written_at timestamp",
      "batches that are not applied everywhere"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "peer_events", "peer inet", "", "hints_dropped map<uuid, int>",
      "what happened to other nodes"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "range_xfers", "token_bytes blob", "", "requested_at timestamp",
      "parts of the ring that move"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "compactions_in_progress", "id uuid", "",
      "columnfamily_name text, inputs set<int>, keyspace_name text", "files that are merged"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "compaction_history", "id uuid", "",
      "bytes_in bigint, bytes_out bigint, columnfamily_name text, compacted_at timestamp, "
      "keyspace_name text, rows_merged map<int, bigint>",
      "files that were merged"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "sstable_activity", "keyspace_name text, columnfamily_name text, generation int",
      "", "rate_120m double, rate_15m double", "reads of files"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "large_partitions", "keyspace_name text, table_name text",
      "sstable_name text, partition_size bigint DESC, partition_key text",
      "compaction_time timestamp, dead_rows bigint, range_tombstones bigint, rows bigint",
      "large partitions in files"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "large_rows", "keyspace_name text, table_name text",
      "sstable_name text, row_size bigint DESC, partition_key text, clustering_key text",
      "compaction_time timestamp", "large rows in files"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "large_cells", "keyspace_name text, table_name text",
      "sstable_name text, cell_size bigint DESC, partition_key text, clustering_key text, "
      "column_name text",
      "collection_elements bigint, compaction_time timestamp", "large cells in files"},
     nullptr,
     Look::kScyllaOnly},
    {{"system", "service_levels_v2", "service_level text", "",
      "timeout duration, workload_type text", "service levels"},
     nullptr,
     Look::kScyllaOnly},
    {{"system_distributed", "service_levels", "service_level text", "",
      "timeout duration, workload_type text", "service levels"},
     nullptr,
     Look::kScyllaOnly},
    {{"system_traces", "sessions", "session_id uuid", "",
      "client inet, command text, coordinator inet, duration int, parameters map<text, text>, "
      "request text, request_size int, response_size int, started_at timestamp, username text",
      "requests that were traced"},
     nullptr},
    {{"system_traces", "events", "session_id uuid", "event_id timeuuid",
      "activity text, scylla_parent_id bigint, scylla_span_id bigint, source inet, "
      "source_elapsed int, thread text",
      "what happened in requests that were traced"},
     nullptr},
    {{"system_virtual_schema", "keyspaces", "keyspace_name text", "", "", "virtual keyspaces"},
     nullptr,
     Look::kCassandra4},
    {{"system_virtual_schema", "tables", "keyspace_name text", "table_name text", "comment text",
      "virtual tables"},
     nullptr,
     Look::kCassandra4},
    {{"system_virtual_schema", "columns", "keyspace_name text", "table_name text, column_name text",
      "clustering_order text, column_name_bytes blob, kind text, position int, type text",
      "columns of virtual tables"},
     nullptr,
     Look::kCassandra4},
};

constexpr TableSpec kClients = {
    "system",
    "clients",
    "address inet",
    "port int, client_type text",
    "client_options map<text, text>, connection_stage text, driver_name text, driver_version text, "
    "hostname text, protocol_version int, scheduling_group text, shard_id int, "
    "ssl_cipher_suite text, ssl_enabled boolean, ssl_protocol text, username text",
    "who is connected"};

}  // namespace

void AddSystemTables(VirtualTables& tables, bool looks_like_scylla, const ClientDirectory* clients,
                     uint32_t cassandra_major) {
  const Look not_here = looks_like_scylla ? Look::kCassandra4 : Look::kScyllaOnly;
  for (const SystemTable& entry : kSystemTables) {
    if (entry.look == not_here) continue;
    if (entry.look == Look::kCassandra4 && cassandra_major < 4) continue;
    tables.Add(std::make_unique<ComputedTable>(entry.spec, entry.rows));
  }
  if (!looks_like_scylla) return;
  const auto list_clients = [clients](const VirtualReadContext& /*context*/, RowCollector& rows) {
    if (clients != nullptr) ListClients(*clients, rows);
  };
  tables.Add(std::make_unique<ComputedTable>(kClients, list_clients));
}

}  // namespace liststore::cql
