// Whether two servers have the same rows in a table: counted, summed up and matched one by one.
#ifndef LISTSTORE_TOOLS_COPY_TABLE_COMPARISON_H_
#define LISTSTORE_TOOLS_COPY_TABLE_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/types/data_type.h"
#include "tools/copy/remote_schema.h"
#include "tools/copy/table_reader.h"

namespace liststore {

// Rows of one server. The checksum is a sum, whatever order they came in, of hashes of key, values
// and timestamps of each row, and of the static cells of each partition.
struct TableTotals {
  uint64_t rows = 0;
  uint64_t checksum = 0;
};

// Takes the rows of both sides in any order. A row waits for its counterpart: as servers give rows
// in the same order, few wait at a time. One thread.
//
// TTLs may differ by `tolerance_seconds`: a cell is read and written in different seconds. Cells
// that have no more than that left may be over on one side: they count on neither. Of columns whose
// times only one of the servers tells, the values are compared.
class TableComparison {
 public:
  enum Side : uint8_t {
    kSource,
    kTarget
  };
  enum class Ttls : uint8_t {
    kCompared,
    kLeftOut,  // of views, of which servers tell them each in its way
  };

  // Both readers are of `table`.
  TableComparison(const RemoteTable& table, const RowLayout& source, const RowLayout& target,
                  Ttls ttls = Ttls::kCompared);

  // All rows of a page.
  void Add(Side side, const RemoteRows& page, int64_t tolerance_seconds);
  // What waits now has no counterpart. To be called where no more of those rows will come.
  void EndOfRange();

  const TableTotals& totals(Side side) const { return totals_[side]; }
  uint64_t rows_that_differ() const { return rows_that_differ_; }
  // "row user='a', seq=1: item: another value"; empty: none differs.
  const std::string& first_difference() const { return first_difference_; }

 private:
  // A cell that is not null, or the cell of an element.
  struct Cell {
    size_t column = 0;     // of the row's cells
    std::string key = {};  // which element; of lists all are ""
    bool ends_soon = false;
    uint64_t value_hash = 0;
    int64_t timestamp_micros = 0;
    int32_t ttl_seconds = 0;
  };
  // Static cells are compared as a row of their own, whose clustering columns are null.
  struct Row {
    std::string shown_key;
    bool is_static = false;
    std::vector<Cell> cells;  // by column and key; of lists in their order
  };

  // The same for keys that a clustering order takes for one: decimals and varints in the form
  // that is the simplest.
  std::string MatchingKey(const RemoteRows& page, size_t row) const;
  Row Taken(const RemoteRows& page, size_t row, bool is_static, int64_t tolerance_seconds) const;
  void TakeElements(const RemoteRows& page, size_t row, size_t cell, int64_t tolerance_seconds,
                    std::vector<Cell>& taken) const;
  void AddRow(Side side, const std::string& key, Row row, int64_t tolerance_seconds);
  void Match(const std::string& key, Row& source, Row& target, int64_t tolerance_seconds);
  // What differs between two cells, in words; null: nothing.
  const char* Difference(const Cell& source, const Cell& target, int64_t tolerance_seconds) const;
  bool IsOfList(const Cell& cell) const;
  // "item: another value".
  std::string Told(const Cell& cell, const char* difference) const;
  void Count(Side side, const std::string& key, const Row& row);
  void Differs(const Row& row, const std::string& how);
  std::string ShownKey(const RemoteRows& page, size_t row, bool is_static) const;

  const RemoteTable& table_;
  const Ttls ttls_;
  std::vector<bool> compares_times_;  // of each cell of the table
  const size_t keys_;
  // Of each column, where its keys have several forms.
  std::vector<std::optional<DataType>> key_types_;
  std::map<std::string, Row> waiting_[2];
  std::string partition_[2];  // whose static cells were taken last
  TableTotals totals_[2];
  uint64_t rows_that_differ_ = 0;
  std::string first_difference_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_TABLE_COMPARISON_H_
