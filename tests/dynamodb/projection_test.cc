#include "engine/dynamodb/expressions/projection.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/dynamodb/values/item_json.h"
#include "tests/dynamodb/values.h"

namespace liststore::dynamodb {
namespace projection_test {

using testing::ItemOf;
using testing::PlaceholdersOf;

constexpr std::string_view kItem =
    R"({"a":{"N":"1"},"l":{"L":[{"N":"0"},{"M":{"x":{"N":"1"},"y":{"N":"2"}}},{"L":[{"S":"p"},{"S":"q"}]}]},)"
    R"("m":{"M":{"k":{"S":"v"},"n":{"M":{"d":{"N":"7"},"e":{"N":"8"}}}}},"s":{"SS":["u"]}})";

std::string Projected(std::string_view text) {
  Placeholders placeholders = PlaceholdersOf(R"({"#v":"values","#m":"m"})", "");
  const auto projection = ParseProjection(text, placeholders);
  if (!projection.ok()) return projection.error().message;
  return ToJson(Project(*projection, ItemOf(kItem)));
}

struct ProjectionExample {
  std::string_view text, result;
};

// Source: DynamoDB's developer guide, "Using projection expressions"; of elements of lists, what is asked
// for comes in the list's order, without gaps.
TEST(ProjectionTest, PartsOfItems) {
  const ProjectionExample examples[] = {
      {"a", R"({"a":{"N":"1"}})"},
      {"a, s", R"({"a":{"N":"1"},"s":{"SS":["u"]}})"},
      {"nope", "{}"},
      {"#m.k", R"({"m":{"M":{"k":{"S":"v"}}}})"},
      {"m.n.e,m.n.d", R"({"m":{"M":{"n":{"M":{"d":{"N":"7"},"e":{"N":"8"}}}}}})"},
      {"m.k, m.n.d", R"({"m":{"M":{"k":{"S":"v"},"n":{"M":{"d":{"N":"7"}}}}}})"},
      {"m.zz, a", R"({"a":{"N":"1"}})"},
      {"l[0]", R"({"l":{"L":[{"N":"0"}]}})"},
      {"l[2][1], l[0]", R"({"l":{"L":[{"N":"0"},{"L":[{"S":"q"}]}]}})"},
      {"l[1].y", R"({"l":{"L":[{"M":{"y":{"N":"2"}}}]}})"},
      {"l[9]", "{}"},
      {"a.b", "{}"},
      {"a[0]", "{}"},
      {"l.x", "{}"},
      {"m[0]", "{}"},
  };
  for (const ProjectionExample& example : examples) {
    EXPECT_EQ(Projected(example.text), example.result) << example.text;
  }
}

// Source: texts of Amazon's service as its public error messages show them.
TEST(ProjectionTest, ErrorsHaveAmazonsWords) {
  const ProjectionExample examples[] = {
      {"", "The expression can not be empty;"},
      {"a,", R"_(Syntax error; token: "<EOF>", near: ",")_"},
      {"a b", R"_(Syntax error; token: "b", near: "a b")_"},
      {"a[]", R"_(Syntax error; token: "]", near: "[]")_"},
      {"a[0", R"_(Syntax error; token: "<EOF>", near: "0")_"},
      {":v", R"_(Syntax error; token: ":v", near: ":v")_"},
      {"values", "Attribute name is a reserved keyword; reserved keyword: values"},
      {"#zz",
       "An expression attribute name used in the document path is not defined; attribute name: "
       "#zz"},
      {"a, b, a",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[a], path two: [a]"},
      {"m.n.d, #m.n",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[m, n, d], path two: [m, n]"},
      {"m.n, m[1]",
       "Two document paths conflict with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[m, n], path two: [m, [1]]"},
      {"l[1].x, b, l[1]",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: "
       "[l, [1], x], path two: [l, [1]]"},
  };
  for (const ProjectionExample& example : examples) {
    EXPECT_EQ(Projected(example.text),
              "Invalid ProjectionExpression: " + std::string(example.result))
        << example.text;
  }
}

TEST(ProjectionTest, WhatHasToBeDecoded) {
  Placeholders placeholders = PlaceholdersOf(R"({"#v":"values"})", "");
  const auto nested = ParseProjection("m.a, #v.x, b, m.c", placeholders);
  ASSERT_TRUE(nested.ok());
  EXPECT_FALSE(nested->is_top_level());
  EXPECT_EQ(AttributesOf(*nested), (std::vector<std::string_view>{"b", "m", "values"}));
  const auto flat = ParseProjection("m, b", placeholders);
  ASSERT_TRUE(flat.ok());
  EXPECT_TRUE(flat->is_top_level());
  EXPECT_TRUE(Projection().is_everything());
  EXPECT_EQ(Project(Projection(), ItemOf(kItem)), ItemOf(kItem));
}

}  // namespace projection_test
}  // namespace liststore::dynamodb
