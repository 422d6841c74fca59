#include "tests/reference/reference_table.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/base/check.h"
#include "engine/model/partition_key.h"

namespace liststore::testing {

// --- Rows ---

bool ReferenceTable::Row::LiveAt(int64_t now_seconds) const {
  if (marker.LiveAt(now_seconds)) return true;
  return std::any_of(cells.begin(), cells.end(),
                     [&](const auto& entry) { return entry.second.LiveAt(now_seconds); });
}

bool ReferenceTable::Row::Matches(const ReadSpec::ValueFilter& filter, int64_t now_seconds) const {
  const auto cell = cells.find({filter.column, {}});
  return cell != cells.end() && cell->second.LiveAt(now_seconds) &&
         cell->second.value == filter.value;
}

void ReferenceTable::Row::RemoveCoveredBy(WriteTimestamp timestamp) {
  if (marker.timestamp <= timestamp) marker = {};
  std::erase_if(cells,
                [&](const auto& entry) { return entry.second.liveness.timestamp <= timestamp; });
}

// --- Positions ---

ReferenceTable::Position ReferenceTable::PositionOf(const ClusteringBound& bound) {
  if (bound.at_end) return {true, {}};
  return {false, std::string(bound.bytes)};
}

std::string ReferenceTable::PlainOf(ClusteringKeyView key) {
  char text[kItemKeyTextBytes];
  return std::string(PlainKey(key, text));
}

std::pair<ReferenceTable::Rows::const_iterator, ReferenceTable::Rows::const_iterator>
ReferenceTable::RowsIn(const Partition& partition, const ClusteringRange& range) {
  const Position lower = PositionOf(range.lower);
  const Position upper = PositionOf(range.upper);
  const Rows& rows = partition.rows;
  if (upper <= lower) return {rows.end(), rows.end()};
  return {rows.lower_bound(lower.bytes), upper.at_end ? rows.end() : rows.lower_bound(upper.bytes)};
}

// --- Purging ---

int64_t ReferenceTable::BeginWrite(const WriteContext& context) {
  if (context.foreign_timestamp && !foreign_) {
    PurgeAll(context.now_seconds, 0);
    foreign_ = true;
  }
  return foreign_ ? schema_.gc_grace_seconds : 0;
}

void ReferenceTable::PurgeRow(Row& row, int64_t now_seconds, int64_t grace_seconds) const {
  const auto gone = [&](const Liveness& liveness) {
    return liveness.expiring() && liveness.PurgeSeconds(grace_seconds) <= now_seconds;
  };
  if (row.marker.present() && gone(row.marker)) row.marker = {};
  if (row.tombstone.present() && row.tombstone.PurgeableAt(now_seconds, grace_seconds)) {
    row.tombstone = {};
  }
  std::erase_if(row.cells, [&](const auto& entry) {
    const Cell& cell = entry.second;
    return cell.live ? gone(cell.liveness) : cell.deletion_seconds + grace_seconds <= now_seconds;
  });
}

void ReferenceTable::PurgeTombstones(Partition& partition, int64_t now_seconds,
                                     int64_t grace_seconds) const {
  if (partition.tombstone.present() &&
      partition.tombstone.PurgeableAt(now_seconds, grace_seconds)) {
    partition.tombstone = {};
  }
  std::erase_if(partition.ranges, [&](const RangeTombstone& range) {
    return range.tombstone.PurgeableAt(now_seconds, grace_seconds);
  });
}

void ReferenceTable::PurgeAll(int64_t now_seconds, int64_t grace_seconds) {
  for (auto& [id, partition] : partitions_) {
    PurgeTombstones(partition, now_seconds, grace_seconds);
    for (auto& [key, row] : partition.rows) PurgeRow(row, now_seconds, grace_seconds);
    PurgeRow(partition.static_row, now_seconds, grace_seconds);
    std::erase_if(partition.rows, [](const auto& entry) { return entry.second.empty(); });
  }
  std::erase_if(partitions_, [](const auto& entry) { return entry.second.empty(); });
}

// --- Tombstones over rows ---

Tombstone ReferenceTable::CoveringTombstone(const Partition& partition,
                                            std::string_view key) const {
  Tombstone strongest = partition.tombstone;
  for (const RangeTombstone& range : partition.ranges) {
    const bool covers = range.lower.bytes <= key && (range.upper.at_end || key < range.upper.bytes);
    if (covers) strongest = Tombstone::Stronger(strongest, range.tombstone);
  }
  return strongest;
}

// Cuts everything at every bound; each elementary stretch then has one strongest tombstone.
void ReferenceTable::AddRangeTombstone(Partition& partition, const RangeTombstone& added) {
  std::set<Position> cuts = {added.lower, added.upper};
  for (const RangeTombstone& range : partition.ranges) {
    cuts.insert(range.lower);
    cuts.insert(range.upper);
  }
  std::vector<RangeTombstone> all = std::move(partition.ranges);
  all.push_back(added);
  partition.ranges.clear();
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    Tombstone strongest;
    for (const RangeTombstone& range : all) {
      if (range.lower <= *cut && *cut < range.upper) {
        strongest = Tombstone::Stronger(strongest, range.tombstone);
      }
    }
    if (!strongest.present()) continue;
    std::vector<RangeTombstone>& ranges = partition.ranges;
    if (!ranges.empty() && ranges.back().upper == *cut && ranges.back().tombstone == strongest) {
      ranges.back().upper = *std::next(cut);
    } else {
      ranges.push_back({*cut, *std::next(cut), strongest});
    }
  }
}

