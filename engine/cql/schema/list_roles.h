// What LIST ROLES, LIST USERS and LIST PERMISSIONS answer. Who may ask is not looked at here.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_

#include <optional>
#include <string>

#include "engine/cql/schema/describe.h"
#include "engine/roles/role_state.h"

namespace liststore::cql {

// Pure. Those of `names` that are roles, by name. Columns and their order: ScyllaDB
// cql3/statements/role-management-statements.cc, list_users_statement.cc.
Description ListRoles(const roles::RoleState& state, const roles::RoleNames& names);
// The same of those that may log in.
Description ListUsers(const roles::RoleState& state, const roles::RoleNames& names);

struct PermissionFilter {
  roles::PermissionSet permissions;
  std::optional<roles::Resource> resource = {};  // none: any
  bool is_recursive = true;                      // what `resource` is a part of as well
  std::optional<roles::RoleNames> roles = {};    // none: of all
};
// What was granted, a row a permission, by role, resource and word. Source: ScyllaDB
// cql3/statements/list_permissions_statement.cc.
Description ListPermissions(const roles::RoleState& state, const PermissionFilter& filter);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_
