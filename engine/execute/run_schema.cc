// USE and statements that change the schema.
#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/cql/schema/schema_change.h"
#include "engine/execute/access.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/schema_journal.h"
#include "engine/execute/view_follower.h"
#include "engine/execute/write/write_set.h"
#include "engine/model/mutation.h"
#include "engine/model/schema_difference.h"
#include "engine/shard/let_others_work.h"
#include "engine/shard/run_schema_actions.h"

namespace liststore::execute {
namespace {

protocol::SchemaChange ToProtocol(const SchemaDifference& difference) {
  using Change = protocol::SchemaChange::Change;
  protocol::SchemaChange told;
  switch (difference.kind) {
    case SchemaDifference::Kind::kCreated:
      told.change = Change::kCreated;
      break;
    case SchemaDifference::Kind::kUpdated:
      told.change = Change::kUpdated;
      break;
    case SchemaDifference::Kind::kDropped:
      told.change = Change::kDropped;
      break;
  }
  told.keyspace = difference.keyspace;
  told.target = protocol::SchemaChange::Target::kKeyspace;
  if (!difference.table.empty()) {
    told.target = protocol::SchemaChange::Target::kTable;
    told.name = difference.table;
  } else if (!difference.type.empty()) {
    told.target = protocol::SchemaChange::Target::kType;
    told.name = difference.type;
  }
  return told;
}

// What was in a keyspace that goes: views, tables, types.
std::vector<SchemaDifference> ContentsOf(const KeyspaceDefinition& keyspace) {
  constexpr auto kDropped = SchemaDifference::Kind::kDropped;
  std::vector<SchemaDifference> contents;
  for (const bool views : {true, false}) {
    for (const auto& [name, table] : keyspace.tables) {
      if (table->view.has_value() != views) continue;
      contents.push_back({kDropped, keyspace.name, name, {}, table->is_index_view()});
    }
  }
  for (const auto& [name, type] : keyspace.types) {
    contents.push_back({kDropped, keyspace.name, {}, name});
  }
  return contents;
}

// What comes, goes or changes beside what `change` names, each with an event of its own: what was in
// a keyspace that goes, the tables of a type that changes, views of indexes. In the order in which
// events of one kind are told; of what changes tables come before views. Sources: ScyllaDB
// db/schema_applier.cc, do_merge_schema, merge_tables_and_views; cql3/statements/
// alter_type_statement.cc, prepare_announcement_mutations.
std::vector<SchemaDifference> DifferencesBeside(const cql::SchemaChange& change,
                                                const Schema& before, const Schema& after) {
  using Target = cql::SchemaChange::Target;
  const bool drops = change.kind == cql::SchemaChange::Kind::kDropped;
  if (drops && change.target == Target::kKeyspace) {
    return ContentsOf(*before.FindKeyspace(change.keyspace));
  }
  std::vector<SchemaDifference> differences = DifferencesBetween(before, after);
  const auto is_beside = [&](const SchemaDifference& difference) {
    if (difference.table.empty() || difference.table == change.table) return false;
    return difference.of_index_view || change.target == Target::kType;
  };
  std::erase_if(differences, std::not_fn(is_beside));
  const auto is_no_view = [&](const SchemaDifference& difference) {
    const auto table = after.FindTable(difference.keyspace, difference.table);
    return table == nullptr || !table->view.has_value();
  };
  std::stable_partition(differences.begin(), differences.end(), is_no_view);
  return differences;
}

// What drops something takes none for long; to the events of an index its table is what changes.
bool MayTakeMemory(const cql::Statement& statement, const cql::SchemaChange& change) {
  return change.alters_schema && change.kind != cql::SchemaChange::Kind::kDropped &&
         !std::holds_alternative<cql::DropIndexStatement>(statement.node);
}

// What is known before the tables are changed.
void FillRecord(std::string_view text, const std::string& current_keyspace,
                const cql::SchemaChangeContext& context, const cql::SchemaChange& change,
                SchemaChangeRecord& record) {
  record.statement = text;
  record.dialect = context.dialect.name;
  record.current_keyspace = current_keyspace;
  record.now_micros = context.now_micros;
  record.drop_micros = context.drop_micros;
  record.datacenter = context.datacenter;
  record.other_datacenters.assign(context.other_datacenters.begin(),
                                  context.other_datacenters.end());
  record.knows_datacenters = context.knows_datacenters;
  record.enable_tablets = context.settings.enable_tablets;
  record.keyspace = change.keyspace;
  record.table = change.table;
  record.type = change.type;
  record.drops = change.kind == cql::SchemaChange::Kind::kDropped;
}

// Bases of views that are filled get their numbers while writes go on, and keep them whatever becomes
// of the view: a record of its own for each.
class RenewalRecords {
 public:
  // `journal`: nullptr: nothing is recorded.
  RenewalRecords(SchemaJournal* journal, const std::vector<SchemaAction>& actions,
                 const Schema& after)
      : journal_(journal) {
    if (journal == nullptr) return;
    for (const SchemaAction& action : actions) {
      if (action.kind != SchemaAction::Kind::kFillView) continue;
      const auto view = after.FindTable(action.keyspace, action.table);
      Renewal& renewal = renewals_.emplace_back();
      renewal.record.keyspace = action.keyspace;
      renewal.record.table = view->view->base;
      renewal.record.numbered = {{TableId{}, action.keyspace, view->view->base}};
      renewal.bytes = RecordBytesMax(renewal.record, after);
    }
  }
  ~RenewalRecords() {
    for (const Renewal& renewal : renewals_) {
      if (renewal.is_reserved) journal_->Unreserve(renewal.bytes);
    }
  }
  RenewalRecords(const RenewalRecords&) = delete;
  RenewalRecords& operator=(const RenewalRecords&) = delete;

