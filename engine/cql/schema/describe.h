// DESCRIBE, as the server answers it: what cqlsh and other tools show of a schema.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// Columns of keyspace `system`, table `describe`, none of which exist.
struct Description {
  std::string keyspace = "system";
  std::string table = "describe";
  // Listings: keyspace_name, type, name. Elements: these and create_statement. All text. CLUSTER:
  // cluster, partitioner, snitch, and, if `current_keyspace` is not the server's own,
  // range_ownership.
  std::vector<std::pair<std::string, DataType>> columns;
  std::vector<VirtualRow> rows;
};

// Pure. `current_keyspace`: chosen by USE, empty: none. Names in rows are quoted where CQL wants
// them quoted. A table comes with its indexes, in rows of their own, a keyspace with its types
// before its tables, each type behind those that it is made of. Errors are Invalid, in the words of
// ScyllaDB `cql3/statements/describe_statement.cc`: what is not there. There are no functions,
// aggregates and views: listings of them are empty.
CqlOr<Description> Describe(const DescribeStatement& statement, const VirtualReadContext& context,
                            std::string_view current_keyspace);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_H_
