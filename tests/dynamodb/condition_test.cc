#include "engine/dynamodb/expressions/condition.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/dynamodb/expressions/effort.h"
#include "engine/dynamodb/expressions/reserved_words.h"
#include "tests/dynamodb/values.h"
#include "tests/support/seed.h"

namespace liststore::dynamodb {
namespace condition_test {

using testing::ItemOf;
using testing::PlaceholdersOf;

constexpr std::string_view kNames = R"({"#a":"a","#s":"size","#m":"m","#dot":"x.y"})";
constexpr std::string_view kValues = R"({
    ":one":{"N":"1"}, ":two":{"N":"2"}, ":ten":{"N":"10"}, ":a":{"S":"a"}, ":b":{"S":"b"}, ":empty":{"S":""},
    ":bin":{"B":"YQ=="}, ":true":{"BOOL":true}, ":null":{"NULL":true}, ":list":{"L":[{"N":"1"}]},
    ":map":{"M":{"k":{"S":"v"}}}, ":ss":{"SS":["a","b"]}, ":ns":{"NS":["1","2"]}, ":SS":{"S":"SS"},
    ":N":{"S":"N"}, ":X":{"S":"X"}})";
constexpr std::string_view kItem = R"({
    "a":{"N":"5"}, "s":{"S":"abc"}, "bin":{"B":"YWJj"}, "t":{"BOOL":true}, "nul":{"NULL":true}, "x.y":{"S":"dot"},
    "l":{"L":[{"N":"1"},{"S":"a"},{"L":[{"N":"2"}]}]}, "m":{"M":{"k":{"S":"v"},"n":{"M":{"d":{"N":"7"}}}}},
    "ss":{"SS":["a","b"]}, "ns":{"NS":["1","2"]}, "bs":{"BS":["YQ=="]}, "b":{"N":"5"}, "u":{"S":"é😀"}})";

// "true", "false", or the error.
std::string Judge(std::string_view text, ExpressionKind kind = ExpressionKind::kCondition) {
  Placeholders placeholders = PlaceholdersOf(kNames, kValues);
  const auto condition = ParseCondition(text, kind, placeholders);
  if (!condition.ok()) return condition.error().message;
  Effort effort;
  return *Evaluate(*condition, ItemOf(kItem), effort) ? "true" : "false";
}

struct ConditionExample {
  std::string_view text;
  bool is_true;
};

