// Keys whose columns have several values each, of IN or of further relations on them.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_KEY_COMBINATIONS_H_
#define LISTSTORE_ENGINE_CQL_PLAN_KEY_COMBINATIONS_H_

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/key_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// Calls `visit` with each combination of the parts' alternatives, each once, until it fails; not at
// all where a part has none. Server: there are more than a statement may have. `kind`: partition or
// clustering, for that message. O(combinations, values log values).
CqlStatus ForEachCombination(const TableDefinition& table,
                             const std::vector<KeyAlternatives>& parts, BoundValues values,
                             KeyUse use, std::string_view kind,
                             absl::FunctionRef<CqlStatus(const KeyValues&)> visit);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_KEY_COMBINATIONS_H_
