// `liststore export` of what is written part by part, collections and user types, and of views.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/tools/copy/copy_server.h"
#include "tools/copy/remote_schema.h"
#include "tools/copy/table_comparison.h"
#include "tools/copy/table_reader.h"
#include "tools/copy/table_writer.h"

namespace liststore::testing {
namespace copy_elements_test {

constexpr char kElements[] =
    "CREATE TABLE feat.e (p int, c int, l list<text>, m map<text, int>, t set<decimal>, u address, "
    "v int, sl list<int> static, sm map<int, int> static, PRIMARY KEY (p, c))";

std::string AllOfElements() {
  std::string columns;
  for (const std::string column : {"l", "m", "t", "u", "sl", "sm"}) {
    columns +=
        ", " + column + ", liststore.writetimes(" + column + "), liststore.ttls(" + column + ")";
  }
  return "SELECT p, c, v, WRITETIME(v), TTL(v)" + columns + " FROM feat.e";
}

TEST(Export, EachElementKeepsItsTimestampAndTtl) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run("CREATE TYPE feat.address (street text, city text)");
  source.Run(kElements);
  const std::string row = " WHERE p = 1 AND c = 1";
  source.Run(
      "INSERT INTO feat.e (p, c, v, m, l) VALUES (1, 1, 7, {'a': 1, 'b': 2}, ['x', 'y']) "
      "USING TIMESTAMP 1000");
  source.Run(
      "UPDATE feat.e USING TIMESTAMP 2000 AND TTL 60 SET m['b'] = 3, l = l + ['z'], "
      "t = {1.0, 2.50}, u.city = 'k'" +
      row);
  source.Run("UPDATE feat.e USING TIMESTAMP 3000 SET l[0] = 'X', u.street = 's'" + row);
  source.Run("UPDATE feat.e SET l = ['first'] + l" + row);  // in front of what came since 2010
  source.Run("UPDATE feat.e USING TTL 500 SET sl = [1, 2], sm[5] = 6 WHERE p = 1");
  source.Run("UPDATE feat.e USING TIMESTAMP 50 SET m['only'] = 1 WHERE p = 1 AND c = 2");
  source.Run("UPDATE feat.e USING TIMESTAMP 60 SET sl = sl + [3] WHERE p = 2");
  source.Advance(10);
  for (int i = 0; i < 2; ++i) {  // the same again changes nothing
    const ProgramResult result = Export(source, target);
    ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(Has(result.out, "feat.e             2  ")) << result.out;
    EXPECT_EQ(target.Answer(AllOfElements()), source.Answer(AllOfElements()));
  }
  EXPECT_EQ(target.Answer("SELECT JSON l, m, t, u, sl FROM feat.e WHERE p = 1 AND c = 1"),
            std::vector<std::string>{
                R"({"l": ["X", "y", "z", "first"], "m": {"a": 1, "b": 3}, "t": [1, 2.5], "u": )"
                R"({"street": "s", "city": "k"}, "sl": [1, 2]}|)"});
  target.Advance(50);
  EXPECT_EQ(target.Answer("SELECT JSON l, m, t, u FROM feat.e WHERE p = 1 AND c = 1"),
            std::vector<std::string>{R"({"l": ["X", "y", "first"], "m": {"a": 1}, "t": null, )"
                                     R"("u": {"street": "s", "city": null}}|)"});
}

TEST(Export, ElementsThatDifferAreNamed) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run("CREATE TYPE feat.address (street text, city text)");
  source.Run(kElements);
  source.Run(
      "INSERT INTO feat.e (p, c, m, l) VALUES (1, 1, {'a': 1}, ['x', 'y']) "
      "USING TIMESTAMP 1000");
  ASSERT_EQ(Export(source, target).exit_status, 0);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE feat.e USING TIMESTAMP 1000 SET m['b'] = 2", "m, an element: at the target only"},
      {"UPDATE feat.e SET m['a'] = 2", "m, an element: another value"},
      {"UPDATE feat.e USING TTL 5000 SET t = {1}", "t, an element: at the target only"},
      {"DELETE l[0] FROM feat.e", "l, an element: another value"},
      {"UPDATE feat.e USING TIMESTAMP 9 SET u.city = 'c'", "u, an element: at the target only"},
  };
  for (const auto& [statement, difference] : cases) {
    target.Run("TRUNCATE feat.e");
    ASSERT_EQ(Export(source, target).exit_status, 0);
    target.Run(statement + " WHERE p = 1 AND c = 1");
    const ProgramResult result = Export(source, target);
    EXPECT_EQ(result.exit_status, 1) << statement;
    EXPECT_TRUE(Has(result.out, "1 row differs")) << result.out;
    EXPECT_TRUE(Has(result.out, "first: row p=1, c=1: " + difference)) << result.out;
  }
}

