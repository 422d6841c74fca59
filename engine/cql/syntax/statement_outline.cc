#include "engine/cql/syntax/statement_outline.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/cql/syntax/keywords.h"
#include "engine/cql/syntax/lexer.h"

namespace liststore::cql {
namespace {

constexpr std::pair<StatementOp, std::string_view> kNames[] = {
    {StatementOp::kSelect, "SELECT"},     {StatementOp::kInsert, "INSERT"},
    {StatementOp::kUpdate, "UPDATE"},     {StatementOp::kDelete, "DELETE"},
    {StatementOp::kTruncate, "TRUNCATE"}, {StatementOp::kBatch, "BATCH"},
    {StatementOp::kUse, "USE"},           {StatementOp::kCreate, "CREATE"},
    {StatementOp::kAlter, "ALTER"},       {StatementOp::kDrop, "DROP"},
    {StatementOp::kDescribe, "DESCRIBE"}, {StatementOp::kPrepare, "PREPARE"},
    {StatementOp::kOther, "OTHER"},
};

bool IsName(const Lexeme& token) {
  return token.kind == TokenKind::kWord || token.kind == TokenKind::kQuotedName;
}

// The next token that is `keyword`; kEnd when there is none.
Lexeme Skip(Lexer& lexer, Keyword keyword) {
  Lexeme token = lexer.Next();
  while (token.kind != TokenKind::kEnd && token.kind != TokenKind::kInvalid &&
         token.keyword != keyword) {
    token = lexer.Next();
  }
  return token;
}

// `[keyspace.]table`, beginning with `token`.
void TakeTable(Lexeme token, Lexer& lexer, StatementOutline& outline) {
  if (!IsName(token)) return;
  outline.table = NameOf(token);
  if (lexer.NextCharacter() != '.') return;
  lexer.Next();
  token = lexer.Next();
  if (IsName(token)) outline.keyspace = std::exchange(outline.table, NameOf(token));
}

// Behind CREATE, ALTER and DROP.
void TakeSchemaObject(Lexer& lexer, StatementOutline& outline) {
  const Keyword what = lexer.Next().keyword;
  const bool is_keyspace = what == Keyword::kKEYSPACE || what == Keyword::kSCHEMA;
  if (!is_keyspace && what != Keyword::kTABLE && what != Keyword::kCOLUMNFAMILY) return;
  Lexeme token = lexer.Next();
  if (token.keyword == Keyword::kIF) {
    while (token.keyword == Keyword::kIF || token.keyword == Keyword::kNOT ||
           token.keyword == Keyword::kEXISTS) {
      token = lexer.Next();
    }
  }
  TakeTable(token, lexer, outline);
  if (is_keyspace) outline.keyspace = std::exchange(outline.table, "");
}

void TakeFrom(Keyword first, Lexer& lexer, StatementOutline& outline);

// Behind BEGIN: what the first statement says.
void TakeBatch(Lexer& lexer, StatementOutline& outline) {
  Lexeme token = lexer.Next();
  while (token.kind != TokenKind::kEnd && token.kind != TokenKind::kInvalid &&
         token.keyword != Keyword::kINSERT && token.keyword != Keyword::kUPDATE &&
         token.keyword != Keyword::kDELETE) {
    token = lexer.Next();
  }
  TakeFrom(token.keyword, lexer, outline);
  outline.op = StatementOp::kBatch;
}

// What follows the first word of a statement.
void TakeFrom(Keyword first, Lexer& lexer, StatementOutline& outline) {
  switch (first) {
    case Keyword::kSELECT:
      outline.op = StatementOp::kSelect;
      Skip(lexer, Keyword::kFROM);
      return TakeTable(lexer.Next(), lexer, outline);
    case Keyword::kDELETE:
      outline.op = StatementOp::kDelete;
      Skip(lexer, Keyword::kFROM);
      return TakeTable(lexer.Next(), lexer, outline);
    case Keyword::kINSERT:
      outline.op = StatementOp::kInsert;
      Skip(lexer, Keyword::kINTO);
      return TakeTable(lexer.Next(), lexer, outline);
    case Keyword::kUPDATE:
      outline.op = StatementOp::kUpdate;
      return TakeTable(lexer.Next(), lexer, outline);
    case Keyword::kTRUNCATE: {
      outline.op = StatementOp::kTruncate;
      Lexeme token = lexer.Next();
      if (token.keyword == Keyword::kTABLE || token.keyword == Keyword::kCOLUMNFAMILY) {
        token = lexer.Next();
      }
      return TakeTable(token, lexer, outline);
    }
    case Keyword::kBEGIN:
      return TakeBatch(lexer, outline);
    case Keyword::kUSE:
      outline.op = StatementOp::kUse;
      TakeTable(lexer.Next(), lexer, outline);
      outline.keyspace = std::exchange(outline.table, "");
      return;
    case Keyword::kCREATE:
      outline.op = StatementOp::kCreate;
      return TakeSchemaObject(lexer, outline);
    case Keyword::kALTER:
      outline.op = StatementOp::kAlter;
      return TakeSchemaObject(lexer, outline);
    case Keyword::kDROP:
      outline.op = StatementOp::kDrop;
      return TakeSchemaObject(lexer, outline);
    case Keyword::kDESC:
    case Keyword::kDESCRIBE:
      outline.op = StatementOp::kDescribe;
      return;
    default:
      return;
  }
}

}  // namespace

std::string_view ToString(StatementOp op) {
  return std::ranges::find(kNames, op, [](const auto& entry) { return entry.first; })->second;
}

std::optional<StatementOp> ParseStatementOp(std::string_view name) {
  const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  for (const auto& [op, known] : kNames) {
    if (std::ranges::equal(name, known, same)) return op;
  }
  return std::nullopt;
}

StatementOutline OutlineOf(std::string_view text, std::string_view keyspace) {
  StatementOutline outline;
  Lexer lexer(text);
  TakeFrom(lexer.Next().keyword, lexer, outline);
  if (!outline.table.empty() && outline.keyspace.empty()) outline.keyspace = keyspace;
  return outline;
}

std::string QualifiedTable(const StatementOutline& outline) {
  if (outline.table.empty()) return outline.keyspace;
  if (outline.keyspace.empty()) return outline.table;
  return outline.keyspace + "." + outline.table;
}

bool IsServersKeyspace(std::string_view keyspace) {
  return keyspace == "liststore" || keyspace == "system" || keyspace.starts_with("system_");
}

}  // namespace liststore::cql
