// A store that evicts under load: many more lists than it holds, and lists that it holds.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "liststore/list_store.h"
#include "tools/liststore/bench_cache_report.h"
#include "tools/liststore/bench_client.h"
#include "tools/liststore/bench_lines.h"
#include "tools/liststore/bench_machine.h"
#include "tools/liststore/bench_peers.h"
#include "tools/liststore/bench_workload.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kFloodValueBytes = 24;
// How often memory is looked at.
constexpr uint64_t kSampleEvery = 100'000;
constexpr uint32_t kHitItems = 20;
constexpr int kHitRounds = 9;

absl::StatusOr<std::unique_ptr<ListStore>> OpenStore(Options options) {
  LS_ASSIGN_OR_RETURN(auto store, ListStore::Open(std::move(options)));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_RETURN_IF_ERROR(
      store->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion));
  return store;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One side of the measurement of hits.
struct HitSide {
  std::unique_ptr<ListStore> store;  // of the target; none for the plain structure
  std::unique_ptr<BenchTarget> target;
  std::unique_ptr<BenchSubject> subject;
  std::vector<double> reads;
  std::vector<double> mixed;

  absl::Status Load(const BenchItems& items, uint64_t lists) {
    if (store != nullptr) target = std::make_unique<StoreTarget>(*store);
    subject = std::make_unique<BenchSubject>(*target, items, lists, kHitItems);
    return LoadLists(*subject, 1);
  }
  absl::Status Measure(BenchKind kind, uint64_t lists, uint64_t seed, double seconds) {
    BenchRunner runner(*subject);
    ListPicker picker(lists, /*zipf=*/true, seed);
    LS_ASSIGN_OR_RETURN(const BenchRate rate, runner.Throughput(kind, picker, seconds));
    (kind == BenchKind::kMixed ? mixed : reads).push_back(rate.by_core);
    return absl::OkStatus();
  }
};

using RatesOfSide = std::vector<double> HitSide::*;

double MedianRatio(const HitSide& side, const HitSide& other, RatesOfSide rates) {
  std::vector<double> ratios;
  for (size_t i = 0; i < (side.*rates).size(); ++i) {
    ratios.push_back((side.*rates)[i] / (other.*rates)[i]);
  }
  return Median(std::move(ratios));
}

BenchHitRates SumUp(const std::vector<HitSide>& sides, RatesOfSide rates) {
  return {.store = Median(sides[0].*rates),
          .evicting_store = Median(sides[1].*rates),
          .without_features = Median(sides[2].*rates),
          .lru = Median(sides[3].*rates),
          .vs_lru = MedianRatio(sides[1], sides[3], rates),
          .features_share = MedianRatio(sides[1], sides[2], rates)};
}

}  // namespace

absl::StatusOr<BenchFlood> MeasureFlood(const BenchCacheOptions& options) {
  ::malloc_trim(0);
  const uint64_t resident_before = ResidentBytes();
  Options flooded;
  flooded.memory_policy = MemoryPolicy::kEvict;
  flooded.lists_live_elsewhere = true;
  flooded.memory_limit_bytes = options.flood_limit_bytes;
  LS_ASSIGN_OR_RETURN(const auto store, OpenStore(std::move(flooded)));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion));
  BenchFlood flood;
  flood.lists = options.flood_lists;
  flood.limit_bytes = options.flood_limit_bytes;
  char value[kFloodValueBytes];
  std::string id(kBenchEntityIdBytes, ' ');
  const uint64_t now = SystemClock::Instance().NowNanos();
  bool full = false;
  Steady::duration timed{};
  for (uint64_t i = 0; i < options.flood_lists; ++i) {
    const auto list = static_cast<uint32_t>(i);
    WriteEntityId(list, id.data());
    BenchItems::WriteValue(list, 0, std::span<char>(value));
    const NewItem item{now - i % 1'000'000'000, {value, sizeof(value)}};
    const auto begin = Steady::now();
    LS_RETURN_IF_ERROR(store->AddListItems(feature, id, {&item, 1}).status());
    const auto took = Steady::now() - begin;
    if (full) {
      timed += took;
      flood.latency.Record(static_cast<uint64_t>(std::chrono::nanoseconds(took).count()));
    }
    if (i % kSampleEvery != kSampleEvery - 1 && i + 1 != options.flood_lists) continue;
    const Stats stats = store->GetStats();
    full = stats.cache.evictions != 0;
    flood.held_bytes_max = std::max(flood.held_bytes_max, stats.held_bytes);
    const uint64_t resident = ResidentBytes();
    flood.resident_bytes_max =
        std::max(flood.resident_bytes_max, resident - std::min(resident, resident_before));
    flood.lists_held = stats.tables[0].partitions;
    flood.live_bytes = stats.live_bytes;
    flood.evictions = stats.cache.evictions;
  }
  const double seconds = std::chrono::duration<double>(timed).count();
  if (seconds > 0) {
    flood.additions_per_second = static_cast<double>(flood.latency.Count()) / seconds;
  }
  store->Verify();
  return flood;
}

absl::StatusOr<BenchHits> MeasureHits(const BenchCacheOptions& options) {
  const uint64_t lists = options.hit_lists;
  const BenchItems items(SystemClock::Instance().NowNanos(), kHitItems, 24);
  std::vector<HitSide> sides(4);
  Options store_options;
  store_options.feature_stats = true;
  LS_ASSIGN_OR_RETURN(sides[0].store, OpenStore(store_options));
  store_options.memory_policy = MemoryPolicy::kEvict;
  store_options.lists_live_elsewhere = true;
  LS_ASSIGN_OR_RETURN(sides[1].store, OpenStore(store_options));
  store_options.feature_stats = false;
  LS_ASSIGN_OR_RETURN(sides[2].store, OpenStore(store_options));
  sides[3].target = NewPlainTarget(static_cast<size_t>(lists) * 2);
  for (HitSide& side : sides) LS_RETURN_IF_ERROR(side.Load(items, lists));
  // In turn, another one first each time, so that what else the machine does concerns all; each
  // sees the same lists.
  for (int round = 0; round < kHitRounds; ++round) {
    for (const BenchKind kind : {BenchKind::kGet10, BenchKind::kMixed}) {
      for (size_t i = 0; i < sides.size(); ++i) {
        HitSide& side = sides[(i + static_cast<size_t>(round)) % sides.size()];
        LS_RETURN_IF_ERROR(side.Measure(kind, lists, options.seed + static_cast<uint64_t>(round),
                                        options.seconds / 2));
      }
    }
  }
  return BenchHits{.reads = SumUp(sides, &HitSide::reads), .mixed = SumUp(sides, &HitSide::mixed)};
}

}  // namespace liststore
