// Rows on their way out: borrowed from a partition for the length of one call.
#ifndef LISTSTORE_ENGINE_MODEL_ROW_VIEW_H_
#define LISTSTORE_ENGINE_MODEL_ROW_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"
#include "engine/model/table_schema.h"

namespace liststore {

// A live cell of a row.
struct LiveCellView {
  ColumnId column = 0;
  Liveness liveness;
  std::string_view value;
  std::string_view path = {};  // of an element of its column; empty: the column's own
};

// One live row. Cells are in the order of columns, and of paths; a column without a live cell is
// null.
struct RowView {
  ClusteringKeyView key;
  Liveness marker;  // absent for rows made by UPDATE alone
  std::span<const LiveCellView> cells;
};

// A run of live rows of the hot shape that lie one behind the other in memory: packed key (24
// bytes), then the value of the table's only regular column; every row `stride` bytes; `rows` is
// the one with the largest key, later ones descend.
struct PackedRun {
  const char* rows = nullptr;
  size_t count = 0;
  size_t stride = 0;  // kPackedItemKeyBytes + length of every value
};

// A row of kEncodedRowCells and more, be they live or not, as it is stored: to be copied, and decoded when its
// lane is not held any more (shard/encoded_row.h).
struct EncodedRowView {
  ClusteringKeyView key;
  std::string_view bytes;
  size_t cells = 0;
};
// Some 100 us to decode.
inline constexpr size_t kEncodedRowCells = 4096;

// Where the rows of a read go. One virtual call for a run of rows, not for each. What is passed is
// only valid during the call; an implementation must not call into the engine.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Rows in the order of the read. A call brings at most kRowsPerCallMax rows.
  virtual void OnRows(std::span<const RowView> rows) = 0;
  // The same for the hot shape. Called only for reads that go down from the largest key, and only
  // when AcceptsPackedRuns().
  virtual void OnPackedRun(const PackedRun& run) = 0;
  virtual bool AcceptsPackedRuns() const = 0;
  // Instead of OnRows, where AcceptsEncodedRows(): a row of very many cells. The read does not
  // count it, since nobody knows yet whether it lives.
  virtual void OnEncodedRow(const EncodedRowView& /*row*/) {}
  virtual bool AcceptsEncodedRows() const { return false; }
  // The live cells of the static row, before any rows; at least one. Called only for reads that ask
  // for it (ReadSpec::with_static_row).
  virtual void OnStaticRow(std::span<const LiveCellView> /*cells*/) {}
  // Asked behind OnRows and OnEncodedRow: true ends the read, whatever its limit says.
  virtual bool HasEnough() const { return false; }
  // The last call of a read that has looked at ReadSpec::looks_max rows: `next` is the first that it
  // has not looked at, where another read goes on.
  virtual void OnStop(ClusteringKeyView /*next*/) {}
};

inline constexpr size_t kRowsPerCallMax = 32;

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_ROW_VIEW_H_
