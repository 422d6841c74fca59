// GhostSet: which partitions were evicted lately, by fingerprint. One that comes back soon after it
// went was worth keeping: it skips probation.
//
// One per table and lane, used by the lane's holder only. Sets of four entries of 4 bytes: a
// fingerprint of 20 bits and when it was added in 12. An entry counts until about `capacity` others
// have been added. Add and Take touch one line. A partition that never went is taken for one that
// did about four times in a million.
#ifndef LISTSTORE_ENGINE_STORAGE_GHOST_SET_H_
#define LISTSTORE_ENGINE_STORAGE_GHOST_SET_H_

#include <cstddef>
#include <cstdint>

#include "engine/memory/arena.h"

namespace liststore::storage {

class GhostSet {
 public:
  explicit GhostSet(memory::Arena& arena) : arena_(arena) {}
  ~GhostSet() { Clear(); }
  GhostSet(const GhostSet&) = delete;
  GhostSet& operator=(const GhostSet&) = delete;

  size_t capacity() const { return places_; }
  size_t bytes() const { return places_ * sizeof(uint32_t); }
  // Whether there are more partitions than it can remember.
  bool WantsGrowth(size_t partitions) const { return partitions > places_; }
  static size_t BytesFor(size_t partitions) { return PlacesFor(partitions) * sizeof(uint32_t); }
  // Makes it large enough for `partitions` and forgets what it held. The caller has reserved
  // BytesFor(partitions) in one block.
  void Grow(size_t partitions);
  void Clear();

  void Add(uint64_t address);
  // Whether the partition is among them; it is taken out.
  bool Take(uint64_t address);

 private:
  static constexpr size_t kWays = 4;
  static constexpr int kEpochBits = 12;
  static constexpr uint32_t kEpochMask = (uint32_t{1} << kEpochBits) - 1;
  static constexpr uint32_t kEpochsAlive = 1024;
  static constexpr size_t kPlacesMin = 64;

  static size_t PlacesFor(size_t partitions);
  static uint64_t HashOf(uint64_t address) { return address * 0x9e37'79b9'7f4a'7c15u; }
  size_t SetOf(uint64_t hash) const { return (hash >> 32 & (places_ / kWays - 1)) * kWays; }
  // In the upper 20 bits; never 0.
  static uint32_t FingerprintOf(uint64_t hash) {
    const uint32_t fingerprint = static_cast<uint32_t>(hash) & ~kEpochMask;
    return fingerprint != 0 ? fingerprint : kEpochMask + 1;
  }
  uint32_t AgeOf(uint32_t entry) const { return (epoch_ - entry) & kEpochMask; }
  bool Alive(uint32_t entry) const { return entry != 0 && AgeOf(entry) <= kEpochsAlive; }
  void BeginEpoch();

  memory::Arena& arena_;
  uint32_t* entries_ = nullptr;
  size_t places_ = 0;  // a power of two
  uint32_t epoch_ = 0;
  size_t added_ = 0;       // in this epoch
  size_t next_swept_ = 0;  // where the removal of what is too old goes on
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_GHOST_SET_H_
