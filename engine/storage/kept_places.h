// KeptPlaces: cells of a column that goes which stay for one that may come, of one lane.
#ifndef LISTSTORE_ENGINE_STORAGE_KEPT_PLACES_H_
#define LISTSTORE_ENGINE_STORAGE_KEPT_PLACES_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/container/btree_set.h"
#include "engine/memory/heap_share.h"
#include "engine/model/cell.h"
#include "engine/model/schema_actions.h"

namespace liststore::storage {

// Of each place (partition, row, path) the cell that wins, so that what is kept is bounded by what
// was written where, and not by how often; what it takes of the heap counts against the memory limit
// as long as it is kept, here and where it is taken.
//
// Used by the lane's holder alone. O(log places); nothing is moved when there are many.
class KeptPlaces {
 public:
  // `column` outlives it.
  KeptPlaces(const ColumnToKeep& column, std::shared_ptr<memory::HeapLedger> ledger);
  KeptPlaces(KeptPlaces&&) = default;

  const ColumnToKeep& column() const { return column_; }
  bool empty() const { return part_->cells.empty(); }
  // Keeps a cell, if it came after the column went. `clustering_key`: plain. False: there is no
  // memory, and it is not kept.
  [[nodiscard]] bool Keep(std::string_view partition_key, std::string_view clustering_key,
                          std::string_view path, const CellView& cell);
  // All of it. It is not used any more.
  std::shared_ptr<const KeptPart> Take() { return part_; }

 private:
  struct Place {
    std::string_view partition_key;
    std::string_view clustering_key;
    std::string_view path;
    auto operator<=>(const Place&) const = default;
  };
  static Place PlaceOf(const KeptCell& cell) {
    return {cell.partition_key, cell.clustering_key, cell.path};
  }
  struct Order {
    using is_transparent = void;
    bool operator()(const KeptCell* a, const KeptCell* b) const {
      return PlaceOf(*a) < PlaceOf(*b);
    }
    bool operator()(const KeptCell* a, const Place& b) const { return PlaceOf(*a) < b; }
    bool operator()(const Place& a, const KeptCell* b) const { return a < PlaceOf(*b); }
  };
  // A cell, its entry in the set, and the blocks of its four strings, at most.
  static size_t BytesOf(const Place& place, std::string_view value);

  const ColumnToKeep& column_;
  std::shared_ptr<memory::HeapShare> share_;
  std::shared_ptr<KeptPart> part_;
  absl::btree_set<KeptCell*, Order> places_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_KEPT_PLACES_H_
