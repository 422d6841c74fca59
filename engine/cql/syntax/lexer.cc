#include "engine/cql/syntax/lexer.h"

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// The character at `index`, or 0 behind the end; a 0 in the text belongs to no token either.
char At(std::string_view text, size_t index) { return index < text.size() ? text[index] : '\0'; }

// Bytes from `begin` on for which `belongs` holds.
template <typename Predicate>
size_t Span(std::string_view text, size_t begin, Predicate belongs) {
  size_t end = begin;
  while (end < text.size() && belongs(text[end])) ++end;
  return end - begin;
}

// Bytes of the character at the start of `text`, which is not empty: messages show whole ones.
size_t CharacterLength(std::string_view text) {
  return 1 + Span(text, 1, [](char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; });
}

// The functions below answer how long the token at the start of `text` is; 0 when it is no such
// token. They are tried in the order in which Next() names them.

size_t UuidLength(std::string_view text) {
  constexpr size_t kBytes = 36;
  if (text.size() < kBytes) return 0;
  for (size_t i = 0; i < kBytes; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHexDigit(text[i])) return 0;
  }
  return kBytes;
}

size_t HexLength(std::string_view text) {
  if (At(text, 0) != '0' || ToLower(At(text, 1)) != 'x') return 0;
  return 2 + Span(text, 2, IsHexDigit);
}

// y mo w d h m s ms us µs ns, in any case; the longest that fits.
size_t UnitLength(std::string_view text) {
  const char first = ToLower(At(text, 0));
  const char second = ToLower(At(text, 1));
  if (first == 'm' && (second == 'o' || second == 's')) return 2;
  if ((first == 'u' || first == 'n') && second == 's') return 2;
  if (text.substr(0, 2) == "\xc2\xb5" && ToLower(At(text, 2)) == 's') return 3;
  constexpr std::string_view kOneLetter = "ywdhms";
  return first != '\0' && kOneLetter.find(first) != std::string_view::npos ? 1 : 0;
}

size_t UnitsLength(std::string_view text) {
  size_t length = At(text, 0) == '-' ? 1 : 0;
  size_t complete = 0;
  while (true) {
    const size_t digits = Span(text, length, IsDigit);
    if (digits == 0) return complete;
    const size_t unit = UnitLength(text.substr(length + digits));
    if (unit == 0) return complete;
    length += digits + unit;
    complete = length;
  }
}

// Takes the components that `letters` names, in that order, each a number and its letter.
size_t ComponentsLength(std::string_view text, size_t begin, std::string_view letters) {
  size_t length = begin;
  for (const char letter : letters) {
    const size_t digits = Span(text, length, IsDigit);
    if (digits != 0 && At(text, length + digits) == letter) length += digits + 1;
  }
  return length - begin;
}

// P0001-02-03T04:05:06.
bool IsAlternativeDuration(std::string_view text) {
  constexpr std::string_view kForm = "P0000-00-00T00:00:00";
  if (text.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  return true;
}

size_t IsoDurationLength(std::string_view text) {
  const size_t sign = At(text, 0) == '-' ? 1 : 0;
  if (At(text, sign) != 'P') return 0;
  if (IsAlternativeDuration(text.substr(sign))) return sign + 20;
  const size_t begin = sign + 1;
  const size_t weeks = ComponentsLength(text, begin, "W");
  if (weeks != 0) return begin + weeks;
  size_t length = ComponentsLength(text, begin, "YMD");
  if (At(text, begin + length) == 'T') {
    const size_t time = ComponentsLength(text, begin + length + 1, "HMS");
    if (time != 0) length += 1 + time;
  }
  // ScyllaDB takes a lone P for a duration too; here it is a name.
  return length == 0 ? 0 : begin + length;
}

size_t WordLength(std::string_view text) {
  if (!IsLetter(At(text, 0))) return 0;
  return 1 + Span(text, 1, [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

struct Number {
  size_t length = 0;
  TokenKind kind = TokenKind::kInteger;
};

// -?digits, with a fraction, an exponent, both or neither.
Number NumberAt(std::string_view text) {
  const size_t sign = At(text, 0) == '-' ? 1 : 0;
  const size_t digits = Span(text, sign, IsDigit);
  if (digits == 0) return {};
  Number number{sign + digits, TokenKind::kInteger};
  if (At(text, number.length) == '.') {
    number.length += 1 + Span(text, number.length + 1, IsDigit);
    number.kind = TokenKind::kFloat;
  }
  if (ToLower(At(text, number.length)) != 'e') return number;
  const char next = At(text, number.length + 1);
  const size_t exponent_sign = next == '+' || next == '-' ? 1 : 0;
  const size_t exponent = Span(text, number.length + 1 + exponent_sign, IsDigit);
  if (exponent == 0) return number;
  return {number.length + 1 + exponent_sign + exponent, TokenKind::kFloat};
}

// '...' and "..." with doubled quotes inside. 0 when the end is missing.
size_t QuotedLength(std::string_view text, char quote) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] != quote) continue;
    if (At(text, i + 1) != quote) return i + 1;
    ++i;
  }
  return 0;
}

size_t DollarStringLength(std::string_view text) {
  const size_t end = text.find("$$", 2);
  return end == std::string_view::npos ? 0 : end + 2;
}

size_t SymbolLength(std::string_view text) {
  const char next = At(text, 1);
  switch (text[0]) {
    case '<':
    case '>':
    case '+':
    case '-':
      return next == '=' ? 2 : 1;
    case '!':
      return next == '=' ? 2 : 0;
    default: {
      constexpr std::string_view kSymbols = "()[]{}=*/%,;:.?";
      return kSymbols.find(text[0]) != std::string_view::npos ? 1 : 0;
    }
  }
}

