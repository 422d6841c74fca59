// IndexViewPages: rows of the views of global indexes that were found for a page and are of later
// ones, so that a page goes on where the one before it ended and does not look at the whole table.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_PAGES_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_PAGES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/model/schema.h"
#include "engine/model/token.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// Where a row of the view of an index stands.
struct IndexViewPlace {
  Token token;
  std::string partition_key;
  std::string clustering_key;
};

struct IndexViewRow {
  IndexViewPlace place;
  std::string values;             // see PackValues
  int64_t dead_from_seconds = 0;  // INT64_MAX: it lasts

  size_t bytes() const {
    return sizeof(*this) + place.partition_key.size() + place.clustering_key.size() + values.size();
  }
};

// The values of a row that has no nulls as one string, and back.
std::string PackValues(const std::vector<std::string_view>& values);
cql::VirtualRow UnpackValues(std::string_view packed);

// All rows of a view behind a place, in its order, up to the last one that is here.
struct IndexViewStretch {
  // What the rows follow from: the table as it is defined, and as it was written. A table that was
  // written, truncated, altered or reset since has other marks, or is another one.
  std::shared_ptr<const TableDefinition> base;
  shard::TableMarks marks;
  std::string view;
  cql::TokenRange tokens;  // rows of others were left out
  uint64_t found_nanos = 0;
  IndexViewPlace behind;           // a row
  std::vector<IndexViewRow> rows;  // some
  bool is_end = false;             // there are none behind

  size_t bytes() const;
};

// Thread-safe. Of the stretches that were used last as many as fit: those of a few readers at a time.
class IndexViewPages {
 public:
  using Stretch = std::shared_ptr<const IndexViewStretch>;
  static constexpr size_t kBytesMax = size_t{16} << 20;

  // At most kBytesMax of them. What is more than that goes with the next Put.
  void set_bytes_max(size_t bytes) {
    bytes_max_.store(std::min(bytes, kBytesMax), std::memory_order_relaxed);
  }
  // Of one: two readers do not drive out each other's.
  size_t stretch_bytes_max() const { return bytes_max_.load(std::memory_order_relaxed) / 2; }

  // The one used last of those that `fits` says yes to. nullptr: none.
  Stretch Find(absl::FunctionRef<bool(const IndexViewStretch&)> fits);
  // Those of its view that are of another state of the table go.
  void Put(Stretch stretch);

 private:
  struct Kept {
    Stretch stretch;
    size_t bytes = 0;
  };

  std::atomic<size_t> bytes_max_ = kBytesMax;
  Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the last used first
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_PAGES_H_
