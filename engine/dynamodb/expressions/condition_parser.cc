#include "engine/dynamodb/expressions/condition_parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb {
namespace {

constexpr std::array<std::string_view, 6> kComparators = {"=", "<>", "<", "<=", ">", ">="};

struct ConditionFunction {
  std::string_view name;
  Condition::Kind kind;
  size_t operands;
  bool takes_a_path;  // first
};
constexpr std::array<ConditionFunction, 5> kConditionFunctions = {{
    {"attribute_exists", Condition::Kind::kAttributeExists, 1, true},
    {"attribute_not_exists", Condition::Kind::kAttributeNotExists, 1, true},
    {"attribute_type", Condition::Kind::kAttributeType, 2, true},
    {"begins_with", Condition::Kind::kBeginsWith, 2, false},
    {"contains", Condition::Kind::kContains, 2, false},
}};

// "AttributeValue: {S:a}"
std::string SaidValue(const AttributeValue& value) {
  std::string text = "AttributeValue: {";
  text.append(NameOf(value.type())).append(":");
  if (const std::string* string = value.string()) {
    text.append(string->substr(0, 255));
  } else if (const Number* number = value.number()) {
    number->AppendText(text);
  } else {
    const std::string json = ToJson(value);
    text.append(json.substr(0, json.size() > 255 ? 0 : json.size()));
  }
  return text.append("}");
}

const AttributeValue* ConstantOf(const Operand& operand) {
  return std::get_if<AttributeValue>(&operand);
}

}  // namespace

Condition ConditionParser::Parse() {
  Condition condition = ParseOr();
  if (!reader_.failed() && !reader_.AtEnd()) reader_.FailSyntax();
  return condition;
}

Condition ConditionParser::ParseJoined(Condition::Kind kind, std::string_view keyword,
                                       Condition (ConditionParser::*part)()) {
  Condition first = (this->*part)();
  if (reader_.failed() || !reader_.AtKeyword(keyword)) return first;
  Condition joined;
  joined.kind = kind;
  joined.children.push_back(std::move(first));
  while (reader_.TakeKeyword(keyword)) {
    reader_.CountOperator();
    joined.children.push_back((this->*part)());
  }
  return joined;
}

Condition ConditionParser::ParseOr() {
  return ParseJoined(Condition::Kind::kOr, "OR", &ConditionParser::ParseAnd);
}

Condition ConditionParser::ParseAnd() {
  return ParseJoined(Condition::Kind::kAnd, "AND", &ConditionParser::ParseNot);
}

Condition ConditionParser::ParseNot() {
  if (!reader_.TakeKeyword("NOT")) return ParsePrimary();
  reader_.CountOperator();
  Condition negated;
  negated.kind = Condition::Kind::kNot;
  if (!reader_.Enter()) return negated;
  negated.children.push_back(ParseNot());
  reader_.Leave();
  return negated;
}

Condition ConditionParser::ParsePrimary() {
  if (reader_.failed()) return {};
  if (reader_.AtSymbol("(")) return ParseParenthesised();
  // size() is an operand.
  if (reader_.AtFunction() && reader_.Peek().text != "size") return ParseFunction();
  return ParseComparison();
}

Condition ConditionParser::ParseParenthesised() {
  Condition inner;
  if (!reader_.Enter()) return inner;
  const uint32_t opened = reader_.Next().begin;
  // ((a = :b)): a pair that begins right within another and ends right within it.
  const bool doubled = reader_.AtSymbol("(");
  const uint32_t inner_begins = reader_.Peek().begin;
  inner = ParseOr();
  if (doubled && last_pair_ == Pair{inner_begins, reader_.Peek().begin} && reader_.AtSymbol(")")) {
    reader_.Note(Problem::kParentheses, "The expression has redundant parentheses;");
  }
  reader_.ExpectSymbol(")");
  last_pair_ = {opened, reader_.Peek().begin};
  reader_.Leave();
  return inner;
}

Condition ConditionParser::ParseFunction() {
  Condition condition;
  const Token name = reader_.Next();
  reader_.CountOperator();
  condition.operands = ParseOperands();
  CheckFunction(name.text, condition);
  return condition;
}

std::vector<Operand> ConditionParser::ParseOperands() {
  std::vector<Operand> operands;
  if (!reader_.ExpectSymbol("(")) return operands;
  do {
    operands.push_back(ParseOperand());
  } while (reader_.TakeSymbol(","));
  reader_.ExpectSymbol(")");
  return operands;
}

