#include "engine/storage/partition/upsert_load.h"

#include <algorithm>

namespace liststore::storage {
namespace {

// Whether an update makes a row of the hot shape, and what it takes in a leaf, its meta included.
bool IsHot(const TableSchema& schema, const RowUpdate& row, const WriteContext& write) {
  return schema.regular.size() == 1 && row.marker && row.cells.size() == 1 && row.cells[0].live &&
         row.cells[0].path.empty() && row.key.packed == schema.packs_item_keys() &&
         Partition::FitsMeta({write.timestamp, row.expiry_seconds, row.ttl_seconds});
}
size_t HotRowBytes(const RowUpdate& row) {
  return sizeof(RowMeta) + (row.key.packed ? 0 : 2) + row.key.bytes.size() +
         row.cells[0].value.size();
}

}  // namespace

size_t RowBytesMax(const TableSchema& schema, const RowUpdate& row) {
  size_t bytes = sizeof(RowMeta) + 2 + (row.key.packed ? kItemKeyTextBytes : row.key.bytes.size());
  size_t elements = 0;
  for (const CellUpdate& cell : row.cells) {
    bytes += cell.value.size() + cell.path.size();
    if (!cell.path.empty()) ++elements;
  }
  const size_t columns = row.of_static_row ? schema.statics.size() : schema.regular.size();
  return bytes + Partition::kComplexOverheadBytes * (columns + elements + 2);
}

Partition::Load LoadOf(const TableSchema& schema, std::span<const RowUpdate> rows,
                       const WriteContext& write) {
  Partition::Load load;
  load.rows = rows.size();
  for (const RowUpdate& row : rows) {
    const bool hot = IsHot(schema, row, write);
    if (!hot && row.of_static_row) {  // no row of a leaf: see UpsertBytes
      load.hot = false;
      --load.rows;
      continue;
    }
    const size_t most = hot ? RowBytesMax(row.key.packed ? kItemKeyTextBytes : row.key.bytes.size(),
                                          row.cells[0].value.size())
                            : RowBytesMax(schema, row);
    load.hot &= hot;
    load.all_short &= most <= kInlineRowBytesMax;
    load.bytes += std::min(hot ? HotRowBytes(row) : most, kInlineRowBytesMax);
    load.growth_bytes += std::min(most, 2 * kInlineRowBytesMax);
  }
  return load;
}

std::optional<Partition::Load> LoadOf(const TableSchema& schema, std::span<const HotRow> rows) {
  if (schema.regular.size() != 1) return std::nullopt;
  Partition::Load load;
  load.rows = rows.size();
  WriteTimestamp first = rows.empty() ? WriteTimestamp() : rows[0].liveness.timestamp;
  WriteTimestamp last = first;
  for (const HotRow& row : rows) {
    if (!Partition::FitsMeta(row.liveness) || row.key.packed != schema.packs_item_keys()) {
      return std::nullopt;
    }
    const size_t key_bytes = row.key.packed ? kItemKeyTextBytes : row.key.bytes.size();
    const size_t most = RowBytesMax(key_bytes, row.value.size());
    if (most > kInlineRowBytesMax) return std::nullopt;
    load.growth_bytes += most;
    load.bytes +=
        sizeof(RowMeta) + (row.key.packed ? 0 : 2) + row.key.bytes.size() + row.value.size();
    first = std::min(first, row.liveness.timestamp);
    last = std::max(last, row.liveness.timestamp);
  }
  // Timestamps too far apart for one leaf make rows longer.
  load.hot = static_cast<uint64_t>(last.micros) - static_cast<uint64_t>(first.micros) <=
             RowMeta::kDeltaMax;
  return load;
}

size_t RowBytesMax(const StoredRow& row) {
  size_t bytes = sizeof(RowMeta) + 2 + (row.key.packed ? kItemKeyTextBytes : row.key.bytes.size());
  for (const StoredCell& cell : row.cells) bytes += cell.view.value.size() + cell.path.size();
  return bytes + Partition::kComplexOverheadBytes * (row.cells.size() + 2);
}

Partition::Load LoadOf(const StoredRow& row) {
  const size_t most = RowBytesMax(row);
  Partition::Load load;
  load.rows = 1;
  load.hot = false;
  load.all_short = most <= kInlineRowBytesMax;
  load.bytes = std::min(most, kInlineRowBytesMax);
  load.growth_bytes = std::min(most, 2 * kInlineRowBytesMax);
  return load;
}

Partition::Load LoadOfDeletions(const TableSchema& schema,
                                std::span<const ClusteringKeyView> keys) {
  Partition::Load load;
  load.rows = keys.size();
  load.hot = false;
  for (const ClusteringKeyView& key : keys) {
    RowUpdate row;
    row.key = key;
    load.growth_bytes += std::min(RowBytesMax(schema, row), 2 * kInlineRowBytesMax);
  }
  load.bytes = load.growth_bytes;
  return load;
}

}  // namespace liststore::storage
