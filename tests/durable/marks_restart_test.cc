// Marks and resets of a server whose writes are in a commit log: what a restart finds is what the reset left,
// wherever the process or the machine ended, with snapshots in between, by seed.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/cql/values/encode_value.h"
#include "engine/shard/undone_steps.h"
#include "liststore/cql_server.h"
#include "liststore/data_directory.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace marks_restart_test {

using CommitLog = CqlServerOptions::CommitLog;
namespace fs = std::filesystem;

// A server over a directory, and a client of it.
class KeptServer {
 public:
  KeptServer(const std::string& directory, uint32_t shards, CommitLog mode = CommitLog::kOs) {
    CqlServerOptions options;
    options.data_dir = directory;
    options.shards = shards;
    options.commit_log = mode;
    options.commit_log_segment_bytes = 2 << 20;
    options.memory_limit_bytes = 128 << 20;
    options.user = "admin";
    options.password = "secret";
    options.scylla_options = {{"authorizer", "CassandraAuthorizer"}};
    options.on_keeping = [this](std::string_view line) { said_.append(line).append("\n"); };
    auto server = CqlServer::Start(options);
    status_ = server.status();
    if (!server.ok()) return;
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port(), CqlLogin{"admin", "secret"});
  }
  const absl::Status& status() const { return status_; }
  const std::string& said() const { return said_; }
  CqlServer& server() { return *server_; }

  CqlAnswer Must(const std::string& text) {
    CqlAnswer answer = session_->Run({.text = text, .parameters = {}});
    EXPECT_EQ(answer.error, "") << text;
    return answer;
  }
  std::string Refusal(const std::string& text) {
    return session_->Run({.text = text, .parameters = {}}).error;
  }
  void Act(const std::string& action) { Must(ActText(action)); }
  static std::string ActText(const std::string& action) {
    return "UPDATE liststore.data SET action = '" + action + "' WHERE key = 'data'";
  }
  std::string Rows(const std::string& text) {
    std::string shown;
    for (const ResultRow& row : Must(text).rows) {
      for (const auto& cell : row) {
        const bool is_number = cell && (cell->size() == 4 || cell->size() == 8);
        shown += !cell ? "null" : is_number ? std::to_string(cql::DecodeInteger(*cell)) : *cell;
        shown += " ";
      }
      shown += "\n";
    }
    return shown;
  }
  // All that there is, as text.
  std::string Everything() {
    std::string all = Rows("DESCRIBE FULL SCHEMA") +
                      Rows("SELECT role, can_login FROM system.roles") +
                      Rows("LIST ALL PERMISSIONS");
    const std::string mode = Rows("SELECT mode FROM liststore.clock");
    all += mode;
    if (mode == "manual \n") all += Rows("SELECT now_nanos FROM liststore.clock");
    for (const ResultRow& row :
         Must("SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = 'k'").rows) {
      all += *row[0] + *row[1] + ":\n" + Rows("SELECT * FROM k." + *row[0]);
    }
    if (all.find("CREATE TABLE k.t ") != std::string::npos) {
      all += Rows("SELECT p, c, writetime(v), ttl(v) FROM k.t");
      all += Rows("SELECT p, c FROM k.t WHERE v = 3") + Rows("SELECT * FROM k.by_c");
    }
    return all;
  }
  void MakeTables() {
    for (const char* const text :
         {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
          "'replication_factor': 1}",
          "CREATE TYPE k.ty (a int)",
          "CREATE TABLE k.t (p int, c int, s text static, v int, u ty, PRIMARY KEY (p, c))",
          "CREATE TABLE k.counts (p int PRIMARY KEY, n counter)", "CREATE INDEX by_v ON k.t (v)",
          "CREATE MATERIALIZED VIEW k.by_c AS SELECT c, p, v FROM k.t WHERE c IS NOT NULL AND p IS "
          "NOT NULL PRIMARY KEY (c, p)"}) {
      Must(text);
    }
  }

 private:
  std::string said_;
  absl::Status status_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

void CopyFolder(const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::copy(from, to);
}

// One life of a directory.
class Life {
 public:
  explicit Life(uint64_t seed) : random_(seed) { Start(); }

