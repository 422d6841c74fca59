// Columns of several cells over the wire: lists, sets, maps and user types that are not frozen.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/timeuuid.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace elements_over_cql_test {

class Elements : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TYPE person (name text, age int)");
    Say("CREATE TABLE t (p int PRIMARY KEY, l list<text>, m map<text, int>, s set<int>, "
        "u person, v int)");
  }

  // The columns of row 1 as JSON.
  std::string Json(const std::string& column) {
    return Cell("SELECT toJson(" + column + ") FROM t WHERE p = 1");
  }
  std::string Json(const std::string& statement, const std::string& column) {
    EXPECT_EQ(Say(statement), "") << statement;
    return Json(column);
  }
};

TEST_F(Elements, MapsAreWrittenWholeAndInParts) {
  EXPECT_EQ(Json("INSERT INTO t (p, m) VALUES (1, {'b': 2, 'a': 1})", "m"), R"({"a": 1, "b": 2})");
  EXPECT_EQ(Json("UPDATE t SET m = m + {'c': 3, 'a': 4} WHERE p = 1", "m"),
            R"({"a": 4, "b": 2, "c": 3})");
  EXPECT_EQ(Json("UPDATE t SET m['d'] = 5, m['a'] = null WHERE p = 1", "m"),
            R"({"b": 2, "c": 3, "d": 5})");
  EXPECT_EQ(Json("UPDATE t SET m = m - {'b', 'x'} WHERE p = 1", "m"), R"({"c": 3, "d": 5})");
  EXPECT_EQ(Json("DELETE m['d'] FROM t WHERE p = 1", "m"), R"({"c": 3})");
  EXPECT_EQ(Json("UPDATE t SET m += {'e': 6}, m -= {'c'} WHERE p = 1", "m"), R"({"e": 6})");
  EXPECT_EQ(Json("UPDATE t SET m = {'z': 9} WHERE p = 1", "m"), R"({"z": 9})");
  EXPECT_EQ(Say("SELECT m['z'], m['y'] FROM t WHERE p = 1"), "9 null");
  EXPECT_EQ(Json("UPDATE t SET m = m + {} WHERE p = 1", "m"), R"({"z": 9})");
  EXPECT_EQ(Json("UPDATE t SET m = {} WHERE p = 1", "m"), "null") << "empty is null";
  EXPECT_EQ(Json("UPDATE t SET m['q'] = 1 WHERE p = 1", "m"), R"({"q": 1})");
  EXPECT_EQ(Json("DELETE m FROM t WHERE p = 1", "m"), "null");
  EXPECT_EQ(Say("UPDATE t SET m[null] = 1 WHERE p = 1"), "Invalid null map key");
  EXPECT_EQ(Say("UPDATE t SET m[?] = 1 WHERE p = 1", {{std::nullopt, true}}),
            "Unexpected unset value for bind variable 0");
  const std::string update = "UPDATE t SET m[?] = ? WHERE p = 1";
  EXPECT_EQ(Say(update, {{"k"}, {cql::EncodeInt(7)}}), "");
  EXPECT_EQ(Say(update, {{"k"}, {std::nullopt, true}}), "") << "unset: stays as it is";
  EXPECT_EQ(Say("UPDATE t SET m = ? WHERE p = 1", {{std::nullopt, true}}), "");
  EXPECT_EQ(Json("m"), R"({"k": 7})");
}

TEST_F(Elements, SetsAreWrittenWholeAndInParts) {
  EXPECT_EQ(Json("INSERT INTO t (p, s) VALUES (1, {3, -1, 2})", "s"), "[-1, 2, 3]");
  EXPECT_EQ(Json("UPDATE t SET s = s + {2, 500} WHERE p = 1", "s"), "[-1, 2, 3, 500]");
  EXPECT_EQ(Json("UPDATE t SET s = s - {2, 3} WHERE p = 1", "s"), "[-1, 500]");
  EXPECT_EQ(Json("DELETE s[-1] FROM t WHERE p = 1", "s"), "[500]");
  EXPECT_EQ(Say("UPDATE t SET s[1] = 1 WHERE p = 1"),
            "Invalid operation (s[1] = 1) for set column s");
  EXPECT_EQ(Say("SELECT s[1] FROM t"), "Column s is not a map/list, cannot be subscripted");
  EXPECT_EQ(Json("UPDATE t SET s = null WHERE p = 1", "s"), "null");
}

