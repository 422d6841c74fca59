// Columns of frozen collections and tuples over the wire: what is stored, found, ordered and
// refused, and how clients are told of the types.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/print_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/vectors.h"

namespace liststore::testing {
namespace frozen_types_test {

class FrozenTypes : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    StartServer(options, "ks");
    Must("USE ks");
  }

  static DataType Type(std::string_view text) {
    const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(text);
    EXPECT_TRUE(spec.ok()) << text;
    return *cql::ToDataType(*spec, "ks");
  }
  // The bytes of a literal, to be bound.
  static BoundParameter Bound(std::string_view type, std::string_view literal) {
    const cql::CqlOr<cql::Expression> term = cql::ParseTerm(literal);
    EXPECT_TRUE(term.ok()) << literal;
    const auto value = cql::EncodeLiteral(*term, Type(type), "x");
    EXPECT_TRUE(value.ok()) << literal;
    return {*value, false};
  }
  // The values of the one column that `select` names, as literals.
  std::vector<std::string> Values(const std::string& select, std::string_view type,
                                  std::vector<BoundParameter> parameters = {}) {
    std::vector<std::string> values;
    for (const ResultRow& row : Must(select, std::move(parameters)).rows) {
      values.push_back(cql::PrintValue(Type(type), row.at(0)));
    }
    return values;
  }
};

struct Stored {
  std::string_view type;
  std::string_view literal;
  std::string_view stored;
};

constexpr Stored kStored[] = {
    {"frozen<list<int>>", "[3, 1, 3]", "[3, 1, 3]"},
    {"frozen<list<int>>", "[]", "[]"},
    {"frozen<set<text>>", "{'b', 'a', 'b'}", "{'a', 'b'}"},
    {"frozen<set<int>>", "{2, -1, 1}", "{-1, 1, 2}"},
    {"frozen<map<int, text>>", "{2: 'b', 1: 'a', 2: 'c'}", "{1: 'a', 2: 'b'}"},
    {"frozen<map<int, text>>", "{}", "{}"},
    {"tuple<int, text>", "(1, 'a')", "(1, 'a')"},
    {"tuple<int, text>", "(null, 'a')", "(null, 'a')"},
    {"tuple<int, text>", "(1)", "(1, null)"},
    {"frozen<list<frozen<set<int>>>>", "[{2, 1}, {}]", "[{1, 2}, {}]"},
    {"frozen<map<frozen<list<int>>, tuple<int, duration>>>", "{[1]: (2, 3h)}", "{[1]: (2, 3h)}"},
};

TEST_F(FrozenTypes, WhatIsWrittenIsReadInTheOrderOfItsType) {
  int number = 0;
  for (const Stored& stored : kStored) {
    const std::string table = "stored" + std::to_string(number++);
    const std::string type(stored.type);
    Must("CREATE TABLE " + table + " (p int PRIMARY KEY, v " + type + ")");
    Must("INSERT INTO " + table + " (p, v) VALUES (1, " + std::string(stored.literal) + ")");
    Must("INSERT INTO " + table + " (p, v) VALUES (2, ?)", {Bound(type, stored.literal)});
    Must("UPDATE " + table + " SET v = null WHERE p = 3");
    for (const int p : {1, 2}) {
      EXPECT_EQ(Values("SELECT v FROM " + table + " WHERE p = " + std::to_string(p), type),
                std::vector<std::string>{std::string(stored.stored)})
          << type << " of " << p;
    }
  }
}

