// Faults over the wire: what is armed through liststore.faults, and what clients then get.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/big_endian.h"
#include "liststore/cql_server.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace faults_test {

constexpr uint8_t kError = 0x00, kResult = 0x08, kPrepare = 0x09, kExecute = 0x0a;
constexpr uint16_t kLocalQuorum = 6;

std::string Short(uint16_t value) {
  std::string bytes(2, '\0');
  StoreBigEndian16(bytes.data(), value);
  return bytes;
}
std::string Int(uint32_t value) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), value);
  return bytes;
}

class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    client_ = std::make_unique<RawCqlClient>(server_->cql_port());
    control_ = std::make_unique<RawCqlClient>(server_->cql_port());
    ASSERT_TRUE(client_->StartUp({{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "Raw"}}));
    ASSERT_TRUE(control_->StartUp());
    Run("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': 1}");
    Run("CREATE TABLE feat.clicks (user text, seq int, item text, PRIMARY KEY (user, seq))");
    Run("CREATE TABLE feat.other (user text PRIMARY KEY, item text)");
  }

  // By a client that meets faults.
  int32_t CodeOf(std::string_view statement) {
    const auto frame = client_->Query(statement);
    EXPECT_TRUE(frame);
    return frame->opcode == kError ? ErrorCodeOf(*frame) : -1;
  }
  void Run(std::string_view statement) {
    const auto frame = control_->Query(statement);
    ASSERT_TRUE(frame);
    ASSERT_NE(frame->opcode, kError) << statement << ": " << ErrorMessageOf(*frame);
  }
  std::string Refusal(std::string_view statement) {
    const auto frame = control_->Query(statement);
    return frame && frame->opcode == kError ? ErrorMessageOf(*frame) : "";
  }
  std::vector<std::string> Column(std::string_view statement) {
    const auto frame = control_->Query(statement);
    EXPECT_TRUE(frame);
    return OneColumnOf(*frame);
  }
  std::string Prepare(RawCqlClient& client, std::string_view text) {
    const auto frame = client.Ask(
        {.opcode = kPrepare, .body = Int(static_cast<uint32_t>(text.size())) + std::string(text)});
    EXPECT_TRUE(frame);
    EXPECT_EQ(frame->opcode, kResult) << ErrorMessageOf(*frame);
    const size_t length = LoadBigEndian16(frame->body.data() + 4);
    return frame->body.substr(6, length);
  }
  // With one value.
  RawFrame Execute(const std::string& id, std::string_view value, uint16_t consistency,
                   int16_t stream) {
    std::string body = Short(static_cast<uint16_t>(id.size())) + id + Short(consistency);
    body += '\x01';
    body += Short(1) + Int(static_cast<uint32_t>(value.size())) + std::string(value);
    return {.stream = stream, .opcode = kExecute, .body = body};
  }

  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<RawCqlClient> client_;
  std::unique_ptr<RawCqlClient> control_;
};

TEST_F(Faults, TheNextThreeReadsTimeOutThenAllIsWell) {
  Run("INSERT INTO liststore.faults (name, op, tbl, times, action) "
      "VALUES ('f1', 'SELECT', 'feat.clicks', 3, 'read_timeout')");
  Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('u1', 1, 'a')");
  for (int i = 0; i < 3; ++i) {
    const auto frame = client_->Query("SELECT item FROM feat.clicks WHERE user = 'u1'");
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->opcode, kError);
    EXPECT_EQ(ErrorCodeOf(*frame), 0x1200);
    EXPECT_NE(ErrorMessageOf(*frame).find("feat.clicks"), std::string::npos);
    // Consistency ONE, received 0, wanted 1, no data.
    const std::string details = Short(1) + Int(0) + Int(1) + std::string(1, '\0');
    EXPECT_TRUE(frame->body.ends_with(details));
    EXPECT_EQ(CodeOf("INSERT INTO feat.clicks (user, seq, item) VALUES ('u1', 2, 'b')"), -1);
    EXPECT_EQ(CodeOf("SELECT item FROM feat.other"), -1);
  }
  EXPECT_EQ(CodeOf("SELECT item FROM feat.clicks WHERE user = 'u1'"), -1);
  EXPECT_EQ(Column("SELECT hits FROM liststore.faults")[0], std::string(7, '\0') + '\3');
  EXPECT_EQ(Column("SELECT remaining FROM liststore.faults")[0], Int(0));
}

