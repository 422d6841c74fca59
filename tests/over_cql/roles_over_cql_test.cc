// Roles: who there is, who logs in, and what statements about them answer. Words are read in ScyllaDB
// cql3/statements/role-management-statements.cc, list_users_statement.cc, permission_altering_
// statement.cc, list_permissions_statement.cc; auth/role_manager.hh, auth/standard_role_manager.cc,
// auth/password_authenticator.cc, auth/sasl_challenge.cc; service/client_state.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/roles/password_hash.h"
#include "liststore/cql_server.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/over_cql/role_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace roles_over_cql_test {

// ---- Where nobody logs in: AllowAllAuthenticator, as which everybody is anonymous.

constexpr char kAnonymous[] = "You have to be logged in and not anonymous to perform this request";

class WithoutLogins : public CqlSessionTest {};

TEST_F(WithoutLogins, NobodyIsARole) {
  StartServer({}, "k");
  Must("CREATE TABLE k.t (p int PRIMARY KEY)");
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"CREATE ROLE r", kAnonymous},
      {"CREATE ROLE IF NOT EXISTS cassandra WITH PASSWORD = 'x' AND HASHED PASSWORD = 'y'",
       kAnonymous},
      {"CREATE USER u WITH PASSWORD 'x' SUPERUSER", kAnonymous},
      {"ALTER ROLE r WITH LOGIN = true", kAnonymous},
      {"ALTER USER u WITH PASSWORD 'x'", kAnonymous},
      {"DROP ROLE IF EXISTS r", kAnonymous},
      {"DROP USER u", kAnonymous},
      {"GRANT a TO b", kAnonymous},
      {"REVOKE a FROM b", kAnonymous},
      {"GRANT SELECT ON k.t TO cassandra", kAnonymous},
      {"REVOKE SELECT ON k.nothing FROM cassandra", kAnonymous},
      {"LIST ROLES", kAnonymous},
      {"LIST ROLES OF nobody", kAnonymous},
      {"LIST USERS", kAnonymous},
      // What is asked about is looked up before who asks.
      {"LIST ALL PERMISSIONS", "You are not authorized to view everyone's permissions"},
      {"LIST ALL PERMISSIONS OF r", "You are not authorized to view r's permissions"},
      {"LIST ALL PERMISSIONS ON k.t", kAnonymous},
      {"DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS",
       "DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS can only be issued by a superuser"},
  };
  for (const auto& [text, error] : examples) {
    const CqlAnswer answer = session_->Run({std::string(text), {}});
    EXPECT_EQ(answer.error, error) << text;
    EXPECT_EQ(answer.code, 0x2100) << text;
  }
  EXPECT_EQ(Refusal("LIST ALL ON k.nothing"), "<table k.nothing> doesn't exist.");
  EXPECT_EQ(Refusal("GRANT CREATE ON k.t TO r"),
            "Resource <table k.t> does not support any of the requested permissions.");
  EXPECT_EQ(Refusal("DESCRIBE KEYSPACES WITH INTERNALS AND PASSWORDS"),
            "Option WITH PASSWORDS is only allowed with DESC SCHEMA");
}

TEST_F(WithoutLogins, ThereIsTheOneThatScyllaDbMakes) {
  StartServer({}, "k");
  EXPECT_EQ(Cell("SELECT role FROM system.roles"), "cassandra");
  EXPECT_EQ(Cell("SELECT is_superuser FROM system.roles"), std::string(1, '\1'));
  EXPECT_EQ(Cell("SELECT salted_hash FROM system.roles WHERE role = 'cassandra'"), "null");
  for (const std::string table : {"role_members", "role_attributes", "role_permissions"}) {
    EXPECT_TRUE(Must("SELECT * FROM system." + table).rows.empty());
  }
  const CqlAnswer described = Must("DESCRIBE SCHEMA WITH INTERNALS");
  ASSERT_FALSE(described.rows.empty());
  EXPECT_EQ(described.rows.back(),
            (ResultRow{std::nullopt, "role", "cassandra",
                       "CREATE ROLE IF NOT EXISTS cassandra WITH LOGIN = true AND SUPERUSER = "
                       "true;"}));
}

