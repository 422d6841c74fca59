// CREATE INDEX and DROP INDEX. Sources: ScyllaDB cql3/statements/create_index_statement.cc,
// drop_index_statement.cc, index/secondary_index_manager.cc.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/schema/schema_change_impl.h"

namespace liststore::cql::schema_change {
namespace {

using TargetKind = IndexTarget::Kind;

CqlStatus CheckForm(const CreateIndexStatement& statement) {
  if (statement.targets.empty() && !statement.custom) {
    return CqlError::Invalid(
        "Only CUSTOM indexes can be created without specifying a target column");
  }
  constexpr std::array<std::string_view, 1> kProperties = {"options"};
  const Properties properties(statement.properties);
  LS_RETURN_IF_ERROR(properties.Check(kProperties));
  if (statement.custom && !statement.custom_class) {
    return CqlError::Invalid("CUSTOM index requires specifying the index class");
  }
  if (!statement.custom && statement.custom_class) {
    return CqlError::Invalid("Cannot specify index class for a non-CUSTOM index");
  }
  if (!statement.custom && properties.Has("options")) {
    return CqlError::Invalid("Cannot specify options for a non-CUSTOM index");
  }
  LS_ASSIGN_OR_RETURN(const auto options, properties.Map("options"));
  if (options && options->contains("class_name")) {
    return CqlError::Invalid("Cannot specify class_name as a CUSTOM option");
  }
  if (!statement.custom) return {};
  if (AsciiLower(*statement.custom_class) == "vector_index") {
    return CqlError::Unsupported(CqlFeature::kVectors, "vector_index");
  }
  return CqlError::Invalid("Unsupported CUSTOM INDEX class " + *statement.custom_class +
                           ". Note that currently, Scylla does not support SASI or any other "
                           "CUSTOM INDEX class.");
}

// `ON t((p, q), c)`: names the whole partition key, in order.
CqlStatus CheckLocal(const CreateIndexStatement& statement, const TableDefinition& table) {
  if (table.is_dense()) {
    return CqlError::Invalid(
        "Secondary indexes are not supported on COMPACT STORAGE tables that have clustering "
        "columns");
  }
  const std::vector<IndexTarget>& targets = statement.targets;
  if (!targets.empty() && targets[0].kind == TargetKind::kColumns) {
    const std::vector<const ColumnDefinition*> key = table.ColumnsOf(ColumnKind::kPartitionKey);
    size_t next = 0;
    for (const std::string& name : targets[0].columns) {
      const ColumnDefinition* column = table.FindColumn(name);
      if (column == nullptr || column->kind != ColumnKind::kPartitionKey) {
        return CqlError::Invalid(
            "Local index definition must contain full partition key only. Redundant column: " +
            name);
      }
      if (next == key.size() ||
          std::ranges::find(key.begin(), key.begin() + next, column) != key.begin() + next) {
        return CqlError::Invalid("Duplicate column definition in local index: " + name);
      }
      if (key[next] != column) break;
      ++next;
    }
    if (next != key.size()) {
      return CqlError::Invalid(
          "Local index definition must contain full partition key only. Missing column: " +
          key[next]->name);
    }
    if (targets.size() == 1) {
      return CqlError::Invalid(
          "Local index definition must provide an indexed column, not just partition key");
    }
  }
  for (size_t i = 1; i < targets.size(); ++i) {
    if (targets[i].kind == TargetKind::kColumns) {
      return CqlError::Invalid(
          "Multi-column index targets are currently only supported for partition key");
    }
    const ColumnDefinition* column = table.FindColumn(targets[i].columns.at(0));
    if (column != nullptr && column->kind == ColumnKind::kStatic) {
      return CqlError::Invalid("Local indexes containing static columns are not supported.");
    }
  }
  return {};
}

std::string_view TargetName(TargetKind kind) {
  switch (kind) {
    case TargetKind::kValues:
      return "values()";
    case TargetKind::kKeys:
      return "keys()";
    case TargetKind::kEntries:
      return "entries()";
    default:
      return "value";
  }
}

CqlStatus CheckHasNoDurations(const DataType& type) {
  if (!type.Contains(CqlType::kDuration)) return {};
  const std::string what = type.is_collection() ? "collections containing durations"
                           : type.kind() == DataType::Kind::kUser ? "UDTs containing durations"
                           : type.has_fields()                    ? "tuples containing durations"
                                                                  : "duration columns";
  return CqlError::Invalid("Secondary indexes are not supported on " + what);
}

// Of a collection with several cells. A set has elements alone, which its index is by.
CqlOr<IndexedPart> PartOfCollection(const IndexTarget& target, const ColumnDefinition& column) {
  const bool is_map = column.type.kind() == DataType::Kind::kMap;
  switch (target.kind) {
    case TargetKind::kFull:
      return CqlError::Invalid("full() indexes can only be created on frozen collections");
    case TargetKind::kKeys:
      if (is_map) return IndexedPart::kKeys;
      break;
    case TargetKind::kEntries:
      if (is_map) return IndexedPart::kEntries;
      break;
    default:
      return IndexedPart::kValues;
  }
  return CqlError::Invalid("Cannot create secondary index on " +
                           std::string(target.kind == TargetKind::kKeys ? "keys" : "entries") +
                           " of column " + column.name + " with non-map type");
}

// What of the column the index is by, if it may have one of this kind.
CqlOr<IndexedPart> CheckTarget(const IndexTarget& target, const TableDefinition& table,
                               bool local) {
  const std::string& name = target.columns.at(0);
  const ColumnDefinition* column = table.FindColumn(name);
  if (column == nullptr) {
    return CqlError::Invalid("No column definition found for column " + name);
  }
  LS_RETURN_IF_ERROR(CheckHasNoDurations(column->type));
  if (table.compact_storage && column->is_key()) {
    return CqlError::Invalid(
        "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables");
  }
  if (column->kind == ColumnKind::kPartitionKey) {
    if (table.CountOf(ColumnKind::kPartitionKey) == 1) {
      return CqlError::Invalid("Cannot create secondary index on partition key column " + name);
    }
    if (local) {
      return CqlError::Invalid(
          "Local indexing based on partition key column is not allowed, since whole base "
          "partition key must be used in queries anyway. Use global indexing instead.");
    }
  }
  if (column->type.is_multi_cell()) {
    if (!column->type.is_collection()) {
      return CqlError::Invalid("Cannot create secondary index on UDT column " + name);
    }
    if (local) {
      return CqlError::Invalid("Local secondary index on collection column " + name +
                               " is not implemented yet.");
    }
    return PartOfCollection(target, *column);
  }
  const std::string shown(TargetName(target.kind));
  if (column->type.is_collection()) {
    if (target.kind == TargetKind::kFull) return IndexedPart::kValue;
    return CqlError::Invalid("Cannot create index on " + shown + " of frozen collection column " +
                             name);
  }
  if (target.kind == TargetKind::kFull) {
    return CqlError::Invalid("full() indexes can only be created on frozen collections");
  }
  if (target.kind == TargetKind::kColumn) return IndexedPart::kValue;
  return CqlError::Invalid("Cannot create index on " + shown + " of column " + name +
                           "; only non-frozen collections support " + shown + " indexes");
}

// `<table>_<column>_idx`, with a number behind it when that is taken: as an index, or the name of
// its view. Source: ScyllaDB index/secondary_index_manager.cc, get_available_index_name.
std::string AvailableName(const KeyspaceDefinition& keyspace, const std::string& table,
                          const std::string& column) {
  std::string root = table + "_" + column + "_idx";
  std::erase_if(root, [](char c) { return !IsWord({&c, 1}); });
  std::string name = root;
  const auto is_taken = [&keyspace](const std::string& tried) {
    return FindIndex(keyspace, tried).index != nullptr ||
           keyspace.tables.contains(IndexViewName(tried));
  };
  for (int i = 1; is_taken(name); ++i) {
    name = root + "_" + std::to_string(i);
  }
  return name;
}

// Whether storage keeps anything else than before.
void AddRebuild(const TableDefinition& before, const TableDefinition& after, SchemaChange& change) {
  const auto column = [](const IndexSchema& index) { return index.column; };
  if (std::ranges::equal(before.storage.indexes, after.storage.indexes, {}, column, column)) return;
  change.actions.push_back({SchemaAction::Kind::kRebuildTable, after.keyspace, after.name,
                            MapColumns(before.storage, after.storage)});
}

CqlStatus CheckOwner(const TableDefinition& table) {
  if (!table.belongs_to_list_store) return CheckModifiable(table.keyspace);
  return CqlError::Invalid("Cannot change indexes of table " + table.keyspace + "." + table.name +
                           ": it belongs to the list store");
}

}  // namespace

CqlOr<SchemaChange> Apply(const CreateIndexStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.table, editor));
  const auto known = editor.schema.FindTable(keyspace_name, statement.table.name);
  if (known != nullptr) {
    LS_RETURN_IF_ERROR(CheckOwner(*known));
  } else {
    LS_RETURN_IF_ERROR(CheckModifiable(keyspace_name));
  }
  LS_RETURN_IF_ERROR(CheckForm(statement));
  if (known != nullptr && known->view) {
    return CqlError::Invalid("Secondary indexes are not supported on materialized views");
  }
  LS_ASSIGN_OR_RETURN(const auto table, TableToChange(keyspace_name, statement.table.name, editor));
  const KeyspaceDefinition& keyspace = *editor.schema.FindKeyspace(keyspace_name);
  if (statement.name.size() > kViewNameBytesMax) {
    return CqlError::Invalid("Index name of " + std::to_string(statement.name.size()) +
                             " bytes; liststore has at most " + std::to_string(kViewNameBytesMax));
  }
  if (IsCounterTable(*table)) {
    return CqlError::Invalid("Secondary indexes are not supported on counter tables");
  }
  LS_RETURN_IF_ERROR(CheckLocal(statement, *table));
  const bool local = statement.targets[0].kind == TargetKind::kColumns;
  if (statement.targets.size() > (local ? 2 : 1)) {
    return CqlError::Invalid("Only CUSTOM indexes support multiple columns");
  }
  const IndexTarget& target = statement.targets.back();
  LS_ASSIGN_OR_RETURN(const IndexedPart part, CheckTarget(target, *table, local));
  if (!statement.if_not_exists && FindIndex(keyspace, statement.name).index != nullptr) {
    return CqlError::Invalid("Index already exists");
  }

  IndexDefinition index{statement.name, target.columns[0], local, part};
  if (index.name.empty()) index.name = AvailableName(keyspace, table->name, index.column);
  const auto same = std::ranges::find_if(table->indexes, [&](const IndexDefinition& other) {
    return other.column == index.column && other.local == index.local && other.part == index.part;
  });
  if (same != table->indexes.end()) {
    if (statement.if_not_exists) return Nothing();
    return CqlError::Invalid("Index " + index.name + " is a duplicate of existing index " +
                             same->name);
  }
  // Also with IF NOT EXISTS: the index that was asked for is not there, and cannot be.
  if (keyspace.tables.contains(IndexViewName(index.name)) ||
      FindIndex(keyspace, index.name).index != nullptr) {
    return CqlError::Invalid("Index " + index.name + " cannot be created, because table " +
                             IndexViewName(index.name) + " already exists");
  }
  TableDefinition changed = *table;
  changed.indexes.push_back(std::move(index));
  PutTable(editor, std::move(changed));
  SchemaChange change = OfTable(SchemaChange::Kind::kUpdated, keyspace_name, table->name);
  AddRebuild(*table, *editor.schema.FindTable(keyspace_name, table->name), change);
  return change;
}

CqlOr<SchemaChange> Apply(const DropIndexStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.index, editor));
  const KeyspaceDefinition* keyspace = editor.schema.FindKeyspace(keyspace_name);
  if (keyspace == nullptr) {
    return CqlError::Invalid("Keyspace " + keyspace_name + " does not exist");
  }
  const FoundIndex found = FindIndex(*keyspace, statement.index.name);
  if (found.index == nullptr) {
    if (statement.if_exists) return Nothing();
    return CqlError::Invalid("Index '" + statement.index.name +
                             "' could not be found in any of the tables of keyspace '" +
                             keyspace_name + "'");
  }
  LS_RETURN_IF_ERROR(CheckOwner(*found.table));
  TableDefinition changed = *found.table;
  std::erase_if(changed.indexes,
                [&](const IndexDefinition& index) { return index.name == statement.index.name; });
  PutTable(editor, std::move(changed));
  SchemaChange change = OfTable(SchemaChange::Kind::kUpdated, keyspace_name, found.table->name);
  AddRebuild(*found.table, *editor.schema.FindTable(keyspace_name, found.table->name), change);
  return change;
}

}  // namespace liststore::cql::schema_change
