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
  char* const base = MapMemoryAligned(kRegionBytes, kRegionBytes, nullptr);
  AskForHugePages(base, kRegionBytes, true);
  // One touch for a page of 2 MiB; the others are for systems that do not give one. Not by
  // MADV_POPULATE_WRITE, which would hold up whoever maps or unmaps memory meanwhile.
  for (size_t at = 0; at < kRegionBytes; at += kPageBytes) {
    static_cast<volatile char*>(base)[at] = 0;
  }
  return FormatRegion(base);
}

bool PagePool::Populate(uint64_t bytes) {
  {
    MutexLock lock(mutex_);
    if (bytes > FreeBytesMax()) return false;
    if (bytes == 0) populated_bytes_ = 0;
  }
  while (true) {
    {
      MutexLock lock(mutex_);
      if (kept_bytes_ >= bytes || kept_bytes_ + loose_bytes_ + kRegionBytes > FreeBytesMax()) {
        if (bytes > 0) populated_bytes_ = std::max(populated_bytes_, used_bytes_ + kept_bytes_);
        return true;
      }
    }
    Region* const region = MapTouched();
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
  {
    MutexLock lock(mutex_);
    if (WantsRegion()) {
      AddRegion(region, true);
      return true;
    }
  }
  UnmapMemory(region->base(), kRegionBytes);  // others came free meanwhile
  return false;
}

}  // namespace liststore::memory
