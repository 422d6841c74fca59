// SchemaJournal: who is told of every change of the schema, so that it can be made again.
#ifndef LISTSTORE_ENGINE_EXECUTE_SCHEMA_JOURNAL_H_
#define LISTSTORE_ENGINE_EXECUTE_SCHEMA_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/model/schema.h"
#include "engine/model/schema_change_record.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// Thread-safe. Called within Catalog::Change.
class SchemaJournal {
 public:
  virtual ~SchemaJournal() = default;
  // Room for a record of up to `bytes` is set aside: it can be noted whatever comes. Server: it
  // cannot, and why, as who asked for the change is told; nothing was done so far.
  virtual cql::CqlStatus Reserve(size_t bytes) = 0;
  // Of what was set aside, when nothing is noted.
  virtual void Unreserve(size_t bytes) = 0;
  // The tables are changed, and the schema is about to be published. `reserved`: as it was set aside.
  virtual void Note(const SchemaChangeRecord& record, size_t reserved) = 0;
};

// No less than what a record takes that was encoded, with the numbers of all tables that `after` has
// in the keyspace of `record`.
size_t RecordBytesMax(const SchemaChangeRecord& record, const Schema& after);

// Before the tables are changed: those that may get a number, in keyspaces that differ.
std::vector<NumberedTable> MayBeNumbered(const Schema& before, const Schema& after);
// Behind it: those of `tables` stay that have another number now, or are new. Takes nothing of the heap.
void KeepNumbered(const Schema& before, const Schema& after, std::vector<NumberedTable>& tables);
// All that have a number.
std::vector<NumberedTable> AllNumbered(const Schema& schema);

// Makes a recorded change once more, by the code that made it, in an engine whose schema is that of
// before it. Views are left without rows: who replays fills them in the end. The numbers of tables are
// this engine's. Errors: the change cannot be made here, and nothing was done.
cql::CqlStatus ReplaySchemaChange(shard::Engine& engine, const cql::Dialect& dialect,
                                  const SchemaChangeRecord& record);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SCHEMA_JOURNAL_H_
