// The API of a whole server, and the document that describes it.
#include "engine/faces/http/api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/cql/values/json_value.h"
#include "tests/faces/http/http_client.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace api_test {

using cql::JsonArray;
using cql::JsonObject;
using cql::JsonValue;

// Null where there is none.
JsonValue Parsed(const std::string& text) {
  cql::CqlOr<JsonValue> json = cql::ParseJson(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *std::move(json) : JsonValue();
}
JsonValue Member(const JsonValue& json, std::string_view name) {
  const auto* object = json.As<JsonObject>();
  if (object == nullptr) return {};
  const auto member = std::ranges::find(*object, name, &cql::JsonMember::name);
  return member == object->end() ? JsonValue() : member->value;
}
template <typename... Names>
JsonValue Member(const JsonValue& json, std::string_view name, Names... rest) {
  return Member(Member(json, name), rest...);
}
std::string TextOf(const JsonValue& json) { return cql::PrintJson(json); }
// Of what is a string.
std::string StringOf(const JsonValue& json) {
  const auto* text = json.As<std::string>();
  return text == nullptr ? "" : *text;
}
JsonArray Rows(const JsonValue& json) {
  const JsonValue rows = Member(json, "rows");
  return rows.As<JsonArray>() == nullptr ? JsonArray() : *rows.As<JsonArray>();
}

class ApiTest : public CqlSessionTest {
 protected:
  void Start(CqlServerOptions options = {}) {
    options.http_port = 0;
    options.journal_entries = 1000;
    StartServer(options, "k");
  }
  HttpReply Ask(const std::string& method_and_target, const std::string& body = {},
                const std::string& fields = {}) {
    HttpClient client(server_->http_port());
    return client.Ask(method_and_target, body, fields);
  }
  // What must succeed.
  JsonValue Get(const std::string& target) { return Must200("GET " + target, ""); }
  JsonValue Post(const std::string& target, const std::string& body) {
    return Must200("POST " + target, body);
  }
  JsonValue Must200(const std::string& what, const std::string& body) {
    const HttpReply reply = Ask(what, body);
    EXPECT_EQ(reply.status, 200) << what << reply.body;
    return Parsed(reply.body);
  }
  JsonValue Query(const std::string& cql) {
    return Post("/api/query", TextOf(JsonValue{JsonObject{{"query", JsonValue{cql}}}}));
  }
};

TEST_F(ApiTest, StatementsAreAnsweredWithRows) {
  Start();
  EXPECT_EQ(
      TextOf(Query("CREATE TABLE k.t (a int, b text, c list<int>, d blob, e double, "
                   "f frozen<tuple<int, text>>, g map<text, timestamp>, PRIMARY KEY (a, b))")),
      R"({"columns":[],"rows":[]})");
  Query(
      "INSERT INTO k.t (a, b, c, d, e, f, g) VALUES (1, 'x\"y', [1, 2], 0x0aff, 0.5, (3, 'z'), "
      "{'at': '2026-01-01'})");
  const JsonValue found = Query("SELECT * FROM k.t");
  EXPECT_EQ(TextOf(Member(found, "rows")),
            R"([{"a":1,"b":"x\"y","c":[1,2],"d":"0x0aff","e":0.5,"f":[3,"z"],)"
            R"("g":{"at":"2026-01-01 00:00:00.000Z"}}])");
  EXPECT_EQ(TextOf(Member(found, "columns")),
            R"([{"name":"a","type":"int"},{"name":"b","type":"text"},)"
            R"({"name":"c","type":"list<int>"},{"name":"d","type":"blob"},)"
            R"({"name":"e","type":"double"},{"name":"f","type":"frozen<tuple<int, text>>"},)"
            R"({"name":"g","type":"map<text, timestamp>"}])");
  EXPECT_EQ(
      TextOf(Member(Query("UPDATE k.t SET e = 1 WHERE a = 1 AND b = 'n' IF EXISTS"), "rows")),
      R"([{"[applied]":false,"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null}])");
  EXPECT_EQ(TextOf(Member(Query("USE k"), "keyspace")), R"("k")");
  EXPECT_EQ(
      TextOf(Member(Post("/api/query", R"({"query":"SELECT a FROM t","keyspace":"k"})"), "rows")),
      R"([{"a":1}])");
}

