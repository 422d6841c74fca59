// Runs the storage side of a change of the schema (model/schema_actions.h).
#ifndef LISTSTORE_ENGINE_SHARD_SCHEMA_ACTIONS_H_
#define LISTSTORE_ENGINE_SHARD_SCHEMA_ACTIONS_H_

#include <cstdint>
#include <span>

#include "engine/model/op_status.h"
#include "engine/model/schema.h"
#include "engine/model/schema_actions.h"
#include "engine/shard/engine.h"

namespace liststore {

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
// All or nothing where it counts: the actions that can fail (kOutOfMemory, kTooManyTables) are one
// table's at a time as cql/schema_change.h makes them, and when one fails, tables that earlier ones
// made are dropped again; what was dropped or truncated before stays so. From the moment a table is
// dropped or rebuilt its old id gives kTableGone, a little before the new schema is published:
// Catalog::WaitForChange.
OpStatus RunSchemaActions(Engine& engine, const Schema& before,
                          std::span<const SchemaAction> actions, uint64_t now_nanos, Schema& after);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SHARD_SCHEMA_ACTIONS_H_