TEST_F(Elements, ListsKeepTheirOrder) {
  EXPECT_EQ(Json("INSERT INTO t (p, l) VALUES (1, ['b', 'c'])", "l"), R"(["b", "c"])");
  EXPECT_EQ(Json("UPDATE t SET l = l + ['d', 'b'] WHERE p = 1", "l"), R"(["b", "c", "d", "b"])");
  EXPECT_EQ(Json("UPDATE t SET l = ['x', 'y'] + l WHERE p = 1", "l"),
            R"(["x", "y", "b", "c", "d", "b"])");
  EXPECT_EQ(Json("UPDATE t SET l = ['w'] + l WHERE p = 1", "l"),
            R"(["w", "x", "y", "b", "c", "d", "b"])");
  EXPECT_EQ(Json("UPDATE t SET l = l - ['b', 'y'] WHERE p = 1", "l"), R"(["w", "x", "c", "d"])");
  EXPECT_EQ(Json("UPDATE t SET l[1] = 'X', l[0] = null WHERE p = 1", "l"), R"(["X", "c", "d"])");
  EXPECT_EQ(Json("DELETE l[1] FROM t WHERE p = 1", "l"), R"(["X", "d"])");
  EXPECT_EQ(Cell("SELECT l[1] FROM t WHERE p = 1"), "d");
  EXPECT_EQ(Cell("SELECT l[2] FROM t WHERE p = 1"), "null");
  EXPECT_EQ(Say("UPDATE t SET l[2] = 'q' WHERE p = 1"),
            "List index 2 out of bound, list has size 2");
  EXPECT_EQ(Say("DELETE l[-1] FROM t WHERE p = 1"), "List index -1 out of bound, list has size 2");
  EXPECT_EQ(Say("UPDATE t SET l[null] = 'q' WHERE p = 1"), "Invalid null value for list index");
  EXPECT_EQ(Say("UPDATE t SET l[0] = 'q', v = 9 WHERE p = 2"),
            "Attempted to set an element on a list which is null");
  EXPECT_EQ(Say("DELETE l[0] FROM t WHERE p = 2"),
            "Attempted to delete an element from a list which is null");
  EXPECT_EQ(Say("UPDATE t SET l = l - ['a'] WHERE p = 2"), "");
  EXPECT_EQ(Say("SELECT p FROM t WHERE p = 2"), "") << "nothing was written";
  EXPECT_EQ(Json("UPDATE t SET l = l + ['1'], l = l + ['2'], l = ['0'] + l WHERE p = 1", "l"),
            R"(["0", "X", "d", "1", "2"])");
  EXPECT_EQ(Json("UPDATE t SET l = [] WHERE p = 1", "l"), "null");
  EXPECT_EQ(Say("UPDATE t USING TIMESTAMP 5 SET l = ['a'] + l WHERE p = 1"),
            "List prepend custom timestamp must be greater than Jan 1 2010 00:00:00");
}

TEST_F(Elements, AListGrowsWhileTheClockStands) {
  for (int i = 0; i < 30; ++i)
    Must("UPDATE t SET l = l + ['" + std::to_string(i) + "'] WHERE p = 1");
  std::string expected;
  for (int i = 0; i < 30; ++i) expected += (i == 0 ? "[\"" : ", \"") + std::to_string(i) + "\"";
  EXPECT_EQ(Json("l"), expected + "]");
}

TEST_F(Elements, UserTypesAreWrittenByFields) {
  EXPECT_EQ(Json("INSERT INTO t (p, u) VALUES (1, {name: 'a', age: 7})", "u"),
            R"({"name": "a", "age": 7})");
  EXPECT_EQ(Json("UPDATE t SET u.age = 8 WHERE p = 1", "u"), R"({"name": "a", "age": 8})");
  EXPECT_EQ(Cell("SELECT u.name FROM t WHERE p = 1"), "a");
  EXPECT_EQ(Json("DELETE u.name FROM t WHERE p = 1", "u"), R"({"name": null, "age": 8})");
  EXPECT_EQ(Say("ALTER TYPE person ADD city text"), "");
  EXPECT_EQ(Json("u"), R"({"name": null, "age": 8, "city": null})");
  EXPECT_EQ(Json("UPDATE t SET u.city = 'x' WHERE p = 1", "u"),
            R"({"name": null, "age": 8, "city": "x"})");
  EXPECT_EQ(Json("UPDATE t SET u = {name: 'b'} WHERE p = 1", "u"),
            R"({"name": "b", "age": null, "city": null})");
  EXPECT_EQ(Json("UPDATE t SET u.name = null WHERE p = 1", "u"), "null");
  EXPECT_EQ(Say("UPDATE t SET u.x = 1 WHERE p = 1"), "UDT column u does not have a field named x");
  EXPECT_EQ(Say("UPDATE t SET u = {name: 'b'}, u.age = 1 WHERE p = 1"),
            "Multiple incompatible setting of column u");
  // The same field twice is not seen; of equal timestamps the greater value stays.
  EXPECT_EQ(Json("UPDATE t SET u.age = 2, u.age = 1 WHERE p = 1", "u"),
            R"({"name": null, "age": 2, "city": null})");
}

