// What it takes to make a server's schema fit another's: the statements, or what stands in the way.
#ifndef LISTSTORE_TOOLS_COPY_SCHEMA_COPY_H_
#define LISTSTORE_TOOLS_COPY_SCHEMA_COPY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/copy/remote_schema.h"

namespace liststore {

struct SchemaCopy {
  std::vector<std::string> statements;  // in the order in which they can be run
  std::vector<std::string> index_statements;
  std::vector<std::string> view_statements;
  std::vector<std::string> notes;        // what will be different, or is left out
  std::vector<std::string> differences;  // any: nothing may be written
};

// The part of `schema` that `keyspaces` and `tables` (KEYSPACE.TABLE) name; all of it when they
// name nothing. Keyspaces come with their types, tables with their views. NotFound names what is
// not there, and what is.
absl::StatusOr<std::vector<RemoteKeyspace>> SelectTables(const RemoteSchema& schema,
                                                         const std::vector<std::string>& keyspaces,
                                                         const std::vector<std::string>& tables);

// Keyspaces, types, tables, indexes and views of `wanted`, which is of `source`, that `target` does
// not have. Keyspaces get `replication`, a map as CQL writes it, or, when that is empty, what they
// have in `wanted`. Differences: types, tables and views that the target has otherwise, their
// options but for default_time_to_live left out of account.
SchemaCopy PlanSchemaCopy(const std::vector<RemoteKeyspace>& wanted, const RemoteSchema& source,
                          const RemoteSchema& target, const std::string& replication);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_SCHEMA_COPY_H_
