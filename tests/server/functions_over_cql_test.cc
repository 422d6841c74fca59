// Functions as values, over the wire: the server's clock is theirs, and each evaluation is a new
// one.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/model/timeuuid.h"
#include "engine/model/token.h"
#include "liststore/cql_server.h"
#include "liststore/server_clock.h"
#include "tests/conformance/cql_session.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

std::string Int(int32_t value) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(value));
  return bytes;
}
int64_t Bigint(const std::string& bytes) {
  return static_cast<int64_t>(LoadBigEndian64(bytes.data()));
}

class FunctionsOverCqlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    options.server_clock = &clock_;
    options.journal_entries = 100;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port());
    Run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    Run("CREATE TABLE k.t (p int, c timeuuid, v int, u uuid, PRIMARY KEY (p, c))");
    Run("CREATE TABLE k.n (p int, c int, u timeuuid, b blob, PRIMARY KEY (p, c))");
  }

  CqlAnswer Run(const CqlStatement& statement, const CqlParameters& parameters = {}) {
    CqlAnswer answer = session_->Run(statement, parameters);
    EXPECT_EQ(answer.error, "") << statement.text;
    return answer;
  }
  CqlAnswer Run(const std::string& text) { return Run(CqlStatement{text, {}}); }
  std::string ErrorOf(const CqlStatement& statement) { return session_->Run(statement).error; }
  // The one value.
  std::string Cell(const std::string& text) {
    const CqlAnswer answer = Run(text);
    EXPECT_EQ(answer.rows.size(), 1u) << text;
    return answer.rows.empty() ? "" : answer.rows[0][0].value_or("null");
  }
  std::vector<std::string> Column(const std::string& text) {
    std::vector<std::string> values;
    for (const ResultRow& row : Run(text).rows) values.push_back(row[0].value_or("null"));
    return values;
  }
  void Advance(uint64_t seconds) {
    ASSERT_EQ(clock_.Advance(seconds * kSecond), ServerClock::Change::kDone);
  }

  ServerClock clock_{kStart};
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

TEST_F(FunctionsOverCqlTest, NowAndWriteTimeCarryTheMovedTime) {
  const std::string insert = "INSERT INTO k.t (p, c, v) VALUES (1, now(), 7) USING TTL 2592000";
  Run(insert);
  EXPECT_EQ(MillisecondsOfTimeuuid(Cell("SELECT c FROM k.t")), 1'700'000'000'000);
  EXPECT_EQ(Cell("SELECT TTL(v) FROM k.t"), Int(2592000));
  Advance(2592000);
  EXPECT_TRUE(Run("SELECT * FROM k.t").rows.empty());
  Run(insert);
  EXPECT_EQ(MillisecondsOfTimeuuid(Cell("SELECT c FROM k.t")), 1'702'592'000'000);
  EXPECT_EQ(Bigint(Cell("SELECT WRITETIME(v) FROM k.t")), 1'702'592'000'000'000);
  EXPECT_EQ(Cell("SELECT v FROM k.t WHERE p = 1 AND c >= minTimeuuid(currentTimestamp()) AND c <= "
                 "maxTimeuuid(1702592000000)"),
            Int(7));
  EXPECT_TRUE(Run("SELECT v FROM k.t WHERE p = 1 AND c > now()").rows.empty());
  EXPECT_EQ(Cell("SELECT v FROM k.t WHERE p = 1 AND c < now()"), Int(7));
}

TEST_F(FunctionsOverCqlTest, EachExecutionMakesANewOneInOrder) {
  for (int i = 0; i < 20; ++i) {
    Run({"INSERT INTO k.t (p, c, v, u) VALUES (?, now(), ?, uuid())",
         {{Int(1)}, {Int(i)}},
         /*prepared=*/true});
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(Int(i));
  EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1"), expected) << "though the clock stands";
  const std::vector<std::string> random = Column("SELECT u FROM k.t WHERE p = 1");
  EXPECT_EQ(std::set<std::string>(random.begin(), random.end()).size(), 20u);
}

TEST_F(FunctionsOverCqlTest, EachRowOfAnUpdateHasItsOwn) {
  Run({"UPDATE k.n SET u = now(), b = intAsBlob(?) WHERE p IN (1, 2) AND c IN (1, 2, 3)",
       {{Int(5)}}});
  const std::vector<std::string> uuids = Column("SELECT u FROM k.n");
  EXPECT_EQ(uuids.size(), 6u);
  EXPECT_EQ(std::set<std::string>(uuids.begin(), uuids.end()).size(), 6u);
  EXPECT_EQ(Column("SELECT b FROM k.n"), std::vector<std::string>(6, Int(5)));
}

TEST_F(FunctionsOverCqlTest, BatchesComputeForEachStatement) {
  Run("BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, now(), 1); INSERT INTO k.t (p, c, v) "
      "VALUES (1, now(), 2); UPDATE k.n SET u = now() WHERE p = 1 AND c IN (1, 2) APPLY BATCH");
  const CqlAnswer answer = session_->RunBatch(
      true,
      {{"INSERT INTO k.t (p, c, v) VALUES (?, now(), ?)", {{Int(1)}, {Int(3)}}, true},
       {"INSERT INTO k.t (p, c, v) VALUES (?, now(), ?)", {{Int(1)}, {Int(4)}}, true},
       {"INSERT INTO k.t (p, c, v) VALUES (1, now(), blobAsInt(0x00000005))", {}}},
      std::nullopt);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1"),
            (std::vector<std::string>{Int(1), Int(2), Int(3), Int(4), Int(5)}));
  EXPECT_NE(Cell("SELECT u FROM k.n WHERE p = 1 AND c = 1"),
            Cell("SELECT u FROM k.n WHERE p = 1 AND c = 2"));
}

TEST_F(FunctionsOverCqlTest, AWrongArgumentAppliesNothing) {
  EXPECT_EQ(ErrorOf({"UPDATE k.n SET b = 0x01, u = blobAsTimeuuid(?) WHERE p = 1 AND c IN (1, 2)",
                     {{std::string("xy")}}}),
            "In call to function blobastimeuuid, value 0x7879 is not a valid binary representation "
            "for type timeuuid");
  EXPECT_EQ(session_
                ->RunBatch(true,
                           {{"UPDATE k.n SET b = 0x01 WHERE p = 1 AND c = 1", {}},
                            {"UPDATE k.n SET b = intAsBlob(?) WHERE p = 1 AND c = 2",
                             {{std::string("xy")}}}},
                           std::nullopt)
                .error,
            "Exception while binding column arg0(system.intasblob): marshaling error: Validation "
            "failed for type int: got 2 bytes");
  EXPECT_EQ(ErrorOf({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{std::nullopt}}}),
            "Invalid null value in condition for column p");
  EXPECT_TRUE(Run("SELECT * FROM k.n").rows.empty());
}

