// Each kind of statement with each permission: which of them it needs, on what, and what is said
// where it is missing. The cells are read in ScyllaDB's sources, which each row names.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/over_cql/role_session_test.h"

namespace liststore::testing {
namespace permission_matrix_test {

constexpr std::string_view kPermissions[] = {"CREATE", "ALTER",     "DROP",     "SELECT",
                                             "MODIFY", "AUTHORIZE", "DESCRIBE", "EXECUTE"};

struct Row {
  std::string_view statement;
  // Of ALL KEYSPACES or ALL ROLES, in the order above: y suffices, - does not, e is enough to learn
  // what else is wrong.
  std::string_view cells;
  std::string_view refusal;  // what is said without
  std::string_view exact;    // the resource of which it suffices too; empty: only that of all
  std::string_view other;    // one of which it does not
  std::string_view source;   // below cql3/statements
};

constexpr Row kMatrix[] = {
    {"SELECT * FROM k.t", "---y----", "SELECT permission on <table k.t>", "k.t", "k.x",
     "select_statement.cc: check_access"},
    {"SELECT COUNT(*) FROM k.t WHERE p = 1", "---y----", "SELECT permission on <table k.t>", "k.t",
     "KEYSPACE j", "select_statement.cc: check_access"},
    {"SELECT * FROM k.v", "---y----", "SELECT permission on <table k.t>", "k.t", "k.v",
     "select_statement.cc: check_access, of a view its table"},
    {"SELECT * FROM k.i_index", "---y----", "SELECT permission on <table k.t>", "KEYSPACE k", "k.x",
     "select_statement.cc: check_access, of a view its table"},
    {"INSERT INTO k.t (p, a) VALUES (1, 2)", "----y---", "MODIFY permission on <table k.t>", "k.t",
     "k.x", "modification_statement.cc: check_access"},
    {"INSERT INTO k.t JSON '{\"p\": 1}'", "----y---", "MODIFY permission on <table k.t>", "k.t",
     "k.x", "modification_statement.cc: check_access"},
    {"UPDATE k.t SET a = 1 WHERE p = 1", "----y---", "MODIFY permission on <table k.t>", "k.t",
     "k.x", "modification_statement.cc: check_access"},
    {"DELETE FROM k.t WHERE p = 1", "----y---", "MODIFY permission on <table k.t>", "KEYSPACE k",
     "KEYSPACE j", "modification_statement.cc: check_access"},
    {"BEGIN BATCH INSERT INTO k.t (p) VALUES (1); DELETE FROM k.t WHERE p = 2; APPLY BATCH",
     "----y---", "MODIFY permission on <table k.t>", "k.t", "k.x",
     "batch_statement.cc: check_access"},
    {"TRUNCATE k.t", "----y---", "MODIFY permission on <table k.t>", "k.t", "k.x",
     "truncate_statement.cc: check_access"},
    {"PRUNE MATERIALIZED VIEW k.v WHERE a = 1 AND p = 1", "---y----",
     "SELECT permission on <table k.t>", "k.t", "k.x",
     "prune_materialized_view_statement.hh, which is a select_statement"},
    {"CREATE KEYSPACE n WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
     "y-------", "CREATE permission on <all keyspaces>", "", "KEYSPACE k",
     "create_keyspace_statement.cc: check_access"},
    {"ALTER KEYSPACE k WITH durable_writes = false", "-y------", "ALTER permission on <keyspace k>",
     "KEYSPACE k", "KEYSPACE j", "alter_keyspace_statement.cc: check_access"},
    {"DROP KEYSPACE k", "--y-----", "DROP permission on <keyspace k>", "KEYSPACE k", "k.t",
     "drop_keyspace_statement.cc: check_access"},
    {"CREATE TABLE k.n (p int PRIMARY KEY)", "y-------", "CREATE permission on <keyspace k>",
     "KEYSPACE k", "KEYSPACE j", "create_table_statement.cc: check_access"},
    {"ALTER TABLE k.t ADD n int", "-y------", "ALTER permission on <table k.t>", "k.t", "k.x",
     "alter_table_statement.cc: check_access"},
    {"ALTER TABLE k.t WITH comment = 'c'", "-y------", "ALTER permission on <table k.t>", "k.t",
     "k.x", "alter_table_statement.cc: check_access"},
    {"DROP TABLE k.x", "--y-----", "DROP permission on <table k.x>", "k.x", "k.t",
     "drop_table_statement.cc: check_access"},
    {"DROP TABLE k.nothing", "--e-----", "DROP permission on <table k.nothing>", "", "k.t",
     "drop_table_statement.cc: check_access, before it is looked for"},
    {"CREATE INDEX n ON k.t (b)", "-y------", "ALTER permission on <table k.t>", "k.t", "k.x",
     "create_index_statement.cc: check_access"},
    {"DROP INDEX k.i", "-y------", "ALTER permission on <table k.t>", "k.t", "k.x",
     "drop_index_statement.cc: check_access"},
    {"CREATE MATERIALIZED VIEW k.n AS SELECT * FROM k.t WHERE a IS NOT NULL AND p IS NOT NULL "
     "PRIMARY KEY (a, p)",
     "-y------", "ALTER permission on <table k.t>", "k.t", "k.x",
     "create_view_statement.cc: check_access"},
    {"ALTER MATERIALIZED VIEW k.v WITH comment = 'c'", "-y------",
     "ALTER permission on <table k.t>", "k.t", "k.v", "alter_view_statement.cc: check_access"},
    {"DROP MATERIALIZED VIEW k.v", "-y------", "ALTER permission on <table k.t>", "k.t", "k.v",
     "drop_view_statement.cc: check_access"},
    {"CREATE TYPE k.n (a int)", "y-------", "CREATE permission on <keyspace k>", "KEYSPACE k",
     "KEYSPACE j", "create_type_statement.cc: check_access"},
    {"ALTER TYPE k.u ADD b int", "-y------", "ALTER permission on <keyspace k>", "KEYSPACE k",
     "KEYSPACE j", "alter_type_statement.cc: check_access"},
    {"DROP TYPE k.u", "--y-----", "DROP permission on <keyspace k>", "KEYSPACE k", "KEYSPACE j",
     "drop_type_statement.cc: check_access"},
    {"CREATE ROLE n WITH PASSWORD = 'n'", "y-------", "CREATE permission on <all roles>", "", "",
     "role-management-statements.cc: create_role_statement::check_access"},
    {"CREATE USER n", "y-------", "CREATE permission on <all roles>", "", "",
     "role-management-statements.cc: create_role_statement::check_access"},
    {"ALTER ROLE b WITH LOGIN = false", "-y------", "ALTER permission on <role b>", "ROLE b",
     "ROLE c", "role-management-statements.cc: alter_role_statement::check_access"},
    {"DROP ROLE b", "--y-----", "DROP permission on <role b>", "ROLE b", "ROLE c",
     "role-management-statements.cc: drop_role_statement::check_access"},
    {"GRANT b TO c", "-----y--", "AUTHORIZE permission on <role b>", "ROLE b", "ROLE c",
     "role-management-statements.cc: grant_role_statement::check_access"},
    {"REVOKE d FROM c", "-----y--", "AUTHORIZE permission on <role d>", "ROLE d", "ROLE c",
     "role-management-statements.cc: revoke_role_statement::check_access"},
    {"SELECT * FROM system.roles", "---y----", "SELECT permission on <table system.roles>",
     "system.roles", "k.t", "select_statement.cc; service/client_state.cc: has_access"},
    {"SELECT * FROM system.clients", "---y----", "SELECT permission on <table system.clients>",
     "KEYSPACE system", "KEYSPACE k", "select_statement.cc; service/client_state.cc: has_access"},
    {"UPDATE system.config SET value = '100' WHERE name = "
     "'max_clustering_key_restrictions_per_query'",
     "----y---", "MODIFY permission on <table system.config>", "system.config", "k.t",
     "modification_statement.cc: check_access"},
    // Ours: what belongs to tests of the server is not among all keyspaces.
    {"SELECT * FROM liststore.requests", "--------",
     "SELECT permission on <table liststore.requests>", "liststore.requests", "k.t",
     "docs/roles.md"},
    {"SELECT * FROM liststore.memory", "--------", "SELECT permission on <table liststore.memory>",
     "KEYSPACE liststore", "k.t", "docs/roles.md"},
    {"UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'", "--------",
     "MODIFY permission on <table liststore.clock>", "liststore.clock", "k.t", "docs/roles.md"},
    {"INSERT INTO liststore.faults (name, op, action) VALUES ('f', 'SELECT', 'read_timeout')",
     "--------", "MODIFY permission on <table liststore.faults>", "KEYSPACE liststore", "k.t",
     "docs/roles.md"},
};

// Two permissions are needed, and neither suffices.
constexpr Row kOfTwo[] = {
    {"INSERT INTO k.t (p, a) VALUES (1, 2) IF NOT EXISTS", "MODIFY SELECT",
     "MODIFY permission on <table k.t>", "k.t", "SELECT permission on <table k.t>",
     "modification_statement.cc: check_access"},
    {"UPDATE k.t SET a = 1 WHERE p = 1 IF a = 2", "MODIFY SELECT",
     "MODIFY permission on <table k.t>", "k.t", "SELECT permission on <table k.t>",
     "modification_statement.cc: check_access"},
    {"GRANT SELECT ON k.t TO c", "AUTHORIZE SELECT", "AUTHORIZE permission on <table k.t>", "k.t",
     "SELECT permission on <table k.t>", "permission_altering_statement.cc: check_access"},
    {"REVOKE SELECT ON k.t FROM c", "AUTHORIZE SELECT", "AUTHORIZE permission on <table k.t>",
     "k.t", "SELECT permission on <table k.t>", "permission_altering_statement.cc: check_access"},
    {"GRANT ALTER ON ROLE b TO c", "AUTHORIZE ALTER", "AUTHORIZE permission on <role b>", "ROLE b",
     "ALTER permission on <role b>", "permission_altering_statement.cc: check_access"},
};

// What everybody may do who has logged in.
constexpr std::string_view kOpen[] = {
    "SELECT * FROM system.local",          // service/client_state.cc: readable_system_resources
    "SELECT * FROM system.peers",          //
    "SELECT * FROM system_schema.tables",  //
    "SELECT * FROM system_schema.views",   //
    "USE k",                               // use_statement.cc: check_access
    "DESCRIBE KEYSPACE k",                 // describe_statement.cc: check_access
    "DESCRIBE SCHEMA WITH INTERNALS",      //
    "LIST USERS",                          // list_users_statement.cc
    "LIST ROLES",                          // role-management-statements.cc: list_roles_statement
    "LIST ALL PERMISSIONS OF r",           // list_permissions_statement.cc: check_access
    "LIST ALL PERMISSIONS ON k.t",         //
    "ALTER ROLE r WITH PASSWORD = 'r'",    // alter_role_statement::check_access, alterable_options
};

class PermissionMatrix : public RoleSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.journal_entries = 10;
    Start("CassandraAuthorizer", options);
    for (const char* keyspace : {"k", "j"}) {
      Must(kRoot, std::string("CREATE KEYSPACE ") + keyspace +
                      " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    }
    for (const char* text :
         {"CREATE TABLE k.t (p int PRIMARY KEY, a int, b int)",
          "CREATE TABLE k.x (p int PRIMARY KEY)", "CREATE INDEX i ON k.t (a)",
          "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL AND p IS NOT NULL "
          "PRIMARY KEY (a, p)",
          "CREATE TYPE k.u (a int)"}) {
      Must(kRoot, text);
    }
    for (const char* role : {"r", "b", "c", "d"}) CreateRole(role);
    Must(kRoot, "GRANT d TO c");
    Must(kRoot, "UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  }
  // As it was after SetUp: schema, rows and roles.
  void Reset() { Must(kRoot, "UPDATE liststore.data SET action = 'reset' WHERE key = 'data'"); }
  // Where the resource has the permission.
  void Grant(std::string_view permission, std::string_view resource) {
    const std::string answer = Refusal(
        kRoot, "GRANT " + std::string(permission) + " ON " + std::string(resource) + " TO r");
    EXPECT_TRUE(answer.empty() || answer.starts_with("2000 Resource ")) << answer;
  }
  static std::string Missing(std::string_view refusal) {
    return "2100 User r has no " + std::string(refusal) + " or any of its parents";
  }
  // Sent as a text, or prepared.
  std::string Run(std::string_view statement, bool prepared) {
    return Refusal("r", CqlStatement{std::string(statement), {}, prepared});
  }
};

TEST_F(PermissionMatrix, EachStatementWithEachPermission) {
  bool prepared = false;
  for (const Row& row : kMatrix) {
    for (size_t i = 0; i < std::size(kPermissions); ++i) {
      SCOPED_TRACE(std::string(row.statement) + "\nwith " + std::string(kPermissions[i]) +
                   "\nsource: " + std::string(row.source));
      Reset();
      Grant(kPermissions[i], "ALL KEYSPACES");
      Grant(kPermissions[i], "ALL ROLES");
      prepared = !prepared;
      const std::string answer = Run(row.statement, prepared);
      switch (row.cells[i]) {
        case 'y':
          EXPECT_EQ(answer, "");
          break;
        case 'e':
          EXPECT_TRUE(answer.starts_with("2200 ")) << answer;
          break;
        default:
          EXPECT_EQ(answer, Missing(row.refusal));
      }
    }
  }
}

TEST_F(PermissionMatrix, OfTheResourceItself) {
  bool prepared = false;
  for (const Row& row : kMatrix) {
    SCOPED_TRACE(std::string(row.statement) + "\nsource: " + std::string(row.source));
    const std::string needed(row.refusal.substr(0, row.refusal.find(' ')));
    prepared = !prepared;
    if (!row.other.empty()) {
      Reset();
      Grant(needed, row.other);
      EXPECT_EQ(Run(row.statement, prepared), Missing(row.refusal)) << "of " << row.other;
    }
    if (row.exact.empty()) continue;
    // With the same prepared statement as just before, and the same connection.
    Reset();
    Grant(needed, row.exact);
    EXPECT_EQ(Run(row.statement, prepared), "") << "of " << row.exact;
  }
}

TEST_F(PermissionMatrix, SomeNeedTwo) {
  for (const Row& row : kOfTwo) {
    SCOPED_TRACE(std::string(row.statement) + "\nsource: " + std::string(row.source));
    const std::string first(row.cells.substr(0, row.cells.find(' ')));
    const std::string second(row.cells.substr(row.cells.find(' ') + 1));
    Reset();
    EXPECT_EQ(Run(row.statement, false), Missing(row.refusal));
    Grant(first, row.exact);
    EXPECT_EQ(Run(row.statement, false), Missing(row.other));
    Grant(second, row.exact);
    EXPECT_EQ(Run(row.statement, false), "");
    Must(kRoot, "REVOKE " + first + " ON " + std::string(row.exact) + " FROM r");
    EXPECT_EQ(Run(row.statement, false), Missing(row.refusal));
  }
}

TEST_F(PermissionMatrix, WhatIsOpenToAll) {
  for (const std::string_view statement : kOpen) {
    EXPECT_EQ(Run(statement, false), "") << statement;
  }
}

// Nothing is needed to prepare, as in ScyllaDB; to execute it is.
TEST_F(PermissionMatrix, ABatchMessageNeedsWhatItsStatementsNeed) {
  const std::vector<CqlStatement> batch = {{"INSERT INTO k.x (p) VALUES (1)", {}},
                                           {"INSERT INTO k.t (p) VALUES (1)", {}, true}};
  Grant("MODIFY", "k.x");
  EXPECT_EQ(TextOf(As("r").RunBatch(true, batch, {})), Missing("MODIFY permission on <table k.t>"));
  EXPECT_EQ(Rows(kRoot, "SELECT COUNT(*) FROM k.x"), std::string(8, '\0')) << "nothing is written";
  Grant("MODIFY", "k.t");
  EXPECT_EQ(TextOf(As("r").RunBatch(true, batch, {})), "");
}

// Source: service/client_state.cc, has_access.
TEST_F(PermissionMatrix, KeyspacesOfTheServerCannotBeChangedByAnybody) {
  for (const std::string role : {"cassandra", "r"}) {
    EXPECT_EQ(Refusal(role, "DROP KEYSPACE system"),
              "2100 system keyspace is not user-modifiable.");
    EXPECT_EQ(Refusal(role, "ALTER TABLE system.local ADD x int"),
              "2100 system keyspace is not user-modifiable.");
    EXPECT_EQ(Refusal(role, "CREATE TABLE system_schema.x (p int PRIMARY KEY)"),
              "2100 system_schema keyspace is not user-modifiable.");
  }
}

}  // namespace permission_matrix_test
}  // namespace liststore::testing
