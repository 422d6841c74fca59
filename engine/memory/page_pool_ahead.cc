// Memory that is made ready before it is needed.
#include <algorithm>

#include "engine/memory/page_pool.h"
#include "engine/memory/system_memory.h"

namespace liststore::memory {
namespace {

// Of what is in use, a 32nd is mapped ahead: half of what may be kept.
constexpr uint64_t kMapAheadShare = 32;
constexpr uint64_t kMapAheadRegionsMax = 8;

}  // namespace

PagePool::Region* PagePool::MapTouched() {
  char* const base = system_.MapAligned(kRegionBytes, kRegionBytes, nullptr);
  if (base == nullptr) return nullptr;
  system_.AskForHugePages(base, kRegionBytes, true);
  // One touch for a page of 2 MiB; the others are for systems that do not give one. Not by
  // MADV_POPULATE_WRITE, which would hold up whoever maps or unmaps memory meanwhile.
  for (size_t at = 0; at < kRegionBytes; at += kPageBytes) {
    static_cast<volatile char*>(base)[at] = 0;
  }
  return FormatRegion(base);
}

PagePool::Populated PagePool::Populate(uint64_t bytes) {
  {
    MutexLock lock(mutex_);
    if (bytes > FreeBytesMax()) return Populated::kOverLimit;
    if (bytes == 0) populated_bytes_ = 0;
  }
  while (true) {
    {
      MutexLock lock(mutex_);
      if (kept_bytes_ >= bytes || kept_bytes_ + loose_bytes_ + kRegionBytes > FreeBytesMax()) {
        if (bytes > 0) populated_bytes_ = std::max(populated_bytes_, used_bytes_ + kept_bytes_);
        return Populated::kYes;
      }
    }
    Region* const region = MapTouched();
    if (region == nullptr) {
      refused_bytes_.store(kRegionBytes, std::memory_order_relaxed);
      return Populated::kRefused;
    }
    MutexLock lock(mutex_);
    AddRegion(region, true);
  }
}

bool PagePool::WantsRegion() const {
  if (emptying_.load(std::memory_order_relaxed)) return false;
  const uint64_t wanted =
      std::min(used_bytes_ / kMapAheadShare / kRegionBytes, kMapAheadRegionsMax);
  // What would be more than may be kept would be given back, to be mapped again.
  return free_regions_ < wanted && kept_bytes_ + kRegionBytes <= KeptBytesMax() &&
         kept_bytes_ + loose_bytes_ + kRegionBytes <= FreeBytesMax();
}

bool PagePool::MapAhead() {
  {
    MutexLock lock(mutex_);
    if (!WantsRegion()) return false;
  }
  Region* const region = MapTouched();
  if (region == nullptr) return false;  // who needs it hears of it
  {
    MutexLock lock(mutex_);
    if (WantsRegion()) {
      AddRegion(region, true);
      return true;
    }
  }
  static_cast<void>(system_.Unmap(region->base(), kRegionBytes));  // others came free meanwhile
  return false;
}

}  // namespace liststore::memory
