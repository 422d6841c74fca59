// Partition: the rows of one partition key, in clustering order, with what must change together
// with them: tombstones, value indexes, counts. The consistency boundary: nothing else changes
// rows.
//
// Small partitions (most lists) are one leaf block with the partition key in front. What outgrows a
// leaf, has a partition or range tombstone, a static row or a long key is *large*: a LargePartition
// with a tree of leaves. Both are reached by a reference, the 64 bits that the directory keeps:
//
//   block address, 48 bits (16-byte aligned; bit 0: large) | place of the newest row / 16, 16 bits
//
// A Partition object is a handle for the length of one operation. Owned by the table;
// single-threaded.
//
// Invariants (Verify() checks them):
//  (1) a small partition has at least one row, a large one a row, a tombstone or a static row;
//  (2) no row is covered by a partition or range tombstone over it, and the static row by none of
//      the partition;
//  (3) a value index, where there is one, holds exactly the values of the rows;
//  (4) counts in the context are those of all partitions.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_PARTITION_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_PARTITION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/cacheline.h"
#include "engine/model/expiry.h"
#include "engine/model/hot_row.h"
#include "engine/model/mutation.h"
#include "engine/model/presence.h"
#include "engine/model/read_spec.h"
#include "engine/model/row_view.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"
#include "engine/storage/partition/expiry_search.h"
#include "engine/storage/partition/large_partition.h"
#include "engine/storage/partition/leaf.h"
#include "engine/storage/partition/row_body.h"
#include "engine/storage/partition/tombstone_counts.h"

namespace liststore::storage {

// What the partitions of a table share. Owned by the table.
struct PartitionContext {
  PartitionContext(const TableSchema& table_schema, memory::Arena& table_arena)
      : schema(table_schema), arena(table_arena) {}

  const TableSchema& schema;
  memory::Arena& arena;
  GracePolicy grace;
  uint64_t rows = 0;          // stored rows
  uint64_t expired_rows = 0;  // rows reclaimed because everything in them had expired
  uint64_t tombstones = 0;    // that deletions have left: of rows, ranges and partitions
  // Where values that are over are told when they go; nullptr: nowhere.
  ExpiryLog* expiries = nullptr;

  // Scratch, so that the slow paths allocate nothing in the steady state.
  // What the rows of the running write may still add to their partition, at most.
  size_t growth_bytes = 0;
  RowBody body;
  RowBody other_body;
  std::string payload;
  std::string complex_payload;
  std::vector<const RowUpdate*> order;  // of the rows of an upsert
  RangeTombstones::Scratch ranges;

  // Tombstones that are there, of all partitions. Apart from what the hot paths touch.
  TombstoneCounts held;

  // Makes room for rows of `row_bytes` together, before anything is changed: behind it the write does
  // not ask the heap, which may refuse.
  void PrepareScratch(size_t row_bytes) {
    if (prepared_end_ <= row_bytes) [[unlikely]]
      GrowScratch(row_bytes);
  }
  // The same for what deletions leave of a row that is there, of so many bytes and cells, to which rows of
  // `row_bytes` have come before.
  void PrepareDeletion(size_t row_bytes, size_t bytes, size_t cells) {
    const size_t all_bytes = row_bytes + bytes + kInlineRowBytesMax;
    const size_t all_cells = row_bytes / kCellBytesMin + cells;
    has_large_scratch |= all_bytes > kScratchBytesKept || all_cells > kScratchCellsKept;
    payload.reserve(all_bytes);
    complex_payload.reserve(all_bytes);
    body.Reserve(all_cells);
    other_body.Reserve(all_cells);
  }
  // And for the order of so many rows.
  void PrepareOrder(size_t row_count) {
    has_large_scratch |= row_count > kScratchRowsKept;
    order.reserve(row_count);
  }
  // Behind RangeTombstones::PrepareAdd.
  void NoteRangesScratch() { has_large_scratch |= ranges.capacity() > kScratchRangesKept; }

