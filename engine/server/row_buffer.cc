#include "engine/server/row_buffer.h"

#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore {

RowBuffer::RowBuffer(const TableDefinition& table)
    : table_(table),
      clustering_begin_(table.storage.partition_key.size()),
      regular_columns_(table.storage.regular.size()),
      values_(table.columns.size()),
      liveness_(table.columns.size()) {
  for (uint16_t i = 0; i < table.columns.size(); ++i) {
    const ColumnDefinition& column = table.columns[i];
    if (column.kind == ColumnKind::kRegular) regular_columns_[column.position] = i;
  }
}

void RowBuffer::SetPartition(std::string_view key) {
  partition_key_ = key;
  const auto components = SplitPartitionKey(key, clustering_begin_);
  LS_CHECK(components.has_value(), "a stored key has the components of its table");
  for (size_t i = 0; i < components->size(); ++i) values_[i] = (*components)[i];
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
  for (const uint16_t column : regular_columns_) {
    values_[column].reset();
    liveness_[column] = {};
  }
  for (const LiveCellView& cell : row.cells) {
    const uint16_t column = regular_columns_[cell.column];
    values_[column] = cell.value;
    liveness_[column] = cell.liveness;
  }
}

void RowBuffer::SetValues(std::span<const std::optional<std::string>> values) {
  LS_CHECK(values.size() == values_.size(), "a computed row has all columns of its table");
  for (size_t i = 0; i < values.size(); ++i) values_[i] = values[i];
}

}  // namespace liststore
