// Signatures and access keys.
#include "engine/faces/dynamodb/signature.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace liststore::dynamodb_face {
namespace signature_test {

constexpr char kSecret[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
// What botocore 1.43 signs that request with.
constexpr char kSignature[] = "43fa0536b280b87ba343a3af7bc5466e6a52320f48611d382243ff246be61d72";

http_face::HttpRequest Request(const std::string& credential, const std::string& signature) {
  http_face::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = R"({"TableName":"lists"})";
  request.fields.Add("Host", "localhost:8000");
  request.fields.Add("X-Amz-Target", "DynamoDB_20120810.DescribeTable");
  request.fields.Add("X-Amz-Date", "20260101T000000Z");
  request.authorization = "AWS4-HMAC-SHA256 Credential=" + credential +
                          ", SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + signature;
  return request;
}
constexpr char kScope[] = "/20260101/eu-west-1/dynamodb/aws4_request";

// The key's id, or the error's name.
std::string Check(const http_face::HttpRequest& request) {
  const auto key = CheckSignature(request, {{"AKID", kSecret}});
  return key.ok() ? *key : std::string(dynamodb::NameOf(key.error().code));
}

TEST(SignatureTest, IsWhatBotocoreMakes) {
  EXPECT_EQ(Check(Request(std::string("AKID") + kScope, kSignature)), "AKID");
}

TEST(SignatureTest, AnyChangeIsNoticed) {
  http_face::HttpRequest body = Request(std::string("AKID") + kScope, kSignature);
  body.body += " ";
  EXPECT_EQ(Check(body), "InvalidSignatureException");
  http_face::HttpRequest target = Request(std::string("AKID") + kScope, kSignature);
  target.fields = {};
  target.fields.Add("host", "localhost:8000");
  EXPECT_EQ(Check(target), "InvalidSignatureException");
  EXPECT_EQ(Check(Request("AKID/20260102/eu-west-1/dynamodb/aws4_request", kSignature)),
            "InvalidSignatureException");
}

TEST(SignatureTest, WhatIsNoneIsRefusedByName) {
  EXPECT_EQ(Check(Request(std::string("OTHER") + kScope, kSignature)),
            "UnrecognizedClientException");
  EXPECT_EQ(Check(Request("AKID", kSignature)), "IncompleteSignatureException");
  http_face::HttpRequest unsigned_request = Request("", "");
  unsigned_request.authorization.clear();
  EXPECT_EQ(Check(unsigned_request), "MissingAuthenticationTokenException");
  http_face::HttpRequest few = Request(std::string("AKID") + kScope, kSignature);
  few.authorization = "AWS4-HMAC-SHA256 Credential=AKID" + std::string(kScope) +
                      ", SignedHeaders=host, Signature=" + kSignature;
  EXPECT_EQ(Check(few), "IncompleteSignatureException");
}

TEST(SignatureTest, NamesManyFieldsOrOneTwiceInVain) {
  const auto check = [](int more, const std::string& last) {
    std::string names = "host;x-amz-date;x-amz-target";
    for (int i = 0; i < more; ++i) names += ";n" + std::to_string(i);
    names += last;
    http_face::HttpRequest request = Request(std::string("AKID") + kScope, "");
    const std::string signature = SignatureOf(request, kSecret, kScope + 1, names);
    request.authorization = "AWS4-HMAC-SHA256 Credential=AKID" + std::string(kScope) +
                            ", SignedHeaders=" + names + ", Signature=" + signature;
    return Check(request);
  };
  EXPECT_EQ(check(61, ""), "AKID");
  EXPECT_EQ(check(62, ""), "IncompleteSignatureException");
  EXPECT_EQ(check(10'000, ""), "IncompleteSignatureException");
  EXPECT_EQ(check(1, ";host"), "IncompleteSignatureException");
}

TEST(CredentialsTest, AreALineForEachKey) {
  std::string error;
  const auto two = ParseCredentials("# who may ask\nA  one\r\n\n B\ttwo \n", &error);
  ASSERT_TRUE(two) << error;
  EXPECT_EQ(*two, (Credentials{{"A", "one"}, {"B", "two"}}));
  const struct {
    const char* text;
    const char* error;
  } kWrong[] = {
      {"", "it names no access key"},
      {"# nobody\n", "it names no access key"},
      {"A\n", "line 1 is not an access key's id, a blank, and its secret"},
      {"A one\nB two three\n", "line 2 is not an access key's id, a blank, and its secret"},
      {"A one\nA two\n", "line 2 names an access key for the second time"}};
  for (const auto& wrong : kWrong) {
    EXPECT_FALSE(ParseCredentials(wrong.text, &error)) << wrong.text;
    EXPECT_EQ(error, wrong.error) << wrong.text;
  }
}

}  // namespace signature_test
}  // namespace liststore::dynamodb_face
