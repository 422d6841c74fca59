// ForwardTime: the machine's time, kept from going back.
#ifndef LISTSTORE_ENGINE_BASE_FORWARD_TIME_H_
#define LISTSTORE_ENGINE_BASE_FORWARD_TIME_H_

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"

namespace liststore {

// Shows the machine's time as long as that goes forward. Where it is set back, the time shown goes
// on from where it was, at the pace of a steady clock, until the machine has caught up: what has
// expired stays expired. The machine may be set forward at any time.
//
// Thread-safe. Seconds never go back, in all threads together; within a second the machine's order
// is kept, as clocks of different grain look at it. Show costs three loads; once a second, and when the
// machine was set back, a mutex.
class ForwardTime {
 public:
  // `machine_nanos`: what the machine says now. `steady`: nanoseconds that nobody sets.
  uint64_t Show(uint64_t machine_nanos, absl::FunctionRef<uint64_t()> steady) {
    const uint64_t shown = machine_nanos + ahead_nanos_.load(std::memory_order_relaxed);
    const uint64_t second = second_nanos_.load(std::memory_order_relaxed);
    if (shown >= second && shown - second < kSecond) [[likely]]
      return shown;
    return ShowOther(machine_nanos, steady);
  }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;

  // Another second has begun, or the machine was set back.
  uint64_t ShowOther(uint64_t machine_nanos, absl::FunctionRef<uint64_t()> steady);

  std::atomic<uint64_t> ahead_nanos_{0};   // of the machine
  std::atomic<uint64_t> second_nanos_{0};  // the latest second that was shown, its start
  Mutex mutex_;
  // At the last look under the mutex.
  uint64_t shown_nanos_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t steady_nanos_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_FORWARD_TIME_H_
