#include "engine/dynamodb/values/json.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace liststore::dynamodb {
namespace json_test {

// Written again, in one line.
void Print(Json json, std::string& out) {
  switch (json.kind()) {
    case Json::Kind::kMissing:
      out += "missing";
      break;
    case Json::Kind::kNull:
      out += "null";
      break;
    case Json::Kind::kFalse:
      out += "false";
      break;
    case Json::Kind::kTrue:
      out += "true";
      break;
    case Json::Kind::kNumber:
      out += json.text();
      break;
    case Json::Kind::kString:
      AppendJsonString(json.text(), out);
      break;
    case Json::Kind::kArray:
    case Json::Kind::kObject: {
      const bool is_object = json.is_object();
      out += is_object ? "{" : "[";
      size_t count = 0;
      for (const JsonMember member : json) {
        if (count++ > 0) out += ",";
        if (is_object) {
          AppendJsonString(member.name, out);
          out += ":";
        }
        Print(member.value, out);
      }
      EXPECT_EQ(count, json.size());
      out += is_object ? "}" : "]";
    }
  }
}

std::string Again(std::string_view text) {
  const auto document = JsonDocument::Parse(std::string(text));
  if (!document.ok()) return "refused";
  std::string out;
  Print(document->root(), out);
  return out;
}

struct JsonExample {
  std::string_view text, again;
};

// Source: RFC 8259.
TEST(DynamoJsonTest, TextsAreRead) {
  const JsonExample examples[] = {
      {"null", "null"},
      {" [ ] ", "[]"},
      {"{}", "{}"},
      {"\t{\"a\" : 1 ,\n\"b\":[true,false,null,-0.5e+10]}\r\n",
       R"({"a":1,"b":[true,false,null,-0.5e+10]})"},
      {R"([[[]],{"a":{"b":[]}},2])", R"([[[]],{"a":{"b":[]}},2])"},
      {R"("a\"\\\/\b\f\n\r\té")", "\"a\\\"\\\\/\\u0008\\u000c\\n\\r\\t\xc3\xa9\""},
      {R"("\ud83d\ude00\u20ac\u0000")", "\"\xf0\x9f\x98\x80\xe2\x82\xac\\u0000\""},
      {R"({"plain and long enough":"x","\u0061":"then \n plain again, for long"})",
       R"({"plain and long enough":"x","a":"then \n plain again, for long"})"},
      {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
  };
  for (const JsonExample& example : examples) EXPECT_EQ(Again(example.text), example.again);
}

TEST(DynamoJsonTest, WhatIsNoJsonIsRefused) {
  const std::string_view examples[] = {"",
                                       " ",
                                       "{",
                                       "}",
                                       "[1",
                                       "[1,]",
                                       "[,1]",
                                       "{\"a\"}",
                                       "{\"a\":}",
                                       "{\"a\":1,}",
                                       "{a:1}",
                                       "{1:1}",
                                       "nul",
                                       "nulll",
                                       "1 2",
                                       "01",
                                       "-",
                                       "1.",
                                       ".5",
                                       "1e",
                                       "+1",
                                       "\"a",
                                       "\"\\\"",
                                       "\"\\x\"",
                                       "\"\\u12\"",
                                       "\"\\u12g4\"",
                                       "\"\\ud800\"",
                                       "\"\\udc00\"",
                                       "\"\\ud800\\u0041\"",
                                       "\"a\nb\"",
                                       "'a'",
                                       "\"\xff\"",
                                       "\"\xed\xa0\x80\"",
                                       "[1] // no",
                                       "{\"a\":1 \"b\":2}",
                                       "NaN"};
  for (const std::string_view text : examples) EXPECT_EQ(Again(text), "refused") << text;
}

TEST(DynamoJsonTest, NestingAndValuesAreBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NE(Again(nested(kJsonNestingMax)), "refused");
  EXPECT_EQ(Again(nested(kJsonNestingMax + 1)), "refused");
  EXPECT_EQ(Again(std::string(1 << 20, '[')), "refused");
  EXPECT_TRUE(JsonDocument::Parse("[1,2,3]", 4).ok());
  EXPECT_FALSE(JsonDocument::Parse("[1,2,3,4]", 4).ok());
}

TEST(DynamoJsonTest, MembersAreFound) {
  const auto document =
      JsonDocument::Parse(R"({"a":1,"b":{"c":"x"},"a":2e2,"d":null,"e":[1,"y"]})");
  ASSERT_TRUE(document.ok());
  const Json root = document->root();
  EXPECT_EQ(root.Find("a").ToInt64(), 200);  // the last counts
  EXPECT_EQ(root.Find("b").Find("c").text(), "x");
  EXPECT_TRUE(root.Find("d").is_absent());
  EXPECT_TRUE(root.Find("z").is_absent());
  EXPECT_TRUE(root.Find("z").Find("z").is_absent());
  EXPECT_EQ(root.Find("z").size(), 0u);
  EXPECT_EQ(root.Find("e").size(), 2u);
  EXPECT_EQ(root.Find("b").Find("c").ToInt64(), std::nullopt);
  EXPECT_EQ(root.size(), 5u);
}

// Source: RFC 4648, section 10.
TEST(DynamoJsonTest, Base64) {
  const JsonExample examples[] = {{"", ""},
                                  {"f", "Zg=="},
                                  {"fo", "Zm8="},
                                  {"foo", "Zm9v"},
                                  {"foob", "Zm9vYg=="},
                                  {"fooba", "Zm9vYmE="},
                                  {"foobar", "Zm9vYmFy"},
                                  {"\xff\xfe\xfd", "//79"},
                                  {"\xfb\xf0", "+/A="}};
  for (const JsonExample& example : examples) {
    std::string encoded;
    AppendBase64(example.text, encoded);
    EXPECT_EQ(encoded, example.again);
    EXPECT_EQ(DecodeBase64(example.again), example.text);
  }
  for (const std::string_view bad :
       {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zm9v!A==", "Zh==", "Zm9=", "Zg==Zg=="}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

TEST(DynamoJsonTest, EveryByteIsEscapedOrNot) {
  std::string all;
  for (int c = 0; c < 128; ++c) all.push_back(static_cast<char>(c));
  // At every distance from the start of a step.
  for (size_t padding = 0; padding < 9; ++padding) {
    const std::string text = std::string(padding, 'x') + all + std::string(padding, 'y');
    std::string json;
    AppendJsonString(text, json);
    const auto document = JsonDocument::Parse(json);
    ASSERT_TRUE(document.ok()) << json;
    EXPECT_EQ(document->root().text(), text);
  }
}

}  // namespace json_test
}  // namespace liststore::dynamodb