// --- Upserts ---

OpStatus ReferenceTable::Upsert(const storage::PartitionRef& ref, std::span<const RowUpdate> rows,
                                const WriteContext& context) {
  const int64_t grace_seconds = BeginWrite(context);
  Partition& partition = FindOrMake(ref);
  PurgeTombstones(partition, context.now_seconds, grace_seconds);
  for (const RowUpdate& update : rows) {
    update.of_static_row ? MergeStatic(partition, update, context, grace_seconds)
                         : MergeRow(partition, update, context, grace_seconds);
  }
  DropIfEmpty(ref);
  return OpStatus::kOk;
}

void ReferenceTable::MergeRow(Partition& partition, const RowUpdate& update,
                              const WriteContext& context, int64_t grace_seconds) {
  const std::string key = PlainOf(update.key);
  const auto position = partition.rows.try_emplace(key).first;
  Row& row = position->second;
  PurgeRow(row, context.now_seconds, grace_seconds);
  const Tombstone tombstone = Tombstone::Stronger(CoveringTombstone(partition, key), row.tombstone);
  if (!tombstone.Covers(context.timestamp)) {
    const Liveness liveness = {context.timestamp, update.expiry_seconds, update.ttl_seconds};
    if (update.marker && CompareMarkers(row.marker, liveness) < 0) row.marker = liveness;
    for (const CellUpdate& cell : update.cells) {
      MergeCell(row, cell, liveness, context, tombstone);
    }
    PurgeRow(row, context.now_seconds, grace_seconds);
  }
  if (row.empty()) partition.rows.erase(position);
}

void ReferenceTable::MergeStatic(Partition& partition, const RowUpdate& update,
                                 const WriteContext& context, int64_t grace_seconds) {
  PurgeRow(partition.static_row, context.now_seconds, grace_seconds);
  if (partition.tombstone.Covers(context.timestamp)) return;
  const Liveness liveness = {context.timestamp, update.expiry_seconds, update.ttl_seconds};
  for (const CellUpdate& cell : update.cells) {
    MergeCell(partition.static_row, cell, liveness, context, partition.tombstone);
  }
  PurgeRow(partition.static_row, context.now_seconds, grace_seconds);
}

