#include "engine/cql/syntax/expression.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/cql/syntax/keywords.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {
namespace {

// `token` is a reserved word and yet a function; `ttl` is a name, but of no function.
std::string FunctionNameText(const std::string& name) {
  if (name == "token" || name == "count") return name;
  const Keyword keyword = FindKeyword(name);
  const bool needs_quotes =
      keyword != Keyword::kNone && ClassOf(keyword) == KeywordClass::kNotAFunction;
  return needs_quotes ? AlwaysQuoteIdentifier(name) : QuoteIdentifier(name);
}

// One overload for each node.
struct Printer {
  // For messages: no text that could be parsed again.
  bool shown = false;

  std::string operator()(const Constant& constant) const {
    if (constant.kind != ConstantKind::kString) return constant.text;
    return shown ? "'" + constant.text + "'" : QuoteString(constant.text);
  }
  std::string operator()(const NullConstant&) const { return "null"; }
  std::string operator()(const BindMarker&) const { return "?"; }
  std::string operator()(const FunctionCall& call) const {
    std::string text;
    if (!call.function.keyspace.empty()) text = QuoteIdentifier(call.function.keyspace) + ".";
    return text + FunctionNameText(call.function.name) + "(" + Joined(call.arguments) + ")";
  }
  std::string operator()(const ListLiteral& list) const {
    return "[" + Joined(list.elements) + "]";
  }
  std::string operator()(const SetLiteral& set) const { return "{" + Joined(set.elements) + "}"; }
  std::string operator()(const MapLiteral& map) const {
    std::string text = "{";
    for (size_t i = 0; i < map.keys_and_values.size(); ++i) {
      if (i != 0) text += i % 2 == 0 ? ", " : Colon();
      text += Text(map.keys_and_values[i]);
    }
    return text + "}";
  }
  std::string operator()(const TupleLiteral& tuple) const {
    return "(" + Joined(tuple.elements) + ")";
  }
  std::string operator()(const UserTypeLiteral& literal) const {
    std::string text = "{";
    for (size_t i = 0; i < literal.fields.size(); ++i) {
      if (i != 0) text += ", ";
      const std::string& field = literal.fields[i];
      text += (shown ? field : QuoteIdentifier(field)) + Colon() + Text(literal.values[i]);
    }
    return text + "}";
  }
  std::string operator()(const TypeCast& cast) const {
    return "(" + ToString(cast.type) + (shown ? ") " : ")") + Text(cast.operand[0]);
  }
  std::string operator()(const ColumnName& column) const { return QuoteIdentifier(column.name); }
  std::string operator()(const CountRows&) const { return "count(*)"; }
  std::string operator()(const CellAttribute& attribute) const {
    const bool ttl = attribute.kind == CellAttribute::Kind::kTtl;
    return (ttl ? "ttl(" : "writetime(") + Joined(attribute.operand) + ")";
  }
  std::string operator()(const SelectorCast& cast) const {
    return "cast(" + Joined(cast.operand) + " as " + std::string(CqlTypeName(cast.type)) + ")";
  }
  std::string operator()(const FieldAccess& access) const {
    return Joined(access.operand) + "." + QuoteIdentifier(access.field);
  }
  std::string operator()(const ElementAccess& access) const {
    return Text(access.operand_and_key[0]) + "[" + Text(access.operand_and_key[1]) + "]";
  }

  std::string Text(const Expression& expression) const {
    return std::visit(*this, expression.node);
  }
  std::string Joined(const std::vector<Expression>& expressions) const {
    std::string text;
    for (const Expression& expression : expressions) {
      if (!text.empty()) text += ", ";
      text += Text(expression);
    }
    return text;
  }
  std::string Colon() const { return shown ? ":" : ": "; }
};

bool AreLiterals(const std::vector<Expression>& expressions) {
  return std::all_of(expressions.begin(), expressions.end(), IsLiteral);
}

std::string JoinedNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += QuoteIdentifier(name);
  }
  return text;
}

