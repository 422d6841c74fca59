// Odd shapes over the wire: a hot list, and thousands of connections that do nothing.
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/median.h"
#include "bench/shapes/shapes.h"
#include "bench/shapes/wire_shape.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "programs/client/cql_client.h"

namespace liststore {
namespace {

constexpr uint64_t kServerLists = 10'000;
constexpr uint64_t kSpareDescriptors = 200;  // of busy connections, files, pipes

ListPicker AllLists(WireShape& shape, uint64_t seed) {
  return {shape.lists().count(), false, seed};
}
// Always list 0.
ListPicker OneList() { return {1, false, 1}; }

void ReportShares(const char* key, const char* name, const WireLine& line, ShapeReport* report) {
  report->Number(absl::StrCat(key, "_per_s"), name, Median(line.rates), "a second");
  report->Latency(key, name, line.latency);
}

// This process and those it starts may have so many files open.
absl::Status RaiseDescriptors(uint64_t wanted) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted) return absl::OkStatus();
  limit.rlim_cur = wanted;
  if (limit.rlim_max >= wanted && setrlimit(RLIMIT_NOFILE, &limit) == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("a process may open ", limit.rlim_max,
                                                   " files here; the idle connections take ",
                                                   wanted, ": ask for fewer"));
}

}  // namespace

absl::Status MeasureHotList(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("over the wire: ", options.connections, " connections, ",
                             WireShape::kInFlight, " requests under way on each"));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WireShape> shape,
                      WireShape::Open(options, kServerLists));
  const size_t slots = options.connections * WireShape::kInFlight;
  // Reads first: what they find is known while nothing is added.
  for (const bool hot : {false, true}) {
    SelectSource source(shape->lists(), shape->select(), slots,
                        hot ? OneList() : AllLists(*shape, 1));
    LS_ASSIGN_OR_RETURN(const WireLine line, shape->Measure(source, options.seconds));
    ReportShares(hot ? "hot_select" : "random_select", hot ? "SELECT 10 of one list" : "SELECT 10",
                 line, report);
  }
  for (const bool hot : {false, true}) {
    InsertSource source(shape->lists(), shape->insert(), hot ? OneList() : AllLists(*shape, 2));
    LS_ASSIGN_OR_RETURN(const WireLine line, shape->Measure(source, options.seconds));
    ReportShares(hot ? "hot_insert" : "random_insert", hot ? "INSERT 1 into one list" : "INSERT 1",
                 line, report);
  }
  return absl::OkStatus();
}

absl::Status MeasureIdleConnections(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat(options.idle_connections, " connections that do nothing"));
  LS_RETURN_IF_ERROR(RaiseDescriptors(options.idle_connections + kSpareDescriptors));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WireShape> shape,
                      WireShape::Open(options, kServerLists));
  const size_t slots = options.connections * WireShape::kInFlight;
  CqlLoadTarget::Clients idle;
  Histogram latency[2];
  for (const bool beside_idle : {false, true}) {
    if (beside_idle) {
      const uint64_t before = shape->process().ResidentBytes();
      while (idle.size() < options.idle_connections) {
        LS_ASSIGN_OR_RETURN(std::unique_ptr<CqlClient> client,
                            CqlClient::Connect(shape->address()));
        idle.push_back(std::move(client));
      }
      const uint64_t after = shape->process().ResidentBytes();
      report->Number("idle_connection_bytes", "resident memory of the server for one",
                     static_cast<double>(after - std::min(after, before)) /
                         static_cast<double>(options.idle_connections),
                     "bytes");
    }
    SelectSource source(shape->lists(), shape->select(), slots, AllLists(*shape, 3));
    LS_ASSIGN_OR_RETURN(const WireLine line, shape->Measure(source, options.seconds));
    ReportShares(beside_idle ? "select_beside_idle" : "select_alone",
                 beside_idle ? "SELECT 10, beside them" : "SELECT 10, without them", line, report);
    latency[beside_idle] = line.latency;
  }
  report->Ratios("idle", "SELECT 10, beside them by without", latency[1], latency[0]);
  // Each of them still answers.
  for (size_t i = 0; i < idle.size(); i += 997) {
    LS_ASSIGN_OR_RETURN(const CqlRows rows, idle[i]->Query("SELECT key FROM system.local"));
    if (rows.size() != 1) return absl::DataLossError("an idle connection was answered wrongly");
  }
  return absl::OkStatus();
}

}  // namespace liststore
