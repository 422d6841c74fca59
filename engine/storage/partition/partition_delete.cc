// What deletions do to a partition, and what writes have to know beforehand of the rows that are there.
// Rules: docs/data_model.md.
#include <algorithm>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

uint64_t Partition::CoverRows(LeafRef& at, size_t first, size_t last, const Tombstone& tombstone,
                              int64_t now_seconds) {
  uint64_t removed = 0;
  // From the back, so that erased rows do not move those still to come. Neighbours that go together
  // are erased together.
  size_t index = last;
  size_t erase_end = last;  // rows [index, erase_end) wait to be erased
  const auto erase_waiting = [&](size_t begin) {
    if (begin < erase_end) EraseRows(at, begin, erase_end);
  };
  while (index > first) {
    const Leaf leaf(at.block);
    const size_t row = index - 1;
    const bool live = RowLiveAt(leaf, row, now_seconds);
    const bool simple = !leaf.meta(row).complex();
    if (simple) {
      const bool covered = tombstone.Covers(leaf.timestamp(row));
      // What is over and leaves no shadow is gone, whatever its times.
      const bool gone = !live && (context_.grace.grace_seconds == 0 ||
                                  context_.grace.Gone(leaf.liveness(row), now_seconds));
      if (covered || gone) {
        if (!live) NoteExpired(leaf, row);
        if (!covered) ++context_.expired_rows;
        removed += live ? 1 : 0;
        --index;
        continue;
      }
    }
    erase_waiting(index);
    if (at.block == nullptr) break;
    erase_end = row;
    index = row;
    if (simple) continue;  // written later than the deletion
    DecodeRow(Leaf(at.block), row, context_.body);
    bool changed = PurgeBody(Leaf(at.block).key(row), now_seconds);
    if (context_.body.empty()) ++context_.expired_rows;
    const size_t before = context_.body.ComplexBytes();
    context_.body.Cover(tombstone.timestamp);
    changed |= context_.body.ComplexBytes() != before;
    // A row whose event has come is put again all the same: its next event is a later one.
    if (!changed && !EventCame(Leaf(at.block).meta(row).expiry, now_seconds)) continue;
    removed += live && !context_.body.LiveAt(now_seconds) ? 1 : 0;
    // One that has ended but still shadows stays complex, whatever its shape: its event is not its
    // expiry.
    const bool shadow = !context_.body.LiveAt(now_seconds);
    PutBody(at, row, true, Leaf(at.block).key(row), now_seconds, shadow, true);
    if (at.block == nullptr) return removed;
  }
  erase_waiting(index);
  return removed;
}

void Partition::CutLeavesWithin(const ClusteringRange& range, const Tombstone& tombstone) {
  LargePartition& partition = LargeOf(reference_);
  // Else some rows may stay, or be told of.
  if (partition.max_timestamp > tombstone.timestamp || context_.expiries != nullptr) return;
  // Indexes that are built later would not know the rows that are freed then.
  if (!context_.schema.indexes.empty() && !partition.indexed()) return;
  partition.tree.CutBetween(partition.tree.Find(range.lower), partition.tree.Find(range.upper));
}

size_t Partition::FreeCutLeaves(size_t budget) {
  LargePartition& partition = LargeOf(reference_);
  size_t leaves = 0;
  while (leaves < budget) {
    char* const block = partition.tree.TakeCut();
    if (block == nullptr) break;
    ++leaves;
    Leaf leaf(block);
    UnindexRows(leaf, 0, leaf.size());
    context_.rows -= leaf.size();
    partition.row_count -= leaf.size();
    context_.held.rows -= RowTombstones(leaf, 0, leaf.size());
    partition.FreeLeafId(leaf.header().epoch_or_leaf_id);
    leaf.FreeExternals(context_.arena);
    context_.arena.Free(block, leaf.block_bytes());
  }
  return leaves;
}

uint64_t Partition::CoverRange(const ClusteringRange& range, const Tombstone& tombstone,
                               int64_t now_seconds) {
  if (!large()) {
    LeafRef at{BlockOf(reference_), {}};
    const Leaf leaf(at.block);
    const size_t last = leaf.LowerBound(range.upper);
    const size_t first = std::min(leaf.LowerBound(range.lower), last);
    return CoverRows(at, first, last, tombstone, now_seconds);
  }
  uint64_t removed = 0;
  LargePartition& partition = LargeOf(reference_);
  if (partition.tree.empty() || range.lower.at_end) return 0;
  // From the back: removing and merging leaves moves only positions behind.
  LeafTree::Position position = partition.tree.Find(range.upper);
  for (;;) {
    const Leaf leaf = partition.tree.leaf(position);
    LeafRef at{leaf.block(), position};
    const size_t last = leaf.LowerBound(range.upper);
    const size_t first = std::min(leaf.LowerBound(range.lower), last);
    LeafTree::Position previous = position;
    const bool more = first == 0 && partition.tree.Previous(previous);
    removed += CoverRows(at, first, last, tombstone, now_seconds);
    if (!more || partition.tree.empty()) return removed;
    position = previous;
  }
}

