// The options of a table as CREATE and ALTER TABLE give them.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_OPTIONS_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/properties.h"
#include "engine/model/schema.h"
#include "engine/model/types/uuid.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql::schema_change {

// Puts what `properties` say into `options`, those of the table so far. Options that mean nothing
// here are checked and kept, or, where TableOptions has no place for them, checked and dropped;
// those that would change what a client sees and are not there are refused by name. `keyspace`: of
// the table. On error `options` may be half changed.
//
// Errors: Syntax for names and forms, Config for values. Source: ScyllaDB
// cql3/statements/cf_prop_defs.cc, with its words.
enum class TableKind : uint8_t {
  kTable,
  kView
};
CqlStatus ApplyTableOptions(const Properties& properties, const KeyspaceDefinition& keyspace,
                            TableOptions& options, TableKind kind, const Dialect& dialect);
// Those of a table of which nothing is said.
TableOptions DefaultTableOptions(const Dialect& dialect);
// WITH ID = ...; nullopt: not given.
CqlOr<std::optional<Uuid>> TableIdOption(const Properties& properties);

}  // namespace liststore::cql::schema_change

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_OPTIONS_H_
