// Access: what a client may do, by the roles of one instant.
#ifndef LISTSTORE_ENGINE_EXECUTE_ACCESS_H_
#define LISTSTORE_ENGINE_EXECUTE_ACCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/execute/client_state.h"
#include "engine/model/schema.h"
#include "engine/roles/permission.h"
#include "engine/roles/resource.h"
#include "engine/roles/role_state.h"
#include "engine/roles/role_store.h"

namespace liststore::execute {

// In the words of ScyllaDB service/client_state.cc. One thread; for as long as one statement. A look
// is O(roles of the client's role).
class Access {
 public:
  // `client` outlives it.
  Access(const roles::RoleStore& store, const ClientState& client)
      : rules_(store.rules()), client_(client), roles_(store.snapshot()) {}

  const roles::RoleState& roles() const { return *roles_; }
  // Unauthorized: it has not logged in.
  cql::CqlStatus EnsureLoggedIn() const;
  // Invalid: its role was dropped meanwhile. Where permissions are not checked all of them, but for what
  // MayUse says.
  cql::CqlOr<roles::PermissionSet> PermissionsOn(const roles::Resource& resource) const;
  // Unauthorized: it may not; Invalid as above.
  cql::CqlStatus Ensure(roles::Permission permission, const roles::Resource& resource) const;
  // Where permissions are not checked and clients log in, the instruments are for superusers.
  bool MayUse(const roles::Resource& resource) const;
  // Of itself; false for who has not logged in.
  bool IsSuperuser() const;

  // "User bob has no SELECT permission on <table ks.t> or any of its parents".
  cql::CqlError Refusal(roles::Permission permission, const roles::Resource& resource) const;

 private:
  const roles::RoleRules rules_;
  const ClientState& client_;
  const std::shared_ptr<const roles::RoleState> roles_;
};

cql::CqlError Unauthorized(std::string message);

// What a statement that changes the schema needs: all of it; none where it is refused anyway, for a
// table or view that is not there.
using Needs = std::vector<std::pair<roles::Permission, roles::Resource>>;
// Errors: keyspaces of the server cannot be changed; none was said. Pure.
// Sources: check_access of each statement in ScyllaDB cql3/statements.
cql::CqlOr<Needs> NeedsOf(const cql::Statement& statement, std::string_view current_keyspace,
                          const Schema& schema);

// What a change of the schema means for permissions, where they are checked: who makes a keyspace or
// a table may do everything with it, and nobody has anything on what is gone. Within the catalog's
// change, so that nobody sees one without the other.
// Sources: ScyllaDB cql3/statements, grant_permissions_to_creator; drop_table_statement.cc,
// drop_keyspace_statement.cc.
class RoleChanges {
 public:
  // Both outlive it.
  RoleChanges(roles::RoleStore& store, const ClientState& client)
      : store_(store), client_(client) {}

  // Before the change is carried out. ServerError: there is no room for what is to be granted.
  cql::CqlStatus Grant(const cql::Statement& statement, const cql::SchemaChange& change);
  // It was not carried out.
  void TakeBack();
  // It is carried out.
  void Revoke(const cql::SchemaChange& change);

 private:
  roles::RoleStore& store_;
  const ClientState& client_;
  std::optional<roles::Resource> granted_;
};

// Where the roles have outgrown their room.
cql::CqlError NoRoomForRoles();
// Where a change cannot be kept.
cql::CqlError RolesNotKept();

// Everybody may read it: what drivers ask for when they connect. Source: ScyllaDB
// service/client_state.cc, readable_system_resources.
bool IsReadableByAll(const TableDefinition& table);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ACCESS_H_