TEST_F(Elements, EachHasItsOwnTimeToLive) {
  EXPECT_EQ(Json("INSERT INTO t (p, m) VALUES (1, {'a': 1})", "m"), R"({"a": 1})");
  EXPECT_EQ(Json("UPDATE t USING TTL 10 SET m['b'] = 2, s = s + {1} WHERE p = 1", "m"),
            R"({"a": 1, "b": 2})");
  EXPECT_EQ(Json("UPDATE t USING TTL 5 SET m['c'] = 3 WHERE p = 1", "m"),
            R"({"a": 1, "b": 2, "c": 3})");
  clock_.AdvanceSeconds(6);
  EXPECT_EQ(Json("m"), R"({"a": 1, "b": 2})");
  clock_.AdvanceSeconds(6);
  EXPECT_EQ(Json("m"), R"({"a": 1})");
  EXPECT_EQ(Json("s"), "null");
}

// A value takes the place of what is older, and of nothing else.
TEST_F(Elements, EachHasItsOwnTimestamp) {
  EXPECT_EQ(Json("UPDATE t USING TIMESTAMP 100 SET m = {'a': 1, 'b': 1} WHERE p = 1", "m"),
            R"({"a": 1, "b": 1})");
  EXPECT_EQ(Json("UPDATE t USING TIMESTAMP 300 SET m['b'] = 3 WHERE p = 1", "m"),
            R"({"a": 1, "b": 3})");
  EXPECT_EQ(Json("UPDATE t USING TIMESTAMP 200 SET m = {'c': 2} WHERE p = 1", "m"),
            R"({"b": 3, "c": 2})");
  EXPECT_EQ(Json("UPDATE t USING TIMESTAMP 150 SET m['d'] = 1 WHERE p = 1", "m"),
            R"({"b": 3, "c": 2})")
      << "it comes late";
  EXPECT_EQ(Json("UPDATE t USING TIMESTAMP 200 SET m = {'e': 2} WHERE p = 1", "m"),
            R"({"b": 3, "c": 2, "e": 2})")
      << "values of one timestamp add up";
  EXPECT_EQ(Json("DELETE m FROM t USING TIMESTAMP 200 WHERE p = 1", "m"), R"({"b": 3})");
  EXPECT_EQ(Say("DELETE FROM t USING TIMESTAMP 300 WHERE p = 1"), "");
  EXPECT_EQ(Say("SELECT p FROM t"), "");
}

// What tools ask that copy tables.
TEST_F(Elements, TellWhenTheyWereWritten) {
  Say("UPDATE t USING TIMESTAMP 10 SET m = {'a': 1, 'b': 1}, l = ['x', 'y'], u = {age: 3} "
      "WHERE p = 1");
  Say("UPDATE t USING TIMESTAMP 20 AND TTL 100 SET m['b'] = 2, l = l + ['z'], u.name = 'n', "
      "s = {9} WHERE p = 1");
  const auto shown = [&](const std::string& call) {
    std::string json = Say("SELECT JSON liststore." + call + " AS x FROM t");
    const std::string begin = "{\"x\": ";
    return json.starts_with(begin) ? json.substr(begin.size(), json.size() - begin.size() - 1)
                                   : json;
  };
  EXPECT_EQ(shown("writetimes(m)"), "[10, 20]");
  EXPECT_EQ(shown("ttls(m)"), "[0, 100]");
  EXPECT_EQ(shown("writetimes(l)"), "[10, 10, 20]");
  EXPECT_EQ(shown("writetimes(u)"), "[20, 10]") << "of fields in their order";
  EXPECT_EQ(shown("ttls(u)"), "[100, 0]");
  EXPECT_EQ(shown("ttls(s)"), "[100]");
  Say("UPDATE t SET u = {age: 4}, m = null WHERE p = 1");
  EXPECT_EQ(shown("writetimes(m)"), "null");
  EXPECT_EQ(shown("writetimes(u)").substr(0, 4), "[0, ") << "a field that is null";
  EXPECT_EQ(shown("ttls(u)"), "[0, 0]");
  EXPECT_EQ(shown("writetimes(v)"),
            "liststore.writetimes takes a collection or user type that is not frozen, which v of "
            "type int is not");
  EXPECT_EQ(shown("timeuuids(m)"),
            "liststore.timeuuids takes a list that is not frozen, which m of type map<text, int> "
            "is not");
  EXPECT_EQ(shown("ttls(m, m)"), "liststore.ttls takes one column");
  EXPECT_EQ(shown("ttls(x)"), "Unrecognized name x");
}

