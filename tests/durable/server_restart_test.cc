// A server in the process, stopped and started again over its data directory.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "liststore/cql_server.h"
#include "liststore/data_directory.h"
#include "liststore/server_clock.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace server_restart_test {

using CommitLog = CqlServerOptions::CommitLog;

class ServerRestart : public ::testing::Test {
 protected:
  CqlServerOptions Options() {
    CqlServerOptions options;
    options.data_dir = folder_.path();
    options.commit_log = CommitLog::kOs;
    options.commit_log_segment_bytes = 2 << 20;
    options.memory_limit_bytes = 128 << 20;
    options.on_keeping = [this](std::string_view line) { said_.append(line).append("\n"); };
    return options;
  }
  void Start(const CqlServerOptions& options, const CqlLogin& login = {}) {
    Stop();
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message() << "\n" << said_;
    server_ = *std::move(server);
    if (login.user.empty()) {
      session_ = std::make_unique<CqlSession>(server_->cql_port());
    } else {
      session_ = std::make_unique<CqlSession>(server_->cql_port(), login);
    }
  }
  void Stop() {
    session_.reset();
    server_.reset();
  }
  void TearDown() override { Stop(); }

  CqlAnswer Must(const std::string& text) {
    CqlAnswer answer = session_->Run({.text = text, .parameters = {}});
    EXPECT_EQ(answer.error, "") << text;
    return answer;
  }
  std::string Refusal(const std::string& text) {
    return session_->Run({.text = text, .parameters = {}}).error;
  }
  // "1 2; 3 null": ints and texts of other lengths.
  std::string Rows(const std::string& text) {
    std::string shown;
    for (const ResultRow& row : Must(text).rows) {
      if (!shown.empty()) shown += "; ";
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) shown += " ";
        const bool is_number = row[i] && (row[i]->size() == 4 || row[i]->size() == 8);
        shown += !row[i]     ? "null"
                 : is_number ? std::to_string(cql::DecodeInteger(*row[i]))
                             : *row[i];
      }
    }
    return shown;
  }
  void MakeTables() {
    Must(
        "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', "
        "'replication_factor': 1}");
    Must("CREATE TYPE k.ty (a int, b text)");
    Must(
        "CREATE TABLE k.t (p int, c int, s text static, v int, m map<int, int>, PRIMARY KEY (p, "
        "c))");
    Must("CREATE TABLE k.counts (p int PRIMARY KEY, n counter)");
    Must("CREATE INDEX by_v ON k.t (v)");
    Must(
        "CREATE MATERIALIZED VIEW k.by_c AS SELECT c, p, v FROM k.t WHERE c IS NOT NULL AND p IS "
        "NOT "
        "NULL PRIMARY KEY (c, p)");
  }
  void WriteRows() {
    for (int i = 0; i < 20; ++i) {
      const std::string number = std::to_string(i);
      Must("INSERT INTO k.t (p, c, s, v, m) VALUES (" + std::to_string(i % 3) + ", " + number +
           ", 'stat', " + number + ", {1: " + number + "})");
      Must("UPDATE k.counts SET n = n + " + number + " WHERE p = " + std::to_string(i % 2));
    }
    Must("DELETE FROM k.t WHERE p = 0 AND c = 3");
    Must("DELETE m[1] FROM k.t WHERE p = 1 AND c = 1");
    Must("INSERT INTO k.t (p, c, v) VALUES (1, 4, 40) IF NOT EXISTS");
    Must(
        "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (7, 7, 7); INSERT INTO k.t (p, c, v) VALUES "
        "(8, 8, 8); APPLY BATCH");
  }
  // All that there is, as text.
  std::string Everything() {
    std::string all = Rows("SELECT p, c, s, v FROM k.t");
    all += "\n" + Rows("SELECT p, c FROM k.t WHERE p = 1 AND m CONTAINS 7 ALLOW FILTERING");
    all += "\n" + Rows("SELECT p, n FROM k.counts");
    all += "\n" + Rows("SELECT c, p, v FROM k.by_c");
    all += "\n" + Rows("SELECT p, c FROM k.t WHERE v = 11");
    all += "\n" + Rows("DESCRIBE FULL SCHEMA");
    for (const ResultRow& row : Must("SELECT id, table_name FROM system_schema.tables WHERE "
                                     "keyspace_name = 'k'")
                                    .rows) {
      all += *row[0] + *row[1];
    }
    return all;
  }

  const TempFolder folder_;
  const TempFolder copies_;
  std::string said_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

