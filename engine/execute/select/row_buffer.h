// RowBuffer: one row with its columns in the order of `SELECT *`, whatever table it comes from.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_BUFFER_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_BUFFER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/cell_path.h"
#include "engine/model/row_view.h"
#include "engine/model/schema.h"

namespace liststore::execute {

// Values are views: into the partition key, the row that was set, and the buffer. Used by one
// thread at a time.
class RowBuffer {
 public:
  // `table` outlives the buffer.
  explicit RowBuffer(const TableDefinition& table);
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;

  const TableDefinition& table() const { return table_; }

  // By position: columns that nobody will look at are null from now on, if they have several cells: their
  // values need not be put together.
  void UseOnly(std::vector<bool> columns) { used_columns_ = std::move(columns); }

  // The partition that the next rows are of; `key` stays where it is.
  void SetPartition(std::string_view key);
  std::string_view partition_key() const { return partition_key_; }
  // The static row of that partition: what all of its rows have in its columns, null where it has
  // no cell. Its values are copied: they outlive the read.
  void SetStaticRow(std::span<const LiveCellView> cells);
  // A stored row of that partition: live cells, the others null.
  void SetRow(const RowView& row);
  // Goes on without what was set: the values of these columns, by position, are copied, and the others
  // of its cells are null from now on. What has elements is here as it is.
  void KeepRow(const std::vector<bool>& columns);
  // What it would copy.
  size_t KeptBytes(const std::vector<bool>& columns) const;
  // What was copied goes; the row is not looked at any more.
  void ForgetRow();
  // No row: key and cells of what would be one are null.
  void SetNoRow();
  // A row that is computed whole, of whatever partition.
  void SetValues(std::span<const std::optional<std::string>> values);

  std::span<const std::optional<std::string_view>> values() const { return values_; }
  // Of all values of the row as it was set, with keys and static cells.
  size_t value_bytes() const { return key_bytes_ + static_bytes_ + row_bytes_; }
  // Of a regular or static column; absent where its value is null, computed or of several cells.
  const Liveness& liveness(uint16_t column) const { return liveness_[column]; }
  // A cell of a column of several: when it was written, and where it stands.
  struct Element {
    Liveness liveness;
    std::string path;
  };
  // From now on elements are kept as well.
  void KeepElements() { kept_elements_.resize(values_.size()); }
  // Those of a column of several cells, in their order; of a user type one for each field, absent
  // where the field is null. None where the column is null.
  std::span<const Element> elements(uint16_t column) const { return kept_elements_[column]; }
  // The encoded clustering key of the row that was set last.
  const std::string& clustering_key() const { return clustering_key_; }

 private:
  // Returns how many bytes of values they are.
  size_t SetCells(const std::vector<uint16_t>& columns, std::span<const LiveCellView> cells);
  void Keep(uint16_t column, const LiveCellView& cell);

  const TableDefinition& table_;
  const size_t clustering_begin_;
  std::vector<uint16_t> regular_columns_;  // ColumnId -> position
  std::vector<uint16_t> static_columns_;   // the same
  std::vector<bool> used_columns_;         // empty: all
  std::string_view partition_key_;
  std::string computed_key_;  // that of a row that is computed
  std::string clustering_key_;
  std::vector<std::string> clustering_values_;
  std::vector<std::string> static_values_;  // ColumnId -> bytes
  std::vector<std::string> kept_values_;    // of a row that goes on: ColumnId -> bytes
  // Of columns of several cells, by position; none where the table has no such columns.
  std::vector<ElementsValue> elements_;
  std::vector<std::optional<std::string_view>> values_;
  std::vector<Liveness> liveness_;
  std::vector<std::vector<Element>> kept_elements_;  // by position; none: they are not kept
  size_t key_bytes_ = 0;                             // of the values of the partition key
  size_t static_bytes_ = 0;                          // of the static row
  size_t row_bytes_ = 0;                             // of the others
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_ROW_BUFFER_H_
