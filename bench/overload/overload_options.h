// What `liststore bench overload` measures.
#ifndef LISTSTORE_BENCH_OVERLOAD_OVERLOAD_OPTIONS_H_
#define LISTSTORE_BENCH_OVERLOAD_OVERLOAD_OPTIONS_H_

#include <cstdint>
#include <string>

namespace liststore {

struct BenchOverloadOptions {
  uint64_t lists = 200'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
  uint32_t connections = 8;
  double seconds = 3.0;  // of each rate, after its first moments
  double rate = 0;  // requests a second that count as once the load; 0: what a closed load gets
  uint32_t queue_time_max_ms = 5;  // of the server
  uint64_t seed = 1;
  bool no_redis = false;
  std::string redis = "redis-server";  // looked for in PATH
  std::string json;                    // a file; empty: none
  std::string svg;                     // the same
  bool quick = false;                  // few lists and short measurements
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_OVERLOAD_OPTIONS_H_
