// ReadSpec: what a read of one partition asks for.
#ifndef LISTSTORE_ENGINE_MODEL_READ_SPEC_H_
#define LISTSTORE_ENGINE_MODEL_READ_SPEC_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/model/clustering_key.h"
#include "engine/model/table_schema.h"

namespace liststore {

// Borrows the bytes of its bounds and of the value. Not changed by a read: many may share it.
struct ReadSpec {
  ClusteringRange range;
  bool descending = true;        // by encoded key; see TableSchema::reads_backwards
  uint64_t limit = UINT64_MAX;   // rows
  bool with_static_row = false;  // RowSink::OnStaticRow is called where there is one
  // Only rows whose live cell in this column equals `value`, found through the value index.
  struct ValueFilter {
    ColumnId column = 0;
    std::string_view value;
  };
  std::optional<ValueFilter> value_filter;
  // Rows that are looked at, whatever becomes of them: so long a lane may be held. A read that ends
  // because of this tells its sink (RowSink::OnStop).
  uint64_t looks_max = UINT64_MAX;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_READ_SPEC_H_
