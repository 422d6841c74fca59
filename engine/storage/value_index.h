// ValueIndex: from a value to the leaves of one partition that hold it. Small partitions need none:
// they scan the fingerprints in their rows' metas.
//
// An ordered set of (hash of the value 32 bits, leaf id 32 bits): one entry for a value in a leaf,
// however many rows of the leaf have it; which rows they are the leaf tells. No entry moves when a
// leaf grows or changes its block; a split renames those of the rows that moved. About 11 bytes a
// row. The set grows by nodes, never by rehashing everything.
//
// Owned by a large partition; single-threaded.
#ifndef LISTSTORE_ENGINE_STORAGE_VALUE_INDEX_H_
#define LISTSTORE_ENGINE_STORAGE_VALUE_INDEX_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/container/btree_set.h"
#include "engine/base/hash.h"
#include "engine/storage/arena_allocator.h"

namespace liststore {

inline uint32_t ValueHash(std::string_view value) { return static_cast<uint32_t>(Hash64(value)); }
// What a row's meta keeps of the hash.
inline uint16_t ValueFingerprint(std::string_view value) {
  return static_cast<uint16_t>(Hash64(value));
}

class ValueIndex {
 public:
  // The largest node of the set: 256 bytes of entries, and pointers to children in an inner one.
  static constexpr size_t kNodeBytes = 544;

  explicit ValueIndex(Arena& arena) : entries_(std::less<>(), ArenaAllocator<uint64_t>(&arena)) {}

  // Both O(log entries); adding twice or removing what is not there changes nothing.
  void Add(uint32_t hash, uint32_t leaf_id) { entries_.insert(Entry(hash, leaf_id)); }
  void Remove(uint32_t hash, uint32_t leaf_id) { entries_.erase(Entry(hash, leaf_id)); }
  bool Contains(uint32_t hash, uint32_t leaf_id) const {
    return entries_.contains(Entry(hash, leaf_id));
  }
  // Calls `visit(leaf_id)` for every leaf that may hold a value of this hash.
  template <typename Visitor>
  void ForEachLeaf(uint32_t hash, Visitor&& visit) const {
    for (auto at = entries_.lower_bound(Entry(hash, 0));
         at != entries_.end() && static_cast<uint32_t>(*at >> 32) == hash; ++at) {
      visit(static_cast<uint32_t>(*at));
    }
  }
  size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }

 private:
  static uint64_t Entry(uint32_t hash, uint32_t leaf_id) { return uint64_t{hash} << 32 | leaf_id; }

  absl::btree_set<uint64_t, std::less<>, ArenaAllocator<uint64_t>> entries_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_STORAGE_VALUE_INDEX_H_
