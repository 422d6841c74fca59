// What the rows of a write bring to a partition: for the bound of what they take, and the room made
// for them.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_UPSERT_LOAD_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_UPSERT_LOAD_H_

#include <cstddef>
#include <optional>
#include <span>

#include "engine/model/hot_row.h"
#include "engine/model/mutation.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

// A bound of what a row takes in a leaf in whatever form it ends, what it meets there included.
size_t RowBytesMax(const TableSchema& schema, const RowUpdate& row);

// The same in whatever form of a row of a table with one column, from the length of its key, in text
// where that is longer, and of its value.
constexpr size_t RowBytesMax(size_t key_bytes, size_t value_bytes) {
  return sizeof(RowMeta) + 2 + key_bytes + value_bytes + Partition::kComplexOverheadBytes * 3;
}

Partition::Load LoadOf(const TableSchema& schema, std::span<const RowUpdate> rows,
                       const WriteContext& write);
// Of rows that are put in again, each under its own times; nullopt: some are long, or their metas
// cannot hold their times.
std::optional<Partition::Load> LoadOf(const TableSchema& schema, std::span<const HotRow> rows);
// Of a row that is put where none is.
size_t RowBytesMax(const StoredRow& row);
Partition::Load LoadOf(const StoredRow& row);
Partition::Load LoadOfDeletions(const TableSchema& schema, std::span<const ClusteringKeyView> keys);

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_UPSERT_LOAD_H_
