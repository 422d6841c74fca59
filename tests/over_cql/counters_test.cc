// Tables of counters over the wire.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace counters_test {

constexpr uint8_t kError = 0x00, kBatch = 0x0d;
constexpr uint8_t kLogged = 0, kUnlogged = 1, kCounter = 2;

class Counters : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, c int, a counter, b counter, PRIMARY KEY (p, c))");
    Say("CREATE TABLE u (p int PRIMARY KEY, v int)");
  }

  // A BATCH message of texts; the error, or nothing.
  std::string Batch(uint8_t type, const std::vector<std::string>& statements,
                    uint8_t consistency = 1) {
    RawCqlClient client(server_->cql_port());
    EXPECT_TRUE(client.StartUp());
    EXPECT_TRUE(client.Query("USE k"));
    std::string body{static_cast<char>(type), '\0', static_cast<char>(statements.size())};
    for (const std::string& text : statements) {
      body += '\0' + BytesBody(text) + std::string(2, '\0');
    }
    body += std::string{'\0', static_cast<char>(consistency), '\0'};
    const auto frame = client.Ask({.stream = 1, .opcode = kBatch, .body = body});
    EXPECT_TRUE(frame);
    return frame->opcode == kError ? ErrorMessageOf(*frame) : "";
  }
};

struct Step {
  std::string statement;
  std::string answer;
};

