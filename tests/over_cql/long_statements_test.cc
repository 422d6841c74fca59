// Statements that take longer than a loop works at one: they are done elsewhere, the loop goes on,
// and what takes longer than it may times out.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace long_statements_test {

constexpr uint8_t kError = 0x00, kQuery = 0x07, kResult = 0x08;
constexpr int32_t kWriteTimeout = 0x1100, kReadTimeout = 0x1200, kInvalid = 0x2200;

// More rows than a loop looks at for one statement (kLoopUnitsMax).
constexpr int kPartitions = 40;
constexpr int kRowsOfPartition = 1000;

class LongStatements : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.shards = 1;
    options.journal_entries = 1000;
    StartServer(options, "k");
    Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
    Must("CREATE TABLE k.log (p int, c int, v int, PRIMARY KEY (p, c))");
    // Prepared: as texts they would take longer to parse than all that the tests are about.
    for (int p = 0; p < kPartitions; ++p) {
      std::vector<CqlStatement> rows;
      for (int c = 0; c < kRowsOfPartition; ++c) {
        rows.push_back({"INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)",
                        {{cql::EncodeInt(p)}, {cql::EncodeInt(c)}, {cql::EncodeInt(c % 10)}},
                        true});
      }
      ASSERT_EQ(session_->RunBatch(false, rows, std::nullopt).error, "");
    }
    before_ = CountOf("statements_long");
  }
  int64_t CountOf(const std::string& counter) {
    return cql::DecodeInteger(
        Cell("SELECT value FROM liststore.counters WHERE name = '" + counter + "'"));
  }
  // Statements that were done elsewhere since the rows were there.
  int64_t long_statements() { return CountOf("statements_long") - before_; }
  CqlAnswer Ask(const std::string& text) { return session_->Run({text, {}}); }
  int64_t Number(const std::string& select) { return cql::DecodeInteger(Cell(select)); }
  void Set(const std::string& name, const std::string& value) {
    Must("UPDATE system.config SET value = '" + value + "' WHERE name = '" + name + "'");
  }
  static RawFrame Query(int16_t stream, const std::string& text) {
    return {.stream = stream, .opcode = kQuery, .body = QueryBody(text)};
  }

  static constexpr const char* kScan = "SELECT max(toJson(v)) FROM k.t";
  static constexpr const char* kShort = "SELECT v FROM k.t WHERE p = 1 AND c = 1";

 private:
  int64_t before_ = 0;
};

