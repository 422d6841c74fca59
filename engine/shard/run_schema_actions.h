// Runs the storage side of a change of the schema (model/schema_actions.h).
#ifndef LISTSTORE_ENGINE_SHARD_RUN_SCHEMA_ACTIONS_H_
#define LISTSTORE_ENGINE_SHARD_RUN_SCHEMA_ACTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "engine/command/row_follower.h"
#include "engine/model/op_status.h"
#include "engine/model/schema.h"
#include "engine/model/schema_actions.h"
#include "engine/shard/engine.h"

namespace liststore::shard {

// What keeps the rows of one view, by the schema in which it is; for kFillView.
using MakeFollower =
    std::function<std::unique_ptr<RowFollower>(const Schema& schema, const TableDefinition& view)>;

// Told that a table of the current schema has another number, before a write can know it: the base of
// a view that is about to be filled. It stays so whatever becomes of the change. Takes nothing of the
// heap.
using NoteRenewed = std::function<void(TableId id, const TableDefinition& table)>;

// Runs `actions` in order and puts the ids of tables that were made into `after`, by new
// definitions. For use within Catalog::Change, with `before` the current schema and `after` the
// next one:
//
//   engine.catalog().Change([&](Schema& next) {
//     const std::shared_ptr<const Schema> current = engine.catalog().snapshot();
//     change = ApplySchemaStatement(statement, keyspace, context, next);
//     if (!change.ok()) return false;
//     status = RunSchemaActions(engine, *current, change->actions, now, next);
//     return status == OpStatus::kOk && change->alters_schema;
//   });
//
// All or nothing where it counts: what can fail (kOutOfMemory, kTooManyTables) comes first and does
// all or nothing as cql/schema/schema_change.h makes it, and when it fails, tables that earlier
// actions made are dropped again; what was dropped or truncated before stays so. From the moment a
// table is dropped or rebuilt its old id gives kTableGone, a little before the new schema is
// published: Catalog::WaitForChange.
//
// Rows are copied, and views filled, in slices; others read and write the tables meanwhile.
// `between_slices` is called by the caller's thread, which then holds no lane.
OpStatus RunSchemaActions(
    Engine& engine, const Schema& before, std::span<const SchemaAction> actions, uint64_t now_nanos,
    Schema& after, const MakeFollower& make_follower = {},
    absl::FunctionRef<void()> between_slices = [] {}, const NoteRenewed& note_renewed = {});

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_RUN_SCHEMA_ACTIONS_H_