TEST_F(Counters, AddUp) {
  const Step steps[] = {
      {"UPDATE t SET a = a + 5 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "5 null"},
      {"UPDATE t SET a = a - 2, b += 1 WHERE p = 1 AND c = 1", ""},
      {"UPDATE t SET b -= 10 WHERE p = 1 AND c IN (1, 2)", ""},
      {"SELECT c, a, b FROM t", "1 3 -9; 2 null -10"},
      {"UPDATE t SET a = a + 0 WHERE p = 1 AND c = 2", ""},
      {"SELECT c, a, b FROM t", "1 3 -9; 2 0 -10"},
      {"UPDATE t SET a = a + 1, a = a + 1 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, ttl(a) FROM t WHERE p = 1 AND c = 1", "5 null"},
      {"UPDATE t SET a = a -3 WHERE p IN (1, 2) AND c = 1", ""},
      {"SELECT p, a FROM t WHERE p IN (1, 2) AND c = 1", "1 2; 2 -3"},
      {"SELECT max(a), min(a), count(b) FROM t", "2 -3 2"},
      {"SELECT p FROM t WHERE a = 2 ALLOW FILTERING", "1"},
  };
  for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
  const std::string update = "UPDATE t SET a = a + ?, b = b - ? WHERE p = 7 AND c = 1";
  EXPECT_EQ(Say(update, {{cql::EncodeBigint(3)}, {cql::EncodeBigint(4)}}), "");
  EXPECT_EQ(Say(update, {{cql::EncodeBigint(3)}, {std::nullopt, true}}), "")
      << "unset: stays as it is";
  EXPECT_EQ(Say("SELECT a, b FROM t WHERE p = 7"), "6 -4");
  EXPECT_EQ(Say(update, {{std::nullopt}, {cql::EncodeBigint(1)}}),
            "Invalid null value for counter increment");
  EXPECT_EQ(Say(update,
                {{cql::EncodeBigint(1)}, {cql::EncodeBigint(std::numeric_limits<int64_t>::min())}}),
            "The negation of -9223372036854775808 overflows supported counter precision (signed 8 "
            "bytes integer)");
  EXPECT_EQ(Say("SELECT a, b FROM t WHERE p = 7"), "6 -4") << "nothing of either was added";
  EXPECT_EQ(Say("UPDATE t SET a = a + ? WHERE p = 7 AND c = 1",
                {{cql::EncodeBigint(std::numeric_limits<int64_t>::max())}}),
            "");
  EXPECT_EQ(Say("SELECT a FROM t WHERE p = 7"), "-9223372036854775803") << "it goes round";
}

TEST_F(Counters, AreArgumentsLikeOtherNumbers) {
  Say("UPDATE t SET a = a + 5 WHERE p = 1 AND c = 1");
  Say("UPDATE t SET a = a - 9, b = b + 300 WHERE p = 1 AND c = 2");
  EXPECT_EQ(Say("SELECT sum(a), avg(a), min(a), max(a), count(b) FROM t"), "-4 -2 -9 5 1");
  EXPECT_EQ(Say("SELECT sum(b), avg(b) FROM t WHERE p = 7"), "0 0");
  EXPECT_EQ(Say("SELECT CAST(a AS int), CAST(a AS bigint) FROM t"), "5 5; -9 -9");
  EXPECT_EQ(Say("SELECT CAST(b AS text) FROM t WHERE p = 1 AND c = 2"), "300");
  EXPECT_EQ(Cell("SELECT CAST(b AS double) FROM k.t WHERE p = 1 AND c = 2"),
            cql::EncodeDouble(300));
  EXPECT_EQ(Say("SELECT counterAsBlob(a), blobAsCounter(bigintAsBlob(a)) FROM t"), "5 5; -9 -9");
  EXPECT_EQ(Say("SELECT blobAsCounter(intAsBlob(c)) FROM t"),
            "In call to function blobascounter, value 0x00000001 is not a valid binary "
            "representation for type counter");
  EXPECT_EQ(Say("SELECT counterAsBlob(v) FROM u"),
            "Type error: v cannot be passed as argument 0 of function system.counterasblob of type "
            "counter");
}

TEST_F(Counters, MayBeStatic) {
  const Step steps[] = {
      {"CREATE TABLE s (p int, c int, a counter, b counter static, PRIMARY KEY (p, c))", ""},
      {"UPDATE s SET b = b + 5 WHERE p = 1", ""},
      {"SELECT p, c, a, b FROM s", "1 null null 5"},
      {"UPDATE s SET a = a + 1, b = b - 2 WHERE p = 1 AND c = 1", ""},
      {"SELECT c, a, b FROM s", "1 1 3"},
      {"UPDATE s SET a = a + 1, b = b + 10 WHERE p IN (1, 2) AND c IN (1, 2)", ""},
      {"SELECT p, c, a, b FROM s", "1 1 2 23; 1 2 1 23; 2 1 1 20; 2 2 1 20"},
      {"BEGIN COUNTER BATCH UPDATE s SET b = b + 1 WHERE p = 1; UPDATE s SET b = b + 1 WHERE p = "
       "1; "
       "UPDATE s SET a = a + 1 WHERE p = 1 AND c = 2 APPLY BATCH",
       ""},
      {"SELECT c, a, b FROM s WHERE p = 1", "1 2 25; 2 2 25"},
      {"SELECT max(a), max(b) FROM s", "2 25"},
      {"DELETE FROM s WHERE p = 1 AND c = 1", ""},
      {"SELECT c, a, b FROM s WHERE p = 1", "2 2 25"},
      {"DELETE FROM s WHERE p = 1", ""},
      {"UPDATE s SET b = b + 7 WHERE p = 1", ""},
      {"SELECT c, a, b FROM s WHERE p = 1", "null null 7"},
      {"DELETE b FROM s WHERE p = 1", ""},
      {"UPDATE s SET b = b + 7, a = a + 1 WHERE p = 1 AND c = 1", ""},
      {"SELECT c, a, b FROM s WHERE p = 1", "1 1 null"},
      {"UPDATE s SET b = b + 1 WHERE p = 1 AND c = 1",
       "Invalid restrictions on clustering columns since the UPDATE statement modifies only static "
       "columns"},
      {"UPDATE s SET b = 1 WHERE p = 1",
       "Cannot set the value of counter column b (counters can only be incremented/decremented, "
       "not set)"},
      {"UPDATE s SET b = b + 1 WHERE p = 1 IF EXISTS",
       "Conditional updates are not supported on counter tables"},
      {"CREATE TABLE x (p int, c int, v int, b counter static, PRIMARY KEY (p, c))",
       "Cannot add a non counter column (v) in a counter column family"},
      {"ALTER TABLE t ADD s counter static", ""},
      {"UPDATE t SET s = s + 3 WHERE p = 1", ""},
      {"SELECT p, s FROM t", "1 3"},
  };
  for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
}

TEST_F(Counters, StartAnewBehindADeletedRowAndStayDeletedAsACell) {
  const Step steps[] = {
      {"UPDATE t SET a = a + 5, b = b + 6 WHERE p = 1 AND c = 1", ""},
      {"DELETE FROM t WHERE p = 1 AND c = 1", ""},
      {"SELECT * FROM t", ""},
      {"UPDATE t SET a = a + 2 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "2 null"},
      {"DELETE FROM t WHERE p = 1", ""},
      {"UPDATE t SET a = a + 3, b = b + 1 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "3 1"},
      {"DELETE a FROM t WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "null 1"},
      // As in ScyllaDB, a counter is not for use again.
      {"UPDATE t SET a = a + 1, b = b + 1 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "null 2"},
      {"TRUNCATE t", ""},
      {"UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1", ""},
      {"SELECT a, b FROM t", "1 null"},
  };
  for (const Step& step : steps) EXPECT_EQ(Say(step.statement), step.answer) << step.statement;
}

TEST_F(Counters, RefuseWhatScyllaDBRefuses) {
  const Step refusals[] = {
      {"CREATE TABLE x (p int PRIMARY KEY, a counter, v int)",
       "Cannot add a non counter column (v) in a counter column family"},
      {"CREATE TABLE x (p counter PRIMARY KEY, v int)",
       "counter type is not supported for PRIMARY KEY part p"},
      {"CREATE TABLE x (p int PRIMARY KEY, a counter) WITH default_time_to_live = 5",
       "Cannot set default_time_to_live on a table with counters"},
      {"ALTER TABLE t WITH default_time_to_live = 5",
       "Cannot set default_time_to_live on a table with counters"},
      {"ALTER TABLE t ADD v int", "Cannot add a non counter column (v) in a counter column family"},
      {"ALTER TABLE u ADD a counter",
       "Cannot add a counter column (a) in a non counter column family"},
      {"CREATE INDEX ON t (a)", "Secondary indexes are not supported on counter tables"},
      {"INSERT INTO t (p, c, a) VALUES (1, 1, 1)",
       "INSERT statement are not allowed on counter tables, use UPDATE instead"},
      {"UPDATE t SET a = 1 WHERE p = 1 AND c = 1",
       "Cannot set the value of counter column a (counters can only be incremented/decremented, "
       "not set)"},
      {"UPDATE t SET a = a + null WHERE p = 1 AND c = 1",
       "Invalid null value for counter increment/decrement"},
      {"UPDATE t USING TTL 5 SET a = a + 1 WHERE p = 1 AND c = 1",
       "Cannot provide custom TTL for counter updates"},
      {"UPDATE t USING TIMESTAMP 5 SET a = a + 1 WHERE p = 1 AND c = 1",
       "Cannot provide custom timestamp for counter updates"},
      {"DELETE FROM t USING TIMESTAMP 5 WHERE p = 1",
       "Cannot provide custom timestamp for counter updates"},
      {"UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1 IF EXISTS",
       "Conditional updates are not supported on counter tables"},
      {"DELETE FROM t WHERE p = 1 AND c = 1 IF a = 1",
       "Conditional updates are not supported on counter tables"},
      {"UPDATE t SET a = a + 1 WHERE p = 1", "Missing mandatory PRIMARY KEY part c"},
      {"UPDATE u SET v = v + 1 WHERE p = 1",
       "Invalid operation (v = v + 1) for non counter column v"},
  };
  for (const Step& refusal : refusals) {
    EXPECT_EQ(Say(refusal.statement), refusal.answer) << refusal.statement;
  }
  EXPECT_EQ(Say("SELECT * FROM t"), "");
}

TEST_F(Counters, HaveBatchesOfTheirOwn) {
  const std::string add = "UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1";
  const std::string other = "UPDATE t SET a = a + 10 WHERE p = 2 AND c = 1";
  const std::string plain = "INSERT INTO u (p, v) VALUES (1, 1)";
  const std::string in_logged = "Cannot include a counter statement in a logged batch";
  const std::string mixed = "Counter and non-counter mutations cannot exist in the same batch";
  const std::string not_counter = "Cannot include non-counter statement in a counter batch";
  EXPECT_EQ(Say("BEGIN COUNTER BATCH " + add + "; " + add + "; " + other + " APPLY BATCH"), "");
  EXPECT_EQ(Say("BEGIN UNLOGGED BATCH " + add + "; DELETE FROM t WHERE p = 2 APPLY BATCH"), "");
  EXPECT_EQ(Say("SELECT p, a FROM t"), "1 3");
  EXPECT_EQ(Say("BEGIN BATCH " + add + " APPLY BATCH"), in_logged);
  EXPECT_EQ(Say("BEGIN UNLOGGED BATCH " + add + "; " + plain + " APPLY BATCH"), mixed);
  EXPECT_EQ(Say("BEGIN COUNTER BATCH " + add + "; " + plain + " APPLY BATCH"), not_counter);
  EXPECT_EQ(Say("BEGIN COUNTER BATCH USING TIMESTAMP 5 " + add + " APPLY BATCH"),
            "Cannot provide custom timestamp for counter BATCH");
  EXPECT_EQ(Say("BEGIN UNLOGGED BATCH USING TIMESTAMP 5 " + add + " APPLY BATCH"),
            "Cannot provide custom timestamp for a BATCH containing counters");
  // As messages.
  EXPECT_EQ(Batch(kCounter, {add, other, add}), "");
  EXPECT_EQ(Batch(kUnlogged, {add}), "");
  EXPECT_EQ(Batch(kCounter, {}), "");
  EXPECT_EQ(Batch(kLogged, {add}), in_logged);
  EXPECT_EQ(Batch(kUnlogged, {plain, add}), mixed);
  EXPECT_EQ(Batch(kCounter, {plain}), not_counter);
  EXPECT_EQ(Say("SELECT p, a FROM t"), "1 6; 2 10");
  EXPECT_EQ(Say("SELECT * FROM u"), "");
  // Levels of consistency that counters do not have.
  EXPECT_EQ(Batch(kCounter, {add}, 0),
            "Consistency level ANY is not yet supported for counter table t");
  EXPECT_EQ(Batch(kCounter, {add}, 8), "Counter operations are inherently non-serializable");
}

TEST_F(Counters, AreOrderedByTheServerAlone) {
  Say("UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1");
  const CqlParameters old = {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = 1};
  EXPECT_EQ(ToText(session_->Run({"UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1", {}}, old)), "");
  EXPECT_EQ(Say("SELECT a FROM t"), "2");
  EXPECT_EQ(ToText(session_->Run({"DELETE FROM t WHERE p = 1", {}}, old)), "");
  EXPECT_EQ(Say("SELECT a FROM t"), "");
}

TEST_F(Counters, StayWhenTheTableGetsMoreOfThem) {
  Say("UPDATE t SET a = a + 4 WHERE p = 1 AND c = 1");
  Say("DELETE b FROM t WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("ALTER TABLE t ADD aa counter"), "");
  Say("UPDATE t SET a = a + 1, aa = aa + 2, b = b + 1 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT a, aa, b FROM t"), "5 2 null");
  EXPECT_EQ(Say("ALTER TABLE t DROP a"), "");
  EXPECT_EQ(Say("SELECT * FROM t"), "1 1 2 null");
  EXPECT_NE(Say("DESCRIBE TABLE t").find("aa counter"), std::string::npos);
  EXPECT_EQ(Say("SELECT type FROM system_schema.columns WHERE keyspace_name = 'k' AND table_name = "
                "'t' AND column_name = 'aa'"),
            "counter");
}

TEST_F(Counters, ComeBackWhenTheServerIsReset) {
  Say("UPDATE t SET a = a + 4 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'"), "");
  Say("UPDATE t SET a = a + 3 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'"), "");
  EXPECT_EQ(Say("SELECT a FROM t"), "4");
  Say("UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1");
  EXPECT_EQ(Say("SELECT a FROM t"), "5");
}

// No addition is lost, alone or in batches over partitions.
TEST_F(Counters, AreAddedToByManyClientsAtOnce) {
  constexpr int kClients = 4;
  const uint64_t rounds = TestSteps(2000) / kClients;
  const auto add = [&](int number) {
    CqlSession session(server_->cql_port());
    session.Run({"USE k", {}});
    const std::string one = "UPDATE t SET a = a + 1 WHERE p = 1 AND c = 1";
    const std::string batch =
        "BEGIN COUNTER BATCH UPDATE t SET b = b + 1 WHERE p = " + std::to_string(number % 2) +
        " AND c = 1; " + one + " APPLY BATCH";
    for (uint64_t round = 0; round < rounds; ++round) {
      const bool in_batch = round % 4 == 0;
      ASSERT_EQ(session.Run({in_batch ? batch : one, {}, round % 2 == 0}).error, "");
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) threads.emplace_back(add, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Say("SELECT a FROM t WHERE p = 1"), std::to_string(rounds * kClients));
  const uint64_t batches = (rounds + 3) / 4 * kClients;
  EXPECT_EQ(Say("SELECT b FROM t WHERE c = 1 AND p IN (0, 1)"),
            std::to_string(batches / 2) + "; " + std::to_string(batches / 2));
}

}  // namespace counters_test
}  // namespace liststore::testing
