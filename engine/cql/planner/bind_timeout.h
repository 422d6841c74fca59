// USING TIMEOUT: how long a statement may take, instead of what the settings say.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_BIND_TIMEOUT_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_BIND_TIMEOUT_H_

#include <cstdint>
#include <optional>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"

namespace liststore::cql {

// nullopt: there is none. Invalid: it cannot be bound.
CqlOr<std::optional<Operand>> BindTimeout(const std::optional<Expression>& timeout, Binder& binder);

// Milliseconds; 0 is over at once. Invalid: null, unset, or no timeout.
CqlOr<int64_t> ResolveTimeout(const Operand& timeout, BoundValues values);

// Whether a statement that is done soon has to resolve it: a constant above 0 is never over so
// soon. Absent: no.
bool MattersAtOnce(const std::optional<Operand>& timeout);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_BIND_TIMEOUT_H_
