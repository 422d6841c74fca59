#include "engine/base/forward_time.h"

#include <algorithm>

namespace liststore {

uint64_t ForwardTime::ShowOther(uint64_t machine_nanos, absl::FunctionRef<uint64_t()> steady) {
  const MutexLock lock(mutex_);
  const uint64_t second = second_nanos_.load(std::memory_order_relaxed);
  uint64_t shown = machine_nanos + ahead_nanos_.load(std::memory_order_relaxed);
  // A clock of a coarser grain, or a thread that was interrupted since it read the time.
  if (shown < second && second - shown < kSecond) return second;
  if (shown >= second && shown - second < kSecond) return shown;  // another thread was here
  const uint64_t steady_now = steady();
  // The steady clock is not asked while the machine goes forward: it is read a little later.
  if (shown < second || shown != machine_nanos) {
    const uint64_t passed = steady_now - std::min(steady_nanos_, steady_now);
    shown = std::max(machine_nanos, shown_nanos_ + passed);
  }
  shown_nanos_ = shown;
  steady_nanos_ = steady_now;
  ahead_nanos_.store(shown - machine_nanos, std::memory_order_relaxed);
  second_nanos_.store(shown - shown % kSecond, std::memory_order_relaxed);
  return shown;
}

}  // namespace liststore
