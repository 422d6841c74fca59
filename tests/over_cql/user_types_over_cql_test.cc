// User-defined types over the wire: values, fields, metadata, events, DESCRIBE, and a reset.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/vectors.h"

namespace liststore::testing {
namespace user_types_over_cql_test {

constexpr uint8_t kRegister = 0x0b;
constexpr uint8_t kEvent = 0x0c;

class UserTypesOverCql : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.shards = 2;
    StartServer(options, "ks");
    Must("USE ks");
    Must("CREATE TYPE address (street text, number int)");
  }

  // The one value that `select` finds, in hexadecimal; "null", "none".
  std::string Value(const std::string& select) {
    const CqlAnswer answer = Must(select);
    if (answer.rows.size() != 1) return "none";
    return answer.rows[0].at(0) ? ToHex(*answer.rows[0].at(0)) : "null";
  }
};

TEST_F(UserTypesOverCql, ValuesAndFields) {
  Must("CREATE TABLE t (p int PRIMARY KEY, a frozen<address>, l frozen<list<address>>)");
  Must("INSERT INTO t (p, a, l) VALUES (1, {number: 7, street: 'x'}, [{street: 'y'}])");
  EXPECT_EQ(Value("SELECT a FROM t WHERE p = 1"),
            "0000000178"
            "0000000400000007");
  EXPECT_EQ(Value("SELECT l FROM t WHERE p = 1"),
            "00000001"
            "00000009"
            "0000000179"
            "ffffffff");
  EXPECT_EQ(Value("SELECT a.number FROM t WHERE p = 1"), "00000007");
  EXPECT_EQ(Value("SELECT a.street FROM t WHERE p = 1"), "78");
  // Fields that are missing at the end are null.
  Must("INSERT INTO t (p, a) VALUES (2, ?)", {{FromHex("0000000178"), false}});
  EXPECT_EQ(Value("SELECT a FROM t WHERE p = 2"), "0000000178") << "the bytes stay";
  EXPECT_EQ(Value("SELECT a.number FROM t WHERE p = 2"), "null");
  EXPECT_EQ(Value("SELECT a.number FROM t WHERE p = 3"), "none");
  EXPECT_EQ(Value("SELECT p FROM t WHERE a = {street: 'x', number: 7} ALLOW FILTERING"),
            "00000001");
  EXPECT_EQ(Value("SELECT p FROM t WHERE a > {street: 'x'} ALLOW FILTERING"), "00000001");

  Must("ALTER TYPE address ADD city text");
  EXPECT_EQ(Value("SELECT a.city FROM t WHERE p = 1"), "null") << "it was written before";
  Must("INSERT INTO t (p, a) VALUES (1, {city: 'z'})");
  EXPECT_EQ(Value("SELECT a FROM t WHERE p = 1"),
            "ffffffff"
            "ffffffff"
            "000000017a");
}

TEST_F(UserTypesOverCql, FieldsAreSelectedLikeColumns) {
  Must("CREATE TYPE person (name text, home frozen<address>)");
  Must("CREATE TABLE t (p int, c int, a frozen<person>, PRIMARY KEY (p, c))");
  Must("INSERT INTO t (p, c, a) VALUES (1, 1, {name: 'x', home: {number: 7}})");
  Must("INSERT INTO t (p, c, a) VALUES (1, 2, {name: 'y', home: {number: 5}})");
  Must("INSERT INTO t (p, c, a) VALUES (1, 3, {name: 'z'})");
  Must("INSERT INTO t (p, c) VALUES (1, 4)");
  EXPECT_EQ(Value("SELECT a.home.number FROM t WHERE p = 1 AND c = 2"), "00000005");
  EXPECT_EQ(Value("SELECT a.home.number FROM t WHERE p = 1 AND c = 3"), "null");
  EXPECT_EQ(Value("SELECT a.home.number FROM t WHERE p = 1 AND c = 4"), "null");
  EXPECT_EQ(Value("SELECT sum(a.home.number) FROM t WHERE p = 1"), "0000000c");
  EXPECT_EQ(Value("SELECT count(a.home) FROM t WHERE p = 1"), "0000000000000002");
  EXPECT_EQ(Value("SELECT max(a).name FROM t WHERE p = 1"), "7a");
  EXPECT_EQ(Value("SELECT CAST(a.home.number AS text) FROM t WHERE p = 1 AND c = 1"), "37");
  EXPECT_EQ(Value("SELECT DISTINCT p FROM t"), "00000001");
  EXPECT_EQ(Refusal("SELECT writetime(a.name) FROM t"),
            "WRITETIME on a field selection is only valid for non-frozen UDT columns");
  EXPECT_EQ(Refusal("SELECT ttl(a.home.number) FROM t"),
            "TTL on a field selection expects a column, got a.home");
}

