// USING TIMEOUT: statements take as long as they take, but 0ms is over before they begin.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_
#define LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_

#include <optional>

#include "engine/cql/plan/binder.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"

namespace liststore::cql {

// nullopt: there is none, or it is a constant that makes no difference. Invalid: a constant that is
// no timeout.
CqlOr<std::optional<Operand>> BindTimeout(const std::optional<Expression>& timeout, Binder& binder);

// Whether the time is over at once. Invalid: null, unset, or no timeout.
CqlOr<bool> IsOverAtOnce(const Operand& timeout, BoundValues values);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_