// Source: DynamoDB's developer guide, "Condition and filter expressions, operators, and functions".
TEST(ConditionTest, WhatIsTrueOfAnItem) {
  const ConditionExample examples[] = {
      // Comparators: by value within a type, by bytes of strings.
      {"a = b", true},
      {"a = :one", false},
      {"a <> :one", true},
      {"a < :ten", true},
      {"a <= :ten", true},
      {"a > :ten", false},
      {"a >= b", true},
      {"s > :a", true},
      {"s < :b", true},
      {"bin > :bin", true},
      // Of different types only <> is true; likewise of what is not there.
      {"a < :a", false},
      {"a > :a", false},
      {"a = :a", false},
      {"a <> :a", true},
      {"nope = :a", false},
      {"nope <> :a", true},
      {"nope < :a", false},
      {"nope = nada", false},
      // Equality of all types.
      {"l[0] = :one", true},
      {"m.n.d > :one", true},
      {"ss = :ss", true},
      {"ns = :ns", true},
      {"t = :true", true},
      {"nul = :null", true},
      {"m = :map", false},
      // Paths.
      {"m.k = :a", false},
      {"l[2][0] = :two", true},
      {"l[9] = :two", false},
      {"l.x = :two", false},
      {"m[0] = :two", false},
      {"#m.k <> :a", true},
      {"#dot > :a", true},
      {"attribute_not_exists(x.y)", true},
      {"attribute_exists(m.n.d)", true},
      {"attribute_exists(m.n.e)", false},
      {"attribute_not_exists(l[3])", true},
      // BETWEEN with both ends, IN.
      {"a BETWEEN :one AND :ten", true},
      {"a between b and :ten", true},
      {"a BETWEEN :ten AND :ten", false},
      {"a BETWEEN :a AND :b", false},
      {"a IN (:one, :two)", false},
      {"a IN (:one, b)", true},
      {"l[1] in (:a)", true},
      {":one IN (l[0])", true},
      // AND binds tighter than OR, NOT tighter than both.
      {"a = b OR a = b AND a = :one", true},
      {"(a = b OR a = b) AND a = :one", false},
      {"NOT a = :one AND a = b", true},
      {"NOT (a = :one OR a = b)", false},
      {"not not a = b", true},
      {"NOT NOT NOT a = b", false},
      // Functions.
      {"attribute_type(ss, :SS)", true},
      {"attribute_type(a, :SS)", false},
      {"attribute_type(nope, :N)", false},
      {"begins_with(s, :a)", true},
      {"begins_with(s, :b)", false},
      {"begins_with(s, :empty)", true},
      {"begins_with(bin, :bin)", true},
      {"begins_with(bin, :a)", false},
      {"begins_with(a, :a)", false},
      {"contains(s, :b)", true},
      {"contains(bin, :bin)", true},
      {"contains(ss, :a)", true},
      {"contains(ss, :one)", false},
      {"contains(ns, :two)", true},
      {"contains(ns, :ten)", false},
      {"contains(bs, :bin)", true},
      {"contains(l, :one)", true},
      {"contains(l, :two)", false},
      {"contains(m, :a)", false},
      {"contains(nope, :a)", false},
      {"size(s) > :two", true},
      {"size(m) = :two", true},
      {"size(l) BETWEEN :two AND :ten", true},
      {"size(ss) = :two", true},
      {"size(a) = :one", false},
      {"size(a) <> :one", true},
      {"size(nope) < :ten", false},
      {":two = size(:ss)", true},
      {"size(ns) = size(ss)", true},
      // UTF-16 units: one and two.
      {"size(u) > :two AND size(u) < :ten", true},
      {"size(u) = size(l)", true},
      // Operands in parentheses.
      {"(a) = b", true},
      {"(a) = (b)", true},
      {"(size(ss)) = :two", true},
      {"a BETWEEN (:one) AND (:ten)", true},
      {"a IN ((b), (:one))", true},
      {"(attribute_exists(a))", true},
      {"NOT (NOT (a = b))", true},
  };
  for (const ConditionExample& example : examples) {
    EXPECT_EQ(Judge(example.text), example.is_true ? "true" : "false") << example.text;
  }
}

struct ConditionError {
  std::string_view text, error;  // behind "Invalid ConditionExpression: "
};

