// ServerClock: the time that a server lives in: the machine's, one that stands still until somebody
// moves it, or one that runs faster or slower than the machine's. Clients change it through the
// table liststore.clock, the program that owns it through this class.
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

// Thread-safe; a reader sees the instant before a change or the one behind it. Reading costs what
// the machine's clock does, or two loads; of a scaled clock a mutex besides. Owned by whoever made
// it; outlives the server and the store that read it.
//
// Time never goes backwards, for all threads together: not by a move, and not by a change of the
// mode. What expired stays so, and write timestamps ascend. Only the real mode follows the machine
// wherever it goes, where somebody sets the machine's clock back.
class ServerClock final : public Clock {
 public:
  enum class Mode : uint8_t {
    kReal,    // as the machine's clock goes
    kManual,  // stands still but for Set and Advance
    kScaled,  // goes on by `factor_millionths` of what passes by the machine, and can be moved
  };
  struct Setting {
    Mode mode = Mode::kReal;
    uint64_t factor_millionths = kFactorOne;  // of a scaled clock, 1 to kFactorMax

    bool operator==(const Setting&) const = default;
  };
  enum class Change : uint8_t {
    kDone,
    kFollowsMachine,  // a real clock is not moved
    kBackwards,       // the instant lies before the present one; real mode: the machine is behind
    kTooFar,          // the instant lies behind kNanosMax
    kModeIsFixed,     // the clock was handed in by somebody who knows nothing of modes
  };

  // The last instant, in the year 2262: what a bigint of nanoseconds can say. A scaled clock stops
  // there.
  static constexpr uint64_t kNanosMax = std::numeric_limits<int64_t>::max();
  static constexpr uint64_t kFactorOne = 1'000'000;
  // A second is eleven days.
  static constexpr uint64_t kFactorMax = 1'000'000 * kFactorOne;

  // Real.
  ServerClock();
  // Manual, starting at an instant of at most kNanosMax.
  explicit ServerClock(uint64_t start_nanos);
  // Real, by clocks that outlive this: `machine` tells the time, `steady` never goes back and is
  // what a scaled clock counts by.
  ServerClock(const Clock& machine, const Clock& steady);
  // `real` as it goes, for good; it outlives this.
  explicit ServerClock(const Clock& real);
  // Manual for good, and shared with whoever else holds `clock`, which outlives this and is at most
  // at kNanosMax.
  explicit ServerClock(ManualClock* clock);
  ServerClock(const ServerClock&) = delete;
  ServerClock& operator=(const ServerClock&) = delete;

  uint64_t NowNanos() const override;
  Mode mode() const { return ModeOf(state_.load(std::memory_order_acquire)); }
  Setting setting() const;
  // The mode is the one that the clock was made with.
  bool mode_is_fixed() const { return mode_is_fixed_; }
  // Manual, and moved by the program that holds the ManualClock.
  bool is_shared() const { return manual_ != &own_; }

  // To an instant, in nanoseconds since the Unix epoch; the present one is fine.
  [[nodiscard]] Change Set(uint64_t now_nanos);
  // By a time, measured from the instant at which it takes effect, so that the steps of several
  // callers add up.
  [[nodiscard]] Change Advance(uint64_t nanos);
  // Back to a mode, and in it to any instant of at most kNanosMax, backwards too: for who takes
  // back with it whatever goes by the time (a server's reset). The real mode follows the machine,
  // whatever the instant; a mode that is fixed stays. Whether the time was another; that of a clock
  // which was real and stays so was not.
  bool ResetTo(const Setting& setting, uint64_t now_nanos);
  // What the machine's clock says, or the one that was handed in: the time of the real mode.
  uint64_t MachineNanos() const { return machine_.NowNanos(); }
  // Goes on from the present instant in another way; to the real mode it jumps forward where it is
  // behind the machine. The mode that it has already is fine, with another factor too.
  [[nodiscard]] Change SetMode(const Setting& setting);

 private:
  // A mode below a count of changes: what was read in between is of one mode.
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
  ManualClock* const manual_;  // &own_, or the one that was handed in
  std::atomic<uint64_t> state_;
  // One change at a time, so that none is lost; and all there is of a scaled clock.
  mutable std::mutex mutex_;
  uint64_t scaled_from_nanos_ = 0;         // the clock, and
  uint64_t scaled_from_steady_nanos_ = 0;  // the steady one, at the last change
  uint64_t factor_millionths_ = kFactorOne;
};

// "real", "manual", "scaled:" and the factor in decimals. Errors are InvalidArgument and name the
// text and what it may be.
absl::StatusOr<ServerClock::Setting> ParseClockSetting(std::string_view text);
std::string ClockSettingText(const ServerClock::Setting& setting);

}  // namespace liststore

#endif  // LISTSTORE_SERVER_CLOCK_H_