  // A large row leaves no memory behind in each lane that it came to, which no limit would count:
  // who fills the scratch with much says so, and it is given back behind the command.
  bool has_large_scratch = false;
  void TrimScratch() {
    if (has_large_scratch) [[unlikely]]
      FreeScratch();
  }
  // What is kept of each in every lane of every table, until reclamation comes by.
  static constexpr size_t kScratchBytesKept = 8 * 1024;
  static constexpr size_t kScratchCellsKept = 128;
  static constexpr size_t kScratchRowsKept = 512;
  // A cell takes more in the longest form of its row.
  static constexpr size_t kCellBytesMin = 19;
  static constexpr size_t kScratchRangesKept = 256;
  // Nobody waits: what is more than the writes of short rows need, in a table that may hardly be written.
  void FreeIdleScratch() {
    if (has_large_scratch || payload.capacity() > kScratchBytesIdle || order.capacity() != 0 ||
        ranges.capacity() != 0 ||
        std::max(body.capacity(), other_body.capacity()) > kScratchCellsIdle) {
      FreeScratch();
    }
  }

 private:
  void GrowScratch(size_t row_bytes) {
    has_large_scratch |=
        row_bytes > kScratchBytesKept;  // of the first, where the second is refused
    payload.reserve(row_bytes + kInlineRowBytesMax);
    complex_payload.reserve(row_bytes + kInlineRowBytesMax);
    body.Reserve(row_bytes / kCellBytesMin);
    other_body.Reserve(row_bytes / kCellBytesMin);
    prepared_end_ = row_bytes + 1;
  }
  static constexpr size_t kScratchBytesIdle = kInlineRowBytesMax + 1024;
  // There is room for rows of fewer bytes than these; 0: for none. What the strings have says nothing of
  // the bodies.
  size_t prepared_end_ = 0;
  static constexpr size_t kScratchCellsIdle = kScratchBytesIdle / kCellBytesMin;
  void FreeScratch() {
    has_large_scratch = false;
    prepared_end_ = 0;
    body.Free();
    other_body.Free();
    std::string().swap(payload);  // an assignment would keep the block
    std::string().swap(complex_payload);
    std::vector<const RowUpdate*>().swap(order);
    ranges.Free();
  }
};

class Partition {
 public:
  // What encoding a cell, a marker or a tombstone in full adds to a row, at most.
  static constexpr size_t kComplexOverheadBytes = 72;

  // --- References --------------------------------------------------------------------------------

  static bool IsLarge(uint64_t reference) { return (reference & 1) != 0; }
  static char* BlockOf(uint64_t reference) {
    return reinterpret_cast<char*>(reference & kAddressMask);
  }
  static LargePartition& LargeOf(uint64_t reference) {
    return *reinterpret_cast<LargePartition*>(reference & kAddressMask);
  }
  // The reference of a small partition whose block was moved as it is.
  static uint64_t MovedReference(uint64_t reference, char* to) {
    return (reference & ~kAddressMask) | reinterpret_cast<uint64_t>(to);
  }
  static std::string_view KeyOf(uint64_t reference) {
    return IsLarge(reference) ? LargeOf(reference).key() : Leaf(BlockOf(reference)).partition_key();
  }
  // All of a large one but its leaves, and the end of most keys.
  [[gnu::always_inline]] static void PrefetchLarge(const char* block) {
    constexpr size_t kKeyBytes = 64;
    for (size_t at = kCacheLineBytes; at < sizeof(LargePartition) + kKeyBytes;
         at += kCacheLineBytes) {
      PrefetchLine(block + at);
    }
  }
  // Brings header, a key of `key_bytes` and newest rows closer: what a read of a page of `rows_max` will
  // touch, or the beginning of that.
  [[gnu::always_inline]] static void Prefetch(uint64_t reference, size_t key_bytes,
                                              uint64_t rows_max = kPrefetchedRows) {
    const char* block = BlockOf(reference);
    PrefetchLine(block);
    if (IsLarge(reference)) return PrefetchLarge(block);
    const char* rows = block + (reference >> kHintShift) * 16;
    PrefetchLine(block + kCacheLineBytes);
    PrefetchLine(block + sizeof(LeafHeader) + key_bytes - 1);
    if (rows_max >= kPrefetchedRows) [[likely]] {
      PrefetchLines(rows, kPrefetchedRows * kPrefetchedRowBytes);
    } else {
      PrefetchLines(rows, rows_max * kPrefetchedRowBytes);
    }
  }