void ReferenceTable::MergeCell(Row& row, const CellUpdate& update, const Liveness& liveness,
                               const WriteContext& context, const Tombstone& tombstone) const {
  Cell cell;
  cell.live = update.live;
  if (update.live) {
    cell.liveness = liveness;
    cell.value = std::string(update.value);
  } else {
    cell.liveness.timestamp.micros = context.timestamp.micros - (update.makes_way ? 1 : 0);
    cell.deletion_seconds = context.now_seconds;
    if (!cell.liveness.present() || tombstone.Covers(cell.liveness.timestamp)) return;
  }
  const WriteTimestamp timestamp = cell.liveness.timestamp;
  const bool covers = !cell.live && update.path.empty();
  const auto own = row.cells.find({update.column, {}});
  const bool is_covered = !update.path.empty() && own != row.cells.end() && !own->second.live &&
                          timestamp <= own->second.liveness.timestamp;
  if (is_covered) return;
  const std::pair key(update.column, std::string(update.path));
  const auto existing = row.cells.find(key);
  if (existing == row.cells.end() || CompareCells(existing->second.view(), cell.view()) < 0) {
    row.cells[key] = std::move(cell);
  }
  if (!covers) return;
  std::erase_if(row.cells, [&](const auto& entry) {
    return entry.first.first == update.column && !entry.first.second.empty() &&
           entry.second.liveness.timestamp <= timestamp;
  });
}

// --- Deletions ---

OpStatus ReferenceTable::DeleteRows(const storage::PartitionRef& ref,
                                    std::span<const ClusteringKeyView> keys,
                                    const WriteContext& context, uint64_t* removed) {
  const int64_t grace_seconds = BeginWrite(context);
  Partition& partition = FindOrMake(ref);
  PurgeTombstones(partition, context.now_seconds, grace_seconds);
  uint64_t count = 0;
  for (const ClusteringKeyView& key : keys) {
    DeleteRow(partition, PlainOf(key), context, grace_seconds, count);
  }
  DropIfEmpty(ref);
  if (removed != nullptr) *removed = count;
  return OpStatus::kOk;
}

void ReferenceTable::DeleteRow(Partition& partition, const std::string& key,
                               const WriteContext& context, int64_t grace_seconds,
                               uint64_t& removed) {
  if (CoveringTombstone(partition, key).Covers(context.timestamp)) return;
  const auto position = partition.rows.try_emplace(key).first;
  Row& row = position->second;
  PurgeRow(row, context.now_seconds, grace_seconds);
  const bool was_live = row.LiveAt(context.now_seconds);
  row.RemoveCoveredBy(context.timestamp);
  if (was_live && !row.LiveAt(context.now_seconds)) ++removed;
  const Tombstone tombstone = {context.timestamp, context.now_seconds};
  if (!tombstone.PurgeableAt(context.now_seconds, grace_seconds)) {
    row.tombstone = Tombstone::Stronger(row.tombstone, tombstone);
  }
  if (row.empty()) partition.rows.erase(position);
}

OpStatus ReferenceTable::DeleteRowsByValue(const storage::PartitionRef& ref, ColumnId column,
                                           std::string_view value, const WriteContext& context,
                                           uint64_t* removed) {
  if (removed != nullptr) *removed = 0;
  std::vector<std::string> keys;
  if (const Partition* partition = Find(ref); partition != nullptr) {
    for (const auto& [key, row] : partition->rows) {
      if (row.Matches({column, value}, context.now_seconds)) keys.push_back(key);
    }
  }
  if (keys.empty()) return OpStatus::kOk;  // nothing was found, nothing is written
  const int64_t grace_seconds = BeginWrite(context);
  Partition& partition = FindOrMake(ref);
  PurgeTombstones(partition, context.now_seconds, grace_seconds);
  uint64_t count = 0;
  for (const std::string& key : keys) DeleteRow(partition, key, context, grace_seconds, count);
  DropIfEmpty(ref);
  if (removed != nullptr) *removed = count;
  return OpStatus::kOk;
}

