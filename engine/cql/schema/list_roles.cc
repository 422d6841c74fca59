#include "engine/cql/schema/list_roles.h"

#include <string>

#include "engine/base/check.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::cql {

CqlOr<Description> ListRoles(const ListStatement& statement, const NodeFacts& node,
                             std::string_view user) {
  using Kind = ListStatement::Kind;
  if (user != node.superuser) {
    return CqlError{CqlErrorCode::kUnauthorized,
                    "You have to be logged in and not anonymous to perform this request",
                    {}};
  }
  if (statement.kind == Kind::kPermissions) {
    return CqlError::Invalid("LIST PERMISSIONS operation is not supported by AllowAllAuthorizer");
  }
  if (statement.of && *statement.of != node.superuser) {
    return CqlError::Invalid("Role " + *statement.of + " doesn't exist.");
  }
  Description listing;
  if (statement.kind == Kind::kUsers) {
    listing.table = "users";
    listing.columns = {{"name", CqlType::kText}, {"super", CqlType::kBoolean}};
    listing.rows.push_back({node.superuser, EncodeBoolean(true)});
    return listing;
  }
  // Of a role it is itself, which no other was granted to.
  listing.table = "roles";
  listing.columns = {{"role", CqlType::kText},
                     {"super", CqlType::kBoolean},
                     {"login", CqlType::kBoolean},
                     {"options", DataType::Map(CqlType::kText, CqlType::kText)}};
  listing.rows.push_back(
      {node.superuser, EncodeBoolean(true), EncodeBoolean(true), EncodeTextMap({})});
  return listing;
}

}  // namespace liststore::cql
