#include "engine/storage/table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/model/partition_key.h"
#include "engine/storage/partition/rows_in_order.h"
#include "engine/storage/partition/upsert_load.h"
#include "engine/storage/table_baseline.h"
#include "engine/storage/table_reserve.h"

namespace liststore::storage {
namespace {

// What rows make a partition take besides what they bring: the leaf that grows by a quarter, the lists
// that double, the indexes when there are enough leaves for them, and what a small one becomes.
size_t GrowthBytesOf(uint64_t reference, const TableSchema& schema) {
  if (!Partition::IsLarge(reference)) {
    const Leaf leaf(Partition::BlockOf(reference));
    if (leaf.used_bytes() * 2 < kLeafBytesMax) return 0;
    return kLeafBytesMax + LargePartition::BytesFor(leaf.partition_key().size());
  }
  const LargePartition& partition = Partition::LargeOf(reference);
  const size_t bytes = kLeafBytesMax / 4 + partition.GrowthBytes();
  if (schema.indexes.empty() || partition.indexed() ||
      partition.tree.leaf_count() < LargePartition::kScannedLeavesMax) {
    return bytes;
  }
  return bytes + partition.row_count * schema.indexes.size() * ValueIndex::kAddBytes;
}

bool IsWhole(const ClusteringRange& range) {
  return range.lower.bytes.empty() && !range.lower.at_end && range.upper.at_end;
}

uint32_t WheelTag(std::string_view key) { return static_cast<uint32_t>(Hash64(key)); }

}  // namespace

Table::Table(const TableSchema& schema, memory::PagePool& pool, memory::MemoryBudget& budget,
             const AddressOf& address_of)
    : schema_(schema),
      address_of_(address_of),
      budget_(budget),
      arena_(pool, budget),
      context_(schema_, arena_),
      id_(schema.id),
      one_column_(schema.regular.size() == 1),
      directory_(arena_),
      wheel_(arena_),
      pins_(arena_) {}

Table::~Table() {
  // What lives in the arena and owns heap memory besides is nothing: the arena gives all of it
  // back.
}

// --- Finding -------------------------------------------------------------------------------------

bool Table::IsTruncated(const Partition& partition) const {
  const uint32_t epoch = partition.epoch();
  if (epoch < truncated_before_) return true;
  if (truncated_components_.empty()) return false;
  const auto at = truncated_components_.find(FirstComponent(partition.key()));
  return at != truncated_components_.end() && epoch < at->second;
}

DirectorySlot* Table::FindForWrite(const PartitionRef& partition) {
  DirectorySlot* slot = directory_.Find(
      partition.address, partition.key, [](uint64_t reference) __attribute__((always_inline)) {
        Partition::PrefetchForWrite(reference);
      });
  if (slot == nullptr) return nullptr;
  if (pass_.active && IsTruncated(Partition(context_, slot->reference))) {
    Discard(slot->address, slot->reference);
    return nullptr;
  }
  return slot;
}

DirectorySlot* Table::Create(const PartitionRef& partition, size_t expected_bytes) {
  if (baseline_epoch_ != 0) [[unlikely]]
    NoteCame(partition);
  const uint64_t reference = Partition::Create(context_, partition.key, epoch_, expected_bytes,
                                               BeginBits(partition.address));
  return directory_.Insert(partition.address, Partition::KeyOf(reference), reference);
}

void Table::Discard(uint64_t address, uint64_t reference) {
  const Partition handle(context_, reference);
  if (handle.wheel_when() != 0) wheel_.NoteStale();
  if (cache_ != nullptr) {
    if ((handle.cache_bits() & cache_bits::kProbation) != 0) NoteOnProbation(-1);
    if (cache_->takes_part) cache_->lane.NoteGoing();
  }
  directory_.Erase(address, Partition::KeyOf(reference));
  if (baseline_epoch_ != 0) [[unlikely]]
    return KeepOrBury(address, reference);
  Bury(reference);
}

void Table::ScheduleEvent(uint64_t address, Partition& partition) {
  const uint32_t next = partition.NextEvent();
  const uint32_t when = partition.wheel_when();
  if (next == kNeverExpires || (when != 0 && when <= next)) return;
  if (when != 0) wheel_.NoteStale();
  wheel_.Schedule({address, next, WheelTag(partition.key())});
  partition.set_wheel_when(next);
}

void Table::Finish(const PartitionRef& partition, DirectorySlot* slot) {
  TrimScratch();
  Partition handle(context_, slot->reference);
  if (handle.empty()) {
    Discard(partition.address, slot->reference);
    return;
  }
  ScheduleEvent(partition.address, handle);
  if (!pledged_bytes_ && handle.WantsShrink()) handle.Shrink();
}

// --- Memory set aside ----------------------------------------------------------------------------

size_t Table::CreateBytes(const PartitionRef& partition) const {
  const size_t queue = cache_ == nullptr ? 0 : cache_->probation.ReserveBytes();
  const size_t came = baseline_epoch_ == 0 ? 0 : NoteCameBytes(partition);
  return directory_.ReserveBytesForInsert() + queue + came +
         LargePartition::BytesFor(partition.key.size());
}

size_t Table::UpsertBytes(const PartitionRef& partition, const DirectorySlot* slot,
                          std::span<const RowUpdate> rows, const Partition::Load& load) {
  // Leaves are half full at least.
  size_t bytes = 2 * load.growth_bytes + load.rows * schema_.indexes.size() * ValueIndex::kAddBytes;
  bytes += slot == nullptr ? CreateBytes(partition) : GrowthBytesOf(slot->reference, schema_);
  if (slot != nullptr) bytes += UnpinBytes(slot);
  uint64_t reference = slot == nullptr ? 0 : slot->reference;
  const Partition handle(context_, reference);
  if (load.hot && load.all_short && (slot == nullptr || !handle.MayHaveComplexRows())) return bytes;
  if (!load.hot && rows.size() > 1) context_.PrepareOrder(rows.size());
  const RowUpdate* before = nullptr;
  Partition::StoredSize there;
  for (const RowUpdate& row : rows) {
    const size_t most = RowBytesMax(schema_, row);
    // A row that is merged is written again whole, perhaps before what was there is freed; once,
    // whatever comes to it.
    const bool again = before != nullptr && before->of_static_row == row.of_static_row &&
                       (row.of_static_row || CompareKeys(before->key, row.key) == 0);
    if (!again) there = slot == nullptr ? Partition::StoredSize{} : handle.SizeOfStored(row);
    const size_t stored = again ? 0 : there.bytes;
    before = &row;
    rows_bytes_max_ += most + stored;
    rows_cells_ += row.cells.size();
    row_cells_met_ = std::max<uint64_t>(row_cells_met_, there.cells);
    if (!again || NullsAColumn(row)) NoteRewritten(there.cells);
    if (row.of_static_row || most + stored > kInlineRowBytesMax) {
      bytes += memory::Arena::BlockBytes(most + stored);
    }
  }
  return bytes;
}

void Table::NoteTimestamps(const WriteContext& write) {
  if (!write.foreign_timestamp || foreign_timestamps_) return;
  foreign_timestamps_ = true;
  context_.grace = {schema_.gc_grace_seconds, write.now_seconds};
}

// --- Writes --------------------------------------------------------------------------------------

OpStatus Table::Pledge(const PartitionRef& partition, std::span<const RowUpdate> rows,
                       const WriteContext& write) {
  size_t bytes = 0;
  const Partition::Load load = LoadOf(schema_, rows, write);
  if (!Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGrow, [&] {
        const DirectorySlot* slot = FindForWrite(partition);
        bytes = UpsertBytes(partition, slot, rows, load);
        const SharedUpsert all{rows};
        CheckRowSizes(slot, {&all, 1}, write);
        return bytes;
      })) {
    return Refusal();
  }
  pledged_bytes_ = pledged_bytes_.value_or(0) + bytes;
  return OpStatus::kOk;
}

