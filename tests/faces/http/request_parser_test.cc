#include "engine/faces/http/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace liststore::http_face {
namespace request_parser_test {

using Outcome = RequestParser::Outcome;

// A client's bytes, which come `step` at a time; what they are, as text.
struct Parsed {
  std::vector<std::string> requests;  // "GET /a [body]"
  int refusal = 0;
  size_t held_max = 0;
  size_t left_max = 0;  // that the parser did not take
};

Parsed Parse(std::string_view bytes, size_t step, const HttpLimits& limits = {}) {
  Parsed parsed;
  RequestParser parser(limits);
  std::string waiting;
  for (size_t at = 0; at < bytes.size(); at += step) {
    waiting += bytes.substr(at, step);
    while (!waiting.empty()) {
      size_t consumed = 0;
      HttpRequest request;
      const Outcome outcome = parser.Next(waiting, consumed, request);
      EXPECT_LE(consumed, waiting.size());
      waiting.erase(0, consumed);
      parsed.held_max = std::max(parsed.held_max, parser.held_bytes());
      if (outcome == Outcome::kIncomplete) break;
      if (outcome == Outcome::kRefused) {
        parsed.refusal = parser.refusal().status;
        return parsed;
      }
      parsed.requests.push_back(request.method + " " + request.target + " [" + request.body + "]");
    }
    parsed.left_max = std::max(parsed.left_max, waiting.size());
  }
  return parsed;
}

const std::string kSeveral =
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    "POST /b?c=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    "POST /c HTTP/1.1\r\nContent-Length: 5\r\nHost: x\r\n\r\nabcde"
    "DELETE /d HTTP/1.0\r\n\r\n";

TEST(RequestParserTest, BytesAreTheSameRequestsHoweverTheyAreCut) {
  const std::vector<std::string> expected = {"GET /a []", "POST /b?c=1 [hello]", "POST /c [abcde]",
                                             "DELETE /d []"};
  for (size_t step = 1; step <= kSeveral.size(); ++step) {
    EXPECT_EQ(Parse(kSeveral, step).requests, expected) << step;
  }
}

TEST(RequestParserTest, FieldsThatCountAreKept) {
  RequestParser parser({});
  HttpRequest request;
  size_t consumed = 0;
  ASSERT_EQ(parser.Next("GET /a HTTP/1.1\r\nhost: h\r\nAUTHORIZATION: Basic x\r\n"
                        "Content-Type: text/plain\r\nOrigin: http://o\r\nConnection: close\r\n\r\n",
                        consumed, request),
            Outcome::kRequest);
  EXPECT_EQ(request.host, "h");
  EXPECT_EQ(request.authorization, "Basic x");
  EXPECT_EQ(request.content_type, "text/plain");
  EXPECT_EQ(request.origin, "http://o");
  EXPECT_FALSE(request.keeps_alive);
  EXPECT_FALSE(parser.is_begun());
}

TEST(RequestParserTest, WhatIsTooLongIsRefusedBeforeItIsHeld) {
  const HttpLimits limits = {.header_bytes_max = 1000, .body_bytes_max = 2000};
  const std::string long_field = "GET / HTTP/1.1\r\nX: " + std::string(5000, 'x');
  const std::string many_fields = [] {
    std::string text = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 500; ++i) text += "X: y\r\n";
    return text + "\r\n";
  }();
  const std::string long_line = "GET /" + std::string(5000, 'x');
  const std::string long_body =
      "POST / HTTP/1.1\r\nContent-Length: 2001\r\n\r\n" + std::string(2001, 'x');
  const std::string announced = "POST / HTTP/1.1\r\nContent-Length: 2001\r\n\r\n";
  for (const size_t step : {size_t{1}, size_t{7}, size_t{100'000}}) {
    for (const std::string& text : {long_field, many_fields, long_line}) {
      const Parsed parsed = Parse(text, step, limits);
      EXPECT_EQ(parsed.refusal, 431) << text.substr(0, 20) << step;
      if (step == 1) {
        EXPECT_LE(parsed.left_max, 1001u);
      }
    }
    for (const std::string& text : {long_body, announced}) {
      const Parsed parsed = Parse(text, step, limits);
      EXPECT_EQ(parsed.refusal, 413) << text.substr(0, 50) << step;
      EXPECT_LE(parsed.held_max, 12'000u);
    }
  }
  const std::string just_fits =
      "POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x');
  EXPECT_EQ(Parse(just_fits, 13, limits).requests.size(), 1u);
}

// The parser's own limit is of one call, and a call that ends a byte behind a line has taken the line.
TEST(RequestParserTest, LinesThatComeOneByOneAddUp) {
  RequestParser parser({.header_bytes_max = 1000});
  HttpRequest request;
  const std::string line = ": y\r\nX";
  std::string waiting = "GET / HTTP/1.1\r\nX";
  size_t sent = waiting.size();
  const size_t sent_max = 1000 + sent + 2 * line.size();
  Outcome outcome = Outcome::kIncomplete;
  while (outcome == Outcome::kIncomplete && sent < 10'000) {
    waiting += line;
    sent += line.size();
    size_t consumed = 0;
    outcome = parser.Next(waiting, consumed, request);
    waiting.erase(0, consumed);
  }
  EXPECT_EQ(outcome, Outcome::kRefused);
  EXPECT_EQ(parser.refusal().status, 431);
  EXPECT_LE(sent, sent_max);
}

// What two servers could read as two different requests is none.
TEST(RequestParserTest, WhatIsAmbiguousOrNoRequestIsRefused) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const struct {
    std::string bytes;
    int status;
  } kCases[] = {
      {"POST / HTTP/1.1\r\nContent-Length: 5\r\n" + chunked + "\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET /\x01 HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nX y: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: x\n\n", 505},
      {std::string("\x04\x00\x00\x00\x05\x00\x00\x00\x00 GET / HTTP/1.1\r\n\r\n", 28), 400},
      {"POST / HTTP/1.1\r\n" + chunked + "\r\nzz\r\n", 411},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 411},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 411},
      {"POST / HTTP/1.1\r\n" + chunked + chunked + "\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", 411},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : kCases) {
    EXPECT_EQ(Parse(bytes, bytes.size()).refusal, status) << bytes;
  }
}

TEST(RequestParserTest, WhoWaitsToSendABodyIsToldOnce) {
  RequestParser parser({});
  HttpRequest request;
  size_t consumed = 0;
  EXPECT_FALSE(parser.TakeContinue());
  const std::string header = "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  EXPECT_EQ(parser.Next(header, consumed, request), Outcome::kIncomplete);
  EXPECT_EQ(consumed, header.size());
  EXPECT_TRUE(parser.TakeContinue());
  EXPECT_FALSE(parser.TakeContinue());
  EXPECT_EQ(parser.Next("ab", consumed, request), Outcome::kRequest);
  EXPECT_EQ(request.body, "ab");
}

}  // namespace request_parser_test
}  // namespace liststore::http_face
