// A store that evicts under load: many more lists than it holds, and lists that it holds.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/cache/cache_report.h"
#include "bench/embedded/bench_client.h"
#include "bench/embedded/bench_lines.h"
#include "bench/measure/machine.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "bench/peers/built_in_peers.h"
#include "engine/base/status_macros.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kFloodValueBytes = 24;
// How often memory is looked at.
constexpr uint64_t kSampleEvery = 100'000;
constexpr uint32_t kHitItems = 20;
// Differences of a hundredth are to be seen: where a store's memory came to lie makes as much, so
// that all sides are loaded again a few times, and what else the machine does makes more, so that
// turns are short and many. Odd, so that there is a median.
constexpr int kHitLoads = 3;
constexpr int kHitRoundsOfLoad = 49;
constexpr double kHitTurnShare = 1.0 / 32;

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

// The sides of the measurement of hits.
enum : size_t {
  kStoreSide,
  kEvictingSide,
  kSideWithoutFeatures,
  kLruSide,
  kHitSides
};

struct HitSide {
  std::unique_ptr<ListStore> store;  // of the target; none for the plain structure
  std::unique_ptr<BenchTarget> target;
  std::unique_ptr<BenchSubject> subject;
  std::vector<double> reads;
  std::vector<double> mixed;

  // But what was measured.
  void Clear() {
    subject.reset();
    target.reset();
    store.reset();
  }
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
  const HitSide& evicting = sides[kEvictingSide];
  const HitSide& without = sides[kSideWithoutFeatures];
  const HitSide& lru = sides[kLruSide];
  return {.store = Median(sides[kStoreSide].*rates),
          .evicting_store = Median(evicting.*rates),
          .without_features = Median(without.*rates),
          .lru = Median(lru.*rates),
          .vs_lru = MedianRatio(evicting, lru, rates),
          .features_share = MedianRatio(evicting, without, rates)};
}

// Gives each side its lists, new, in an order that turns with `load`.
absl::Status LoadSides(const BenchCacheOptions& options, const BenchItems& items, int load,
                       std::vector<HitSide>& sides) {
  for (HitSide& side : sides) side.Clear();
  ::malloc_trim(0);
  for (size_t i = 0; i < sides.size(); ++i) {
    const size_t at = (i + static_cast<size_t>(load)) % sides.size();
    HitSide& side = sides[at];
    if (at == kLruSide) {
      side.target = NewPlainTarget(static_cast<size_t>(options.hit_lists) * 2);
    } else {
      Options store_options;
      store_options.feature_stats = at != kSideWithoutFeatures;
      if (at != kStoreSide) {
        store_options.memory_policy = MemoryPolicy::kEvict;
        store_options.lists_live_elsewhere = true;
      }
      LS_ASSIGN_OR_RETURN(side.store, OpenStore(std::move(store_options)));
    }
    LS_RETURN_IF_ERROR(side.Load(items, options.hit_lists));
  }
  return absl::OkStatus();
}

// All sides in turn, another one first each time, so that what else the machine does concerns all;
// each sees the same lists.
absl::Status MeasureRound(const BenchCacheOptions& options, int round,
                          std::vector<HitSide>& sides) {
  const auto number = static_cast<uint64_t>(round);
  for (const BenchKind kind : {BenchKind::kGet10, BenchKind::kMixed}) {
    for (size_t i = 0; i < sides.size(); ++i) {
      LS_RETURN_IF_ERROR(sides[(i + number) % sides.size()].Measure(
          kind, options.hit_lists, options.seed + number, options.seconds * kHitTurnShare));
    }
  }
  return absl::OkStatus();
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
    LS_RETURN_IF_ERROR(store->AddListItems({feature, id}, {&item, 1}).status());
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
  const BenchItems items(SystemClock::Instance().NowNanos(), kHitItems, 24);
  std::vector<HitSide> sides(kHitSides);
  for (int load = 0; load < kHitLoads; ++load) {
    LS_RETURN_IF_ERROR(LoadSides(options, items, load, sides));
    for (int round = load * kHitRoundsOfLoad; round < (load + 1) * kHitRoundsOfLoad; ++round) {
      LS_RETURN_IF_ERROR(MeasureRound(options, round, sides));
    }
  }
  return BenchHits{.reads = SumUp(sides, &HitSide::reads), .mixed = SumUp(sides, &HitSide::mixed)};
}

}  // namespace liststore
