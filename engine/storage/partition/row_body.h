// RowBody: one row taken apart, for merging, purging and re-encoding. The slow half of a row's
// life: the hot shape (a marker and live cells written together) never becomes one on the hot path.
//
// Encoded form of what is not simple, little-endian, unaligned:
//   flags 1 (marker, tombstone) | marker: timestamp 8, expiry 8, ttl 4 | tombstone: timestamp 8,
//   deletion 8 | cell count 4 | per cell: column 2, flags 1 (live, element), of an element: path
//   length 4, path; timestamp 8, then live: expiry 8, ttl 4, length 4, bytes; dead: deletion 8
// Payload of a simple row: the value itself in a table with one regular column; otherwise per cell:
// column 2, length 4, bytes.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_ROW_BODY_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_ROW_BODY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "engine/model/cell.h"
#include "engine/model/mutation.h"
#include "engine/model/row_view.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"

namespace liststore::storage {

// Values are borrowed: from the leaf a body was decoded from, and from updates merged into it.
class RowBody {
 public:
  using Cell = StoredCell;

  void Clear();
  // Clears it, and gives its memory back.
  void Free();
  // Room for so many cells.
  void Reserve(size_t cells) { cells_.reserve(cells); }
  size_t capacity() const { return cells_.capacity(); }  // cells
  // What a row that is not simple is like, read from its encoded form without taking it apart: needs
  // nothing of the heap.
  struct Outline {
    bool live = false;
    size_t cells = 0;
    WriteTimestamp max_timestamp = {};  // as MaxTimestamp()
  };
  static Outline OutlineOf(std::string_view payload, int64_t now_seconds);
  // Its cells alone, in constant time.
  static size_t CellCountOf(std::string_view payload);
  // Whether the row has a tombstone of its own, likewise.
  static bool HasTombstone(std::string_view payload);
  // The row as a reader at `now` sees it, read in the same way: its marker, absent where it is over, and
  // its live cells behind others. False, and nothing was done: no part of it lives.
  using LiveCells = absl::InlinedVector<LiveCellView, kRowsPerCallMax>;
  static bool AppendLive(std::string_view payload, int64_t now_seconds, Liveness& marker,
                         LiveCells& cells);
  // Makes it all there is of a row.
  void Assign(const StoredRow& row);
  void DecodeComplex(std::string_view payload);
  void DecodeSimple(const TableSchema& schema, const Liveness& liveness, std::string_view payload);

  // Drops what has no effect any more at `now`; returns whether anything went.
  bool Purge(int64_t now_seconds, const GracePolicy& grace);
  // Merges an update that no partition or range tombstone shadows.
  void Merge(const RowUpdate& update, const WriteContext& context, const GracePolicy& grace);
  // The same of updates of one row under one timestamp, one after the other, in O(m log m + n) of their
  // cells and those that are there: alone each would look at all of them, and so does each that sets a
  // whole column to null.
  void MergeAll(std::span<const RowUpdate* const> updates, const WriteContext& context,
                const GracePolicy& grace);
  // Removes what `tombstone` covers, older row tombstones included; does not keep it.
  void Cover(WriteTimestamp tombstone);
  // Empties the values of live cells; for rows that only shadow others any more.
  void DropValues();
  // The same for those that have expired.
  void DropExpiredValues(int64_t now_seconds);
  // Keeps a row tombstone beside what is left; the stronger of two stays.
  void KeepTombstone(const Tombstone& tombstone);

  bool empty() const { return !marker_.present() && !tombstone_.present() && cells_.empty(); }
  bool LiveAt(int64_t now_seconds) const;
  const Liveness& marker() const { return marker_; }
  const Tombstone& tombstone() const { return tombstone_; }
  std::span<const Cell> cells() const { return cells_; }
  // The live cell of `column`, which has no elements, expired or not; nullptr: none.
  const Cell* LiveCell(ColumnId column) const;
  // The largest write timestamp of anything in the row.
  WriteTimestamp MaxTimestamp() const;

  // The one liveness of a simple row: marker and every cell share it, nothing is dead, no
  // tombstone, and with one regular column in the schema it has a value. nullopt: not simple.
  std::optional<Liveness> SimpleLiveness(const TableSchema& schema) const;
  // Payload of a simple row, appended to `out`; a single value is returned as it is, without a
  // copy.
  std::string_view EncodeSimple(const TableSchema& schema, std::string& out) const;
  void EncodeComplex(std::string& out) const;
  // Bytes that EncodeComplex would append.
  size_t ComplexBytes() const;
  // What counts against the bound of a row: the same with a marker and a tombstone, there or not, so that
  // a deletion makes no row larger than it may be, and none of a view is larger than its table's.
  size_t CountedBytes() const;

  // The earliest instant after `now` at which something of the row expires, or at which Purge will
  // find something that has; kNoExpiry: never.
  int64_t NextEvent(int64_t now_seconds, const GracePolicy& grace) const;

  // The row as a reader at `now` sees it; `cells` receives the live cells and backs the view.
  RowView ToView(ClusteringKeyView key, int64_t now_seconds,
                 absl::InlinedVector<LiveCellView, 4>& cells) const;

 private:
  using Cells = absl::InlinedVector<Cell, 4>;

  // What an update sets of marker and cells; cells behind those that are there, in no order.
  void Append(const RowUpdate& update, const WriteContext& context);
  // The liveness of its live cells.
  Liveness MergeMarker(const RowUpdate& update, const WriteContext& context);
  // False: the row's tombstone is over it.
  bool MakeCell(const CellUpdate& assignment, const Liveness& liveness, const WriteContext& context,
                Cell& cell) const;
  void MergeCell(const Cell& cell);
  // Cells from number `sorted` on, in the order in which they were written, each of which meets what those
  // before it have left; none is a null of a whole column.
  void MergeInOrder(size_t sorted, int64_t now_seconds, const GracePolicy& grace);
  // A null of its column, among the first `sorted` cells, is over it.
  bool IsCovered(const Cell& element, size_t sorted) const;
  // Takes what a dead cell of a column covers of its elements, which are behind it.
  void CoverElements(Cells::iterator dead);

  Liveness marker_;
  Tombstone tombstone_;
  Cells cells_;  // ascending by column and path
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_ROW_BODY_H_