TEST_F(ApiTest, ParametersAreBoundInTheirOrderOrByName) {
  Start();
  Query(
      "CREATE TABLE k.t (a int PRIMARY KEY, b text, c list<int>, d blob, e timestamp, f bigint, "
      "g map<text, int>)");
  Post("/api/query",
       R"j({"query":"INSERT INTO k.t (a, b, c, d, e, f, g) VALUES (?, ?, ?, ?, ?, ?, ?)",)j"
       R"("parameters":[1,"it's; \"x\"",[1,2],"0x0aff","2026-01-01",9007199254740993,{"k":5}]})");
  Post("/api/query",
       R"j({"query":"INSERT INTO t (a, b, c) VALUES (:key, :text, :c)","keyspace":"k",)j"
       R"("parameters":{"text":null,"c":[],"key":"2"}})");
  const JsonValue found = Query("SELECT * FROM k.t");
  EXPECT_EQ(TextOf(Member(found, "rows")),
            R"([{"a":1,"b":"it's; \"x\"","c":[1,2],"d":"0x0aff","e":"2026-01-01 00:00:00.000Z",)"
            R"("f":9007199254740993,"g":{"k":5}},)"
            R"({"a":2,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null}])");
  EXPECT_EQ(TextOf(Member(Post("/api/query", R"({"query":"SELECT b FROM k.t WHERE a IN ?",)"
                                             R"("parameters":[[1,2]],"page_size":1})"),
                          "rows")),
            R"([{"b":"it's; \"x\""}])");
  EXPECT_EQ(TextOf(Member(Post("/api/query", R"({"query":"SELECT a FROM k.t WHERE a = 2",)"
                                             R"("parameters":[]})"),
                          "rows")),
            R"([{"a":2}])");
}

// What was prepared may go before it is executed, with its table: it is prepared again, with the types of then.
TEST_F(ApiTest, WhatWasPreparedIsExecutedOrPreparedAgain) {
  Start();
  Query("CREATE TABLE k.t (a int PRIMARY KEY)");
  const auto insert = [&] {
    return Ask("POST /api/query",
               R"j({"query":"INSERT INTO k.t (a) VALUES (?)","parameters":[7]})j");
  };
  Query("INSERT INTO liststore.faults (name, action, times) VALUES ('f', 'unprepared', 1)");
  EXPECT_EQ(insert().status, 200) << "the second time";
  EXPECT_EQ(TextOf(Member(Query("SELECT * FROM k.t"), "rows")), R"([{"a":7}])");
  // Faults see a driver's two steps, and the answer waits for both.
  Query("INSERT INTO liststore.faults (name, action, times) VALUES ('f', 'unprepared', 2)");
  const HttpReply twice = insert();
  EXPECT_EQ(twice.status, 400);
  EXPECT_NE(twice.body.find(R"("code":"unprepared")"), std::string::npos) << twice.body;
}

TEST_F(ApiTest, ParametersThatDoNotFitAreNamed) {
  Start();
  Query("CREATE TABLE k.t (a int PRIMARY KEY, b tinyint)");
  const struct {
    std::string parameters;
    std::string said;
  } kCases[] = {
      {"[1]", "parameters has 1 values, and the statement 2 bind markers"},
      {"[1,2,3]", "parameters has 3 values, and the statement 2 bind markers"},
      {R"({"a":1})", "parameters has no b"},
      {R"({"a":1,"b":2,"c":3})", "parameters has c, which is no bind marker of the statement"},
      {R"({"a":1,"b":2,"a":3})", "parameters has a twice"},
      {"7", "parameters is a list of values, or an object of them by name"},
      {R"([1,"x"])", "parameters: b, a tinyint: "},
      {"[1,300]", "parameters: b, a tinyint: "},
      {"[1,[2]]", "parameters: b, a tinyint: "}};
  for (const auto& wrong : kCases) {
    const HttpReply reply = Ask(
        "POST /api/query", R"j({"query":"INSERT INTO k.t (a, b) VALUES (?, ?)","parameters":)j" +
                               wrong.parameters + "}");
    EXPECT_EQ(reply.status, 400) << wrong.parameters;
    const std::string message = StringOf(Member(Parsed(reply.body), "error", "message"));
    EXPECT_TRUE(message.starts_with(wrong.said)) << message;
  }
  const HttpReply twice =
      Ask("POST /api/query", R"j({"query":"SELECT * FROM k.t WHERE a = 1 AND b > ? AND b < ? )j"
                             R"j(ALLOW FILTERING","parameters":{"b":5}})j");
  EXPECT_EQ(twice.status, 400);
  EXPECT_NE(twice.body.find("several bind markers named b"), std::string::npos) << twice.body;
  // Values that are missing are a matter of the statement, which says so in CQL's words.
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELECT * FROM k.t WHERE a = ?"})").status, 400);
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELEC ?","parameters":[1]})").status, 400);
  EXPECT_EQ(TextOf(Member(Query("SELECT * FROM k.t"), "rows")), "[]");
}

