// CREATE TABLE, DROP TABLE and TRUNCATE. Source: ScyllaDB
// cql3/statements/create_table_statement.cc, drop_table_statement.cc, truncate_statement.cc.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/schema/sstable_options.h"
#include "engine/cql/schema/table_options.h"
#include "engine/cql/values/literal.h"

namespace liststore::cql::schema_change {
namespace {

CqlStatus CheckTableName(std::string_view keyspace, const std::string& name) {
  if (IsNameOfFace(keyspace, name)) return {};
  if (!IsWord(name)) {
    return CqlError::Invalid(
        "\"" + name +
        "\" is not a valid table name (must be alphanumeric character only: [0-9A-Za-z]+)");
  }
  return CheckNameLength("Table", name);
}

// The columns of a CREATE TABLE, from as they are written to what they are.
class ColumnMaker {
 public:
  ColumnMaker(const CreateTableStatement& statement, std::string_view keyspace)
      : statement_(statement), keyspace_(keyspace) {}

  // `types`: of the table's keyspace.
  CqlOr<std::vector<ColumnDefinition>> Make(const UserTypes& types) {
    LS_RETURN_IF_ERROR(MakeAll(types));
    LS_RETURN_IF_ERROR(MakePrimaryKey());
    if (statement_.compact_storage) LS_RETURN_IF_ERROR(CheckCompactStorage());
    LS_RETURN_IF_ERROR(CheckStatics());
    LS_RETURN_IF_ERROR(CheckCounters());
    LS_RETURN_IF_ERROR(OrderClustering());
    for (const ColumnDefinition& column : columns_) {
      LS_RETURN_IF_ERROR(CheckSupportedColumn(column.name, column.type));
    }
    return std::move(columns_);
  }

