// What a change of the schema asks of storage. Plain data: cql/schema/schema_change.h decides it,
// shard/run_schema_actions.h carries it out.
#ifndef LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_
#define LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/cell.h"
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

// A cell of a column that was dropped, with all that is needed to put it back.
struct KeptCell {
  std::string partition_key;   // serialised
  std::string clustering_key;  // plain; means nothing in the static row
  std::string path;            // as StoredCell has it
  bool live = true;
  Liveness liveness;
  int64_t deletion_seconds = 0;  // of a dead one
  std::string value;
};

// Some of them, each of another place. On the heap; `share` is what they are of the memory limit, as
// long as they are.
struct KeptPart {
  std::shared_ptr<const void> share;
  std::deque<KeptCell> cells;
};

// What a column held that was dropped as of a time that its cells came after: they are there again
// in a column of its name.
struct KeptCells {
  bool of_static_column = false;
  bool of_several_cells = false;                       // DataType::is_multi_cell
  std::vector<std::shared_ptr<const KeptPart>> parts;  // none is empty

  bool empty() const { return parts.empty(); }
};

// A column that goes: which of its cells are kept.
struct ColumnToKeep {
  std::string name;
  bool is_static = false;
  ColumnId column = 0;  // before
  bool has_several_cells = false;
  int64_t after_micros = 0;

  bool operator==(const ColumnToKeep&) const = default;
};

// A column that comes, with what an earlier one of its name held.
struct ColumnToRestore {
  ColumnId column = 0;  // after
  std::shared_ptr<const KeptCells> cells;

  bool operator==(const ColumnToRestore&) const = default;
};

// One step, about one table. Names are those of the schema before the change, of the one after it,
// or of both, as said.
struct SchemaAction {
  enum class Kind : uint8_t {
    kCreateTable,    // after
    kDropTable,      // before; those that follow one another go at one instant
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
  ColumnMap columns;                           // kRebuildTable
  std::vector<ColumnToKeep> keeps = {};        // kRebuildTable
  std::vector<ColumnToRestore> restores = {};  // kRebuildTable

  bool operator==(const SchemaAction&) const = default;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_SCHEMA_ACTIONS_H_