  void Run() {
    server_->MakeTables();
    for (int step = 0; step < 90 && !::testing::Test::HasFailure(); ++step) Step();
    if (!::testing::Test::HasFailure()) Kill();
  }

 private:
  void Start() {
    server_.reset();
    server_ = std::make_unique<KeptServer>(directory_, 1 + Below(3),
                                           random_.OneIn(4) ? CommitLog::kSync : CommitLog::kOs);
    ASSERT_TRUE(server_->status().ok()) << server_->status() << "\n" << server_->said();
  }
  // The process ends: what was answered is in its files.
  void Kill() {
    const std::string before = server_->Everything();
    const std::string copy = folder_ / ("life" + std::to_string(++lives_));
    CopyFolder(directory_, copy);
    directory_ = copy;
    Expect(before);
  }
  void Restart() {
    const std::string before = server_->Everything();
    server_.reset();
    Expect(before);
  }
  void Expect(const std::string& before) {
    Start();
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(server_->Everything(), before) << server_->said();
    may_reset_ = false;
    has_mark_ = false;
  }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_.Below(bound)); }
  std::string Number(uint32_t bound) { return std::to_string(random_.Below(bound)); }
  // Refused where the table is not there.
  void Try(const std::string& text) { static_cast<void>(server_->Refusal(text)); }

  void Step() {
    const std::string x = "k.x" + Number(3);
    switch (random_.Below(24)) {
      case 0:
        return Try("DELETE FROM k.t WHERE p = " + Number(6) + " AND c = " + Number(5));
      case 1:
        return Try("DELETE FROM k.t WHERE p = " + Number(6));
      case 2:
        return Try("BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (" + Number(6) + ", 1, " +
                   Number(9) + "); INSERT INTO k.t (p, c, v) VALUES (" + Number(6) + ", 2, " +
                   Number(9) + "); APPLY BATCH");
      case 3:
        return Try("TRUNCATE " + std::string(random_.OneIn(2) ? "k.t" : x));
      case 4:
        return Try("CREATE TABLE " + x + " (p int PRIMARY KEY, v int)");
      case 5:
        return Try("DROP TABLE " + x);
      case 6:
        return Try("ALTER TABLE " + x + " ADD c" + std::to_string(++added_) + " int");
      case 7:
        return Try("UPDATE k.counts SET n = n + 2 WHERE p = " + Number(3));
      case 8:
        server_->Act("mark");
        may_reset_ = true;
        has_mark_ = true;
        return;
      case 9:
      case 10:
      case 11:
        if (may_reset_) server_->Act("reset");
        if (may_reset_ && !has_mark_) server_->MakeTables();
        return;
      case 12:
        if (random_.OneIn(3)) {
          server_->Act("forget");
          may_reset_ = false;
          has_mark_ = false;
        }
        return;
      case 13:
        EXPECT_TRUE(server_->server().TakeSnapshot().ok());
        return;
      case 14:
        return Kill();
      case 15:
        return Restart();
      case 16:
        Try("CREATE ROLE r" + Number(3));
        return Try(random_.OneIn(2) ? "DROP ROLE r" + Number(3)
                                    : "GRANT SELECT ON KEYSPACE k TO r" + Number(3));
      case 17:
        return Try(random_.OneIn(2)
                       ? "UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'"
                       : "UPDATE liststore.clock SET advance_seconds = 7 WHERE key = 'clock'");
      case 18:
        return Try("INSERT INTO k.t (p, c, s, u) VALUES (" + Number(6) + ", " + Number(5) + ", 's" +
                   Number(9) + "', {a: 1})");
      case 19:
        return Try("INSERT INTO k.t (p, c, v) VALUES (" + Number(6) + ", 4, 3) USING TIMESTAMP " +
                   Number(100));
      case 20:
        return Try("INSERT INTO " + x + " (p, v) VALUES (" + Number(9) + ", 1)");
      default:
        return Try("INSERT INTO k.t (p, c, v) VALUES (" + Number(6) + ", " + Number(5) + ", " +
                   Number(9) + ")");
    }
  }

  Random random_;
  const TempFolder folder_;
  std::string directory_ = folder_ / "life0";
  std::unique_ptr<KeptServer> server_;
  bool may_reset_ = true;  // it began with nothing, or something is marked
  bool has_mark_ = false;
  int lives_ = 0;
  int added_ = 0;
};