TEST_F(Elements, OfListsStandWhereTimeuuidsSay) {
  Say("INSERT INTO t (p, l) VALUES (1, ['a', 'b', 'c'])");
  Say("UPDATE t SET l = ['0'] + l WHERE p = 1");
  const std::string timeuuids = "SELECT JSON l, liststore.timeuuids(l) AS at FROM t WHERE p = ";
  const std::string first = Say(timeuuids + "1");
  // Written elsewhere by these, in any order, and again, they are the same list.
  const std::string raw = *Must("SELECT liststore.timeuuids(l) FROM t WHERE p = 1").rows[0][0];
  const auto listed = SplitCollection(DataType::List(CqlType::kTimeuuid), raw);
  ASSERT_TRUE(listed && listed->size() == 4u);
  for (const size_t i : {2u, 0u, 3u, 1u, 1u}) {
    EXPECT_EQ(Say("UPDATE t SET l[SCYLLA_TIMEUUID_LIST_INDEX(?)] = ? WHERE p = 2",
                  {{std::string((*listed)[i])}, {std::string(1, "0abc"[i])}}),
              "");
  }
  EXPECT_EQ(Say(timeuuids + "2"), first);
  // Any timeuuid has its place: by its time, and then by its last bytes, as signed ones.
  const std::string set = "UPDATE t SET l[scylla_timeuuid_list_index(?)] = ? WHERE p = 3";
  const auto bytes = [](uint64_t ticks, uint64_t low) {
    return std::string(MakeTimeuuid(kTimeuuidTicksAtEpoch + ticks, low).view());
  };
  const auto list = [&] { return Cell("SELECT toJson(l) FROM t WHERE p = 3"); };
  EXPECT_EQ(Say(set, {{bytes(17, 0x8000000000000000)}, {"third"}}), "");
  EXPECT_EQ(Say(set, {{bytes(17, 0x80000000000000ff)}, {"second"}}), "");
  EXPECT_EQ(Say(set, {{bytes(9, 0xbf7f7f7f7f7f7f7f)}, {"first"}}), "");
  EXPECT_EQ(Say("UPDATE t SET l[1] = 'SECOND' WHERE p = 3"), "");
  EXPECT_EQ(list(), R"(["first", "SECOND", "third"])");
  EXPECT_EQ(Say(set, {{bytes(17, 0x8000000000000000)}, {std::nullopt}}), "");
  EXPECT_EQ(list(), R"(["first", "SECOND"])");
}

TEST_F(Elements, OfListsStandNowhereElse) {
  const auto refused = [&](const std::string& assignment) {
    return Say("UPDATE t SET " + assignment + " WHERE p = 1");
  };
  EXPECT_EQ(refused("l[SCYLLA_TIMEUUID_LIST_INDEX(null)] = 'a'"),
            "Invalid null value for list index");
  const std::string random = "6e6f7420-7468-4174-8365-72652e2e2e2e";
  EXPECT_EQ(refused("l[SCYLLA_TIMEUUID_LIST_INDEX(" + random + ")] = 'a'"),
            "An element of a list stands where a timeuuid says, which " + random + " is not");
  EXPECT_EQ(refused("l[SCYLLA_TIMEUUID_LIST_INDEX(1)] = 'a'"),
            "Invalid INTEGER constant (1) for \"uuid_idx(l)\" of type uuid");
  EXPECT_EQ(refused("s[SCYLLA_TIMEUUID_LIST_INDEX(1)] = 1"),
            "Invalid operation (s[1] = 1) for set column s");
}

// Source: ScyllaDB cql3/lists.hh, discarder_by_index.
TEST_F(Elements, AnUnsetIndexDeletesNothing) {
  Say("INSERT INTO t (p, l) VALUES (1, ['aa', 'bb'])");
  EXPECT_EQ(Say("DELETE l[?] FROM t WHERE p = 1", {{std::nullopt, true}}), "");
  EXPECT_EQ(Say("SELECT l[0], l[1] FROM t"), "aa bb");
  EXPECT_NE(Say("UPDATE t SET l[?] = 'c' WHERE p = 1", {{std::nullopt, true}}), "");
  EXPECT_NE(Say("DELETE s[?] FROM t WHERE p = 1", {{std::nullopt, true}}), "");
}

