// What a statement asks for that is accepted and changes nothing.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_WITHOUT_EFFECT_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_WITHOUT_EFFECT_H_

#include <vector>

#include "engine/cql/syntax/statement.h"
#include "engine/cql/syntax/unsupported.h"

namespace liststore::cql {

// Features without effect that `statement` has, each once, in the order of the statement; for most
// there are none, and nothing is allocated. Whether its values are valid is not looked at. Timeouts
// of system tables do not count: drivers ask for them by themselves. O(properties and statements).
std::vector<CqlFeature> FeaturesWithoutEffect(const Statement& statement);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_WITHOUT_EFFECT_H_
