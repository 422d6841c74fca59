#include "engine/execute/write/write_set.h"

#include <algorithm>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/values/key_bytes.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore::execute {
namespace {

constexpr int64_t kFutureMicrosMax = int64_t{3} * 86'400 * 1'000'000;

int64_t Micros(uint64_t now_nanos) { return static_cast<int64_t>(now_nanos / 1000); }

// Elements that have places of their own, each time they are added.
bool AddsToList(const cql::CellAssignment& assignment) {
  using Kind = cql::CellAssignment::Kind;
  return assignment.of_elements() && assignment.elements.kind() == DataType::Kind::kList &&
         (assignment.kind == Kind::kSet || assignment.kind == Kind::kAdd ||
          assignment.kind == Kind::kPrepend);
}

// An element of a deque, which is the first as a rule: a deque takes a division for any other.
template <typename T>
T& At(std::deque<T>& all, size_t index) {
  return index == 0 ? all.front() : all[index];
}

// The next of a deque whose elements are used again; their memory with them.
template <typename T>
T& Next(std::deque<T>& all, size_t& count) {
  if (count == all.size()) all.emplace_back();
  return At(all, count++);
}

// A value in the entry of an index shares its length limit with the row's key.
// Source: ScyllaDB db/view/view.cc; keys/compound.hh.
cql::CqlStatus CheckIndexed(const TableDefinition& table, ColumnId column, std::string_view value,
                            size_t key_bytes) {
  const size_t bytes = value.size() + 2 + key_bytes + 2 * table.storage.clustering.size();
  if (bytes <= kKeyBytesMax) [[likely]]
    return {};
  const bool indexed = std::ranges::any_of(
      table.storage.indexes, [&](const IndexSchema& index) { return index.column == column; });
  return indexed ? cql::KeyTooLong(bytes) : cql::CqlStatus();
}

// Of each column of the table the bytes of its value: of keys, and of regular columns that are
// written.
std::vector<size_t> ValueBytes(const TableDefinition& table, std::string_view partition,
                               std::string_view key, std::span<const CellUpdate> cells) {
  const auto components = SplitPartitionKey(partition, table.storage.partition_key.size());
  LS_CHECK(components.has_value(), "the key was encoded a moment ago");
  const std::vector<std::string> clustering = DecodeClusteringKey(table.storage.clustering, key);
  std::vector<size_t> bytes;
  for (const ColumnDefinition& column : table.columns) {
    size_t& length = bytes.emplace_back(0);
    if (column.kind == ColumnKind::kPartitionKey) length = (*components)[column.position].size();
    if (column.kind == ColumnKind::kClustering) length = clustering[column.position].size();
    if (column.kind != ColumnKind::kRegular) continue;
    for (const CellUpdate& cell : cells) {
      if (cell.live && cell.column == column.position) length = cell.value.size();
    }
  }
  return bytes;
}

// The same of the keys of the table's views, each of its own.
cql::CqlStatus CheckViewKeys(const cql::ModificationPlan& plan, std::string_view partition,
                             std::string_view key, std::span<const CellUpdate> cells) {
  // All of it together is within one key as a rule.
  size_t all = partition.size() + key.size() + 2 * plan.table->columns.size();
  for (const CellUpdate& cell : cells) all += cell.live ? cell.value.size() : 0;
  if (all <= kKeyBytesMax) return {};
  const std::vector<size_t> bytes = ValueBytes(*plan.table, partition, key, cells);
  for (const cql::ViewPlan& view : plan.views->views) {
    for (const auto* columns : {&view.partition_key, &view.clustering}) {
      size_t length = 0;
      for (const uint16_t column : *columns) length += bytes[column] + 2;
      if (length > kKeyBytesMax) return cql::KeyTooLong(length);
    }
  }
  return {};
}

// The same of a static column, whose entry has no clustering key.
cql::CqlStatus CheckIndexedStatic(const TableDefinition& table, ColumnId column,
                                  std::string_view value) {
  if (table.indexes.empty()) return {};
  if (table.FindIndexOn(table.storage.statics[column].name) == nullptr) return {};
  return cql::CheckKeyBytes({{value}});
}

}  // namespace