std::string LeftSide(const Relation& relation, const Printer& printer) {
  switch (relation.target) {
    case Relation::Target::kColumn:
      return JoinedNames(relation.columns);
    case Relation::Target::kTuple:
      return "(" + JoinedNames(relation.columns) + ")";
    case Relation::Target::kToken:
      return "token(" + JoinedNames(relation.columns) + ")";
    case Relation::Target::kElement:
      return JoinedNames(relation.columns) + "[" + printer.Text(relation.element.value()) + "]";
    case Relation::Target::kField:
      return JoinedNames(relation.columns) + "." + QuoteIdentifier(relation.field);
    case Relation::Target::kFunction:
      return printer.Text(relation.function.value());
  }
  LS_UNREACHABLE("a target is one of the enum");
}

std::string BeforeValue(const Relation& relation, const Printer& printer) {
  return LeftSide(relation, printer) + " " + std::string(ToString(relation.op)) + " ";
}

std::string Print(const Relation& relation, const Printer& printer) {
  const std::string left = BeforeValue(relation, printer);
  // The alternatives of IN stand in parentheses.
  if (const auto* alternatives = relation.value.As<ListLiteral>();
      alternatives != nullptr &&
      (relation.op == RelationOperator::kIn || relation.op == RelationOperator::kNotIn)) {
    return left + "(" + printer.Joined(alternatives->elements) + ")";
  }
  return left + printer.Text(relation.value);
}

}  // namespace

std::string_view ConstantKindName(ConstantKind kind) {
  switch (kind) {
    case ConstantKind::kString:
      return "STRING";
    case ConstantKind::kInteger:
      return "INTEGER";
    case ConstantKind::kFloat:
      return "FLOAT";
    case ConstantKind::kUuid:
      return "UUID";
    case ConstantKind::kHex:
      return "HEX";
    case ConstantKind::kBoolean:
      return "BOOLEAN";
    case ConstantKind::kDuration:
      return "DURATION";
  }
  LS_UNREACHABLE("a kind is one of the enum");
}

std::string ToString(const Expression& expression) { return Printer{}.Text(expression); }
std::string ShownInMessage(const Expression& expression) {
  return Printer{.shown = true}.Text(expression);
}

bool IsLiteral(const Expression& expression) {
  if (expression.Is<Constant>() || expression.Is<NullConstant>()) return true;
  if (const auto* list = expression.As<ListLiteral>()) return AreLiterals(list->elements);
  if (const auto* set = expression.As<SetLiteral>()) return AreLiterals(set->elements);
  if (const auto* map = expression.As<MapLiteral>()) return AreLiterals(map->keys_and_values);
  if (const auto* tuple = expression.As<TupleLiteral>()) return AreLiterals(tuple->elements);
  if (const auto* user = expression.As<UserTypeLiteral>()) return AreLiterals(user->values);
  if (const auto* cast = expression.As<TypeCast>()) return AreLiterals(cast->operand);
  return false;
}

std::string ToString(const QualifiedName& name) {
  return name.keyspace.empty() ? name.name : name.keyspace + "." + name.name;
}

std::string_view ToString(RelationOperator op) {
  switch (op) {
    case RelationOperator::kEqual:
      return "=";
    case RelationOperator::kLess:
      return "<";
    case RelationOperator::kLessOrEqual:
      return "<=";
    case RelationOperator::kGreater:
      return ">";
    case RelationOperator::kGreaterOrEqual:
      return ">=";
    case RelationOperator::kNotEqual:
      return "!=";
    case RelationOperator::kIn:
      return "IN";
    case RelationOperator::kNotIn:
      return "NOT IN";
    case RelationOperator::kContains:
      return "CONTAINS";
    case RelationOperator::kContainsKey:
      return "CONTAINS KEY";
    case RelationOperator::kLike:
      return "LIKE";
    case RelationOperator::kIsNotNull:
      return "IS NOT";
  }
  LS_UNREACHABLE("an operator is one of the enum");
}

std::string ToString(const Relation& relation) { return Print(relation, Printer{}); }
std::string ToString(const Relation& relation, const std::string& value) {
  return BeforeValue(relation, Printer{}) + value;
}
std::string ShownInMessage(const Relation& relation) {
  return Print(relation, Printer{.shown = true});
}

}  // namespace liststore::cql
