#include "bench/cache/cache_bench.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/cache/cache_policy.h"
#include "bench/cache/cache_report.h"
#include "bench/cache/cache_trace.h"
#include "bench/measure/workload.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "liststore/list_store.h"
#include "programs/console/exit_codes.h"
#include "programs/console/terminal.h"
#include "programs/oplog/oplog_reader.h"

namespace liststore {
namespace {

constexpr double kPercents[] = {1, 5, 10, 25};
constexpr double kExponents[] = {0.7, 0.99, 1.1};
// Of the accesses of a trace: caches fill, and are not judged.
constexpr double kWarmUp = 0.25;
// A lane of the store evicts for itself: with fewer lists than these it holds a handful.
constexpr size_t kStoreListsMin = 1000;
// Each list has one item of this length: some 1.2 KB with everything.
constexpr size_t kValueBytes = 1000;
constexpr uint64_t kBytesPerList = 1360;
constexpr uint64_t kStoreBytesMin = uint64_t{2} << 20;
// A quarter of them is as few as can be simulated.
constexpr size_t kHistoryListsMin = 40;
constexpr uint32_t kQuickTraceLists = 20'000;
constexpr uint64_t kQuickAccesses = 200'000;
constexpr uint64_t kQuickFloodLists = 300'000;
constexpr uint64_t kQuickFloodLimitBytes = uint64_t{16} << 20;
// How often the lists in the store are counted.
constexpr size_t kCountEvery = 20'000;

size_t WarmUpOf(const CacheTrace& trace) {
  return static_cast<size_t>(kWarmUp * static_cast<double>(trace.keys.size()));
}

double Simulate(CachePolicyKind kind, size_t capacity, const CacheTrace& trace) {
  const std::unique_ptr<CachePolicy> policy = MakeCachePolicy(kind, capacity);
  const size_t warm_up = WarmUpOf(trace);
  size_t hits = 0;
  for (size_t i = 0; i < trace.keys.size(); ++i) {
    hits += policy->Access(trace.keys[i]) && i >= warm_up ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(trace.keys.size() - warm_up);
}

// Reads each list of the trace, and puts it when it is not there, as in front of a source.
absl::StatusOr<BenchCacheLine::Store> RunStore(size_t capacity, const CacheTrace& trace) {
  Options options;
  options.memory_policy = MemoryPolicy::kEvict;
  options.lists_live_elsewhere = true;
  options.memory_limit_bytes = std::max(kStoreBytesMin, capacity * kBytesPerList);
  options.shards = 1;
  LS_ASSIGN_OR_RETURN(const auto store, ListStore::Open(options));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature));
  const std::string value(kValueBytes, 'v');
  const NewItem item{SystemClock::Instance().NowNanos(), value};
  const size_t warm_up = WarmUpOf(trace);
  ListItems items;
  std::string id(kBenchEntityIdBytes, ' ');
  size_t hits = 0;
  size_t counts = 0;
  size_t lists = 0;
  for (size_t i = 0; i < trace.keys.size(); ++i) {
    WriteEntityId(trace.keys[i], id.data());
    LS_RETURN_IF_ERROR(store->GetListItems({feature, id}, {.limit = 1}, &items));
    if (items.presence() == ListPresence::kComplete) {
      hits += i >= warm_up ? 1 : 0;
    } else {
      LS_RETURN_IF_ERROR(store->PutList({feature, id}, {&item, 1}).status());
    }
    if (i >= warm_up && i % kCountEvery == 0) {
      ++counts;
      lists += store->GetStats().tables[0].partitions;
    }
  }
  BenchCacheLine::Store line;
  line.hit_rate = static_cast<double>(hits) / static_cast<double>(trace.keys.size() - warm_up);
  line.lists_held = lists / std::max<size_t>(counts, 1);
  line.lru_hit_rate = Simulate(CachePolicyKind::kLru, line.lists_held, trace);
  line.fifo_hit_rate = Simulate(CachePolicyKind::kFifo, line.lists_held, trace);
  return line;
}

// Every operation on a list is an access to it.
absl::StatusOr<CacheTrace> HistoryTrace(const std::string& path) {
  LS_ASSIGN_OR_RETURN(OplogReader reader, OplogReader::Open(path));
  CacheTrace trace;
  trace.name = "history";
  absl::flat_hash_map<std::string, uint32_t> numbers;
  OperationBatch batch;
  for (;;) {
    LS_RETURN_IF_ERROR(reader.NextBatch(&batch));
    if (batch.operations().empty()) break;
    for (const Operation& operation : batch.operations()) {
      if (operation.kind == OperationKind::kCreateFeature) continue;
      const ListId& list = operation.list;
      const std::string name = absl::StrCat(ToAbsl(list.entity_type), "#", ToAbsl(list.feature),
                                            "|", ToAbsl(list.version), " ", ToAbsl(list.entity_id));
      const auto next = static_cast<uint32_t>(numbers.size());
      trace.keys.push_back(numbers.try_emplace(name, next).first->second);
    }
  }
  trace.distinct = numbers.size();
  if (trace.distinct < kHistoryListsMin) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has ", trace.distinct, " lists, fewer than ", kHistoryListsMin));
  }
  return trace;
}