  CqlStatus CheckNames() const {
    if (statement_.columns.size() > kColumnsMax) {
      return CqlError::Invalid("Table with " + std::to_string(statement_.columns.size()) +
                               " columns; liststore has at most " + std::to_string(kColumnsMax));
    }
    std::vector<std::string_view> names;
    for (const ColumnSpec& column : statement_.columns) {
      if (column.name.size() > kColumnNameBytesMax) {
        return CqlError::Invalid("Column names shouldn't be more than 65535 bytes long");
      }
      names.push_back(column.name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return CqlError::Invalid("Multiple definition of identifier " + std::string(*twice));
  }

 private:
  CqlStatus MakeAll(const UserTypes& types) {
    for (const ColumnSpec& spec : statement_.columns) {
      LS_ASSIGN_OR_RETURN(DataType type, ToDataType(spec.type, keyspace_, types));
      // Source: ScyllaDB cql3/statements/create_table_statement.cc, raw_statement::prepare.
      const bool nests_cells = type.kind() == DataType::Kind::kUser && type.is_multi_cell() &&
                               std::ranges::any_of(type.parameters(), &DataType::is_multi_cell);
      if (nests_cells) {
        return CqlError::Invalid(
            "Non-frozen UDTs with nested non-frozen collections are not supported");
      }
      const ColumnKind kind = spec.is_static ? ColumnKind::kStatic : ColumnKind::kRegular;
      columns_.push_back({spec.name, std::move(type), kind, 0, false});
    }
    return {};
  }

  CqlStatus MakePrimaryKey() {
    if (statement_.partition_keys.empty()) {
      return CqlError::Invalid("No PRIMARY KEY specified (exactly one required)");
    }
    if (statement_.partition_keys.size() > 1) {
      return CqlError::Invalid("Multiple PRIMARY KEYs specified (exactly one required)");
    }
    uint16_t position = 0;
    for (const std::string& name : statement_.partition_keys[0]) {
      LS_RETURN_IF_ERROR(TakeKey(name, ColumnKind::kPartitionKey, position++));
    }
    position = 0;
    for (const std::string& name : statement_.clustering_key) {
      LS_RETURN_IF_ERROR(TakeKey(name, ColumnKind::kClustering, position++));
    }
    return {};
  }

  // A column becomes part of the key, once.
  CqlStatus TakeKey(const std::string& name, ColumnKind kind, uint16_t position) {
    const auto at = std::ranges::find(columns_, name, &ColumnDefinition::name);
    if (at == columns_.end() || at->is_key()) {
      return CqlError::Invalid("Unknown definition " + name + " referenced in PRIMARY KEY");
    }
    if (at->type.is_multi_cell()) {
      return CqlError::Invalid(std::string(at->type.is_collection()
                                               ? "Invalid non-frozen collection type"
                                               : "Invalid non-frozen user-defined type") +
                               " for PRIMARY KEY component " + name);
    }
    for (const CqlType refused : {CqlType::kCounter, CqlType::kDuration}) {
      if (!at->type.Contains(refused)) continue;
      return CqlError::Invalid(std::string(CqlTypeName(refused)) +
                               " type is not supported for PRIMARY KEY part " + name);
    }
    if (at->kind == ColumnKind::kStatic) {
      return CqlError::Invalid("Static column " + name + " cannot be part of the PRIMARY KEY");
    }
    at->kind = kind;
    at->position = position;
    return {};
  }

  CqlStatus CheckCompactStorage() const {
    std::string names;
    size_t values = 0;
    std::vector<const ColumnDefinition*> sorted;
    for (const ColumnDefinition& column : columns_) sorted.push_back(&column);
    std::ranges::sort(sorted, {}, &ColumnDefinition::name);
    for (const ColumnDefinition* column : sorted) {
      if (column->is_key()) continue;
      names += (values++ == 0 ? "" : ", ") + column->name;
    }
    const bool is_static = statement_.clustering_key.empty();
    if (is_static && values == 0) {
      return CqlError::Invalid("No definition found that is not part of the PRIMARY KEY");
    }
    const auto is_multi_cell = [](const ColumnDefinition& column) {
      return column.type.is_multi_cell();
    };
    if (std::ranges::any_of(columns_, is_multi_cell)) {
      return CqlError::Invalid(
          "Non-frozen collections and UDTs are not supported with COMPACT STORAGE");
    }
    if (std::ranges::count(columns_, ColumnKind::kStatic, &ColumnDefinition::kind) != 0) {
      return CqlError::Invalid("Static columns are not supported in COMPACT STORAGE tables");
    }
    if (is_static || values <= 1) return {};
    return CqlError::Invalid(
        "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the "
        "PRIMARY KEY (got: " +
        names + ")");
  }

  CqlStatus CheckStatics() const {
    const bool statics =
        std::ranges::count(columns_, ColumnKind::kStatic, &ColumnDefinition::kind) != 0;
    if (statics && statement_.clustering_key.empty()) {
      return CqlError::Invalid(
          "Static columns are only useful (and thus allowed) if the table has at least one "
          "clustering column");
    }
    return {};
  }

  // Names the first of those that are no counters: of static columns, then of the others, by their
  // names. Source: ScyllaDB schema/schema.cc, schema::schema.
  CqlStatus CheckCounters() const {
    const ColumnDefinition* other = nullptr;
    bool any_counter = false;
    for (const ColumnDefinition& column : columns_) {
      if (column.is_key()) continue;
      if (column.type.is(CqlType::kCounter)) {
        any_counter = true;
        continue;
      }
      const auto precedes = [](const ColumnDefinition& a, const ColumnDefinition& b) {
        if (a.kind != b.kind) return a.kind == ColumnKind::kStatic;
        return a.name < b.name;
      };
      if (other == nullptr || precedes(column, *other)) other = &column;
    }
    if (!any_counter || other == nullptr) return {};
    return CqlError::Config("Cannot add a non counter column (" + other->name +
                            ") in a counter column family");
  }

  // Columns after the last one named are ascending.
  CqlStatus OrderClustering() {
    const std::vector<ColumnOrder>& order = statement_.clustering_order;
    const std::vector<std::string>& clustering = statement_.clustering_key;
    if (order.size() > clustering.size()) {
      return CqlError::Invalid(
          "Only clustering key columns can be defined in CLUSTERING ORDER directive");
    }
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i].column != clustering[i]) {
        if (std::ranges::count(order, clustering[i], &ColumnOrder::column) == 0) {
          return CqlError::Invalid("Missing CLUSTERING ORDER for column " + clustering[i]);
        }
        return CqlError::Invalid(
            "The order of columns in the CLUSTERING ORDER directive must be the one of the "
            "clustering key (" +
            clustering[i] + " must appear before " + order[i].column + ")");
      }
      std::ranges::find(columns_, order[i].column, &ColumnDefinition::name)->descending =
          order[i].descending;
    }
    return {};
  }