// Source: texts of Amazon's service as its public error messages show them; all but the order of valid types
// observed with DynamoDB Local 2.5.4.
TEST(ConditionTest, ErrorsHaveAmazonsWords) {
  const ConditionError examples[] = {
      {"", "The expression can not be empty;"},
      {" ", R"_(Syntax error; token: "<EOF>", near: "")_"},
      {"a", R"_(Syntax error; token: "<EOF>", near: "a")_"},
      {"a =", R"_(Syntax error; token: "<EOF>", near: "=")_"},
      {"a = :one b", R"_(Syntax error; token: "b", near: ":one b")_"},
      {"a == :one", R"_(Syntax error; token: "=", near: "== :one")_"},
      {"a = 1", R"_(Syntax error; token: "1", near: "= 1")_"},
      {"a = \"x\"", R"_(Syntax error; token: """, near: "= "x")_"},
      {"a != :one", R"_(Syntax error; token: "!", near: "a !=")_"},
      {"(a = :one", R"_(Syntax error; token: "<EOF>", near: ":one")_"},
      {"a = :one)", R"_(Syntax error; token: ")", near: ":one)")_"},
      {"a. = :one", R"_(Syntax error; token: "=", near: ". = :one")_"},
      {"a[x] = :one", R"_(Syntax error; token: "x", near: "[x]")_"},
      {"a IN :one", R"_(Syntax error; token: ":one", near: "IN :one")_"},
      {"a IN ()", R"_(Syntax error; token: ")", near: "()")_"},
      {"a BETWEEN :one OR :two", R"_(Syntax error; token: "OR", near: ":one OR :two")_"},
      {"a = \xc3\xa9", "Syntax error; token: \"\xc3\xa9\", near: \"= \xc3\xa9\""},
      {"# = :one", R"_(Syntax error; token: "#", near: "# =")_"},
      // Keywords are names nowhere.
      {"set = :one", R"_(Syntax error; token: "set", near: "set =")_"},
      {"m.And = :one", R"_(Syntax error; token: "And", near: ".And =")_"},
      {"a = in", R"_(Syntax error; token: "in", near: "= in")_"},
      {"not = :one", R"_(Syntax error; token: "=", near: "not = :one")_"},
      {"between(a, b)", R"_(Syntax error; token: "between", near: "between(")_"},
      {"a =  ", R"_(Syntax error; token: "<EOF>", near: "=  ")_"},
      {"values = :one", "Attribute name is a reserved keyword; reserved keyword: values"},
      {"m.Name = :one", "Attribute name is a reserved keyword; reserved keyword: Name"},
      {"#zz = :one",
       "An expression attribute name used in the document path is not defined; attribute name: "
       "#zz"},
      {"a = :zz",
       "An expression attribute value used in expression is not defined; attribute value: :zz"},
      {"nofunction(a)", "Invalid function name; function: nofunction"},
      {"Begins_With(a, :a)", "Invalid function name; function: Begins_With"},
      {"size(a)",
       "The function is not allowed to be used this way in an expression; function: size"},
      {"attribute_exists(a) = :one",
       "The function is not allowed to be used this way in an expression; function: "
       "attribute_exists"},
      {"(a = b) = :one", R"_(Syntax error; token: "=", near: ") = :one")_"},
      {"a = list_append(a, b)",
       "The function is not allowed in a condition expression; function: list_append"},
      {"not_a_function(a) = :one", "Invalid function name; function: not_a_function"},
      {"size(size(a)) = :one",
       "Incorrect operand type for operator or function; operator or function: size, operand type: "
       "N"},
      {"size(a, b) = :one",
       "Incorrect number of operands for operator or function; operator or function: size, number "
       "of operands: 2"},
      {"attribute_exists(size(a))",
       "Operator or function requires a document path; operator or function: attribute_exists"},
      {"((a)) = :one", "The expression has redundant parentheses;"},
      {"a = ((:one))", "The expression has redundant parentheses;"},
      {"_a = :one", R"_(Syntax error; token: "_", near: "_a")_"},
      {"1a = :one", R"_(Syntax error; token: "1", near: "1a")_"},
      {"a = :one; ", R"_(Syntax error; token: ";", near: ":one; ")_"},
      {"a AND b = :one", R"_(Syntax error; token: "AND", near: "a AND b")_"},
      {"a = attribute_exists(b)",
       "The function is not allowed to be used this way in an expression; function: "
       "attribute_exists"},
      {"if_not_exists(a, :one)",
       "The function is not allowed in a condition expression; function: if_not_exists"},
      {"attribute_exists(a, b)",
       "Incorrect number of operands for operator or function; operator or function: "
       "attribute_exists, number of operands: 2"},
      {"contains(a)",
       "Incorrect number of operands for operator or function; operator or function: contains, "
       "number of operands: 1"},
      {"attribute_exists(:one)",
       "Operator or function requires a document path; operator or function: attribute_exists"},
      {"begins_with(a, :one)",
       "Incorrect operand type for operator or function; operator or function: begins_with, "
       "operand "
       "type: N"},
      {"a < :map",
       "Incorrect operand type for operator or function; operator or function: <, operand type: M"},
      {"a BETWEEN :true AND :true",
       "Incorrect operand type for operator or function; operator or function: BETWEEN, operand "
       "type: "
       "BOOL"},
      {"size(:one) = :two",
       "Incorrect operand type for operator or function; operator or function: size, operand type: "
       "N"},
      {"attribute_type(a, :X)",
       "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
      {"attribute_type(a, :one)",
       "Incorrect operand type for operator or function; operator or function: attribute_type, "
       "operand "
       "type: N"},
      {"a BETWEEN :ten AND :one",
       "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
       "lower "
       "bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:1}"},
      {"a BETWEEN :a AND :one",
       "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
       "operand: "
       "AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}"},
      {"m.k = m.k",
       "The first operand must be distinct from the remaining operands for this operator or "
       "function; "
       "operator: =, first operand: [m, k]"},
      {"contains(a, a)",
       "The first operand must be distinct from the remaining operands for this operator or "
       "function; "
       "operator: contains, first operand: [a]"},
      {"((a = :one))", "The expression has redundant parentheses;"},
      {"NOT ((a = :one) )", "The expression has redundant parentheses;"},
      {"a[99999999999] = :one",
       "List index is not within the allowable range; index: [99999999999]"},
      // Of several problems: syntax first, then in Amazon's order.
      {"values = :zz AND AND", R"_(Syntax error; token: "AND", near: "AND AND")_"},
      {"a = :zz AND values = :one",
       "Attribute name is a reserved keyword; reserved keyword: values"},
      {"a < :map AND a = :zz",
       "Incorrect operand type for operator or function; operator or function: <, operand type: M"},
      {"a = :zz AND a < :map",
       "An expression attribute value used in expression is not defined; attribute value: :zz"},
      {"((a = :zz)) AND nofunction(a)", "The expression has redundant parentheses;"},
  };
  for (const ConditionError& example : examples) {
    EXPECT_EQ(Judge(example.text), "Invalid ConditionExpression: " + std::string(example.error))
        << example.text;
  }
  EXPECT_EQ(Judge("a", ExpressionKind::kFilter),
            R"_(Invalid FilterExpression: Syntax error; token: "<EOF>", near: "a")_");
}

