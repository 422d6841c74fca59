// The roles as statements that make them, as DESCRIBE SCHEMA WITH INTERNALS shows them.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_ROLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_ROLES_H_

#include "engine/cql/schema/describe.h"
#include "engine/roles/role_state.h"

namespace liststore::cql {

// Appends to the rows of a description of the whole schema: the roles, then the roles that were
// granted to others, then permissions; each by name and statement. `with_passwords`: with their
// hashes. Pure. Source: ScyllaDB auth/service.cc, describe_auth.
void AppendRoles(const roles::RoleState& state, bool with_passwords, Description& description);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_DESCRIBE_ROLES_H_
