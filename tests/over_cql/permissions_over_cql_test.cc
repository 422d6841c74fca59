// Permissions: how they come and go. What each statement needs is in permission_matrix_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "tests/over_cql/role_session_test.h"

namespace liststore::testing {
namespace permissions_over_cql_test {

constexpr char kKeyspace[] =
    " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

class Permissions : public RoleSessionTest {
 protected:
  void SetUp() override {
    Start("CassandraAuthorizer");
    Must(kRoot, std::string("CREATE KEYSPACE k") + kKeyspace);
    Must(kRoot, "CREATE TABLE k.t (p int PRIMARY KEY, a int)");
    CreateRole("bob");
    CreateRole("carol");
  }
  static std::string Missing(const std::string& user, const std::string& what) {
    return "2100 User " + user + " has no " + what + " or any of its parents";
  }
};

// Sources: ScyllaDB cql3/statements, grant_permissions_to_creator of create_keyspace_statement.cc,
// create_table_statement.cc and role-management-statements.cc.
TEST_F(Permissions, WhoMakesSomethingMayDoEverythingWithIt) {
  Must(kRoot, "GRANT CREATE ON ALL KEYSPACES TO bob");
  Must(kRoot, "GRANT CREATE ON ALL ROLES TO bob");
  Must("bob", std::string("CREATE KEYSPACE mine") + kKeyspace);
  Must("bob", "CREATE TABLE k.mine (p int PRIMARY KEY)");
  Must("bob", "CREATE ROLE helper WITH PASSWORD = 'helper' AND LOGIN = true");
  EXPECT_EQ(Rows("bob", "LIST ALL PERMISSIONS OF bob"),
            "bob bob <all keyspaces> CREATE; "
            "bob bob <table k.mine> ALTER; bob bob <table k.mine> AUTHORIZE; "
            "bob bob <table k.mine> DROP; bob bob <table k.mine> MODIFY; "
            "bob bob <table k.mine> SELECT; "
            "bob bob <keyspace mine> ALTER; bob bob <keyspace mine> AUTHORIZE; "
            "bob bob <keyspace mine> CREATE; bob bob <keyspace mine> DROP; "
            "bob bob <keyspace mine> MODIFY; bob bob <keyspace mine> SELECT; "
            "bob bob <all roles> CREATE; "
            "bob bob <role helper> ALTER; bob bob <role helper> AUTHORIZE; "
            "bob bob <role helper> DROP");
  Must("bob", "INSERT INTO k.mine (p) VALUES (1)");
  Must("bob", "GRANT SELECT ON k.mine TO helper");
  EXPECT_EQ(Refusal("bob", "INSERT INTO k.t (p) VALUES (1)"),
            Missing("bob", "MODIFY permission on <table k.t>"));
  // Who finds it there has made nothing.
  Must(kRoot, "GRANT CREATE ON KEYSPACE k TO carol");
  Must("carol", "CREATE TABLE IF NOT EXISTS k.mine (p int PRIMARY KEY)");
  EXPECT_EQ(Refusal("carol", "SELECT * FROM k.mine"),
            Missing("carol", "SELECT permission on <table k.mine>"));
}

TEST_F(Permissions, GoWithWhatTheyAreOf) {
  Must(kRoot, "GRANT SELECT ON k.t TO bob");
  Must(kRoot, "DROP TABLE k.t");
  EXPECT_EQ(Rows(kRoot, "LIST ALL PERMISSIONS OF bob"), "");
  Must(kRoot, "CREATE TABLE k.t (p int PRIMARY KEY)");
  EXPECT_EQ(Refusal("bob", "SELECT * FROM k.t"),
            Missing("bob", "SELECT permission on <table k.t>"));
  Must(kRoot, "GRANT SELECT ON k.t TO bob");
  Must(kRoot, "GRANT MODIFY ON KEYSPACE k TO bob");
  Must(kRoot, "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE k TO bob");
  Must(kRoot, "GRANT SELECT ON ALL KEYSPACES TO carol");
  Must(kRoot, "DROP KEYSPACE k");
  EXPECT_EQ(Rows(kRoot, "LIST ALL PERMISSIONS OF bob"), "");
  EXPECT_EQ(Rows(kRoot, "LIST ALL PERMISSIONS OF carol"), "carol carol <all keyspaces> SELECT");
  Must(kRoot, "GRANT ALTER ON ROLE carol TO bob");
  Must(kRoot, "DROP ROLE carol");
  EXPECT_EQ(Rows(kRoot, "LIST ALL PERMISSIONS OF bob"), "");
  Must(kRoot, "GRANT SELECT ON ALL KEYSPACES TO bob");
  Must(kRoot, "DROP ROLE bob");
  EXPECT_EQ(Rows(kRoot, "SELECT * FROM system.role_permissions WHERE role = 'bob'"), "");
}

TEST_F(Permissions, ComeFromRolesAndGoWithThem) {
  Must(kRoot, "CREATE ROLE readers");
  Must(kRoot, "GRANT SELECT ON KEYSPACE k TO readers");
  const CqlStatement select{"SELECT * FROM k.t WHERE p = 1", {}, true};
  EXPECT_EQ(Refusal("bob", select), Missing("bob", "SELECT permission on <table k.t>"));
  Must(kRoot, "GRANT readers TO bob");
  EXPECT_EQ(Refusal("bob", select), "");
  Must(kRoot, "REVOKE SELECT ON KEYSPACE k FROM readers");
  EXPECT_EQ(Refusal("bob", select), Missing("bob", "SELECT permission on <table k.t>"))
      << "at once, and for what was prepared before";
  Must(kRoot, "GRANT SELECT ON KEYSPACE k TO readers");
  EXPECT_EQ(Refusal("bob", select), "");
  Must(kRoot, "DROP ROLE readers");
  EXPECT_EQ(Refusal("bob", select), Missing("bob", "SELECT permission on <table k.t>"));
  // Who has a superuser is one.
  Must(kRoot, "GRANT cassandra TO bob");
  EXPECT_EQ(Refusal("bob", select), "");
  Must("bob", "DROP TABLE k.t");
}

// Many that came together run together: those that may not are told so, in their order.
TEST_F(Permissions, AreLookedAtForEachOfManyRequests) {
  Must(kRoot, "GRANT MODIFY ON k.t TO bob");
  const CqlStatement insert{"INSERT INTO k.t (p, a) VALUES (?, ?)",
                            {{std::string("\0\0\0\1", 4)}, {std::string("\0\0\0\2", 4)}},
                            true};
  for (int i = 0; i < 40; ++i) EXPECT_EQ(Refusal("bob", insert), "");
  Must(kRoot, "REVOKE MODIFY ON k.t FROM bob");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Refusal("bob", insert), Missing("bob", "MODIFY permission on <table k.t>"));
  }
  Must(kRoot, "GRANT ALL ON KEYSPACE k TO bob");
  EXPECT_EQ(Refusal("bob", insert), "");
}

