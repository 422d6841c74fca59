#include "engine/cql/schema/list_roles.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/cql/values/encode_value.h"

namespace liststore::cql {
namespace {

// It and what it is a part of.
std::set<roles::Resource> FamilyOf(const roles::Resource& resource) {
  std::set<roles::Resource> family = {resource};
  for (auto parent = resource.Parent(); parent; parent = parent->Parent()) family.insert(*parent);
  return family;
}

}  // namespace

Description ListRoles(const roles::RoleState& state, const roles::RoleNames& names) {
  Description listing;
  listing.table = "roles";
  listing.columns = {{"role", CqlType::kText},
                     {"super", CqlType::kBoolean},
                     {"login", CqlType::kBoolean},
                     {"options", DataType::Map(CqlType::kText, CqlType::kText)}};
  for (const std::string& name : names) {
    const roles::Role* const role = state.Find(name);
    if (role == nullptr) continue;
    // PasswordAuthenticator has no options of its own: empty, not null.
    listing.rows.push_back({name, EncodeBoolean(role->is_superuser), EncodeBoolean(role->can_login),
                            EncodeTextMap({})});
  }
  return listing;
}

Description ListUsers(const roles::RoleState& state, const roles::RoleNames& names) {
  Description listing;
  listing.table = "users";
  listing.columns = {{"name", CqlType::kText}, {"super", CqlType::kBoolean}};
  for (const std::string& name : names) {
    const roles::Role* const role = state.Find(name);
    if (role == nullptr || !role->can_login) continue;
    listing.rows.push_back({name, EncodeBoolean(state.IsSuperuser(name))});
  }
  return listing;
}

Description ListPermissions(const roles::RoleState& state, const PermissionFilter& filter) {
  Description listing;
  listing.table = "permissions";
  for (const char* column : {"role", "username", "resource", "permission"}) {
    listing.columns.emplace_back(column, CqlType::kText);
  }
  std::optional<std::set<roles::Resource>> family;
  if (filter.resource && filter.is_recursive) family = FamilyOf(*filter.resource);
  if (filter.resource && !filter.is_recursive) family.emplace({*filter.resource});
  for (const auto& [role, grants] : state.grants()) {
    if (filter.roles && !filter.roles->contains(role)) continue;
    for (const auto& [resource, permissions] : grants) {
      if (family && !family->contains(resource)) continue;
      std::set<std::string_view> words;
      permissions.And(filter.permissions).ForEach([&](roles::Permission permission) {
        words.insert(roles::ToString(permission));
      });
      for (const std::string_view word : words) {
        listing.rows.push_back({role, role, resource.ToString(), std::string(word)});
      }
    }
  }
  return listing;
}

}  // namespace liststore::cql
