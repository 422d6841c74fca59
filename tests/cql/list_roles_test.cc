#include "engine/cql/schema/list_roles.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/cql/schema/describe_roles.h"
#include "engine/cql/values/encode_value.h"

namespace liststore {
namespace list_roles_test {

using roles::Permission;
using roles::Resource;
using roles::ResourceKind;
using roles::RoleNames;
using roles::RoleState;

RoleState SomeRoles() {
  RoleState state;
  state.Put("cassandra", true, true, "$6$salt$hash");
  state.Put("Bob", true, false, std::nullopt);
  state.Put("readers", false, false, std::nullopt);
  state.Put("it's", false, false, "o'k");
  EXPECT_FALSE(state.GrantRole("readers", "Bob"));
  state.Grant("readers", Resource::Table("ks", "T"), {Permission::kSelect, Permission::kModify});
  state.Grant("readers", Resource(ResourceKind::kData), {Permission::kCreate});
  state.Grant("Bob", Resource::Keyspace("ks"), {Permission::kSelect});
  state.Grant("Bob", Resource::Role("readers"), {Permission::kAlter});
  return state;
}

// A row a text.
std::vector<std::string> Texts(const cql::Description& description) {
  std::vector<std::string> texts;
  for (const cql::VirtualRow& row : description.rows) {
    std::string& text = texts.emplace_back();
    for (const std::optional<std::string>& value : row) {
      text += (text.empty() ? "" : " | ") + value.value_or("null");
    }
  }
  return texts;
}

TEST(ListRolesTest, RolesByName) {
  const RoleState state = SomeRoles();
  const cql::Description roles = cql::ListRoles(state, {"readers", "Bob", "cassandra", "gone"});
  ASSERT_EQ(roles.columns.size(), 4u);
  EXPECT_EQ(roles.columns[0].first, "role");
  EXPECT_EQ(roles.columns[1].first, "super");
  EXPECT_EQ(roles.columns[2].first, "login");
  EXPECT_EQ(roles.columns[3].first, "options");
  ASSERT_EQ(roles.rows.size(), 3u);
  const auto yes = cql::EncodeBoolean(true), no = cql::EncodeBoolean(false);
  const auto none = cql::EncodeTextMap({});
  EXPECT_EQ(roles.rows[0], (cql::VirtualRow{"Bob", no, yes, none})) << "empty options, not null";
  EXPECT_EQ(roles.rows[1], (cql::VirtualRow{"cassandra", yes, yes, none}));
  EXPECT_EQ(roles.rows[2], (cql::VirtualRow{"readers", no, no, none}));
}

TEST(ListRolesTest, UsersAreThoseThatLogIn) {
  RoleState state = SomeRoles();
  ASSERT_FALSE(state.GrantRole("cassandra", "Bob"));
  const cql::Description users = cql::ListUsers(state, {"Bob", "cassandra", "readers"});
  const auto yes = cql::EncodeBoolean(true);
  ASSERT_EQ(users.rows.size(), 2u);
  EXPECT_EQ(users.rows[0], (cql::VirtualRow{"Bob", yes})) << "by a role that it has";
  EXPECT_EQ(users.rows[1], (cql::VirtualRow{"cassandra", yes}));
}

TEST(ListRolesTest, Permissions) {
  const RoleState state = SomeRoles();
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Texts(cql::ListPermissions(state, {roles::PermissionSet::All()})),
            (Strings{"Bob | Bob | <keyspace ks> | SELECT", "Bob | Bob | <role readers> | ALTER",
                     "readers | readers | <all keyspaces> | CREATE",
                     "readers | readers | <table ks.T> | MODIFY",
                     "readers | readers | <table ks.T> | SELECT"}));
  cql::PermissionFilter of_table{.permissions = {Permission::kSelect, Permission::kCreate},
                                 .resource = Resource::Table("ks", "T")};
  EXPECT_EQ(
      Texts(cql::ListPermissions(state, of_table)),
      (Strings{"Bob | Bob | <keyspace ks> | SELECT", "readers | readers | <all keyspaces> | CREATE",
               "readers | readers | <table ks.T> | SELECT"}));
  of_table.is_recursive = false;
  EXPECT_EQ(Texts(cql::ListPermissions(state, of_table)),
            Strings{"readers | readers | <table ks.T> | SELECT"});
  of_table.roles = RoleNames{"Bob"};
  EXPECT_TRUE(cql::ListPermissions(state, of_table).rows.empty());
}

// Source: ScyllaDB auth/service.cc, describe_roles and describe_permissions;
// auth/standard_role_manager.cc, describe_role_grants.
TEST(DescribeRolesTest, AreTheStatementsThatMakeThem) {
  const RoleState state = SomeRoles();
  cql::Description with;
  cql::AppendRoles(state, /*with_passwords=*/true, with);
  EXPECT_EQ(
      Texts(with),
      (std::vector<std::string>{
          R"(null | role | "Bob" | CREATE ROLE "Bob" WITH LOGIN = true AND SUPERUSER = false;)",
          "null | role | cassandra | CREATE ROLE IF NOT EXISTS cassandra WITH HASHED PASSWORD = "
          "'$6$salt$hash' AND LOGIN = true AND SUPERUSER = true;",
          R"(null | role | "it's" | CREATE ROLE "it's" WITH HASHED PASSWORD = 'o''k' AND LOGIN = )"
          "false AND SUPERUSER = false;",
          "null | role | readers | CREATE ROLE readers WITH LOGIN = false AND SUPERUSER = false;",
          R"(null | grant_role | readers | GRANT readers TO "Bob";)",
          R"(null | grant_permission | "Bob" | GRANT ALTER ON ROLE readers TO "Bob";)",
          R"(null | grant_permission | "Bob" | GRANT SELECT ON KEYSPACE ks TO "Bob";)",
          "null | grant_permission | readers | GRANT CREATE ON ALL KEYSPACES TO readers;",
          R"(null | grant_permission | readers | GRANT MODIFY ON ks."T" TO readers;)",
          R"(null | grant_permission | readers | GRANT SELECT ON ks."T" TO readers;)",
      }));
  cql::Description without;
  cql::AppendRoles(state, /*with_passwords=*/false, without);
  EXPECT_EQ(Texts(without)[1],
            "null | role | cassandra | CREATE ROLE IF NOT EXISTS cassandra WITH LOGIN = true AND "
            "SUPERUSER = true;");
}

}  // namespace list_roles_test
}  // namespace liststore
