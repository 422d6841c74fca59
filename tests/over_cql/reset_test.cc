// liststore.data over the wire: what clients see of marks and resets.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/big_endian.h"
#include "liststore/cql_server.h"
#include "liststore/list_store.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace reset_test {

constexpr uint64_t kStart = 1'700'000'000'000'000'000;
constexpr uint64_t kDaySeconds = 86'400;
constexpr uint8_t kResult = 0x08, kPrepare = 0x09, kExecute = 0x0a, kRegister = 0x0b, kEvent = 0x0c;
constexpr int32_t kUnprepared = 0x2500;
constexpr std::string_view kReplication =
    " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

// A server of 1 or 3 shards under a clock that tests move, and a keyspace `app` in it.
class ResetTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.shards = GetParam();
    options.memory_limit_bytes = 64 << 20;
    options.manual_clock = &clock_;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port());
    Must("CREATE KEYSPACE app" + std::string(kReplication));
    Must("CREATE TABLE app.items (k int, c int, v text, w int, PRIMARY KEY (k, c))");
  }

  // Prepared statements may be forgotten: a driver prepares again.
  static CqlAnswer RunIn(CqlSession& session, const std::string& text, bool prepared = false) {
    CqlAnswer answer = session.Run({text, {}, prepared});
    while (answer.error.starts_with("No prepared statement")) {
      answer = session.Run({text, {}, prepared});
    }
    EXPECT_EQ(answer.error, "") << text;
    return answer;
  }
  CqlAnswer Must(const std::string& text) { return RunIn(*session_, text); }
  void Act(const std::string& action) {
    Must("UPDATE liststore.data SET action = '" + action + "' WHERE key = 'data'");
  }
  std::vector<ResultRow> Everything() {
    return Must("SELECT k, c, v, w, TTL(v), TTL(w), WRITETIME(v), WRITETIME(w) FROM app.items")
        .rows;
  }
  // With the ids of the tables.
  std::vector<ResultRow> Schema() { return Must("DESCRIBE KEYSPACE app WITH INTERNALS").rows; }
  std::string SchemaVersion() {
    return *Must("SELECT schema_version FROM system.local").rows.at(0).at(0);
  }
  void AdvanceDays(uint64_t days) {
    Must("UPDATE liststore.clock SET advance_seconds = " + std::to_string(days * kDaySeconds) +
         " WHERE key = 'clock'");
  }
  void InsertSome() {
    for (int k = 0; k < 40; ++k) {
      const std::string key = std::to_string(k);
      Must("INSERT INTO app.items (k, c, v) VALUES (" + key + ", 1, 'lasts')");
      Must("INSERT INTO app.items (k, c, v) VALUES (" + key + ", 2, 'an hour') USING TTL 3600");
      Must("UPDATE app.items USING TTL 7200 SET w = 7 WHERE k = " + key + " AND c = 1");
      Must("UPDATE app.items USING TIMESTAMP 55 SET w = 8 WHERE k = " + key + " AND c = 3");
      Must("DELETE v FROM app.items WHERE k = " + key + " AND c = 2");
    }
  }

  ManualClock clock_{kStart};
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

INSTANTIATE_TEST_SUITE_P(Shards, ResetTest, ::testing::Values(1, 3));

TEST_P(ResetTest, WithoutAMarkTheServerIsAsAtItsStart) {
  InsertSome();
  AdvanceDays(3);
  Act("reset");
  EXPECT_EQ(clock_.NowNanos(), kStart);
  EXPECT_EQ(session_->Run({"SELECT * FROM app.items", {}, false}).error,
            "Keyspace app does not exist");
  Must("CREATE KEYSPACE app" + std::string(kReplication));
  Must("CREATE TABLE app.items (k int, c int, v text, w int, PRIMARY KEY (k, c))");
  EXPECT_TRUE(Everything().empty());
  InsertSome();
  EXPECT_EQ(Everything().size(), 3u * 40);
}

TEST_P(ResetTest, ValuesTimesAndSchemaComeBack) {
  InsertSome();
  Must("CREATE INDEX by_w ON app.items (w)");
  AdvanceDays(0);
  Act("mark");
  const auto rows = Everything();
  const auto schema = Schema();
  const std::string version = SchemaVersion();
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    AdvanceDays(30);
    EXPECT_EQ(Everything().size(), 2u * 40) << "what had a TTL is over";
    Must("DELETE FROM app.items WHERE k = 1");
    Must("TRUNCATE app.items");
    Must("INSERT INTO app.items (k, c, v) VALUES (1, 1, 'later')");
    if (round == 1) {
      Must("ALTER TABLE app.items ADD extra int");
      Must("CREATE TABLE app.passing (k int PRIMARY KEY)");
      Must("DROP INDEX app.by_w");
    }
    Act("reset");
    EXPECT_EQ(clock_.NowNanos(), kStart);
    EXPECT_EQ(Everything(), rows);
    EXPECT_EQ(Schema(), schema);
    if (round == 0) {
      EXPECT_EQ(SchemaVersion(), version) << "drivers have nothing to read again";
    }
    EXPECT_EQ(Must("SELECT k FROM app.items WHERE w = 8").rows.size(), 40u);
  }
  Must("DROP KEYSPACE app");
  Act("reset");
  EXPECT_EQ(Everything(), rows);
  EXPECT_EQ(Schema(), schema);
}