TEST_F(ServerRestart, EverythingIsThereAgain) {
  for (const CommitLog mode : {CommitLog::kOs, CommitLog::kPeriodic, CommitLog::kSync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    CqlServerOptions options = Options();
    options.commit_log = mode;
    options.data_dir = folder_ / std::to_string(static_cast<int>(mode));
    Start(options);
    MakeTables();
    WriteRows();
    const std::string everything = Everything();
    for (const uint32_t shards : {1u, 3u, 2u}) {
      options.shards = shards;
      Start(options);
      EXPECT_EQ(Everything(), everything) << shards << " shards";
    }
    // What comes later wins over what was there.
    Must("UPDATE k.t SET v = 99 WHERE p = 7 AND c = 7");
    Must("ALTER TABLE k.t ADD w text");
    Must("UPDATE k.t SET w = 'new words' WHERE p = 7 AND c = 7");
    Must("TRUNCATE k.counts");
    Start(options);
    EXPECT_EQ(Rows("SELECT v, w FROM k.t WHERE p = 7"), "99 new words");
    EXPECT_EQ(Rows("SELECT p FROM k.counts"), "");
    EXPECT_EQ(Rows("SELECT c, v FROM k.by_c WHERE c = 7 AND p = 7"), "7 99");
  }
}

TEST_F(ServerRestart, ASnapshotAndTheLogBehindItAreEverything) {
  CqlServerOptions options = Options();
  options.shards = 2;
  Start(options);
  MakeTables();
  WriteRows();
  Must("UPDATE liststore.snapshots SET action = 'save' WHERE key = 'snapshots'");
  EXPECT_EQ(Rows("SELECT last_number FROM liststore.snapshots"), "1");
  Must("INSERT INTO k.t (p, c, v) VALUES (50, 1, 1)");
  Must("CREATE TABLE k.late (p int PRIMARY KEY, v int)");
  Must("INSERT INTO k.late (p, v) VALUES (1, 2)");
  const std::string everything = Everything();
  for (const uint32_t shards : {2u, 1u, 3u}) {
    options.shards = shards;
    Start(options);
    EXPECT_EQ(Everything(), everything) << shards << " shards";
    EXPECT_EQ(Rows("SELECT v FROM k.late"), "2");
    ASSERT_TRUE(server_->TakeSnapshot().ok()) << said_;
  }
  Stop();
  std::string said;
  const auto is_whole = CheckDataDirectory(
      folder_.path(), [&](std::string_view line) { said.append(line).append("\n"); });
  ASSERT_TRUE(is_whole.ok()) << is_whole.status().message();
  EXPECT_TRUE(*is_whole) << said;
}

TEST_F(ServerRestart, WithoutALogTheSnapshotIsAllThereIs) {
  CqlServerOptions options = Options();
  options.commit_log = CommitLog::kOff;
  options.snapshot_at_end = true;
  Start(options);
  MakeTables();
  WriteRows();
  const std::string everything = Everything();
  Start(options);
  EXPECT_EQ(Everything(), everything);
  options.snapshot_at_end = false;
  Start(options);
  Must("INSERT INTO k.t (p, c, v) VALUES (50, 1, 1)");
  Start(options);
  EXPECT_EQ(Everything(), everything);
  // To another place.
  Stop();
  CqlServerOptions elsewhere = Options();
  elsewhere.data_dir = folder_ / "elsewhere";
  elsewhere.from_snapshot = folder_ / "snapshot-0000000000000002.snapshot";
  Start(elsewhere);
  EXPECT_EQ(Everything(), everything);
  Must("INSERT INTO k.t (p, c, v) VALUES (51, 1, 1)");
  elsewhere.from_snapshot.clear();
  Start(elsewhere);
  EXPECT_EQ(Rows("SELECT v FROM k.t WHERE p = 51"), "1");
  elsewhere.from_snapshot = folder_ / "snapshot-0000000000000002.snapshot";
  Stop();
  EXPECT_EQ(CqlServer::Start(elsewhere).status().code(), absl::StatusCode::kFailedPrecondition);
}

// What fails is said apart, and so is what a stop did not keep.
TEST_F(ServerRestart, SaysWhatFails) {
  std::string failures;
  CqlServerOptions options = Options();
  options.data_dir = folder_ / "kept";
  options.snapshot_at_end = true;
  options.on_keeping_failure = [&](std::string_view line) { failures.append(line).append("\n"); };
  Start(options);
  EXPECT_TRUE(server_->stop_status().ok());
  std::filesystem::remove_all(folder_ / "kept");
  EXPECT_FALSE(server_->TakeSnapshot().ok());
  EXPECT_NE(failures.find("no snapshot was taken: "), std::string::npos) << failures;
  EXPECT_TRUE(server_->stop_status().ok());
  failures.clear();
  session_.reset();
  server_->Stop();
  EXPECT_FALSE(server_->stop_status().ok());
  EXPECT_NE(failures.find("no snapshot was taken: "), std::string::npos) << failures;
  EXPECT_EQ(said_.find("no snapshot"), std::string::npos) << said_;
  // Where nobody hears failures apart, all lines are together.
  options.data_dir = folder_ / "other";
  options.on_keeping_failure = nullptr;
  Start(options);
  std::filesystem::remove_all(folder_ / "other");
  Stop();
  EXPECT_NE(said_.find("no snapshot was taken: "), std::string::npos) << said_;
}

TEST_F(ServerRestart, IsLikeWhomItsSchemaWasMadeLike) {
  CqlServerOptions options = Options();
  options.like = "cassandra:4.1";
  Start(options);
  Must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  Must("CREATE TABLE k.t (p int PRIMARY KEY, v int)");
  const auto look = [&] {
    return Rows("SELECT speculative_retry FROM system_schema.tables WHERE keyspace_name = 'k'") +
           " " + Rows("SELECT release_version FROM system.local");
  };
  const std::string before = look();
  EXPECT_EQ(before, "99p 4.1.8");
  for (const bool in_snapshot : {false, true}) {
    CqlServerOptions silent = Options();
    Start(silent);
    EXPECT_EQ(look(), before);
    EXPECT_NE(said_.find("goes on like cassandra:4.1, as the schema was made"), std::string::npos);
    if (in_snapshot) {
      ASSERT_TRUE(server_->TakeSnapshot().ok());
    }
    Stop();
    CqlServerOptions other = Options();
    other.like = "scylla:2025.1";
    const absl::Status refused = CqlServer::Start(other).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_NE(refused.message().find("start with --like cassandra:4.1"), std::string::npos);
  }
  std::string checked;
  const auto whole = CheckDataDirectory(
      folder_.path(), [&](std::string_view line) { checked.append(line).append("\n"); });
  ASSERT_TRUE(whole.ok() && *whole);
  EXPECT_NE(checked.find("the schema was made like cassandra:4.1\n"), std::string::npos) << checked;
  CqlServerOptions elsewhere = Options();
  elsewhere.data_dir.clear();
  elsewhere.commit_log = CommitLog::kOff;
  elsewhere.from_snapshot = folder_ / "snapshot-0000000000000001.snapshot";
  Start(elsewhere);
  EXPECT_EQ(look(), before);
}

TEST_F(ServerRestart, RolesComeBackWithTheirPasswords) {
  CqlServerOptions options = Options();
  options.user = "admin";
  options.password = "secret";
  options.scylla_options = {{"authorizer", "CassandraAuthorizer"}};
  const CqlLogin admin{"admin", "secret"};
  Start(options, admin);
  MakeTables();
  Must("CREATE ROLE alice WITH PASSWORD = 'wonder' AND LOGIN = true");
  Must("CREATE ROLE readers");
  Must("GRANT SELECT ON KEYSPACE k TO readers");
  Must("GRANT readers TO alice");
  Must("CREATE ROLE gone");
  Must("DROP ROLE gone");
  for (int i = 0; i < 2; ++i) {
    Start(options, {"alice", "wonder"});
    EXPECT_EQ(Rows("SELECT p FROM k.t"), "");
    EXPECT_NE(Refusal("INSERT INTO k.t (p, c) VALUES (1, 1)"), "");
    Start(options, admin);
    EXPECT_EQ(Rows("SELECT role FROM system.roles WHERE role = 'gone'"), "");
    ASSERT_TRUE(server_->TakeSnapshot().ok());
  }
}

TEST_F(ServerRestart, AClockThatWasMovedStandsWhereItStood) {
  CqlServerOptions options = Options();
  const auto start = [&](ServerClock& clock) {
    options.server_clock = &clock;
    Start(options);
  };
  ServerClock first(uint64_t{1'700'000'000} * 1'000'000'000);
  start(first);
  MakeTables();
  Must("INSERT INTO k.t (p, c, v) VALUES (1, 1, 1) USING TTL 100");
  Must("UPDATE liststore.clock SET advance_seconds = 50 WHERE key = 'clock'");
  const uint64_t now = first.NowNanos();
  ServerClock second;
  start(second);
  EXPECT_EQ(second.mode(), ServerClock::Mode::kManual);
  EXPECT_EQ(second.NowNanos(), now);
  EXPECT_EQ(Rows("SELECT TTL(v) FROM k.t"), "50");
  Must("UPDATE liststore.clock SET advance_seconds = 60 WHERE key = 'clock'");
  EXPECT_EQ(Rows("SELECT v FROM k.t"), "");
  ServerClock third;
  start(third);
  EXPECT_EQ(Rows("SELECT v FROM k.t"), "");
  Stop();
}

// With one: marks_restart_test.cc.
TEST_F(ServerRestart, WithoutALogASnapshotHasWhatAResetLeft) {
  CqlServerOptions options = Options();
  options.commit_log = CommitLog::kOff;
  Start(options);
  MakeTables();
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Must("CREATE TABLE k.later (p int PRIMARY KEY)");
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  const std::string everything = Everything();
  ASSERT_TRUE(server_->TakeSnapshot().ok());
  Start(options);
  EXPECT_EQ(Everything(), everything);
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  ASSERT_TRUE(server_->TakeSnapshot().ok());
  Start(options);
  EXPECT_EQ(Rows("SELECT keyspace_name FROM system_schema.tables WHERE keyspace_name = 'k'"), "");
}

TEST_F(ServerRestart, DamageIsSaidAndLeftOutWhenThatIsAskedFor) {
  const auto check = [this](std::string& said) {
    const auto is_whole = CheckDataDirectory(
        folder_.path(), [&](std::string_view line) { said.append(line).append("\n"); });
    EXPECT_TRUE(is_whole.ok()) << is_whole.status().message();
    return is_whole.value_or(false);
  };
  Start(Options());
  MakeTables();
  for (int i = 0; i < 20; ++i) {
    Must("INSERT INTO k.t (p, c, s) VALUES (" + std::to_string(i) + ", 0, 'value number " +
         std::to_string(100 + i) + "')");
  }
  Stop();
  std::string said;
  EXPECT_TRUE(check(said)) << said;
  const std::string segment = folder_ / "log-0000-0000000000000001.log";
  std::string bytes = ReadFile(segment);
  const size_t at = bytes.find("value number 110");
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  WriteFile(segment, bytes);
  EXPECT_FALSE(check(said));
  EXPECT_NE(said.find("log-0000-0000000000000001.log"), std::string::npos) << said;
  const absl::Status refused = CqlServer::Start(Options()).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss) << refused.message();
  EXPECT_NE(refused.message().find("log-0000-0000000000000001.log"), std::string::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("liststore recover"), std::string::npos) << refused.message();
  CqlServerOptions options = Options();
  options.commit_log = CommitLog::kOff;
  const absl::Status recovered = CqlServer::RecoverDataDirectory(options);
  ASSERT_TRUE(recovered.ok()) << recovered.message() << said_;
  EXPECT_TRUE(check(said)) << said;
  Start(Options());
  EXPECT_EQ(Rows("SELECT count(*) FROM k.t"), "19");
  EXPECT_EQ(Rows("SELECT s FROM k.t WHERE p = 10"), "");
  EXPECT_EQ(Rows("SELECT s FROM k.t WHERE p = 11"), "value number 111");
  Must("INSERT INTO k.t (p, c, s) VALUES (10, 0, 'again and again')");
  Start(Options());
  EXPECT_EQ(Rows("SELECT count(*) FROM k.t"), "20");
}

TEST_F(ServerRestart, ADirectoryIsOneServersAtATime) {
  Start(Options());
  const auto second = CqlServer::Start(Options());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find("LOCK"), std::string::npos);
}

