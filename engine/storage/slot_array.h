// SlotArray: directory slots in ascending order of address, found by linear probing that keeps the
// order: an address's high bits name its home, a slot lies at its home or to the right of it, and
// everything between its home and itself is taken. The array does not wrap; it ends in spare slots.
//
// A part of PartitionDirectory, which says who may use it and orders equal addresses by key. Memory
// is made empty from the left as it is needed (ClearTo), so that a large array is never zeroed at
// once.
//
// Invariants (Verify() checks them for the slots from `from` on):
//  (1) live slots ascend by address;
//  (2) a live slot is at most displacement_max() to the right of its home;
//  (3) no slot is empty between max(home, from) and a live slot;
//  (4) an empty slot holds kEmpty, so that a search stops at it by comparing addresses alone, and
//      the last slot is always empty, so that it needs no bound.
#ifndef LISTSTORE_ENGINE_STORAGE_SLOT_ARRAY_H_
#define LISTSTORE_ENGINE_STORAGE_SLOT_ARRAY_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/memory/arena.h"

namespace liststore::storage {

// Equal addresses mean equal tokens. `reference` is the table's; 0 marks an empty slot.
struct DirectorySlot {
  uint64_t address;
  uint64_t reference;
};
static_assert(sizeof(DirectorySlot) == 16, "four slots share a cache line");

class SlotArray {
 public:
  using Slot = DirectorySlot;
  static constexpr Slot kEmpty{UINT64_MAX, 0};
  static constexpr size_t kCapacityMin = 8;
  // Slots a look-up may have to pass; beyond it entries are refused. Random addresses at a load of
  // 0.87 exceed 63 about once in 10^9 slots; chosen ones cannot make a search longer.
  static constexpr size_t kSpareMax = 64;

  SlotArray() = default;
  SlotArray(const SlotArray&) = delete;
  SlotArray& operator=(const SlotArray&) = delete;

  bool allocated() const { return base() != nullptr; }
  Slot* base() const { return base_.load(std::memory_order_relaxed); }
  // Homes; a power of two. 0 when not allocated.
  size_t capacity() const { return allocated() ? size_t{1} << (64 - shift()) : 0; }
  size_t slots() const { return capacity() + Spare(capacity()); }
  size_t displacement_max() const { return Spare(capacity()) - 1; }
  size_t bytes() const { return allocated() ? memory::Arena::BlockBytes(BytesFor(capacity())) : 0; }
  static size_t BytesFor(size_t capacity) { return (capacity + Spare(capacity)) * sizeof(Slot); }

  void Allocate(memory::Arena& arena, size_t capacity) {
    LS_CHECK(!allocated(), "an array is released before it is allocated again");
    LS_CHECK(std::has_single_bit(capacity) && capacity >= kCapacityMin, "homes are high bits");
    cleared_ = 0;
    shift_.store(static_cast<uint32_t>(64 - std::countr_zero(capacity)), std::memory_order_relaxed);
    base_.store(
        static_cast<Slot*>(arena.Allocate(BytesFor(capacity), memory::Arena::Mobility::kFixed)),
        std::memory_order_relaxed);
  }
  void Release(memory::Arena& arena) {
    if (!allocated()) return;
    arena.Free(base(), BytesFor(capacity()));
    base_.store(nullptr, std::memory_order_relaxed);
    cleared_ = 0;
  }
  void TakeFrom(SlotArray& other) {
    LS_CHECK(!allocated(), "an array in use is not overwritten");
    shift_.store(other.shift(), std::memory_order_relaxed);
    base_.store(other.base(), std::memory_order_relaxed);
    cleared_ = other.cleared_;
    other.base_.store(nullptr, std::memory_order_relaxed);
    other.cleared_ = 0;
  }

