// What `liststore bench cache` measured, and how it is shown.
#ifndef LISTSTORE_BENCH_CACHE_CACHE_REPORT_H_
#define LISTSTORE_BENCH_CACHE_CACHE_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/cache/cache_options.h"
#include "bench/cache/cache_policy.h"
#include "engine/base/histogram.h"

namespace liststore {

// One trace at one size.
struct BenchCacheLine {
  std::string trace;
  double percent = 0;   // of the trace's keys
  size_t capacity = 0;  // keys
  double hit_rates[std::size(kCachePolicies)] = {};
  // The store, and policies that hold as many keys as it held on average.
  struct Store {
    double hit_rate = 0;
    size_t lists_held = 0;
    double lru_hit_rate = 0;
    double fifo_hit_rate = 0;
  };
  std::optional<Store> store;
};

// Lists pushed through a store that holds a part of them.
struct BenchFlood {
  uint64_t lists = 0;
  uint64_t limit_bytes = 0;
  uint64_t held_bytes_max = 0;
  uint64_t resident_bytes_max = 0;  // growth of the process, sampled
  uint64_t lists_held = 0;          // at the end
  uint64_t live_bytes = 0;
  uint64_t evictions = 0;
  double additions_per_second = 0;  // after the limit was reached
  Histogram latency;                // of each addition from then on
};

// Medians over the rounds of operations a second, by the time on the core; ratios are medians of
// those of the rounds, in which all sides were measured one after the other.
struct BenchHitRates {
  double store = 0;             // that rejects
  double evicting_store = 0;    // the same, and may evict
  double without_features = 0;  // and does not count for each feature
  double lru = 0;               // the plain structure with an LRU list over its lists
  double vs_lru = 0;            // the store that evicts and counts, beside it
  double features_share = 0;    // beside the one that does not count
};
// Lists that are there, by Zipf 0.99.
struct BenchHits {
  BenchHitRates reads;  // of ten items
  BenchHitRates mixed;  // the same, and every tenth time an item is added
};

struct BenchCacheReport {
  BenchCacheOptions options;
  std::vector<BenchCacheLine> lines;
  std::optional<BenchFlood> flood;
  std::optional<BenchHits> hits;
};

absl::StatusOr<BenchFlood> MeasureFlood(const BenchCacheOptions& options);
absl::StatusOr<BenchHits> MeasureHits(const BenchCacheOptions& options);

void PrintBenchCacheReport(const BenchCacheReport& report, std::FILE* out);
void PrintBenchCacheReportJson(const BenchCacheReport& report, std::FILE* out);
// A panel for each trace: hit rate by size, a curve for each policy, points for the store.
absl::Status WriteBenchCacheChart(const BenchCacheReport& report, const std::string& path);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_CACHE_CACHE_REPORT_H_
