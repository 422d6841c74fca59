#include "engine/cql/plan/conditions.h"

#include <algorithm>
#include <string>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/statement.h"
#include "engine/cql/values/like_pattern.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

using Value = std::optional<std::string_view>;

bool AreEqual(const DataType& type, const Value& cell, const Value& value) {
  if (!cell || !value) return cell.has_value() == value.has_value();
  return CompareValues(type, *cell, *value) == 0;
}

// Source: Cassandra cql3/conditions/ColumnCondition.java, MultiCellCollectionBound.appliesTo.
CqlStatus TakeEmptyForNull(const TableDefinition& table, std::vector<BoundFilter>& bound) {
  constexpr std::string_view kNoElements("\0\0\0\0", 4);
  for (BoundFilter& next : bound) {
    const DataType& type = ComparedType(*next.filter, table);
    const RelationOperator op = next.filter->op;
    if (!type.is_collection() || !type.is_multi_cell()) continue;
    for (Value& value : next.values) {
      if (value != kNoElements) continue;
      if (IsSlice(op)) {
        const std::string_view kind = type.kind() == DataType::Kind::kList  ? "list"
                                      : type.kind() == DataType::Kind::kSet ? "set"
                                                                            : "map";
        return CqlError::Invalid("Invalid comparison with an empty " + std::string(kind) +
                                 " for operator \"" + std::string(ToString(op)) + "\"");
      }
      value = std::nullopt;
    }
  }
  return {};
}

}  // namespace

CqlStatus BindConditions(const ConditionPlan& condition, const TableDefinition& table,
                         BoundValues values, std::vector<BoundFilter>& bound) {
  LS_RETURN_IF_ERROR(BindFilters(condition.cells, values, bound));
  return condition.empty_is_null ? TakeEmptyForNull(table, bound) : CqlStatus();
}

CqlStatus CheckComparable(const BoundFilter& condition) {
  const RelationOperator op = condition.filter->op;
  if (!IsSlice(op) || condition.values[0]) return {};
  return CqlError::Invalid("Invalid comparison with null for operator \"" +
                           std::string(ToString(op)) + "\"");
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
  LS_CHECK(IsSlice(op) && value, "others cannot be compared");
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

}  // namespace liststore::cql
