// The limit on memory as clients change it, in the table liststore.memory, and what is said of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/mutex.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace memory_limit_over_cql_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kStartBytes = 64 * kMiB;  // of CqlSessionTest, for rows

class MemoryLimitOverCql : public CqlSessionTest {
 protected:
  using Kind = CqlMemoryNotice::Kind;

  void Start(CqlServerOptions options) {
    options.on_memory_notice = [this](const CqlMemoryNotice& notice) {
      const MutexLock lock(mutex_);
      notices_.push_back(notice);
    };
    StartServer(std::move(options), "k");
    Must("CREATE TABLE k.t (p int PRIMARY KEY, v blob)");
  }
  // A process of three times what rows have, half of the rest for clients.
  void StartDivided() {
    CqlServerOptions options;
    options.process_memory_bytes = 3 * kStartBytes;
    options.client_memory_bytes = kStartBytes;
    options.divide_memory = [](uint64_t bytes) -> absl::StatusOr<CqlMemoryShares> {
      if (bytes < 3 * kMiB) return absl::InvalidArgumentError("limit_bytes is too little");
      return CqlMemoryShares{.rows_bytes = bytes / 3, .client_bytes = bytes / 3};
    };
    Start(options);
  }

  static std::string Change(const std::string& kind, const std::string& bytes) {
    return "UPDATE liststore.memory SET limit_bytes = " + bytes + " WHERE kind = '" + kind +
           "' AND name = 'all'";
  }
  static std::string Change(const std::string& kind, uint64_t bytes) {
    return Change(kind, std::to_string(bytes));
  }
  uint64_t Of(const std::string& kind, const std::string& column) {
    return static_cast<uint64_t>(cql::DecodeInteger(
        Cell("SELECT " + column + " FROM liststore.memory WHERE kind = '" + kind + "'")));
  }
  std::string Insert(int p, size_t bytes = 100'000) {
    return Refusal({"INSERT INTO k.t (p, v) VALUES (?, ?)",
                    {{cql::EncodeInt(p)}, {std::string(bytes, 'x')}},
                    true});
  }
  // Until one is refused; the first that is not there.
  int Fill(int first) {
    while (Insert(first).empty()) ++first;
    return first;
  }
  // Once somebody has said it, which takes a second at most.
  CqlMemoryNotice Await(Kind kind) {
    while (true) {
      {
        const MutexLock lock(mutex_);
        for (const CqlMemoryNotice& notice : notices_) {
          if (notice.kind == kind) return notice;
        }
      }
      Must("SELECT p FROM k.t WHERE p = 0");
    }
  }
  std::vector<Kind> Said() {
    const MutexLock lock(mutex_);
    std::vector<Kind> kinds;
    for (const CqlMemoryNotice& notice : notices_) kinds.push_back(notice.kind);
    return kinds;
  }
  void Forget() {
    const MutexLock lock(mutex_);
    notices_.clear();
  }