OpStatus Table::Upsert(const PartitionRef& partition, std::span<const RowUpdate> rows,
                       const WriteContext& write) {
  if (rows.empty()) return OpStatus::kOk;
  if (mirror_ != nullptr) [[unlikely]]
    return UpsertInBoth(partition, rows, write);
  const Partition::Load load = LoadOf(schema_, rows, write);
  DirectorySlot* slot = FindForWrite(partition);
  if (slot != nullptr && Partition::IsLarge(slot->reference)) {
    Partition(context_, slot->reference).PrefetchIndexed(rows);
  }
  // Most upserts need no memory: what they might need is not added up for them.
  if (slot != nullptr && !MayRewrite(write) && !IsOfBaseline(slot->reference)) {
    Partition handle(context_, slot->reference);
    const bool over = IsOver(slot->reference, write.now_seconds);
    if (handle.UpsertInPlace(rows, load, write)) {
      if (over) handle.BeginAnew(MayHaveMore(partition.address));
      NoteUpsert(partition, rows);
      return OpStatus::kOk;
    }
  }
  // What the heap may refuse comes before the first write of a batch.
  const bool may_fail = !pledged_bytes_ && !redeeming_;
  if (slot == nullptr && load.hot && load.all_short && rows.size() > 1 &&
      (may_fail || rows.size() <= RowsInOrder::kInlineRows)) {
    return UpsertFirst(partition, rows, load, write);
  }
  bool again = false;  // reclamation may have moved or taken the partition
  if (!pledged_bytes_ && !Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGrow, [&] {
        if (std::exchange(again, true)) slot = FindForWrite(partition);
        if (redeeming_) return size_t{0};
        const size_t bytes = UpsertBytes(partition, slot, rows, load);
        const SharedUpsert all{rows};
        CheckRowSizes(slot, {&all, 1}, write);
        return bytes;
      })) {
    return Refusal();
  }
  NoteTimestamps(write);
  const bool over = slot != nullptr && IsOver(slot->reference, write.now_seconds);
  if (slot == nullptr) {
    slot = Create(partition, load.bytes);
  } else {
    Unpin(slot);
  }
  Partition handle(context_, slot->reference);
  handle.Expect(load);
  if (load.hot || rows.size() < 2) [[likely]] {
    for (const RowUpdate& row : rows) handle.Upsert(row, write);
  } else {
    handle.UpsertAll(rows, write);
  }
  if (over) {
    handle.BeginAnew(MayHaveMore(partition.address));
  } else if (handle.kept_empty()) {
    handle.set_cache_bits(handle.cache_bits() & static_cast<uint8_t>(~cache_bits::kKeptEmpty));
  }
  NoteUpsert(partition, rows);
  Finish(partition, slot);
  if (cache_ != nullptr) PayOrOwe(partition, write.now_seconds);
  return OpStatus::kOk;
}

