// The heap refuses an allocation of the server, each in turn, while a client's session runs: the
// client gets its answer, an error, or a closed connection; what was answered is there, what was not
// is there whole or not at all; others are served, and nothing is left over.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/cql/values/encode_value.h"
#include "liststore/cql_server.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/refusing_new.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace refused_allocation_test {

constexpr uint8_t kOptions = 0x05, kSupported = 0x06, kRegister = 0x0b, kReady = 0x02,
                  kEvent = 0x0c;
constexpr int32_t kServerError = 0x0000, kOverloaded = 0x1001, kWriteTimeout = 0x1100,
                  kWriteFailure = 0x1500;
const CqlLogin kRoot{"root", "secret"};
const char kEnded[] = "the connection has ended";

using Texts = std::vector<std::string>;

struct Operation {
  const char* name;
  // Bring the state about that is before it.
  Texts before;
  std::function<CqlAnswer(CqlSession&)> run;
  // Show the state.
  Texts looks;
};

const Texts kNoTable = {"DROP TABLE IF EXISTS k.u", "DROP TYPE IF EXISTS k.pair",
                        "DROP KEYSPACE IF EXISTS k2"};
const Texts kRows = {
    "TRUNCATE k.t",
    "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'a')",
    "INSERT INTO k.t (p, c, v) VALUES (1, 2, 'b')",
    "INSERT INTO k.t (p, c, v) VALUES (1, 3, 'c')",
    "INSERT INTO k.t (p, c, v) VALUES (2, 1, 'd')",
};
const Texts kViewed = {
    "TRUNCATE k.viewed",
    "INSERT INTO k.viewed (p, c, v) VALUES (1, 1, 10)",
    "INSERT INTO k.viewed (p, c, v) VALUES (2, 1, 20)",
};
const Texts kCounted = {"TRUNCATE k.counts", "UPDATE k.counts SET n = n + 5 WHERE p = 1"};
const Texts kFilled = {
    "DROP MATERIALIZED VIEW IF EXISTS k.of_filled",
    "DROP INDEX IF EXISTS k.by_v",
    "DROP TABLE IF EXISTS k.filled",
    "CREATE TABLE k.filled (p int, c int, v int, w text, PRIMARY KEY (p, c))",
    "INSERT INTO k.filled (p, c, v, w) VALUES (1, 1, 10, 'a')",
    "INSERT INTO k.filled (p, c, v, w) VALUES (1, 2, 20, 'b')",
    "INSERT INTO k.filled (p, c, v, w) VALUES (2, 1, 10, 'c')",
};
const Texts kWide = {
    "TRUNCATE k.wide",
    "BEGIN BATCH INSERT INTO k.wide (p, c, v, w, m) VALUES (1, 1, 10, 'a', {1: 'x', 2: 'y'}); "
    "INSERT INTO k.wide (p, c, v, w) VALUES (1, 2, 10, 'b'); "
    "INSERT INTO k.wide (p, c, v, w) VALUES (1, 3, 20, 'c'); "
    "INSERT INTO k.wide (p, c, v, w) VALUES (2, 1, 20, 'd'); APPLY BATCH",
};
// Rows of long keys and many cells, of two times; ranges that were deleted.
const std::string kLongKey = "a clustering key that is somewhat long ";
const Texts kMixed = {
    "TRUNCATE k.mixed",
    "BEGIN BATCH "
    "INSERT INTO k.mixed (p, c, a, b, d, e, f, g) VALUES (1, '" +
        kLongKey +
        "1', 'a', 'b', 'd', 'e', 'f', 'g') USING TIMESTAMP 1000; "
        "INSERT INTO k.mixed (p, c, a, b, d, e, f, g) VALUES (1, '" +
        kLongKey +
        "2', 'a', 'b', 'd', 'e', 'f', 'g') USING TIMESTAMP 1000; "
        "UPDATE k.mixed USING TIMESTAMP 3000 SET a = 'A', b = 'B', d = 'D', e = 'E', f = 'F' WHERE "
        "p = "
        "1 AND c = '" +
        kLongKey + "1'; APPLY BATCH",
    "BEGIN BATCH DELETE FROM k.mixed USING TIMESTAMP 500 WHERE p = 2 AND c >= 'a' AND c < 'b'; "
    "DELETE FROM k.mixed USING TIMESTAMP 501 WHERE p = 2 AND c >= 'c' AND c < 'd'; "
    "DELETE FROM k.mixed USING TIMESTAMP 502 WHERE p = 2 AND c >= 'e' AND c < 'f'; "
    "DELETE FROM k.mixed USING TIMESTAMP 503 WHERE p = 2 AND c >= 'g' AND c < 'h'; "
    "DELETE FROM k.mixed USING TIMESTAMP 504 WHERE p = 2 AND c >= 'i' AND c < 'j'; "
    "DELETE FROM k.mixed USING TIMESTAMP 505 WHERE p = 2 AND c >= 'k' AND c < 'l'; "
    "DELETE FROM k.mixed USING TIMESTAMP 506 WHERE p = 2 AND c >= 'm' AND c < 'n'; "
    "DELETE FROM k.mixed USING TIMESTAMP 507 WHERE p = 2 AND c >= 'o' AND c < 'p'; "
    "DELETE FROM k.mixed USING TIMESTAMP 508 WHERE p = 2 AND c >= 'q' AND c < 'r'; "
    "DELETE FROM k.mixed USING TIMESTAMP 509 WHERE p = 2 AND c >= 's' AND c < 't'; "
    "INSERT INTO k.mixed (p, c, a) VALUES (2, 'bb', 'kept') USING TIMESTAMP 400; APPLY BATCH",
};
const Texts kLookMixed = {"SELECT * FROM k.mixed", "SELECT writetime(a) FROM k.mixed WHERE p = 1"};
const Texts kFilledWithViews = {
    kFilled[0],
    kFilled[1],
    kFilled[2],
    kFilled[3],
    kFilled[4],
    kFilled[5],
    kFilled[6],
    "CREATE MATERIALIZED VIEW k.of_filled AS SELECT * FROM k.filled WHERE v IS NOT NULL AND p IS "
    "NOT "
    "NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)",
};
const Texts kDoomed = {
    "DROP KEYSPACE IF EXISTS k2",
    "CREATE KEYSPACE k2 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE k2.a (p int, c int, v int, PRIMARY KEY (p, c))",
    "CREATE TABLE k2.b (p int PRIMARY KEY, v int)",
    "CREATE TABLE k2.d (p int PRIMARY KEY, v int)",
    "CREATE INDEX ON k2.b (v)",
    "CREATE MATERIALIZED VIEW k2.by_c AS SELECT * FROM k2.a WHERE c IS NOT NULL AND p IS NOT NULL "
    "PRIMARY KEY (c, p)",
    "INSERT INTO k2.a (p, c, v) VALUES (1, 1, 1)",
    "INSERT INTO k2.b (p, v) VALUES (1, 1)",
};
const std::string kSetAction = "UPDATE liststore.data SET action = ";
const std::string kOfData = " WHERE key = 'data'";
// The same, which a mark is to have as it is.
Texts AfterMark(Texts before) {
  before.push_back(kSetAction + "'mark'" + kOfData);
  return before;
}
const Texts kMarked = {
    "DROP TABLE IF EXISTS k.u",
    "DROP TABLE IF EXISTS k.after_mark",  // of a reset that was refused
    "TRUNCATE k.t",
    "TRUNCATE k.viewed",
    "INSERT INTO k.t (p, c, v) VALUES (1, 1, 'a')",
    "INSERT INTO k.viewed (p, c, v) VALUES (1, 1, 10)",
    "CREATE TABLE k.u (p int PRIMARY KEY)",
    "INSERT INTO k.u (p) VALUES (1)",
    kSetAction + "'mark'" + kOfData,
    "INSERT INTO k.t (p, c, v) VALUES (1, 2, 'b')",
    "UPDATE k.viewed SET v = 11 WHERE p = 1 AND c = 1",
    "DROP TABLE k.u",
    "CREATE TABLE k.after_mark (p int PRIMARY KEY)",
};
const Texts kLookT = {"SELECT * FROM k.t"};
const Texts kLookWide = {"SELECT * FROM k.wide", "SELECT * FROM k.wide_by_v"};
const Texts kLookMarked = {
    "SELECT * FROM k.t",
    "SELECT * FROM k.viewed",
    "SELECT * FROM k.by_c",
    "SELECT p FROM k.viewed WHERE v = 11",
    "SELECT * FROM k.u",
    "SELECT * FROM k.after_mark",
    "SELECT keyspaces, tables FROM liststore.data",  // rows wait for reclamation for a while
};
const Texts kLookViewed = {"SELECT * FROM k.viewed", "SELECT * FROM k.by_c",
                           "SELECT p FROM k.viewed WHERE v = 10",
                           "SELECT p FROM k.viewed WHERE v = 11"};
