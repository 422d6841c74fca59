#include "engine/execute/access.h"

#include <optional>
#include <string>
#include <variant>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/statement_outline.h"

namespace liststore::execute {
namespace {

using roles::Permission;
using roles::Resource;

// What a statement of the schema needs, by its kind.
class SchemaNeeds {
 public:
  SchemaNeeds(std::string_view current_keyspace, const Schema& schema)
      : current_keyspace_(current_keyspace), schema_(schema) {}

  using Result = cql::CqlOr<Needs>;

  Result operator()(const cql::CreateKeyspaceStatement&) const {
    return One(Permission::kCreate, Resource(roles::ResourceKind::kData));
  }
  Result operator()(const cql::AlterKeyspaceStatement& statement) const {
    return OfKeyspace(Permission::kAlter, statement.keyspace);
  }
  Result operator()(const cql::DropKeyspaceStatement& statement) const {
    return OfKeyspace(Permission::kDrop, statement.keyspace);
  }
  Result operator()(const cql::CreateTableStatement& statement) const {
    return InKeyspace(Permission::kCreate, statement.table);
  }
  Result operator()(const cql::AlterTableStatement& statement) const {
    return OfTable(Permission::kAlter, statement.table);
  }
  Result operator()(const cql::DropTableStatement& statement) const {
    return OfTable(Permission::kDrop, statement.table);
  }
  Result operator()(const cql::TruncateStatement& statement) const {
    LS_ASSIGN_OR_RETURN(std::string keyspace, KeyspaceOf(statement.table));
    return One(Permission::kModify, Resource::Table(std::move(keyspace), statement.table.name));
  }
  Result operator()(const cql::CreateTypeStatement& statement) const {
    return InKeyspace(Permission::kCreate, statement.type);
  }
  Result operator()(const cql::AlterTypeStatement& statement) const {
    return InKeyspace(Permission::kAlter, statement.type);
  }
  Result operator()(const cql::DropTypeStatement& statement) const {
    return InKeyspace(Permission::kDrop, statement.type);
  }
  Result operator()(const cql::CreateIndexStatement& statement) const {
    return OfTable(Permission::kAlter, statement.table);
  }
  Result operator()(const cql::DropIndexStatement& statement) const {
    LS_ASSIGN_OR_RETURN(const std::string keyspace, ModifiableKeyspaceOf(statement.index));
    const KeyspaceDefinition* const found = schema_.FindKeyspace(keyspace);
    if (found == nullptr) return Needs();
    for (const auto& [name, table] : found->tables) {
      if (table->FindIndex(statement.index.name) == nullptr) continue;
      return One(Permission::kAlter, Resource::Table(keyspace, name));
    }
    return Needs();
  }
  // A view is a matter of its table.
  Result operator()(const cql::CreateViewStatement& statement) const {
    cql::QualifiedName base = statement.base;
    if (base.keyspace.empty()) base.keyspace = statement.view.keyspace;
    return OfTable(Permission::kAlter, base);
  }
  Result operator()(const cql::AlterViewStatement& statement) const {
    return OfView(statement.view);
  }
  Result operator()(const cql::DropViewStatement& statement) const {
    return OfView(statement.view);
  }
  template <typename Other>
  Result operator()(const Other&) const {
    return Needs();
  }

 private:
  static Needs One(Permission permission, Resource resource) {
    return {{permission, std::move(resource)}};
  }
  cql::CqlOr<std::string> KeyspaceOf(const cql::QualifiedName& name) const {
    if (!name.keyspace.empty()) return name.keyspace;
    if (!current_keyspace_.empty()) return std::string(current_keyspace_);
    return cql::CqlError::Invalid(
        "No keyspace has been specified. USE a keyspace, or explicitly specify "
        "keyspace.tablename");
  }
  static cql::CqlStatus CheckModifiable(const std::string& keyspace) {
    if (!cql::IsServersKeyspace(keyspace)) return {};
    return Unauthorized(keyspace + " keyspace is not user-modifiable.");
  }
  cql::CqlOr<std::string> ModifiableKeyspaceOf(const cql::QualifiedName& name) const {
    LS_ASSIGN_OR_RETURN(std::string keyspace, KeyspaceOf(name));
    LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
    return keyspace;
  }
  static Result OfKeyspace(Permission permission, const std::string& keyspace) {
    LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
    return One(permission, Resource::Keyspace(keyspace));
  }
  // Of what is in a keyspace and no resource itself.
  Result InKeyspace(Permission permission, const cql::QualifiedName& name) const {
    LS_ASSIGN_OR_RETURN(std::string keyspace, ModifiableKeyspaceOf(name));
    return One(permission, Resource::Keyspace(std::move(keyspace)));
  }
  Result OfTable(Permission permission, const cql::QualifiedName& name) const {
    LS_ASSIGN_OR_RETURN(std::string keyspace, ModifiableKeyspaceOf(name));
    return One(permission, Resource::Table(std::move(keyspace), name.name));
  }
  Result OfView(const cql::QualifiedName& name) const {
    LS_ASSIGN_OR_RETURN(std::string keyspace, ModifiableKeyspaceOf(name));
    const auto view = schema_.FindTable(keyspace, name.name);
    if (view == nullptr || !view->view) return Needs();
    return One(Permission::kAlter, Resource::Table(std::move(keyspace), view->view->base));
  }