TEST_F(LongStatements, AreAnsweredAsOthers) {
  EXPECT_EQ(Cell(kScan), "9");
  EXPECT_EQ(Number("SELECT count(*) FROM k.t WHERE v = 3 ALLOW FILTERING"), 4000);
  EXPECT_EQ(Number("SELECT sum(c) FROM k.t"), 40 * 999 * 500);
  EXPECT_EQ(Must("SELECT * FROM k.t").rows.size(), 40'000u);
  EXPECT_EQ(long_statements(), 4);
  EXPECT_EQ(Number("SELECT v FROM k.t WHERE p = 7 AND c = 13"), 3);
  EXPECT_EQ(long_statements(), 4) << "a short one stays on its loop";
}

TEST_F(LongStatements, OfTheRowsOfIndexes) {
  Must("CREATE INDEX by_v ON k.t (v)");
  const int64_t before = long_statements();
  EXPECT_EQ(Number("SELECT count(*) FROM k.by_v_index"), 40'000);
  EXPECT_EQ(long_statements(), before + 1);
  EXPECT_EQ(Number("SELECT count(*) FROM k.t WHERE v = 5"), 4000);
}

TEST_F(LongStatements, OverDeadRows) {
  for (const char* const timeout : {"write_request_timeout_in_ms", "read_request_timeout_in_ms"}) {
    Set(timeout, "600000");  // however slow the machine is
  }
  Must("CREATE TABLE k.dead (p int, c int, v int, w int, PRIMARY KEY (p, c))");
  std::string puts = "BEGIN UNLOGGED BATCH ", deletes = puts;
  for (int c = 0; c < 10'000; ++c) {
    const std::string row = "(1, " + std::to_string(c) + ", 1, 1)";
    puts += "INSERT INTO k.dead (p, c, v, w) VALUES " + row + " ";
    if (c == 5'000) continue;
    deletes += "DELETE FROM k.dead WHERE p = 1 AND c = " + std::to_string(c) + " ";
  }
  Must(puts + "APPLY BATCH");
  Must(deletes + "APPLY BATCH");
  EXPECT_EQ(Number("SELECT c FROM k.dead WHERE p = 1"), 5'000);
  EXPECT_EQ(Number("SELECT c FROM k.dead WHERE p = 1 ORDER BY c DESC"), 5'000);
  EXPECT_EQ(Number("SELECT c FROM k.dead WHERE p = 1 AND w = 1 ALLOW FILTERING"), 5'000);
  EXPECT_EQ(Number("SELECT count(*) FROM k.dead WHERE p = 1"), 1);
}

// One row, of which functions make much: not while its lane is held, and not on the loop.
TEST_F(LongStatements, OfFunctionsOfLongNumbers) {
  Set("read_request_timeout_in_ms", "600000");  // however slow the machine is
  Must("CREATE TABLE k.long (p int, c int, n varint, s text STATIC, PRIMARY KEY (p, c))");
  const std::string digits(30'000, '7');
  Must("INSERT INTO k.long (p, c, n, s) VALUES (1, 1, " + digits + ", 's')");
  Must("INSERT INTO k.long (p, c, n) VALUES (1, 2, 2)");
  std::string select = "SELECT c, s, CAST(n AS text)";
  for (int i = 1; i < 5; ++i) select += ", CAST(n AS text)";
  const int64_t before = long_statements();
  for (const std::string order : {"ASC", "DESC"}) {
    const auto rows = Must(select + " FROM k.long WHERE p = 1 ORDER BY c " + order).rows;
    ASSERT_EQ(rows.size(), 2u);
    const ResultRow& row = rows[order == "ASC" ? 0 : 1];
    ASSERT_EQ(row.size(), 7u);
    EXPECT_EQ(row[0], cql::EncodeInt(1));
    EXPECT_EQ(row[1], "s");
    for (size_t i = 2; i < row.size(); ++i) ASSERT_EQ(row[i], digits);
    EXPECT_EQ(rows[order == "ASC" ? 1 : 0][2], "2");
  }
  EXPECT_EQ(Must(select + " FROM k.long WHERE p = 1 LIMIT 1").rows.size(), 1u);
  EXPECT_EQ(long_statements(), before + 3);
  EXPECT_EQ(Cell("SELECT CAST(n AS text) FROM k.long WHERE p = 1 AND c = 1"), digits);
  EXPECT_EQ(long_statements(), before + 4);
  EXPECT_EQ(Cell("SELECT CAST(n AS text) FROM k.long WHERE p = 1 AND c = 2"), "2");
  EXPECT_EQ(long_statements(), before + 4) << "this one is short";
}

TEST_F(LongStatements, ReadsAreOvertaken) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query(1, kScan).Bytes() + Query(2, kShort).Bytes()));
  const auto first = client.Read();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stream, 2) << "it was there when the other was given away";
  EXPECT_EQ(first->opcode, kResult);
  const auto second = client.Read();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->stream, 1);
  EXPECT_EQ(OneColumnOf(*second), std::vector<std::string>{"9"});
}

TEST_F(LongStatements, ChangesOfTheSchemaAreNot) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  int16_t stream = 0;
  // The read is the last of its kind: those behind it need not wait for it.
  for (const std::vector<const char*>& texts : std::vector<std::vector<const char*>>{
           {"CREATE TABLE k.n (p int PRIMARY KEY, v int)", "INSERT INTO k.n (p, v) VALUES (1, 1)",
            "ALTER TABLE k.n ADD w text", "INSERT INTO k.n (p, w) VALUES (2, 'x')",
            "SELECT w FROM k.n"},
           {"DROP TABLE k.n", "USE k", "SELECT v FROM log"}}) {
    std::string frames;
    const int16_t first = stream + 1;
    for (const char* text : texts) frames += Query(++stream, text).Bytes();
    ASSERT_TRUE(client.Send(frames));
    for (int16_t i = first; i <= stream; ++i) {
      const auto answer = client.Read();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->stream, i);
      EXPECT_EQ(answer->opcode, kResult) << i << ErrorMessageOf(*answer);
    }
  }
}

