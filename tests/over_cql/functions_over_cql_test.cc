// Functions as values, over the wire: the server's clock is theirs, and each evaluation is a new
// one.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/cql/values/encode_value.h"
#include "engine/model/token.h"
#include "engine/model/types/timeuuid.h"
#include "liststore/server_clock.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace functions_over_cql_test {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

int64_t Bigint(const std::string& bytes) {
  return static_cast<int64_t>(LoadBigEndian64(bytes.data()));
}

class FunctionsOverCqlTest : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.server_clock = &clock_;
    options.journal_entries = 100;
    StartServer(options, "k");
    Must("CREATE TABLE k.t (p int, c timeuuid, v int, u uuid, PRIMARY KEY (p, c))");
    Must("CREATE TABLE k.n (p int, c int, u timeuuid, b blob, PRIMARY KEY (p, c))");
  }

  std::vector<std::string> Column(const std::string& text) {
    std::vector<std::string> values;
    for (const ResultRow& row : Must(text).rows) values.push_back(row[0].value_or("null"));
    return values;
  }
  void Advance(uint64_t seconds) {
    ASSERT_EQ(clock_.Advance(seconds * kSecond), ServerClock::Change::kDone);
  }

  ServerClock clock_{kStart};
};

TEST_F(FunctionsOverCqlTest, NowAndWriteTimeCarryTheMovedTime) {
  const std::string insert = "INSERT INTO k.t (p, c, v) VALUES (1, now(), 7) USING TTL 2592000";
  Must(insert);
  EXPECT_EQ(MillisecondsOfTimeuuid(Cell("SELECT c FROM k.t")), 1'700'000'000'000);
  EXPECT_EQ(Cell("SELECT TTL(v) FROM k.t"), cql::EncodeInt(2592000));
  Advance(2592000);
  EXPECT_TRUE(Must("SELECT * FROM k.t").rows.empty());
  Must(insert);
  EXPECT_EQ(MillisecondsOfTimeuuid(Cell("SELECT c FROM k.t")), 1'702'592'000'000);
  EXPECT_EQ(Bigint(Cell("SELECT WRITETIME(v) FROM k.t")), 1'702'592'000'000'000);
  EXPECT_EQ(Cell("SELECT v FROM k.t WHERE p = 1 AND c >= minTimeuuid(currentTimestamp()) AND c <= "
                 "maxTimeuuid(1702592000000)"),
            cql::EncodeInt(7));
  EXPECT_TRUE(Must("SELECT v FROM k.t WHERE p = 1 AND c > now()").rows.empty());
  EXPECT_EQ(Cell("SELECT v FROM k.t WHERE p = 1 AND c < now()"), cql::EncodeInt(7));
}

TEST_F(FunctionsOverCqlTest, EachExecutionMakesANewOneInOrder) {
  for (int i = 0; i < 20; ++i) {
    Must({"INSERT INTO k.t (p, c, v, u) VALUES (?, now(), ?, uuid())",
          {{cql::EncodeInt(1)}, {cql::EncodeInt(i)}},
          /*prepared=*/true});
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(cql::EncodeInt(i));
  EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1"), expected) << "though the clock stands";
  const std::vector<std::string> random = Column("SELECT u FROM k.t WHERE p = 1");
  EXPECT_EQ(std::set<std::string>(random.begin(), random.end()).size(), 20u);
}

TEST_F(FunctionsOverCqlTest, EachRowOfAnUpdateHasItsOwn) {
  Must({"UPDATE k.n SET u = now(), b = intAsBlob(?) WHERE p IN (1, 2) AND c IN (1, 2, 3)",
        {{cql::EncodeInt(5)}}});
  const std::vector<std::string> uuids = Column("SELECT u FROM k.n");
  EXPECT_EQ(uuids.size(), 6u);
  EXPECT_EQ(std::set<std::string>(uuids.begin(), uuids.end()).size(), 6u);
  EXPECT_EQ(Column("SELECT b FROM k.n"), std::vector<std::string>(6, cql::EncodeInt(5)));
}

TEST_F(FunctionsOverCqlTest, BatchesComputeForEachStatement) {
  Must(
      "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, now(), 1); INSERT INTO k.t (p, c, v) "
      "VALUES (1, now(), 2); UPDATE k.n SET u = now() WHERE p = 1 AND c IN (1, 2) APPLY BATCH");
  const CqlAnswer answer = session_->RunBatch(
      true,
      {{"INSERT INTO k.t (p, c, v) VALUES (?, now(), ?)",
        {{cql::EncodeInt(1)}, {cql::EncodeInt(3)}},
        true},
       {"INSERT INTO k.t (p, c, v) VALUES (?, now(), ?)",
        {{cql::EncodeInt(1)}, {cql::EncodeInt(4)}},
        true},
       {"INSERT INTO k.t (p, c, v) VALUES (1, now(), blobAsInt(0x00000005))", {}}},
      std::nullopt);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1"),
            (std::vector<std::string>{cql::EncodeInt(1), cql::EncodeInt(2), cql::EncodeInt(3),
                                      cql::EncodeInt(4), cql::EncodeInt(5)}));
  EXPECT_NE(Cell("SELECT u FROM k.n WHERE p = 1 AND c = 1"),
            Cell("SELECT u FROM k.n WHERE p = 1 AND c = 2"));
}

TEST_F(FunctionsOverCqlTest, AWrongArgumentAppliesNothing) {
  EXPECT_EQ(Refusal({"UPDATE k.n SET b = 0x01, u = blobAsTimeuuid(?) WHERE p = 1 AND c IN (1, 2)",
                     {{std::string("xy")}}}),
            "In call to function blobastimeuuid, value 0x7879 is not a valid binary representation "
            "for type timeuuid");
  EXPECT_EQ(
      session_
          ->RunBatch(
              true,
              {{"UPDATE k.n SET b = 0x01 WHERE p = 1 AND c = 1", {}},
               {"UPDATE k.n SET b = intAsBlob(?) WHERE p = 1 AND c = 2", {{std::string("xy")}}}},
              std::nullopt)
          .error,
      "Exception while binding column \"arg0(system.intasblob)\": marshaling error: Validation "
      "failed for type org.apache.cassandra.db.marshal.Int32Type: got 2 bytes");
  EXPECT_EQ(Refusal({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{std::nullopt}}}),
            "Invalid null value in condition for column p");
  EXPECT_TRUE(Must("SELECT * FROM k.n").rows.empty());
}