// Rows in the order of the clustering column, whatever the order they were written in.
TEST_F(FrozenTypes, ClusteringColumnsAreOrderedAsTheirTypesAre) {
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"frozen<list<int>>", {"[]", "[-1, 5]", "[1]", "[1, -7]", "[1, 2]", "[2]"}},
      {"frozen<set<text>>", {"{}", "{'a'}", "{'a', 'b'}", "{'ab'}", "{'b'}"}},
      {"frozen<map<int, text>>", {"{}", "{1: 'a'}", "{1: 'a', 2: ''}", "{1: 'b'}", "{2: 'a'}"}},
      {"tuple<int, text>", {"(null, null)", "(null, 'a')", "(-1, 'x')", "(1, null)", "(1, 'a')"}},
      {"frozen<list<tuple<int, frozen<set<int>>>>>",
       {"[]", "[(1, null)]", "[(1, {})]", "[(1, {1})]", "[(1, {1}), (0, {})]", "[(2, null)]"}},
  };
  int number = 0;
  for (const auto& [type, ordered] : cases) {
    for (const bool descending : {false, true}) {
      const std::string table = "ordered" + std::to_string(number++);
      Must("CREATE TABLE " + table + " (p int, c " + type + ", v int, PRIMARY KEY (p, c)) WITH " +
           "CLUSTERING ORDER BY (c " + (descending ? "DESC" : "ASC") + ")");
      for (size_t i = 0; i < ordered.size(); ++i) {
        const std::string& value = ordered[(i * 7 + 3) % ordered.size()];
        Must("INSERT INTO " + table + " (p, c, v) VALUES (1, " + value + ", 1)");
      }
      std::vector<std::string> expected = ordered;
      if (descending) std::reverse(expected.begin(), expected.end());
      const std::string select = "SELECT c FROM " + table + " WHERE p = 1";
      EXPECT_EQ(Values(select, type), expected) << type;
      std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(Values(select + " ORDER BY c " + (descending ? "ASC" : "DESC"), type), expected);
      EXPECT_EQ(Values(select + " AND c = ?", type, {Bound(type, ordered[2])}),
                std::vector<std::string>{ordered[2]});
      std::vector<std::string> above(ordered.begin() + 3, ordered.end());
      if (descending) std::reverse(above.begin(), above.end());
      EXPECT_EQ(Values(select + " AND c > " + ordered[2], type), above) << type;
      EXPECT_EQ(Values(select + " AND c IN (" + ordered[0] + ", " + ordered[4] + ")", type).size(),
                2u);
    }
  }
}

TEST_F(FrozenTypes, PartitionKeysOfThem) {
  Must("CREATE TABLE t (k frozen<set<int>>, j tuple<int, text>, v int, PRIMARY KEY ((k, j)))");
  Must("INSERT INTO t (k, j, v) VALUES ({2, 1}, (1, 'a'), 7)");
  EXPECT_EQ(Values("SELECT v FROM t WHERE k = {1, 2} AND j = (1, 'a')", "int"),
            std::vector<std::string>{"7"});
  EXPECT_EQ(Values("SELECT v FROM t WHERE k = {1, 2} AND j IN ((1, 'b'), (1, 'a'))", "int"),
            std::vector<std::string>{"7"});
  EXPECT_EQ(Values("SELECT v FROM t WHERE k = {1} AND j = (1, 'a')", "int").size(), 0u);
}

TEST_F(FrozenTypes, RowsAreFilteredByElements) {
  Must(
      "CREATE TABLE t (p frozen<list<int>>, c frozen<set<int>>, m frozen<map<text, int>>, "
      "PRIMARY KEY (p, c))");
  Must("INSERT INTO t (p, c, m) VALUES ([1], {10, 11}, {'a': 1, 'b': 2})");
  Must("INSERT INTO t (p, c, m) VALUES ([2], {11, 12}, {'b': 3})");
  Must("INSERT INTO t (p, c) VALUES ([1, 2], {})");
  const auto found = [this](const std::string& where) {
    return Values("SELECT p FROM t WHERE " + where + " ALLOW FILTERING", "frozen<list<int>>");
  };
  using Lists = std::vector<std::string>;
  EXPECT_EQ(found("m CONTAINS KEY 'a'"), Lists{"[1]"});
  EXPECT_EQ(found("m CONTAINS KEY 'b'").size(), 2u);
  EXPECT_EQ(found("m CONTAINS 3"), Lists{"[2]"});
  EXPECT_EQ(found("m CONTAINS KEY 'b' AND m CONTAINS 1"), Lists{"[1]"});
  EXPECT_EQ(found("m CONTAINS 7"), Lists{});
  EXPECT_EQ(found("m CONTAINS null"), Lists{});
  EXPECT_EQ(found("c CONTAINS 12"), Lists{"[2]"});
  EXPECT_EQ(found("p CONTAINS 2").size(), 2u);
  EXPECT_EQ(found("m = {'b': 3}"), Lists{"[2]"});
  EXPECT_EQ(found("m > {'b': 2}"), Lists{"[2]"});
  EXPECT_EQ(Values("SELECT p FROM t WHERE m CONTAINS ? ALLOW FILTERING", "frozen<list<int>>",
                   {Bound("int", "3")}),
            Lists{"[2]"});
}