// An authorizer alone lets nobody do anything: anonymous has no permissions.
TEST_F(WithoutLogins, AnAuthorizerAloneShutsEverybodyOut) {
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  options.scylla_options = {{"authorizer", "org.apache.cassandra.auth.CassandraAuthorizer"}};
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  CqlSession session((*server)->cql_port());
  EXPECT_EQ(session.Run({"SELECT * FROM system.local", {}}).error, "");
  const CqlAnswer refused = session.Run({"SELECT * FROM system.versions", {}});
  EXPECT_EQ(refused.code, 0x2100);
  EXPECT_EQ(refused.error,
            "User anonymous has no SELECT permission on <table system.versions> or any of its "
            "parents");
}

TEST_F(WithoutLogins, OptionsThatNameWhatIsNotThere) {
  for (const auto& [name, value] :
       {std::pair("authenticator", "com.scylladb.auth.TransitionalAuthenticator"),
        std::pair("authorizer", "NoAuthorizer")}) {
    CqlServerOptions options;
    options.scylla_options = {{name, value}};
    const auto server = CqlServer::Start(options);
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(std::string(server.status().message()).substr(0, 20),
              (std::string(name) + " is '" + value).substr(0, 20));
  }
  CqlServerOptions options;
  options.user = "alice";
  EXPECT_FALSE(CqlServer::Start(options).ok()) << "nobody logs in without a password";
}

// ---- Where clients log in.

class Roles : public RoleSessionTest {};

TEST_F(Roles, TheSuperuserOfAScyllaDbIsThere) {
  Start("AllowAllAuthorizer");
  EXPECT_EQ(LoginError("cassandra", "cassandra"), "");
  EXPECT_EQ(LoginError("cassandra", "Cassandra"), "Username and/or password are incorrect");
  EXPECT_EQ(LoginError("nobody", "cassandra"), "Username and/or password are incorrect");
  EXPECT_EQ(LoginError("", "cassandra"), "Authentication ID must not be null");
  EXPECT_EQ(Rows(kRoot, "LIST USERS"), "cassandra true");
}

TEST_F(Roles, OptionsChooseTheSuperuser) {
  CqlServerOptions options;
  options.scylla_options = {{"auth_superuser_name", "admin"},
                            {"auth_superuser_salted_password", roles::HashPassword("open")}};
  Start("AllowAllAuthorizer", options);
  EXPECT_EQ(LoginError("admin", "open"), "");
  EXPECT_EQ(LoginError("cassandra", "cassandra"), "Username and/or password are incorrect");
  options.user = "alice";
  options.password = "secret";
  Start("AllowAllAuthorizer", options);
  EXPECT_EQ(LoginError("alice", "secret"), "");
  EXPECT_EQ(LoginError("admin", "open"), "Username and/or password are incorrect");
}

TEST_F(Roles, AreMadeAlteredAndDropped) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  EXPECT_EQ(LoginError("bob", "bob"), "");
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE bob"), "2200 Role bob already exists.");
  Must(kRoot, "CREATE ROLE IF NOT EXISTS bob WITH PASSWORD = 'other'");
  EXPECT_EQ(LoginError("bob", "bob"), "") << "it is what it was";
  Must(kRoot, "ALTER ROLE bob WITH PASSWORD = 'new'");
  EXPECT_EQ(LoginError("bob", "bob"), "Username and/or password are incorrect");
  EXPECT_EQ(LoginError("bob", "new"), "");
  Must(kRoot, "ALTER ROLE bob WITH LOGIN = false");
  EXPECT_EQ(LoginError("bob", "new"), "bob is not permitted to log in");
  EXPECT_EQ(LoginError("bob", "old"), "Username and/or password are incorrect");
  Must(kRoot, "CREATE USER Bob WITH PASSWORD 'upper' NOSUPERUSER");
  EXPECT_EQ(LoginError("Bob", "upper"), "") << "users keep their letters";
  EXPECT_EQ(Rows(kRoot, "LIST USERS"), "Bob false; cassandra true");
  Must(kRoot, "DROP USER Bob");
  EXPECT_EQ(LoginError("Bob", "upper"), "Username and/or password are incorrect");
  EXPECT_EQ(Refusal(kRoot, "DROP ROLE nobody"), "2200 Role nobody doesn't exist.");
  Must(kRoot, "DROP ROLE IF EXISTS nobody");
  EXPECT_EQ(Refusal(kRoot, "ALTER ROLE nobody WITH LOGIN = true"),
            "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "DROP ROLE cassandra"),
            "2200 Cannot DROP primary role for current login.");
}