TEST(MarksRestart, ARestartFindsWhatThereWas) {
  const uint64_t first = TestSeed();
  const uint64_t end = first + TestSteps(12);
  for (uint64_t seed = first; seed < end && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("LISTSTORE_SEED=" + std::to_string(seed) + " LISTSTORE_STEPS=1");
    Life(seed).Run();
  }
}

// The machine stops while a reset is written: some logs have it, others end before. It was done, as soon as one has it.
TEST(MarksRestart, AResetIsInAllLogsOrInNone) {
  const TempFolder folder;
  constexpr uint32_t kShards = 3;
  const std::string live = folder / "live";
  KeptServer server(live, kShards);
  ASSERT_TRUE(server.status().ok()) << server.status();
  server.MakeTables();
  const auto fill = [&](int v) {
    for (int p = 0; p < 12; ++p) {
      server.Must("INSERT INTO k.t (p, c, v) VALUES (" + std::to_string(p) + ", 1, " +
                  std::to_string(v) + ")");
    }
  };
  for (const bool with_snapshot : {false, true}) {
    fill(1);
    server.Act("mark");
    const std::string marked = server.Everything();
    fill(3);
    server.Must("CREATE TABLE k.later (p int PRIMARY KEY)");
    if (with_snapshot) {
      ASSERT_TRUE(server.server().TakeSnapshot().ok());
    }
    server.Must("TRUNCATE k.counts");
    const std::string changed = server.Everything();
    CopyFolder(live, folder / "before");
    server.Act("reset");
    ASSERT_EQ(server.Everything(), marked);
    CopyFolder(live, folder / "behind");
    for (uint32_t have = 0; have < 1u << kShards; ++have) {
      SCOPED_TRACE(have);
      CopyFolder(folder / "before", folder / "mixed");
      for (const auto& file : fs::directory_iterator(folder / "behind")) {
        const std::string name = file.path().filename();
        if (!name.starts_with("log-") || (have >> (name[7] - '0') & 1) == 0) continue;
        fs::copy_file(file.path(), folder / ("mixed/" + name),
                      fs::copy_options::overwrite_existing);
      }
      for (const uint32_t shards : {kShards, 1u}) {
        KeptServer again(folder / "mixed", shards);
        ASSERT_TRUE(again.status().ok()) << again.status();
        EXPECT_EQ(again.Everything(), have == 0 ? changed : marked) << again.said();
      }
      // And so it stays, with what comes behind.
      KeptServer(folder / "mixed", 2).Must("INSERT INTO k.t (p, c, v) VALUES (40, 1, 1)");
      KeptServer last(folder / "mixed", 1);
      EXPECT_EQ(last.Rows("SELECT v FROM k.t WHERE p = 40"), "1 \n");
      last.Must("DELETE FROM k.t WHERE p = 40");
      EXPECT_EQ(last.Everything(), have == 0 ? changed : marked);
    }
  }
}

