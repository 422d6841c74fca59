// Clock: the source of a store's time. A store reads it once per call.
//
// Instants are unsigned nanoseconds since the Unix epoch, like the timestamps of list items. 64
// bits last until the year 2554; the 19 digits of an item key end in 2286.
#ifndef LISTSTORE_CLOCK_H_
#define LISTSTORE_CLOCK_H_

#include <atomic>
#include <cstdint>

namespace liststore {

// Thread-safe. An implementation must not call a store that uses it.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch. Should not go back: what a store has not reclaimed by then
  // appears again, until it expires once more.
  virtual uint64_t NowNanos() const = 0;
  // The instant that reads use. Reads need whole seconds only, so an implementation may return an
  // instant that is some milliseconds late, but never early, where that is cheaper. ScyllaDB uses a
  // coarse clock for expiry too (gc_clock.hh).
  virtual uint64_t CoarseNanos() const { return NowNanos(); }
};

// The system clock: CLOCK_REALTIME, about 25 ns per call. Reads use CLOCK_REALTIME_COARSE, about
// 4 ns per call, which is at most one tick of the kernel (1 to 10 ms) late.
//
// Its seconds never go back: where the machine's clock is set back, it goes on at the pace of
// CLOCK_MONOTONIC from where it was, until the machine's has caught up or the process ends. What
// has expired stays expired.
class SystemClock final : public Clock {
 public:
  uint64_t NowNanos() const override;
  uint64_t CoarseNanos() const override;
  // One instance is enough: all show the same time.
  static const SystemClock& Instance();
};

// A clock for tests that stands still until it is moved. Thread-safe: a reader sees either the old
// or the new instant.
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
