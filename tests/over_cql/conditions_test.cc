// Writes with IF over the wire: what is asked of rows, what is answered, and what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/protocol/primitives.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace conditions_test {

constexpr uint8_t kResult = 0x08, kPrepare = 0x09, kQuery = 0x07;
constexpr uint8_t kOne = 1, kSerial = 8, kLocalSerial = 9;
constexpr uint8_t kSerialConsistencyFlag = 0x10;

class Conditions : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    client_ = std::make_unique<RawCqlClient>(server_->cql_port());
    ASSERT_TRUE(client_->StartUp({{"CQL_VERSION", "3.0.0"}, {"SCYLLA_LWT_ADD_METADATA_MARK", ""}}));
    // `t` of rows in partitions, `s` of one row each.
    Say("CREATE TABLE t (p int, c int, s text, v int, PRIMARY KEY (p, c))");
    Say("CREATE TABLE s (p int PRIMARY KEY, v int)");
  }

  std::string Batch(const std::vector<CqlStatement>& statements) {
    clock_.AdvanceNanos(1'000'000);
    return ToText(session_->RunBatch(true, statements, std::nullopt));
  }
  // A QUERY with consistencies of its own; the error, or nothing.
  std::string Ask(const std::string& text, uint8_t consistency, int serial_consistency = -1) {
    std::string body = BytesBody(text);
    body += std::string{'\0', static_cast<char>(consistency)};
    body += serial_consistency < 0 ? '\0' : static_cast<char>(kSerialConsistencyFlag);
    if (serial_consistency >= 0) body += std::string{'\0', static_cast<char>(serial_consistency)};
    const auto frame = client_->Ask({.stream = 1, .opcode = kQuery, .body = body});
    EXPECT_TRUE(frame);
    return frame->opcode == kResult ? "" : ErrorMessageOf(*frame);
  }

  std::unique_ptr<RawCqlClient> client_;
};

struct Step {
  std::string statement;
  std::string answer;
};