TEST_F(ServerRestart, OptionsThatDoNotGoTogetherAreRefused) {
  CqlServerOptions options = Options();
  options.data_dir.clear();
  EXPECT_EQ(CqlServer::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = Options();
  options.commit_log_period_ms = 0;
  EXPECT_EQ(CqlServer::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = Options();
  options.commit_log_segment_bytes = 1;
  EXPECT_EQ(CqlServer::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
}

// The one that a new server has is for a server that has no other.
TEST_F(ServerRestart, ASuperuserThatWasDroppedDoesNotComeBack) {
  const CqlLogin first{"cassandra", "cassandra"};
  const CqlLogin admin{"admin", "secret"};
  CqlServerOptions options = Options();
  // Without passwords there is one, who has none.
  Start(options);
  options.scylla_options = {{"authenticator", "PasswordAuthenticator"}};
  Start(options, first);
  ASSERT_EQ(session_->login_error(), "");
  Must("CREATE ROLE admin WITH SUPERUSER = true AND LOGIN = true AND PASSWORD = 'secret'");
  Start(options, admin);
  Must("DROP ROLE cassandra");
  Start(options, first);
  EXPECT_NE(session_->login_error(), "");
  Start(options, admin);
  EXPECT_EQ(Rows("SELECT role FROM system.roles"), "admin");
}

// A BATCH message is another way to write than a text.
TEST_F(ServerRestart, WhateverWasAnsweredIsInTheFiles) {
  Start(Options());
  MakeTables();
  const auto answered = [&](const CqlAnswer& answer) { EXPECT_EQ(answer.error, ""); };
  answered(
      session_->RunBatch(true,
                         {{.text = "INSERT INTO k.t (p, c, v) VALUES (1, 1, 1)", .parameters = {}},
                          {.text = "INSERT INTO k.t (p, c, v) VALUES (2, 1, 2)", .parameters = {}}},
                         std::nullopt));
  // What kill -9 would leave.
  const auto copy_of = [&](const std::string& name) {
    const std::string copy = copies_.path() + "/" + name;
    std::filesystem::copy(folder_.path(), copy);
    return copy;
  };
  const std::string behind_batch = copy_of("batch");
  answered(session_->RunBatch(
      true,
      {{.text = "INSERT INTO k.t (p, c, v) VALUES (3, 1, 3) IF NOT EXISTS", .parameters = {}}},
      std::nullopt));
  const std::string behind_condition = copy_of("condition");
  answered(session_->RunCounterBatch(
      {{.text = "UPDATE k.counts SET n = n + 4 WHERE p = 1", .parameters = {}}}));
  const std::string behind_counter = copy_of("counter");
  CqlServerOptions options = Options();
  options.data_dir = behind_batch;
  Start(options);
  EXPECT_EQ(Rows("SELECT v FROM k.t WHERE p = 1"), "1");
  EXPECT_EQ(Rows("SELECT v FROM k.t WHERE p = 2"), "2");
  options.data_dir = behind_condition;
  Start(options);
  EXPECT_EQ(Rows("SELECT v FROM k.t WHERE p = 3"), "3");
  options.data_dir = behind_counter;
  Start(options);
  EXPECT_EQ(Rows("SELECT n FROM k.counts"), "4");
}

TEST_F(ServerRestart, WhatTheLogKeepsInMemoryIsOfTheMemoryForClients) {
  CqlServerOptions options = Options();
  options.client_memory_bytes = 16 << 20;
  Start(options);
  const auto limit_of = [&](const std::string& kind) {
    return Rows("SELECT limit_bytes FROM liststore.memory WHERE kind = '" + kind +
                "' AND name = 'all'");
  };
  EXPECT_EQ(limit_of("commit_log"), std::to_string(4 << 20));
  EXPECT_EQ(limit_of("connections"), std::to_string(8 << 20));
  Stop();
  // The least there can be, in small pieces: it works all the same.
  options.client_memory_bytes = 1 << 20;
  options.shards = 4;
  options.commit_log = CommitLog::kSync;
  Start(options);
  MakeTables();
  const std::string value(20'000, 'x');
  for (int i = 0; i < 200; ++i) {
    Must("INSERT INTO k.t (p, c, s) VALUES (" + std::to_string(i) + ", 1, '" + value + "')");
  }
  Start(options);
  EXPECT_EQ(Rows("SELECT count(*) FROM k.t"), "200");
  options.commit_log = CommitLog::kOff;
  Start(options);
  EXPECT_EQ(limit_of("commit_log"), "");
}

}  // namespace server_restart_test
}  // namespace liststore::testing