// What is doubled without being redundant.
TEST(ConditionTest, ParenthesesThatMatter) {
  for (const std::string_view text :
       {"(a = b)", "((a = b) AND a = b)", "(a = b AND (a = b))", "((a = b) OR (a = b))",
        "(NOT (a = b)) OR a = b", "((a = b) AND ((a = b) OR a = b))"}) {
    EXPECT_EQ(Judge(text), "true") << text;
  }
}

// Source: DynamoDB's developer guide, "Quotas", expression parameters.
TEST(ConditionTest, LimitsAreNamed) {
  const auto chain = [](int terms) {
    std::string text = "a=b";
    for (int i = 1; i < terms; ++i) text += " OR a=b";
    return text;
  };
  EXPECT_EQ(Judge(chain(150)), "true");  // 150 comparisons, 149 ORs
  EXPECT_EQ(
      Judge(chain(151)),
      "Invalid ConditionExpression: The expression contains too many operators; operator count: "
      "301");
  EXPECT_EQ(Judge(std::string(4097, 'a')),
            "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4097");
  EXPECT_NE(Judge(std::string(101, '(') + "a = b").find("too many nesting levels"),
            std::string::npos);
  std::string nots;
  for (int i = 0; i < 101; ++i) nots += "NOT ";
  EXPECT_NE(Judge(nots + "a = b").find("too many nesting levels"), std::string::npos);
  std::string in = "a IN (b";
  for (int i = 1; i < 101; ++i) in += ",b";
  EXPECT_EQ(
      Judge(in + ")"),
      "Invalid ConditionExpression: The IN operator is provided with too many operands; number "
      "of operands: 101");
  std::string path = "a";
  for (int i = 1; i < 32; ++i) path += ".b";
  EXPECT_EQ(Judge(path + " = b"), "false");
  EXPECT_EQ(Judge(path + ".b = b"),
            "Invalid ConditionExpression: The document path has too many nesting levels; nesting "
            "levels: 33");
}

