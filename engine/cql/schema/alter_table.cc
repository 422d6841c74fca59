// ALTER TABLE. Source: ScyllaDB cql3/statements/alter_table_statement.cc; which types are
// compatible: types/types.cc.
#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/schema/sstable_options.h"
#include "engine/cql/schema/table_options.h"
#include "engine/model/schema_actions.h"

namespace liststore::cql::schema_change {

bool IsOrderCompatible(CqlType after, CqlType before) {
  if (after == before) return true;
  if (after == CqlType::kText) return before == CqlType::kAscii;
  if (after == CqlType::kBlob) return before == CqlType::kAscii || before == CqlType::kText;
  return false;
}

namespace {

using Kind = AlterTableStatement::Kind;

// Values of `before` are values of `after`.
bool IsNativeValueCompatible(CqlType after, CqlType before) {
  if (IsOrderCompatible(after, before)) return true;
  switch (after) {
    case CqlType::kBlob:
      return before != CqlType::kCounter;
    case CqlType::kBigint:
      return before == CqlType::kTimestamp;
    case CqlType::kTimestamp:
      return before == CqlType::kBigint;
    case CqlType::kUuid:
      return before == CqlType::kTimeuuid;
    case CqlType::kVarint:
      return before == CqlType::kTinyint || before == CqlType::kSmallint ||
             before == CqlType::kInt || before == CqlType::kBigint || before == CqlType::kTimestamp;
    default:
      return false;
  }
}

using IsCompatible = bool (*)(const DataType& after, const DataType& before);

bool IsTypeOrderCompatible(const DataType& after, const DataType& before);
bool IsTypeValueCompatible(const DataType& after, const DataType& before);

// Of tuples and user types: each field, and maybe more behind them.
bool AreFieldsCompatible(const DataType& after, const DataType& before,
                         IsCompatible is_compatible) {
  const std::vector<DataType>& fields = before.parameters();
  if (!before.has_fields() || fields.size() > after.parameters().size()) return false;
  return std::ranges::equal(
      fields.begin(), fields.end(), after.parameters().begin(),
      after.parameters().begin() + static_cast<ptrdiff_t>(fields.size()),
      [&](const DataType& a, const DataType& b) { return is_compatible(b, a); });
}

// Values of `before` are values of `after` and in the same order. Source of both: ScyllaDB
// types/types.cc, is_compatible_with and is_value_compatible_with.
bool IsTypeOrderCompatible(const DataType& after, const DataType& before) {
  if (after == before) return true;
  if (after.is_native() && before.is_native()) {
    return IsOrderCompatible(after.native(), before.native());
  }
  if (after.has_fields()) {
    return after.is_multi_cell() == before.is_multi_cell() &&
           AreFieldsCompatible(after, before, IsTypeOrderCompatible);
  }
  if (after.kind() != before.kind() || after.is_native() ||
      after.is_multi_cell() != before.is_multi_cell()) {
    return false;
  }
  const std::vector<DataType>& to = after.parameters();
  const std::vector<DataType>& from = before.parameters();
  // Where each has a cell of its own, what is in the cells has no order.
  const bool in_cells = after.is_multi_cell() && after.kind() != DataType::Kind::kSet;
  const bool last = in_cells ? IsTypeValueCompatible(to.back(), from.back())
                             : IsTypeOrderCompatible(to.back(), from.back());
  return last && (to.size() == 1 || IsTypeOrderCompatible(to[0], from[0]));
}

bool IsTypeValueCompatible(const DataType& after, const DataType& before) {
  if (after == before) return true;
  if (after.is_native()) {
    if (before.is_native()) return IsNativeValueCompatible(after.native(), before.native());
    // Several cells have no value as one.
    return after.is(CqlType::kBlob) && !before.is_multi_cell();
  }
  if (after.kind() == DataType::Kind::kUser) {
    return before.kind() == DataType::Kind::kUser &&
           after.is_multi_cell() == before.is_multi_cell() &&
           AreFieldsCompatible(after, before, IsTypeOrderCompatible);
  }
  if (after.has_fields()) {
    return !before.is_multi_cell() && AreFieldsCompatible(after, before, IsTypeValueCompatible);
  }
  const bool whole = !after.is_multi_cell() && !before.is_multi_cell();
  if (!whole || after.kind() != before.kind() || after.kind() == DataType::Kind::kSet) {
    return IsTypeOrderCompatible(after, before);
  }
  const std::vector<DataType>& to = after.parameters();
  const std::vector<DataType>& from = before.parameters();
  return IsTypeValueCompatible(to.back(), from.back()) &&
         (to.size() == 1 || IsTypeOrderCompatible(to[0], from[0]));
}

// A column may become one of `type`. `ordered`: rows stand in the order of its values.
CqlStatus CheckCompatible(const ColumnDefinition& column, const DataType& type, bool ordered) {
  const bool compatible =
      ordered ? IsTypeOrderCompatible(type, column.type) : IsTypeValueCompatible(type, column.type);
  if (compatible) return {};
  return CqlError::Config(
      "Cannot change " + column.name + " from type " + column.type.ToString() + " to type " +
      type.ToString() +
      (ordered ? ": types are not order-compatible." : ": types are incompatible."));
}

// A type whose values can be read without what it names: a tuple for each user type. Source:
// ScyllaDB db/schema_tables.cc, expand_user_type.
DataType WithoutUserTypes(const DataType& type) {
  if (type.is_native()) return type;
  std::vector<DataType> parts;
  for (const DataType& part : type.parameters()) parts.push_back(WithoutUserTypes(part));
  switch (type.kind()) {
    case DataType::Kind::kTuple:
    case DataType::Kind::kUser:
      return DataType::Tuple(std::move(parts));
    default:
      break;
  }
  const DataType expanded = type.kind() == DataType::Kind::kList ? DataType::List(parts[0])
                            : type.kind() == DataType::Kind::kSet
                                ? DataType::Set(parts[0])
                                : DataType::Map(parts[0], parts[1]);
  return type.is_multi_cell() ? expanded : DataType::Frozen(expanded);
}

ColumnDefinition* FindIn(TableDefinition& table, std::string_view name) {
  const auto at = std::ranges::find(table.columns, name, &ColumnDefinition::name);
  return at == table.columns.end() ? nullptr : &*at;
}

// One ALTER TABLE: `table` and its views begin as what is there and become what shall be.
class TableAlterer {
 public:
  // `keyspace`: the table's.
  TableAlterer(const AlterTableStatement& statement, const KeyspaceDefinition& keyspace,
               const SchemaChangeContext& context, TableDefinition table,
               std::vector<TableDefinition> views)
      : statement_(statement),
        keyspace_(keyspace),
        dialect_(context.dialect),
        drop_micros_(context.drop_micros.value_or(context.now_micros)),
        settings_(context.settings),
        table_(std::move(table)),
        views_(std::move(views)) {}

