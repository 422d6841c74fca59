// Runs of 4 KiB pages for the arenas of one engine, carved from 2 MiB regions by a buddy scheme.
// One per engine. Thread-safe: one mutex, taken once per slab and not per block; RunOf takes none.
//
// Allocate and Free are O(1), 0.1 us, without a system call unless a region comes or goes or memory
// is given back. Nothing is mapped before the first Allocate. Overhead: one page of metadata in
// each 512. Once more than 8 MiB are in use, new regions ask for 2 MiB pages: reads of many
// partitions gain 20-40 %; before that they refuse them, so that a small store stays small.
//
// Resident memory follows use: granules of 64 KiB that are entirely free are dropped. Some (1/16 of
// what is in use) are kept for the next slab, because giving a granule back and touching it again
// costs about 20 us and takes a 2 MiB page apart. Who frees holds a lane as a rule, for which
// others wait: what is in excess is left to DropKept, which background work calls holding nothing,
// and Free gives it back itself only where nobody does and twice as much has gathered. While
// background work empties tables (SetEmptying) whole regions alone go: each system call interrupts
// all cores that run the process, and most granules are soon part of a region that is free. Shorter
// free runs are kept, as long as all that is resident stays within 65/64 of the budget's limit;
// beyond that they are dropped by the page. What has to be dropped at one call stays in proportion
// to what the call is for, so that nobody who frees or takes a slab pays for all of it.
//
// Linux puts small pages of memory that has asked for 2 MiB pages together again by itself
// (khugepaged), and fills the holes: what was dropped would be resident again, and nobody would count
// it. So a region that pages are dropped from refuses 2 MiB pages, and asks for them again when next
// to all of it is in use or counted as resident.
//
// The first touch of a 2 MiB page is the dear part of growing: the system clears it, 0.2 ms in
// memory that it has used of late and 5 ms in memory that a virtual machine takes from its host
// (0.4 GB/s measured). Populate does that beforehand, and a thread that calls MapAhead does it in
// time.
//
// The system may refuse a page, and a write that was let in must not fail for it. So the pool keeps
// addresses in reserve, 8 MiB that are mapped and not touched. From the first refusal on it refuses
// (refuses()): no write is let in before the reserve is whole again, and what is under way is served
// from it, or from what a larger write has set aside for itself. It is for as many arenas as writes take
// from at once; one that takes from many makes it larger.
//
// Invariants (Verify() checks them):
//  (1) every page of a region is metadata, in one run that was handed out, or in one free run;
//  (2) no two free buddies of the same size exist side by side;
//  (3) a region is in the list of its largest free run; regions that are entirely free are kept as
//      free granules are, and the last of them stays;
//  (4) kept_bytes and loose_bytes count exactly the free pages that were touched since they were
//      dropped, in granules that are entirely free and in others; a region with some of either is
//      in the list of those to drop from;
//  (5) a region that asks for 2 MiB pages has no dropped page, but for those beyond
//      kThinnedRegionsMax.
#ifndef LISTSTORE_ENGINE_MEMORY_PAGE_POOL_H_
#define LISTSTORE_ENGINE_MEMORY_PAGE_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "engine/base/cacheline.h"
#include "engine/base/mutex.h"
#include "engine/memory/address_reserve.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/system_memory.h"

namespace liststore::memory {

class PagePool {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kRegionBytes = size_t{2} << 20;
  static constexpr size_t kRunBytesMax = size_t{1} << 20;  // above: a mapping of its own
  static constexpr size_t kHugeAboveBytes = size_t{8} << 20;
  static constexpr size_t kGranuleBytes = size_t{64} << 10;
  // What writes under way may take of slabs after the system has refused, all together. One that
  // brings more than kBackedBytes sets it aside itself.
  static constexpr size_t kReserveBytes = 4 * kRegionBytes;
  static constexpr size_t kBackedBytes = size_t{32} << 10;

  struct Stats {
    uint64_t used_bytes = 0;    // handed out, in regions and in mappings of their own
    uint64_t mapped_bytes = 0;  // address space taken from the system
    uint64_t kept_bytes = 0;    // free granules not given back to the system
    uint64_t loose_bytes = 0;   // the same of shorter runs
    uint64_t regions = 0;
    uint64_t thinned_regions = 0;  // of 2 MiB pages until some of it was dropped
  };

  // The pool hands out pages whatever the budget says: arenas hold the bytes before they ask.
  explicit PagePool(MemoryBudget& budget, SystemMemory& system = SystemMemory::Instance())
      : budget_(budget), system_(system), reserve_(system) {}
  // Every run must have come back.
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // `bytes` is a positive multiple of kPageBytes. Up to kRunBytesMax the run is aligned to the
  // power of two at or above `bytes`; larger ones to a page, from 2 MiB on to 2 MiB. The content is
  // anything. Never null: where the system refuses, it comes out of `aside`, or of the reserve.
  void* Allocate(size_t bytes, AddressReserve* aside = nullptr);

