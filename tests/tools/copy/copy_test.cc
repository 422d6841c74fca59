// `liststore export` and `liststore import` as their users run them, between two servers.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "programs/client/cql_client.h"
#include "tests/support/seed.h"
#include "tests/tools/copy/copy_server.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace copy_test {

constexpr char kClicks[] =
    "CREATE TABLE feat.clicks (user text, seq int, item text, score int, s text static, "
    "PRIMARY KEY (user, seq)) WITH CLUSTERING ORDER BY (seq DESC)";

// --- What is copied ------------------------------------------------------------------------------

TEST(Export, EachCellKeepsItsTimestampAndTtl) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(kClicks);
  source.Run(
      "INSERT INTO feat.clicks (user, seq, item, score) VALUES ('a', 1, 'x', 7) "
      "USING TIMESTAMP 1000 AND TTL 60");
  source.Run(
      "UPDATE feat.clicks USING TIMESTAMP 2000 AND TTL 600 SET score = 8 "
      "WHERE user = 'a' AND seq = 1");
  source.Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('a', 2, '') USING TIMESTAMP 3000");
  source.Run("INSERT INTO feat.clicks (user, seq) VALUES ('a', 3)");
  source.Run("UPDATE feat.clicks USING TIMESTAMP 4000 AND TTL 30 SET s = 'note' WHERE user = 'a'");
  source.Run("UPDATE feat.clicks USING TIMESTAMP 5000 SET s = 'alone' WHERE user = 'b'");
  source.Advance(10);  // what is copied is what is left
  const ProgramResult result = Export(source, target);
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "feat.clicks             3  ")) << result.out;
  EXPECT_TRUE(Has(result.out, "the same")) << result.out;

  const std::string everything =
      "SELECT user, seq, item, WRITETIME(item), TTL(item), score, WRITETIME(score), TTL(score), s, "
      "WRITETIME(s), TTL(s) FROM feat.clicks";
  EXPECT_EQ(target.Answer(everything), source.Answer(everything));
  EXPECT_EQ(target.Number("SELECT TTL(item) FROM feat.clicks WHERE user = 'a' AND seq = 1"), 50);
  target.Advance(50);
  EXPECT_EQ(target.Answer("SELECT seq, item, s FROM feat.clicks WHERE user = 'a' AND seq = 1"),
            std::vector<std::string>{std::string("\0\0\0\1", 4) + "|null|null|"});
  target.Advance(540);
  EXPECT_TRUE(target.Answer("SELECT seq FROM feat.clicks WHERE user = 'a' AND seq = 1").empty())
      << "the row was inserted with a TTL, and has none of its cells";
  EXPECT_EQ(target.Answer("SELECT seq FROM feat.clicks WHERE user = 'a'").size(), 2u);
}

TEST(Export, SchemaWithTypesIndexesAndQuotedNames) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run("CREATE TYPE feat.zip (code int)");
  source.Run("CREATE TYPE feat.address (street text, zip frozen<zip>)");
  source.Run(
      "CREATE TABLE feat.\"BigTable\" (\"The Key\" text, \"select\" int, tags "
      "frozen<list<text>>, home frozen<address>, pair tuple<int, text>, v text, "
      "PRIMARY KEY ((\"The Key\", \"select\"))) WITH default_time_to_live = 500 AND "
      "gc_grace_seconds = 77 AND comment = 'it''s big'");
  source.Run("CREATE INDEX by_v ON feat.\"BigTable\" ((\"The Key\", \"select\"), v)");
  source.Run("CREATE INDEX by_tags ON feat.\"BigTable\" (FULL(tags))");
  source.Run(
      "INSERT INTO feat.\"BigTable\" (\"The Key\", \"select\", tags, home, pair, v) VALUES ("
      "'k', 1, ['a', 'b'], {street: 'x', zip: {code: 5}}, (1, null), 'v') USING TTL 0");
  const ProgramResult result = Export(source, target);
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  for (const std::string statement :
       {"SELECT * FROM feat.\"BigTable\" WHERE \"The Key\" = 'k' AND \"select\" = 1 AND v = 'v'",
        "SELECT * FROM feat.\"BigTable\" WHERE tags = ['a', 'b']",
        "SELECT TTL(v), WRITETIME(home) FROM feat.\"BigTable\"", "DESCRIBE KEYSPACE feat"}) {
    EXPECT_EQ(target.Answer(statement), source.Answer(statement)) << statement;
    EXPECT_FALSE(target.Answer(statement).empty()) << statement;
  }
  EXPECT_EQ(Export(source, target).exit_status, 0) << "the same again changes nothing";
}

