#include "engine/cql/plan/conditions.h"

#include <algorithm>
#include <string>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bind_where.h"
#include "engine/cql/values/like_pattern.h"
#include "engine/model/composite_value.h"

namespace liststore {
namespace {

using Value = std::optional<std::string_view>;

bool AreEqual(const DataType& type, const Value& cell, const Value& value) {
  if (!cell || !value) return cell.has_value() == value.has_value();
  return CompareValues(type, *cell, *value) == 0;
}

}  // namespace

CqlStatus BindConditions(const ConditionPlan& condition, BoundValues values,
                         std::vector<BoundFilter>& bound) {
  LS_RETURN_IF_ERROR(BindFilters(condition.cells, values, bound));
  for (const BoundFilter& next : bound) {
    const RelationOperator op = next.filter->op;
    if (!IsSlice(op) || next.values[0]) continue;
    return CqlError::Invalid("Invalid comparison with null for operator \"" +
                             std::string(ToString(op)) + "\"");
  }
  return {};
}

bool ConditionHolds(const BoundFilter& condition, const TableDefinition& table,
                    std::span<const std::optional<std::string_view>> row) {
  LS_DCHECK(condition.filter->columns.size() == 1, "a condition is about one column");
  const DataType& type = ComparedType(*condition.filter, table);
  const Value cell = ComparedValue(condition, table, row);
  const auto equals = [&](const Value& value) { return AreEqual(type, cell, value); };
  const RelationOperator op = condition.filter->op;
  if (op == RelationOperator::kIn) return std::ranges::any_of(condition.values, equals);
  if (op == RelationOperator::kNotIn) return std::ranges::none_of(condition.values, equals);
  LS_CHECK(condition.values.size() == 1, "other operators have one value");
  const Value& value = condition.values[0];
  if (op == RelationOperator::kEqual) return equals(value);
  if (op == RelationOperator::kNotEqual) return !equals(value);
  if (op == RelationOperator::kLike) return cell && value && MatchesLike(*value, *cell);
  LS_CHECK(IsSlice(op) && value, "others were refused when they were bound");
  if (!cell) return false;
  const int order = CompareValues(type, *cell, *value);
  switch (op) {
    case RelationOperator::kLess:
      return order < 0;
    case RelationOperator::kLessOrEqual:
      return order <= 0;
    case RelationOperator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace liststore
