// CREATE, ALTER and DROP TYPE. Source: ScyllaDB cql3/statements/create_type_statement.cc,
// alter_type_statement.cc, drop_type_statement.cc.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore::cql::schema_change {
namespace {

// Source: ScyllaDB types/user.hh.
constexpr size_t kFieldsMax = std::numeric_limits<int16_t>::max();

SchemaChange OfType(SchemaChange::Kind kind, std::string keyspace, std::string type) {
  SchemaChange change = OfKeyspace(kind, std::move(keyspace));
  change.target = SchemaChange::Target::kType;
  change.type = std::move(type);
  return change;
}

std::string ShownName(const std::string& keyspace, const std::string& type) {
  return keyspace + "." + QuoteIdentifier(type);
}

CqlOr<const KeyspaceDefinition*> KeyspaceOfType(const std::string& name, std::string_view verb,
                                                const Editor& editor) {
  const KeyspaceDefinition* keyspace = editor.schema.FindKeyspace(name);
  if (keyspace != nullptr) return keyspace;
  return CqlError::Invalid("Cannot " + std::string(verb) + " type in unknown keyspace " + name);
}

CqlError Missing(const std::string& keyspace, const std::string& type) {
  return CqlError::Invalid("No user type named " + ShownName(keyspace, type) + " exists.");
}

// ScyllaDB shows the name that is there twice as the hex digits of its bytes.
CqlStatus CheckFieldNames(const UserTypeNames& names) {
  std::vector<std::string_view> sorted(names.fields.begin(), names.fields.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : *twice) {
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return CqlError::Invalid("Duplicate field name " + hex + " in type " + names.name);
}

CqlStatus CheckFieldName(const std::string& name) {
  if (name.size() <= kColumnNameBytesMax) return {};
  return CqlError::Invalid("Field names shouldn't be more than 65535 bytes long");
}

CqlStatus CheckFields(const std::vector<ColumnSpec>& fields) {
  if (fields.size() > kFieldsMax) {
    return CqlError::Invalid("A user type cannot have more than " + std::to_string(kFieldsMax) +
                             " fields");
  }
  for (const ColumnSpec& field : fields) {
    LS_RETURN_IF_ERROR(CheckFieldName(field.name));
    if (field.type.kind == TypeSpec::Kind::kNative && field.type.native == CqlType::kCounter) {
      return CqlError::Invalid("A user type cannot contain counters");
    }
    if (field.type.kind == TypeSpec::Kind::kUser) {
      return CqlError::Invalid("A user type cannot contain non-frozen user type fields");
    }
  }
  return {};
}

// Puts the type in place of what it was, wherever it is used. Tables with rows in the order of it
// become others, so that statements under way, which know the type of before, meet none of its new
// values in keys: they plan again. Values in cells they can read. Invalid: something becomes too
// large.
CqlStatus PutType(Editor& editor, const std::string& keyspace_name, const DataType& type,
                  SchemaChange& change) {
  LS_RETURN_IF_ERROR(CheckSize(type));
  KeyspaceDefinition keyspace = *editor.schema.FindKeyspace(keyspace_name);
  UserTypeReplacement replacement(type);
  for (auto& [name, other] : keyspace.types) {
    other = replacement.In(other);
    LS_RETURN_IF_ERROR(CheckSize(other));
  }
  keyspace.types.insert_or_assign(type.user().name, type);
  for (auto& [name, table] : keyspace.tables) {
    const bool uses = std::ranges::any_of(table->columns, [&](const ColumnDefinition& column) {
      return column.type.Contains(type.user());
    });
    if (!uses) continue;
    TableDefinition changed = *table;
    for (ColumnDefinition& column : changed.columns) {
      column.type = replacement.In(column.type);
      LS_RETURN_IF_ERROR(CheckSize(column.type));
    }
    CompleteTable(changed);
    if (!changed.is_virtual && changed.storage.clustering != table->storage.clustering) {
      change.actions.push_back({SchemaAction::Kind::kRebuildTable, keyspace_name, name,
                                MapColumns(table->storage, changed.storage)});
    }
    table = std::make_shared<const TableDefinition>(std::move(changed));
  }
  PutKeyspace(editor, std::move(keyspace));
  return {};
}

// One ALTER TYPE: what becomes of `type`.
class TypeAlterer {
 public:
  TypeAlterer(const AlterTypeStatement& statement, const KeyspaceDefinition& keyspace,
              const DataType& type)
      : statement_(statement),
        keyspace_(keyspace),
        names_(std::make_shared<UserTypeNames>(type.user())),
        fields_(type.parameters()),
        shown_(ShownName(keyspace.name, type.user().name)) {}

  CqlOr<DataType> Alter() {
    LS_RETURN_IF_ERROR(CheckPartitionKeys());
    switch (statement_.kind) {
      case AlterTypeStatement::Kind::kAdd:
        LS_RETURN_IF_ERROR(Add());
        break;
      case AlterTypeStatement::Kind::kAlterType:
        LS_RETURN_IF_ERROR(AlterField());
        break;
      case AlterTypeStatement::Kind::kRename:
        LS_RETURN_IF_ERROR(Rename());
        break;
    }
    return DataType::User(names_, fields_);
  }

 private:
  // The first column of that kind that uses the type, "c of table ks.t"; behind the tables, in the
  // views of indexes: a global one is by its partition key, a local one by its clustering key.
  // nullopt: none does.
  std::optional<std::string> FindUse(ColumnKind kind) const {
    const std::string before_name = " of table " + keyspace_.name + ".";
    for (const bool of_indexes : {false, true}) {
      for (const auto& [name, table] : keyspace_.tables) {
        if (table->is_index_view() != of_indexes) continue;
        for (const ColumnDefinition& column : table->columns) {
          if (column.kind != kind || !column.type.Contains(*names_)) continue;
          return column.name + before_name + name;
        }
      }
    }
    return std::nullopt;
  }
  // Whether some column is of the type, not frozen.
  bool IsColumnOfCells() const {
    return std::ranges::any_of(keyspace_.tables, [&](const auto& entry) {
      return std::ranges::any_of(entry.second->columns, [&](const ColumnDefinition& column) {
        return column.type.kind() == DataType::Kind::kUser && column.type.is_multi_cell() &&
               column.type.user().name == names_->name;
      });
    });
  }

  // The bytes of such a key are the partition's name: another value of the same meaning would not
  // find it.
  CqlStatus CheckPartitionKeys() const {
    const std::optional<std::string> use = FindUse(ColumnKind::kPartitionKey);
    if (!use) return {};
    return CqlError::Invalid("Cannot add new field to type " + shown_ +
                             " because it is used in the partition key column " + *use);
  }

  CqlError UnknownField(const std::string& field) const {
    return CqlError::Invalid("Unknown field " + field + " in type " + shown_);
  }
  CqlOr<size_t> Find(const std::string& field) const {
    const auto at = std::ranges::find(names_->fields, field);
    if (at == names_->fields.end()) return UnknownField(field);
    return static_cast<size_t>(at - names_->fields.begin());
  }

  CqlStatus Add() {
    const ColumnSpec& field = statement_.field;
    if (Find(field.name).ok()) {
      return CqlError::Invalid("Cannot add new field " + field.name + " to type " + shown_ +
                               ": a field of the same name already exists");
    }
    if (names_->fields.size() == kFieldsMax) {
      return CqlError::Invalid("Cannot add new field to type " + shown_ +
                               ": maximum number of fields reached");
    }
    LS_ASSIGN_OR_RETURN(DataType type, ToDataType(field.type, keyspace_.name, keyspace_.types));
    LS_RETURN_IF_ERROR(CheckFields({field}));
    if (type.Contains(CqlType::kDuration)) {
      if (const std::optional<std::string> use = FindUse(ColumnKind::kClustering)) {
        return CqlError::Invalid("Cannot add new field to type " + shown_ +
                                 " because it is used in the clustering key column " + *use +
                                 " where durations are not allowed");
      }
    }
    if (type.Contains(*names_)) {
      return CqlError::Invalid("Cannot add new field " + field.name + " of type " +
                               ToString(field.type) + " to type " + shown_ +
                               " as this would create a circular reference");
    }
    if (type.is_multi_cell() && IsColumnOfCells()) {
      return CqlError::Invalid(
          "Non-frozen UDTs with nested non-frozen collections are not supported");
    }
    names_->fields.push_back(field.name);
    fields_.push_back(std::move(type));
    return {};
  }

  CqlStatus AlterField() {
    const ColumnSpec& field = statement_.field;
    LS_ASSIGN_OR_RETURN(const size_t index, Find(field.name));
    LS_ASSIGN_OR_RETURN(DataType type, ToDataType(field.type, keyspace_.name, keyspace_.types));
    const DataType& before = fields_[index];
    const bool compatible = type == before || (type.is_native() && before.is_native() &&
                                               IsOrderCompatible(type.native(), before.native()));
    if (!compatible) {
      return CqlError::Invalid("Type " + ToString(field.type) +
                               " in incompatible with previous type " + before.ToString() +
                               " of field " + field.name + " in user type " + shown_);
    }
    fields_[index] = std::move(type);
    return {};
  }

  // By the names of before: two fields may take each other's. O(fields + renames).
  CqlStatus Rename() {
    const std::vector<std::string> before = names_->fields;
    std::unordered_map<std::string_view, size_t> indexes;
    for (size_t i = 0; i < before.size(); ++i) indexes.emplace(before[i], i);
    for (const auto& [from, to] : statement_.renames) {
      const auto at = indexes.find(from);
      if (at == indexes.end()) return UnknownField(from);
      LS_RETURN_IF_ERROR(CheckFieldName(to));
      names_->fields[at->second] = to;
    }
    return CheckFieldNames(*names_);
  }

  const AlterTypeStatement& statement_;
  const KeyspaceDefinition& keyspace_;
  std::shared_ptr<UserTypeNames> names_;
  std::vector<DataType> fields_;
  const std::string shown_;
};

}  // namespace

CqlOr<SchemaChange> Apply(const CreateTypeStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.type, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace_name));
  LS_RETURN_IF_ERROR(CheckFields(statement.fields));
  LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace,
                      KeyspaceOfType(keyspace_name, "add", editor));
  const std::string& name = statement.type.name;
  if (keyspace->types.contains(name)) {
    if (statement.if_not_exists) {
      SchemaChange change = OfType(SchemaChange::Kind::kCreated, keyspace_name, name);
      change.alters_schema = false;
      return change;
    }
    return CqlError::Invalid("A user type of name " + ShownName(keyspace_name, name) +
                             " already exists");
  }
  auto names = std::make_shared<UserTypeNames>();
  names->keyspace = keyspace_name;
  names->name = name;
  names->name_in_cql = QuoteIdentifier(name);
  if (name.size() > kColumnNameBytesMax) {
    return CqlError::Invalid("User type names shouldn't be more than 65535 bytes long");
  }
  std::vector<DataType> fields;
  for (const ColumnSpec& field : statement.fields) {
    names->fields.push_back(field.name);
    LS_ASSIGN_OR_RETURN(DataType type, ToDataType(field.type, keyspace_name, keyspace->types));
    fields.push_back(std::move(type));
  }
  LS_RETURN_IF_ERROR(CheckFieldNames(*names));
  SchemaChange change = OfType(SchemaChange::Kind::kCreated, keyspace_name, name);
  LS_RETURN_IF_ERROR(
      PutType(editor, keyspace_name, DataType::User(std::move(names), std::move(fields)), change));
  return change;
}

