// The grammar of conditions, for all expressions that are some.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/expression_reader.h"

namespace liststore::dynamodb {

// One pass, kExpressionNestingMax deep:
//
//   or       and { OR and }
//   and      not { AND not }
//   not      { NOT } primary
//   primary  ( or ) | function ( operand, ... ) | operand comparator operand
//            | operand BETWEEN operand AND operand | operand IN ( operand, ... )
//   operand  path | :value | size ( path )
class ConditionParser {
 public:
  explicit ConditionParser(ExpressionReader& reader) : reader_(reader) {}

  // Up to the end of the text. What it answers counts if the reader's Finish says so.
  Condition Parse();

 private:
  Condition ParseOr();
  Condition ParseAnd();
  Condition ParseNot();
  Condition ParsePrimary();
  Condition ParseParenthesised();
  Condition ParseFunction();
  Condition ParseComparison();
  Condition ParseBetween(Operand operand);
  Condition ParseIn(Operand operand);
  Operand ParseOperand();
  // Between the parentheses of a function.
  std::vector<Operand> ParseOperands();
  std::optional<Comparator> TakeComparator();

  // Of conditions joined by AND or OR.
  Condition ParseJoined(Condition::Kind kind, std::string_view keyword,
                        Condition (ConditionParser::*part)());

  void CheckFunction(std::string_view name, Condition& condition);
  void CheckAttributeType(Condition& condition);
  void CheckComparable(std::string_view operation, const Operand& operand);
  void CheckBounds(const Condition& between);
  void CheckDistinct(std::string_view operation, const std::vector<Operand>& operands);

  // Of parentheses: where they open, and what stands behind them.
  struct Pair {
    uint32_t opened = 0;
    uint32_t behind = 0;
    bool operator==(const Pair&) const = default;
  };

  ExpressionReader& reader_;
  Pair last_pair_;  // that was closed
};

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_CONDITION_PARSER_H_
