// Runs of 4 KiB pages for the arenas of one engine, carved from 2 MiB regions by a buddy scheme.
// One per engine. Thread-safe: one mutex, taken once per slab and not per block; RunOf takes none.
//
// Allocate and Free are O(1), 0.1 us, without a system call unless a region comes or goes or memory
// is given back. Nothing is mapped before the first Allocate. Overhead: one page of metadata in
// each 512. Once more than 8 MiB are in use, new regions ask for 2 MiB pages: reads of many
// partitions gain 20-40 %; before that they refuse them, so that a small store stays small.
//
// Resident memory follows use: granules of 64 KiB that are entirely free are dropped. Some (1/16 of
// what is in use) are kept for the next slab, because giving a granule back and touching it anew
// costs about 20 us and takes a 2 MiB page apart.
//
// Invariants (Verify() checks them):
//  (1) every page of a region is metadata, in one run that was handed out, or in one free run;
//  (2) no two free buddies of the same size exist side by side;
//  (3) a region is in the list of its largest free run; at most one region is entirely free;
//  (4) kept_bytes counts exactly the granules that lie in free runs and were touched since dropped.
#ifndef LISTSTORE_ENGINE_STORAGE_PAGE_POOL_H_
#define LISTSTORE_ENGINE_STORAGE_PAGE_POOL_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/storage/memory_budget.h"

namespace liststore {

class PagePool {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kRegionBytes = size_t{2} << 20;
  static constexpr size_t kRunBytesMax = size_t{1} << 20;  // above: a mapping of its own
  static constexpr size_t kHugeAboveBytes = size_t{8} << 20;
  static constexpr size_t kGranuleBytes = size_t{64} << 10;

  struct Stats {
    uint64_t used_bytes = 0;    // handed out, in regions and in mappings of their own
    uint64_t mapped_bytes = 0;  // address space taken from the system
    uint64_t kept_bytes = 0;    // free but not given back to the system
    uint64_t regions = 0;
  };

  // The pool hands out pages whatever the budget says: arenas hold the bytes before they ask.
  explicit PagePool(MemoryBudget& budget) : budget_(budget) {}
  // Every run must have come back.
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // `bytes` is a positive multiple of kPageBytes. Up to kRunBytesMax the run is aligned to the
  // power of two at or above `bytes`; larger ones to a page, from 2 MiB on to 2 MiB. The content is
  // anything. Never null: the end of the machine's memory is the end of the process.
  void* Allocate(size_t bytes);

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

  // Maps and populates a region in advance when none is free and the pool is past a few MiB, so
  // that a writer does not wait for the first touch of a 2 MiB page (0.2-4 ms). For a helper
  // thread, at its leisure. True when a region was added.
  bool MapAhead();

  MemoryBudget& budget() const { return budget_; }
  Stats GetStats() const;
  void Verify() const;

 private:
  static constexpr size_t kPagesPerRegion = kRegionBytes / kPageBytes;
  static constexpr int kOrders = 9;  // runs of 1, 2, ... 256 pages
  static constexpr int kGranuleOrder = 4;
  static constexpr size_t kPagesPerGranule = kGranuleBytes / kPageBytes;
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
    uint32_t orders;      // bit k: a free run of order k exists
    uint32_t touched;     // bit g: granule g was handed out since it was last dropped
    uint16_t free_pages;  // 511 when nothing is handed out
    uint8_t list;

    bool IsFree(int order, size_t first) const {
      const size_t bit = first >> order;
      return (free_runs[kFirstWord[order] + bit / 64] >> (bit % 64) & 1) != 0;
    }
    void SetFree(int order, size_t first);
    void ClearFree(int order, size_t first);
    size_t FirstFree(int order) const;
    // The granules that lie in free runs.
    uint32_t FreeGranules() const;
    char* base() const {
      return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(this) & ~(kRegionBytes - 1));
    }
  };
  static_assert(sizeof(Region) <= kPageBytes);

  static Region* RegionOf(uintptr_t address) {
    const uintptr_t base = address & ~uintptr_t{kRegionBytes - 1};
    return reinterpret_cast<Region*>(base + (base / kRegionBytes % 16) * kPageBytes);
  }

  void* AllocateLarge(size_t bytes);
  void FreeLarge(void* run, size_t bytes);
  Region* FormatRegion(void* base);
  void AddRegion(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Link(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Region* region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t TakeRun(Region* region, int order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReleasePages(Region* region, size_t first, size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReleaseRun(Region* region, size_t first, int order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepOrDrop(Region* region, uint32_t granules) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropKept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t KeptBytesMax() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return used_bytes_ / 16; }
  void VerifyRegion(const Region* region) const;

  MemoryBudget& budget_;
  mutable Mutex mutex_;
  Region* lists_[kLists] ABSL_GUARDED_BY(mutex_) = {};
  uint32_t lists_in_use_ ABSL_GUARDED_BY(mutex_) = 0;  // bit k: lists_[k] is not empty
  uint64_t regions_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // in regions
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t large_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  char* next_hint_ ABSL_GUARDED_BY(mutex_) = nullptr;  // where the next region would be aligned
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_STORAGE_PAGE_POOL_H_
