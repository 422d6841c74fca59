// One relation of a WHERE clause with its names looked up and its values bound; a condition of IF
// likewise. What relations mean together: where_clause.h.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_BIND_WHERE_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_BIND_WHERE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// One relation with its names looked up and its values bound.
struct BoundRelation {
  const Relation* relation = nullptr;
  std::vector<uint16_t> columns;                   // positions in TableDefinition::columns
  RelationOperator op = RelationOperator::kEqual;  // IN with a list of one is an equality
  std::vector<std::vector<Operand>> alternatives;  // of (NOT) IN; of others: one
  std::optional<Operand> list;                     // (NOT) IN ?
  bool list_is_of_tuples = false;                  // (a, b) (NOT) IN ?
  std::optional<Operand> element;                  // c[element] = ...
  std::vector<TokenBound> token_bounds;            // token(...) > ...: instead of alternatives

  bool is_equality() const { return op == RelationOperator::kEqual || op == RelationOperator::kIn; }
  bool is_slice() const { return IsSlice(op); }
  bool is_contains() const {
    return op == RelationOperator::kContains || op == RelationOperator::kContainsKey;
  }
  bool is_tuple() const { return relation->target == Relation::Target::kTuple; }
  bool is_token() const { return relation->target == Relation::Target::kToken; }
  // Told by a look at each value alone: the order of keys says nothing of it.
  bool always_filters() const {
    return is_contains() || op == RelationOperator::kLike || op == RelationOperator::kNotIn;
  }
};
// As in ScyllaDB's messages: with the values that are known, and calls by their whole names.
std::string ShownRelation(const BoundRelation& relation, const TableDefinition& table,
                          const Binder& binder);

// One relation of WHERE. Invalid: unknown columns, relations that CQL or liststore does not have,
// values of a wrong type. Source of what is looked at first: ScyllaDB cql3/expr/restrictions.cc,
// validate_and_prepare_new_restriction.
CqlOr<BoundRelation> BindRelation(const Relation& relation, const TableDefinition& table,
                                  Binder& binder);

RowFilter ToFilter(BoundRelation relation);
// One condition of IF. Errors as BindRelation; Invalid on key columns. `!=` is there, which WHERE does
// not have.
CqlOr<RowFilter> BindCondition(const Relation& condition, const TableDefinition& table,
                               Binder& binder);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_BIND_WHERE_H_
