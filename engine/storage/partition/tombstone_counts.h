// TombstoneCounts: how many tombstones there are, by what they delete.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_TOMBSTONE_COUNTS_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_TOMBSTONE_COUNTS_H_

#include <cstdint>

namespace liststore::storage {

struct TombstoneCounts {
  uint64_t rows = 0;        // rows that a tombstone of their own lies over
  uint64_t ranges = 0;      // disjoint stretches of deleted ranges (range_tombstones.h)
  uint64_t partitions = 0;  // partitions that were deleted as a whole

  TombstoneCounts& operator+=(const TombstoneCounts& other) {
    rows += other.rows;
    ranges += other.ranges;
    partitions += other.partitions;
    return *this;
  }
  TombstoneCounts& operator-=(const TombstoneCounts& other) {
    rows -= other.rows;
    ranges -= other.ranges;
    partitions -= other.partitions;
    return *this;
  }
  uint64_t all() const { return rows + ranges + partitions; }
  bool operator==(const TombstoneCounts&) const = default;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_TOMBSTONE_COUNTS_H_
