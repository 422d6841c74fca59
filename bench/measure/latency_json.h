// How a benchmark's JSON tells a distribution of latencies.
#ifndef LISTSTORE_BENCH_MEASURE_LATENCY_JSON_H_
#define LISTSTORE_BENCH_MEASURE_LATENCY_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/histogram.h"
#include "programs/console/json_line.h"

namespace liststore {

// Percentiles of KEY_latency_ns, in its order.
inline constexpr double kLatencyPercentiles[] = {1,  5,  10,   25,   50,    75,    90,
                                                 95, 99, 99.5, 99.9, 99.95, 99.99, 100};

// KEY_p50_ns, _p99_ns, _p999_ns, and the whole curve as KEY_latency_ns.
inline void AddLatency(const std::string& key, const Histogram& latency, JsonLine* json) {
  json->Count(key + "_p50_ns", latency.Percentile(50));
  json->Count(key + "_p99_ns", latency.Percentile(99));
  json->Count(key + "_p999_ns", latency.Percentile(99.9));
  std::vector<uint64_t> curve;
  for (const double percent : kLatencyPercentiles) curve.push_back(latency.Percentile(percent));
  json->Numbers(key + "_latency_ns", curve);
}

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_LATENCY_JSON_H_
