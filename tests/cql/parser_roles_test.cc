// What statements about roles and permissions say. Source: ScyllaDB cql3/Cql.g.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/statement.h"
#include "tests/cql/parse.h"

namespace liststore {
namespace parser_roles_test {

using roles::Permission;
using roles::PermissionSet;
using testing::Parsed;
using testing::Refusal;

TEST(ParseRoleTest, Create) {
  const auto plain = Parsed<cql::CreateRoleStatement>("CREATE ROLE Bob;");
  EXPECT_EQ(plain.role, "bob");
  EXPECT_FALSE(plain.if_not_exists);
  EXPECT_EQ(plain.options.can_login, false);
  EXPECT_EQ(plain.options.is_superuser, false);
  EXPECT_EQ(plain.options.password, std::nullopt);
  const auto all = Parsed<cql::CreateRoleStatement>(
      "CREATE ROLE IF NOT EXISTS 'Some One' WITH PASSWORD = 'it''s' AND LOGIN = TRUE AND SUPERUSER "
      "= true AND OPTIONS = {'a': 'b', 'c': 1} AND HASHED PASSWORD = '$6$x'");
  EXPECT_EQ(all.role, "Some One");
  EXPECT_TRUE(all.if_not_exists);
  EXPECT_EQ(all.options.password, "it's");
  EXPECT_EQ(all.options.hashed_password, "$6$x");
  EXPECT_EQ(all.options.can_login, true);
  EXPECT_EQ(all.options.is_superuser, true);
  ASSERT_TRUE(all.options.options);
  EXPECT_EQ(*all.options.options, (cql::Property::Map{{"a", "b"}, {"c", "1"}}));
  EXPECT_EQ(Parsed<cql::CreateRoleStatement>("CREATE ROLE \"Q\"").role, "Q");
  EXPECT_EQ(Parsed<cql::CreateRoleStatement>("CREATE ROLE password").role, "password");
  EXPECT_EQ(Parsed<cql::CreateRoleStatement>("CREATE ROLE r WITH LOGIN = true AND LOGIN = false")
                .options.can_login,
            false)
      << "the last one counts";
}

TEST(ParseRoleTest, UsersKeepTheirLetters) {
  const auto user =
      Parsed<cql::CreateRoleStatement>("CREATE USER IF NOT EXISTS Bob WITH PASSWORD 'x' SUPERUSER");
  EXPECT_EQ(user.role, "Bob");
  EXPECT_EQ(user.options.can_login, true);
  EXPECT_EQ(user.options.is_superuser, true);
  EXPECT_EQ(user.options.password, "x");
  EXPECT_EQ(Parsed<cql::CreateRoleStatement>("CREATE USER u NOSUPERUSER").options.is_superuser,
            false);
  EXPECT_EQ(Parsed<cql::CreateRoleStatement>("CREATE USER 'a b'").role, "a b");
  EXPECT_EQ(Refusal("CREATE USER \"Q\""), "Quoted strings are not supported for user names");
  const auto alter = Parsed<cql::AlterRoleStatement>("ALTER USER Bob WITH PASSWORD 'y'");
  EXPECT_EQ(alter.role, "Bob");
  EXPECT_EQ(alter.options.password, "y");
  EXPECT_EQ(alter.options.can_login, std::nullopt);
  EXPECT_TRUE(Parsed<cql::DropRoleStatement>("DROP USER IF EXISTS Bob").if_exists);
  EXPECT_EQ(Parsed<cql::DropRoleStatement>("DROP USER Bob").role, "Bob");
}

TEST(ParseRoleTest, AlterAndDrop) {
  const auto alter = Parsed<cql::AlterRoleStatement>("ALTER ROLE r WITH SUPERUSER = false");
  EXPECT_EQ(alter.role, "r");
  EXPECT_EQ(alter.options.is_superuser, false);
  EXPECT_EQ(alter.options.can_login, std::nullopt);
  EXPECT_EQ(Parsed<cql::AlterRoleStatement>("ALTER ROLE r").role, "r") << "nothing is changed";
  EXPECT_EQ(Parsed<cql::DropRoleStatement>("DROP ROLE R").role, "r");
  EXPECT_EQ(Refusal("DROP ROLE r; DROP ROLE s"), "line 1:13 : Unexpected 'DROP'");
}

TEST(ParseRoleTest, WhatIsNoRole) {
  EXPECT_EQ(Refusal("CREATE ROLE"), "line 1:11 no viable alternative at input '<EOF>'");
  EXPECT_EQ(Refusal("CREATE ROLE 'r"), "line 1:12 no viable alternative at input ''r'");
  EXPECT_EQ(Refusal("CREATE ROLE ?"), "Bind variables cannot be used for role names");
  EXPECT_EQ(Refusal("CREATE ROLE r WITH NOPE = 1"),
            "line 1:19 no viable alternative at input 'NOPE'");
  EXPECT_EQ(Refusal("CREATE ROLE r WITH PASSWORD = 1"),
            "line 1:30 no viable alternative at input '1'");
  EXPECT_EQ(Refusal("CREATE ROLE r WITH PASSWORD = ?"),
            "line 1:30 no viable alternative at input '?'");
  EXPECT_EQ(Refusal("CREATE ROLE r WITH LOGIN = 'true'"),
            "line 1:27 no viable alternative at input ''true''");
  EXPECT_EQ(Refusal("CREATE ROLE r WITH PASSWORD 'x'"), "line 1:28 : Missing '='");
  EXPECT_EQ(Refusal("CREATE USER u WITH HASHED PASSWORD 'x'"), "line 1:19 : Missing PASSWORD");
}

TEST(ParseGrantTest, OfRoles) {
  const auto grant = Parsed<cql::GrantRoleStatement>("GRANT Readers TO 'Bob'");
  EXPECT_FALSE(grant.revokes);
  EXPECT_EQ(grant.role, "readers");
  EXPECT_EQ(grant.grantee, "Bob");
  const auto revoke = Parsed<cql::GrantRoleStatement>("REVOKE readers FROM bob");
  EXPECT_TRUE(revoke.revokes);
  EXPECT_EQ(revoke.role, "readers");
  EXPECT_EQ(revoke.grantee, "bob");
  for (const std::string role : {"all", "describe", "execute"}) {
    EXPECT_EQ(Parsed<cql::GrantRoleStatement>("GRANT " + role + " TO bob").role, role);
  }
  EXPECT_EQ(Refusal("GRANT readers FROM bob"), "line 1:14 : Missing TO");
  EXPECT_EQ(Refusal("REVOKE readers TO bob"), "line 1:15 : Missing FROM");
}

struct GrantExample {
  std::string_view text;
  PermissionSet permissions;
  std::string resource;
};

TEST(ParseGrantTest, OfPermissions) {
  using enum Permission;
  const GrantExample examples[] = {
      {"GRANT SELECT ON ks.t TO r", {kSelect}, "<table ks.t>"},
      {"GRANT SELECT PERMISSION ON TABLE t TO r", {kSelect}, "<table .t>"},
      {"GRANT ALL ON KEYSPACE ks TO r",
       {kCreate, kAlter, kDrop, kSelect, kModify, kAuthorize},
       "<keyspace ks>"},
      {"GRANT ALL PERMISSIONS ON ks.t TO r",
       {kAlter, kDrop, kSelect, kModify, kAuthorize},
       "<table ks.t>"},
      {"REVOKE MODIFY ON ALL KEYSPACES FROM r", {kModify}, "<all keyspaces>"},
      {"GRANT DESCRIBE ON ALL ROLES TO r", {kDescribe}, "<all roles>"},
      {"GRANT ALTER ON ROLE Other TO r", {kAlter}, "<role other>"},
      {"GRANT EXECUTE ON ALL FUNCTIONS TO r", {kExecute}, "<all functions>"},
      {"GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks TO r", {kExecute}, "<all functions in ks>"},
      {"GRANT EXECUTE ON FUNCTION ks.f(int, frozen<list<text>>) TO r",
       {kExecute},
       "<function ks.f(int,frozen<list<text>>,)>"},
      {"GRANT EXECUTE ON FUNCTION f() TO r", {kExecute}, "<function .f()>"},
      {"GRANT SELECT ON role TO r", {kSelect}, "<table .role>"},
      {"GRANT SELECT ON all TO r", {kSelect}, "<table .all>"},
      {"GRANT SELECT ON function.t TO r", {kSelect}, "<table function.t>"},
  };
  for (const GrantExample& example : examples) {
    const auto grant = Parsed<cql::GrantStatement>(example.text);
    EXPECT_EQ(grant.revokes, example.text.starts_with("REVOKE"));
    EXPECT_EQ(grant.permissions, example.permissions) << example.text;
    EXPECT_EQ(grant.resource.ToString(), example.resource) << example.text;
    EXPECT_EQ(grant.role, "r") << example.text;
  }
}

// Source: ScyllaDB cql3/statements/permission_altering_statement.cc, filter_applicable_permissions.
TEST(ParseGrantTest, WhatAResourceDoesNotHave) {
  EXPECT_EQ(Refusal("GRANT CREATE ON TABLE ks.t TO r"),
            "Resource <table ks.t> does not support any of the requested permissions.");
  EXPECT_EQ(Refusal("GRANT SELECT ON ALL ROLES TO r"),
            "Resource <all roles> does not support any of the requested permissions.");
  EXPECT_EQ(Refusal("REVOKE DESCRIBE ON ROLE x FROM r"),
            "Resource <role x> does not support any of the requested permissions.");
  EXPECT_EQ(Refusal("GRANT EXECUTE ON KEYSPACE ks TO r"),
            "Resource <keyspace ks> does not support any of the requested permissions.");
}

TEST(ParseListTest, RolesAndUsers) {
  using Kind = cql::ListStatement::Kind;
  const auto roles = Parsed<cql::ListStatement>("LIST ROLES OF 'Some One' NORECURSIVE");
  EXPECT_EQ(roles.kind, Kind::kRoles);
  EXPECT_EQ(roles.of, "Some One");
  EXPECT_FALSE(roles.is_recursive);
  EXPECT_EQ(Parsed<cql::ListStatement>("LIST ROLES OF Me").of, "me");
  EXPECT_EQ(Parsed<cql::ListStatement>("LIST ROLES;").of, std::nullopt);
  EXPECT_TRUE(Parsed<cql::ListStatement>("LIST ROLES").is_recursive);
  EXPECT_EQ(Parsed<cql::ListStatement>("LIST USERS").kind, Kind::kUsers);
  EXPECT_EQ(Refusal("LIST TABLES"), "line 1:5 no viable alternative at input 'TABLES'");
  EXPECT_EQ(Refusal("LIST ROLES OF ?"), "Bind variables cannot be used for role names");
}

TEST(ParseListTest, Permissions) {
  const auto all = Parsed<cql::ListStatement>("LIST ALL");
  EXPECT_EQ(all.permissions, PermissionSet::All());
  EXPECT_EQ(all.resource, std::nullopt);
  EXPECT_TRUE(all.is_recursive);
  const auto some = Parsed<cql::ListStatement>("LIST MODIFY PERMISSION ON t OF r NORECURSIVE");
  EXPECT_EQ(some.permissions, PermissionSet{Permission::kModify});
  EXPECT_EQ(some.resource->ToString(), "<table .t>");
  EXPECT_EQ(some.of, "r");
  EXPECT_FALSE(some.is_recursive);
  const std::pair<std::string_view, std::string_view> resources[] = {
      {"LIST SELECT PERMISSION ON ks.t", "<table ks.t>"},
      {"LIST MODIFY ON KEYSPACE ks NORECURSIVE", "<keyspace ks>"},
      {"LIST CREATE ON ALL KEYSPACES OF \"R\"", "<all keyspaces>"},
      {"LIST DESCRIBE ON ALL ROLES", "<all roles>"},
      {"LIST ALTER ON ROLE 'r'", "<role r>"},
      {"LIST ALTER ON role", "<table .role>"},
      {"LIST EXECUTE ON ALL FUNCTIONS", "<all functions>"},
      {"LIST EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks", "<all functions in ks>"},
      {"LIST AUTHORIZE ON FUNCTION ks.f(int) OF r", "<function ks.f(int,)>"},
  };
  for (const auto& [text, resource] : resources) {
    EXPECT_EQ(Parsed<cql::ListStatement>(text).resource->ToString(), resource) << text;
  }
}

}  // namespace parser_roles_test
}  // namespace liststore
