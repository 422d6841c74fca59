// Statements about very many rows: others are answered between their slices. What is judged is how often,
// not how long anything took: a server whose loop, or whose lanes, one statement has to itself answers
// nobody before that is done.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace hostile_slices_test {

class Slices : public HostileTest {
 protected:
  static constexpr int kRows = 100'000;
  static constexpr int kRowsPerBatch = 2'000;

  void Start(uint32_t shards) {
    CqlServerOptions options;
    options.shards = shards;
    // However slow the machine is.
    options.scylla_options = {{"range_request_timeout_in_ms", "600000"},
                              {"read_request_timeout_in_ms", "600000"},
                              {"write_request_timeout_in_ms", "600000"}};
    StartServer(options, "k");
    client_ = std::make_unique<RawCqlClient>(server_->cql_port());
    other_ = std::make_unique<RawCqlClient>(server_->cql_port());
    for (RawCqlClient* const client : {client_.get(), other_.get()}) {
      client->SetTimeout(600);
      ASSERT_TRUE(client->StartUp());
    }
  }
  // Rows 0 to `rows` of partition 1.
  void Fill(const std::string& table, int rows = kRows) {
    Must("CREATE TABLE IF NOT EXISTS k." + table + " (p int, c int, v int, PRIMARY KEY (p, c))");
    for (int first = 0; first < rows; first += kRowsPerBatch) {
      std::string batch = "BEGIN UNLOGGED BATCH ";
      for (int c = first; c < first + kRowsPerBatch; ++c) {
        batch += "INSERT INTO k." + table + " (p, c, v) VALUES (1, " + std::to_string(c) + ", " +
                 std::to_string(c % 100) + ") ";
      }
      Must(batch + "APPLY BATCH");
    }
  }
  void ExpectOthersAnswered(const std::string& text, int times) {
    EXPECT_GE(AnswersDuring(*client_, *other_, text), times) << text;
  }
  int64_t Count(const std::string& table) {
    return cql::DecodeInteger(Cell("SELECT count(*) FROM k." + table));
  }

  std::unique_ptr<RawCqlClient> client_;
  std::unique_ptr<RawCqlClient> other_;
};

const std::string kSetAction = "UPDATE liststore.data SET action = ";
const std::string kOfData = " WHERE key = 'data'";

// Its loop has others to serve, whatever the mark waits for.
TEST_F(Slices, OfAMarkThatWaitsForAChangeOfTheSchema) {
  Start(1);
  Fill("t");
  RawCqlClient alters(server_->cql_port());
  alters.SetTimeout(600);
  ASSERT_TRUE(alters.StartUp());
  // Where the mark comes first, or when the change is done, there is nothing to wait for: then once more.
  int answers = 0;
  for (int i = 0; i < 100 && answers < 5; ++i) {
    const std::string alter = "ALTER TABLE k.t ADD a" + std::to_string(i) + " int";
    ASSERT_TRUE(alters.Send(Query(alter, 1).Bytes()));
    answers = AnswersDuring(*client_, *other_, kSetAction + "'mark'" + kOfData);
    const auto altered = alters.Read();
    ASSERT_TRUE(altered);
    EXPECT_EQ(altered->opcode, kResult);
  }
  EXPECT_GE(answers, 5);
  RawCqlClient reads(server_->cql_port());
  reads.SetTimeout(600);
  ASSERT_TRUE(reads.StartUp());
  Must("DELETE FROM k.t WHERE p = 1 AND c = 5");
  ASSERT_TRUE(reads.Send(Query(kSetAction + "'reset'" + kOfData, 1).Bytes()));
  ExpectAnswers(*other_, 5);
  Must("SELECT rows FROM liststore.data");
  ASSERT_TRUE(reads.Read());
}

TEST_F(Slices, OfReadsOfOnePartition) {
  Start(1);
  Fill("t");
  for (const char* const select :
       {"SELECT count(*) FROM k.t WHERE p = 1 AND v = 7 ALLOW FILTERING",
        "SELECT max(v), min(v), avg(v) FROM k.t WHERE p = 1",
        "SELECT * FROM k.t WHERE p = 1 AND v = 100 ALLOW FILTERING",
        "SELECT c, count(v) FROM k.t WHERE p = 1 GROUP BY p, c", "SELECT * FROM k.t WHERE p = 1"}) {
    ExpectOthersAnswered(select, 3);
  }
}