// An int of no bytes is none of JSON, but a value that CQL has; the page is shown with it.
TEST_F(ApiTest, ValuesThatJsonHasNotAreShown) {
  Start();
  Query("CREATE TABLE k.t (a int PRIMARY KEY, b int, c list<int>)");
  Query("INSERT INTO k.t (a, b, c) VALUES (1, blobasint(0x), [blobasint(0x)])");
  EXPECT_EQ(TextOf(Member(Query("SELECT * FROM k.t"), "rows")),
            R"([{"a":1,"b":"","c":"0x0000000100000000"}])");
}

TEST_F(ApiTest, ResultsComeInPages) {
  Start();
  Query("CREATE TABLE k.t (a int, b int, PRIMARY KEY (a, b))");
  for (int i = 0; i < 5; ++i) Query("INSERT INTO k.t (a, b) VALUES (1, " + std::to_string(i) + ")");
  std::string state;
  std::string seen;
  for (int page = 0; page < 3; ++page) {
    std::string body = R"({"query":"SELECT b FROM k.t","page_size":2)";
    if (!state.empty()) body += ",\"paging_state\":" + state;
    const JsonValue result = Post("/api/query", body + "}");
    seen += TextOf(Member(result, "rows"));
    state = TextOf(Member(result, "paging_state"));
    EXPECT_EQ(state == "null", page == 2);
  }
  EXPECT_EQ(seen, R"([{"b":0},{"b":1}][{"b":2},{"b":3}][{"b":4}])");
}

TEST_F(ApiTest, ErrorsHaveTheCodeOfCql) {
  Start();
  const struct {
    std::string body;
    int status;
    std::string code;
  } kCases[] = {
      {R"({"query":"SELEC"})", 400, "syntax"},
      {R"({"query":"SELECT * FROM k.nothing"})", 400, "invalid"},
      {R"({"query":"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', )"
       R"('replication_factor': 1}"})",
       409, "already_exists"},
      {R"({"query":""})", 400, "bad_request"},
      {R"({})", 400, "bad_request"},
      {R"([])", 400, "bad_request"},
      {R"({"query":)", 400, "bad_request"},
      {R"({"query":1})", 400, "bad_request"},
      {R"({"query":"x","page_size":0})", 400, "bad_request"},
      {R"({"query":"x","page_size":10001})", 400, "bad_request"},
      {R"({"query":"x","paging_state":"0"})", 400, "bad_request"},
      {R"({"query":"SELECT * FROM system.local","paging_state":"00"})", 400, "invalid"},
      {R"({"query":"x","consistency":"SOME"})", 400, "bad_request"},
      {R"({"query":"x","what":1})", 400, "bad_request"},
      {"{\"query\":\"\xff\"}", 400, "bad_request"},
      // 100 bytes of it are said again: not half a character.
      {"{\"" + std::string(99, 'x') + "\xc3\xa4\":1}", 400, "bad_request"},
  };
  for (const auto& [body, status, code] : kCases) {
    const HttpReply reply = Ask("POST /api/query", body);
    EXPECT_EQ(reply.status, status) << body << reply.body;
    EXPECT_EQ(TextOf(Member(Parsed(reply.body), "error", "code")), "\"" + code + "\"") << body;
  }
  const HttpReply reply = Ask("POST /api/query", R"({"query":"SELECT * FROM k.nothing"})");
  EXPECT_EQ(TextOf(Member(Parsed(reply.body), "error", "cql_code")), "8704") << reply.body;
}

