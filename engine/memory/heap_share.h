// What lies on the heap and counts against a budget all the same: few large things beside the arenas.
#ifndef LISTSTORE_ENGINE_MEMORY_HEAP_SHARE_H_
#define LISTSTORE_ENGINE_MEMORY_HEAP_SHARE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/mutex.h"
#include "engine/memory/memory_budget.h"

namespace liststore::memory {

// The budget for those who may outlive it. Thread-safe.
class HeapLedger {
 public:
  explicit HeapLedger(MemoryBudget& budget) : budget_(&budget) {}
  HeapLedger(const HeapLedger&) = delete;
  HeapLedger& operator=(const HeapLedger&) = delete;

  // As a write does.
  [[nodiscard]] bool TryHold(uint64_t bytes) {
    const MutexLock lock(mutex_);
    if (budget_ == nullptr || !budget_->TryHold(bytes, MemoryBudget::Purpose::kGrow)) return false;
    held_bytes_ += bytes;
    return true;
  }
  void Release(uint64_t bytes) {
    const MutexLock lock(mutex_);
    if (budget_ == nullptr) return;
    budget_->Release(bytes);
    held_bytes_ -= bytes;
  }
  // The budget is about to go: nothing is held of it any more.
  void Close() {
    const MutexLock lock(mutex_);
    budget_->Release(held_bytes_);
    budget_ = nullptr;
  }

 private:
  Mutex mutex_;
  MemoryBudget* budget_ ABSL_GUARDED_BY(mutex_);  // nullptr: closed
  uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What one thing has of it, given back when that goes. One thread at a time.
class HeapShare {
 public:
  explicit HeapShare(std::shared_ptr<HeapLedger> ledger) : ledger_(std::move(ledger)) {}
  ~HeapShare() { ledger_->Release(bytes_); }
  HeapShare(const HeapShare&) = delete;
  HeapShare& operator=(const HeapShare&) = delete;

  // False: there is not so much left, and nothing has changed.
  [[nodiscard]] bool Grow(uint64_t bytes) {
    if (!ledger_->TryHold(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  void Shrink(uint64_t bytes) {
    ledger_->Release(bytes);
    bytes_ -= bytes;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<HeapLedger> ledger_;
  uint64_t bytes_ = 0;
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_HEAP_SHARE_H_
