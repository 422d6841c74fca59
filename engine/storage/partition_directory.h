// PartitionDirectory: (address, partition key) -> reference, in that order.
//
// One per table and lane, used by the lane's holder only, except PrefetchSlot. It owns its slots
// and nothing that the references stand for.
//
// Slots are sorted by address in one array (slot_array.h). It doubles at a load of 0.8, and the old
// array is carried over 16 slots with each insert, so that no insert pays for all of them:
// addresses below the *frontier* live in the current array, the others still in the old one.
//
// Find: one cache miss, two at times; the reference is followed on an equal address only. Insert:
// the same and the shift of a run, a few slots on average. Scan: a walk over the array. 16 B a
// slot, 20-40 B an entry; in the course of a doubling half as much again. Nothing before the first
// insert and after the last erase; 256 B from then on.
//
// Chosen collisions. A slot is never more than 63 to the right of its home. An entry for which that
// cannot be kept goes to an ordered overflow set, O(log n), which a look-up consults only when the
// set is not empty and the array has no such entry. Random addresses leave it empty. An insert or
// an erase moves at most the run it falls into.
//
// Invariants (Verify() checks them):
//  (1) both arrays are sorted and reachable as slot_array.h says;
//  (2) while entries are carried over, the current array holds only addresses below the frontier
//      and the old one, from `moved_` on, only others; slots before `moved_` are dead;
//  (3) entries of equal address ascend by key, in the arrays and in the overflow set;
//  (4) size() counts each entry once, and Find finds it.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_DIRECTORY_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_DIRECTORY_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "absl/container/btree_set.h"

#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/short_copy.h"
#include "engine/memory/arena.h"
#include "engine/memory/arena_allocator.h"
#include "engine/storage/slot_array.h"

namespace liststore::storage {

// `KeyOf` is a stateless functor, `std::string_view operator()(uint64_t reference) const`: the key
// behind a live reference. When what a reference stands for moves, the owner stores the new
// reference through the Slot before it lets go of the old place.
template <typename KeyOf>
class PartitionDirectory {
 public:
  using Slot = DirectorySlot;

  explicit PartitionDirectory(memory::Arena& arena)
      : arena_(arena), overflow_(Order{}, memory::ArenaAllocator<Overflow>(&arena)) {}
  ~PartitionDirectory() { Clear(); }
  PartitionDirectory(const PartitionDirectory&) = delete;
  PartitionDirectory& operator=(const PartitionDirectory&) = delete;

  // The entry, or null. Its reference may be changed in place; the pointer holds until the next
  // Insert, Erase, Tidy or Clear.
  [[gnu::always_inline]] Slot* Find(uint64_t address, std::string_view key) {
    return FindAnywhere(address, key, [](uint64_t) {});
  }
  [[gnu::always_inline]] const Slot* Find(uint64_t address, std::string_view key) const {
    return FindAnywhere(address, key, [](uint64_t) {});
  }
  // The same; `on_candidate(reference)` is called before the key behind a reference is looked at,
  // so that what the caller wants of it can be fetched together with the key.
  template <typename OnCandidate>
  [[gnu::always_inline]] Slot* Find(uint64_t address, std::string_view key,
                                    OnCandidate&& on_candidate) {
    return FindAnywhere(address, key, on_candidate);
  }

  // Adds an entry that is not there yet; `reference` is not 0. Cannot fail: the caller has reserved
  // an array where one begins. Entries of chosen addresses take some 30 bytes of the overflow set.
  Slot* Insert(uint64_t address, std::string_view key, uint64_t reference);
  size_t ReserveBytesForInsert() const;

  // Removes an entry that is there. Allocates nothing. The last one frees all memory.
  void Erase(uint64_t address, std::string_view key);

  // Background work: carries over some more slots of an old array, and begins to halve an array
  // whose load has fallen below 1/8. A step costs about 64 slots; the caller has reserved for it.
  // Inserts do without; it gives memory back when none come.
  bool WantsTidy() const { return migrating() || IsSparse(); }
  void Tidy();
  size_t ReserveBytesForTidy() const;

