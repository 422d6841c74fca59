#include "tools/copy/json_fields.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

namespace liststore {
namespace {

namespace json = boost::json;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Walks over a text that is known to be valid JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Skip(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // A string, a number, an array: whatever begins here.
  std::string_view Value() {
    SkipSpace();
    const size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
        continue;
      }
      if (depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']')) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    size_t end = at_;
    while (end > begin && IsSpace(text_[end - 1])) --end;
    return text_.substr(begin, end - begin);
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

std::optional<json::value> Parse(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<JsonField>> FieldsOf(std::string_view text) {
  const std::optional<json::value> parsed = Parse(text);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  std::vector<JsonField> fields;
  Scanner scanner(text);
  scanner.Skip('{');
  while (!scanner.Skip('}')) {
    JsonField& field = fields.emplace_back();
    field.name = scanner.Value();
    scanner.Skip(':');
    field.value = scanner.Value();
    scanner.Skip(',');
  }
  return fields;
}

bool IsJsonValue(std::string_view text) { return Parse(text).has_value(); }

std::string WithQuotedNumbers(std::string_view value) {
  constexpr std::string_view kOfNumber = "+-.0123456789Ee";
  std::string quoted;
  for (size_t at = 0; at < value.size();) {
    size_t end = at + 1;
    if (value[at] == '"') {
      while (end < value.size() && value[end] != '"') end += value[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, value.size());
      quoted += value.substr(at, end - at);
    } else if (value[at] == '-' || (value[at] >= '0' && value[at] <= '9')) {
      end = std::min(value.find_first_not_of(kOfNumber, at), value.size());
      quoted += '"';
      quoted += value.substr(at, end - at);
      quoted += '"';
    } else {
      quoted += value[at];
    }
    at = end;
  }
  return quoted;
}

std::optional<std::string> TextOfJson(std::string_view value) {
  const std::optional<json::value> parsed = Parse(value);
  if (!parsed || !parsed->is_string()) return std::nullopt;
  return std::string(parsed->get_string());
}

std::string JsonOfText(std::string_view text) {
  return json::serialize(json::string(text.data(), text.size()));
}

}  // namespace liststore