OpStatus Table::UpsertFirst(const PartitionRef& partition, std::span<const RowUpdate> rows,
                            const Partition::Load& load, const WriteContext& write) {
  RowsInOrder in_order;
  const bool together = in_order.Take(rows, write);
  if (!pledged_bytes_ && !Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGrow,
                                  [&] { return UpsertBytes(partition, nullptr, rows, load); })) {
    return Refusal();
  }
  NoteTimestamps(write);
  DirectorySlot* const slot = Create(partition, load.bytes);
  Partition handle(context_, slot->reference);
  handle.Expect(load);
  if (together && handle.TakesBehind(in_order.rows())) {
    handle.Append(in_order.rows());
  } else {
    for (const RowUpdate& row : rows) handle.Upsert(row, write);
  }
  NoteUpsert(partition, rows);
  Finish(partition, slot);
  if (cache_ != nullptr) PayOrOwe(partition, write.now_seconds);
  return OpStatus::kOk;
}

bool Table::MayRewrite(const WriteContext& write) const {
  return foreign_timestamps_ || write.foreign_timestamp;
}

bool Table::KeepsTombstones(const WriteContext& write) const {
  return (foreign_timestamps_ || write.foreign_timestamp) && schema_.gc_grace_seconds > 0;
}

void Table::PrepareDeletions(const DirectorySlot* slot, std::span<const ClusteringKeyView> keys,
                             const WriteContext& write, WriteTimestamp oldest) {
  if (slot == nullptr) return;
  uint64_t reference = slot->reference;
  const Partition handle(context_, reference);
  // Where nothing is kept of deletions, what is simple goes as it lies.
  if (!MayRewrite(write) && !handle.MayHaveComplexRows()) return;
  Partition::RowScratch scratch;
  for (const ClusteringKeyView& key : keys) {
    scratch.TakeLarger(handle.ScratchOfDeletion(key, oldest));
  }
  deletions_.Add(scratch);
}

