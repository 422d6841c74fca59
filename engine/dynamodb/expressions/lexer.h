// Expressions -> tokens.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEXER_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEXER_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace liststore::dynamodb {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,     // a name or a function
  kKeyword,  // AND OR NOT BETWEEN IN SET REMOVE ADD DELETE, in any case: nowhere a name
  kName,     // #name
  kValue,    // :value
  kDigits,
  kSymbol,   // ( ) [ ] , . = <> < <= > >= + -
  kUnknown,  // a character that has no place in an expression
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // of the expression; "<EOF>" of the end
  uint32_t begin = 0;     // where it is
};

// `word` in any case is `upper`, which is ASCII.
bool IsKeyword(std::string_view word, std::string_view upper);

// All of them, and the end. At most one for each byte of `text`, which they are views of. O(bytes).
std::vector<Token> Tokenize(std::string_view text);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_LEXER_H_
