// Who may log in, as statements and tables of the system tell it.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "liststore/cql_server.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace roles_over_cql_test {

constexpr uint8_t kStartup = 0x01, kAuthResponse = 0x0f, kAuthSuccess = 0x10, kResult = 0x08;

class Roles : public CqlSessionTest {};

TEST_F(Roles, NobodyLogsInToANewServer) {
  StartServer({}, "k");
  const CqlAnswer refused = session_->Run({"LIST USERS", {}});
  EXPECT_EQ(refused.error, "You have to be logged in and not anonymous to perform this request");
  EXPECT_EQ(refused.code, 0x2100);
  EXPECT_EQ(Cell("SELECT role FROM system.roles"), "cassandra");
  EXPECT_EQ(Cell("SELECT salted_hash FROM system.roles WHERE role = 'cassandra'"), "null");
  for (const std::string table : {"role_members", "role_attributes", "role_permissions"}) {
    EXPECT_TRUE(Must("SELECT * FROM system." + table).rows.empty());
  }
}

TEST_F(Roles, WhoLogsInIsTheOneRole) {
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  options.user = "alice";
  options.password = "secret";
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  RawCqlClient client((*server)->cql_port());
  ASSERT_TRUE(client.Ask({.opcode = kStartup, .body = StartupBody()}));
  const auto in = client.Ask({.stream = 2,
                              .opcode = kAuthResponse,
                              .body = BytesBody(std::string("\0alice\0secret", 13))});
  ASSERT_TRUE(in && in->opcode == kAuthSuccess);
  for (const char* statement : {"LIST ROLES", "LIST ROLES OF alice NORECURSIVE", "LIST USERS",
                                "SELECT * FROM system.roles WHERE role = 'alice'"}) {
    const auto frame = client.Query(statement);
    ASSERT_TRUE(frame && frame->opcode == kResult) << statement;
    EXPECT_NE(frame->body.find("alice"), std::string::npos) << statement;
  }
  const auto permissions = client.Query("LIST ALL PERMISSIONS OF alice");
  ASSERT_TRUE(permissions);
  EXPECT_EQ(ErrorMessageOf(*permissions),
            "LIST PERMISSIONS operation is not supported by AllowAllAuthorizer");
}

}  // namespace roles_over_cql_test
}  // namespace liststore::testing
