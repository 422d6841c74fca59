#include "engine/model/schema.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/hash.h"

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

const IndexDefinition* TableDefinition::FindIndex(std::string_view wanted) const {
  const auto at = std::ranges::find(indexes, wanted, &IndexDefinition::name);
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

void KeyspaceDefinition::Put(std::shared_ptr<const TableDefinition> table) {
  std::erase_if(tables, [&](const auto& entry) {
    const TableDefinition& other = *entry.second;
    return other.is_index_view() && other.view->base == table->name &&
           table->FindIndex(other.view->index) == nullptr;
  });
  for (const IndexDefinition& index : table->indexes) {
    TableDefinition view = MakeIndexView(*table, index);
    std::shared_ptr<const TableDefinition>& there = tables[view.name];
    if (there != nullptr) {
      LS_CHECK(there->is_index_view(), "the name of an index's view is no other table's");
      if (there->columns == view.columns && there->view == view.view) continue;
      if (there->view->base_id == table->id) view.options = there->options;
    }
    there = std::make_shared<const TableDefinition>(std::move(view));
  }
  std::string table_name = table->name;
  tables.insert_or_assign(std::move(table_name), std::move(table));
}

void KeyspaceDefinition::Erase(std::string_view table) {
  const size_t erased = std::erase_if(tables, [&](const auto& entry) {
    const TableDefinition& other = *entry.second;
    return other.name == table || (other.is_index_view() && other.view->base == table);
  });
  LS_CHECK(erased != 0, "the table was looked up before");
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

std::string IndexViewName(std::string_view index) { return std::string(index) + "_index"; }

namespace {

// What of a collection an index is by, and the column of its view.
DataType TypeOfPart(const DataType& collection, IndexedPart part) {
  const std::vector<DataType>& parts = collection.parameters();
  switch (part) {
    case IndexedPart::kKeys:
      return parts.front();
    case IndexedPart::kEntries:
      return DataType::Tuple({parts[0], parts[1]});
    default:
      return parts.back();
  }
}

// An index on values keeps their places apart, so that equal ones are rows of their own. A set has
// nothing but its elements.
bool ShowsElementKeys(const DataType& collection, IndexedPart part) {
  return part == IndexedPart::kValues && collection.kind() != DataType::Kind::kSet;
}

std::string NameThatIsFree(const TableDefinition& base, const std::string& root) {
  std::string name = root;
  for (int i = 1; base.FindColumn(name) != nullptr; ++i) name = root + "_" + std::to_string(i);
  return name;
}

}  // namespace

TableDefinition MakeIndexView(const TableDefinition& base, const IndexDefinition& index) {
  const ColumnDefinition* indexed = base.FindColumn(index.column);
  LS_CHECK(indexed != nullptr, "indexes are on columns of the table");
  TableDefinition view;
  view.keyspace = base.keyspace;
  view.name = IndexViewName(index.name);
  const uint64_t digest = Hash64(view.name, Hash64(base.id.view(), Hash64(base.name)));
  view.id = Uuid::FromRandomBits(digest, Hash64(index.column, digest));
  view.view = ViewDefinition{base.name, base.id, /*all_columns=*/false, {}, index.name};
  view.is_virtual = true;
  uint16_t keys[] = {0, 0};
  const auto add = [&](std::string name, const DataType& type, ColumnKind kind, bool descending) {
    const uint16_t position = keys[kind == ColumnKind::kClustering]++;
    view.columns.push_back({std::move(name), type, kind, position, descending});
  };
  const auto add_rest = [&](ColumnKind of_base, ColumnKind kind) {
    for (const ColumnDefinition* column : base.ColumnsOf(of_base)) {
      if (column != indexed) add(column->name, column->type, kind, column->descending);
    }
  };
  if (index.local) {
    add_rest(ColumnKind::kPartitionKey, ColumnKind::kPartitionKey);
    add(indexed->name, indexed->type, ColumnKind::kClustering, indexed->descending);
  } else {
    if (index.part == IndexedPart::kValue) {
      add(indexed->name, indexed->type, ColumnKind::kPartitionKey, false);
    } else {
      add(NameThatIsFree(base, "coll_value"), TypeOfPart(indexed->type, index.part),
          ColumnKind::kPartitionKey, false);
    }
    add(NameThatIsFree(base, "idx_token"), CqlType::kBigint, ColumnKind::kClustering, false);
    add_rest(ColumnKind::kPartitionKey, ColumnKind::kClustering);
  }
  if (indexed->kind != ColumnKind::kStatic) {
    add_rest(ColumnKind::kClustering, ColumnKind::kClustering);
  }
  if (ShowsElementKeys(indexed->type, index.part)) {
    const bool is_map = indexed->type.kind() == DataType::Kind::kMap;
    add(NameThatIsFree(base, "keys_for_values_idx"),
        is_map ? indexed->type.parameters()[0] : DataType(CqlType::kTimeuuid),
        ColumnKind::kClustering, false);
  }
  CompleteTable(view);
  return view;
}

IndexViewValue ShownIn(const TableDefinition& base, const ColumnDefinition& of_view) {
  if (base.FindColumn(of_view.name) != nullptr) return IndexViewValue::kColumn;
  if (of_view.kind == ColumnKind::kPartitionKey) return IndexViewValue::kPart;
  return of_view.position == 0 ? IndexViewValue::kToken : IndexViewValue::kElementKey;
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