TEST_P(ResetTest, TtlsCountFromTheMarkAgain) {
  InsertSome();
  Act("mark");
  for (int round = 0; round < 2; ++round) {
    clock_.AdvanceSeconds(3599);
    EXPECT_EQ(Must("SELECT c FROM app.items WHERE k = 5").rows.size(), 3u);
    clock_.AdvanceSeconds(1);
    EXPECT_EQ(Must("SELECT c FROM app.items WHERE k = 5").rows.size(), 2u);
    Must("INSERT INTO app.items (k, c, v) VALUES (5, 9, 'ten') USING TTL 10");
    clock_.AdvanceSeconds(9);
    EXPECT_EQ(Must("SELECT c FROM app.items WHERE k = 5").rows.size(), 3u);
    clock_.AdvanceSeconds(1);
    EXPECT_EQ(Must("SELECT c FROM app.items WHERE k = 5").rows.size(), 2u);
    Act("reset");
  }
}

TEST_P(ResetTest, WritesOlderThanADeletionOfBeforeLive) {
  Act("mark");
  Must("DELETE FROM app.items USING TIMESTAMP 1000 WHERE k = 1");
  Must("TRUNCATE app.items");
  Must("INSERT INTO app.items (k, c, v) VALUES (1, 1, 'hidden') USING TIMESTAMP 2000");
  Must("DELETE FROM app.items USING TIMESTAMP 3000 WHERE k = 1 AND c = 1");
  Act("reset");
  Must("INSERT INTO app.items (k, c, v) VALUES (1, 1, 'lives') USING TIMESTAMP 500");
  EXPECT_EQ(Everything().size(), 1u);
}

TEST_P(ResetTest, TheRowTells) {
  const std::string select =
      "SELECT keyspaces, tables, rows, baseline, action FROM liststore.data WHERE key = 'data'";
  InsertSome();
  ResultRow row = Must(select).rows.at(0);
  EXPECT_EQ(LoadBigEndian32(row[0]->data()), 1u);
  EXPECT_EQ(LoadBigEndian32(row[1]->data()), 1u);
  EXPECT_EQ(LoadBigEndian64(row[2]->data()), 3u * 40);
  EXPECT_EQ(row[3], std::nullopt);
  Act("mark");
  row = Must(select).rows.at(0);
  EXPECT_EQ(LoadBigEndian64(row[3]->data()), kStart / 1'000'000);
  EXPECT_EQ(row[4], std::nullopt);
  EXPECT_EQ(
      session_->Run({"UPDATE liststore.data SET action = 'undo' WHERE key = 'data'", {}, false})
          .error,
      "liststore.data: there is no action 'undo', only 'mark', 'reset' and 'forget'");
}

// A connection that keeps what it has prepared, as drivers do.
class PreparingClient {
 public:
  explicit PreparingClient(uint16_t port) : client_(port) { EXPECT_TRUE(client_.StartUp()); }

  void Prepare(const std::string& text) {
    text_ = text;
    const auto frame = client_.Ask({.opcode = kPrepare, .body = BytesBody(text)});
    ASSERT_TRUE(frame && frame->opcode == kResult) << ErrorMessageOf(*frame);
    id_ = frame->body.substr(4, 2 + LoadBigEndian16(frame->body.data() + 4));
  }
  // The answer's body; prepares again once where that is asked for, and tells so.
  std::string Execute(bool* prepared_again = nullptr) {
    std::string body = id_;
    body.append("\0\1\0", 3);
    auto frame = client_.Ask({.opcode = kExecute, .body = body});
    const bool again = frame->opcode != kResult && ErrorCodeOf(*frame) == kUnprepared;
    if (prepared_again != nullptr) *prepared_again = again;
    if (again) {
      Prepare(text_);
      frame = client_.Ask({.opcode = kExecute, .body = body});
    }
    EXPECT_EQ(frame->opcode, kResult) << ErrorMessageOf(*frame);
    return frame->body;
  }

 private:
  RawCqlClient client_;
  std::string text_;
  std::string id_;
};

TEST_P(ResetTest, WhatWasPreparedBeforeStillWorks) {
  InsertSome();
  Act("mark");
  PreparingClient reader(server_->cql_port());
  PreparingClient writer(server_->cql_port());
  reader.Prepare("SELECT k, c, v, w FROM app.items WHERE k = 7");
  writer.Prepare("INSERT INTO app.items (k, c, v) VALUES (7, 70, 'more')");
  const std::string before = reader.Execute();
  bool again = false;
  for (int round = 0; round < 3; ++round) {
    writer.Execute(&again);
    EXPECT_FALSE(again);
    EXPECT_NE(reader.Execute(), before);
    Act("reset");
    EXPECT_EQ(reader.Execute(&again), before);
    EXPECT_FALSE(again) << "the time is as it was, and so are the tables' ids";
  }
  for (const std::string change :
       {"TRUNCATE app.items", "ALTER TABLE app.items ADD extra int", "DROP TABLE app.items"}) {
    SCOPED_TRACE(change);
    Must(change);
    AdvanceDays(30);
    Act("reset");
    EXPECT_EQ(reader.Execute(&again), before);
    writer.Execute();
    Act("reset");
    EXPECT_EQ(reader.Execute(), before);
  }
}

