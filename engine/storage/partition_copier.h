// PartitionCopier: writes what is stored of a partition into another table, each part of a row under
// its own times.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_COPIER_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_COPIER_H_

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"
#include "engine/model/mutation.h"
#include "engine/model/op_status.h"
#include "engine/model/schema_actions.h"
#include "engine/model/stored_row.h"
#include "engine/storage/kept_places.h"
#include "engine/storage/partition/partition.h"
#include "engine/storage/partition/range_tombstones.h"
#include "engine/storage/table.h"

namespace liststore::storage {

// For one partition, by the holder of both tables' lane. `columns`: what becomes of each column;
// cells of those that `kept` is of go there. Borrows all of it.
class PartitionCopier {
 public:
  PartitionCopier(Table& to, const PartitionRef& partition, const ColumnMap& columns,
                  int64_t now_seconds, bool foreign, const GracePolicy& grace,
                  std::span<KeptPlaces> kept = {})
      : to_(to),
        partition_(partition),
        columns_(columns),
        now_seconds_(now_seconds),
        foreign_(foreign),
        grace_(grace),
        kept_(kept) {}

  OpStatus status() const { return status_; }

  void CopyTombstone(const Tombstone& tombstone) {
    if (tombstone.present()) Note(to_.DeletePartition(partition_, ContextOf(tombstone)));
  }

  void CopyRange(const ClusteringRange& range, const Tombstone& tombstone) {
    ClusteringRange whole = range;
    const bool packs = to_.schema().packs_item_keys();
    whole.lower = ClusteringBound::At(range.lower.bytes, packs);
    if (!range.upper.at_end) whole.upper = ClusteringBound::At(range.upper.bytes, packs);
    Note(to_.DeleteRange(partition_, whole, ContextOf(tombstone)));
  }

  void CopyStatics(std::span<const StoredCell> cells) {
    for (KeptPlaces& kept : kept_) {
      if (kept.column().is_static) KeepCells(cells, {}, kept);
    }
    GatherCells(cells, columns_.statics);
    while (!waiting_.empty()) CopyTogether({.key = {}, .marker = false, .of_static_row = true}, {});
  }

  void CopyRow(const StoredRow& row) {
    char text[kItemKeyTextBytes];
    PackedItemKey packed;
    const ClusteringKeyView key =
        MakeClusteringKey(PlainKey(row.key, text), to_.schema().packs_item_keys(), packed);
    if (row.tombstone.present()) {
      Note(to_.DeleteRows(partition_, std::span(&key, 1), ContextOf(row.tombstone)));
    }
    for (KeptPlaces& kept : kept_) {
      if (!kept.column().is_static) KeepCells(row.cells, PlainKey(row.key, text), kept);
    }
    GatherCells(row.cells, columns_.regular);
    bool marker_waits = row.marker.present() && !grace_.Gone(row.marker, now_seconds_);
    while (marker_waits || !waiting_.empty()) {
      CopyTogether({.key = key, .marker = std::exchange(marker_waits, false)}, row.marker);
    }
  }

 private:
  WriteContext ContextOf(const Tombstone& tombstone) const {
    return {tombstone.timestamp, tombstone.deletion_seconds, foreign_};
  }
  void Note(OpStatus status) {
    if (status != OpStatus::kOk) status_ = status;
  }

  void KeepCells(std::span<const StoredCell> cells, std::string_view key, KeptPlaces& kept) {
    for (const StoredCell& cell : cells) {
      if (cell.column != kept.column().column) continue;
      if (!kept.Keep(partition_.key, key, cell.path, cell.view)) Note(OpStatus::kOutOfMemory);
    }
  }

  // The cells that come along, under their new numbers.
  void GatherCells(std::span<const StoredCell> cells, const ColumnMap::Columns& columns) {
    waiting_.clear();
    for (const StoredCell& cell : cells) {
      LS_CHECK(cell.column < columns.size(), "the map has every old column");
      if (!columns[cell.column]) continue;
      const bool gone = cell.view.live ? grace_.Gone(cell.view.liveness, now_seconds_)
                                       : grace_.Gone(cell.view.deletion_seconds, now_seconds_);
      if (!gone) waiting_.push_back({*columns[cell.column], cell.view, cell.path});
    }
    std::sort(waiting_.begin(), waiting_.end(), [](const StoredCell& a, const StoredCell& b) {
      return a.column != b.column ? a.column < b.column : a.path < b.path;
    });
  }

  // One write for all parts that share the times of the first that waits, which is the marker where
  // `update` has one.
  void CopyTogether(RowUpdate update, const Liveness& marker) {
    const CellView first = update.marker ? CellView{true, marker, 0, {}} : waiting_[0].view;
    const auto together = [&](const StoredCell& cell) {
      return cell.view.live == first.live && cell.view.liveness == first.liveness &&
             (first.live || cell.view.deletion_seconds == first.deletion_seconds);
    };
    cells_.clear();
    for (const StoredCell& cell : waiting_) {
      if (together(cell)) {
        cells_.push_back({.column = cell.column,
                          .live = first.live,
                          .value = cell.view.value,
                          .path = cell.path});
      }
    }
    std::erase_if(waiting_, together);
    if (first.live) {
      update.ttl_seconds = first.liveness.ttl_seconds;
      update.expiry_seconds = first.liveness.expiry_seconds;
    }
    update.cells = cells_;
    const WriteContext write{first.liveness.timestamp,
                             first.live ? now_seconds_ : first.deletion_seconds, foreign_};
    Note(to_.Upsert(partition_, std::span(&update, 1), write));
  }

  Table& to_;
  const PartitionRef partition_;
  const ColumnMap& columns_;
  const int64_t now_seconds_;
  const bool foreign_;
  const GracePolicy grace_;
  const std::span<KeptPlaces> kept_;
  OpStatus status_ = OpStatus::kOk;
  std::vector<StoredCell> waiting_;
  std::vector<CellUpdate> cells_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_COPIER_H_
