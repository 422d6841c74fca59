// The lines of `liststore bench`: one kind of operation on lists that keep their size, how many a
// second and how long each.
#ifndef LISTSTORE_BENCH_EMBEDDED_BENCH_LINES_H_
#define LISTSTORE_BENCH_EMBEDDED_BENCH_LINES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/embedded/bench_client.h"
#include "bench/measure/workload.h"
#include "engine/base/histogram.h"

namespace liststore {

// A target and what its lists hold. Between two batches list L holds the items [first[L],
// first[L] + items_per_list): what a batch adds, the oldest items make room for; what it removes
// comes back. Threads may work on it as long as no two use the same list.
struct BenchSubject {
  BenchSubject(BenchTarget& target_in, const BenchItems& items_in, uint64_t lists,
               uint32_t items_per_list_in)
      : target(target_in), items(items_in), items_per_list(items_per_list_in), first(lists, 0) {}

  BenchTarget& target;
  const BenchItems& items;
  const uint32_t items_per_list;
  std::vector<uint32_t> first;
};

// Operations a second, by the wall clock and by the time that the thread had a core. Where others
// want the cores too, the second is what compares two sides.
struct BenchRate {
  double by_wall = 0;
  double by_core = 0;
};

// One thread that sends requests to a subject. Requests are prepared and lists brought back to
// their size between the batches, outside of what is timed; every batch is checked: how many items
// came back, and the newest one of its last list. An error says what was expected.
class BenchRunner {
 public:
  explicit BenchRunner(BenchSubject& subject);

  // Over batches that took `seconds` in all; a multi-get of 16 counts 16. Batches that write
  // include a slice of housekeeping.
  absl::StatusOr<BenchRate> Throughput(BenchKind kind, ListPicker& picker, double seconds);
  // Times each operation by itself for `seconds` in all; a multi-get of 16 is one. The time of a
  // clock reading is in each figure.
  absl::Status Latencies(BenchKind kind, ListPicker& picker, double seconds, Histogram* latency);
  // Adds an item to every `stride`-th list from `offset` on and takes its oldest away.
  absl::Status Churn(uint64_t stride, uint64_t offset);
  // Adds items [begin, end) to every `stride`-th list from `offset` on, in scattered order.
  absl::Status Load(uint32_t begin, uint32_t end, uint64_t stride, uint64_t offset);

 private:
  void Prepare(BenchKind kind, ListPicker& picker);
  absl::Status Check(uint64_t items);
  absl::Status CheckNewest(uint32_t list, uint32_t number);
  // Untimed: lists get back their size.
  absl::Status Settle();

  BenchSubject& subject_;
  std::unique_ptr<BenchClient> client_;
  BenchBatch batch_;
  BenchBatch settling_;
  absl::flat_hash_map<uint32_t, uint32_t> touched_;  // items of the batch, by list
};

// Adds `items_per_list` items to each list in four rounds over all lists, so that each list grows
// several times, with `threads` threads.
absl::Status LoadLists(BenchSubject& subject, uint32_t threads);
// Changes every list once, so that what follows meets a store that has been written to for a while
// and memory that the process has used before.
absl::Status ChurnLists(BenchSubject& subject, uint32_t threads);

// Operations a second of `threads` threads together, by the wall clock, each with lists of its own.
absl::StatusOr<double> ThroughputOfThreads(BenchSubject& subject, BenchKind kind, uint32_t threads,
                                           uint64_t seed, double seconds);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_BENCH_LINES_H_
