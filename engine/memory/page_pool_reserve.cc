// Addresses that are kept for when the machine refuses pages: decisions/0021.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/memory/page_pool.h"
#include "engine/memory/system_memory.h"

namespace liststore::memory {
namespace {

// Half of a region may be lost to holes.
size_t BytesOfMany(size_t arenas) {
  const size_t bytes = 2 * PagePool::kBackedBytes * arenas;
  return (bytes + PagePool::kRegionBytes - 1) / PagePool::kRegionBytes * PagePool::kRegionBytes;
}

}  // namespace

char* PagePool::TakeKept(size_t bytes, size_t alignment, AddressReserve* aside) {
  refused_bytes_.store(bytes, std::memory_order_relaxed);
  refuses_.store(true, std::memory_order_relaxed);
  char* kept = aside != nullptr ? aside->Cut(bytes, alignment) : nullptr;
  if (kept == nullptr) {
    has_reserve_.store(false, std::memory_order_relaxed);
    kept = reserve_.Cut(bytes, alignment);
  }
  LS_CHECK(kept != nullptr, "what writes under way may take is kept for them");
  return kept;
}

bool PagePool::MayTake(bool gives_back) {
  if (has_reserve_.load(std::memory_order_relaxed) && !refuses()) return true;
  MutexLock lock(mutex_);
  if (!GrowReserve(reserve_bytes_)) {
    refused_bytes_.store(reserve_bytes_, std::memory_order_relaxed);
    refuses_.store(true, std::memory_order_relaxed);
    // Half of the reserve is for what finds no room in holes.
    const uint64_t free_bytes = regions_ * (kRegionBytes - kPageBytes) - used_bytes_;
    return reserve_.bytes() >= reserve_bytes_ / 2 && (gives_back || free_bytes >= reserve_bytes_);
  }
  has_reserve_.store(true, std::memory_order_relaxed);
  refuses_.store(false, std::memory_order_relaxed);
  return true;
}

bool PagePool::GrowReserve(size_t bytes) {
  if (reserve_.Grow(bytes, kRegionBytes)) return true;
  // Regions that are free elsewhere are as good.
  for (size_t i = 0; i <= bytes / kRegionBytes; ++i) {
    Region* const spare = TakeSpareRegion();
    if (spare == nullptr) break;
    static_cast<void>(system_.Unmap(spare->base(), kRegionBytes));
  }
  return reserve_.Grow(bytes, kRegionBytes);
}

bool PagePool::BeginMany(size_t arenas) {
  const size_t more = BytesOfMany(arenas);
  MutexLock lock(mutex_);
  if (!GrowReserve(reserve_bytes_ + more)) {
    refused_bytes_.store(more, std::memory_order_relaxed);
    refuses_.store(true, std::memory_order_relaxed);
    return false;
  }
  reserve_bytes_ += more;
  has_reserve_.store(true, std::memory_order_relaxed);
  return true;
}

void PagePool::EndMany(size_t arenas) {
  MutexLock lock(mutex_);
  reserve_bytes_ -= BytesOfMany(arenas);
  // Such a write comes seldom alone.
  reserve_.ShrinkTo(std::max(reserve_bytes_, 4 * kReserveBytes));
}

// A region has room for half of its bytes at least, in blocks of up to an eighth of it. Of larger ones
// it has one or three, since its first page is its own: a quarter of its bytes. A block above
// kRunBytesMax is whole pages, at a multiple of a region.
bool PagePool::SetAside(size_t bytes, AddressReserve& aside) {
  const size_t times = bytes > kRegionBytes / 8 ? 4 : 2;
  const size_t wanted =
      (times * bytes + kRegionBytes - 1) / kRegionBytes * kRegionBytes + kRegionBytes;
  if (aside.Grow(wanted, kRegionBytes)) return true;
  refused_bytes_.store(wanted, std::memory_order_relaxed);
  refuses_.store(true, std::memory_order_relaxed);  // until the next one that asks for less
  return false;
}

}  // namespace liststore::memory