// Lists are changed in all ways, at either end and in the middle, and grow out of order.
TEST(Export, RandomElementsLiveAndDieAlike) {
  Random random(TestSeed());
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run("CREATE TYPE feat.address (street text, city text)");
  source.Run(kElements);
  const auto below = [&random](uint32_t end) { return std::to_string(random.Below(end)); };
  const uint64_t steps = TestSteps(600);
  for (uint64_t step = 0; step < steps; ++step) {
    // Prepending takes a time after 2010; some writes come late.
    const int64_t micros =
        int64_t{1'600'000'000'000'000} + static_cast<int64_t>(step) * 10 - random.Below(30);
    const std::string used = " USING TIMESTAMP " + std::to_string(micros) +
                             (random.Below(2) == 0 ? "" : " AND TTL " + below(300));
    const std::string n = below(50);
    const std::vector<std::string> assignments = {"l = l + ['a" + n + "', 'b']",
                                                  "l = ['p" + n + "', 'q'] + l",
                                                  "l = ['w', 'w" + n + "']",
                                                  "l = l - ['b']",
                                                  "m['k" + below(6) + "'] = " + n,
                                                  "m = {'z': " + n + "}",
                                                  "t = t + {" + n + ", 3.50}",
                                                  "t = t - {3.5}",
                                                  "u.city = 'c" + n + "'",
                                                  "u = {street: 's'}",
                                                  "v = " + n};
    const std::string key = " WHERE p = " + below(4) + " AND c = " + below(4);
    if (random.Below(6) == 0) {
      source.Run("UPDATE feat.e" + used + " SET sl = sl + [" + n + "], sm[" + below(4) + "] = 1 " +
                 "WHERE p = " + below(5));
      continue;
    }
    source.Run("UPDATE feat.e" + used + " SET " + assignments[random.Below(assignments.size())] +
               key);
  }
  for (int i = 0; i < 2; ++i) {
    const ProgramResult result = Export(source, target, {"--page-rows", "3"});
    ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  }
  for (int seconds = 0; seconds < 300; seconds += 20) {
    ASSERT_EQ(target.Answer(AllOfElements()), source.Answer(AllOfElements()))
        << "after " << seconds << " s";
    source.Advance(20);
    target.Advance(20);
  }
}

TEST(Export, ViewsComeWithTheirTables) {
  CopyServer source, target;
  MakeKeyspace(source);
  source.Run(
      "CREATE TABLE feat.\"Clicks\" (user text, seq int, item text, tags set<text>, score int, "
      "PRIMARY KEY (user, seq))");
  source.Run(
      "CREATE MATERIALIZED VIEW feat.\"ByItem\" AS SELECT * FROM feat.\"Clicks\" WHERE item IS NOT "
      "NULL AND user IS NOT NULL AND seq IS NOT NULL PRIMARY KEY (item, seq, user) WITH "
      "CLUSTERING ORDER BY (seq DESC) AND comment = 'it''s'");
  source.Run(
      "CREATE MATERIALIZED VIEW feat.high AS SELECT user, seq, tags FROM feat.\"Clicks\" WHERE "
      "score > 5 AND user IS NOT NULL AND seq IS NOT NULL PRIMARY KEY (score, user, seq)");
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    source.Run("INSERT INTO feat.\"Clicks\" (user, seq, item, tags, score) VALUES ('u', " + n +
               ", 'i" + std::to_string(i % 3) + "', {'t" + n + "'}, " + n + ") USING TIMESTAMP " +
               n + "00" + (i % 2 == 0 ? "" : " AND TTL 500"));
  }
  ProgramResult result = Export(source, target, {"--table", "feat.Clicks"});
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(Has(result.out, "feat.ByItem            20  ")) << result.out;
  EXPECT_TRUE(Has(result.out, "feat.high              14  ")) << result.out;
  EXPECT_TRUE(Has(result.out, "1 table, 20 rows, 2 views in ")) << result.out;
  for (const std::string statement :
       {"SELECT item, seq, user, tags, score, liststore.writetimes(tags) FROM feat.\"ByItem\"",
        "SELECT score, user, seq, tags FROM feat.high", "DESCRIBE KEYSPACE feat"}) {
    EXPECT_EQ(target.Answer(statement), source.Answer(statement)) << statement;
  }
  EXPECT_EQ(Export(source, target).exit_status, 0) << "the same again changes nothing";

  target.Run("DROP MATERIALIZED VIEW feat.high");
  result = Export(source, target, {"--data-only"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(Has(result.err, "view feat.high is not there, and --data-only makes none"));
  EXPECT_TRUE(Has(result.out, "1 table, 20 rows, 1 view in ")) << result.out;

  target.Run("INSERT INTO feat.\"Clicks\" (user, seq, item) VALUES ('u', 99, 'i')");
  result = Export(source, target);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_TRUE(Has(result.out, "first: row item='i', seq=99, user='u': at the target only"))
      << result.out;
  target.Run("DROP MATERIALIZED VIEW feat.high");
  target.Run(
      "CREATE MATERIALIZED VIEW feat.high AS SELECT user, seq FROM feat.\"Clicks\" WHERE "
      "item IS NOT NULL AND user IS NOT NULL AND seq IS NOT NULL PRIMARY KEY (item, user, seq)");
  result = Export(source, target);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_TRUE(Has(result.err, "view feat.high: column score is not there")) << result.err;
  EXPECT_EQ(Export(source, target, {"--no-views"}).exit_status, 1);
  EXPECT_TRUE(Has(Export(source, target, {"--table", "feat.high"}).err,
                  "'feat.high' is a view, and comes with its table, feat.Clicks"));
}

// --- Servers that tell and take less -------------------------------------------------------------

// feat.t at two servers that are taken for what their schemas say.
class TableCopy {
 public:
  TableCopy(CopyServer& source, CopyServer& target) : source_(source), target_(target) {
    for (CopyServer* const server : {&source, &target}) {
      MakeKeyspace(*server);
      server->Run(
          "CREATE TABLE feat.t (p int PRIMARY KEY, l list<text>, m map<text, int>, v int) WITH "
          "default_time_to_live = 500");
    }
    from_ = *ReadRemoteSchema(source.client());
    to_ = *ReadRemoteSchema(target.client());
  }
  RemoteSchema& from() { return from_; }
  RemoteSchema& to() { return to_; }

  void Run() {
    TableReader reader = *TableReader::Open(source_.client(), table(), 100, from_);
    TableWriter writer = *TableWriter::Open(target_.client(), table(), to_, reader.page().layout());
    for (int range = 0; range < kTokenRanges; ++range) {
      reader.Begin(range);
      while (*reader.Next()) {
        for (size_t row = 0; row < reader.page().size(); ++row) {
          ASSERT_TRUE(writer.Write(reader.page(), row).ok());
        }
        ASSERT_TRUE(writer.Flush().ok());
      }
    }
  }

  // The first difference, in words.
  std::string Compare() {
    TableReader here = *TableReader::Open(source_.client(), table(), 100, from_);
    TableReader there = *TableReader::Open(target_.client(), table(), 100, to_);
    TableComparison comparison(table(), here.page().layout(), there.page().layout());
    for (int range = 0; range < kTokenRanges; ++range) {
      here.Begin(range);
      there.Begin(range);
      while (*here.Next()) comparison.Add(TableComparison::kSource, here.page(), 2);
      while (*there.Next()) comparison.Add(TableComparison::kTarget, there.page(), 2);
      comparison.EndOfRange();
    }
    return comparison.first_difference();
  }

 private:
  const RemoteTable& table() const { return *from_.Find("feat")->FindTable("t"); }

  CopyServer& source_;
  CopyServer& target_;
  RemoteSchema from_, to_;
};

// Cassandra keeps the form that a number came in, we keep the simplest. Here both are in columns
// that keep what they are given, and are taken for keys.
TEST(TableComparison, NumbersInFrozenKeysHaveSeveralForms) {
  CopyServer source, target;
  RemoteSchema schemas[2];
  size_t side = 0;
  for (CopyServer* const server : {&source, &target}) {
    MakeKeyspace(*server);
    server->Run(
        "CREATE TABLE feat.t (p int PRIMARY KEY, c frozen<list<decimal>>, d frozen<map<varint, "
        "tuple<int, decimal>>>)");
    const std::string zeros = server == &source ? "" : "000";
    server->Run("INSERT INTO feat.t (p, c, d) VALUES (1, [1.5" + zeros + ", 2], {7: (1, 3.0" +
                zeros + ")})");
    schemas[side] = *ReadRemoteSchema(server->client());
    for (RemoteKeyspace& keyspace : schemas[side].keyspaces) {
      for (RemoteTable& table : keyspace.tables) {
        for (RemoteColumn& column : table.columns) {
          if (column.kind == RemoteColumn::Kind::kRegular) {
            column.kind = RemoteColumn::Kind::kClustering;
          }
        }
      }
    }
    ++side;
  }
  const RemoteTable& table = *schemas[0].Find("feat")->FindTable("t");
  TableReader here = *TableReader::Open(source.client(), table, 100, schemas[0]);
  TableReader there = *TableReader::Open(target.client(), table, 100, schemas[1]);
  TableComparison comparison(table, here.page().layout(), there.page().layout());
  for (int range = 0; range < kTokenRanges; ++range) {
    here.Begin(range);
    there.Begin(range);
    while (*here.Next()) comparison.Add(TableComparison::kSource, here.page(), 2);
    while (*there.Next()) comparison.Add(TableComparison::kTarget, there.page(), 2);
    comparison.EndOfRange();
  }
  EXPECT_EQ(comparison.first_difference(), "");
  EXPECT_EQ(comparison.totals(TableComparison::kSource).rows, 1u);
  EXPECT_EQ(comparison.totals(TableComparison::kTarget).checksum,
            comparison.totals(TableComparison::kSource).checksum);
}

// As Cassandra: what is appended stands behind what was appended before.
TEST(TableWriter, AppendsListsInTheirOrderWhereElementsHaveNoPlaces) {
  CopyServer source, target;
  TableCopy copy(source, target);
  const int runs = 2300;  // more than a batch takes of them
  for (int i = 0; i < runs; ++i) {
    const std::string n = std::to_string(i);
    source.Run("UPDATE feat.t USING TIMESTAMP " + std::to_string(1000 + i) + " AND TTL " +
               std::to_string(100 + i / 3) + " SET l = l + ['" + n + "', '" + n +
               "'] WHERE p = " + std::to_string(i % 9 == 0 ? 1 : 2));
  }
  const std::string large(60'000, 'x');  // and more bytes
  for (int i = 0; i < 40; ++i) {
    source.Run("UPDATE feat.t USING TIMESTAMP " + std::to_string(9000 + i) + " SET l = l + ['" +
               large + "', '" + std::to_string(i) + "'] WHERE p = 3");
  }
  EXPECT_TRUE(copy.to().places_elements);
  copy.to().places_elements = false;
  copy.Run();
  EXPECT_EQ(copy.Compare(), "");
  const std::string times =
      "SELECT JSON l, liststore.writetimes(l) AS w, liststore.ttls(l) AS t FROM feat.t";
  EXPECT_EQ(target.Answer(times), source.Answer(times));
  EXPECT_EQ(target.Answer(times).size(), 3u);
}

// As ScyllaDB: what it does not tell is the target's to give.
TEST(TableWriter, WritesWholeWhatTheSourceTellsNoTimesOf) {
  CopyServer source, target;
  TableCopy copy(source, target);
  source.Run(
      "INSERT INTO feat.t (p, l, m, v) VALUES (1, ['b'], {'k': 1}, 7) USING TIMESTAMP 900 AND TTL "
      "60");
  source.Run("UPDATE feat.t SET l = l + ['a'] WHERE p = 1");
  copy.from().part_times = PartTimes::kNever;
  for (int i = 0; i < 2; ++i) {
    copy.Run();
    EXPECT_EQ(copy.Compare(), "");
    EXPECT_EQ(target.Answer("SELECT JSON l, m, v, TTL(v) AS t, WRITETIME(v) AS w, "
                            "liststore.ttls(l) AS lt FROM feat.t"),
              std::vector<std::string>{R"({"l": ["b", "a"], "m": {"k": 1}, "v": 7, "t": 60, )"
                                       R"("w": 900, "lt": [500, 500]}|)"});
  }
  // Of such columns the values are compared, of the others the times as well.
  target.Run("UPDATE feat.t USING TTL 9 SET m['k'] = 1 WHERE p = 1");
  EXPECT_EQ(copy.Compare(), "");
  target.Run("UPDATE feat.t SET m['k'] = 2 WHERE p = 1");
  EXPECT_EQ(copy.Compare(), "row p=1: m: another value");
}

}  // namespace copy_elements_test
}  // namespace liststore::testing
