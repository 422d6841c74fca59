// ServerClock: the clock of a server. It follows the machine's clock (real), stands still until it
// is moved (manual), or runs faster or slower than the machine's (scaled). Clients change it
// through the table liststore.clock, the program that owns it through this class.
//
//   liststore::ServerClock clock(1'700'000'000'000'000'000);    // manual
//   options.server_clock = &clock;
//   ...
//   clock.SetMode({.mode = ServerClock::Mode::kScaled, .factor_millionths = 60'000'000});
#ifndef LISTSTORE_SERVER_CLOCK_H_
#define LISTSTORE_SERVER_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "liststore/clock.h"

namespace liststore {

// Thread-safe: a reader sees the instant before or after a change. A read costs as much as reading
// the machine's clock, or two loads when manual; a scaled clock also takes a mutex. It must outlive
// the server and the store that use it.
//
// Time never goes backwards, in all threads together, neither by a move nor by a change of the
// mode: what has expired stays expired, and write timestamps ascend. In the real mode the machine's
// clock may be set back, and this one goes on as SystemClock does; another clock that it was made on is
// followed whatever it does.
class ServerClock final : public Clock {
 public:
  enum class Mode : uint8_t {
    kReal,    // follows the machine's clock
    kManual,  // stands still except for Set and Advance
    kScaled,  // runs at `factor_millionths` of the machine's speed, and can be moved
  };
  struct Setting {
    Mode mode = Mode::kReal;
    uint64_t factor_millionths = kFactorOne;  // for a scaled clock, 1 to kFactorMax

    bool operator==(const Setting&) const = default;
  };
  enum class Change : uint8_t {
    kDone,
    kFollowsMachine,  // a real clock cannot be moved
    kBackwards,    // the instant is before the present one; for SetMode to real: the machine's is
    kTooFar,       // the instant is after kNanosMax
    kModeIsFixed,  // the clock wraps another clock, and its mode cannot be changed
  };

  // The last instant, in the year 2262: the largest bigint of nanoseconds. A scaled clock stops
  // there.
  static constexpr uint64_t kNanosMax = std::numeric_limits<int64_t>::max();
  static constexpr uint64_t kFactorOne = 1'000'000;
  // Eleven days per second.
  static constexpr uint64_t kFactorMax = 1'000'000 * kFactorOne;

  // A real clock.
  ServerClock();
  // A manual clock that starts at `start_nanos`, at most kNanosMax.
  explicit ServerClock(uint64_t start_nanos);
  // A real clock with other sources, which must outlive it: `machine` is the time, and `steady`,
  // which never goes back, drives a scaled clock.
  ServerClock(const Clock& machine, const Clock& steady);
  // Always follows `real`, which must outlive this; the mode is fixed.
  explicit ServerClock(const Clock& real);
  // Always manual, and shared with the other users of `clock`, which must outlive this and be at
  // most at kNanosMax; the mode is fixed.
  explicit ServerClock(ManualClock* clock);
  ServerClock(const ServerClock&) = delete;
  ServerClock& operator=(const ServerClock&) = delete;

  uint64_t NowNanos() const override;
  Mode mode() const { return ModeOf(state_.load(std::memory_order_acquire)); }
  Setting setting() const;
  // Whether the mode cannot be changed.
  bool mode_is_fixed() const { return mode_is_fixed_; }
  // Whether it was made on a ManualClock, which the program may move too.
  bool is_shared() const { return manual_ != &own_; }

  // Moves the clock to an instant in nanoseconds since the Unix epoch, not before the present one.
  [[nodiscard]] Change Set(uint64_t now_nanos);
  // Moves the clock forward from the present instant, so that the steps of several callers add up.
  [[nodiscard]] Change Advance(uint64_t nanos);
  // Sets the mode and the instant, at most kNanosMax, also backwards: for a reset of a server,
  // which also undoes everything that depends on the time. In real mode the clock follows the
  // machine, whatever `now_nanos` is; a fixed mode stays. Returns whether the time changed; a clock
  // that was real and stays real returns false.
  bool ResetTo(const Setting& setting, uint64_t now_nanos);
  // The machine's clock, or the clock given instead: the time of the real mode.
  uint64_t MachineNanos() const { return machine_.NowNanos(); }
  // Changes the mode and continues from the present instant; a change to the real mode jumps
  // forward if the clock is behind the machine. The present mode is accepted, also with another
  // factor.
  [[nodiscard]] Change SetMode(const Setting& setting);

 private:
  // The low bits of state_ are the mode, the others count changes: a reader that finds state_
  // unchanged has read one mode only.
  static constexpr uint64_t kModeBits = 2;
  static Mode ModeOf(uint64_t state) { return static_cast<Mode>(state & ((1 << kModeBits) - 1)); }
  void Enter(Mode mode);
  uint64_t NowLocked() const;
  uint64_t ScaledNow(uint64_t steady_nanos) const;
  void GoOnFrom(const Setting& setting, uint64_t now_nanos);

  const Clock& machine_;
  const Clock& steady_;
  const bool mode_is_fixed_ = false;
  ManualClock own_{0};
  ManualClock* const manual_;  // &own_, or the clock given to the constructor
  std::atomic<uint64_t> state_;
  // Serializes changes, so that none is lost, and protects what a scaled clock needs.
  mutable std::mutex mutex_;
  uint64_t scaled_from_nanos_ = 0;         // this clock at the last change
  uint64_t scaled_from_steady_nanos_ = 0;  // the steady clock at the last change
  uint64_t factor_millionths_ = kFactorOne;
};

// Parses "real", "manual", or "scaled:" and a decimal factor. InvalidArgument: any other text; the
// message has the text and what is allowed.
absl::StatusOr<ServerClock::Setting> ParseClockSetting(std::string_view text);
std::string ClockSettingText(const ServerClock::Setting& setting);

}  // namespace liststore

#endif  // LISTSTORE_SERVER_CLOCK_H_