  // Header, key, metas of some twenty rows, and the newest rows: what a change of a small one
  // begins with.
  [[gnu::always_inline]] static void PrefetchForWrite(uint64_t reference) {
    const char* block = BlockOf(reference);
    PrefetchLine(block);
    if (IsLarge(reference)) return PrefetchLarge(block);
    for (size_t i = 1; i < kPrefetchedMetaLines; ++i) PrefetchLine(block + i * kCacheLineBytes);
    const char* rows = block + (reference >> kHintShift) * 16;
    PrefetchLine(rows);
    PrefetchLine(rows + kCacheLineBytes);
  }

  // Makes a partition without rows; the caller adds some, or destroys it. `expected_bytes`: of the
  // rows to come, so that a small one is sized at once.
  // `bits`: see cache_bits; with kFreshness, `fresh_until_seconds` is kept.
  static uint64_t Create(PartitionContext& context, std::string_view key, uint32_t epoch,
                         size_t expected_bytes, uint8_t bits = 0, int64_t fresh_until_seconds = 0);

  Partition(PartitionContext& context, uint64_t& reference)
      : context_(context), reference_(reference) {}

  std::string_view key() const { return KeyOf(reference_); }
  bool large() const { return IsLarge(reference_); }
  // Nothing left, neither rows nor tombstones that count.
  bool empty() const;
  size_t row_count() const;
  // Those that count in the context. O(1) where no row of the table has one, or of the partition was ever
  // other than simple; else O(leaves + rows that are not simple).
  TombstoneCounts tombstone_counts() const;
  uint32_t epoch() const;
  // When the wheel will look at it; 0: it is not in the wheel.
  uint32_t wheel_when() const;
  void set_wheel_when(uint32_t seconds);
  // What it knows of itself as a part of a cache; kFreshness belongs to the leaf and does not
  // change.
  uint8_t cache_bits() const {
    return large() ? LargeOf(reference_).cache_bits : Leaf(BlockOf(reference_)).header().cache_bits;
  }
  void set_cache_bits(uint8_t bits);
  bool kept_empty() const { return (cache_bits() & cache_bits::kKeptEmpty) != 0; }
  // 0: forever, or nobody said.
  int64_t fresh_until_seconds() const {
    return large() ? LargeOf(reference_).fresh_until_seconds
                   : Leaf(BlockOf(reference_)).fresh_until_seconds();
  }
  // Makes it fresh until then, where it is not. False: it has no place to say so.
  bool RestoreFreshness(int64_t fresh_until_seconds);
  // What a reader is to know of it at this second. Complete or partial with a live row, or complete
  // while it is kept empty.
  Presence PresenceAt(int64_t now_seconds) const;
  // Whether its rows, if it has any, are over: what is written now begins it again. Cheap while
  // nothing of it has expired.
  bool OverAt(int64_t now_seconds) const;
  // Begins it again: `partial` or complete, without a freshness.
  void BeginAnew(bool partial);
  // When its last row expires; kNeverExpires: never, or it is large. O(rows of a small one).
  uint32_t LastExpiry() const;
  // When something of it happens next (a row expires, a shadow or tombstone ends); kNeverExpires:
  // never.
  uint32_t NextEvent() const;

  // --- Writes: what they bring has been reserved --------------------------------------------------

  // Whether a row's meta can hold these times (a leaf's span of timestamps aside).
  static bool FitsMeta(const Liveness& liveness);

