#include "engine/storage/ghost_set.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/check.h"

namespace liststore::storage {

size_t GhostSet::PlacesFor(size_t partitions) {
  return std::bit_ceil(std::max(partitions, kPlacesMin));
}

void GhostSet::Grow(size_t partitions) {
  Clear();
  places_ = PlacesFor(partitions);
  entries_ = static_cast<uint32_t*>(arena_.Allocate(bytes(), memory::Arena::Mobility::kFixed));
  std::memset(entries_, 0, bytes());
}

void GhostSet::Clear() {
  if (entries_ != nullptr) arena_.Free(entries_, bytes());
  entries_ = nullptr;
  places_ = added_ = next_swept_ = 0;
}

// An entry that lives longer than the epochs have numbers would seem young again: within the life
// of an entry all sets are looked at once.
void GhostSet::BeginEpoch() {
  added_ = 0;
  epoch_ = (epoch_ + 1) & kEpochMask;
  const size_t step = std::max<size_t>(places_ / kEpochsAlive, 1);
  for (size_t i = 0; i < step; ++i) {
    uint32_t& entry = entries_[next_swept_];
    if (!Alive(entry)) entry = 0;
    next_swept_ = (next_swept_ + 1) & (places_ - 1);
  }
}

void GhostSet::Add(uint64_t address) {
  if (entries_ == nullptr) return;
  if (++added_ > std::max<size_t>(places_ / kEpochsAlive, 1)) BeginEpoch();
  const uint64_t hash = HashOf(address);
  uint32_t* const set = entries_ + SetOf(hash);
  // In place of the oldest.
  uint32_t* to = set;
  for (size_t i = 0; i < kWays; ++i) {
    if (!Alive(set[i])) {
      to = set + i;
      break;
    }
    if (AgeOf(set[i]) > AgeOf(*to)) to = set + i;
  }
  *to = FingerprintOf(hash) | epoch_;
}

bool GhostSet::Take(uint64_t address) {
  if (entries_ == nullptr) return false;
  const uint64_t hash = HashOf(address);
  uint32_t* const set = entries_ + SetOf(hash);
  for (size_t i = 0; i < kWays; ++i) {
    if ((set[i] & ~kEpochMask) != FingerprintOf(hash) || !Alive(set[i])) continue;
    set[i] = 0;
    return true;
  }
  return false;
}

}  // namespace liststore::storage