TEST_F(Elements, HaveTimesOfTheirOwn) {
  Say("INSERT INTO t (p, m, s, u) VALUES (1, {'a': 1, 'b': 2}, {5, 6}, {name: 'x', age: 7}) USING "
      "TIMESTAMP 100 AND TTL 1000");
  Say("UPDATE t USING TIMESTAMP 200 SET m['b'] = 3, m['c'] = 4, s = s + {6}, u.age = 8 WHERE p = "
      "1");
  EXPECT_EQ(Say("SELECT WRITETIME(m['a']), WRITETIME(m['b']), writetime(m['c']) FROM t"),
            "100 200 200");
  EXPECT_EQ(Say("SELECT TTL(m['a']), TTL(m['b']) FROM t"), "1000 null");
  EXPECT_EQ(Say("SELECT WRITETIME(m['z']), TTL(m['z']), WRITETIME(m[null]) FROM t"),
            "null null null");
  EXPECT_EQ(Say("SELECT WRITETIME(s[5]), TTL(s[5]), WRITETIME(s[6]), TTL(s[6]) FROM t"),
            "100 1000 200 null");
  EXPECT_EQ(Say("SELECT WRITETIME(u.name), TTL(u.name), WRITETIME(u.age), TTL(u.age) FROM t"),
            "100 1000 200 null");
  EXPECT_EQ(Say("SELECT m['b'], max(WRITETIME(m['b'])), min(TTL(m['a'])) FROM t"), "3 200 1000");
  const std::string bound = "SELECT WRITETIME(m[?]) FROM t WHERE p = 1";
  EXPECT_EQ(Say(bound, {{"a"}}), "100");
  EXPECT_EQ(Say(bound, {{std::nullopt}}), "null");
  EXPECT_NE(Say(bound, {{std::nullopt, true}}).find("unset"), std::string::npos);
  Say("DELETE u.name, m['a'] FROM t WHERE p = 1");
  EXPECT_EQ(Say("SELECT WRITETIME(u.name), WRITETIME(m['a']), m['c'] FROM t"), "null null 4");
  Say("ALTER TYPE person ADD city text");
  EXPECT_EQ(Say("SELECT WRITETIME(u.city) FROM t"), "null");
}

TEST_F(Elements, TimesAreOfStaticColumnsToo) {
  Say("CREATE TABLE w (p int, c int, m map<int, int> STATIC, v int, PRIMARY KEY (p, c))");
  Say("INSERT INTO w (p, c, v) VALUES (1, 1, 1)");
  Say("INSERT INTO w (p, c, v) VALUES (1, 2, 1)");
  Say("UPDATE w USING TIMESTAMP 50 SET m[3] = 4 WHERE p = 1");
  EXPECT_EQ(Say("SELECT c, WRITETIME(m[3]), WRITETIME(m[4]) FROM w"), "1 50 null; 2 50 null");
}

TEST_F(Elements, TimesAreRefusedInScyllaWords) {
  const std::string subscript =
      "WRITETIME on a subscript is only valid for non-frozen map or set columns";
  EXPECT_EQ(Say("SELECT WRITETIME(l[0]) FROM t"), subscript);
  EXPECT_EQ(Say("SELECT WRITETIME(v[0]) FROM t"),
            "Column v is not a map/list, cannot be subscripted");
  EXPECT_EQ(Say("SELECT TTL(p[0]) FROM t"), "TTL is not legal on primary key component p");
  EXPECT_EQ(Say("SELECT TTL(nope['a']) FROM t"), "Unrecognized name nope");
  EXPECT_EQ(Say("SELECT TTL(u.nope) FROM t").find("u of type "), 0u);
  Say("CREATE TABLE f (p int PRIMARY KEY, m frozen<map<int, int>>, n map<int, frozen<person>>)");
  EXPECT_EQ(Say("SELECT WRITETIME(m[1]) FROM f"), subscript);
  EXPECT_EQ(Say("SELECT WRITETIME(n[1].name) FROM f"),
            "WRITETIME on a field selection expects a column, got n[1]");
}

TEST_F(Elements, AreFoundByWhatTheyHold) {
  Say("INSERT INTO t (p, l, m, s) VALUES (1, ['a'], {'k': 5}, {7})");
  Say("INSERT INTO t (p, l, m, s) VALUES (2, ['b', 'a'], {'j': 5}, {8})");
  EXPECT_EQ(Say("SELECT p FROM t WHERE l CONTAINS 'b' ALLOW FILTERING"), "2");
  EXPECT_EQ(Say("SELECT p FROM t WHERE s CONTAINS 7 ALLOW FILTERING"), "1");
  EXPECT_EQ(Say("SELECT p FROM t WHERE m CONTAINS KEY 'j' ALLOW FILTERING"), "2");
  EXPECT_EQ(Say("SELECT p FROM t WHERE m['k'] = 5 ALLOW FILTERING"), "1");
  EXPECT_EQ(Say("SELECT p FROM t WHERE l[1] = 'a' ALLOW FILTERING"), "2");
  EXPECT_EQ(Say("SELECT p FROM t WHERE m = {'k': 5} ALLOW FILTERING"),
            "Collection column 'm' (map<text, int>) cannot be restricted by a '=' relation");
  EXPECT_EQ(Say("SELECT p FROM t WHERE m['k'] > 5 ALLOW FILTERING"),
            "Only EQ relations are supported on map/list entries");
  EXPECT_EQ(Say("SELECT writetime(m) FROM t"),
            "WRITETIME expects an atomic column, but m is a non-frozen collection");
  EXPECT_EQ(Say("SELECT ttl(l) FROM t"),
            "TTL expects an atomic column, but l is a non-frozen collection");
}

