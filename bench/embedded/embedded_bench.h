// `liststore bench embedded`: what the embedded store does on this machine, and a peer in the same
// run to compare it with.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_

#include <cstdint>
#include <span>
#include <string>

namespace liststore {

struct BenchPeer;

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

// Measures and prints to standard output, progress to standard error. Returns the exit status of
// the program: 0, or 2 when an answer was wrong, an operation was refused, or an option cannot be
// used. `peers`: what options.peer may name.
int RunBenchEmbedded(const BenchEmbeddedOptions& options, std::span<const BenchPeer> peers);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_