class CacheBench {
 public:
  explicit CacheBench(BenchCacheOptions options) {
    if (options.quick) {
      options.lists = std::min(options.lists, kQuickTraceLists);
      options.accesses = std::min(options.accesses, kQuickAccesses);
      options.flood_lists = std::min(options.flood_lists, kQuickFloodLists);
      options.flood_limit_bytes = std::min(options.flood_limit_bytes, kQuickFloodLimitBytes);
      options.hit_lists = std::min<uint64_t>(options.hit_lists, kQuickTraceLists);
      options.seconds = std::min(options.seconds, 0.2);
    }
    report_.options = std::move(options);
  }

  absl::Status Run() {
    const BenchCacheOptions& options = report_.options;
    if (options.lists < 1000 || options.accesses < options.lists) {
      return absl::InvalidArgumentError(
          absl::StrCat("--lists is ", options.lists, " and --accesses ", options.accesses,
                       ", must be at least 1000, and at least as many accesses as lists"));
    }
    for (const double exponent : kExponents) {
      LS_RETURN_IF_ERROR(
          RunTrace(ZipfTrace(exponent, options.lists, options.accesses, options.seed)));
    }
    LS_RETURN_IF_ERROR(
        RunTrace(ScannedZipfTrace(0.99, options.lists, options.accesses, options.seed)));
    if (!options.history.empty()) {
      LS_ASSIGN_OR_RETURN(const CacheTrace trace, HistoryTrace(options.history));
      LS_RETURN_IF_ERROR(RunTrace(trace));
    }
    if (!options.simulation_only && options.flood_lists != 0) {
      absl::FPrintF(stderr, "%d lists through %d bytes\n", options.flood_lists,
                    options.flood_limit_bytes);
      const WaitingLine waiting("pushing them through");
      LS_ASSIGN_OR_RETURN(report_.flood, MeasureFlood(options));
    }
    if (!options.simulation_only && options.hit_lists != 0) {
      absl::FPrintF(stderr, "hits of %d lists\n", options.hit_lists);
      LS_ASSIGN_OR_RETURN(report_.hits, MeasureHits(options));
    }
    if (!options.svg.empty()) return WriteBenchCacheChart(report_, options.svg);
    return absl::OkStatus();
  }
  const BenchCacheReport& report() const { return report_; }

 private:
  absl::Status RunTrace(const CacheTrace& trace) {
    for (const double percent : kPercents) {
      BenchCacheLine& line = report_.lines.emplace_back();
      line.trace = trace.name;
      line.percent = percent;
      line.capacity = std::max<size_t>(
          static_cast<size_t>(static_cast<double>(trace.distinct) * percent / 100), 10);
      absl::FPrintF(stderr, "%s, %d lists\n", trace.name, line.capacity);
      const WaitingLine waiting("simulating");
      for (size_t i = 0; i < std::size(kCachePolicies); ++i) {
        line.hit_rates[i] = Simulate(kCachePolicies[i], line.capacity, trace);
      }
      if (report_.options.simulation_only || line.capacity < kStoreListsMin) continue;
      LS_ASSIGN_OR_RETURN(line.store, RunStore(line.capacity, trace));
    }
    return absl::OkStatus();
  }

  BenchCacheReport report_;
};

}  // namespace

int RunBenchCache(const BenchCacheOptions& options) {
  CacheBench bench(options);
  const absl::Status status = bench.Run();
  if (!status.ok()) {
    absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.message()));
    return kExitFailed;
  }
  if (options.json) {
    PrintBenchCacheReportJson(bench.report(), stdout);
  } else {
    PrintBenchCacheReport(bench.report(), stdout);
  }
  return kExitSame;
}

}  // namespace liststore