TEST_F(Faults, EachErrorHasItsCode) {
  const std::pair<const char*, int32_t> cases[] = {
      {"read_timeout", 0x1200},
      {"write_timeout", 0x1100},
      {"unavailable", 0x1000},
      {"overloaded", 0x1001},
      {"server_error", 0x0000},
      // Without the extension for it.
      {"rate_limit", 0x2300},
  };
  for (const auto& [action, code] : cases) {
    Run("INSERT INTO liststore.faults (name, action) VALUES ('f', '" + std::string(action) + "')");
    EXPECT_EQ(CodeOf("SELECT item FROM feat.clicks"), code) << action;
    EXPECT_EQ(CodeOf("UPDATE feat.other SET item = 'x' WHERE user = 'u'"), code) << action;
    EXPECT_EQ(CodeOf("SELECT key FROM system.local"), -1) << "the driver's own statements";
    EXPECT_EQ(CodeOf("SELECT name FROM liststore.faults"), -1) << "control stays possible";
  }
  Run("DELETE FROM liststore.faults WHERE name = 'f'");
  EXPECT_EQ(CodeOf("SELECT item FROM feat.clicks"), -1);
  EXPECT_TRUE(Column("SELECT user FROM feat.other").empty()) << "what fails is not applied";
}

TEST_F(Faults, AWriteMayArriveAlthoughItTimedOut) {
  Run("INSERT INTO liststore.faults (name, op, action, applies, times) "
      "VALUES ('f', 'INSERT', 'write_timeout', true, 1)");
  EXPECT_EQ(CodeOf("INSERT INTO feat.other (user, item) VALUES ('u1', 'a')"), 0x1100);
  EXPECT_EQ(Column("SELECT item FROM feat.other"), std::vector<std::string>{"a"});
}

TEST_F(Faults, PreparedStatementsAreMatchedByTableConsistencyAndKey) {
  const std::string id = Prepare(*client_, "SELECT item FROM feat.other WHERE user = ?");
  Run("INSERT INTO liststore.faults (name, tbl, consistency, key, action) "
      "VALUES ('f', 'feat.other', 'LOCAL_QUORUM', 'u2', 'unavailable')");
  // Together, so that the rest stays a group.
  std::string bytes;
  const char* const users[] = {"u1", "u2", "u3", "u2"};
  for (int16_t i = 0; i < 4; ++i) {
    bytes += Execute(id, users[i], i == 3 ? uint16_t{1} : kLocalQuorum, i).Bytes();
  }
  ASSERT_TRUE(client_->Send(bytes));
  for (int i = 0; i < 4; ++i) {
    const auto frame = client_->Read();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->opcode == kError, frame->stream == 1) << frame->stream;
    if (frame->opcode == kError) {
      EXPECT_EQ(ErrorCodeOf(*frame), 0x1000);
    }
  }
}

TEST_F(Faults, KeysOfTextsAreFoundToo) {
  Run("INSERT INTO liststore.faults (name, key, action) VALUES ('f', 'u2', 'overloaded')");
  EXPECT_EQ(CodeOf("SELECT item FROM feat.other WHERE user = 'u1'"), -1);
  EXPECT_EQ(CodeOf("SELECT item FROM feat.other WHERE user = 'u2'"), 0x1001);
  EXPECT_EQ(CodeOf("SELECT item FROM feat.other WHERE user IN ('u1', 'u2')"), 0x1001);
  EXPECT_EQ(CodeOf("SELECT item FROM feat.other"), -1) << "a scan names no key";
  EXPECT_EQ(CodeOf("BEGIN BATCH INSERT INTO feat.other (user, item) VALUES ('u1', 'a'); "
                   "INSERT INTO feat.other (user, item) VALUES ('u2', 'a'); APPLY BATCH"),
            0x1001);
  EXPECT_EQ(CodeOf("SELECT item FROM feat.nothing WHERE user = 'u2'"), 0x2200);
}

TEST_F(Faults, UnpreparedNamesTheStatement) {
  const std::string id = Prepare(*client_, "SELECT item FROM feat.other WHERE user = ?");
  Run("INSERT INTO liststore.faults (name, action, times) VALUES ('f', 'unprepared', 1)");
  EXPECT_EQ(CodeOf("SELECT item FROM feat.other WHERE user = 'u1'"), -1) << "it is none";
  const auto frame = client_->Ask(Execute(id, "u1", 1, 5));
  ASSERT_TRUE(frame);
  EXPECT_EQ(ErrorCodeOf(*frame), 0x2500);
  EXPECT_TRUE(frame->body.ends_with(Short(16) + id));
  EXPECT_EQ(Prepare(*client_, "SELECT item FROM feat.other WHERE user = ?"), id);
  EXPECT_EQ(client_->Ask(Execute(id, "u1", 1, 5))->opcode, kResult);
}

