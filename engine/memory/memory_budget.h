// How many bytes the tables of one engine may hold together, and how many they do.
// One per engine, shared by all arenas. Thread-safe. 128 bytes: the counter has a line of its own.
//
// Held are pages taken by arenas plus the credit they have put aside for allocations to come. A
// write that was let in never fails half-way: it is let in by what it brings, and what it may take
// besides (leaves that are split or written again, slabs that are begun) comes out of a slack,
// which is held back from the limit. What gives memory back may use most of the slack from the
// beginning, so that deletions, and reclamation, go on where writes are refused.
//
// Invariant: held_bytes() passes limit_bytes() only when the limit is lowered, or by what
// HoldBeyondLimit is asked for; at no instant by TryHold.
#ifndef LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_
#define LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"

namespace liststore::memory {

class MemoryBudget {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  enum class Purpose : uint8_t {
    kGrow,      // a write: up to grow_limit_bytes()
    kGiveBack,  // a deletion, reclamation: leaves a quarter of the slack
    kFinish,    // what was let in: up to the limit
  };

  explicit MemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~MemoryBudget() { LS_CHECK(held_bytes() == 0, "arenas give back what they hold before this"); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Adds `bytes` to what is held; false, and nothing changed, when that would pass what `purpose`
  // may reach. A compare-and-swap and not an addition undone on failure: an overshoot of one
  // thread, however short, would refuse the request of another that fits.
  [[nodiscard]] bool TryHold(uint64_t bytes, Purpose purpose) {
    const uint64_t limit = LimitFor(purpose);
    uint64_t held = held_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit || held > limit - bytes) return false;
    } while (!held_bytes_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    return true;
  }

  // Adds `bytes` whatever the limit: for what must not fail. Later requests find less, or nothing,
  // left.
  void HoldBeyondLimit(uint64_t bytes) { held_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  void Release(uint64_t bytes) {
    const uint64_t before = held_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    LS_CHECK(before >= bytes, "only what is held can be released");
  }

  uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
  uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }
  uint64_t grow_limit_bytes() const { return LimitFor(Purpose::kGrow); }
  // A limit below what is held refuses every TryHold until enough was released; it frees nothing.
  void set_limit(uint64_t bytes) { limit_bytes_.store(bytes, std::memory_order_relaxed); }

  // What one row may have. To write it again takes as much beside what is held, which nobody counts.
  // One that has more keeps it, and gets no larger.
  static constexpr uint64_t kRowBytesMax = uint64_t{200} << 20;
  uint64_t row_bytes_max() const { return row_bytes_max_.load(std::memory_order_relaxed); }
  void set_row_bytes_max(uint64_t bytes) {
    row_bytes_max_.store(std::min(bytes, kRowBytesMax), std::memory_order_relaxed);
  }

 private:
  // A write takes besides what it brings a slab of each of some ten classes, which are below 1/4096
  // of the limit or of one block, and for an instant a second copy of a leaf or a row.
  static constexpr uint64_t kSlackPart = 32;
  static constexpr uint64_t kSlackBytesMin = uint64_t{256} << 10;
  static constexpr uint64_t kSlackBytesMax = uint64_t{32} << 20;
  // Of limits too small for the least slack.
  static constexpr uint64_t kSlackPartMax = 4;

  static uint64_t SlackOf(uint64_t limit) {
    const uint64_t slack = std::clamp(limit / kSlackPart, kSlackBytesMin, kSlackBytesMax);
    return std::min(slack, limit / kSlackPartMax);
  }
  uint64_t LimitFor(Purpose purpose) const {
    const uint64_t limit = limit_bytes();
    if (purpose == Purpose::kFinish || limit == kUnlimited) return limit;
    const uint64_t slack = SlackOf(limit);
    return limit - (purpose == Purpose::kGrow ? slack : slack / 4);
  }

  alignas(kCacheLineBytes) std::atomic<uint64_t> held_bytes_{0};
  alignas(kCacheLineBytes) std::atomic<uint64_t> limit_bytes_;
  std::atomic<uint64_t> row_bytes_max_{kRowBytesMax};
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_
