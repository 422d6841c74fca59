// Terms: constants, markers, literals, function calls, casts. ScyllaDB has no arithmetic.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

bool CqlParser::ParseTerm(Expression& term) {
  const NestingGuard guard(nesting_);
  if (nesting_ > options_.dialect.expression_nesting_max) return FailTooDeep();
  term.position = token().position;
  return At("-") ? ParseConstant(term.node.emplace<Constant>()) : ParsePrimary(term);
}

bool CqlParser::ParsePrimary(Expression& term) {
  term.position = token().position;
  switch (token().kind) {
    case TokenKind::kString:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kUuid:
    case TokenKind::kHex:
    case TokenKind::kBoolean:
    case TokenKind::kDuration:
      return ParseConstant(term.node.emplace<Constant>());
    case TokenKind::kWord:
    case TokenKind::kQuotedName:
      return ParseWordTerm(term);
    case TokenKind::kSymbol:
      if (AtMarker()) return ParseMarker(term);
      if (At("[")) return ParseListLiteral(term);
      if (At("{")) return ParseBraces(term);
      if (At("(")) return ParseParentheses(term);
      return FailHere();
    case TokenKind::kEnd:
    case TokenKind::kInvalid:
      break;
  }
  return FailHere();
}

bool CqlParser::ParseConstant(Constant& constant) {
  switch (token().kind) {
    case TokenKind::kString:
      constant = {ConstantKind::kString, StringOf(token())};
      break;
    case TokenKind::kInteger:
      constant = {ConstantKind::kInteger, std::string(token().text)};
      break;
    case TokenKind::kFloat:
      constant = {ConstantKind::kFloat, std::string(token().text)};
      break;
    case TokenKind::kUuid:
      constant = {ConstantKind::kUuid, std::string(token().text)};
      break;
    case TokenKind::kHex:
      constant = {ConstantKind::kHex, std::string(token().text)};
      break;
    case TokenKind::kBoolean:
      constant = {ConstantKind::kBoolean, std::string(token().text)};
      break;
    case TokenKind::kDuration:
      constant = {ConstantKind::kDuration, std::string(token().text)};
      break;
    default: {
      const bool negative = At("-");
      if (negative) Advance();
      if (!At(Keyword::kNAN) && !At(Keyword::kINFINITY)) return FailHere();
      constant = {ConstantKind::kFloat, (negative ? "-" : "") + std::string(token().text)};
      break;
    }
  }
  Advance();
  return true;
}

// NULL, NaN, Infinity, or a function call.
bool CqlParser::ParseWordTerm(Expression& term) {
  if (Accept(Keyword::kNULL)) {
    term.node = NullConstant{};
    return true;
  }
  if (At(Keyword::kNAN) || At(Keyword::kINFINITY)) {
    return ParseConstant(term.node.emplace<Constant>());
  }
  auto& call = term.node.emplace<FunctionCall>();
  if (!ParseFunctionName(call.function)) return false;
  if (!Accept("(")) return FailHere();
  return ParseTerms(")", call.arguments);
}

bool CqlParser::ParseFunctionName(FunctionName& name) {
  if (!IsFunctionName(token())) return FailHere();
  name.name = NameOf(token());
  Advance();
  if (!Accept(".")) return true;
  name.keyspace = std::move(name.name);
  if (!IsFunctionName(token())) return FailHere();
  name.name = NameOf(token());
  Advance();
  return true;
}

// Terms up to and with `end`; there may be none.
bool CqlParser::ParseTerms(std::string_view end, std::vector<Expression>& terms) {
  if (Accept(end)) return true;
  do {
    if (!ParseTerm(terms.emplace_back())) return false;
  } while (Accept(","));
  return Expect(end);
}

bool CqlParser::AtMarker() const { return At("?") || At(":"); }

bool CqlParser::ParseMarker(Expression& term) {
  term.position = token().position;
  auto index = static_cast<uint32_t>(marker_names_.size());
  if (Accept("?")) {
    marker_names_.emplace_back();
  } else {
    Advance();
    std::string name;
    if (!ParseName(name)) return false;
    // Source: ScyllaDB cql3/Cql.g, new_bind_variables.
    bool is_new = true;
    if (options_.duplicate_bind_names_are_one_variable) {
      const auto [known, inserted] = named_markers_.try_emplace(name, index);
      index = known->second;
      is_new = inserted;
    }
    if (is_new) marker_names_.push_back(std::move(name));
  }
  term.node = BindMarker{index};
  return true;
}

bool CqlParser::ParseIntegerOrMarker(std::optional<Expression>& value) {
  value.emplace();
  value->position = token().position;
  if (AtMarker()) return ParseMarker(*value);
  if (token().kind != TokenKind::kInteger) return FailHere();
  return ParseConstant(value->node.emplace<Constant>());
}

bool CqlParser::ParseListLiteral(Expression& term) {
  Advance();
  return ParseTerms("]", term.node.emplace<ListLiteral>().elements);
}

// A set, a map or a value of a user type; `{}` counts as a set.
bool CqlParser::ParseBraces(Expression& term) {
  Advance();
  if (AtName() && Peek().IsSymbol(":")) return ParseUserTypeLiteral(term);
  if (Accept("}")) {
    term.node = SetLiteral{};
    return true;
  }
  Expression first;
  if (!ParseTerm(first)) return false;
  if (!At(":")) {
    auto& elements = term.node.emplace<SetLiteral>().elements;
    elements.push_back(std::move(first));
    return Accept(",") ? (At("}") ? FailHere() : ParseTerms("}", elements)) : Expect("}");
  }
  auto& entries = term.node.emplace<MapLiteral>().keys_and_values;
  entries.push_back(std::move(first));
  while (true) {
    if (!Expect(":") || !ParseTerm(entries.emplace_back())) return false;
    if (!Accept(",")) return Expect("}");
    if (!ParseTerm(entries.emplace_back())) return false;
  }
}

bool CqlParser::ParseUserTypeLiteral(Expression& term) {
  auto& literal = term.node.emplace<UserTypeLiteral>();
  do {
    if (!ParseName(literal.fields.emplace_back()) || !Expect(":")) return false;
    if (!ParseTerm(literal.values.emplace_back())) return false;
  } while (Accept(","));
  return Expect("}");
}

// `(type) term`, or a tuple.
bool CqlParser::ParseParentheses(Expression& term) {
  const Checkpoint checkpoint = Mark();
  Advance();
  if (AtName() || At(Keyword::kSET)) {
    TypeCast cast;
    if (ParseType(cast.type) && Accept(")")) {
      if (!ParseTerm(cast.operand.emplace_back())) return false;
      term.node = std::move(cast);
      return true;
    }
    GoBack(checkpoint);
    Advance();
  }
  auto& elements = term.node.emplace<TupleLiteral>().elements;
  return At(")") ? FailHere() : ParseTerms(")", elements);
}

}  // namespace liststore::cql
