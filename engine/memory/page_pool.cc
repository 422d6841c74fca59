#include "engine/memory/page_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/memory/memory_poison.h"
#include "engine/memory/system_memory.h"

namespace liststore::memory {
namespace {

// Free gives back itself when so many times as much is kept as was to be.
constexpr uint64_t kInExcess = 2;
// Regions that one Free unmaps, at some 100 us each.
constexpr size_t kUnmappedAtOnceMax = 4;

// The smallest order whose runs hold that many pages, and the largest that fits into them.
int OrderOf(size_t pages) { return static_cast<int>(std::bit_width(pages - 1)); }
int OrderWithin(size_t pages) { return static_cast<int>(std::bit_width(pages)) - 1; }

// Sets or clears bits [first, first + count).
void AssignBits(uint64_t* words, size_t first, size_t count, bool value) {
  while (count > 0) {
    const size_t bit = first % 64;
    const size_t length = std::min(count, 64 - bit);
    const uint64_t mask = (~uint64_t{0} >> (64 - length)) << bit;
    uint64_t& word = words[first / 64];
    word = value ? word | mask : word & ~mask;
    first += length;
    count -= length;
  }
}

// The bits of a word that stand for granules of which every page is set.
uint64_t WholeGranules(uint64_t word) {
  uint64_t whole = 0;
  for (uint64_t granule = 0xffff; granule != 0; granule <<= 16) {
    if ((word & granule) == granule) whole |= granule;
  }
  return whole;
}

// Drops the pages whose bits are set, run by run.
void Drop(SystemMemory& system, char* base, const uint64_t (&pages)[8]) {
  constexpr size_t kEnd = PagePool::kRegionBytes / PagePool::kPageBytes;
  const auto is_set = [&](size_t page) { return (pages[page / 64] >> (page % 64) & 1) != 0; };
  for (size_t page = 0; page < kEnd;) {
    if (pages[page / 64] >> (page % 64) == 0) {  // none in the rest of the word
      page = (page / 64 + 1) * 64;
      continue;
    }
    page += static_cast<size_t>(std::countr_zero(pages[page / 64] >> (page % 64)));
    const size_t first = page;
    while (page < kEnd && is_set(page)) ++page;
    system.Drop(base + first * PagePool::kPageBytes, (page - first) * PagePool::kPageBytes);
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

void PagePool::Region::CountTouched() {
  int kept = 0;
  int all = 0;
  for (size_t i = 0; i < std::size(free_map); ++i) {
    kept += std::popcount(WholeGranules(free_map[i]) & touched_map[i]);
    all += std::popcount(free_map[i] & touched_map[i]);
  }
  kept_pages = static_cast<uint16_t>(kept);
  loose_pages = static_cast<uint16_t>(all - kept);
}

PagePool::~PagePool() {
  MutexLock lock(mutex_);
  LS_CHECK(used_bytes_ == 0 && large_bytes_ == 0, "arenas go before their pool");
  LS_CHECK((lists_in_use_ & ~(1u << kFreeList)) == 0, "unused regions are entirely free");
  while (lists_[kFreeList] != nullptr) {
    Region* region = lists_[kFreeList];
    Unlink(region);
    Forget(region);
    static_cast<void>(system_.Unmap(region->base(), kRegionBytes));
  }
}

void* PagePool::Allocate(size_t bytes, AddressReserve* aside) {
  LS_CHECK(bytes > 0 && bytes % kPageBytes == 0, "runs are whole pages");
  if (bytes > kRunBytesMax) return AllocateLarge(bytes, aside);
  const size_t pages = bytes / kPageBytes;
  const int order = OrderOf(pages);
  size_t first = 0;
  Region* region = nullptr;
  bool wants_region = false;
  {
    MutexLock lock(mutex_);
    // The list of the smallest runs that suffice: fuller regions go first, so that others can
    // empty.
    uint32_t lists = lists_in_use_ >> (order + 1) << (order + 1);
    if (lists == 0) {
      char* base = system_.MapAligned(kRegionBytes, kRegionBytes, next_hint_);
      if (base == nullptr) base = TakeKept(kRegionBytes, kRegionBytes, aside);
      // Before the first touch: a region whose first page is a small one stays in small pages. One
      // of 2 MiB is resident as a whole, for which there may be no room any more.
      const bool huge = used_bytes_ > kHugeAboveBytes &&
                        kept_bytes_ + loose_bytes_ + kRegionBytes <= FreeBytesMax();
      system_.AskForHugePages(base, kRegionBytes, huge);
      AddRegion(FormatRegion(base), huge);
      lists = 1u << kFreeList;
    }
    region = lists_[std::countr_zero(lists)];
    const bool from_free_region = region->list == kFreeList;
    first = TakeRun(region, order);
    std::memset(region->order_of_page + first, order, pages);
    region->free_pages = static_cast<uint16_t>(region->free_pages - (size_t{1} << order));
    used_bytes_ += bytes;
    AssignBits(region->touched_map, first, pages, true);
    ReleasePages(region, first + pages, (size_t{1} << order) - pages);
    Unlink(region);
    Link(region);
    Recount(region);
    ThickenIfWhole(region);
    DropExcess(bytes);
    wants_region = from_free_region && need_listener_ != nullptr && WantsRegion();
  }
  if (wants_region) need_listener_();
  char* run = region->base() + first * kPageBytes;
  UnpoisonMemory(run, bytes);
  return run;
}

// Takes a run of exactly `order` out of the smallest that holds one.
size_t PagePool::TakeRun(Region* region, int order) {
  LS_CHECK((region->orders >> order) != 0, "the region's list says that it has a run of this size");
  int source = order + std::countr_zero(region->orders >> order);
  const size_t first = region->FirstFree(source);
  region->ClearFree(source, first);
  while (source > order) {
    --source;
    region->SetFree(source, first + (size_t{1} << source));
  }
  AssignBits(region->free_map, first, size_t{1} << order, false);
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
  absl::InlinedVector<Region*, kUnmappedAtOnceMax> gone;
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
    Link(region);
    Recount(region);
    while (gone.size() < kUnmappedAtOnceMax && MustDrop(kInExcess)) {
      Region* const spare = TakeSpareRegion();
      if (spare == nullptr) break;
      gone.push_back(spare);
    }
    // What comes free is dropped before what others may soon ask for.
    if (std::find(gone.begin(), gone.end(), region) == gone.end()) {
      if (kept_bytes_ + loose_bytes_ > FreeBytesMax()) {
        DropPages(region, 0, kPagesPerRegion, false);
      } else if (MustDrop(kInExcess)) {
        const size_t begin = first / kPagesPerGranule * kPagesPerGranule;
        DropPages(region, begin, first + pages + kPagesPerGranule - 1 - begin, true);
      }
    }
    DropExcess(bytes);
  }
  for (Region* spare : gone) static_cast<void>(system_.Unmap(spare->base(), kRegionBytes));
}

// Frees the pages as the largest aligned runs they consist of. Their entries in the table are free.
void PagePool::ReleasePages(Region* region, size_t first, size_t count) {
  region->free_pages = static_cast<uint16_t>(region->free_pages + count);
  AssignBits(region->free_map, first, count, true);
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
}

uint64_t PagePool::FreeBytesMax() const {
  const uint64_t limit = budget_.limit_bytes();
  if (limit > UINT64_MAX - limit / 64) return UINT64_MAX;
  const uint64_t resident_max = limit + limit / 64;
  const uint64_t in_use = used_bytes_ + large_bytes_;
  return resident_max > in_use ? resident_max - in_use : 0;
}

void PagePool::Recount(Region* region) {
  const bool was_listed = region->WantsDrop();
  const bool was_kept = region->kept_pages != 0;
  kept_bytes_ -= region->kept_pages * uint64_t{kPageBytes};
  loose_bytes_ -= region->loose_pages * uint64_t{kPageBytes};
  region->CountTouched();
  kept_bytes_ += region->kept_pages * uint64_t{kPageBytes};
  loose_bytes_ += region->loose_pages * uint64_t{kPageBytes};
  const bool is_kept = region->kept_pages != 0;
  if (region->WantsDrop() == was_listed && is_kept == was_kept) return;
  if (was_listed) {
    Region* const next = region->next_to_drop;
    Region* const previous = region->previous_to_drop;
    (next != nullptr ? next->previous_to_drop : last_to_drop_) = previous;
    (previous != nullptr ? previous->next_to_drop : first_to_drop_) = next;
  }
  if (!region->WantsDrop()) return;
  // Those with free granules stand before the others.
  Region*& end = is_kept ? first_to_drop_ : last_to_drop_;
  Region*& other_end = is_kept ? last_to_drop_ : first_to_drop_;
  region->previous_to_drop = is_kept ? nullptr : end;
  region->next_to_drop = is_kept ? end : nullptr;
  if (end == nullptr) {
    other_end = region;
  } else {
    (is_kept ? end->previous_to_drop : end->next_to_drop) = region;
  }
  end = region;
}

PagePool::Region* PagePool::TakeSpareRegion() {
  Region* const region = lists_[kFreeList];
  if (region == nullptr || region->next == nullptr) return nullptr;
  Unlink(region);
  Forget(region);
  --regions_;
  return region;
}

// The region is about to be unmapped.
void PagePool::Forget(Region* region) {
  if (region->is_thinned) --thinned_regions_;
  AssignBits(region->touched_map, 0, kPagesPerRegion, false);
  Recount(region);
}

uint64_t PagePool::DropPages(Region* region, size_t first, size_t count, bool granules_only) {
  uint64_t pages[kPagesPerRegion / 64] = {};
  AssignBits(pages, first, std::min(count, kPagesPerRegion - first), true);
  uint64_t bytes = 0;
  for (size_t i = 0; i < std::size(pages); ++i) {
    const uint64_t free = region->free_map[i];
    pages[i] &= (granules_only ? WholeGranules(free) : free) & region->touched_map[i];
    region->touched_map[i] &= ~pages[i];
    bytes += static_cast<uint64_t>(std::popcount(pages[i])) * kPageBytes;
  }
  if (bytes == 0) return 0;
  Thin(region);
  Drop(system_, region->base(), pages);
  Recount(region);
  return bytes;
}

void PagePool::Thin(Region* region) {
  if (!region->asks_for_huge || thinned_regions_ >= kThinnedRegionsMax) return;
  system_.AskForHugePages(region->base(), kRegionBytes, false);
  region->asks_for_huge = false;
  region->is_thinned = true;
  ++thinned_regions_;
}

void PagePool::ThickenIfWhole(Region* region) {
  if (!region->is_thinned) return;
  size_t touched = 0;
  for (const uint64_t word : region->touched_map) touched += std::popcount(word);
  const size_t missing = kPagesPerRegion - touched;
  if (missing > kPagesPerGranule) return;
  if (kept_bytes_ + loose_bytes_ + missing * kPageBytes > FreeBytesMax()) return;
  AssignBits(region->touched_map, 0, kPagesPerRegion, true);
  Recount(region);
  system_.AskForHugePages(region->base(), kRegionBytes, true);
  region->asks_for_huge = true;
  region->is_thinned = false;
  --thinned_regions_;
}

// Use has fallen far since granules were kept, or has come near the limit. A slice at a time,
// because the caller holds a lane and others wait for the mutex: dropping all that is kept of a
// store of gigabytes would take tens of milliseconds.
void PagePool::DropExcess(uint64_t bytes) {
  constexpr uint64_t kDroppedMin = uint64_t{128} << 10;
  for (uint64_t left = std::max(2 * bytes, kDroppedMin); first_to_drop_ != nullptr && left > 0;) {
    const bool near_limit = kept_bytes_ + loose_bytes_ > FreeBytesMax();
    if (!MustDrop(2 * kInExcess)) return;
    left -= std::min(left, DropPages(first_to_drop_, 0, kPagesPerRegion, !near_limit));
  }
}

uint64_t PagePool::DropRegion() {
  Region* spare = nullptr;
  {
    MutexLock lock(mutex_);
    if (!KeepsTooMuch(1)) return 0;
    spare = TakeSpareRegion();
  }
  if (spare == nullptr) return 0;
  static_cast<void>(system_.Unmap(spare->base(), kRegionBytes));
  return kRegionBytes;
}

uint64_t PagePool::DropKept() {
  if (const uint64_t bytes = DropRegion(); bytes != 0) return bytes;
  MutexLock lock(mutex_);
  if (first_to_drop_ == nullptr || !KeepsTooMuch(1)) return 0;
  return DropPages(first_to_drop_, 0, kPagesPerRegion, true);
}

// Writes the metadata of a fresh, zeroed mapping.
PagePool::Region* PagePool::FormatRegion(void* base) {
  auto* region = new (RegionOf(reinterpret_cast<uintptr_t>(base))) Region{};
  LS_CHECK(region->base() == base, "regions are aligned");
  return region;
}

void PagePool::AddRegion(Region* region, bool resident) {
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
  region->asks_for_huge = resident;
  if (resident) AssignBits(region->touched_map, 0, kPagesPerRegion, true);
  Recount(region);
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
  if (region->list == kFreeList) ++free_regions_;
}

void PagePool::Unlink(Region* region) {
  if (region->list == kFreeList) --free_regions_;
  if (region->previous != nullptr) {
    region->previous->next = region->next;
  } else {
    LS_CHECK(lists_[region->list] == region, "a region is in the list it names");
    lists_[region->list] = region->next;
    if (region->next == nullptr) lists_in_use_ &= ~(1u << region->list);
  }
  if (region->next != nullptr) region->next->previous = region->previous;
}

void* PagePool::AllocateLarge(size_t bytes, AddressReserve* aside) {
  const bool huge = bytes >= kRegionBytes;
  const size_t alignment = huge ? kRegionBytes : kPageBytes;
  char* run = huge ? system_.MapAligned(bytes, alignment, nullptr) : system_.Map(bytes, nullptr);
  MutexLock lock(mutex_);
  if (run == nullptr) run = TakeKept(bytes, alignment, aside);
  if (huge) system_.AskForHugePages(run, bytes, true);
  large_bytes_ += bytes;
  return run;
}

void PagePool::FreeLarge(void* run, size_t bytes) {
  {
    MutexLock lock(mutex_);
    LS_CHECK(large_bytes_ >= bytes, "a large run is freed once");
    large_bytes_ -= bytes;
  }
  static_cast<void>(system_.Unmap(run, bytes));
}

PagePool::Stats PagePool::GetStats() const {
  MutexLock lock(mutex_);
  return {.used_bytes = used_bytes_ + large_bytes_,
          .mapped_bytes = regions_ * kRegionBytes + large_bytes_,
          .kept_bytes = kept_bytes_,
          .loose_bytes = loose_bytes_,
          .regions = regions_,
          .thinned_regions = thinned_regions_};
}

void PagePool::Verify() const {
  MutexLock lock(mutex_);
  uint64_t regions = 0, free_regions = 0, used_pages = 0, kept_bytes = 0, loose_bytes = 0,
           to_drop = 0, thinned = 0;
  for (int list = 0; list < kLists; ++list) {
    LS_CHECK((lists_[list] != nullptr) == ((lists_in_use_ >> list & 1) != 0), "the mask is exact");
    const Region* previous = nullptr;
    for (const Region* region = lists_[list]; region != nullptr; region = region->next) {
      LS_CHECK(region->list == list && region->previous == previous, "lists are linked both ways");
      VerifyRegion(region);
      used_pages += kPagesPerRegion - 1 - region->free_pages;
      kept_bytes += region->kept_pages * uint64_t{kPageBytes};
      loose_bytes += region->loose_pages * uint64_t{kPageBytes};
      to_drop += region->WantsDrop() ? 1 : 0;
      thinned += region->is_thinned ? 1 : 0;
      ++regions;
      free_regions += list == kFreeList ? 1 : 0;
      previous = region;
    }
  }
  LS_CHECK(free_regions == free_regions_, "regions that are entirely free are counted");
  LS_CHECK(thinned == thinned_regions_, "(5) regions that were of 2 MiB pages are counted");
  LS_CHECK(regions == regions_ && used_pages * kPageBytes == used_bytes_, "totals are exact");
  LS_CHECK(kept_bytes == kept_bytes_ && loose_bytes == loose_bytes_, "(4) touched bytes");
  const Region* previous = nullptr;
  for (const Region* region = first_to_drop_; region != nullptr; region = region->next_to_drop) {
    LS_CHECK(region->WantsDrop() && region->previous_to_drop == previous && to_drop-- > 0,
             "(4) the list to drop from");
    LS_CHECK(previous == nullptr || previous->kept_pages != 0 || region->kept_pages == 0,
             "(4) regions with free granules come first");
    previous = region;
  }
  LS_CHECK(to_drop == 0 && previous == last_to_drop_, "(4) the list to drop from is whole");
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
        LS_CHECK((region->free_map[page / 64] >> (page % 64) & 1) != 0, "the map has free pages");
        seen[page] = true;
      }
    }
  }
  size_t mapped_free = 0;
  for (const uint64_t word : region->free_map) mapped_free += std::popcount(word);
  LS_CHECK(mapped_free == free_pages, "the map has free pages only");
  Region counted = *region;
  counted.CountTouched();
  LS_CHECK(counted.kept_pages == region->kept_pages && counted.loose_pages == region->loose_pages,
           "(4) touched pages are counted");
  const auto marked = std::count(region->order_of_page, std::end(region->order_of_page), kFreePage);
  LS_CHECK(free_pages == static_cast<size_t>(marked), "(1) what is in no free run is used");
  LS_CHECK(free_pages == region->free_pages && orders == region->orders, "the summary is exact");
  size_t touched = 0;
  for (const uint64_t word : region->touched_map) touched += std::popcount(word);
  LS_CHECK(!region->asks_for_huge || touched == kPagesPerRegion ||
               thinned_regions_ == kThinnedRegionsMax,
           "(5) what was dropped is not asked for");
  const bool is_free = free_pages == kPagesPerRegion - 1;
  LS_CHECK(region->list == (is_free ? kFreeList : static_cast<int>(std::bit_width(orders))),
           "(3) its list");
}

}  // namespace liststore::memory
