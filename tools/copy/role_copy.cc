#include "tools/copy/role_copy.h"

#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr char kDescribe[] = "DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS";
// The columns of the answer.
enum Column : size_t {
  kKeyspace,
  kType,
  kName,
  kStatement,
  kColumns
};

struct Described {
  bool is_role = false;  // else something that was granted
  std::string name;
  std::string statement;
};

// Roles come before what was granted to them.
absl::StatusOr<std::vector<Described>> ReadRoles(CqlClient& client) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client.Query(kDescribe));
  std::vector<Described> roles;
  for (size_t row = 0; row < rows.size() && rows.columns() == kColumns; ++row) {
    const std::string_view type = rows.at(row, kType);
    if (type != "role" && type != "grant_role" && type != "grant_permission") continue;
    roles.push_back(
        {type == "role", std::string(rows.at(row, kName)), std::string(rows.at(row, kStatement))});
  }
  return roles;
}

}  // namespace

absl::StatusOr<RoleCopy> PlanRoleCopy(CqlClient& source, CqlClient& target) {
  LS_ASSIGN_OR_RETURN(const std::vector<Described> here, ReadRoles(source));
  LS_ASSIGN_OR_RETURN(const std::vector<Described> there, ReadRoles(target));
  std::set<std::string> names;
  std::set<std::string> statements;
  for (const Described& one : there) {
    if (one.is_role) names.insert(one.name);
    statements.insert(one.statement);
  }
  RoleCopy copy;
  for (const Described& one : here) {
    if (statements.contains(one.statement)) continue;
    if (one.is_role && names.contains(one.name)) {
      copy.notes.push_back(absl::StrCat("role ", one.name, " is there and stays what it is"));
    } else {
      copy.statements.push_back(one.statement);
    }
  }
  return copy;
}

std::string WithoutHash(std::string statement) {
  constexpr std::string_view kBegin = "HASHED PASSWORD = '";
  constexpr std::string_view kEnd = "' AND LOGIN = ";
  const size_t begin = statement.find(kBegin);
  const size_t end = statement.rfind(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return statement;
  const size_t hash = begin + kBegin.size();
  if (end > hash) statement.replace(hash, end - hash, "...");
  return statement;
}

}  // namespace liststore
