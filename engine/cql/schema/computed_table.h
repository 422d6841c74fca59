// How a virtual table is written down: its columns as a line of text, its rows as a function.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_COMPUTED_TABLE_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_COMPUTED_TABLE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/model/schema.h"
#include "engine/model/types/uuid.h"

namespace liststore::cql {

// A table's definition as data. Columns are "name type, name type", with types as CQL writes them
// (native ones, list, set, map, frozen); those of `others` in any order. A clustering column may be
// "name type DESC".
struct TableSpec {
  std::string_view keyspace;
  std::string_view name;
  std::string_view partition_key;
  std::string_view clustering;
  std::string_view others;
  std::string_view comment;
};

// The definition that `spec` describes, virtual and complete, with the id of LegacyTableId.
std::shared_ptr<const TableDefinition> MakeVirtualDefinition(const TableSpec& spec);

// The id that tables made by the server itself have: the version 3 UUID of the two names, so that
// it is the same in every server. Source: ScyllaDB `schema/schema.cc`, generate_legacy_id.
Uuid LegacyTableId(std::string_view keyspace, std::string_view table);

// Rows in the making. Columns that are not set are null.
class RowCollector {
 public:
  // `definition` outlives the collector.
  explicit RowCollector(const TableDefinition& definition) : definition_(definition) {}

  // Begins a row.
  RowCollector& Row();
  // Gives the row a value: of a column that exists and has none yet, valid for its type.
  // O(columns).
  RowCollector& Set(std::string_view column, std::string value);
  // The rows, in the order that VirtualTable::Rows promises. No two have the same key.
  std::vector<VirtualRow> Take();

 private:
  const TableDefinition& definition_;
  std::vector<VirtualRow> rows_;
};

// Thread-safe if its function is.
class ComputedTable final : public VirtualTable {
 public:
  using RowFunction = std::function<void(const VirtualReadContext&, RowCollector&)>;

  // No function: always empty.
  ComputedTable(const TableSpec& spec, RowFunction rows);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<VirtualRow> Rows(const VirtualReadContext& context) const override;

 private:
  const std::shared_ptr<const TableDefinition> definition_;
  const RowFunction rows_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_COMPUTED_TABLE_H_