TEST_F(UserTypesOverCql, KeysOfAType) {
  Must("CREATE TABLE t (p frozen<address>, c frozen<address>, PRIMARY KEY (p, c))");
  Must("CREATE TABLE u (p int, c frozen<address>, v int, PRIMARY KEY (p, c))");
  Must("INSERT INTO t (p, c) VALUES ({street: 'x', number: 1}, {number: 2})");
  EXPECT_EQ(Value("SELECT c.number FROM t WHERE p = {street: 'x', number: 1}"), "00000002");
  Must("INSERT INTO u (p, c, v) VALUES (1, {street: 'b'}, 1)");
  Must("INSERT INTO u (p, c, v) VALUES (1, {street: 'a', number: 5}, 2)");
  Must("INSERT INTO u (p, c, v) VALUES (1, {number: 9}, 3)");
  const CqlAnswer ordered = Must("SELECT v FROM u WHERE p = 1");
  ASSERT_EQ(ordered.rows.size(), 3u);
  EXPECT_EQ(ToHex(*ordered.rows[0][0] + *ordered.rows[1][0] + *ordered.rows[2][0]),
            "000000030000000200000001");
  Must("DROP TABLE t");
  Must("ALTER TYPE address ADD city text");
  EXPECT_EQ(Value("SELECT v FROM u WHERE p = 1 AND c = {street: 'b'}"), "00000001")
      << "the key of before is found as one with a null";
  EXPECT_EQ(Value("SELECT v FROM u WHERE p = 1 AND c > {street: 'a', number: 5}"), "00000001");
}

TEST_F(UserTypesOverCql, Refusals) {
  Must("CREATE TABLE t (p int PRIMARY KEY, a frozen<address>)");
  const std::pair<std::string, std::string> cases[] = {
      {"INSERT INTO t (p, a) VALUES (1, {number: 'x'})",
       "Invalid user type literal for a: field number is not of type int"},
      {"INSERT INTO t (p, a) VALUES (1, {nummer: 1})",
       "Unknown field 'nummer' in value of user defined type address"},
      {"INSERT INTO t (p, a) VALUES ({street: 'x'}, null)",
       "Invalid user type literal for p of type int"},
      {"INSERT INTO t (p, a) VALUES (1, (1, 2))",
       "Invalid tuple literal for a: component 0 is not of type text"},
      {"UPDATE t SET a.number = 1 WHERE p = 1",
       "Invalid operation (a.number = 1) for frozen UDT column a"},
      {"DELETE a.number FROM t WHERE p = 1",
       "Frozen UDT column a does not support field deletions"},
      {"SELECT a.nummer FROM t", "a of type frozen<address> has no field nummer"},
      {"SELECT p.x FROM t", "Invalid field selection: p of type int is not a user type"},
  };
  for (const auto& [statement, message] : cases) {
    EXPECT_EQ(Refusal(statement), message) << statement;
  }
}

// native_protocol_v4.spec, section 4.2.5.2: option 0x30.
TEST_F(UserTypesOverCql, MetadataNamesTypeAndFields) {
  Must("CREATE TABLE t (p int PRIMARY KEY, a frozen<address>)");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto frame = client.Query("SELECT a FROM ks.t");
  ASSERT_TRUE(frame);
  const std::string body = ToHex(frame->body);
  const std::string option = "00016100300002" + ToHex("ks") + "0007" + ToHex("address") + "0002" +
                             "0006" + ToHex("street") + "000d" + "0006" + ToHex("number") + "0009";
  EXPECT_NE(body.find(option), std::string::npos) << body;
}

