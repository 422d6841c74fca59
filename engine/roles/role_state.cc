#include "engine/roles/role_state.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore::roles {
namespace {

constexpr std::string_view kInstruments = "liststore";

bool IsOfInstruments(const Resource& resource) {
  return resource.kind() == ResourceKind::kData && !resource.parts().empty() &&
         resource.parts()[0] == kInstruments;
}

// It and what it is a part of, as far as permissions on that count for it.
std::vector<Resource> FamilyOf(const Resource& resource) {
  std::vector<Resource> family = {resource};
  for (auto parent = resource.Parent(); parent; parent = parent->Parent()) {
    if (IsOfInstruments(resource) && !IsOfInstruments(*parent)) break;
    family.push_back(*parent);
  }
  return family;
}

}  // namespace

std::string NoSuchRole(std::string_view name) {
  return "Role " + std::string(name) + " doesn't exist.";
}

std::string RoleExists(std::string_view name) {
  return "Role " + std::string(name) + " already exists.";
}

const Role* RoleState::Find(std::string_view name) const {
  const auto at = roles_.find(name);
  return at == roles_.end() ? nullptr : &at->second;
}

void RoleState::Put(std::string_view name, bool can_login, bool is_superuser,
                    std::optional<std::string> salted_hash) {
  Role& role = roles_[std::string(name)];
  role.can_login = can_login;
  role.is_superuser = is_superuser;
  role.salted_hash = std::move(salted_hash);
}

Role& RoleState::At(std::string_view name) {
  const auto at = roles_.find(name);
  LS_CHECK(at != roles_.end(), "who changes a role has looked whether it is there");
  return at->second;
}

void RoleState::Drop(std::string_view name) {
  const auto at = roles_.find(name);
  LS_CHECK(at != roles_.end(), "who drops a role has looked whether it is there");
  RevokeAll(Resource::Role(std::string(name)));
  if (const auto grants = grants_.find(name); grants != grants_.end()) grants_.erase(grants);
  for (auto& [other_name, other] : roles_) {
    if (const auto member = other.member_of.find(name); member != other.member_of.end()) {
      other.member_of.erase(member);
    }
  }
  roles_.erase(at);
}

std::optional<RoleNames> RoleState::RolesOf(std::string_view name, bool recursive) const {
  const Role* const role = Find(name);
  if (role == nullptr) return std::nullopt;
  RoleNames names = {std::string(name)};
  std::vector<const Role*> to_look_at = {role};
  while (!to_look_at.empty()) {
    const Role& next = *to_look_at.back();
    to_look_at.pop_back();
    for (const std::string& granted : next.member_of) {
      if (!names.insert(granted).second || !recursive) continue;
      to_look_at.push_back(Find(granted));
      LS_CHECK(to_look_at.back() != nullptr, "roles are members of roles");
    }
  }
  return names;
}

bool RoleState::IsSuperuser(std::string_view name) const {
  const std::optional<RoleNames> names = RolesOf(name);
  return names && IsSuperuser(*names);
}

bool RoleState::IsSuperuser(const RoleNames& roles) const {
  return std::ranges::any_of(roles, [this](const std::string& name) {
    const Role* const role = Find(name);
    return role != nullptr && role->is_superuser;
  });
}

// Source: ScyllaDB auth/standard_role_manager.cc, grant.
RoleError RoleState::GrantRole(std::string_view role, std::string_view grantee) {
  const auto includes = [](std::string_view who, std::string_view what) {
    return std::string(who) + " already includes role " + std::string(what) + ".";
  };
  const std::optional<RoleNames> of_grantee = RolesOf(grantee);
  if (!of_grantee) return NoSuchRole(grantee);
  if (of_grantee->contains(role)) return includes(grantee, role);
  const std::optional<RoleNames> of_role = RolesOf(role);
  if (!of_role) return NoSuchRole(role);
  if (of_role->contains(grantee)) return includes(role, grantee);
  At(grantee).member_of.insert(std::string(role));
  return std::nullopt;
}

