#include "engine/shard/run_schema_actions.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/base/check.h"

namespace liststore::shard {
namespace {

// One run of actions, which remembers what it has made.
class SchemaActionRunner {
 public:
  SchemaActionRunner(Engine& engine, const Schema& before, uint64_t now_nanos,
                     const MakeFollower& make_follower, absl::FunctionRef<void()> between_slices,
                     const NoteRenewed& note_renewed, Schema& after)
      : engine_(engine),
        before_(before),
        now_nanos_(now_nanos),
        make_follower_(make_follower),
        between_slices_(between_slices),
        note_renewed_(note_renewed),
        after_(after) {}

  // Those that run together: the first of `actions` and maybe some behind it.
  static size_t Together(std::span<const SchemaAction> actions) {
    using Kind = SchemaAction::Kind;
    const Kind kind = actions[0].kind;
    if (kind != Kind::kRebuildTable && kind != Kind::kTruncateTable && kind != Kind::kDropTable) {
      return 1;
    }
    size_t count = 1;
    while (count < actions.size() && actions[count].kind == kind) ++count;
    return count;
  }

  OpStatus Run(std::span<const SchemaAction> actions) {
    const SchemaAction& action = actions[0];
    switch (action.kind) {
      case SchemaAction::Kind::kCreateTable:
        return Create(action);
      case SchemaAction::Kind::kDropTable:
        return engine_.DropTables(IdsOf(actions));
      case SchemaAction::Kind::kRebuildTable:
        return Rebuild(actions);
      case SchemaAction::Kind::kRetimeTable: {
        const TableSchema& storage = Find(after_, action)->storage;
        return engine_.SetGrace(storage.id, storage.gc_grace_seconds);
      }
      case SchemaAction::Kind::kTruncateTable:
        return Truncate(actions);
      case SchemaAction::Kind::kRenewTable:
        return Renew(action);
      case SchemaAction::Kind::kFillView:
        return Fill(action);
    }
    LS_UNREACHABLE("every action is known");
  }

  // Tables that got an index or a view, or have lost their last.
  void ChooseEvicted() {
    if (!engine_.evicts_tables_of_users()) return;
    // One by one: nothing is taken of the heap behind the changes.
    for (const auto& [keyspace_name, keyspace] : after_.keyspaces) {
      const KeyspaceDefinition* const known = before_.FindKeyspace(keyspace_name);
      if (known == nullptr || known == keyspace.get()) continue;
      for (const auto& [name, table] : keyspace->tables) {
        const auto at = known->tables.find(name);
        if (table->is_virtual || at == known->tables.end() || at->second == table) continue;
        if (at->second->may_be_evicted() != table->may_be_evicted()) {
          Choose(table->storage.id, table->may_be_evicted());
        }
      }
    }
  }

  void DropCreated() {
    for (const TableId id : created_) {
      LS_CHECK(engine_.DropTable(id) == OpStatus::kOk, "nobody else knows this table");
    }
  }

 private:
  void Choose(TableId table, bool takes_part) {
    const Engine::EvictionChoice choice{table, takes_part};
    engine_.ChooseEvicted({&choice, 1});
  }
  static std::shared_ptr<const TableDefinition> Find(const Schema& schema,
                                                     const SchemaAction& action) {
    std::shared_ptr<const TableDefinition> table = schema.FindTable(action.keyspace, action.table);
    LS_CHECK(table != nullptr, "an action names a table of its schema");
    LS_CHECK(!table->is_virtual, "virtual tables have no storage");
    return table;
  }

  OpStatus Create(const SchemaAction& action) {
    const std::shared_ptr<TableDefinition> table = PutCopy(action);
    created_.reserve(created_.size() + 1);
    const OpStatus status = engine_.CreateTable(table->storage, table->storage.id);
    if (status != OpStatus::kOk) return status;
    created_.push_back(table->storage.id);
    Choose(table->storage.id, table->may_be_evicted());
    return status;
  }

  OpStatus Rebuild(std::span<const SchemaAction> actions) {
    // Behind the rebuild nothing is taken of the heap: the tables that the schema has are gone then.
    std::vector<TableRebuild> rebuilds;
    std::vector<std::shared_ptr<TableDefinition>> tables;
    std::vector<std::vector<std::shared_ptr<KeptCells>>> kept(actions.size());
    for (size_t i = 0; i < actions.size(); ++i) {
      const SchemaAction& action = actions[i];
      tables.push_back(PutCopy(action));
      rebuilds.push_back({Find(before_, action)->storage.id, tables.back()->storage, action.columns,
                          action.keeps, action.restores});
      for (size_t of = 0; of < action.keeps.size(); ++of) {
        kept[i].push_back(std::make_shared<KeptCells>());
      }
    }
    const OpStatus status = engine_.RebuildTables(rebuilds, now_nanos_, between_slices_);
    if (status != OpStatus::kOk) return status;
    for (size_t i = 0; i < actions.size(); ++i) {
      tables[i]->storage.id = rebuilds[i].schema.id;
      NoteKept(actions[i], rebuilds[i].kept, kept[i], *tables[i]);
    }
    return status;
  }

