// Statements about roles and permissions. Sources: ScyllaDB
// cql3/statements/role-management-statements.cc, permission_altering_statement.cc,
// grant_statement.cc, list_users_statement.cc, list_permissions_statement.cc; auth/service.cc.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/schema/list_roles.h"
#include "engine/cql/schema/role_tables.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/key_bytes.h"
#include "engine/cql/values/native_function.h"
#include "engine/execute/access.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/roles/password_hash.h"

namespace liststore::execute {
namespace {

using cql::CqlError;
using cql::CqlOr;
using cql::CqlStatus;
using roles::Permission;
using roles::Resource;
using roles::ResourceKind;
using roles::RoleState;
using roles::RoleStore;

CqlStatus ToStatus(roles::RoleError error) {
  if (!error) return {};
  return CqlError::Invalid(*std::move(error));
}

CqlError NotSupportedByAllowAll(std::string_view what) {
  return CqlError::Invalid(std::string(what) + " operation is not supported by AllowAllAuthorizer");
}

// ---- What a statement says.

CqlStatus CheckOptions(const cql::RoleOptions& options) {
  if (options.password && options.hashed_password) {
    return CqlError::Syntax("Only one of the options: PASSWORD, HASHED PASSWORD can be provided");
  }
  return {};
}

// Those that PasswordAuthenticator has.
CqlStatus CheckSupported(const cql::RoleOptions& options) {
  if (options.options) return CqlError::Invalid("The OPTIONS option is not supported.");
  return {};
}

// nullopt: none was said. Hashing takes milliseconds.
CqlOr<std::optional<std::string>> SaltedHashOf(const cql::RoleOptions& options) {
  if (options.hashed_password) {
    if (auto problem = roles::ProblemOfHash(*options.hashed_password)) {
      return CqlError::Invalid(*std::move(problem));
    }
    return std::optional(*options.hashed_password);
  }
  if (!options.password) return std::optional<std::string>();
  if (options.password->size() > roles::kPasswordBytesMax) {
    return CqlError::Invalid("PASSWORD has " + std::to_string(options.password->size()) +
                             " bytes, more than can be hashed, " +
                             std::to_string(roles::kPasswordBytesMax));
  }
  return std::optional(roles::HashPassword(*options.password));
}

// ---- What a statement is about.

// The resource with the keyspace that is meant where none is said.
CqlOr<Resource> Corrected(const Resource& resource, const ClientState& client) {
  if (!resource.is_table() || !resource.parts()[0].empty()) return resource;
  if (!client.keyspace.empty()) return Resource::Table(client.keyspace, resource.parts()[1]);
  return CqlError::Invalid(
      "No keyspace has been specified. USE a keyspace, or explicitly specify "
      "keyspace.tablename");
}

// A function that CQL has by itself: there are no others.
CqlOr<bool> IsFunction(const Resource& resource, const KeyspaceDefinition& keyspace) {
  const std::vector<std::string>& parts = resource.parts();
  std::vector<DataType> arguments;
  for (size_t i = 2; i < parts.size(); ++i) {
    LS_ASSIGN_OR_RETURN(const cql::TypeSpec spec, cql::ParseType(parts[i]));
    LS_ASSIGN_OR_RETURN(DataType type, cql::ToDataType(spec, keyspace.name, keyspace.types));
    arguments.push_back(std::move(type));
  }
  const auto functions = cql::FindNativeFunctions({keyspace.name, parts[1]}, nullptr);
  return std::ranges::any_of(functions, [&](const cql::NativeFunction& function) {
    return function.arguments == arguments;
  });
}

CqlOr<bool> Exists(const Resource& resource, const Schema& schema, const RoleState& state) {
  const std::vector<std::string>& parts = resource.parts();
  if (parts.empty()) return true;
  switch (resource.kind()) {
    case ResourceKind::kData:
      if (parts.size() == 1) return schema.FindKeyspace(parts[0]) != nullptr;
      return schema.FindTable(parts[0], parts[1]) != nullptr;
    case ResourceKind::kRole:
      return state.Find(parts[0]) != nullptr;
    case ResourceKind::kFunctions: {
      const KeyspaceDefinition* const keyspace = schema.FindKeyspace(parts[0]);
      if (keyspace == nullptr || parts.size() == 1) return keyspace != nullptr;
      return IsFunction(resource, *keyspace);
    }
  }
  LS_UNREACHABLE("there is no other kind");
}

CqlStatus EnsureExists(const Resource& resource, const Schema& schema, const RoleState& state) {
  LS_ASSIGN_OR_RETURN(const bool exists, Exists(resource, schema, state));
  if (exists) return {};
  std::string shown = resource.ToString();
  // Of one that was looked up the types are shown as others are.
  if (resource.kind() == ResourceKind::kFunctions &&
      schema.FindKeyspace(resource.parts()[0]) != nullptr) {
    shown =
        "<function " + resource.parts()[0] + "." + cql::QuoteIdentifier(resource.parts()[1]) + "(";
    for (size_t i = 2; i < resource.parts().size(); ++i) {
      shown.append(i == 2 ? "" : ", ").append(resource.parts()[i]);
    }
    shown += ")>";
  }
  return CqlError::Invalid(shown + " doesn't exist.");
}

// Itself or a role that it has; Invalid: there is no role `name`.
CqlOr<bool> HasRole(const RoleState& state, const ClientState& client, const std::string& name) {
  if (!client.has_logged_in) return false;
  if (state.Find(name) == nullptr) return CqlError::Invalid(roles::NoSuchRole(name));
  const std::optional<roles::RoleNames> of_client = state.RolesOf(client.user);
  if (!of_client) return CqlError::Invalid(roles::NoSuchRole(client.user));
  return of_client->contains(name);
}

roles::RoleNames AllNames(const RoleState& state) {
  roles::RoleNames names;
  for (const auto& [name, role] : state.roles()) names.insert(name);
  return names;
}

}  // namespace

// Statements about roles, by their kind.
class QueryProcessor::RoleRunner {
 public:
  RoleRunner(QueryProcessor& processor, Call& call)
      : processor_(processor),
        store_(*processor.roles_),
        call_(call),
        client_(call.client),
        access_(store_, call.client) {}