  TableDefinition& table() { return table_; }
  std::vector<TableDefinition>& views() { return views_; }

  CqlStatus Alter() {
    switch (statement_.kind) {
      case Kind::kAdd:
        if (table_.is_dense()) {
          return CqlError::Invalid("Cannot add new column to a COMPACT STORAGE table");
        }
        return ForEachColumn(&TableAlterer::Add);
      case Kind::kDrop:
        if (table_.compact_storage) {
          return CqlError::Invalid("Cannot drop columns from a non-CQL3 table");
        }
        return ForEachColumn(&TableAlterer::Drop);
      case Kind::kRename:
        for (const auto& [from, to] : statement_.renames) LS_RETURN_IF_ERROR(Rename(from, to));
        return {};
      case Kind::kAlterType:
        return ForEachColumn(&TableAlterer::AlterType);
      case Kind::kProperties: {
        const Properties properties(statement_.properties);
        if (properties.Has("id")) return CqlError::Config("Cannot alter table id.");
        LS_RETURN_IF_ERROR(
            ApplyTableOptions(properties, keyspace_, table_.options, TableKind::kTable, dialect_));
        LS_RETURN_IF_ERROR(CheckTimeWindows(properties, table_.options, settings_));
        LS_RETURN_IF_ERROR(CheckGraceOfBase(properties));
        return CheckCounterTtl(table_);
      }
      case Kind::kDropCompactStorage:
        return CqlError::Invalid(
            "DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use.");
      case Kind::kTtlPerRow:
        return CqlError::Unsupported(CqlFeature::kTtlPerRow, "ALTER TABLE ... TTL");
    }
    LS_UNREACHABLE("every kind of ALTER TABLE is known");
  }

