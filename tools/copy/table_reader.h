// All rows of a table, range by range of the token ring, with each cell's write timestamp and TTL.
#ifndef LISTSTORE_TOOLS_COPY_TABLE_READER_H_
#define LISTSTORE_TOOLS_COPY_TABLE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"
#include "tools/copy/remote_schema.h"

namespace liststore {

// Equal parts of the ring, so that no answer goes through all partitions.
inline constexpr int kTokenRanges = 64;

struct RemoteCell {
  bool present = false;  // not null
  std::string_view value = {};
  int64_t timestamp_micros = 0;  // of counters, which have none that can be set, 0
  int32_t ttl_seconds = 0;       // what is left; 0: none
};

// A part of a value that is a cell of its own: an element, or a field that is not null.
struct RemoteElement {
  size_t number = 0;          // of a list which, of a user type which field
  std::string_view key = {};  // of a map, and of a set the element
  std::string_view value = {};
  std::string_view timeuuid = {};  // of a list, where the server tells it
  int64_t timestamp_micros = 0;
  int32_t ttl_seconds = 0;
};

// The statement that reads a table, and where its answer has what.
struct RowLayout {
  struct Cell {
    RemoteColumn::Parts parts = RemoteColumn::Parts::kNone;
    // Columns of the answer. None: the server does not tell it.
    std::optional<size_t> timestamp, ttl, timeuuids;
    bool zero_is_no_ttl = false;  // and not one that is over
  };
  RowLayout(const RemoteTable& table, PartTimes part_times);

  std::string statement;
  size_t columns = 0;
  size_t partition_keys;
  size_t keys;
  size_t statics;
  std::vector<Cell> cells;  // static ones, then regular ones
};

// What the answer to the reader's statement means. Columns have the order of RemoteTable: those of
// the primary key first, then the cells: static ones, then regular ones.
class RemoteRows {
 public:
  explicit RemoteRows(RowLayout layout) : layout_(std::move(layout)) {}

  size_t size() const { return rows_.size(); }
  size_t keys() const { return layout_.keys; }
  size_t partition_keys() const { return layout_.partition_keys; }
  size_t statics() const { return layout_.statics; }
  size_t cells() const { return layout_.cells.size(); }
  std::string_view key(size_t row, size_t column) const { return rows_.at(row, column); }
  // False: the partition has static cells and no row.
  bool is_row(size_t row) const {
    return keys() == partition_keys() || !rows_.is_null(row, partition_keys());
  }
  // Whether the server tells when the cell, or each part of it, was written.
  bool tells_times(size_t cell) const { return layout_.cells[cell].timestamp.has_value(); }
  // Whether it is read part by part.
  bool has_parts(size_t cell) const {
    return tells_times(cell) && layout_.cells[cell].parts != RemoteColumn::Parts::kNone;
  }
  // Of any, in one piece.
  std::optional<std::string_view> value(size_t row, size_t cell) const {
    if (rows_.is_null(row, keys() + cell)) return std::nullopt;
    return rows_.at(row, keys() + cell);
  }
  // Of one that is read whole.
  RemoteCell cell(size_t row, size_t cell) const;
  // Of one that is read part by part, in their order; none: it is null. Those that are over are
  // left out.
  std::vector<RemoteElement> elements(size_t row, size_t cell) const;
  // The first `columns` of the key, so written that no two keys are written alike.
  std::string KeyBytes(size_t row, size_t columns) const;

  const RowLayout& layout() const { return layout_; }
  CqlRows& rows() { return rows_; }

 private:
  RowLayout layout_;
  CqlRows rows_;
};

// One thread. Statuses are the client's.
class TableReader {
 public:
  // Client and table outlive the reader.
  static absl::StatusOr<TableReader> Open(CqlClient& client, const RemoteTable& table,
                                          int32_t page_rows, const RemoteSchema& schema);

  // Goes to a range, from 0 to kTokenRanges - 1.
  void Begin(int range);
  // The next page, maybe of no rows; false: the range has no more.
  absl::StatusOr<bool> Next();
  const RemoteRows& page() const { return page_; }

 private:
  TableReader(CqlClient& client, const RemoteTable& table, int32_t page_rows,
              const RemoteSchema& schema)
      : client_(&client),
        table_(&table),
        page_rows_(page_rows),
        consistency_(schema.consistency),
        page_(RowLayout(table, schema.part_times)) {}

  CqlClient* client_;
  const RemoteTable* table_;
  int32_t page_rows_;
  uint16_t consistency_;
  std::string statement_;
  std::string after_, until_;  // tokens
  std::string paging_state_;
  bool at_end_ = true;
  RemoteRows page_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_TABLE_READER_H_
