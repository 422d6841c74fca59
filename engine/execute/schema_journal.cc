#include "engine/execute/schema_journal.h"

#include <memory>
#include <new>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/parser.h"
#include "engine/execute/view_follower.h"
#include "engine/model/op_status.h"
#include "engine/model/schema_actions.h"
#include "engine/settings/statement_settings.h"
#include "engine/shard/run_schema_actions.h"

namespace liststore::execute {
namespace {

// Lengths and numbers of an entry.
constexpr size_t kEntryBytes = 64;

// What was accepted once is not judged again.
settings::StatementSettings Lenient(bool enable_tablets) {
  settings::StatementSettings lenient;
  lenient.strict_is_not_null_in_views = settings::RestrictionMode::kAllowed;
  lenient.restrict_twcs_without_default_ttl = settings::RestrictionMode::kAllowed;
  lenient.restrict_replication_simplestrategy = settings::RestrictionMode::kAllowed;
  lenient.twcs_max_window_count = 0;
  lenient.minimum_replication_factor_fail_threshold = -1;
  lenient.maximum_replication_factor_fail_threshold = -1;
  lenient.replication_strategy_fail_list.clear();
  lenient.enable_tablets = enable_tablets;
  return lenient;
}

// Views get their base's new number, and no rows.
void LeaveViewsEmpty(const Schema& after, std::vector<SchemaAction>& actions) {
  for (SchemaAction& action : actions) {
    if (action.kind != SchemaAction::Kind::kFillView) continue;
    action.kind = SchemaAction::Kind::kRenewTable;
    action.table = after.FindTable(action.keyspace, action.table)->view->base;
  }
}

}  // namespace

size_t RecordBytesMax(const SchemaChangeRecord& record, const Schema& after) {
  size_t bytes = 4 * kEntryBytes + record.statement.size() + record.current_keyspace.size() +
                 sizeof(Uuid) * record.uuids.size() + record.datacenter.size() +
                 record.dialect.size() + record.keyspace.size() + record.table.size() +
                 record.type.size();
  for (const std::string& other : record.other_datacenters) bytes += kEntryBytes + other.size();
  const KeyspaceDefinition* const keyspace = after.FindKeyspace(record.keyspace);
  if (keyspace == nullptr) return bytes;
  for (const auto& [name, table] : keyspace->tables) {
    if (!table->is_virtual) bytes += kEntryBytes + record.keyspace.size() + name.size();
  }
  return bytes;
}

std::vector<NumberedTable> MayBeNumbered(const Schema& before, const Schema& after) {
  std::vector<NumberedTable> tables;
  for (const auto& [keyspace_name, keyspace] : after.keyspaces) {
    if (before.FindKeyspace(keyspace_name) == keyspace.get()) continue;
    for (const auto& [name, table] : keyspace->tables) {
      if (!table->is_virtual) tables.push_back({table->storage.id, keyspace_name, name});
    }
  }
  return tables;
}

void KeepNumbered(const Schema& before, const Schema& after, std::vector<NumberedTable>& tables) {
  std::erase_if(tables, [&](NumberedTable& table) {
    const auto now = after.FindTable(table.keyspace, table.table);
    const auto was = before.FindTable(table.keyspace, table.table);
    table.id = now->storage.id;
    return was != nullptr && was->storage.id == table.id;
  });
}

std::vector<NumberedTable> AllNumbered(const Schema& schema) {
  return MayBeNumbered(Schema(), schema);
}

cql::CqlStatus ReplaySchemaChange(shard::Engine& engine, const cql::Dialect& dialect,
                                  const SchemaChangeRecord& record) {
  if (record.statement.empty()) return {};
  LS_ASSIGN_OR_RETURN(const cql::Statement statement,
                      cql::ParseStatement(record.statement, {.dialect = dialect}));
  if (!cql::IsSchemaStatement(statement)) {
    return cql::CqlError::Server("'" + record.statement + "' changes no schema");
  }
  size_t drawn = 0;
  const auto next_uuid = [&] {
    return drawn < record.uuids.size() ? record.uuids[drawn++] : engine.catalog().NewUuid();
  };
  cql::SchemaChangeContext context{next_uuid, record.datacenter, record.now_micros};
  context.other_datacenters = record.other_datacenters;
  context.knows_datacenters = record.knows_datacenters;
  context.drop_micros = record.drop_micros;
  context.settings = Lenient(record.enable_tablets);
  context.dialect = dialect;
  cql::CqlStatus failed;
  engine.catalog().Change([&](Schema& next) {
    const std::shared_ptr<const Schema> current = engine.catalog().snapshot();
    cql::CqlOr<cql::SchemaChange> change =
        cql::ApplySchemaStatement(statement, record.current_keyspace, context, next);
    if (!change.ok()) {
      failed = change.error();
      return false;
    }
    LeaveViewsEmpty(next, change->actions);
    const OpStatus status = shard::RunSchemaActions(engine, *current, change->actions,
                                                    record.now_nanos, next, MakeViewFollower);
    if (status != OpStatus::kOk) {
      failed =
          cql::CqlError::Server(status == OpStatus::kOutOfMemory ? engine.memory_refusal().Text()
                                                                 : "the tables cannot be changed");
      return false;
    }
    return change->alters_schema;
  });
  return failed;
}

}  // namespace liststore::execute
