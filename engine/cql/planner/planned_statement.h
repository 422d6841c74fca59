// PlannedStatement: a text that was planned once, with what is wanted of it again and again.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLANNED_STATEMENT_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLANNED_STATEMENT_H_

#include <memory>
#include <string>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/statement_outline.h"

namespace liststore::cql {

// Immutable once it is shared, which it always is.
struct PlannedStatement : std::enable_shared_from_this<PlannedStatement> {
  std::string keyspace;  // the connection's when it was planned
  std::string text;
  StatementOutline outline;
  std::shared_ptr<const Plan> plan;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLANNED_STATEMENT_H_