Condition ConditionParser::ParseComparison() {
  Operand left = ParseOperand();
  if (reader_.failed()) return {};
  if (reader_.TakeKeyword("BETWEEN")) return ParseBetween(std::move(left));
  if (reader_.TakeKeyword("IN")) return ParseIn(std::move(left));
  const std::string_view operation = reader_.Peek().text;
  const std::optional<Comparator> comparator = TakeComparator();
  if (!comparator.has_value()) {
    reader_.FailSyntax();
    return {};
  }
  reader_.CountOperator();
  Condition condition;
  condition.kind = Condition::Kind::kCompare;
  condition.comparator = *comparator;
  condition.operands.push_back(std::move(left));
  condition.operands.push_back(ParseOperand());
  if (*comparator > Comparator::kNotEqual) {
    for (const Operand& operand : condition.operands) CheckComparable(operation, operand);
  }
  CheckDistinct(operation, condition.operands);
  return condition;
}

std::optional<Comparator> ConditionParser::TakeComparator() {
  if (reader_.Peek().kind != TokenKind::kSymbol) return std::nullopt;
  const auto found = std::ranges::find(kComparators, reader_.Peek().text);
  if (found == kComparators.end()) return std::nullopt;
  reader_.Next();
  return static_cast<Comparator>(found - kComparators.begin());
}

Condition ConditionParser::ParseBetween(Operand operand) {
  reader_.CountOperator();
  Condition condition;
  condition.kind = Condition::Kind::kBetween;
  condition.operands.push_back(std::move(operand));
  condition.operands.push_back(ParseOperand());
  if (!reader_.TakeKeyword("AND")) reader_.FailSyntax();
  condition.operands.push_back(ParseOperand());
  if (reader_.failed()) return condition;
  for (const Operand& each : condition.operands) CheckComparable("BETWEEN", each);
  CheckBounds(condition);
  CheckDistinct("BETWEEN", condition.operands);
  return condition;
}

Condition ConditionParser::ParseIn(Operand operand) {
  reader_.CountOperator();
  Condition condition;
  condition.kind = Condition::Kind::kIn;
  condition.operands = ParseOperands();
  if (condition.operands.size() > kInOperandsMax) {
    reader_.Note(Problem::kOperand, WrongOperandCount("IN", condition.operands.size()));
  }
  condition.operands.insert(condition.operands.begin(), std::move(operand));
  if (!reader_.failed()) CheckDistinct("IN", condition.operands);
  return condition;
}

Operand ConditionParser::ParseOperand() {
  if (reader_.failed()) return AttributeValue();
  if (reader_.AtValue()) return reader_.TakeValue();
  if (!reader_.AtFunction()) return reader_.TakePath();
  const Token name = reader_.Next();
  reader_.CountOperator();
  if (!reader_.Enter()) return AttributeValue();
  std::vector<Operand> operands = ParseOperands();
  reader_.Leave();
  if (reader_.failed()) return AttributeValue();
  if (name.text != "size") {
    const bool is_known = std::ranges::find(kConditionFunctions, name.text,
                                            &ConditionFunction::name) != kConditionFunctions.end();
    reader_.Note(Problem::kFunction,
                 std::string(is_known ? "The function is not allowed to be used this way in an "
                                        "expression; function: "
                                      : "Invalid function name; function: ")
                     .append(name.text));
    return AttributeValue();
  }
  if (operands.size() != 1) {
    reader_.Note(Problem::kOperand, WrongOperandCount("size", operands.size()));
    return AttributeValue();
  }
  if (Path* const path = std::get_if<Path>(operands.data())) return SizeOf{std::move(*path)};
  if (const AttributeValue* constant = ConstantOf(operands[0])) {
    // A constant of a type that has a size is as good as its size.
    if (const std::optional<AttributeValue> size = SizeAsValue(*constant)) return *size;
    reader_.Note(Problem::kOperand, WrongOperandType("size", constant->type()));
    return AttributeValue();
  }
  reader_.Note(Problem::kFunction,
               "The function is not allowed to be used this way in an expression; function: size");
  return AttributeValue();
}