TEST_F(FrozenTypes, AFrozenCollectionIsIndexedAsAWhole) {
  Must("CREATE TABLE t (p int PRIMARY KEY, l frozen<list<int>>, u tuple<int, int>)");
  EXPECT_EQ(Refusal("CREATE INDEX ON t (l)"),
            "Cannot create index on value of frozen collection column l");
  EXPECT_EQ(Refusal("CREATE INDEX ON t (FULL(u))"),
            "full() indexes can only be created on frozen collections");
  Must("CREATE INDEX ON t (FULL(l))");
  Must("CREATE INDEX ON t (u)");
  Must("INSERT INTO t (p, l, u) VALUES (1, [1, 2], (3, 4))");
  Must("INSERT INTO t (p, l, u) VALUES (2, [2, 1], (3, 5))");
  EXPECT_EQ(Values("SELECT p FROM t WHERE l = [2, 1]", "int"), std::vector<std::string>{"2"});
  EXPECT_EQ(Values("SELECT p FROM t WHERE u = (3, 4)", "int"), std::vector<std::string>{"1"});
  const CqlAnswer targets =
      Must("SELECT options FROM system_schema.indexes WHERE keyspace_name = 'ks'");
  ASSERT_EQ(targets.rows.size(), 2u);
  EXPECT_EQ(cql::PrintValue(Type("frozen<map<text, text>>"), targets.rows[0][0]),
            "{'target': 'l'}");
}

TEST_F(FrozenTypes, TypesAreShownAsScyllaDbShowsThem) {
  Must(
      "CREATE TABLE t (p int PRIMARY KEY, a frozen<map<text, list<int>>>, b tuple<int, set<text>>, "
      "c frozen<tuple<int>>)");
  EXPECT_EQ(Values("SELECT type FROM system_schema.columns WHERE keyspace_name = 'ks' AND "
                   "table_name = 't' AND column_name IN ('a', 'b', 'c')",
                   "text"),
            (std::vector<std::string>{"'frozen<map<text, frozen<list<int>>>>'",
                                      "'frozen<tuple<int, frozen<set<text>>>>'",
                                      "'frozen<tuple<int>>'"}));
  const CqlAnswer described = Must("DESCRIBE TABLE t");
  EXPECT_NE(described.rows.at(0).at(3)->find("b frozen<tuple<int, frozen<set<text>>>>,"),
            std::string::npos)
      << *described.rows[0][3];
}