  // What an upsert brings.
  struct Load {
    size_t rows = 0;
    size_t bytes = 0;         // sum of Leaf::RowBytes of the rows in their expected form
    size_t growth_bytes = 0;  // the same, in the worst form that they and what they meet may take
    // Rows of the hot shape: packed keys where the table packs, one live value. They take `bytes`,
    // unless their timestamps do not fit the leaf's.
    bool hot = true;
    // No row becomes external, in whatever form it ends.
    bool all_short = true;
  };
  // Of the stored row that merging with `update` may have to carry along; 0: none.
  struct StoredSize {
    size_t bytes = 0;
    size_t cells = 0;  // at most
  };
  StoredSize SizeOfStored(const RowUpdate& update) const;
  // Whether a row is not simple, or was so, or is external: merging may carry more along than what comes.
  bool MayHaveComplexRows() const {
    return large() ? LargeOf(reference_).complex_bytes_width != 0
                   : !Leaf(BlockOf(reference_)).all_simple();
  }
  // What a deletion at `timestamp` works with, at most, to write again what it leaves of a row.
  struct RowScratch {
    size_t bytes = 0;  // of key and row in the longest form, where it leaves cells
    size_t cells = 0;
    void TakeLarger(const RowScratch& other) {
      bytes = std::max(bytes, other.bytes);
      cells = std::max(cells, other.cells);
    }
    void Add(const RowScratch& other) {
      bytes += other.bytes;
      cells += other.cells;
    }
  };
  RowScratch ScratchOfDeletion(ClusteringKeyView key, WriteTimestamp timestamp) const;
  // The same of a deletion of many rows, and of the static one: O(rows) of a small partition that has
  // rows that are not simple, else O(1).
  RowScratch ScratchOfDeletions(WriteTimestamp timestamp) const;
  // Rows before this bound, all of them or none, were written later than `timestamp`: tombstones that are
  // as late lie over them. Borrowed until the next write. O(log ranges + those ranges).
  ClusteringBound YoungerFromBegin(WriteTimestamp timestamp) const;
  // What deletes at `key` and is not over, range or partition.
  Tombstone TombstoneOver(ClusteringKeyView key, int64_t now_seconds,
                          const GracePolicy& grace) const;
  // The stored row that `update` meets; without one, nothing.
  void DecodeStored(const RowUpdate& update, RowBody& body) const;

  // Whether hot, short rows meet nothing in a small partition that could make them longer, and no
  // view points into it.
  bool OnlyHotRows() const;

  // Of a large partition: brings what its first index will look at for these rows closer.
  void PrefetchIndexed(std::span<const RowUpdate> rows) const;

  // The hot case of an upsert: hot, short rows that fit a small partition as it is and bring no
  // event forward, one anywhere or several behind all others. It then takes them, without memory
  // and so without a reservation, and returns true; else nothing has changed. For tables that
  // never saw a foreign timestamp.
  bool UpsertInPlace(std::span<const RowUpdate> rows, const Load& load, const WriteContext& write);
  // Makes room for rows that come together, so that a small partition grows once as a rule.
  void Expect(const Load& load);
  void Upsert(const RowUpdate& update, const WriteContext& write);
  // Puts a row as it is where none is, in a partition without tombstones.
  void Put(const StoredRow& row, int64_t now_seconds);
  // The same for several; those of one row are merged before it is written again.
  void UpsertAll(std::span<const RowUpdate> updates, const WriteContext& write);
  // Whether Append takes these rows, which ascend: they come behind all that are there, no tombstone
  // may lie over them, and where they are all rows are of their shape.
  bool TakesBehind(std::span<const HotRow> rows) const;
  // Puts in rows that come together, where TakesBehind says so: what Upsert of each would make of a
  // small partition, byte by byte; leaves of a tree become full, and indexes are made in one go. The
  // rows are short in whatever form, their metas can hold their times (FitsMeta), and no two
  // timestamps are further apart than a leaf spans. O(rows): 10 to 20 ns for each.
  void Append(std::span<const HotRow> rows);
  // Deletions return how many live rows went.
  uint64_t DeleteRow(ClusteringKeyView key, const WriteContext& write);
  // Where that is not asked (`counts`), most leaves of a long range that goes as a whole go out of
  // sight at once, and their memory in steps of Reclaim: O(root of the tree) in place of O(rows).
  uint64_t DeleteRange(const ClusteringRange& range, const WriteContext& write, bool counts = true);
  uint64_t DeleteAll(const WriteContext& write, bool counts = true);
  // The hot case of deletion by value: `column` is the only one, and fingerprinted, and the rows
  // that have to be looked at are all simple; in a table that keeps no tombstones. Deletes the live
  // rows with `value` where they are found, without their keys being copied and looked for again.
  // nullopt: it is not that case, and nothing was done.
  std::optional<uint64_t> DeleteSimpleRowsWithValue(ColumnId column, std::string_view value,
                                                    const WriteContext& write);
  // True when a deletion at `timestamp` would take every row and nothing needs a closer look.
  bool AllCoveredBy(WriteTimestamp timestamp) const;

