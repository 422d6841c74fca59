// Functions as values: which signature a call means, what it is evaluated to, what is refused.
#include "engine/cql/values/native_function.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/plan/computed_values.h"
#include "engine/cql/planner/planner.h"
#include "engine/cql/values/evaluate_function.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/token.h"
#include "engine/model/types/timeuuid.h"
#include "gtest/gtest.h"

namespace liststore {
namespace native_function_test {

// ks.f, with a column of every type, called by its name and a c; its key is (p int, q text), c.
Schema TestSchema() {
  auto table = std::make_shared<TableDefinition>();
  table->keyspace = "ks";
  table->name = "f";
  table->columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                    {"q", CqlType::kText, ColumnKind::kPartitionKey, 1, false},
                    {"c", CqlType::kTimeuuid, ColumnKind::kClustering, 0, false}};
  for (const CqlType type :
       {CqlType::kAscii, CqlType::kBigint, CqlType::kBlob, CqlType::kBoolean, CqlType::kDate,
        CqlType::kDecimal, CqlType::kDouble, CqlType::kDuration, CqlType::kFloat, CqlType::kInet,
        CqlType::kInt, CqlType::kSmallint, CqlType::kText, CqlType::kTime, CqlType::kTimestamp,
        CqlType::kTimeuuid, CqlType::kTinyint, CqlType::kUuid, CqlType::kVarint}) {
    table->columns.push_back(
        {std::string(CqlTypeName(type)) + "c", type, ColumnKind::kRegular, 0, false});
  }
  CompleteTable(*table);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  keyspace->name = "ks";
  keyspace->tables["f"] = table;
  Schema schema;
  schema.keyspaces["ks"] = keyspace;
  return schema;
}

cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanIt(std::string_view text) {
  return cql::PlanText(text, TestSchema(), "ks");
}
cql::CqlOr<std::shared_ptr<const cql::Plan>> PlanSet(std::string_view column,
                                                     std::string_view value) {
  return PlanIt("UPDATE f SET " + std::string(column) + " = " + std::string(value) +
                " WHERE p = 1 AND q = 'q' AND c = now()");
}
std::string ErrorOf(std::string_view text) {
  const auto plan = PlanIt(text);
  return plan.ok() ? "" : plan.error().message;
}

// 2023-11-14 22:13:20.123456789.
constexpr uint64_t kNow = 1'700'000'000'123'456'789;

// Timeuuids of the first ticks from now on.
class FixedContext final : public cql::FunctionContext {
 public:
  uint64_t now_nanos() const override { return kNow; }
  Uuid NewTimeuuid() override { return MakeTimeuuid(TimeuuidTicksAt(kNow) + made_++, 7); }
  Uuid NewUuid() override { return Uuid::FromRandomBits(1, made_++); }

