#include "engine/shard/table_fit.h"

#include <algorithm>

#include "engine/model/packed_item_key.h"

namespace liststore::shard {
namespace {

// Packed where it can be, and only there.
bool FitsKey(const TableSchema& schema, ClusteringKeyView key) {
  if (!schema.packs_item_keys()) return !key.packed;
  if (key.packed || key.bytes.size() != kItemKeyTextBytes) return true;
  PackedItemKey packed;
  return !PackItemKey(key.bytes, packed.data());
}

// Ascending, and there.
template <typename Cell>
bool FitCells(size_t columns, std::span<const Cell> cells) {
  ColumnId least = 0;
  for (const Cell& cell : cells) {
    if (cell.column >= columns || cell.column < least) return false;
    least = cell.column;
  }
  return true;
}

bool FitsRow(const TableSchema& schema, const RowUpdate& row) {
  if (row.of_static_row) return FitCells(schema.statics.size(), row.cells);
  return FitCells(schema.regular.size(), row.cells) && FitsKey(schema, row.key);
}

}  // namespace

bool FitsTable(const TableSchema& schema, const commitlog::RecordedWrite& write) {
  switch (write.kind) {
    case commitlog::BodyKind::kUpsert:
    case commitlog::BodyKind::kPut:
      return std::ranges::all_of(write.rows,
                                 [&](const RowUpdate& row) { return FitsRow(schema, row); });
    case commitlog::BodyKind::kDeleteRows:
      return std::ranges::all_of(write.keys,
                                 [&](ClusteringKeyView key) { return FitsKey(schema, key); });
    default:
      return true;
  }
}

bool FitsTable(const TableSchema& schema, const StoredPartition& partition,
               std::span<const StoredRow> rows) {
  return FitCells(schema.statics.size(), partition.static_cells) &&
         std::ranges::all_of(rows, [&](const StoredRow& row) {
           return FitCells(schema.regular.size(), row.cells) && FitsKey(schema, row.key);
         });
}

bool FitsTable(const TableSchema& schema, const StoredPartition& partition,
               std::span<const HotRow>) {
  return schema.packs_item_keys() && !schema.regular.empty() &&
         FitCells(schema.statics.size(), partition.static_cells);
}

}  // namespace liststore::shard