TEST_F(Faults, ConnectionsEndAndAnswersStayAway) {
  Run("INSERT INTO liststore.faults (name, action, connection, times) "
      "VALUES ('silent', 'no_answer', 'Raw', 1)");
  ASSERT_TRUE(client_->Send(
      RawFrame{.stream = 3, .opcode = 7, .body = QueryBody("SELECT item FROM feat.clicks")}));
  const auto next = client_->Query("SELECT item FROM feat.clicks", 4);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->stream, 4) << "the first one has no answer";

  const std::string address = "127.0.0.1:" + std::to_string(client_->source_port());
  Run("INSERT INTO liststore.faults (name, action, connection) VALUES ('close', "
      "'close_connection', '" +
      address + "')");
  EXPECT_FALSE(client_->Query("SELECT item FROM feat.clicks")) << "it has ended";
  Run("SELECT item FROM feat.clicks");  // on another connection
}

TEST_F(Faults, ADelayedAnswerIsTheRealOne) {
  Run("INSERT INTO feat.other (user, item) VALUES ('u1', 'a')");
  const auto plain = client_->Query("SELECT item FROM feat.other");
  Run("INSERT INTO liststore.faults (name, action) VALUES ('slow', 'delay 1ms..3ms')");
  const auto delayed = client_->Query("SELECT item FROM feat.other");
  ASSERT_TRUE(plain && delayed);
  EXPECT_EQ(delayed->body, plain->body);
  EXPECT_EQ(CodeOf("INSERT INTO feat.other (user, item) VALUES ('u2', 'b')"), -1);
  EXPECT_EQ(Column("SELECT hits FROM liststore.faults")[0].back(), 2);
}

TEST_F(Faults, BatchesAreMatchedByAnyOfTheirTables) {
  Run("INSERT INTO liststore.faults (name, op, tbl, action) "
      "VALUES ('f', 'BATCH', 'feat.other', 'write_timeout')");
  EXPECT_EQ(CodeOf("INSERT INTO feat.other (user, item) VALUES ('u1', 'a')"), -1);
  // BATCH: logged, two queries without values, consistency ONE, no flags.
  std::string body(1, '\0');
  body += Short(2);
  for (const std::string text : {"INSERT INTO feat.clicks (user, seq) VALUES ('u', 1)",
                                 "INSERT INTO feat.other (user) VALUES ('u')"}) {
    body += '\0';
    body += Int(static_cast<uint32_t>(text.size())) + text + Short(0);
  }
  body += Short(1) + std::string(1, '\0');
  const auto frame = client_->Ask({.opcode = 0x0d, .body = body});
  ASSERT_TRUE(frame);
  EXPECT_EQ(ErrorCodeOf(*frame), 0x1100);
  EXPECT_NE(frame->body.find("BATCH"), std::string::npos) << "the write's type";
  EXPECT_TRUE(Column("SELECT user FROM feat.clicks").empty());
}

TEST_F(Faults, WhatCannotBeArmedIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"INSERT INTO liststore.faults (name, op) VALUES ('f', 'SELECT')", "an action is wanted"},
      {"INSERT INTO liststore.faults (name, action) VALUES ('f', 'explode')", "'explode'"},
      {"INSERT INTO liststore.faults (name, action, op) VALUES ('f', 'overloaded', 'READ')",
       "op 'READ'"},
      {"INSERT INTO liststore.faults (name, action, tbl) VALUES ('f', 'overloaded', 'clicks')",
       "tbl 'clicks'"},
      {"INSERT INTO liststore.faults (name, action, consistency) VALUES ('f', 'overloaded', 'X')",
       "consistency 'X'"},
      {"INSERT INTO liststore.faults (name, action, times) VALUES ('f', 'overloaded', 0)",
       "times is 0"},
      {"INSERT INTO liststore.faults (name, action, probability) VALUES ('f', 'overloaded', 1.5)",
       "probability is 1.5"},
      {"INSERT INTO liststore.faults (name, action, hits) VALUES ('f', 'overloaded', 3)",
       "hits is counted"},
  };
  for (const auto& [statement, why] : cases) {
    EXPECT_NE(Refusal(statement).find(why), std::string::npos)
        << statement << ": " << Refusal(statement);
  }
  EXPECT_TRUE(Column("SELECT name FROM liststore.faults").empty());
}

