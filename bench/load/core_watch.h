// Latencies of a load, and the same without what was due while somebody else had one of its cores.
#ifndef LISTSTORE_BENCH_LOAD_CORE_WATCH_H_
#define LISTSTORE_BENCH_LOAD_CORE_WATCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/load/quiet_latency.h"
#include "engine/base/histogram.h"
#include "engine/base/run_delay.h"

namespace liststore {

// Asks the kernel now and then for how long threads that were ready have waited for their cores.
// Times are nanoseconds since the load began. One thread.
class CoreWatch {
 public:
  // Between two looks, each of 3 us.
  static constexpr int64_t kLookNanos = 1'000'000;

  // Of threads that have a core to themselves as far as they know. Without any nothing is watched.
  void Watch(RunDelay delay) { threads_.push_back({std::move(delay)}); }
  bool watches() const { return !threads_.empty(); }

  // A load begins.
  void Begin();
  // Looks, when it is time to.
  void LookNowAndThen(int64_t elapsed) {
    if (elapsed - looked_nanos_ >= kLookNanos) Look(elapsed);
  }
  // As QuietLatency::Record; nothing where nothing is watched.
  void Record(int64_t due, uint64_t latency) {
    if (watches()) quiet_.Record(due, latency);
  }
  // The load is over; the latencies that were not disturbed.
  Histogram Finish(int64_t elapsed);

 private:
  struct WatchedThread {
    RunDelay delay;
    int64_t waited = 0;
  };

  void Look(int64_t elapsed);

  std::vector<WatchedThread> threads_;
  int64_t looked_nanos_ = 0;
  QuietLatency quiet_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_CORE_WATCH_H_
