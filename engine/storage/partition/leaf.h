// Leaf: rows in key order in one block of memory; the unit in which partitions are stored. A small
// partition is one leaf with its key in front, a large one a tree of leaves (leaf_tree.h).
//
//   [header 32 | partition key | freshness 0 or 8 | metas ->    gap    <- rows]
//
// Metas begin with the smallest key, rows end with it.
//
// Adding at the largest key, the newest item of a list, writes behind the metas and in front of the
// rows: nothing moves. A page of newest rows is one contiguous stretch, key and value side by side,
// newest first. While all rows have one length (`stride`), a page of a fresh leaf is copied as it
// lies.
//
// Row in a packed leaf: key 24, payload. In a plain leaf: key length 2, key, payload. A long row
// keeps its bytes in a block of its own ("external"): packed: key 24, pointer 8, payload length 4;
// plain: pointer 8, key length 4, payload length 4, with key and payload side by side behind the
// pointer.
//
// A leaf is a view: it borrows its block, whose owner frees it. Single-threaded.
//
// Invariants (Verify() checks them):
//  (1) keys strictly ascend by index; a packed leaf holds packed keys only;
//  (2) row i lies at [end - end_offset(i), end - end_offset(i-1)), so that lengths need no field;
//  (3) stride is the length of every row, or 0;
//  (4) earliest_expiry is the smallest meta expiry; special_rows counts complex and external rows;
//  (5) metas and rows do not overlap.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/memory/arena.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"

namespace liststore::storage {

// A leaf grows to this before it splits. 16 KiB hold some 200 list items: a search in it touches
// few lines, an insert in the middle moves some KiB (100-200 ns), and 16-byte units of the newest
// row's place fit the 16 bits that the directory keeps of it.
inline constexpr size_t kLeafBytesMax = 16 * 1024;
// A row longer than this, key and payload, is external.
inline constexpr size_t kInlineRowBytesMax = 2048;
// Partition keys longer than this are not kept in front of a leaf.
inline constexpr size_t kInlinePartitionKeyMax = 1024;
inline constexpr uint32_t kNeverExpires = UINT32_MAX;
// Whether an event has come. Metas hold seconds up to the year 2106; what happens later is kept in
// full by complex rows and has no event: readers go by the clock all the same, only its memory is
// not given back.
inline bool EventCame(uint32_t event, int64_t now_seconds) {
  return event != kNeverExpires && event <= now_seconds;
}
// The event that stands for an instant; kNoExpiry: none.
inline uint32_t ToEvent(int64_t seconds) {
  if (seconds == kNoExpiry || seconds >= int64_t{kNeverExpires}) return kNeverExpires;
  return static_cast<uint32_t>(std::max<int64_t>(seconds, 1));
}

struct LeafHeader {
  int64_t base_micros;        // write timestamps of metas count from here
  uint32_t earliest_expiry;   // kNeverExpires: none
  uint32_t wheel_when;        // small partition: the second it is scheduled at; 0: not
  uint32_t epoch_or_leaf_id;  // small partition: truncation epoch; leaf of a tree: its leaf id
  uint16_t row_count;
  uint16_t stride;
  uint16_t key_bytes;    // partition key behind the header; 0 in a tree
  uint16_t block_units;  // block bytes / 16
  uint16_t special_rows;
  uint8_t packed;      // 1: packed; 2: views point into it (PinTable)
  uint8_t cache_bits;  // small partition: see cache_bits; leaf of a tree: 0
};
static_assert(sizeof(LeafHeader) == 32, "docs/memory.md budgets leaf headers at 32 bytes");

// What a partition of a table that may be a cache knows of itself, in the header's last byte.
namespace cache_bits {
// Reads since the eviction last looked at it, up to 3.
inline constexpr uint8_t kUsesMask = 0x03;
// Begun by an upsert while more of it may have been elsewhere.
inline constexpr uint8_t kPartial = 0x04;
// Put with a freshness: 8 bytes behind the partition key. The bit is the number of bytes.
inline constexpr uint8_t kFreshness = 0x08;
// Put without rows: it stays although it is empty, until its freshness ends.
inline constexpr uint8_t kKeptEmpty = 0x10;
// On probation: an entry of the probation queue stands for it.
inline constexpr uint8_t kProbation = 0x20;
// Of which sweep of the probation queue it was seen last: see ProbationQueue.
inline constexpr uint8_t kSweep = 0x40;
}  // namespace cache_bits

// What is known of a row beside its bytes. For a simple row: timestamp, expiry and TTL of marker
// and cells alike, the TTL as the distance between the second of writing and the second of the
// timestamp. For a complex one only `expiry`, the next event, and the fingerprint count.
struct RowMeta {
  uint64_t bits;         // timestamp - base 46 | complex 1 | external 1 | end offset 16
  uint32_t expiry;       // kNeverExpires: lasts
  uint16_t fingerprint;  // of the first indexed column's live value
  int16_t ttl_skew;      // (expiry - ttl) - floor(timestamp in s)