  void Swap(SlotArray& other) {
    Slot* const base_of_other = other.base();
    const uint32_t shift_of_other = other.shift();
    other.shift_.store(shift(), std::memory_order_relaxed);
    other.base_.store(base(), std::memory_order_relaxed);
    shift_.store(shift_of_other, std::memory_order_relaxed);
    base_.store(base_of_other, std::memory_order_relaxed);
    std::swap(cleared_, other.cleared_);
  }

  size_t HomeIndex(uint64_t address) const { return address >> shift(); }
  Slot* Home(uint64_t address) const { return base() + HomeIndex(address); }
  size_t IndexOf(const Slot* slot) const { return static_cast<size_t>(slot - base()); }
  // Where a home lies, for a prefetch: computed without touching the array, which may not be there.
  [[gnu::always_inline]] uintptr_t HomeHint(uint64_t address) const {
    return reinterpret_cast<uintptr_t>(base()) + HomeIndex(address) * sizeof(Slot);
  }

  // Makes the slots before `index` usable; those already cleared keep what they hold.
  void ClearTo(size_t index) {
    const size_t end = std::min(index, slots());
    if (end <= cleared_) return;
    std::fill(base() + cleared_, base() + end, kEmpty);
    cleared_ = end;
  }
  size_t cleared() const { return cleared_; }

  // Makes room at `at` for a slot of `address` by moving what follows one to the right. False, and
  // nothing has moved, when some slot would end up further than displacement_max() from its home.
  bool Open(Slot* at, uint64_t address) {
    LS_DCHECK(at >= Home(address), "a slot lies at its home or to the right of it");
    const size_t limit = displacement_max();
    if (IndexOf(at) > HomeIndex(address) + limit) return false;
    Slot* end = at;
    for (; end->reference != 0; ++end) {
      if (IndexOf(end) >= HomeIndex(end->address) + limit) return false;
    }
    LS_DCHECK(IndexOf(end) < cleared_ && IndexOf(end) + 1 < slots(), "the last slot stays empty");
    std::memmove(at + 1, at, static_cast<size_t>(end - at) * sizeof(Slot));
    return true;
  }

  // Removes the slot at `at`: what follows moves one to the left, up to the first slot at its home.
  void Close(Slot* at) {
    LS_DCHECK(at->reference != 0, "only a live slot is removed");
    Slot* end = at + 1;
    while (end->reference != 0 && IndexOf(end) > HomeIndex(end->address)) ++end;
    std::memmove(at, at + 1, static_cast<size_t>(end - at - 1) * sizeof(Slot));
    *(end - 1) = kEmpty;
  }

  // Returns the number of live slots at or after index `from`, what is before being dead.
  size_t Verify(size_t from) const {
    size_t live = 0;
    size_t gap = from;  // the first index after the last empty slot
    const Slot* previous = nullptr;
    for (size_t i = from; i < cleared_; ++i) {
      const Slot& slot = base()[i];
      if (slot.reference == 0) {
        LS_CHECK(slot.address == kEmpty.address, "an empty slot stops every search");
        gap = i + 1;
        continue;
      }
      const size_t home = HomeIndex(slot.address);
      LS_CHECK(home <= i && i <= home + displacement_max(), "a slot is near its home");
      LS_CHECK(std::max(home, from) >= gap, "no empty slot between a home and its slot");
      LS_CHECK(previous == nullptr || previous->address <= slot.address, "slots ascend");
      previous = &slot;
      ++live;
    }
    LS_CHECK(cleared_ < slots() || base()[slots() - 1].reference == 0, "the last slot is empty");
    return live;
  }

 private:
  static size_t Spare(size_t capacity) { return std::min(capacity, kSpareMax); }
  uint32_t shift() const { return shift_.load(std::memory_order_relaxed); }

  // Relaxed atomics: the owner writes them, any thread may read them to prefetch, and a stale or
  // torn pair only prefetches in vain.
  std::atomic<Slot*> base_{nullptr};
  std::atomic<uint32_t> shift_{63};  // 64 - log2(capacity)
  size_t cleared_ = 0;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_SLOT_ARRAY_H_
