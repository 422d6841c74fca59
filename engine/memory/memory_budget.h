// How many bytes the tables of one engine may hold together, and how many they do.
// One per engine, shared by all arenas. Thread-safe. 128 bytes: the counter has a line of its own.
//
// Held are pages taken by arenas plus the credit they have put aside for allocations to come, so
// that a write which was let in never fails half-way.
//
// Invariant: held_bytes() passes limit_bytes() only when the limit is lowered, or by what
// HoldBeyondLimit is asked for; at no instant by TryHold.
#ifndef LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_
#define LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"

namespace liststore {

class MemoryBudget {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  explicit MemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~MemoryBudget() { LS_CHECK(held_bytes() == 0, "arenas give back what they hold before this"); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Adds `bytes` to what is held; false, and nothing changed, when that would pass the limit.
  // A compare-and-swap and not an addition undone on failure: an overshoot of one thread, however
  // short, would refuse the request of another that fits.
  [[nodiscard]] bool TryHold(uint64_t bytes) {
    const uint64_t limit = limit_bytes();
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
  // A limit below what is held refuses every TryHold until enough was released; it frees nothing.
  void set_limit(uint64_t bytes) { limit_bytes_.store(bytes, std::memory_order_relaxed); }

 private:
  alignas(kCacheLineBytes) std::atomic<uint64_t> held_bytes_{0};
  alignas(kCacheLineBytes) std::atomic<uint64_t> limit_bytes_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MEMORY_MEMORY_BUDGET_H_
