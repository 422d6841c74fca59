// What `GET /metrics` answers: everything that is counted, as text for Prometheus. docs/http.md lists it.
#ifndef LISTSTORE_ENGINE_SERVE_METRICS_PAGE_H_
#define LISTSTORE_ENGINE_SERVE_METRICS_PAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/instruments/counters_table.h"
#include "engine/instruments/memory_table.h"
#include "engine/instruments/request_metrics.h"
#include "engine/instruments/snapshots_table.h"
#include "engine/serve/handler_factory.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore {

// Tables with sizes of their own; those of the others are summed up.
inline constexpr size_t kMetricsTablesMax = 1000;

// Where the figures come from. Everything outlives the page.
struct MetricsSources {
  shard::Engine& engine;
  const instruments::RequestMetrics& requests;
  const StatementHandler& statements;
  // As of liststore.memory and liststore.counters.
  std::function<std::vector<instruments::MemoryUse>()> memory_uses;
  std::function<std::vector<instruments::Counter>()> counters;
  // What works beside the loops.
  struct BesideLoops {
    std::string_view face;  // "cql" or "http"
    uint64_t waiting = 0;
    uint64_t running = 0;
  };
  std::function<std::vector<BesideLoops>()> beside_loops;
  const Clock& clock;  // the server's
  // As of liststore.snapshots; empty: nothing is kept.
  std::function<instruments::SnapshotState()> keeping;
  std::string version;
};

// By a thread beside the loops: takes each lane once for each table, for as long as it takes to copy
// some numbers. O(tables x lanes).
std::string MetricsPage(const MetricsSources& sources);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_METRICS_PAGE_H_