TEST_F(Permissions, ARoleThatIsGoneMayDoNothing) {
  Must(kRoot, "GRANT SELECT ON KEYSPACE k TO bob");
  Must("bob", "SELECT * FROM k.t");
  Must(kRoot, "DROP ROLE bob");
  EXPECT_EQ(Refusal("bob", "SELECT * FROM k.t"), "2200 Role bob doesn't exist.");
  EXPECT_EQ(LoginError("bob", "bob"), "Username and/or password are incorrect");
}

TEST_F(Permissions, AreListed) {
  Must(kRoot, "CREATE ROLE staff");
  Must(kRoot, "GRANT staff TO bob");
  Must(kRoot, "GRANT SELECT ON KEYSPACE k TO staff");
  Must(kRoot, "GRANT MODIFY ON k.t TO bob");
  EXPECT_EQ(Rows("bob", "LIST ALL PERMISSIONS OF bob"),
            "bob bob <table k.t> MODIFY; staff staff <keyspace k> SELECT");
  EXPECT_EQ(Rows("bob", "LIST SELECT PERMISSION OF bob"), "staff staff <keyspace k> SELECT");
  EXPECT_EQ(Rows("bob", "LIST ALL PERMISSIONS ON k.t OF bob NORECURSIVE"),
            "bob bob <table k.t> MODIFY");
  EXPECT_EQ(Rows("bob", "LIST ALL PERMISSIONS OF staff"), "staff staff <keyspace k> SELECT");
  EXPECT_EQ(Refusal("bob", "LIST ALL PERMISSIONS OF carol"),
            "2100 You are not authorized to view carol's permissions");
  EXPECT_EQ(Refusal("bob", "LIST ALL PERMISSIONS OF nobody"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal("bob", "LIST ALL PERMISSIONS"),
            "2100 You are not authorized to view everyone's permissions");
  EXPECT_EQ(Refusal(kRoot, "LIST ALL PERMISSIONS OF nobody"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "LIST ALL PERMISSIONS ON k.nothing"),
            "2200 <table k.nothing> doesn't exist.");
  // Of roles: one's own, or all with DESCRIBE.
  EXPECT_EQ(Refusal("carol", "LIST ROLES OF bob"),
            "2100 You are not authorized to view the roles granted to role 'bob'.");
  const std::string none(4, '\0');
  EXPECT_EQ(Rows("carol", "LIST ROLES"), "carol false true " + none);
  Must(kRoot, "GRANT DESCRIBE ON ALL ROLES TO carol");
  EXPECT_EQ(Rows("carol", "LIST ROLES"), "bob false true " + none + "; carol false true " + none +
                                             "; cassandra true true " + none +
                                             "; staff false false " + none);
}

// Sources: ScyllaDB cql3/statements/permission_altering_statement.cc, authorization_statement.cc.
TEST_F(Permissions, WhatGrantsRefuse) {
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON t TO bob"),
            "2200 No keyspace has been specified. USE a keyspace, or explicitly specify "
            "keyspace.tablename");
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON KEYSPACE no TO bob"),
            "2200 <keyspace no> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT ALTER ON ROLE no TO bob"), "2200 <role no> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON k.t TO nobody"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT EXECUTE ON FUNCTION f(int) TO bob"),
            "2200 <function .f(int,)> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT EXECUTE ON FUNCTION k.f(int, text) TO bob"),
            "2200 <function k.f(int, text)> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE no TO bob"),
            "2200 <all functions in no> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE system TO bob"),
            "2200 Altering permissions on builtin functions is not supported");
  EXPECT_EQ(Refusal(kRoot, "GRANT EXECUTE ON FUNCTION system.now() TO bob"),
            "2200 Altering permissions on builtin functions is not supported");
  Must(kRoot, "GRANT EXECUTE ON ALL FUNCTIONS TO bob");
  Must(kRoot, "USE k");
  Must(kRoot, "GRANT SELECT ON t TO bob");
  Must(kRoot, "REVOKE MODIFY ON t FROM bob");
  EXPECT_EQ(Rows(kRoot, "LIST ALL PERMISSIONS OF bob"),
            "bob bob <table k.t> SELECT; bob bob <all functions> EXECUTE");
  EXPECT_EQ(Rows(kRoot, "SELECT resource FROM system.role_permissions WHERE role = 'bob'"),
            "data/k/t; functions");
}

