// DESCRIBE, and statements that are known and not supported.
#include <utility>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

bool CqlParser::ParseDescribe(DescribeStatement& describe) {
  Advance();
  if (!ParseDescribed(describe)) return false;
  if (!Accept(Keyword::kWITH)) return true;
  if (!Expect(Keyword::kINTERNALS)) return false;
  describe.with_internals = true;
  if (!Accept(Keyword::kAND)) return true;
  describe.with_passwords = true;
  return Expect(Keyword::kPASSWORDS);
}

bool CqlParser::ParseDescribed(DescribeStatement& describe) {
  using Kind = DescribeStatement::Kind;
  const auto listing = [&](Kind kind) {
    describe.kind = kind;
    Advance();
    return true;
  };
  switch (token().keyword) {
    case Keyword::kCLUSTER:
      return listing(Kind::kCluster);
    case Keyword::kFULL:
      describe.full = true;
      describe.kind = Kind::kSchema;
      Advance();
      return Expect(Keyword::kSCHEMA);
    case Keyword::kSCHEMA:
      return listing(Kind::kSchema);
    case Keyword::kKEYSPACES:
      return listing(Kind::kKeyspaces);
    case Keyword::kTABLES:
    case Keyword::kCOLUMNFAMILIES:
      return listing(Kind::kTables);
    case Keyword::kTYPES:
      return listing(Kind::kTypes);
    case Keyword::kFUNCTIONS:
      return listing(Kind::kFunctions);
    case Keyword::kAGGREGATES:
      return listing(Kind::kAggregates);
    case Keyword::kONLY:
      if (Peek().keyword != Keyword::kKEYSPACE) break;
      describe.only = true;
      Advance();
      [[fallthrough]];
    case Keyword::kKEYSPACE:
      describe.kind = Kind::kKeyspace;
      Advance();
      describe.name.position = token().position;
      return (!AtName() && !At("?")) || ParseNameOf("keyspace", describe.name.keyspace);
    case Keyword::kTABLE:
    case Keyword::kCOLUMNFAMILY:
      return ParseDescribedName(Kind::kTable, describe);
    case Keyword::kINDEX:
      return ParseDescribedName(Kind::kIndex, describe);
    case Keyword::kMATERIALIZED:
      Advance();
      if (!At(Keyword::kVIEW)) return FailMissing("VIEW");
      return ParseDescribedName(Kind::kMaterializedView, describe);
    case Keyword::kTYPE:
      return ParseDescribedName(Kind::kType, describe);
    case Keyword::kFUNCTION:
      return ParseDescribedName(Kind::kFunction, describe);
    case Keyword::kAGGREGATE:
      return ParseDescribedName(Kind::kAggregate, describe);
    default:
      break;
  }
  describe.kind = Kind::kAny;
  return ParseQualifiedName("table", describe.name);
}

bool CqlParser::ParseDescribedName(DescribeStatement::Kind kind, DescribeStatement& describe) {
  describe.kind = kind;
  Advance();
  return ParseQualifiedName("table", describe.name);
}

// What CREATE, ALTER or DROP is about, behind that word: nullopt for what CQL does not have either.
std::optional<UnsupportedStatement> CqlParser::UnsupportedObject(std::string_view verb) {
  const auto named = [&](CqlFeature feature, std::string_view object) {
    return UnsupportedStatement{feature, std::string(verb) + " " + std::string(object)};
  };
  Lexer ahead = lexer_;
  Lexeme object = token();
  if (object.keyword == Keyword::kOR) {  // CREATE OR REPLACE
    if (ahead.Next().keyword != Keyword::kREPLACE) return std::nullopt;
    object = ahead.Next();
  }
  const Lexeme next = ahead.Next();
  switch (object.keyword) {
    case Keyword::kFUNCTION:
    case Keyword::kAGGREGATE:
      return named(CqlFeature::kUserFunctions, KeywordText(object.keyword));
    case Keyword::kTRIGGER:
      return named(CqlFeature::kTriggers, "TRIGGER");
    case Keyword::kSERVICE_LEVEL:
      return named(CqlFeature::kServiceLevels, "SERVICE_LEVEL");
    case Keyword::kSERVICE:
      if (next.keyword != Keyword::kLEVEL) return std::nullopt;
      return named(CqlFeature::kServiceLevels, "SERVICE_LEVEL");
    default:
      return std::nullopt;
  }
}

bool CqlParser::ParseUnsupported(UnsupportedStatement unsupported, Statement& statement) {
  while (token().kind != TokenKind::kEnd && !At(";")) {
    if (token().kind == TokenKind::kInvalid) return FailHere();
    Advance();
  }
  statement.node = std::move(unsupported);
  return true;
}

}  // namespace liststore::cql
