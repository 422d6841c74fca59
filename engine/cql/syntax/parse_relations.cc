// Relations of WHERE, conditions of IF.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

bool CqlParser::ParseWhere(std::vector<Relation>& where) {
  where.reserve(4);
  do {
    if (where.size() == kRelationsMax) return FailSyntax("too many relations in WHERE clause");
    if (!ParseRelation(where.emplace_back())) return false;
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseRelation(Relation& relation) {
  const NestingGuard guard(nesting_);
  if (nesting_ > options_.dialect.expression_nesting_max) return FailTooDeep();
  relation.position = token().position;
  if (At(Keyword::kTOKEN)) return ParseTokenRelation(relation);
  if (At("(")) {
    if (AtParenthesisedNames()) return ParseTupleRelation(relation);
    Advance();
    return ParseRelation(relation) && Expect(")");
  }
  if (!AtName()) return FailHere();
  const char next = lexer_.NextCharacter();
  if (next == '(' || next == '.') return ParseFunctionRelation(relation);
  return ParseColumnRelation(relation);
}

// Is this `(a, b)` or `(a)`, rather than a relation in parentheses?
bool CqlParser::AtParenthesisedNames() const {
  Lexer ahead = lexer_;
  if (!IsName(ahead.Next())) return false;
  const Lexeme behind = ahead.Next();
  return behind.IsSymbol(",") || behind.IsSymbol(")");
}

bool CqlParser::ParseTokenRelation(Relation& relation) {
  relation.target = Relation::Target::kToken;
  Advance();
  return Expect("(") && ParseNames(relation.columns) && Expect(")") &&
         ParseComparison(relation.op) && ParseTerm(relation.value);
}

bool CqlParser::ParseFunctionRelation(Relation& relation) {
  relation.target = Relation::Target::kFunction;
  FunctionCall call;
  if (!ParseFunctionName(call.function)) return false;
  if (!At("(")) return FailHere();
  if (!ParseSelectorArguments(call.arguments)) return false;
  relation.function = Expression{std::move(call), relation.position};
  return ParseComparison(relation.op) && ParseTerm(relation.value);
}

// Everything that begins with the name of a column.
bool CqlParser::ParseColumnRelation(Relation& relation) {
  relation.target = Relation::Target::kColumn;
  if (!ParseName(relation.columns.emplace_back())) return false;
  if (Accept(Keyword::kIS)) {
    relation.op = RelationOperator::kIsNotNull;
    relation.value = Expression{NullConstant{}, token().position};
    return Expect(Keyword::kNOT) && Expect(Keyword::kNULL);
  }
  if (At(Keyword::kIN) || At(Keyword::kNOT)) return ParseInValues(relation);
  if (Accept(Keyword::kCONTAINS)) {
    relation.op =
        Accept(Keyword::kKEY) ? RelationOperator::kContainsKey : RelationOperator::kContains;
    return ParseTerm(relation.value);
  }
  if (Accept("[")) {
    relation.target = Relation::Target::kElement;
    if (!ParseTerm(relation.element.emplace()) || !Expect("]")) return false;
  }
  return ParseComparison(relation.op) && ParseTerm(relation.value);
}

bool CqlParser::ParseComparison(RelationOperator& op) {
  if (Accept(Keyword::kLIKE)) {
    op = RelationOperator::kLike;
    return true;
  }
  if (token().kind != TokenKind::kSymbol) return FailHere();
  const std::string_view text = token().text;
  if (text == "=") {
    op = RelationOperator::kEqual;
  } else if (text == "<") {
    op = RelationOperator::kLess;
  } else if (text == "<=") {
    op = RelationOperator::kLessOrEqual;
  } else if (text == ">") {
    op = RelationOperator::kGreater;
  } else if (text == ">=") {
    op = RelationOperator::kGreaterOrEqual;
  } else if (text == "!=") {
    op = RelationOperator::kNotEqual;
  } else {
    return FailHere();
  }
  Advance();
  return true;
}

// [NOT] IN marker | (value, ...).
bool CqlParser::ParseInValues(Relation& relation) {
  relation.op = Accept(Keyword::kNOT) ? RelationOperator::kNotIn : RelationOperator::kIn;
  if (!Expect(Keyword::kIN)) return false;
  if (AtMarker()) return ParseMarker(relation.value);
  relation.value.position = token().position;
  if (!Accept("(")) return FailHere();
  return ParseTerms(")", relation.value.node.emplace<ListLiteral>().elements);
}

bool CqlParser::ParseTupleRelation(Relation& relation) {
  relation.target = Relation::Target::kTuple;
  Advance();
  if (!ParseNames(relation.columns) || !Expect(")")) return false;
  if (At(Keyword::kIN) || At(Keyword::kNOT)) return ParseTupleInValues(relation);
  if (!ParseComparison(relation.op)) return false;
  if (AtMarker()) return ParseMarker(relation.value);
  relation.in_clustering_order = Accept(Keyword::kSCYLLA_CLUSTERING_BOUND);
  relation.value.position = token().position;
  if (!Accept("(") || At(")")) return FailHere();
  return ParseTerms(")", relation.value.node.emplace<TupleLiteral>().elements);
}

// [NOT] IN marker | ((v, ...), ...) | (marker, ...) | ().
bool CqlParser::ParseTupleInValues(Relation& relation) {
  relation.op = Accept(Keyword::kNOT) ? RelationOperator::kNotIn : RelationOperator::kIn;
  if (!Expect(Keyword::kIN)) return false;
  if (AtMarker()) return ParseMarker(relation.value);
  relation.value.position = token().position;
  if (!Accept("(")) return FailHere();
  auto& alternatives = relation.value.node.emplace<ListLiteral>().elements;
  if (Accept(")")) return true;
  do {
    Expression& alternative = alternatives.emplace_back();
    alternative.position = token().position;
    if (AtMarker()) {
      if (!ParseMarker(alternative)) return false;
    } else {
      if (!Accept("(") || At(")")) return FailHere();
      if (!ParseTerms(")", alternative.node.emplace<TupleLiteral>().elements)) return false;
    }
  } while (Accept(","));
  return Expect(")");
}

bool CqlParser::ParseConditions(bool& if_exists, std::vector<Relation>& conditions) {
  if (!Accept(Keyword::kIF)) return true;
  // `exists` may be a column too: then an operator follows.
  if (At(Keyword::kEXISTS)) {
    const Lexeme next = Peek();
    const bool is_column = (next.kind == TokenKind::kSymbol && !next.IsSymbol(";")) ||
                           next.keyword == Keyword::kIN || next.keyword == Keyword::kNOT ||
                           next.keyword == Keyword::kLIKE;
    if (!is_column) {
      Advance();
      if_exists = true;
      return true;
    }
  }
  do {
    if (conditions.size() == kRelationsMax) return FailSyntax("too many conditions in IF clause");
    if (!ParseCondition(conditions.emplace_back())) return false;
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseCondition(Relation& condition) {
  condition.position = token().position;
  condition.target = Relation::Target::kColumn;
  if (!ParseName(condition.columns.emplace_back())) return false;
  if (Accept("[")) {
    condition.target = Relation::Target::kElement;
    if (!ParseTerm(condition.element.emplace()) || !Expect("]")) return false;
  } else if (Accept(".")) {
    condition.target = Relation::Target::kField;
    if (!ParseName(condition.field)) return false;
  }
  if (At(Keyword::kIN) || At(Keyword::kNOT)) return ParseInValues(condition);
  return ParseComparison(condition.op) && ParseTerm(condition.value);
}

}  // namespace liststore::cql