TEST_F(Roles, OptionsThatThereAreNot) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE x WITH PASSWORD = 'a' AND HASHED PASSWORD = 'b'"),
            "2000 Only one of the options: PASSWORD, HASHED PASSWORD can be provided");
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE x WITH OPTIONS = {'a': 'b'}"),
            "2200 The OPTIONS option is not supported.");
  EXPECT_EQ(Refusal(kRoot, "ALTER ROLE bob WITH OPTIONS = {'a': 'b'}"),
            "2200 The OPTIONS option is not supported.");
  EXPECT_EQ(Refusal("bob", "ALTER ROLE bob WITH OPTIONS = {'a': 'b'}"),
            "2100 You aren't allowed to alter the OPTIONS option.");
  EXPECT_EQ(Refusal(kRoot, "ALTER ROLE bob WITH HASHED PASSWORD = '$6$x'"),
            "0000 std::get: wrong index for variant");
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE ''"), "2200 Key may not be empty");
  // Ours: limits.
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE x WITH PASSWORD = '" + std::string(512, 'x') + "'"),
            "2200 PASSWORD has 512 bytes, more than can be hashed, 511");
  EXPECT_EQ(Refusal(kRoot, "CREATE ROLE x WITH HASHED PASSWORD = '$2y$20$abc'"),
            "2200 HASHED PASSWORD asks for a bcrypt cost of 20, more than 12: while one client "
            "logs in others wait");
  EXPECT_EQ(Rows(kRoot, "LIST ROLES OF bob"), "bob false true " + std::string(4, '\0'));
  EXPECT_EQ(Refusal(kRoot, "LIST ROLES OF x"), "2200 Role x doesn't exist.");
}

TEST_F(Roles, HashedPasswordsGoFromServerToServer) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  const std::string hash = Rows(kRoot, "SELECT salted_hash FROM system.roles WHERE role = 'bob'");
  EXPECT_TRUE(hash.starts_with("$6$")) << hash;
  Start("AllowAllAuthorizer");
  EXPECT_EQ(LoginError("bob", "bob"), "Username and/or password are incorrect");
  Must(kRoot, "CREATE ROLE bob WITH HASHED PASSWORD = '" + hash + "' AND LOGIN = true");
  EXPECT_EQ(LoginError("bob", "bob"), "");
  Must(kRoot,
       "CREATE ROLE md5 WITH LOGIN = true AND HASHED PASSWORD = "
       "'$1$deadbeef$0Huu6KHrKLVWfqa4WljDE0'");
  EXPECT_EQ(LoginError("md5", "0.s0.l33t"), "");
  Must(kRoot, "CREATE ROLE odd WITH LOGIN = true AND HASHED PASSWORD = 'odd'");
  EXPECT_EQ(LoginError("odd", "odd"), "Could not verify password");
}

