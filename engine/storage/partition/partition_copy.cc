// A partition once more.
#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

uint64_t Partition::Copy(uint32_t epoch) const {
  memory::Arena& arena = context_.arena;
  if (!large()) {
    char* const block = Leaf::Copy(arena, BlockOf(reference_), memory::Arena::Mobility::kMovable);
    Leaf(block).header().epoch_or_leaf_id = epoch;
    context_.rows += Leaf(block).size();
    context_.held.rows += RowTombstones(Leaf(block), 0, Leaf(block).size());
    return MovedReference(reference_, block);
  }
  const LargePartition& from = LargeOf(reference_);
  LargePartition& to = *LargePartition::Create(arena, from.key(), epoch);
  to.wheel_when = from.wheel_when;
  to.cache_bits = from.cache_bits;
  to.complex_bytes_width = from.complex_bytes_width;
  to.complex_cells_width = from.complex_cells_width;
  to.fresh_until_seconds = from.fresh_until_seconds;
  to.max_timestamp = from.max_timestamp;
  to.tombstone = from.tombstone;
  to.ranges.CopyFrom(from.ranges);
  to.static_row.CopyFrom(arena, from.static_row);
  to.indexes.reserve(from.indexes.size());
  for (const ValueIndex& index : from.indexes) to.indexes.emplace_back(arena).CopyFrom(index);
  // Leaves keep their ids, by which the indexes know them.
  to.leaf_blocks = from.leaf_blocks;
  to.first_free_leaf_id = from.first_free_leaf_id;
  to.free_leaf_ids = from.free_leaf_ids;
  if (!from.tree.empty()) {
    LeafTree::Position at = from.tree.First();
    LeafTree::Position last;
    do {
      char* const block =
          Leaf::Copy(arena, from.tree.leaf(at).block(), memory::Arena::Mobility::kFixed);
      const Leaf leaf(block);
      to.leaf_blocks[leaf.header().epoch_or_leaf_id] = block;
      last = to.tree.InsertAfter(last, block);
      to.row_count += leaf.size();
      context_.held.rows += RowTombstones(leaf, 0, leaf.size());
    } while (from.tree.Next(at));
  }
  context_.rows += to.row_count;
  context_.held.ranges += to.ranges.size();
  context_.held.partitions += to.tombstone.present() ? 1 : 0;
  // What was cut out is not there any more: it goes with the other one.
  uint64_t reference = LargeReference(&to);
  Partition copy(context_, reference);
  from.tree.ForEachCut([&](const Leaf& leaf) {
    copy.UnindexRows(leaf, 0, leaf.size());
    to.FreeLeafId(leaf.header().epoch_or_leaf_id);
  });
  return reference;
}

size_t Partition::CopyBytes() const {
  if (!large()) return Leaf(BlockOf(reference_)).CopyBytes();
  const LargePartition& from = LargeOf(reference_);
  size_t bytes = memory::Arena::BlockBytes(LargePartition::BytesFor(from.key_size)) +
                 RangeTombstones::CopyBytes(from.ranges) + from.tree.CopyBytes() +
                 memory::Arena::BlockBytes(from.indexes.size() * sizeof(ValueIndex)) +
                 // With what the list takes beside itself when it grows for the first time.
                 3 * memory::Arena::BlockBytes(from.leaf_blocks.size() * sizeof(char*)) +
                 memory::Arena::BlockBytes(from.static_row.block_bytes());
  for (const ValueIndex& index : from.indexes) bytes += ValueIndex::CopyBytes(index);
  ForEachLeaf([&](const Leaf& leaf) { bytes += leaf.CopyBytes(); });
  return bytes;
}

}  // namespace liststore::storage