// A value of 300 KB that 4 KB of expression name a thousand times is not copied as often.
TEST(ConditionTest, CopiesOfValuesAreBounded) {
  Placeholders placeholders;
  placeholders.AddValue(":v", AttributeValue::OfString(std::string(300'000, 'x')));
  std::string in = "a IN (:v";
  for (int i = 1; i < 50; ++i) in += ",:v";
  const auto condition = ParseCondition(in + ")", ExpressionKind::kCondition, placeholders);
  ASSERT_FALSE(condition.ok());
  EXPECT_NE(condition.error().message.find("maximum allowed size"), std::string::npos);
}

TEST(ConditionTest, UnusedPlaceholdersAreNamed) {
  Placeholders placeholders =
      PlaceholdersOf(R"({"#a":"a","#b":"b"})", R"({":a":{"N":"1"},":b":{"N":"1"},":c":{"N":"1"}})");
  ASSERT_TRUE(ParseCondition("#a = :b", ExpressionKind::kFilter, placeholders).ok());
  EXPECT_EQ(placeholders.CheckAllUsed().error().message,
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}");
  ASSERT_TRUE(ParseCondition("#b = :b", ExpressionKind::kFilter, placeholders).ok());
  EXPECT_EQ(placeholders.CheckAllUsed().error().message,
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :c}");
}

TEST(ConditionTest, PlaceholdersAreChecked) {
  struct PlaceholderExample {
    std::string_view names, values;
    bool allowed;
    std::string_view error;
  };
  const PlaceholderExample examples[] = {
      {"null", "null", false, ""},
      {R"({"#a":"a"})", "null", false,
       "ExpressionAttributeNames can only be specified when using expressions"},
      {"null", R"({":a":{"N":"1"}})", false,
       "ExpressionAttributeValues can only be specified when using expressions: "
       "ConditionExpression is null"},
      {"{}", "null", true, "ExpressionAttributeNames must not be empty"},
      {"null", "{}", true, "ExpressionAttributeValues must not be empty"},
      {R"({"a":"a"})", "null", true,
       "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\""},
      {R"({"#a-b":"a"})", "null", true,
       "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a-b\""},
      {"null", R"({"#a":{"N":"1"}})", true,
       "ExpressionAttributeValues contains invalid key: Syntax error; key: \"#a\""},
      {"null", R"({":":{"N":"1"}})", true,
       "ExpressionAttributeValues contains invalid key: Syntax error; key: \":\""},
      {"null", R"({":a":{}})", true,
       "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must "
       "contain exactly one of the supported datatypes for key :a"},
      {"null", R"({":a":{"SS":[]}})", true,
       "ExpressionAttributeValues contains invalid value: One or more parameter values were "
       "invalid: "
       "An string set  may not be empty for key :a"},
      {"null", R"({":a":{"S":1}})", true, "NUMBER_VALUE cannot be converted to String"},
      {R"({"#a":1})", "null", true, "NUMBER_VALUE cannot be converted to String"},
      {"[]", "null", true, "Unexpected field type"},
  };
  for (const PlaceholderExample& example : examples) {
    const auto names = JsonDocument::Parse(std::string(example.names));
    const auto values = JsonDocument::Parse(std::string(example.values));
    ASSERT_TRUE(names.ok() && values.ok());
    const auto placeholders =
        Placeholders::FromJson(names->root(), values->root(), example.allowed, example.allowed,
                               "ConditionExpression is null");
    EXPECT_EQ(placeholders.ok() ? "" : placeholders.error().message, example.error);
  }
}

TEST(ConditionTest, AttributesThatItLooksAt) {
  Placeholders placeholders = PlaceholdersOf(kNames, kValues);
  const auto condition =
      ParseCondition("m.k = :a AND (size(l) > :one OR attribute_exists(#dot)) AND m.z < b",
                     ExpressionKind::kFilter, placeholders);
  ASSERT_TRUE(condition.ok());
  EXPECT_EQ(AttributesOf(*condition), (std::vector<std::string_view>{"b", "l", "m", "x.y"}));
  EXPECT_TRUE(CheckFilterOfQuery(*condition, "pk", "sk").ok());
  EXPECT_TRUE(CheckFilterOfQuery(*condition, "pk", "").ok());
  EXPECT_EQ(
      CheckFilterOfQuery(*condition, "pk", "l").error().message,
      "Filter Expression can only contain non-primary key attributes: Primary key attribute: l");
}

// Source: DynamoDB's developer guide, "Reserved words in DynamoDB".
TEST(ConditionTest, ReservedWords) {
  for (const std::string_view word : {"ABORT", "zone", "Values", "year", "NAME", "Status", "ttl"}) {
    EXPECT_TRUE(IsReservedWord(word)) << word;
  }
  for (const std::string_view word : {"", "abor", "aborts", "entity_id", "v", "pk", "item\xc3\xa9",
                                      "aVeryLongNameThatIsLongerThanAnyOfTheReservedWords"}) {
    EXPECT_FALSE(IsReservedWord(word)) << word;
  }
}

// Naive search: what IsPieceOf has to say.
TEST(EffortTest, PiecesAreFoundWhateverTheTextIs) {
  Random random(liststore::testing::TestSeed());
  for (int step = 0; step < 20'000; ++step) {
    // Of few letters: many places look alike.
    const auto text_of = [&](uint64_t bytes_max, uint64_t letters) {
      std::string text;
      for (uint64_t left = random.Below(bytes_max + 1); left > 0; --left) {
        text += static_cast<char>('a' + random.Below(letters));
      }
      return text;
    };
    const uint64_t letters = 1 + random.Below(3);
    const std::string text = text_of(200, letters);
    std::string part = text_of(40, letters);
    if (random.OneIn(2) && !text.empty()) {
      const size_t from = random.Below(text.size());
      part = text.substr(from, random.Below(60));
      if (random.OneIn(3)) part += 'b';
    }
    Effort effort;
    ASSERT_EQ(IsPieceOf(part, text, effort), text.find(part) != std::string::npos)
        << part << " in " << text;
  }
}

// A constant times the bytes, also where each place of the text looks like the part for long.
TEST(EffortTest, ASearchIsLinear) {
  const std::string text(380'000, 'a');
  std::string pairs;
  while (pairs.size() < text.size()) pairs += "ab";
  struct Example {
    const std::string& text;
    std::string part;
  };
  const Example examples[] = {
      {text, std::string(60'000, 'a') + 'b'},
      {text, 'b' + std::string(60'000, 'a')},
      {text, std::string(30'000, 'a') + 'b' + std::string(30'000, 'a')},
      {text, std::string(200, 'a') + 'b' + std::string(30, 'a')},
      {text, "ab"},
      {pairs, pairs.substr(0, 60'000) + 'c'},
      {pairs, pairs.substr(0, 200) + 'c'},
  };
  for (const Example& example : examples) {
    Effort effort(UINT64_MAX);
    EXPECT_FALSE(IsPieceOf(example.part, example.text, effort));
    EXPECT_GE(effort.bytes(), example.text.size());
    EXPECT_LE(effort.bytes(), 8 * (example.text.size() + example.part.size()));
  }
}

// What is looked at is counted, and what would be too much is an error that names the limit.
TEST(EffortTest, BoundsAnEvaluation) {
  const auto list_of = [](size_t elements) {
    return AttributeValue::OfList(AttributeValue::List(elements));
  };
  std::vector<std::string> texts;
  for (int i = 0; i < 50'000; ++i) texts.push_back(std::to_string(i));
  const Item item(std::vector<Attribute>{
      {"a", AttributeValue::OfString(std::string(380'000, 'a'))},
      {"b", AttributeValue::OfString(std::string(380'000, 'a'))},
      {"bin", AttributeValue::OfBinary(std::string(380'000, 'a'))},
      {"l", list_of(190'000)},
      {"m", list_of(190'000)},
      {"ss", AttributeValue::OfStrings(texts)},
      {"st", AttributeValue::OfStrings(texts)},
  });
  struct Example {
    std::string_view condition;
    size_t times;  // so often it is too much, a tenth as often it is not
  };
  const Example examples[] = {
      {"contains(a, :long)", 50},
      {"a <> b", 150},
      {"NOT begins_with(a, :long)", 700},
      {"NOT b > a", 150},
      {"size(a) = :one", 150},
      {"l <> m", 20},
      {"contains(l, :long)", 20},
      {"ss <> st", 80},
      {"contains(bin, :bin)", 50},
      {"a BETWEEN b AND :long", 150},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.condition);
    const auto evaluate = [&](size_t times) {
      Placeholders placeholders;
      placeholders.AddValue(":long", AttributeValue::OfString(std::string(60'000, 'a') + 'b'));
      placeholders.AddValue(":bin", AttributeValue::OfBinary(std::string(60'000, 'a') + 'b'));
      placeholders.AddValue(":one", AttributeValue::OfNumber(Number::Of(1)));
      auto one = ParseCondition(example.condition, ExpressionKind::kCondition, placeholders);
      LS_CHECK(one.ok(), "it is a condition");
      Condition all;
      all.kind = Condition::Kind::kOr;
      // All of it is looked at, whatever it says.
      for (size_t i = 0; i < times; ++i) {
        Condition& child = all.children.emplace_back();
        child.kind = Condition::Kind::kAnd;
        child.children.push_back(*one);
        Condition& never = child.children.emplace_back();
        never.kind = Condition::Kind::kNot;
        never.children.emplace_back();
      }
      Effort effort;
      const auto is_true = Evaluate(all, item, effort);
      // The last thing that was begun is counted, and not done.
      EXPECT_LE(effort.bytes(), Effort::kBytesMax + 8'000'000);
      return is_true.ok() ? (*is_true ? "true" : "false") : is_true.error().message;
    };
    EXPECT_EQ(evaluate(example.times / 10), "false");
    EXPECT_EQ(evaluate(example.times),
              "A condition or filter may look at 33554432 bytes of the item and of values at most");
  }
}

}  // namespace condition_test
}  // namespace liststore::dynamodb
