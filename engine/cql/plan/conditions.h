// The conditions of IF with their values, and whether they hold. They differ from those of WHERE:
// a null equals a null, and nothing else. Source: ScyllaDB cql3/expr/expression.cc,
// null_handling_style::lwt_nulls.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_CONDITIONS_H_
#define LISTSTORE_ENGINE_CQL_PLAN_CONDITIONS_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// Errors as BindFilters. Views into plan and values.
CqlStatus BindConditions(const ConditionPlan& condition, const TableDefinition& table,
                         BoundValues values, std::vector<BoundFilter>& bound);

// Invalid: something is to be less or greater than a null, which is found when it is compared.
// Source: ScyllaDB cql3/expr/expression.cc, limits.
CqlStatus CheckComparable(const BoundFilter& condition);
// `condition` can be compared. `row`: values in the order of TableDefinition::columns, all of them
// null where there is no row. O(alternatives).
bool ConditionHolds(const BoundFilter& condition, const TableDefinition& table,
                    std::span<const std::optional<std::string_view>> row);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_CONDITIONS_H_
