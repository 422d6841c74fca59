#include "engine/storage/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "engine/base/check.h"
#include "engine/storage/memory_poison.h"

namespace liststore {
namespace {

constexpr uint64_t kMapAheadFromBytes = uint64_t{32} << 20;  // from here a region is 1/16 or less

char* Map(size_t bytes, void* hint) {
  void* at = ::mmap(hint, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LS_CHECK(at != MAP_FAILED, "the system has address space and memory left");
  return static_cast<char*>(at);
}

void Unmap(void* at, size_t bytes) {
  UnpoisonMemory(at, bytes);  // the addresses may come back to somebody else
  LS_CHECK(::munmap(at, bytes) == 0, "a mapping of ours can be unmapped");
}

// `bytes` at a multiple of 2 MiB. At `hint` in the usual case: one system call instead of three.
char* MapAligned(size_t bytes, void* hint) {
  const size_t alignment = PagePool::kRegionBytes;
  if (hint != nullptr) {
    char* at = Map(bytes, hint);
    if (reinterpret_cast<uintptr_t>(at) % alignment == 0) return at;
    Unmap(at, bytes);
  }
  char* at = Map(bytes + alignment, nullptr);
  const size_t before = -reinterpret_cast<uintptr_t>(at) & (alignment - 1);
  if (before > 0) Unmap(at, before);
  Unmap(at + before + bytes, alignment - before);
  return at + before;
}

// Advice may be unknown to the kernel; the memory works without it.
void Advise(void* at, size_t bytes, int advice) { static_cast<void>(::madvise(at, bytes, advice)); }

// The smallest order whose runs hold that many pages, and the largest that fits into them.
int OrderOf(size_t pages) { return static_cast<int>(std::bit_width(pages - 1)); }
int OrderWithin(size_t pages) { return static_cast<int>(std::bit_width(pages)) - 1; }

uint32_t GranuleMask(size_t first, size_t count) {
  return static_cast<uint32_t>(((uint64_t{1} << count) - 1) << first);
}

void DropGranules(char* base, uint32_t granules) {
  while (granules != 0) {
    const int first = std::countr_zero(granules);
    const int count = std::countr_one(granules >> first);
    const size_t offset = static_cast<size_t>(first) * PagePool::kGranuleBytes;
    const size_t bytes = static_cast<size_t>(count) * PagePool::kGranuleBytes;
    LS_CHECK(::madvise(base + offset, bytes, MADV_DONTNEED) == 0, "free memory can be dropped");
    granules &= ~GranuleMask(static_cast<size_t>(first), static_cast<size_t>(count));
  }
}

}  // namespace

void PagePool::Region::SetFree(int order, size_t first) {
  LS_DCHECK(first % (size_t{1} << order) == 0 && !IsFree(order, first), "a run is freed once");
  const size_t bit = first >> order;
  free_runs[kFirstWord[order] + bit / 64] |= uint64_t{1} << (bit % 64);
  orders |= 1u << order;
}

void PagePool::Region::ClearFree(int order, size_t first) {
  LS_DCHECK(IsFree(order, first), "only a free run can be taken");
  const size_t bit = first >> order;
  free_runs[kFirstWord[order] + bit / 64] &= ~(uint64_t{1} << (bit % 64));
  const size_t end = order + 1 < kOrders ? kFirstWord[order + 1] : std::size(free_runs);
  for (size_t word = kFirstWord[order]; word < end; ++word) {
    if (free_runs[word] != 0) return;
  }
  orders &= ~(1u << order);
}

size_t PagePool::Region::FirstFree(int order) const {
  for (size_t word = kFirstWord[order];; ++word) {
    LS_DCHECK(word < std::size(free_runs), "`orders` says that a run exists");
    if (free_runs[word] == 0) continue;
    const size_t bit =
        (word - kFirstWord[order]) * 64 + static_cast<size_t>(std::countr_zero(free_runs[word]));
    return bit << order;
  }
}

uint32_t PagePool::Region::FreeGranules() const {
  uint32_t granules = 0;
  for (int order = kGranuleOrder; order < kOrders; ++order) {
    const size_t count = size_t{1} << (order - kGranuleOrder);
    for (uint64_t bits = free_runs[kFirstWord[order]]; bits != 0; bits &= bits - 1) {
      granules |= GranuleMask(static_cast<size_t>(std::countr_zero(bits)) * count, count);
    }
  }
  return granules;
}

PagePool::~PagePool() {
  MutexLock lock(mutex_);
  LS_CHECK(used_bytes_ == 0 && large_bytes_ == 0, "arenas go before their pool");
  LS_CHECK((lists_in_use_ & ~(1u << kFreeList)) == 0, "unused regions are entirely free");
  while (lists_[kFreeList] != nullptr) {
    Region* region = lists_[kFreeList];
    Unlink(region);
    Unmap(region->base(), kRegionBytes);
  }
}

void* PagePool::Allocate(size_t bytes) {
  LS_CHECK(bytes > 0 && bytes % kPageBytes == 0, "runs are whole pages");
  if (bytes > kRunBytesMax) return AllocateLarge(bytes);
  const size_t pages = bytes / kPageBytes;
  const int order = OrderOf(pages);
  size_t first = 0;
  Region* region = nullptr;
  {
    MutexLock lock(mutex_);
    // The list of the smallest runs that suffice: fuller regions go first, so that others can
    // empty.
    uint32_t lists = lists_in_use_ >> (order + 1) << (order + 1);
    if (lists == 0) {
      char* base = MapAligned(kRegionBytes, next_hint_);
      // Before the first touch: a region whose first page is a small one stays in small pages.
      Advise(base, kRegionBytes, used_bytes_ > kHugeAboveBytes ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
      AddRegion(FormatRegion(base));
      lists = 1u << kFreeList;
    }
    region = lists_[std::countr_zero(lists)];
    first = TakeRun(region, order);
    std::memset(region->order_of_page + first, order, pages);
    region->free_pages = static_cast<uint16_t>(region->free_pages - (size_t{1} << order));
    used_bytes_ += bytes;
    const size_t granules = (pages + kPagesPerGranule - 1) / kPagesPerGranule;
    region->touched |= GranuleMask(first / kPagesPerGranule, granules);
    ReleasePages(region, first + pages, (size_t{1} << order) - pages);
    Unlink(region);
    Link(region);
  }
  char* run = region->base() + first * kPageBytes;
  UnpoisonMemory(run, bytes);
  return run;
}

// Takes a run of exactly `order` out of the smallest that holds one.
size_t PagePool::TakeRun(Region* region, int order) {
  LS_CHECK((region->orders >> order) != 0, "the region's list says that it has a run of this size");
  int source = order + std::countr_zero(region->orders >> order);
  const bool was_granule = source >= kGranuleOrder;
  const size_t first = region->FirstFree(source);
  region->ClearFree(source, first);
  while (source > order) {
    --source;
    region->SetFree(source, first + (size_t{1} << source));
  }
  if (was_granule) {
    const size_t count = size_t{1} << (std::max(order, kGranuleOrder) - kGranuleOrder);
    const uint32_t taken = GranuleMask(first / kPagesPerGranule, count);
    const uint64_t kept =
        static_cast<uint64_t>(std::popcount(region->touched & taken)) * kGranuleBytes;
    LS_CHECK(kept_bytes_ >= kept, "touched granules in free runs are counted as kept");
    kept_bytes_ -= kept;
  }
  return first;
}

void PagePool::Free(void* run, size_t bytes) {
  LS_CHECK(bytes > 0 && bytes % kPageBytes == 0, "runs are whole pages");
  if (bytes > kRunBytesMax) return FreeLarge(run, bytes);
  const auto at = reinterpret_cast<uintptr_t>(run);
  const size_t pages = bytes / kPageBytes;
  const size_t first = (at & (kRegionBytes - 1)) / kPageBytes;
  const int order = OrderOf(pages);
  Region* region = RegionOf(at);
  Region* gone = nullptr;
  PoisonMemory(run, bytes);
  {
    MutexLock lock(mutex_);
    uint8_t* const orders = region->order_of_page;
    LS_CHECK(at % (uintptr_t{kPageBytes} << order) == 0, "a run is freed by its start");
    LS_CHECK(orders[first] == order && orders[first + pages - 1] == order, "a run is freed once");
    LS_CHECK(pages == size_t{1} << order || orders[first + pages] != order, "a run is freed whole");
    std::memset(orders + first, kFreePage, pages);
    used_bytes_ -= bytes;
    ReleasePages(region, first, pages);
    Unlink(region);
    if (region->free_pages == kPagesPerRegion - 1 && lists_[kFreeList] != nullptr) {
      kept_bytes_ -=
          static_cast<uint64_t>(std::popcount(region->touched & region->FreeGranules())) *
          kGranuleBytes;
      --regions_;
      gone = region;
    } else {
      Link(region);
    }
    if (kept_bytes_ > 2 * KeptBytesMax()) DropKept();
  }
  if (gone != nullptr) Unmap(gone->base(), kRegionBytes);
}

// Frees the pages as the largest aligned runs they consist of. Their entries in the table are free.
void PagePool::ReleasePages(Region* region, size_t first, size_t count) {
  region->free_pages = static_cast<uint16_t>(region->free_pages + count);
  while (count > 0) {
    const int aligned = first == 0 ? kOrders - 1 : std::countr_zero(first);
    const int order = std::min({aligned, OrderWithin(count), kOrders - 1});
    ReleaseRun(region, first, order);
    first += size_t{1} << order;
    count -= size_t{1} << order;
  }
}

void PagePool::ReleaseRun(Region* region, size_t first, int order) {
  size_t merged = first;
  int merged_order = order;
  while (merged_order < kOrders - 1) {
    const size_t buddy = merged ^ (size_t{1} << merged_order);
    if (!region->IsFree(merged_order, buddy)) break;
    region->ClearFree(merged_order, buddy);
    merged = std::min(merged, buddy);
    ++merged_order;
  }
  region->SetFree(merged_order, merged);
  if (merged_order < kGranuleOrder) return;
  // What was free before in granules has been kept or dropped already.
  const size_t count = size_t{1} << (std::max(order, kGranuleOrder) - kGranuleOrder);
  KeepOrDrop(region, GranuleMask(first / kPagesPerGranule, count) & region->touched);
}

void PagePool::KeepOrDrop(Region* region, uint32_t granules) {
  const uint64_t bytes = static_cast<uint64_t>(std::popcount(granules)) * kGranuleBytes;
  if (kept_bytes_ + bytes <= KeptBytesMax()) {
    kept_bytes_ += bytes;
    return;
  }
  DropGranules(region->base(), granules);
  region->touched &= ~granules;
}

// Use has halved since these were kept. O(regions), paid for by the frees in between.
void PagePool::DropKept() {
  for (int list = kGranuleOrder + 1; list < kLists; ++list) {
    for (Region* region = lists_[list]; region != nullptr; region = region->next) {
      const uint32_t granules = region->touched & region->FreeGranules();
      DropGranules(region->base(), granules);
      region->touched &= ~granules;
      kept_bytes_ -= static_cast<uint64_t>(std::popcount(granules)) * kGranuleBytes;
    }
  }
  LS_CHECK(kept_bytes_ == 0, "every kept granule is in a free run of a listed region");
}

// Writes the metadata of a fresh, zeroed mapping.
PagePool::Region* PagePool::FormatRegion(void* base) {
  auto* region = new (RegionOf(reinterpret_cast<uintptr_t>(base))) Region{};
  LS_CHECK(region->base() == base, "regions are aligned");
  return region;
}

void PagePool::AddRegion(Region* region) {
  char* const base = region->base();
  const auto metadata = static_cast<size_t>(reinterpret_cast<char*>(region) - base) / kPageBytes;
  std::memset(region->order_of_page, kFreePage, kPagesPerRegion);
  region->order_of_page[metadata] = kMetadataPage;
  ReleasePages(region, 0, metadata);
  ReleasePages(region, metadata + 1, kPagesPerRegion - metadata - 1);
  PoisonMemory(base, metadata * kPageBytes);
  PoisonMemory(base + (metadata + 1) * kPageBytes, kRegionBytes - (metadata + 1) * kPageBytes);
  next_hint_ = base - kRegionBytes;  // Linux maps downwards
  ++regions_;
  Link(region);
}

void PagePool::Link(Region* region) {
  const bool is_free = region->free_pages == kPagesPerRegion - 1;
  region->list = static_cast<uint8_t>(is_free ? kFreeList : std::bit_width(region->orders));
  Region*& head = lists_[region->list];
  region->next = head;
  region->previous = nullptr;
  if (head != nullptr) head->previous = region;
  head = region;
  lists_in_use_ |= 1u << region->list;
}

void PagePool::Unlink(Region* region) {
  if (region->previous != nullptr) {
    region->previous->next = region->next;
  } else {
    LS_CHECK(lists_[region->list] == region, "a region is in the list it names");
    lists_[region->list] = region->next;
    if (region->next == nullptr) lists_in_use_ &= ~(1u << region->list);
  }
  if (region->next != nullptr) region->next->previous = region->previous;
}

void* PagePool::AllocateLarge(size_t bytes) {
  char* run = nullptr;
  if (bytes >= kRegionBytes) {
    run = MapAligned(bytes, nullptr);
    Advise(run, bytes, MADV_HUGEPAGE);
  } else {
    run = Map(bytes, nullptr);
  }
  MutexLock lock(mutex_);
  large_bytes_ += bytes;
  return run;
}

void PagePool::FreeLarge(void* run, size_t bytes) {
  {
    MutexLock lock(mutex_);
    LS_CHECK(large_bytes_ >= bytes, "a large run is freed once");
    large_bytes_ -= bytes;
  }
  Unmap(run, bytes);
}

bool PagePool::MapAhead() {
  {
    MutexLock lock(mutex_);
    if (used_bytes_ < kMapAheadFromBytes || lists_[kFreeList] != nullptr) return false;
  }
  char* base = MapAligned(kRegionBytes, nullptr);
  Advise(base, kRegionBytes, MADV_HUGEPAGE);
#if defined(MADV_POPULATE_WRITE)
  Advise(base, kRegionBytes, MADV_POPULATE_WRITE);
#endif
  Region* region = FormatRegion(base);
  {
    MutexLock lock(mutex_);
    if (lists_[kFreeList] == nullptr) {
      AddRegion(region);
      region->touched = UINT32_MAX;
      kept_bytes_ += static_cast<uint64_t>(std::popcount(region->FreeGranules())) * kGranuleBytes;
      return true;
    }
  }
  Unmap(base, kRegionBytes);  // one came free meanwhile
  return false;
}

PagePool::Stats PagePool::GetStats() const {
  MutexLock lock(mutex_);
  return {.used_bytes = used_bytes_ + large_bytes_,
          .mapped_bytes = regions_ * kRegionBytes + large_bytes_,
          .kept_bytes = kept_bytes_,
          .regions = regions_};
}

void PagePool::Verify() const {
  MutexLock lock(mutex_);
  uint64_t regions = 0, used_pages = 0, kept_bytes = 0;
  for (int list = 0; list < kLists; ++list) {
    LS_CHECK((lists_[list] != nullptr) == ((lists_in_use_ >> list & 1) != 0), "the mask is exact");
    const Region* previous = nullptr;
    for (const Region* region = lists_[list]; region != nullptr; region = region->next) {
      LS_CHECK(region->list == list && region->previous == previous, "lists are linked both ways");
      VerifyRegion(region);
      used_pages += kPagesPerRegion - 1 - region->free_pages;
      kept_bytes += static_cast<uint64_t>(std::popcount(region->touched & region->FreeGranules())) *
                    kGranuleBytes;
      ++regions;
      previous = region;
    }
  }
  LS_CHECK(lists_[kFreeList] == nullptr || lists_[kFreeList]->next == nullptr, "(3) one is free");
  LS_CHECK(regions == regions_ && used_pages * kPageBytes == used_bytes_, "totals are exact");
  LS_CHECK(kept_bytes == kept_bytes_, "(4) kept bytes");
}

void PagePool::VerifyRegion(const Region* region) const {
  bool seen[kPagesPerRegion] = {};
  size_t free_pages = 0;
  uint32_t orders = 0;
  for (int order = 0; order < kOrders; ++order) {
    const size_t pages = size_t{1} << order;
    for (size_t first = 0; first < kPagesPerRegion; first += pages) {
      if (!region->IsFree(order, first)) continue;
      orders |= 1u << order;
      free_pages += pages;
      LS_CHECK(order == kOrders - 1 || !region->IsFree(order, first ^ pages), "(2) buddies merge");
      for (size_t page = first; page < first + pages; ++page) {
        LS_CHECK(!seen[page] && region->order_of_page[page] == kFreePage, "(1) free once");
        seen[page] = true;
      }
    }
  }
  const auto marked = std::count(region->order_of_page, std::end(region->order_of_page), kFreePage);
  LS_CHECK(free_pages == static_cast<size_t>(marked), "(1) what is in no free run is used");
  LS_CHECK(free_pages == region->free_pages && orders == region->orders, "the summary is exact");
  const bool is_free = free_pages == kPagesPerRegion - 1;
  LS_CHECK(region->list == (is_free ? kFreeList : static_cast<int>(std::bit_width(orders))),
           "(3) its list");
}

}  // namespace liststore
