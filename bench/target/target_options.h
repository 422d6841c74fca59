// What `liststore bench target` measures.
#ifndef LISTSTORE_BENCH_TARGET_TARGET_OPTIONS_H_
#define LISTSTORE_BENCH_TARGET_TARGET_OPTIONS_H_

#include <cstdint>
#include <string>

namespace liststore {

struct BenchTargetOptions {
  double rate = 1'000'000;  // operations a second, of all threads together
  double p99_max_ms = 1;    // for it to count as reached
  std::string only;         // "embedded" or "wire"; empty: both
  uint64_t lists = 1'000'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
  uint32_t threads = 2;      // of the embedded store
  uint32_t connections = 8;  // over the wire
  double seconds = 10;       // of each measurement
  uint64_t seed = 1;
  bool json = false;
  bool quick = false;  // few lists, a moment of each
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_TARGET_TARGET_OPTIONS_H_