  // Leaves and range tombstones that deletions took out of sight wait for Reclaim, which NextEvent()
  // calls for.
  bool has_remains() const { return large() && LargeOf(reference_).has_remains(); }
  // Frees such remains; else drops rows and tombstones that have no effect any more, in leaves whose
  // earliest event has come; looks at about `budget` rows, at least one leaf; returns how many.
  // There is more when NextEvent() is not later than `now`.
  size_t Reclaim(int64_t now_seconds, size_t budget);
  // A small one that uses less than half of its block takes a smaller one.
  bool WantsShrink() const;
  void Shrink();
  // Back to a small partition where it fits.
  void TryDemote();

  // Makes the same once more, of another epoch: what has an effect, in blocks of its own. O(bytes).
  uint64_t Copy(uint32_t epoch) const;
  // What that takes, at most. O(1) of a small one without long rows, else O(leaves and long rows).
  size_t CopyBytes() const;

  // Frees up to about `budget` leaves; true when everything is gone and the reference is void.
  bool Destroy(size_t budget);

  // --- Reads -------------------------------------------------------------------------------------

  // `dead_rows`, when given, grows by the dead rows that were passed over; those that a look-up by
  // value leaves out are not counted.
  uint64_t Read(const ReadSpec& spec, int64_t now_seconds, RowSink& sink,
                uint64_t* dead_rows = nullptr) const;
  // The newest rows that a read asks for, where they lie in a small partition just as sinks of
  // packed runs take them: what most reads of lists find. False: rows have to be looked at, by
  // Read. Looks at the header alone, or, with a lower bound, at the last row of the page too. The
  // table has one regular column.
  [[gnu::always_inline]] bool NewestAsTheyLie(const ReadSpec& spec, int64_t now_seconds,
                                              PackedRun& run) const {
    const ClusteringRange& range = spec.range;
    if (large() || !spec.descending || !range.upper.at_end || spec.value_filter) return false;
    const Leaf leaf(BlockOf(reference_));
    const LeafHeader& header = leaf.header();
    const uint64_t count = std::min<uint64_t>(header.row_count, spec.limit);
    if (count == 0 || header.stride == 0 || !leaf.packed() || !leaf.all_simple() ||
        EventCame(header.earliest_expiry, now_seconds)) {
      return false;
    }
    if ((!range.lower.bytes.empty() || range.lower.at_end) &&
        CompareKeyToBound(leaf.key(header.row_count - count), range.lower) < 0) {
      return false;
    }
    run = {leaf.newest_of_one_length(), count, header.stride};
    return true;
  }
  // Live rows. Ends before the leaf that would come when it has looked at `looks_max` rows; then
  // `stopped_at`, of which the caller makes an empty string before, is the key that it would have
  // looked at next.
  uint64_t Count(const ClusteringRange& range, int64_t now_seconds, uint64_t* dead_rows = nullptr,
                 uint64_t looks_max = UINT64_MAX, std::string* stopped_at = nullptr) const;
  // Any row, or value of the static row.
  bool HasLiveData(int64_t now_seconds) const;
  // Looks for the earliest expiry after now of a live row or cell, in what may have one that is
  // earlier than what the search knows, from `place` on. False: the budget is spent, and `place` is
  // where to go on.
  bool FindNextExpiry(ExpirySearch& search, ExpiryPlace& place) const;
  // Keys, in plain form, of the live rows whose live cell in `column` equals `value`.
  std::vector<std::string> KeysWithValue(ColumnId column, std::string_view value,
                                         int64_t now_seconds) const;

