// ServerClock: the time that a server lives in: the machine's, or one that stands still until
// somebody moves it.
#ifndef LISTSTORE_ENGINE_CONTROL_SERVER_CLOCK_H_
#define LISTSTORE_ENGINE_CONTROL_SERVER_CLOCK_H_

#include <cstdint>
#include <limits>
#include <string_view>

#include "engine/base/mutex.h"
#include "liststore/clock.h"

namespace liststore {

// Thread-safe; a reader sees the instant before a move or the one behind it. Reading costs what the
// real clock does, or one load. Owned by the server; outlives the engine that reads it.
//
// Time never goes backwards by a move: what expired stays so, and write timestamps ascend. Only
// ResetTo takes it back.
class ServerClock final : public Clock {
 public:
  enum class Mode : uint8_t {
    kReal,    // as `real` goes
    kManual,  // stands still but for Set and Advance
  };
  enum class Move : uint8_t {
    kDone,
    kNotManual,  // the clock follows the machine's
    kBackwards,  // the instant lies before the present one
    kTooFar,     // the instant lies behind kNanosMax
  };

  // The last instant, in the year 2262: what a bigint of nanoseconds can say.
  static constexpr uint64_t kNanosMax = std::numeric_limits<int64_t>::max();

  // Real. `real` outlives the clock.
  explicit ServerClock(const Clock& real) : real_(&real), manual_(nullptr) {}
  // Manual, starting at an instant of at most kNanosMax.
  explicit ServerClock(uint64_t start_nanos);
  // Manual, and shared with whoever else holds `clock`, which outlives this and is at most at
  // kNanosMax.
  explicit ServerClock(ManualClock* clock) : manual_(clock) {}
  ServerClock(const ServerClock&) = delete;
  ServerClock& operator=(const ServerClock&) = delete;

  uint64_t NowNanos() const override;
  Mode mode() const { return real_ == nullptr ? Mode::kManual : Mode::kReal; }

  // To an instant, in nanoseconds since the Unix epoch; the present one is fine.
  [[nodiscard]] Move Set(uint64_t now_nanos);
  // By a time, measured from the instant at which it takes effect, so that the steps of several
  // callers add up.
  [[nodiscard]] Move Advance(uint64_t nanos);
  // To any instant of at most kNanosMax, backwards too: for who takes back with it whatever goes by
  // the time (see DataTable). Whether the time was another; a real clock stays, and it was not.
  bool ResetTo(uint64_t now_nanos);

 private:
  const Clock* const real_ = nullptr;  // nullptr: manual
  ManualClock own_{0};
  ManualClock* const manual_;  // nullptr: real
  Mutex moves_;                // one at a time, so that none is lost
};

// "real", "manual".
std::string_view ModeName(ServerClock::Mode mode);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CONTROL_SERVER_CLOCK_H_
