// Filters of rows: their values, and which rows match. Declared in instantiate.h.
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/values/like_pattern.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {

CqlStatus BindFilters(const std::vector<RowFilter>& filters, BoundValues values,
                      std::vector<BoundFilter>& bound) {
  bound.clear();
  for (const RowFilter& filter : filters) {
    BoundFilter next;
    next.filter = &filter;
    if (filter.list) {
      BoundValue list;
      LS_RETURN_IF_ERROR(ResolveSet(*filter.list, values, list));
      next.list_is_null = list.is_null();
      if (list.has_value()) {
        const auto elements = SplitCollection(filter.list->type, list.bytes);
        LS_CHECK(elements.has_value(), "the list was checked when it was bound");
        next.values.reserve(elements->size());
        for (const std::string_view element : *elements) {
          if (!filter.list_is_of_tuples) {
            next.values.emplace_back(element);
            continue;
          }
          const auto fields = SplitTuple(filter.list->type.parameters()[0], element);
          LS_CHECK(fields.has_value(), "the list was checked when it was bound");
          next.values.insert(next.values.end(), fields->begin(), fields->end());
        }
      }
    }
    for (const Operand& operand : filter.operands) {
      BoundValue value;
      LS_RETURN_IF_ERROR(ResolveSet(operand, values, value));
      next.values.push_back(value.has_value() ? std::optional(value.bytes) : std::nullopt);
      if (filter.op == RelationOperator::kLike) LS_RETURN_IF_ERROR(CheckLikePattern(value.bytes));
    }
    if (filter.element) {
      BoundValue element;
      LS_RETURN_IF_ERROR(ResolveSet(*filter.element, values, element));
      if (element.has_value()) next.element = element.bytes;
    }
    bound.push_back(std::move(next));
  }
  return {};
}

const DataType& ComparedType(const RowFilter& filter, const TableDefinition& table) {
  const DataType& type = table.columns[filter.columns[0]].type;
  if (filter.element) return type.parameters().back();
  return filter.field ? type.parameters()[*filter.field] : type;
}

std::optional<std::string_view> ComparedValue(
    const BoundFilter& filter, const TableDefinition& table,
    std::span<const std::optional<std::string_view>> row) {
  const uint16_t column = filter.filter->columns[0];
  const std::optional<std::string_view>& cell = row[column];
  if (!cell) return std::nullopt;
  const DataType& type = table.columns[column].type;
  if (filter.filter->element) {
    return filter.element ? ElementAt(type, *cell, *filter.element) : std::nullopt;
  }
  if (!filter.filter->field) return cell;
  const auto fields = SplitTuple(type, *cell);
  LS_CHECK(fields.has_value(), "values are validated before they are stored");
  return (*fields)[*filter.filter->field];
}

namespace {

// Three-way, of the row's columns with as many values; nullopt when one of either is null.
std::optional<int> CompareColumns(const BoundFilter& bound, size_t first_value,
                                  const TableDefinition& table,
                                  std::span<const std::optional<std::string_view>> row) {
  const std::vector<uint16_t>& columns = bound.filter->columns;
  if (columns.size() == 1) {
    const std::optional<std::string_view> cell = ComparedValue(bound, table, row);
    const std::optional<std::string_view>& value = bound.values[first_value];
    if (!cell || !value) return std::nullopt;
    return CompareValues(ComparedType(*bound.filter, table), *cell, *value);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::optional<std::string_view>& cell = row[columns[i]];
    const std::optional<std::string_view>& value = bound.values[first_value + i];
    if (!cell || !value) return std::nullopt;
    const int order = CompareValues(table.columns[columns[i]].type, *cell, *value);
    if (order != 0) return order;
  }
  return 0;
}

// Is the value among the elements, or the keys, of the collection?
bool Contains(const BoundFilter& bound, const DataType& type,
              const std::optional<std::string_view>& cell) {
  const std::optional<std::string_view>& value = bound.values[0];
  if (!cell || !value) return false;
  const auto parts = SplitCollection(type, *cell);
  LS_CHECK(parts.has_value(), "values are validated before they are stored");
  const size_t stride = type.parameters().size();
  // Of a map the keys come first, the values are what CONTAINS means.
  const size_t part = bound.filter->op == RelationOperator::kContainsKey ? 0 : stride - 1;
  for (size_t i = part; i < parts->size(); i += stride) {
    if (CompareValues(type.parameters()[part], (*parts)[i], *value) == 0) return true;
  }
  return false;
}

// Is the row's value another one than each of the list? Null where that cannot be said, because of
// a null on either side: then it matches as little.
bool IsNoneOf(const BoundFilter& bound, const TableDefinition& table,
              std::span<const std::optional<std::string_view>> row) {
  if (bound.list_is_null) return false;
  const std::vector<uint16_t>& columns = bound.filter->columns;
  if (std::ranges::any_of(columns, [&](uint16_t column) { return !row[column]; })) return false;
  for (size_t i = 0; i < bound.values.size(); i += columns.size()) {
    const std::optional<int> order = CompareColumns(bound, i, table, row);
    if (!order || *order == 0) return false;
  }
  return true;
}

}  // namespace

bool Matches(const BoundFilter& bound, const TableDefinition& table,
             std::span<const std::optional<std::string_view>> row) {
  if (bound.filter->op == RelationOperator::kIn) {
    for (size_t i = 0; i < bound.values.size(); i += bound.filter->columns.size()) {
      if (CompareColumns(bound, i, table, row) == 0) return true;
    }
    return false;
  }
  if (bound.filter->op == RelationOperator::kNotIn) return IsNoneOf(bound, table, row);
  if (bound.filter->op == RelationOperator::kContains ||
      bound.filter->op == RelationOperator::kContainsKey) {
    const uint16_t column = bound.filter->columns[0];
    return Contains(bound, table.columns[column].type, row[column]);
  }
  if (bound.filter->op == RelationOperator::kLike) {
    const std::optional<std::string_view> text = ComparedValue(bound, table, row);
    return text && bound.values[0] && MatchesLike(*bound.values[0], *text);
  }
  const std::optional<int> order = CompareColumns(bound, 0, table, row);
  if (!order) return false;
  switch (bound.filter->op) {
    case RelationOperator::kEqual:
      return *order == 0;
    case RelationOperator::kLess:
      return *order < 0;
    case RelationOperator::kLessOrEqual:
      return *order <= 0;
    case RelationOperator::kGreater:
      return *order > 0;
    case RelationOperator::kGreaterOrEqual:
      return *order >= 0;
    default:
      LS_UNREACHABLE("the planner refuses other operators");
  }
}

}  // namespace liststore::cql