  const std::string_view current_keyspace_;
  const Schema& schema_;
};

}  // namespace

cql::CqlError Unauthorized(std::string message) {
  return {CqlErrorCode::kUnauthorized, std::move(message), {}};
}

cql::CqlStatus Access::EnsureLoggedIn() const {
  if (client_.has_logged_in) return {};
  return Unauthorized("You have to be logged in and not anonymous to perform this request");
}

cql::CqlOr<roles::PermissionSet> Access::PermissionsOn(const Resource& resource) const {
  if (!rules_.checks_permissions) {
    return MayUse(resource) ? roles::PermissionSet::All() : roles::PermissionSet();
  }
  if (!client_.has_logged_in) return roles::PermissionSet();
  const std::optional<roles::PermissionSet> permissions =
      roles_->PermissionsOn(client_.user, resource);
  if (!permissions) return cql::CqlError::Invalid(roles::NoSuchRole(client_.user));
  return *permissions;
}

cql::CqlStatus Access::Ensure(Permission permission, const Resource& resource) const {
  LS_ASSIGN_OR_RETURN(const roles::PermissionSet permissions, PermissionsOn(resource));
  if (permissions.Has(permission)) return {};
  return Refusal(permission, resource);
}

bool Access::MayUse(const Resource& resource) const {
  if (!rules_.asks_for_passwords || IsSuperuser()) return true;
  return resource.kind() != roles::ResourceKind::kData || resource.parts().empty() ||
         resource.parts().front() != "liststore";
}

bool Access::IsSuperuser() const {
  return client_.has_logged_in && roles_->IsSuperuser(client_.user);
}

cql::CqlError Access::Refusal(Permission permission, const Resource& resource) const {
  if (!rules_.checks_permissions) {
    return Unauthorized("Only superusers may use " + resource.ToString());
  }
  std::string message = "User " + client_.user + " has no ";
  message.append(roles::ToString(permission)).append(" permission on ");
  return Unauthorized(message + resource.ToString() + " or any of its parents");
}

cql::CqlOr<Needs> NeedsOf(const cql::Statement& statement, std::string_view current_keyspace,
                          const Schema& schema) {
  return std::visit(SchemaNeeds(current_keyspace, schema), statement.node);
}

cql::CqlStatus RoleChanges::Grant(const cql::Statement& statement,
                                  const cql::SchemaChange& change) {
  if (!store_.rules().checks_permissions || !client_.has_logged_in ||
      change.kind != cql::SchemaChange::Kind::kCreated || !change.alters_schema) {
    return {};
  }
  if (std::holds_alternative<cql::CreateKeyspaceStatement>(statement.node)) {
    granted_ = Resource::Keyspace(change.keyspace);
  } else if (std::holds_alternative<cql::CreateTableStatement>(statement.node)) {
    granted_ = Resource::Table(change.keyspace, change.table);
  } else {
    return {};
  }
  const auto outcome = store_.Change([this](roles::RoleState& state) {
    if (state.Find(client_.user) == nullptr) return false;
    state.Grant(client_.user, *granted_, granted_->ApplicablePermissions());
    return true;
  });
  if (outcome == roles::RoleStore::Outcome::kNotKept) return RolesNotKept();
  if (outcome != roles::RoleStore::Outcome::kTooLarge) return {};
  return NoRoomForRoles();
}

void RoleChanges::TakeBack() {
  if (!granted_) return;
  store_.Change([this](roles::RoleState& state) {
    state.Revoke(client_.user, *granted_, granted_->ApplicablePermissions());
    return true;
  });
}

void RoleChanges::Revoke(const cql::SchemaChange& change) {
  if (!store_.rules().checks_permissions || change.kind != cql::SchemaChange::Kind::kDropped) {
    return;
  }
  const bool is_keyspace = change.target == cql::SchemaChange::Target::kKeyspace;
  if (!is_keyspace && change.target != cql::SchemaChange::Target::kTable) return;
  store_.Change([&](roles::RoleState& state) {
    if (is_keyspace) {
      state.RevokeAll(Resource::Keyspace(change.keyspace));
      state.RevokeAll(Resource::FunctionsIn(change.keyspace));
    } else {
      state.RevokeAll(Resource::Table(change.keyspace, change.table));
    }
    return true;
  });
}

cql::CqlError NoRoomForRoles() {
  return cql::CqlError::Server("The roles and what was granted to them would take more than " +
                               std::to_string(roles::RoleStore::kBytesMax) +
                               " bytes: drop roles, or grant to roles that others have");
}

cql::CqlError RolesNotKept() {
  return cql::CqlError::Server(
      "The roles stay as they are: the commit log cannot be written, and what was changed would be "
      "lost with the process");
}

bool IsReadableByAll(const TableDefinition& table) {
  if (table.keyspace == "system_schema" || table.keyspace == "system_virtual_schema") return true;
  return table.keyspace == "system" &&
         (table.name == "local" || table.name == "peers" || table.name == "peers_v2");
}

}  // namespace liststore::execute
