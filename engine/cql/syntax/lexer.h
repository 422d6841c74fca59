// Characters -> tokens. Source: the lexer rules of ScyllaDB cql3/Cql.g.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_LEXER_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/keywords.h"

namespace liststore::cql {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,        // a letter, then letters, digits, underscores; `keyword` where it is one
  kQuotedName,  // "..."
  kString,      // '...' or $$...$$
  kInteger,     // -?[0-9]+
  kFloat,
  kUuid,
  kHex,       // 0x...
  kBoolean,   // true, false
  kDuration,  // 1h30m, P1DT2H, P2W, P0001-02-03T04:05:06
  kSymbol,    // one of ( ) [ ] { } < > = + - * / % , ; : . ? <= >= != += -=
  kInvalid,   // a character that begins none of them, or a string or comment without its end
};

// A part of the text; valid as long as that is.
struct Lexeme {
  TokenKind kind = TokenKind::kEnd;
  Keyword keyword = Keyword::kNone;  // of kWord
  std::string_view text;             // as written, quotes included; empty at the end
  SourcePosition position;

  // Symbols have one or two characters, which is compared faster than strings are.
  bool IsSymbol(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text.size() == symbol.size() && text[0] == symbol[0] &&
           (symbol.size() == 1 || text[1] == symbol[1]);
  }
};

// What a word, a quoted name or a string stands for: folded to lower case, or without its quotes.
std::string NameOf(const Lexeme& token);
std::string StringOf(const Lexeme& token);

// Takes a text apart, a token at a time. Copies are cheap and go on from where they were made: that
// is how a parser looks ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Skips white space and comments. At the end, kEnd again and again.
  Lexeme Next();
  // The first character of the next token, 0 at the end: a look ahead that costs next to nothing.
  char NextCharacter() const;

 private:
  std::string_view rest() const { return text_.substr(offset_); }
  // False when a comment has no end: then the offset stays at its begin.
  bool SkipSpace();
  // Moves on over `bytes` bytes and keeps count of lines.
  std::string_view Take(size_t bytes);
  // The same where there is no newline.
  std::string_view TakeWithinLine(size_t bytes) {
    const std::string_view taken = text_.substr(offset_, bytes);
    offset_ += taken.size();
    position_.column += static_cast<uint32_t>(taken.size());
    return taken;
  }

  std::string_view text_;
  size_t offset_ = 0;
  SourcePosition position_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_LEXER_H_
