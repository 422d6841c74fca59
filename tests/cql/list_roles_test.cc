#include "engine/cql/schema/list_roles.h"

#include <string>

#include "engine/cql/values/encode_value.h"
#include "gtest/gtest.h"

namespace liststore {
namespace list_roles_test {

using Kind = cql::ListStatement::Kind;

class ListRolesTest : public ::testing::Test {
 protected:
  ListRolesTest() { node_.superuser = "alice"; }

  cql::NodeFacts node_;
};

TEST_F(ListRolesTest, TheOneRoleIsWhoLogsIn) {
  const cql::CqlOr<cql::Description> roles = cql::ListRoles({Kind::kRoles, {}}, node_, "alice");
  ASSERT_TRUE(roles.ok());
  ASSERT_EQ(roles->columns.size(), 4u);
  EXPECT_EQ(roles->columns[0].first, "role");
  EXPECT_EQ(roles->columns[1].first, "super");
  EXPECT_EQ(roles->columns[2].first, "login");
  EXPECT_EQ(roles->columns[3].first, "options");
  ASSERT_EQ(roles->rows.size(), 1u);
  EXPECT_EQ(roles->rows[0][0], "alice");
  EXPECT_EQ(roles->rows[0][1], cql::EncodeBoolean(true));
  EXPECT_EQ(roles->rows[0][2], cql::EncodeBoolean(true));
  EXPECT_EQ(roles->rows[0][3], cql::EncodeTextMap({})) << "empty, not null";
  const cql::CqlOr<cql::Description> of_alice =
      cql::ListRoles({Kind::kRoles, "alice"}, node_, "alice");
  ASSERT_TRUE(of_alice.ok());
  EXPECT_EQ(of_alice->rows, roles->rows) << "a role has itself";

  const cql::CqlOr<cql::Description> users = cql::ListRoles({Kind::kUsers, {}}, node_, "alice");
  ASSERT_TRUE(users.ok());
  ASSERT_EQ(users->rows.size(), 1u);
  EXPECT_EQ(users->rows[0], (cql::VirtualRow{"alice", cql::EncodeBoolean(true)}));
}

TEST_F(ListRolesTest, ErrorsAreThoseOfAllowAll) {
  for (const Kind kind : {Kind::kRoles, Kind::kUsers, Kind::kPermissions}) {
    const cql::CqlOr<cql::Description> anonymous = cql::ListRoles({kind, {}}, node_, "anonymous");
    ASSERT_FALSE(anonymous.ok());
    EXPECT_EQ(anonymous.error().code, CqlErrorCode::kUnauthorized);
    EXPECT_EQ(anonymous.error().message,
              "You have to be logged in and not anonymous to perform this request");
  }
  const cql::CqlOr<cql::Description> permissions =
      cql::ListRoles({Kind::kPermissions, {}}, node_, "alice");
  ASSERT_FALSE(permissions.ok());
  EXPECT_EQ(permissions.error().code, CqlErrorCode::kInvalid);
  EXPECT_EQ(permissions.error().message,
            "LIST PERMISSIONS operation is not supported by AllowAllAuthorizer");
  const cql::CqlOr<cql::Description> nobody = cql::ListRoles({Kind::kRoles, "bob"}, node_, "alice");
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().message, "Role bob doesn't exist.");
}

}  // namespace list_roles_test
}  // namespace liststore
