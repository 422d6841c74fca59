#include "bench/peers/redis_client.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace redis_client_test {

using Kind = RedisReply::Kind;

TEST(RedisRequests, AreArraysOfBulkStrings) {
  RedisRequests requests;
  const std::vector<std::string_view> command = {"ZADD", "key", std::string_view("a\r\nb", 4)};
  requests.Append(command);
  EXPECT_EQ(requests.view(), "*3\r\n$4\r\nZADD\r\n$3\r\nkey\r\n$4\r\na\r\nb\r\n");
  requests.Clear();
  EXPECT_EQ(requests.view(), "");
}

struct ReplyCase {
  const char* what;
  std::string_view bytes;
  Kind kind;
  int64_t integer;
  std::string_view text;
  std::vector<std::string_view> elements;
};

TEST(ParseRedisReply, ReadsWhatIsWholeAndWaitsForWhatIsNot) {
  const ReplyCase cases[] = {
      {"a text", "+OK\r\n", Kind::kText, 0, "OK", {}},
      {"an error", "-ERR no\r\n", Kind::kError, 0, "ERR no", {}},
      {"an integer", ":-12\r\n", Kind::kInteger, -12, "", {}},
      {"a bulk string with line ends in it", "$4\r\na\r\nb\r\n", Kind::kBulk, 0, "a\r\nb", {}},
      {"an empty bulk string", "$0\r\n\r\n", Kind::kBulk, 0, "", {}},
      {"a null", "$-1\r\n", Kind::kNull, 0, "", {}},
      {"an empty array", "*0\r\n", Kind::kArray, 0, "", {}},
      {"members", "*2\r\n$3\r\nnew\r\n$3\r\nold\r\n", Kind::kArray, 0, "", {"new", "old"}},
  };
  for (const ReplyCase& c : cases) {
    SCOPED_TRACE(c.what);
    RedisReply reply;
    size_t used = 0;
    for (size_t cut = 0; cut < c.bytes.size(); ++cut) {
      ASSERT_EQ(ParseRedisReply(c.bytes.substr(0, cut), &reply, &used), RedisParse::kPart) << cut;
    }
    const std::string followed = std::string(c.bytes) + "+NEXT\r\n";
    ASSERT_EQ(ParseRedisReply(followed, &reply, &used), RedisParse::kWhole);
    EXPECT_EQ(used, c.bytes.size());
    EXPECT_EQ(reply.kind, c.kind);
    EXPECT_EQ(reply.text, c.text);
    EXPECT_EQ(reply.elements, c.elements);
    if (c.kind == Kind::kInteger) {
      EXPECT_EQ(reply.integer, c.integer);
    }
  }
}

TEST(ParseRedisReply, RefusesWhatIsNoReply) {
  for (const std::string_view bytes :
       {"hello\r\n", ":\r\n", ":12x\r\n", "$-2\r\n", "$99999999999\r\n", "$1\r\nab\r\n", "*-1\r\n",
        "*1\r\n:1\r\n", "*1\r\n$-1\r\n", "*x\r\n"}) {
    RedisReply reply;
    size_t used = 0;
    EXPECT_EQ(ParseRedisReply(bytes, &reply, &used), RedisParse::kMalformed) << bytes;
  }
}

}  // namespace redis_client_test
}  // namespace liststore::testing
