#include "engine/dynamodb/expressions/legacy.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/dynamodb/values/item_json.h"
#include "tests/dynamodb/values.h"

namespace liststore::dynamodb {
namespace legacy_test {

using testing::ItemOf;

constexpr std::string_view kItem =
    R"({"a":{"N":"5"},"s":{"S":"abc"},"l":{"L":[{"S":"x"}]},"ss":{"SS":["a","b"]},"ns":{"NS":["1"]}})";

JsonDocument Document(std::string_view json) {
  auto document = JsonDocument::Parse(std::string(json));
  EXPECT_TRUE(document.ok()) << json;
  return document.ok() ? *std::move(document) : *JsonDocument::Parse("null");
}

std::string JudgeExpected(std::string_view json, std::string_view joined = "null") {
  const JsonDocument expected = Document(json);
  const JsonDocument with = Document(joined);
  const auto condition = ConditionOfExpected(expected.root(), with.root());
  if (!condition.ok()) return condition.error().message;
  Effort effort;
  return *Evaluate(*condition, ItemOf(kItem), effort) ? "true" : "false";
}

struct LegacyExample {
  std::string_view json, result;
};

// Source: DynamoDB's developer guide, "Legacy conditional parameters", Expected.
TEST(LegacyTest, ExpectedIsTrueOrNot) {
  const LegacyExample examples[] = {
      {"null", "true"},
      {R"({"a":{"Value":{"N":"5"}}})", "true"},
      {R"({"a":{"Value":{"N":"5.0"},"Exists":true}})", "true"},
      {R"({"a":{"Value":{"N":"6"}}})", "false"},
      {R"({"z":{"Exists":false}})", "true"},
      {R"({"a":{"Exists":false}})", "false"},
      {R"({"a":{"ComparisonOperator":"GT","AttributeValueList":[{"N":"4"}]}})", "true"},
      {R"({"a":{"ComparisonOperator":"GT","Value":{"N":"4"}}})", "true"},
      {R"({"a":{"ComparisonOperator":"LE","Value":{"N":"4"}}})", "false"},
      {R"({"z":{"ComparisonOperator":"NE","Value":{"N":"4"}}})", "true"},
      {R"({"a":{"ComparisonOperator":"NOT_NULL"}})", "true"},
      {R"({"a":{"ComparisonOperator":"NULL"}})", "false"},
      {R"({"a":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"5"},{"N":"6"}]}})",
       "true"},
      {R"({"a":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"4"},{"N":"5"}]}})", "true"},
      {R"({"s":{"ComparisonOperator":"BEGINS_WITH","Value":{"S":"ab"}}})", "true"},
      {R"({"s":{"ComparisonOperator":"CONTAINS","Value":{"S":"bc"}}})", "true"},
      {R"({"ss":{"ComparisonOperator":"CONTAINS","Value":{"S":"a"}}})", "true"},
      {R"({"l":{"ComparisonOperator":"CONTAINS","Value":{"S":"x"}}})", "true"},
      {R"({"s":{"ComparisonOperator":"NOT_CONTAINS","Value":{"S":"z"}}})", "true"},
      {R"({"z":{"ComparisonOperator":"NOT_CONTAINS","Value":{"S":"z"}}})", "false"},
      {R"({"a":{"Value":{"N":"5"}},"s":{"Value":{"S":"no"}}})", "false"},
  };
  for (const LegacyExample& example : examples) {
    EXPECT_EQ(JudgeExpected(example.json), example.result) << example.json;
  }
  constexpr std::string_view kTwo = R"({"a":{"Value":{"N":"5"}},"s":{"Value":{"S":"no"}}})";
  EXPECT_EQ(JudgeExpected(kTwo, R"("OR")"), "true");
  EXPECT_EQ(JudgeExpected(kTwo, R"("AND")"), "false");
}

// Source: texts of Amazon's service as its public error messages show them.
TEST(LegacyTest, ExpectedThatIsWrong) {
  const LegacyExample examples[] = {
      {R"({"a":{"Value":{"N":"5"},"AttributeValueList":[{"N":"5"}]}})",
       "Value and AttributeValueList cannot be used together for Attribute: a"},
      {R"({"a":{"AttributeValueList":[{"N":"5"}]}})",
       "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
      {R"({"a":{"Exists":false,"Value":{"N":"5"}}})",
       "Value cannot be used when Exists is false for Attribute: a"},
      {R"({"a":{"Exists":true}})", "Value must be provided when Exists is true for Attribute: a"},
      {R"({"a":{}})", "Value must be provided when Exists is null for Attribute: a"},
      {R"({"a":{"Exists":true,"ComparisonOperator":"NULL"}})",
       "Exists and ComparisonOperator cannot be used together for Attribute: a"},
      {R"({"a":{"ComparisonOperator":"EQ"}})",
       "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"},
      {R"({"a":{"ComparisonOperator":"EQ","AttributeValueList":[]}})",
       "Invalid number of argument(s) for the EQ ComparisonOperator"},
      {R"({"a":{"ComparisonOperator":"NULL","AttributeValueList":[{"N":"1"}]}})",
       "Invalid number of argument(s) for the NULL ComparisonOperator"},
      {R"({"a":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"}]}})",
       "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
      {R"({"a":{"ComparisonOperator":"LT","AttributeValueList":[{"SS":["1"]}]}})",
       "ComparisonOperator LT is not valid for SS AttributeValue type"},
      {R"({"a":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"N":"1"}]}})",
       "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
      {R"({"a":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"},{"S":"1"}]}})",
       "AttributeValues inside AttributeValueList must be of same type"},
  };
  for (const LegacyExample& example : examples) {
    EXPECT_EQ(JudgeExpected(example.json),
              "One or more parameter values were invalid: " + std::string(example.result))
        << example.json;
  }
  EXPECT_EQ(
      JudgeExpected(
          R"({"a":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"2"},{"N":"1"}]}})"),
      "The BETWEEN condition was provided a range where the lower bound is greater than the upper "
      "bound");
  EXPECT_TRUE(
      JudgeExpected(R"({"a":{"ComparisonOperator":"eq","Value":{"N":"1"}}})")
          .starts_with("1 validation error detected: Value 'eq' at 'a.member.comparisonOperator'"));
  EXPECT_EQ(JudgeExpected("null", R"("OR")"),
            "ConditionalOperator cannot be used without "
            "Filter or Expected");
  EXPECT_EQ(JudgeExpected(R"({"a":{"Value":{"N":"5"}}})", R"("OR")"),
            "ConditionalOperator can only be used when Filter "
            "or Expected has two or more elements");
}