// A snapshot that is taken behind a mark does not make go what a reset begins from.
TEST(MarksRestart, WhatAResetBeginsFromStaysAsLongAsTheMark) {
  const TempFolder folder;
  KeptServer server(folder / "data", 2);
  ASSERT_TRUE(server.status().ok()) << server.status();
  server.MakeTables();
  const auto snapshots = [&] {
    std::string names;
    for (int i = 1; i < 9; ++i) {
      const std::string name = "snapshot-000000000000000" + std::to_string(i) + ".snapshot";
      if (fs::exists(folder / ("data/" + name))) names += std::to_string(i);
    }
    return names + (fs::exists(folder / "data/MARKED") ? " marked" : "");
  };
  ASSERT_TRUE(server.server().TakeSnapshot().ok());
  EXPECT_EQ(snapshots(), "1");
  server.Act("mark");
  EXPECT_EQ(snapshots(), "1 marked");
  server.Must("INSERT INTO k.t (p, c, v) VALUES (1, 1, 1)");
  ASSERT_TRUE(server.server().TakeSnapshot().ok());
  ASSERT_TRUE(server.server().TakeSnapshot().ok());
  EXPECT_EQ(snapshots(), "13 marked");
  server.Act("reset");
  const std::string everything = server.Everything();
  CopyFolder(folder / "data", folder / "copy");
  const auto whole = CheckDataDirectory(folder / "copy", [](std::string_view) {});
  EXPECT_TRUE(whole.ok() && *whole);
  {
    KeptServer again(folder / "copy", 1);
    ASSERT_TRUE(again.status().ok()) << again.status();
    EXPECT_EQ(again.Everything(), everything) << again.said();
    EXPECT_NE(again.said().find("records were undone by resets"), std::string::npos);
    // Numbers are not given again.
    ASSERT_TRUE(again.server().TakeSnapshot().ok());
    EXPECT_TRUE(fs::exists(folder / "copy/snapshot-0000000000000004.snapshot"));
    EXPECT_FALSE(fs::exists(folder / "copy/snapshot-0000000000000003.snapshot"));
    EXPECT_FALSE(fs::exists(folder / "copy/MARKED"));
  }
  // Without what it begins from it is refused, and so it is where nobody says that there are resets.
  CopyFolder(folder / "data", folder / "copy");
  fs::remove(folder / "copy/snapshot-0000000000000001.snapshot");
  const absl::Status without = KeptServer(folder / "copy", 1).status();
  EXPECT_EQ(without.code(), absl::StatusCode::kDataLoss) << without;
  EXPECT_NE(without.message().find("snapshot-0000000000000001.snapshot is missing"),
            std::string::npos);
  CopyFolder(folder / "data", folder / "copy");
  fs::remove(folder / "copy/MARKED");
  const absl::Status unmarked = KeptServer(folder / "copy", 1).status();
  EXPECT_EQ(unmarked.code(), absl::StatusCode::kDataLoss) << unmarked;
  EXPECT_NE(unmarked.message().find("MARKED"), std::string::npos);

  server.Act("forget");
  EXPECT_EQ(snapshots(), "13 marked");
  ASSERT_TRUE(server.server().TakeSnapshot().ok());
  EXPECT_EQ(snapshots(), "4");
}

TEST(MarksRestart, AResetWithoutAMarkEmptiesWhatBeganEmptyAlone) {
  const TempFolder folder;
  const std::string data = folder / "data";
  std::string empty;
  {
    KeptServer server(data, 2);
    ASSERT_TRUE(server.status().ok()) << server.status();
    empty = server.Everything();
    server.MakeTables();
    server.Must("CREATE ROLE gone");
    server.Must("INSERT INTO k.t (p, c, v) VALUES (1, 1, 1)");
    ASSERT_TRUE(server.server().TakeSnapshot().ok());
    server.Act("reset");
    EXPECT_EQ(server.Everything(), empty);
  }
  {
    KeptServer server(data, 1);
    EXPECT_EQ(server.Everything(), empty) << server.said();
    server.MakeTables();
  }
  KeptServer server(data, 1);
  const std::string refusal = server.Refusal(KeptServer::ActText("reset"));
  EXPECT_NE(refusal.find("no mark to go back to, and would empty what is kept"), std::string::npos)
      << refusal;
  EXPECT_NE(server.Everything(), empty);
}

TEST(UndoneStepsTest, KnowsWhatLiesBetweenAMarkAndItsLastReturn) {
  shard::UndoneSteps undone;
  EXPECT_TRUE(undone.empty());
  EXPECT_FALSE(undone.HasBehind(5));
  undone.Add(10, 14);
  undone.Add(10, 18);
  undone.Add(10, 18);
  undone.Add(30, 31);
  EXPECT_FALSE(undone.empty());
  EXPECT_FALSE(undone.HasBehind(0));
  EXPECT_FALSE(undone.HasBehind(9));
  for (uint64_t step = 10; step < 18; ++step) EXPECT_TRUE(undone.HasBehind(step)) << step;
  EXPECT_FALSE(undone.HasBehind(18));
  EXPECT_FALSE(undone.Has(10));
  EXPECT_TRUE(undone.Has(11));
  EXPECT_TRUE(undone.Has(14)) << "a later return undoes the earlier one";
  EXPECT_FALSE(undone.Has(18));
  EXPECT_TRUE(undone.HasBehind(30));
  EXPECT_FALSE(undone.Has(30));
  EXPECT_FALSE(undone.HasBehind(31));
}

}  // namespace marks_restart_test
}  // namespace liststore::testing
