// CqlSessionTest: a server in the process and a client's session with it, as tests over CQL begin;
// CqlDialogueTest for those that compare texts.
#ifndef LISTSTORE_TESTS_OVER_CQL_CQL_SESSION_TEST_H_
#define LISTSTORE_TESTS_OVER_CQL_CQL_SESSION_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "liststore/clock.h"
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

// Tests that are read as a dialogue: statements, and their answers as text. The clock goes on by a
// millisecond with each.
class CqlDialogueTest : public CqlSessionTest {
 protected:
  // With the clock, timestamps of clients, and a keyspace k in use.
  void StartDialogue() {
    CqlServerOptions options;
    options.manual_clock = &clock_;
    options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
    StartServer(options, "k");
    Say("USE k");
  }

  // Sent as a text and prepared in turn.
  std::string Say(const std::string& text, std::vector<BoundParameter> parameters = {}) {
    clock_.AdvanceNanos(1'000'000);
    prepares_ = !prepares_;
    const bool prepared = prepares_ && !text.starts_with("USE ");
    return ToText(session_->Run({text, std::move(parameters), prepared}));
  }

  // "1 null; 2 x": rows in turn; or the error.
  static std::string ToText(const CqlAnswer& answer) {
    if (!answer.error.empty()) return answer.error;
    std::string text;
    for (const ResultRow& row : answer.rows) {
      if (!text.empty()) text += "; ";
      for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " ") + ToText(row[i]);
    }
    return text;
  }

  // By its length alone: booleans have one byte, ints four, bigints and counters eight; what else a
  // test has is text of another length.
  static std::string ToText(const std::optional<std::string>& cell) {
    if (!cell) return "null";
    switch (cell->size()) {
      case 1:
        return (*cell)[0] == 1 ? "true" : "false";
      case 4:
      case 8:
        return std::to_string(cql::DecodeInteger(*cell));
      default:
        return *cell;
    }
  }

  ManualClock clock_{1'700'000'000'000'000'000};

 private:
  bool prepares_ = false;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_OVER_CQL_CQL_SESSION_TEST_H_
