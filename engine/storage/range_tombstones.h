// RangeTombstones: the range deletions of one partition, as disjoint stretches in key order, each
// under its strongest tombstone. Overlaps are resolved when a deletion arrives, so that asking
// which one covers a key is a binary search.
//
// Owned by a large partition; single-threaded. Add is O(stretches).
//
// Invariant (Verify() checks it): stretches ascend, are not empty and do not overlap.
#ifndef LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_
#define LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/memory/arena_allocator.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"

namespace liststore::storage {

class RangeTombstones {
 public:
  explicit RangeTombstones(memory::Arena& arena);

  bool empty() const { return stretches_.empty(); }
  size_t size() const { return stretches_.size(); }

  // Covers [range.lower, range.upper); nothing happens when that is empty. A stretch keeps the
  // stronger of the tombstones laid over it.
  void Add(const ClusteringRange& range, const Tombstone& tombstone);
  // The tombstone over a key; one that is not present() when there is none.
  Tombstone At(ClusteringKeyView key) const;
  // Forgets tombstones at or below `timestamp` (a partition deletion covers them).
  void Cover(WriteTimestamp timestamp);
  // Forgets what has no effect any more; returns whether anything went.
  bool Purge(int64_t now_seconds, const GracePolicy& grace);
  // When Purge will next find something; kNoExpiry: never.
  int64_t NextPurge(const GracePolicy& grace) const;
  // Bytes that Add(range) may allocate.
  size_t AddBytesMax(const ClusteringRange& range) const;

  // Calls visit(ClusteringRange, Tombstone) for each stretch, in key order. Bounds are plain bytes,
  // without a packed form.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Stretch& stretch : stretches_) {
      ClusteringRange range;
      range.lower.bytes = {stretch.lower.data(), stretch.lower.size()};
      range.upper.bytes = {stretch.upper.data(), stretch.upper.size()};
      range.upper.at_end = stretch.to_end;
      visit(range, stretch.tombstone);
    }
  }

  void Verify() const;

 private:
  using Bytes = std::basic_string<char, std::char_traits<char>, memory::ArenaAllocator<char>>;
  struct Stretch {
    Bytes lower;
    Bytes upper;
    bool to_end;  // no upper end; `upper` does not count
    Tombstone tombstone;
  };

  Bytes Copy(std::string_view bytes) const;

  memory::Arena& arena_;
  std::vector<Stretch, memory::ArenaAllocator<Stretch>> stretches_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_