cql::CqlOr<std::optional<int64_t>> ReadTimestamp(const cql::Operand& operand,
                                                 cql::BoundValues values) {
  const cql::BoundValue value = cql::Peek(operand, values);
  if (value.is_unset()) return std::optional<int64_t>();
  if (value.is_null()) return cql::CqlError::Invalid("Invalid null value of timestamp");
  if (value.bytes.size() != sizeof(int64_t)) return cql::InvalidValue(operand, value.bytes);
  return std::optional(static_cast<int64_t>(LoadBigEndian64(value.bytes.data())));
}

cql::CqlStatus ResolveTimestamp(const std::optional<cql::Operand>& operand, cql::BoundValues values,
                                std::optional<int64_t>& timestamp) {
  if (!operand) return {};
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> given, ReadTimestamp(*operand, values));
  if (!given) return {};
  const int64_t micros = *given;
  if (micros == std::numeric_limits<int64_t>::min()) {
    return cql::CqlError::Invalid(
        "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807]");
  }
  timestamp = micros;
  return {};
}

cql::CqlStatus CheckNotInFuture(const std::optional<cql::Operand>& operand, cql::BoundValues values,
                                uint64_t now_nanos) {
  if (!operand) [[likely]]
    return {};
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> timestamp, ReadTimestamp(*operand, values));
  const int64_t micros = timestamp.value_or(0);
  if (micros > Micros(now_nanos) && micros - Micros(now_nanos) > kFutureMicrosMax) {
    return cql::CqlError::Invalid(
        "Cannot provide a timestamp more than 3 days into the future. If this was not intended, "
        "make sure the timestamp is in microseconds. You can also disable this check by setting "
        "the restrict_future_timestamp configuration option to false.");
  }
  return {};
}

void WriteSet::Trim() {
  size_t key_bytes = 0;
  for (size_t i = 0; i < partition_count_; ++i) key_bytes += partitions_[i].capacity();
  for (size_t i = 0; i < row_count_; ++i) key_bytes += rows_[i].key.capacity();
  if (row_count_ <= kRowsKept && group_count_ <= kRowsKept && ranges_.size() <= kRowsKept &&
      cells_.capacity() <= kCellsKept && paths_.size() <= kCellsKept && key_bytes <= kKeyBytesKept)
      [[likely]] {
    return;
  }
  std::deque<std::string>().swap(partitions_);
  std::deque<Group>().swap(groups_);
  std::deque<Row>().swap(rows_);
  partition_count_ = 0;
  group_count_ = 0;
  row_count_ = 0;
  hashed_groups_ = 0;
  GroupsByPartition().swap(groups_by_partition_);
  std::deque<cql::EncodedRange>().swap(ranges_);
  std::vector<CellUpdate>().swap(cells_);
  std::deque<std::string>().swap(paths_);
  std::vector<RowLook>().swap(looks_);
  std::vector<Command>().swap(commands_);
  std::vector<std::string>().swap(keys_);
  std::vector<cql::EncodedRange>().swap(encoded_);
}

// What most sets have nothing of is asked before: clearing it takes longer.
void WriteSet::Clear(TimeuuidSource* timeuuids) {
  for (size_t i = 0; i < group_count_; ++i) {
    Group& group = At(groups_, i);
    group.rows.clear();
    group.deleted_rows.clear();
    group.deleted_ranges.clear();
    group.deletes_partition = false;
    group.updates.clear();
    group.keys.clear();
    if (!group.lists.empty()) group.lists.Clear();
  }
  if (!views_.empty()) views_.clear();
  if (hashed_groups_ > 0) groups_by_partition_.clear();
  hashed_groups_ = 0;
  partition_count_ = 0;
  group_count_ = 0;
  row_count_ = 0;
  if (!ranges_.empty()) ranges_.clear();
  cells_.clear();
  if (cells_.capacity() > kCellsKept) std::vector<CellUpdate>().swap(cells_);
  if (!paths_.empty()) paths_.clear();
  timeuuids_ = timeuuids;
  own_place_.reset();
  appended_ = 0;
  prepended_ = 0;
}