const Texts kLookCounts = {"SELECT * FROM k.counts"};
const Texts kLookSchema = {
    "SELECT keyspace_name FROM system_schema.keyspaces",
    "SELECT keyspace_name, table_name FROM system_schema.tables",
    "SELECT table_name, column_name, type FROM system_schema.columns WHERE keyspace_name = 'k'",
    "SELECT type_name FROM system_schema.types WHERE keyspace_name = 'k'",
    "SELECT table_name, index_name FROM system_schema.indexes WHERE keyspace_name = 'k'",
    "SELECT view_name FROM system_schema.views WHERE keyspace_name = 'k'",
};
const Texts kLookDoomed = {
    "SELECT keyspace_name FROM system_schema.keyspaces",
    "SELECT keyspace_name, table_name FROM system_schema.tables",
    "SELECT keyspace_name, view_name FROM system_schema.views",
    "SELECT * FROM k2.a",
    "SELECT * FROM k2.by_c",
    "SELECT p FROM k2.b WHERE v = 1",
    "SELECT * FROM k2.d",
};
const Texts kLookFilled = {
    "SELECT * FROM k.of_filled",
    "SELECT * FROM k.filled",
    "SELECT column_name, type FROM system_schema.columns WHERE keyspace_name = 'k' AND "
    "table_name = 'filled'",
    "SELECT table_name, index_name FROM system_schema.indexes WHERE keyspace_name = 'k'",
    "SELECT view_name FROM system_schema.views WHERE keyspace_name = 'k'",
    "SELECT keyspace_name, table_name FROM system_schema.tables",
};