void ConditionParser::CheckFunction(std::string_view name, Condition& condition) {
  if (reader_.failed()) return;
  const auto* const function =
      std::ranges::find(kConditionFunctions, name, &ConditionFunction::name);
  if (function == kConditionFunctions.end()) {
    const bool of_updates = name == "if_not_exists" || name == "list_append";
    reader_.Note(
        Problem::kFunction,
        std::string(!of_updates ? "Invalid function name; function: "
                    : reader_.kind() == ExpressionKind::kFilter
                        ? "The function is not allowed in a filter expression; function: "
                    : reader_.kind() == ExpressionKind::kKeyCondition
                        ? "The function is not allowed in a key condition expression; function: "
                        : "The function is not allowed in a condition expression; function: ")
            .append(name));
    return;
  }
  condition.kind = function->kind;
  if (condition.operands.size() != function->operands) {
    reader_.Note(Problem::kOperand, WrongOperandCount(name, condition.operands.size()));
    return;
  }
  if (function->takes_a_path && !std::holds_alternative<Path>(condition.operands[0])) {
    reader_.Note(Problem::kOperand, NeedsPath(name));
    return;
  }
  if (condition.kind == Condition::Kind::kAttributeType) CheckAttributeType(condition);
  if (condition.kind == Condition::Kind::kBeginsWith) {
    for (const Operand& operand : condition.operands) {
      const AttributeValue* const constant = ConstantOf(operand);
      if (constant == nullptr || constant->is(AttributeType::kS) ||
          constant->is(AttributeType::kB)) {
        continue;
      }
      reader_.Note(Problem::kOperand, WrongOperandType(name, constant->type()));
    }
  }
  CheckDistinct(name, condition.operands);
}

void ConditionParser::CheckAttributeType(Condition& condition) {
  const AttributeValue* const constant = ConstantOf(condition.operands[1]);
  if (constant == nullptr) {
    reader_.Note(Problem::kOperand,
                 "Incorrect operand type for operator or function; operator or function: "
                 "attribute_type, operand type: path");
    return;
  }
  if (!constant->is(AttributeType::kS)) {
    reader_.Note(Problem::kOperand, WrongOperandType("attribute_type", constant->type()));
    return;
  }
  const std::optional<AttributeType> type = AttributeTypeNamed(*constant->string());
  if (!type.has_value()) {
    reader_.Note(Problem::kOperand,
                 "Invalid attribute type name found; type: " + constant->string()->substr(0, 255) +
                     ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}");
    return;
  }
  condition.type = *type;
  condition.operands.pop_back();
}

void ConditionParser::CheckComparable(std::string_view operation, const Operand& operand) {
  const AttributeValue* const constant = ConstantOf(operand);
  if (constant == nullptr || constant->type() <= AttributeType::kB) return;
  reader_.Note(Problem::kOperand, WrongOperandType(operation, constant->type()));
}

void ConditionParser::CheckBounds(const Condition& between) {
  const AttributeValue* const lower = ConstantOf(between.operands[1]);
  const AttributeValue* const upper = ConstantOf(between.operands[2]);
  if (lower == nullptr || upper == nullptr) return;
  const auto bounds = [&] {
    return "; lower bound operand: " + SaidValue(*lower) +
           ", upper bound operand: " + SaidValue(*upper);
  };
  if (lower->type() != upper->type()) {
    reader_.Note(
        Problem::kOperand,
        "The BETWEEN operator requires same data type for lower and upper bounds" + bounds());
  } else if (CompareOrdered(*lower, *upper).value_or(0) > 0) {
    reader_.Note(Problem::kOperand,
                 "The BETWEEN operator requires upper bound to be greater than or equal to lower "
                 "bound" +
                     bounds());
  }
}

void ConditionParser::CheckDistinct(std::string_view operation,
                                    const std::vector<Operand>& operands) {
  const Path* const first = std::get_if<Path>(operands.data());
  if (first == nullptr) return;
  for (size_t i = 1; i < operands.size(); ++i) {
    const Path* const other = std::get_if<Path>(&operands[i]);
    if (other == nullptr || !(*other == *first)) continue;
    std::string message =
        "The first operand must be distinct from the remaining operands for this operator or "
        "function; "
        "operator: ";
    reader_.Note(Problem::kOperand,
                 message.append(operation).append(", first operand: ").append(first->ToText()));
    return;
  }
}

ErrorOr<Condition> ParseCondition(std::string_view text, ExpressionKind kind,
                                  Placeholders& placeholders) {
  ExpressionReader reader(text, kind, placeholders);
  LS_RETURN_IF_ERROR(reader.CheckText());
  Condition condition = ConditionParser(reader).Parse();
  LS_RETURN_IF_ERROR(reader.Finish());
  return condition;
}

}  // namespace liststore::dynamodb
