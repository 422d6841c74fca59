#include "engine/storage/kept_places.h"

#include <string>
#include <utility>

#include "engine/base/check.h"

namespace liststore::storage {

KeptPlaces::KeptPlaces(const ColumnToKeep& column, std::shared_ptr<memory::HeapLedger> ledger)
    : column_(column),
      share_(std::make_shared<memory::HeapShare>(std::move(ledger))),
      part_(std::make_shared<KeptPart>()) {
  part_->share = share_;
}

size_t KeptPlaces::BytesOf(const Place& place, std::string_view value) {
  constexpr size_t kEntryBytes = 2 * sizeof(void*);
  constexpr size_t kBlockBytes = 2 * sizeof(void*);
  const auto of_string = [](std::string_view text) {
    return text.size() <= std::string().capacity() ? 0 : text.size() + 1 + kBlockBytes;
  };
  return sizeof(KeptCell) + kEntryBytes + of_string(place.partition_key) +
         of_string(place.clustering_key) + of_string(place.path) + of_string(value);
}

bool KeptPlaces::Keep(std::string_view partition_key, std::string_view clustering_key,
                      std::string_view path, const CellView& cell) {
  if (cell.liveness.timestamp.micros <= column_.after_micros) return true;
  const Place place{partition_key, clustering_key, path};
  const auto found = places_.find(place);
  const size_t bytes = BytesOf(place, cell.value);
  if (found == places_.end()) {
    if (!share_->Grow(bytes)) return false;
    part_->cells.push_back({std::string(partition_key), std::string(clustering_key),
                            std::string(path), cell.live, cell.liveness, cell.deletion_seconds,
                            std::string(cell.value)});
    places_.insert(&part_->cells.back());
    return true;
  }
  KeptCell& kept = **found;
  const CellView before{kept.live, kept.liveness, kept.deletion_seconds, kept.value};
  if (CompareCells(before, cell) >= 0) return true;
  const size_t bytes_before = BytesOf(place, kept.value);
  if (bytes > bytes_before && !share_->Grow(bytes - bytes_before)) return false;
  std::string value(cell.value);
  kept.value.swap(value);
  kept.live = cell.live;
  kept.liveness = cell.liveness;
  kept.deletion_seconds = cell.deletion_seconds;
  if (bytes < bytes_before) share_->Shrink(bytes_before - bytes);
  return true;
}

}  // namespace liststore::storage
