#include "engine/cql/schema/role_tables.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::cql {
namespace {

using roles::RoleState;

void ListRoleRows(const RoleState& state, RowCollector& rows) {
  for (const auto& [name, role] : state.roles()) {
    rows.Row()
        .Set("role", name)
        .Set("can_login", EncodeBoolean(role.can_login))
        .Set("is_superuser", EncodeBoolean(role.is_superuser));
    if (!role.member_of.empty()) {
      rows.Set("member_of", EncodeTextSet({role.member_of.begin(), role.member_of.end()}));
    }
    if (role.salted_hash) rows.Set("salted_hash", *role.salted_hash);
  }
}

void ListMembers(const RoleState& state, RowCollector& rows) {
  for (const auto& [name, role] : state.roles()) {
    for (const std::string& granted : role.member_of) {
      rows.Row().Set("role", granted).Set("member", name);
    }
  }
}

void ListPermissionRows(const RoleState& state, RowCollector& rows) {
  for (const auto& [name, grants] : state.grants()) {
    for (const auto& [resource, permissions] : grants) {
      std::vector<std::string> words;
      permissions.ForEach([&words](roles::Permission permission) {
        words.emplace_back(roles::ToString(permission));
      });
      rows.Row()
          .Set("role", name)
          .Set("resource", resource.Name())
          .Set("permissions", EncodeTextSet(std::move(words)));
    }
  }
}

void ListRolesOfResources(const RoleState& state, RowCollector& rows) {
  for (const auto& [name, grants] : state.grants()) {
    for (const auto& [resource, permissions] : grants) {
      rows.Row().Set("resource", resource.Name()).Set("role", name);
    }
  }
}

struct RoleTable {
  std::string_view name, partition_key, clustering, others, comment;
  // nullptr: always empty.
  void (*rows)(const RoleState&, RowCollector&);
};

constexpr RoleTable kOfBoth[] = {
    {"roles", "role text", "",
     "can_login boolean, is_superuser boolean, member_of set<text>, salted_hash text", "roles",
     ListRoleRows},
    {"role_members", "role text", "member text", "", "roles that have others", ListMembers},
    {"role_permissions", "role text", "resource text", "permissions set<text>", "what roles may do",
     ListPermissionRows},
};
constexpr RoleTable kOfScylla = {"role_attributes", "role text",           "name text",
                                 "value text",      "attributes of roles", nullptr};
// The name is as it is.
constexpr RoleTable kOfCassandra = {
    "resource_role_permissons_index", "resource text",     "role text", "",
    "roles that may do something",    ListRolesOfResources};
constexpr RoleTable kOfCassandra4 = {"network_permissions",
                                     "role text",
                                     "",
                                     "dcs set<text>",
                                     "data centres that roles may be in",
                                     nullptr};

}  // namespace

void AddRoleTables(VirtualTables& tables, bool looks_like_scylla, uint32_t cassandra_major,
                   const RoleSource& source) {
  const auto add = [&](const RoleTable& table) {
    const TableSpec spec = {KeyspaceOfRoles(looks_like_scylla),
                            table.name,
                            table.partition_key,
                            table.clustering,
                            table.others,
                            table.comment};
    ComputedTable::RowFunction rows;
    if (table.rows != nullptr) {
      rows = [list = table.rows, source](const VirtualReadContext& /*context*/,
                                         RowCollector& into) { list(*source(), into); };
    }
    tables.Add(std::make_unique<ComputedTable>(spec, std::move(rows)));
  };
  for (const RoleTable& table : kOfBoth) add(table);
  if (looks_like_scylla) return add(kOfScylla);
  add(kOfCassandra);
  if (cassandra_major >= 4) add(kOfCassandra4);
}

}  // namespace liststore::cql