// A page that a browser shows cannot send one without asking first.
TEST_F(ApiTest, BodiesAreJsonAndSaySo) {
  Start();
  HttpClient client(server_->http_port());
  client.Send(
      "POST /api/query HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(client.Read().status, 415);
  client.Send(
      "POST /api/query HTTP/1.1\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
      "Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(client.Read().status, 400);
}

TEST_F(ApiTest, TheClockIsStoppedAndMoved) {
  Start();
  EXPECT_EQ(TextOf(Member(Rows(Get("/api/clock"))[0], "mode")), R"("real")");
  Post("/api/clock", R"({"mode":"manual"})");
  const JsonValue moved = Post("/api/clock", R"({"now":"2030-01-01"})");
  EXPECT_EQ(TextOf(Member(Rows(moved)[0], "now")), R"("2030-01-01 00:00:00.000Z")");
  EXPECT_EQ(TextOf(Member(Rows(Post("/api/clock", R"({"advance":"1h30m"})"))[0], "now")),
            R"("2030-01-01 01:30:00.000Z")");
  EXPECT_EQ(
      TextOf(Member(Rows(Post("/api/clock", R"({"key":"clock","advance_seconds":1})"))[0], "now")),
      R"("2030-01-01 01:30:01.000Z")");
  const HttpReply back = Ask("POST /api/clock", R"({"now":"2029-01-01"})");
  EXPECT_EQ(back.status, 400);
  EXPECT_NE(back.body.find("liststore.clock"), std::string::npos) << back.body;
  EXPECT_EQ(Ask("POST /api/clock", R"({"advance_seconds":"much"})").status, 400);
  const HttpReply day = Ask("POST /api/clock", R"({"advance":"1 day"})");
  EXPECT_EQ(day.status, 400);
  EXPECT_EQ(TextOf(Member(Parsed(day.body), "error", "code")), R"("invalid")");
  EXPECT_NE(day.body.find("it is written as 1d, 90s or 1h30m"), std::string::npos) << day.body;
  EXPECT_EQ(Ask("POST /api/clock", R"({"nothing":1})").status, 400);
}

TEST_F(ApiTest, FaultsAreArmedAndMetAndRemoved) {
  Start();
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  const JsonValue armed =
      Post("/api/faults", R"({"name":"it's","op":"SELECT","times":2,"action":"read_timeout"})");
  ASSERT_EQ(Rows(armed).size(), 1u);
  EXPECT_EQ(TextOf(Member(Rows(armed)[0], "remaining")), "2");
  const HttpReply met = Ask("POST /api/query", R"({"query":"SELECT * FROM k.t"})");
  EXPECT_EQ(met.status, 504);
  EXPECT_EQ(TextOf(Member(Parsed(met.body), "error", "code")), R"("read_timeout")");
  EXPECT_NE(Refusal("SELECT * FROM k.t"), "");
  Query("SELECT * FROM k.t");
  EXPECT_EQ(Rows(Must200("DELETE /api/faults/it%27s", "")).size(), 0u);
  Post("/api/faults", R"({"name":"a","action":"overloaded"})");
  Post("/api/faults", R"({"name":"b","action":"overloaded"})");
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELECT * FROM k.t"})").status, 503);
  EXPECT_EQ(Rows(Must200("DELETE /api/faults", "")).size(), 0u);
  EXPECT_EQ(Ask("POST /api/faults", R"({"name":"a","action":"explode"})").status, 400);
  // Of a table that is not there the answer warns, and so does the row.
  const JsonValue early =
      Post("/api/faults", R"({"name":"a","action":"OVERLOADED","op":"select","tbl":"k.tt"})");
  const std::string warning =
      "tbl 'k.tt': there is no such table, and nothing meets the fault until there is; did you "
      "mean k.t?";
  EXPECT_EQ(TextOf(Member(Rows(early)[0], "warning")), "\"" + warning + "\"");
  EXPECT_EQ(TextOf(Member(early, "warnings")), "[\"liststore.faults: " + warning + "\"]");
  EXPECT_EQ(Rows(Get("/api/faults?action=Overloaded&op=Select")).size(), 1u);
}

TEST_F(ApiTest, HotPartitionsAreTold) {
  Start();
  Must("CREATE TABLE k.t (a int PRIMARY KEY, b int)");
  Must("INSERT INTO k.t (a, b) VALUES (7, 1)");
  Query("SELECT * FROM k.t WHERE a = 7");
  const JsonArray rows = Rows(Get("/api/hot_partitions"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(TextOf(Member(rows[0], "tbl")), R"("k.t")");
  EXPECT_EQ(TextOf(Member(rows[0], "key")), R"("7")");
  EXPECT_EQ(TextOf(Member(rows[0], "reads")), "1");
  EXPECT_EQ(TextOf(Member(rows[0], "writes")), "1");
  EXPECT_EQ(Ask("POST /api/hot_partitions", R"({"rank":1})").status, 405);
}

TEST_F(ApiTest, ConnectionsThatAFaultClosesAreClosed) {
  Start();
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  Post("/api/faults", R"({"name":"f","op":"SELECT","times":1,"action":"close_connection"})");
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELECT * FROM k.t"})").status, 0);
  Post("/api/faults", R"({"name":"f","op":"SELECT","times":1,"action":"delay 1ms"})");
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELECT * FROM k.t"})").status, 200);
}

