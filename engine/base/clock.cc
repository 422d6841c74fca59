#include "liststore/clock.h"

#include <time.h>

#include "engine/base/seconds.h"

namespace liststore {
namespace {

uint64_t NanosOf(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t SystemClock::NowNanos() const { return NanosOf(CLOCK_REALTIME); }
uint64_t SystemClock::CoarseNanos() const { return NanosOf(CLOCK_REALTIME_COARSE); }

const SystemClock& SystemClock::Instance() {
  static const SystemClock clock;
  return clock;
}

}  // namespace liststore