  // All there is, live or not, for copies: each row in key order (borrowed for the call; the key is
  // packed or not as its leaf is), and what lies over the rows.
  template <typename Visitor>
  void ForEachRow(Visitor&& visit) const;
  // The same for those behind a key in plain form, where one is given, until visit() returns false.
  template <typename Visitor>
  void ForEachRowBehind(const std::optional<std::string>& key, Visitor&& visit) const;
  // The same but for what has no effect any more at `now`.
  void SendStoredRows(int64_t now_seconds, StoredRowSink& sink) const;
  Tombstone tombstone() const { return large() ? LargeOf(reference_).tombstone : Tombstone{}; }
  // The static row, decoded as rows of ForEachRow are; without cells where there is none.
  std::span<const StoredCell> StaticCells() const;
  // nullptr: none.
  const RangeTombstones* ranges() const {
    return large() && !LargeOf(reference_).ranges.empty() ? &LargeOf(reference_).ranges : nullptr;
  }

  // Returns the number of rows; adds the tombstones that it has found to `tombstones`, where that is given.
  size_t Verify(TombstoneCounts* tombstones = nullptr) const;

 private:
  friend class PartitionReader;

  // A leaf of a tree starts at this size and grows by a quarter at a time: a row is copied some four
  // times until the leaf is full, and a fifth of it is empty at most.
  static constexpr size_t kTreeLeafBytesMin = 1024;
  static constexpr uint64_t kAddressMask = 0x0000'ffff'ffff'fff0;
  static constexpr int kHintShift = 48;
  // Not a line more than these lie in: misses are what a group costs.
  static constexpr uint64_t kPrefetchedRows = 10;
  static constexpr size_t kPrefetchedRowBytes = 48;
  static constexpr size_t kPrefetchedMetaLines = 7;

  [[gnu::always_inline]] static void PrefetchLines(const char* begin, size_t bytes) {
    for (size_t i = 0; i < bytes; i += kCacheLineBytes) PrefetchLine(begin + i);
    // The line of the last byte, where that is one more.
    PrefetchLine(begin + bytes - 1);
  }

  // One leaf of the partition; `position` counts in large ones.
  struct LeafRef {
    char* block;
    LeafTree::Position position;
  };

  static uint64_t SmallReference(char* block);
  static uint64_t LargeReference(LargePartition* large);

  // visit(Leaf), in key order.
  template <typename Visitor>
  void ForEachLeaf(Visitor&& visit) const;

  LeafRef FindLeaf(ClusteringKeyView key) const;
  // The leaf's block, first key or expiry changed; an empty leaf of a tree goes. Returns whether it
  // went.
  bool LeafChanged(LeafRef& at);
  void ReplaceBlock(LeafRef& at, char* block);

