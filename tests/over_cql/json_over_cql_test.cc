// JSON over the wire: SELECT JSON, INSERT JSON, toJson, fromJson, as ScyllaDB answers them
// (test/cqlpy/test_json.py, cassandra_tests/validation/entities/json_test.py).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace json_over_cql_test {

struct Exchange {
  std::string statement;
  std::string answer;
};

class JsonOverCql : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, c int, s text static, v int, \"Foo\" int, PRIMARY KEY (p, c))");
  }

  void Expect(const std::vector<Exchange>& dialogue) {
    for (const auto& [statement, answer] : dialogue) EXPECT_EQ(Ask(statement), answer) << statement;
  }
  // What answers with JSON: cells as they are, whatever their length.
  std::string Show(const std::string& select) {
    clock_.AdvanceNanos(1'000'000);
    prepares_ = !prepares_;
    const CqlAnswer answer = session_->Run({select, {}, prepares_});
    if (!answer.error.empty()) return answer.error;
    std::string text;
    for (const ResultRow& row : answer.rows) {
      if (!text.empty()) text += "; ";
      for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " ") + row[i].value_or("none");
    }
    return text;
  }
  std::string Ask(const std::string& statement) {
    const bool is_json = statement.starts_with("SELECT JSON") || statement.starts_with("SELECT to");
    return is_json ? Show(statement) : Say(statement);
  }
  static BoundParameter Text(std::string json) { return {std::move(json)}; }

 private:
  bool prepares_ = false;
};

TEST_F(JsonOverCql, RowsAreShownAsObjects) {
  Say("INSERT INTO t (p, c, s, v, \"Foo\") VALUES (1, 1, 'x\"y', 10, 5) USING TIMESTAMP 1234");
  Say("INSERT INTO t (p, c, v) VALUES (1, 2, 20)");
  Expect({
      {"SELECT JSON * FROM t", R"({"p": 1, "c": 1, "s": "x\"y", "\"Foo\"": 5, "v": 10}; )"
                               R"({"p": 1, "c": 2, "s": "x\"y", "\"Foo\"": null, "v": 20})"},
      {"SELECT JSON v, c FROM t WHERE p = 1 ORDER BY c DESC",
       R"({"v": 20, "c": 2}; {"v": 10, "c": 1})"},
      {"SELECT JSON v AS a, v AS \"B c\", v AS a FROM t LIMIT 1",
       R"({"a": 10, "\"B c\"": 10, "a": 10})"},
      {"SELECT JSON ttl(v), writetime(v) FROM t WHERE p = 1 AND c = 1",
       R"j({"ttl(v)": null, "writetime(v)": 1234})j"},
      {"SELECT JSON intAsBlob(v), CAST(v AS float), toJson(v), token(p) FROM t LIMIT 1",
       R"j({"system.intasblob(v)": "0x0000000a", "cast(v as float)": 10, )j"
       R"j("system.tojson(v)": "10", "system.token(p)": -4069959284402364209})j"},
      {"SELECT JSON DISTINCT p, s FROM t", R"({"p": 1, "s": "x\"y"})"},
      {"SELECT JSON count(*), max(v) FROM t", R"j({"count": 2, "system.max(v)": 20})j"},
      {"SELECT JSON p, sum(v) AS total FROM t GROUP BY p", R"({"p": 1, "total": 30})"},
      {"SELECT JSON count(*) AS n FROM t WHERE p = 7", R"({"n": 0})"},
      {"SELECT JSON v FROM t WHERE p = 7", ""},
      {"SELECT JSON nothing FROM t", "Unrecognized name nothing"},
      {"SELECT JSON DISTINCT v FROM t",
       "SELECT DISTINCT queries must only request partition key columns and/or static columns (not "
       "v)"},
      {"SELECT json FROM t", "Unrecognized name json"},
  });
  // A partition that has static values alone.
  Say("INSERT INTO t (p, s) VALUES (2, 'z')");
  EXPECT_EQ(Show("SELECT JSON p, c, s FROM t WHERE p = 2"), R"({"p": 2, "c": null, "s": "z"})");
}

TEST_F(JsonOverCql, TheResultIsOneColumnOfText) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto frame = client.Ask(
      {.stream = 1, .opcode = 0x07, .body = QueryBody("SELECT JSON * FROM k.t WHERE p = 1")});
  ASSERT_TRUE(frame);
  // Rows, with one table for all columns, of which there is one, a varchar.
  const std::string expected("\0\0\0\2\0\0\0\1\0\0\0\1\0\1k\0\1t\0\6[json]\0\x0d\0\0\0\0", 32);
  EXPECT_EQ(frame->body, expected);
}