void ReferenceTable::EraseCovered(Partition& partition, Rows::iterator begin, Rows::iterator end,
                                  const WriteContext& context, int64_t grace_seconds,
                                  uint64_t& removed) {
  for (auto position = begin; position != end;) {
    Row& row = position->second;
    PurgeRow(row, context.now_seconds, grace_seconds);
    const bool was_live = row.LiveAt(context.now_seconds);
    row.RemoveCoveredBy(context.timestamp);
    if (row.tombstone.timestamp <= context.timestamp) row.tombstone = {};
    if (was_live && !row.LiveAt(context.now_seconds)) ++removed;
    position = row.empty() ? partition.rows.erase(position) : std::next(position);
  }
}

OpStatus ReferenceTable::DeleteRange(const storage::PartitionRef& ref, const ClusteringRange& range,
                                     const WriteContext& context, uint64_t* removed) {
  const int64_t grace_seconds = BeginWrite(context);
  Partition& partition = FindOrMake(ref);
  PurgeTombstones(partition, context.now_seconds, grace_seconds);
  uint64_t count = 0;
  const RangeTombstone added = {
      PositionOf(range.lower), PositionOf(range.upper), {context.timestamp, context.now_seconds}};
  if (added.lower < added.upper && !partition.tombstone.Covers(context.timestamp)) {
    Rows& rows = partition.rows;
    EraseCovered(partition, rows.lower_bound(added.lower.bytes),
                 added.upper.at_end ? rows.end() : rows.lower_bound(added.upper.bytes), context,
                 grace_seconds, count);
    if (!added.tombstone.PurgeableAt(context.now_seconds, grace_seconds)) {
      AddRangeTombstone(partition, added);
    }
  }
  DropIfEmpty(ref);
  if (removed != nullptr) *removed = count;
  return OpStatus::kOk;
}

OpStatus ReferenceTable::DeletePartition(const storage::PartitionRef& ref,
                                         const WriteContext& context, uint64_t* removed) {
  const int64_t grace_seconds = BeginWrite(context);
  Partition& partition = FindOrMake(ref);
  PurgeTombstones(partition, context.now_seconds, grace_seconds);
  uint64_t count = 0;
  EraseCovered(partition, partition.rows.begin(), partition.rows.end(), context, grace_seconds,
               count);
  std::erase_if(partition.ranges, [&](const RangeTombstone& range) {
    return range.tombstone.timestamp <= context.timestamp;
  });
  PurgeRow(partition.static_row, context.now_seconds, grace_seconds);
  partition.static_row.RemoveCoveredBy(context.timestamp);
  const Tombstone tombstone = {context.timestamp, context.now_seconds};
  if (!tombstone.PurgeableAt(context.now_seconds, grace_seconds)) {
    partition.tombstone = Tombstone::Stronger(partition.tombstone, tombstone);
  }
  DropIfEmpty(ref);
  if (removed != nullptr) *removed = count;
  return OpStatus::kOk;
}

// --- Reads ---

std::vector<LiveCellView> ReferenceTable::LiveCells(const Row& row, int64_t now_seconds) {
  std::vector<LiveCellView> cells;
  for (const auto& [key, cell] : row.cells) {
    if (cell.LiveAt(now_seconds))
      cells.push_back({key.first, cell.liveness, cell.value, key.second});
  }
  return cells;
}

uint64_t ReferenceTable::Read(const storage::PartitionRef& ref, const ReadSpec& spec,
                              int64_t now_seconds, RowSink& sink) const {
  const Partition* partition = Find(ref);
  if (partition == nullptr) return 0;
  if (spec.with_static_row) {
    const std::vector<LiveCellView> cells = LiveCells(partition->static_row, now_seconds);
    if (!cells.empty()) sink.OnStaticRow(cells);
  }
  const auto [begin, end] = RowsIn(*partition, spec.range);
  uint64_t returned = 0;
  const auto send = [&](const Rows::value_type& entry) {
    const auto& [key, row] = entry;
    if (!row.LiveAt(now_seconds)) return;
    if (spec.value_filter && !row.Matches(*spec.value_filter, now_seconds)) return;
    const std::vector<LiveCellView> cells = LiveCells(row, now_seconds);
    PackedItemKey packed;
    const RowView view = {MakeClusteringKey(key, schema_.packs_item_keys(), packed),
                          row.marker.LiveAt(now_seconds) ? row.marker : Liveness{}, cells};
    sink.OnRows({&view, 1});
    ++returned;
  };
  if (spec.descending) {
    for (auto row = end; row != begin && returned < spec.limit;) send(*--row);
  } else {
    for (auto row = begin; row != end && returned < spec.limit; ++row) send(*row);
  }
  return returned;
}

