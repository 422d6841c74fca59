#include "engine/roles/role_state.h"

#include <gtest/gtest.h>

#include <optional>

namespace liststore {
namespace role_state_test {

using roles::Permission;
using roles::PermissionSet;
using roles::Resource;
using roles::ResourceKind;
using roles::RoleNames;
using roles::RoleState;

RoleState StateOf(const std::vector<std::string>& names) {
  RoleState state;
  for (const std::string& name : names) state.Put(name, true, false, std::nullopt);
  return state;
}

TEST(RoleStateTest, RolesHaveThoseOfTheirRoles) {
  RoleState state = StateOf({"a", "b", "c"});
  EXPECT_FALSE(state.GrantRole("b", "a"));
  EXPECT_FALSE(state.GrantRole("c", "b"));
  EXPECT_EQ(state.RolesOf("a"), (RoleNames{"a", "b", "c"}));
  EXPECT_EQ(state.RolesOf("a", /*recursive=*/false), (RoleNames{"a", "b"}));
  EXPECT_EQ(state.RolesOf("nobody"), std::nullopt);
  EXPECT_EQ(state.GrantRole("c", "a"), "a already includes role c.");
  EXPECT_EQ(state.GrantRole("a", "c"), "a already includes role c.");
  EXPECT_EQ(state.GrantRole("a", "a"), "a already includes role a.");
  EXPECT_EQ(state.GrantRole("nobody", "a"), "Role nobody doesn't exist.");
  EXPECT_EQ(state.GrantRole("a", "nobody"), "Role nobody doesn't exist.");
  EXPECT_EQ(state.RevokeRole("c", "a"), "a was not granted role c, so it cannot be revoked.");
  EXPECT_FALSE(state.RevokeRole("c", "b"));
  EXPECT_EQ(state.RolesOf("a"), (RoleNames{"a", "b"}));
  EXPECT_FALSE(state.RevokeRole("a", "a")) << "as ScyllaDB has it";
  state.Verify();
}

TEST(RoleStateTest, SuperusersMayDoWhatIsApplicableAndWhoHasOneIsOne) {
  RoleState state = StateOf({"bob"});
  state.Put("root", false, /*is_superuser=*/true, std::nullopt);
  EXPECT_FALSE(state.IsSuperuser("bob"));
  EXPECT_FALSE(state.IsSuperuser("nobody"));
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Table("ks", "t")), PermissionSet());
  ASSERT_FALSE(state.GrantRole("root", "bob"));
  EXPECT_TRUE(state.IsSuperuser("bob"));
  const auto on_table = state.PermissionsOn("bob", Resource::Table("ks", "t"));
  EXPECT_EQ(on_table, Resource::Keyspace("ks").ApplicablePermissions()) << "CREATE from above";
}

TEST(RoleStateTest, PermissionsComeFromRolesAndFromAbove) {
  RoleState state = StateOf({"bob", "readers"});
  ASSERT_FALSE(state.GrantRole("readers", "bob"));
  state.Grant("readers", Resource::Keyspace("ks"), {Permission::kSelect});
  state.Grant("bob", Resource::Table("ks", "t"), {Permission::kModify});
  state.Grant("bob", Resource(ResourceKind::kData), {Permission::kAlter});
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Table("ks", "t")),
            (PermissionSet{Permission::kSelect, Permission::kModify, Permission::kAlter}));
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Table("ks", "u")),
            (PermissionSet{Permission::kSelect, Permission::kAlter}));
  EXPECT_EQ(state.PermissionsOn("readers", Resource::Table("other", "t")), PermissionSet());
  EXPECT_EQ(state.PermissionsOn("nobody", Resource::Table("ks", "t")), std::nullopt);
  state.Verify();
}

TEST(RoleStateTest, InstrumentsAreNotAmongAllKeyspaces) {
  RoleState state = StateOf({"bob"});
  state.Put("root", true, /*is_superuser=*/true, std::nullopt);
  state.Grant("bob", Resource(ResourceKind::kData), PermissionSet::All());
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Table("liststore", "data")), PermissionSet());
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Keyspace("liststore")), PermissionSet());
  EXPECT_TRUE(
      state.PermissionsOn("root", Resource::Table("liststore", "data"))->Has(Permission::kModify));
  state.Grant("bob", Resource::Keyspace("liststore"), {Permission::kModify});
  EXPECT_EQ(state.PermissionsOn("bob", Resource::Table("liststore", "data")),
            PermissionSet{Permission::kModify});
}

TEST(RoleStateTest, WhatIsDroppedIsRevoked) {
  RoleState state = StateOf({"a", "b", "c"});
  ASSERT_FALSE(state.GrantRole("b", "a"));
  state.Grant("a", Resource::Role("b"), {Permission::kAlter});
  state.Grant("b", Resource::Keyspace("ks"), {Permission::kSelect});
  state.Drop("b");
  EXPECT_EQ(state.RolesOf("a"), RoleNames{"a"});
  EXPECT_TRUE(state.grants().empty());
  state.Verify();

  state.Grant("a", Resource::Keyspace("ks"), {Permission::kSelect});
  state.Grant("a", Resource::Table("ks", "t"), {Permission::kSelect});
  state.Grant("a", Resource::Table("ks2", "t"), {Permission::kSelect});
  state.Grant("a", Resource(ResourceKind::kData), {Permission::kSelect});
  state.Grant("c", Resource::FunctionsIn("ks"), {Permission::kExecute});
  state.RevokeAll(Resource::Table("ks", "t"));
  EXPECT_EQ(state.grants().at("a").size(), 3u);
  state.RevokeAll(Resource::Keyspace("ks"));
  EXPECT_EQ(state.grants().at("a").size(), 2u) << "all keyspaces and ks2.t stay";
  EXPECT_EQ(state.grants().count("c"), 1u) << "functions are for who drops a keyspace to say";
  state.RevokeAll(Resource::FunctionsIn("ks"));
  EXPECT_EQ(state.grants().count("c"), 0u);
  state.Verify();
}

TEST(RoleStateTest, NoSetIsEmpty) {
  RoleState state = StateOf({"a"});
  state.Grant("a", Resource::Keyspace("ks"), {});
  EXPECT_TRUE(state.grants().empty());
  state.Grant("a", Resource::Keyspace("ks"), {Permission::kSelect, Permission::kModify});
  state.Revoke("a", Resource::Keyspace("ks"), {Permission::kSelect});
  EXPECT_EQ(state.grants().at("a").at(Resource::Keyspace("ks")),
            PermissionSet{Permission::kModify});
  state.Revoke("a", Resource::Keyspace("ks"), PermissionSet::All());
  state.Revoke("a", Resource::Keyspace("ks"), PermissionSet::All());
  EXPECT_TRUE(state.grants().empty());
}

}  // namespace role_state_test
}  // namespace liststore
