// CqlSessionTest: a server in the process and a client's session with it, as tests over CQL begin.
#ifndef LISTSTORE_TESTS_SERVER_CQL_SESSION_TEST_H_
#define LISTSTORE_TESTS_SERVER_CQL_SESSION_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "liststore/cql_server.h"
#include "tests/conformance/cql_session.h"

namespace liststore::testing {

class CqlSessionTest : public ::testing::Test {
 protected:
  // Clocks are members of the tests, and go before this does.
  void TearDown() override { StopServer(); }

  // In the place of the one before, with `keyspace` in it.
  void StartServer(CqlServerOptions options, const std::string& keyspace) {
    StopServer();
    options.memory_limit_bytes = 64 << 20;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port());
    Must("CREATE KEYSPACE " + keyspace +
         " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }
  void StopServer() {
    session_.reset();
    server_.reset();
  }

  // What must succeed.
  CqlAnswer Must(const CqlStatement& statement, const CqlParameters& parameters = {}) {
    CqlAnswer answer = session_->Run(statement, parameters);
    EXPECT_EQ(answer.error, "") << statement.text;
    return answer;
  }
  CqlAnswer Must(const std::string& text, std::vector<BoundParameter> parameters = {}) {
    return Must(CqlStatement{text, std::move(parameters)});
  }
  // The one value that `select` finds.
  std::string Cell(const std::string& select) {
    const CqlAnswer answer = Must(select);
    EXPECT_EQ(answer.rows.size(), 1u) << select;
    return answer.rows.empty() ? "" : answer.rows[0][0].value_or("null");
  }

  // Why it is refused; empty: it is not.
  std::string Refusal(const CqlStatement& statement) { return session_->Run(statement).error; }
  std::string Refusal(const std::string& text, std::vector<BoundParameter> parameters = {}) {
    return Refusal(CqlStatement{text, std::move(parameters)});
  }

  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

// Rows as text, by `to_text` of a cell; or the error.
template <typename CellToText>
std::string AnswerText(const CqlAnswer& answer, const CellToText& to_text) {
  if (!answer.error.empty()) return answer.error;
  std::string text;
  for (const ResultRow& row : answer.rows) {
    if (!text.empty()) text += "; ";
    for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " ") + to_text(row[i]);
  }
  return text;
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SERVER_CQL_SESSION_TEST_H_
