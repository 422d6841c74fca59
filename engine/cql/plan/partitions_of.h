// The partitions that a statement names, for who looks at requests without executing them.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_PARTITIONS_OF_H_
#define LISTSTORE_ENGINE_CQL_PLAN_PARTITIONS_OF_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// Definition and serialised key.
using Partitions = std::set<std::pair<const TableDefinition*, std::string>>;

// `values`: of the plan's variables, all of them. None of a scan, and none where a key depends on
// the time, on chance or on a value that is wrong. Definitions are the plan's.
Partitions PartitionsOf(const Plan& plan, std::vector<BoundValue> values);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_PARTITIONS_OF_H_
