// Whether what was written down fits the table that it is put into: its columns, and the form of its keys.
// Checksums have been compared: this keeps a file that was made wrong from breaking a table's invariants.
#ifndef LISTSTORE_ENGINE_SHARD_TABLE_FIT_H_
#define LISTSTORE_ENGINE_SHARD_TABLE_FIT_H_

#include <cstddef>
#include <span>

#include "engine/commitlog/record_decoder.h"
#include "engine/model/hot_row.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"

namespace liststore::shard {

// O(rows and cells).
bool FitsTable(const TableSchema& schema, const commitlog::RecordedWrite& write);
bool FitsTable(const TableSchema& schema, const StoredPartition& partition,
               std::span<const StoredRow> rows);
bool FitsTable(const TableSchema& schema, const StoredPartition& partition,
               std::span<const HotRow> rows);

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_TABLE_FIT_H_