TEST_F(FrozenTypes, PartsAreBound) {
  Must(
      "CREATE TABLE t (p int PRIMARY KEY, l frozen<list<int>>, s frozen<set<int>>, "
      "m frozen<map<int, text>>, u tuple<int, frozen<set<int>>>, i frozen<list<timeuuid>>)");
  const BoundParameter two = Bound("int", "2");
  const BoundParameter one = Bound("int", "1");
  Must("INSERT INTO t (p, l) VALUES (1, [?, 5, ?])", {two, one});
  Must("INSERT INTO t (p, s) VALUES (1, {?, 7, ?})", {two, one});
  Must("INSERT INTO t (p, m) VALUES (1, {?: 'b', ?: 'a'})", {two, one});
  Must("INSERT INTO t (p, u) VALUES (1, (?, {3, ?}))", {{}, one});
  Must("INSERT INTO t (p, i) VALUES (1, [now(), now()])");
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Values("SELECT l FROM t", "list<int>"), Strings{"[2, 5, 1]"});
  EXPECT_EQ(Values("SELECT s FROM t", "set<int>"), Strings{"{1, 2, 7}"});
  EXPECT_EQ(Values("SELECT m FROM t", "map<int, text>"), Strings{"{1: 'a', 2: 'b'}"});
  EXPECT_EQ(Values("SELECT u FROM t", "tuple<int, set<int>>"), Strings{"(null, {1, 3})"});
  EXPECT_EQ(Must("SELECT i FROM t").rows.at(0).at(0)->size(), 4 + 2 * (4 + 16u));
  EXPECT_EQ(
      Values("SELECT p FROM t WHERE l = [2, ?, 1] ALLOW FILTERING", "int", {Bound("int", "5")}),
      Strings{"1"});
  EXPECT_EQ(Refusal("INSERT INTO t (p, l) VALUES (1, [?])", {{}}),
            "Cannot store NULL in list or set");
  EXPECT_EQ(Refusal("INSERT INTO t (p, l) VALUES (1, [?])", {{std::nullopt, true}}),
            "Unexpected unset value for bind variable 0");
  EXPECT_EQ(Refusal("INSERT INTO t (p, l) VALUES (1, [now()])"),
            "Invalid list literal for l: value now() is not of type int");
}

TEST_F(FrozenTypes, WhatIsBoundOutOfOrderIsPutInOrder) {
  Must("CREATE TABLE t (k frozen<set<int>> PRIMARY KEY, v frozen<list<frozen<map<int, int>>>>)");
  const BoundParameter set = {FromHex("00000003"
                                      "0000000400000002"
                                      "0000000400000001"
                                      "0000000400000002"),
                              false};
  const BoundParameter map = {FromHex("00000001"
                                      "00000024"
                                      "00000002"
                                      "0000000400000002"
                                      "0000000400000020"
                                      "0000000400000001"
                                      "0000000400000010"),
                              false};
  Must("INSERT INTO t (k, v) VALUES (?, ?)", {set, map});
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Values("SELECT k FROM t WHERE k = {1, 2}", "set<int>"), Strings{"{1, 2}"});
  EXPECT_EQ(Values("SELECT v FROM t WHERE k IN (?)", "frozen<list<map<int, int>>>", {set}),
            Strings{"[{1: 16, 2: 32}]"});
  Must("INSERT INTO t (k, v) VALUES (?, ?)", {set, {std::nullopt, true}});
  EXPECT_EQ(Values("SELECT v FROM t", "frozen<list<map<int, int>>>"), Strings{"[{1: 16, 2: 32}]"})
      << "unset leaves it as it is";
}

TEST_F(FrozenTypes, WholeTuplesAreBound) {
  Must("CREATE TABLE t (p int, a int, b text, PRIMARY KEY (p, a, b))");
  for (const char* row : {"1, 'a'", "1, 'b'", "2, 'a'"}) {
    Must("INSERT INTO t (p, a, b) VALUES (1, " + std::string(row) + ")");
  }
  const auto tuple = [](std::string_view literal) { return Bound("tuple<int, text>", literal); };
  const std::string select = "SELECT b FROM t WHERE p = 1 AND (a, b) ";
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Values(select + "= ?", "text", {tuple("(1, 'b')")}), Strings{"'b'"});
  EXPECT_EQ(Values(select + "> ?", "text", {tuple("(1, 'a')")}), (Strings{"'b'", "'a'"}));
  EXPECT_EQ(Values(select + "IN (?, ?)", "text", {tuple("(2, 'a')"), tuple("(1, 'b')")}).size(),
            2u);
  EXPECT_EQ(Values(select + "IN ?", "text",
                   {Bound("list<tuple<int, text>>", "[(2, 'a'), (1, 'x'), (1, 'a')]")})
                .size(),
            2u);
  EXPECT_EQ(Refusal(select + "IN ?", {Bound("list<tuple<int, text>>", "[(2, null)]")}),
            "Invalid null value in condition for column b");
}

