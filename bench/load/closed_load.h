// Keeps a number of requests under way on each connection: a new one goes when one is answered.
// What a server can do at most.
#ifndef LISTSTORE_BENCH_LOAD_CLOSED_LOAD_H_
#define LISTSTORE_BENCH_LOAD_CLOSED_LOAD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/load_target.h"
#include "engine/base/histogram.h"

namespace liststore {

struct ClosedRun {
  uint64_t replies = 0;  // within the time
  double seconds = 0;
  uint64_t idle_nanos = 0;  // of the client, awake
};

// Every place of the target is taken all the time, by requests of its source 0. One thread.
class ClosedLoad {
 public:
  // `target` outlives it.
  explicit ClosedLoad(LoadTarget& target);

  // Until the source has no more, or `seconds` have passed (0: as long as it takes); then waits for
  // what is under way. `latency` (nullptr: not wanted) gets the time from the write of a request to
  // the read that brought its reply, in nanoseconds. DeadlineExceeded: nothing came for a minute.
  absl::Status Run(double seconds, Histogram* latency, ClosedRun* run);

 private:
  using Steady = std::chrono::steady_clock;

  // Takes down up to `count` requests and sends them.
  absl::Status Send(size_t connection, size_t count);
  absl::Status Serve(size_t connection, Histogram* latency);

  LoadTarget& target_;
  LoadPoll poll_;
  std::vector<Steady::time_point> sent_at_;  // by slot
  std::vector<size_t> slots_;                // of one write, or of one read
  size_t under_way_ = 0;
  uint64_t replies_ = 0;
  bool ends_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_CLOSED_LOAD_H_