  // Drops all entries in O(1), those in overflow aside.
  void Clear();
  // Whether it keeps its memory when its last entry goes, for entries to come back.
  void set_keeps_memory(bool keeps) {
    keeps_memory_ = keeps;
    if (empty() && !keeps) Clear();
  }
  // Exchanges all entries with those of another directory of the same arena. O(1).
  void Swap(PartitionDirectory& other);

  // Calls visit(Slot&) for the entries with address >= `from_address` in order of (address, key)
  // until it returns false. The visit may change references (see KeyOf) and nothing else.
  template <typename Visitor>
  void ScanFrom(uint64_t from_address, Visitor&& visit);

  // Brings the slot of `address` closer. Any thread, at any time; a directory that changes
  // meanwhile costs a useless prefetch.
  [[gnu::always_inline]] void PrefetchSlot(uint64_t address) const {
    const bool in_old = old_.allocated() && address >= frontier();
    const uintptr_t home = in_old ? old_.HomeHint(address) : current_.HomeHint(address);
    PrefetchLine(reinterpret_cast<const void*>(home));
    // Slots lie up to a few to the right of their homes: every fourth in the next line, which is
    // then a miss of its own. 5 % of a multi-get.
    PrefetchLine(reinterpret_cast<const void*>(home + 3 * sizeof(Slot)));
  }

