// Partitions and rows as they are stored, live or not: what a copy of a table is made of. Plain
// data with borrowed bytes.
#ifndef LISTSTORE_ENGINE_MODEL_STORED_ROW_H_
#define LISTSTORE_ENGINE_MODEL_STORED_ROW_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"
#include "engine/model/table_schema.h"

namespace liststore {

struct StoredCell {
  ColumnId column = 0;
  CellView view;
  std::string_view path = {};  // of an element of its column; empty: the column's own
};

// All there is of a row: what reads see is what of it lives.
struct StoredRow {
  ClusteringKeyView key;
  Liveness marker;                    // absent for rows made by UPDATE alone
  Tombstone tombstone;                // of the row
  std::span<const StoredCell> cells;  // ascending by column and path, dead ones too
};

// A range deletion; bounds are plain bytes, without a packed form.
struct StoredRange {
  ClusteringRange range;
  Tombstone tombstone;
};

// What lies over the rows of a partition, and under which rule they were written.
struct StoredPartition {
  std::string_view key;  // serialised
  Tombstone tombstone = {};
  std::span<const StoredRange> ranges = {};
  std::span<const StoredCell> static_cells = {};  // ascending by column and path, dead ones too
  // The table has seen timestamps of clients there: GracePolicy::start_seconds counts, and what is
  // over keeps its effect for the table's grace.
  bool foreign_timestamps = false;
  int64_t grace_start_seconds = 0;
  // What it knows of itself as a part of a cache: more of it may be elsewhere; put without rows,
  // and kept so. Until when it is fresh, 0: forever, or nobody said; never of a partial one.
  bool partial = false;
  bool kept_empty = false;
  int64_t fresh_until_seconds = 0;
};

// Where stored partitions go. Called while a lane is held: it only copies, and does not call the
// engine. What is passed is valid during the call.
class StoredRowSink {
 public:
  virtual ~StoredRowSink() = default;
  // A partition begins; its rows follow in key order, then its end. It may turn out to have none.
  virtual void OnPartition(const StoredPartition& partition) = 0;
  virtual void OnRow(const StoredRow& row) = 0;
  virtual void OnPartitionEnd() = 0;
  // Asked between partitions: no more for now.
  virtual bool Full() const = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_STORED_ROW_H_