TEST_F(Roles, WhoMayMakeWhom) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  // Where permissions are not checked everybody may make roles, but not all of them.
  Must("bob", "CREATE ROLE helper");
  EXPECT_EQ(Refusal("bob", "CREATE ROLE root WITH SUPERUSER = true"),
            "2100 Only superusers can create a role with superuser status.");
  EXPECT_EQ(Refusal("bob", "CREATE ROLE root WITH HASHED PASSWORD = 'x'"),
            "2100 Only superusers can create a role with a hashed password.");
  EXPECT_EQ(Refusal("bob", "ALTER ROLE bob WITH SUPERUSER = true"),
            "2100 Only superusers are allowed to alter superuser status.");
  EXPECT_EQ(Refusal("bob", "DROP ROLE cassandra"),
            "2100 Only superusers can drop a superuser role.");
  EXPECT_EQ(Refusal(kRoot, "ALTER ROLE cassandra WITH SUPERUSER = false"),
            "2100 You aren't allowed to alter your own superuser status or that of a role granted "
            "to you.");
  EXPECT_EQ(Refusal(kRoot, "ALTER ROLE nobody WITH SUPERUSER = false"),
            "2200 Role nobody doesn't exist.");
  Must(kRoot, "ALTER ROLE bob WITH SUPERUSER = true");
  EXPECT_EQ(Rows(kRoot, "LIST USERS"), "bob true; cassandra true");
  Must("bob", "CREATE ROLE root WITH SUPERUSER = true");
}

TEST_F(Roles, HaveOtherRoles) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  CreateRole("carol");
  for (const char* role : {"readers", "staff"}) Must(kRoot, std::string("CREATE ROLE ") + role);
  Must(kRoot, "GRANT readers TO staff");
  Must(kRoot, "GRANT staff TO bob");
  EXPECT_EQ(Refusal(kRoot, "GRANT readers TO bob"), "2200 bob already includes role readers.");
  EXPECT_EQ(Refusal(kRoot, "GRANT bob TO readers"), "2200 bob already includes role readers.");
  EXPECT_EQ(Refusal(kRoot, "GRANT nobody TO bob"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT bob TO nobody"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "REVOKE readers FROM bob"),
            "2200 bob was not granted role readers, so it cannot be revoked.");
  const std::string none(4, '\0');  // options, of which there are none
  EXPECT_EQ(Rows(kRoot, "LIST ROLES OF bob"), "bob false true " + none + "; readers false false " +
                                                  none + "; staff false false " + none);
  EXPECT_EQ(Rows(kRoot, "LIST ROLES OF bob NORECURSIVE"),
            "bob false true " + none + "; staff false false " + none);
  EXPECT_EQ(Rows(kRoot, "SELECT member FROM system.role_members WHERE role = 'readers'"), "staff");
  Must(kRoot, "REVOKE staff FROM bob");
  EXPECT_EQ(Rows(kRoot, "LIST ROLES OF bob"), "bob false true " + none);
  // Superusers are also those who have one.
  Must(kRoot, "GRANT cassandra TO carol");
  EXPECT_EQ(Rows(kRoot, "LIST USERS"), "bob false; carol true; cassandra true");
  EXPECT_EQ(Rows("carol", "LIST USERS"), "bob false; carol true; cassandra true");
  EXPECT_EQ(Rows("bob", "LIST USERS"), "bob false") << "itself alone";
}

// With an authenticator and AllowAllAuthorizer.
TEST_F(Roles, WithoutAnAuthorizerNothingIsGranted) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  Must("bob",
       "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
       "'replication_factor': 1}");
  Must("bob", "CREATE TABLE k.t (p int PRIMARY KEY)");
  Must("bob", "SELECT * FROM system.clients");
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON k.t TO bob"),
            "2200 GRANT operation is not supported by AllowAllAuthorizer");
  EXPECT_EQ(Refusal("bob", "REVOKE SELECT ON k.t FROM cassandra"),
            "2200 REVOKE operation is not supported by AllowAllAuthorizer");
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON k.t TO nobody"), "2200 Role nobody doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "GRANT SELECT ON k.nothing TO bob"),
            "2200 <table k.nothing> doesn't exist.");
  EXPECT_EQ(Refusal(kRoot, "LIST ALL PERMISSIONS"),
            "2200 LIST PERMISSIONS operation is not supported by AllowAllAuthorizer");
  EXPECT_EQ(Refusal("bob", "LIST ALL PERMISSIONS"),
            "2100 You are not authorized to view everyone's permissions");
  EXPECT_EQ(Rows(kRoot, "SELECT * FROM system.role_permissions"), "");
}