uint64_t Partition::DeleteRow(ClusteringKeyView key, const WriteContext& write) {
  const Tombstone tombstone{write.timestamp, write.now_seconds};
  if (Hides(key, write)) return 0;
  const bool keep = !context_.grace.Gone(tombstone, write.now_seconds);
  LeafRef at = FindLeaf(key);
  size_t index = 0;
  bool found = false;
  if (at.block != nullptr) {
    const Leaf leaf(at.block);
    index = leaf.LowerBound(key);
    found = leaf.KeyIs(index, key);
  }
  if (!found && !keep) return 0;
  if (found && !keep) return CoverRows(at, index, index + 1, tombstone, write.now_seconds);
  uint64_t removed = 0;
  bool is_left = true;  // nothing there has its effect already
  if (found) {
    DecodeRow(Leaf(at.block), index, context_.body);
    PurgeBody(key, write.now_seconds);
    const bool live = context_.body.LiveAt(write.now_seconds);
    if (context_.body.tombstone().present() &&
        Tombstone::Stronger(context_.body.tombstone(), tombstone) == context_.body.tombstone()) {
      return 0;
    }
    is_left = !context_.body.tombstone().Covers(write.timestamp);
    const Tombstone kept = context_.body.tombstone().present()
                               ? Tombstone::Stronger(context_.body.tombstone(), tombstone)
                               : tombstone;
    context_.body.Cover(write.timestamp);
    context_.body.KeepTombstone(kept);
    removed = live && !context_.body.LiveAt(write.now_seconds) ? 1 : 0;
  } else {
    context_.body.Clear();
    context_.body.KeepTombstone(tombstone);
  }
  PutBody(at, index, found, key, write.now_seconds);
  if (is_left) ++context_.tombstones;
  return removed;
}

uint64_t Partition::EraseSimpleRowsWithValue(LeafRef at, std::string_view value,
                                             const WriteContext& write) {
  const Tombstone tombstone{write.timestamp, write.now_seconds};
  const uint16_t fingerprint = ValueFingerprint(value);
  uint64_t removed = 0;
  // From the back: rows that are erased do not move those still to come.
  for (size_t i = Leaf(at.block).size(); i-- > 0 && at.block != nullptr;) {
    const Leaf leaf(at.block);
    if (leaf.meta(i).fingerprint != fingerprint || leaf.payload(i) != value) continue;
    if (!RowLiveAt(leaf, i, write.now_seconds)) continue;
    removed += CoverRows(at, i, i + 1, tombstone, write.now_seconds);
  }
  return removed;
}

std::optional<uint64_t> Partition::DeleteSimpleRowsWithValue(ColumnId column,
                                                             std::string_view value,
                                                             const WriteContext& write) {
  LS_DCHECK(context_.grace.Gone(Tombstone{write.timestamp, write.now_seconds}, write.now_seconds),
            "nothing is kept of the deletion");
  const TableSchema& schema = context_.schema;
  if (schema.regular.size() != 1 || schema.indexes.empty() || schema.indexes[0].column != column) {
    return std::nullopt;
  }
  if (!large()) {
    if (!Leaf(BlockOf(reference_)).all_simple()) return std::nullopt;
    return EraseSimpleRowsWithValue({BlockOf(reference_), {}}, value, write);
  }
  const LeafTree& tree = LargeOf(reference_).tree;
  const std::vector<LeafTree::Position> positions = LeavesThatMayHold(column, value);
  for (const LeafTree::Position& position : positions) {
    if (!tree.leaf(position).all_simple()) return std::nullopt;
  }
  uint64_t removed = 0;
  // Removing and merging leaves moves only positions behind.
  for (const LeafTree::Position& position : positions) {
    removed += EraseSimpleRowsWithValue({tree.leaf(position).block(), position}, value, write);
  }
  return removed;
}

uint64_t Partition::DeleteRange(const ClusteringRange& range, const WriteContext& write,
                                bool counts) {
  const Tombstone tombstone{write.timestamp, write.now_seconds};
  // A later one that is over must not stand in its way.
  PurgeTombstones(write.now_seconds,
                  large() && !LargeOf(reference_).ranges.AllBefore(write.timestamp));
  if (large() && LargeOf(reference_).tombstone.Covers(write.timestamp)) return 0;
  if (!counts && large() && !LargeOf(reference_).tree.empty() && !range.lower.at_end) {
    CutLeavesWithin(range, tombstone);
  }
  const uint64_t removed = CoverRange(range, tombstone, write.now_seconds);
  if (!context_.grace.Gone(tombstone, write.now_seconds)) {
    if (!large()) MakeLarge();
    RangeTombstones& ranges = LargeOf(reference_).ranges;
    const size_t before = ranges.size();
    if (ranges.Add(range, tombstone, context_.ranges)) ++context_.tombstones;
    NoteRanges(before);
  }
  return removed;
}

