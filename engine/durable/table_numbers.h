// TableNumbers: which table of this engine a number of a log means.
#ifndef LISTSTORE_ENGINE_DURABLE_TABLE_NUMBERS_H_
#define LISTSTORE_ENGINE_DURABLE_TABLE_NUMBERS_H_

#include <span>
#include <vector>

#include "engine/model/schema.h"
#include "engine/model/schema_change_record.h"
#include "engine/shard/recorded_tables.h"

namespace liststore::durable {

// Numbers are those of the engine that wrote the log; by their names tables are found in this one. One
// thread at a time.
class TableNumbers {
 public:
  // A start: numbers from before mean nothing any more.
  void Begin(std::span<const NumberedTable> tables);
  // A change that was made again in this engine.
  void Add(const SchemaChangeRecord& change);
  // All of them, in the schema of now. O(tables).
  shard::RecordedTables In(const Schema& schema) const;

 private:
  std::vector<NumberedTable> tables_;
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_TABLE_NUMBERS_H_
