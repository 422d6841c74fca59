#include "engine/serve/metrics_page.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/prometheus_text.h"
#include "engine/base/strings.h"
#include "engine/model/schema.h"

namespace liststore {
namespace {

using instruments::LatencyBuckets;
using instruments::LatencyCounts;
using instruments::LatencyKind;
using Type = PrometheusText::Type;

constexpr std::string_view kLatencyNames[instruments::kLatencyKinds] = {"read", "write", "other"};

struct TableFigures {
  std::string keyspace;
  std::string table;
  storage::TableStats stats;
};

std::vector<TableFigures> FiguresOf(shard::Engine& engine) {
  std::vector<TableFigures> tables;
  TableFigures others{"", std::string(instruments::RequestMetrics::kOthers), {}};
  bool has_others = false;
  const std::shared_ptr<const Schema> schema = engine.catalog().snapshot();
  for (const auto& [name, keyspace] : schema->keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_virtual) continue;
      const storage::TableStats stats = engine.StatsOf(table->storage.id);
      if (tables.size() < kMetricsTablesMax) {
        tables.push_back({name, table_name, stats});
        continue;
      }
      has_others = true;
      others.stats.partitions += stats.partitions;
      others.stats.rows += stats.rows;
      others.stats.expired_rows += stats.expired_rows;
      others.stats.tombstones += stats.tombstones;
      others.stats.tombstones_held += stats.tombstones_held;
      others.stats.live_bytes += stats.live_bytes;
      others.stats.held_bytes += stats.held_bytes;
      others.stats.evicted_bytes += stats.evicted_bytes;
      others.stats.usage.Add(stats.usage);
    }
  }
  if (has_others) tables.push_back(std::move(others));
  return tables;
}

// Tables that never had any have no samples: most of them.
void AppendTombstonesHeld(const std::vector<TableFigures>& tables, PrometheusText& out) {
  out.Begin(
      "liststore_table_tombstones_held", Type::kGauge,
      "Tombstones that are there, by what they delete; ones that are over and wait to be given "
      "back included.");
  for (const TableFigures& table : tables) {
    const storage::TombstoneCounts& held = table.stats.tombstones_held;
    if (table.stats.tombstones + held.all() == 0) continue;
    const auto add = [&](std::string_view kind, uint64_t count) {
      out.Add({{"keyspace", table.keyspace}, {"table", table.table}, {"kind", kind}}, count);
    };
    add("row", held.rows);
    add("range", held.ranges);
    add("partition", held.partitions);
  }
}

void AppendTables(shard::Engine& engine, PrometheusText& out) {
  const std::vector<TableFigures> tables = FiguresOf(engine);
  const auto family = [&](std::string_view name, Type type, std::string_view help, auto value) {
    out.Begin(name, type, help);
    for (const TableFigures& table : tables) {
      out.Add({{"keyspace", table.keyspace}, {"table", table.table}}, uint64_t{value(table.stats)});
    }
  };
  using Stats = storage::TableStats;
  family("liststore_table_partitions", Type::kGauge,
         "Partitions that are stored, deleted ones that wait to be given back included.",
         [](const Stats& stats) { return stats.partitions; });
  family("liststore_table_rows", Type::kGauge,
         "Rows that are stored, expired and deleted ones that wait to be given back included.",
         [](const Stats& stats) { return stats.rows; });
  family("liststore_table_live_bytes", Type::kGauge, "Bytes of blocks that are in use.",
         [](const Stats& stats) { return stats.live_bytes; });
  family("liststore_table_held_bytes", Type::kGauge, "Bytes of pages that are held.",
         [](const Stats& stats) { return stats.held_bytes; });
  family("liststore_table_expired_rows_total", Type::kCounter,
         "Rows that were given back because everything in them had expired.",
         [](const Stats& stats) { return stats.expired_rows; });
  family("liststore_table_tombstones_total", Type::kCounter,
         "Tombstones that deletions of rows, ranges and partitions have left; those that were not "
         "needed "
         "to keep older writes down are in no count.",
         [](const Stats& stats) { return stats.tombstones; });
  AppendTombstonesHeld(tables, out);
  family("liststore_table_evicted_bytes_total", Type::kCounter,
         "Bytes that evictions for memory gave back.",
         [](const Stats& stats) { return stats.evicted_bytes; });
  family("liststore_table_evictions_total", Type::kCounter,
         "Partitions that were evicted for memory.",
         [](const Stats& stats) { return stats.usage.evictions; });
  out.Begin("liststore_table_cache_reads_total", Type::kCounter,
            "Reads of lists of a ListCache, by what was found.");
  for (const TableFigures& table : tables) {
    const Usage& usage = table.stats.usage;
    if (!usage.any()) continue;
    const auto add = [&](std::string_view result, uint64_t value) {
      out.Add({{"keyspace", table.keyspace}, {"table", table.table}, {"result", result}}, value);
    };
    add("hit", usage.hits);
    add("partial_hit", usage.partial_hits);
    add("miss", usage.misses);
  }
}