void Table::PrepareRangeDeletion(const DirectorySlot* slot, const ClusteringRange& range,
                                 const WriteContext& write, WriteTimestamp oldest, size_t others) {
  const bool keeps = MayRewrite(write) && !IsWhole(range);
  if (keeps) RangeTombstones::PrepareFirstAdd(others, context_.ranges);
  if (slot != nullptr) {
    uint64_t reference = slot->reference;
    const Partition handle(context_, reference);
    const RangeTombstones* const ranges = handle.ranges();
    if (keeps && ranges != nullptr) {
      ranges->PrepareAdd(range, {write.timestamp, write.now_seconds}, others, context_.ranges);
    }
    deletions_.Add(handle.ScratchOfDeletions(oldest));
  }
  context_.NoteRangesScratch();
}

size_t Table::DeleteRowsBytes(const PartitionRef& partition, const DirectorySlot* slot,
                              std::span<const ClusteringKeyView> keys, const WriteContext& write) {
  const size_t bytes = UnpinBytes(slot);
  // Under timestamps of its own a table has nothing to keep: a deletion only gives memory back, and
  // must not fail for want of it, but for what a baseline is to have.
  if (!MayRewrite(write)) return bytes;
  size_t long_keys = 0;  // have blocks of their own
  for (const ClusteringKeyView& key : keys) {
    if (key.bytes.size() > kInlineRowBytesMax / 2)
      long_keys += memory::Arena::BlockBytes(key.bytes.size());
  }
  return bytes + long_keys + LoadOfDeletions(schema_, keys).growth_bytes +
         (slot == nullptr ? CreateBytes(partition) : 0);
}

OpStatus Table::DeleteRows(const PartitionRef& partition, std::span<const ClusteringKeyView> keys,
                           const WriteContext& write, uint64_t* removed) {
  if (mirror_ != nullptr) [[unlikely]]
    return DeleteRowsInBoth(partition, keys, write, removed);
  if (removed != nullptr) *removed = 0;
  NoteChange(partition);
  DirectorySlot* slot = nullptr;
  if (!Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGiveBack, [&] {
        slot = FindForWrite(partition);
        if (redeeming_) return size_t{0};
        PrepareDeletions(slot, keys, write, write.timestamp);
        return DeleteRowsBytes(partition, slot, keys, write);
      })) {
    return Refusal();
  }
  NoteTimestamps(write);
  if (slot == nullptr && !KeepsTombstones(write)) return OpStatus::kOk;
  const Partition::Load load = LoadOfDeletions(schema_, keys);
  if (slot == nullptr) slot = Create(partition, load.bytes);
  Unpin(slot);
  Partition handle(context_, slot->reference);
  if (MayRewrite(write)) handle.Expect(load);
  for (const ClusteringKeyView& key : keys) {
    const uint64_t went = handle.DeleteRow(key, write);
    if (removed != nullptr) *removed += went;
  }
  Finish(partition, slot);
  return OpStatus::kOk;
}

size_t Table::DeleteRangeBytes(const PartitionRef& partition, const DirectorySlot* slot,
                               const ClusteringRange& range, const WriteContext& write) {
  const size_t bytes = UnpinBytes(slot);
  if (!MayRewrite(write)) return bytes;
  // What a deletion of the whole partition leaves, and what a small one becomes.
  const size_t made =
      slot == nullptr ? CreateBytes(partition) : LargePartition::BytesFor(partition.key.size());
  if (IsWhole(range)) return bytes + made;
  if (slot != nullptr && Partition::IsLarge(slot->reference)) {
    return bytes +
           Partition::LargeOf(slot->reference)
               .ranges.AddBytes(range, {write.timestamp, write.now_seconds}, context_.ranges);
  }
  return bytes + made + RangeTombstones::FirstAddBytes(range);
}

