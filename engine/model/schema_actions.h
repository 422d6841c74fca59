// What a change of the schema asks of storage. Plain data: cql/schema/schema_change.h decides it,
// shard/run_schema_actions.h carries it out.
#ifndef LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_
#define LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/table_schema.h"

namespace liststore {

// For each column of the old table, by ColumnId, its ColumnId in the new one; nullopt: its cells
// are left behind.
struct ColumnMap {
  using Columns = std::vector<std::optional<ColumnId>>;
  Columns regular;
  Columns statics;

  bool operator==(const ColumnMap&) const = default;
  // Every column where it is.
  static ColumnMap Same(const TableSchema& schema) {
    ColumnMap same;
    for (ColumnId i = 0; i < schema.regular.size(); ++i) same.regular.emplace_back(i);
    for (ColumnId i = 0; i < schema.statics.size(); ++i) same.statics.emplace_back(i);
    return same;
  }
};

// One step, about one table. Names are those of the schema before the change, of the one after it,
// or of both, as said.
struct SchemaAction {
  enum class Kind : uint8_t {
    kCreateTable,    // after
    kDropTable,      // before
    kRebuildTable,   // both: the rows move into a table of the new definition; those that follow
                     // one another are rebuilt together, all or none
    kRetimeTable,    // both: the new TTL and grace apply to the table as it is
    kTruncateTable,  // both; those that follow one another are truncated at one instant
    kRenewTable,     // both: the same table with the same rows, under another id
    kFillView,       // after: an empty view gets its rows; its base is renewed
  };

  Kind kind = Kind::kCreateTable;
  std::string keyspace;
  std::string table;
  ColumnMap columns;  // kRebuildTable

  bool operator==(const SchemaAction&) const = default;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_