TEST_F(Elements, AreAskedForByConditions) {
  Say("INSERT INTO t (p, l, m, u) VALUES (1, ['a', 'b'], {'k': 5}, {name: 'x'})");
  const auto applied = [&](const std::string& condition) {
    return Say("UPDATE t SET v = 1 WHERE p = 1 IF " + condition).substr(0, 5);
  };
  EXPECT_EQ(applied("m['k'] = 5"), "true ");
  EXPECT_EQ(applied("m['k'] > 5"), "false");
  EXPECT_EQ(applied("m['j'] = null"), "true ");
  EXPECT_EQ(applied("m['k'] IN (4, 5)"), "true ");
  EXPECT_EQ(applied("l[1] = 'b'"), "true ");
  EXPECT_EQ(applied("l[2] = 'b'"), "false");
  EXPECT_EQ(applied("l = ['a', 'b']"), "true ");
  EXPECT_EQ(applied("m != {'k': 5}"), "false");
  EXPECT_EQ(applied("u.name = 'x'"), "true ");
  EXPECT_EQ(applied("u.age = 1"), "false");
  EXPECT_EQ(applied("u = {name: 'x'}"), "true ");
  EXPECT_EQ(Say("UPDATE t SET l[0] = 'A', m['k'] = 6 WHERE p = 1 IF m['k'] = 5").substr(0, 5),
            "true ");
  EXPECT_EQ(Json("l"), R"(["A", "b"])");
  EXPECT_EQ(Say("UPDATE t SET l[7] = 'A' WHERE p = 1 IF m['k'] = 5").substr(0, 5), "false");
  EXPECT_EQ(Say("UPDATE t SET l[7] = 'A' WHERE p = 1 IF m['k'] = 6"),
            "List index 7 out of bound, list has size 2");
  EXPECT_EQ(Say("UPDATE t SET l = l - ['b'] WHERE p = 1 IF EXISTS").substr(0, 4), "true");
  EXPECT_EQ(Json("l"), R"(["A"])");
}

TEST_F(Elements, BatchesSeeListsAsTheyWere) {
  Say("INSERT INTO t (p, l, m) VALUES (1, ['a', 'b', 'c'], {'k': 1})");
  EXPECT_EQ(Json("BEGIN BATCH DELETE l[0] FROM t WHERE p = 1; UPDATE t SET l[1] = 'B' WHERE p = 1; "
                 "UPDATE t SET l = l + ['d'] WHERE p = 1; UPDATE t SET l = l + ['e'] WHERE p = 1; "
                 "UPDATE t SET m['k'] = 2 WHERE p = 1; DELETE m['k'] FROM t WHERE p = 1 "
                 "APPLY BATCH",
                 "l"),
            R"(["B", "c", "d", "e"])");
  EXPECT_EQ(Json("m"), "null") << "of one timestamp the deletion wins";
  EXPECT_EQ(Say("BEGIN BATCH UPDATE t SET v = 5 WHERE p = 1; DELETE l[9] FROM t WHERE p = 1 "
                "APPLY BATCH"),
            "List index 9 out of bound, list has size 4");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 1"), "null") << "nothing was applied";
}

TEST_F(Elements, ANullOfABatchWinsWhereverItStands) {
  const std::string insert = "INSERT INTO t (p, v) VALUES (2, 7)";
  const std::string erase = "DELETE v FROM t WHERE p = 2";
  EXPECT_EQ(Say("BEGIN BATCH " + insert + "; " + erase + " APPLY BATCH"), "");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 2"), "null");
  EXPECT_EQ(Say("BEGIN BATCH " + erase + "; " + insert + " APPLY BATCH"), "");
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 2"), "null");
  EXPECT_EQ(Say(insert), "") << "of a later timestamp";
  EXPECT_EQ(Say("SELECT v FROM t WHERE p = 2"), "7");
}