TEST(Export, CountersGoIntoAnEmptyTable) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run("CREATE TABLE feat.hits (user text PRIMARY KEY, n counter, m counter)");
  source.Run("UPDATE feat.hits SET n = n + 41, m = m - 3 WHERE user = 'a'");
  source.Run("UPDATE feat.hits SET n = n + 1 WHERE user = 'b'");
  ASSERT_EQ(Export(source, target).exit_status, 0);
  EXPECT_EQ(target.Answer("SELECT user, n, m FROM feat.hits"),
            source.Answer("SELECT user, n, m FROM feat.hits"));

  const ProgramResult again = Export(source, target);
  EXPECT_EQ(again.exit_status, 2);
  EXPECT_TRUE(Has(again.err, "feat.hits is not empty; truncate it")) << again.err;
  EXPECT_EQ(target.Number("SELECT n FROM feat.hits WHERE user = 'a'"), 41);
}

// Rows that were inserted, and of whose cells some were written again: from then on both servers
// answer alike, whatever time it is.
TEST(Export, RandomRowsLiveAndDieAlike) {
  Random random(TestSeed());
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(
      "CREATE TABLE feat.t (p int, c int, kept int, a int, b text, s int static, "
      "PRIMARY KEY (p, c))");
  const auto below = [&random](uint32_t end) { return std::to_string(random.Below(end)); };
  const auto row_of = [&] { return "p = " + below(7) + " AND c = " + below(20); };
  const uint64_t steps = TestSteps(600);
  for (uint64_t step = 0; step < steps; ++step) {
    const std::string used = " USING TIMESTAMP " + std::to_string(1000 + step) +
                             (random.Below(3) == 0 ? "" : " AND TTL " + below(300));
    switch (random.Below(4)) {
      case 0:
        source.Run("INSERT INTO feat.t (p, c, kept, a) VALUES (" + below(7) + ", " + below(20) +
                   ", 1, 2)" + used);
        break;
      case 1:
        source.Run("UPDATE feat.t" + used + " SET a = " + below(100) + " WHERE " + row_of());
        break;
      case 2:
        source.Run("UPDATE feat.t" + used + " SET b = 'b" + below(100) + "' WHERE " + row_of());
        break;
      default:
        source.Run("UPDATE feat.t" + used + " SET s = " + below(100) + " WHERE p = " + below(9));
    }
  }
  const ProgramResult result = Export(source, target, {"--page-rows", "3"});
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  const std::string everything =
      "SELECT p, c, kept, a, b, s, WRITETIME(kept), TTL(kept), WRITETIME(a), TTL(a), WRITETIME(b), "
      "TTL(b), WRITETIME(s), TTL(s) FROM feat.t";
  for (int seconds = 0; seconds < 300; seconds += 20) {
    ASSERT_EQ(target.Answer(everything), source.Answer(everything)) << "after " << seconds << " s";
    source.Advance(20);
    target.Advance(20);
  }
}

TEST(Import, FetchesNamedTablesFromAServerThatAsksForAPassword) {
  CopyServer cluster({"--clock", kClock, "--auth", "app:secret"}, {"app", "secret"});
  CopyServer server;
  MakeKeyspace(cluster);
  for (const char* table : {"one", "two"}) {
    cluster.Run("CREATE TABLE feat." + std::string(table) + " (k int PRIMARY KEY, v int)");
    cluster.Run("INSERT INTO feat." + std::string(table) + " (k, v) VALUES (1, 2) USING TTL 9");
  }
  std::vector<std::string> arguments = {"import", "--from", cluster.address(), "--via",
                                        server.address()};
  ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "give --user and --password")) << result.err;
  arguments.insert(arguments.end(), {"--user", "app", "--password", "wrong"});
  result = RunProgram(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "login of app: error 0x0100")) << result.err;
  arguments.back() = "secret";
  arguments.insert(arguments.end(), {"--table", "feat.two"});
  result = RunProgram(arguments);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(server.Number("SELECT TTL(v) FROM feat.two WHERE k = 1"), 9);
  EXPECT_EQ(server.Number("SELECT COUNT(*) FROM system_schema.tables WHERE keyspace_name = 'feat'"),
            1);
}

