// The name of ScyllaDB's CQL, for those who write statements and know no parser. cql/syntax/dialect.h has the others.
#ifndef LISTSTORE_ENGINE_MODEL_DIALECT_NAME_H_
#define LISTSTORE_ENGINE_MODEL_DIALECT_NAME_H_

#include <string_view>

namespace liststore {

inline constexpr std::string_view kScyllaDialectName = "scylla:2025.1";

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_DIALECT_NAME_H_
