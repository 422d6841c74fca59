// A WHERE clause with its names looked up and its values bound, relation by relation; conditions of
// IF likewise. What they mean together: restrictions.h.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_BIND_WHERE_H_
#define LISTSTORE_ENGINE_CQL_PLAN_BIND_WHERE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cql/plan/binder.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore {

// <, <=, >, >=.
constexpr bool IsSlice(RelationOperator op) {
  return op == RelationOperator::kLess || op == RelationOperator::kLessOrEqual ||
         op == RelationOperator::kGreater || op == RelationOperator::kGreaterOrEqual;
}
// IN, NOT IN: of a list of alternatives.
constexpr bool IsOfList(RelationOperator op) {
  return op == RelationOperator::kIn || op == RelationOperator::kNotIn;
}

// One relation with its names looked up and its values bound.
struct BoundRelation {
  const Relation* relation = nullptr;
  std::vector<uint16_t> columns;  // positions in TableDefinition::columns
  RelationOperator op = RelationOperator::kEqual;
  std::vector<std::vector<Operand>> alternatives;  // of (NOT) IN; of others: one
  std::optional<Operand> list;                     // (NOT) IN ?
  bool list_is_of_tuples = false;                  // (a, b) (NOT) IN ?
  std::optional<Operand> element;                  // c[element] = ...

  bool is_equality() const { return op == RelationOperator::kEqual || op == RelationOperator::kIn; }
  bool is_slice() const { return IsSlice(op); }
  bool is_contains() const {
    return op == RelationOperator::kContains || op == RelationOperator::kContainsKey;
  }
  // Told by a look at each value alone: the order of keys says nothing of it.
  bool always_filters() const {
    return is_contains() || op == RelationOperator::kLike || op == RelationOperator::kNotIn;
  }
};

// A WHERE clause with its names and values, token relations apart.
struct BoundWhere {
  std::vector<BoundRelation> relations;
  std::vector<TokenBound> token_bounds;
  const Relation* token_relation = nullptr;  // the first, if any
};

// Invalid: unknown columns, relations that CQL or liststore does not have, values of a wrong type.
CqlOr<BoundWhere> BindWhere(const std::vector<Relation>& where, const TableDefinition& table,
                            Binder& binder);

RowFilter ToFilter(BoundRelation relation);
// One condition of IF. Errors as BindWhere; Invalid on key columns. `!=` is there, which WHERE does
// not have.
CqlOr<RowFilter> BindCondition(const Relation& condition, const TableDefinition& table,
                               Binder& binder);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_PLAN_BIND_WHERE_H_
