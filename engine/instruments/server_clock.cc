#include "liststore/server_clock.h"

#include <time.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

constexpr std::string_view kScaledPrefix = "scaled:";
constexpr size_t kDecimalsMax = 6;

// Time since some instant, which nobody sets.
class SteadyClock final : public Clock {
 public:
  uint64_t NowNanos() const override {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(now.tv_nsec);
  }
  static const SteadyClock& Instance() {
    static const SteadyClock clock;
    return clock;
  }
};

// The decimal number `text` in millionths; 0: it is none, or is beyond the bounds.
uint64_t ParseFactor(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const bool ends_in_point = point + 1 == text.size();
  if (point == 0 || ends_in_point || decimals.size() > kDecimalsMax) return 0;
  uint64_t millionths = 0;
  size_t digits_behind = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9' || millionths > ServerClock::kFactorMax) return 0;
    millionths = millionths * 10 + static_cast<uint64_t>(text[i] - '0');
    digits_behind += i > point ? 1 : 0;
  }
  for (; digits_behind < kDecimalsMax; ++digits_behind) {
    if (millionths > ServerClock::kFactorMax) return 0;
    millionths *= 10;
  }
  return millionths <= ServerClock::kFactorMax ? millionths : 0;
}

}  // namespace

ServerClock::ServerClock() : ServerClock(SystemClock::Instance(), SteadyClock::Instance()) {}

ServerClock::ServerClock(uint64_t start_nanos) : ServerClock() {
  LS_CHECK(start_nanos <= kNanosMax, "a clock starts at an instant it can show");
  own_.SetNanos(start_nanos);
  Enter(Mode::kManual);
}

ServerClock::ServerClock(const Clock& machine, const Clock& steady)
    : machine_(machine),
      steady_(steady),
      manual_(&own_),
      state_(static_cast<uint64_t>(Mode::kReal)) {}

ServerClock::ServerClock(const Clock& real)
    : machine_(real),
      steady_(real),
      mode_is_fixed_(true),
      manual_(&own_),
      state_(static_cast<uint64_t>(Mode::kReal)) {}

ServerClock::ServerClock(ManualClock* clock)
    : machine_(*clock),
      steady_(*clock),
      mode_is_fixed_(true),
      manual_(clock),
      state_(static_cast<uint64_t>(Mode::kManual)) {}

// Readers look at the state, then at what the mode goes by, and at the state again where that is
// not the clock's own. A change takes the state away from them before it reads the machine's clock:
// who then still finds the old one has read that clock before.
uint64_t ServerClock::NowNanos() const {
  while (true) {
    const uint64_t state = state_.load(std::memory_order_acquire);
    switch (ModeOf(state)) {
      case Mode::kManual:
        // One that is no longer manual has been at this instant since the call began.
        return manual_->NowNanos();
      case Mode::kReal: {
        const uint64_t now_nanos = machine_.NowNanos();
        if (state_.load(std::memory_order_acquire) == state) return now_nanos;
        break;
      }
      case Mode::kScaled: {
        const std::lock_guard lock(mutex_);
        return NowLocked();
      }
    }
  }
}

uint64_t ServerClock::NowLocked() const {
  switch (mode()) {
    case Mode::kManual:
      return manual_->NowNanos();
    case Mode::kReal:
      return machine_.NowNanos();
    case Mode::kScaled:
      return ScaledNow(steady_.NowNanos());
  }
  LS_UNREACHABLE("every mode tells the time");
}

uint64_t ServerClock::ScaledNow(uint64_t steady_nanos) const {
  LS_DCHECK(steady_nanos >= scaled_from_steady_nanos_, "a steady clock never goes back");
  const auto passed = static_cast<unsigned __int128>(steady_nanos - scaled_from_steady_nanos_) *
                      factor_millionths_ / kFactorOne;
  return passed < kNanosMax - scaled_from_nanos_
             ? scaled_from_nanos_ + static_cast<uint64_t>(passed)
             : kNanosMax;
}

ServerClock::Setting ServerClock::setting() const {
  const std::lock_guard lock(mutex_);
  const Mode mode = this->mode();
  return {mode, mode == Mode::kScaled ? factor_millionths_ : kFactorOne};
}

void ServerClock::Enter(Mode mode) {
  const uint64_t count = (state_.load(std::memory_order_relaxed) >> kModeBits) + 1;
  state_.store(count << kModeBits | static_cast<uint64_t>(mode), std::memory_order_seq_cst);
}

