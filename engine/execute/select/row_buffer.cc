#include "engine/execute/select/row_buffer.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore::execute {

RowBuffer::RowBuffer(const TableDefinition& table)
    : table_(table),
      clustering_begin_(table.storage.partition_key.size()),
      regular_columns_(table.storage.regular.size()),
      static_columns_(table.storage.statics.size()),
      static_values_(table.storage.statics.size()),
      values_(table.columns.size()),
      liveness_(table.columns.size()) {
  for (uint16_t i = 0; i < table.columns.size(); ++i) {
    const ColumnDefinition& column = table.columns[i];
    if (column.kind == ColumnKind::kRegular) regular_columns_[column.position] = i;
    if (column.kind == ColumnKind::kStatic) static_columns_[column.position] = i;
    if (column.type.is_multi_cell()) elements_.resize(table.columns.size());
  }
}

void RowBuffer::SetPartition(std::string_view key) {
  partition_key_ = key;
  const auto components = SplitPartitionKey(key, clustering_begin_);
  LS_CHECK(components.has_value(), "a stored key has the components of its table");
  key_bytes_ = 0;
  for (size_t i = 0; i < components->size(); ++i) {
    values_[i] = (*components)[i];
    key_bytes_ += (*components)[i].size();
  }
  SetStaticRow({});
}

void RowBuffer::SetStaticRow(std::span<const LiveCellView> cells) {
  static_bytes_ = SetCells(static_columns_, cells);
  for (size_t i = 0; i < static_columns_.size(); ++i) {
    std::optional<std::string_view>& value = values_[static_columns_[i]];
    if (!value) continue;
    static_values_[i] = *value;
    value = static_values_[i];
  }
}

size_t RowBuffer::KeptBytes(const std::vector<bool>& columns) const {
  size_t bytes = 0;
  for (const uint16_t column : regular_columns_) {
    const bool is_copied = columns[column] && !table_.columns[column].type.is_multi_cell();
    if (is_copied && values_[column]) bytes += values_[column]->size();
  }
  return bytes;
}

void RowBuffer::KeepRow(const std::vector<bool>& columns) {
  kept_values_.resize(regular_columns_.size());
  for (size_t i = 0; i < regular_columns_.size(); ++i) {
    const uint16_t column = regular_columns_[i];
    std::optional<std::string_view>& value = values_[column];
    if (!value || table_.columns[column].type.is_multi_cell()) continue;
    if (!columns[column]) {
      value.reset();
      continue;
    }
    kept_values_[i] = *value;
    value = kept_values_[i];
  }
}

void RowBuffer::ForgetRow() {
  SetNoRow();
  kept_values_.clear();
}

void RowBuffer::SetNoRow() {
  clustering_key_.clear();
  for (size_t i = 0; i < table_.storage.clustering.size(); ++i) {
    values_[clustering_begin_ + i].reset();
  }
  row_bytes_ = SetCells(regular_columns_, {});
}

void RowBuffer::SetRow(const RowView& row) {
  char scratch[kItemKeyTextBytes];
  clustering_key_ = PlainKey(row.key, scratch);
  const std::vector<ClusteringColumnSchema>& clustering = table_.storage.clustering;
  size_t clustering_bytes = 0;
  // A single column of this kind is its bytes as they are: the shape of list items.
  if (table_.storage.packs_item_keys()) {
    values_[clustering_begin_] = clustering_key_;
    clustering_bytes = clustering_key_.size();
  } else if (!clustering.empty()) {
    clustering_values_ = DecodeClusteringKey(clustering, clustering_key_);
    for (size_t i = 0; i < clustering.size(); ++i) {
      values_[clustering_begin_ + i] = clustering_values_[i];
      clustering_bytes += clustering_values_[i].size();
    }
  }
  row_bytes_ = clustering_bytes + SetCells(regular_columns_, row.cells);
}

size_t RowBuffer::SetCells(const std::vector<uint16_t>& columns,
                           std::span<const LiveCellView> cells) {
  for (const uint16_t column : columns) {
    values_[column].reset();
    liveness_[column] = {};
    if (!kept_elements_.empty()) kept_elements_[column].clear();
  }
  size_t bytes = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const LiveCellView& cell = cells[i];
    const uint16_t column = columns[cell.column];
    if (cell.path.empty()) {
      values_[column] = cell.value;
      bytes += cell.value.size();
      liveness_[column] = cell.liveness;
      continue;
    }
    // Those of one column come one behind the other.
    if (!used_columns_.empty() && !used_columns_[column]) {
      while (i + 1 < cells.size() && cells[i + 1].column == cell.column) ++i;
      continue;
    }
    ElementsValue& elements = elements_[column];
    elements.Begin(table_.columns[column].type);
    elements.Add(cell.path, cell.value);
    Keep(column, cell);
    for (; i + 1 < cells.size() && cells[i + 1].column == cell.column; ++i) {
      elements.Add(cells[i + 1].path, cells[i + 1].value);
      Keep(column, cells[i + 1]);
    }
    values_[column] = elements.Finish();
    bytes += values_[column]->size();
  }
  return bytes;
}

void RowBuffer::Keep(uint16_t column, const LiveCellView& cell) {
  if (kept_elements_.empty()) return;
  std::vector<Element>& elements = kept_elements_[column];
  const DataType& type = table_.columns[column].type;
  Element element{cell.liveness, std::string(cell.path)};
  if (type.kind() != DataType::Kind::kUser) {
    elements.push_back(std::move(element));
    return;
  }
  elements.resize(type.parameters().size());
  const size_t field = FieldOfPath(cell.path);
  // The type may have got it since the statement was planned.
  if (field < elements.size()) elements[field] = std::move(element);
}

void RowBuffer::SetValues(std::span<const std::optional<std::string>> values) {
  LS_CHECK(values.size() == values_.size(), "a computed row has all columns of its table");
  key_bytes_ = static_bytes_ = row_bytes_ = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values_[i] = values[i];
    if (values[i]) row_bytes_ += values[i]->size();
  }
  std::vector<std::string_view> components;
  for (size_t i = 0; i < clustering_begin_; ++i) {
    LS_CHECK(values_[i].has_value(), "key columns are never null");
    components.push_back(*values_[i]);
  }
  computed_key_.clear();
  AppendPartitionKey(components, computed_key_);
  partition_key_ = computed_key_;
}

}  // namespace liststore::execute
