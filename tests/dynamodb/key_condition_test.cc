#include "engine/dynamodb/expressions/key_condition.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/dynamodb/expressions/legacy.h"
#include "engine/dynamodb/values/item_json.h"
#include "tests/dynamodb/values.h"

namespace liststore::dynamodb {
namespace key_condition_test {

using testing::PlaceholdersOf;
using testing::ValueOf;

KeySchema SchemaOf(AttributeType sort) {
  return {{"pk", AttributeType::kS}, KeyAttribute{"sk", sort}};
}

// `pk` and the condition on the sort key, or the error.
std::string Shown(const ErrorOr<KeyCondition>& condition) {
  if (!condition.ok()) return condition.error().message;
  std::string text = ToJson(condition->hash);
  if (!condition->sort.has_value()) return text;
  const SortCondition& sort = *condition->sort;
  constexpr std::string_view kKinds[] = {"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"};
  text.append(" ")
      .append(kKinds[static_cast<size_t>(sort.kind)])
      .append(" ")
      .append(ToJson(sort.value));
  if (sort.kind == SortCondition::Kind::kBetween) text += " " + ToJson(sort.upper);
  return text;
}

std::string Parsed(std::string_view text, const KeySchema& schema = SchemaOf(AttributeType::kN)) {
  Placeholders placeholders = PlaceholdersOf(
      R"({"#pk":"pk"})",
      R"({":p":{"S":"x"},":e":{"S":""},":one":{"N":"1"},":two":{"N":"2"},":b":{"B":"YQ=="}})");
  return Shown(ParseKeyCondition(text, schema, placeholders));
}

struct KeyExample {
  std::string_view text, shown;
};

// Source: DynamoDB's developer guide, "Key condition expressions for the Query operation".
TEST(KeyConditionTest, PartitionsAndRanges) {
  const KeyExample examples[] = {
      {"pk = :p", R"({"S":"x"})"},
      {"#pk = :p AND sk = :one", R"({"S":"x"} = {"N":"1"})"},
      {"sk < :one AND pk = :p", R"({"S":"x"} < {"N":"1"})"},
      {"pk = :p AND sk <= :one", R"({"S":"x"} <= {"N":"1"})"},
      {"pk = :p AND sk > :one", R"({"S":"x"} > {"N":"1"})"},
      {"pk = :p AND sk >= :one", R"({"S":"x"} >= {"N":"1"})"},
      {"pk = :p AND sk BETWEEN :one AND :two", R"({"S":"x"} BETWEEN {"N":"1"} {"N":"2"})"},
      {"(pk = :p) AND (sk = :one)", R"({"S":"x"} = {"N":"1"})"},
      {"(pk = :p AND sk = :one)", R"({"S":"x"} = {"N":"1"})"},
      {":p = pk AND :one < sk", R"({"S":"x"} > {"N":"1"})"},
  };
  for (const KeyExample& example : examples) EXPECT_EQ(Parsed(example.text), example.shown);
  const KeySchema texts = SchemaOf(AttributeType::kS);
  EXPECT_EQ(Parsed("pk = :p AND begins_with(sk, :p)", texts), R"({"S":"x"} begins_with {"S":"x"})");
  EXPECT_EQ(Parsed("pk = :p AND begins_with(sk, :e)", texts), R"({"S":"x"} begins_with {"S":""})");
}

// Source: texts of Amazon's service as its public error messages show them.
TEST(KeyConditionTest, WhatIsNoKeyConditionIsRefused) {
  const KeyExample examples[] = {
      {"sk = :one", "Query condition missed key schema element: pk"},
      {"pk = :p AND v = :one", "Query condition missed key schema element: sk"},
      {"v = :p", "Query condition missed key schema element: pk"},
      {"pk < :p", "Query key condition not supported"},
      {"begins_with(pk, :p)", "Query key condition not supported"},
      {"pk = :p AND pk = :p", "KeyConditionExpressions must only contain one condition per key"},
      {"pk = :p AND sk > :one AND sk < :two",
       "KeyConditionExpressions must only contain one condition per key"},
      {"pk = :p AND sk = :one AND v = :one", "Conditions can be of length 1 or 2 only"},
      {"pk = :p OR sk = :one", "Invalid operator used in KeyConditionExpression: OR"},
      {"NOT pk = :p", "Invalid operator used in KeyConditionExpression: NOT"},
      {"pk IN (:p)", "Invalid operator used in KeyConditionExpression: IN"},
      {"pk <> :p", "Invalid operator used in KeyConditionExpression: <>"},
      {"attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"},
      {"contains(pk, :p)", "Invalid operator used in KeyConditionExpression: contains"},
      {"pk = :one",
       "One or more parameter values were invalid: Condition parameter type does not match schema "
       "type"},
      {"pk = :p AND sk = :p",
       "One or more parameter values were invalid: Condition parameter type does not match schema "
       "type"},
      {"pk = :p AND sk BETWEEN :one AND :p",
       "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower and "
       "upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: "
       "AttributeValue: {S:x}"},
      {"pk = :p AND begins_with(sk, :one)",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator "
       "or "
       "function: begins_with, operand type: N"},
      {"pk = :e",
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
       "contain an empty string value. Key: pk"},
      {"pk = :p AND",
       R"_(Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "AND")_"},
      {"pk.a = :p",
       "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
       "allowed: Key: "
       "pk"},
      {"pk = :p AND size(sk) = :one", "KeyConditionExpressions cannot contain nested operations"},
      {":p = :p", "Invalid condition in KeyConditionExpression: No key attribute specified"},
      {"pk > :p AND v = :one", "Query key condition not supported"},
      {"pk = sk",
       "Invalid condition in KeyConditionExpression: Multiple "
       "attribute names used in one condition"},
  };
  for (const KeyExample& example : examples) {
    EXPECT_EQ(Parsed(example.text), example.shown) << example.text;
  }
  EXPECT_EQ(Parsed("pk = :p AND v = :one", {{"pk", AttributeType::kS}, std::nullopt}),
            "Query key condition not supported");
}

// Source: DynamoDB's developer guide, "KeyConditions (legacy)".
TEST(KeyConditionTest, KeyConditionsOfOld) {
  const KeyExample examples[] = {
      {R"({"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}})", R"({"S":"x"})"},
      {R"({"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},
           "sk":{"ComparisonOperator":"GE","AttributeValueList":[{"N":"1"}]}})",
       R"({"S":"x"} >= {"N":"1"})"},
      {R"({"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},
           "sk":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"2"}]}})",
       R"({"S":"x"} BETWEEN {"N":"1"} {"N":"2"})"},
      {R"({"pk":{"ComparisonOperator":"NE","AttributeValueList":[{"S":"x"}]}})",
       "Query key condition not supported"},
      {R"({"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},
           "sk":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"N":"1"}]}})",
       "Attempted conditional constraint is not an indexable operation"},
      {R"({"pk":{"ComparisonOperator":"GT","AttributeValueList":[{"S":"x"}]}})",
       "Query key condition not supported"},
      {R"({"sk":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]}})",
       "Query condition missed key schema element: pk"},
      {"{}", "Conditions can be of length 1 or 2 only"},
  };
  for (const KeyExample& example : examples) {
    const auto document = JsonDocument::Parse(std::string(example.text));
    ASSERT_TRUE(document.ok());
    EXPECT_EQ(Shown(KeyConditionOfKeyConditions(document->root(), SchemaOf(AttributeType::kN))),
              example.shown);
  }
}