TEST_F(ApiTest, DataGoesBackToItsMark) {
  Start();
  Query("CREATE TABLE k.t (a int PRIMARY KEY)");
  Query("INSERT INTO k.t (a) VALUES (1)");
  Post("/api/data", R"({"action":"mark"})");
  Query("INSERT INTO k.t (a) VALUES (2)");
  Post("/api/faults", R"({"name":"a","action":"overloaded","op":"INSERT"})");
  EXPECT_EQ(TextOf(Member(Rows(Post("/api/data", R"({"action":"reset"})"))[0], "rows")), "1");
  EXPECT_EQ(TextOf(Member(Query("SELECT * FROM k.t"), "rows")), R"([{"a":1}])");
  EXPECT_EQ(Rows(Get("/api/faults")).size(), 0u);
}

TEST_F(ApiTest, TheJournalIsReadAndCutAndEmptied) {
  Start();
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  Must("INSERT INTO k.t (a) VALUES (1)");
  Query("SELECT * FROM k.t");
  const JsonArray selects = Rows(Get("/api/requests?op=SELECT&tbl=k.t"));
  ASSERT_EQ(selects.size(), 1u);
  EXPECT_EQ(TextOf(Member(selects[0], "driver")), R"("HTTP")");
  EXPECT_EQ(TextOf(Member(selects[0], "outcome")), R"("ok")");
  EXPECT_EQ(Rows(Get("/api/requests?limit=2")).size(), 2u);
  for (const char* bad : {"limit=0", "limit=x", "limit=10001", "nothing=1", "seq=1", "op=%",
                          "op=SELECT&op=INSERT", "op%22%3D=1"}) {
    EXPECT_EQ(Ask(std::string("GET /api/requests?") + bad).status, 400) << bad;
  }
  EXPECT_EQ(Rows(Get("/api/requests?tbl=x%27%20OR")).size(), 0u);
  // Words are taken in any case, and must be some.
  EXPECT_EQ(Rows(Get("/api/requests?op=select&outcome=OK&consistency=local_one")).size(), 1u);
  for (const auto& [query, why] :
       {std::pair("op=selct", "op 'selct' is not SELECT, INSERT,"),
        std::pair("op=x%27%20OR", "op 'x' OR' is not SELECT"),
        std::pair("consistency=local_some", "consistency 'local_some' is not one, like ONE")}) {
    const HttpReply refused = Ask(std::string("GET /api/requests?") + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_NE(refused.body.find(why), std::string::npos) << refused.body;
  }
  EXPECT_EQ(Rows(Must200("DELETE /api/requests", "")).size(), 0u);
  Post("/api/journal", R"({"enabled":false})");
  EXPECT_EQ(TextOf(Member(Rows(Get("/api/journal"))[0], "enabled")), "false");
}

TEST_F(ApiTest, MemoryLimitsAreSeenAndChanged) {
  Start();
  const JsonValue behind = Post("/api/memory", R"({"kind":"rows","limit_bytes":134217728})");
  const JsonArray rows = Rows(behind);
  const bool is_changed = std::ranges::any_of(rows, [](const JsonValue& row) {
    return TextOf(Member(row, "kind")) == R"("rows")" &&
           TextOf(Member(row, "limit_bytes")) == "134217728";
  });
  EXPECT_TRUE(is_changed) << TextOf(behind);
  EXPECT_EQ(Ask("POST /api/memory", R"({"kind":"rows","limit_bytes":1})").status, 400);
}

TEST_F(ApiTest, WithoutInstrumentsTheirTablesAreNotThere) {
  CqlServerOptions options;
  options.instruments = false;
  Start(options);
  const HttpReply faults = Ask("GET /api/faults");
  EXPECT_EQ(faults.status, 404);
  EXPECT_NE(faults.body.find("--instruments is off"), std::string::npos) << faults.body;
  EXPECT_EQ(Ask("POST /api/clock", R"({"advance_seconds":1})").status, 404);
  EXPECT_EQ(Ask("DELETE /api/faults/f").status, 404);
  EXPECT_EQ(Ask("GET /api/counters").status, 200);
}

TEST_F(ApiTest, PermissionsHoldAsTheyDoOverCql) {
  CqlServerOptions options;
  options.user = "root";
  options.password = "secret";
  options.scylla_options = {{"authorizer", "CassandraAuthorizer"}};
  options.http_port = 0;
  options.memory_limit_bytes = 64 << 20;
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  server_ = *std::move(server);
  const auto as = [](const std::string& credentials) {
    return "Authorization: Basic " + absl::Base64Escape(credentials) + "\r\n";
  };
  const std::string root = as("root:secret");
  EXPECT_EQ(Ask("GET /api/counters").status, 401);
  EXPECT_EQ(Ask("GET /metrics").status, 401);
  EXPECT_EQ(Ask("GET /health").status, 200);
  EXPECT_EQ(Ask("GET /metrics", {}, root).status, 200);
  EXPECT_EQ(
      Ask("POST /api/faults", R"({"name":"f","action":"overloaded","op":"BATCH"})", root).status,
      200);
  EXPECT_EQ(Ask("POST /api/query",
                R"({"query":"CREATE ROLE tester WITH PASSWORD = 'p' AND LOGIN = true"})", root)
                .status,
            200);
  const std::string tester = as("tester:p");
  EXPECT_EQ(Ask("POST /api/clock", R"({"mode":"manual"})", tester).status, 403);
  EXPECT_EQ(Ask("DELETE /api/faults/f", {}, tester).status, 403);
  EXPECT_EQ(Ask("POST /api/query", R"({"query":"SELECT * FROM liststore.faults"})", tester).status,
            403);
  EXPECT_EQ(
      Ask("POST /api/query", R"({"query":"SELECT cluster_name FROM system.local"})", tester).status,
      200);
  // The next one of the address waits. A machine with other work may have waited as long before it asks:
  // then once more.
  int status = 200;
  for (int i = 0; i < 100 && status == 200; ++i) {
    EXPECT_EQ(Ask("GET /api/counters", {}, as("root:wrong")).status, 401);
    status = Ask("GET /api/counters", {}, root).status;
  }
  EXPECT_EQ(status, 429);
  // And comes in once it has: the wait is behind the failure, not behind each attempt.
  while (status == 429) status = Ask("GET /api/counters", {}, root).status;
  EXPECT_EQ(status, 200);
}

// ---- The document

// Where the value is not of the schema; empty: it is.
std::string Mismatch(const JsonValue& value, const JsonValue& schema, const JsonValue& schemas) {
  const JsonValue reference = Member(schema, "$ref");
  if (const auto* name = reference.As<std::string>()) {
    return Mismatch(value, Member(schemas, name->substr(name->rfind('/') + 1)), schemas);
  }
  const std::string type = TextOf(Member(schema, "type"));
  if (value.is_null()) {
    return TextOf(Member(schema, "nullable")) == "true" ? "" : "null is no " + type;
  }
  if (type == R"("object")") {
    const auto* object = value.As<JsonObject>();
    if (object == nullptr) return "no object: " + TextOf(value);
    const JsonValue required = Member(schema, "required");
    if (const auto* names = required.As<JsonArray>()) {
      for (const JsonValue& name : *names) {
        if (Member(value, StringOf(name)).is_null()) return "lacks " + TextOf(name);
      }
    }
    const JsonValue properties = Member(schema, "properties");
    for (const cql::JsonMember& member : *object) {
      const JsonValue property = Member(properties, member.name);
      if (property.is_null()) {
        if (properties.is_null()) continue;
        return "has " + member.name;
      }
      if (std::string why = Mismatch(member.value, property, schemas); !why.empty()) {
        return member.name + ": " + why;
      }
    }
    return "";
  }
  if (type == R"("array")") {
    const auto* array = value.As<JsonArray>();
    if (array == nullptr) return "no array: " + TextOf(value);
    for (const JsonValue& element : *array) {
      if (std::string why = Mismatch(element, Member(schema, "items"), schemas); !why.empty()) {
        return why;
      }
    }
    return "";
  }
  const bool fits = (type == R"("string")" && value.is_string()) ||
                    (type == R"("integer")" && value.As<int64_t>() != nullptr) ||
                    (type == R"("number")" && value.is_number()) ||
                    (type == R"("boolean")" && value.As<bool>() != nullptr);
  return fits ? "" : TextOf(value) + " is no " + type;
}

// Every operation of the document is asked for, and answers as it says; and there is none beside.
TEST_F(ApiTest, TheDocumentSaysWhatThereIs) {
  Start();
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  Must("SELECT * FROM k.t");
  Post("/api/faults", R"({"name":"f","action":"overloaded","op":"BATCH","probability":0.5})");
  EXPECT_NE(Refusal("SELECT * FROM k.t GROUP BY nothing"), "");
  const JsonValue document = Get("/api/openapi.json");
  EXPECT_EQ(TextOf(Member(document, "openapi")), R"("3.0.3")");
  const JsonValue schemas = Member(document, "components", "schemas");
  // Bodies of what is written.
  const std::map<std::string, std::string> bodies = {
      {"/api/clock", R"({"mode":"manual"})"},
      {"/api/data", R"({"action":"mark"})"},
      {"/api/faults", R"({"name":"g","action":"delay 1ms","op":"USE"})"},
      {"/api/journal", R"({"enabled":true})"},
      {"/api/memory", R"({"kind":"rows","limit_bytes":134217728})"},
      {"/api/snapshots", R"({"action":"save"})"},
      {"/api/query", R"({"query":"SELECT * FROM k.t"})"}};
  std::set<std::pair<std::string, std::string>> described;
  const JsonValue paths = Member(document, "paths");
  for (const cql::JsonMember& path : *paths.As<JsonObject>()) {
    for (const cql::JsonMember& operation : *path.value.As<JsonObject>()) {
      std::string method = operation.name;
      for (char& c : method) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      described.emplace(method, path.name);
      std::string target = path.name;
      if (const size_t brace = target.find('{'); brace != std::string::npos) {
        target = target.substr(0, brace) + "x";
      }
      std::string body;
      if (!Member(operation.value, "requestBody").is_null()) {
        ASSERT_TRUE(bodies.contains(path.name)) << path.name;
        body = bodies.at(path.name);
        const JsonValue schema =
            Member(operation.value, "requestBody", "content", "application/json", "schema");
        EXPECT_EQ(Mismatch(Parsed(body), schema, schemas), "") << path.name;
      }
      const HttpReply reply = Ask(method + " " + target, body);
      const JsonValue responses = Member(operation.value, "responses");
      const bool is_ok = reply.status == 200;
      // Nothing is kept here.
      EXPECT_EQ(is_ok, !(path.name == "/api/snapshots" && method == "POST"))
          << method << path.name << reply.body;
      if (path.name == "/metrics" || path.name == "/") continue;
      const JsonValue schema = Member(Member(responses, is_ok ? "200" : "default"), "content",
                                      "application/json", "schema");
      EXPECT_FALSE(schema.is_null()) << path.name;
      EXPECT_EQ(Mismatch(Parsed(reply.body), schema, schemas), "") << method << path.name;
    }
  }
  const JsonValue nowhere = Parsed(Ask("GET /nowhere").body);
  std::set<std::pair<std::string, std::string>> served;
  const JsonValue served_paths = Member(nowhere, "paths");
  for (const JsonValue& one : *served_paths.As<JsonArray>()) {
    served.emplace(StringOf(Member(one, "method")), StringOf(Member(one, "path")));
  }
  EXPECT_EQ(described, served);
}

}  // namespace api_test
}  // namespace liststore::testing
