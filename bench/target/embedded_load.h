// Operations on an embedded store at a rate, each at its instant, whether or not the ones before it
// are done: what a service asks of it whose users do not wait for each other.
#ifndef LISTSTORE_BENCH_TARGET_EMBEDDED_LOAD_H_
#define LISTSTORE_BENCH_TARGET_EMBEDDED_LOAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/open_load.h"
#include "bench/measure/workload.h"
#include "liststore/list_store.h"

namespace liststore {

struct EmbeddedLoadOptions {
  uint64_t lists = 0;
  uint32_t items_per_list = 0;  // that each was loaded with, at least 10
  uint32_t threads = 1;
  uint64_t seed = 1;
};

// Reads ten newest items 95 times of 100, adds one 5 times. Lists of even numbers are read and those
// of odd ones added to, so that what a read finds is known.
class EmbeddedLoad {
 public:
  // `store` holds the lists as bench_lines.h loads them; both outlive this.
  EmbeddedLoad(ListStore& store, const BenchItems& items, const EmbeddedLoadOptions& options);

  // `rate` * `seconds` operations by all threads together; each thread makes its requests itself,
  // reads the clock before and behind each, and gives memory back in slices now and then. Histograms
  // of `run` are added to. DataLoss: an answer was wrong.
  absl::Status Run(double rate, double seconds, OpenRun* run);

  // Lists read whose items were compared in full, so far.
  uint64_t verified() const { return verified_; }

 private:
  class Worker;

  ListStore& store_;
  const BenchItems& items_;
  const EmbeddedLoadOptions options_;
  std::vector<uint32_t> added_;  // by list; one thread adds to each
  uint64_t runs_ = 0;
  uint64_t verified_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_TARGET_EMBEDDED_LOAD_H_