TEST_F(FunctionsOverCqlTest, TokensOfValuesBoundAScan) {
  for (int p = 0; p < 10; ++p) Run("INSERT INTO k.n (p, c) VALUES (" + std::to_string(p) + ", 1)");
  const std::vector<std::string> all = Column("SELECT p FROM k.n");
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(Column("SELECT p FROM k.n WHERE token(p) > token(" +
                   std::to_string(LoadBigEndian32(all[3].data())) + ")"),
            std::vector<std::string>(all.begin() + 4, all.end()));
  const CqlAnswer answer = Run({"SELECT p FROM k.n WHERE token(p) <= token(?)", {{all[3]}}, true});
  EXPECT_EQ(answer.rows.size(), 4u);
}

TEST_F(FunctionsOverCqlTest, PagesGoOnThoughTheTimeHasMoved) {
  for (int i = 0; i < 5; ++i) Run("INSERT INTO k.t (p, c, v) VALUES (1, now(), 1)");
  Advance(1);
  const CqlStatement select{"SELECT v FROM k.t WHERE p = ? AND c < now()", {{Int(1)}}, true};
  CqlParameters parameters{.page_size = 2, .paging_state = "", .default_timestamp = {}};
  size_t rows = 0;
  for (int page = 0; page < 3; ++page) {
    const CqlAnswer answer = Run(select, parameters);
    rows += answer.rows.size();
    parameters.paging_state = answer.paging_state;
    Advance(1);
  }
  EXPECT_EQ(rows, 5u);
  EXPECT_EQ(parameters.paging_state, "");
}

TEST_F(FunctionsOverCqlTest, VirtualTablesTakeThemToo) {
  Run("UPDATE liststore.clock SET now = toTimestamp('2030-01-01') WHERE key = "
      "blobAsText(textAsBlob('clock'))");
  EXPECT_EQ(clock_.NowNanos(), 1'893'456'000 * kSecond);
}

TEST_F(FunctionsOverCqlTest, AResetTakesTheTimeBackAndKeepsThemUnique) {
  Run("INSERT INTO k.t (p, c, v) VALUES (1, now(), 0)");
  Run("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  for (int round = 0; round < 3; ++round) {
    Run("INSERT INTO k.t (p, c, v) VALUES (1, now(), 1)");
    EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1").size(), 2u) << "not the one of the mark";
    Advance(3600);
    Run("INSERT INTO k.t (p, c, v) VALUES (1, now(), 2)");
    Run("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  }
}

TEST_F(FunctionsOverCqlTest, TheJournalAndFaultsKnowTheKeyWhereItFollows) {
  Run("INSERT INTO liststore.faults (name, op, key, action) VALUES ('f', 'INSERT', '5', "
      "'overloaded')");
  EXPECT_NE(ErrorOf({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{Int(5)}}, true}), "");
  EXPECT_EQ(ErrorOf({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{Int(6)}}, true}), "");
  EXPECT_EQ(Column("SELECT key FROM liststore.requests WHERE tbl = 'k.n' AND op = 'INSERT' ALLOW "
                   "FILTERING"),
            (std::vector<std::string>{"5", "6"}));
  Run("CREATE TABLE k.m (p timeuuid PRIMARY KEY, v int)");
  Run("INSERT INTO k.m (p, v) VALUES (now(), 1)");
  EXPECT_EQ(Column("SELECT key FROM liststore.requests WHERE tbl = 'k.m' AND op = 'INSERT' ALLOW "
                   "FILTERING"),
            (std::vector<std::string>{"null"}));
}

}  // namespace
}  // namespace liststore::testing
