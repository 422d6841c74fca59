// Size-classed memory of one table in one lane: every partition, leaf and index of it.
// Single-threaded: owned by the lane, called by who holds it. The pool and the budget are shared.
//
//   if (!arena.Reserve(3000)) return OpStatus::kOutOfMemory;      // nothing was changed
//   void* block = arena.Allocate(1400, Arena::Mobility::kMovable); // cannot fail
//   ...
//   arena.Free(block, 1400);
//
// Blocks are cut from slabs, each a run of pages of one class and one mobility; above 32 KiB a
// block is pages of its own. Allocate and Free touch the slab's header (one line; more below 512
// bytes) and not the block. Slabs grow with their class: 4 KiB at first, 64 KiB (256 for blocks of
// 16 KiB) once the class holds 16 times that. An empty slab goes back to the pool; one an arena is
// kept.
//
// 368 bytes, and 112 for each class in use and 8 for each slab. Overhead of a full slab below 1/32.
//
// Growth leaves holes, a sixth to a third of the bytes. Movable blocks can be pulled together a few
// at a time: their owner hears where each went.
//
// Invariants (Verify() checks them):
//  (1) a partly used slab is in the list of its class that fits its count of live blocks, or is
//      `current`; a full one is in no list;
//  (2) its count of live blocks is the number of clear bits in its bitmap;
//  (3) held_bytes is the sum of its slabs and large blocks, live_bytes that of its live blocks;
//  (4) held_bytes + credit_bytes is what it holds of the budget.
#ifndef LISTSTORE_ENGINE_MEMORY_ARENA_H_
#define LISTSTORE_ENGINE_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/check.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/memory/size_classes.h"

namespace liststore::memory {

class Arena {
 public:
  // Whether a block may be moved by Compact. Never share a slab.
  enum class Mobility : uint8_t {
    kFixed,
    kMovable,
  };

  // Told by Compact. The arena must not be used inside the call.
  class Relocator {
   public:
    virtual ~Relocator() = default;
    // The `bytes` (the whole block) at `from` were copied to `to`; `from` ends when this returns.
    virtual void Moved(void* from, void* to, size_t bytes) = 0;
    // Asked before: somebody points into a block that may not be moved now.
    virtual bool MayMove(const void* /*block*/) const { return true; }
  };

  Arena(PagePool& pool, MemoryBudget& budget)
      : pool_(pool), budget_(budget), aside_(pool.system()) {}
  // Gives everything back, live blocks too. O(slabs).
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // What Allocate(bytes) can be used for: the next class, or whole pages above 32 KiB.
  static size_t BlockBytes(size_t bytes) {
    if (bytes <= size_classes::kBlockBytesMax) {
      return size_classes::kBlockBytes[size_classes::ClassOf(bytes)];
    }
    return (bytes + PagePool::kPageBytes - 1) & ~(PagePool::kPageBytes - 1);
  }

  // Sets `bytes` of the budget aside for the blocks that come next; what they take beyond that
  // comes out of the budget's slack. False, and nothing changed, when the budget forbids it, or the
  // system refuses pages (refuses()). Throws std::bad_alloc, and nothing changed, where the heap
  // refuses what blocks are noted in; Allocate then does not, of what was reserved.
  // Reservations do not add up: each replaces the one before. A comparison in the usual case,
  // because credit is held of the budget in advance.
  [[nodiscard]] bool Reserve(uint64_t bytes,
                             MemoryBudget::Purpose purpose = MemoryBudget::Purpose::kGrow) {
    if (credit_bytes_ < bytes || bytes > PagePool::kBackedBytes ||
        ((took_slack_ || wants_notes_ || pool_.refuses()) && bytes > 0)) {
      return ReserveSlowly(bytes, purpose);
    }
    reserved_bytes_ = bytes;
    return true;
  }

  // Takes from the heap what blocks of `bytes` will be noted in, and some that come besides. Reserve does it,
  // but for what brings nothing. Throws std::bad_alloc.
  void PrepareNotes(uint64_t bytes);

  // The system refuses pages, so far as is known: what can do without another block does.
  bool refuses() const { return pool_.refuses(); }

  // Gives the unused credit back, and with it the reservation, and the empty slab that is kept.
  void ReleaseCredit();

  // 16-byte aligned, never null, content undefined. What is not covered by a reservation takes from
  // the budget's slack and, when that is used up, passes the limit.
  [[nodiscard]] void* Allocate(size_t bytes, Mobility mobility);

  // `bytes`: any number with the same BlockBytes as the one allocated.
  void Free(void* block, size_t bytes);

  // Moves up to `blocks_max` movable blocks out of the emptiest slabs into holes of fuller ones,
  // about 0.4 us a block and its owner's share. Needs no reservation, takes no memory. Returns how
  // many moved; 0: nothing worth moving.
  size_t Compact(size_t blocks_max, Relocator& relocator);

  // Whether some class of movable blocks has more holes than a slab and a twentieth of its blocks.
  // O(1).
  bool WorthCompacting() const { return classes_worth_compacting_ > 0; }

  uint64_t live_bytes() const { return live_bytes_; }      // BlockBytes of all live blocks
  uint64_t held_bytes() const { return held_bytes_; }      // pages of slabs and large blocks
  uint64_t credit_bytes() const { return credit_bytes_; }  // held of the budget, not yet pages