  static constexpr int kDeltaBits = 46;
  static constexpr uint64_t kDeltaMax = (uint64_t{1} << kDeltaBits) - 1;
  static constexpr uint64_t kComplexBit = uint64_t{1} << 46;
  static constexpr uint64_t kExternalBit = uint64_t{1} << 47;

  uint64_t delta() const { return bits & kDeltaMax; }
  bool complex() const { return (bits & kComplexBit) != 0; }
  bool external() const { return (bits & kExternalBit) != 0; }
  bool special() const { return (bits & (kComplexBit | kExternalBit)) != 0; }
  uint16_t end_offset() const { return static_cast<uint16_t>(bits >> 48); }
};
static_assert(sizeof(RowMeta) == 16, "docs/memory.md budgets 16 bytes of meta a row");

// A row ready to be put into a leaf.
struct RowImage {
  ClusteringKeyView key;
  std::string_view payload;
  bool complex = false;
  WriteTimestamp timestamp;  // of a simple row
  uint32_t expiry = kNeverExpires;
  int16_t ttl_skew = 0;
  uint16_t fingerprint = 0;
  bool stays_external = false;  // in a block of its own though it is short, to take no more room
};

class Leaf {
 public:
  explicit Leaf(char* block) : block_(block) { LS_DCHECK(block != nullptr, "a leaf has a block"); }

  // Bytes in front of the metas.
  static size_t FrontBytes(size_t key_bytes) {
    return sizeof(LeafHeader) + ((key_bytes + 7) & ~size_t{7});
  }
  static constexpr size_t kFreshnessBytes = cache_bits::kFreshness;
  // Bytes that a row takes in a leaf, its meta included.
  static size_t RowBytes(const RowImage& row, bool packed_leaf) {
    return sizeof(RowMeta) + InlineBytes(row, packed_leaf);
  }

  // Makes an empty leaf in a block of the size class of `bytes`.
  static char* Create(memory::Arena& arena, size_t bytes, memory::Arena::Mobility mobility,
                      std::string_view partition_key, bool packed, uint8_t bits = 0);
  // Moves everything to a block of the size class of `bytes` and frees the old one.
  static char* Resize(memory::Arena& arena, char* block, size_t bytes,
                      memory::Arena::Mobility mobility);

  // Makes the same once more, not pinned, with external blocks of its own.
  static char* Copy(memory::Arena& arena, const char* block, memory::Arena::Mobility mobility);
  // What that takes.
  size_t CopyBytes() const;

  const LeafHeader& header() const { return *reinterpret_cast<const LeafHeader*>(block_); }
  LeafHeader& header() { return *reinterpret_cast<LeafHeader*>(block_); }
  char* block() const { return block_; }
  size_t block_bytes() const { return size_t{header().block_units} * 16; }
  std::string_view partition_key() const {
    return {block_ + sizeof(LeafHeader), header().key_bytes};
  }
  // Bytes in front of this leaf's metas.
  size_t front_bytes() const {
    return FrontBytes(header().key_bytes) + (header().cache_bits & cache_bits::kFreshness);
  }
  // Seconds since the epoch; 0 where there is none.
  int64_t fresh_until_seconds() const {
    if ((header().cache_bits & cache_bits::kFreshness) == 0) return 0;
    return LoadNative<int64_t>(block_ + FrontBytes(header().key_bytes));
  }
  // The leaf has a place for it.
  void set_fresh_until_seconds(int64_t seconds) {
    LS_CHECK((header().cache_bits & cache_bits::kFreshness) != 0, "the leaf has a freshness");
    StoreNative(block_ + FrontBytes(header().key_bytes), seconds);
  }
  size_t size() const { return header().row_count; }
  bool empty() const { return header().row_count == 0; }
  bool packed() const { return (header().packed & kPacked) != 0; }
  // Views point into the block: rows stay as they are.
  bool pinned() const { return IsPinned(block_); }
  // The same of a block that is not ours to change.
  static bool IsPinned(const char* block) {
    return (reinterpret_cast<const LeafHeader*>(block)->packed & kPinned) != 0;
  }
  void set_pinned(bool pinned) {
    header().packed = static_cast<uint8_t>((header().packed & kPacked) | (pinned ? kPinned : 0));
  }
  // Packed or not as asked, and not pinned: one comparison.
  bool IsUnpinned(bool packed) const { return header().packed == (packed ? kPacked : 0); }
  bool all_simple() const { return header().special_rows == 0; }

