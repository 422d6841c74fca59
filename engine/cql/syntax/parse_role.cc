// CREATE, ALTER and DROP of roles and users. Source: ScyllaDB cql3/Cql.g.
#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {

bool CqlParser::ParseCreateRole(CreateRoleStatement& create) {
  Advance();
  create.options.is_superuser = false;
  create.options.can_login = false;
  return ParseIfNotExists(create.if_not_exists) && ParseRoleName(create.role) &&
         ParseRoleOptions(create.options);
}

bool CqlParser::ParseCreateUser(CreateRoleStatement& create) {
  Advance();
  create.options.is_superuser = false;
  create.options.can_login = true;
  return ParseIfNotExists(create.if_not_exists) && ParseUserName(create.role) &&
         ParseUserOptions(create.options);
}

bool CqlParser::ParseAlterRole(AlterRoleStatement& alter) {
  Advance();
  return ParseRoleName(alter.role) && ParseRoleOptions(alter.options);
}

bool CqlParser::ParseAlterUser(AlterRoleStatement& alter) {
  Advance();
  return ParseUserName(alter.role) && ParseUserOptions(alter.options);
}

bool CqlParser::ParseDropRole(DropRoleStatement& drop) {
  Advance();
  return ParseIfExists(drop.if_exists) && ParseRoleName(drop.role);
}

bool CqlParser::ParseDropUser(DropRoleStatement& drop) {
  Advance();
  return ParseIfExists(drop.if_exists) && ParseUserName(drop.role);
}

bool CqlParser::ParseRoleOptions(RoleOptions& options) {
  if (!Accept(Keyword::kWITH)) return true;
  do {
    if (!ParseRoleOption(options)) return false;
  } while (Accept(Keyword::kAND));
  return true;
}

bool CqlParser::ParseRoleOption(RoleOptions& options) {
  switch (token().keyword) {
    case Keyword::kPASSWORD:
      Advance();
      return Expect("=") && ParseStringLiteral(options.password);
    case Keyword::kHASHED:
      Advance();
      return Expect(Keyword::kPASSWORD) && Expect("=") &&
             ParseStringLiteral(options.hashed_password);
    case Keyword::kOPTIONS:
      Advance();
      if (!Expect("=")) return false;
      if (!At("{")) return FailHere();
      return ParsePropertyMap(options.options.emplace());
    case Keyword::kSUPERUSER:
      Advance();
      return Expect("=") && ParseBoolean(options.is_superuser);
    case Keyword::kLOGIN:
      Advance();
      return Expect("=") && ParseBoolean(options.can_login);
    default:
      return FailHere();
  }
}

// [WITH PASSWORD 'text'] [SUPERUSER | NOSUPERUSER].
bool CqlParser::ParseUserOptions(RoleOptions& options) {
  if (Accept(Keyword::kWITH)) {
    if (!Expect(Keyword::kPASSWORD) || !ParseStringLiteral(options.password)) return false;
  }
  if (Accept(Keyword::kSUPERUSER)) {
    options.is_superuser = true;
  } else if (Accept(Keyword::kNOSUPERUSER)) {
    options.is_superuser = false;
  }
  return true;
}

bool CqlParser::ParseBoolean(std::optional<bool>& value) {
  if (token().kind != TokenKind::kBoolean) return FailHere();
  value = token().text.size() == std::string_view("true").size();
  Advance();
  return true;
}

bool CqlParser::ParseStringLiteral(std::optional<std::string>& text) {
  if (token().kind != TokenKind::kString) return FailHere();
  text = StringOf(token());
  Advance();
  return true;
}

bool CqlParser::ParseRoleName(std::string& name) {
  if (token().kind == TokenKind::kString) {
    name = StringOf(token());
    Advance();
    return true;
  }
  return ParseNameOf("role", name);
}

// Words stay as they are written, which those of roles do not.
bool CqlParser::ParseUserName(std::string& name) {
  if (token().kind == TokenKind::kQuotedName) {
    return FailSyntax("Quoted strings are not supported for user names");
  }
  if (token().kind == TokenKind::kString) {
    name = StringOf(token());
  } else if (AtName()) {
    name = token().text;
  } else {
    return FailHere();
  }
  Advance();
  return true;
}

}  // namespace liststore::cql
