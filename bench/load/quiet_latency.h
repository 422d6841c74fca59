// The latencies of a load that stay when those of requests are left out that came while somebody
// else had one of its cores.
#ifndef LISTSTORE_BENCH_LOAD_QUIET_LATENCY_H_
#define LISTSTORE_BENCH_LOAD_QUIET_LATENCY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/histogram.h"

namespace liststore {

// Time is cut into windows of 10 ms. One in which a thread waited for its core is disturbed, and so
// are those in which what had gathered meanwhile is worked off: as long again, and one window more.
// Which requests are left out hangs on the kernel's account alone, never on how long they took.
//
// Times are nanoseconds since the load began, from 0 on. Single-threaded. 1 MB.
class QuietLatency {
 public:
  static constexpr int64_t kWindowNanos = 10'000'000;

  QuietLatency();

  // A request that was due at `due`. One that was due more than half a second before the latest is
  // counted as if nobody had disturbed it.
  void Record(int64_t due, uint64_t latency);
  // Between these instants a thread was ready and did not have its core.
  void CoreWasTaken(int64_t begin, int64_t end);

  // No more is to come of this load; the next record is of another. Returns the latencies of its
  // requests in windows that were not disturbed.
  Histogram Finish();

 private:
  // What comes later than so many windows finds its own no more.
  static constexpr size_t kWindows = 64;

  // Both ends included.
  struct Windows {
    int64_t first;
    int64_t last;
  };

  Histogram& At(int64_t window) { return (*open_)[static_cast<size_t>(window) % kWindows]; }
  void OpenTo(int64_t window);
  void CloseFirst();

  std::unique_ptr<std::array<Histogram, kWindows>> open_;  // a ring
  int64_t first_ = 0;                                      // the earliest one that is open
  int64_t end_ = 1;
  std::vector<Windows> disturbed_;
  Histogram latency_;  // of windows that are closed
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_QUIET_LATENCY_H_