std::function<CqlAnswer(CqlSession&)> Text(const std::string& text) {
  return [text](CqlSession& session) { return session.Run({text, {}}); };
}
std::function<CqlAnswer(CqlSession&)> Prepared(const std::string& text,
                                               const std::vector<BoundParameter>& values) {
  return [text, values](CqlSession& session) { return session.Run({text, values, true}); };
}
std::string Int(int value) { return cql::EncodeInt(value); }

CqlAnswer ReadInPages(CqlSession& session) {
  CqlParameters parameters;
  parameters.page_size = 2;
  CqlAnswer all;
  while (true) {
    CqlAnswer page = session.Run({"SELECT * FROM k.t", {}}, parameters);
    if (!page.error.empty()) return page;
    all.rows.insert(all.rows.end(), page.rows.begin(), page.rows.end());
    parameters.paging_state = page.paging_state;
    if (page.paging_state.empty()) return all;
  }
}

// Statements that are prepared are sent with their PREPARE.
const std::vector<Operation>& Operations() {
  static const std::vector<Operation> all = {
      {"an INSERT", kRows, Text("INSERT INTO k.t (p, c, v) VALUES (7, 1, 'new')"), kLookT},
      {"a prepared INSERT", kRows,
       Prepared("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)", {{Int(7)}, {Int(1)}, {"new"}}),
       kLookT},
      {"an INSERT of a long value",
       kRows,
       Prepared("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)",
                {{Int(7)}, {Int(1)}, {std::string(300'000, 'x')}}),
       {"SELECT p, c FROM k.t"}},
      {"an UPDATE", kRows, Text("UPDATE k.t SET v = 'new' WHERE p = 1 AND c IN (1, 2)"), kLookT},
      {"a DELETE", kRows, Text("DELETE FROM k.t WHERE p = 1 AND c = 2"), kLookT},
      {"a DELETE of a range", kRows, Text("DELETE FROM k.t WHERE p = 1 AND c >= 2"), kLookT},
      {"a DELETE of a partition", kRows, Prepared("DELETE FROM k.t WHERE p = ?", {{Int(1)}}),
       kLookT},
      {"a condition", kRows, Text("UPDATE k.t SET v = 'new' WHERE p = 1 AND c = 1 IF v = 'a'"),
       kLookT},
      {"an addition to a counter", kCounted, Text("UPDATE k.counts SET n = n + 2 WHERE p = 1"),
       kLookCounts},
      {"a BATCH", kRows,
       [](CqlSession& session) {
         return session.RunBatch(
             true,
             {{"INSERT INTO k.t (p, c, v) VALUES (?, 9, 'new')", {{Int(1)}}, true},
              {"INSERT INTO k.t (p, c, v) VALUES (8, 9, 'new')", {}},
              {"DELETE FROM k.t WHERE p = 2", {}}},
             std::nullopt);
       },
       kLookT},
      {"BEGIN BATCH", kRows,
       Text(
           "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, 9, 'new'); "
           "UPDATE k.t SET v = 'new' WHERE p = 9 AND c = 9; DELETE FROM k.t WHERE p = 1 AND c = 1; "
           "APPLY BATCH"),
       kLookT},
      {"a BATCH of rows with long keys and many cells", kMixed,
       Text("BEGIN BATCH INSERT INTO k.mixed (p, c, a) VALUES (3, 'new', 'x'); "
            "UPDATE k.mixed SET g = 'G' WHERE p = 1 AND c = '" +
            kLongKey + "1'; DELETE FROM k.mixed USING TIMESTAMP 2000 WHERE p = 1 AND c > '" +
            kLongKey + "'; APPLY BATCH"),
       kLookMixed},
      {"a DELETE that leaves some cells", kMixed,
       Text("DELETE FROM k.mixed USING TIMESTAMP 2000 WHERE p = 1 AND c IN ('" + kLongKey +
            "1', '" + kLongKey + "2')"),
       kLookMixed},
      {"a BATCH that deletes over many ranges", kMixed,
       Text("BEGIN BATCH INSERT INTO k.mixed (p, c, a) VALUES (3, 'new', 'x'); "
            "DELETE FROM k.mixed USING TIMESTAMP 450 WHERE p = 2 AND c > 'aa' AND c < 'tt'; "
            "APPLY BATCH"),
       kLookMixed},
      {"a new row with its views and index", kViewed,
       Text("INSERT INTO k.viewed (p, c, v) VALUES (7, 2, 11)"), kLookViewed},
      {"another value with its views and index", kViewed,
       Text("UPDATE k.viewed SET v = 11 WHERE p = 1 AND c = 1"), kLookViewed},
      {"a row that goes with its views and index", kViewed,
       Text("DELETE FROM k.viewed WHERE p = 1"), kLookViewed},
      {"a new row with a long value and its view", kWide,
       Prepared("INSERT INTO k.wide (p, c, v, w) VALUES (?, ?, ?, ?)",
                {{Int(7)}, {Int(2)}, {Int(20)}, {std::string(50'000, 'x')}}),
       kLookWide},
      {"a long value with its view", kWide,
       Prepared("UPDATE k.wide SET w = ? WHERE p = ? AND c = ?",
                {{std::string(20'000, 'x')}, {Int(1)}, {Int(1)}}),
       kLookWide},
      {"a collection with its view", kWide,
       Text("UPDATE k.wide SET m = m + {3: 'a', 4: 'b', 5: 'c', 6: 'd', 7: 'e', 8: 'f', 9: 'g', "
            "10: 'h', 11: 'i', 12: 'j', 13: 'k', 14: 'l', 15: 'm', 16: 'n', 17: 'o', 18: 'p'}, "
            "v = 20 WHERE p = 1 AND c = 1"),
       kLookWide},
      {"a condition with its view", kWide,
       Text("UPDATE k.wide SET v = 30 WHERE p = 1 AND c = 1 IF w = 'a'"), kLookWide},
      {"a BATCH with views",
       kWide,
       Text("BEGIN BATCH INSERT INTO k.wide (p, c, v, w) VALUES (1, 9, 10, 'new'); "
            "UPDATE k.wide SET v = null WHERE p = 1 AND c = 1; "
            "UPDATE k.wide USING TTL 1000 SET v = 30 WHERE p = 9 AND c = 9; "
            "DELETE FROM k.wide WHERE p = 1 AND c > 1 AND c < 5; DELETE FROM k.wide WHERE p = 2; "
            "APPLY BATCH"),
       {"SELECT * FROM k.wide", "SELECT p, c, v, w, m FROM k.wide_by_v"}},
      {"a DELETE of a range with its view", kWide,
       Text("DELETE FROM k.wide WHERE p = 1 AND c <= 2"), kLookWide},
      {"a TRUNCATE", kViewed, Text("TRUNCATE k.viewed"), kLookViewed},
      {"a SELECT", kRows, Prepared("SELECT * FROM k.t WHERE p = ?", {{Int(1)}}), kLookT},
      {"a SELECT of all", kRows, Text("SELECT v, p FROM k.t WHERE v = 'a' ALLOW FILTERING"),
       kLookT},
      {"a SELECT with IN and ORDER BY", kRows,
       Text("SELECT * FROM k.t WHERE p IN (1, 2) AND c > 0 LIMIT 3"), kLookT},
      {"a sum", kRows, Text("SELECT count(*), max(c), min(v) FROM k.t"), kLookT},
      {"JSON", kRows, Text("SELECT JSON * FROM k.t"), kLookT},
      {"pages", kRows, ReadInPages, kLookT},
      {"a large answer", {}, Text("SELECT * FROM k.large"), kLookT},
      {"a SELECT of the schema", {}, Text("SELECT * FROM system_schema.columns"), kLookT},
      {"a SELECT by an index", kViewed, Text("SELECT * FROM k.viewed WHERE v = 10"), kLookViewed},
      {"CREATE KEYSPACE", kNoTable,
       Text("CREATE KEYSPACE k2 WITH replication = {'class': 'SimpleStrategy', "
            "'replication_factor': 1}"),
       kLookSchema},
      {"CREATE TABLE", kNoTable, Text("CREATE TABLE k.u (p int PRIMARY KEY, v map<int, text>)"),
       kLookSchema},
      {"CREATE TYPE", kNoTable, Text("CREATE TYPE k.pair (a int, b text)"), kLookSchema},
      {"ALTER TABLE ADD", kFilled, Text("ALTER TABLE k.filled ADD n int"), kLookFilled},
      {"ALTER TABLE DROP", kFilled, Text("ALTER TABLE k.filled DROP w"), kLookFilled},
      {"CREATE INDEX", kFilled, Text("CREATE INDEX by_v ON k.filled (v)"), kLookFilled},
      {"CREATE MATERIALIZED VIEW", kFilled, Text(kFilledWithViews.back()), kLookFilled},
      {"DROP MATERIALIZED VIEW", kFilledWithViews, Text("DROP MATERIALIZED VIEW k.of_filled"),
       kLookFilled},
      {"DROP KEYSPACE", kDoomed, Text("DROP KEYSPACE k2"), kLookDoomed},
      {"a mark", kRows, Text(kSetAction + "'mark'" + kOfData), kLookMarked},
      {"a reset", kMarked, Text(kSetAction + "'reset'" + kOfData), kLookMarked},
      {"an INSERT after a mark", AfterMark(kRows),
       Text("INSERT INTO k.t (p, c, v) VALUES (1, 7, 'new')"), kLookT},
      {"a DELETE of a partition after a mark", AfterMark(kRows),
       Text("DELETE FROM k.t WHERE p = 1"), kLookT},
      {"a BATCH of rows with long keys and many cells after a mark", AfterMark(kMixed),
       Text("BEGIN BATCH INSERT INTO k.mixed (p, c, a) VALUES (3, 'new', 'x'); "
            "UPDATE k.mixed SET g = 'G' WHERE p = 1 AND c = '" +
            kLongKey +
            "1'; DELETE FROM k.mixed USING TIMESTAMP 450 WHERE p = 2 AND c > 'aa' AND "
            "c < 'tt'; APPLY BATCH"),
       kLookMixed},
      {"a BATCH with views after a mark",
       AfterMark(kWide),
       Text("BEGIN BATCH INSERT INTO k.wide (p, c, v, w) VALUES (1, 9, 10, 'new'); "
            "UPDATE k.wide SET v = null WHERE p = 1 AND c = 1; DELETE FROM k.wide WHERE p = 2; "
            "APPLY BATCH"),
       {"SELECT * FROM k.wide", "SELECT p, c, v, w, m FROM k.wide_by_v"}},
      {"a TRUNCATE after a mark", AfterMark(kViewed), Text("TRUNCATE k.viewed"), kLookViewed},
      {"ALTER TABLE ADD after a mark", AfterMark(kFilled), Text("ALTER TABLE k.filled ADD n int"),
       kLookFilled},
      {"DROP KEYSPACE after a mark", AfterMark(kDoomed), Text("DROP KEYSPACE k2"), kLookDoomed},
  };
  return all;
}

class RefusedAllocationOverCql : public ::testing::Test {
 protected:
  void SetUp() override {
    SpareThisThread();
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    options.user = kRoot.user;
    options.password = kRoot.password;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    const auto observer = Connect();
    Must(*observer,
         {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
          "'replication_factor': 1}",
          "CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))",
          "CREATE TABLE k.mixed (p int, c text, a text, b text, d text, e text, f text, g text, "
          "PRIMARY "
          "KEY (p, c))",
          "CREATE TABLE k.counts (p int PRIMARY KEY, n counter)",
          "CREATE TABLE k.viewed (p int, c int, v int, PRIMARY KEY (p, c))",
          "CREATE INDEX viewed_v ON k.viewed (v)",
          "CREATE MATERIALIZED VIEW k.by_c AS SELECT * FROM k.viewed WHERE c IS NOT NULL AND p IS "
          "NOT NULL PRIMARY KEY (c, p)",
          "CREATE TABLE k.wide (p int, c int, v int, w text, m map<int, text>, PRIMARY KEY (p, c))",
          "CREATE MATERIALIZED VIEW k.wide_by_v AS SELECT * FROM k.wide WHERE v IS NOT NULL AND p "
          "IS NOT "
          "NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)",
          "CREATE TABLE k.large (p int PRIMARY KEY, v blob)"});
    for (int p = 0; p < 40; ++p) {
      const CqlStatement insert{
          "INSERT INTO k.large (p, v) VALUES (?, ?)", {{Int(p)}, {std::string(30'000, 'x')}}, true};
      ASSERT_EQ(observer->Run(insert).error, "");
    }
  }

  std::unique_ptr<CqlSession> Connect() {
    auto session = std::make_unique<CqlSession>(server_->cql_port(), kRoot);
    EXPECT_EQ(session->login_error(), "");
    return session;
  }
  static void Must(CqlSession& session, const Texts& texts) {
    for (const std::string& text : texts) ASSERT_EQ(session.Run({text, {}}).error, "") << text;
  }
  static std::string Show(const CqlAnswer& answer) {
    std::string text = answer.error;
    for (const ResultRow& row : answer.rows) {
      text += "\n ";
      for (const auto& cell : row) text += " " + (cell ? "'" + *cell + "'" : "null");
    }
    return text;
  }
  static std::string State(CqlSession& session, const Operation& operation) {
    std::string state;
    for (const std::string& look : operation.looks) {
      const CqlAnswer answer = session.Run({look, {}});
      state += look + Show(answer) + "\n";
    }
    return state;
  }
  // Of all connections but the observer's.
  void ExpectNothingHeld(CqlSession& observer) {
    while (server_->connection_count() > 1) std::this_thread::yield();
    const CqlAnswer held = observer.Run(
        {"SELECT bytes FROM liststore.memory WHERE kind = 'connections' AND name = 'all'", {}});
    ASSERT_EQ(held.error, "");
    ASSERT_EQ(held.rows.size(), 1u);
    EXPECT_EQ(cql::DecodeInteger(*held.rows[0][0]), 0);
  }

  void RefuseEachInTurn(const Operation& operation, bool onwards, Random& rng) {
    SCOPED_TRACE(operation.name);
    SCOPED_TRACE(onwards ? "all after it too" : "once");
    auto observer = Connect();
    Must(*observer, operation.before);
    const std::string before = State(*observer, operation);
    const CqlAnswer expected = operation.run(*Connect());
    ASSERT_EQ(expected.error, "");
    const std::string after = State(*observer, operation);
    bool refused = true;
    uint64_t errors = 0;
    uint64_t ends = 0;
    uint64_t nth = 0;
    while (refused) {
      // Each at first; then some of them.
      nth += nth < each_max_ ? 1 : 1 + rng.Below(nth / 8);
      ASSERT_LT(nth, 1'000'000u);
      SCOPED_TRACE(nth);
      ASSERT_NO_FATAL_FAILURE(Must(*observer, operation.before));
      ASSERT_EQ(State(*observer, operation), before);
      auto client = Connect();
      RefusedNew refusal(nth, onwards);
      const CqlAnswer answer = operation.run(*client);
      refused = refusal.End();
      client.reset();
      ASSERT_NO_FATAL_FAILURE(ExpectNothingHeld(*observer));
      observer = Connect();
      const std::string state = State(*observer, operation);
      if (answer.error.empty()) {
        ASSERT_EQ(Show(answer), Show(expected));
        ASSERT_EQ(state, after);
        continue;
      }
      ASSERT_TRUE(refused) << answer.error;
      if (answer.error == kEnded) {
        ++ends;
      } else {
        ++errors;
        ASSERT_TRUE(answer.code == kServerError || answer.code == kOverloaded ||
                    answer.code == kWriteFailure || answer.code == kWriteTimeout)
            << answer.code << " " << answer.error;
        ASSERT_NE(answer.error.find("memory"), std::string::npos) << answer.error;
        ASSERT_EQ(state, before) << "an error, and done: " << answer.error;
      }
      ASSERT_TRUE(state == before || state == after) << "half applied: " << state;
    }
    std::printf("%s: up to %llu, %llu errors, %llu ended\n", operation.name,
                static_cast<unsigned long long>(nth), static_cast<unsigned long long>(errors),
                static_cast<unsigned long long>(ends));
  }

  // So many are refused one by one, then some of those that follow.
  const uint64_t each_max_ = TestSteps(300);

  std::unique_ptr<CqlServer> server_;
};

TEST_F(RefusedAllocationOverCql, IsAnErrorOrTheEndOfItsConnectionAlone) {
  Random rng(TestSeed());
  for (const Operation& operation : Operations()) {
    for (const bool onwards : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(RefuseEachInTurn(operation, onwards, rng));
    }
  }
}

// From the listener to the login: once, since nobody is heard where all is refused.
TEST_F(RefusedAllocationOverCql, OfSomebodyWhoComesIsTheEndOfThatConnection) {
  auto observer = Connect();
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 100'000u);
    SCOPED_TRACE(nth);
    {
      RefusedNew refusal(nth);
      RawCqlClient client(server_->cql_port());
      const auto supported = client.Ask({.opcode = kOptions});
      bool answered = supported && supported->opcode == kSupported;
      if (answered) {
        const auto asked = client.Ask({.opcode = 0x01, .body = StartupBody()});
        answered = asked && asked->opcode == 0x03;
      }
      if (answered) {
        const std::string token = std::string(1, '\0') + kRoot.user + '\0' + kRoot.password;
        const auto success = client.Ask({.opcode = 0x0f, .body = BytesBody(token)});
        answered = success && success->opcode == 0x10;
      }
      if (answered) {
        const auto ready = client.Ask(
            {.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE", "STATUS_CHANGE"})});
        answered = ready && ready->opcode == kReady;
      }
      refused = refusal.End();
      ASSERT_TRUE(answered || refused);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectNothingHeld(*observer));
    ASSERT_NO_FATAL_FAILURE(Must(*Connect(), {"SELECT * FROM k.t"}));
  }
}

// Who changes the schema is answered; who is told of it either hears it, or is closed.
TEST_F(RefusedAllocationOverCql, OfAnEventLeavesTheServerWhole) {
  auto observer = Connect();
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 100'000u);
    SCOPED_TRACE(nth);
    ASSERT_NO_FATAL_FAILURE(Must(*observer, {"DROP TABLE IF EXISTS k.u"}));
    std::vector<RawCqlClient> listeners;
    for (int i = 0; i < 2; ++i) {
      RawCqlClient& client = listeners.emplace_back(server_->cql_port());
      ASSERT_TRUE(client.Ask({.opcode = 0x01, .body = StartupBody()}));
      const std::string token = std::string(1, '\0') + kRoot.user + '\0' + kRoot.password;
      ASSERT_TRUE(client.Ask({.opcode = 0x0f, .body = BytesBody(token)}));
      ASSERT_TRUE(client.Ask({.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE"})}));
    }
    RefusedNew refusal(nth);
    const CqlAnswer answer = observer->Run({"CREATE TABLE k.u (p int PRIMARY KEY)", {}});
    // Behind the event, where there is one.
    int told = 0;
    for (RawCqlClient& client : listeners) {
      bool heard = false;
      bool ended = true;
      if (client.Send({.stream = 5, .opcode = kOptions})) {
        while (const auto frame = client.Read()) {
          heard |= frame->opcode == kEvent;
          ended = frame->stream != 5;
          if (!ended) break;
        }
      }
      told += heard || ended ? 1 : 0;
    }
    refused = refusal.End();
    if (answer.error == kEnded) observer = Connect();
    const CqlAnswer made = observer->Run(
        {"SELECT id FROM system_schema.tables WHERE keyspace_name = 'k' AND table_name = 'u'", {}});
    ASSERT_EQ(made.error, "");
    if (!made.rows.empty()) {
      ASSERT_EQ(told, 2) << "a client has missed the event";
    }
    listeners.clear();
    ASSERT_NO_FATAL_FAILURE(ExpectNothingHeld(*observer));
  }
}

}  // namespace refused_allocation_test
}  // namespace liststore::testing
