#include "engine/instruments/slow_requests.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/protocol/request.h"

namespace liststore::testing {
namespace slow_requests_test {

using instruments::SlowRequests;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// What was told, with texts of its own.
struct Told {
  CqlSlowRequest request;
  std::string operation, table, statement, client, user, outcome;
};

class SlowRequestsTest : public ::testing::Test {
 protected:
  SlowRequestsTest() {
    client_.peer_address = std::string("\x7f\x00\x00\x01", 4);
    client_.peer_port = 4711;
  }
  void AddQuery(std::string_view text) {
    protocol::Request message;
    message.message = protocol::Query{text, {}};
    messages_.push_back(message);
  }
  std::vector<execute::RequestView> Views() {
    std::vector<execute::RequestView> views;
    for (const protocol::Request& message : messages_) {
      views.emplace_back(protocol::FrameHeader{}, message).outcome.answered = true;
    }
    return views;
  }
  // Read at `start_`, begun 5 ms behind that.
  void Note(std::vector<execute::RequestView>& views, milliseconds executed) {
    client_.read_at = start_;
    requests_.Note(views, client_, statements_, start_ + milliseconds(5),
                   start_ + milliseconds(5) + executed);
  }

  const Steady::time_point start_ = Steady::now();
  std::optional<Told> told_;
  int count_ = 0;
  SlowRequests requests_{milliseconds(100), [this](const CqlSlowRequest& slow) {
                           ++count_;
                           told_ = Told{slow,
                                        std::string(slow.operation),
                                        std::string(slow.table),
                                        std::string(slow.statement),
                                        std::string(slow.client),
                                        std::string(slow.user),
                                        std::string(slow.outcome)};
                         }};
  execute::ClientState client_;
  execute::StatementCache statements_;
  std::vector<protocol::Request> messages_;
};

TEST_F(SlowRequestsTest, WhatIsQuickerThanTheThresholdIsNotTold) {
  AddQuery("SELECT * FROM feat.clicks");
  std::vector<execute::RequestView> views = Views();
  Note(views, milliseconds(94));
  EXPECT_EQ(count_, 0);
  Note(views, milliseconds(95));
  EXPECT_EQ(count_, 1) << "what it has waited counts";
}

TEST_F(SlowRequestsTest, SaysWhatWasAskedByWhomAndWhatItCost) {
  client_.user = "alice";
  client_.keyspace = "feat";
  AddQuery("SELECT * FROM clicks");
  std::vector<execute::RequestView> views = Views();
  views[0].outcome.dead_rows = 3;
  views[0].outcome.has_row_counts = true;
  views[0].outcome.rows_read = 40;
  views[0].outcome.rows_returned = 12;
  views[0].outcome.delay = milliseconds(7);
  Note(views, milliseconds(200));
  ASSERT_TRUE(told_);
  EXPECT_EQ(told_->operation, "SELECT");
  EXPECT_EQ(told_->request.request, "QUERY");
  EXPECT_EQ(told_->table, "feat.clicks");
  EXPECT_EQ(told_->statement, "SELECT * FROM clicks");
  EXPECT_FALSE(told_->request.is_statement_cut);
  EXPECT_EQ(told_->client, "127.0.0.1:4711");
  EXPECT_EQ(told_->user, "alice");
  EXPECT_EQ(told_->outcome, "ok");
  EXPECT_EQ(told_->request.together, 1u);
  EXPECT_EQ(told_->request.waited, milliseconds(5));
  EXPECT_EQ(told_->request.executed, milliseconds(200));
  EXPECT_EQ(told_->request.delayed, milliseconds(7));
  EXPECT_EQ(told_->request.rows_read, 40u);
  EXPECT_EQ(told_->request.rows_returned, 12u);
  EXPECT_EQ(told_->request.dead_rows, 3u);
}

TEST_F(SlowRequestsTest, TextsAreBoundedAndEndBeforeAPassword) {
  const struct {
    std::string sent;
    std::string told;
    bool is_cut;
  } kTexts[] = {
      {"CREATE ROLE bob WITH PASSWORD = 'secret' AND LOGIN = true", "CREATE ROLE bob WITH PASSWORD",
       true},
      {"alter user bob with password 'secret'", "alter user bob with password", true},
      {"SELECT * FROM a.b WHERE c = '" + std::string(2000, 'x') + "'",
       "SELECT * FROM a.b WHERE c = '" + std::string(CqlSlowRequest::kStatementBytesMax - 29, 'x'),
       true},
      {"SELECT * FROM a.b", "SELECT * FROM a.b", false},
  };
  for (const auto& text : kTexts) {
    messages_.clear();
    AddQuery(text.sent);
    std::vector<execute::RequestView> views = Views();
    Note(views, milliseconds(100));
    ASSERT_TRUE(told_);
    EXPECT_EQ(told_->statement, text.told);
    EXPECT_EQ(told_->request.is_statement_cut, text.is_cut) << text.told;
  }
}

TEST_F(SlowRequestsTest, NamesAreBoundedAtWholeCharacters) {
  std::string name;
  while (name.size() < 100'000) name += "\u20ac";  // three bytes
  const std::string text = "SELECT * FROM \"k" + name + "\".\"" + name + "\"";
  AddQuery(text);
  client_.user = name;
  std::vector<execute::RequestView> views = Views();
  Note(views, milliseconds(100));
  ASSERT_TRUE(told_);
  EXPECT_EQ(told_->table, "k" + name.substr(0, 189) + "." + name.substr(0, 192));
  EXPECT_EQ(told_->user, name.substr(0, 192));
}

// Each costs a look-up, and those that are not known have no text that would fill the line.
TEST_F(SlowRequestsTest, OfABatchTheFirstAreLookedUp) {
  protocol::BatchStatement statement;
  statement.kind = protocol::BatchStatement::Kind::kPrepared;
  statement.query_or_id = "unknown";
  std::vector<protocol::BatchStatement> statements(1000, statement);
  statement.kind = protocol::BatchStatement::Kind::kQuery;
  statement.query_or_id = "INSERT INTO k.t (a) VALUES (1)";
  statements[31] = statements[32] = statement;
  protocol::Request message;
  protocol::Batch batch;
  batch.statements = statements;
  message.message = batch;
  messages_.push_back(message);
  std::vector<execute::RequestView> views = Views();
  Note(views, milliseconds(100));
  ASSERT_TRUE(told_);
  EXPECT_EQ(told_->statement, "INSERT INTO k.t (a) VALUES (1)");
  EXPECT_TRUE(told_->request.is_statement_cut);
}

TEST_F(SlowRequestsTest, OfSeveralTheLastThatIsOverIsTold) {
  AddQuery("SELECT * FROM a.first");
  AddQuery("SELECT * FROM a.second");
  AddQuery("SELECT * FROM a.later");
  std::vector<execute::RequestView> views = Views();
  views[2].Postpone();
  Note(views, milliseconds(100));
  ASSERT_TRUE(told_);
  EXPECT_EQ(told_->table, "a.second");
  EXPECT_EQ(told_->request.together, 2u);
  EXPECT_FALSE(told_->request.rows_read) << "not known of it";
}

TEST_F(SlowRequestsTest, WhatComesAgainElsewhereIsToldThere) {
  AddQuery("SELECT * FROM a.b");
  std::vector<execute::RequestView> views = Views();
  views[0].Defer(execute::Deferral::kOvertaken);
  Note(views, milliseconds(500));
  EXPECT_EQ(count_, 0);
}

}  // namespace slow_requests_test
}  // namespace liststore::testing