  const CreateTableStatement& statement_;
  const std::string_view keyspace_;
  std::vector<ColumnDefinition> columns_;
};

// nullptr: no table has the id.
const TableDefinition* FindById(const Uuid& id, const Schema& schema) {
  for (const auto& [keyspace_name, keyspace] : schema.keyspaces) {
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->id == id) return table.get();
    }
  }
  return nullptr;
}

}  // namespace

CqlOr<Uuid> NewTableId(const Properties& properties, const Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::optional<Uuid> id, TableIdOption(properties));
  if (!id) return editor.context.new_uuid();
  const TableDefinition* other = FindById(*id, editor.schema);
  if (other == nullptr) return *id;
  return CqlError::Invalid("Table with ID " + id->ToString() +
                           " already exists: " + other->keyspace + "." + other->name);
}

namespace {

// Source: ScyllaDB cql3/statements/create_table_statement.cc, prepare.
CqlStatus CheckTablets(const TableDefinition& table) {
  if (!table.uses_tablets || !IsCounterTable(table)) return {};
  return CqlError::Invalid("Cannot use the 'counter' type for table " + table.keyspace + "." +
                           table.name + ": Counters are not yet supported with tablets");
}

// The table that a statement asks for, without an id.
CqlOr<TableDefinition> MakeTable(const CreateTableStatement& statement, const Editor& editor) {
  TableDefinition table;
  LS_ASSIGN_OR_RETURN(table.keyspace, KeyspaceOf(statement.table, editor));
  table.name = statement.table.name;
  LS_RETURN_IF_ERROR(CheckTableName(table.keyspace, table.name));
  ColumnMaker columns(statement, table.keyspace);
  LS_RETURN_IF_ERROR(columns.CheckNames());
  const KeyspaceDefinition* keyspace = editor.schema.FindKeyspace(table.keyspace);
  if (keyspace == nullptr) {
    return CqlError::Invalid("Cannot create a table in a non-existent keyspace: " + table.keyspace);
  }
  const Properties properties(statement.properties);
  table.options = DefaultTableOptions(editor.context.dialect);
  LS_RETURN_IF_ERROR(ApplyTableOptions(properties, *keyspace, table.options, TableKind::kTable,
                                       editor.context.dialect));
  LS_RETURN_IF_ERROR(CheckTimeWindows(properties, table.options, editor.context.settings));
  LS_ASSIGN_OR_RETURN(table.columns, columns.Make(keyspace->types));
  table.compact_storage = statement.compact_storage;
  LS_RETURN_IF_ERROR(CheckCounterTtl(table));
  table.uses_tablets = keyspace->uses_tablets();
  LS_RETURN_IF_ERROR(CheckTablets(table));
  return table;
}

}  // namespace

CqlStatus Prepare(const CreateTableStatement& statement, const Editor& editor) {
  const CqlOr<TableDefinition> table = MakeTable(statement, editor);
  return table.ok() ? CqlStatus() : CqlStatus(table.error());
}

CqlOr<SchemaChange> Apply(const CreateTableStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace_name, KeyspaceOf(statement.table, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace_name));
  LS_ASSIGN_OR_RETURN(TableDefinition table, MakeTable(statement, editor));
  const KeyspaceDefinition* keyspace = editor.schema.FindKeyspace(keyspace_name);
  const Properties properties(statement.properties);

  SchemaChange change = OfTable(SchemaChange::Kind::kCreated, table.keyspace, table.name);
  if (keyspace->tables.contains(table.name)) {
    if (!statement.if_not_exists) {
      return AlreadyExists("Cannot add already existing table \"" + table.name +
                               "\" to keyspace \"" + table.keyspace + "\"",
                           table.keyspace, table.name);
    }
    change.alters_schema = false;
    return change;
  }
  LS_ASSIGN_OR_RETURN(table.id, NewTableId(properties, editor));
  change.actions.push_back(
      {SchemaAction::Kind::kCreateTable, table.keyspace, table.name, ColumnMap{}});
  PutTable(editor, std::move(table));
  return change;
}