// Source: ScyllaDB auth/standard_role_manager.cc, revoke: of itself it takes nothing, and is fine.
RoleError RoleState::RevokeRole(std::string_view role, std::string_view revokee) {
  if (Find(role) == nullptr) return NoSuchRole(role);
  const std::optional<RoleNames> of_revokee = RolesOf(revokee, /*recursive=*/false);
  if (!of_revokee) return NoSuchRole(revokee);
  if (!of_revokee->contains(role)) {
    return std::string(revokee) + " was not granted role " + std::string(role) +
           ", so it cannot be revoked.";
  }
  RoleNames& member_of = At(revokee).member_of;
  if (const auto at = member_of.find(role); at != member_of.end()) member_of.erase(at);
  return std::nullopt;
}

std::optional<PermissionSet> RoleState::PermissionsOn(std::string_view name,
                                                      const Resource& resource) const {
  const std::optional<RoleNames> names = RolesOf(name);
  if (!names) return std::nullopt;
  const std::vector<Resource> family = FamilyOf(resource);
  PermissionSet permissions;
  if (IsSuperuser(*names)) {
    for (const Resource& member : family) permissions.Add(member.ApplicablePermissions());
    return permissions;
  }
  for (const std::string& role : *names) {
    const auto grants = grants_.find(role);
    if (grants == grants_.end()) continue;
    for (const Resource& member : family) {
      const auto at = grants->second.find(member);
      if (at != grants->second.end()) permissions.Add(at->second);
    }
  }
  return permissions;
}

void RoleState::Grant(std::string_view role, const Resource& resource, PermissionSet permissions) {
  LS_CHECK(Find(role) != nullptr, "something is granted to roles");
  if (permissions.empty()) return;
  grants_[std::string(role)][resource].Add(permissions);
}

void RoleState::Revoke(std::string_view role, const Resource& resource, PermissionSet permissions) {
  const auto grants = grants_.find(role);
  if (grants == grants_.end()) return;
  const auto at = grants->second.find(resource);
  if (at == grants->second.end()) return;
  at->second.Remove(permissions);
  if (at->second.empty()) grants->second.erase(at);
  if (grants->second.empty()) grants_.erase(grants);
}

// Source: ScyllaDB auth/default_authorizer.cc, revoke_all and revoke_all_keyspace_resources.
void RoleState::RevokeAll(const Resource& resource) {
  const bool is_keyspace = resource.kind() == ResourceKind::kData && resource.parts().size() == 1;
  const auto is_gone = [&](const Resource& other) {
    if (other == resource) return true;
    return is_keyspace && other.kind() == ResourceKind::kData && !other.parts().empty() &&
           other.parts()[0] == resource.parts()[0];
  };
  for (auto& [role, grants] : grants_) {
    std::erase_if(grants, [&](const auto& grant) { return is_gone(grant.first); });
  }
  std::erase_if(grants_, [](const auto& of_role) { return of_role.second.empty(); });
}

size_t RoleState::Bytes() const {
  // Of a node of a tree, and what a string is beside its bytes.
  constexpr size_t kNodeBytes = 96;
  size_t bytes = 0;
  for (const auto& [name, role] : roles_) {
    bytes += kNodeBytes + sizeof(Role) + name.size();
    if (role.salted_hash) bytes += role.salted_hash->size();
    for (const std::string& other : role.member_of) bytes += kNodeBytes + other.size();
  }
  for (const auto& [name, grants] : grants_) {
    bytes += kNodeBytes + name.size();
    for (const auto& [resource, permissions] : grants) {
      bytes += kNodeBytes;
      for (const std::string& part : resource.parts()) bytes += sizeof(part) + part.size();
    }
  }
  return bytes;
}

void RoleState::Verify() const {
  for (const auto& [name, role] : roles_) {
    for (const std::string& other : role.member_of) {
      const std::optional<RoleNames> roles = RolesOf(other);
      LS_CHECK(roles.has_value(), "(1) roles are members of roles");
      LS_CHECK(!roles->contains(name), "(2) no role has itself");
    }
  }
  for (const auto& [name, grants] : grants_) {
    LS_CHECK(Find(name) != nullptr, "(1) something was granted to roles");
    LS_CHECK(!grants.empty(), "(3) no set is empty");
    for (const auto& [resource, permissions] : grants) {
      LS_CHECK(!permissions.empty(), "(3) no set is empty");
    }
  }
}

}  // namespace liststore::roles
