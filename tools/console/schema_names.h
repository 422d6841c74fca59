// The names of keyspaces, tables and columns that a server has.
#ifndef LISTSTORE_TOOLS_CONSOLE_SCHEMA_NAMES_H_
#define LISTSTORE_TOOLS_CONSOLE_SCHEMA_NAMES_H_

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"
#include "tools/console/completion.h"

namespace liststore {

// Of system_schema.keyspaces and columns, a page of each: of a schema that has more than 20,000 columns those
// of the first page. Statuses are the client's.
absl::StatusOr<SchemaNames> ReadSchemaNames(CqlClient& client);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_CONSOLE_SCHEMA_NAMES_H_
