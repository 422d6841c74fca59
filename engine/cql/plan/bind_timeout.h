// USING TIMEOUT: has no effect, but is as right as it has to be.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_
#define LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_

#include <optional>

#include "engine/cql/plan/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"

namespace liststore {

// A variable is typed; what it is bound to is not looked at.
CqlStatus BindTimeout(const std::optional<Expression>& timeout, Binder& binder);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_PLAN_BIND_TIMEOUT_H_