  // The system has refused, and the reserve has not been filled since. A load.
  bool refuses() const { return refuses_.load(std::memory_order_relaxed); }
  // Fills the reserve, and then the pool does not refuse. False: the system refuses, and half of the
  // reserve is gone, or, but for what `gives_back`, fewer pages are free than the reserve has. Two
  // loads in the usual case.
  [[nodiscard]] bool MayTake(bool gives_back);
  // A write is about to reserve in so many arenas at once, each up to kBackedBytes: until EndMany the
  // reserve is as much larger. False: the system refuses, and nothing has changed. A few do without.
  static constexpr size_t kManyArenas = 16;
  [[nodiscard]] bool BeginMany(size_t arenas);
  void EndMany(size_t arenas);
  // Sets addresses aside for blocks of `bytes` together. False: the system refuses.
  [[nodiscard]] bool SetAside(size_t bytes, AddressReserve& aside);
  // What the system refused last, in bytes; 0: it has not refused.
  uint64_t refused_bytes() const { return refused_bytes_.load(std::memory_order_relaxed); }

  // `bytes` as allocated. The run must be whole.
  void Free(void* run, size_t bytes);

  // The start of the run that holds `address`, which must lie in a run of at most kRunBytesMax. One
  // load, from a table whose page differs between regions: at one offset in all of them, the tables
  // would fight for the same few sets of the cache.
  static void* RunOf(const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    const Region* region = RegionOf(at);
    const int order = region->order_of_page[(at & (kRegionBytes - 1)) / kPageBytes];
    return reinterpret_cast<void*>(at & ~((uintptr_t{kPageBytes} << order) - 1));
  }

  // Maps and touches regions until `bytes` are free and resident, and keeps as many from now on:
  // use and what is kept come to at least what they are then; 0 bytes end that. kOverLimit: the
  // limit has no room for as much, and nothing has changed. kRefused: the system refuses, and as
  // many are kept as it gave. 0.1 to 2.5 s a GiB. No other thread allocates meanwhile, or fewer are.
  enum class Populated : uint8_t {
    kYes,
    kOverLimit,
    kRefused
  };
  [[nodiscard]] Populated Populate(uint64_t bytes);

  // Maps and touches a region if less is free than the pool is likely to ask for: a 32nd of what is
  // in use, of one region to eight, once that is 64 MiB. For a thread of its own that holds
  // nothing. True: one was added.
  bool MapAhead();
  // Called by Allocate when MapAhead would do something, holding what its caller holds: returns
  // soon. Set before there are other threads; empty: nobody maps ahead.
  void ListenToNeed(std::function<void()> listener) { need_listener_ = std::move(listener); }

  // Gives back to the system what is more than is kept for the next slab: a region, or the granules
  // of one, a system call each run (20-300 us). Returns the bytes; 0: nothing is in excess. The
  // caller holds no lane.
  uint64_t DropKept();
  // The same of regions alone.
  uint64_t DropRegion();
  // Much is being freed by somebody who calls DropRegion meanwhile and DropKept when it is over:
  // until it is unset, Free and Allocate drop only what the limit has no room for.
  void SetEmptying(bool emptying) { emptying_.store(emptying, std::memory_order_relaxed); }

  MemoryBudget& budget() const { return budget_; }
  SystemMemory& system() const { return system_; }
  Stats GetStats() const;
  void Verify() const;

 private:
  static constexpr size_t kPagesPerRegion = kRegionBytes / kPageBytes;
  static constexpr int kOrders = 9;  // runs of 1, 2, ... 256 pages
  static constexpr int kGranuleOrder = 4;
  static constexpr size_t kPagesPerGranule = kGranuleBytes / kPageBytes;
  // Each may be two mappings more of the process, of which Linux allows it 65,530.
  static constexpr uint64_t kThinnedRegionsMax = 16 * 1024;
  static constexpr uint8_t kFreePage = 0xff;
  static constexpr uint8_t kMetadataPage = 0xfe;
  // Lists of regions: 0 without a free run, k + 1 with a largest free run of order k, entirely
  // free.
  static constexpr int kLists = kOrders + 2;
  static constexpr int kFreeList = kLists - 1;
  // Where the bitmap of each order begins: 512 bits, 256, 128, then a word each.
  static constexpr uint8_t kFirstWord[kOrders] = {0, 8, 12, 14, 15, 16, 17, 18, 19};

  // Lives in one of the first 16 pages of what it describes.
  struct Region {
    uint8_t order_of_page[kPagesPerRegion];  // of the run that holds the page, or one of the marks
    uint64_t free_runs[20];                  // a bit per possible run, by order; see kFirstWord
    Region* next;
    Region* previous;
    Region* next_to_drop;
    Region* previous_to_drop;
    uint64_t free_map[kPagesPerRegion / 64];     // a bit per page that lies in a free run
    uint64_t touched_map[kPagesPerRegion / 64];  // one that may be resident: since it was dropped
    uint32_t orders;                             // bit k: a free run of order k exists
    uint16_t free_pages;                         // 511 when nothing is handed out
    uint16_t kept_pages;   // free and touched, in granules that are entirely free
    uint16_t loose_pages;  // the same in others
    uint8_t list;
    bool asks_for_huge;  // the system may make it one page of 2 MiB
    bool is_thinned;     // it did so, until pages of it were dropped

