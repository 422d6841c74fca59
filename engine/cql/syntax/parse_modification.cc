// INSERT, UPDATE, DELETE, BATCH.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

bool CqlParser::ParseModification(ModificationStatement& statement) {
  if (At(Keyword::kINSERT)) return ParseInsert(statement);
  if (At(Keyword::kUPDATE)) return ParseUpdate(statement.emplace<UpdateStatement>());
  if (At(Keyword::kDELETE)) return ParseDelete(statement.emplace<DeleteStatement>());
  return FailHere();
}

bool CqlParser::ParseInsert(ModificationStatement& statement) {
  Advance();
  QualifiedName table;
  if (!Expect(Keyword::kINTO) || !ParseQualifiedName("table", table)) return false;
  if (Accept(Keyword::kJSON)) {
    return ParseInsertJson(std::move(table), statement.emplace<InsertJsonStatement>());
  }
  auto& insert = statement.emplace<InsertStatement>();
  insert.table = std::move(table);
  if (!Accept("(")) return FailHere();
  insert.columns.reserve(8);
  if (!ParseNames(insert.columns) || !Expect(")") || !Expect(Keyword::kVALUES)) return false;
  if (!Expect("(")) return false;
  if (At(")")) return FailHere();
  insert.values.reserve(insert.columns.size());
  return ParseTerms(")", insert.values) && ParseIfNotExists(insert.if_not_exists) &&
         ParseUsing(UsingParts::kAll, insert.attributes);
}

bool CqlParser::ParseInsertJson(QualifiedName table, InsertJsonStatement& insert) {
  insert.table = std::move(table);
  insert.json.position = token().position;
  if (AtMarker()) {
    if (!ParseMarker(insert.json)) return false;
  } else {
    if (token().kind != TokenKind::kString) return FailHere();
    if (!ParseConstant(insert.json.node.emplace<Constant>())) return false;
  }
  if (Accept(Keyword::kDEFAULT)) {
    insert.default_unset = Accept(Keyword::kUNSET);
    if (!insert.default_unset && !Accept(Keyword::kNULL)) return FailHere();
  }
  return ParseIfNotExists(insert.if_not_exists) && ParseUsing(UsingParts::kAll, insert.attributes);
}