void AppendRequests(const instruments::RequestMetrics& requests, PrometheusText& out) {
  out.Begin("liststore_requests_total", Type::kCounter,
            "Requests that were dealt with, by operation, table and outcome.");
  uint64_t selects = 0, inserts = 0, updates = 0, deletes = 0, batches = 0;
  uint64_t read_timeouts = 0, write_timeouts = 0, read_unavailable = 0, write_unavailable = 0;
  for (const instruments::RequestCount& count : requests.Requests()) {
    const std::string op = absl::AsciiStrToLower(ToAbsl(cql::ToString(count.op)));
    out.Add({{"op", op},
             {"keyspace", count.keyspace},
             {"table", count.table},
             {"outcome", count.outcome}},
            count.count);
    const bool is_read = count.op == cql::StatementOp::kSelect;
    if (is_read) selects += count.count;
    if (count.op == cql::StatementOp::kInsert) inserts += count.count;
    if (count.op == cql::StatementOp::kUpdate) updates += count.count;
    if (count.op == cql::StatementOp::kDelete) deletes += count.count;
    if (count.op == cql::StatementOp::kBatch) batches += count.count;
    if (count.outcome == "read_timeout") read_timeouts += count.count;
    if (count.outcome == "write_timeout") write_timeouts += count.count;
    if (count.outcome == "unavailable") {
      (is_read ? read_unavailable : write_unavailable) += count.count;
    }
  }
  const auto& bounds = LatencyBuckets::BoundsInMicros();
  // Seconds are what Prometheus asks for; in ScyllaDB's names they are microseconds.
  static const auto kInSeconds = [] {
    std::array<double, LatencyBuckets::kBounds> seconds{};
    for (size_t i = 0; i < seconds.size(); ++i) {
      seconds[i] = LatencyBuckets::BoundsInMicros()[i] / 1e6;
    }
    return seconds;
  }();
  out.Begin("liststore_request_seconds", Type::kHistogram,
            "From when a request was read to when its answer was ready to be written.");
  for (size_t kind = 0; kind < instruments::kLatencyKinds; ++kind) {
    const LatencyCounts all = requests.Latencies(static_cast<LatencyKind>(kind));
    out.AddHistogram({{"kind", kLatencyNames[kind]}}, kInSeconds, all.buckets,
                     static_cast<double>(all.sum_nanos) / 1e9);
  }
  const auto coordinator = [&](std::string_view name, LatencyKind kind) {
    out.Begin(name, Type::kHistogram,
              "The same by ScyllaDB's name, in microseconds. The last shard is what works beside.");
    const std::vector<LatencyCounts> by_loop = requests.LatenciesByLoop(kind);
    for (size_t loop = 0; loop < by_loop.size(); ++loop) {
      out.AddHistogram({{"scheduling_group_name", "main"}, {"shard", absl::StrCat(loop)}}, bounds,
                       by_loop[loop].buckets, static_cast<double>(by_loop[loop].sum_nanos) / 1e3);
    }
  };
  coordinator("scylla_storage_proxy_coordinator_read_latency", LatencyKind::kRead);
  coordinator("scylla_storage_proxy_coordinator_write_latency", LatencyKind::kWrite);
  const auto total = [&](std::string_view name, std::string_view help, uint64_t value) {
    out.Begin(name, Type::kCounter, help);
    out.Add({{"scheduling_group_name", "main"}, {"shard", "0"}}, value);
  };
  total("scylla_storage_proxy_coordinator_read_timeouts", "Reads that timed out.", read_timeouts);
  total("scylla_storage_proxy_coordinator_write_timeouts", "Writes that timed out.",
        write_timeouts);
  total("scylla_storage_proxy_coordinator_read_unavailable", "Reads without their replicas.",
        read_unavailable);
  total("scylla_storage_proxy_coordinator_write_unavailable", "Writes without their replicas.",
        write_unavailable);
  total("scylla_cql_reads", "SELECTs of all shards.", selects);
  total("scylla_cql_inserts", "INSERTs of all shards.", inserts);
  total("scylla_cql_updates", "UPDATEs of all shards.", updates);
  total("scylla_cql_deletes", "DELETEs of all shards.", deletes);
  total("scylla_cql_batches", "BATCHes of all shards.", batches);
}

