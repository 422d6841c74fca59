// ValueIndex: from a value to the leaves of one partition that hold it. Small partitions need none:
// they scan the fingerprints in their rows' metas.
//
// A set of (hash of the value 32 bits, leaf id 32 bits): one entry for a value in a leaf, however
// many rows of the leaf have it; which rows they are the leaf tells. No entry moves when a leaf
// grows or changes its block; a split renames those of the rows that moved.
//
// Entries lie in buckets by their hash's low bits, some 20 in each, in order. The number of buckets
// grows and shrinks by one at a time (linear hashing), so that no write pays for a rehash; their
// places come in segments of 64. A look-up waits for the segment's list, the place and the bucket,
// one after the other; the lines of a bucket come together. About 10.5 bytes an entry.
//
// Chosen collisions. A bucket holds at most kBucketEntriesMax. What does not fit goes to an ordered
// overflow set, O(log n), which is looked at only when it is not empty. Random hashes leave it
// empty.
//
// Owned by a large partition; single-threaded.
//
// Invariants (Verify() checks them):
//  (1) an entry lies in its bucket or in overflow, once; size() counts it;
//  (2) entries of a bucket ascend, and fit into its block.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_VALUE_INDEX_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_VALUE_INDEX_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "engine/base/cacheline.h"
#include "engine/base/hash.h"
#include "engine/memory/arena_allocator.h"

namespace liststore::storage {

inline uint32_t ValueHash(std::string_view value) { return static_cast<uint32_t>(Hash64(value)); }
// What a row's meta keeps of the hash.
inline uint16_t ValueFingerprint(std::string_view value) {
  return static_cast<uint16_t>(Hash64(value));
}

class ValueIndex {
 public:
  // Buckets that wait to be split have up to twice as many as the others: random hashes exceed this
  // once in 10^9 buckets.
  static constexpr size_t kBucketEntriesMax = 96;

  explicit ValueIndex(memory::Arena& arena);
  ~ValueIndex() { clear(); }
  ValueIndex(ValueIndex&& other) noexcept;
  ValueIndex& operator=(ValueIndex&&) = delete;
  ValueIndex(const ValueIndex&) = delete;
  ValueIndex& operator=(const ValueIndex&) = delete;

  // Adding twice or removing what is not there changes nothing. Neither fails; adds take kAddBytes
  // of memory each in the long run, Remove takes none.
  void Add(uint32_t hash, uint32_t leaf_id);
  void Remove(uint32_t hash, uint32_t leaf_id);
  // Another leaf has the rows of this hash, and had none before; nothing when they are not indexed.
  // An add, as far as memory goes.
  void Rename(uint32_t hash, uint32_t from_leaf_id, uint32_t to_leaf_id);
  bool Contains(uint32_t hash, uint32_t leaf_id) const;

  // Makes buckets for so many entries of an empty index: adds then split none. Some adds follow. The
  // memory is that of the adds.
  void Reserve(size_t entries);
  // Gives back buckets of a reservation for which too few entries came.
  void ReleaseSpare();

  // Becomes the same as another one of the same arena; it is empty. O(entries).
  void CopyFrom(const ValueIndex& from);
  // What that takes. O(buckets).
  static size_t CopyBytes(const ValueIndex& from);

  // What an entry takes, with its share of buckets that grow and are split.
  static constexpr size_t kAddBytes = 64;

  // Calls `visit(leaf_id)` for every leaf that may hold a value of this hash, in ascending order
  // as long as nothing overflows.
  template <typename Visitor>
  void ForEachLeaf(uint32_t hash, Visitor&& visit) const {
    if (buckets_ == 0) return;
    Prefetch(hash);
    const Bucket& bucket = BucketAt(NumberOf(hash));
    const uint64_t* const end = bucket.entries + bucket.count;
    for (const uint64_t* at = LowerBound(bucket, Entry(hash, 0)); at != end && HashOf(*at) == hash;
         ++at) {
      visit(LeafOf(*at));
    }
    if (overflow_.empty()) [[likely]]
      return;
    for (auto at = overflow_.lower_bound(Entry(hash, 0));
         at != overflow_.end() && HashOf(*at) == hash; ++at) {
      visit(LeafOf(*at));
    }
  }
  // Brings what the next Add, Remove or ForEachLeaf of `hash` looks at closer.
  void Prefetch(uint32_t hash) const {
    if (buckets_ == 0) return;
    // All lines of most buckets, whatever they hold: their number would have to be waited for.
    // As a number: a bucket may have no block.
    const auto entries = reinterpret_cast<uintptr_t>(BucketAt(NumberOf(hash)).entries);
    for (size_t at = 0; at <= kEntriesPerBucket * sizeof(uint64_t); at += kCacheLineBytes) {
      PrefetchLine(reinterpret_cast<const void*>(entries + at));
    }
  }

  size_t size() const { return size_; }
  size_t buckets() const { return buckets_; }
  size_t overflow_size() const { return overflow_.size(); }
  // Gives all memory back.
  void clear();
  void Verify() const;

 private:
  using Overflow = absl::btree_set<uint64_t, std::less<>, memory::ArenaAllocator<uint64_t>>;

  // Splits come when there are more entries for each bucket than this; merges, of one bucket at
  // each removal, when there are fewer than half.
  static constexpr size_t kEntriesPerBucket = 20;
  static constexpr size_t kSegmentBuckets = 64;
  static constexpr size_t kFirstEntries = 8;

  struct Bucket {
    uint64_t* entries;
    uint32_t count;
    uint32_t capacity;  // 0: no block
  };
  struct Segment {
    Bucket buckets[kSegmentBuckets];
  };

  static uint64_t Entry(uint32_t hash, uint32_t leaf_id) { return uint64_t{hash} << 32 | leaf_id; }
  static uint32_t HashOf(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
  static uint32_t LeafOf(uint64_t entry) { return static_cast<uint32_t>(entry); }
  static size_t CapacityFor(size_t entries) {
    return memory::Arena::BlockBytes(entries * sizeof(uint64_t)) / sizeof(uint64_t);
  }

  // Of the bucket of a hash: those split in this round go by a bit more than the others.
  size_t NumberOf(uint32_t hash) const {
    const size_t mask = std::bit_ceil(buckets_) - 1;
    const size_t number = hash & mask;
    return number < buckets_ ? number : number & (mask >> 1);
  }
  Bucket& BucketAt(size_t number) const {
    return segments_[number / kSegmentBuckets]->buckets[number % kSegmentBuckets];
  }
  // First entry that is not below. Without a branch that could be predicted wrongly.
  static uint64_t* LowerBound(const Bucket& bucket, uint64_t entry) {
    uint64_t* base = bucket.entries;
    for (size_t left = bucket.count; left > 0;) {
      const size_t half = left / 2;
      base = base[half] < entry ? base + (left - half) : base;
      left = half;
    }
    return base;
  }
  // The entry's place in its bucket; null: it is not there.
  uint64_t* Find(const Bucket& bucket, uint64_t entry) const;

  void Reallocate(Bucket& bucket, size_t capacity);
  void FreeBlock(Bucket& bucket);
  void AddBucket();
  void DropLastBucket();
  void SplitOne();
  void MergeOne();

  memory::Arena* arena_;
  std::vector<Segment*, memory::ArenaAllocator<Segment*>> segments_;
  size_t buckets_ = 0;
  size_t size_ = 0;
  Overflow overflow_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_VALUE_INDEX_H_