TEST_F(JsonOverCql, PagesHoldAsManyRowsAsTheyAreAskedFor) {
  for (int c = 0; c < 5; ++c) {
    Say("INSERT INTO t (p, c, v) VALUES (1, " + std::to_string(c) + ", 0)");
  }
  CqlParameters parameters;
  parameters.page_size = 2;
  std::string all;
  int pages = 0;
  do {
    const CqlAnswer page = Must({"SELECT JSON c FROM t WHERE p = 1", {}, true}, parameters);
    EXPECT_LE(page.rows.size(), 2u);
    for (const ResultRow& row : page.rows) all += *row.at(0);
    parameters.paging_state = page.paging_state;
    ++pages;
  } while (!parameters.paging_state.empty() && pages < 10);
  EXPECT_EQ(all, R"({"c": 0}{"c": 1}{"c": 2}{"c": 3}{"c": 4})");
  EXPECT_EQ(pages, 3);
}

TEST_F(JsonOverCql, RowsAreWrittenByObjects) {
  Expect({
      {"UPDATE t SET s = 'it''s ok' WHERE p = 1", ""},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "v": 10, "\"Foo\"": 5, "s": "x"}')", ""},
      {"SELECT s, v, \"Foo\" FROM t", "it's ok 10 5"},
      // What is not named becomes null, as does what is; static columns stay, named or not.
      {R"(INSERT INTO t JSON '{"P": 1, "C": 1, "v": null}')", ""},
      {"SELECT s, v, \"Foo\" FROM t", "it's ok null null"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "v": 11, "s": null}' DEFAULT NULL)", ""},
      {"SELECT s, v, \"Foo\" FROM t", "it's ok 11 null"},
      // Or stays.
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "\"Foo\"": 6}' DEFAULT UNSET)", ""},
      {"SELECT v, \"Foo\" FROM t", "11 6"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "v": null}' DEFAULT UNSET)", ""},
      {"SELECT v, \"Foo\" FROM t", "null 6"},
      // The row is there without values too.
      {R"(INSERT INTO t JSON '{"p": 2, "c": 1}')", ""},
      {"SELECT c, v FROM t WHERE p = 2", "1 null"},
      {R"(INSERT INTO t JSON '{"p": 3, "c": 1, "v": 1}' USING TTL 5 AND TIMESTAMP 77)", ""},
      {"SELECT v, ttl(v), writetime(v) FROM t WHERE p = 3", "1 5 77"},
      {R"(BEGIN BATCH INSERT INTO t JSON '{"p": 4, "c": 1}' INSERT INTO t JSON '{"p": 4, "c": 2}' )"
       "APPLY BATCH",
       ""},
      {"SELECT JSON c FROM t WHERE p = 4", R"({"c": 1}; {"c": 2})"},
  });
}

TEST_F(JsonOverCql, TheObjectMayBeBound) {
  const std::string insert = "INSERT INTO t JSON ?";
  EXPECT_EQ(Say("UPDATE t SET s = 'xyz' WHERE p = 1"), "");
  for (int i = 0; i < 2; ++i) {  // as a text and prepared
    const std::string c = std::to_string(i);
    EXPECT_EQ(Say(insert, {Text(R"({"p": 1, "c": )" + c + R"(, "v": 10, "s": "x"})")}), "");
    EXPECT_EQ(Say("SELECT s, v FROM t WHERE p = 1 AND c = " + c), "xyz 10");
    EXPECT_EQ(Say(insert + " DEFAULT UNSET", {Text(R"({"p": 1, "c": )" + c + "}")}), "");
    EXPECT_EQ(Say("SELECT s, v FROM t WHERE p = 1 AND c = " + c), "xyz 10");
    EXPECT_EQ(
        Say(insert + " USING TTL ?", {Text(R"({"p": 1, "c": )" + c + "}"), {cql::EncodeInt(9)}}),
        "");
    EXPECT_EQ(Say("SELECT s, v FROM t WHERE p = 1 AND c = " + c), "xyz null");
    EXPECT_EQ(Say(insert, {Text(R"({"p": 1})")}), "Missing mandatory PRIMARY KEY part c");
    EXPECT_EQ(Say(insert, {Text(R"({"p": null, "c": 1})")}),
              "Missing mandatory PRIMARY KEY part p");
    EXPECT_EQ(Say(insert, {BoundParameter{}}), "Got null for INSERT JSON values");
    EXPECT_EQ(Say(insert, {BoundParameter{"", true}}),
              "Unexpected unset value for bind variable 0");
    EXPECT_EQ(Say(insert, {Text("\xff")}),
              "Exception while binding column \"\": marshaling error: Validation failed - "
              "non-UTF8 character in a UTF8 string, at byte offset 0");
    EXPECT_EQ(Say(insert, {Text(R"({"p": 1, "c": "x"})")}),
              "marshaling error: Invalid number format 'x'");
  }
}

