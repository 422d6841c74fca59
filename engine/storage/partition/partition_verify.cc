// The invariants of a partition.
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

size_t Partition::Verify(TombstoneCounts* tombstones) const {
  LS_CHECK(!empty(), "(1) a partition holds something");
  TombstoneCounts found;
  const auto count_in = [&](const Leaf& leaf) {
    found.rows += RowTombstones(leaf, 0, leaf.size());
  };
  ForEachLeaf(count_in);
  if (large()) {
    const LargePartition& partition = LargeOf(reference_);
    partition.tree.ForEachCut(count_in);
    partition.ranges.ForEach([&](const ClusteringRange&, const Tombstone&) { ++found.ranges; });
    found.partitions = partition.tombstone.present() ? 1 : 0;
  }
  LS_CHECK(tombstone_counts() == found, "(4) tombstones are counted");
  if (tombstones != nullptr) *tombstones += found;
  if (!large()) {
    const Leaf leaf(BlockOf(reference_));
    leaf.Verify();
    LS_CHECK(SmallReference(leaf.block()) == reference_, "the reference points at the newest row");
    return leaf.size();
  }
  const LargePartition& partition = LargeOf(reference_);
  partition.tree.Verify();
  partition.ranges.Verify();
  VerifyStatic();
  size_t rows = 0;
  size_t leaves = 0;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> entries(partition.indexes.size());
  if (!partition.tree.empty()) {
    LeafTree::Position at = partition.tree.First();
    do {
      const Leaf leaf = partition.tree.leaf(at);
      LS_CHECK(partition.leaf_blocks[leaf.header().epoch_or_leaf_id] == leaf.block(),
               "leaf ids find leaves");
      ++leaves;
      for (size_t i = 0; i < leaf.size(); ++i) {
        ++rows;
        DecodeRow(leaf, i, context_.body);
        const Tombstone range = partition.ranges.At(leaf.key(i));
        const WriteTimestamp above = std::max(partition.tombstone.timestamp, range.timestamp);
        RowBody before = context_.body;
        context_.body.Cover(above);
        LS_CHECK(above.is_none() || before.MaxTimestamp() > above, "(2) no row is covered");
        for (size_t index = 0; index < entries.size(); ++index) {
          const auto value = IndexedValue(leaf, i, context_.schema.indexes[index].column);
          if (value) entries[index].push_back({ValueHash(*value), leaf.header().epoch_or_leaf_id});
        }
      }
    } while (partition.tree.Next(at));
  }
  partition.tree.ForEachCut([&](const Leaf& leaf) {
    leaf.Verify();
    LS_CHECK(partition.leaf_blocks[leaf.header().epoch_or_leaf_id] == leaf.block(),
             "leaf ids find leaves that were cut, too");
    ++leaves;
    rows += leaf.size();
    for (size_t i = 0; i < leaf.size(); ++i) {
      for (size_t index = 0; index < entries.size(); ++index) {
        const auto value = IndexedValue(leaf, i, context_.schema.indexes[index].column);
        if (value) entries[index].push_back({ValueHash(*value), leaf.header().epoch_or_leaf_id});
      }
    }
  });
  LS_CHECK(leaves + partition.free_leaf_ids == partition.leaf_blocks.size(),
           "every leaf id is used or free");
  LS_CHECK(rows == partition.row_count, "(4) rows are counted");
  for (size_t index = 0; index < entries.size(); ++index) {
    partition.indexes[index].Verify();
    std::sort(entries[index].begin(), entries[index].end());
    entries[index].erase(std::unique(entries[index].begin(), entries[index].end()),
                         entries[index].end());
    LS_CHECK(entries[index].size() == partition.indexes[index].size(), "(3) the index has no more");
    for (const auto& [hash, leaf_id] : entries[index]) {
      LS_CHECK(partition.indexes[index].Contains(hash, leaf_id), "(3) the index has every value");
    }
  }
  return rows;
}

}  // namespace liststore::storage
