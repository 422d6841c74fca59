// The roles that a server begins with, from what its options ask for.
#ifndef LISTSTORE_ENGINE_SERVE_ROLE_SETUP_H_
#define LISTSTORE_ENGINE_SERVE_ROLE_SETUP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/roles/role_store.h"
#include "engine/settings/scylla_settings.h"
#include "liststore/cql_server.h"

namespace liststore {

// One role, a superuser: that of user and password; else, where ScyllaDB's option authenticator
// asks for passwords, that of auth_superuser_name and auth_superuser_salted_password, cassandra and
// cassandra by default; else cassandra, as which nobody logs in. Its option authorizer says whether
// permissions are checked. Hashes a password, in milliseconds. InvalidArgument: authenticator or
// authorizer is none of those that there are, or the hash asks for too much work.
// `kept`: that there were before; nullptr: none. The superuser of `options` is put among them, with the
// password that is said there; one that follows from `config` is there where they have it not.
absl::StatusOr<std::shared_ptr<roles::RoleStore>> MakeRoles(const CqlServerOptions& options,
                                                            const settings::ScyllaConfig& config,
                                                            const roles::RoleState* kept = nullptr);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_ROLE_SETUP_H_
