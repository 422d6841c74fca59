#include "engine/dynamodb/values/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/utf8.h"
#include "engine/dynamodb/values/number.h"

namespace liststore::dynamodb {
namespace {

bool IsJsonDigit(char c) { return c >= '0' && c <= '9'; }

// Eight bytes of which none has to be escaped within a JSON string, nor ends one: above 0x1f, neither a quote
// nor a backslash. Bits of bytes that are not so, at the first of them at the latest.
constexpr uint64_t kEachByte = 0x0101010101010101u;
constexpr uint64_t kHighBits = 0x8080808080808080u;
uint64_t ZeroBytes(uint64_t word) { return (word - kEachByte) & ~word & kHighBits; }
uint64_t SpecialBytes(uint64_t word) {
  const uint64_t control = (word - kEachByte * 0x20) & ~word & kHighBits;
  return control | ZeroBytes(word ^ (kEachByte * '"')) | ZeroBytes(word ^ (kEachByte * '\\'));
}

// How many bytes from the front are not special.
size_t PlainBytes(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    // False alarms lie behind the first that is true.
    if (const uint64_t special = SpecialBytes(LoadNative<uint64_t>(text.data() + at))) {
      return at + static_cast<size_t>(std::countr_zero(special)) / 8;
    }
  }
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\') break;
  }
  return at;
}
static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");