 private:
  uint64_t made_ = 0;
};

// The value that SET column = value assigns, as a literal; an error's message.
std::string Assigned(std::string_view column, std::string_view value) {
  const auto plan = PlanSet(column, value);
  if (!plan.ok()) return plan.error().message;
  FixedContext context;
  std::vector<cql::BoundValue> values;
  cql::ComputedBytes bytes;
  const cql::CqlStatus computed = cql::ComputedValues(**plan, context, values, bytes).Compute();
  if (!computed.ok()) return computed.error().message;
  const auto& change = std::get<cql::ModificationPlan>((*plan)->body);
  const cql::Operand& operand = change.assignments[0].value;
  const cql::BoundValue assigned = cql::Peek(operand, values);
  if (assigned.is_null()) return "null";
  return cql::PrintValue(operand.type, assigned.bytes);
}

struct ValueExample {
  std::string_view column;
  std::string_view value;
  std::string_view expected;
};

const ValueExample kValues[] = {
    {"timestampc", "currentTimestamp()", "'2023-11-14T22:13:20.123Z'"},
    {"datec", "currentDate()", "'2023-11-14'"},
    {"timec", "currentTime()", "'22:13:20.123000000'"},
    {"datec", "toDate(now())", "'2023-11-14'"},
    {"timestampc", "toTimestamp(now())", "'2023-11-14T22:13:20.123Z'"},
    {"timestampc", "system.totimestamp(CURRENTTIMEUUID())", "'2023-11-14T22:13:20.123Z'"},
    {"bigintc", "toUnixTimestamp(now())", "1700000000123"},
    {"timestampc", "dateOf(now())", "'2023-11-14T22:13:20.123Z'"},
    {"bigintc", "unixTimestampOf(now())", "1700000000123"},
    {"uuidc", "uuid()", "00000000-0000-4001-8000-000000000000"},
    // Of the present: 100 ns are its smallest step.
    {"timeuuidc", "now()", "04c29687-833b-11ee-0000-000000000007"},
    {"blobc", "now()", "0x04c29687833b11ee0000000000000007"},
    {"datec", "toDate((timestamp)'2020-02-29 23:59:59.999Z')", "'2020-02-29'"},
    {"datec", "toDate(-1)", "'1969-12-31'"},
    {"datec", "toDate(currentTimestamp())", "'2023-11-14'"},
    {"timestampc", "toTimestamp('2020-03-01')", "'2020-03-01T00:00:00.000Z'"},
    {"timestampc", "toTimestamp(currentDate())", "'2023-11-14T00:00:00.000Z'"},
    {"bigintc", "toUnixTimestamp((date)'1969-12-31')", "-86400000"},
    {"bigintc", "toUnixTimestamp((timestamp)'1969-12-31')", "-86400000"},
    {"timeuuidc", "minTimeuuid('1970-01-01')", "13814000-1dd2-11b2-8080-808080808080"},
    {"timeuuidc", "maxTimeuuid('1970-01-01')", "1381670f-1dd2-11b2-7f7f-7f7f7f7f7f7f"},
    {"timeuuidc", "minTimeuuid(-12219292800000)", "00000000-0000-1000-8080-808080808080"},
    {"bigintc", "toUnixTimestamp(minTimeuuid(-1706638779000))", "-1706638779000"},
    {"bigintc", "toUnixTimestamp(maxTimeuuid(123))", "123"},
    {"blobc", "intAsBlob(5)", "0x00000005"},
    {"blobc", "textAsBlob('ab')", "0x6162"},
    {"blobc", "varcharAsBlob('ab')", "0x6162"},
    {"blobc", "bigintAsBlob(toUnixTimestamp(minTimeuuid(1)))", "0x0000000000000001"},
    {"intc", "blobAsInt(0x00000005)", "5"},
    {"intc", "blobAsInt(0x)", "blobasint(0x)"},
    {"textc", "blobAsVarchar(0x6162)", "'ab'"},
    {"booleanc", "blobAsBoolean(booleanAsBlob(true))", "true"},
    {"durationc", "blobAsDuration(durationAsBlob(1h))", "1h"},
    {"tinyintc", "blobAsTinyint(0x80)", "-128"},
    {"varintc", "blobAsInt(0xffffffff)", "-1"},
    {"uuidc", "minTimeuuid('1970-01-01')", "13814000-1dd2-11b2-8080-808080808080"},
    {"timestampc", "toTimestamp((timeuuid)null)", "null"},
    {"intc", "blobAsInt(null)", "null"},
    {"bigintc", "token(null, 'q')", "null"},
};

TEST(NativeFunctionTest, CallsAreValues) {
  for (const ValueExample& example : kValues) {
    EXPECT_EQ(Assigned(example.column, example.value), example.expected) << example.value;
  }
}

TEST(NativeFunctionTest, TokenIsThatOfTheSerialisedKey) {
  const std::string key("\0\4\0\0\0\1\0\0\1q\0", 11);
  EXPECT_EQ(Assigned("bigintc", "token(1, 'q')"), std::to_string(TokenOf(key).value));
}

TEST(NativeFunctionTest, WhatNothingCanChangeIsAConstant) {
  for (const std::string_view value :
       {"intAsBlob(5)", "bigintAsBlob(toUnixTimestamp(minTimeuuid(1)))", "blobAsInt(null)"}) {
    const auto plan = PlanSet("blobc", value);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ((*plan)->computed.size(), 1u) << "the key's now(): " << value;
  }
  EXPECT_EQ((*PlanSet("blobc", "now()"))->computed.size(), 2u);
  EXPECT_EQ((*PlanSet("blobc", "intAsBlob(?)"))->computed.size(), 2u);
}

const std::pair<std::string_view, std::string_view> kRefusals[] = {
    {"UPDATE f SET intc = nwo() WHERE p = 1 AND q = 'q' AND c = now()",
     "Unknown function nwo called"},
    {"UPDATE f SET intc = ks.now() WHERE p = 1 AND q = 'q' AND c = now()",
     "Unknown function ks.now called"},
    {"UPDATE f SET intc = blobAsBlob(0x) WHERE p = 1 AND q = 'q' AND c = now()",
     "Unknown function blobasblob called"},
    {"UPDATE f SET intc = now() WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: cannot assign result of function system.now (type timeuuid) to intc (type int)"},
    {"SELECT * FROM f WHERE p = 1 AND q = currentDate()",
     "Type error: cannot assign result of function system.currentdate (type date) to q (type "
     "text)"},
    {"UPDATE f SET timeuuidc = now(1) WHERE p = 1 AND q = 'q' AND c = now()",
     "Invalid number of arguments in call to function system.now: 0 required but 1 provided"},
    {"UPDATE f SET timeuuidc = minTimeuuid() WHERE p = 1 AND q = 'q' AND c = now()",
     "Invalid number of arguments in call to function system.mintimeuuid: 1 required but 0 "
     "provided"},
    {"UPDATE f SET blobc = intAsBlob('x') WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: 'x' cannot be passed as argument 0 of function system.intasblob of type int"},
    {"UPDATE f SET blobc = intAsBlob(now()) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: system.now() cannot be passed as argument 0 of function system.intasblob of type "
     "int"},
    {"UPDATE f SET datec = toDate(?) WHERE p = 1 AND q = 'q' AND c = now()",
     "Ambiguous call to function todate (can be matched by following signatures: system.todate : "
     "(timestamp) -> date, system.todate : (timeuuid) -> date): use type casts to disambiguate"},
    {"UPDATE f SET timestampc = system.totimestamp(true) WHERE p = 1 AND q = 'q' AND c = now()",
     "Invalid call to function system.totimestamp, none of its type signatures match (known type "
     "signatures: system.totimestamp : (date) -> timestamp, system.totimestamp : (timeuuid) -> "
     "timestamp)"},
    {"UPDATE f SET datec = toDate() WHERE p = 1 AND q = 'q' AND c = now()",
     "Invalid call to function todate, none of its type signatures match (known type signatures: "
     "system.todate : (timestamp) -> date, system.todate : (timeuuid) -> date)"},
    {"UPDATE f SET bigintc = blobAsBigint(0x0000007b) WHERE p = 1 AND q = 'q' AND c = now()",
     "In call to function blobasbigint, value 0x0000007b is not a valid binary representation for "
     "type bigint"},
    {"SELECT * FROM f WHERE token(p, q) > token(1)",
     "Invalid number of arguments in call to function system.token: 2 required but 1 provided"},
    {"SELECT * FROM f WHERE token(p, q) > token('x', 'q')",
     "Type error: 'x' cannot be passed as argument 0 of function system.token of type int"},
    {"UPDATE f SET timeuuidc = maxTimeuuid(9223372036854775807) WHERE p = 1 AND q = 'q' AND c = "
     "now()",
     "9223372036854775807: timestamp is out of range. Must be in milliseconds since epoch"},
    {"UPDATE f SET datec = toDate((timestamp)253402300800000) WHERE p = 1 AND q = 'q' AND c = "
     "now()",
     "Year is out of valid range: 1400..9999"},
    {"UPDATE f SET blobc = intAsBlob((text)?) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: (text) ? cannot be passed as argument 0 of function system.intasblob of type "
     "int"},
    // What is known already is shown as its value.
    {"UPDATE f SET blobc = intAsBlob(blobAsText(0x6127)) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: 'a'' cannot be passed as argument 0 of function system.intasblob of type int"},
    {"UPDATE f SET blobc = intAsBlob(minTimeuuid('1970-01-01')) WHERE p = 1 AND q = 'q' AND c = "
     "now()",
     "Type error: 13814000-1dd2-11b2-8080-808080808080 cannot be passed as argument 0 of function "
     "system.intasblob of type int"},
    {"UPDATE f SET blobc = intAsBlob(textAsBlob('ab')) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: 6162 cannot be passed as argument 0 of function system.intasblob of type int"},
    {"UPDATE f SET blobc = intAsBlob(blobAsText((blob)0x61)) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: system.blobastext((blob) 61) cannot be passed as argument 0 of function "
     "system.intasblob of type int"},
    {"UPDATE f SET blobc = intAsBlob(toDate(minTimeuuid(?))) WHERE p = 1 AND q = 'q' AND c = now()",
     "Type error: system.todate(system.mintimeuuid(?)) cannot be passed as argument 0 of function "
     "system.intasblob of type int"},
    {"UPDATE f SET intc = 1 WHERE p = 1 AND q = 'q' AND c > minTimeuuid('1970-01-01')",
     "Invalid operator in where clause (c > 13814000-1dd2-11b2-8080-808080808080)"},
    {"UPDATE f SET intc = 1 WHERE p = 1 AND q = 'q' AND c > minTimeuuid(?) AND c < now()",
     "Invalid operator in where clause (c > system.mintimeuuid(?)) AND (c < system.now())"},
    {"UPDATE f SET intc = 1 WHERE p = 1 AND q = 'q' AND (c) > (maxTimeuuid('1970-01-01'))",
     "Invalid operator in where clause (c) > (1381670f-1dd2-11b2-7f7f-7f7f7f7f7f7f)"},
    {"DELETE FROM f WHERE token(p, q) >= blobAsBigint(0x000000000000000a)",
     "The token function cannot be used in WHERE clauses for UPDATE and DELETE statements: "
     "(token(p, q) >= 10)"},
    {"UPDATE f SET intc = (int)now() WHERE p = 1 AND q = 'q' AND c = now()",
     "Cannot cast value now() to type int"},
    {"SELECT * FROM f LIMIT blobAsInt(0x00000001)",
     "line 1:22 no viable alternative at input 'blobAsInt'"},
};

TEST(NativeFunctionTest, RefusalsAreInScyllaDbsWords) {
  for (const auto& [statement, message] : kRefusals) EXPECT_EQ(ErrorOf(statement), message);
}

TEST(NativeFunctionTest, ArgumentsThatAreBoundHaveNamesAndTypes) {
  const auto plan = PlanIt(
      "INSERT INTO f (p, q, c, blobc, datec, intc) VALUES (blobAsInt(?), ?, minTimeuuid(?), "
      "intAsBlob(:own), toDate((timestamp)?), (int)?)");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::vector<std::string> variables;
  for (const cql::BindVariable& variable : (*plan)->variables) {
    variables.push_back(variable.name + " " + variable.type.ToString());
  }
  EXPECT_EQ(variables, (std::vector<std::string>{"arg0(system.blobasint) blob", "q text",
                                                 "arg0(system.mintimeuuid) timestamp", "own int",
                                                 "(timestamp)? timestamp", "(int)? int"}));
  EXPECT_EQ((*plan)->computed.size(), 4u);
  EXPECT_TRUE((*plan)->partition_key_variables.empty()) << "p is not what is bound";
  const auto token = PlanIt("SELECT * FROM f WHERE token(p, q) > token(?, ?)");
  ASSERT_TRUE(token.ok()) << token.error().message;
  EXPECT_EQ((*token)->variables[0].name, "arg0(system.token)");
  EXPECT_EQ((*token)->variables[0].type, DataType(CqlType::kInt));
  EXPECT_EQ((*token)->variables[1].type, DataType(CqlType::kText));
}

// Source: ScyllaDB cql3/prepare_context.cc, get_partition_key_bind_indexes.
TEST(NativeFunctionTest, MarkersRouteThatAreCalledAsTheKey) {
  const std::pair<std::string_view, std::vector<uint16_t>> examples[] = {
      {"SELECT * FROM f WHERE q = ? AND p = ? AND c > now()", {1, 0}},
      {"SELECT * FROM f WHERE q = ? AND p = (int)?", {}},
      {"SELECT * FROM f WHERE q = ? AND p IN (?)", {}},
      {"SELECT * FROM f WHERE p = ? AND q = ? AND p = ?", {2, 1}},
      {"SELECT * FROM f WHERE p > ? AND q = ? ALLOW FILTERING", {0, 1}},
      {"BEGIN BATCH UPDATE f SET intc = ? WHERE p = ? AND q = ? AND c = ?; DELETE FROM f WHERE "
       "p = ? AND q = ?; APPLY BATCH",
       {4, 5}},
  };
  for (const auto& [statement, variables] : examples) {
    const auto plan = PlanIt(statement);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ((*plan)->partition_key_variables, variables) << statement;
  }
}

TEST(NativeFunctionTest, EachEvaluationIsANewOne) {
  const auto plan = PlanIt(
      "INSERT INTO f (p, q, c, timeuuidc, blobc) VALUES (1, 'q', now(), now(), intAsBlob(?))");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  FixedContext context;
  cql::ComputedBytes bytes;
  const std::string five("\0\0\0\5", 4);
  std::vector<cql::BoundValue> values = {{cql::BoundValue::State::kValue, five}};
  cql::ComputedValues computed(**plan, context, values, bytes);
  ASSERT_TRUE(computed.Compute().ok());
  ASSERT_EQ(values.size(), 4u);
  EXPECT_NE(values[1].bytes, values[3].bytes) << "of two calls in one row";
  const std::vector<cql::BoundValue> first = values;
  computed.BeginRows();
  ASSERT_TRUE(computed.NextRow().ok());
  EXPECT_EQ(values[1].bytes.data(), first[1].bytes.data()) << "the first row has those at hand";
  ASSERT_TRUE(computed.NextRow().ok());
  EXPECT_LT(CompareCqlValues(CqlType::kTimeuuid, first[3].bytes, values[1].bytes), 0);
  EXPECT_EQ(values[2].bytes.data(), first[2].bytes.data()) << "it is the same for each row";
  EXPECT_EQ(values[0].bytes.data(), five.data());
}

TEST(NativeFunctionTest, BoundArgumentsAreChecked) {
  const auto plan = PlanSet("blobc", "intAsBlob(?)");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  FixedContext context;
  const auto error_of = [&](cql::BoundValue value) {
    cql::ComputedBytes bytes;
    std::vector<cql::BoundValue> values = {value};
    const cql::CqlStatus status = cql::ComputedValues(**plan, context, values, bytes).Compute();
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(error_of({cql::BoundValue::State::kNull, {}}), "");
  EXPECT_EQ(error_of({cql::BoundValue::State::kUnset, {}}),
            "Unexpected unset value for bind variable 0");
  EXPECT_EQ(
      error_of({cql::BoundValue::State::kValue, "abc"}),
      "Exception while binding column \"arg0(system.intasblob)\": marshaling error: Validation "
      "failed for type org.apache.cassandra.db.marshal.Int32Type: got 3 bytes");
}

TEST(NativeFunctionTest, WhoOnlyLooksAtARequestSeesWhatFollowsFromIt) {
  const auto plan =
      PlanIt("INSERT INTO f (p, q, c) VALUES (blobAsInt(?), blobAsText(textAsBlob('q')), now())");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ((*plan)->computed.size(), 2u);
  const std::string five("\0\0\0\5", 4);
  cql::ComputedBytes bytes;
  std::vector<cql::BoundValue> values = {{cql::BoundValue::State::kValue, five}};
  cql::AppendPureValues(**plan, values, bytes);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[1].bytes, five);
  EXPECT_TRUE(values[2].is_unset()) << "that of the time is not known";
  values = {{cql::BoundValue::State::kValue, "abc"}};
  cql::AppendPureValues(**plan, values, bytes);
  EXPECT_TRUE(values[1].is_unset()) << "nor what is wrong";
}

TEST(NativeFunctionTest, AKeyThatIsTooLongHasNoToken) {
  const auto plan = PlanIt("SELECT * FROM f WHERE token(p, q) = token(1, ?)");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const std::string longest(65'536, 'q');
  std::vector<cql::BoundValue> values = {{cql::BoundValue::State::kValue, longest}};
  FixedContext context;
  cql::ComputedBytes bytes;
  const cql::CqlStatus status = cql::ComputedValues(**plan, context, values, bytes).Compute();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "Key length of 65544 is longer than maximum of 65535");
}

}  // namespace native_function_test
}  // namespace liststore
