// The tables in which the roles are seen.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_ROLE_TABLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_ROLE_TABLES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "engine/cql/schema/virtual_table.h"
#include "engine/roles/role_state.h"

namespace liststore::cql {

// Where the roles are to be looked up; thread-safe.
using RoleSource = std::function<std::shared_ptr<const roles::RoleState>()>;

// "system": ScyllaDB keeps the roles there since 6.0. "system_auth": Cassandra.
inline std::string_view KeyspaceOfRoles(bool looks_like_scylla) {
  return looks_like_scylla ? "system" : "system_auth";
}

// roles, role_members, role_attributes (always empty) and role_permissions; or those of a Cassandra,
// which has no attributes but for each resource the roles that may do something with it. Rows are
// read alone: statements about roles change them. Sources: ScyllaDB db/system_keyspace.cc; Cassandra
// auth/AuthKeyspace.java.
void AddRoleTables(VirtualTables& tables, bool looks_like_scylla, uint32_t cassandra_major,
                   const RoleSource& source);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_ROLE_TABLES_H_
