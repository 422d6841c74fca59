#include "bench/peers/redis_lists.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/wire/wire_line.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr std::string_view kFeatureKey = "user#reading_history|v2";
constexpr uint64_t kNanosPerMicro = 1'000;

absl::Status WrongRedisAnswer(uint32_t list, const std::string& what) {
  return absl::DataLossError(absl::StrCat("list ", EntityIdOfList(list), ": ", what));
}

absl::Status ExpectAdded(const RedisReply& reply, int64_t expected) {
  if (reply.kind == RedisReply::Kind::kInteger && reply.integer == expected) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("a ZADD of ", expected, " members was answered with ",
                                          reply.integer, std::string(reply.text)));
}

uint64_t ScoreOf(const GrowingLists& lists, uint32_t list, uint32_t number) {
  return lists.TimestampOf(list, number) / kNanosPerMicro;
}

}  // namespace

std::string RedisKeyOfList(uint32_t list) {
  std::string key(kFeatureKey);
  key.resize(kFeatureKey.size() + kBenchEntityIdBytes);
  WriteEntityId(list, key.data() + kFeatureKey.size());
  return key;
}

absl::Status CheckRedisMembers(const GrowingLists& lists, uint32_t list, const RedisReply& reply,
                               size_t limit) {
  if (reply.kind != RedisReply::Kind::kArray) return WrongRedisAnswer(list, "no members came");
  const uint32_t all = lists.ItemsOf(list);
  const size_t expected = std::min<size_t>(all, limit);
  if (reply.elements.size() != expected) {
    return WrongRedisAnswer(
        list, absl::StrCat(reply.elements.size(), " members came, expected ", expected));
  }
  // Two neighbours may have one score, and so may the last one and the next.
  std::vector<std::pair<uint64_t, std::string>> newest;
  for (uint32_t number = all; number > 0 && newest.size() <= expected; --number) {
    newest.push_back({ScoreOf(lists, list, number - 1), lists.ValueOf(list, number - 1)});
  }
  std::sort(newest.begin(), newest.end(), std::greater<>());
  for (size_t i = 0; i < expected; ++i) {
    if (reply.elements[i] != newest[i].second) {
      return WrongRedisAnswer(list, absl::StrCat("member ", i, " is another than expected"));
    }
  }
  return absl::OkStatus();
}

bool RedisLoadSource::Next(size_t /*slot*/, RedisRequests& requests) {
  if (next_ == lists_.count()) return false;
  const auto list = static_cast<uint32_t>(next_++);
  std::vector<std::string> texts;
  for (uint32_t number = 0; number < lists_.loaded(); ++number) {
    texts.push_back(absl::StrCat(ScoreOf(lists_, list, number)));
    texts.push_back(lists_.ValueOf(list, number));
  }
  const std::string key = RedisKeyOfList(list);
  std::vector<std::string_view> arguments = {"ZADD", key};
  arguments.insert(arguments.end(), texts.begin(), texts.end());
  requests.Append(arguments);
  return true;
}

absl::Status RedisLoadSource::OnReply(size_t /*slot*/, const RedisReply& reply) {
  return ExpectAdded(reply, lists_.loaded());
}

bool RedisSelectSource::Next(size_t slot, RedisRequests& requests) {
  static_assert(kWireRowsRead == 10, "the last of ten has the index 9");
  const uint32_t list = picker_.Next();
  lists_asked_[slot] = list;
  char key[kFeatureKey.size() + kBenchEntityIdBytes];
  std::copy(kFeatureKey.begin(), kFeatureKey.end(), key);
  WriteEntityId(list, key + kFeatureKey.size());
  const std::array<std::string_view, 4> arguments = {"ZREVRANGE", {key, sizeof(key)}, "0", "9"};
  requests.Append(arguments);
  return true;
}

absl::Status RedisSelectSource::OnReply(size_t slot, const RedisReply& reply) {
  const uint32_t list = lists_asked_[slot];
  if (replies_++ % kWireOfWhichVerified == 0) {
    ++verified_;
    return CheckRedisMembers(lists_, list, reply, kWireRowsRead);
  }
  if (reply.kind != RedisReply::Kind::kArray || reply.elements.size() != kWireRowsRead) {
    return WrongRedisAnswer(list, absl::StrCat(reply.elements.size(), " members came, expected ",
                                               kWireRowsRead, " ", std::string(reply.text)));
  }
  for (const std::string_view member : reply.elements) {
    if (member.size() == lists_.value_bytes()) continue;
    return WrongRedisAnswer(list, absl::StrCat("a member of ", member.size(), " bytes, expected ",
                                               lists_.value_bytes()));
  }
  return absl::OkStatus();
}

bool RedisInsertSource::Next(size_t /*slot*/, RedisRequests& requests) {
  const uint32_t list = picker_.Next();
  const uint32_t number = lists_.AddTo(list);
  const std::string key = RedisKeyOfList(list);
  const std::string score = absl::StrCat(ScoreOf(lists_, list, number));
  const std::string value = lists_.ValueOf(list, number);
  const std::array<std::string_view, 4> arguments = {"ZADD", key, score, value};
  requests.Append(arguments);
  return true;
}

absl::Status RedisInsertSource::OnReply(size_t /*slot*/, const RedisReply& reply) {
  return ExpectAdded(reply, 1);
}

}  // namespace liststore