 private:
  Mutex mutex_;
  std::vector<CqlMemoryNotice> notices_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(MemoryLimitOverCql, GoesUpAndDown) {
  Start({});
  const int full = Fill(0);
  Must(Change("rows", 2 * kStartBytes));
  EXPECT_EQ(Of("rows", "limit_bytes"), 2 * kStartBytes);
  const int fuller = Fill(full);
  EXPECT_GT(fuller, full / 5 * 9);
  // Below what is held: it is taken, and said.
  const CqlAnswer lowered = session_->Run({Change("rows", kStartBytes), {}});
  EXPECT_EQ(lowered.error, "");
  ASSERT_EQ(lowered.warnings.size(), 1u);
  EXPECT_EQ(lowered.warnings[0],
            absl::StrCat("the memory limit for rows is ", kStartBytes, " bytes now, and ",
                         Of("rows", "bytes"),
                         " are held: writes are refused until deletions and expiries have made "
                         "room"));
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT count(*) FROM k.t")), fuller) << "nothing went";
  EXPECT_NE(Insert(fuller).find(absl::StrCat("memory limit of ", kStartBytes)), std::string::npos);
  // Deletions make room.
  int deleted = 0;
  while (!Insert(fuller).empty()) {
    ASSERT_LT(deleted, fuller);
    Must("DELETE FROM k.t WHERE p = " + std::to_string(deleted++));
  }
  EXPECT_GT(deleted, fuller / 3);
  EXPECT_LT(deleted, fuller / 3 * 2);
}

TEST_F(MemoryLimitOverCql, OfAProcessIsDividedAsAtTheStart) {
  StartDivided();
  EXPECT_EQ(Of("process", "limit_bytes"), 3 * kStartBytes);
  EXPECT_GE(Of("process", "bytes"), Of("rows", "bytes") + Of("statements", "bytes"));
  for (const uint64_t rows : {2 * kStartBytes, kStartBytes / 4}) {
    EXPECT_TRUE(session_->Run({Change("process", 3 * rows), {}}).warnings.empty());
    EXPECT_EQ(Of("process", "limit_bytes"), 3 * rows);
    EXPECT_EQ(Of("rows", "limit_bytes"), rows);
    EXPECT_EQ(Of("statements", "limit_bytes"), rows / 8);
    EXPECT_EQ(Of("journal", "limit_bytes"), rows / 8);
    EXPECT_EQ(Of("connections", "limit_bytes"), rows / 4 * 3);
  }
  EXPECT_GT(Fill(0), 100);
}

TEST_F(MemoryLimitOverCql, WhatCannotBeIsRefusedByName) {
  StartDivided();
  const std::string of = "liststore.memory: ";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {Change("process", kMiB), of + "limit_bytes is too little"},
      {Change("process", "-1"), of + "limit_bytes is negative: -1"},
      {Change("process", "null"), of + "limit_bytes cannot be null"},
      {Change("rows", 2 * kStartBytes),
       of + "the limit of kind = 'process' alone can be changed; the others follow from it"},
      {"UPDATE liststore.memory SET bytes = 1 WHERE kind = 'process' AND name = 'all'",
       of + "bytes is what is held, and cannot be changed"},
      {"UPDATE liststore.memory SET limit_bytes = 1 WHERE kind = 'process' AND name = 'x'",
       of + "the limit of name = 'all' alone can be changed"},
      {"INSERT INTO liststore.memory (kind, name) VALUES ('process', 'all')",
       of + "set limit_bytes"},
      {"DELETE FROM liststore.memory WHERE kind = 'process'",
       "this virtual table doesn't allow updates"},
  };
  for (const auto& [statement, why] : refused) EXPECT_EQ(Refusal(statement), why) << statement;
  EXPECT_EQ(Of("process", "limit_bytes"), 3 * kStartBytes);
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
  Start({});
  EXPECT_EQ(Refusal(Change("rows", kMiB - 1)), of + "limit_bytes 1048575 is less than 1048576");
  EXPECT_EQ(Refusal(Change("process", kStartBytes)),
            of + "the limit of kind = 'rows' alone can be changed");
}

// What nobody counts has a share of the process; what is more is taken from rows.
TEST_F(MemoryLimitOverCql, RowsGoWithoutWhatTheProgramHasBeyondItsShare) {
  StartDivided();
  const uint64_t share = kStartBytes;  // of each of the three
  // As the system would say, at several looks: beside what is counted.
  const auto look = [&](uint64_t beside) {
    bool is_over = false;
    for (int i = 0; i < 4; ++i) {
      const uint64_t counted =
          Of("rows", "bytes") + Of("statements", "bytes") + Of("sketches", "bytes");
      is_over = server_->NoteResidentBytes(counted + beside);
    }
    return is_over;
  };
  Must("CREATE TABLE k.indexed (p int PRIMARY KEY, w int)");
  Must("CREATE INDEX by_w ON k.indexed (w)");
  EXPECT_FALSE(look(share / 2));
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
  EXPECT_NEAR(static_cast<double>(Of("program", "bytes")), share / 2., share / 8.);
  EXPECT_EQ(Of("program", "limit_bytes"), share);

  const int full = Fill(0);
  EXPECT_FALSE(server_->NoteResidentBytes(3 * kStartBytes)) << "a look alone is not enough";
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
  EXPECT_TRUE(look(share + 16 * kMiB));
  EXPECT_NE(Insert(full).find("memory limit"), std::string::npos);
  // What is held is let be: deletions leave tombstones where clients say the times, and need room for them.
  EXPECT_GT(Of("rows", "limit_bytes"), Of("rows", "bytes"));
  const int64_t last = cql::DecodeInteger(
      Cell("SELECT writetime(v) FROM k.t WHERE p = " + std::to_string(full - 1)));
  for (int p = 0; p < full / 4; ++p) {
    Must("DELETE FROM k.t USING TIMESTAMP " + std::to_string(last + 1 + p) +
         " WHERE p = " + std::to_string(p));
  }
  // Tables are the most of what is not counted.
  const std::string create = "CREATE TABLE k.other (p int PRIMARY KEY)";
  EXPECT_NE(Refusal(create).find("The change of the schema was refused"), std::string::npos);
  EXPECT_NE(Refusal("ALTER TABLE k.t ADD w int").find("memory limit"), std::string::npos);
  EXPECT_EQ(Refusal("DROP INDEX k.by_w"), "");
  EXPECT_EQ(Refusal("DROP TABLE k.indexed"), "");

  for (int p = 0; p < full / 2; ++p) Must("DELETE FROM k.t WHERE p = " + std::to_string(p));
  EXPECT_TRUE(look(share + 16 * kMiB));
  // Pages that are kept for what comes are counted, and no rows.
  EXPECT_NEAR(static_cast<double>(Of("rows", "limit_bytes")), kStartBytes - 16. * kMiB, 8. * kMiB);
  EXPECT_EQ(Refusal(create), "") << "rows have made room for it";
  EXPECT_FALSE(look(share / 2));
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
  EXPECT_GT(Fill(full), full + full / 3);
  EXPECT_EQ(Refusal("DROP TABLE k.other"), "");
  EXPECT_EQ(Refusal(create), "") << "full is not short";
  // All of it: rows have next to nothing, and what has no rows takes no more either.
  EXPECT_TRUE(look(3 * kStartBytes));
  EXPECT_NE(Insert(3 * full).find("memory limit"), std::string::npos);
  EXPECT_NE(Refusal("CREATE TYPE k.u (a int)").find("refused"), std::string::npos);
  Must("DROP TABLE k.t");
}

