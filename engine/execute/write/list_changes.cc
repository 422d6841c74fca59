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
    next.looked = &LookedAt(range);
  }
  rows_.back().looked->lists.try_emplace(change.column);
  rows_.back().changes.push_back(std::move(change));
}

ListChanges::Looked& ListChanges::LookedAt(const cql::EncodedRange* range) {
  Looked*& known = range == nullptr ? of_static_row_ : looked_by_key_[range->lower];
  if (known == nullptr) {
    known = &looked_.emplace_back();
    if (range != nullptr) known->range = *range;
  }
  return *known;
}

RowLook ListChanges::Look(TableId table, std::string_view partition_key, bool packs_item_keys,
                          std::span<const size_t> numbers, std::span<RowUpdate> updates) {
  ranges_.clear();
  looked_at_.clear();
  for (Row& row : rows_) {
    // They were given one after the other.
    const auto at = std::ranges::lower_bound(numbers, row.number);
    LS_CHECK(at != numbers.end() && *at == row.number, "a row that changes is written");
    row.update = &updates[static_cast<size_t>(at - numbers.begin())];
    row.fixed = row.update->cells;
  }
  for (Looked& looked : looked_) {
    if (!looked.range) continue;
    ranges_.push_back(looked.range->View(packs_item_keys));
    looked_at_.push_back(&looked);
  }
  // The static row comes with a range.
  if (ranges_.empty()) ranges_.emplace_back();
  return {.table = table,
          .partition_key = partition_key,
          .rows = ranges_,
          .with_static_row = of_static_row_ != nullptr,
          .conditions = this};
}

void ListChanges::OnAttempt() {
  status_ = {};
  searched_ = 0;
  for (Looked& looked : looked_) {
    for (auto& [column, list] : looked.lists) list.clear();
  }
}

void ListChanges::Take(std::span<const LiveCellView> cells, Looked& looked) {
  for (const LiveCellView& cell : cells) {
    const auto list = looked.lists.find(cell.column);
    if (list == looked.lists.end()) continue;
    list->second.push_back({std::string(cell.path), std::string(cell.value)});
  }
}

void ListChanges::OnStaticRow(std::span<const LiveCellView> cells) {
  if (of_static_row_ != nullptr) Take(cells, *of_static_row_);
}

void ListChanges::OnRow(size_t index, const RowView& row) {
  if (index < looked_at_.size()) Take(row.cells, *looked_at_[index]);
}

void ListChanges::Discard(const ElementChange& change, const std::vector<Element>& list, Row& row) {
  const auto precedes = [&](std::string_view a, std::string_view b) {
    return CompareValues(change.type, a, b) < 0;
  };
  std::vector<std::string_view> values = change.values;
  std::ranges::sort(values, precedes);
  for (const Element& element : list) {
    if (!std::ranges::binary_search(values, std::string_view(element.value), precedes)) continue;
    row.cells.push_back({.column = change.column, .live = false, .path = element.path});
  }
}

// Source of rules and words: ScyllaDB cql3/lists.cc.
cql::CqlStatus ListChanges::Apply(const ElementChange& change, Row& row) {
  const std::vector<Element>& list = row.looked->lists.at(change.column);
  if (change.kind == ElementChange::Kind::kDiscard) {
    searched_ += list.size();
    if (searched_ > kCellsRewrittenMax) {
      return cql::CqlError::Invalid(
          "The request looks for values in lists that have more than " +
          std::to_string(kCellsRewrittenMax) +
          " elements, counted again for each statement: look for several values at a time");
    }
    Discard(change, list, row);
    return {};
  }
  const bool sets = change.kind == ElementChange::Kind::kSet;
  if (list.empty()) {
    return cql::CqlError::Invalid(sets
                                      ? "Attempted to set an element on a list which is null"
                                      : "Attempted to delete an element from a list which is null");
  }
  if (change.index < 0 || static_cast<size_t>(change.index) >= list.size()) {
    return cql::CqlError::Invalid("List index " + std::to_string(change.index) +
                                  " out of bound, list has size " + std::to_string(list.size()));
  }
  const std::optional<std::string_view> value = sets ? change.value : std::nullopt;
  row.cells.push_back({.column = change.column,
                       .live = value.has_value(),
                       .value = value.value_or(std::string_view()),
                       .path = list[static_cast<size_t>(change.index)].path});
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