void AppendMemory(const MetricsSources& sources, PrometheusText& out) {
  const std::vector<instruments::MemoryUse> uses = sources.memory_uses();
  // Of single connections there are as many as come: those are asked for in the table.
  const auto is_shown = [](const instruments::MemoryUse& use) { return use.kind != "connection"; };
  out.Begin("liststore_memory_bytes", Type::kGauge, "What is held, as liststore.memory says it.");
  for (const instruments::MemoryUse& use : uses) {
    if (is_shown(use)) out.Add({{"kind", use.kind}, {"name", use.name}}, use.bytes);
  }
  out.Begin("liststore_memory_limit_bytes", Type::kGauge, "What may be held of it.");
  for (const instruments::MemoryUse& use : uses) {
    if (is_shown(use) && use.limit_bytes) {
      out.Add({{"kind", use.kind}, {"name", use.name}}, *use.limit_bytes);
    }
  }
}

// What the engine is at.
void AppendEngine(const MetricsSources& sources, PrometheusText& out) {
  const shard::Engine::ExpiryState expiry = sources.engine.ExpiryStateAt(sources.clock.NowNanos());
  out.Gauge("liststore_expiry_scheduled_partitions",
            "Partitions of which something expires some day.", expiry.progress.scheduled);
  out.Gauge(
      "liststore_expiry_lag_seconds",
      "For how long what is given back next has been due, by the server's clock; 0: nothing is.",
      expiry.progress.behind_seconds);
  out.Gauge("liststore_expiry_late_lanes", "Lanes in which something has been due for a second.",
            expiry.late_lanes);
  const shard::Engine::LaneUse lanes = sources.engine.GlanceAtLanes();
  out.Gauge("liststore_lanes", "Lanes into which the shards are cut.", lanes.lanes);
  out.Gauge("liststore_lanes_held", "Lanes that a thread works at, at this moment.", lanes.held);
  out.Gauge("liststore_lanes_waited_for", "Of these, lanes for which others wait.",
            lanes.waited_for);
  out.Begin("liststore_requests_in_flight", Type::kGauge,
            "Requests beside the loops that wait for a thread, or have one: of http the one that "
            "asks as well.");
  for (const MetricsSources::BesideLoops& face : sources.beside_loops()) {
    out.Add({{"face", face.face}, {"state", "waiting"}}, face.waiting);
    out.Add({{"face", face.face}, {"state", "running"}}, face.running);
  }
}

}  // namespace

std::string MetricsPage(const MetricsSources& sources) {
  PrometheusText out;
  out.Begin("liststore_build_info", Type::kGauge, "1; the version is the label.");
  out.Add({{"version", sources.version}}, uint64_t{1});
  AppendRequests(sources.requests, out);
  AppendTables(sources.engine, out);
  AppendMemory(sources, out);
  AppendEngine(sources, out);
  // Those of liststore.counters; what is open now is no counter.
  for (const instruments::Counter& counter : sources.counters()) {
    if (counter.name == "connections") {
      out.Gauge("liststore_connections", "Connections that are open.", counter.value);
      continue;
    }
    const std::string name = absl::StrCat("liststore_", counter.name, "_total");
    out.Counter(name, "As in the table liststore.counters.", counter.value);
  }
  out.Gauge("liststore_statements", "Prepared statements that are kept.",
            sources.statements.statement_count());
  out.Gauge("liststore_statement_bytes", "What they hold.", sources.statements.statement_bytes());
  out.Gauge("liststore_statement_limit_bytes", "What they may hold.",
            sources.statements.statement_bytes_max());
  const execute::StatementCache::Lookups lookups = sources.statements.statement_lookups();
  out.Begin("liststore_statement_lookups_total", Type::kCounter,
            "Prepared statements that a connection did not remember: hit, they were there; miss, "
            "UNPREPARED was answered.");
  out.Add({{"result", "hit"}}, lookups.hits);
  out.Add({{"result", "miss"}}, lookups.misses);
  out.Gauge("liststore_shards", "Shards, each with a loop.", sources.engine.router().shards());
  if (sources.keeping) {
    const instruments::SnapshotState state = sources.keeping();
    out.Gauge("liststore_commit_log_bytes", "What the commit log has since the last snapshot.",
              state.log_bytes);
    out.Gauge("liststore_snapshot_number", "The last snapshot of this run; 0: there is none.",
              state.last_number);
    out.Gauge("liststore_snapshot_rows", "Its rows.", state.last_rows);
    out.Gauge("liststore_snapshot_bytes", "Its bytes.", state.last_bytes);
    out.Begin("liststore_snapshot_timestamp_seconds", Type::kGauge,
              "When it was taken, in seconds since 1970 by the machine's clock; 0: there is none "
              "in this run.");
    out.Add({}, static_cast<double>(state.last_nanos) / 1e9);
  }
  return out.Take();
}

}  // namespace liststore