TEST_F(MemoryLimitOverCql, SuperusersAloneChangeItWhereClientsLogIn) {
  CqlServerOptions options;
  options.user = "root";
  options.password = "secret";
  options.memory_limit_bytes = kStartBytes;
  options.instruments = false;
  auto started = CqlServer::Start(options);
  ASSERT_TRUE(started.ok()) << started.status();
  server_ = *std::move(started);
  session_ = std::make_unique<CqlSession>(server_->cql_port(), CqlLogin{"root", "secret"});
  Must("CREATE ROLE bob WITH PASSWORD = 'bob' AND LOGIN = true");
  CqlSession bob(server_->cql_port(), CqlLogin{"bob", "bob"});
  const CqlAnswer refused = bob.Run({Change("rows", 2 * kStartBytes), {}});
  EXPECT_EQ(refused.error, "Only superusers may use <table liststore.memory>");
  EXPECT_EQ(refused.code, 0x2100);
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
  Must(Change("rows", 2 * kStartBytes));
  EXPECT_EQ(Of("rows", "limit_bytes"), 2 * kStartBytes);
}

TEST_F(MemoryLimitOverCql, WhereAnybodyComesByNobodyChangesIt) {
  CqlServerOptions options;
  options.instruments = false;
  Start(options);
  EXPECT_EQ(Refusal(Change("rows", 2 * kStartBytes)),
            "liststore.memory: limits are not changed where everybody may do everything who "
            "reaches the server: have clients log in (--auth), or say --instruments on");
  EXPECT_EQ(Of("rows", "limit_bytes"), kStartBytes);
}

TEST_F(MemoryLimitOverCql, SaysWhenItIsNearlyFullAndWhenItIsFull) {
  Start({});
  int rows = 0;
  while (Of("rows", "bytes") < kStartBytes / 100 * 82) ASSERT_EQ(Insert(rows++), "");
  const CqlMemoryNotice nearly = Await(Kind::kNearlyFull);
  EXPECT_GE(nearly.held_bytes, kStartBytes / 100 * 80);
  EXPECT_EQ(nearly.limit_bytes, kStartBytes);
  EXPECT_EQ(nearly.process_limit_bytes, 0u);
  EXPECT_EQ(nearly.refused_writes, 0u);
  EXPECT_FALSE(nearly.evicts);
  rows = Fill(rows);
  const CqlMemoryNotice full = Await(Kind::kFull);
  EXPECT_GE(full.refused_writes, 1u);
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT value FROM liststore.counters WHERE name = "
                                    "'writes_refused_for_memory'")),
            static_cast<int64_t>(full.refused_writes));
  EXPECT_EQ(Said(), (std::vector{Kind::kNearlyFull, Kind::kFull}));
  // Under another limit it is said again, after the change.
  Forget();
  Must("TRUNCATE k.t");
  while (Of("rows", "bytes") > kStartBytes / 2) {
  }
  Must(Change("rows", 4 * kMiB));
  Fill(0);
  Await(Kind::kFull);
  EXPECT_EQ(Said().front(), Kind::kLimitChanged);
}

}  // namespace memory_limit_over_cql_test
}  // namespace liststore::testing