TEST_P(ResetTest, ListenersAreToldOfWhatReallyChanged) {
  Act("mark");
  RawCqlClient listener(server_->cql_port());
  ASSERT_TRUE(listener.StartUp());
  ASSERT_TRUE(listener.Ask({.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE"})}));
  const auto next = [&] {
    const auto event = listener.Read();
    EXPECT_TRUE(event && event->opcode == kEvent);
    std::string body = event->body;
    std::string words;
    for (size_t at = 0; at < body.size(); at += 2 + LoadBigEndian16(body.data() + at)) {
      words += (at == 0 ? "" : " ") + body.substr(at + 2, LoadBigEndian16(body.data() + at));
    }
    return words;
  };
  Must("INSERT INTO app.items (k, c, v) VALUES (1, 1, 'v')");
  AdvanceDays(1);
  Act("reset");  // nothing to tell
  Must("ALTER TABLE app.items ADD extra int");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE app items");
  Must("CREATE TABLE app.passing (k int PRIMARY KEY)");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE app passing");
  Act("reset");
  EXPECT_EQ(next(), "SCHEMA_CHANGE DROPPED TABLE app passing");
  EXPECT_EQ(next(), "SCHEMA_CHANGE UPDATED TABLE app items");
  Must("DROP KEYSPACE app");
  EXPECT_EQ(next(), "SCHEMA_CHANGE DROPPED TABLE app items");
  EXPECT_EQ(next(), "SCHEMA_CHANGE DROPPED KEYSPACE app");
  Act("reset");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED KEYSPACE app");
  EXPECT_EQ(next(), "SCHEMA_CHANGE CREATED TABLE app items");
}

// Meant for ThreadSanitizer, too: no client sees an error of a reset that comes in between.
TEST_P(ResetTest, ClientsGoOnMeanwhile) {
  Must("INSERT INTO app.items (k, c, v) VALUES (0, 0, 'baseline')");
  Act("mark");
  const uint64_t steps = TestSteps(1'000);
  std::atomic<bool> done{false};
  std::vector<std::thread> clients;
  for (int k = 1; k <= 2; ++k) {
    clients.emplace_back([&, k] {
      CqlSession session(server_->cql_port());
      const std::string key = std::to_string(k);
      for (uint64_t step = 0; !done.load(); ++step) {
        const bool prepared = step % 3 != 0;
        const std::string c = std::to_string(step);
        RunIn(session,
              "INSERT INTO app.items (k, c, v) VALUES (" + key + ", " + c + ", 'v') USING TTL 50",
              prepared);
        RunIn(session, "BEGIN BATCH INSERT INTO app.items (k, c, v) VALUES (" + key +
                           ", -1, 'b' ) INSERT "
                           "INTO app.items (k, c, v) VALUES (" +
                           key + ", -2, 'b') APPLY BATCH");
        const auto pair =
            RunIn(session, "SELECT c FROM app.items WHERE k = " + key + " AND c < 0", prepared);
        EXPECT_TRUE(pair.rows.empty() || pair.rows.size() == 2) << "half of a batch";
        EXPECT_EQ(RunIn(session, "SELECT v FROM app.items WHERE k = 0", prepared).rows.size(), 1u);
      }
    });
  }
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % 2 == 0) AdvanceDays(step % 5);
    Act("reset");
    if (step % 16 == 0) {
      Must("ALTER TABLE app.items ADD extra int");
      Act("reset");
    }
  }
  done.store(true);
  for (std::thread& client : clients) client.join();
  Act("reset");
  EXPECT_EQ(Everything().size(), 1u);
  EXPECT_EQ(clock_.NowNanos(), kStart);
}

TEST(ResetOfAListStore, IsRefusedByName) {
  ManualClock clock(kStart);
  Options store_options;
  store_options.clock = &clock;
  store_options.memory_limit_bytes = 64 << 20;
  auto store = ListStore::Open(store_options);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->CreateListFeature("user", "clicks", 60).ok());
  CqlServerOptions options;
  options.store = store->get();
  options.manual_clock = &clock;
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  CqlSession session((*server)->cql_port());
  EXPECT_EQ(
      session.Run({"UPDATE liststore.data SET action = 'reset' WHERE key = 'data'", {}, false})
          .error,
      "liststore.data: 'reset' is not for a server of a list store, whose data belongs to the "
      "program");
  EXPECT_EQ(session.Run({"SELECT tables FROM liststore.data", {}, false}).rows.size(), 1u);
  const std::vector<NewItem> items = {{kStart, "a"}};
  EXPECT_TRUE((*store)->AddListItems(ListId{"user", "clicks", "", "1"}, items).ok());
}

}  // namespace reset_test
}  // namespace liststore::testing
