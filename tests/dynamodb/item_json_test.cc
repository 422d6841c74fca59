#include "engine/dynamodb/values/item_json.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/dynamodb/values.h"

namespace liststore::dynamodb {
namespace item_json_test {

using testing::ItemOf;
using testing::ValueError;
using testing::ValueOf;

struct ValueExample {
  std::string_view json, again;
};

// Source: DynamoDB's API reference, AttributeValue.
TEST(ItemJsonTest, ValuesOfEveryType) {
  const ValueExample examples[] = {
      {R"({"S":"x\ny"})", R"({"S":"x\ny"})"},
      {R"({"S":""})", R"({"S":""})"},
      {R"({"N":"1e2"})", R"({"N":"100"})"},
      {R"({"B":"Zm9v"})", R"({"B":"Zm9v"})"},
      {R"({"BOOL":false})", R"({"BOOL":false})"},
      {R"({"NULL":true})", R"({"NULL":true})"},
      {R"({"M":{}})", R"({"M":{}})"},
      {R"({"M":{"b":{"S":"1"},"a":{"L":[]}}})", R"({"M":{"a":{"L":[]},"b":{"S":"1"}}})"},
      {R"({"L":[{"N":"1"},{"S":"a"}]})", R"({"L":[{"N":"1"},{"S":"a"}]})"},
      {R"({"SS":["b","a"]})", R"({"SS":["a","b"]})"},
      {R"({"NS":["10","9","-1"]})", R"({"NS":["-1","9","10"]})"},
      {R"({"BS":["Zg==","Zm9v"]})", R"({"BS":["Zg==","Zm9v"]})"},
      // What is null or unknown is passed by; repeated names: the last counts.
      {R"({"S":null,"N":"1","X":2})", R"({"N":"1"})"},
      {R"({"M":{"a":{"S":"1"},"a":{"S":"2"}}})", R"({"M":{"a":{"S":"2"}}})"},
  };
  for (const ValueExample& example : examples) {
    EXPECT_EQ(ToJson(ValueOf(example.json)), example.again);
  }
}

struct ValueErrorExample {
  std::string_view json, error;
};

// Source: texts that Amazon's service answers; of sets also observed with DynamoDB Local 2.5.4.
TEST(ItemJsonTest, ErrorsHaveAmazonsWords) {
  const ValueErrorExample examples[] = {
      {"{}",
       "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the "
       "supported datatypes"},
      {R"({"X":"y"})",
       "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the "
       "supported datatypes"},
      {R"({"S":"a","N":"1"})",
       "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain "
       "exactly one of the supported datatypes"},
      {R"({"NULL":false})",
       "ValidationException: One or more parameter values were invalid: Null attribute value types "
       "must have the value of true"},
      {R"({"SS":[]})",
       "ValidationException: One or more parameter values were invalid: An string set  may not be "
       "empty"},
      {R"({"NS":[]})",
       "ValidationException: One or more parameter values were invalid: An number set  may not be "
       "empty"},
      {R"({"BS":[]})",
       "ValidationException: One or more parameter values were invalid: Binary sets should not be "
       "empty"},
      {R"({"SS":["a","b","a"]})",
       "ValidationException: One or more parameter values were invalid: Input collection [a, b, a] "
       "contains duplicates."},
      {R"({"NS":["1","1.0"]})", "ValidationException: Input collection contains duplicates"},
      {R"({"BS":["Zg==","Zg=="]})",
       "ValidationException: One or more parameter values were invalid: Input collection [Zg==, "
       "Zg==]of type BS contains duplicates."},
      {R"({"N":"x"})",
       "ValidationException: The parameter cannot be converted to a numeric value: x"},
      {R"({"N":""})", "ValidationException: The parameter cannot be converted to a numeric value"},
      {R"({"NS":["1","1e200"]})",
       "ValidationException: Number overflow. Attempting to store a number with magnitude larger "
       "than supported range"},
      {R"({"M":{"":{"S":"a"}}})", "ValidationException: Empty attribute name"},
      {R"({"S":1})", "SerializationException: NUMBER_VALUE cannot be converted to String"},
      {R"({"N":1})", "SerializationException: NUMBER_VALUE cannot be converted to String"},
      {R"({"S":true})", "SerializationException: TRUE_VALUE cannot be converted to String"},
      {R"({"S":{}})", "SerializationException: Start of structure or map found where not expected"},
      {R"({"S":[]})",
       "SerializationException: Unrecognized collection type class java.lang.String"},
      {R"({"BOOL":"true"})", "SerializationException: STRING_VALUE cannot be converted to Boolean"},
      {R"({"L":{}})", "SerializationException: Unexpected field type"},
      {R"({"M":[]})", "SerializationException: Unexpected field type"},
      {R"({"SS":"a"})", "SerializationException: Unexpected field type"},
      {R"({"B":"*"})", "SerializationException: Invalid Base64 encoding"},
  };
  for (const ValueErrorExample& example : examples) {
    EXPECT_EQ(ValueError(example.json), example.error) << example.json;
  }
}

// Source: DynamoDB's developer guide, "Quotas", nested attribute depth.
TEST(ItemJsonTest, NestingIsBounded) {
  const auto nested = [](int levels) {
    std::string json;
    for (int i = 0; i < levels; ++i) json += i % 2 == 0 ? R"({"L":[)" : R"({"M":{"a":)";
    json += R"({"S":"x"})";
    for (int i = levels; i-- > 0;) json += i % 2 == 0 ? "]}" : "}}";
    return json;
  };
  const AttributeValue deepest = ValueOf(nested(kNestingMax));
  EXPECT_EQ(NestingOf(deepest), kNestingMax);
  EXPECT_EQ(ToJson(deepest), nested(kNestingMax));
  EXPECT_TRUE(
      ValueError(nested(kNestingMax + 1)).starts_with("ValidationException: Nesting Levels"));
}

// Source: DynamoDB's developer guide, "Item sizes and formats".
TEST(ItemJsonTest, SizesAreAmazons) {
  struct ItemSizeExample {
    std::string_view json;
    size_t size;
  };
  const ItemSizeExample examples[] = {
      {"{}", 0},
      {R"({"pk":{"S":"abc"}})", 5},
      {R"({"pk":{"S":"é"}})", 4},
      {R"({"n":{"N":"123"}})", 4},
      {R"({"b":{"B":"Zm9v"}})", 4},
      {R"({"t":{"BOOL":true},"u":{"NULL":true}})", 4},
      {R"({"l":{"L":[]}})", 4},
      {R"({"l":{"L":[{"S":"ab"},{"N":"1"}]}})", 1 + 3 + 2 + 2 + 2},
      {R"({"m":{"M":{"ab":{"S":"c"}}}})", 1 + 3 + 1 + 2 + 1},
      {R"({"s":{"SS":["a","bc"]}})", 4},
  };
  for (const ItemSizeExample& example : examples) {
    EXPECT_EQ(ItemSize(ItemOf(example.json)), example.size) << example.json;
  }
}

TEST(ItemJsonTest, EqualityIsByValue) {
  EXPECT_EQ(ValueOf(R"({"N":"1.0"})"), ValueOf(R"({"N":"1"})"));
  EXPECT_EQ(ValueOf(R"({"SS":["a","b"]})"), ValueOf(R"({"SS":["b","a"]})"));
  EXPECT_FALSE(ValueOf(R"({"L":[{"S":"a"},{"S":"b"}]})") ==
               ValueOf(R"({"L":[{"S":"b"},{"S":"a"}]})"));
  EXPECT_FALSE(ValueOf(R"({"S":"1"})") == ValueOf(R"({"N":"1"})"));
}

TEST(ItemJsonTest, MapsAreChangedInOrder) {
  Item item = ItemOf(R"({"b":{"S":"1"},"d":{"S":"2"}})");
  item.Set("c", AttributeValue::OfBool(true));
  item.Set("a", AttributeValue());
  item.Set("d", AttributeValue::OfString("3"));
  EXPECT_TRUE(item.Erase("b"));
  EXPECT_FALSE(item.Erase("b"));
  EXPECT_EQ(ToJson(item), R"({"a":{"NULL":true},"c":{"BOOL":true},"d":{"S":"3"}})");
  EXPECT_TRUE(item.Contains("c"));
  EXPECT_EQ(item.Find("b"), nullptr);
}

}  // namespace item_json_test
}  // namespace liststore::dynamodb