cql::CqlStatus WriteSet::ResolveTtl(const cql::ModificationPlan& plan, cql::BoundValues values,
                                    int64_t& ttl) const {
  ttl = plan.table->options.default_ttl_seconds;
  if (!plan.ttl) return {};
  const cql::BoundValue value = cql::Peek(*plan.ttl, values);
  if (value.is_unset()) return {};
  if (value.is_null()) return cql::CqlError::Invalid("Invalid null value of TTL");
  if (value.bytes.size() != sizeof(int32_t)) return cql::InvalidValue(*plan.ttl, value.bytes);
  ttl = static_cast<int32_t>(LoadBigEndian32(value.bytes.data()));
  if (ttl < 0) return cql::CqlError::Invalid("A TTL must be greater or equal to 0");
  if (ttl <= kTtlSecondsMax) return {};
  return cql::CqlError::Invalid("ttl is too large. requested (" + std::to_string(ttl) +
                                ") maximum (" + std::to_string(kTtlSecondsMax) + ")");
}

WriteSet::Group* WriteSet::FindGroup(TableId table, std::string_view partition,
                                     WriteTimestamp timestamp) {
  const auto is_it = [&](const Group& group) {
    return group.table == table && group.timestamp == timestamp &&
           partitions_[group.partition] == partition;
  };
  // From the newest: the statements of a batch are about the same few partitions as a rule.
  const size_t searched_end = group_count_ - std::min(group_count_, kGroupsSearched);
  for (size_t i = group_count_; i-- > searched_end;) {
    if (is_it(groups_[i])) return &groups_[i];
  }
  // Those before by their partitions: a batch may be about 65,535.
  for (; hashed_groups_ < searched_end; ++hashed_groups_) {
    const std::string& of_group = partitions_[groups_[hashed_groups_].partition];
    groups_by_partition_[ToAbsl(of_group)].push_back(hashed_groups_);
  }
  if (hashed_groups_ > 0) {
    const auto at = groups_by_partition_.find(ToAbsl(partition));
    if (at != groups_by_partition_.end()) {
      for (const size_t i : at->second) {
        if (is_it(groups_[i])) return &groups_[i];
      }
    }
  }
  return nullptr;
}

WriteSet::Group& WriteSet::GroupOf(const cql::ModificationPlan& plan, std::string& partition,
                                   WriteTimestamp timestamp) {
  if (group_count_ > 0) {
    Group* const found = FindGroup(plan.table->storage.id, partition, timestamp);
    if (found != nullptr) return *found;
  }
  Next(partitions_, partition_count_).swap(partition);
  Group& group = Next(groups_, group_count_);
  group.table = plan.table->storage.id;
  group.partition = partition_count_ - 1;
  group.timestamp = timestamp;
  group.packs_item_keys = plan.table->storage.packs_item_keys();
  return group;
}

cql::CqlError WriteSet::TooManyCells() const {
  return cql::CqlError::Invalid("Batch too large: it writes more than " +
                                std::to_string(cells_max_) + " cells and elements");
}

WriteSet::Row& WriteSet::NewRow(const std::string& key) {
  Row& row = Next(rows_, row_count_);
  row.key = key;
  row.first_cell = cells_.size();
  row.cell_count = 0;
  row.of_static_row = false;
  return row;
}

namespace {

// A column may have been dropped as of a time that is still to come.
bool IsHidden(const cql::CellAssignment& assignment, WriteTimestamp timestamp, uint64_t now_nanos) {
  if (!assignment.hidden_until) [[likely]]
    return false;
  const int64_t micros = timestamp.is_none() ? Micros(now_nanos) : timestamp.micros;
  return micros <= *assignment.hidden_until;
}

}  // namespace

void WriteSet::Forget(size_t first_cell) {
  cells_.erase(cells_.begin() + static_cast<ptrdiff_t>(first_cell), cells_.end());
}

