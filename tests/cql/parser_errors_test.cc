// What is refused, in which words; limits; the statements that drivers send on connecting.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cql/syntax/parser.h"
#include "tests/cql/parse.h"

namespace liststore {
namespace parser_errors_test {

using testing::Refusal;

struct Example {
  std::string_view text;
  std::string_view message;
};

constexpr Example kRefusals[] = {
    {"", "line 1:0 no viable alternative at input '<EOF>'"},
    {";", "line 1:0 no viable alternative at input ';'"},
    {"SELEC * FROM t", "line 1:0 no viable alternative at input 'SELEC'"},
    {"SELECT FROM t", "line 1:7 no viable alternative at input 'FROM'"},
    {"SELECT * t", "line 1:9 : Missing FROM"},
    {"SELECT *\nFROM\n  where", "line 3:2 no viable alternative at input 'where'"},
    {"SELECT * FROM t WHERE", "line 1:21 no viable alternative at input '<EOF>'"},
    {"SELECT * FROM t WHERE a", "line 1:23 no viable alternative at input '<EOF>'"},
    {"SELECT * FROM t WHERE a = ", "line 1:26 no viable alternative at input '<EOF>'"},
    {"SELECT * FROM t WHERE a = b", "line 1:27 no viable alternative at input '<EOF>'"},
    {"SELECT * FROM t WHERE a = 1 OR b = 2", "line 1:28 : Unexpected 'OR'"},
    {"SELECT * FROM t WHERE a IN 1", "line 1:27 no viable alternative at input '1'"},
    {"SELECT * FROM t WHERE a IN (1", "line 1:29 : Missing ')'"},
    {"SELECT * FROM t WHERE (a, b) > 1", "line 1:31 no viable alternative at input '1'"},
    {"SELECT * FROM t WHERE (a, b) > ()", "line 1:32 no viable alternative at input ')'"},
    {"SELECT * FROM t WHERE token(1) > 0", "line 1:28 no viable alternative at input '1'"},
    {"SELECT * FROM t LIMIT 'x'", "line 1:22 no viable alternative at input ''x''"},
    {"SELECT * FROM t LIMIT 1 + 1", "line 1:24 : Unexpected '+'"},
    {"SELECT * FROM t ORDER a", "line 1:22 : Missing BY"},
    {"SELECT * FROM t ALLOW", "line 1:21 : Missing FILTERING"},
    {"SELECT * FROM t USING TTL 5", "line 1:22 no viable alternative at input 'TTL'"},
    {"SELECT a b FROM t", "line 1:9 : Missing FROM"},
    {"SELECT * FROM ?", "Bind variables cannot be used for table names"},
    {"SELECT * FROM t; SELECT * FROM t", "line 1:17 : Unexpected 'SELECT'"},
    {"SELECT * FROM t #", "line 1:16 no viable alternative at input '#'"},
    {"SELECT * FROM t WHERE a = 'x", "line 1:26 no viable alternative at input ''x'"},
    // Source: ScyllaDB cql3/Cql.g, createKeyspaceStatement, convert_property_map.
    {"CREATE KEYSPACE k", "line 1:17 : Missing WITH"},
    {"CREATE KEYSPACE k WITH replication = {'class': 'c', 'dc': 1, 'dc': 2}",
     "Multiple definition for property dc"},
    {"ALTER TABLE t WITH caching = {'keys': 'ALL', 'keys': 'ALL'}",
     "Multiple definition for property keys"},
    {"USE ?", "Bind variables cannot be used for keyspace names"},
    {"USE table", "line 1:4 no viable alternative at input 'table'"},
    {"INSERT INTO t", "line 1:13 no viable alternative at input '<EOF>'"},
    {"INSERT INTO t () VALUES ()", "line 1:15 no viable alternative at input ')'"},
    {"INSERT INTO t (a) VALUES ()", "line 1:26 no viable alternative at input ')'"},
    {"INSERT INTO t (a) VALUE (1)", "line 1:18 : Missing VALUES"},
    {"INSERT INTO t (a, select) VALUES (1, 2)",
     "line 1:18 no viable alternative at input 'select'"},
    {"INSERT INTO t (a) VALUES (1) USING TTL 5, TIMESTAMP 6", "line 1:40 : Unexpected ','"},
    {"INSERT INTO t (a) VALUES (1) IF EXISTS", "line 1:32 : Missing NOT"},
    {"INSERT INTO t (a) VALUES (b)", "line 1:27 no viable alternative at input ')'"},
    {"UPDATE t SET a = 1", "line 1:18 : Missing WHERE"},
    {"UPDATE t SET WHERE a = 1", "line 1:13 no viable alternative at input 'WHERE'"},
    {"UPDATE t SET a = b + 1 WHERE k = 1",
     "Only expressions of the form X = X +<value> are supported."},
    {"UPDATE t SET a = b - 1 WHERE k = 1",
     "Only expressions of the form X = X -<value> are supported."},
    {"UPDATE t SET a = b -1 WHERE k = 1",
     "Only expressions of the form X = X - <value> are supported."},
    {"UPDATE t SET a = 1 + b WHERE k = 1",
     "Only expressions of the form X = <value> + X are supported."},
    // There is no arithmetic.
    {"INSERT INTO t (a) VALUES (1 + 2)", "line 1:28 : Missing ')'"},
    {"INSERT INTO t (a) VALUES (1 -2)", "line 1:28 : Missing ')'"},
    {"INSERT INTO t (a) VALUES (- ?)", "line 1:28 no viable alternative at input '?'"},
    {"SELECT a * 2 FROM t", "line 1:9 : Missing FROM"},
    {"SELECT * FROM t WHERE a = b", "line 1:27 no viable alternative at input '<EOF>'"},
    {"DELETE FROM t", "line 1:13 : Missing WHERE"},
    {"DELETE FROM t USING TTL 5 WHERE k = 1", "line 1:20 no viable alternative at input 'TTL'"},
    {"BEGIN BATCH SELECT * FROM t; APPLY BATCH",
     "line 1:12 no viable alternative at input 'SELECT'"},
    {"BEGIN BATCH BEGIN BATCH APPLY BATCH APPLY BATCH",
     "line 1:12 no viable alternative at input 'BEGIN'"},
    {"BEGIN BATCH INSERT INTO t (a) VALUES (1)",
     "line 1:40 no viable alternative at input '<EOF>'"},
    {"CREATE", "line 1:6 no viable alternative at input '<EOF>'"},
    {"CREATE TABLE t", "line 1:14 : Missing '('"},
    {"CREATE TABLE t (a)", "line 1:17 no viable alternative at input ')'"},
    {"CREATE TABLE t (a int", "line 1:21 : Missing ')'"},
    {"CREATE TABLE t (a int) WITH CLUSTERING ORDER BY (a)",
     "line 1:50 no viable alternative at input ')'"},
    {"CREATE TABLE t (a int) WITH comment = foo", "line 1:38 no viable alternative at input 'foo'"},
    {"CREATE TABLE t (a int) WITH comment = ?", "line 1:38 no viable alternative at input '?'"},
    {"CREATE TABLE t (a int) WITH comment = 'a' AND comment = 'b'",
     "Multiple definition for property 'comment'"},
    {"CREATE KEYSPACE k WITH replication = {'class': ?}",
     "Invalid property value: 'class' for property: ? (bind variables are not supported in DDL "
     "queries)"},
    {"CREATE KEYSPACE k WITH replication = {:name: 1}",
     "Invalid property name: ? (bind variables are not supported in DDL queries)"},
    {"CREATE KEYSPACE k WITH replication = {'dc1': ['r1', 'r2']}",
     "Invalid property value: 'dc1' for property: ['r1', 'r2']"},
    {"CREATE KEYSPACE k WITH replication = {[1]: 2}", "Invalid property name: [1]"},
    {"CREATE TABLE t (a empty)", "Invalid (reserved) user type name empty"},
    {"CREATE TABLE t (a vector<int, 0>)", "8704 Vectors must have a dimension greater than 0"},
    {"CREATE INDEX ON t", "line 1:17 : Missing '('"},
    {"CREATE MATERIALIZED t", "line 1:7 no viable alternative at input 'MATERIALIZED'"},
    {"ALTER TABLE t FOO", "line 1:14 no viable alternative at input 'FOO'"},
    {"DROP TABLE IF NOT EXISTS t", "line 1:14 : Missing EXISTS"},
    {"DESCRIBE", "line 1:8 no viable alternative at input '<EOF>'"},
    {"TRUNCATE", "line 1:8 no viable alternative at input '<EOF>'"},
    {"INSERT INTO t (a) VALUES ({1, })", "line 1:30 no viable alternative at input '}'"},
    {"INSERT INTO t (a) VALUES ({1: 2, 3})", "line 1:34 : Missing ':'"},
    {"INSERT INTO t (a) VALUES ([1, ])", "line 1:30 no viable alternative at input ']'"},
    {"INSERT INTO t (a) VALUES (ttl(b))", "line 1:26 no viable alternative at input 'ttl'"},
};

TEST(ParseErrorTest, RefusalsAreInScyllaDbsWords) {
  for (const Example& example : kRefusals) {
    EXPECT_EQ(Refusal(example.text), example.message) << example.text;
  }
}

TEST(ParseErrorTest, LongTokensAreShownInPart) {
  const std::string text = "SELECT * FROM t WHERE " + std::string(100'000, '\'') + "x";
  EXPECT_LT(Refusal(text).size(), 300u);
  EXPECT_EQ(Refusal("SELECT * FROM t \xe2\x82\xac"),
            "line 1:16 no viable alternative at input '\xe2\x82\xac'");
}

std::string Repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(ParseLimitTest, ExpressionsNestTwelveDeep) {
  const auto nested = [](size_t depth) {
    return "SELECT * FROM t WHERE a IN (" + Repeated("[", depth) + "1" + Repeated("]", depth) + ")";
  };
  // The relation is one, and the 1 is one.
  EXPECT_EQ(Refusal(nested(cql::kExpressionNestingMax - 2)), "parsed");
  EXPECT_EQ(Refusal(nested(cql::kExpressionNestingMax - 1)), "expression nested too deeply");
}

TEST(ParseLimitTest, NothingNestsWithoutEnd) {
  constexpr size_t kMany = 200'000;
  for (const std::string_view opening :
       {"(", "[", "{", "{1:", "f(", "(int)", "- ", "{a:", "cast(", "f(a,", "((", "a.b["}) {
    for (const std::string_view begin :
         {"SELECT ", "SELECT * FROM t WHERE ", "SELECT * FROM t WHERE a = ", "UPDATE t SET a = ",
          "INSERT INTO t (a) VALUES (", "DELETE a["}) {
      EXPECT_NE(Refusal(std::string(begin) + Repeated(opening, kMany)), "parsed");
    }
  }
  EXPECT_EQ(Refusal("CREATE TABLE t (a " + Repeated("list<", kMany)), "type nested too deeply");
  // What is no type is looked at as a tuple.
  EXPECT_EQ(Refusal("SELECT (" + Repeated("list<", kMany)),
            "line 1:12 no viable alternative at input '<'");
  // Trees that lean to one side are deep too.
  EXPECT_EQ(Refusal("SELECT a" + Repeated(".b", kMany) + " FROM t"),
            "expression nested too deeply");
}

TEST(ParseLimitTest, TokensAreBounded) {
  // With the words around the list.
  std::string text = "INSERT INTO t (a) VALUES ([1";
  for (size_t tokens = 10; tokens + 2 < cql::kTokensMax - 3; tokens += 2) text += ",1";
  EXPECT_EQ(Refusal(text + "])"), "parsed");
  EXPECT_EQ(Refusal(text + ",1,1,1])"),
            "line 1:1048593 : The statement has more than 1048576 tokens");
  // Also where nothing is made of them.
  std::string words = "CREATE TRIGGER";
  for (size_t i = 0; i < cql::kTokensMax; ++i) words += " x";
  EXPECT_EQ(Refusal(words), "line 1:2097161 : The statement has more than 1048576 tokens");
}

TEST(ParseLimitTest, RelationsAndMarkersAreBounded) {
  const auto relations = [](size_t count) {
    return "SELECT * FROM t WHERE a = 1" + Repeated(" AND a = 1", count - 1);
  };
  EXPECT_EQ(Refusal(relations(cql::kRelationsMax)), "parsed");
  EXPECT_EQ(Refusal(relations(cql::kRelationsMax + 1)), "too many relations in WHERE clause");
  const auto markers = [](size_t count) {
    return "SELECT * FROM t WHERE a IN (?" + Repeated(",?", count - 1) + ")";
  };
  EXPECT_EQ(Refusal(markers(cql::kBindMarkersMax)), "parsed");
  EXPECT_EQ(Refusal(markers(cql::kBindMarkersMax + 1)),
            "8704 Too many markers(?). 65536 markers exceed the allowed maximum of 65535");
}

// Every statement that drivers send on connecting, with and without the suffix they add for
// ScyllaDB. Sources: python-driver, gocql, scylla-rust-driver, java-driver, nodejs-driver.
constexpr std::string_view kDriverStatements[] = {
    "SELECT cluster_name FROM system.local",
    "SELECT * FROM system.local",
    "SELECT * FROM system.local WHERE key='local'",
    "SELECT broadcast_address, cluster_name, data_center, host_id, listen_address, partitioner, "
    "rack, release_version, rpc_address, schema_version, tokens FROM system.local WHERE "
    "key='local'",
    "SELECT host_id, cluster_name, data_center, rack, partitioner, release_version, "
    "schema_version, rpc_address FROM system.local WHERE key='local'",
    "SELECT rpc_address FROM system.local WHERE key='local'",
    "SELECT schema_version FROM system.local",
    "SELECT schema_version FROM system.local WHERE key='local'",
    "SELECT release_version FROM system.local",
    "SELECT dse_version FROM system.local",
    "SELECT host_id, rpc_address, data_center, rack, tokens, cluster_name FROM system.local WHERE "
    "key='local'",
    "SELECT host_id, rpc_address, data_center, rack, tokens FROM system.peers",
    "SELECT peer, data_center, host_id, rack, release_version, rpc_address, schema_version, tokens "
    "FROM system.peers",
    "SELECT peer, data_center, host_id, preferred_ip, rack FROM system.peers",
    "SELECT peer, host_id, rpc_address, schema_version FROM system.peers",
    "SELECT schema_version FROM system.peers",
    "SELECT * FROM system.peers",
    "SELECT * FROM system.peers WHERE peer = :address",
    "SELECT * FROM system.peers_v2",
    "SELECT prepared_id FROM system.prepared_statements",
    "SELECT * FROM system_schema.keyspaces",
    "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = 'x'",
    "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = ?",
    "SELECT * FROM system_schema.keyspaces WHERE keyspace_name IN ('x', 'y')",
    "SELECT * FROM system_schema.tables WHERE keyspace_name = 'x' AND table_name = 'y'",
    "SELECT * FROM system_schema.columns",
    "SELECT * FROM system_schema.indexes",
    "SELECT * FROM system_schema.types WHERE keyspace_name='x' AND type_name = 'y'",
    "SELECT * FROM system_schema.functions WHERE keyspace_name='x' AND function_name = 'f'",
    "SELECT * FROM system_schema.aggregates",
    "SELECT * FROM system_schema.triggers",
    "SELECT durable_writes, replication FROM system_schema.keyspaces WHERE keyspace_name = ?",
    "\n\t\tSELECT\n\t\t\ttable_name,\n\t\t\tbloom_filter_fp_chance,\n\t\t\tcomment\n\t\tFROM "
    "system_schema.tables\n\t\tWHERE keyspace_name = ?",
    "SELECT * FROM system_schema.scylla_tables WHERE keyspace_name = ? AND table_name = ?",
    "SELECT * FROM system_schema.views WHERE keyspace_name = ? AND base_table_name = ? ALLOW "
    "FILTERING",
    "SELECT keyspace_name, replication, durable_writes FROM system_schema.keyspaces",
    "SELECT keyspace_name, type_name, field_names, field_types FROM system_schema.types",
    "SELECT keyspace_name, table_name FROM system_schema.tables",
    "SELECT keyspace_name, view_name, base_table_name FROM system_schema.views",
    "SELECT keyspace_name, table_name, column_name, kind, position, type FROM "
    "system_schema.columns",
    "SELECT keyspace_name, table_name, partitioner FROM system_schema.scylla_tables",
    "SELECT keyspace_name, initial_tablets FROM system_schema.scylla_keyspaces",
    "SELECT keyspace_name, consistency FROM system_schema.scylla_keyspaces",
    "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name IN ?",
    "SELECT * FROM system_virtual_schema.keyspaces",
    "SELECT * FROM system_traces.sessions WHERE session_id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18",
    "SELECT * FROM system_traces.events WHERE session_id = ?",
};

TEST(ParseDriverTest, StatementsOfDriversParse) {
  for (const std::string_view text : kDriverStatements) {
    for (const std::string_view suffix :
         {"", ";", " USING TIMEOUT 2000ms", "\nUSING TIMEOUT 2s;"}) {
      const std::string statement = std::string(text) + std::string(suffix);
      EXPECT_EQ(Refusal(statement), "parsed") << statement;
    }
  }
  EXPECT_EQ(Refusal("USE \"My_ks\""), "parsed");
}

}  // namespace parser_errors_test
}  // namespace liststore
