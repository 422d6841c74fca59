#include "engine/server/row_buffer.h"

#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore {

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
  }
}

void RowBuffer::SetPartition(std::string_view key) {
  partition_key_ = key;
  const auto components = SplitPartitionKey(key, clustering_begin_);
  LS_CHECK(components.has_value(), "a stored key has the components of its table");
  for (size_t i = 0; i < components->size(); ++i) values_[i] = (*components)[i];
  SetStaticRow({});
}

void RowBuffer::SetStaticRow(std::span<const LiveCellView> cells) {
  SetCells(static_columns_, cells);
  for (const LiveCellView& cell : cells) {
    static_values_[cell.column] = cell.value;
    values_[static_columns_[cell.column]] = static_values_[cell.column];
  }
}

void RowBuffer::SetNoRow() {
  clustering_key_.clear();
  for (size_t i = 0; i < table_.storage.clustering.size(); ++i) {
    values_[clustering_begin_ + i].reset();
  }
  SetCells(regular_columns_, {});
}

void RowBuffer::SetRow(const RowView& row) {
  char scratch[kItemKeyTextBytes];
  clustering_key_ = PlainKey(row.key, scratch);
  const std::vector<ClusteringColumnSchema>& clustering = table_.storage.clustering;
  // A single column of this kind is its bytes as they are: the shape of list items.
  if (table_.storage.packs_item_keys()) {
    values_[clustering_begin_] = clustering_key_;
  } else if (!clustering.empty()) {
    clustering_values_ = DecodeClusteringKey(clustering, clustering_key_);
    for (size_t i = 0; i < clustering.size(); ++i) {
      values_[clustering_begin_ + i] = clustering_values_[i];
    }
  }
  SetCells(regular_columns_, row.cells);
}

void RowBuffer::SetCells(const std::vector<uint16_t>& columns,
                         std::span<const LiveCellView> cells) {
  for (const uint16_t column : columns) {
    values_[column].reset();
    liveness_[column] = {};
  }
  for (const LiveCellView& cell : cells) {
    const uint16_t column = columns[cell.column];
    values_[column] = cell.value;
    liveness_[column] = cell.liveness;
  }
}

void RowBuffer::SetValues(std::span<const std::optional<std::string>> values) {
  LS_CHECK(values.size() == values_.size(), "a computed row has all columns of its table");
  for (size_t i = 0; i < values.size(); ++i) values_[i] = values[i];
}

}  // namespace liststore
