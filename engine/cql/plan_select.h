// SELECT -> SelectPlan.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_SELECT_H_
#define LISTSTORE_ENGINE_CQL_PLAN_SELECT_H_

#include "engine/cql/binder.h"
#include "engine/cql/cql_error.h"
#include "engine/cql/plan.h"
#include "engine/cql/statement.h"

namespace liststore {

// Source: ScyllaDB cql3/statements/select_statement.cc.
CqlOr<SelectPlan> PlanSelect(const SelectStatement& statement, Binder& binder);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_PLAN_SELECT_H_
