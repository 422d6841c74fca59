// What a write says about one partition, in storage's terms. Plain data with borrowed bytes.
#ifndef LISTSTORE_ENGINE_MODEL_MUTATION_H_
#define LISTSTORE_ENGINE_MODEL_MUTATION_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"
#include "engine/model/table_schema.h"

namespace liststore {

// The most that a row may take, in bytes: its values, the paths of its elements, and what is kept
// beside each (27 bytes of a value, 19 of a null, 4 more of an element), and 41 bytes of its own;
// its key not counted. A static row is a row. As much as an answer may have (execute, kResultBytesMax):
// a larger row could not be read whole. Storage keeps lengths in 32 bits.
inline constexpr uint64_t kRowBytesMax = uint64_t{200} << 20;

struct CellUpdate {
  ColumnId column = 0;
  bool live = true;  // false: the column, or element, is set to null (a dead cell)
  // Of a dead cell of a column: as of just before the write, so that elements of the same write
  // stay.
  bool makes_way = false;
  std::string_view value = {};
  // Of an element of a column that has several: which (model/cell_path.h). Empty: the cell is the
  // column's own. A dead one of those covers the elements of its column, as a tombstone does rows.
  std::string_view path = {};
};

// INSERT or UPDATE of one row, or of the cells that all rows of the partition share.
struct RowUpdate {
  ClusteringKeyView key;
  bool marker = true;                  // INSERT writes a row marker, UPDATE does not
  bool of_static_row = false;          // `key` does not count, and there is no marker
  int64_t ttl_seconds = 0;             // 0: lasts (the table's default was applied by the caller)
  int64_t expiry_seconds = kNoExpiry;  // kNoExpiry exactly when ttl_seconds is 0
  // Ascending by column, and none twice but columns of elements: those come in any order, and
  // reconcile where they meet.
  std::span<const CellUpdate> cells = {};
};

// Under what timestamp and at what time a mutation is applied.
struct WriteContext {
  WriteTimestamp timestamp;
  int64_t now_seconds = 0;
  // The timestamp came from outside (a client), so that it may go back. A table that never sees one
  // needs no tombstones and no shadows of expired cells: see Table.
  bool foreign_timestamp = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_MUTATION_H_