  CqlStatus operator()(const cql::CreateRoleStatement& create);
  CqlStatus operator()(const cql::AlterRoleStatement& alter);
  CqlStatus operator()(const cql::DropRoleStatement& drop);
  CqlStatus operator()(const cql::GrantRoleStatement& grant);
  CqlStatus operator()(const cql::GrantStatement& grant);
  CqlStatus operator()(const cql::ListStatement& list);
  template <typename Other>
  CqlStatus operator()(const Other&) {
    LS_UNREACHABLE("plans of roles are of these statements");
  }

 private:
  CqlStatus CheckMayCreate(const cql::CreateRoleStatement& create) const;
  CqlStatus CheckMayAlter(const cql::AlterRoleStatement& alter) const;
  CqlOr<cql::Description> List(const cql::ListStatement& list) const;
  CqlOr<cql::Description> ListRoles(const cql::ListStatement& list) const;
  CqlOr<cql::Description> ListUsers() const;
  CqlOr<cql::Description> ListPermissions(const cql::ListStatement& list) const;
  // `change` says what is wrong, or changes the roles.
  template <typename Change>
  CqlStatus Apply(const Change& change) {
    CqlStatus status;
    const RoleStore::Outcome outcome = store_.Change([&](RoleState& state) {
      status = change(state);
      return status.ok();
    });
    if (outcome == RoleStore::Outcome::kTooLarge) return NoRoomForRoles();
    if (outcome == RoleStore::Outcome::kNotKept) return RolesNotKept();
    return status;
  }
  std::shared_ptr<const Schema> schema() const { return processor_.engine_.catalog().snapshot(); }

  QueryProcessor& processor_;
  RoleStore& store_;
  Call& call_;
  const ClientState& client_;
  const Access access_;
};

CqlStatus QueryProcessor::RunRoles(const cql::RolePlan& plan, Call& call) {
  LS_RETURN_IF_ERROR(std::visit(RoleRunner(*this, call), plan.statement->node));
  if (!std::holds_alternative<cql::ListStatement>(plan.statement->node)) {
    protocol::EncodeVoid(call.out, call.context);
  }
  return {};
}

// ---- CREATE, ALTER, DROP

CqlStatus QueryProcessor::RoleRunner::CheckMayCreate(const cql::CreateRoleStatement& create) const {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  LS_RETURN_IF_ERROR(access_.Ensure(Permission::kCreate, Resource(ResourceKind::kRole)));
  if (create.options.hashed_password && !access_.IsSuperuser()) {
    return Unauthorized("Only superusers can create a role with a hashed password.");
  }
  if (create.options.is_superuser.value_or(false) && !access_.IsSuperuser()) {
    return Unauthorized("Only superusers can create a role with superuser status.");
  }
  return {};
}

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::CreateRoleStatement& create) {
  LS_RETURN_IF_ERROR(CheckMayCreate(create));
  LS_RETURN_IF_ERROR(CheckOptions(create.options));
  const auto exists = [&]() -> CqlStatus {
    if (create.if_not_exists) return {};
    return CqlError::Invalid(roles::RoleExists(create.role));
  };
  if (access_.roles().Find(create.role) != nullptr) return exists();
  if (create.role.empty()) return cql::EmptyKey();
  const std::string_view key[] = {create.role};
  LS_RETURN_IF_ERROR(cql::CheckKeyBytes(key));
  LS_RETURN_IF_ERROR(CheckSupported(create.options));
  LS_ASSIGN_OR_RETURN(std::optional<std::string> hash, SaltedHashOf(create.options));
  return Apply([&](RoleState& state) -> CqlStatus {
    if (state.Find(create.role) != nullptr) return exists();
    state.Put(create.role, create.options.can_login.value_or(false),
              create.options.is_superuser.value_or(false), std::move(hash));
    if (store_.rules().checks_permissions && state.Find(client_.user) != nullptr) {
      const Resource resource = Resource::Role(create.role);
      state.Grant(client_.user, resource, resource.ApplicablePermissions());
    }
    return {};
  });
}