// --- Roles ---------------------------------------------------------------------------------------

TEST(Export, RolesTooWhereTheyAreAskedFor) {
  const std::vector<std::string> options = {"--clock",         kClock,
                                            "--auth",          "root:secret",
                                            "--scylla-option", "authorizer=CassandraAuthorizer"};
  CopyServer source(options, {"root", "secret"}), target(options, {"root", "secret"});
  MakeKeyspace(source);
  source.Run("CREATE TABLE feat.one (k int PRIMARY KEY, v int)");
  source.Run("CREATE TABLE feat.two (k int PRIMARY KEY, v int)");
  source.Run("CREATE ROLE readers");
  source.Run("CREATE ROLE bob WITH PASSWORD = 'his' AND LOGIN = true");
  source.Run("GRANT readers TO bob");
  source.Run("GRANT SELECT ON feat.one TO readers");
  source.Run("GRANT SELECT ON feat.two TO readers");
  std::vector<std::string> more = {"--user",     "root",    "--password",     "secret",
                                   "--via-user", "root",    "--via-password", "secret",
                                   "--table",    "feat.one"};
  ProgramResult result = Export(source, target, more);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM system.roles"), 1) << "nobody has asked";
  more.emplace_back("--roles");
  more.emplace_back("--dry-run");
  result = Export(source, target, more);
  EXPECT_TRUE(Has(result.out,
                  "CREATE ROLE bob WITH HASHED PASSWORD = '...' AND LOGIN = true AND "
                  "SUPERUSER = false;\n"))
      << result.out;
  more.pop_back();
  result = Export(source, target, more);
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.err, "left out: GRANT SELECT ON feat.two TO readers;")) << result.err;
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM system.roles"), 3);
  const auto bob = CqlClient::Connect(target.address(), {"bob", "his"});
  ASSERT_TRUE(bob.ok()) << bob.status();
  EXPECT_TRUE((*bob)->Query("SELECT * FROM feat.one").ok());
  EXPECT_FALSE((*bob)->Query("INSERT INTO feat.one (k) VALUES (1)").ok());
  // Again: what is there stays.
  target.Run("ALTER ROLE bob WITH PASSWORD = 'other'");
  result = Export(source, target, more);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.err, "role bob is there and stays what it is")) << result.err;
  EXPECT_TRUE(CqlClient::Connect(target.address(), {"bob", "other"}).ok());
  // Who is no superuser has no hashes.
  target.Run("CREATE ROLE other WITH PASSWORD = 'x' AND LOGIN = true");
  more[1] = "other";
  more[3] = "x";
  result = Export(source, target, more);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "--roles needs superusers of both sides")) << result.err;
}

// --- In parts ------------------------------------------------------------------------------------

