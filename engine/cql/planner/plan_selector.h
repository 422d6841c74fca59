// Selected expressions: names looked up, calls resolved, results named.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECTOR_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECTOR_H_

#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// The column of that name, as SELECT * has it.
Selection SelectColumn(const TableDefinition& table, const ColumnDefinition& column);

// The one column of a SELECT JSON: the row that the selections are, as JSON.
Selection SelectAsJson(std::vector<Selection> selections);

// `table` is the one that the binder found last. Invalid: unknown columns and functions, arguments
// of wrong types, values whose type nothing says, aggregates of aggregates, casts that CQL does not
// have. O(expression).
CqlOr<Selection> PlanSelector(const Expression& expression, const TableDefinition& table,
                              Binder& binder);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECTOR_H_
