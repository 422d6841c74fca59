// A partition as a part of a cache: whether it is there, complete, over; how it begins again.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

Presence Partition::PresenceAt(int64_t now_seconds) const {
  const uint8_t bits = cache_bits();
  if ((bits & cache_bits::kKeptEmpty) != 0) {
    const int64_t until = fresh_until_seconds();
    return until == 0 || until > now_seconds ? Presence::kComplete : Presence::kAbsent;
  }
  if (!HasLiveData(now_seconds)) return Presence::kAbsent;
  return (bits & cache_bits::kPartial) != 0 ? Presence::kPartial : Presence::kComplete;
}

bool Partition::OverAt(int64_t now_seconds) const {
  if (kept_empty()) return PresenceAt(now_seconds) == Presence::kAbsent;
  if (!large()) {
    const Leaf leaf(BlockOf(reference_));
    if (leaf.all_simple() && !EventCame(leaf.header().earliest_expiry, now_seconds)) return false;
  }
  return !HasLiveData(now_seconds);
}

void Partition::BeginAnew(bool partial) {
  uint8_t bits =
      cache_bits() & static_cast<uint8_t>(
                         ~(cache_bits::kPartial | cache_bits::kKeptEmpty | cache_bits::kUsesMask));
  if (partial) bits |= cache_bits::kPartial;
  set_cache_bits(bits);
  if (large()) {
    LargeOf(reference_).fresh_until_seconds = 0;
  } else if ((bits & cache_bits::kFreshness) != 0) {
    Leaf(BlockOf(reference_)).set_fresh_until_seconds(0);
  }
}

bool Partition::RestoreFreshness(int64_t fresh_until_seconds) {
  if (this->fresh_until_seconds() == fresh_until_seconds) return true;
  if (large()) {
    LargeOf(reference_).fresh_until_seconds = fresh_until_seconds;
    return true;
  }
  if ((cache_bits() & cache_bits::kFreshness) == 0) return false;
  Leaf(BlockOf(reference_)).set_fresh_until_seconds(fresh_until_seconds);
  return true;
}

uint32_t Partition::LastExpiry() const {
  if (large()) return kNeverExpires;
  const Leaf leaf(BlockOf(reference_));
  if (!leaf.all_simple()) return kNeverExpires;
  uint32_t last = 0;
  for (size_t i = 0; i < leaf.size(); ++i) last = std::max(last, leaf.meta(i).expiry);
  return last;
}

}  // namespace liststore::storage