    bool IsFree(int order, size_t first) const {
      const size_t bit = first >> order;
      return (free_runs[kFirstWord[order] + bit / 64] >> (bit % 64) & 1) != 0;
    }
    void SetFree(int order, size_t first);
    void ClearFree(int order, size_t first);
    size_t FirstFree(int order) const;
    bool WantsDrop() const { return kept_pages + loose_pages != 0; }
    // Sets kept_pages and loose_pages.
    void CountTouched();
    char* base() const {
      return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(this) & ~(kRegionBytes - 1));
    }
  };
  static_assert(sizeof(Region) <= kPageBytes);

  static Region* RegionOf(uintptr_t address) {
    const uintptr_t base = address & ~uintptr_t{kRegionBytes - 1};
    return reinterpret_cast<Region*>(base + (base / kRegionBytes % 16) * kPageBytes);
  }

  void* AllocateLarge(size_t bytes, AddressReserve* aside);
  // Notes that the system refused `bytes`, and gives them out of what was kept for that.
  char* TakeKept(size_t bytes, size_t alignment, AddressReserve* aside)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeLarge(void* run, size_t bytes);
  Region* FormatRegion(void* base);
  // `resident`: all of it, as 2 MiB pages are.
  void AddRegion(Region* region, bool resident) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Link(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t TakeRun(Region* region, int order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReleasePages(Region* region, size_t first, size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReleaseRun(Region* region, size_t first, int order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Brings the counts of touched pages and the list of regions to drop from up to date.
  void Recount(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops free pages of [first, first + count), all or those in free granules; returns the bytes.
  uint64_t DropPages(Region* region, size_t first, size_t count, bool granules_only)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Pages of it are about to be dropped: the system is not to bring them back.
  void Thin(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The reverse, where but a granule is missing that may be resident: that counts from now on.
  void ThickenIfWhole(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops what exceeds the bounds, about twice `bytes` at most.
  void DropExcess(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // More is kept than was to be, by `times`, or than the limit has room for.
  bool KeepsTooMuch(uint64_t times) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return kept_bytes_ > times * KeptBytesMax() || kept_bytes_ + loose_bytes_ > FreeBytesMax();
  }
  // The same for who holds a lane.
  bool MustDrop(uint64_t times) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!emptying_.load(std::memory_order_relaxed)) return KeepsTooMuch(times);
    return kept_bytes_ + loose_bytes_ > FreeBytesMax();
  }
  // See MapAhead.
  bool WantsRegion() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A new region, all of it resident, which is in no list yet. Null: the system refuses.
  Region* MapTouched();
  // Takes a region out that is entirely free, to be unmapped; nullptr: there is none but the last.
  Region* TakeSpareRegion() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To so many bytes, of regions that are free elsewhere where the system refuses. False: it is less.
  bool GrowReserve(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What may be resident beside what is in use. The budget holds bytes before they are pages, so
  // that what is in use stays within its limit.
  uint64_t FreeBytesMax() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t KeptBytesMax() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // One region as soon as they are of 2 MiB pages: those are resident as a whole.
    return std::max({used_bytes_ / 16, used_bytes_ > kHugeAboveBytes ? kRegionBytes : 0,
                     populated_bytes_ > used_bytes_ ? populated_bytes_ - used_bytes_ : 0});
  }
  void VerifyRegion(const Region* region) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  MemoryBudget& budget_;
  SystemMemory& system_;
  std::atomic<bool> emptying_{false};
  std::atomic<bool> refuses_{false};
  std::atomic<bool> has_reserve_{false};  // it is whole
  std::atomic<uint64_t> refused_bytes_{0};
  std::function<void()> need_listener_;
  // What many threads look at is not on the line of the mutex.
  alignas(kCacheLineBytes) mutable Mutex mutex_;
  AddressReserve reserve_ ABSL_GUARDED_BY(mutex_);
  size_t reserve_bytes_ ABSL_GUARDED_BY(mutex_) = kReserveBytes;  // when it is whole
  Region* lists_[kLists] ABSL_GUARDED_BY(mutex_) = {};
  uint32_t lists_in_use_ ABSL_GUARDED_BY(mutex_) = 0;  // bit k: lists_[k] is not empty
  uint64_t regions_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t free_regions_ ABSL_GUARDED_BY(mutex_) = 0;     // in lists_[kFreeList]
  uint64_t thinned_regions_ ABSL_GUARDED_BY(mutex_) = 0;  // is_thinned
  uint64_t populated_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // used or kept at least; see Populate
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;       // in regions
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t loose_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Regions with free pages that may be resident; those with free granules first.
  Region* first_to_drop_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Region* last_to_drop_ ABSL_GUARDED_BY(mutex_) = nullptr;
  uint64_t large_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  char* next_hint_ ABSL_GUARDED_BY(mutex_) = nullptr;  // where the next region would be aligned
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_PAGE_POOL_H_
