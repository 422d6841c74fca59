#include "engine/shard/encoded_row.h"

namespace liststore::shard {

std::optional<RowView> EncodedRow::Decode(ClusteringKeyView key, int64_t now_seconds) {
  RowView row{.key = key, .marker = {}, .cells = {}};
  cells_.clear();
  if (!storage::RowBody::AppendLive(bytes_, now_seconds, row.marker, cells_)) return std::nullopt;
  row.cells = {cells_.data(), cells_.size()};
  return row;
}

void EncodedRow::Clear() {
  bytes_ = std::string();
  cells_.clear();
}

}  // namespace liststore::shard
