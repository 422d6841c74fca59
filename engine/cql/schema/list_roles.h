// LIST ROLES, LIST USERS and LIST PERMISSIONS: who there is, and what they may do.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_

#include <string_view>

#include "engine/cql/schema/describe.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// Pure. There is one role, NodeFacts::superuser, who may do everything: permissions are not kept,
// so that listing them is Invalid, as with ScyllaDB's AllowAllAuthorizer. `user`: who asks; where
// nobody logs in that is someone else, and all listings are Unauthorized, as with its
// AllowAllAuthenticator.
// Sources: ScyllaDB cql3/statements/role-management-statements.cc, list_users_statement.cc,
// list_permissions_statement.cc, auth/allow_all_authorizer.hh.
CqlOr<Description> ListRoles(const ListStatement& statement, const NodeFacts& node,
                             std::string_view user);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_LIST_ROLES_H_