TEST(KeyConditionTest, RangesContainKeys) {
  struct RangeExample {
    SortCondition::Kind kind;
    std::string_view value, upper, key;
    bool contains;
  };
  using Kind = SortCondition::Kind;
  const RangeExample examples[] = {
      {Kind::kEqual, R"({"N":"1"})", "", R"({"N":"1.0"})", true},
      {Kind::kEqual, R"({"N":"1"})", "", R"({"N":"2"})", false},
      {Kind::kLess, R"({"N":"10"})", "", R"({"N":"9"})", true},
      {Kind::kLess, R"({"N":"10"})", "", R"({"N":"10"})", false},
      {Kind::kLessOrEqual, R"({"N":"10"})", "", R"({"N":"10"})", true},
      {Kind::kGreater, R"({"S":"a"})", "", R"({"S":"a"})", false},
      {Kind::kGreater, R"({"S":"a"})", "", R"({"S":"aa"})", true},
      {Kind::kGreaterOrEqual, R"({"B":"/w=="})", "", R"({"B":"AA=="})", false},
      {Kind::kBetween, R"({"N":"1"})", R"({"N":"3"})", R"({"N":"3"})", true},
      {Kind::kBetween, R"({"N":"1"})", R"({"N":"3"})", R"({"N":"3.1"})", false},
      {Kind::kBetween, R"({"N":"1"})", R"({"N":"3"})", R"({"N":"0"})", false},
      {Kind::kBeginsWith, R"({"S":"ab"})", "", R"({"S":"abc"})", true},
      {Kind::kBeginsWith, R"({"S":"ab"})", "", R"({"S":"a"})", false},
      {Kind::kBeginsWith, R"({"B":"YQ=="})", "", R"({"B":"YWI="})", true},
  };
  for (const RangeExample& example : examples) {
    SortCondition range;
    range.kind = example.kind;
    range.value = ValueOf(example.value);
    if (!example.upper.empty()) range.upper = ValueOf(example.upper);
    EXPECT_EQ(Contains(range, ValueOf(example.key)), example.contains)
        << example.value << " " << example.key;
  }
}

}  // namespace key_condition_test
}  // namespace liststore::dynamodb