cql::CqlStatus WriteSet::AddCells(const std::vector<cql::CellAssignment>& assignments,
                                  cql::BoundValues values, Row& row, const cql::EncodedRange* range,
                                  Group& group) {
  for (const cql::CellAssignment& assignment : assignments) {
    const size_t before = cells_.size();
    if (assignment.of_elements()) {
      LS_RETURN_IF_ERROR(AddElements(assignment, values, range, group));
      if (IsHidden(assignment, group.timestamp, now_nanos_)) Forget(before);
      continue;
    }
    cql::BoundValue value;
    LS_RETURN_IF_ERROR(cql::Resolve(assignment.value, values, value));
    if (value.is_unset()) continue;
    LS_RETURN_IF_ERROR(CheckRoomFor(1));
    cells_.push_back(
        {.column = assignment.column, .live = value.has_value(), .value = value.bytes});
    if (IsHidden(assignment, group.timestamp, now_nanos_)) Forget(before);
  }
  row.cell_count = cells_.size() - row.first_cell;
  return {};
}

cql::CqlStatus WriteSet::AddStaticRow(const cql::ModificationPlan& plan, cql::BoundValues values,
                                      int64_t ttl, int64_t now_seconds, Group& group) {
  Row& row = NewRow({});
  LS_RETURN_IF_ERROR(AddCells(plan.static_assignments, values, row, nullptr, group));
  for (size_t i = row.first_cell; i < cells_.size(); ++i) {
    LS_RETURN_IF_ERROR(CheckIndexedStatic(*plan.table, cells_[i].column, cells_[i].value));
  }
  if (row.cell_count == 0 && !group.lists.Changes(row_count_ - 1)) {
    --row_count_;
    return {};
  }
  row.marker = false;
  row.of_static_row = true;
  row.ttl_seconds = ttl;
  row.expiry_seconds = ttl == 0 ? kNoExpiry : now_seconds + ttl;
  group.rows.push_back(row_count_ - 1);
  return {};
}

cql::CqlStatus WriteSet::AddRows(const cql::ModificationPlan& plan, cql::BoundValues values,
                                 int64_t now_seconds, cql::ComputedValues* computed, Group& group) {
  int64_t ttl = 0;
  LS_RETURN_IF_ERROR(ResolveTtl(plan, values, ttl));
  const bool marker = plan.kind == cql::ModificationPlan::Kind::kInsert;
  for (const cql::EncodedRange& range : encoded_) {
    if (computed != nullptr) LS_RETURN_IF_ERROR(computed->NextRow());
    if (plan.only_statics) break;  // they stand for the row
    Row& row = NewRow(range.lower);
    LS_RETURN_IF_ERROR(AddCells(plan.assignments, values, row, &range, group));
    for (size_t i = row.first_cell; i < cells_.size(); ++i) {
      LS_RETURN_IF_ERROR(
          CheckIndexed(*plan.table, cells_[i].column, cells_[i].value, row.key.size()));
    }
    if (plan.views != nullptr) {
      LS_RETURN_IF_ERROR(CheckViewKeys(plan, partitions_[group.partition], row.key,
                                       std::span(cells_).subspan(row.first_cell)));
    }
    // Nothing is set: the row stays as it is.
    if (!marker && row.cell_count == 0 && !group.lists.Changes(row_count_ - 1)) {
      --row_count_;
      continue;
    }
    row.marker = marker;
    row.ttl_seconds = ttl;
    row.expiry_seconds = ttl == 0 ? kNoExpiry : now_seconds + ttl;
    group.rows.push_back(row_count_ - 1);
  }
  // An UPDATE that names no row, by an IN of nothing, writes nothing.
  if (plan.static_assignments.empty() || encoded_.empty()) return {};
  // As often as it names rows, in ScyllaDB and Cassandra, which only lists can tell.
  const bool shows = std::ranges::any_of(plan.static_assignments, AddsToList);
  for (size_t left = shows ? encoded_.size() : 1; left > 0; --left) {
    LS_RETURN_IF_ERROR(AddStaticRow(plan, values, ttl, now_seconds, group));
  }
  return {};
}

void WriteSet::AddDeletion(const cql::ModificationPlan& plan, Group& group) {
  if (plan.clustering.empty()) {
    group.deletes_partition = true;
    return;
  }
  for (const cql::EncodedRange& range : encoded_) {
    if (range.is_one_key && plan.clustering.slices.empty()) {
      NewRow(range.lower);
      group.deleted_rows.push_back(row_count_ - 1);
    } else {
      ranges_.push_back(range);
      group.deleted_ranges.push_back(ranges_.size() - 1);
    }
  }
}

