// RoleSessionTest: a server where clients log in, and sessions of its roles.
#ifndef LISTSTORE_TESTS_OVER_CQL_ROLE_SESSION_TEST_H_
#define LISTSTORE_TESTS_OVER_CQL_ROLE_SESSION_TEST_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "liststore/cql_server.h"
#include "tests/conformance/cql_session.h"

namespace liststore::testing {

// The superuser is cassandra, with the password cassandra. Each role that the tests make has its
// name for a password.
class RoleSessionTest : public ::testing::Test {
 protected:
  static constexpr char kRoot[] = "cassandra";

  void TearDown() override { Stop(); }

  // `authorizer`: as ScyllaDB's option has it.
  void Start(const std::string& authorizer, CqlServerOptions options = {}) {
    Stop();
    options.memory_limit_bytes = 64 << 20;
    options.scylla_options.push_back({"authenticator", "PasswordAuthenticator"});
    options.scylla_options.push_back({"authorizer", authorizer});
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
  }
  void Stop() {
    sessions_.clear();
    server_.reset();
  }

  // Of the role; logs in the first time.
  CqlSession& As(const std::string& role) {
    std::unique_ptr<CqlSession>& session = sessions_[role];
    if (session == nullptr) {
      session = std::make_unique<CqlSession>(server_->cql_port(), CqlLogin{role, role});
      EXPECT_EQ(session->login_error(), "") << role;
    }
    return *session;
  }
  // "0x2100 User ..."; empty: it is done.
  std::string Refusal(const std::string& role, const CqlStatement& statement) {
    return TextOf(As(role).Run(statement));
  }
  std::string Refusal(const std::string& role, const std::string& text) {
    return Refusal(role, CqlStatement{text, {}});
  }
  static std::string TextOf(const CqlAnswer& answer) {
    if (answer.error.empty()) return "";
    char code[16];
    std::snprintf(code, sizeof(code), "%04x ", static_cast<unsigned>(answer.code));
    return code + answer.error;
  }
  void Must(const std::string& role, const std::string& text) {
    EXPECT_EQ(Refusal(role, text), "") << text;
  }
  // "a b; c d": rows of texts; booleans are words; or the refusal.
  std::string Rows(const std::string& role, const std::string& text) {
    const CqlAnswer answer = As(role).Run({text, {}});
    if (!answer.error.empty()) return TextOf(answer);
    std::string rows;
    for (const ResultRow& row : answer.rows) {
      if (!rows.empty()) rows += "; ";
      for (size_t i = 0; i < row.size(); ++i) {
        std::string cell = row[i].value_or("null");
        if (cell == std::string(1, '\0')) cell = "false";
        if (cell == std::string(1, '\1')) cell = "true";
        rows += (i == 0 ? "" : " ") + cell;
      }
    }
    return rows;
  }
  // Why nobody comes in.
  std::string LoginError(const std::string& user, const std::string& password) {
    return CqlSession(server_->cql_port(), CqlLogin{user, password}).login_error();
  }
  void CreateRole(const std::string& name, const std::string& as = kRoot) {
    Must(as, "CREATE ROLE " + name + " WITH PASSWORD = '" + name + "' AND LOGIN = true");
  }

  std::unique_ptr<CqlServer> server_;
  std::map<std::string, std::unique_ptr<CqlSession>> sessions_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_OVER_CQL_ROLE_SESSION_TEST_H_
