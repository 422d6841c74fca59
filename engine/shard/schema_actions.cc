#include "engine/shard/schema_actions.h"

#include <memory>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore {
namespace {

// One run of actions, which remembers what it has made.
class SchemaActionRunner {
 public:
  SchemaActionRunner(Engine& engine, const Schema& before, uint64_t now_nanos, Schema& after)
      : engine_(engine), before_(before), now_nanos_(now_nanos), after_(after) {}

  OpStatus Run(const SchemaAction& action) {
    switch (action.kind) {
      case SchemaAction::Kind::kCreateTable:
        return Create(action);
      case SchemaAction::Kind::kDropTable:
        return engine_.DropTable(Find(before_, action)->storage.id);
      case SchemaAction::Kind::kRebuildTable:
        return Rebuild(action);
      case SchemaAction::Kind::kRetimeTable: {
        const TableSchema& storage = Find(after_, action)->storage;
        return engine_.SetGrace(storage.id, storage.gc_grace_seconds);
      }
      case SchemaAction::Kind::kTruncateTable:
        return engine_.TruncateTable(Find(before_, action)->storage.id);
    }
    LS_UNREACHABLE("every action is known");
  }

  void DropCreated() {
    for (const TableId id : created_) {
      LS_CHECK(engine_.DropTable(id) == OpStatus::kOk, "nobody else knows this table");
    }
  }

 private:
  static std::shared_ptr<const TableDefinition> Find(const Schema& schema,
                                                     const SchemaAction& action) {
    std::shared_ptr<const TableDefinition> table = schema.FindTable(action.keyspace, action.table);
    LS_CHECK(table != nullptr, "an action names a table of its schema");
    LS_CHECK(!table->is_virtual, "virtual tables have no storage");
    return table;
  }

  OpStatus Create(const SchemaAction& action) {
    const std::shared_ptr<const TableDefinition> table = Find(after_, action);
    TableId id;
    const OpStatus status = engine_.CreateTable(table->storage, id);
    if (status != OpStatus::kOk) return status;
    created_.push_back(id);
    PutWithId(*table, id);
    return status;
  }

  OpStatus Rebuild(const SchemaAction& action) {
    const std::shared_ptr<const TableDefinition> table = Find(after_, action);
    TableId id;
    const OpStatus status = engine_.RebuildTable(Find(before_, action)->storage.id, table->storage,
                                                 action.columns, now_nanos_, id);
    if (status == OpStatus::kOk) PutWithId(*table, id);
    return status;
  }

  void PutWithId(const TableDefinition& table, TableId id) {
    auto numbered = std::make_shared<TableDefinition>(table);
    numbered->storage.id = id;
    Catalog::PutTable(after_, std::move(numbered));
  }

  Engine& engine_;
  const Schema& before_;
  const uint64_t now_nanos_;
  Schema& after_;
  std::vector<TableId> created_;
};

}  // namespace

OpStatus RunSchemaActions(Engine& engine, const Schema& before,
                          std::span<const SchemaAction> actions, uint64_t now_nanos,
                          Schema& after) {
  SchemaActionRunner runner(engine, before, now_nanos, after);
  for (const SchemaAction& action : actions) {
    const OpStatus status = runner.Run(action);
    if (status == OpStatus::kOk) continue;
    runner.DropCreated();
    return status;
  }
  return OpStatus::kOk;
}

}  // namespace liststore
