// EncodedRow: a row of many cells, copied as it is stored while its lane is held, and decoded when it is not.
#ifndef LISTSTORE_ENGINE_SHARD_ENCODED_ROW_H_
#define LISTSTORE_ENGINE_SHARD_ENCODED_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model/row_view.h"
#include "engine/storage/partition/row_body.h"

namespace liststore::shard {

// What RowSink::OnEncodedRow brings. One thread.
class EncodedRow {
 public:
  bool empty() const { return bytes_.empty(); }
  void Copy(const EncodedRowView& row) { bytes_ = row.bytes; }
  // The row as a reader at `now_seconds` sees it; nullopt: no part of it lives. Its cells are views into
  // this, until it is cleared. O(cells).
  std::optional<RowView> Decode(ClusteringKeyView key, int64_t now_seconds);
  // Gives its memory back.
  void Clear();

 private:
  std::string bytes_;
  storage::RowBody::LiveCells cells_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENCODED_ROW_H_
