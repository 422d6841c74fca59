// What `liststore bench cache` measures.
#ifndef LISTSTORE_BENCH_CACHE_CACHE_OPTIONS_H_
#define LISTSTORE_BENCH_CACHE_CACHE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace liststore {

struct BenchCacheOptions {
  uint32_t lists = 200'000;       // of the Zipf traces
  uint64_t accesses = 4'000'000;  // of each of them
  std::string history;            // a log of operations as one more trace; empty: none
  uint64_t seed = 1;
  bool json = false;
  bool quick = false;
  bool simulation_only = false;
  // Lists of one item that are pushed through a store with this limit; 0: none.
  uint64_t flood_lists = 10'000'000;
  uint64_t flood_limit_bytes = uint64_t{512} << 20;
  uint64_t hit_lists = 300'000;  // of the measurement of hits; 0: without it
  double seconds = 2;            // of each round of it
  std::string svg;               // where a chart is written; empty: nowhere
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_CACHE_CACHE_OPTIONS_H_
