// ParseJson: declared in json_value.h. Source of errors and of the bytes that they name: RapidJSON
// reader.h, error/en.h.
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/base/check.h"
#include "engine/cql/values/json_value.h"

namespace liststore::cql {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(uint32_t code, std::string& text) {
  const auto byte = [&](uint32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// Each method reads what its name says, beginning at at_; false: error_ says why not.
class JsonParser {
 public:
  JsonParser(std::string_view text, size_t values_max) : text_(text), values_max_(values_max) {}

  CqlOr<JsonValue> Parse() {
    JsonValue value;
    SkipSpace();
    if (AtEnd()) {
      Fail("The document is empty.", at_);
    } else if (ParseValue(value)) {
      SkipSpace();
      if (!AtEnd()) Fail("The document root must not be followed by other values.", at_);
    }
    if (error_) return *std::move(error_);
    return value;
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  // 0 behind the end: what no JSON begins or goes on with.
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Accept(char c) {
    if (Peek() != c || AtEnd()) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\n' || Peek() == '\r' || Peek() == '\t') ++at_;
  }
  bool Fail(std::string_view why, size_t at) {
    error_ =
        CqlError::Server("Parsing JSON failed: " + std::string(why) + " at " + std::to_string(at));
    return false;
  }

  bool ParseValue(JsonValue& value) {
    if (++values_ > values_max_) {
      error_ =
          CqlError::Invalid("The JSON has more than " + std::to_string(values_max_) + " values");
      return false;
    }
    switch (Peek()) {
      case 'n':
        return ParseWord("null");
      case 't':
        value.node = true;
        return ParseWord("true");
      case 'f':
        value.node = false;
        return ParseWord("false");
      case '"':
        return ParseString(value.node.emplace<std::string>());
      case '[':
        return Enter() && ParseArray(value.node.emplace<JsonArray>()) && Leave();
      case '{':
        return Enter() && ParseObject(value.node.emplace<JsonObject>()) && Leave();
      default:
        return ParseNumber(value);
    }
  }

  bool Enter() {
    if (++nesting_ <= kJsonNestingMax) return true;
    error_ = CqlError::Server("Max nested level reached: " + std::to_string(kJsonNestingMax));
    return false;
  }
  bool Leave() {
    --nesting_;
    return true;
  }

  bool ParseWord(std::string_view word) {
    for (const char c : word) {
      if (!Accept(c)) return Fail("Invalid value.", at_);
    }
    return true;
  }

  bool ParseArray(JsonArray& elements) {
    ++at_;
    SkipSpace();
    if (Accept(']')) return true;
    while (true) {
      if (!ParseValue(elements.emplace_back())) return false;
      SkipSpace();
      if (Accept(']')) return true;
      if (!Accept(',')) return Fail("Missing a comma or ] after an array element.", at_);
      SkipSpace();
    }
  }

  bool ParseObject(JsonObject& members) {
    ++at_;
    SkipSpace();
    if (Accept('}')) return true;
    while (true) {
      auto& [name, value] = members.emplace_back();
      if (Peek() != '"') return Fail("Missing a name for object member.", at_);
      if (!ParseString(name)) return false;
      SkipSpace();
      if (!Accept(':')) return Fail("Missing a colon after a name of object member.", at_);
      SkipSpace();
      if (!ParseValue(value)) return false;
      SkipSpace();
      if (Accept('}')) return true;
      if (!Accept(',')) return Fail("Missing a comma or } after an object member.", at_);
      SkipSpace();
    }
  }

  // ---- Strings

  bool ParseString(std::string& string) {
    ++at_;
    while (true) {
      const size_t begin = at_;
      while (!AtEnd() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<uint8_t>(text_[at_]) >= 0x20) {
        ++at_;
      }
      string += text_.substr(begin, at_ - begin);
      if (Accept('"')) return true;
      if (Peek() == '\0') return Fail("Missing a closing quotation mark in string.", at_);
      if (Peek() != '\\') return Fail("Invalid encoding in string.", at_);
      if (!ParseEscape(string)) return false;
    }
  }

  bool ParseEscape(std::string& string) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t begin = at_++;
    if (Accept('u')) return ParseCodePoint(begin, string);
    const size_t letter = AtEnd() ? std::string_view::npos : kLetters.find(Peek());
    if (letter == std::string_view::npos) {
      return Fail("Invalid escape character in string.", begin);
    }
    string += kMeanings[letter];
    ++at_;
    return true;
  }

  // What follows \u, of which `begin` is the backslash: one code unit of UTF-16, or a pair.
  bool ParseCodePoint(size_t begin, std::string& string) {
    constexpr std::string_view kSurrogate = "The surrogate pair in string is invalid.";
    std::optional<uint32_t> code = TakeHex4();
    if (!code) return FailHex(begin);
    if (*code >= 0xd800 && *code <= 0xdfff) {
      if (*code >= 0xdc00 || !Accept('\\') || !Accept('u')) return Fail(kSurrogate, begin);
      const std::optional<uint32_t> low = TakeHex4();
      if (!low) return FailHex(begin);
      if (*low < 0xdc00 || *low > 0xdfff) return Fail(kSurrogate, begin);
      code = 0x10000 + ((*code - 0xd800) << 10 | (*low - 0xdc00));
    }
    AppendUtf8(*code, string);
    return true;
  }
  std::optional<uint32_t> TakeHex4() {
    if (text_.size() - at_ < 4) return std::nullopt;
    uint32_t code = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, begin + 4, code, 16);
    if (failure != std::errc() || end != begin + 4) return std::nullopt;
    at_ += 4;
    return code;
  }
  bool FailHex(size_t begin) {
    return Fail("Incorrect hex digit after \\u escape in string.", begin);
  }

  // ---- Numbers

  bool TakeDigits() {
    const size_t begin = at_;
    while (IsDigit(Peek())) ++at_;
    return at_ != begin;
  }

  bool ParseNumber(JsonValue& value) {
    const size_t begin = at_;
    Accept('-');
    // A number begins with 0 or with another digit; what follows a 0 is not of the number.
    if (!Accept('0') && !TakeDigits()) return Fail("Invalid value.", at_);
    bool is_integer = true;
    if (Accept('.')) {
      is_integer = false;
      if (!TakeDigits()) return Fail("Miss fraction part in number.", at_);
    }
    if (Accept('e') || Accept('E')) {
      is_integer = false;
      if (!Accept('+')) Accept('-');
      if (!TakeDigits()) return Fail("Miss exponent in number.", at_);
    }
    const std::string_view number = text_.substr(begin, at_ - begin);
    if (is_integer && (TakeInteger<int64_t>(number, value) || TakeInteger<uint64_t>(number, value)))
      return true;
    return TakeDouble(number, begin, value);
  }

  template <typename Int>
  static bool TakeInteger(std::string_view number, JsonValue& value) {
    Int integer = 0;
    const auto [end, failure] =
        std::from_chars(number.data(), number.data() + number.size(), integer);
    if (failure != std::errc() || end != number.data() + number.size()) return false;
    value.node = integer;
    return true;
  }

  bool TakeDouble(std::string_view number, size_t begin, JsonValue& value) {
    double result = 0;
    const auto [end, failure] =
        std::from_chars(number.data(), number.data() + number.size(), result);
    if (failure == std::errc::result_out_of_range) {
      // from_chars does not tell what is too small from what is too large.
      result = std::strtod(std::string(number).c_str(), nullptr);
      if (std::isinf(result)) return Fail("Number too big to be stored in double.", begin);
    } else {
      LS_CHECK(failure == std::errc() && end == number.data() + number.size(),
               "what has the form of a number is one");
    }
    value.node = result;
    return true;
  }

  const std::string_view text_;
  const size_t values_max_;
  size_t at_ = 0;
  int nesting_ = 0;
  size_t values_ = 0;
  std::optional<CqlError> error_;
};

}  // namespace

CqlOr<JsonValue> ParseJson(std::string_view text, size_t values_max) {
  return JsonParser(text, values_max).Parse();
}

}  // namespace liststore::cql