  void MakeLarge();
  void MakeRoom(LeafRef& at, size_t bytes, size_t index, ClusteringKeyView key);
  void SplitLeaf(LeafRef& at, size_t index, ClusteringKeyView key);
  void UnpackLeaf(LeafRef& at);
  void TryMerge(LeafRef& at);
  static bool WantsShrink(const Leaf& leaf);
  void ShrinkLeaf(LeafRef& at);
  // Stores a row at its place in the leaf, over the one with the same key when `replace`.
  void PutRow(LeafRef& at, size_t index, bool replace, RowImage image);
  // Stores context_.body there; erases the row when it is empty.
  // `shadow`: as a complex row whatever it holds. `in_place`: over a complex row of which it is a
  // part, so that it takes no more room in the leaf than that did.
  void PutBody(LeafRef& at, size_t index, bool replace, ClusteringKeyView key, int64_t now_seconds,
               bool shadow = false, bool in_place = false);
  void EraseRows(LeafRef& at, size_t first, size_t last);
  // Rows [first, last) that have a tombstone of their own. A comparison where all are simple.
  static uint64_t RowTombstones(const Leaf& leaf, size_t first, size_t last) {
    return leaf.all_simple() ? 0 : RowTombstonesOfSpecial(leaf, first, last);
  }
  static uint64_t RowTombstonesOfSpecial(const Leaf& leaf, size_t first, size_t last);
  // The stretches of a large partition were `before`, and have changed since.
  void NoteRanges(size_t before) {
    context_.held.ranges += LargeOf(reference_).ranges.size() - before;
  }
  // Those of ranges and of the partition itself are not there any more.
  void ForgetTombstones();
  // --- Append: partition_append.cc
  void AppendToLeaf(char* block, std::span<const HotRow> rows);
  void AppendToTree(std::span<const HotRow> rows);
  bool BeginIndexes(std::span<const HotRow> rows, size_t behind_last);

  static void FillSimple(const Liveness& liveness, RowImage& image);
  bool SimpleImage(const RowUpdate& update, const WriteContext& write, RowImage& image);
  void DecodeRow(const Leaf& leaf, size_t index, RowBody& body) const;
  void FindExpiryIn(const Leaf& leaf, ExpirySearch& search) const;
  static bool RowLiveAt(const Leaf& leaf, size_t index, int64_t now_seconds);
  RowScratch ScratchOfDeletion(const Leaf& leaf, size_t index, WriteTimestamp timestamp) const;
  // Lays a deletion over rows [first, last) of a leaf; returns the live rows that went.
  uint64_t CoverRows(LeafRef& at, size_t first, size_t last, const Tombstone& tombstone,
                     int64_t now_seconds);
  uint64_t CoverRange(const ClusteringRange& range, const Tombstone& tombstone,
                      int64_t now_seconds);
  // Takes leaves out that are in the range as a whole, of a tree that is not empty, where the
  // deletion takes all rows of the partition that are in it.
  void CutLeavesWithin(const ClusteringRange& range, const Tombstone& tombstone);
  size_t FreeCutLeaves(size_t budget);
  // Whether a partition or range tombstone lies over a write to `key`. Those that are over do not,
  // and go.
  bool Hides(ClusteringKeyView key, const WriteContext& write);
  // Forgets tombstones that are over; of ranges a few, where reclamation takes the others. Those
  // over a key are asked for by themselves.
  void PurgeTombstones(int64_t now_seconds, bool all_ranges = false);
  void PurgeRangeAt(ClusteringKeyView key, int64_t now_seconds);
  // Upserts of one row, at least two.
  void UpsertTogether(std::span<const RowUpdate* const> updates, const WriteContext& write);
  // Behind a merge: a tombstone may lie just before the write, over what made way for it.
  void CoverWhatMadeWay(const RowUpdate& update, const WriteContext& write);
  void ReclaimLeaf(LeafRef at, int64_t now_seconds);
  // Erases the live rows of a leaf, which are all simple, that have `value`; returns how many.
  uint64_t EraseSimpleRowsWithValue(LeafRef at, std::string_view value, const WriteContext& write);
  // Of a leaf whose rows are all simple and leave no shadow.
  void EraseExpired(LeafRef& at, int64_t now_seconds);
  // The simple row `index` is over, and its value goes.
  void NoteExpired(const Leaf& leaf, size_t index) {
    if (context_.expiries != nullptr) [[unlikely]] {
      NoteExpired(leaf.key(index), leaf.payload(index), leaf.meta(index).expiry);
    }
  }
  void NoteExpired(ClusteringKeyView key, std::string_view value, int64_t at_seconds);
  // What a row has made of the scratch.
  void NoteScratch(const RowBody& body) const {
    context_.has_large_scratch |= body.cells().size() > PartitionContext::kScratchCellsKept ||
                                  context_.payload.size() > PartitionContext::kScratchBytesKept;
  }
  // Purges context_.body, which is the row of `key`, and tells of a value that went.
  bool PurgeBody(ClusteringKeyView key, int64_t now_seconds);

