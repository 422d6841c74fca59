// Source: ScyllaDB db/virtual_tables.cc.
#include "engine/cql/schema/runtime_tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::cql {
namespace {

using Facts = std::function<RuntimeFacts(const VirtualReadContext&)>;

// The node's address as who asks sees it; see system.local.
std::string OwnAddress(const VirtualReadContext& context) {
  constexpr std::string_view kThisMachine = {"\x7f\0\0\1", 4};
  return EncodeInet(context.local_address.empty() ? kThisMachine : context.local_address);
}

constexpr TableSpec kClusterStatus = {
    "system",
    "cluster_status",
    "peer inet",
    "",
    "dc text, host_id uuid, load text, owns float, status text, tokens int, up boolean",
    "the nodes and their parts of the ring"};

// Source: cluster_status_table, with topology changes by Raft, as a new ScyllaDB has them.
void ListClusterStatus(const VirtualReadContext& context, const RuntimeFacts& facts,
                       RowCollector& rows) {
  const NodeFacts& node = context.node;
  rows.Row()
      .Set("peer", OwnAddress(context))
      .Set("dc", node.data_center)
      .Set("host_id", EncodeUuid(node.host_id))
      .Set("load", std::to_string(facts.stored_bytes))
      .Set("owns", EncodeFloat(1))
      .Set("status", "NORMAL")
      .Set("tokens", EncodeInt(static_cast<int32_t>(node.tokens.size())))
      .Set("up", EncodeBoolean(true));
}

constexpr TableSpec kTokenRing = {"system",
                                  "token_ring",
                                  "keyspace_name text",
                                  "table_name text, start_token text, endpoint inet",
                                  "dc text, end_token text, rack text",
                                  "who has which part of the ring, by keyspace"};

// Ascending.
std::vector<int64_t> TokensOf(const VirtualReadContext& context) {
  std::vector<int64_t> tokens;
  for (const std::string& token : context.node.tokens) {
    const char* const end = token.data() + token.size();
    const auto parsed = std::from_chars(token.data(), end, tokens.emplace_back());
    LS_CHECK(parsed.ptr == end && !token.empty(), "tokens are numbers");
  }
  std::ranges::sort(tokens);
  return tokens;
}

// Source: token_ring_table; service/storage_service.cc, describe_ring: the part that begins behind
// the last token ends with the first.
void ListTokenRing(const VirtualReadContext& context, RowCollector& rows) {
  const std::vector<int64_t> tokens = TokensOf(context);
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    if (keyspace->replication.at("class").ends_with("LocalStrategy")) continue;
    // Of tablets each table has a ring of its own.
    std::vector<std::string> rings;
    if (!keyspace->uses_tablets()) rings.emplace_back("<ALL>");
    for (const auto& [table_name, table] : keyspace->tables) {
      if (keyspace->uses_tablets()) rings.push_back(table_name);
    }
    for (const std::string& ring : rings) {
      for (size_t i = 0; i < tokens.size(); ++i) {
        const int64_t start = tokens[i == 0 ? tokens.size() - 1 : i - 1];
        rows.Row()
            .Set("keyspace_name", name)
            .Set("table_name", ring)
            .Set("start_token", std::to_string(start))
            .Set("endpoint", OwnAddress(context))
            .Set("end_token", std::to_string(tokens[i]))
            .Set("dc", context.node.data_center)
            .Set("rack", context.node.rack);
      }
    }
  }
}

constexpr TableSpec kSizeEstimates = {"system",
                                      "size_estimates",
                                      "keyspace_name text",
                                      "table_name text, range_start text, range_end text",
                                      "mean_partition_size bigint, partitions_count bigint",
                                      "sizes of token ranges"};

// Source: db/size_estimates_virtual_reader.cc, which looks into files.
void ListSizeEstimates(const VirtualReadContext& context,
                       const std::function<TableSize(const TableDefinition&)>& size_of,
                       RowCollector& rows) {
  const std::vector<int64_t> tokens = TokensOf(context);
  for (const auto& [name, keyspace] : context.schema.keyspaces) {
    if (keyspace->is_system()) continue;
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_virtual) continue;
      const TableSize size = size_of(*table);
      for (size_t i = 0; i < tokens.size(); ++i) {
        const int64_t start = tokens[i == 0 ? tokens.size() - 1 : i - 1];
        // Of one token the whole ring, which 64 bits count as nothing.
        const double width =
            static_cast<double>(static_cast<uint64_t>(tokens[i]) - static_cast<uint64_t>(start));
        const double share = tokens.size() == 1 ? 1.0 : std::ldexp(width, -64);
        const auto partitions =
            static_cast<int64_t>(std::llround(share * static_cast<double>(size.partitions)));
        const uint64_t mean = partitions == 0 ? 0 : size.bytes / size.partitions;
        rows.Row()
            .Set("keyspace_name", name)
            .Set("table_name", table_name)
            .Set("range_start", std::to_string(start))
            .Set("range_end", std::to_string(tokens[i]))
            .Set("mean_partition_size", EncodeBigint(static_cast<int64_t>(mean)))
            .Set("partitions_count", EncodeBigint(partitions));
      }
    }
  }
}