// A value that is selected often, and elements that are not selected at all.
TEST_F(Slices, OfRowsOfWhichMuchIsMade) {
  Start(1);
  Fill("t", kRowsPerBatch);
  Must("CREATE TABLE k.wide (p int PRIMARY KEY, v text)");
  Must("INSERT INTO k.wide (p, v) VALUES (1, '" + std::string(size_t{1} << 20, 'v') + "')");
  std::string often = "SELECT v";
  for (int i = 1; i < 60; ++i) often += ", v";
  ExpectOthersAnswered(often + " FROM k.wide WHERE p = 1", 3);
  Must("CREATE TABLE k.heavy (p int, c int, m map<int, text>, PRIMARY KEY (p, c))");
  std::string elements;
  for (int i = 0; i < 5'000; ++i) elements += (i == 0 ? "" : ", ") + std::to_string(i) + ": 'v'";
  for (int c = 0; c < 20; ++c) {
    Must("INSERT INTO k.heavy (p, c, m) VALUES (1, " + std::to_string(c) + ", {" + elements + "})");
  }
  ExpectOthersAnswered("SELECT c FROM k.heavy WHERE p = 1", 2);
  ExpectOthersAnswered("SELECT * FROM k.heavy WHERE p = 1", 2);
  EXPECT_EQ(
      cql::DecodeInteger(Cell("SELECT count(*) FROM k.heavy WHERE p = 1 AND m CONTAINS KEY 77 "
                              "ALLOW FILTERING")),
      20);
}

// One that a filter leaves out takes none of those behind it along.
TEST_F(Slices, WhatIsWideAndLeftOutEndsNoRead) {
  constexpr int kWideRows = 10;
  Start(1);
  Must("CREATE TABLE k.wide (p int, c int, v text, w int, s text STATIC, PRIMARY KEY (p, c))");
  for (int c = 0; c < kWideRows; ++c) {
    Must("INSERT INTO k.wide (p, c, v, w) VALUES (1, " + std::to_string(c) + ", '" +
         std::string(300'000, 'v') + "', " + std::to_string(c == 0 || c == 5 ? 0 : 1) + ")");
  }
  const CqlAnswer answer = Must("SELECT c, v, v FROM k.wide WHERE p = 1 AND w = 1 ALLOW FILTERING");
  EXPECT_EQ(answer.rows.size(), size_t{kWideRows} - 2);
  Must("INSERT INTO k.wide (p, s) VALUES (2, '" + std::string(size_t{1} << 20, 's') + "')");
  std::string often = "SELECT s";
  for (int i = 1; i < 20; ++i) often += ", s";
  const CqlAnswer of_static = Must(often + " FROM k.wide WHERE p = 2");
  ASSERT_EQ(of_static.rows.size(), 1u);
  EXPECT_EQ(of_static.rows[0][19]->size(), size_t{1} << 20);
}

// With a fault armed, whomever it is meant for, requests are handed on one by one.
TEST_F(Slices, OfManyRequestsAtOnceBesideAFault) {
  constexpr int16_t kRequests = 60;
  Start(1);
  Fill("t", kRowsPerBatch);
  Must("INSERT INTO liststore.faults (name, tbl, action) VALUES ('f', 'k.other', 'delay 1s')");
  std::string requests;
  for (int16_t stream = 1; stream <= kRequests; ++stream) {
    requests +=
        Query("SELECT max(v), min(v), avg(v) FROM k.t WHERE p = 1 AND c < 1000", stream).Bytes();
  }
  ASSERT_TRUE(client_->Send(requests));
  int of_others = 0;
  for (int answered = 0; answered < kRequests;) {
    ExpectAnswers(*other_, 1);
    ++of_others;
    while (client_->HasAnswer() && answered < kRequests) {
      const auto answer = client_->Read();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->opcode, kResult);
      ++answered;
    }
  }
  EXPECT_GE(of_others, 4);
}

TEST_F(Slices, OfADeletionOfRowsThatAViewHas) {
  constexpr int kFew = 10'000;
  Start(1);
  Fill("t", kFew);
  Must(
      "CREATE MATERIALIZED VIEW k.by_v AS SELECT * FROM k.t WHERE v IS NOT NULL AND p IS NOT NULL "
      "AND c IS NOT NULL PRIMARY KEY (v, p, c)");
  EXPECT_EQ(Count("by_v"), kFew);
  ExpectOthersAnswered("DELETE FROM k.t WHERE p = 1 AND c >= 1000 AND c < 9000", 20);
  EXPECT_EQ(Count("t"), 2000);
  EXPECT_EQ(Count("by_v"), 2000);
  ExpectOthersAnswered(
      "BEGIN BATCH DELETE FROM k.t WHERE p = 1 INSERT INTO k.t (p, c, v) VALUES (2, 1, 1) APPLY "
      "BATCH",
      2);
  EXPECT_EQ(Count("t"), 1);
  EXPECT_EQ(Count("by_v"), 1);
  // Under timestamps of clients, where it leaves a tombstone.
  Fill("t", kFew);
  using std::chrono::hours, std::chrono::microseconds;
  const auto late = std::chrono::system_clock::now().time_since_epoch() + hours(1);
  const int64_t micros = std::chrono::duration_cast<microseconds>(late).count();
  ExpectOthersAnswered(
      "DELETE FROM k.t USING TIMESTAMP " + std::to_string(micros) + " WHERE p = 1 AND c > 10", 20);
  Must("INSERT INTO k.t (p, c, v) VALUES (1, 5000, 1)");
  EXPECT_EQ(Count("t"), 12);
  EXPECT_EQ(Count("by_v"), 12);
  // Of a whole partition, of which all is younger, and a part.
  Must("TRUNCATE k.t");
  Fill("t", kFew);
  ExpectOthersAnswered("DELETE FROM k.t USING TIMESTAMP 1 WHERE p = 1", 20);
  EXPECT_EQ(Count("t"), kFew);
  EXPECT_EQ(Count("by_v"), kFew);
  Must("UPDATE k.t USING TIMESTAMP " + std::to_string(micros + 1) +
       " SET v = 7 WHERE p = 1 AND c = 4000");
  ExpectOthersAnswered("DELETE FROM k.t USING TIMESTAMP " + std::to_string(micros) + " WHERE p = 1",
                       20);
  EXPECT_EQ(Count("t"), 1);
  EXPECT_EQ(Count("by_v"), 1);
}

// What is kept of a column that goes is as large as the column.
TEST_F(Slices, OfAColumnWhoseCellsAreKeptWithinTheLimit) {
  Start(1);
  Must("CREATE TABLE k.wide (p int, c int, v text, PRIMARY KEY (p, c))");
  const std::string text(16 << 10, 'x');
  // More than half of the limit of 64 MiB: the copy has no such column, and fits.
  for (int c = 0; c < 2'300; ++c) {
    Must("INSERT INTO k.wide (p, c, v) VALUES (1, " + std::to_string(c) + ", '" + text + "')");
  }
  const std::string refusal = Refusal("ALTER TABLE k.wide DROP v USING TIMESTAMP 1");
  EXPECT_NE(refusal.find("memory"), std::string::npos) << refusal;
  EXPECT_EQ(Must("SELECT v FROM k.wide WHERE p = 1 AND c = 7").rows.size(), 1u);
  Must("DELETE FROM k.wide WHERE p = 1 AND c > 100");
  Must("ALTER TABLE k.wide DROP v USING TIMESTAMP 1");
  Must("ALTER TABLE k.wide ADD v text");
  EXPECT_EQ(Cell("SELECT count(v) FROM k.wide WHERE p = 1").size(), 8u);
  EXPECT_EQ(Cell("SELECT v FROM k.wide WHERE p = 1 AND c = 7"), text);
}

}  // namespace hostile_slices_test
}  // namespace liststore::testing