// native_protocol_v4.spec, section 4.2.5.2: options 0x21 map, 0x20 list, 0x31 tuple.
TEST_F(FrozenTypes, MetadataNamesTheTypes) {
  Must("CREATE TABLE t (p int PRIMARY KEY, m frozen<map<text, list<int>>>, u tuple<int, text>)");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto frame = client.Query("SELECT m, u FROM ks.t");
  ASSERT_TRUE(frame);
  const std::string body = ToHex(frame->body);
  EXPECT_NE(body.find("00016d"
                      "0021"
                      "000d"
                      "0020"
                      "0009"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find("000175"
                      "0031"
                      "0002"
                      "0009"
                      "000d"),
            std::string::npos)
      << body;
}

TEST_F(FrozenTypes, Refusals) {
  Must(
      "CREATE TABLE t (p int, c frozen<set<int>>, l frozen<list<int>>, m frozen<map<text, int>>, "
      "u tuple<int, text>, d frozen<list<duration>>, PRIMARY KEY (p, c))");
  const std::string insert = "INSERT INTO t (p, c, ";
  const std::pair<std::string, std::string> cases[] = {
      {insert + "l) VALUES (1, {}, [1, null])", "Cannot store NULL in list or set"},
      {insert + "m) VALUES (1, {}, {'a': null})", "null is not supported inside collections"},
      {insert + "l) VALUES (1, {}, {1})", "Invalid set literal for l of type frozen<list<int>>"},
      {insert + "l) VALUES (1, {}, ['a'])",
       "Invalid list literal for l: value 'a' is not of type int"},
      {insert + "m) VALUES (1, {}, {1: 1})",
       "Invalid map literal for m: key 1 is not of type text"},
      {insert + "u) VALUES (1, {}, (1, 'a', 2))",
       "Invalid tuple literal for u: too many elements. Type frozen<tuple<int, text>> expects 2 "
       "but "
       "got 3"},
      {insert + "u) VALUES (1, {}, ('a'))",
       "Invalid tuple literal for u: component 0 is not of type int"},
      {insert + "u) VALUES (1, {}, [1])",
       "Invalid list literal for u of type frozen<tuple<int, text>>"},
      {"INSERT INTO t (p, c) VALUES (1, null)", "Invalid null value in condition for column c"},
      {"UPDATE t SET l = l + [1] WHERE p = 1 AND c = {}",
       "Invalid operation (l = l + [1]) for frozen collection column l"},
      {"UPDATE t SET m['a'] = 1 WHERE p = 1 AND c = {}",
       "Invalid operation (m['a'] = 1) for frozen collection column m"},
      {"DELETE m['a'] FROM t WHERE p = 1 AND c = {}",
       "Invalid deletion operation for frozen collection column m"},
      {"SELECT * FROM t WHERE m['a'] = 1 ALLOW FILTERING",
       "Map-entry equality predicates on frozen map column m are not supported"},
      {"SELECT * FROM t WHERE l[0] = 1 ALLOW FILTERING",
       "List element equality predicates on frozen list column l are not supported"},
      {"SELECT * FROM t WHERE u CONTAINS 1 ALLOW FILTERING",
       "Cannot use CONTAINS on non-collection column \"u\""},
      {"SELECT * FROM t WHERE l CONTAINS KEY 1 ALLOW FILTERING",
       "Cannot use CONTAINS KEY on non-map column l"},
      {"SELECT * FROM t WHERE p = 1 AND c CONTAINS 1",
       "Cannot restrict clustering columns by a CONTAINS relation without a secondary index or "
       "filtering"},
      {"SELECT * FROM t WHERE d > [1s] ALLOW FILTERING", "Duration type is unordered for d"},
      {"CREATE TABLE x (p frozen<list<duration>> PRIMARY KEY)",
       "duration type is not supported for PRIMARY KEY part p"},
  };
  for (const auto& [statement, message] : cases) {
    EXPECT_EQ(Refusal(statement), message) << statement;
  }
  EXPECT_TRUE(Refusal("INSERT INTO t (p, c, l) VALUES (1, {}, ?)", {{"\x01", false}})
                  .starts_with("Exception while binding column l: marshaling error: "));
}

}  // namespace frozen_types_test
}  // namespace liststore::testing
