#include "engine/control/server_clock.h"

#include "engine/base/check.h"

namespace liststore {

ServerClock::ServerClock(uint64_t start_nanos) : real_(nullptr), manual_nanos_(start_nanos) {
  LS_CHECK(start_nanos <= kNanosMax, "a clock starts at an instant it can show");
}

uint64_t ServerClock::NowNanos() const {
  return real_ != nullptr ? real_->NowNanos() : manual_nanos_.load(std::memory_order_acquire);
}

ServerClock::Move ServerClock::Set(uint64_t now_nanos) {
  if (real_ != nullptr) return Move::kNotManual;
  if (now_nanos > kNanosMax) return Move::kTooFar;
  uint64_t before = manual_nanos_.load(std::memory_order_acquire);
  do {
    if (now_nanos < before) return Move::kBackwards;
  } while (!manual_nanos_.compare_exchange_weak(before, now_nanos, std::memory_order_acq_rel));
  return Move::kDone;
}

ServerClock::Move ServerClock::Advance(uint64_t nanos) {
  if (real_ != nullptr) return Move::kNotManual;
  uint64_t before = manual_nanos_.load(std::memory_order_acquire);
  do {
    LS_DCHECK(before <= kNanosMax, "a clock never passes its last instant");
    if (nanos > kNanosMax - before) return Move::kTooFar;
  } while (!manual_nanos_.compare_exchange_weak(before, before + nanos, std::memory_order_acq_rel));
  return Move::kDone;
}

std::string_view ModeName(ServerClock::Mode mode) {
  switch (mode) {
    case ServerClock::Mode::kReal:
      return "real";
    case ServerClock::Mode::kManual:
      return "manual";
  }
  LS_UNREACHABLE("every mode has a name");
}

}  // namespace liststore