TEST_F(Conditions, AnswerWithTheRowAsItWasAndWriteOnlyWhenTheyHold) {
  const Step steps[] = {
      // No row yet: everything but [applied] is null, the key too.
      {"UPDATE t SET v = 1 WHERE p = 1 AND c = 1 IF EXISTS", "false null null null null"},
      {"DELETE FROM t WHERE p = 1 AND c = 1 IF EXISTS", "false null null null null"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND c = 1 IF v = 0", "false null"},
      {"SELECT * FROM t", ""},
      {"INSERT INTO t (p, c, v) VALUES (1, 1, 10) IF NOT EXISTS", "true null null null null"},
      {"INSERT INTO t (p, c, v) VALUES (1, 1, 11) IF NOT EXISTS", "false 1 1 null 10"},
      {"SELECT v FROM t", "10"},
      // The row before, though it was changed.
      {"UPDATE t SET v = 12 WHERE p = 1 AND c = 1 IF EXISTS", "true 1 1 null 10"},
      {"UPDATE t SET v = 13 WHERE p = 1 AND c = 1 IF v = 12", "true 12"},
      {"UPDATE t SET v = 14 WHERE p = 1 AND c = 1 IF v = 12", "false 13"},
      // Columns in the order of the table, each once.
      {"UPDATE t SET s = 'words' WHERE p = 1 AND c = 1 IF v > 3 AND s = null AND v < 20",
       "true null 13"},
      {"SELECT s, v FROM t", "words 13"},
      {"DELETE s FROM t WHERE p = 1 AND c = 1 IF s IN ('other', 'words')", "true words"},
      {"SELECT s, v FROM t", "null 13"},
      {"DELETE FROM t WHERE p = 1 AND c = 1 IF v != 13", "false 13"},
      {"DELETE FROM t WHERE p = 1 AND c = 1 IF v = 13", "true 13"},
      {"SELECT * FROM t", ""},
      {"DELETE FROM t WHERE p = 1 AND c = 1 IF v = 13", "false null"},
      // A row that UPDATE alone has made is there; one whose last cell goes is not.
      {"UPDATE t SET v = 1 WHERE p = 1 AND c = 2 IF v = null", "true null"},
      {"INSERT INTO t (p, c) VALUES (1, 2) IF NOT EXISTS", "false 1 2 null 1"},
      {"DELETE v FROM t WHERE p = 1 AND c = 2", ""},
      {"INSERT INTO t (p, c) VALUES (1, 2) IF NOT EXISTS", "true null null null null"},
      // Tables without clustering columns.
      {"INSERT INTO s (p, v) VALUES (1, 2) IF NOT EXISTS", "true null null"},
      {"UPDATE s SET v = 3 WHERE p = 1 IF v >= 2 AND v <= 2", "true 2"},
      {"DELETE FROM s WHERE p = 1 IF EXISTS", "true 1 3"},
      {"DELETE FROM s WHERE p = 1 IF EXISTS", "false null null"},
      // TTLs are the new row's.
      {"INSERT INTO s (p, v) VALUES (5, 6) IF NOT EXISTS USING TTL 100", "true null null"},
      {"SELECT ttl(v) FROM s WHERE p = 5", "100"},
  };
  for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
  clock_.AdvanceSeconds(100);
  EXPECT_EQ(Say("INSERT INTO s (p, v) VALUES (5, 7) IF NOT EXISTS"), "true null null")
      << "what has expired is not there";
}

TEST_F(Conditions, OfStaticColumnsNeedNoRow) {
  Say("CREATE TABLE f (p int, c int, s text STATIC, r int STATIC, v int, PRIMARY KEY (p, c))");
  const Step steps[] = {
      // Columns of the answer: p, c, r, s, v.
      {"UPDATE f SET s = 'aa' WHERE p = 1 IF s = 'bb'", "false null"},
      {"UPDATE f SET s = 'aa' WHERE p = 1 IF EXISTS", "false null null null null null"},
      {"INSERT INTO f (p, s) VALUES (1, 'aa') IF NOT EXISTS", "true null null null null null"},
      {"INSERT INTO f (p, s) VALUES (1, 'bb') IF NOT EXISTS", "false 1 null null aa null"},
      {"UPDATE f SET s = 'bb', r = 1 WHERE p = 1 IF s = 'aa' AND r = null", "true null aa"},
      {"DELETE r FROM f WHERE p = 1 IF r > 5", "false 1"},
      {"DELETE r FROM f WHERE p = 1 IF EXISTS", "true 1 null 1 bb null"},
      {"SELECT * FROM f", "1 null null bb null"},
      // The static row answers for a row that is not there, but to EXISTS.
      {"UPDATE f SET v = 1 WHERE p = 1 AND c = 1 IF v = 5 AND s = 'bb'", "false bb null"},
      {"UPDATE f SET v = 1 WHERE p = 1 AND c = 1 IF EXISTS", "false null null null null null"},
      {"UPDATE f SET v = 1 WHERE p = 1 AND c = 1 IF s = 'bb'", "true bb"},
      {"SELECT * FROM f", "1 1 null bb 1"},
      {"INSERT INTO f (p, c, s) VALUES (1, 1, 'cc') IF NOT EXISTS", "false 1 1 null bb 1"},
      {"INSERT INTO f (p, c, s) VALUES (1, 2, 'cc') IF NOT EXISTS",
       "true null null null null null"},
      {"SELECT * FROM f", "1 1 null cc 1; 1 2 null cc null"},
      // What is asked of a row may decide over static columns.
      {"UPDATE f SET s = 'dd' WHERE p = 1 AND c = 1 IF v = 2", "false 1"},
      {"UPDATE f SET s = 'dd' WHERE p = 1 AND c = 1 IF v = 1", "true 1"},
      {"DELETE FROM f WHERE p = 1 AND c = 2 IF s = 'dd'", "true dd"},
      {"SELECT * FROM f", "1 1 null dd 1"},
      // A partition that has rows alone.
      {"INSERT INTO f (p, c) VALUES (2, 1)", ""},
      {"UPDATE f SET s = 'aa' WHERE p = 2 IF EXISTS", "false 2 null null null null"},
      {"INSERT INTO f (p, s) VALUES (2, 'aa') IF NOT EXISTS", "true 2 null null null null"},
      {"SELECT s FROM f WHERE p = 2", "aa"},
  };
  for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
  // Each statement has its row, or the static one in its place.
  EXPECT_EQ(Batch({{"UPDATE f SET v = 5 WHERE p = 1 AND c = 1", {}},
                   {"UPDATE f SET v = 6 WHERE p = 1 AND c = 6", {}},
                   {"UPDATE f SET r = 7 WHERE p = 1 IF s = 'dd'", {}},
                   {"UPDATE f SET v = 8 WHERE p = 1 AND c = 8 IF v = null", {}}}),
            "true 1 null dd null; true 1 null dd null; true 1 null dd null; true 1 null dd null");
  EXPECT_EQ(Say("SELECT * FROM f WHERE p = 1"), "1 1 7 dd 5; 1 6 7 dd 6; 1 8 7 dd 8");
}

TEST_F(Conditions, OfStaticColumnsAreStampedAboveThem) {
  Say("CREATE TABLE f (p int, c int, s text STATIC, PRIMARY KEY (p, c))");
  const std::string ahead = std::to_string(1'700'000'000'000'000 + 86'400'000'000);
  Say("UPDATE f USING TIMESTAMP " + ahead + " SET s = 'ahead' WHERE p = 1");
  EXPECT_EQ(Say("UPDATE f SET s = 'now' WHERE p = 1 IF s = 'ahead'"), "true ahead");
  EXPECT_EQ(Say("SELECT s FROM f"), "now") << "what was applied is seen";
}

struct Comparison {
  std::string condition;
  std::string of_five;  // [applied], or an error
  std::string of_null;
};

TEST_F(Conditions, CompareAsScyllaDBDoes) {
  const std::string needs_value = "Invalid comparison with null for operator ";
  const Comparison comparisons[] = {
      {"v = 5", "true", "false"},
      {"v = 6", "false", "false"},
      {"v = null", "false", "true"},
      {"v != 5", "false", "true"},
      {"v != 6", "true", "true"},
      {"v != null", "true", "false"},
      {"v < 6", "true", "false"},
      {"v < 5", "false", "false"},
      {"v <= 5", "true", "false"},
      {"v > 5", "false", "false"},
      {"v > -6", "true", "false"},
      {"v >= 5", "true", "false"},
      {"v >= 6", "false", "false"},
      {"v < null", needs_value + "\"<\"", needs_value + "\"<\""},
      {"v >= null", needs_value + "\">=\"", needs_value + "\">=\""},
      {"v IN (4, 5)", "true", "false"},
      {"v IN (4, 6)", "false", "false"},
      {"v IN (4, null)", "false", "true"},
      {"v IN ()", "false", "false"},
  };
  for (const auto& [condition, of_five, of_null] : comparisons) {
    Say("INSERT INTO s (p, v) VALUES (1, 5)");
    Say("INSERT INTO s (p, v) VALUES (2, null)");
    const auto applied = [&, &condition = condition](const char* p) {
      const std::string answer =
          Say("UPDATE s SET v = 7 WHERE p = " + std::string(p) + " IF " + condition);
      return answer.substr(0, std::min(answer.find(" null"), answer.find(" 5")));
    };
    const auto expected = [](std::string text) { return text.substr(0, text.find(" null")); };
    EXPECT_EQ(applied("1"), expected(of_five)) << condition;
    EXPECT_EQ(Say("SELECT v FROM s WHERE p = 1"), of_five == "true" ? "7" : "5") << condition;
    EXPECT_EQ(applied("2"), expected(of_null)) << condition;
    EXPECT_EQ(Say("SELECT v FROM s WHERE p = 2"), of_null == "true" ? "7" : "null") << condition;
    // The row of another partition, which is not there, compares as nulls do.
    EXPECT_EQ(applied("3"), expected(of_null)) << condition;
    Say("DELETE FROM s WHERE p = 3");
  }
}

TEST_F(Conditions, TakeBoundValues) {
  Say("INSERT INTO s (p, v) VALUES (1, 5)");
  const std::string update = "UPDATE s SET v = ? WHERE p = ? IF v = ?";
  EXPECT_EQ(Say(update, {{cql::EncodeInt(6)}, {cql::EncodeInt(1)}, {cql::EncodeInt(4)}}),
            "false 5");
  EXPECT_EQ(Say(update, {{cql::EncodeInt(6)}, {cql::EncodeInt(1)}, {cql::EncodeInt(5)}}), "true 5");
  EXPECT_EQ(Say(update, {{cql::EncodeInt(7)}, {cql::EncodeInt(1)}, {std::nullopt}}), "false 6");
  const std::string in = "UPDATE s SET v = ? WHERE p = ? IF v IN ?";
  const std::string list = cql::EncodeInt(2) + cql::EncodeInt(4) + cql::EncodeInt(6) +
                           cql::EncodeInt(4) + cql::EncodeInt(8);
  EXPECT_EQ(Say(in, {{cql::EncodeInt(8)}, {cql::EncodeInt(1)}, {list}}), "true 6");
  EXPECT_EQ(Say(in, {{cql::EncodeInt(8)}, {cql::EncodeInt(1)}, {std::nullopt}}), "false 8");
  EXPECT_EQ(Say("UPDATE s SET v = ? WHERE p = ? IF v > ?",
                {{cql::EncodeInt(8)}, {cql::EncodeInt(1)}, {std::nullopt}}),
            "Invalid comparison with null for operator \">\"");
  EXPECT_EQ(Say(update, {{cql::EncodeInt(8)}, {cql::EncodeInt(1)}, {std::nullopt, true}}),
            "Unexpected unset value for bind variable 2");
  // What is unset is not written, and the conditions are looked at all the same.
  EXPECT_EQ(Say(update, {{std::nullopt, true}, {cql::EncodeInt(1)}, {cql::EncodeInt(8)}}),
            "true 8");
  EXPECT_EQ(Say("SELECT v FROM s"), "8");
}

TEST_F(Conditions, RefuseWhatScyllaDBRefuses) {
  const std::string applied = "UPDATE t SET v = 1 WHERE p = 1 AND c = 1";
  const Step refusals[] = {
      {"INSERT INTO t (p, c) VALUES (1, 1) IF NOT EXISTS USING TIMESTAMP 5",
       "Cannot provide custom timestamp for conditional updates"},
      {"UPDATE t USING TIMESTAMP 5 SET v = 1 WHERE p = 1 AND c = 1 IF v = 1",
       "Cannot provide custom timestamp for conditional updates"},
      {"DELETE FROM t USING TIMESTAMP 5 WHERE p = 1 AND c = 1 IF EXISTS",
       "Cannot provide custom timestamp for conditional updates"},
      {applied + " IF c = 1", "PRIMARY KEY column 'c' cannot have IF conditions"},
      {applied + " IF p IN (1)", "PRIMARY KEY column 'p' cannot have IF conditions"},
      {applied + " IF x = 1", "Unrecognized name x"},
      {applied + " IF v = 'a'", "Invalid STRING constant (a) for \"v\" of type int"},
      {applied + " IF v.x = 1", "Invalid field selection: v of type int is not a user type"},
      {"UPDATE t SET v = 1 WHERE p IN (1, 2) AND c = 1 IF EXISTS",
       "IN on the partition key is not supported with conditional updates"},
      {"UPDATE t SET v = 1 WHERE p = 1 AND c IN (1, 2) IF v = 1",
       "IN on the clustering key columns is not supported with conditional updates"},
      {"DELETE FROM t WHERE p IN (1, 1) AND c = 1 IF EXISTS",
       "IN on the partition key is not supported with conditional deletions"},
      {"DELETE FROM t WHERE p = 1 AND c IN (1, 2) IF EXISTS",
       "IN on the clustering key columns is not supported with conditional deletions"},
      {"DELETE FROM t WHERE p = 1 IF EXISTS",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to delete non static columns"},
      {"DELETE FROM t WHERE p = 1 AND c > 1 IF v = 1",
       "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order "
       "to delete non static columns"},
      {"UPDATE t SET v = 1 WHERE p = 1 IF EXISTS", "Missing mandatory PRIMARY KEY part c"},
      {"BEGIN BATCH USING TIMESTAMP 5 " + applied + " IF EXISTS APPLY BATCH",
       "Cannot provide custom timestamp for conditional BATCH"},
      {"BEGIN BATCH " + applied + " IF EXISTS; INSERT INTO s (p) VALUES (1) APPLY BATCH",
       "BATCH with conditions cannot span multiple tables"},
      {"BEGIN BATCH " + applied +
           " IF EXISTS; UPDATE t SET v = 1 WHERE p = 2 AND c = 1 "
           "APPLY BATCH",
       "BATCH with conditions cannot span multiple partitions"},
      {"BEGIN BATCH " + applied + " IF EXISTS; DELETE FROM t WHERE p IN (1, 2) APPLY BATCH",
       "BATCH with conditions cannot span multiple partitions"},
  };
  for (const Step& refusal : refusals) {
    EXPECT_EQ(Say(refusal.statement), refusal.answer) << refusal.statement;
  }
  Say("CREATE TABLE d (p int PRIMARY KEY, v duration)");
  EXPECT_EQ(Say("UPDATE d SET v = 1h WHERE p = 1 IF v > 1h"), "Duration type is unordered for v");
  Say("CREATE TABLE ds (p int PRIMARY KEY, v frozen<list<duration>>)");
  EXPECT_EQ(Say("UPDATE ds SET v = [1h] WHERE p = 1 IF v > [1h]"),
            "Duration type is unordered for v");
  Say("CREATE TYPE home (city text)");
  Say("CREATE TABLE h (p int PRIMARY KEY, v frozen<home>)");
  EXPECT_EQ(Say("UPDATE h SET v = {city: 'b'} WHERE p = 1 IF v.street = 'a'"),
            "v of type frozen<home> has no field street");
  EXPECT_EQ(Batch({{applied + " IF EXISTS", {}}, {"INSERT INTO s (p) VALUES (1)", {}}}),
            "BATCH with conditions cannot span multiple tables");
  EXPECT_EQ(Batch({{applied + " IF EXISTS", {}}, {"DELETE FROM t WHERE p = 2", {}}}),
            "BATCH with conditions cannot span multiple partitions");
  EXPECT_NE(Say("UPDATE liststore.clock SET advance_seconds = 1 WHERE key = 'clock' IF EXISTS")
                .find("conditions of virtual tables (IF)"),
            std::string::npos);
  EXPECT_EQ(Say("SELECT * FROM t"), "");
  EXPECT_EQ(Say("SELECT * FROM s"), "");
}

TEST_F(Conditions, CompareFrozenValuesWhole) {
  Say("CREATE TYPE home (city text, number int)");
  Say("CREATE TABLE f (p int PRIMARY KEY, n int, s frozen<set<int>>, h frozen<home>)");
  Say("INSERT INTO f (p, n, s, h) VALUES (1, 0, {1, 2}, {city: 'a', number: 1})");
  const std::string update = "UPDATE f SET n = 7 WHERE p = 1 IF ";
  const auto applied = [&](const std::string& condition) {
    return Say(update + condition).substr(0, 5);
  };
  EXPECT_EQ(applied("s = {2, 1, 2}"), "true ");
  EXPECT_EQ(applied("s != {2, 1}"), "false");
  EXPECT_EQ(applied("s > {1}"), "true ");
  EXPECT_EQ(applied("s IN ({3}, {1, 2})"), "true ");
  EXPECT_EQ(applied("h = {number: 1, city: 'a'}"), "true ");
  EXPECT_EQ(applied("h < {city: 'a', number: 1}"), "false");
  EXPECT_EQ(applied("h = {city: 'a'}"), "false") << "a field that is not named is null";
}

TEST_F(Conditions, HoldOrNotForTheWholeBatch) {
  Say("INSERT INTO t (p, c, v) VALUES (1, 1, 10)");
  Say("INSERT INTO t (p, c, v) VALUES (1, 2, 20)");
  const std::string begin = "BEGIN BATCH ";
  // A row of the answer for each statement: key, then what conditions ask for.
  EXPECT_EQ(Say(begin + "UPDATE t SET v = 11 WHERE p = 1 AND c = 1 IF v = 10; "
                        "UPDATE t SET v = 21 WHERE p = 1 AND c = 2 IF v = 99; "
                        "INSERT INTO t (p, c, v) VALUES (1, 3, 30) APPLY BATCH"),
            "false 1 1 10; false 1 2 20; false null null null");
  EXPECT_EQ(Say("SELECT c, v FROM t"), "1 10; 2 20") << "nothing was written";
  EXPECT_EQ(Say(begin + "UPDATE t SET v = 11 WHERE p = 1 AND c = 1 IF v = 10; "
                        "UPDATE t SET v = 21 WHERE p = 1 AND c = 2 IF v = 20; "
                        "INSERT INTO t (p, c, v) VALUES (1, 3, 30) APPLY BATCH"),
            "true 1 1 10; true 1 2 20; true null null null");
  EXPECT_EQ(Say("SELECT c, v FROM t"), "1 11; 2 21; 3 30");
  // All columns, where existence is asked for; the same row twice is the row as it was before.
  EXPECT_EQ(Say(begin + "INSERT INTO t (p, c, v) VALUES (1, 4, 40) IF NOT EXISTS; "
                        "UPDATE t SET s = 'xx' WHERE p = 1 AND c = 4 IF v = null; "
                        "UPDATE t SET s = 'yy' WHERE p = 1 AND c = 1 IF EXISTS; "
                        "UPDATE t SET v = 12 WHERE p = 1 AND c = 1 APPLY BATCH"),
            "true null null null null; true null null null null; true 1 1 null 11; "
            "true 1 1 null 11");
  EXPECT_EQ(Say("SELECT c, s, v FROM t WHERE p = 1 AND c IN (1, 4)"), "1 yy 12; 4 xx 40");
  // As messages, prepared and not, each with values of its own.
  EXPECT_EQ(Batch({{"UPDATE t SET v = ? WHERE p = 1 AND c = ? IF v = ?",
                    {{cql::EncodeInt(13)}, {cql::EncodeInt(1)}, {cql::EncodeInt(12)}},
                    true},
                   {"UPDATE t SET v = ? WHERE p = 1 AND c = ? IF v = ?",
                    {{cql::EncodeInt(22)}, {cql::EncodeInt(2)}, {cql::EncodeInt(21)}},
                    true},
                   {"DELETE FROM t WHERE p = 1 AND c = 3", {}}}),
            "true 1 1 12; true 1 2 21; true null null null");
  EXPECT_EQ(Say("SELECT c, v FROM t"), "1 13; 2 22; 4 40");
  EXPECT_EQ(Batch({{"DELETE FROM t WHERE p = 1", {}},
                   {"UPDATE t SET v = 1 WHERE p = 1 AND c = 9 IF EXISTS", {}}}),
            "false null null null null; false null null null null");
  EXPECT_EQ(Say("SELECT c, v FROM t"), "1 13; 2 22; 4 40");
}

// Source: ScyllaDB cql3/statements/cas_request.cc, read_command and find_old_row.
TEST_F(Conditions, OfABatchAnswerWithTheRowsThatWereRead) {
  Say("CREATE TABLE r (p int, k text, version int STATIC, l list<int>, v int, PRIMARY KEY (p, k))");
  for (const char* key : {"k1", "k2", "k3"}) {
    Say("INSERT INTO r (p, k, v, l, version) VALUES (0, '" + std::string(key) + "', 5, [7], 2)");
  }
  const auto update = [](const std::string& what, const std::string& key) {
    return "UPDATE r SET " + what + " WHERE p = 0 AND k = '" + key + "'";
  };
  const std::string statics = "UPDATE r SET version = 3 WHERE p = 0";
  const auto batch = [&](const std::string& a, const std::string& b, const std::string& c) {
    return Say("BEGIN BATCH " + a + "; " + b + "; " + c + "; APPLY BATCH");
  };
  // Where conditions are of static columns alone, the first row of the partition is read.
  EXPECT_EQ(batch(update("v = 1", "k1"), update("v = 1", "k2"), statics + " IF version = 1"),
            "false 0 k1 2; false 0 null 2; false 0 null 2");
  EXPECT_EQ(batch(update("v = 1", "k2"), update("v = 1", "k1"), statics + " IF version = 1"),
            "false 0 null 2; false 0 k1 2; false 0 null 2");
  EXPECT_EQ(batch(update("v = 1", "k2") + " IF version = 1", update("v = 1", "k1"),
                  update("v = 1", "k3")),
            "false 0 null 2; false 0 k1 2; false 0 null 2")
      << "such a condition reads no row of its own";
  // One on a regular column, IF EXISTS and changes by what a list has read their own rows.
  EXPECT_EQ(batch(update("v = 1", "k1"), update("v = 1", "k2") + " IF v = 1",
                  statics + " IF version = 1"),
            "false 0 null 2 null; false 0 k2 2 5; false 0 null 2 null");
  EXPECT_EQ(batch(update("v = 1", "k1"), update("l[0] = 1", "k3"), statics + " IF version = 1"),
            "false 0 null 2; false 0 k3 2; false 0 null 2");
  EXPECT_EQ(batch(update("v = 1", "k1"), update("v = 1", "k9") + " IF EXISTS",
                  update("v = 1", "k9") + " IF v = 5"),
            "false 0 null 2 null null; false null null null null null; "
            "false 0 null 2 null null");
}

// The same: a change by what a static list has reads all rows.
TEST_F(Conditions, OfABatchReadAllRowsForAStaticList) {
  Say("CREATE TABLE r (p int, k int, s int STATIC, l list<int> STATIC, PRIMARY KEY (p, k))");
  Say("INSERT INTO r (p, k, s, l) VALUES (0, 1, 2, [7])");
  Say("INSERT INTO r (p, k) VALUES (0, 2)");
  EXPECT_EQ(Say("BEGIN BATCH UPDATE r SET l[0] = 8 WHERE p = 0 IF s = 1; "
                "DELETE FROM r WHERE p = 0 AND k = 2; INSERT INTO r (p, k) VALUES (0, 3) "
                "APPLY BATCH"),
            "false 0 null 2; false 0 2 2; false 0 null 2");
}

TEST_F(Conditions, WriteAboveAllTimestampsThatTheyHaveSeen) {
  const std::string clients = std::to_string(clock_.NowNanos() / 1000 + 86'400'000'000);
  Say("INSERT INTO s (p, v) VALUES (1, 5) USING TIMESTAMP " + clients);
  EXPECT_EQ(Say("UPDATE s SET v = 6 WHERE p = 1"), "");
  EXPECT_EQ(Say("SELECT v FROM s"), "5") << "the later timestamp wins";
  EXPECT_EQ(Say("UPDATE s SET v = 7 WHERE p = 1 IF v = 5"), "true 5");
  EXPECT_EQ(Say("UPDATE s SET v = 8 WHERE p = 1 IF v = 7"), "true 7");
  EXPECT_EQ(Say("DELETE FROM s WHERE p = 1 IF v = 8"), "true 8");
  EXPECT_EQ(Say("SELECT v FROM s"), "");
  // The server's own timestamps stay with its clock.
  Say("INSERT INTO s (p, v) VALUES (2, 5)");
  const std::string written = std::to_string(clock_.NowNanos() / 1000);
  EXPECT_EQ(Say("SELECT writetime(v) FROM s WHERE p = 2"), written);
  // A batch's other statements have no timestamps of their own.
  EXPECT_EQ(Say("BEGIN BATCH UPDATE s SET v = 6 WHERE p = 2 IF v = 5; UPDATE s USING TIMESTAMP 1 "
                "SET v = 9 WHERE p = 2 APPLY BATCH"),
            "true 2 5; true 2 5");
  EXPECT_EQ(Say("SELECT v FROM s WHERE p = 2"), "9") << "the larger value at one timestamp";
  // The client's default is left out of account.
  const CqlParameters old = {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = 1};
  EXPECT_EQ(ToText(session_->Run({"UPDATE s SET v = 3 WHERE p = 2 IF v = 9", {}}, old)), "true 9");
  EXPECT_EQ(Say("SELECT v FROM s WHERE p = 2"), "3");
}

TEST_F(Conditions, HaveConsistenciesOfTheirOwn) {
  const std::string update = "UPDATE k.s SET v = 1 WHERE p = 1";
  const std::string conditional = update + " IF v = null";
  EXPECT_EQ(Ask(conditional, kOne, kSerial), "");
  EXPECT_EQ(Ask(conditional, kOne, kLocalSerial), "");
  EXPECT_EQ(Ask(conditional, kOne, kOne),
            "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
  EXPECT_EQ(Ask(update, kOne, kOne), "") << "others do not use it";
  EXPECT_EQ(Ask(conditional, kSerial),
            "SERIAL is not supported as conditional update commit consistency. Use ANY if you mean "
            "\"make sure it is accepted but I don't care how many replicas commit it for "
            "non-SERIAL reads\"");
  EXPECT_EQ(Ask(update, kSerial), "You must use conditional updates for serializable writes");
  EXPECT_EQ(Ask("BEGIN BATCH " + conditional + " APPLY BATCH", kOne, kOne),
            "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
  EXPECT_EQ(Ask("SELECT * FROM k.s WHERE p = 1", kSerial), "");
  EXPECT_EQ(Ask("SELECT * FROM k.s WHERE p IN (1)", kLocalSerial), "");
  const std::string one =
      "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition "
      "at a time";
  EXPECT_EQ(Ask("SELECT * FROM k.s WHERE p IN (1, 2)", kLocalSerial), one);
  EXPECT_EQ(Ask("SELECT * FROM k.s", kSerial), one);
}

// <kind><id><flags><markers><pk count>[index]... of PREPARED.
TEST_F(Conditions, AreMarkedWhenTheyArePrepared) {
  const auto prepared = [&](const std::string& text) {
    const auto frame = client_->Ask({.stream = 1, .opcode = kPrepare, .body = BytesBody(text)});
    EXPECT_TRUE(frame && frame->opcode == kResult);
    protocol::BodyReader reader(frame->body);
    reader.ReadInt();
    reader.ReadShortBytes();
    const auto flags = static_cast<uint32_t>(reader.ReadInt());
    return std::pair{(flags & 0x8000'0000) != 0, frame->body};
  };
  const auto [conditional, body] = prepared("UPDATE k.s SET v = ? WHERE p = ? IF v = ? AND v IN ?");
  EXPECT_TRUE(conditional);
  EXPECT_NE(body.find("[applied]"), std::string::npos);
  EXPECT_NE(body.find("in(v)"), std::string::npos);
  EXPECT_TRUE(prepared("BEGIN BATCH DELETE FROM k.s WHERE p = ? IF EXISTS APPLY BATCH").first);
  const auto [plain, plain_body] = prepared("UPDATE k.s SET v = ? WHERE p = ?");
  EXPECT_FALSE(plain);
  EXPECT_EQ(plain_body.find("[applied]"), std::string::npos);
}

// Nobody comes between the look and the write: no increment is lost.
TEST_F(Conditions, AreOneStepForManyClients) {
  constexpr int kClients = 4;
  const uint64_t increments = TestSteps(2000) / kClients;
  Say("INSERT INTO s (p, v) VALUES (1, 0)");
  const auto add = [&] {
    CqlSession session(server_->cql_port());
    session.Run({"USE k", {}});
    int32_t seen = 0;
    for (uint64_t done = 0; done < increments;) {
      const CqlAnswer answer = session.Run({"UPDATE s SET v = ? WHERE p = 1 IF v = ?",
                                            {{cql::EncodeInt(seen + 1)}, {cql::EncodeInt(seen)}},
                                            done % 2 == 0});
      ASSERT_EQ(answer.error, "");
      const bool applied = ToText(answer.rows.at(0).at(0)) == "true";
      const int32_t was = std::stoi(ToText(answer.rows[0].at(1)));
      ASSERT_EQ(applied, was == seen);
      seen = applied ? was + 1 : was;
      done += applied ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) threads.emplace_back(add);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Say("SELECT v FROM s"), std::to_string(increments * kClients));
}

TEST_F(Conditions, AreRefusedWholeWhenMemoryIsShort) {
  Say("CREATE TABLE big (p int PRIMARY KEY, v blob)");
  EXPECT_EQ(Say("INSERT INTO big (p, v) VALUES (1, 0x00) IF NOT EXISTS"), "true null null");
  const BoundParameter large{std::string(4 << 20, 'x')};
  std::string answer;
  for (int p = 2; p < 40 && answer.find("refused") == std::string::npos; ++p) {
    answer = Say("UPDATE big SET v = ? WHERE p = " + std::to_string(p) + " IF v = null", {large});
  }
  EXPECT_NE(answer.find("The write was refused and nothing of it applied"), std::string::npos)
      << answer.substr(0, 200);
  EXPECT_EQ(Say("INSERT INTO s (p, v) VALUES (1, 2) IF NOT EXISTS"), "true null null");
}

}  // namespace conditions_test
}  // namespace liststore::testing