OpStatus Table::DeleteRange(const PartitionRef& partition, const ClusteringRange& range,
                            const WriteContext& write, uint64_t* removed) {
  if (mirror_ != nullptr) [[unlikely]]
    return DeleteRangeInBoth(partition, range, write, removed);
  if (removed != nullptr) *removed = 0;
  NoteChange(partition);
  DirectorySlot* slot = nullptr;
  if (!Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGiveBack, [&] {
        slot = FindForWrite(partition);
        if (redeeming_) return size_t{0};
        PrepareRangeDeletion(slot, range, write, write.timestamp, /*others=*/0);
        return DeleteRangeBytes(partition, slot, range, write);
      })) {
    return Refusal();
  }
  NoteTimestamps(write);
  if (slot == nullptr && !KeepsTombstones(write)) return OpStatus::kOk;
  if (slot == nullptr) slot = Create(partition, 0);
  Unpin(slot);
  const uint64_t went =
      Partition(context_, slot->reference).DeleteRange(range, write, removed != nullptr);
  if (removed != nullptr) *removed = went;
  Finish(partition, slot);
  return OpStatus::kOk;
}

OpStatus Table::DeletePartition(const PartitionRef& partition, const WriteContext& write,
                                uint64_t* removed) {
  if (mirror_ != nullptr) [[unlikely]]
    return DeletePartitionInBoth(partition, write, removed);
  if (removed != nullptr) *removed = 0;
  NoteChange(partition);
  const bool keep = KeepsTombstones(write);
  DirectorySlot* slot = FindForWrite(partition);
  // Under timestamps of the lane all rows are older; where views point to them, they are not erased
  // one by one, which would take a copy.
  // So where a baseline is to have them.
  const auto all_go = [&] {
    return slot != nullptr &&
           (((IsPinned(slot) || IsOfBaseline(slot->reference)) && !MayRewrite(write)) ||
            Partition(context_, slot->reference).AllCoveredBy(write.timestamp));
  };
  if ((keep || baseline_epoch_ != 0 || !all_go()) &&
      !Reserve(write.now_seconds, memory::MemoryBudget::Purpose::kGiveBack, [&] {
        slot = FindForWrite(partition);
        if (redeeming_) return size_t{0};
        if (baseline_ != nullptr && !keep && all_go()) {
          return baseline_->kept.ReserveBytesForInsert();
        }
        PrepareRangeDeletion(slot, {}, write, write.timestamp, /*others=*/0);
        return DeleteRangeBytes(partition, slot, {}, write);
      })) {
    return Refusal();
  }
  NoteTimestamps(write);
  if (all_go()) {
    // Everything goes: out of sight at once, taken apart in slices.
    if (removed != nullptr) {
      *removed = Partition(context_, slot->reference).Count({}, write.now_seconds);
    }
    Discard(partition.address, slot->reference);
    slot = nullptr;
  }
  if (slot == nullptr && !keep) return OpStatus::kOk;
  if (slot == nullptr) slot = Create(partition, 0);
  Unpin(slot);
  const uint64_t went = Partition(context_, slot->reference).DeleteAll(write, removed != nullptr);
  if (removed != nullptr) *removed += went;
  Finish(partition, slot);
  return OpStatus::kOk;
}