constexpr TableSpec kSnapshots = {"system",
                                  "snapshots",
                                  "keyspace_name text",
                                  "table_name text, snapshot_name text",
                                  "live bigint, total bigint",
                                  "Lists all the snapshots along with their size, dropped tables "
                                  "are not part of the listing."};

constexpr TableSpec kProtocolServers = {
    "system",
    "protocol_servers",
    "name text",
    "",
    "listen_addresses frozen<list<text>>, protocol text, protocol_version text",
    "Lists all client protocol servers and their status."};

// Source: protocol_servers_table; transport/controller.cc.
void ListProtocolServers(const VirtualReadContext& context, const RuntimeFacts& facts,
                         RowCollector& rows) {
  rows.Row()
      .Set("name", "native transport")
      .Set("listen_addresses", EncodeTextList(facts.cql_addresses))
      .Set("protocol", "cql")
      .Set("protocol_version", context.node.cql_version);
}

constexpr TableSpec kRuntimeInfo = {"system",    "runtime_info", "group text",
                                    "item text", "value text",   "Runtime system information."};

// Source: runtime_info_table. All rows lie in memory, where none is sought in vain: there is no
// cache to hit or miss. Nothing is on disk.
void ListRuntimeInfo(const VirtualReadContext& context, const RuntimeFacts& facts,
                     RowCollector& rows) {
  const auto add = [&rows](const char* group, const char* item, std::string value) {
    rows.Row().Set("group", group).Set("item", item).Set("value", std::move(value));
  };
  const auto add_number = [&add](const char* group, const char* item, uint64_t value) {
    add(group, item, std::to_string(value));
  };
  const int64_t uptime = WholeSeconds(context.now_nanos) - context.node.start_seconds;
  add("generic", "gossip_active", "true");
  add("generic", "incremental_backup_enabled", "false");
  add("generic", "load", "0");
  add("generic", "trace_probability", "0");
  add("generic", "uptime", std::to_string(std::max<int64_t>(uptime, 0)) + " seconds");
  const uint64_t limit = std::max(facts.memory_limit_bytes, facts.memory_used_bytes);
  add_number("memory", "total", limit);
  add_number("memory", "used", facts.memory_used_bytes);
  add_number("memory", "free", limit - facts.memory_used_bytes);
  const uint64_t held = std::max(facts.memory_used_bytes, facts.stored_bytes);
  add_number("memtable", "memory_total", held);
  add_number("memtable", "memory_used", facts.stored_bytes);
  add_number("memtable", "memory_free", held - facts.stored_bytes);
  add_number("memtable", "entries", facts.partitions);
  for (const char* item : {"memory_total", "memory_used", "memory_free", "entries", "hits",
                           "misses", "hit_rate_recent", "requests_total", "requests_recent"}) {
    add("cache", item, "0");
  }
  add("cache", "hit_rate_total", "nan");  // of no requests
}

constexpr TableSpec kRaftState = {"system",
                                  "raft_state",
                                  "group_id timeuuid",
                                  "disposition ascii, server_id uuid",
                                  "can_vote boolean",
                                  "Currently operating RAFT configuration"};

}  // namespace

void AddRuntimeTables(VirtualTables& tables, Facts facts) {
  LS_CHECK(facts != nullptr, "somebody knows");
  const auto add = [&](const TableSpec& spec, ComputedTable::RowFunction rows) {
    tables.Add(std::make_unique<ComputedTable>(spec, std::move(rows)));
  };
  const auto with_facts = [&facts](auto list) {
    return [facts, list](const VirtualReadContext& context, RowCollector& rows) {
      list(context, facts(context), rows);
    };
  };
  add(kClusterStatus, with_facts(ListClusterStatus));
  add(kTokenRing, ListTokenRing);
  add(kSnapshots, nullptr);
  add(kProtocolServers, with_facts(ListProtocolServers));
  add(kRuntimeInfo, with_facts(ListRuntimeInfo));
  add(kRaftState, nullptr);
}

void AddSizeEstimates(VirtualTables& tables,
                      std::function<TableSize(const TableDefinition&)> size_of) {
  tables.Add(std::make_unique<ComputedTable>(
      kSizeEstimates,
      [size_of = std::move(size_of)](const VirtualReadContext& context, RowCollector& rows) {
        ListSizeEstimates(context, size_of, rows);
      }));
}

}  // namespace liststore::cql