TEST(Export, SchemaAndRowsOneAfterTheOther) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(kClicks);
  source.Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('a', 1, 'x')");
  ProgramResult result = Export(source, target, {"--data-only"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "CREATE TABLE feat.clicks (user text,")) << result.err;
  result = Export(source, target, {"--dry-run"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "CREATE KEYSPACE feat WITH replication = ")) << result.out;
  EXPECT_TRUE(Has(result.out, "-- rows of feat.clicks\n")) << result.out;
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM system_schema.tables WHERE keyspace_name = 'feat'"),
            0)
      << "nothing was written";

  result = Export(
      source, target,
      {"--schema-only", "--replication", "{'class': 'SimpleStrategy', 'replication_factor': 1}"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM feat.clicks"), 0);
  EXPECT_TRUE(Has(target.Answer("DESCRIBE KEYSPACE feat").at(0), "SimpleStrategy"));
  result = Export(source, target, {"--data-only"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM feat.clicks"), 1);
}

// --- What stands in the way ----------------------------------------------------------------------

TEST(Export, AnotherSchemaAtTheTargetIsRefused) {
  CopyServer source, target;
  MakeKeyspace(source);
  MakeKeyspace(target);
  source.Run(kClicks);
  source.Run("CREATE TABLE feat.another (k int PRIMARY KEY)");
  target.Run(
      "CREATE TABLE feat.clicks (user text, seq int, item int, more text, s text, "
      "PRIMARY KEY (user, seq)) WITH default_time_to_live = 5");
  const ProgramResult result = Export(source, target);
  EXPECT_EQ(result.exit_status, 2);
  for (const char* difference :
       {"column seq: clustering int, number 1, descending here, clustering int, number 1 there",
        "column item: text here, int there", "column s: static text here, text there",
        "column score is not there", "column more is there, and not here",
        "default_time_to_live: 0 here, 5 there", "nothing was written"}) {
    EXPECT_TRUE(Has(result.err, difference)) << difference << "\n" << result.err;
  }
  EXPECT_EQ(target.Number("SELECT COUNT(*) FROM system_schema.tables WHERE keyspace_name = 'feat'"),
            1);
}

TEST(Export, WhatDiffersAfterwardsIsNamed) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(kClicks);
  source.Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('a', 1, 'x') USING TIMESTAMP 5");
  ASSERT_EQ(Export(source, target).exit_status, 0);
  target.Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('b', 2, 'y')");
  ProgramResult result = Export(source, target);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_TRUE(Has(result.out, "2 rows, ")) << result.out;
  EXPECT_TRUE(Has(result.out, "first: row user='b', seq=2: at the target only")) << result.out;

  target.Run("UPDATE feat.clicks SET item = 'newer' WHERE user = 'a' AND seq = 1");
  target.Run("DELETE FROM feat.clicks WHERE user = 'b'");
  result = Export(source, target);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_TRUE(Has(result.out, "first: row user='a', seq=1: item: another value")) << result.out;
}

TEST(Export, SaysWhyItCannot) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(kClicks);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--keyspace", "fear"}, "no keyspace 'fear'; there are: feat"},
      {{"--table", "clicks"}, "no table 'clicks'; --table takes KEYSPACE.TABLE"},
      {{"--table", "feat.nothing"}, "no table 'feat.nothing'"},
      {{"--replication", "{'class': 'NoStrategy'}"}, "--replication gives another one"},
      {{"--schema-only", "--data-only"}, "excludes"},
  };
  for (const auto& [options, message] : cases) {
    const ProgramResult result = Export(source, target, options);
    EXPECT_EQ(result.exit_status, 2) << message;
    EXPECT_TRUE(Has(result.err, message)) << result.err;
  }
  EXPECT_TRUE(Has(Export(source, source).err, "is both sides"));
  const ProgramResult nobody =
      RunProgram({"export", "--via", source.address(), "--to", "127.0.0.1:1"});
  EXPECT_EQ(nobody.exit_status, 2);
  EXPECT_TRUE(Has(nobody.err, "127.0.0.1:1")) << nobody.err;
  for (const std::string wrong : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999"}) {
    EXPECT_EQ(RunProgram({"export", "--via", source.address(), "--to", wrong}).err,
              "liststore export: '" + wrong + "' is not HOST:PORT\n");
  }
}

TEST(Export, GoesOnWhenTheConnectionBroke) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(kClicks);
  for (int user = 0; user < 300; ++user) {
    source.Run("INSERT INTO feat.clicks (user, seq, item) VALUES ('u" + std::to_string(user) +
               "', 1, 'x')");
  }
  ASSERT_EQ(Export(source, target, {"--schema-only"}).exit_status, 0);
  target.Run(
      "INSERT INTO liststore.faults (name, tbl, probability, seed, times, action) "
      "VALUES ('f', 'feat.clicks', 0.1, 1, 1, 'close_connection')");
  const ProgramResult broken = Export(source, target);
  EXPECT_EQ(broken.exit_status, 2) << broken.out;
  EXPECT_TRUE(
      Has(broken.err, target.address() + ": receiving: connection closed; what was copied, "))
      << broken.err;
  EXPECT_TRUE(Has(broken.err, " rows, stays there: when it is mended run this again"))
      << broken.err;
  const ProgramResult again = Export(source, target);
  EXPECT_EQ(again.exit_status, 0) << again.out << again.err;
}

}  // namespace copy_test
}  // namespace liststore::testing