TEST_F(JsonOverCql, WrongObjectsAreRefusedInScyllaDbsWords) {
  Expect({
      {R"(INSERT INTO t JSON '{"p": 1}')", "Missing mandatory PRIMARY KEY part c"},
      {R"(INSERT INTO t JSON '{"c": 1, "v": 1}')", "Missing mandatory PRIMARY KEY part p"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "zzz": 0}')",
       "JSON values map contains unrecognized column: zzz"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "foo": 0}')",
       "JSON values map contains unrecognized column: foo"},
      {"INSERT INTO t JSON 'null'", "JSON assert failed on condition 'IsObject()'"},
      {"INSERT INTO t JSON '{p: 1}'",
       "Parsing JSON failed: Missing a name for object member. at 1"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 2147483648}')",
       "marshaling error: Value 2147483648 out of range"},
      {"INSERT INTO nothing JSON '{}'", "unconfigured table nothing"},
      {"INSERT INTO t JSON 5", "line 1:19 no viable alternative at input '5'"},
      {"CREATE TABLE n (p int PRIMARY KEY, v counter)", ""},
      {R"(INSERT INTO n JSON '{"p": 1, "v": 1}')",
       "Cannot set the value of counter column v in JSON"},
      {"UPDATE n SET v = v + fromJson('3') WHERE p = fromJson('1')", ""},
      {"SELECT JSON * FROM n", R"({"p": 1, "v": 3})"},
  });
  EXPECT_EQ(Say("SELECT * FROM t"), "");
}

TEST_F(JsonOverCql, IfNotExistsIsHeeded) {
  Expect({
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "v": 1}' IF NOT EXISTS)",
       "true null null null null null"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1, "v": 2}' IF NOT EXISTS)", "false 1 1 null null 1"},
      {"SELECT v FROM t", "1"},
      {R"(INSERT INTO t JSON '{"p": 1, "c": 1}' IF NOT EXISTS USING TIMESTAMP 5)",
       "Cannot provide custom timestamp for conditional updates"},
  });
  EXPECT_EQ(Say("INSERT INTO t JSON ? IF NOT EXISTS", {Text(R"({"p": 1, "c": 1})")}),
            "false 1 1 null null 1");
}

TEST_F(JsonOverCql, ValuesAreShownAndTakenOneByOne) {
  Say("CREATE TABLE l (p int PRIMARY KEY, l frozen<list<int>>, a text)");
  Expect({
      {"INSERT INTO l (p, l, a) VALUES (1, fromJson('[3, 1]'), fromJson('\"x\"'))", ""},
      {"SELECT toJson(l), toJson(a), system.toJson(p), toJson((int) 1) FROM l",
       R"([3, 1] "x" 1 1)"},
      {"SELECT p FROM l WHERE p = fromJson('1')", "1"},
      {"SELECT p FROM l WHERE p IN (fromJson('1'), 2)", "1"},
      {"SELECT intAsBlob(fromJson('7')), blobAsInt(intAsBlob(fromJson(a))) FROM l WHERE p = 2", ""},
      {"SELECT p FROM l WHERE token(p) = token(fromJson('1'))", "1"},
      {"UPDATE l SET a = fromJson('null') WHERE p = fromJson('1')", ""},
      // Null is JSON's null, not CQL's.
      {"SELECT toJson(a) FROM l", "null"},
      {"SELECT p FROM l WHERE p = 1 AND a = null ALLOW FILTERING", ""},
      {"INSERT INTO l (p, l) VALUES (2, [fromJson('5')])", ""},
      {"SELECT toJson(l) FROM l WHERE p = 2", "[5]"},
      {"INSERT INTO l (p, a) VALUES (3, toJson((int) 5))", ""},
      {"SELECT toJson(a) FROM l WHERE p = 3", "\"5\""},
      {"DELETE FROM l WHERE p = fromJson('3')", ""},

      {"SELECT fromJson(a) FROM l", "fromJson() can only be called if receiver type is known"},
      {"SELECT toJson(fromJson(a)) FROM l",
       "toJson() is only valid when its argument type is known"},
      {"SELECT toJson(l, a) FROM l", "toJson() accepts 1 argument only"},
      {"INSERT INTO l (p, a) VALUES (3, toJson(?))",
       "toJson() is only valid when its argument type is known"},
      {"INSERT INTO l (p) VALUES (fromJson())", "fromJson() accepts 1 argument only"},
      {"INSERT INTO l (p, a) VALUES (3, k.fromJson('1'))", "Unknown function k.fromjson called"},
      {"SELECT intAsBlob(fromJson(p)) FROM l",
       "Type error: p cannot be passed as argument 0 of function system.fromjson of type text"},
      {"INSERT INTO l (p, a) VALUES (1, toJson((text) 'x'))", ""},
      {"INSERT INTO l (p, a) VALUES (toJson((int) 1), 'x')",
       "Type error: cannot assign result of function system.tojson (type text) to p (type int)"},
      {"INSERT INTO l (p, l) VALUES (1, fromJson('dog'))",
       "execution of fromJson failed: Failed parsing fromJson parameter: Parsing JSON failed: "
       "Invalid value. at 0"},
      {"INSERT INTO l (p, l) VALUES (1, fromJson('[null]'))",
       "execution of fromjson failed: Failed execution of function system.fromjson: "
       "marshal_exception (marshaling error: Incorrect JSON value for int64 type: null)"},
  });
  EXPECT_EQ(Say("INSERT INTO l (p, l) VALUES (fromJson(?), fromJson(?))", {Text("4"), Text("[9]")}),
            "");
  EXPECT_EQ(
      Say("INSERT INTO l (p, l) VALUES (fromJson(?), fromJson(?))", {Text("5"), BoundParameter{}}),
      "");
  EXPECT_EQ(Show("SELECT toJson(l) FROM l WHERE p IN (4, 5)"), "[9]; null");
}