CqlOr<SchemaChange> Apply(const DropTableStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.table, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
  const std::string& name = statement.table.name;
  const std::shared_ptr<const TableDefinition> table = editor.schema.FindTable(keyspace, name);
  if (table == nullptr) {
    if (statement.if_exists) return Nothing();
    return CqlError::Invalid("Cannot drop non existing table '" + name + "' in keyspace '" +
                             keyspace + "'.");
  }
  if (table->belongs_to_list_store) {
    return CqlError::Invalid("Cannot drop table " + keyspace + "." + name +
                             ": it belongs to the list store");
  }
  if (table->view) {
    return CqlError::Invalid("Cannot use DROP TABLE on Materialized View");
  }
  if (!table->views.empty()) {
    std::string views;
    for (const std::string& view : table->views) views += (views.empty() ? "" : ", ") + view;
    return CqlError::Invalid("Cannot drop table when materialized views still depend on it (" +
                             keyspace + ".{" + views + "})");
  }
  SchemaChange change = OfTable(SchemaChange::Kind::kDropped, keyspace, name);
  change.actions.push_back({SchemaAction::Kind::kDropTable, keyspace, name, ColumnMap{}});
  EraseTable(editor, keyspace, name);
  return change;
}

namespace {

// Sources: ScyllaDB cql3/statements/truncate_statement.cc, execute; exceptions/exceptions.cc.
CqlStatus CheckTimeout(const TruncateStatement& statement, const SchemaChangeContext& context) {
  bool is_over = statement.timeout ? context.is_over : context.settings.truncate_timeout_ms == 0;
  if (statement.timeout && !statement.timeout->Is<BindMarker>()) {
    Operand timeout;
    timeout.type = CqlType::kDuration;
    LS_ASSIGN_OR_RETURN(timeout.constant,
                        EncodeLiteral(*statement.timeout, timeout.type, "[timeout]"));
    LS_ASSIGN_OR_RETURN(const int64_t timeout_ms, ResolveTimeout(timeout, {}));
    is_over = timeout_ms == 0;
  }
  if (!is_over) return {};
  return CqlError{CqlErrorCode::kTruncateError,
                  "Error during truncate: seastar::rpc::timeout_error (rpc call timed out)",
                  {}};
}

}  // namespace

CqlStatus Prepare(const TruncateStatement& statement, const Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.table, editor));
  const auto table = TableToChange(keyspace, statement.table.name, editor);
  return table.ok() ? CqlStatus() : CqlStatus(table.error());
}

CqlOr<SchemaChange> Apply(const TruncateStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.table, editor));
  const std::string& name = statement.table.name;
  const std::shared_ptr<const TableDefinition> known = editor.schema.FindTable(keyspace, name);
  if (known != nullptr && known->view) {
    return CqlError::Invalid(
        "Cannot TRUNCATE materialized view directly; must truncate base table instead");
  }
  // The list store's keyspace is one of the system; its tables have rules of their own.
  if (known == nullptr || !known->belongs_to_list_store) {
    LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
  }
  LS_ASSIGN_OR_RETURN(const auto table, TableToChange(keyspace, name, editor));
  // Its features would be gone and their items not.
  if (table->belongs_to_list_store && name == "list_features") {
    return CqlError::Invalid("Cannot truncate table " + keyspace + "." + name +
                             ": it belongs to the list store");
  }
  LS_RETURN_IF_ERROR(CheckTimeout(statement, editor.context));
  SchemaChange change;
  change.actions.push_back({SchemaAction::Kind::kTruncateTable, keyspace, name, ColumnMap{}});
  const bool keeps_cells = std::ranges::any_of(
      table->dropped, [](const auto& entry) { return entry.second.kept != nullptr; });
  if (keeps_cells) {
    TableDefinition changed = *table;
    for (auto& entry : changed.dropped) entry.second.kept = nullptr;
    PutTable(editor, std::move(changed));
    change.keyspace = keyspace;
    change.table = name;
    change.alters_schema = true;
  }
  for (const std::string& view : table->views) {
    change.actions.push_back({SchemaAction::Kind::kTruncateTable, keyspace, view, ColumnMap{}});
  }
  return change;
}

}  // namespace liststore::cql::schema_change
