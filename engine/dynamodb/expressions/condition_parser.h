// The grammar of conditions, for all expressions that are some.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/expression_reader.h"

namespace liststore::dynamodb {

// One pass, kExpressionNestingMax deep:
//
//   or       and { OR and }
//   and      not { AND not }
//   not      { NOT } compared
//   compared term | term comparator operand | term BETWEEN operand AND operand | term IN ( operand, ... )
//   term     ( or ) | function ( operand, ... ) | path | :value
//   operand  ( operand ) | size ( path ) | path | :value
//
// Whether what is in parentheses is a condition or an operand shows behind them, and so does whether a call is.
class ConditionParser {
 public:
  explicit ConditionParser(ExpressionReader& reader) : reader_(reader) {}

  // Up to the end of the text. What it answers counts if the reader's Finish says so.
  Condition Parse();

 private:
  // Of parentheses: where they open, and what stands behind them.
  struct Pair {
    uint32_t opened = 0;
    uint32_t behind = 0;
    bool operator==(const Pair&) const = default;
  };
  // name(operands), not yet looked at.
  struct Call {
    std::string_view name;
    std::vector<Operand> operands;
  };
  using Parsed = std::variant<Condition, Operand, Call>;

  Parsed ParseOr();
  Parsed ParseAnd();
  Parsed ParseNot();
  Parsed ParseCompared();
  Parsed ParseTerm();
  Parsed ParseParenthesised();
  Condition ParseBetween(Operand operand);
  Condition ParseIn(Operand operand);
  Operand ParseOperand();
  Call ParseCall();
  // In parentheses, one at least.
  std::vector<Operand> ParseOperands();
  bool AtComparator() const;
  std::optional<Comparator> TakeComparator();
  // Of conditions joined by AND or OR.
  Parsed ParseJoined(Condition::Kind kind, std::string_view keyword,
                     Parsed (ConditionParser::*part)());

  // Around what was read: the parentheses are closed, and noted where they stood right within others.
  void Close(uint32_t opened, bool doubled, uint32_t inner_begins);

  // A syntax error, or a problem, if it is not that.
  Condition ToCondition(Parsed parsed);
  Operand ToOperand(Parsed parsed);
  Condition CallToCondition(Call call);
  Operand CallToOperand(Call call);
  // Why a call of `name` is not in its place.
  void NoteFunction(std::string_view name);

  void CheckAttributeType(Condition& condition);
  void CheckComparable(std::string_view operation, const Operand& operand);
  void CheckBounds(const Condition& between);
  void CheckDistinct(std::string_view operation, const std::vector<Operand>& operands);

  ExpressionReader& reader_;
  Pair last_pair_;  // that was closed
};

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_
