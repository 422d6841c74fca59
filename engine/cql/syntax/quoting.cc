#include "engine/cql/syntax/quoting.h"

#include "engine/cql/syntax/keywords.h"

namespace liststore::cql {
namespace {

bool IsPlain(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  for (const char c : name) {
    const bool belongs = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!belongs) return false;
  }
  return true;
}

// `text` between two `quote`s, with those inside it doubled.
std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    quoted += c;
    if (c == quote) quoted += c;
  }
  return quoted + quote;
}

}  // namespace

std::string QuoteIdentifier(std::string_view name) {
  if (IsPlain(name) && !IsReservedWord(name)) return std::string(name);
  return AlwaysQuoteIdentifier(name);
}

std::string AlwaysQuoteIdentifier(std::string_view name) { return Quoted(name, '"'); }

std::string QuoteString(std::string_view text) { return Quoted(text, '\''); }

bool IsReservedWord(std::string_view word) {
  const Keyword keyword = FindKeyword(word);
  if (keyword != Keyword::kNone) return ClassOf(keyword) == KeywordClass::kReserved;
  // Constants to the lexer, wherever they stand.
  const auto is = [word](std::string_view lower) {
    if (word.size() != lower.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if ((word[i] | 0x20) != lower[i]) return false;
    }
    return true;
  };
  return is("true") || is("false");
}

}  // namespace liststore::cql