 private:
  CqlStatus ForEachColumn(CqlStatus (TableAlterer::*change)(const ColumnSpec&)) {
    for (const ColumnSpec& column : statement_.columns) LS_RETURN_IF_ERROR((this->*change)(column));
    return {};
  }

  ColumnDefinition* Find(std::string_view name) { return FindIn(table_, name); }

  CqlStatus CheckGraceOfBase(const Properties& properties) const {
    // An index has a view too.
    if (views_.empty() && table_.indexes.empty()) return {};
    if (!properties.Has("gc_grace_seconds")) return {};
    if (table_.options.gc_grace_seconds != 0) return {};
    return CqlError::Invalid(
        "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this "
        "value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause "
        "undelivered updates to expire before being replayed.");
  }

  CqlStatus Add(const ColumnSpec& spec) {
    if (spec.is_static && !table_.is_compound()) {
      return CqlError::Invalid("Static columns are not allowed in COMPACT STORAGE tables");
    }
    if (spec.is_static && table_.CountOf(ColumnKind::kClustering) == 0) {
      return CqlError::Invalid(
          "Static columns are only useful (and thus allowed) if the table has at least one "
          "clustering column");
    }
    if (const ColumnDefinition* column = Find(spec.name)) {
      return CqlError::Invalid("Invalid column name " + spec.name + " because it conflicts with " +
                               (column->kind == ColumnKind::kPartitionKey ? "a PRIMARY KEY part"
                                                                          : "an existing column"));
    }
    if (spec.name.size() > kColumnNameBytesMax) {
      return CqlError::Invalid("Column names shouldn't be more than 65535 bytes long");
    }
    if (table_.columns.size() >= kColumnsMax) {
      return CqlError::Invalid("Table " + table_.name + " has " +
                               std::to_string(table_.columns.size()) +
                               " columns, as many as liststore has");
    }
    const auto was = table_.dropped.find(spec.name);
    if (was != table_.dropped.end() && IsCounterTable(table_)) {
      return CqlError::Invalid("Cannot re-add previously dropped counter column " + spec.name);
    }
    LS_ASSIGN_OR_RETURN(DataType type, ToDataType(spec.type, table_.keyspace, keyspace_.types));
    if (was != table_.dropped.end()) LS_RETURN_IF_ERROR(CheckAgain(spec.name, type, was->second));
    if (type.is_collection() && type.is_multi_cell() && !table_.is_compound()) {
      return CqlError::Invalid(
          "Cannot use non-frozen collections with a non-composite PRIMARY KEY");
    }
    const bool adds_counter = type.is(CqlType::kCounter);
    if (adds_counter && !IsCounterTable(table_)) {
      return CqlError::Config("Cannot add a counter column (" + spec.name +
                              ") in a non counter column family");
    }
    if (!adds_counter && IsCounterTable(table_)) {
      return CqlError::Config("Cannot add a non counter column (" + spec.name +
                              ") in a counter column family");
    }
    LS_RETURN_IF_ERROR(CheckSupportedColumn(spec.name, type));
    if (was != table_.dropped.end()) was->second.kept = nullptr;
    const ColumnKind kind = spec.is_static ? ColumnKind::kStatic : ColumnKind::kRegular;
    for (TableDefinition& view : views_) {
      if (spec.is_static || !view.view->all_columns) continue;
      view.columns.push_back({spec.name, type, ColumnKind::kRegular, 0, false});
    }
    table_.columns.push_back({spec.name, std::move(type), kind, 0, false});
    return {};
  }

  // What is left of a collection's cells in ScyllaDB would be read as cells of the other.
  static CqlStatus CheckAgain(const std::string& name, const DataType& type,
                              const DroppedColumn& was) {
    const auto has_elements = [](const DataType& of) {
      return of.is_collection() && of.is_multi_cell();
    };
    if (!has_elements(type) || !has_elements(was.type)) return {};
    if (IsTypeOrderCompatible(WithoutUserTypes(type), was.type)) return {};
    return CqlError::Invalid("Cannot add a collection with the name " + name +
                             " because a collection with the same name and a different type has "
                             "already been used in the past");
  }

