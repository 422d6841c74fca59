// What a write says about one partition, in storage's terms. Plain data with borrowed bytes.
#ifndef LISTSTORE_ENGINE_MODEL_MUTATION_H_
#define LISTSTORE_ENGINE_MODEL_MUTATION_H_

#include <algorithm>
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
// The most values, elements of its collections and nulls that are kept that it may have. Whoever changes
// one of them has all of them in hand, and others wait meanwhile: some milliseconds.
inline constexpr uint64_t kRowCellsMax = 65'536;

// The most cells of rows that are there that one write, or batch, may look at, or write again: those of each row of
// more than some hundred that it changes, once for each timestamp, and once more for each statement that
// sets a column to null in a row that it has changed before. Others wait for its lanes meanwhile.
inline constexpr uint64_t kCellsRewrittenMax = uint64_t{1} << 20;

// Why a row is too large for a write: what it would have too much of, or what rows have together that would
// be written again. The others are 0.
struct RowSize {
  uint64_t bytes = 0;
  uint64_t cells = 0;
  uint64_t rewritten_cells = 0;
  uint64_t looked_at_bytes = 0;  // before it was decided, or for what follows
  uint64_t looked_at_bytes_max = 0;

  bool any() const {
    return bytes != 0 || cells != 0 || rewritten_cells != 0 || looked_at_bytes != 0;
  }
};

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

// It sets a whole column to null.
inline bool NullsAColumn(const RowUpdate& update) {
  return std::ranges::any_of(
      update.cells, [](const CellUpdate& cell) { return !cell.live && cell.path.empty(); });
}

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
