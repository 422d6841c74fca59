#include "engine/control/server_clock.h"

#include "engine/base/check.h"

namespace liststore {

ServerClock::ServerClock(uint64_t start_nanos) : manual_(&own_) {
  LS_CHECK(start_nanos <= kNanosMax, "a clock starts at an instant it can show");
  own_.SetNanos(start_nanos);
}

uint64_t ServerClock::NowNanos() const {
  return real_ != nullptr ? real_->NowNanos() : manual_->NowNanos();
}

ServerClock::Move ServerClock::Set(uint64_t now_nanos) {
  if (manual_ == nullptr) return Move::kNotManual;
  if (now_nanos > kNanosMax) return Move::kTooFar;
  const MutexLock lock(moves_);
  if (now_nanos < manual_->NowNanos()) return Move::kBackwards;
  manual_->SetNanos(now_nanos);
  return Move::kDone;
}

ServerClock::Move ServerClock::Advance(uint64_t nanos) {
  if (manual_ == nullptr) return Move::kNotManual;
  const MutexLock lock(moves_);
  const uint64_t before = manual_->NowNanos();
  if (before > kNanosMax || nanos > kNanosMax - before) return Move::kTooFar;
  manual_->AdvanceNanos(nanos);
  return Move::kDone;
}

bool ServerClock::ResetTo(uint64_t now_nanos) {
  LS_CHECK(now_nanos <= kNanosMax, "a clock goes back to an instant it can show");
  if (manual_ == nullptr) return false;
  const MutexLock lock(moves_);
  if (manual_->NowNanos() == now_nanos) return false;
  manual_->SetNanos(now_nanos);
  return true;
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
