#include "bench/peers/redis_client.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

// Above what any reply of the benchmark has.
constexpr int64_t kBulkBytesMax = 1 << 20;
constexpr int64_t kElementsMax = 1 << 20;
constexpr std::string_view kLineEnd = "\r\n";

// Reads the line at `*at`, without its end, and moves behind it. False: it is not there as a whole.
bool TakeLine(std::string_view bytes, size_t* at, std::string_view* line) {
  const size_t end = bytes.find(kLineEnd, *at);
  if (end == std::string_view::npos) return false;
  *line = bytes.substr(*at, end - *at);
  *at = end + kLineEnd.size();
  return true;
}

bool ToInteger(std::string_view text, int64_t* integer) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *integer);
  return error == std::errc() && end == text.data() + text.size();
}

// A bulk string behind its '$'. `length` is -1 for a null one.
RedisParse TakeBulk(std::string_view bytes, size_t* at, int64_t* length, std::string_view* text) {
  std::string_view line;
  if (!TakeLine(bytes, at, &line)) return RedisParse::kPart;
  if (!ToInteger(line, length) || *length < -1 || *length > kBulkBytesMax) {
    return RedisParse::kMalformed;
  }
  if (*length < 0) return RedisParse::kWhole;
  const auto size = static_cast<size_t>(*length);
  if (bytes.size() - *at < size + kLineEnd.size()) return RedisParse::kPart;
  *text = bytes.substr(*at, size);
  *at += size;
  if (bytes.substr(*at, kLineEnd.size()) != kLineEnd) return RedisParse::kMalformed;
  *at += kLineEnd.size();
  return RedisParse::kWhole;
}

RedisParse TakeArray(std::string_view bytes, size_t* at, RedisReply* reply) {
  std::string_view line;
  int64_t count = 0;
  if (!TakeLine(bytes, at, &line)) return RedisParse::kPart;
  if (!ToInteger(line, &count) || count < 0 || count > kElementsMax) return RedisParse::kMalformed;
  for (; count > 0; --count) {
    if (*at == bytes.size()) return RedisParse::kPart;
    if (bytes[*at] != '$') return RedisParse::kMalformed;
    ++*at;
    int64_t length = 0;
    std::string_view text;
    const RedisParse parse = TakeBulk(bytes, at, &length, &text);
    if (parse != RedisParse::kWhole) return parse;
    if (length < 0) return RedisParse::kMalformed;
    reply->elements.push_back(text);
  }
  return RedisParse::kWhole;
}

}  // namespace

void RedisRequests::Append(std::span<const std::string_view> arguments) {
  const auto number = [this](char kind, size_t value) {
    char text[24];
    const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
    bytes_ += kind;
    bytes_.append(text, end);
    bytes_ += kLineEnd;
  };
  number('*', arguments.size());
  for (const std::string_view argument : arguments) {
    number('$', argument.size());
    bytes_ += argument;
    bytes_ += kLineEnd;
  }
}

RedisParse ParseRedisReply(std::string_view bytes, RedisReply* reply, size_t* used) {
  if (bytes.empty()) return RedisParse::kPart;
  reply->elements.clear();
  reply->text = {};
  size_t at = 1;
  RedisParse parse = RedisParse::kWhole;
  switch (bytes[0]) {
    case '+':
    case '-':
      reply->kind = bytes[0] == '+' ? RedisReply::Kind::kText : RedisReply::Kind::kError;
      if (!TakeLine(bytes, &at, &reply->text)) parse = RedisParse::kPart;
      break;
    case ':': {
      std::string_view line;
      reply->kind = RedisReply::Kind::kInteger;
      if (!TakeLine(bytes, &at, &line)) {
        parse = RedisParse::kPart;
      } else if (!ToInteger(line, &reply->integer)) {
        parse = RedisParse::kMalformed;
      }
      break;
    }
    case '$': {
      int64_t length = 0;
      parse = TakeBulk(bytes, &at, &length, &reply->text);
      reply->kind = length < 0 ? RedisReply::Kind::kNull : RedisReply::Kind::kBulk;
      break;
    }
    case '*':
      reply->kind = RedisReply::Kind::kArray;
      parse = TakeArray(bytes, &at, reply);
      break;
    default:
      parse = RedisParse::kMalformed;
  }
  *used = at;
  return parse;
}

absl::StatusOr<std::unique_ptr<RedisClient>> RedisClient::Connect(uint16_t port) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ClientSocket> socket,
                      ClientSocket::Connect(absl::StrCat("127.0.0.1:", port)));
  return std::unique_ptr<RedisClient>(new RedisClient(std::move(socket)));
}

absl::Status RedisClient::Send() {
  LS_RETURN_IF_ERROR(socket_->Send(requests_.view()));
  requests_.Clear();
  return absl::OkStatus();
}

absl::StatusOr<const RedisReply*> RedisClient::Take() {
  size_t used = 0;
  switch (ParseRedisReply(socket_->received(), &reply_, &used)) {
    case RedisParse::kWhole:
      socket_->Take(used);
      return &reply_;
    case RedisParse::kPart:
      return nullptr;
    case RedisParse::kMalformed:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat(socket_->server(), ": an answer that is no RESP"));
}

absl::StatusOr<const RedisReply*> RedisClient::Ask(std::span<const std::string_view> arguments) {
  requests_.Append(arguments);
  LS_RETURN_IF_ERROR(Send());
  while (true) {
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, Take());
    if (reply == nullptr) {
      LS_RETURN_IF_ERROR(Receive());
      continue;
    }
    if (reply->kind != RedisReply::Kind::kError) return reply;
    return absl::InvalidArgumentError(absl::StrCat(
        socket_->server(), ": ", std::string(arguments[0]), ": ", std::string(reply->text)));
  }
}

}  // namespace liststore