TEST_F(JsonOverCql, AFailedFunctionHasACodeOfItsOwn) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto ask = [&](const std::string& statement) {
    return client.Ask({.stream = 1, .opcode = 0x07, .body = QueryBody(statement)});
  };
  auto frame = ask("INSERT INTO k.t (p, c) VALUES (1, fromJson('x'))");
  ASSERT_TRUE(frame);
  EXPECT_EQ(ErrorCodeOf(*frame), 0x1400);
  const std::string details("\0\1k\0\10fromJson\0\1\0\51org.apache.cassandra.db.marshal.Int32Type",
                            3 + 10 + 2 + 43);
  EXPECT_TRUE(frame->body.ends_with(details)) << frame->body;
  // What the text of an INSERT JSON says wrongly is an error of the server, as there.
  frame = ask("INSERT INTO k.t JSON 'x'");
  ASSERT_TRUE(frame);
  EXPECT_EQ(ErrorCodeOf(*frame), 0x0000);
  frame = ask(R"(INSERT INTO k.t JSON '{"zzz": 1}')");
  ASSERT_TRUE(frame);
  EXPECT_EQ(ErrorCodeOf(*frame), 0x2200);
}

TEST_F(JsonOverCql, TypesOfAllKinds) {
  Say("CREATE TYPE person (name text, \"Age\" int)");
  Say("CREATE TABLE all_types (k frozen<map<int, tuple<uuid, int>>> PRIMARY KEY, p "
      "frozen<person>, m frozen<map<frozen<list<text>>, boolean>>, ts timestamp, d decimal, b "
      "blob)");
  const std::string row =
      R"({"k": {"1": ["2dd2cd62-6af3-4cf6-96fc-91b9ab62eedc", 1]}, "b": "0x00ff", "d": 1.25, )"
      R"("m": {"[\"a\", \"b\"]": true}, "p": {"name": "x", "Age": 7}, )"
      R"("ts": "2014-01-01 12:15:45.000Z"})";
  EXPECT_EQ(Say("INSERT INTO all_types JSON '" + row + "'"), "");
  EXPECT_EQ(Show("SELECT JSON * FROM all_types"), row);
  EXPECT_EQ(Show("SELECT JSON p.\"Age\" FROM all_types"), R"({"\"p.Age\"": 7})");
  // A field that the type got later.
  Say("ALTER TYPE person ADD city text");
  EXPECT_EQ(Show("SELECT toJson(p) FROM all_types"), R"({"name": "x", "Age": 7, "city": null})");
}

TEST_F(JsonOverCql, VirtualTablesTakePart) {
  EXPECT_EQ(Show("SELECT JSON key, mode FROM liststore.clock"),
            R"({"key": "clock", "mode": "manual"})");
  const uint64_t before = clock_.NowNanos();
  EXPECT_EQ(Say(R"(INSERT INTO liststore.clock JSON '{"key": "clock", "advance_seconds": 60}')"),
            "");
  EXPECT_EQ(clock_.NowNanos(), before + 1'000'000 + 60'000'000'000);
  EXPECT_EQ(Show("SELECT JSON tokens FROM system.local").substr(0, 12), R"({"tokens": [)");
}

}  // namespace json_over_cql_test
}  // namespace liststore::testing
