// RoleState: all roles at one instant, which of them have which others, and what they may do.
#ifndef LISTSTORE_ENGINE_ROLES_ROLE_STATE_H_
#define LISTSTORE_ENGINE_ROLES_ROLE_STATE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/roles/permission.h"
#include "engine/roles/resource.h"

namespace liststore::roles {

struct Role {
  bool can_login = false;
  bool is_superuser = false;
  std::optional<std::string> salted_hash = {};        // none: nobody logs in as it
  std::set<std::string, std::less<>> member_of = {};  // roles that were granted to it

  bool operator==(const Role&) const = default;
};

using RoleNames = std::set<std::string, std::less<>>;
// Of one role; none of the sets is empty.
using Grants = std::map<Resource, PermissionSet>;

// Why nothing was changed, or is known, in ScyllaDB's words (auth/role_manager.hh); nullopt: it is
// done.
using RoleError = std::optional<std::string>;
std::string NoSuchRole(std::string_view name);
std::string RoleExists(std::string_view name);

// A value; pure. Looks are O(log roles), or O(roles that one has).
//
// Invariants: (1) what roles are members of, and who has been granted something, are roles; (2) no
// role has itself, by whatever way; (3) no set of permissions is empty.
class RoleState {
 public:
  // ---- Roles.
  const std::map<std::string, Role, std::less<>>& roles() const { return roles_; }
  // nullptr: there is none.
  const Role* Find(std::string_view name) const;
  // Puts it in place of one of its name, what it has and may do being what it was.
  void Put(std::string_view name, bool can_login, bool is_superuser,
           std::optional<std::string> salted_hash);
  // The role, which there is, for changes; members are for Grant and Revoke.
  Role& At(std::string_view name);
  // It, its grants, and what was granted on it. There is one of that name.
  void Drop(std::string_view name);

  // ---- Roles of roles.
  // `name` and the roles that it has; theirs too if `recursive`. nullopt: there is no such role.
  std::optional<RoleNames> RolesOf(std::string_view name, bool recursive = true) const;
  // It, or one of the roles that it has, is one. False where there is no such role.
  bool IsSuperuser(std::string_view name) const;
  RoleError GrantRole(std::string_view role, std::string_view grantee);
  RoleError RevokeRole(std::string_view role, std::string_view revokee);

  // ---- Permissions.
  const std::map<std::string, Grants, std::less<>>& grants() const { return grants_; }
  // What the role may do with the resource: granted to it or a role that it has, on the resource or
  // what that is a part of. A superuser may do whatever is applicable. nullopt: there is no such
  // role.
  //
  // What belongs to tests of a server, the tables of keyspace liststore, is not among "all
  // keyspaces": only who was granted something on that keyspace, or on a table of it, has it.
  std::optional<PermissionSet> PermissionsOn(std::string_view name, const Resource& resource) const;
  void Grant(std::string_view role, const Resource& resource, PermissionSet permissions);
  void Revoke(std::string_view role, const Resource& resource, PermissionSet permissions);
  // From everybody. Of a keyspace its tables too.
  void RevokeAll(const Resource& resource);

  // What it takes, roughly. O(all).
  size_t Bytes() const;
  // Ends the process if an invariant does not hold.
  void Verify() const;

  bool operator==(const RoleState&) const = default;

 private:
  bool IsSuperuser(const RoleNames& roles) const;

  std::map<std::string, Role, std::less<>> roles_;
  std::map<std::string, Grants, std::less<>> grants_;  // by role
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_ROLE_STATE_H_