  CqlError NeededByView(const std::string& column, const std::string& view) const {
    return CqlError::Invalid("Cannot drop column " + column + " from base table " +
                             table_.keyspace + "." + table_.name + ": materialized view " + view +
                             " needs this column");
  }

  // It has the column, or its rows live as long as any cell of the base does.
  bool NeedsColumn(const TableDefinition& view, const ColumnDefinition& column) const {
    if (view.FindColumn(column.name) != nullptr) return true;
    if (column.kind == ColumnKind::kStatic) return false;
    return std::ranges::none_of(view.columns, [&](const ColumnDefinition& of_view) {
      const ColumnDefinition* of_base = table_.FindColumn(of_view.name);
      return of_view.is_key() && of_base != nullptr && !of_base->is_key();
    });
  }

  CqlError NotFound(const std::string& column) const {
    return CqlError::Invalid("Column " + column + " was not found in table " + table_.name);
  }

  CqlStatus Drop(const ColumnSpec& spec) {
    const ColumnDefinition* column = Find(spec.name);
    if (column == nullptr) return NotFound(spec.name);
    if (column->is_key()) return CqlError::Invalid("Cannot drop PRIMARY KEY part " + spec.name);
    if (const IndexDefinition* index = table_.FindIndexOn(spec.name)) {
      return NeededByView(spec.name, IndexViewName(index->name));
    }
    // The rows of an index on a key column live as long as any cell of the base does.
    for (const IndexDefinition& index : table_.indexes) {
      if (column->kind == ColumnKind::kRegular && table_.FindColumn(index.column)->is_key()) {
        return NeededByView(spec.name, IndexViewName(index.name));
      }
    }
    for (const TableDefinition& view : views_) {
      if (NeedsColumn(view, *column)) return NeededByView(spec.name, view.name);
    }
    table_.dropped.insert_or_assign(spec.name,
                                    DroppedColumn{WithoutUserTypes(column->type), drop_micros_});
    std::erase_if(table_.columns, [&](const auto& other) { return other.name == spec.name; });
    return {};
  }

  CqlStatus Rename(const std::string& from, const std::string& to) {
    ColumnDefinition* column = Find(from);
    if (column == nullptr) {
      return CqlError::Invalid("Cannot rename unknown column " + from + " in table " + table_.name);
    }
    if (Find(to) != nullptr) {
      return CqlError::Invalid("Cannot rename column " + from + " to " + to + " in table " +
                               table_.name + "; another column of that name already exist");
    }
    if (!column->is_key()) {
      return CqlError::Invalid("Cannot rename non PRIMARY KEY part " + from);
    }
    if (to.size() > kColumnNameBytesMax) {
      return CqlError::Invalid("Column names shouldn't be more than 65535 bytes long");
    }
    std::string indexes;
    for (const IndexDefinition& index : table_.indexes) {
      if (index.column == from) indexes += (indexes.empty() ? "" : ", ") + index.name;
    }
    if (!indexes.empty()) {
      return CqlError::Invalid("Cannot rename column " + from +
                               " because it has dependent secondary indexes (" + indexes + ")");
    }
    column->name = to;
    for (TableDefinition& view : views_) {
      FindIn(view, from)->name = to;  // a view has all key columns of its base
      LS_ASSIGN_OR_RETURN(view.view->where, RenameInWhere(view.view->where, from, to));
    }
    return {};
  }