CqlOr<SchemaChange> Apply(const AlterTypeStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.type, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace_name));
  LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace,
                      KeyspaceOfType(keyspace_name, "alter", editor));
  const auto found = keyspace->types.find(statement.type.name);
  if (found == keyspace->types.end()) return Missing(keyspace_name, statement.type.name);
  LS_ASSIGN_OR_RETURN(const DataType altered,
                      TypeAlterer(statement, *keyspace, found->second).Alter());
  SchemaChange change = OfType(SchemaChange::Kind::kUpdated, keyspace_name, statement.type.name);
  std::shared_ptr<const KeyspaceDefinition> before = editor.schema.keyspaces.at(keyspace_name);
  LS_RETURN_IF_ERROR(PutType(editor, keyspace_name, altered, change));
  LS_RETURN_IF_ERROR(CheckViews(
      std::move(before), "alter type " + ShownName(keyspace_name, statement.type.name), editor));
  return change;
}

CqlOr<SchemaChange> Apply(const DropTypeStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.type, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace_name));
  const bool has_keyspace = editor.schema.FindKeyspace(keyspace_name) != nullptr;
  if (!has_keyspace && statement.if_exists) return Nothing();
  LS_ASSIGN_OR_RETURN(const KeyspaceDefinition* keyspace,
                      KeyspaceOfType(keyspace_name, "drop", editor));
  const std::string& name = statement.type.name;
  const auto found = keyspace->types.find(name);
  if (found == keyspace->types.end()) {
    if (statement.if_exists) return Nothing();
    return Missing(keyspace_name, name);
  }
  const UserTypeNames& names = found->second.user();
  const std::string in_use =
      "Cannot drop user type " + keyspace_name + "." + name + " as it is still used by ";
  for (const auto& [other_name, other] : keyspace->types) {
    if (other_name != name && other.Contains(names)) {
      return CqlError::Invalid(in_use + "user type " + other_name);
    }
  }
  for (const auto& [table_name, table] : keyspace->tables) {
    if (table->is_index_view()) continue;
    for (const ColumnDefinition& column : table->columns) {
      if (!column.type.Contains(names)) continue;
      return CqlError::Invalid(in_use + "table " + keyspace_name + "." + table_name);
    }
  }
  KeyspaceDefinition changed = *keyspace;
  changed.types.erase(name);
  PutKeyspace(editor, std::move(changed));
  return OfType(SchemaChange::Kind::kDropped, keyspace_name, name);
}

}  // namespace liststore::cql::schema_change
