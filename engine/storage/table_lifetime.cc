// How a table ends, begins again in its shell, and is copied.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"
#include "engine/storage/partition/rows_in_order.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/partition_copier.h"
#include "engine/storage/table.h"
#include "engine/storage/table_baseline.h"
#include "engine/storage/table_reserve.h"

namespace liststore::storage {
namespace {

// The rows in their short form; false: some are of another shape.
using HotRows = absl::InlinedVector<HotRow, 8>;
bool TakeHotRows(std::span<const StoredRow> rows, HotRows& hot) {
  hot.reserve(rows.size());
  for (const StoredRow& row : rows) {
    if (!row.marker.present() || row.tombstone.present() || row.cells.size() != 1) return false;
    const StoredCell& cell = row.cells[0];
    if (!cell.view.live || !cell.path.empty() || cell.view.liveness != row.marker) return false;
    hot.push_back({row.key, cell.view.value, row.marker});
  }
  return true;
}

}  // namespace

void Table::Drop() {
  LS_CHECK(!dropped_, "a table is dropped once");
  LS_CHECK(!pledged_bytes_, "no table ends within a batch");
  LS_CHECK(mirror_ == nullptr, "no table ends while it is copied");
  dropped_ = true;
  if (cache_ != nullptr) {
    TakePart(false);
    cache_->lane.Dismiss(*this);
    cache_.reset();
  }
  ForgetBaseline();
  set_aside_ = false;
  ++schema_.id.generation;
  id_ = schema_.id;
  TruncateAll();
}

bool Table::vacant() const {
  return dropped_ && !pass_.active && dead_ == nullptr && left_ == nullptr && wheel_.size() == 0 &&
         pins_.empty();
}

// Nothing is left to expire: the wheel is only emptied.
size_t Table::ReclaimDropped(size_t budget) {
  size_t units = pins_.Drain();
  if (units < budget && left_ != nullptr) units += ReclaimLeft(budget - units);
  if (units < budget && dead_ != nullptr) units += ReclaimDead(budget - units);
  if (units < budget && pass_.active) units += ReclaimTruncated(budget - units);
  if (units < budget && dead_ != nullptr) units += ReclaimDead(budget - units);
  if (units < budget && wheel_.size() > 0) {
    units += wheel_.Sweep(budget - units, [](const TtlWheel::Entry&) { return false; });
  }
  if (vacant()) ReleaseCredit();
  return units;
}

void Table::Reuse(TableSchema schema) {
  LS_CHECK(vacant() && directory_.empty() && context_.rows == 0, "only a vacant shell is reused");
  LS_CHECK(context_.held == TombstoneCounts{}, "tombstones go with their partitions");
  LS_CHECK(arena_.live_bytes() == 0, "a vacant shell holds no block");
  LS_CHECK(schema.id == schema_.id, "the shell has said which generation comes next");
  schema_ = std::move(schema);
  one_column_ = schema_.regular.size() == 1;
  context_.grace = {};
  context_.expired_rows = 0;
  context_.tombstones = 0;
  usage_ = {};
  evicted_bytes_ = 0;
  foreign_timestamps_ = false;
  past_unknown_ = false;
  dropped_ = false;
  // The clock may have been set back since the last table was here.
  wheel_.Restart();
  marks_.NoteAll();
  epoch_ = 1;
  truncated_before_ = 0;
  truncated_components_.clear();
  pass_ = {};
  due_again_.clear();
  expiries_.reset();
  context_.expiries = nullptr;
}

bool Table::IsBlank() {
  constexpr size_t kLooksMax = 64;
  size_t looks = 0;
  bool blank = true;
  directory_.ScanFrom(0, [&](DirectorySlot& slot) {
    return blank = ++looks <= kLooksMax && IsTruncated(Partition(context_, slot.reference));
  });
  return blank;
}

void Table::SetGrace(int64_t gc_grace_seconds) {
  schema_.gc_grace_seconds = gc_grace_seconds;
  if (foreign_timestamps_) context_.grace.grace_seconds = gc_grace_seconds;
}

OpStatus Table::PutKept(uint64_t address, ColumnId column, bool of_static_column,
                        const KeptCell& cell, int64_t now_seconds) {
  const CellUpdate update{
      .column = column, .live = cell.live, .value = cell.value, .path = cell.path};
  PackedItemKey packed;
  RowUpdate row{.key = {}, .marker = false, .of_static_row = of_static_column};
  if (!of_static_column) {
    row.key = MakeClusteringKey(cell.clustering_key, schema_.packs_item_keys(), packed);
  }
  if (cell.live) {
    row.ttl_seconds = cell.liveness.ttl_seconds;
    row.expiry_seconds = cell.liveness.expiry_seconds;
  }
  row.cells = {&update, 1};
  // What was copied was let in before, and is paid for; this cell makes its row larger.
  if (copying_ && cache_ != nullptr) cache_->paid_live_bytes = arena_.live_bytes();
  const absl::Cleanup back = [this, copying = std::exchange(copying_, false)] {
    copying_ = copying;
  };
  return Upsert({cell.partition_key, address}, {&row, 1},
                {cell.liveness.timestamp, cell.live ? now_seconds : cell.deletion_seconds,
                 /*foreign_timestamp=*/true});
}

Table::Replayed::Replayed(Table& table, bool has_seen_foreign, int64_t grace_start_seconds)
    : table_(table),
      foreign_before_(table.foreign_timestamps_),
      start_before_(table.context_.grace.start_seconds) {
  table.replaying_ = true;
  table.foreign_timestamps_ = has_seen_foreign;
  table.context_.grace = {};
  if (has_seen_foreign) {
    table.context_.grace = {table.schema_.gc_grace_seconds, grace_start_seconds};
  }
}

Table::Replayed::~Replayed() {
  table_.replaying_ = false;
  if (!foreign_before_) return;  // now as the write has left it
  GracePolicy& grace = table_.context_.grace;
  const int64_t start =
      table_.foreign_timestamps_ ? std::min(start_before_, grace.start_seconds) : start_before_;
  table_.foreign_timestamps_ = true;
  grace = {table_.schema_.gc_grace_seconds, start};
}

// --- To and from elsewhere -----------------------------------------------------------------------

void Table::SendStored(const Partition& partition, int64_t now_seconds, StoredRowSink& sink) const {
  StoredPartition head{.key = partition.key(),
                       .tombstone = partition.tombstone(),
                       .ranges = {},
                       .foreign_timestamps = foreign_timestamps_,
                       .grace_start_seconds = context_.grace.start_seconds};
  if (context_.grace.Gone(head.tombstone, now_seconds)) head.tombstone = {};
  head.partial = (partition.cache_bits() & cache_bits::kPartial) != 0;
  head.kept_empty = partition.kept_empty() && !partition.OverAt(now_seconds);
  if (!head.partial) head.fresh_until_seconds = partition.fresh_until_seconds();
  std::vector<StoredRange> ranges;
  if (partition.ranges() != nullptr) {
    partition.ranges()->ForEach([&](const ClusteringRange& range, const Tombstone& tombstone) {
      if (!context_.grace.Gone(tombstone, now_seconds)) ranges.push_back({range, tombstone});
    });
    head.ranges = ranges;
  }
  std::vector<StoredCell> statics;
  for (const StoredCell& cell : partition.StaticCells()) {
    const bool gone = cell.view.live ? context_.grace.Gone(cell.view.liveness, now_seconds)
                                     : context_.grace.Gone(cell.view.deletion_seconds, now_seconds);
    if (!gone) statics.push_back(cell);
  }
  head.static_cells = statics;
  sink.OnPartition(head);
  partition.SendStoredRows(now_seconds, sink);
  sink.OnPartitionEnd();
}

OpStatus Table::RestoreHotRows(const PartitionRef& partition, std::span<const HotRow> rows,
                               const Partition::Load& load, int64_t now_seconds) {
  RowsInOrder in_order;
  const bool ascend = load.hot && in_order.Take(rows, context_.grace, now_seconds);
  DirectorySlot* slot = nullptr;
  if (!Reserve(now_seconds, memory::MemoryBudget::Purpose::kGrow, [&] {
        slot = FindForWrite(partition);
        return UpsertBytes(partition, slot, {}, load);
      })) {
    return Refusal();
  }
  const auto begin = [&] {
    if (slot == nullptr) {
      slot = Create(partition, load.bytes);
      Partition(context_, slot->reference).Expect(load);
    }
    Unpin(slot);
    return Partition(context_, slot->reference);
  };
  if (ascend) rows = in_order.rows();  // those that are not over
  if (ascend && !rows.empty()) {
    Partition handle = begin();
    if (handle.TakesBehind(rows)) {
      handle.Append(rows);
      rows = {};
    }
  }
  for (const HotRow& row : rows) {
    if (context_.grace.Gone(row.liveness, now_seconds)) continue;
    const CellUpdate cell{.value = row.value};
    const RowUpdate update{.key = row.key,
                           .marker = true,
                           .ttl_seconds = row.liveness.ttl_seconds,
                           .expiry_seconds = row.liveness.expiry_seconds,
                           .cells = {&cell, 1}};
    begin().Upsert(update, {row.liveness.timestamp, now_seconds, foreign_timestamps_});
  }
  if (slot != nullptr) Finish(partition, slot);
  return OpStatus::kOk;
}

// A leaf has a place for a freshness from its beginning or never: a partition that needs one is
// begun before its rows come.
OpStatus Table::BeginRestored(const PartitionRef& partition, const StoredPartition& from,
                              Partition::Load load, bool keep_empty, int64_t now_seconds) {
  if (FindForWrite(partition) != nullptr) return OpStatus::kOk;
  const uint8_t fresh = from.fresh_until_seconds != 0 ? cache_bits::kFreshness : uint8_t{0};
  const size_t bytes = load.bytes;
  load.bytes += fresh;
  load.growth_bytes += fresh;
  if (!Reserve(now_seconds, memory::MemoryBudget::Purpose::kGrow,
               [&] { return UpsertBytes(partition, nullptr, {}, load); })) {
    return Refusal();
  }
  uint8_t bits = BeginBits(partition.address) | fresh;
  if (keep_empty) bits |= cache_bits::kKeptEmpty;
  if (baseline_epoch_ != 0) NoteCame(partition);
  const uint64_t reference =
      Partition::Create(context_, partition.key, epoch_, bytes, bits, from.fresh_until_seconds);
  DirectorySlot* slot =
      directory_.Insert(partition.address, Partition::KeyOf(reference), reference);
  Partition handle(context_, slot->reference);
  if (!handle.empty()) ScheduleEvent(partition.address, handle);
  return OpStatus::kOk;
}

void Table::EndRestored(const PartitionRef& partition, const StoredPartition& from,
                        bool keep_empty) {
  DirectorySlot* slot = FindForWrite(partition);
  if (slot == nullptr) return;
  Partition handle(context_, slot->reference);
  // Where it has no place for its freshness it would pass for fresh forever.
  const bool partial = from.partial || !handle.RestoreFreshness(from.fresh_until_seconds);
  uint8_t bits =
      handle.cache_bits() & static_cast<uint8_t>(~(cache_bits::kPartial | cache_bits::kKeptEmpty));
  if (partial) {
    bits |= cache_bits::kPartial;
  } else if (keep_empty) {
    bits |= cache_bits::kKeptEmpty;
  }
  handle.set_cache_bits(bits);
  if (handle.empty()) {
    Discard(partition.address, slot->reference);
  } else if (keep_empty) {
    ScheduleEvent(partition.address, handle);
  }
}

template <typename PutRows>
OpStatus Table::RestoreAround(const PartitionRef& partition, const StoredPartition& from,
                              const Partition::Load& load, bool has_rows, int64_t now_seconds,
                              PutRows&& put_rows) {
  const bool keep_empty =
      from.kept_empty && (from.fresh_until_seconds == 0 || from.fresh_until_seconds > now_seconds);
  const bool begun = keep_empty || from.fresh_until_seconds != 0;
  OpStatus status = OpStatus::kOk;
  if (begun) status = BeginRestored(partition, from, load, keep_empty && !has_rows, now_seconds);
  if (status == OpStatus::kOk) {
    TakeOverGrace(from);
    status = put_rows();
  }
  // What is begun here is complete, or partial for want of knowing better.
  if (status == OpStatus::kOk && (cache_ != nullptr || past_unknown_ || begun || from.partial)) {
    EndRestored(partition, from, keep_empty);
  }
  return status;
}

OpStatus Table::Restore(const PartitionRef& partition, const StoredPartition& from,
                        std::span<const StoredRow> rows, int64_t now_seconds) {
  HotRows hot;
  std::optional<Partition::Load> load;
  if (one_column_ && TakeHotRows(rows, hot)) load = LoadOf(schema_, hot);
  return RestoreAround(partition, from, load.value_or(Partition::Load{}), !rows.empty(),
                       now_seconds, [&] {
                         if (load && HasRowsAlone(from))
                           return RestoreHotRows(partition, hot, *load, now_seconds);
                         return RestoreRows(partition, from, rows, now_seconds);
                       });
}

OpStatus Table::Restore(const PartitionRef& partition, const StoredPartition& from,
                        std::span<const HotRow> rows, int64_t now_seconds) {
  const std::optional<Partition::Load> load = LoadOf(schema_, rows);
  if (load && HasRowsAlone(from)) {
    return RestoreAround(partition, from, *load, !rows.empty(), now_seconds,
                         [&] { return RestoreHotRows(partition, rows, *load, now_seconds); });
  }
  std::vector<StoredCell> cells;
  std::vector<StoredRow> stored;
  cells.reserve(rows.size());
  stored.reserve(rows.size());
  for (const HotRow& row : rows) {
    cells.push_back({0, {true, row.liveness, 0, row.value}});
    stored.push_back({row.key, row.liveness, {}, {&cells.back(), 1}});
  }
  return Restore(partition, from, stored, now_seconds);
}

// What is over keeps its effect as it did there.
void Table::TakeOverGrace(const StoredPartition& from) {
  if (!from.foreign_timestamps) return;
  const int64_t start = foreign_timestamps_
                            ? std::min(context_.grace.start_seconds, from.grace_start_seconds)
                            : from.grace_start_seconds;
  foreign_timestamps_ = true;
  context_.grace = {schema_.gc_grace_seconds, start};
}

bool Table::HasRowsAlone(const StoredPartition& from) const {
  return !from.tombstone.present() && from.ranges.empty() && from.static_cells.empty() &&
         mirror_ == nullptr;
}

OpStatus Table::RestoreRows(const PartitionRef& partition, const StoredPartition& from,
                            std::span<const StoredRow> rows, int64_t now_seconds) {
  const ColumnMap same = ColumnMap::Same(schema_);
  PartitionCopier copier(*this, partition, same, now_seconds, foreign_timestamps_, context_.grace);
  if (!context_.grace.Gone(from.tombstone, now_seconds)) copier.CopyTombstone(from.tombstone);
  for (const StoredRange& range : from.ranges) {
    if (!context_.grace.Gone(range.tombstone, now_seconds)) {
      copier.CopyRange(range.range, range.tombstone);
    }
  }
  copier.CopyStatics(from.static_cells);
  for (const StoredRow& row : rows) {
    if (copier.status() != OpStatus::kOk) break;
    copier.CopyRow(row);
  }
  return copier.status();
}

}  // namespace liststore::storage