  CqlStatus AlterType(const ColumnSpec& spec) {
    ColumnDefinition* column = Find(spec.name);
    if (column == nullptr) return NotFound(spec.name);
    LS_ASSIGN_OR_RETURN(DataType type, ToDataType(spec.type, table_.keyspace, keyspace_.types));
    if (column->kind == ColumnKind::kPartitionKey && type.is(CqlType::kCounter)) {
      return CqlError::Invalid("counter type is not supported for PRIMARY KEY part " + spec.name);
    }
    // The column of an index is clustering in the index's view.
    const bool ordered =
        column->kind == ColumnKind::kClustering || table_.FindIndexOn(spec.name) != nullptr;
    LS_RETURN_IF_ERROR(CheckCompatible(*column, type, ordered));
    for (TableDefinition& view : views_) {
      ColumnDefinition* of_view = FindIn(view, spec.name);
      if (of_view == nullptr) continue;
      LS_RETURN_IF_ERROR(CheckCompatible(*of_view, type, of_view->kind == ColumnKind::kClustering));
      of_view->type = type;
    }
    // The key of the table is clustering in the views of its global indexes.
    for (const IndexDefinition& index : table_.indexes) {
      const TableDefinition view = MakeIndexView(table_, index);
      const ColumnDefinition* of_view = view.FindColumn(spec.name);
      if (of_view == nullptr || of_view->kind != ColumnKind::kClustering) continue;
      LS_RETURN_IF_ERROR(CheckCompatible(*of_view, type, /*ordered=*/true));
    }
    column->type = std::move(type);
    return {};
  }

  const AlterTableStatement& statement_;
  const KeyspaceDefinition& keyspace_;
  const Dialect dialect_;
  const int64_t drop_micros_;
  const settings::StatementSettings& settings_;
  TableDefinition table_;
  std::vector<TableDefinition> views_;
};

CqlStatus CheckListStoreTable(const AlterTableStatement& statement, const TableDefinition& table) {
  const std::string name = table.keyspace + "." + table.name;
  if (table.name == "list_features") {
    return CqlError::Invalid("Cannot alter table " + name + ": it belongs to the list store");
  }
  if (statement.kind == Kind::kProperties) return {};
  return CqlError::Invalid("Cannot alter columns of table " + name +
                           ": it belongs to the list store");
}

// Of columns that go, as of now or another time: their cells of after it stay for one that comes
// later.
// Source: ScyllaDB cql3/statements/alter_table_statement.cc, drop_column.
std::vector<ColumnToKeep> ColumnsToKeep(const TableDefinition& before,
                                        const TableDefinition& after) {
  std::vector<ColumnToKeep> keeps;
  for (const ColumnDefinition& column : before.columns) {
    if (column.is_key() || after.FindColumn(column.name) != nullptr) continue;
    LS_CHECK(!after.view, "what a view has is not dropped");
    keeps.push_back({column.name, column.kind == ColumnKind::kStatic, column.position,
                     column.type.is_multi_cell(), after.dropped.at(column.name).at_micros});
  }
  return keeps;
}

// Of columns that come: what earlier ones of their names held and they can hold. Source: ScyllaDB
// mutation/converting_mutation_partition_applier.cc, is_compatible.
std::vector<ColumnToRestore> ColumnsToRestore(const TableDefinition& before,
                                              const TableDefinition& after) {
  std::vector<ColumnToRestore> restores;
  for (const ColumnDefinition& column : after.columns) {
    const auto was = before.dropped.find(column.name);
    if (was == before.dropped.end() || was->second.kept == nullptr) continue;
    if (before.FindColumn(column.name) != nullptr) continue;
    const KeptCells& kept = *was->second.kept;
    const bool fits = kept.of_static_column == (column.kind == ColumnKind::kStatic) &&
                      kept.of_several_cells == column.type.is_multi_cell() &&
                      IsTypeValueCompatible(WithoutUserTypes(column.type), was->second.type);
    if (fits) restores.push_back({column.position, was->second.kept});
  }
  return restores;
}

// Has the statement this view be written again? Then those who listen hear of it, whether or not
// anything in it is another. Source: ScyllaDB cql3/statements/alter_table_statement.cc, add_column,
// alter_column, prepare_schema_update.
bool WritesView(const AlterTableStatement& statement, const TableDefinition& view) {
  switch (statement.kind) {
    case Kind::kAdd:
      return !std::ranges::all_of(statement.columns, &ColumnSpec::is_static);
    case Kind::kAlterType:
      return view.FindColumn(statement.columns[0].name) != nullptr;
    case Kind::kRename:
      return std::ranges::any_of(statement.renames, [&](const auto& rename) {
        return view.FindColumn(rename.first) != nullptr;
      });
    default:
      return false;
  }
}

// Those views of `table`, those of its indexes too, by name. `schema`: before the change.
std::vector<std::string> ViewsWritten(const AlterTableStatement& statement,
                                      const TableDefinition& table, const Schema& schema) {
  const Kind kind = statement.kind;
  if (kind != Kind::kAdd && kind != Kind::kAlterType && kind != Kind::kRename) return {};
  std::vector<std::string> names = table.views;
  for (const IndexDefinition& index : table.indexes) names.push_back(IndexViewName(index.name));
  std::erase_if(names, [&](const std::string& name) {
    const auto view = schema.FindTable(table.keyspace, name);
    LS_CHECK(view != nullptr, "a table's views are in its keyspace");
    return !WritesView(statement, *view);
  });
  std::ranges::sort(names);
  return names;
}

// Keys of values with parts: whoever knows fewer of these plans again.
bool HaveOtherParts(const TableSchema& from, const TableSchema& to) {
  return !std::ranges::equal(from.clustering, to.clustering, [](const auto& a, const auto& b) {
    return a.type == b.type || (a.type.is_native() && b.type.is_native());
  });
}

// What storage needs to hear of a change from one definition to another.
void AddActions(const TableDefinition& before, const TableDefinition& after, SchemaChange& change) {
  const TableSchema& from = before.storage;
  const TableSchema& to = after.storage;
  const auto same_names = [](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, {}, &ColumnSchema::name, &ColumnSchema::name);
  };
  const bool same_columns =
      same_names(from.regular, to.regular) && same_names(from.statics, to.statics);
  if (!same_columns || from.packs_item_keys() != to.packs_item_keys() || HaveOtherParts(from, to)) {
    SchemaAction& rebuild = change.actions.emplace_back(SchemaAction{
        SchemaAction::Kind::kRebuildTable, after.keyspace, after.name, MapColumns(from, to)});
    rebuild.keeps = ColumnsToKeep(before, after);
    rebuild.restores = ColumnsToRestore(before, after);
  } else if (from.gc_grace_seconds != to.gc_grace_seconds ||
             from.default_ttl_seconds != to.default_ttl_seconds) {
    change.actions.push_back(
        {SchemaAction::Kind::kRetimeTable, after.keyspace, after.name, ColumnMap{}});
  }
}

}  // namespace