TEST_F(Elements, StaticColumnsHaveThem) {
  Say("CREATE TABLE q (p int, c int, s set<int> static, l list<text> static, m map<int, int>, "
      "PRIMARY KEY (p, c))");
  Say("INSERT INTO q (p, c, s, l, m) VALUES (1, 1, {1}, ['a'], {1: 1})");
  Say("INSERT INTO q (p, c, m) VALUES (1, 2, {2: 2})");
  Say("UPDATE q SET s = s + {2}, l = l + ['b'] WHERE p = 1");
  Say("UPDATE q SET l[0] = 'A' WHERE p = 1");
  EXPECT_EQ(Say("SELECT JSON * FROM q"),
            R"({"p": 1, "c": 1, "l": ["A", "b"], "s": [1, 2], "m": {"1": 1}}; )"
            R"({"p": 1, "c": 2, "l": ["A", "b"], "s": [1, 2], "m": {"2": 2}})");
  Say("DELETE s[1], l[1] FROM q WHERE p = 1");
  EXPECT_EQ(Say("SELECT JSON DISTINCT p, s, l FROM q"), R"({"p": 1, "s": [2], "l": ["A"]})");
}

// As in ScyllaDB (cql3/statements/update_statement.cc) and Cassandra.
TEST_F(Elements, StaticColumnsAreWrittenWithEachRowOfAStatement) {
  Say("CREATE TABLE q (p int, c int, s set<int> static, l list<text> static, v int, "
      "PRIMARY KEY (p, c))");
  const std::string rows = " WHERE p = 1 AND c IN (1, 2, 2)";
  EXPECT_EQ(Say("UPDATE q SET v = 1, s = s + {2}, l = l + ['a', 'b']" + rows), "");
  EXPECT_EQ(Say("SELECT JSON DISTINCT p, s, l FROM q"),
            R"({"p": 1, "s": [2], "l": ["a", "b", "a", "b"]})");
  EXPECT_EQ(Say("UPDATE q SET v = 2, l = ['c', 'd'] + l" + rows), "");
  EXPECT_EQ(Say("UPDATE q SET v = 3, l[7] = null, l[6] = 'z'" + rows), "");
  EXPECT_EQ(Say("SELECT JSON DISTINCT p, l FROM q"),
            R"({"p": 1, "l": ["c", "d", "c", "d", "a", "b", "z"]})");
  EXPECT_EQ(Say("UPDATE q SET v = 4, s = {3}, l = ['e']" + rows), "");
  EXPECT_EQ(Say("SELECT JSON DISTINCT p, s, l FROM q"), R"({"p": 1, "s": [3], "l": ["e", "e"]})");
  EXPECT_EQ(Say("UPDATE q SET v = 5, l = l + ['f'] WHERE p = 1 AND c IN ()"), "");
  EXPECT_EQ(Say("SELECT JSON DISTINCT p, l FROM q"), R"({"p": 1, "l": ["e", "e"]})");
}

// What is there again has what is newer than the DROP: one cell as well as several, static ones
// too.
TEST_F(Elements, ColumnsThatAreAddedAgainHideWhatIsOlder) {
  EXPECT_EQ(Say("CREATE TABLE d (p int, c int, v int, m map<text, int>, s int STATIC, "
                "PRIMARY KEY (p, c))"),
            "");
  EXPECT_EQ(Say("INSERT INTO d (p, c, v, m, s) VALUES (1, 1, 1, {'a': 1}, 1)"), "");
  EXPECT_EQ(Say("ALTER TABLE d DROP (m, s)"), "");
  const auto dropped_micros = static_cast<int64_t>(clock_.NowNanos() / 1000);
  EXPECT_EQ(Say("ALTER TABLE d ADD (m map<text, int>)"), "");
  EXPECT_EQ(Say("ALTER TABLE d ADD s int STATIC"), "");
  const std::string dropped = std::to_string(dropped_micros);
  const std::string later = std::to_string(dropped_micros + 1);
  const auto row = [&] { return Say("SELECT JSON v, m, s FROM d WHERE p = 1"); };
  const std::string insert = "INSERT INTO d (p, c, v, m, s) VALUES (1, 2, 2, {'b': 2}, 2) ";
  EXPECT_EQ(Say("DELETE FROM d WHERE p = 1 AND c = 1"), "");
  EXPECT_EQ(Say(insert + "USING TIMESTAMP " + dropped), "");
  EXPECT_EQ(row(), R"({"v": 2, "m": null, "s": null})") << "the column that stayed has it";
  EXPECT_EQ(Say("UPDATE d USING TIMESTAMP " + dropped + " SET m['c'] = 3 WHERE p = 1 AND c = 2"),
            "");
  EXPECT_EQ(row(), R"({"v": 2, "m": null, "s": null})");
  EXPECT_EQ(Say(insert + "USING TIMESTAMP " + later), "");
  EXPECT_EQ(row(), R"({"v": 2, "m": {"b": 2}, "s": 2})");
  EXPECT_EQ(Say("UPDATE d SET m['d'] = 4, s = 5 WHERE p = 1 AND c = 2"), "");
  EXPECT_EQ(row(), R"({"v": 2, "m": {"b": 2, "d": 4}, "s": 5})") << "the server's own are newer";
  EXPECT_EQ(Say("SELECT JSON column_name, type FROM system_schema.dropped_columns WHERE "
                "keyspace_name = 'k' AND table_name = 'd' AND column_name = 'm'"),
            R"({"column_name": "m", "type": "map<text, int>"})");
  EXPECT_EQ(Cell("SELECT toUnixTimestamp(dropped_time) FROM system_schema.dropped_columns WHERE "
                 "keyspace_name = 'k' AND table_name = 'd' AND column_name = 's'"),
            cql::EncodeBigint(dropped_micros / 1000));
  EXPECT_EQ(Must("DESCRIBE TABLE d").rows[0][3]->find("dropped"), std::string::npos);
}