// In a mode that is not the real one: makes `now_nanos` the present instant.
void ServerClock::GoOnFrom(const Setting& setting, uint64_t now_nanos) {
  LS_DCHECK(setting.mode != Mode::kReal, "a real clock is not moved");
  LS_DCHECK(now_nanos <= kNanosMax, "the clock can show the instant");
  if (setting.mode == Mode::kManual) {
    manual_->SetNanos(now_nanos);
  } else {
    scaled_from_nanos_ = now_nanos;
    scaled_from_steady_nanos_ = steady_.NowNanos();
    factor_millionths_ = setting.factor_millionths;
  }
  if (mode() != setting.mode) Enter(setting.mode);
}

ServerClock::Change ServerClock::Set(uint64_t now_nanos) {
  const std::lock_guard lock(mutex_);
  if (mode() == Mode::kReal) return Change::kFollowsMachine;
  if (now_nanos > kNanosMax) return Change::kTooFar;
  if (now_nanos < NowLocked()) return Change::kBackwards;
  GoOnFrom({mode(), factor_millionths_}, now_nanos);
  return Change::kDone;
}

ServerClock::Change ServerClock::Advance(uint64_t nanos) {
  const std::lock_guard lock(mutex_);
  if (mode() == Mode::kReal) return Change::kFollowsMachine;
  const uint64_t before = NowLocked();
  if (before > kNanosMax || nanos > kNanosMax - before) return Change::kTooFar;
  if (is_shared()) {
    // The program may move it at the same time.
    manual_->AdvanceNanos(nanos);
  } else {
    GoOnFrom({mode(), factor_millionths_}, before + nanos);
  }
  return Change::kDone;
}

bool ServerClock::ResetTo(const Setting& setting, uint64_t now_nanos) {
  const std::lock_guard lock(mutex_);
  const Mode before = mode();
  const Setting wanted = mode_is_fixed_ ? Setting{.mode = before} : setting;
  const uint64_t nanos_before = NowLocked();
  if (wanted.mode != Mode::kReal) {
    LS_CHECK(now_nanos <= kNanosMax, "a clock goes back to an instant it can show");
    GoOnFrom(wanted, now_nanos);
    return nanos_before != now_nanos;
  }
  if (before == Mode::kReal) return false;
  Enter(Mode::kReal);
  return nanos_before != machine_.NowNanos();
}

ServerClock::Change ServerClock::SetMode(const Setting& setting) {
  LS_CHECK(setting.mode != Mode::kScaled ||
               (setting.factor_millionths >= 1 && setting.factor_millionths <= kFactorMax),
           "a factor is within its bounds");
  const std::lock_guard lock(mutex_);
  if (mode_is_fixed_) return Change::kModeIsFixed;
  const Mode before = mode();
  if (setting.mode == Mode::kReal) {
    if (before == Mode::kReal) return Change::kDone;
    if (machine_.NowNanos() < NowLocked()) return Change::kBackwards;
    Enter(Mode::kReal);
    return Change::kDone;
  }
  // A scaled clock is read with the mutex: nobody reads the machine's any more.
  if (before == Mode::kReal) Enter(Mode::kScaled);
  const uint64_t now_nanos = before == Mode::kReal ? machine_.NowNanos() : NowLocked();
  GoOnFrom(setting, std::min(now_nanos, kNanosMax));
  return Change::kDone;
}

absl::StatusOr<ServerClock::Setting> ParseClockSetting(std::string_view text) {
  using Mode = ServerClock::Mode;
  if (text == "real") return ServerClock::Setting{.mode = Mode::kReal};
  if (text == "manual") return ServerClock::Setting{.mode = Mode::kManual};
  if (!text.starts_with(kScaledPrefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(text), "' is not real, manual or scaled:FACTOR"));
  }
  const uint64_t factor = ParseFactor(text.substr(kScaledPrefix.size()));
  if (factor == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(text), "': the factor is a decimal number from 0.000001 to 1000000"));
  }
  return ServerClock::Setting{.mode = Mode::kScaled, .factor_millionths = factor};
}

std::string ClockSettingText(const ServerClock::Setting& setting) {
  switch (setting.mode) {
    case ServerClock::Mode::kReal:
      return "real";
    case ServerClock::Mode::kManual:
      return "manual";
    case ServerClock::Mode::kScaled:
      break;
  }
  std::string text = absl::StrFormat("scaled:%d.%06d", setting.factor_millionths / 1'000'000,
                                     setting.factor_millionths % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace liststore
