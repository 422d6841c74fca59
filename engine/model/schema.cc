#include "engine/model/schema.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace liststore {
namespace {

CqlType StoredAs(const DataType& type) { return type.is_native() ? type.native() : CqlType::kBlob; }

// Partition key, clustering key, then static and regular columns by name (ScyllaDB's
// schema::all_columns_in_select_order).
bool Precedes(const ColumnDefinition& a, const ColumnDefinition& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.is_key() ? a.position < b.position : a.name < b.name;
}

}  // namespace

const ColumnDefinition* TableDefinition::FindColumn(std::string_view wanted) const {
  const auto at = std::ranges::find(columns, wanted, &ColumnDefinition::name);
  return at == columns.end() ? nullptr : &*at;
}

const IndexDefinition* TableDefinition::FindIndexOn(std::string_view column) const {
  const auto at = std::ranges::find(indexes, column, &IndexDefinition::column);
  return at == indexes.end() ? nullptr : &*at;
}

size_t TableDefinition::CountOf(ColumnKind kind) const {
  return static_cast<size_t>(std::ranges::count(columns, kind, &ColumnDefinition::kind));
}

std::vector<const ColumnDefinition*> TableDefinition::ColumnsOf(ColumnKind kind) const {
  std::vector<const ColumnDefinition*> found;
  for (const ColumnDefinition& column : columns) {
    if (column.kind == kind) found.push_back(&column);
  }
  return found;
}

bool KeyspaceDefinition::is_system() const {
  return name == "system" || name == "liststore" || name.starts_with("system_");
}

const KeyspaceDefinition* Schema::FindKeyspace(std::string_view keyspace) const {
  const auto at = keyspaces.find(keyspace);
  return at == keyspaces.end() ? nullptr : at->second.get();
}

std::shared_ptr<const TableDefinition> Schema::FindTable(std::string_view keyspace,
                                                         std::string_view table) const {
  const KeyspaceDefinition* found = FindKeyspace(keyspace);
  if (found == nullptr) return nullptr;
  const auto at = found->tables.find(table);
  return at == found->tables.end() ? nullptr : at->second;
}

void CompleteTable(TableDefinition& table) {
  std::stable_sort(table.columns.begin(), table.columns.end(), Precedes);
  TableSchema storage;
  storage.id = table.storage.id;
  storage.keyspace = table.keyspace;
  storage.name = table.name;
  storage.default_ttl_seconds = table.options.default_ttl_seconds;
  storage.gc_grace_seconds = table.options.gc_grace_seconds;
  for (ColumnDefinition& column : table.columns) {
    const CqlType type = StoredAs(column.type);
    switch (column.kind) {
      case ColumnKind::kPartitionKey:
        column.position = static_cast<uint16_t>(storage.partition_key.size());
        storage.partition_key.push_back({column.name, type});
        break;
      case ColumnKind::kClustering:
        column.position = static_cast<uint16_t>(storage.clustering.size());
        storage.clustering.push_back({column.name, column.type, column.descending});
        break;
      case ColumnKind::kStatic:
        column.position = static_cast<uint16_t>(storage.statics.size());
        storage.statics.push_back({column.name, type});
        break;
      case ColumnKind::kRegular:
        column.position = static_cast<uint16_t>(storage.regular.size());
        storage.regular.push_back({column.name, type});
        break;
    }
  }
  LS_CHECK(!storage.partition_key.empty(), "a table has a partition key");
  for (const IndexDefinition& index : table.indexes) {
    const ColumnDefinition* column = table.FindColumn(index.column);
    LS_CHECK(column != nullptr, "indexes are on columns of the table");
    // Others are a look at keys, static rows and elements, which storage has in any case. A local
    // and a global index of one column are one to it.
    if (column->kind != ColumnKind::kRegular || index.part != IndexedPart::kValue) continue;
    if (std::ranges::count(storage.indexes, column->position, &IndexSchema::column) != 0) continue;
    storage.indexes.push_back({index.name, column->position});
  }
  table.storage = std::move(storage);
}

TableDefinition DefinitionOf(const TableSchema& storage) {
  TableDefinition table;
  table.keyspace = storage.keyspace;
  table.name = storage.name;
  for (const ColumnSchema& column : storage.partition_key) {
    table.columns.push_back({column.name, column.type, ColumnKind::kPartitionKey,
                             static_cast<uint16_t>(table.columns.size()), false});
  }
  uint16_t position = 0;
  for (const ClusteringColumnSchema& column : storage.clustering) {
    table.columns.push_back(
        {column.name, column.type, ColumnKind::kClustering, position++, column.descending});
  }
  for (const ColumnSchema& column : storage.statics) {
    table.columns.push_back({column.name, column.type, ColumnKind::kStatic, 0, false});
  }
  for (const ColumnSchema& column : storage.regular) {
    table.columns.push_back({column.name, column.type, ColumnKind::kRegular, 0, false});
  }
  for (const IndexSchema& index : storage.indexes) {
    table.indexes.push_back({index.name, storage.regular[index.column].name, /*local=*/true});
  }
  table.options.default_ttl_seconds = storage.default_ttl_seconds;
  table.options.gc_grace_seconds = storage.gc_grace_seconds;
  table.storage.id = storage.id;
  CompleteTable(table);
  return table;
}

}  // namespace liststore