// Whoever may wipe everybody's data, see their values or move their clock is no client like others.
TEST_F(Roles, WithoutAnAuthorizerTheInstrumentsAreForSuperusers) {
  Start("AllowAllAuthorizer");
  CreateRole("bob");
  const std::pair<const char*, const char*> statements[] = {
      {"UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'", "clock"},
      {"INSERT INTO liststore.faults (name, op, action) VALUES ('f', 'SELECT', 'read_timeout')",
       "faults"},
      {"DELETE FROM liststore.faults WHERE name = 'f'", "faults"},
      {"BEGIN BATCH DELETE FROM liststore.faults WHERE name = 'f' APPLY BATCH", "faults"},
      {"SELECT * FROM liststore.requests", "requests"},
      {"TRUNCATE liststore.requests", "requests"},
      {"SELECT * FROM liststore.memory", "memory"},
      // Roles as well are then as they were at first.
      {"UPDATE liststore.data SET action = 'reset' WHERE key = 'data'", "data"},
  };
  for (const auto& [statement, table] : statements) {
    EXPECT_EQ(Refusal("bob", statement),
              std::string("2100 Only superusers may use <table liststore.") + table + ">")
        << statement;
  }
  EXPECT_EQ(Rows(kRoot, "SELECT name FROM liststore.faults"), "");
  Must(kRoot, "GRANT cassandra TO bob");
  for (const auto& [statement, table] : statements) {
    if (std::string_view(statement).starts_with("BEGIN")) continue;  // no table of ours takes one
    Must("bob", statement);
  }
}

TEST_F(Roles, AreDescribedAsTheStatementsThatMakeThem) {
  Start("CassandraAuthorizer");
  CreateRole("bob");
  Must(kRoot, "CREATE ROLE readers");
  Must(kRoot, "GRANT readers TO bob");
  Must(kRoot, "GRANT SELECT ON ALL KEYSPACES TO readers");
  const CqlAnswer described = As(kRoot).Run({"DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS", {}});
  EXPECT_EQ(described.error, "");
  // All of them make the same roles in another server, where cassandra is there already.
  Start("CassandraAuthorizer");
  for (const ResultRow& row : described.rows) {
    ASSERT_EQ(row.size(), 4u);
    if (!row[0]) Must(kRoot, *row[3]);
  }
  EXPECT_EQ(LoginError("bob", "bob"), "");
  EXPECT_EQ(As(kRoot).Run({"DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS", {}}).rows.size(),
            described.rows.size());
  EXPECT_EQ(Refusal("bob", "DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS"),
            "2100 DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS can only be issued by a superuser");
  for (const ResultRow& row : As("bob").Run({"DESCRIBE SCHEMA WITH INTERNALS", {}}).rows) {
    EXPECT_EQ(row[3]->find("HASHED"), std::string::npos) << *row[3];
  }
}

TEST_F(Roles, OfACassandraAreInSystemAuth) {
  CqlServerOptions options;
  options.like = "cassandra:4.1";
  Start("CassandraAuthorizer", options);
  CreateRole("bob");
  Must(kRoot, "GRANT SELECT ON ALL KEYSPACES TO bob");
  EXPECT_EQ(Rows(kRoot, "SELECT can_login FROM system_auth.roles WHERE role = 'bob'"), "true");
  EXPECT_EQ(Rows(kRoot,
                 "SELECT role FROM system_auth.resource_role_permissons_index WHERE "
                 "resource = 'data'"),
            "bob");
  EXPECT_EQ(Refusal(kRoot, "SELECT * FROM system.roles"), "2200 unconfigured table roles");
  for (const ResultRow& row : As(kRoot).Run({"DESCRIBE SCHEMA WITH INTERNALS", {}}).rows) {
    EXPECT_TRUE(row[0]) << "a Cassandra describes no roles";
  }
}

}  // namespace roles_over_cql_test
}  // namespace liststore::testing