TEST_F(Elements, AreKeptByChangesOfTheSchema) {
  Say("INSERT INTO t (p, l, m, s, u) VALUES (1, ['a'], {'k': 1}, {1}, {age: 1})");
  Say("UPDATE t USING TTL 100 SET m['j'] = 2 WHERE p = 1");
  EXPECT_EQ(Say("ALTER TABLE t ADD a set<text>"), "");
  EXPECT_EQ(Json("UPDATE t SET a = a + {'x'} WHERE p = 1", "a"), R"(["x"])");
  EXPECT_EQ(Json("m"), R"({"j": 2, "k": 1})");
  EXPECT_EQ(Say("ALTER TABLE t DROP l"), "");
  EXPECT_EQ(Say("SELECT JSON * FROM t"), R"({"p": 1, "a": ["x"], "m": {"j": 2, "k": 1}, "s": [1], )"
                                         R"("u": {"name": null, "age": 1}, "v": null})");
  clock_.AdvanceSeconds(101);
  EXPECT_EQ(Json("m"), R"({"k": 1})");
  EXPECT_EQ(Cell("SELECT type FROM system_schema.columns WHERE keyspace_name = 'k' AND "
                 "table_name = 't' AND column_name = 'm'"),
            "map<text, int>");
  EXPECT_NE(Cell("SELECT toJson(m) FROM t").find("k"), std::string::npos);
  EXPECT_NE(Must("DESCRIBE TABLE t").rows[0][3]->find("u person,"), std::string::npos);
}

TEST_F(Elements, JsonWritesThem) {
  EXPECT_EQ(Say(R"(INSERT INTO t JSON '{"p": 1, "l": ["a"], "m": {"k": 1}, "u": {"age": 3}}')"),
            "");
  EXPECT_EQ(Say("SELECT JSON l, m, s, u FROM t"),
            R"({"l": ["a"], "m": {"k": 1}, "s": null, "u": {"name": null, "age": 3}})");
  EXPECT_EQ(Say(R"(INSERT INTO t JSON '{"p": 1, "s": [2, 1]}' DEFAULT UNSET)"), "");
  EXPECT_EQ(Say(R"(INSERT INTO t JSON '{"p": 1, "m": {}}' DEFAULT UNSET)"), "");
  EXPECT_EQ(Say("SELECT JSON l, m, s FROM t"), R"({"l": ["a"], "m": null, "s": [1, 2]})");
}

TEST_F(Elements, Refusals) {
  Say("CREATE TABLE f (p int PRIMARY KEY, m frozen<map<int, int>>, l frozen<list<int>>, "
      "u frozen<person>)");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE f SET m[1] = 2 WHERE p = 1",
       "Invalid operation (m[1] = 2) for frozen collection column m"},
      {"UPDATE f SET l = [1] + l WHERE p = 1",
       "Invalid operation (l = [1] + l) for frozen list column l"},
      {"UPDATE f SET u.age = 2 WHERE p = 1",
       "Invalid operation (u.age = 2) for frozen UDT column u"},
      {"DELETE m[1] FROM f WHERE p = 1",
       "Invalid deletion operation for frozen collection column m"},
      {"DELETE u.age FROM f WHERE p = 1", "Frozen UDT column u does not support field deletions"},
      {"UPDATE t SET v = [1] + v WHERE p = 1", "Invalid list literal for v of type int"},
      {"UPDATE t SET v = 1 + v WHERE p = 1", "Invalid operation (v = 1 + v) for non list column v"},
      {"UPDATE t SET m = {'a': 1}, m['b'] = 2 WHERE p = 1",
       "Multiple incompatible setting of column m"},
  };
  for (const auto& [statement, error] : cases) EXPECT_EQ(Say(statement), error) << statement;
}

}  // namespace elements_over_cql_test
}  // namespace liststore::testing