CqlStatus QueryProcessor::RoleRunner::CheckMayAlter(const cql::AlterRoleStatement& alter) const {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  if (alter.options.is_superuser) {
    if (!access_.IsSuperuser()) {
      return Unauthorized("Only superusers are allowed to alter superuser status.");
    }
    LS_ASSIGN_OR_RETURN(const bool is_own, HasRole(access_.roles(), client_, alter.role));
    if (is_own) {
      return Unauthorized(
          "You aren't allowed to alter your own superuser status or that of a role granted to "
          "you.");
    }
  }
  if (client_.user != alter.role) {
    return access_.Ensure(Permission::kAlter, Resource::Role(alter.role));
  }
  // Of itself everybody may change the password.
  if (!alter.options.options) return {};
  return Unauthorized("You aren't allowed to alter the OPTIONS option.");
}

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::AlterRoleStatement& alter) {
  LS_RETURN_IF_ERROR(CheckMayAlter(alter));
  LS_RETURN_IF_ERROR(CheckOptions(alter.options));
  if (access_.roles().Find(alter.role) == nullptr) {
    return CqlError::Invalid(roles::NoSuchRole(alter.role));
  }
  LS_RETURN_IF_ERROR(CheckSupported(alter.options));
  // Nobody has thought of it: auth/password_authenticator.cc, alter, takes passwords alone, and the
  // client is told what C++ says.
  if (alter.options.hashed_password) return CqlError::Server("std::get: wrong index for variant");
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> hash, SaltedHashOf(alter.options));
  return Apply([&](RoleState& state) -> CqlStatus {
    if (state.Find(alter.role) == nullptr) return CqlError::Invalid(roles::NoSuchRole(alter.role));
    roles::Role& role = state.At(alter.role);
    if (alter.options.is_superuser) role.is_superuser = *alter.options.is_superuser;
    if (alter.options.can_login) role.can_login = *alter.options.can_login;
    if (hash) role.salted_hash = hash;
    return {};
  });
}

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::DropRoleStatement& drop) {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  LS_RETURN_IF_ERROR(access_.Ensure(Permission::kDrop, Resource::Role(drop.role)));
  if (access_.roles().IsSuperuser(drop.role) && !access_.IsSuperuser()) {
    return Unauthorized("Only superusers can drop a superuser role.");
  }
  if (client_.user == drop.role) {
    return CqlError::Invalid("Cannot DROP primary role for current login.");
  }
  return Apply([&](RoleState& state) -> CqlStatus {
    if (state.Find(drop.role) != nullptr) {
      state.Drop(drop.role);
    } else if (!drop.if_exists) {
      return CqlError::Invalid(roles::NoSuchRole(drop.role));
    }
    return {};
  });
}