bool IsBoolean(std::string_view word) {
  const auto is = [word](std::string_view lower) {
    if (word.size() != lower.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if (ToLower(word[i]) != lower[i]) return false;
    }
    return true;
  };
  return is("true") || is("false");
}

// `text` without its quotes, doubled ones inside made one.
std::string Unquote(std::string_view text, char quote) {
  LS_DCHECK(text.size() >= 2, "quotes come in pairs");
  std::string_view inside = text.substr(1, text.size() - 2);
  std::string result;
  result.reserve(inside.size());
  while (true) {
    const size_t position = inside.find(quote);
    if (position == std::string_view::npos) return result.append(inside);
    result.append(inside.substr(0, position + 1));
    inside.remove_prefix(position + 2);
  }
}

}  // namespace

std::string NameOf(const Lexeme& token) {
  if (token.kind == TokenKind::kQuotedName) return Unquote(token.text, '"');
  LS_DCHECK(token.kind == TokenKind::kWord, "names are words or quoted");
  std::string name(token.text);
  for (char& c : name) c = ToLower(c);
  return name;
}

std::string StringOf(const Lexeme& token) {
  LS_DCHECK(token.kind == TokenKind::kString, "only strings have quotes to take off");
  if (token.text[0] == '$') return std::string(token.text.substr(2, token.text.size() - 4));
  return Unquote(token.text, '\'');
}

std::string_view Lexer::Take(size_t bytes) {
  LS_CHECK(bytes <= text_.size() - offset_, "tokens end inside of the text");
  const std::string_view taken = text_.substr(offset_, bytes);
  offset_ += bytes;
  for (size_t begin = 0;;) {
    const size_t newline = taken.find('\n', begin);
    if (newline == std::string_view::npos) {
      position_.column += static_cast<uint32_t>(bytes - begin);
      return taken;
    }
    begin = newline + 1;
    ++position_.line;
    position_.column = 0;
  }
}

bool Lexer::SkipSpace() {
  while (true) {
    const std::string_view ahead = rest();
    if (ahead.starts_with(' ')) {
      TakeWithinLine(1);
    } else if (const size_t spaces = Span(ahead, 0, IsSpace); spaces != 0) {
      Take(spaces);
    } else if (ahead.starts_with("--") || ahead.starts_with("//")) {
      // ScyllaDB wants a newline behind it; the end of the text does as well here.
      Take(Span(ahead, 0, [](char c) { return c != '\n' && c != '\r'; }));
    } else if (ahead.starts_with("/*")) {
      const size_t end = ahead.find("*/", 2);
      if (end == std::string_view::npos) return false;
      Take(end + 2);
    } else {
      return true;
    }
  }
}

char Lexer::NextCharacter() const {
  Lexer ahead = *this;
  ahead.SkipSpace();
  return At(ahead.rest(), 0);
}

Lexeme Lexer::Next() {
  const bool comments_end = SkipSpace();
  Lexeme token;
  token.position = position_;
  const std::string_view ahead = rest();
  if (ahead.empty()) return token;
  const auto make = [&](TokenKind kind, size_t length) {
    token.kind = kind;
    // No other token goes on over the end of a line.
    const bool has_lines =
        kind == TokenKind::kString || kind == TokenKind::kQuotedName || kind == TokenKind::kInvalid;
    token.text = has_lines ? Take(length) : TakeWithinLine(length);
    return token;
  };
  if (!comments_end) return make(TokenKind::kInvalid, ahead.size());

  const char first = ahead[0];
  if (IsHexDigit(first)) {
    if (const size_t length = UuidLength(ahead)) return make(TokenKind::kUuid, length);
  }
  if (IsLetter(first)) {
    const size_t length = WordLength(ahead);
    if (first == 'P') {
      const size_t duration = IsoDurationLength(ahead);
      if (duration >= length) return make(TokenKind::kDuration, duration);
    }
    make(TokenKind::kWord, length);
    if (IsBoolean(token.text)) {
      token.kind = TokenKind::kBoolean;
    } else {
      token.keyword = FindKeyword(token.text);
    }
    return token;
  }
  if (IsDigit(first) || (first == '-' && (IsDigit(At(ahead, 1)) || At(ahead, 1) == 'P'))) {
    if (const size_t length = HexLength(ahead)) return make(TokenKind::kHex, length);
    if (const size_t length = UnitsLength(ahead)) return make(TokenKind::kDuration, length);
    if (const size_t length = IsoDurationLength(ahead)) return make(TokenKind::kDuration, length);
    if (const Number number = NumberAt(ahead); number.length != 0) {
      return make(number.kind, number.length);
    }
  }
  size_t length = 0;
  if (first == '\'') {
    length = QuotedLength(ahead, '\'');
    return make(length != 0 ? TokenKind::kString : TokenKind::kInvalid,
                length != 0 ? length : ahead.size());
  }
  if (ahead.starts_with("$$")) {
    length = DollarStringLength(ahead);
    return make(length != 0 ? TokenKind::kString : TokenKind::kInvalid,
                length != 0 ? length : ahead.size());
  }
  if (first == '"') {
    length = QuotedLength(ahead, '"');
    // `""` names nothing and is no token.
    return make(length > 2 ? TokenKind::kQuotedName : TokenKind::kInvalid,
                length != 0 ? length : ahead.size());
  }
  length = SymbolLength(ahead);
  if (length != 0) return make(TokenKind::kSymbol, length);
  return make(TokenKind::kInvalid, CharacterLength(ahead));
}

}  // namespace liststore::cql
