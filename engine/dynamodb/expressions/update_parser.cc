// UpdateExpression: text to actions.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/expressions/expression_reader.h"
#include "engine/dynamodb/expressions/update.h"

namespace liststore::dynamodb {
namespace {

struct UpdateSection {
  std::string_view keyword;
  UpdateAction::Kind kind;
};
constexpr std::array<UpdateSection, 4> kUpdateSections = {
    {{"SET", UpdateAction::Kind::kSet},
     {"REMOVE", UpdateAction::Kind::kRemove},
     {"ADD", UpdateAction::Kind::kAdd},
     {"DELETE", UpdateAction::Kind::kDelete}}};

// One pass:
//
//   update   section { section }, each of the four once at most
//   section  SET path = value , ... | REMOVE path , ... | ADD path :value , ... | DELETE path :value , ...
//   value    ( value ) | operand [ + operand | - operand ]
//   operand  path | :value | ( operand ) | if_not_exists ( path , operand ) | list_append ( operand , operand )
class UpdateParser {
 public:
  explicit UpdateParser(ExpressionReader& reader) : reader_(reader) {}

  Update Parse() {
    do {
      const std::optional<UpdateSection> section = TakeSection();
      if (!section.has_value()) {
        reader_.FailSyntax();
        break;
      }
      do {
        update_.actions.push_back(ParseAction(section->kind));
      } while (reader_.TakeSymbol(","));
    } while (!reader_.failed() && !reader_.AtEnd());
    CheckPaths();
    return std::move(update_);
  }

 private:
  std::optional<UpdateSection> TakeSection() {
    for (size_t i = 0; i < kUpdateSections.size(); ++i) {
      if (!reader_.TakeKeyword(kUpdateSections[i].keyword)) continue;
      if (std::exchange(seen_[i], true)) {
        std::string message = "The \"";
        reader_.Fail(message.append(kUpdateSections[i].keyword)
                         .append("\" section can only be used once in an update expression;"));
      }
      return kUpdateSections[i];
    }
    return std::nullopt;
  }

  UpdateAction ParseAction(UpdateAction::Kind kind) {
    UpdateAction action;
    action.kind = kind;
    action.path = reader_.TakePath();
    switch (kind) {
      case UpdateAction::Kind::kSet:
        if (reader_.ExpectSymbol("=")) action.value = ParseValue();
        break;
      case UpdateAction::Kind::kAdd:
      case UpdateAction::Kind::kDelete:
        action.value.constant = reader_.TakeValue();
        if (!reader_.failed()) CheckAddedType(kind, action.value.constant.type());
        break;
      default:
        break;
    }
    return action;
  }

  void CheckAddedType(UpdateAction::Kind kind, AttributeType type) {
    const bool adds = kind == UpdateAction::Kind::kAdd;
    if (type >= AttributeType::kSS || (adds && type == AttributeType::kN)) return;
    std::string message = "Incorrect operand type for operator or function; operator: ";
    reader_.Note(Problem::kOperand, message.append(adds ? "ADD" : "DELETE")
                                        .append(", operand type: ")
                                        .append(LongNameOf(type))
                                        .append(adds ? ", typeSet: ALLOWED_FOR_ADD_OPERAND"
                                                     : ", typeSet: ALLOWED_FOR_DELETE_OPERAND"));
  }

  UpdateValue ParseValue() {
    UpdateValue left;
    if (reader_.AtSymbol("(")) {
      left = ParseParenthesised(&UpdateParser::ParseValue);
      if (left.kind == UpdateValue::Kind::kPlus || left.kind == UpdateValue::Kind::kMinus) {
        return left;
      }
    } else {
      left = ParseOperand();
    }
    const bool plus = reader_.AtSymbol("+");
    if (reader_.failed() || (!plus && !reader_.AtSymbol("-"))) return left;
    reader_.Next();
    reader_.CountOperator();
    UpdateValue sum;
    sum.kind = plus ? UpdateValue::Kind::kPlus : UpdateValue::Kind::kMinus;
    sum.operands.push_back(std::move(left));
    sum.operands.push_back(ParseOperand());
    for (const UpdateValue& operand : sum.operands) {
      RequireType(plus ? "+" : "-", operand, AttributeType::kN);
    }
    return sum;
  }

