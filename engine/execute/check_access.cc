// Whether a client may run a plan, where clients log in or permissions are checked.
#include <string>
#include <variant>

#include "engine/base/status_macros.h"
#include "engine/execute/access.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"

namespace liststore::execute {

using roles::Permission;

// Most requests are about tables that the connection has used before.
cql::CqlStatus QueryProcessor::CheckTable(const std::shared_ptr<const TableDefinition>& table,
                                          Permission permission, Call& call) {
  // Before the roles are looked at: what is kept is of this version or a later one.
  const uint64_t version = roles_->version();
  if (call.client.permissions.Allows(version, *table, permission)) [[likely]]
    return {};
  const Access access(*roles_, call.client);
  // Who may read a table may read its views.
  const auto resource =
      roles::Resource::Table(table->keyspace, table->view ? table->view->base : table->name);
  LS_ASSIGN_OR_RETURN(roles::PermissionSet permissions, access.PermissionsOn(resource));
  if (IsReadableByAll(*table)) permissions.Add(Permission::kSelect);
  call.client.permissions.Put(version, table, permissions);
  if (permissions.Has(permission)) return {};
  return access.Refusal(permission, resource);
}

cql::CqlStatus QueryProcessor::CheckModification(const cql::ModificationPlan& plan, Call& call) {
  LS_RETURN_IF_ERROR(CheckTable(plan.table, Permission::kModify, call));
  if (!plan.condition) return {};
  return CheckTable(plan.table, Permission::kSelect, call);
}

cql::CqlStatus QueryProcessor::CheckDefinition(const cql::SchemaPlan& plan, Call& call) {
  // What is wrong with the statement itself comes first, as when it is prepared.
  LS_RETURN_IF_ERROR(CheckPreparedDefinition(plan, call));
  const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
  LS_ASSIGN_OR_RETURN(const Needs needs, NeedsOf(*plan.statement, call.client.keyspace, *schema));
  const Access access(*roles_, call.client);
  for (const auto& [permission, resource] : needs) {
    LS_RETURN_IF_ERROR(access.Ensure(permission, resource));
  }
  return {};
}

cql::CqlStatus QueryProcessor::CheckAccess(const cql::Plan& plan, Call& call) {
  const auto& body = plan.body;
  if (const auto* select = std::get_if<cql::SelectPlan>(&body)) {
    return CheckTable(select->table, Permission::kSelect, call);
  }
  if (const auto* change = std::get_if<cql::ModificationPlan>(&body)) {
    return CheckModification(*change, call);
  }
  if (const auto* batch = std::get_if<cql::BatchPlan>(&body)) {
    for (const cql::ModificationPlan& change : batch->modifications) {
      LS_RETURN_IF_ERROR(CheckModification(change, call));
    }
    return {};
  }
  if (const auto* definition = std::get_if<cql::SchemaPlan>(&body)) {
    return CheckDefinition(*definition, call);
  }
  if (const auto* prune = std::get_if<cql::PruneViewPlan>(&body)) {
    return CheckTable(prune->view, Permission::kSelect, call);
  }
  // USE and DESCRIBE are open to all; statements about roles look by themselves.
  return {};
}

}  // namespace liststore::execute
