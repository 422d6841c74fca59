// Tables of counters: what statements on them may say. Sources: ScyllaDB
// cql3/statements/{modification,update,batch}_statement.cc, cql3/operation.cc.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_COUNTERS_H_
#define LISTSTORE_ENGINE_CQL_PLAN_COUNTERS_H_

#include <span>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// The columns outside of its key are counters, all of them. O(columns).
bool IsCounterTable(const TableDefinition& table);

// Values of counters last: their tables have no default TTL.
CqlStatus CheckCounterTtl(const TableDefinition& table);

// Once the attributes of a write are planned: counters have no TTL, no timestamps of clients, and
// no conditions. Nothing is asked of other tables.
CqlStatus CheckCounterAttributes(const ModificationPlan& plan);
// Counters are written by batches of their own.
CqlStatus CheckCounterBatch(BatchStatement::Kind kind, bool has_timestamp,
                            std::span<const ModificationPlan* const> statements);

// What is added to a counter, negative where it is subtracted; `unset`: nothing is.
CqlStatus ResolveAddition(const CellAssignment& assignment, BoundValues values, int64_t& addition,
                          bool& unset);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_COUNTERS_H_