  // ((a)) has a pair too many.
  UpdateValue ParseParenthesised(UpdateValue (UpdateParser::*inner)()) {
    UpdateValue value;
    if (!reader_.Enter()) return value;
    reader_.Next();
    const bool doubled = reader_.AtSymbol("(");
    value = (this->*inner)();
    if (doubled && last_closed_ == reader_.Peek().begin) {
      reader_.Note(Problem::kParentheses, "The expression has redundant parentheses;");
    }
    reader_.ExpectSymbol(")");
    last_closed_ = reader_.Peek().begin;
    reader_.Leave();
    return value;
  }

  UpdateValue ParseOperand() {
    UpdateValue value;
    if (reader_.failed()) return value;
    if (reader_.AtValue()) {
      value.constant = reader_.TakeValue();
    } else if (reader_.AtSymbol("(")) {
      value = ParseParenthesised(&UpdateParser::ParseOperand);
    } else if (reader_.AtFunction()) {
      if (!reader_.Enter()) return value;
      value = ParseFunction();
      reader_.Leave();
    } else {
      value.kind = UpdateValue::Kind::kPath;
      value.path = reader_.TakePath();
    }
    return value;
  }

  UpdateValue ParseFunction() {
    const Token name = reader_.Next();
    reader_.CountOperator();
    UpdateValue value;
    (void)reader_.ExpectSymbol("(");
    do {
      value.operands.push_back(ParseOperand());
    } while (reader_.TakeSymbol(","));
    reader_.ExpectSymbol(")");
    if (!reader_.failed()) CheckFunction(name.text, value);
    return value;
  }

  void CheckFunction(std::string_view name, UpdateValue& value) {
    const bool appends = name == "list_append";
    if (!appends && name != "if_not_exists") {
      constexpr std::array<std::string_view, 6> kOfConditions = {
          "attribute_exists", "attribute_not_exists",
          "attribute_type",   "begins_with",
          "contains",         "size"};
      const bool is_known = std::ranges::find(kOfConditions, name) != kOfConditions.end();
      std::string message = is_known
                                ? "The function is not allowed in an update expression; function: "
                                : "Invalid function name; function: ";
      reader_.Note(Problem::kFunction, message.append(name));
      return;
    }
    value.kind = appends ? UpdateValue::Kind::kListAppend : UpdateValue::Kind::kIfNotExists;
    if (value.operands.size() != 2) {
      reader_.Note(Problem::kOperand, WrongOperandCount(name, value.operands.size()));
      return;
    }
    if (appends) {
      for (const UpdateValue& operand : value.operands)
        RequireType(name, operand, AttributeType::kL);
      return;
    }
    if (value.operands[0].kind != UpdateValue::Kind::kPath) {
      reader_.Note(Problem::kOperand, NeedsPath(name));
      return;
    }
    value.path = std::move(value.operands[0].path);
    value.operands.erase(value.operands.begin());
  }

  // Of constants; of all others it shows when there is an item.
  void RequireType(std::string_view operation, const UpdateValue& operand, AttributeType type) {
    if (reader_.failed() || operand.kind != UpdateValue::Kind::kConstant) return;
    if (operand.constant.is(type)) return;
    reader_.Note(Problem::kOperand, WrongOperandType(operation, operand.constant.type()));
  }

  void CheckPaths() {
    if (reader_.failed()) return;
    std::vector<const Path*> paths;
    for (const UpdateAction& action : update_.actions) paths.push_back(&action.path);
    if (const std::optional<PathClash> clash = FindClash(paths)) {
      reader_.Note(Problem::kPaths, ClashMessage(*clash, paths));
    }
  }

  ExpressionReader& reader_;
  Update update_;
  uint32_t last_closed_ = 0;  // behind the last parenthesis
  std::array<bool, kUpdateSections.size()> seen_ = {};
};

}  // namespace

ErrorOr<Update> ParseUpdate(std::string_view text, Placeholders& placeholders) {
  ExpressionReader reader(text, ExpressionKind::kUpdate, placeholders);
  LS_RETURN_IF_ERROR(reader.CheckText());
  Update update = UpdateParser(reader).Parse();
  LS_RETURN_IF_ERROR(reader.Finish());
  return update;
}

}  // namespace liststore::dynamodb
