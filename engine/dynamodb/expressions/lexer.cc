#include "engine/dynamodb/expressions/lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace liststore::dynamodb {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsLexerDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordPart(char c) { return IsLetter(c) || IsLexerDigit(c) || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// How many bytes from `from` on are of a kind.
template <typename Kind>
size_t RunOf(std::string_view text, size_t from, Kind kind) {
  size_t end = from;
  while (end < text.size() && kind(text[end])) ++end;
  return end - from;
}

// Of all expressions: a keyword of one is a name in none. Observed with DynamoDB Local 2.5.4.
constexpr std::array<std::string_view, 9> kKeywords = {"AND", "OR",     "NOT", "BETWEEN", "IN",
                                                       "SET", "REMOVE", "ADD", "DELETE"};

TokenKind KindOfWord(std::string_view word) {
  const auto is_word = [&](std::string_view keyword) { return IsKeyword(word, keyword); };
  return std::ranges::any_of(kKeywords, is_word) ? TokenKind::kKeyword : TokenKind::kWord;
}

struct Found {
  TokenKind kind;
  size_t bytes;
};

// The token at the front of what is no blank.
Found TokenAtFront(std::string_view text) {
  const char c = text[0];
  if (IsLetter(c)) {
    const size_t bytes = RunOf(text, 0, IsWordPart);
    return {KindOfWord(text.substr(0, bytes)), bytes};
  }
  if (IsLexerDigit(c)) return {TokenKind::kDigits, RunOf(text, 0, IsLexerDigit)};
  if (c == '#' || c == ':') {
    const size_t bytes = 1 + RunOf(text, 1, IsWordPart);
    if (bytes == 1) return {TokenKind::kUnknown, 1};
    return {c == '#' ? TokenKind::kName : TokenKind::kValue, bytes};
  }
  if (text.starts_with("<>") || text.starts_with("<=") || text.starts_with(">=")) {
    return {TokenKind::kSymbol, 2};
  }
  constexpr std::string_view kSymbols = "()[],.=<>+-";
  if (kSymbols.find(c) != std::string_view::npos) return {TokenKind::kSymbol, 1};
  // The whole of a character of several bytes, so that errors are valid UTF-8.
  const auto continues = [](char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; };
  return {TokenKind::kUnknown, 1 + RunOf(text, 1, continues)};
}

}  // namespace

bool IsKeyword(std::string_view word, std::string_view upper) {
  return std::ranges::equal(
      word, upper, [](char c, char u) { return (c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) == u; });
}

std::vector<Token> Tokenize(std::string_view text) {
  std::vector<Token> tokens;
  size_t at = 0;
  for (;;) {
    at += RunOf(text, at, IsBlank);
    if (at == text.size()) break;
    const Found found = TokenAtFront(text.substr(at));
    tokens.push_back({found.kind, text.substr(at, found.bytes), static_cast<uint32_t>(at)});
    at += found.bytes;
  }
  tokens.push_back({TokenKind::kEnd, "<EOF>", static_cast<uint32_t>(text.size())});
  return tokens;
}

}  // namespace liststore::dynamodb