uint64_t ReferenceTable::Count(const storage::PartitionRef& ref, const ClusteringRange& range,
                               int64_t now_seconds) const {
  const Partition* partition = Find(ref);
  if (partition == nullptr) return 0;
  const auto [begin, end] = RowsIn(*partition, range);
  return static_cast<uint64_t>(std::count_if(
      begin, end, [&](const auto& entry) { return entry.second.LiveAt(now_seconds); }));
}

bool ReferenceTable::PartitionLives(const Partition& partition, int64_t now_seconds) {
  return partition.static_row.LiveAt(now_seconds) ||
         std::any_of(partition.rows.begin(), partition.rows.end(),
                     [&](const auto& entry) { return entry.second.LiveAt(now_seconds); });
}

// --- Partitions ---

const ReferenceTable::Partition* ReferenceTable::Find(const storage::PartitionRef& ref) const {
  const auto found = partitions_.find({ref.address, std::string(ref.key)});
  return found == partitions_.end() ? nullptr : &found->second;
}

ReferenceTable::Partition& ReferenceTable::FindOrMake(const storage::PartitionRef& ref) {
  return partitions_[{ref.address, std::string(ref.key)}];
}

void ReferenceTable::DropIfEmpty(const storage::PartitionRef& ref) {
  const auto found = partitions_.find({ref.address, std::string(ref.key)});
  LS_CHECK(found != partitions_.end(), "every write begins by making its partition");
  if (found->second.empty()) partitions_.erase(found);
}

void ReferenceTable::TruncateAll() { partitions_.clear(); }

void ReferenceTable::TruncateFirstComponent(std::string_view component) {
  std::erase_if(partitions_,
                [&](const auto& entry) { return FirstComponent(entry.first.second) == component; });
}

bool ReferenceTable::BeginAnew(int64_t now_seconds) {
  PurgeAll(now_seconds, foreign_ ? schema_.gc_grace_seconds : 0);
  foreign_ = false;
  return partitions_.empty();
}

std::vector<storage::PartitionRef> ReferenceTable::StoredPartitions() const {
  std::vector<storage::PartitionRef> partitions;
  for (const auto& [id, partition] : partitions_) partitions.push_back({id.second, id.first});
  return partitions;
}

std::optional<int64_t> ReferenceTable::EarliestExpiry(int64_t now_seconds) const {
  std::optional<int64_t> earliest;
  const auto consider = [&](const Liveness& liveness) {
    if (!liveness.LiveAt(now_seconds) || !liveness.expiring()) return;
    earliest = std::min(earliest.value_or(liveness.expiry_seconds), liveness.expiry_seconds);
  };
  const auto consider_row = [&](const Row& row) {
    consider(row.marker);
    for (const auto& [key, cell] : row.cells) {
      if (cell.live) consider(cell.liveness);
    }
  };
  for (const auto& [id, partition] : partitions_) {
    consider_row(partition.static_row);
    for (const auto& [key, row] : partition.rows) consider_row(row);
  }
  return earliest;
}

uint64_t ReferenceTable::CountAll(int64_t now_seconds) const {
  uint64_t rows = 0;
  for (const auto& [id, partition] : partitions_) {
    rows += Count({id.second, id.first}, {}, now_seconds);
  }
  return rows;
}

}  // namespace liststore::testing