TEST_F(UserTypesOverCql, ChangesAreToldAndPlansForgotten) {
  Must("CREATE TABLE t (p int PRIMARY KEY, a frozen<address>)");
  Must("INSERT INTO t (p, a) VALUES (1, {number: 1})");
  const auto select = [&] {
    return session_->Run({"SELECT a.number FROM t WHERE p = 1", {}, /*prepared=*/true});
  };
  EXPECT_EQ(select().rows.size(), 1u);
  RawCqlClient listener(server_->cql_port());
  ASSERT_TRUE(listener.StartUp());
  const std::string body = std::string("\0\1\0\x0d", 4) + "SCHEMA_CHANGE";
  ASSERT_TRUE(listener.Ask({.flags = 0, .stream = 1, .opcode = kRegister, .body = body}));
  Must("ALTER TYPE address RENAME number TO no");
  const auto event = listener.Read();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->opcode, kEvent);
  EXPECT_NE(event->body.find(std::string("\0\7UPDATED\0\4TYPE\0\2ks\0\7address", 26)),
            std::string::npos)
      << ToHex(event->body);
  // The table is of another type now. Source: ScyllaDB cql3/statements/alter_type_statement.cc,
  // prepare_announcement_mutations.
  const auto of_table = listener.Read();
  ASSERT_TRUE(of_table);
  EXPECT_NE(of_table->body.find(std::string("\0\7UPDATED\0\5TABLE\0\2ks\0\1t", 23)),
            std::string::npos)
      << ToHex(of_table->body);
  EXPECT_EQ(select().error, "a of type frozen<address> has no field number");
}

TEST_F(UserTypesOverCql, TypesAreShown) {
  Must("CREATE TYPE \"Person\" (name text, home frozen<address>)");
  Must("CREATE TABLE t (p int PRIMARY KEY, who frozen<\"Person\">)");
  const CqlAnswer types =
      Must("SELECT type_name, field_types FROM system_schema.types WHERE keyspace_name = 'ks'");
  ASSERT_EQ(types.rows.size(), 2u);
  EXPECT_EQ(*types.rows[0][0], "Person");
  EXPECT_NE(types.rows[0][1]->find("frozen<address>"), std::string::npos);
  const CqlAnswer described = Must("DESCRIBE KEYSPACE ks");
  std::string names;
  for (const ResultRow& row : described.rows) names += *row.at(1) + " " + *row.at(2) + ", ";
  EXPECT_EQ(names, "keyspace ks, type address, type \"Person\", table t, ");
  EXPECT_EQ(*Must("DESCRIBE TYPE \"Person\"").rows.at(0).at(3),
            "CREATE TYPE ks.\"Person\" (\n    name text,\n    home frozen<address>\n);\n");
  EXPECT_EQ(Must("DESCRIBE TYPES").rows.size(), 2u);
  EXPECT_EQ(Refusal("DESCRIBE TYPE nothing"), "Type 'nothing' not found in keyspace 'ks'");
}

TEST_F(UserTypesOverCql, AResetBringsThemBack) {
  Must("CREATE TABLE t (p int, c frozen<address>, v frozen<address>, PRIMARY KEY (p, c))");
  Must("INSERT INTO t (p, c, v) VALUES (1, {number: 1}, {number: 2})");
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  Must("ALTER TYPE address ADD city text");
  Must("CREATE TYPE later (a int)");
  Must("INSERT INTO t (p, c) VALUES (1, {city: 'z'})");
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Value("SELECT v FROM t WHERE p = 1"), "ffffffff0000000400000002");
  EXPECT_EQ(Refusal("DESCRIBE TYPE later"), "Type 'later' not found in keyspace 'ks'");
  EXPECT_EQ(Refusal("SELECT v.city FROM t"), "v of type frozen<address> has no field city");
  Must("DROP KEYSPACE ks");
  EXPECT_EQ(Must("SELECT * FROM system_schema.types").rows.size(), 0u);
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  EXPECT_EQ(Value("SELECT v.number FROM ks.t WHERE p = 1"), "00000002");
}

}  // namespace user_types_over_cql_test
}  // namespace liststore::testing
