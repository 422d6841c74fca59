#include "engine/execute/write/list_changes.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/model/types/composite_value.h"

namespace liststore::execute {

void ListChanges::Add(size_t row, const cql::EncodedRange* range, ElementChange change) {
  if (rows_.empty() || rows_.back().number != row) {
    Row& next = rows_.emplace_back();
    next.number = row;
    if (range != nullptr) next.range = *range;
  }
  rows_.back().changes.push_back(std::move(change));
}

RowLook ListChanges::Look(TableId table, std::string_view partition_key, bool packs_item_keys,
                          std::span<const size_t> numbers, std::span<RowUpdate> updates) {
  ranges_.clear();
  looked_at_.clear();
  bool statics = false;
  for (Row& row : rows_) {
    const auto at = std::ranges::find(numbers, row.number);
    LS_CHECK(at != numbers.end(), "a row that changes is written");
    row.update = &updates[static_cast<size_t>(at - numbers.begin())];
    row.fixed = row.update->cells;
    statics |= !row.range;
    if (!row.range) continue;
    ranges_.push_back(row.range->View(packs_item_keys));
    looked_at_.push_back(&row);
  }
  // The static row comes with a range.
  if (ranges_.empty()) ranges_.emplace_back();
  return {.table = table,
          .partition_key = partition_key,
          .rows = ranges_,
          .with_static_row = statics,
          .conditions = this};
}

void ListChanges::OnAttempt() {
  status_ = {};
  for (Row& row : rows_) row.lists.clear();
}

void ListChanges::Take(std::span<const LiveCellView> cells, Row& row) {
  for (const LiveCellView& cell : cells) {
    const bool wanted = std::ranges::any_of(
        row.changes, [&](const ElementChange& change) { return change.column == cell.column; });
    if (!wanted) continue;
    row.lists[cell.column].push_back({std::string(cell.path), std::string(cell.value)});
  }
}

void ListChanges::OnStaticRow(std::span<const LiveCellView> cells) {
  for (Row& row : rows_) {
    if (!row.range) Take(cells, row);
  }
}

void ListChanges::OnRow(size_t index, const RowView& row) {
  if (index < looked_at_.size()) Take(row.cells, *looked_at_[index]);
}

// Source of rules and words: ScyllaDB cql3/lists.cc.
cql::CqlStatus ListChanges::Apply(const ElementChange& change, Row& row) {
  const auto found = row.lists.find(change.column);
  const auto add = [&](const Element& element, std::optional<std::string_view> value) {
    row.cells.push_back({.column = change.column,
                         .live = value.has_value(),
                         .value = value.value_or(std::string_view()),
                         .path = element.path});
  };
  if (change.kind == ElementChange::Kind::kDiscard) {
    if (found == row.lists.end()) return {};
    for (const Element& element : found->second) {
      const bool goes = std::ranges::any_of(change.values, [&](std::string_view value) {
        return CompareValues(change.type, value, element.value) == 0;
      });
      if (goes) add(element, std::nullopt);
    }
    return {};
  }
  const bool sets = change.kind == ElementChange::Kind::kSet;
  if (found == row.lists.end()) {
    return cql::CqlError::Invalid(sets
                                      ? "Attempted to set an element on a list which is null"
                                      : "Attempted to delete an element from a list which is null");
  }
  const std::vector<Element>& list = found->second;
  if (change.index < 0 || static_cast<size_t>(change.index) >= list.size()) {
    return cql::CqlError::Invalid("List index " + std::to_string(change.index) +
                                  " out of bound, list has size " + std::to_string(list.size()));
  }
  add(list[static_cast<size_t>(change.index)], sets ? change.value : std::nullopt);
  return {};
}

bool ListChanges::Hold() {
  for (Row& row : rows_) {
    row.cells.assign(row.fixed.begin(), row.fixed.end());
    for (const ElementChange& change : row.changes) {
      if (status_.ok()) status_ = Apply(change, row);
    }
    row.update->cells = row.cells;
  }
  return status_.ok();
}

}  // namespace liststore::execute
