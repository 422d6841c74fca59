// SchemaJournal: who is told of every change of the schema, so that it can be made again.
#ifndef LISTSTORE_ENGINE_EXECUTE_SCHEMA_JOURNAL_H_
#define LISTSTORE_ENGINE_EXECUTE_SCHEMA_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/model/schema.h"
#include "engine/model/table_schema.h"
#include "engine/model/types/uuid.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// The number that a table has in an engine.
struct NumberedTable {
  TableId id;
  std::string keyspace;
  std::string table;

  bool operator==(const NumberedTable&) const = default;
};

// A statement that has changed the schema, and all that it depended on beside the schema before it
// and the server's dialect. Without a statement: a table has another number, and nothing else is new.
struct SchemaChangeRecord {
  std::string statement;
  std::string current_keyspace;  // of USE; empty: none
  int64_t now_micros = 0;
  uint64_t now_nanos = 0;              // of the rows' side of it
  std::optional<int64_t> drop_micros;  // of USING TIMESTAMP
  std::vector<Uuid> uuids;             // of new tables, in the order in which they were drawn
  std::string datacenter;
  std::vector<std::string> other_datacenters;
  bool knows_datacenters = true;
  bool enable_tablets = false;
  // ---- What came of it.
  // What it is about: a table or a type, or, where both are empty, the keyspace.
  std::string keyspace;
  std::string table;
  std::string type;
  bool drops = false;
  // Tables that it made, or gave another number.
  std::vector<NumberedTable> numbered;

  bool operator==(const SchemaChangeRecord&) const = default;
};

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
