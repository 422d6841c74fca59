// What `liststore bench embedded` measures.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_OPTIONS_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_OPTIONS_H_

#include <cstdint>
#include <string>

namespace liststore {

struct BenchEmbeddedOptions {
  uint64_t lists = 1'000'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
  double seconds = 1.0;  // of each measurement
  int rounds = 3;        // measurements of each kind; medians are reported
  bool json = false;
  bool quick = false;  // one short round of each
  uint64_t seed = 1;
  uint32_t threads = 2;  // of the lines that compare several threads with one; 1: without them
  std::string peer = "plain";  // its name; empty: none
  // Uniform lists on one thread and memory; without Zipf, threads and situations.
  bool lines_only = false;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_OPTIONS_H_