  // Slabs and large blocks for which neither the reservation nor the slack was enough.
  uint64_t slabs_beyond_limit() const { return slabs_beyond_limit_; }

  // Checks everything there is. O(slabs + blocks / 64).
  void Verify() const;

 private:
  // Partly filled slabs are listed by the eighth of their capacity that is live.
  static constexpr int kBands = 8;
  // In no list. Full ones neither: a block freed at random would touch both neighbours of its slab.
  static constexpr uint8_t kFullBand = kBands;
  static constexpr uint8_t kCurrentBand = kBands + 1;
  static constexpr uint64_t kNeverCompacted = UINT64_MAX;

  // At the start of its run; the bitmap of free blocks and the blocks follow.
  struct Slab {
    Arena* arena;
    Slab* next;
    Slab* previous;
    uint32_t place;  // in slabs_
    uint16_t live;
    uint16_t capacity;
    uint16_t live_low;  // its band holds from here ...
    uint16_t live_high;
    uint16_t first_block;  // offset
    uint16_t first_word;   // no free block below this word of the bitmap
    uint8_t pages;
    uint8_t class_index;  // in classes_
    uint8_t size_class;
    uint8_t band;

    uint64_t* free_blocks() { return reinterpret_cast<uint64_t*>(this + 1); }
    const uint64_t* free_blocks() const { return reinterpret_cast<const uint64_t*>(this + 1); }
    size_t words() const { return (capacity + 63u) / 64; }
    size_t bytes() const { return pages * PagePool::kPageBytes; }
    char* block(size_t index) {
      return reinterpret_cast<char*>(this) + first_block +
             index * size_classes::kBlockBytes[size_class];
    }
    // The block's index; the address must be a block's.
    size_t IndexOf(const void* block) const;
  };
  static_assert(sizeof(Slab) == size_classes::kHeaderBytes);

  struct SizeClass {
    Slab* current = nullptr;  // allocations come from here until it is full
    Slab* bands[kBands] = {};
    uint64_t held_bytes = 0;
    uint64_t blocks = 0;  // capacity of all slabs
    uint64_t free_blocks = 0;
    uint64_t compact_above = kNeverCompacted;  // worth it with more free blocks than this
    uint16_t slab_blocks_max = 0;              // capacity of the largest slab so far
    uint8_t size_class = 0;
    Mobility mobility = Mobility::kFixed;

    bool WorthCompacting() const { return free_blocks > compact_above; }
  };

  bool ReserveSlowly(uint64_t bytes, MemoryBudget::Purpose purpose);
  bool TryReserve(uint64_t bytes, MemoryBudget::Purpose purpose, uint8_t level, uint64_t more);
  uint8_t LevelFor(uint64_t held_bytes) const;
  uint64_t CreditStep() const;
  void SpendCredit(uint64_t bytes);
  void TakeSlack(uint64_t bytes);
  void EarnCredit(uint64_t bytes);

  SizeClass& ClassFor(size_t size_class, Mobility mobility);
  void ChooseCurrent(SizeClass& c);
  Slab* NewSlab(SizeClass& c);
  void ReleaseSlab(Slab* slab);
  void SlabEmptied(Slab* slab);
  void Link(Slab* slab);
  void Unlink(Slab* slab);
  void CountSlab(SizeClass& c, const Slab* slab, bool added);
  char* TakeBlock(SizeClass& c);
  void ReturnBlock(SizeClass& c, Slab* slab, size_t index);
  size_t CompactClass(SizeClass& c, size_t blocks_max, Relocator& relocator);
  size_t MoveBlocks(SizeClass& c, Slab* victim, size_t blocks_max, Relocator& relocator,
                    Slab*& stuck);
  void* AllocateLarge(size_t bytes);
  void FreeLarge(void* block, size_t bytes);
  size_t VerifyLists(const SizeClass& c) const;
  void VerifySlab(const SizeClass& c, const Slab* slab) const;

  PagePool& pool_;
  MemoryBudget& budget_;
  uint64_t live_bytes_ = 0;
  uint64_t held_bytes_ = 0;
  uint64_t credit_bytes_ = 0;
  uint64_t slabs_beyond_limit_ = 0;
  uint64_t reserved_bytes_ = 0;  // part of the credit: left of the last reservation
  AddressReserve aside_;         // for the blocks of a large reservation
  bool wants_notes_ = true;      // few are left; see PrepareNotes
  bool took_slack_ = false;      // the next reservation asks the budget, whatever the credit
  uint32_t classes_worth_compacting_ = 0;
  uint8_t level_ = 0;         // no new slab is above; changed by Reserve alone
  uint8_t next_class_ = 0;    // where Compact goes on
  Slab* empty_ = nullptr;     // the one that is kept although no block lives in it
  std::vector<Slab*> slabs_;  // all, in no order
  std::vector<SizeClass> classes_;
  // By mobility and class: one more than the index in classes_; 0: not used so far. A table of all
  // classes would be 18 KiB in every lane of every table.
  uint8_t class_numbers_[2][size_classes::kClasses] = {};
  std::map<char*, size_t> large_;
  // For the next large blocks: a node without an element.
  std::vector<std::map<char*, size_t>::node_type> large_notes_;
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_ARENA_H_
