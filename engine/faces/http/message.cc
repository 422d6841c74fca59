#include "engine/faces/http/message.h"

#include <algorithm>

#include "engine/base/strings.h"
#include "engine/base/utf8.h"
#include "engine/cql/values/json_value.h"
#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void HttpFields::Add(std::string_view name, std::string_view value) {
  for (const char c : name) text_.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  text_.push_back(':');
  // A value that was folded over lines is one line.
  for (const char c : value) text_.push_back(c == '\n' || c == '\r' ? ' ' : c);
  text_.push_back('\n');
}

std::string_view HttpFields::Find(std::string_view name) const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const size_t colon = rest.find(':');
    if (rest.substr(0, colon) == name) return rest.substr(colon + 1, end - colon - 1);
    rest.remove_prefix(end + 1);
  }
  return {};
}

HttpAnswer ErrorAnswer(int status, std::string_view code, std::string_view message) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = Cat(R"({"error":{"status":)", status, R"(,"code":)", cql::QuoteJson(code),
                    R"(,"message":)", cql::QuoteJson(message), "}}\n");
  return answer;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  if (!IsValidUtf8(decoded)) return std::nullopt;
  return decoded;
}

std::optional<std::vector<std::pair<std::string, std::string>>> QueryParameters(
    std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const size_t sign = part.find('=');
    const auto name = PercentDecoded(part.substr(0, sign));
    const auto value =
        PercentDecoded(sign == std::string_view::npos ? std::string_view() : part.substr(sign + 1));
    if (!name || !value) return std::nullopt;
    parameters.emplace_back(*name, *value);
  }
  return parameters;
}

}  // namespace liststore::http_face
