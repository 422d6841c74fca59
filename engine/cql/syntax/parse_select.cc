// SELECT.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"
#include "engine/cql/syntax/properties.h"

namespace liststore::cql {
namespace {

// Fields and elements behind one selector: each makes its tree one deeper.
constexpr int kPostfixesMax = 32;

}  // namespace

bool CqlParser::ParseSelect(SelectStatement& select) {
  Advance();
  // JSON and DISTINCT are names too: then nothing follows that could begin a selector.
  const auto is_modifier = [this] {
    const Lexeme next = Peek();
    return next.keyword != Keyword::kFROM && next.keyword != Keyword::kAS && !next.IsSymbol(",") &&
           !next.IsSymbol(".") && !next.IsSymbol("(") && !next.IsSymbol("[") &&
           next.kind != TokenKind::kEnd;
  };
  if (At(Keyword::kJSON) && is_modifier()) {
    select.json = true;
    Advance();
  }
  if (At(Keyword::kDISTINCT) && is_modifier()) {
    select.distinct = true;
    Advance();
  }
  if (!Accept("*") && !ParseSelectors(select.selectors)) return false;
  if (!Expect(Keyword::kFROM)) return false;
  if (At(Keyword::kMUTATION_FRAGMENTS) && Peek().IsSymbol("(")) {
    return Fail(CqlError::Unsupported(CqlFeature::kMutationFragments, ""));
  }
  if (!ParseQualifiedName("table", select.table)) return false;
  if (Accept(Keyword::kWHERE) && !ParseWhere(select.where)) return false;
  return ParseSelectEnd(select);
}

bool CqlParser::ParseSelectEnd(SelectStatement& select) {
  if (Accept(Keyword::kGROUP)) {
    if (!Expect(Keyword::kBY) || !ParseNames(select.group_by)) return false;
  }
  if (Accept(Keyword::kORDER)) {
    if (!Expect(Keyword::kBY) || !ParseOrderBy(select.order_by)) return false;
  }
  if (Accept(Keyword::kPER)) {
    if (!Expect(Keyword::kPARTITION) || !Expect(Keyword::kLIMIT)) return false;
    if (!ParseIntegerOrMarker(select.per_partition_limit)) return false;
  }
  if (Accept(Keyword::kLIMIT) && !ParseIntegerOrMarker(select.limit)) return false;
  if (Accept(Keyword::kALLOW)) {
    if (!Expect(Keyword::kFILTERING)) return false;
    select.allow_filtering = true;
  }
  if (Accept(Keyword::kBYPASS)) {
    if (!Expect(Keyword::kCACHE)) return false;
    select.bypass_cache = true;
  }
  UsingClause clause;
  if (!ParseUsing(UsingParts::kTimeout, clause)) return false;
  select.timeout = std::move(clause.timeout);
  return true;
}

bool CqlParser::ParseSelectors(std::vector<Selector>& selectors) {
  selectors.reserve(4);
  do {
    Selector& selector = selectors.emplace_back();
    if (!ParseSelector(selector.expression)) return false;
    if (Accept(Keyword::kAS) && !ParseName(selector.alias)) return false;
  } while (Accept(","));
  return true;
}

bool CqlParser::ParseSelector(Expression& selector) {
  const NestingGuard guard(nesting_);
  if (nesting_ > options_.dialect.expression_nesting_max) return FailTooDeep();
  selector.position = token().position;
  return ParseSelectorPrimary(selector) && ParsePostfix(selector);
}

bool CqlParser::ParseSelectorPrimary(Expression& selector) {
  if (token().kind != TokenKind::kWord && token().kind != TokenKind::kQuotedName) {
    // Constants, markers and literals.
    return ParseTerm(selector);
  }
  if (At(Keyword::kCAST)) return ParseSelectorCast(selector);
  if (At(Keyword::kNULL) || At(Keyword::kNAN) || At(Keyword::kINFINITY)) {
    return ParsePrimary(selector);
  }
  const char next = lexer_.NextCharacter();
  if (next == '(') {
    if (At(Keyword::kWRITETIME)) {
      return ParseCellAttribute(CellAttribute::Kind::kWriteTime, selector);
    }
    if (At(Keyword::kTTL)) return ParseCellAttribute(CellAttribute::Kind::kTtl, selector);
    return ParseSelectorCall(selector);
  }
  if (next == '.') {
    Lexer ahead = lexer_;
    ahead.Next();
    if (IsFunctionName(ahead.Next()) && ahead.NextCharacter() == '(') {
      return ParseSelectorCall(selector);
    }
  }
  return ParseName(selector.node.emplace<ColumnName>().name);
}

bool CqlParser::ParseSelectorCall(Expression& selector) {
  FunctionCall call;
  if (!ParseFunctionName(call.function)) return false;
  if (call.function.keyspace.empty() && call.function.name == "count") {
    const Lexeme counted = Peek();
    const bool is_number = counted.kind == TokenKind::kInteger;
    // Source: ScyllaDB cql3/Cql.g, countArgument.
    if (is_number && counted.text != "1") {
      return FailSyntax("Only COUNT(1) is supported, got COUNT(" + std::string(counted.text) + ")");
    }
    if (is_number || counted.IsSymbol("*")) {
      Advance();
      Advance();
      selector.node = CountRows{};
      return Expect(")");
    }
  }
  if (!ParseSelectorArguments(call.arguments)) return false;
  selector.node = std::move(call);
  return true;
}

// `(selector, ...)`.
bool CqlParser::ParseSelectorArguments(std::vector<Expression>& arguments) {
  if (!Expect("(")) return false;
  if (Accept(")")) return true;
  do {
    if (!ParseSelector(arguments.emplace_back())) return false;
  } while (Accept(","));
  return Expect(")");
}

bool CqlParser::ParseCellAttribute(CellAttribute::Kind kind, Expression& selector) {
  Advance();
  if (!Expect("(")) return false;
  CellAttribute attribute;
  attribute.kind = kind;
  Expression& operand = attribute.operand.emplace_back();
  operand.position = token().position;
  if (!ParseName(operand.node.emplace<ColumnName>().name)) return false;
  if (!ParsePostfix(operand)) return false;
  selector.node = std::move(attribute);
  return Expect(")");
}

bool CqlParser::ParseSelectorCast(Expression& selector) {
  Advance();
  SelectorCast cast;
  if (!Expect("(") || !ParseSelector(cast.operand.emplace_back())) return false;
  if (!Expect(Keyword::kAS) || !ParseNativeType(cast.type)) return false;
  selector.node = std::move(cast);
  return Expect(")");
}

// `.field` and `[key]`, any number of them.
bool CqlParser::ParsePostfix(Expression& selector) {
  for (int count = 0; At(".") || At("["); ++count) {
    if (count == kPostfixesMax) return FailTooDeep();
    const SourcePosition position = selector.position;
    if (Accept(".")) {
      FieldAccess access;
      access.operand.push_back(std::move(selector));
      if (!ParseName(access.field)) return false;
      selector = Expression{std::move(access), position};
    } else {
      Advance();
      ElementAccess access;
      access.operand_and_key.push_back(std::move(selector));
      if (!ParseTerm(access.operand_and_key.emplace_back()) || !Expect("]")) return false;
      selector = Expression{std::move(access), position};
    }
  }
  return true;
}

bool CqlParser::ParseOrderBy(std::vector<ColumnOrder>& order_by) {
  do {
    ColumnOrder& order = order_by.emplace_back();
    order.position = token().position;
    if (!ParseName(order.column)) return false;
    if (token().kind == TokenKind::kWord && AsciiLower(token().text) == "ann" &&
        Peek().keyword == Keyword::kOF) {
      return Fail(CqlError::Unsupported(CqlFeature::kVectors, "ANN OF"));
    }
    order.descending = Accept(Keyword::kDESC);
    if (!order.descending) Accept(Keyword::kASC);
  } while (Accept(","));
  return true;
}

}  // namespace liststore::cql
