#include "engine/cql/schema/schema_change.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/cql/schema/schema_change_impl.h"

namespace liststore::cql {

std::string_view ToString(SchemaChange::Kind kind) {
  switch (kind) {
    case SchemaChange::Kind::kNothing:
      return "";
    case SchemaChange::Kind::kCreated:
      return "CREATED";
    case SchemaChange::Kind::kUpdated:
      return "UPDATED";
    case SchemaChange::Kind::kDropped:
      return "DROPPED";
  }
  LS_UNREACHABLE("every kind has its word");
}

std::string_view ToString(SchemaChange::Target target) {
  switch (target) {
    case SchemaChange::Target::kKeyspace:
      return "KEYSPACE";
    case SchemaChange::Target::kTable:
      return "TABLE";
    case SchemaChange::Target::kType:
      return "TYPE";
  }
  LS_UNREACHABLE("every target has its word");
}

namespace {

template <typename T, typename = void>
struct IsApplied : std::false_type {};
template <typename T>
struct IsApplied<T, std::void_t<decltype(schema_change::Apply(
                        std::declval<const T&>(), std::declval<schema_change::Editor&>()))>>
    : std::true_type {};

}  // namespace

bool IsSchemaStatement(const Statement& statement) {
  return std::visit([](const auto& node) { return IsApplied<std::decay_t<decltype(node)>>::value; },
                    statement.node);
}

CqlOr<SchemaChange> ApplySchemaStatement(const Statement& statement,
                                         std::string_view current_keyspace,
                                         const SchemaChangeContext& context, Schema& schema) {
  schema_change::Editor editor{current_keyspace, context, schema};
  return std::visit(
      [&](const auto& node) -> CqlOr<SchemaChange> {
        if constexpr (IsApplied<std::decay_t<decltype(node)>>::value) {
          return schema_change::Apply(node, editor);
        } else {
          LS_UNREACHABLE("IsSchemaStatement holds for the statement");
        }
      },
      statement.node);
}

CqlStatus CheckPrepared(const Statement& statement, std::string_view current_keyspace,
                        const SchemaChangeContext& context, const Schema& schema) {
  Schema unchanged = schema;
  const schema_change::Editor editor{current_keyspace, context, unchanged};
  if (const auto* create = std::get_if<CreateTableStatement>(&statement.node)) {
    return schema_change::Prepare(*create, editor);
  }
  if (const auto* truncate = std::get_if<TruncateStatement>(&statement.node)) {
    return schema_change::Prepare(*truncate, editor);
  }
  return {};
}

namespace schema_change {

// --- Names

CqlOr<std::string> KeyspaceOf(const QualifiedName& name, const Editor& editor) {
  if (!name.keyspace.empty()) return name.keyspace;
  if (!editor.current_keyspace.empty()) return std::string(editor.current_keyspace);
  return CqlError::Invalid(
      "No keyspace has been specified. USE a keyspace, or explicitly specify "
      "keyspace.tablename");
}

CqlStatus CheckModifiable(const std::string& keyspace) {
  KeyspaceDefinition named;
  named.name = keyspace;
  if (!named.is_system()) return {};
  return CqlError{CqlErrorCode::kUnauthorized, keyspace + " keyspace is not user-modifiable.", {}};
}

bool IsWord(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool IsNameOfFace(std::string_view keyspace, std::string_view name) {
  constexpr size_t kBytesMax = 511;  // of two names and the colon
  if (keyspace != kDynamodbKeyspace || name.empty() || name.size() > kBytesMax) return false;
  return std::ranges::all_of(name, [](char c) {
    return IsWord({&c, 1}) || c == '.' || c == '-' || c == ':';
  });
}

CqlStatus CheckNameLength(std::string_view what, const std::string& name) {
  if (name.size() <= kNameCharactersMax) return {};
  return CqlError::Invalid(std::string(what) + " names shouldn't be more than " +
                           std::to_string(kNameCharactersMax) + " characters long (got \"" + name +
                           "\")");
}

CqlOr<std::shared_ptr<const TableDefinition>> TableToChange(const std::string& keyspace,
                                                            const std::string& table,
                                                            const Editor& editor) {
  if (editor.schema.FindKeyspace(keyspace) == nullptr) {
    return CqlError::Invalid("Keyspace " + keyspace + " does not exist");
  }
  std::shared_ptr<const TableDefinition> found = editor.schema.FindTable(keyspace, table);
  if (found == nullptr) return CqlError::Invalid("unconfigured table " + table);
  return found;
}

FoundIndex FindIndex(const KeyspaceDefinition& keyspace, std::string_view index) {
  for (const auto& [name, table] : keyspace.tables) {
    const auto at = std::ranges::find(table->indexes, index, &IndexDefinition::name);
    if (at != table->indexes.end()) return {table, &*at};
  }
  return {};
}

// --- Changes

void PutKeyspace(Editor& editor, KeyspaceDefinition keyspace) {
  std::string name = keyspace.name;
  editor.schema.keyspaces.insert_or_assign(
      std::move(name), std::make_shared<const KeyspaceDefinition>(std::move(keyspace)));
}

void PutTable(Editor& editor, TableDefinition table) {
  CompleteTable(table);
  const KeyspaceDefinition* found = editor.schema.FindKeyspace(table.keyspace);
  LS_CHECK(found != nullptr, "the keyspace was looked up before");
  KeyspaceDefinition keyspace = *found;
  keyspace.Put(std::make_shared<const TableDefinition>(std::move(table)));
  PutKeyspace(editor, std::move(keyspace));
}

void EraseTable(Editor& editor, const std::string& keyspace, const std::string& table) {
  KeyspaceDefinition changed = *editor.schema.FindKeyspace(keyspace);
  changed.Erase(table);
  PutKeyspace(editor, std::move(changed));
}

ColumnMap MapColumns(const TableSchema& before, const TableSchema& after) {
  const auto map = [](const std::vector<ColumnSchema>& from, const std::vector<ColumnSchema>& to) {
    ColumnMap::Columns columns;
    for (const ColumnSchema& column : from) {
      const auto at = std::ranges::lower_bound(to, column.name, {}, &ColumnSchema::name);
      if (at != to.end() && at->name == column.name) {
        columns.emplace_back(static_cast<ColumnId>(at - to.begin()));
      } else {
        columns.emplace_back(std::nullopt);
      }
    }
    return columns;
  };
  return {map(before.regular, after.regular), map(before.statics, after.statics)};
}

SchemaChange Nothing() { return {}; }

SchemaChange OfKeyspace(SchemaChange::Kind kind, std::string keyspace) {
  SchemaChange change;
  change.kind = kind;
  change.target = SchemaChange::Target::kKeyspace;
  change.keyspace = std::move(keyspace);
  change.alters_schema = true;
  return change;
}

SchemaChange OfTable(SchemaChange::Kind kind, std::string keyspace, std::string table) {
  SchemaChange change = OfKeyspace(kind, std::move(keyspace));
  change.target = SchemaChange::Target::kTable;
  change.table = std::move(table);
  return change;
}

CqlError AlreadyExists(std::string message, std::string keyspace, std::string table) {
  return {CqlErrorCode::kAlreadyExists, std::move(message),
          AlreadyExistsDetail{std::move(keyspace), std::move(table)}};
}

// --- What liststore has

CqlStatus CheckSupportedColumn(const std::string& name, const DataType& type) {
  if (!type.is_multi_cell()) return {};
  if (type.kind() == DataType::Kind::kUser) {
    const bool nests = std::ranges::any_of(type.parameters(), &DataType::is_multi_cell);
    if (!nests) return {};
    // Source: ScyllaDB cql3/statements/create_table_statement.cc.
    return CqlError::Invalid(
        "Non-frozen UDTs with nested non-frozen collections are not supported");
  }
  const bool has_keys = type.kind() != DataType::Kind::kList;
  if (!has_keys || !type.parameters()[0].Contains(CqlType::kDuration)) return {};
  return CqlError::Unsupported(CqlFeature::kDurationKeys, name + " " + type.ToString());
}

}  // namespace schema_change
}  // namespace liststore::cql
