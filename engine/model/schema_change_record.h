// A change of the schema, and what it takes to make it again. Plain data.
#ifndef LISTSTORE_ENGINE_MODEL_SCHEMA_CHANGE_RECORD_H_
#define LISTSTORE_ENGINE_MODEL_SCHEMA_CHANGE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/table_schema.h"
#include "engine/model/types/uuid.h"

namespace liststore {

// The number that a table has in an engine.
struct NumberedTable {
  TableId id;
  std::string keyspace;
  std::string table;

  bool operator==(const NumberedTable&) const = default;
};

// A statement that has changed the schema, and all that it depended on beside the schema before it.
// Without a statement: a table has another number, and nothing else is new.
struct SchemaChangeRecord {
  std::string statement;
  std::string dialect;           // its name; empty: written by a version that did not say
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

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_SCHEMA_CHANGE_RECORD_H_