// A batch that takes long to bind is one that those behind it wait for.
TEST_F(LongStatements, WritesAreNotOvertaken) {
  std::string batch = "BEGIN UNLOGGED BATCH ";
  for (int i = 0; i < 5'000; ++i) {
    batch += "INSERT INTO k.log (p, c, v) VALUES (1, " + std::to_string(i) + ", 7) ";
  }
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(
      client.Send(Query(1, batch + "APPLY BATCH").Bytes() +
                  Query(2, "SELECT toJson(v) FROM k.log WHERE p = 1 AND c = 4999").Bytes()));
  EXPECT_EQ(client.Read()->stream, 1);
  EXPECT_EQ(OneColumnOf(*client.Read()), std::vector<std::string>{"7"});
  EXPECT_EQ(long_statements(), 1);
}

// Sources: ScyllaDB exceptions/exceptions.cc, read_write_timeout_exception; transport/server.cc,
// make_read_timeout_error, make_mutation_write_timeout_error.
TEST_F(LongStatements, TimeOut) {
  const char* const text = "Operation timed out for k.t - received only 0 responses from 1 CL=ONE.";
  for (const bool prepared : {false, true}) {
    const CqlAnswer answer =
        session_->Run({std::string(kScan) + " USING TIMEOUT 1ms", {}, prepared});
    EXPECT_EQ(answer.code, kReadTimeout);
    EXPECT_EQ(answer.error, text);
  }
  EXPECT_EQ(Ask("SELECT max(toJson(v)) FROM k.t WHERE p IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
                "12, 13, 14, 15, 16, 17, 18, 19, 20) USING TIMEOUT 1ms")
                .code,
            kReadTimeout);
  EXPECT_EQ(Cell(std::string(kScan) + " USING TIMEOUT 1m"), "9");
  EXPECT_EQ(Ask(std::string(kScan) + " USING TIMEOUT 1us").code, kInvalid);
  EXPECT_EQ(Number(std::string(kShort) + " USING TIMEOUT 1ms"), 1) << "it is done by then";
  // What the answer has beside its text: level ONE, 0 of 1 answers, no data.
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto answer = client.Query(std::string(kScan) + " USING TIMEOUT 1ms");
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->opcode, kError);
  EXPECT_EQ(answer->body.substr(answer->body.size() - 11),
            std::string("\0\1\0\0\0\0\0\0\0\1\0", 11));
}

TEST_F(LongStatements, TimeOutBySettings) {
  Set("read_request_timeout_in_ms", "1");
  EXPECT_EQ(Cell(kScan), "9") << "it is a range";
  Set("range_request_timeout_in_ms", "1");
  EXPECT_EQ(Ask(kScan).code, kReadTimeout);
  EXPECT_EQ(session_->Run({kScan, {}, true}).code, kReadTimeout);
  EXPECT_EQ(Number(kShort), 1);
  EXPECT_EQ(Cell(std::string(kScan) + " USING TIMEOUT 1m"), "9") << "a timeout of its own";
  Set("range_request_timeout_in_ms", "60000");
  EXPECT_EQ(Cell(kScan), "9");
}

