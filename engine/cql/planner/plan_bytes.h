// What plans take of memory: for whoever keeps them, or makes very many.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLAN_BYTES_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLAN_BYTES_H_

#include <cstddef>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"

namespace liststore::cql {

// Of a batch whose plans take more than Dialect::plan_bytes_max.
CqlError BatchTooLarge(size_t plan_bytes_max);

// The plan and what it owns, capacities and not sizes; types that are used in several places once,
// the schema's too; nothing of tables. Of a SchemaPlan without the statement, whose tree is behind
// a pointer: see kTreeBytesPerTextByte. O(what is counted).
size_t PlanBytes(const Plan& plan);
size_t PlanBytes(const ModificationPlan& plan);

// A statement's tree takes at most so much for each byte of its text: most for lists of digits.
inline constexpr size_t kTreeBytesPerTextByte = sizeof(Expression);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLAN_BYTES_H_