  cql::CqlStatus Reserve() {
    for (Renewal& renewal : renewals_) {
      LS_RETURN_IF_ERROR(journal_->Reserve(renewal.bytes));
      renewal.is_reserved = true;
    }
    return {};
  }

  void Note(TableId id, const TableDefinition& base) {
    for (Renewal& renewal : renewals_) {
      if (!renewal.is_reserved || renewal.record.table != base.name) continue;
      renewal.record.numbered[0].id = id;
      renewal.is_reserved = false;
      journal_->Note(renewal.record, renewal.bytes);
      return;
    }
  }

 private:
  struct Renewal {
    SchemaChangeRecord record;
    size_t bytes = 0;
    bool is_reserved = false;
  };

  SchemaJournal* const journal_;
  std::vector<Renewal> renewals_;
};

}  // namespace

void QueryProcessor::NoteSchemaDifference(const SchemaDifference& difference) {
  statements_.DropDependents(difference.keyspace, difference.table);
  TellOfSchemaDifference(difference);
}

void QueryProcessor::TellOfSchemaDifference(const SchemaDifference& difference) const {
  // To a Cassandra an index has no view.
  if (difference.of_index_view && !options_.node.looks_like_scylla) return;
  if (options_.on_schema_change) options_.on_schema_change(ToProtocol(difference));
}

void QueryProcessor::NoteSettingsChange(const settings::StatementSettings& before) {
  const std::shared_ptr<const settings::StatementSettings> now = settings_->statements();
  if (!now->HasPlansOf(before)) statements_.DropAll();
}

cql::CqlStatus QueryProcessor::RunUse(const cql::UsePlan& plan, Call& call) {
  if (engine_.catalog().snapshot()->FindKeyspace(plan.keyspace) == nullptr) {
    return cql::CqlError::Invalid("Keyspace '" + plan.keyspace + "' does not exist");
  }
  call.client.keyspace = plan.keyspace;
  protocol::EncodeSetKeyspace(call.out, call.context, plan.keyspace);
  return {};
}

cql::CqlStatus QueryProcessor::CheckPreparedDefinition(const cql::SchemaPlan& plan,
                                                       const Call& call) {
  const auto no_uuid = [] { return Uuid{}; };
  cql::SchemaChangeContext context{no_uuid, options_.node.data_center};
  context.settings = call.settings;
  context.dialect = options_.dialect;
  context.other_datacenters = options_.node.other_data_centers;
  context.knows_datacenters = options_.node.knows_data_centers;
  return cql::CheckPrepared(*plan.statement, call.client.keyspace, context,
                            *engine_.catalog().snapshot());
}

cql::CqlStatus QueryProcessor::RunSchema(const cql::SchemaPlan& plan, cql::BoundValues values,
                                         Call& call) {
  const auto* truncate = std::get_if<cql::TruncateStatement>(&plan.statement->node);
  if (truncate != nullptr && TruncateVirtual(*truncate, call)) {
    protocol::EncodeVoid(call.out, call.context);
    return {};
  }
  shard::Catalog& catalog = engine_.catalog();
  SchemaChangeRecord record;
  const auto new_uuid = [&] { return record.uuids.emplace_back(catalog.NewUuid()); };
  const auto now_micros = static_cast<int64_t>(clock_.NowNanos() / 1000);
  cql::SchemaChangeContext context{new_uuid, options_.node.data_center, now_micros};
  context.settings = call.settings;
  context.other_datacenters = options_.node.other_data_centers;
  context.knows_datacenters = options_.node.knows_data_centers;
  context.dialect = options_.dialect;
  if (plan.timestamp) {
    LS_ASSIGN_OR_RETURN(context.drop_micros, ReadTimestamp(*plan.timestamp, values));
  }
  if (plan.timeout) {
    LS_ASSIGN_OR_RETURN(const int64_t timeout_ms, cql::ResolveTimeout(*plan.timeout, values));
    context.is_over = timeout_ms == 0;
  }
  cql::CqlOr<cql::SchemaChange> change = cql::CqlError::Server("no change was tried");
  OpStatus status = OpStatus::kOk;
  std::vector<SchemaDifference> beside;
  bool heap_refuses = false;
  SchemaJournal* const journal = options_.schema_journal;
  RoleChanges role_changes(*roles_, call.client);
  const bool is_published = catalog.Change([&](Schema& next) {
    const std::shared_ptr<const Schema> current = catalog.snapshot();
    change = cql::ApplySchemaStatement(*plan.statement, call.client.keyspace, context, next);
    if (!change.ok()) return false;
    if (engine_.refuses_tables() && MayTakeMemory(*plan.statement, *change)) {
      status = OpStatus::kOutOfMemory;
      return false;
    }
    if (const cql::CqlStatus granted = role_changes.Grant(*plan.statement, *change);
        !granted.ok()) {
      change = granted.error();
      return false;
    }
    if (change->alters_schema) beside = DifferencesBeside(*change, *current, next);
    record.now_nanos = clock_.NowNanos();
    size_t reserved = 0;
    // Gives back what was set aside, with what was granted, when nothing comes of it.
    absl::Cleanup take_back = [&] {
      if (reserved != 0) journal->Unreserve(reserved);
      role_changes.TakeBack();
    };
    if (journal != nullptr && change->alters_schema) {
      FillRecord(call.text, call.client.keyspace, context, *change, record);
      record.numbered = MayBeNumbered(*current, next);
      const size_t bytes = RecordBytesMax(record, next);
      if (const cql::CqlStatus room = journal->Reserve(bytes); !room.ok()) {
        change = room.error();
        return false;
      }
      reserved = bytes;
    }
    RenewalRecords renewals(journal, change->actions, next);
    if (const cql::CqlStatus room = renewals.Reserve(); !room.ok()) {
      change = room.error();
      return false;
    }
    status = shard::RunSchemaActions(
        engine_, *current, change->actions, record.now_nanos, next, MakeViewFollower,
        shard::LetOthersWork,
        [&](TableId id, const TableDefinition& table) { renewals.Note(id, table); });
    if (status != OpStatus::kOk) return false;
    if (reserved != 0) {
      KeepNumbered(*current, next, record.numbered);
      journal->Note(record, std::exchange(reserved, 0));
    }
    std::move(take_back).Cancel();
    if (!change->alters_schema) return false;
    // Whatever comes now, the schema is to be that of the tables.
    try {
      role_changes.Revoke(*change);
    } catch (const std::bad_alloc&) {
      heap_refuses = true;
    }
    return true;
  });
  // Until all have been told.
  absl::Cleanup lose_event = [&] {
    if (is_published && options_.on_lost_schema_change) options_.on_lost_schema_change();
  };
  if (heap_refuses) {
    if (change->alters_schema) statements_.DropDependents(change->keyspace, change->table);
    throw std::bad_alloc();
  }
  if (!change.ok()) return change.error();
  if (status == OpStatus::kOutOfMemory) {
    return cql::CqlError::Server(
        "The change of the schema was refused and nothing of it applied: " +
        engine_.memory_refusal().Text());
  }
  if (status == OpStatus::kNotKept) {
    return cql::CqlError::Server(
        "The change of the schema was refused and nothing of it applied: " + NotKept(engine_));
  }
  if (status == OpStatus::kRowTooLarge) {
    // What a column had that is added again.
    return cql::CqlError::Invalid(
        "The change of the schema was refused and nothing of it applied: a row would exceed the " +
        std::to_string(engine_.row_bytes_max()) + " bytes, or the " + std::to_string(kRowCellsMax) +
        " values and elements, that a row may have");
  }
  if (status != OpStatus::kOk) {
    return cql::CqlError::Server(
        "The change of the schema was refused: there are as many tables as there can "
        "be, " +
        std::to_string(shard::Engine::kTablesMax));
  }
  if (change->names_other_datacenters) call.Count(cql::CqlFeature::kOtherDatacenters);
  call.Warn(std::move(change->warnings));
  if (change->alters_schema) statements_.DropDependents(change->keyspace, change->table);
  if (change->kind == cql::SchemaChange::Kind::kNothing) {
    std::move(lose_event).Cancel();
    protocol::EncodeVoid(call.out, call.context);
    return {};
  }
  using Kind = SchemaDifference::Kind;
  const SchemaDifference difference{
      change->kind == cql::SchemaChange::Kind::kCreated   ? Kind::kCreated
      : change->kind == cql::SchemaChange::Kind::kDropped ? Kind::kDropped
                                                          : Kind::kUpdated,
      change->keyspace, change->table, change->type};
  const protocol::SchemaChange told = ToProtocol(difference);
  // In the order of ScyllaDB db/schema_applier.cc, do_merge_schema: what has changed comes last.
  const auto tell_of_others = [&](bool changed) {
    for (const SchemaDifference& other : beside) {
      if ((other.kind == Kind::kUpdated) != changed) continue;
      if (std::ranges::find(change->views, other.table) != change->views.end()) continue;
      // What was prepared of a whole keyspace is gone already.
      if (change->table.empty()) {
        TellOfSchemaDifference(other);
      } else {
        NoteSchemaDifference(other);
      }
    }
  };
  tell_of_others(/*changed=*/false);
  if (change->alters_schema && options_.on_schema_change) options_.on_schema_change(told);
  tell_of_others(/*changed=*/true);
  for (const std::string& view : change->views) {
    const auto table = engine_.catalog().snapshot()->FindTable(change->keyspace, view);
    const bool of_index = table != nullptr && table->is_index_view();
    NoteSchemaDifference({Kind::kUpdated, change->keyspace, view, {}, of_index});
  }
  std::move(lose_event).Cancel();
  protocol::EncodeSchemaChange(call.out, call.context, told);
  return {};
}

}  // namespace liststore::execute
