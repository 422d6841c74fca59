#include "engine/execute/select/result_collector.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"

namespace liststore::execute {
namespace {

// WRITETIME and TTL of an element or field.
bool IsTimeOfPart(const cql::Selection& selection) {
  using Kind = cql::Selection::Kind;
  return (selection.kind == Kind::kWriteTime || selection.kind == Kind::kTtl) &&
         !selection.operands.empty();
}

// It, or something within it.
bool AsksForElements(const cql::Selection& selection) {
  using Kind = cql::Selection::Kind;
  return IsTimeOfPart(selection) || selection.kind == Kind::kWriteTimes ||
         selection.kind == Kind::kTtls || selection.kind == Kind::kTimeuuids ||
         std::ranges::any_of(selection.operands, AsksForElements);
}

// The keys of the elements whose times are asked for are set, or null.
cql::CqlStatus CheckPlaces(const std::vector<cql::Selection>& selections, cql::BoundValues values) {
  for (const cql::Selection& selection : selections) {
    LS_RETURN_IF_ERROR(CheckPlaces(selection.operands, values));
    cql::BoundValue place;
    if (IsTimeOfPart(selection)) {
      LS_RETURN_IF_ERROR(cql::ResolveSet(selection.operands[0].value, values, place));
    }
  }
  return {};
}

cql::CqlError NoRoom(uint64_t budget_bytes) {
  return {CqlErrorCode::kOverloaded,
          "Results of statements that take long hold more memory than all of them may: " +
              std::to_string(budget_bytes) + " bytes (a quarter of client_memory); read in pages",
          {}};
}

// Of whose values digits may be made.
bool IsLongNumber(const cql::Selection& selection) {
  if (!selection.type.is_native()) return false;
  const CqlType type = selection.type.native();
  return type == CqlType::kVarint || type == CqlType::kDecimal;
}

// Columns whose values it looks at, and those within it.
void NoteColumns(const cql::Selection& selection, std::vector<bool>& columns) {
  if (selection.kind == cql::Selection::Kind::kColumn) columns[selection.column] = true;
  for (const cql::Selection& operand : selection.operands) NoteColumns(operand, columns);
}

// Those of whose cells it asks something.
void NoteCells(const cql::Selection& selection, std::vector<bool>& columns) {
  using Kind = cql::Selection::Kind;
  switch (selection.kind) {
    case Kind::kColumn:
    case Kind::kWriteTime:
    case Kind::kTtl:
    case Kind::kWriteTimes:
    case Kind::kTtls:
    case Kind::kTimeuuids:
      columns[selection.column] = true;
      break;
    default:
      break;
  }
  for (const cql::Selection& operand : selection.operands) NoteCells(operand, columns);
}

// What selections of columns copy of the row.
uint64_t BytesOfColumns(const std::vector<cql::Selection>& selections, const RowBuffer& row) {
  uint64_t bytes = 0;
  for (const cql::Selection& selection : selections) {
    if (selection.kind != cql::Selection::Kind::kColumn) continue;
    const std::optional<std::string_view>& value = row.values()[selection.column];
    if (value) bytes += value->size();
  }
  return bytes;
}

// A call that makes digits of a number counts for many others.
uint64_t CallsOf(const std::vector<cql::Selection>& selections) {
  constexpr uint64_t kCallsOfDigits = 32;
  uint64_t calls = 0;
  for (const cql::Selection& selection : selections) {
    if (selection.kind == cql::Selection::Kind::kCall) {
      calls += std::ranges::any_of(selection.operands, IsLongNumber) ? kCallsOfDigits : 1;
    }
    calls += CallsOf(selection.operands);
  }
  return calls;
}

}  // namespace

ResultCollector::ResultCollector(const SelectCall& call, SelectResult& result)
    : call_(call),
      result_(result),
      row_(*call.plan.table),
      context_{call.values, call.functions, WholeSeconds(call.now_nanos), call.bytes_max,
               call.pace},
      aggregation_(call.plan.selections, context_),
      calls_(CallsOf(call.plan.selections)) {
  if (std::ranges::any_of(call.plan.selections, AsksForElements)) row_.KeepElements();
}

cql::CqlStatus ResultCollector::Bind() {
  LS_RETURN_IF_ERROR(CheckPlaces(call_.plan.selections, call_.values));
  LS_RETURN_IF_ERROR(cql::BindFilters(call_.plan.filters, call_.values, filters_));
  used_columns_.resize(call_.plan.table->columns.size());
  std::vector<bool> looked_at(used_columns_.size());
  for (const cql::Selection& selection : call_.plan.selections) {
    NoteColumns(selection, used_columns_);
    NoteCells(selection, looked_at);
  }
  for (const uint16_t column : call_.plan.group_by) looked_at[column] = true;
  for (const cql::RowFilter& filter : call_.plan.filters) {
    for (const uint16_t column : filter.columns) looked_at[column] = true;
  }
  looked_at_ = looked_at;
  row_.UseOnly(std::move(looked_at));
  return {};
}

void ResultCollector::AskPartitions() {
  if (filters_.empty()) return;
  const auto is_of = [&](const cql::BoundFilter& filter, ColumnKind kind) {
    return row_.table().columns[filter.filter->columns[0]].kind == kind;
  };
  const auto of_keys = std::stable_partition(
      filters_.begin(), filters_.end(),
      [&](const cql::BoundFilter& filter) { return !is_of(filter, ColumnKind::kPartitionKey); });
  key_filters_.assign(std::move_iterator(of_keys), std::move_iterator(filters_.end()));
  filters_.erase(of_keys, filters_.end());
  // They are asked of the rows as well: those are read at later instants.
  for (const cql::BoundFilter& filter : filters_) {
    if (is_of(filter, ColumnKind::kStatic)) static_filters_.push_back(filter);
  }
}

void ResultCollector::Expect(uint64_t wanted) {
  wanted_ = wanted;
  taken_ = 0;
  hold_units_ = 0;
  next_row_.reset();
  last_seen_.clear();
  last_taken_.clear();
}

void ResultCollector::OnRows(std::span<const RowView> rows) {
  for (const RowView& row : rows) {
    if (full() || HasEnough()) return;
    row_.SetRow(row);
    last_seen_ = row_.clustering_key();
    hold_units_ += 2;
    if (row.cells.size() > kFewCells) hold_units_ += kUnitsOfCell * row.cells.size();
    if (const uint64_t filtered = FilteredBytes(); filtered > 0) [[unlikely]] {
      if (filtered >= kFilteredBytesMax) return KeepUnfiltered();
      hold_units_ += filtered / WorkPace::kBytesOfUnit;
    }
    const bool is_taken = MatchesAll(filters_);
    if (is_taken && IsWide()) [[unlikely]]
      return Keep();
    const uint64_t bytes = row_.value_bytes();
    hold_units_ += bytes / WorkPace::kBytesOfUnit;
    if (!is_taken) continue;
    hold_units_ += UnitsOfCalls(bytes);
    TakeMatched();
  }
}

void ResultCollector::OnEncodedRow(const EncodedRowView& row) {
  if (full() || HasEnough()) return;
  char text[kItemKeyTextBytes];
  last_seen_ = PlainKey(row.key, text);
  has_kept_row_ = true;
  if (DefersWideRows()) return;
  hold_units_ += kUnitsOfCell * row.cells + row.bytes.size() / WorkPace::kBytesOfUnit;
  encoded_row_.Copy(row);
}

void ResultCollector::Keep() {
  // As much as a row of the result: what is kept is counted nowhere else. And what is refused in the end
  // is refused before it is copied.
  Note(CheckRowBytes(row_.KeptBytes(used_columns_), context_));
  const uint64_t of_result = ResultBytes();
  if (!ended_) Note(CheckRowBytes(of_result, context_));
  if (ended_) return;
  has_kept_row_ = true;
  if (DefersWideRows()) return;
  // More than a lane is held for: no other row takes its place.
  const uint64_t bytes = row_.value_bytes();
  hold_units_ += (bytes + of_result) / WorkPace::kBytesOfUnit + UnitsOfCalls(bytes);
  row_.KeepRow(used_columns_);
}

void ResultCollector::KeepUnfiltered() {
  Note(CheckRowBytes(row_.KeptBytes(looked_at_), context_));
  if (ended_) return;
  has_kept_row_ = true;
  if (DefersWideRows()) return;
  is_kept_unfiltered_ = true;
  hold_units_ += kHoldUnitsMax;
  row_.KeepRow(looked_at_);
}

uint64_t ResultCollector::FilteredBytes() const {
  if (filters_.size() * row_.value_bytes() < kMuch) [[likely]]
    return 0;
  uint64_t bytes = 0;
  for (const cql::BoundFilter& filter : filters_) {
    for (const uint16_t column : filter.filter->columns) {
      if (const auto& value = row_.values()[column]) bytes += value->size();
    }
  }
  return bytes;
}

bool ResultCollector::MatchesInSteps() const {
  return std::ranges::all_of(filters_, [&](const cql::BoundFilter& filter) {
    const std::optional<std::string_view>& value = row_.values()[filter.filter->columns[0]];
    const uint64_t units = value ? value->size() / WorkPace::kBytesOfUnit : 0;
    if (call_.pace != nullptr && !call_.pace->Spend(units)) return false;
    return cql::Matches(filter, row_.table(), row_.values());
  });
}

bool ResultCollector::IsWide() const {
  const uint64_t bytes = row_.value_bytes();
  if (UnitsOfCalls(bytes) >= kHoldUnitsMax) [[unlikely]]
    return true;
  if (bytes * call_.plan.selections.size() < kMuch) [[likely]]
    return false;
  return ResultBytes() >= kMuch;
}

uint64_t ResultCollector::ResultBytes() const {
  return call_.plan.is_aggregate ? 0 : BytesOfColumns(call_.plan.selections, row_);
}

bool ResultCollector::TakeKept() {
  if (!has_kept_row_) [[likely]]
    return false;
  has_kept_row_ = false;
  bool is_new = false;
  if (DefersWideRows()) {
    // It is begun again elsewhere.
    result_.is_before_wide_row = calls_ == 0;
    call_.pace->StopHere();
  } else if (!encoded_row_.empty()) {
    is_new = TakeEncoded();
  } else if (!std::exchange(is_kept_unfiltered_, false) || MatchesInSteps()) {
    TakeMatched();
  }
  row_.ForgetRow();
  return is_new;
}

bool ResultCollector::TakeEncoded() {
  ++result_.rows_read;  // which the read could not count
  const std::optional<RowView> row =
      encoded_row_.Decode({.bytes = last_seen_}, context_.now_seconds);
  if (row) {
    row_.SetRow(*row);
    if (MatchesInSteps()) TakeMatched();
  } else {
    ++result_.dead_rows;
  }
  encoded_row_.Clear();
  return row.has_value();
}

void ResultCollector::OnStop(ClusteringKeyView next) {
  char text[kItemKeyTextBytes];
  next_row_ = PlainKey(next, text);
}

void ResultCollector::OnPackedRun(const PackedRun&) {
  LS_UNREACHABLE("packed runs are not accepted");
}

void ResultCollector::OnStaticRow(std::span<const LiveCellView> cells) {
  row_.SetStaticRow(cells);
  has_static_row_ = true;
}

void ResultCollector::ForgetStaticRow() {
  row_.SetStaticRow({});
  has_static_row_ = false;
}

void ResultCollector::Take() {
  if (!MatchesAll(filters_)) return;
  if (!IsWide()) [[likely]]
    return TakeMatched();
  Keep();
  TakeKept();
}

void ResultCollector::TakeMatched() {
  ++taken_;
  last_taken_ = row_.clustering_key();
  if (call_.plan.is_aggregate) {
    if (!call_.plan.group_by.empty() && !EnterGroup()) return;
    Note(aggregation_.Add(row_));
    return NoteBytes(result_.rows.size() + aggregation_.bytes());
  }
  Note(AppendRow(call_.plan.selections, row_, context_, result_.rows));
  CountRow();
  if (on_row) on_row();
}

void ResultCollector::FinishAggregate() {
  if (!status_.ok() || !call_.plan.is_aggregate) return;
  if (call_.plan.group_by.empty() || (in_group_ && !skips_group_)) AppendGroup();
}

bool ResultCollector::MatchesAll(const std::vector<cql::BoundFilter>& filters) const {
  return std::ranges::all_of(filters, [&](const cql::BoundFilter& filter) {
    return cql::Matches(filter, row_.table(), row_.values());
  });
}

void ResultCollector::Note(cql::CqlStatus status) {
  if (status.ok()) return;
  status_ = std::move(status);
  ended_ = true;
}

void ResultCollector::CountRow() {
  ++result_.row_count;
  too_large_ = result_.rows.size() >= bytes_max_;
  NoteBytes(result_.rows.size());
  ended_ |= too_large_;
}

void ResultCollector::NoteBytes(uint64_t bytes) {
  if (call_.share != nullptr && !call_.share->Grow(bytes)) {
    Note(NoRoom(call_.share->budget_bytes()));
  }
}

void ResultCollector::AppendGroup() {
  Note(aggregation_.AppendResult(result_.rows));
  CountRow();
  if (groups_left_ != UINT64_MAX && --groups_left_ == 0) ended_ = true;
}

bool ResultCollector::EnterGroup() {
  const std::span<const std::optional<std::string_view>> values = row_.values();
  // The partition key comes first in a table.
  const auto key = values.first(row_.table().CountOf(ColumnKind::kPartitionKey));
  const bool same_partition = in_group_ && std::ranges::equal(key, group_partition_);
  bool same = same_partition;
  for (size_t i = 0; i < call_.plan.group_by.size() && same; ++i) {
    same = group_[i] == values[call_.plan.group_by[i]];
  }
  if (same) return !skips_group_;
  if (in_group_ && !skips_group_) AppendGroup();
  in_group_ = !ended_;
  if (ended_) return false;
  group_.clear();
  for (const uint16_t column : call_.plan.group_by) group_.emplace_back(values[column]);
  if (!same_partition) partition_groups_ = 0;
  group_partition_.assign(key.begin(), key.end());
  skips_group_ = partition_groups_++ >= partition_groups_max_;
  return !skips_group_;
}

}  // namespace liststore::execute