uint64_t Partition::DeleteAll(const WriteContext& write, bool counts) {
  const Tombstone tombstone{write.timestamp, write.now_seconds};
  PurgeTombstones(write.now_seconds);
  if (!counts && large() && !LargeOf(reference_).tree.empty()) CutLeavesWithin({}, tombstone);
  // The others stay: a deletion of many rows that came before it, in parts, has laid them bare.
  ClusteringRange older;
  older.lower = YoungerFromBegin(write.timestamp);
  const uint64_t removed = CoverRange(older, tombstone, write.now_seconds);
  if (large()) {
    RangeTombstones& ranges = LargeOf(reference_).ranges;
    const size_t before = ranges.size();
    ranges.Cover(write.timestamp);
    NoteRanges(before);
    CoverStatic(write);
  }
  if (!context_.grace.Gone(tombstone, write.now_seconds)) {
    if (!large()) MakeLarge();
    LargePartition& partition = LargeOf(reference_);
    if (!partition.tombstone.Covers(write.timestamp)) ++context_.tombstones;
    if (!partition.tombstone.present()) ++context_.held.partitions;
    partition.tombstone = partition.tombstone.present()
                              ? Tombstone::Stronger(partition.tombstone, tombstone)
                              : tombstone;
  }
  return removed;
}

bool Partition::AllCoveredBy(WriteTimestamp timestamp) const {
  if (!large()) return false;  // as quick the ordinary way
  const LargePartition& partition = LargeOf(reference_);
  return !partition.tree.empty() && partition.max_timestamp <= timestamp &&
         partition.ranges.empty() && !partition.tombstone.Covers(timestamp);
}

// --- Rows that are there, before a write ---------------------------------------------------------

void Partition::DecodeStored(const RowUpdate& update, RowBody& body) const {
  body.Clear();
  if (update.of_static_row) {
    if (large()) LargeOf(reference_).static_row.Decode(body);
    return;
  }
  const LeafRef at = FindLeaf(update.key);
  if (at.block == nullptr) return;
  const Leaf leaf(at.block);
  const size_t index = leaf.LowerBound(update.key);
  if (leaf.KeyIs(index, update.key)) DecodeRow(leaf, index, body);
}

Partition::RowScratch Partition::ScratchOfDeletion(const Leaf& leaf, size_t index,
                                                   WriteTimestamp timestamp) const {
  RowScratch scratch;
  WriteTimestamp last;
  if (leaf.meta(index).complex()) {
    const RowBody::Outline row = RowBody::OutlineOf(leaf.payload(index), 0);
    scratch.cells = row.cells;
    last = row.max_timestamp;
  } else {
    scratch.cells = context_.schema.regular.size();
    last = leaf.timestamp(index);
  }
  if (last > timestamp) {
    scratch.bytes = leaf.key(index).bytes.size() + leaf.payload(index).size() +
                    kComplexOverheadBytes * (context_.schema.regular.size() + 2);
  } else {
    scratch.bytes = leaf.key(index).bytes.size();
  }
  return scratch;
}

Partition::RowScratch Partition::ScratchOfDeletion(ClusteringKeyView key,
                                                   WriteTimestamp timestamp) const {
  const LeafRef at = FindLeaf(key);
  if (at.block == nullptr) return {};
  const Leaf leaf(at.block);
  const size_t index = leaf.LowerBound(key);
  return leaf.KeyIs(index, key) ? ScratchOfDeletion(leaf, index, timestamp) : RowScratch{};
}

Partition::RowScratch Partition::ScratchOfDeletions(WriteTimestamp timestamp) const {
  RowScratch scratch;
  if (!large()) {
    const Leaf leaf(BlockOf(reference_));
    // What is simple goes or stays as it is.
    for (size_t i = 0; i < leaf.size() && !leaf.all_simple(); ++i) {
      if (leaf.meta(i).complex()) scratch.TakeLarger(ScratchOfDeletion(leaf, i, timestamp));
    }
    return scratch;
  }
  const LargePartition& partition = LargeOf(reference_);
  scratch.cells = (size_t{1} << partition.complex_cells_width) - 1;
  scratch.bytes = (size_t{1} << partition.complex_bytes_width) - 1 + kComplexOverheadBytes;
  scratch.cells += partition.static_row.block_bytes() / PartitionContext::kCellBytesMin;
  scratch.bytes += partition.static_row.block_bytes();
  if (partition.max_timestamp <= timestamp) scratch.bytes = 0;  // all that it meets goes
  return scratch;
}

Partition::StoredSize Partition::SizeOfStored(const RowUpdate& update) const {
  if (update.of_static_row) {
    if (!large()) return {};
    const StaticRow& row = LargeOf(reference_).static_row;
    return {row.block_bytes(), row.cell_count()};
  }
  const LeafRef at = FindLeaf(update.key);
  if (at.block == nullptr) return {};
  const Leaf leaf(at.block);
  // With one column, simple rows replace one another; they never grow by being merged.
  if (leaf.all_simple() && context_.schema.regular.size() <= 1) return {};
  const size_t index = leaf.LowerBound(update.key);
  if (!leaf.KeyIs(index, update.key)) return {};
  const std::string_view payload = leaf.payload(index);
  const size_t cells =
      leaf.meta(index).complex() ? RowBody::CellCountOf(payload) : context_.schema.regular.size();
  return {leaf.key(index).bytes.size() + payload.size(), cells};
}

}  // namespace liststore::storage
