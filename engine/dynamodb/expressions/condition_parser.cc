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
  Condition condition = ToCondition(ParseOr());
  if (!reader_.failed() && !reader_.AtEnd()) reader_.FailSyntax();
  return condition;
}

ConditionParser::Parsed ConditionParser::ParseJoined(Condition::Kind kind, std::string_view keyword,
                                                     Parsed (ConditionParser::*part)()) {
  Parsed first = (this->*part)();
  if (reader_.failed() || !reader_.AtKeyword(keyword)) return first;
  Condition joined;
  joined.kind = kind;
  joined.children.push_back(ToCondition(std::move(first)));
  while (reader_.TakeKeyword(keyword)) {
    reader_.CountOperator();
    joined.children.push_back(ToCondition((this->*part)()));
  }
  return joined;
}

ConditionParser::Parsed ConditionParser::ParseOr() {
  return ParseJoined(Condition::Kind::kOr, "OR", &ConditionParser::ParseAnd);
}

ConditionParser::Parsed ConditionParser::ParseAnd() {
  return ParseJoined(Condition::Kind::kAnd, "AND", &ConditionParser::ParseNot);
}

ConditionParser::Parsed ConditionParser::ParseNot() {
  if (!reader_.TakeKeyword("NOT")) return ParseCompared();
  reader_.CountOperator();
  Condition negated;
  negated.kind = Condition::Kind::kNot;
  if (!reader_.Enter()) return negated;
  negated.children.push_back(ToCondition(ParseNot()));
  reader_.Leave();
  return negated;
}

ConditionParser::Parsed ConditionParser::ParseCompared() {
  Parsed left = ParseTerm();
  if (reader_.failed()) return left;
  const bool between = reader_.AtKeyword("BETWEEN");
  const bool in = reader_.AtKeyword("IN");
  const std::string_view operation = reader_.Peek().text;
  if (!between && !in && !AtComparator()) return left;
  Operand operand = ToOperand(std::move(left));
  if (reader_.TakeKeyword("BETWEEN")) return ParseBetween(std::move(operand));
  if (reader_.TakeKeyword("IN")) return ParseIn(std::move(operand));
  const std::optional<Comparator> comparator = TakeComparator();
  if (!comparator.has_value()) return Condition();
  reader_.CountOperator();
  Condition condition;
  condition.kind = Condition::Kind::kCompare;
  condition.comparator = *comparator;
  condition.operands.push_back(std::move(operand));
  condition.operands.push_back(ParseOperand());
  if (*comparator > Comparator::kNotEqual) {
    for (const Operand& each : condition.operands) CheckComparable(operation, each);
  }
  CheckDistinct(operation, condition.operands);
  return condition;
}

ConditionParser::Parsed ConditionParser::ParseTerm() {
  if (reader_.failed()) return Condition();
  if (reader_.AtSymbol("(")) return ParseParenthesised();
  if (reader_.AtFunction()) return ParseCall();
  if (reader_.AtValue()) return Operand(reader_.TakeValue());
  return Operand(reader_.TakePath());
}

void ConditionParser::Close(uint32_t opened, bool doubled, uint32_t inner_begins) {
  // ((a = :b)): a pair that begins right within another and ends right within it.
  if (doubled && last_pair_ == Pair{inner_begins, reader_.Peek().begin} && reader_.AtSymbol(")")) {
    reader_.Note(Problem::kParentheses, "The expression has redundant parentheses;");
  }
  reader_.ExpectSymbol(")");
  last_pair_ = {opened, reader_.Peek().begin};
  reader_.Leave();
}

ConditionParser::Parsed ConditionParser::ParseParenthesised() {
  if (!reader_.Enter()) return Condition();
  const uint32_t opened = reader_.Next().begin;
  const bool doubled = reader_.AtSymbol("(");
  const uint32_t inner_begins = reader_.Peek().begin;
  Parsed inner = ParseOr();
  Close(opened, doubled, inner_begins);
  return inner;
}

ConditionParser::Call ConditionParser::ParseCall() {
  Call call;
  call.name = reader_.Next().text;
  reader_.CountOperator();
  if (!reader_.Enter()) return call;
  call.operands = ParseOperands();
  reader_.Leave();
  return call;
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

Operand ConditionParser::ParseOperand() {
  if (reader_.failed()) return AttributeValue();
  if (reader_.AtValue()) return reader_.TakeValue();
  if (reader_.AtFunction()) return CallToOperand(ParseCall());
  if (!reader_.AtSymbol("(")) return reader_.TakePath();
  if (!reader_.Enter()) return AttributeValue();
  const uint32_t opened = reader_.Next().begin;
  const bool doubled = reader_.AtSymbol("(");
  const uint32_t inner_begins = reader_.Peek().begin;
  Operand inner = ParseOperand();
  Close(opened, doubled, inner_begins);
  return inner;
}

bool ConditionParser::AtComparator() const {
  return reader_.Peek().kind == TokenKind::kSymbol &&
         std::ranges::find(kComparators, reader_.Peek().text) != kComparators.end();
}

std::optional<Comparator> ConditionParser::TakeComparator() {
  if (reader_.failed() || !AtComparator()) return std::nullopt;
  const auto* const found = std::ranges::find(kComparators, reader_.Next().text);
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
    reader_.Note(Problem::kOperand,
                 "The IN operator is provided with too many operands; number of operands: " +
                     std::to_string(condition.operands.size()));
  }
  condition.operands.insert(condition.operands.begin(), std::move(operand));
  if (!reader_.failed()) CheckDistinct("IN", condition.operands);
  return condition;
}