// ---- GRANT, REVOKE

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::GrantRoleStatement& grant) {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  LS_RETURN_IF_ERROR(access_.Ensure(Permission::kAuthorize, Resource::Role(grant.role)));
  return Apply([&](RoleState& state) {
    return ToStatus(grant.revokes ? state.RevokeRole(grant.role, grant.grantee)
                                  : state.GrantRole(grant.role, grant.grantee));
  });
}

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::GrantStatement& grant) {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  LS_ASSIGN_OR_RETURN(const Resource resource, Corrected(grant.resource, client_));
  LS_RETURN_IF_ERROR(EnsureExists(resource, *schema(), access_.roles()));
  if (resource.kind() == ResourceKind::kFunctions && !resource.parts().empty() &&
      resource.parts()[0] == "system") {
    return CqlError::Invalid("Altering permissions on builtin functions is not supported");
  }
  LS_RETURN_IF_ERROR(access_.Ensure(Permission::kAuthorize, resource));
  CqlStatus missing;
  grant.permissions.ForEach([&](Permission permission) {
    if (missing.ok()) missing = access_.Ensure(permission, resource);
  });
  LS_RETURN_IF_ERROR(std::move(missing));
  return Apply([&](RoleState& state) -> CqlStatus {
    if (state.Find(grant.role) == nullptr) return CqlError::Invalid(roles::NoSuchRole(grant.role));
    if (!store_.rules().checks_permissions) {
      return NotSupportedByAllowAll(grant.revokes ? "REVOKE" : "GRANT");
    }
    if (grant.revokes) {
      state.Revoke(grant.role, resource, grant.permissions);
    } else {
      state.Grant(grant.role, resource, grant.permissions);
    }
    return {};
  });
}

// ---- LIST

CqlStatus QueryProcessor::RoleRunner::operator()(const cql::ListStatement& list) {
  CqlOr<cql::Description> listing = List(list);
  if (listing.ok()) {
    listing->keyspace = cql::KeyspaceOfRoles(processor_.options_.node.looks_like_scylla);
  }
  return processor_.AnswerDescription(listing, call_);
}

CqlOr<cql::Description> QueryProcessor::RoleRunner::List(const cql::ListStatement& list) const {
  switch (list.kind) {
    case cql::ListStatement::Kind::kRoles:
      return ListRoles(list);
    case cql::ListStatement::Kind::kUsers:
      return ListUsers();
    case cql::ListStatement::Kind::kPermissions:
      return ListPermissions(list);
  }
  LS_UNREACHABLE("there is no other kind");
}

// Who may describe all roles sees them; others see their own, and those of their own.
CqlOr<cql::Description> QueryProcessor::RoleRunner::ListRoles(
    const cql::ListStatement& list) const {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  LS_ASSIGN_OR_RETURN(const roles::PermissionSet on_all,
                      access_.PermissionsOn(Resource(ResourceKind::kRole)));
  const bool may_describe = on_all.Has(Permission::kDescribe);
  const RoleState& state = access_.roles();
  if (list.of && !may_describe) {
    LS_ASSIGN_OR_RETURN(const bool is_own, HasRole(state, client_, *list.of));
    if (!is_own) {
      return Unauthorized("You are not authorized to view the roles granted to role '" + *list.of +
                          "'.");
    }
  }
  if (!list.of && may_describe) return cql::ListRoles(state, AllNames(state));
  const std::string& whose = list.of ? *list.of : client_.user;
  const std::optional<roles::RoleNames> names = state.RolesOf(whose, list.is_recursive);
  if (!names) return CqlError::Invalid(roles::NoSuchRole(whose));
  return cql::ListRoles(state, *names);
}

CqlOr<cql::Description> QueryProcessor::RoleRunner::ListUsers() const {
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  const RoleState& state = access_.roles();
  if (access_.IsSuperuser()) return cql::ListUsers(state, AllNames(state));
  const std::optional<roles::RoleNames> names = state.RolesOf(client_.user);
  if (!names) return CqlError::Invalid(roles::NoSuchRole(client_.user));
  return cql::ListUsers(state, *names);
}

CqlOr<cql::Description> QueryProcessor::RoleRunner::ListPermissions(
    const cql::ListStatement& list) const {
  const RoleState& state = access_.roles();
  cql::PermissionFilter filter{.permissions = list.permissions, .is_recursive = list.is_recursive};
  if (list.resource) {
    LS_ASSIGN_OR_RETURN(filter.resource, Corrected(*list.resource, client_));
    LS_RETURN_IF_ERROR(EnsureExists(*filter.resource, *schema(), state));
  } else if (!access_.IsSuperuser()) {
    if (!list.of) return Unauthorized("You are not authorized to view everyone's permissions");
    LS_ASSIGN_OR_RETURN(const bool is_own, HasRole(state, client_, *list.of));
    if (!is_own) {
      return Unauthorized("You are not authorized to view " + *list.of + "'s permissions");
    }
  }
  LS_RETURN_IF_ERROR(access_.EnsureLoggedIn());
  if (!store_.rules().checks_permissions) return NotSupportedByAllowAll("LIST PERMISSIONS");
  if (list.of) {
    filter.roles = state.RolesOf(*list.of);
    if (!filter.roles) return CqlError::Invalid(roles::NoSuchRole(*list.of));
  }
  return cql::ListPermissions(state, filter);
}

}  // namespace liststore::execute
