// Clock: where a store takes its time from. A store reads it once per call and passes the instant
// down.
//
// Instants are unsigned nanoseconds since the Unix epoch, like the timestamps of list items: 64
// bits reach the year 2554 (the 19 digits of an item key end in 2286).
#ifndef LISTSTORE_CLOCK_H_
#define LISTSTORE_CLOCK_H_

#include <atomic>
#include <cstdint>

namespace liststore {

// Thread-safe. An implementation must not call back into a store that uses it.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch.
  virtual uint64_t NowNanos() const = 0;
  // The same for reads of lists, which go by whole seconds: may be some milliseconds behind, never
  // ahead, where that is cheaper. ScyllaDB takes the instants that expiry goes by from a clock of
  // such a kind too (gc_clock.hh).
  virtual uint64_t CoarseNanos() const { return NowNanos(); }
};

// The machine's clock (CLOCK_REALTIME, about 25 ns a call), and, for reads, the instant of the
// kernel's last tick (CLOCK_REALTIME_COARSE, about 4 ns): 1 to 10 ms behind at most.
class SystemClock final : public Clock {
 public:
  uint64_t NowNanos() const override;
  uint64_t CoarseNanos() const override;
  // One for everybody: it holds no state.
  static const SystemClock& Instance();
};

// A clock that stands still until a test moves it. Thread-safe; a reader sees either the old or the
// new instant.
//
//   liststore::ManualClock clock(1'700'000'000'000'000'000);
//   options.clock = &clock;
//   ...
//   clock.AdvanceSeconds(30 * 86'400);   // thirty days later
class ManualClock final : public Clock {
 public:
  explicit ManualClock(uint64_t now_nanos) : now_nanos_(now_nanos) {}
  uint64_t NowNanos() const override { return now_nanos_.load(std::memory_order_acquire); }
  void SetNanos(uint64_t now_nanos) { now_nanos_.store(now_nanos, std::memory_order_release); }
  void AdvanceNanos(uint64_t nanos) { now_nanos_.fetch_add(nanos, std::memory_order_acq_rel); }
  void AdvanceSeconds(uint64_t seconds) { AdvanceNanos(seconds * 1'000'000'000u); }

 private:
  std::atomic<uint64_t> now_nanos_;
};

}  // namespace liststore

#endif  // LISTSTORE_CLOCK_H_
