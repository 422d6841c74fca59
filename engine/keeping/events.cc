#include "engine/keeping/events.h"

#include <utility>
#include <vector>

#include "engine/base/byte_coding.h"
#include "engine/roles/permission.h"
#include "engine/roles/resource.h"

namespace liststore::keeping {
namespace {

using roles::Grants;
using roles::Permission;
using roles::PermissionSet;
using roles::Resource;
using roles::ResourceKind;
using roles::Role;
using roles::RoleState;

constexpr uint8_t kCanLogin = 1;
constexpr uint8_t kSuperuser = 2;
constexpr uint8_t kHasHash = 4;

const Grants& GrantsOf(const RoleState& state, std::string_view name) {
  static const Grants kNone;
  const auto at = state.grants().find(name);
  return at == state.grants().end() ? kNone : at->second;
}

uint8_t BitsOf(PermissionSet permissions) {
  unsigned bits = 0;
  permissions.ForEach(
      [&](Permission permission) { bits |= 1u << static_cast<unsigned>(permission); });
  return static_cast<uint8_t>(bits);
}

PermissionSet PermissionsOf(uint8_t bits) {
  PermissionSet permissions;
  for (size_t i = 0; i < roles::kPermissions; ++i) {
    if ((bits >> i & 1) != 0) permissions.Add(static_cast<Permission>(i));
  }
  return permissions;
}

void AppendRole(std::string_view name, const Role& role, const Grants& grants, std::string& out) {
  PutText(out, name);
  const unsigned flags = (role.can_login ? kCanLogin : 0u) | (role.is_superuser ? kSuperuser : 0u) |
                         (role.salted_hash ? kHasHash : 0u);
  Put(out, static_cast<uint8_t>(flags));
  PutText(out, role.salted_hash.value_or(std::string()));
  Put(out, static_cast<uint32_t>(role.member_of.size()));
  for (const std::string& of : role.member_of) PutText(out, of);
  Put(out, static_cast<uint32_t>(grants.size()));
  for (const auto& [resource, permissions] : grants) {
    Put(out, static_cast<uint8_t>(resource.kind()));
    Put(out, BitsOf(permissions));
    Put(out, static_cast<uint32_t>(resource.parts().size()));
    for (const std::string& part : resource.parts()) PutText(out, part);
  }
}

struct ReadRole {
  std::string name;
  Role role;
  std::vector<std::pair<Resource, PermissionSet>> grants;
};

std::optional<Resource> MakeResource(uint8_t kind, std::vector<std::string> parts) {
  if (kind > static_cast<uint8_t>(ResourceKind::kFunctions)) return std::nullopt;
  const auto of = static_cast<ResourceKind>(kind);
  if (parts.empty()) return Resource(of);
  switch (of) {
    case ResourceKind::kData:
      if (parts.size() == 1) return Resource::Keyspace(std::move(parts[0]));
      if (parts.size() == 2) return Resource::Table(std::move(parts[0]), std::move(parts[1]));
      return std::nullopt;
    case ResourceKind::kRole:
      if (parts.size() == 1) return Resource::Role(std::move(parts[0]));
      return std::nullopt;
    case ResourceKind::kFunctions:
      break;
  }
  if (parts.size() == 1) return Resource::FunctionsIn(std::move(parts[0]));
  return Resource::Function(std::move(parts[0]), std::move(parts[1]),
                            {parts.begin() + 2, parts.end()});
}

bool ReadOneRole(ByteReader& input, ReadRole& read) {
  read.name = input.TakeText();
  const auto flags = input.Take<uint8_t>();
  read.role.can_login = (flags & kCanLogin) != 0;
  read.role.is_superuser = (flags & kSuperuser) != 0;
  const std::string_view hash = input.TakeText();
  if ((flags & kHasHash) != 0) read.role.salted_hash = hash;
  const uint32_t members = input.TakeCount(sizeof(uint32_t));
  for (uint32_t i = 0; i < members; ++i) read.role.member_of.emplace(input.TakeText());
  const uint32_t grants = input.TakeCount(6);
  for (uint32_t i = 0; i < grants && !input.bad(); ++i) {
    const auto kind = input.Take<uint8_t>();
    const PermissionSet permissions = PermissionsOf(input.Take<uint8_t>());
    std::vector<std::string> parts;
    const uint32_t count = input.TakeCount(sizeof(uint32_t));
    for (uint32_t part = 0; part < count; ++part) parts.emplace_back(input.TakeText());
    std::optional<Resource> resource = MakeResource(kind, std::move(parts));
    if (!resource || permissions.empty()) return false;
    read.grants.emplace_back(*std::move(resource), permissions);
  }
  return !input.bad() && !read.name.empty();
}

// Roles first, then what they have of each other.
bool ApplyRoles(ByteReader& input, RoleState& state) {
  const uint32_t dropped = input.TakeCount(sizeof(uint32_t));
  for (uint32_t i = 0; i < dropped; ++i) {
    const std::string_view name = input.TakeText();
    if (state.Find(name) != nullptr) state.Drop(name);
  }
  std::vector<ReadRole> changed;
  const uint32_t count = input.TakeCount(17);
  for (uint32_t i = 0; i < count; ++i) {
    if (!ReadOneRole(input, changed.emplace_back())) return false;
  }
  if (!input.AtEnd()) return false;
  for (ReadRole& read : changed) {
    state.Put(read.name, read.role.can_login, read.role.is_superuser, read.role.salted_hash);
    for (const auto& [resource, permissions] : Grants(GrantsOf(state, read.name))) {
      state.Revoke(read.name, resource, permissions);
    }
    for (const auto& [resource, permissions] : read.grants) {
      state.Grant(read.name, resource, permissions);
    }
  }
  // Not by GrantRole, which minds the order in which they were granted. One that is not there: what comes is
  // of before a snapshot in which it was dropped already, and the event that drops it comes as well.
  for (ReadRole& read : changed) {
    std::erase_if(read.role.member_of,
                  [&](const std::string& of) { return state.Find(of) == nullptr; });
    state.At(read.name).member_of = std::move(read.role.member_of);
  }
  return true;
}

}  // namespace

void AppendRoleEvent(const RoleState& before, const RoleState& after, std::string& out) {
  Put(out, durable::kRolesEvent);
  std::vector<std::string_view> dropped;
  for (const auto& [name, role] : before.roles()) {
    if (after.Find(name) == nullptr) dropped.push_back(name);
  }
  Put(out, static_cast<uint32_t>(dropped.size()));
  for (const std::string_view name : dropped) PutText(out, name);
  std::vector<std::string_view> changed;
  for (const auto& [name, role] : after.roles()) {
    const Role* const known = before.Find(name);
    if (known == nullptr || *known != role || GrantsOf(before, name) != GrantsOf(after, name)) {
      changed.push_back(name);
    }
  }
  Put(out, static_cast<uint32_t>(changed.size()));
  for (const std::string_view name : changed) {
    AppendRole(name, *after.Find(name), GrantsOf(after, name), out);
  }
}

bool ApplyEvent(std::string_view event, EventState& state) {
  if (durable::IsClockEvent(event)) {
    state.clock = durable::ClockIn(event);
    return state.clock.has_value();
  }
  if (durable::IsEvent(event, durable::kHoldingEvent)) {
    state.holding = event;
    return true;
  }
  ByteReader input(event);
  if (input.Take<uint8_t>() != durable::kRolesEvent) return false;
  state.has_roles = true;
  return ApplyRoles(input, state.roles);
}

}  // namespace liststore::keeping