  OpStatus Truncate(std::span<const SchemaAction> actions) {
    return engine_.TruncateTables(IdsOf(actions));
  }

  // Of a view that goes with its base renewed before: nothing is taken of the heap.
  using Ids = absl::InlinedVector<TableId, 4>;
  Ids IdsOf(std::span<const SchemaAction> actions) const {
    Ids ids;
    for (const SchemaAction& action : actions) ids.push_back(Find(before_, action)->storage.id);
    return ids;
  }

  OpStatus Renew(const SchemaAction& action) {
    return engine_.RenewTable(PutCopy(action)->storage.id);
  }

  // While rows of the base come into the view, writes to the base keep those that have come: they
  // know of the view by a schema that stands meanwhile, in which nobody else finds it.
  OpStatus Fill(const SchemaAction& action) {
    const std::shared_ptr<const TableDefinition> view = Find(after_, action);
    LS_CHECK(view->view.has_value(), "a view is filled");
    const auto base = after_.FindTable(view->keyspace, view->view->base);
    LS_CHECK(base != nullptr, "a view has a base");
    // Once the base has a new id all of its writers need a schema that has it, too: nothing of these is
    // taken of the heap then.
    const Meanwhile with_view = MakeMeanwhile(*base, view);
    const Meanwhile without_view = MakeMeanwhile(*base, nullptr);
    const auto numbered = std::make_shared<TableDefinition>(*base);
    Catalog::PutTable(after_, numbered);
    TableId id = base->storage.id;
    if (const OpStatus renewed = engine_.RenewTable(id); renewed != OpStatus::kOk) return renewed;
    for (TableDefinition* const of :
         {with_view.base.get(), without_view.base.get(), numbered.get()}) {
      of->storage.id = id;
    }
    if (note_renewed_) note_renewed_(id, *numbered);
    engine_.catalog().PublishMeanwhile(with_view.schema);
    OpStatus status = OpStatus::kOutOfMemory;
    try {
      const std::unique_ptr<RowFollower> follower = make_follower_(after_, *view);
      status = engine_.FillDerived(id, *follower, now_nanos_, between_slices_);
    } catch (const std::bad_alloc&) {
      // As if a row of the view had not fitted.
    }
    // Before the view goes, who writes to its base forgets it.
    if (status != OpStatus::kOk) {
      engine_.catalog().PublishMeanwhile(without_view.schema);
      Choose(id, before_.FindTable(base->keyspace, base->name)->may_be_evicted());
    }
    return status;
  }

  // The schema of before with another base, which nobody else has yet.
  struct Meanwhile {
    std::shared_ptr<Schema> schema;
    std::shared_ptr<TableDefinition> base;
  };
  Meanwhile MakeMeanwhile(const TableDefinition& of_after,
                          std::shared_ptr<const TableDefinition> view_under_way) const {
    Meanwhile meanwhile{std::make_shared<Schema>(before_), nullptr};
    meanwhile.base = std::make_shared<TableDefinition>(
        *meanwhile.schema->FindTable(of_after.keyspace, of_after.name));
    meanwhile.base->view_under_way = std::move(view_under_way);
    Catalog::PutTable(*meanwhile.schema, meanwhile.base);
    return meanwhile;
  }

  // Where the columns were that are dropped: `cells` takes what they held.
  static void NoteKept(const SchemaAction& action, std::vector<KeptCells>& kept,
                       std::span<const std::shared_ptr<KeptCells>> cells, TableDefinition& table) {
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i].empty()) continue;
      *cells[i] = std::move(kept[i]);
      table.dropped.find(action.keeps[i].name)->second.kept = cells[i];
    }
  }

  // A table of `after_` once more, in its place, whose id is known later.
  std::shared_ptr<TableDefinition> PutCopy(const SchemaAction& action) {
    auto copy = std::make_shared<TableDefinition>(*Find(after_, action));
    Catalog::PutTable(after_, copy);
    return copy;
  }

  Engine& engine_;
  const Schema& before_;
  const uint64_t now_nanos_;
  const MakeFollower& make_follower_;
  const absl::FunctionRef<void()> between_slices_;
  const NoteRenewed& note_renewed_;
  Schema& after_;
  std::vector<TableId> created_;
};

}  // namespace

OpStatus RunSchemaActions(Engine& engine, const Schema& before,
                          std::span<const SchemaAction> actions, uint64_t now_nanos, Schema& after,
                          const MakeFollower& make_follower,
                          absl::FunctionRef<void()> between_slices,
                          const NoteRenewed& note_renewed) {
  SchemaActionRunner runner(engine, before, now_nanos, make_follower, between_slices, note_renewed,
                            after);
  while (!actions.empty()) {
    const size_t together = SchemaActionRunner::Together(actions);
    OpStatus status = OpStatus::kOk;
    try {
      status = runner.Run(actions.first(together));
    } catch (const std::bad_alloc&) {
      runner.DropCreated();
      throw;
    }
    if (status != OpStatus::kOk) {
      runner.DropCreated();
      return status;
    }
    actions = actions.subspan(together);
  }
  runner.ChooseEvicted();
  return OpStatus::kOk;
}

}  // namespace liststore::shard