cql::CqlStatus WriteSet::Add(const cql::ModificationPlan& plan, cql::BoundValues values,
                             std::optional<int64_t> timestamp, uint64_t now_nanos,
                             cql::ComputedValues* computed) {
  now_nanos_ = now_nanos;
  if (cql::CqlStatus resolved = ResolveTimestamp(plan.timestamp, values, timestamp);
      !resolved.ok()) {
    // Of a timestamp that is one, but out of bounds, the TTL is looked at first. Source: ScyllaDB
    // update_parameters.hh.
    int64_t ttl = 0;
    LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto read, ReadTimestamp(*plan.timestamp, values));
    LS_RETURN_IF_ERROR(ResolveTtl(plan, values, ttl));
    return resolved;
  }
  LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(*plan.table, plan.partition_key, values,
                                              cql::KeyUse::kWrite, keys_));
  LS_RETURN_IF_ERROR(
      cql::EncodeRanges(*plan.table, plan.clustering, values, cql::KeyUse::kWrite, encoded_));
  const WriteTimestamp written = timestamp ? WriteTimestamp{*timestamp} : WriteTimestamp::None();
  const int64_t now_seconds = WholeSeconds(now_nanos);
  if (plan.views != nullptr && std::ranges::find(views_, plan.views) == views_.end()) {
    views_.push_back(plan.views);
  }
  if (computed != nullptr) computed->BeginRows();
  for (std::string& key : keys_) {
    Group& group = GroupOf(plan, key, written);
    if (plan.kind == cql::ModificationPlan::Kind::kDeleteRows) {
      AddDeletion(plan, group);
    } else {
      LS_RETURN_IF_ERROR(AddRows(plan, values, now_seconds, computed, group));
    }
  }
  return {};
}

// The commands of a group, once nothing is added any more.
void WriteSet::Build(Group& group) {
  const std::string_view partition = At(partitions_, group.partition);
  const auto add = [&](CommandBody body) {
    commands_.push_back({.table = group.table,
                         .partition_key = partition,
                         .body = std::move(body),
                         .timestamp = group.timestamp});
  };
  group.updates.clear();
  group.keys.clear();
  for (const size_t index : group.rows) {
    Row& row = At(rows_, index);
    group.updates.push_back({.key = MakeClusteringKey(row.key, group.packs_item_keys, row.packed),
                             .marker = row.marker,
                             .of_static_row = row.of_static_row,
                             .ttl_seconds = row.ttl_seconds,
                             .expiry_seconds = row.expiry_seconds,
                             .cells = std::span(cells_).subspan(row.first_cell, row.cell_count)});
  }
  for (const size_t index : group.deleted_rows) {
    Row& row = At(rows_, index);
    group.keys.push_back(MakeClusteringKey(row.key, group.packs_item_keys, row.packed));
  }
  if (!group.updates.empty()) add(UpsertCommand{group.updates});
  if (!group.keys.empty()) add(DeleteRowsCommand{group.keys});
  for (const size_t index : group.deleted_ranges) {
    add(DeleteRangeCommand{.range = ranges_[index].View(group.packs_item_keys),
                           .counts_rows = false});
  }
  if (group.deletes_partition) add(DeletePartitionCommand{.counts_rows = false});
}

bool WriteSet::NullsMayMeetValues() const {
  if (row_count_ < 2) return false;
  return std::ranges::any_of(cells_, [](const CellUpdate& cell) { return !cell.live; });
}

std::span<const Command> WriteSet::Commands() {
  commands_.clear();
  for (size_t i = 0; i < group_count_; ++i) Build(At(groups_, i));
  return commands_;
}

std::span<const RowLook> WriteSet::Looks() {
  looks_.clear();
  for (size_t i = 0; i < group_count_; ++i) {
    Group& group = At(groups_, i);
    if (group.lists.empty()) continue;
    looks_.push_back(group.lists.Look(group.table, partitions_[group.partition],
                                      group.packs_item_keys, group.rows, group.updates));
  }
  return looks_;
}

cql::CqlStatus WriteSet::LookStatus() const {
  for (size_t i = 0; i < group_count_; ++i) {
    if (!groups_[i].lists.empty()) LS_RETURN_IF_ERROR(groups_[i].lists.status());
  }
  return {};
}

}  // namespace liststore::execute