OpStatus Table::DeleteRowsByValue(const PartitionRef& partition, ColumnId column,
                                  std::string_view value, const WriteContext& write,
                                  uint64_t* removed) {
  if (removed != nullptr) *removed = 0;
  NoteChange(partition);
  DirectorySlot* slot = FindForWrite(partition);
  if (slot == nullptr) return OpStatus::kOk;
  Partition handle(context_, slot->reference);
  // Most lists: 1340 ns a removal by way of their keys, 740 in place; of 600 items 6.2 us and 3.6.
  if (!MayRewrite(write) && !IsPinned(slot) && !IsOfBaseline(slot->reference) &&
      mirror_ == nullptr) {
    if (const auto went = handle.DeleteSimpleRowsWithValue(column, value, write)) {
      if (removed != nullptr) *removed = *went;
      if (*went != 0) Finish(partition, slot);
      return OpStatus::kOk;
    }
  }
  const std::vector<std::string> keys = handle.KeysWithValue(column, value, write.now_seconds);
  if (keys.empty()) return OpStatus::kOk;
  std::vector<ClusteringKeyView> views;
  std::vector<PackedItemKey> packed(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    views.push_back(MakeClusteringKey(keys[i], schema_.packs_item_keys(), packed[i]));
  }
  return DeleteRows(partition, views, write, removed);
}

std::vector<std::string> Table::KeysWithValue(const PartitionRef& partition, ColumnId column,
                                              std::string_view value, int64_t now_seconds) {
  const DirectorySlot* const slot = FindForRead(partition);
  if (slot == nullptr) return {};
  uint64_t reference = slot->reference;
  return Partition(context_, reference).KeysWithValue(column, value, now_seconds);
}

// --- Reads ---------------------------------------------------------------------------------------

uint64_t Table::Count(const PartitionRef& partition, const ClusteringRange& range,
                      int64_t now_seconds, uint64_t* dead_rows, uint64_t looks_max,
                      std::string* stopped_at) {
  const DirectorySlot* slot = FindForRead(partition);
  if (slot == nullptr) return 0;
  uint64_t reference = slot->reference;
  const uint64_t rows =
      Partition(context_, reference).Count(range, now_seconds, dead_rows, looks_max, stopped_at);
  TrimScratch();
  return rows;
}

TableStats Table::stats() const {
  TableStats stats;
  stats.partitions = directory_.size();
  stats.rows = context_.rows - rows_aside_;
  stats.expired_rows = context_.expired_rows;
  stats.tombstones = context_.tombstones;
  stats.tombstones_held = context_.held;
  stats.tombstones_held -= tombstones_aside_;
  stats.live_bytes = arena_.live_bytes();
  stats.held_bytes = arena_.held_bytes() + arena_.credit_bytes();
  stats.slabs_beyond_limit = arena_.slabs_beyond_limit();
  stats.usage = usage_;
  if (usage_of_ != nullptr) stats.usage.Add(usage_of_->total());
  stats.evicted_bytes = evicted_bytes_;
  return stats;
}

void Table::Verify() {
  arena_.Verify();
  directory_.Verify();
  wheel_.Verify();
  pins_.Verify();
  size_t rows = 0;
  TombstoneCounts tombstones;
  size_t pinned = 0;
  directory_.ScanFrom(0, [&](DirectorySlot& slot) {
    const Partition partition(context_, slot.reference);
    LS_CHECK(address_of_(partition.key()) == slot.address, "a partition stands at its address");
    rows += partition.Verify(&tombstones);
    pinned += IsPinned(&slot) ? 1 : 0;
    LS_CHECK(partition.NextEvent() == kNeverExpires || partition.wheel_when() != 0,
             "a partition with something to come is in the wheel");
    return true;
  });
  for (const LargePartition* dead = dead_; dead != nullptr; dead = dead->next_dead) {
    rows += dead->row_count;
  }
  tombstones += TombstonesOfDead();
  TombstoneCounts tombstones_kept;
  const uint64_t rows_kept = VerifyBaseline(pinned, tombstones_kept);
  LS_CHECK(rows_kept == rows_aside_, "rows that are kept are counted");
  LS_CHECK(rows + rows_kept == context_.rows, "(4) rows are counted");
  LS_CHECK(tombstones_kept == tombstones_aside_, "tombstones that are kept are counted");
  tombstones += tombstones_kept;
  LS_CHECK(tombstones == context_.held, "(4) tombstones are counted");
  VerifyEviction();
  LS_CHECK(pinned + pins_.orphans() == pins_.blocks(),
           "pinned blocks are of partitions or orphans");
}

}  // namespace liststore::storage
