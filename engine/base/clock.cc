#include "liststore/clock.h"

#include <time.h>

#include "engine/base/forward_time.h"
#include "engine/base/seconds.h"

namespace liststore {
namespace {

uint64_t NanosOf(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t SteadyNanos() { return NanosOf(CLOCK_MONOTONIC); }

// Of the process: the machine has one time.
ForwardTime forward_time;

}  // namespace

uint64_t SystemClock::NowNanos() const {
  return forward_time.Show(NanosOf(CLOCK_REALTIME), SteadyNanos);
}
uint64_t SystemClock::CoarseNanos() const {
  return forward_time.Show(NanosOf(CLOCK_REALTIME_COARSE), SteadyNanos);
}

const SystemClock& SystemClock::Instance() {
  static const SystemClock clock;
  return clock;
}

}  // namespace liststore