TEST_F(FunctionsOverCqlTest, TokensOfValuesBoundAScan) {
  for (int p = 0; p < 10; ++p) Must("INSERT INTO k.n (p, c) VALUES (" + std::to_string(p) + ", 1)");
  const std::vector<std::string> all = Column("SELECT p FROM k.n");
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(Column("SELECT p FROM k.n WHERE token(p) > token(" +
                   std::to_string(LoadBigEndian32(all[3].data())) + ")"),
            std::vector<std::string>(all.begin() + 4, all.end()));
  const CqlAnswer answer = Must({"SELECT p FROM k.n WHERE token(p) <= token(?)", {{all[3]}}, true});
  EXPECT_EQ(answer.rows.size(), 4u);
}

TEST_F(FunctionsOverCqlTest, PagesGoOnThoughTheTimeHasMoved) {
  for (int i = 0; i < 5; ++i) Must("INSERT INTO k.t (p, c, v) VALUES (1, now(), 1)");
  Advance(1);
  const CqlStatement select{
      "SELECT v FROM k.t WHERE p = ? AND c < now()", {{cql::EncodeInt(1)}}, true};
  CqlParameters parameters{.page_size = 2, .paging_state = "", .default_timestamp = {}};
  size_t rows = 0;
  for (int page = 0; page < 3; ++page) {
    const CqlAnswer answer = Must(select, parameters);
    rows += answer.rows.size();
    parameters.paging_state = answer.paging_state;
    Advance(1);
  }
  EXPECT_EQ(rows, 5u);
  EXPECT_EQ(parameters.paging_state, "");
}

TEST_F(FunctionsOverCqlTest, VirtualTablesTakeThemToo) {
  Must(
      "UPDATE liststore.clock SET now = toTimestamp('2030-01-01') WHERE key = "
      "blobAsText(textAsBlob('clock'))");
  EXPECT_EQ(clock_.NowNanos(), 1'893'456'000 * kSecond);
}

TEST_F(FunctionsOverCqlTest, AResetTakesTheTimeBackAndKeepsThemUnique) {
  Must("INSERT INTO k.t (p, c, v) VALUES (1, now(), 0)");
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  for (int round = 0; round < 3; ++round) {
    Must("INSERT INTO k.t (p, c, v) VALUES (1, now(), 1)");
    EXPECT_EQ(Column("SELECT v FROM k.t WHERE p = 1").size(), 2u) << "not the one of the mark";
    Advance(3600);
    Must("INSERT INTO k.t (p, c, v) VALUES (1, now(), 2)");
    Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  }
}

TEST_F(FunctionsOverCqlTest, TheJournalAndFaultsKnowTheKeyWhereItFollows) {
  Must(
      "INSERT INTO liststore.faults (name, op, key, action) VALUES ('f', 'INSERT', '5', "
      "'overloaded')");
  EXPECT_NE(
      Refusal({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{cql::EncodeInt(5)}}, true}),
      "");
  EXPECT_EQ(
      Refusal({"INSERT INTO k.n (p, c) VALUES (blobAsInt(?), 1)", {{cql::EncodeInt(6)}}, true}),
      "");
  EXPECT_EQ(Column("SELECT key FROM liststore.requests WHERE tbl = 'k.n' AND op = 'INSERT' ALLOW "
                   "FILTERING"),
            (std::vector<std::string>{"5", "6"}));
  Must("CREATE TABLE k.m (p timeuuid PRIMARY KEY, v int)");
  Must("INSERT INTO k.m (p, v) VALUES (now(), 1)");
  EXPECT_EQ(Column("SELECT key FROM liststore.requests WHERE tbl = 'k.m' AND op = 'INSERT' ALLOW "
                   "FILTERING"),
            (std::vector<std::string>{"null"}));
}

}  // namespace functions_over_cql_test
}  // namespace liststore::testing