  // The reference of the first entry with `address`, whatever its key; 0: the arrays hold none. For
  // prefetches of what it stands for: one cache miss, and the entry itself is not followed.
  [[gnu::always_inline]] uint64_t ReferenceAt(uint64_t address) const {
    if (size_ == 0) return 0;
    const Slot* const slot = FirstFrom(address);
    return slot->address == address ? slot->reference : 0;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Memory held. The part of the overflow set is an estimate.
  size_t bytes() const {
    return current_.bytes() + old_.bytes() + overflow_.size() * sizeof(Overflow) * 3 / 2;
  }
  size_t overflow_size() const { return overflow_.size(); }
  bool migrating() const { return old_.allocated(); }
  void Verify() const;

 private:
  // With 16 slots an insert, the old array's last part reaches a load of 0.87 before it is carried
  // over; with 8 it would be 0.93, where runs beyond the spare slots stop being improbable.
  static constexpr size_t kSlotsPerInsert = 16;
  static constexpr size_t kSlotsPerTidy = 64;
  // Arrays up to this size are carried over at once, 0.3 us. No run in them can reach the bound.
  static constexpr size_t kCapacityMovedAtOnce = SlotArray::kSpareMax;
  // Mutable: the reference takes part in the order only through the key behind it, which it keeps.
  struct Overflow {
    mutable Slot slot;
  };
  struct Probe {
    uint64_t address;
    std::string_view key;
  };
  struct Order {
    using is_transparent = void;
    static Probe Of(const Overflow& entry) {
      return {entry.slot.address, KeyOf{}(entry.slot.reference)};
    }
    static bool Less(const Probe& a, const Probe& b) {
      return a.address != b.address ? a.address < b.address : a.key < b.key;
    }
    bool operator()(const Overflow& a, const Overflow& b) const {
      if (a.slot.address != b.slot.address) return a.slot.address < b.slot.address;
      return Less(Of(a), Of(b));
    }
    bool operator()(const Overflow& a, const Probe& b) const { return Less(Of(a), b); }
    bool operator()(const Probe& a, const Overflow& b) const { return Less(a, Of(b)); }
  };
  using OverflowSet = absl::btree_set<Overflow, Order, memory::ArenaAllocator<Overflow>>;

  uint64_t frontier() const { return frontier_.load(std::memory_order_relaxed); }
  bool InOld(uint64_t address) const { return old_.allocated() && address >= frontier(); }
  size_t in_arrays() const { return size_ - overflow_.size(); }
  bool NeedsGrowth() const { return (in_arrays() + 1) * 5 > current_.capacity() * 4; }
  bool IsSparse() const {
    return current_.capacity() > kCapacityMovedAtOnce && in_arrays() * 8 < current_.capacity();
  }

  // The first slot that may hold `address`. Slots of the old array before `moved_` are dead.
  [[gnu::always_inline]] Slot* StartOf(uint64_t address) const {
    if (InOld(address)) [[unlikely]] {
      return old_.base() + std::max(old_.HomeIndex(address), moved_);
    }
    return current_.Home(address);
  }
  // The first slot with `address` or a later one. How many lie before it is chance: two are passed
  // without a branch, which would be predicted wrongly for every second look-up. What lies behind
  // the slot that ends the search may not be cleared yet, and does not count.
  [[gnu::always_inline]] Slot* FirstFrom(uint64_t address) const {
    if (InOld(address)) [[unlikely]]
      return FirstInOld(address);
    static_assert(SlotArray::kCapacityMin >= 2, "that many spare slots follow the last home");
    Slot* slot = current_.Home(address);
    const size_t passes_first = slot[0].address < address ? 1 : 0;
    const size_t passes_second = passes_first & (slot[1].address < address ? 1 : 0);
    slot += passes_first + passes_second;
    while (slot->address < address) ++slot;
    return slot;
  }
  [[gnu::noinline]] Slot* FirstInOld(uint64_t address) const {
    Slot* slot = StartOf(address);
    while (slot->address < address) ++slot;
    return slot;
  }
  template <typename OnCandidate>
  [[gnu::always_inline]] Slot* FindInArrays(uint64_t address, std::string_view key,
                                            OnCandidate&& on_candidate) const {
    if (size_ == 0) return nullptr;
    for (Slot* slot = FirstFrom(address); slot->address == address && slot->reference != 0;
         ++slot) {
      on_candidate(slot->reference);
      if (EqualShort(KeyOf{}(slot->reference), key)) return slot;
    }
    return nullptr;
  }
  template <typename OnCandidate>
  [[gnu::always_inline]] Slot* FindAnywhere(uint64_t address, std::string_view key,
                                            OnCandidate&& on_candidate) const {
    Slot* slot = FindInArrays(address, key, on_candidate);
    if (slot != nullptr || overflow_.empty()) [[likely]]
      return slot;
    return FindInOverflow(address, key);
  }
  [[gnu::noinline]] Slot* FindInOverflow(uint64_t address, std::string_view key) const {
    const auto found = overflow_.find(Probe{address, key});
    return found != overflow_.end() ? &found->slot : nullptr;
  }

  Slot* InsertIntoOverflow(Slot entry) {
    const auto [position, inserted] = overflow_.insert(Overflow{entry});
    LS_CHECK(inserted, "an entry is in the directory once");
    return &position->slot;
  }
  void BeginMigration(size_t capacity);
  void Migrate(size_t slots_max);
  void CarryOver(const Slot& entry);
  // How far the current array must be clear once `moved` slots of the old one are carried over:
  // their homes there were below `moved`, which bounds their homes here.
  size_t ClearTarget(size_t moved) const {
    const bool grows = current_.capacity() > old_.capacity();
    return (grows ? moved * 2 : moved / 2 + 1) + current_.displacement_max() + 2;
  }
  size_t VerifyArray(const SlotArray& array, size_t from) const;

  // What a look-up touches comes first, within one cache line.
  SlotArray current_;
  SlotArray old_;                      // allocated while entries are carried over
  std::atomic<uint64_t> frontier_{0};  // last address carried over + 1; read by PrefetchSlot
  size_t size_ = 0;
  size_t moved_ = 0;  // slots of old_ that are dead
  bool keeps_memory_ = false;
  memory::Arena& arena_;
  OverflowSet overflow_;
};

template <typename KeyOf>
DirectorySlot* PartitionDirectory<KeyOf>::Insert(uint64_t address, std::string_view key,
                                                 uint64_t reference) {
  LS_CHECK(reference != 0, "reference 0 marks an empty slot");
  LS_DCHECK(Find(address, key) == nullptr, "an entry is in the directory once");
  if (!current_.allocated()) {
    current_.Allocate(arena_, SlotArray::kCapacityMin);
    current_.ClearTo(current_.slots());
  } else if (!migrating() && NeedsGrowth()) {
    BeginMigration(current_.capacity() * 2);
  }
  if (migrating()) Migrate(kSlotsPerInsert);

  SlotArray& array = InOld(address) ? old_ : current_;
  Slot* at = StartOf(address);
  while (at->address < address) ++at;
  while (at->address == address && at->reference != 0 && KeyOf{}(at->reference) < key) ++at;
  ++size_;
  const Slot entry{address, reference};
  if (!array.Open(at, address)) [[unlikely]]
    return InsertIntoOverflow(entry);
  *at = entry;
  return at;
}

template <typename KeyOf>
size_t PartitionDirectory<KeyOf>::ReserveBytesForInsert() const {
  if (!current_.allocated()) {
    return memory::Arena::BlockBytes(SlotArray::BytesFor(SlotArray::kCapacityMin));
  }
  if (migrating() || !NeedsGrowth()) return 0;
  return memory::Arena::BlockBytes(SlotArray::BytesFor(current_.capacity() * 2));
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Erase(uint64_t address, std::string_view key) {
  Slot* slot = FindInArrays(address, key, [](uint64_t) {});
  if (slot != nullptr) {
    (InOld(address) ? old_ : current_).Close(slot);
  } else {
    const size_t erased = overflow_.erase(Probe{address, key});
    LS_CHECK(erased == 1, "only an entry of the directory is erased");
  }
  if (--size_ == 0 && !keeps_memory_) Clear();
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Tidy() {
  if (!migrating() && IsSparse()) BeginMigration(current_.capacity() / 2);
  if (migrating()) Migrate(kSlotsPerTidy);
}

template <typename KeyOf>
size_t PartitionDirectory<KeyOf>::ReserveBytesForTidy() const {
  if (migrating() || !IsSparse()) return 0;
  return memory::Arena::BlockBytes(SlotArray::BytesFor(current_.capacity() / 2));
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Clear() {
  current_.Release(arena_);
  old_.Release(arena_);
  overflow_.clear();
  frontier_.store(0, std::memory_order_relaxed);
  moved_ = size_ = 0;
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Swap(PartitionDirectory& other) {
  LS_CHECK(&arena_ == &other.arena_, "entries stay in their arena");
  current_.Swap(other.current_);
  old_.Swap(other.old_);
  const uint64_t frontier_of_other = other.frontier();
  other.frontier_.store(frontier(), std::memory_order_relaxed);
  frontier_.store(frontier_of_other, std::memory_order_relaxed);
  std::swap(size_, other.size_);
  std::swap(moved_, other.moved_);
  std::swap(keeps_memory_, other.keeps_memory_);
  overflow_.swap(other.overflow_);
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::BeginMigration(size_t capacity) {
  LS_CHECK(!migrating(), "one array is carried over at a time");
  const bool at_once = current_.capacity() <= kCapacityMovedAtOnce;
  old_.TakeFrom(current_);
  frontier_.store(0, std::memory_order_relaxed);
  moved_ = 0;
  current_.Allocate(arena_, capacity);
  if (at_once) Migrate(old_.slots());
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Migrate(size_t slots_max) {
  LS_DCHECK(migrating(), "there is an array to carry over");
  const size_t slots = old_.slots();
  size_t stop = moved_ + std::min(slots_max, slots - moved_);
  current_.ClearTo(ClearTarget(stop));
  for (; moved_ < slots; ++moved_) {
    const Slot entry = old_.base()[moved_];
    const bool live = entry.reference != 0;
    // Equal addresses are carried over together, or the frontier would run through them.
    const bool equals_last = live && entry.address < frontier();
    if (moved_ >= stop && !equals_last) return;
    if (!live) continue;
    current_.ClearTo(ClearTarget(moved_ + 1));
    CarryOver(entry);
    // Past the greatest address there is no frontier, and nothing but its equals: go to the end.
    if (entry.address == UINT64_MAX) {
      stop = slots;
      current_.ClearTo(current_.slots());
    } else {
      frontier_.store(entry.address + 1, std::memory_order_relaxed);
    }
  }
  current_.ClearTo(current_.slots());
  old_.Release(arena_);
}

// Entries come in order, so that all equals here are smaller: no key is looked at.
template <typename KeyOf>
void PartitionDirectory<KeyOf>::CarryOver(const Slot& entry) {
  Slot* at = current_.Home(entry.address);
  while (at->address < entry.address) ++at;
  while (at->address == entry.address && at->reference != 0) ++at;
  LS_DCHECK(at->reference == 0, "the current array holds addresses below the frontier");
  if (!current_.Open(at, entry.address)) [[unlikely]] {
    InsertIntoOverflow(entry);
  } else {
    *at = entry;
  }
}

template <typename KeyOf>
template <typename Visitor>
void PartitionDirectory<KeyOf>::ScanFrom(uint64_t from_address, Visitor&& visit) {
  if (size_ == 0) return;
  auto overflow = overflow_.lower_bound(Probe{from_address, {}});
  const auto overflow_end = overflow_.end();
  // Visits the live slots of [slot, end) and the overflow entries in front of each.
  const auto walk = [&](Slot* slot, Slot* end) {
    for (; slot < end; ++slot) {
      if (slot->reference == 0 || slot->address < from_address) continue;
      while (overflow != overflow_end && Order{}(*overflow, Overflow{*slot})) {
        if (!visit((overflow++)->slot)) return false;
      }
      if (!visit(*slot)) return false;
    }
    return true;
  };
  if (!migrating() || from_address < frontier()) {
    if (!walk(current_.Home(from_address), current_.base() + current_.cleared())) return;
  }
  if (migrating()) {
    Slot* slot = old_.base() + std::max(old_.HomeIndex(from_address), moved_);
    if (!walk(slot, old_.base() + old_.slots())) return;
  }
  while (overflow != overflow_end) {
    if (!visit((overflow++)->slot)) return;
  }
}

template <typename KeyOf>
size_t PartitionDirectory<KeyOf>::VerifyArray(const SlotArray& array, size_t from) const {
  if (!array.allocated()) return 0;
  const Slot* previous = nullptr;
  for (size_t i = from; i < array.cleared(); ++i) {
    const Slot& slot = array.base()[i];
    if (slot.reference == 0) continue;
    LS_CHECK(previous == nullptr || Order{}(Overflow{*previous}, Overflow{slot}),
             "entries ascend by address and key");
    LS_CHECK(&array == (InOld(slot.address) ? &old_ : &current_), "the frontier parts the arrays");
    LS_CHECK(Find(slot.address, KeyOf{}(slot.reference)) == &slot, "every entry is found");
    previous = &slot;
  }
  return array.Verify(from);
}

template <typename KeyOf>
void PartitionDirectory<KeyOf>::Verify() const {
  const size_t live = VerifyArray(current_, 0) + VerifyArray(old_, moved_);
  LS_CHECK(live + overflow_.size() == size_, "every entry is counted once");
  LS_CHECK(current_.allocated() || size_ == 0, "entries take memory");
  LS_CHECK(!current_.allocated() || size_ != 0 || keeps_memory_,
           "memory is held while there are entries");
  LS_CHECK(migrating() || !current_.allocated() || current_.cleared() == current_.slots(),
           "an array that is not being filled is clear to its end");
  const Overflow* previous = nullptr;
  for (const Overflow& entry : overflow_) {
    LS_CHECK(previous == nullptr || Order{}(*previous, entry), "overflow entries ascend");
    LS_CHECK(Find(entry.slot.address, KeyOf{}(entry.slot.reference)) == &entry.slot,
             "every overflow entry is found");
    previous = &entry;
  }
}

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_DIRECTORY_H_
