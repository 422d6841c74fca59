// SELECT -> SelectPlan.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECT_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECT_H_

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// Source: ScyllaDB cql3/statements/select_statement.cc.
CqlOr<SelectPlan> PlanSelect(const SelectStatement& statement, Binder& binder);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_SELECT_H_
