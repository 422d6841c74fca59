#include "engine/cql/schema/describe_roles.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/syntax/quoting.h"

namespace liststore::cql {
namespace {

// The one that every ScyllaDB has.
constexpr std::string_view kDefaultSuperuser = "cassandra";

struct RoleText {
  std::string name;
  std::string text;

  auto operator<=>(const RoleText&) const = default;
};

std::string CreateRoleText(std::string_view name, const roles::Role& role, bool with_passwords) {
  std::string text = "CREATE ROLE ";
  if (name == kDefaultSuperuser) text += "IF NOT EXISTS ";
  text += QuoteIdentifier(name) + " WITH ";
  if (with_passwords && role.salted_hash) {
    text += "HASHED PASSWORD = " + QuoteString(*role.salted_hash) + " AND ";
  }
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return text + "LOGIN = " + word(role.can_login) + " AND SUPERUSER = " + word(role.is_superuser) +
         ";";
}

// As GRANT names it.
std::string ResourceText(const roles::Resource& resource) {
  const std::vector<std::string>& parts = resource.parts();
  switch (resource.kind()) {
    case roles::ResourceKind::kData:
      if (parts.empty()) return "ALL KEYSPACES";
      if (parts.size() == 1) return "KEYSPACE " + QuoteIdentifier(parts[0]);
      return QuoteIdentifier(parts[0]) + "." + QuoteIdentifier(parts[1]);
    case roles::ResourceKind::kRole:
      return parts.empty() ? "ALL ROLES" : "ROLE " + QuoteIdentifier(parts[0]);
    case roles::ResourceKind::kFunctions:
      break;
  }
  // Of single functions nothing is granted: there are none.
  return parts.empty() ? "ALL FUNCTIONS" : "ALL FUNCTIONS IN KEYSPACE " + QuoteIdentifier(parts[0]);
}

void Append(std::string_view type, std::vector<RoleText> statements, Description& description) {
  std::ranges::sort(statements);
  for (RoleText& statement : statements) {
    description.rows.push_back({std::nullopt, std::string(type), QuoteIdentifier(statement.name),
                                std::move(statement.text)});
  }
}

}  // namespace

void AppendRoles(const roles::RoleState& state, bool with_passwords, Description& description) {
  std::vector<RoleText> roles;
  std::vector<RoleText> members;
  for (const auto& [name, role] : state.roles()) {
    roles.push_back({name, CreateRoleText(name, role, with_passwords)});
    for (const std::string& granted : role.member_of) {
      members.push_back(
          {granted, "GRANT " + QuoteIdentifier(granted) + " TO " + QuoteIdentifier(name) + ";"});
    }
  }
  std::vector<RoleText> permissions;
  for (const auto& [name, grants] : state.grants()) {
    for (const auto& [resource, of_resource] : grants) {
      const std::string what =
          " ON " + ResourceText(resource) + " TO " + QuoteIdentifier(name) + ";";
      of_resource.ForEach([&, &to = name](roles::Permission permission) {
        permissions.push_back({to, "GRANT " + std::string(roles::ToString(permission)) + what});
      });
    }
  }
  Append("role", std::move(roles), description);
  Append("grant_role", std::move(members), description);
  Append("grant_permission", std::move(permissions), description);
}

}  // namespace liststore::cql
