// What the value indexes of a large partition hear of its rows.
#include <optional>
#include <span>
#include <string_view>

#include "engine/storage/partition/partition.h"

namespace liststore::storage {

std::optional<std::string_view> Partition::IndexedValue(const Leaf& leaf, size_t index,
                                                        ColumnId column) const {
  if (!leaf.meta(index).complex() && context_.schema.regular.size() == 1)
    return leaf.payload(index);
  DecodeRow(leaf, index, context_.other_body);
  const RowBody::Cell* cell = context_.other_body.LiveCell(column);
  if (cell == nullptr) return std::nullopt;
  return cell->view.value;
}

void Partition::IndexRow(const Leaf& leaf, size_t index) {
  if (!large()) return;
  LargePartition& partition = LargeOf(reference_);
  if (!partition.indexed()) return;
  for (size_t i = 0; i < partition.indexes.size(); ++i) {
    const auto value = IndexedValue(leaf, index, context_.schema.indexes[i].column);
    if (value) partition.indexes[i].Add(ValueHash(*value), leaf.header().epoch_or_leaf_id);
  }
}

void Partition::PrefetchIndexed(std::span<const RowUpdate> rows) const {
  const LargePartition& partition = LargeOf(reference_);
  if (!partition.indexed()) return;
  const ColumnId column = context_.schema.indexes[0].column;
  for (const RowUpdate& row : rows) {
    for (const CellUpdate& cell : row.cells) {
      if (cell.column == column) partition.indexes[0].Prefetch(ValueHash(cell.value));
    }
  }
}

void Partition::UnindexRows(const Leaf& leaf, size_t first, size_t last) {
  if (!large()) return;
  LargePartition& partition = LargeOf(reference_);
  for (size_t i = 0; i < partition.indexes.size(); ++i) {
    const ColumnId column = context_.schema.indexes[i].column;
    for (size_t row = first; row < last; ++row) {
      const auto value = IndexedValue(leaf, row, column);
      if (!value) continue;
      // One entry stands for every row of the leaf with this hash; it goes with the last of them.
      // Fingerprints are those of the first index, so that they rule rows out for that one only.
      const uint32_t hash = ValueHash(*value);
      const uint16_t fingerprint = leaf.meta(row).fingerprint;
      bool shared = false;
      const bool whole_leaf = first == 0 && last == leaf.size();
      for (size_t j = whole_leaf ? last : 0; j < leaf.size() && !shared; ++j) {
        if ((j >= first && j < last) || (i == 0 && leaf.meta(j).fingerprint != fingerprint))
          continue;
        const auto other = IndexedValue(leaf, j, column);
        shared = other && ValueHash(*other) == hash;
      }
      if (!shared) partition.indexes[i].Remove(hash, leaf.header().epoch_or_leaf_id);
    }
  }
}

void Partition::RenameIndexed(const Leaf& moved, uint32_t from_leaf_id) {
  LargePartition& partition = LargeOf(reference_);
  if (!partition.indexed()) return;
  const Leaf from(partition.leaf_blocks[from_leaf_id]);
  for (size_t i = 0; i < partition.indexes.size(); ++i) {
    ValueIndex& index = partition.indexes[i];
    const ColumnId column = context_.schema.indexes[i].column;
    for (size_t row = 0; row < moved.size(); ++row) {
      const auto value = IndexedValue(moved, row, column);
      if (!value) continue;
      index.Rename(ValueHash(*value), from_leaf_id, moved.header().epoch_or_leaf_id);
    }
    // Values that stayed behind as well get their entry back.
    for (size_t row = 0; row < from.size(); ++row) {
      const auto value = IndexedValue(from, row, column);
      if (value) index.Add(ValueHash(*value), from_leaf_id);
    }
  }
}

void Partition::BuildIndexes(size_t rows) {
  LargePartition& partition = LargeOf(reference_);
  for (size_t i = 0; i < context_.schema.indexes.size(); ++i) {
    partition.indexes.emplace_back(context_.arena).Reserve(rows);
  }
  if (partition.tree.empty()) return;
  LeafTree::Position at = partition.tree.First();
  do {
    const Leaf leaf = partition.tree.leaf(at);
    for (size_t row = 0; row < leaf.size(); ++row) IndexRow(leaf, row);
  } while (partition.tree.Next(at));
}

}  // namespace liststore::storage
