#include "engine/cql/schema/role_tables.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "tests/cql/virtual_rows.h"

namespace liststore {
namespace role_tables_test {

using roles::Permission;
using roles::Resource;
using testing::NamedRow;

class RoleTablesTest : public ::testing::Test {
 protected:
  void Add(bool looks_like_scylla, uint32_t major = 4) {
    cql::AddRoleTables(tables_, looks_like_scylla, major,
                       [this] { return std::make_shared<const roles::RoleState>(state_); });
  }
  std::vector<NamedRow> Read(const std::string& keyspace, const std::string& name) {
    const Schema schema;
    const cql::VirtualTable* const table = tables_.Find(keyspace, name);
    EXPECT_NE(table, nullptr) << name;
    return testing::NamedRows(*table, {schema, node_, {}, 0});
  }
  std::string Columns(const std::string& keyspace, const std::string& name) {
    const cql::VirtualTable* const table = tables_.Find(keyspace, name);
    return table == nullptr ? "" : testing::ColumnsAsText(*table->definition());
  }

  roles::RoleState state_;
  cql::NodeFacts node_;
  cql::VirtualTables tables_;
};

TEST_F(RoleTablesTest, OfAScyllaAreInSystem) {
  Add(/*looks_like_scylla=*/true);
  EXPECT_EQ(Columns("system", "roles"),
            "(role text) | can_login boolean, is_superuser boolean, member_of set<text>, "
            "salted_hash text");
  EXPECT_EQ(Columns("system", "role_members"), "(role text), member text");
  EXPECT_EQ(Columns("system", "role_attributes"), "(role text), name text | value text");
  EXPECT_EQ(Columns("system", "role_permissions"),
            "(role text), resource text | permissions set<text>");
  Schema schema;
  tables_.PutInto(schema);
  EXPECT_EQ(schema.keyspaces.size(), 1u);
}

TEST_F(RoleTablesTest, OfACassandraAreInSystemAuth) {
  Add(/*looks_like_scylla=*/false, 3);
  EXPECT_NE(Columns("system_auth", "roles"), "");
  EXPECT_EQ(Columns("system_auth", "resource_role_permissons_index"), "(resource text), role text");
  EXPECT_EQ(Columns("system_auth", "role_attributes"), "");
  EXPECT_EQ(Columns("system_auth", "network_permissions"), "");
  Schema schema;
  tables_.PutInto(schema);
  EXPECT_EQ(schema.FindKeyspace("system_auth")->replication.at("class"),
            "org.apache.cassandra.locator.SimpleStrategy");
}

TEST_F(RoleTablesTest, NetworksAreOfCassandraFromFourOn) {
  Add(/*looks_like_scylla=*/false, 4);
  EXPECT_EQ(Columns("system_auth", "network_permissions"), "(role text) | dcs set<text>");
}

TEST_F(RoleTablesTest, RowsAreWhatTheRolesAre) {
  state_.Put("bob", true, false, "$6$x");
  state_.Put("readers", false, true, std::nullopt);
  ASSERT_FALSE(state_.GrantRole("readers", "bob"));
  state_.Grant("bob", Resource::Table("ks", "t"), {Permission::kSelect, Permission::kModify});
  Add(/*looks_like_scylla=*/true);
  for (NamedRow& row : Read("system", "roles")) {
    const bool is_bob = row["role"] == "bob";
    EXPECT_EQ(row["can_login"], cql::EncodeBoolean(is_bob));
    EXPECT_EQ(row["is_superuser"], cql::EncodeBoolean(!is_bob));
    EXPECT_EQ(row["salted_hash"].has_value(), is_bob);
    EXPECT_EQ(row["member_of"].has_value(), is_bob);
    EXPECT_EQ(row["member_of"].value_or(""), is_bob ? cql::EncodeTextSet({"readers"}) : "");
  }
  const auto members = Read("system", "role_members");
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].at("role"), "readers");
  EXPECT_EQ(members[0].at("member"), "bob");
  const auto permissions = Read("system", "role_permissions");
  ASSERT_EQ(permissions.size(), 1u);
  EXPECT_EQ(permissions[0].at("resource"), "data/ks/t");
  EXPECT_EQ(permissions[0].at("permissions"), cql::EncodeTextSet({"MODIFY", "SELECT"}));
  EXPECT_TRUE(Read("system", "role_attributes").empty());
}

TEST_F(RoleTablesTest, ACassandraHasThemByResourceToo) {
  state_.Put("bob", true, false, "$6$x");
  state_.Grant("bob", Resource::Keyspace("ks"), {Permission::kSelect});
  Add(/*looks_like_scylla=*/false);
  const auto rows = Read("system_auth", "resource_role_permissons_index");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("resource"), "data/ks");
  EXPECT_EQ(rows[0].at("role"), "bob");
}

}  // namespace role_tables_test
}  // namespace liststore