int HexDigit(char c) {
  if (IsJsonDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A code point as UTF-8; where it ends.
char* PutUtf8(char* to, uint32_t code) {
  const auto put = [&to](uint32_t byte) { *to++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return to;
}

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Of each byte its six bits; -1: not of the alphabet.
constexpr std::array<int8_t, 256> kBase64Bits = [] {
  std::array<int8_t, 256> bits = {};
  bits.fill(-1);
  for (size_t i = 0; i < kBase64Alphabet.size(); ++i) {
    bits[static_cast<uint8_t>(kBase64Alphabet[i])] = static_cast<int8_t>(i);
  }
  return bits;
}();

}  // namespace

// Recursive descent, kJsonNestingMax deep. Strings are unescaped where they stand: what an escape says is
// shorter than it.
class JsonParser {
 public:
  JsonParser(JsonDocument& document, size_t values_max)
      : text_(document.text_), nodes_(document.nodes_), values_max_(values_max) {}

  // False: no JSON.
  bool Parse() {
    if (!Value(0)) return false;
    SkipSpace();
    return at_ == text_.size();
  }

 private:
  using Node = JsonDocument::Node;

  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Add(Json::Kind kind, size_t begin, size_t length) {
    if (nodes_.size() == values_max_) return false;
    nodes_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(length),
                      static_cast<uint32_t>(nodes_.size() + 1) & kNextMax,
                      static_cast<uint32_t>(kind) & 7u});
    return true;
  }
  bool Word(std::string_view word, Json::Kind kind) {
    if (std::string_view(text_).substr(at_, word.size()) != word) return false;
    const size_t begin = std::exchange(at_, at_ + word.size());
    return Add(kind, begin, word.size());
  }

  bool Value(int depth) {
    SkipSpace();
    if (at_ == text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return Container(Json::Kind::kObject, '}', depth);
      case '[':
        return Container(Json::Kind::kArray, ']', depth);
      case '"':
        return String();
      case 't':
        return Word("true", Json::Kind::kTrue);
      case 'f':
        return Word("false", Json::Kind::kFalse);
      case 'n':
        return Word("null", Json::Kind::kNull);
      default:
        return JsonNumber();
    }
  }

  bool Container(Json::Kind kind, char close, int depth) {
    if (depth == kJsonNestingMax) return false;
    const size_t node = nodes_.size();
    if (!Add(kind, at_++, 0)) return false;
    uint32_t count = 0;
    SkipSpace();
    if (!Take(close)) {
      do {
        if (kind == Json::Kind::kObject) {
          SkipSpace();
          if (at_ == text_.size() || text_[at_] != '"' || !String()) return false;
          SkipSpace();
          if (!Take(':')) return false;
        }
        if (!Value(depth + 1)) return false;
        ++count;
        SkipSpace();
      } while (Take(','));
      if (!Take(close)) return false;
    }
    nodes_[node].length = count;
    nodes_[node].next = static_cast<uint32_t>(nodes_.size()) & kNextMax;
    return true;
  }

  bool JsonNumber() {
    const size_t begin = at_;
    (void)Take('-');
    if (!Take('0') && !SomeDigits()) return false;
    if (Take('.') && !SomeDigits()) return false;
    if (Take('e') || Take('E')) {
      if (!Take('+')) (void)Take('-');
      if (!SomeDigits()) return false;
    }
    return Add(Json::Kind::kNumber, begin, at_ - begin);
  }
  bool SomeDigits() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsJsonDigit(text_[at_])) ++at_;
    return at_ > begin;
  }

  bool String() {
    const size_t begin = ++at_;
    at_ += PlainBytes(std::string_view(text_).substr(at_));
    if (Take('"')) return Add(Json::Kind::kString, begin, at_ - 1 - begin);
    char* to = text_.data() + at_;
    for (;;) {
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        if (!Escape(to)) return false;
      } else if (static_cast<uint8_t>(c) < 0x20) {
        return false;
      } else {
        const size_t plain = PlainBytes(std::string_view(text_).substr(at_));
        std::memmove(to, text_.data() + at_, plain);
        to += plain;
        at_ += plain;
      }
    }
    ++at_;
    return Add(Json::Kind::kString, begin, static_cast<size_t>(to - text_.data()) - begin);
  }

  // At the backslash.
  bool Escape(char*& to) {
    if (text_.size() - at_ < 2) return false;
    const char c = text_[at_ + 1];
    at_ += 2;
    if (c == 'u') return UnicodeEscape(to);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t which = kNames.find(c);
    if (which == std::string_view::npos) return false;
    *to++ = kMeanings[which];
    return true;
  }
  // Behind the u. Halves of surrogate pairs that stand alone are no character.
  bool UnicodeEscape(char*& to) {
    uint32_t code = 0;
    if (!FourHex(code)) return false;
    if (code >= 0xdc00 && code < 0xe000) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (!Take('\\') || !Take('u') || !FourHex(low)) return false;
      if (low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    to = PutUtf8(to, code);
    return true;
  }
  bool FourHex(uint32_t& code) {
    if (text_.size() - at_ < 4) return false;
    code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = HexDigit(text_[at_++]);
      if (digit < 0) return false;
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    return true;
  }

  static constexpr uint32_t kNextMax = (uint32_t{1} << 29) - 1;

  std::string& text_;
  std::vector<Node>& nodes_;
  const size_t values_max_;
  size_t at_ = 0;
};

ErrorOr<JsonDocument> JsonDocument::Parse(std::string text, size_t values_max) {
  // 29 bits count nodes.
  constexpr size_t kNodesMax = (size_t{1} << 29) - 1;
  const auto refused = [](std::string message) {
    return Error{ErrorCode::kSerialization, std::move(message)};
  };
  if (text.size() > std::numeric_limits<uint32_t>::max()) return refused("the text is too long");
  if (!IsValidUtf8(text)) return refused("the text is no UTF-8");
  JsonDocument document;
  document.text_ = std::move(text);
  JsonParser parser(document, std::min(values_max, kNodesMax));
  if (!parser.Parse()) return refused("");
  return document;
}

Json::Kind Json::kind() const {
  return document_ == nullptr ? Kind::kMissing : static_cast<Kind>(document_->nodes_[at_].kind);
}

std::string_view Json::text() const {
  if (!is_string() && !is_number()) return {};
  const JsonDocument::Node& node = document_->nodes_[at_];
  return std::string_view(document_->text_).substr(node.begin, node.length);
}

std::optional<int64_t> Json::ToInt64() const {
  if (!is_number()) return std::nullopt;
  const ErrorOr<Number> number = Number::Parse(text());
  return number.ok() ? number->ToInt64() : std::nullopt;
}

