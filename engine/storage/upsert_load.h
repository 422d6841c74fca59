// What the rows of a write bring to a partition, for the estimate of what they may take.
#ifndef LISTSTORE_ENGINE_STORAGE_UPSERT_LOAD_H_
#define LISTSTORE_ENGINE_STORAGE_UPSERT_LOAD_H_

#include <cstddef>
#include <span>
#include <vector>

#include "engine/model/mutation.h"
#include "engine/model/table_schema.h"
#include "engine/storage/partition.h"

namespace liststore {

// A bound of what a row takes in a leaf in whatever form it ends, what it meets there included.
size_t RowBytesMax(const TableSchema& schema, const RowUpdate& row);

Partition::Load LoadOf(const TableSchema& schema, std::span<const RowUpdate> rows,
                       const WriteContext& write);
Partition::Load LoadOfDeletions(const TableSchema& schema, std::span<const ClusteringKeyView> keys);

// For each row the bytes of all rows of its key, in worst form; empty when no key comes twice.
std::vector<size_t> BytesOfEqualKeys(const TableSchema& schema, std::span<const RowUpdate> rows);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_STORAGE_UPSERT_LOAD_H_
