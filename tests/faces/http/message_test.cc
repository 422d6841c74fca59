#include "engine/faces/http/message.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace message_test {

TEST(MessageTest, TextsArePercentDecoded) {
  EXPECT_EQ(PercentDecoded("a%20b%2Fc+d"), "a b/c+d");
  EXPECT_EQ(PercentDecoded("%c3%A4"), "\xc3\xa4");
  for (const char* bad : {"%", "%1", "a%zz", "%ff", "%g0"}) {
    EXPECT_EQ(PercentDecoded(bad), std::nullopt) << bad;
  }
}

TEST(MessageTest, ParametersComeInTheirOrder) {
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(QueryParameters("a=1&b=%3D&a=2&c&"),
            (Parameters{{"a", "1"}, {"b", "="}, {"a", "2"}, {"c", ""}}));
  EXPECT_EQ(QueryParameters(""), Parameters());
  EXPECT_EQ(QueryParameters("a=%"), std::nullopt);
}

TEST(MessageTest, PathAndQueryAreTheTwoSidesOfTheMark) {
  HttpRequest request;
  request.target = "/a/b?c=d?e";
  EXPECT_EQ(request.path(), "/a/b");
  EXPECT_EQ(request.query(), "c=d?e");
  request.target = "/a";
  EXPECT_EQ(request.path(), "/a");
  EXPECT_EQ(request.query(), "");
}

TEST(MessageTest, FieldsAreFoundByTheirNamesInLowerCase) {
  HttpFields fields;
  fields.Add("X-Amz-Date", "20260101T000000Z");
  fields.Add("a", "");
  fields.Add("A", "b:\r\n c");
  EXPECT_EQ(fields.Find("x-amz-date"), "20260101T000000Z");
  EXPECT_EQ(fields.Find("a"), "");
  EXPECT_EQ(fields.Find("x-amz"), "");
  std::string all;
  fields.ForEach([&](std::string_view name, std::string_view value) {
    all += std::string(name) + "=" + std::string(value) + ";";
  });
  EXPECT_EQ(all, "x-amz-date=20260101T000000Z;a=;a=b:   c;");
}

TEST(MessageTest, WhatIsSaidAgainIsCutBetweenCharacters) {
  EXPECT_EQ(FrontOf("abc", 3), "abc");
  EXPECT_EQ(FrontOf("abcd", 3), "abc");
  EXPECT_EQ(FrontOf("a\xc3\xa4z", 2), "a");
  EXPECT_EQ(FrontOf("a\xc3\xa4z", 3), "a\xc3\xa4");
  EXPECT_EQ(FrontOf("\xf0\x9f\x98\x80z", 3), "");
}

TEST(MessageTest, ErrorsAreJson) {
  EXPECT_EQ(ErrorAnswer(404, "not_found", "no \"x\"").body,
            "{\"error\":{\"status\":404,\"code\":\"not_found\",\"message\":\"no \\\"x\\\"\"}}\n");
}

}  // namespace message_test
}  // namespace liststore::http_face