  RowMeta meta(size_t index) const {
    LS_DCHECK(index < size(), "row index within the leaf");
    return metas()[index];
  }
  // First byte of a row. Where all rows have one length it follows from the header alone: the read
  // of a page does not wait for metas, which would be a cache miss of their own.
  const char* row(size_t index) const {
    LS_DCHECK(index < size(), "row index within the leaf");
    return block_end() - EndOffset(index);
  }
  // The newest row of a leaf that has rows, all of one length.
  const char* newest_of_one_length() const {
    LS_DCHECK(!empty() && header().stride != 0, "the rows have one length");
    return block_end() - size_t{header().row_count} * header().stride;
  }
  size_t row_bytes(size_t index) const { return EndOffset(index) - EndOffset(index - 1); }
  ClusteringKeyView key(size_t index) const;
  std::string_view payload(size_t index) const;
  WriteTimestamp timestamp(size_t index) const {
    return {header().base_micros + static_cast<int64_t>(meta(index).delta())};
  }
  // Of a simple row.
  Liveness liveness(size_t index) const;
  // The row as it is, to be put into another leaf: one that is external stays so. Borrowed.
  RowImage image(size_t index) const;

  // First index whose key is >= `key`, or size().
  size_t LowerBound(ClusteringKeyView key) const;
  size_t LowerBound(const ClusteringBound& bound) const;
  // Whether the row at `index` exists and has this key.
  bool KeyIs(size_t index, ClusteringKeyView key) const {
    return index < size() && CompareKeys(this->key(index), key) == 0;
  }

  size_t used_bytes() const { return front_bytes() + size() * sizeof(RowMeta) + RowsBytes(); }
  size_t free_bytes() const { return block_bytes() - used_bytes(); }
  // Bytes that rows occupy at the end of the block.
  size_t RowsBytes() const { return EndOffset(size() - 1); }

  // True when a simple row of this timestamp can be stored as the leaf is.
  bool SpansTimestamp(WriteTimestamp timestamp) const {
    const int64_t base = header().base_micros;
    return timestamp.micros >= base &&
           static_cast<uint64_t>(timestamp.micros) - static_cast<uint64_t>(base) <=
               RowMeta::kDeltaMax;
  }
  // True when a simple row of this timestamp can be stored; moves the base when that helps.
  bool AdmitTimestamp(WriteTimestamp timestamp);

  // Edits. The caller has made room (free_bytes() >= RowBytes), admitted the timestamp of a simple
  // row, and passes a packed key exactly where the leaf is packed (any key where it is not).
  // External blocks come from and go back to `arena`.
  void Insert(memory::Arena& arena, size_t index, const RowImage& row);
  // Replaces payload and meta of a row whose key stays; room as if the row were inserted again.
  void Replace(memory::Arena& arena, size_t index, const RowImage& row);
  // Erases rows [first, last).
  void Erase(memory::Arena& arena, size_t first, size_t last);
  // Moves rows [from, size()) to the end of `target`, which is empty and has room and equal
  // packing; external blocks move with them.
  void MoveTailTo(size_t from, Leaf target);
  // Frees the external blocks of all rows; the leaf must not be used afterwards.
  void FreeExternal(memory::Arena& arena, size_t index);
  void FreeExternals(memory::Arena& arena);

  void Verify() const;

 private:
  friend class LeafAppender;

  // Bits of LeafHeader::packed.
  static constexpr uint8_t kPacked = 1;
  static constexpr uint8_t kPinned = 2;

  static bool IsExternal(const RowImage& row, bool packed_leaf);
  static size_t InlineBytes(const RowImage& row, bool packed_leaf);

  struct External {
    char* where;  // its place in the row
    size_t bytes;
  };
  External ExternalOf(size_t index) const;

  RowMeta* metas() const { return reinterpret_cast<RowMeta*>(block_ + front_bytes()); }
  char* block_end() const { return block_ + block_bytes(); }
  // Of row `index`; 0 for index -1.
  size_t EndOffset(size_t index) const {
    const size_t stride = header().stride;
    if (stride != 0) return (index + 1) * stride;
    return index == SIZE_MAX ? 0 : metas()[index].end_offset();
  }
  void ShiftOffsets(size_t from, int64_t by);
  void WriteRow(memory::Arena& arena, size_t index, const RowImage& row, size_t end_offset,
                bool external);
  void RecomputeEarliestExpiry();
  void CountSpecial(int by);

  char* block_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_H_
