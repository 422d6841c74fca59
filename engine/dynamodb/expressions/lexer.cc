#include "engine/dynamodb/expressions/lexer.h"

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

struct Found {
  TokenKind kind;
  size_t bytes;
};

// The token at the front of what is no blank.
Found TokenAtFront(std::string_view text) {
  const char c = text[0];
  if (IsLetter(c)) return {TokenKind::kWord, RunOf(text, 0, IsWordPart)};
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
