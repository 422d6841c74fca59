#include "bench/cache/cache_trace.h"

#include "absl/strings/str_format.h"
#include "bench/measure/workload.h"
#include "engine/base/random.h"

namespace liststore {
namespace {

constexpr size_t kBetweenScans = 20'000;
constexpr size_t kScanLength = 5'000;

}  // namespace

CacheTrace ZipfTrace(double exponent, uint32_t keys, size_t accesses, uint64_t seed) {
  CacheTrace trace;
  trace.name = absl::StrFormat("Zipf %.2g", exponent);
  trace.distinct = keys;
  trace.keys.reserve(accesses);
  Random random(seed);
  const ZipfRanks ranks(keys, exponent);
  while (trace.keys.size() < accesses) {
    trace.keys.push_back(static_cast<uint32_t>(ranks.Next(random)));
  }
  return trace;
}

CacheTrace ScannedZipfTrace(double exponent, uint32_t keys, size_t accesses, uint64_t seed) {
  const CacheTrace plain = ZipfTrace(exponent, keys, accesses, seed);
  CacheTrace trace;
  trace.name = plain.name + " and scans";
  trace.distinct = keys;
  uint32_t next_scanned = keys;
  for (size_t i = 0; trace.keys.size() < accesses; ++i) {
    trace.keys.push_back(plain.keys[i]);
    if (i % kBetweenScans != kBetweenScans - 1) continue;
    for (size_t k = 0; k < kScanLength; ++k) trace.keys.push_back(next_scanned++);
  }
  trace.keys.resize(accesses);
  return trace;
}

}  // namespace liststore
