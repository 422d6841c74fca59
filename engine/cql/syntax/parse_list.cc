// LIST ROLES, USERS and permissions.
#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

// LIST [ALL | ATTACHED | EFFECTIVE ...] SERVICE LEVEL: refused as service levels, not as roles.
bool CqlParser::AtServiceLevels() const {
  const auto is_of_levels = [](const Lexeme& token) {
    return token.keyword == Keyword::kATTACHED || token.keyword == Keyword::kSERVICE ||
           token.keyword == Keyword::kSERVICE_LEVEL || token.keyword == Keyword::kSERVICE_LEVELS;
  };
  Lexer ahead = lexer_;
  const Lexeme object = ahead.Next();
  if (is_of_levels(object)) return true;
  return (object.keyword == Keyword::kALL || object.keyword == Keyword::kEFFECTIVE) &&
         is_of_levels(ahead.Next());
}

bool CqlParser::ParseList(ListStatement& list) {
  using Kind = ListStatement::Kind;
  Advance();
  if (Accept(Keyword::kUSERS)) {
    list.kind = Kind::kUsers;
    return true;
  }
  if (!Accept(Keyword::kROLES)) {
    list.kind = Kind::kPermissions;
    if (!ParsePermissions()) return false;
    if (Accept(Keyword::kON) && !ParseResource()) return false;
  }
  if (Accept(Keyword::kOF) && !ParseRoleName(list.of.emplace())) return false;
  Accept(Keyword::kNORECURSIVE);
  return true;
}

// ALL [PERMISSIONS] | SELECT [PERMISSION] and so on.
bool CqlParser::ParsePermissions() {
  if (Accept(Keyword::kALL)) {
    Accept(Keyword::kPERMISSIONS);
    return true;
  }
  switch (token().keyword) {
    case Keyword::kCREATE:
    case Keyword::kALTER:
    case Keyword::kDROP:
    case Keyword::kSELECT:
    case Keyword::kMODIFY:
    case Keyword::kAUTHORIZE:
    case Keyword::kDESCRIBE:
    case Keyword::kEXECUTE:
      Advance();
      Accept(Keyword::kPERMISSION);
      return true;
    default:
      return FailHere();
  }
}

// What permissions are of: data, roles or functions.
bool CqlParser::ParseResource() {
  std::string name;
  if (At(Keyword::kALL)) {
    Advance();
    if (Accept(Keyword::kKEYSPACES) || Accept(Keyword::kROLES)) return true;
    if (!Expect(Keyword::kFUNCTIONS)) return false;
    return !Accept(Keyword::kIN) || (Expect(Keyword::kKEYSPACE) && ParseNameOf("keyspace", name));
  }
  if (Accept(Keyword::kKEYSPACE)) return ParseNameOf("keyspace", name);
  if (Accept(Keyword::kROLE)) return ParseRoleName(name);
  if (Accept(Keyword::kFUNCTION)) {
    FunctionName function;
    if (!ParseFunctionName(function) || !Expect("(")) return false;
    if (Accept(")")) return true;
    do {
      TypeSpec type;
      if (!ParseType(type)) return false;
    } while (Accept(","));
    return Expect(")");
  }
  Accept(Keyword::kTABLE);
  QualifiedName table;
  return ParseQualifiedName("table", table);
}

bool CqlParser::ParseRoleName(std::string& name) {
  if (token().kind == TokenKind::kString) {
    name = StringOf(token());
    Advance();
    return true;
  }
  return ParseNameOf("role", name);
}

}  // namespace liststore::cql
