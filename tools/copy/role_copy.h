// Roles, and what was granted to them, from a server to another.
#ifndef LISTSTORE_TOOLS_COPY_ROLE_COPY_H_
#define LISTSTORE_TOOLS_COPY_ROLE_COPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"

namespace liststore {

struct RoleCopy {
  std::vector<std::string> statements;  // in the order in which they can be run
  std::vector<std::string> notes;       // what stays as it is at the target
};

// The statements that the source describes its roles by, hashed passwords included, less what the
// target has: a role that is there stays what it is. Both are ScyllaDB from 2025.1 on, or liststore
// that looks like one, and are asked as a superuser; what they refuse is the status.
absl::StatusOr<RoleCopy> PlanRoleCopy(CqlClient& source, CqlClient& target);

// The statement as it may be shown: without the hash.
std::string WithoutHash(std::string statement);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_ROLE_COPY_H_