// USING part AND part ..., or nothing.
bool CqlParser::ParseUsing(UsingParts parts, UsingClause& clause) {
  if (!Accept(Keyword::kUSING)) return true;
  const bool timestamp = parts != UsingParts::kTimeout;
  const bool ttl = parts == UsingParts::kAll;
  const bool timeout = parts != UsingParts::kTimestamp;
  do {
    if (timestamp && Accept(Keyword::kTIMESTAMP)) {
      if (!ParseIntegerOrMarker(clause.timestamp)) return false;
    } else if (ttl && Accept(Keyword::kTTL)) {
      if (!ParseIntegerOrMarker(clause.ttl)) return false;
    } else if (timeout && Accept(Keyword::kTIMEOUT)) {
      if (!ParseTerm(clause.timeout.emplace())) return false;
    } else {
      return FailHere();
    }
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseUpdate(UpdateStatement& update) {
  Advance();
  if (!ParseQualifiedName("table", update.table)) return false;
  if (!ParseUsing(UsingParts::kAll, update.attributes)) return false;
  if (!Expect(Keyword::kSET)) return false;
  do {
    if (!ParseAssignment(update.assignments.emplace_back())) return false;
  } while (Accept(","));
  return Expect(Keyword::kWHERE) && ParseWhere(update.where) &&
         ParseConditions(update.if_exists, update.conditions);
}

bool CqlParser::ParseAssignment(Assignment& assignment) {
  assignment.position = token().position;
  if (!ParseName(assignment.column)) return false;
  if (Accept("=")) return ParseAssignedValue(assignment);
  if (At("+=") || At("-=")) {
    assignment.kind = At("+=") ? Assignment::Kind::kAdd : Assignment::Kind::kSubtract;
    Advance();
    return ParseTerm(assignment.value);
  }
  if (Accept("[")) {
    assignment.kind = Assignment::Kind::kSetElement;
    assignment.is_timeuuid = Accept(Keyword::kSCYLLA_TIMEUUID_LIST_INDEX);
    if (assignment.is_timeuuid && !Expect("(")) return false;
    if (!ParseTerm(assignment.element.emplace())) return false;
    if (assignment.is_timeuuid && !Expect(")")) return false;
    return Expect("]") && Expect("=") && ParseTerm(assignment.value);
  }
  if (Accept(".")) {
    assignment.kind = Assignment::Kind::kSetField;
    return ParseName(assignment.field) && Expect("=") && ParseTerm(assignment.value);
  }
  return FailHere();
}

// Behind `c =`: a term, `term + c`, `c + term`, `c - term` or `c -3`.
bool CqlParser::ParseAssignedValue(Assignment& assignment) {
  if (AtName()) {
    const Lexeme next = Peek();
    if (!next.IsSymbol("(") && !next.IsSymbol(".")) return ParseIncrement(assignment);
  }
  assignment.kind = Assignment::Kind::kSet;
  if (!ParseTerm(assignment.value)) return false;
  if (!Accept("+")) return true;
  std::string column;
  if (!ParseName(column)) return false;
  if (column != assignment.column) {
    return FailSyntax("Only expressions of the form X = <value> + X are supported.");
  }
  assignment.kind = Assignment::Kind::kPrepend;
  return true;
}

bool CqlParser::ParseIncrement(Assignment& assignment) {
  std::string column;
  if (!ParseName(column)) return false;
  const bool same = column == assignment.column;
  if (token().kind == TokenKind::kInteger) {
    // `c = c -3` has no minus of its own: the number is negative.
    if (!same) {
      return FailSyntax(std::string("Only expressions of the form X = X ") +
                        (token().text[0] == '-' ? "-" : "+") + " <value> are supported.");
    }
    assignment.kind = Assignment::Kind::kAdd;
    assignment.value.position = token().position;
    return ParseConstant(assignment.value.node.emplace<Constant>());
  }
  if (!At("+") && !At("-")) return FailHere();
  const bool add = At("+");
  if (!same) {
    return FailSyntax(std::string("Only expressions of the form X = X ") + (add ? "+" : "-") +
                      "<value> are supported.");
  }
  Advance();
  assignment.kind = add ? Assignment::Kind::kAdd : Assignment::Kind::kSubtract;
  return ParseTerm(assignment.value);
}

bool CqlParser::ParseDelete(DeleteStatement& deletion) {
  Advance();
  if (!At(Keyword::kFROM)) {
    do {
      if (!ParseDeletion(deletion.deletions.emplace_back())) return false;
    } while (Accept(","));
  }
  return Expect(Keyword::kFROM) && ParseQualifiedName("table", deletion.table) &&
         ParseUsing(UsingParts::kNoTtl, deletion.attributes) && Expect(Keyword::kWHERE) &&
         ParseWhere(deletion.where) && ParseConditions(deletion.if_exists, deletion.conditions);
}

bool CqlParser::ParseDeletion(Deletion& deletion) {
  deletion.position = token().position;
  if (!ParseName(deletion.column)) return false;
  if (Accept("[")) return ParseTerm(deletion.element.emplace()) && Expect("]");
  if (Accept(".")) return ParseName(deletion.field);
  return true;
}

bool CqlParser::ParseBatch(BatchStatement& batch) {
  Advance();
  if (Accept(Keyword::kUNLOGGED)) {
    batch.kind = BatchStatement::Kind::kUnlogged;
  } else if (Accept(Keyword::kCOUNTER)) {
    batch.kind = BatchStatement::Kind::kCounter;
  }
  if (!Expect(Keyword::kBATCH) || !ParseUsing(UsingParts::kAll, batch.attributes)) return false;
  while (!Accept(Keyword::kAPPLY)) {
    if (!ParseModification(batch.statements.emplace_back())) return false;
    Accept(";");
  }
  return Expect(Keyword::kBATCH);
}

}  // namespace liststore::cql
