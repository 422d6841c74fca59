// GRANT, REVOKE and LIST: who has which roles and permissions. Source: ScyllaDB cql3/Cql.g.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/syntax/parser_impl.h"

namespace liststore::cql {
namespace {

std::optional<roles::Permission> PermissionOf(Keyword keyword) {
  switch (keyword) {
    case Keyword::kCREATE:
      return roles::Permission::kCreate;
    case Keyword::kALTER:
      return roles::Permission::kAlter;
    case Keyword::kDROP:
      return roles::Permission::kDrop;
    case Keyword::kSELECT:
      return roles::Permission::kSelect;
    case Keyword::kMODIFY:
      return roles::Permission::kModify;
    case Keyword::kAUTHORIZE:
      return roles::Permission::kAuthorize;
    case Keyword::kDESCRIBE:
      return roles::Permission::kDescribe;
    case Keyword::kEXECUTE:
      return roles::Permission::kExecute;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool CqlParser::ParseGrant(Statement& statement) {
  const bool revokes = At(Keyword::kREVOKE);
  const Keyword whose = revokes ? Keyword::kFROM : Keyword::kTO;
  Advance();
  if (!AtPermissions()) {
    auto& grant = statement.node.emplace<GrantRoleStatement>();
    grant.revokes = revokes;
    return ParseRoleName(grant.role) && Expect(whose) && ParseRoleName(grant.grantee);
  }
  auto& grant = statement.node.emplace<GrantStatement>();
  grant.revokes = revokes;
  if (!ParsePermissions(grant.permissions) || !Expect(Keyword::kON)) return false;
  if (!ParseResource(grant.resource) || !Expect(whose) || !ParseRoleName(grant.role)) return false;
  // Source: ScyllaDB cql3/statements/permission_altering_statement.cc.
  grant.permissions = grant.permissions.And(grant.resource.ApplicablePermissions());
  if (!grant.permissions.empty()) return true;
  return FailSyntax("Resource " + grant.resource.ToString() +
                    " does not support any of the requested permissions.");
}

// Some of their words are names as well: GRANT execute TO bob is of a role.
bool CqlParser::AtPermissions() const {
  if (!At(Keyword::kALL) && !PermissionOf(token().keyword)) return false;
  if (!AtName()) return true;
  Lexer ahead = lexer_;
  Lexeme next = ahead.Next();
  if (next.keyword == Keyword::kPERMISSION || next.keyword == Keyword::kPERMISSIONS) {
    next = ahead.Next();
  }
  return next.keyword == Keyword::kON;
}

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
    if (!ParsePermissions(list.permissions)) return false;
    if (Accept(Keyword::kON)) {
      list.resource.emplace(roles::ResourceKind::kData);
      if (!ParseResource(*list.resource)) return false;
    }
  }
  if (Accept(Keyword::kOF) && !ParseRoleName(list.of.emplace())) return false;
  list.is_recursive = !Accept(Keyword::kNORECURSIVE);
  return true;
}

// ALL [PERMISSIONS] | SELECT [PERMISSION] and so on.
bool CqlParser::ParsePermissions(roles::PermissionSet& permissions) {
  if (Accept(Keyword::kALL)) {
    Accept(Keyword::kPERMISSIONS);
    permissions = roles::PermissionSet::All();
    return true;
  }
  const std::optional<roles::Permission> permission = PermissionOf(token().keyword);
  if (!permission) return FailHere();
  permissions = {*permission};
  Advance();
  Accept(Keyword::kPERMISSION);
  return true;
}

// What permissions are of: data, roles or functions.
bool CqlParser::ParseResource(roles::Resource& resource) {
  using roles::Resource;
  using roles::ResourceKind;
  std::string name;
  // ALL is a name as well.
  const Keyword next = Peek().keyword;
  if (At(Keyword::kALL) && (next == Keyword::kKEYSPACES || next == Keyword::kROLES)) {
    Advance();
    Advance();
    resource = Resource(next == Keyword::kROLES ? ResourceKind::kRole : ResourceKind::kData);
    return true;
  }
  if (At(Keyword::kALL) && next == Keyword::kFUNCTIONS) {
    Advance();
    Advance();
    resource = Resource(ResourceKind::kFunctions);
    if (!Accept(Keyword::kIN)) return true;
    if (!Expect(Keyword::kKEYSPACE) || !ParseNameOf("keyspace", name)) return false;
    resource = Resource::FunctionsIn(std::move(name));
    return true;
  }
  if (Accept(Keyword::kKEYSPACE)) {
    if (!ParseNameOf("keyspace", name)) return false;
    resource = Resource::Keyspace(std::move(name));
    return true;
  }
  // ROLE and FUNCTION are names of tables where nothing follows that they could be of.
  const bool is_name = next == Keyword::kTO || next == Keyword::kFROM || next == Keyword::kOF ||
                       next == Keyword::kNORECURSIVE || Peek().IsSymbol(".") ||
                       Peek().IsSymbol(";") || Peek().kind == TokenKind::kEnd;
  if (At(Keyword::kROLE) && !is_name) {
    Advance();
    if (!ParseRoleName(name)) return false;
    resource = Resource::Role(std::move(name));
    return true;
  }
  if (At(Keyword::kFUNCTION) && !is_name) return ParseFunctionResource(resource);
  if (!Accept(Keyword::kTABLE)) Accept(Keyword::kCOLUMNFAMILY);
  QualifiedName table;
  if (!ParseQualifiedName("table", table)) return false;
  resource = Resource::Table(std::move(table.keyspace), std::move(table.name));
  return true;
}

// FUNCTION f(int, text).
bool CqlParser::ParseFunctionResource(roles::Resource& resource) {
  Advance();
  FunctionName function;
  if (!ParseFunctionName(function) || !Expect("(")) return false;
  std::vector<std::string> arguments;
  if (!At(")")) {
    do {
      TypeSpec type;
      if (!ParseType(type)) return false;
      arguments.push_back(ToString(type));
    } while (Accept(","));
  }
  resource = roles::Resource::Function(function.keyspace, function.name, arguments);
  return Expect(")");
}

}  // namespace liststore::cql