std::string UpdatedByOld(std::string_view json) {
  const JsonDocument document = Document(json);
  const auto update = UpdateOfAttributeUpdates(document.root());
  if (!update.ok()) return update.error().message;
  const auto after =
      Apply(*update, ItemOf(R"({"n":{"N":"1"},"ss":{"SS":["a","b"]},"l":{"L":[{"N":"1"}]}})"));
  return after.ok() ? ToJson(*after) : after.error().message;
}

// Source: DynamoDB's developer guide, "AttributeUpdates (legacy)".
TEST(LegacyTest, AttributeUpdates) {
  const LegacyExample examples[] = {
      {R"({"n":{"Action":"PUT","Value":{"S":"x"}},"l":{"Action":"DELETE"},"ss":{"Action":"DELETE"}})",
       R"({"n":{"S":"x"}})"},
      {R"({"n":{"Value":{"N":"3"}},"l":{"Action":"DELETE"},"ss":{"Action":"DELETE","Value":{"SS":["a","z"]}}})",
       R"({"n":{"N":"3"},"ss":{"SS":["b"]}})"},
      {R"({"n":{"Action":"ADD","Value":{"N":"2"}},"l":{"Action":"ADD","Value":{"L":[{"S":"x"}]}},
           "ss":{"Action":"ADD","Value":{"SS":["c"]}}})",
       R"({"l":{"L":[{"N":"1"},{"S":"x"}]},"n":{"N":"3"},"ss":{"SS":["a","b","c"]}})"},
      {R"({"n":{"Action":"PUT"}})",
       "One or more parameter values were invalid: Only DELETE action is allowed when no attribute "
       "value is specified"},
      {R"({"n":{"Action":"ADD","Value":{"S":"x"}}})",
       "One or more parameter values were invalid: ADD action is not supported for the type "
       "STRING"},
      {R"({"n":{"Action":"DELETE","Value":{"S":"x"}}})",
       "One or more parameter values were invalid: DELETE action with value is not supported for "
       "the "
       "type STRING"},
      {R"({"ss":{"Action":"ADD","Value":{"N":"1"}}})", "Type mismatch for attribute to update"},
      {R"({"ss":{"Action":"SET","Value":{"N":"1"}}})",
       "1 validation error detected: Value 'SET' at 'ss.member.action' failed to satisfy "
       "constraint: "
       "Member must satisfy enum value set: [ADD, PUT, DELETE]"},
  };
  for (const LegacyExample& example : examples) {
    EXPECT_EQ(UpdatedByOld(example.json), example.result) << example.json;
  }
}

TEST(LegacyTest, AttributesToGetAndMixing) {
  const JsonDocument names = Document(R"(["a","s","z"])");
  const auto projection = ProjectionOfAttributesToGet(names.root());
  ASSERT_TRUE(projection.ok());
  EXPECT_EQ(ToJson(Project(*projection, ItemOf(kItem))), R"({"a":{"N":"5"},"s":{"S":"abc"}})");
  const JsonDocument twice = Document(R"(["a","a"])");
  EXPECT_EQ(ProjectionOfAttributesToGet(twice.root()).error().message,
            "One or more parameter values were invalid: Duplicate value in attribute name: a");
  const JsonDocument none = Document("[]");
  EXPECT_FALSE(ProjectionOfAttributesToGet(none.root()).ok());
  EXPECT_TRUE(ProjectionOfAttributesToGet(Json())->is_everything());

  const JsonDocument mixed = Document(R"({"Expected":{},"ConditionExpression":"a = b"})");
  EXPECT_EQ(
      CheckNotMixed(mixed.root(), {"Expected", "ConditionalOperator"}, {"ConditionExpression"})
          .error()
          .message,
      "Can not use both expression and non-expression parameters in the same request: "
      "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}");
  EXPECT_TRUE(CheckNotMixed(mixed.root(), {"AttributeUpdates"}, {"ConditionExpression"}).ok());
}

}  // namespace legacy_test
}  // namespace liststore::dynamodb
