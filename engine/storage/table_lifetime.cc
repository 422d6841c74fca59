// How a table ends, begins again in its shell, and is copied.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/storage/table.h"

namespace liststore {

void Table::Drop() {
  LS_CHECK(!dropped_, "a table is dropped once");
  LS_CHECK(pledged_.allocations == 0, "no table ends within a batch");
  dropped_ = true;
  ++schema_.id.generation;
  TruncateAll();
}

bool Table::vacant() const {
  return dropped_ && !pass_.active && dead_ == nullptr && wheel_.size() == 0;
}

// Nothing is left to expire: the wheel is only emptied.
size_t Table::ReclaimDropped(size_t budget) {
  size_t units = 0;
  if (dead_ != nullptr) units += ReclaimDead(budget);
  if (units < budget && pass_.active) units += ReclaimTruncated(budget - units);
  if (units < budget && dead_ != nullptr) units += ReclaimDead(budget - units);
  if (units < budget && wheel_.size() > 0) {
    units += wheel_.Sweep(budget - units, [](const TtlWheel::Entry&) { return false; });
  }
  if (vacant()) ReleaseCredit();
  return units;
}

void Table::Reuse(const TableSchema& schema) {
  LS_CHECK(vacant() && directory_.empty() && context_.rows == 0, "only a vacant shell is reused");
  LS_CHECK(arena_.live_bytes() == 0, "a vacant shell holds no block");
  LS_CHECK(schema.id == schema_.id, "the shell has said which generation comes next");
  schema_ = schema;
  context_.grace = {};
  context_.expired_rows = 0;
  foreign_timestamps_ = false;
  dropped_ = false;
  epoch_ = 1;
  truncated_before_ = 0;
  truncated_components_.clear();
  pass_ = {};
  due_again_.clear();
}

void Table::SetGrace(int64_t gc_grace_seconds) {
  schema_.gc_grace_seconds = gc_grace_seconds;
  if (foreign_timestamps_) context_.grace.grace_seconds = gc_grace_seconds;
}

namespace {

// Writes the rows of one partition into the new table, each part of a row under its own times.
class PartitionCopier {
 public:
  PartitionCopier(Table& to, const PartitionRef& partition, const ColumnMap& columns,
                  int64_t now_seconds, bool foreign, const GracePolicy& grace)
      : to_(to),
        partition_(partition),
        columns_(columns),
        now_seconds_(now_seconds),
        foreign_(foreign),
        grace_(grace) {}

  OpStatus status() const { return status_; }

  void CopyTombstones(const Partition& from) {
    if (const Tombstone tombstone = from.tombstone(); tombstone.present()) {
      Note(to_.DeletePartition(partition_, ContextOf(tombstone)));
    }
    if (from.ranges() == nullptr) return;
    from.ranges()->ForEach([&](const ClusteringRange& range, const Tombstone& tombstone) {
      ClusteringRange whole = range;
      const bool packs = to_.schema().packs_item_keys();
      whole.lower = ClusteringBound::At(range.lower.bytes, packs);
      if (!range.upper.at_end) whole.upper = ClusteringBound::At(range.upper.bytes, packs);
      Note(to_.DeleteRange(partition_, whole, ContextOf(tombstone)));
    });
  }

  void CopyRow(ClusteringKeyView stored_key, const RowBody& row) {
    char text[kItemKeyTextBytes];
    PackedItemKey packed;
    const ClusteringKeyView key =
        MakeClusteringKey(PlainKey(stored_key, text), to_.schema().packs_item_keys(), packed);
    if (row.tombstone().present()) {
      Note(to_.DeleteRows(partition_, std::span(&key, 1), ContextOf(row.tombstone())));
    }
    GatherCells(row);
    bool marker_waits = row.marker().present() && !grace_.Gone(row.marker(), now_seconds_);
    while (marker_waits || !waiting_.empty()) {
      CopyTogether(key, row, std::exchange(marker_waits, false));
    }
  }

 private:
  WriteContext ContextOf(const Tombstone& tombstone) const {
    return {tombstone.timestamp, tombstone.deletion_seconds, foreign_};
  }
  void Note(OpStatus status) {
    if (status != OpStatus::kOk) status_ = status;
  }

  // The cells that come along, under their new numbers.
  void GatherCells(const RowBody& row) {
    waiting_.clear();
    for (const RowBody::Cell& cell : row.cells()) {
      LS_CHECK(cell.column < columns_.size(), "the map has every old column");
      if (!columns_[cell.column]) continue;
      const bool gone = cell.view.live ? grace_.Gone(cell.view.liveness, now_seconds_)
                                       : grace_.Gone(cell.view.deletion_seconds, now_seconds_);
      if (!gone) waiting_.push_back({*columns_[cell.column], cell.view});
    }
    std::sort(waiting_.begin(), waiting_.end(),
              [](const RowBody::Cell& a, const RowBody::Cell& b) { return a.column < b.column; });
  }

  // One write for all parts that share the times of the first that waits.
  void CopyTogether(ClusteringKeyView key, const RowBody& row, bool with_marker) {
    const CellView first = with_marker ? CellView{true, row.marker(), 0, {}} : waiting_[0].view;
    const auto together = [&](const RowBody::Cell& cell) {
      return cell.view.live == first.live && cell.view.liveness == first.liveness &&
             (first.live || cell.view.deletion_seconds == first.deletion_seconds);
    };
    cells_.clear();
    for (const RowBody::Cell& cell : waiting_) {
      if (together(cell)) cells_.push_back({cell.column, first.live, cell.view.value});
    }
    std::erase_if(waiting_, together);
    RowUpdate update;
    update.key = key;
    update.marker = with_marker;
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
  OpStatus status_ = OpStatus::kOk;
  std::vector<RowBody::Cell> waiting_;
  std::vector<CellUpdate> cells_;
};

}  // namespace

OpStatus Table::CopyFrom(Table& from, const ColumnMap& columns, int64_t now_seconds) {
  LS_CHECK(directory_.empty() && !dropped_, "a copy begins empty");
  LS_CHECK(columns.size() == from.schema_.regular.size(), "the map has every old column");
  foreign_timestamps_ = from.foreign_timestamps_;
  if (foreign_timestamps_) {
    context_.grace = {schema_.gc_grace_seconds, from.context_.grace.start_seconds};
  }
  OpStatus status = OpStatus::kOk;
  from.ScanPartitions(0, std::nullopt, [&](uint64_t address, const Partition& partition) {
    PartitionCopier copier(*this, {partition.key(), address}, columns, now_seconds,
                           foreign_timestamps_, context_.grace);
    copier.CopyTombstones(partition);
    partition.ForEachRow([&](ClusteringKeyView key, const RowBody& row) {
      if (copier.status() == OpStatus::kOk) copier.CopyRow(key, row);
    });
    status = copier.status();
    return status == OpStatus::kOk;
  });
  return status;
}

}  // namespace liststore
