// INSERT, UPDATE, DELETE and batches of them -> ModificationPlan, BatchPlan.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_H_

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// Sources: ScyllaDB cql3/statements/{modification,update,delete,batch}_statement.cc.
CqlOr<ModificationPlan> PlanModification(const ModificationStatement& statement, Binder& binder);
CqlOr<BatchPlan> PlanBatch(const BatchStatement& statement, Binder& binder);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_MODIFICATION_H_