CqlOr<SchemaChange> Apply(const AlterTableStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.table, editor));
  const std::string& name = statement.table.name;
  const std::shared_ptr<const TableDefinition> known = editor.schema.FindTable(keyspace, name);
  // The list store's keyspace is one of the system; its tables have rules of their own.
  if (known == nullptr || !known->belongs_to_list_store) {
    LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
  }
  if (known != nullptr && known->view) {
    return CqlError::Invalid("Cannot use ALTER TABLE on Materialized View");
  }
  LS_ASSIGN_OR_RETURN(const auto table, TableToChange(keyspace, name, editor));
  if (table->belongs_to_list_store) LS_RETURN_IF_ERROR(CheckListStoreTable(statement, *table));
  std::vector<std::shared_ptr<const TableDefinition>> before = {table};
  std::vector<TableDefinition> views;
  for (const std::string& view : table->views) {
    before.push_back(editor.schema.FindTable(keyspace, view));
    views.push_back(*before.back());
  }
  TableAlterer alterer(statement, *editor.schema.FindKeyspace(keyspace), editor.context, *table,
                       std::move(views));
  LS_RETURN_IF_ERROR(alterer.Alter());
  std::vector<std::string> written = ViewsWritten(statement, *table, editor.schema);
  std::shared_ptr<const KeyspaceDefinition> whole = editor.schema.keyspaces.at(keyspace);
  // ScyllaDB writes the whole row of system_schema.tables again.
  alterer.table().options.extensions.clear();
  PutTable(editor, std::move(alterer.table()));
  for (TableDefinition& view : alterer.views()) PutTable(editor, std::move(view));
  LS_RETURN_IF_ERROR(CheckViews(std::move(whole), "alter table " + keyspace + "." + name, editor));
  SchemaChange change = OfTable(SchemaChange::Kind::kUpdated, keyspace, name);
  for (const auto& old : before) {
    AddActions(*old, *editor.schema.FindTable(keyspace, old->name), change);
  }
  change.views = std::move(written);
  return change;
}

}  // namespace liststore::cql::schema_change