// A test may arm it first: the row says so until the table is made.
TEST_F(Faults, ATableThatIsNotThereIsWarnedOf) {
  const auto warning = [&](const std::string& table) {
    const auto frame = control_->Query(
        "INSERT INTO liststore.faults (name, op, action, tbl) VALUES ('f', 'SELECT', 'overloaded', "
        "'" +
        table + "')");
    EXPECT_TRUE(frame);
    EXPECT_EQ(frame->opcode, kResult);
    const std::vector<std::string> shown = Column("SELECT warning FROM liststore.faults");
    // Flag 0x08, a count, and the texts.
    const bool is_warned = (frame->flags & 0x08) != 0;
    EXPECT_EQ(is_warned, shown.at(0) != "");
    if (is_warned) {
      EXPECT_EQ(frame->body.substr(4, LoadBigEndian16(frame->body.data() + 2)),
                "liststore.faults: " + shown.at(0));
    }
    return shown.at(0);
  };
  EXPECT_EQ(warning("feat.clicks"), "");
  EXPECT_EQ(warning("system.local"), "");
  EXPECT_EQ(
      warning("feat.clcks"),
      "tbl 'feat.clcks': there is no such table, and nothing meets the fault until there is; did "
      "you mean feat.clicks?");
  EXPECT_EQ(
      warning("fet.other"),
      "tbl 'fet.other': there is no such keyspace, and nothing meets the fault until there is; did "
      "you mean feat.other?");
  EXPECT_EQ(
      warning("feat.Clicks"),
      "tbl 'feat.Clicks': there is no such table, and nothing meets the fault until there is; did "
      "you mean feat.clicks?");
  EXPECT_EQ(warning("liststore.faults"),
            "tbl 'liststore.faults': statements on the keyspace liststore meet no fault");
  EXPECT_EQ(
      warning("feat.to_come"),
      "tbl 'feat.to_come': there is no such table, and nothing meets the fault until there is");
  Run("CREATE TABLE feat.to_come (user text PRIMARY KEY)");
  EXPECT_EQ(Column("SELECT warning FROM liststore.faults")[0], "");
  EXPECT_EQ(CodeOf("SELECT * FROM feat.to_come"), 0x1001);
  EXPECT_NE(
      Refusal(
          "INSERT INTO liststore.faults (name, action, warning) VALUES ('f', 'overloaded', 'x')")
          .find("warning is the server's"),
      std::string::npos);
}

TEST_F(Faults, WordsAreTakenInAnyCase) {
  Run("INSERT INTO liststore.faults (name, op, consistency, action) "
      "VALUES ('f', 'select', 'One', 'Read_Timeout')");
  EXPECT_EQ(CodeOf("SELECT item FROM feat.clicks"), 0x1200);
  EXPECT_EQ(Column("SELECT op FROM liststore.faults")[0], "SELECT");
  EXPECT_EQ(Column("SELECT consistency FROM liststore.faults")[0], "ONE");
  EXPECT_EQ(Column("SELECT action FROM liststore.faults")[0], "read_timeout");
  Run("UPDATE liststore.data SET action = 'Mark' WHERE key = 'data'");
  Run("UPDATE liststore.data SET action = 'RESET' WHERE key = 'data'");
  Run("UPDATE liststore.clock SET mode = 'Manual' WHERE key = 'clock'");
  EXPECT_EQ(Column("SELECT mode FROM liststore.clock")[0], "manual");
}

TEST_F(Faults, TruncateAndResetRemoveThem) {
  const auto arm = [&] {
    Run("INSERT INTO liststore.faults (name, action) VALUES ('f', 'overloaded')");
    Run("INSERT INTO liststore.faults (name, action) VALUES ('g', 'overloaded')");
    EXPECT_EQ(Column("SELECT name FROM liststore.faults").size(), 2u);
  };
  arm();
  Run("TRUNCATE liststore.faults");
  EXPECT_TRUE(Column("SELECT name FROM liststore.faults").empty());
  EXPECT_EQ(CodeOf("SELECT item FROM feat.clicks"), -1);
  arm();
  Run("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_TRUE(Column("SELECT name FROM liststore.faults").empty());
}

}  // namespace faults_test
}  // namespace liststore::testing