TEST_F(LongStatements, WritesTimeOutAsAWhole) {
  std::string writes;
  for (int i = 0; i < 10'000; ++i) {
    writes += "INSERT INTO k.log (p, c, v) VALUES (1, " + std::to_string(i) + ", 1) ";
  }
  const CqlAnswer late = Ask("BEGIN UNLOGGED BATCH USING TIMEOUT 1ms " + writes + "APPLY BATCH");
  EXPECT_EQ(late.code, kWriteTimeout);
  EXPECT_EQ(late.error, "Operation timed out for k.log - received only 0 responses from 1 CL=ONE.");
  EXPECT_EQ(Number("SELECT count(*) FROM k.log"), 0);
  Set("write_request_timeout_in_ms", "1");
  EXPECT_EQ(Ask("BEGIN UNLOGGED BATCH " + writes + "APPLY BATCH").code, kWriteTimeout);
  EXPECT_EQ(Number("SELECT count(*) FROM k.log"), 0);
  Must("INSERT INTO k.log (p, c, v) VALUES (1, 1, 1)");
  Must("BEGIN UNLOGGED BATCH USING TIMEOUT 1m " + writes + "APPLY BATCH");
  EXPECT_EQ(Number("SELECT count(*) FROM k.log"), 10'000);
}

// It is the machine's time that counts.
TEST_F(LongStatements, DoNotTimeOutWhenTheClockIsMoved) {
  ManualClock clock(1'700'000'000'000'000'000);
  CqlServerOptions options;
  options.manual_clock = &clock;
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
  Must("INSERT INTO k.t (p, c, v) VALUES (1, 1, 1)");
  clock.AdvanceNanos(uint64_t{3600} * 1'000'000'000);
  EXPECT_EQ(Cell(kScan), "1");
  StopServer();
}

TEST_F(LongStatements, MeetAFaultOnce) {
  const std::string arm =
      "INSERT INTO liststore.faults (name, op, tbl, times, action, applies) "
      "VALUES ('f', 'SELECT', 'k.t', 2, ";
  Must(arm + "'delay 1ms', false)");
  EXPECT_EQ(Cell(kScan), "9");
  EXPECT_EQ(Number("SELECT hits FROM liststore.faults WHERE name = 'f'"), 1);
  EXPECT_EQ(Cell(kScan), "9");
  EXPECT_EQ(Number("SELECT hits FROM liststore.faults WHERE name = 'f'"), 2);
  Must(arm + "'read_timeout', true)");
  EXPECT_EQ(Ask(kScan).code, kReadTimeout);
  EXPECT_EQ(Ask(kScan).code, kReadTimeout);
  EXPECT_EQ(Cell(kScan), "9");
}

TEST_F(LongStatements, AreWrittenDownOnce) {
  Must("TRUNCATE liststore.requests");
  EXPECT_EQ(Cell(kScan), "9");
  const CqlAnswer written = Must("SELECT statement, outcome FROM liststore.requests");
  ASSERT_EQ(written.rows.size(), 1u);
  EXPECT_EQ(written.rows[0][0], kScan);
  EXPECT_EQ(written.rows[0][1], "ok");
}

TEST_F(LongStatements, EndWithTheirClientAndTheServer) {
  for (int i = 0; i < 8; ++i) {
    RawCqlClient client(server_->cql_port());
    ASSERT_TRUE(client.StartUp());
    std::string frames;
    for (int16_t stream = 0; stream < 16; ++stream) frames += Query(stream, kScan).Bytes();
    ASSERT_TRUE(client.Send(frames));
    if (i % 2 == 1) continue;
    EXPECT_TRUE(client.Read());
  }
  EXPECT_EQ(Cell(kScan), "9");
  // What is still at work is told so.
  const int64_t before = CountOf("statements_long");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  std::string frames;
  for (int16_t stream = 0; stream < 16; ++stream) frames += Query(stream, kScan).Bytes();
  ASSERT_TRUE(client.Send(frames));
  while (CountOf("statements_long") == before) {
  }
  server_->Stop();
  int answers = 0;
  while (const auto answer = client.Read()) {
    ++answers;
    if (answer->opcode != kError) continue;
    EXPECT_EQ(ErrorCodeOf(*answer), 0x1001);
  }
  EXPECT_LE(answers, 16);
  session_.reset();
}

TEST_F(LongStatements, AreCompressedForThoseWhoCompress) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", "lz4"}}));
  ASSERT_TRUE(client.Send(Query(3, "SELECT toJson(v) FROM k.t")));
  const auto answer = client.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult);
  EXPECT_EQ(answer->flags & 1, 1) << "compressed";
  EXPECT_LT(answer->body.size(), 40'000u);
}

}  // namespace long_statements_test
}  // namespace liststore::testing