TEST_F(Permissions, GoBackWithAReset) {
  Must(kRoot, "GRANT SELECT ON KEYSPACE k TO bob");
  Must(kRoot, "UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  CreateRole("dave");
  Must(kRoot, "REVOKE SELECT ON KEYSPACE k FROM bob");
  Must(kRoot, "ALTER ROLE carol WITH PASSWORD = 'other'");
  Must(kRoot, "UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  Must("bob", "SELECT * FROM k.t");
  EXPECT_EQ(LoginError("dave", "dave"), "Username and/or password are incorrect");
  EXPECT_EQ(LoginError("carol", "carol"), "");
  // Without a mark to what there was at the start.
  Must(kRoot, "UPDATE liststore.data SET action = 'forget' WHERE key = 'data'");
  Must(kRoot, "UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Rows(kRoot, "LIST USERS"), "cassandra true");
  EXPECT_EQ(Refusal("bob", "SELECT * FROM system.versions"), "2200 Role bob doesn't exist.");
}

TEST_F(Permissions, WhatIsForTestsBelongsToSuperusers) {
  Must(kRoot, "GRANT ALL ON ALL KEYSPACES TO bob");
  EXPECT_EQ(Refusal("bob", "UPDATE liststore.data SET action = 'reset' WHERE key = 'data'"),
            Missing("bob", "MODIFY permission on <table liststore.data>"));
  EXPECT_EQ(Refusal("bob", "GRANT MODIFY ON KEYSPACE liststore TO bob"),
            Missing("bob", "AUTHORIZE permission on <keyspace liststore>"))
      << "nor can it be granted by who has all keyspaces";
  EXPECT_EQ(Refusal("bob", "TRUNCATE liststore.requests"),
            Missing("bob", "MODIFY permission on <table liststore.requests>"));
  Must(kRoot, "GRANT MODIFY ON liststore.clock TO bob");
  Must("bob", "UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'");
  EXPECT_EQ(Refusal("bob", "SELECT * FROM liststore.clock"),
            Missing("bob", "SELECT permission on <table liststore.clock>"));
}

}  // namespace permissions_over_cql_test
}  // namespace liststore::testing