Condition ConditionParser::ToCondition(Parsed parsed) {
  if (auto* const condition = std::get_if<Condition>(&parsed)) return std::move(*condition);
  if (auto* const call = std::get_if<Call>(&parsed)) return CallToCondition(std::move(*call));
  // A path or a value, and nothing that it is compared with.
  reader_.FailSyntax();
  return {};
}

Operand ConditionParser::ToOperand(Parsed parsed) {
  if (auto* const operand = std::get_if<Operand>(&parsed)) return std::move(*operand);
  if (auto* const call = std::get_if<Call>(&parsed)) return CallToOperand(std::move(*call));
  reader_.FailSyntax();
  return AttributeValue();
}

void ConditionParser::NoteFunction(std::string_view name) {
  std::string message;
  if (name == "size" || std::ranges::find(kConditionFunctions, name, &ConditionFunction::name) !=
                            kConditionFunctions.end()) {
    message = "The function is not allowed to be used this way in an expression";
  } else if (name != "if_not_exists" && name != "list_append") {
    message = "Invalid function name";
  } else {
    message = reader_.kind() == ExpressionKind::kFilter
                  ? "The function is not allowed in a filter expression"
              : reader_.kind() == ExpressionKind::kKeyCondition
                  ? "The function is not allowed in a key condition expression"
                  : "The function is not allowed in a condition expression";
  }
  reader_.Note(Problem::kFunction, message.append("; function: ").append(name));
}

Operand ConditionParser::CallToOperand(Call call) {
  if (reader_.failed()) return AttributeValue();
  if (call.name != "size") {
    NoteFunction(call.name);
    return AttributeValue();
  }
  if (call.operands.size() != 1) {
    reader_.Note(Problem::kOperand, WrongOperandCount("size", call.operands.size()));
    return AttributeValue();
  }
  Operand& of = call.operands[0];
  if (Path* const path = std::get_if<Path>(&of)) return SizeOf{std::move(*path)};
  // A constant of a type that has a size is as good as its size, which has none itself.
  const AttributeValue* const constant = ConstantOf(of);
  if (constant != nullptr) {
    if (const std::optional<AttributeValue> size = SizeAsValue(*constant)) return *size;
  }
  reader_.Note(Problem::kOperand, WrongOperandType("size", constant == nullptr ? AttributeType::kN
                                                                               : constant->type()));
  return AttributeValue();
}

Condition ConditionParser::CallToCondition(Call call) {
  Condition condition;
  if (reader_.failed()) return condition;
  const auto* const function =
      std::ranges::find(kConditionFunctions, call.name, &ConditionFunction::name);
  if (function == kConditionFunctions.end()) {
    NoteFunction(call.name);
    return condition;
  }
  condition.kind = function->kind;
  condition.operands = std::move(call.operands);
  if (condition.operands.size() != function->operands) {
    reader_.Note(Problem::kOperand, WrongOperandCount(call.name, condition.operands.size()));
    return condition;
  }
  if (function->takes_a_path && !std::holds_alternative<Path>(condition.operands[0])) {
    reader_.Note(Problem::kOperand, NeedsPath(call.name));
    return condition;
  }
  CheckDistinct(call.name, condition.operands);
  if (condition.kind == Condition::Kind::kAttributeType) CheckAttributeType(condition);
  if (condition.kind == Condition::Kind::kBeginsWith) {
    for (const Operand& operand : condition.operands) {
      const AttributeValue* const constant = ConstantOf(operand);
      if (constant == nullptr || constant->is(AttributeType::kS) ||
          constant->is(AttributeType::kB)) {
        continue;
      }
      reader_.Note(Problem::kOperand, WrongOperandType(call.name, constant->type()));
    }
  }
  return condition;
}

void ConditionParser::CheckAttributeType(Condition& condition) {
  const AttributeValue* const constant = ConstantOf(condition.operands[1]);
  if (constant == nullptr) {
    // Observed with DynamoDB Local 2.5.4: all types that its software knows.
    reader_.Note(Problem::kOperand,
                 "Incorrect operand type for operator or function; operator or function: "
                 "attribute_type, operand type: "
                 "{B,BS,NULL,FLOAT,INTSET,N,DOUBLE,DECIMAL,HDS,NS,INT,HD,SS,M,S,FS,DECIMALSET,DICT,"
                 "BOOL,DOUBLESET,L}");
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