  // --- The static row: partition_static.cc
  void UpsertStatic(std::span<const RowUpdate* const> updates, const WriteContext& write);
  // Lays a deletion of the whole partition, which is large, over it.
  void CoverStatic(const WriteContext& write);
  void PutStatic(int64_t now_seconds);
  void ReclaimStatic(int64_t now_seconds);
  void SendStatic(int64_t now_seconds, RowSink& sink) const;
  void FindStaticExpiry(ExpirySearch& search) const;
  void VerifyStatic() const;

  // The value index on a column of a large partition; nullptr: leaves are scanned.
  const ValueIndex* IndexOn(ColumnId column) const;
  // Where the leaves of a large partition are that may hold a value, from the back: all of them
  // where there is no index.
  std::vector<LeafTree::Position> LeavesThatMayHold(ColumnId column, std::string_view value) const;
  // The same by the index, in the order of the read.
  std::vector<LeafTree::Position> IndexedLeaves(const ValueIndex& index, std::string_view value,
                                                bool descending) const;
  std::optional<std::string_view> IndexedValue(const Leaf& leaf, size_t index,
                                               ColumnId column) const;
  void IndexRow(const Leaf& leaf, size_t index);
  void UnindexRows(const Leaf& leaf, size_t first, size_t last);
  void RenameIndexed(const Leaf& leaf, uint32_t from_leaf_id);
  // Of the rows that are there, with room for `rows` together.
  void BuildIndexes(size_t rows);

  PartitionContext& context_;
  uint64_t& reference_;
};

template <typename Visitor>
void Partition::ForEachLeaf(Visitor&& visit) const {
  if (!large()) {
    visit(Leaf(BlockOf(reference_)));
    return;
  }
  const LeafTree& tree = LargeOf(reference_).tree;
  if (tree.empty()) return;
  LeafTree::Position at = tree.First();
  do {
    visit(tree.leaf(at));
  } while (tree.Next(at));
}

template <typename Visitor>
void Partition::ForEachRow(Visitor&& visit) const {
  ForEachLeaf([&](const Leaf& leaf) {
    for (size_t i = 0; i < leaf.size(); ++i) {
      DecodeRow(leaf, i, context_.body);
      const RowBody& body = context_.body;
      visit(StoredRow{leaf.key(i), body.marker(), body.tombstone(), body.cells()});
    }
  });
}

template <typename Visitor>
void Partition::ForEachRowBehind(const std::optional<std::string>& key, Visitor&& visit) const {
  const auto rows_of = [&](const Leaf& leaf) {
    for (size_t i = 0; i < leaf.size(); ++i) {
      if (key && CompareKeys(leaf.key(i), {*key, /*packed=*/false}) <= 0) continue;
      DecodeRow(leaf, i, context_.body);
      const RowBody& body = context_.body;
      if (!visit(StoredRow{leaf.key(i), body.marker(), body.tombstone(), body.cells()}))
        return false;
    }
    return true;
  };
  if (!large()) {
    rows_of(Leaf(BlockOf(reference_)));
    return;
  }
  const LeafTree& tree = LargeOf(reference_).tree;
  if (tree.empty()) return;
  LeafTree::Position at = key ? tree.Find(ClusteringKeyView{*key, false}) : tree.First();
  while (rows_of(tree.leaf(at)) && tree.Next(at)) {
  }
}

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_PARTITION_H_
