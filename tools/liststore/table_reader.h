// All rows of a table, range by range of the token ring, with each cell's write timestamp and TTL.
#ifndef LISTSTORE_TOOLS_LISTSTORE_TABLE_READER_H_
#define LISTSTORE_TOOLS_LISTSTORE_TABLE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/liststore/cql_client.h"
#include "tools/liststore/remote_schema.h"

namespace liststore {

// Equal parts of the ring, so that no answer goes through all partitions.
inline constexpr int kTokenRanges = 64;

struct RemoteCell {
  bool present = false;  // not null
  std::string_view value = {};
  int64_t timestamp_micros = 0;  // of counters, which have none that can be set, 0
  int32_t ttl_seconds = 0;       // what is left; 0: none
};

// What the answer to the reader's statement means. Columns have the order of RemoteTable: those of
// the primary key first, then the cells: static ones, then regular ones.
class RemoteRows {
 public:
  explicit RemoteRows(const RemoteTable& table);

  size_t size() const { return rows_.size(); }
  size_t keys() const { return keys_; }
  size_t partition_keys() const { return partition_keys_; }
  size_t statics() const { return statics_; }
  size_t cells() const { return cells_; }
  std::string_view key(size_t row, size_t column) const { return rows_.at(row, column); }
  // False: the partition has static cells and no row.
  bool is_row(size_t row) const {
    return keys_ == partition_keys_ || !rows_.is_null(row, partition_keys_);
  }
  RemoteCell cell(size_t row, size_t cell) const;
  // The first `columns` of the key, so written that no two keys are written alike.
  std::string KeyBytes(size_t row, size_t columns) const;

  CqlRows& rows() { return rows_; }

 private:
  const size_t partition_keys_;
  const size_t keys_;
  const size_t statics_;
  const size_t cells_;
  const bool counter_;
  CqlRows rows_;
};

// One thread. Statuses are the client's.
class TableReader {
 public:
  // Client and table outlive the reader.
  static absl::StatusOr<TableReader> Open(CqlClient& client, const RemoteTable& table,
                                          int32_t page_rows, uint16_t consistency);

  // Goes to a range, from 0 to kTokenRanges - 1.
  void Begin(int range);
  // The next page, maybe of no rows; false: the range has no more.
  absl::StatusOr<bool> Next();
  const RemoteRows& page() const { return page_; }

 private:
  TableReader(CqlClient& client, const RemoteTable& table, int32_t page_rows, uint16_t consistency)
      : client_(&client),
        table_(&table),
        page_rows_(page_rows),
        consistency_(consistency),
        page_(table) {}

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

#endif  // LISTSTORE_TOOLS_LISTSTORE_TABLE_READER_H_