size_t Json::size() const { return is_array() || is_object() ? document_->nodes_[at_].length : 0; }

Json Json::Find(std::string_view name) const {
  Json found;
  if (!is_object()) return found;
  for (const JsonMember member : *this) {
    if (member.name == name) found = member.value;
  }
  return found;
}

Json::Iterator Json::begin() const {
  return is_array() || is_object() ? Iterator(document_, at_ + 1, is_object())
                                   : Iterator(document_, 0, false);
}
Json::Iterator Json::end() const {
  return Iterator(document_, is_array() || is_object() ? document_->nodes_[at_].next : 0, false);
}

JsonMember Json::Iterator::operator*() const {
  if (!named_) return {{}, Json(document_, at_)};
  return {Json(document_, at_).text(), Json(document_, at_ + 1)};
}
Json::Iterator& Json::Iterator::operator++() {
  at_ = document_->nodes_[named_ ? at_ + 1 : at_].next;
  return *this;
}

Error NotOfKind(Json json, std::string_view wanted) {
  std::string message;
  const auto not_converted = [&](std::string_view what) {
    message.append(what).append(" cannot be converted to ").append(wanted);
  };
  switch (json.kind()) {
    case Json::Kind::kTrue:
      not_converted("TRUE_VALUE");
      break;
    case Json::Kind::kFalse:
      not_converted("FALSE_VALUE");
      break;
    case Json::Kind::kNumber:
      not_converted(json.text().find_first_of(".eE") == std::string_view::npos ? "NUMBER_VALUE"
                                                                               : "DECIMAL_VALUE");
      break;
    case Json::Kind::kString:
      not_converted("STRING_VALUE");
      break;
    case Json::Kind::kArray:
      message = "Unrecognized collection type class java.lang.";
      message += wanted;
      break;
    case Json::Kind::kObject:
      message = "Start of structure or map found where not expected";
      break;
    case Json::Kind::kMissing:
    case Json::Kind::kNull:
      message = "Unexpected field type";
  }
  if (wanted == "List" || wanted == "Map") message = "Unexpected field type";
  return {ErrorCode::kSerialization, std::move(message)};
}

void AppendJsonString(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  for (;;) {
    const size_t plain = PlainBytes(text);
    out.append(text.substr(0, plain));
    if (plain == text.size()) break;
    const char c = text[plain];
    text.remove_prefix(plain + 1);
    switch (c) {
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\t':
        out.append("\\t");
        break;
      default:
        out.append("\\u00");
        out.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
        out.push_back(kHex[static_cast<uint8_t>(c) & 15]);
    }
  }
  out.push_back('"');
}

void AppendBase64(std::string_view bytes, std::string& out) {
  const size_t from = out.size();
  out.resize(from + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + from;
  const auto byte = [&](size_t at) {
    return static_cast<uint32_t>(static_cast<uint8_t>(bytes[at]));
  };
  size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const uint32_t three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    *to++ = kBase64Alphabet[three >> 18];
    *to++ = kBase64Alphabet[three >> 12 & 63];
    *to++ = kBase64Alphabet[three >> 6 & 63];
    *to++ = kBase64Alphabet[three & 63];
  }
  if (at == bytes.size()) return;
  const bool two = bytes.size() - at == 2;
  const uint32_t rest = byte(at) << 16 | (two ? byte(at + 1) << 8 : 0);
  *to++ = kBase64Alphabet[rest >> 18];
  *to++ = kBase64Alphabet[rest >> 12 & 63];
  *to++ = two ? kBase64Alphabet[rest >> 6 & 63] : '=';
  *to++ = '=';
}

void AppendJsonBase64(std::string_view bytes, std::string& out) {
  out.push_back('"');
  AppendBase64(bytes, out);
  out.push_back('"');
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int8_t six = kBase64Bits[static_cast<uint8_t>(c)];
    if (six < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(six);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  // What is left of the last character says nothing.
  if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace liststore::dynamodb
