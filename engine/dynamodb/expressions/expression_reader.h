// What the parsers of all expressions share: tokens, paths, values, limits, and which of several errors is
// answered.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_READER_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_READER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/expressions/expression_kind.h"
#include "engine/dynamodb/expressions/lexer.h"
#include "engine/dynamodb/expressions/path.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// What is wrong with an expression whose syntax is right, in the order in which one of several is answered.
enum class Problem : uint8_t {
  kParentheses,
  kFunction,
  kReservedWord,
  kOperand,  // undefined placeholders too, whichever comes first
  kPaths,
};
inline constexpr size_t kProblems = 5;

// Reads one expression from front to back. A syntax error ends it: everything answers "nothing" from then on,
// and the caller returns. Other problems are noted and reading goes on, so that what is undefined further
// behind counts as used and a syntax error there comes first, as it does at Amazon.
class ExpressionReader {
 public:
  // Views into `text`, which outlives this. `placeholders` likewise.
  ExpressionReader(std::string_view text, ExpressionKind kind, Placeholders& placeholders);

  // Before anything is read: empty, or too long.
  Status CheckText() const;
  // At the end: the syntax error, the first problem, or nothing.
  Status Finish() const;

  ExpressionKind kind() const { return kind_; }
  bool failed() const { return failed_; }

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token Next();
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }
  bool AtSymbol(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  bool AtKeyword(std::string_view upper) const;
  // A name that a parenthesis follows.
  bool AtFunction() const { return Peek().kind == TokenKind::kWord && AtSymbol("(", 1); }
  bool AtPath() const { return Peek().kind == TokenKind::kWord || Peek().kind == TokenKind::kName; }
  bool AtValue() const { return Peek().kind == TokenKind::kValue; }
  bool TakeSymbol(std::string_view symbol);
  bool TakeKeyword(std::string_view upper);
  // A syntax error if it is not there.
  bool ExpectSymbol(std::string_view symbol);

  // a.b[2]; a syntax error if there is none.
  Path TakePath();
  // :value; one that is not defined is noted, and reads as NULL.
  AttributeValue TakeValue();

  // At the token that is next: "Syntax error; token: ..., near: ...".
  void FailSyntax();
  // "Invalid ...Expression: " + `message`, which ends the reading.
  void Fail(std::string message);
  void Note(Problem problem, std::string message);
  // Of operators and functions, which are limited in number.
  void CountOperator() { ++operators_; }
  // Of parentheses and the like. False: too deep, which ends the reading.
  bool Enter();
  void Leave() { --nesting_; }

 private:
  std::string TakeAttributeName();
  Error Invalidated(std::string_view message) const;

  const std::string_view text_;
  const ExpressionKind kind_;
  Placeholders& placeholders_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
  int operators_ = 0;
  int nesting_ = 0;
  size_t constant_bytes_ = 0;
  size_t name_bytes_ = 0;
  bool failed_ = false;
  std::string failure_;
  // Of each the first.
  std::array<std::optional<std::string>, kProblems> problems_;
};

// "Incorrect operand type for operator or function; operator or function: +, operand type: S".
std::string WrongOperandType(std::string_view operation, AttributeType type);
// "Incorrect number of operands for operator or function; operator or function: contains, number of ...".
std::string WrongOperandCount(std::string_view operation, size_t count);
// "Operator or function requires a document path; operator or function: attribute_exists".
std::string NeedsPath(std::string_view operation);
// "Two document paths overlap with each other; ...".
std::string ClashMessage(const PathClash& clash, const std::vector<const Path*>& paths);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_EXPRESSION_READER_H_
