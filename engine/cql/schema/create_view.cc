// CREATE, ALTER and DROP MATERIALIZED VIEW. Source: ScyllaDB
// cql3/statements/create_view_statement.cc, alter_view_statement.cc, drop_view_statement.cc,
// service/migration_manager.cc.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/schema/table_options.h"
#include "engine/cql/syntax/parser.h"

namespace liststore::cql::schema_change {
namespace {

using Columns = std::vector<const ColumnDefinition*>;

bool Contains(const Columns& columns, const ColumnDefinition* column) {
  return std::ranges::find(columns, column) != columns.end();
}

std::string JoinedNames(const Columns& columns) {
  std::string names;
  for (const ColumnDefinition* column : columns) {
    names += (names.empty() ? "" : ", ") + column->name;
  }
  return names;
}

CqlError UnknownColumn(const std::string& name) {
  return CqlError::Invalid("Unknown column name detected in CREATE MATERIALIZED VIEW statement: " +
                           name);
}

CqlStatus CheckViewName(std::string_view keyspace, const std::string& name) {
  if (IsNameOfFace(keyspace, name)) return {};
  if (!IsWord(name)) {
    return CqlError::Invalid("\"" + name +
                             "\" is not a valid materialized view name (must contain alphanumeric "
                             "character only: [0-9A-Za-z] or the underscore)");
  }
  if (name.size() > kViewNameBytesMax) {
    return CqlError::Invalid("Materialized view name of " + std::to_string(name.size()) +
                             " bytes; liststore has at most " + std::to_string(kViewNameBytesMax));
  }
  return {};
}

CqlStatus CheckNoTtl(const TableOptions& options) {
  if (options.default_ttl_seconds == 0) return {};
  return CqlError::Invalid(
      "Cannot set or alter default_time_to_live for a materialized view. Data in a materialized "
      "view always expire at the same time than the corresponding data in the parent table.");
}

CqlStatus CheckBase(const TableDefinition& base, const std::string& view) {
  if (IsCounterTable(base)) {
    return CqlError::Invalid("Materialized views are not supported on counter tables");
  }
  if (base.view) {
    return CqlError::Invalid(
        "Materialized views cannot be created against other materialized views");
  }
  if (base.belongs_to_list_store || base.is_virtual) {
    return CqlError::Invalid("Cannot create materialized view '" + view + "' on table " +
                             base.keyspace + "." + base.name + ": it belongs to the list store");
  }
  if (base.options.gc_grace_seconds != 0) return {};
  return CqlError::Invalid(
      "Cannot create materialized view '" + view + "' for base table '" + base.name +
      "' with gc_grace_seconds of 0, since this value is used to TTL undelivered updates. Setting "
      "gc_grace_seconds too low might cause undelivered updates to expire before being replayed.");
}

// The columns of a view, from as they are written to what they are.
class ViewMaker {
 public:
  ViewMaker(const CreateViewStatement& statement, const TableDefinition& base)
      : statement_(statement), base_(base) {}

  // `warnings`: what the settings warn of.
  CqlOr<std::vector<ColumnDefinition>> Make(const Schema& schema,
                                            const settings::StatementSettings& settings,
                                            settings::Warnings& warnings) {
    LS_RETURN_IF_ERROR(Include());
    LS_RETURN_IF_ERROR(CheckNotNulls());
    LS_ASSIGN_OR_RETURN(const ViewFilters filters,
                        PlanViewFilters(schema, base_, statement_.where));
    LS_RETURN_IF_ERROR(TakeKey(statement_.partition_key, ColumnKind::kPartitionKey));
    LS_RETURN_IF_ERROR(TakeKey(statement_.clustering_key, ColumnKind::kClustering));
    LS_RETURN_IF_ERROR(TakeOthers());
    LS_RETURN_IF_ERROR(OrderClustering());
    LS_RETURN_IF_ERROR(CheckFilters(filters));
    LS_RETURN_IF_ERROR(CheckNotNullsInKey(settings, warnings));
    return std::move(columns_);
  }

 private:
  CqlStatus Include() {
    for (const Selector& selector : statement_.selectors) {
      if (!selector.alias.empty()) {
        return CqlError::Invalid("Cannot use alias when defining a materialized view");
      }
      const auto* name = selector.expression.As<ColumnName>();
      if (name == nullptr) {
        return CqlError::Invalid(
            "Cannot use general expressions when defining a materialized view");
      }
      const ColumnDefinition* column = base_.FindColumn(name->name);
      if (column == nullptr) return UnknownColumn(name->name);
      included_.push_back(column);
    }
    return {};
  }

  CqlStatus CheckNotNulls() const {
    for (const Relation& relation : statement_.where) {
      if (relation.op != RelationOperator::kIsNotNull) continue;
      if (base_.FindColumn(relation.columns[0]) == nullptr) {
        return CqlError::Invalid("Unrecognized name " + relation.columns[0]);
      }
    }
    return {};
  }

  CqlStatus TakeKey(const std::vector<std::string>& names, ColumnKind kind) {
    uint16_t position = 0;
    for (const std::string& name : names) {
      const ColumnDefinition* column = base_.FindColumn(name);
      if (column == nullptr) return UnknownColumn(name);
      if (Contains(key_, column)) {
        return CqlError::Invalid("Duplicate entry found in PRIMARY KEY: " + name);
      }
      key_.push_back(column);
      LS_RETURN_IF_ERROR(CheckKey(*column));
      columns_.push_back({name, column->type, kind, position++, false});
    }
    return {};
  }

  CqlStatus CheckKey(const ColumnDefinition& column) {
    const std::string tail = " column '" + column.name + "' in PRIMARY KEY of materialized view";
    if (column.type.is_multi_cell()) return CqlError::Invalid("Cannot use MultiCell" + tail);
    if (column.type.Contains(CqlType::kDuration)) {
      return CqlError::Invalid("Cannot use Duration" + tail);
    }
    if (column.kind == ColumnKind::kStatic) return CqlError::Invalid("Cannot use Static" + tail);
    if (!column.is_key()) {
      // Of an index of DynamoDB's face both attributes may be other than the table's keys: each row of its tables is
      // written whole, so that these live and end together.
      if (key_cell_ != nullptr && base_.keyspace != kDynamodbKeyspace) {
        return CqlError::Invalid("Cannot include more than one non-primary key column '" +
                                 column.name + "' in materialized view primary key");
      }
      key_cell_ = &column;
    }
    // The one column of a partition key is never null.
    const bool is_whole_partition_key =
        column.kind == ColumnKind::kPartitionKey && base_.CountOf(ColumnKind::kPartitionKey) == 1;
    if (is_whole_partition_key || IsRestricted(column)) return {};
    return CqlError::Invalid("Primary key column '" + column.name +
                             "' is required to be filtered by 'IS NOT NULL'");
  }

  bool IsRestricted(const ColumnDefinition& column) const {
    return std::ranges::any_of(statement_.where, [&](const Relation& relation) {
      return std::ranges::find(relation.columns, column.name) != relation.columns.end();
    });
  }

  CqlStatus TakeOthers() {
    Columns missing;
    for (const ColumnDefinition& column : base_.columns) {
      const bool included = included_.empty() || Contains(included_, &column);
      if (included && column.kind == ColumnKind::kStatic) {
        return CqlError::Invalid(
            "Unable to include static column '" + column.name +
            "' which would be included by Materialized View SELECT * statement");
      }
      const bool in_key = Contains(key_, &column);
      if (column.is_key() && !in_key) missing.push_back(&column);
      if (included && !in_key && !column.is_key()) {
        columns_.push_back({column.name, column.type, ColumnKind::kRegular, 0, false});
      }
    }
    if (missing.empty()) return {};
    return CqlError::Invalid("Cannot create Materialized View " + statement_.view.name +
                             " without primary key columns from base " + base_.name + " (" +
                             JoinedNames(missing) + ")");
  }

  // Some of the clustering columns may be left out, in whatever order.
  CqlStatus OrderClustering() {
    for (const ColumnOrder& order : statement_.clustering_order) {
      const auto at = std::ranges::find_if(columns_, [&](const ColumnDefinition& column) {
        return column.kind == ColumnKind::kClustering && column.name == order.column;
      });
      if (at == columns_.end()) {
        return CqlError::Invalid("CLUSTERING ORDER BY lists " + order.column +
                                 " which is not a clustering column in the view");
      }
      at->descending = order.descending;
    }
    return {};
  }

  // What a row's being there depends on is its key, and the one cell that is part of the view's.
  CqlStatus CheckFilters(const ViewFilters& filters) const {
    Columns others;
    for (const RowFilter& filter : filters.filters) {
      for (const uint16_t position : filter.columns) {
        const ColumnDefinition* column = &base_.columns[position];
        if (column->is_key() || Contains(others, column)) continue;
        others.push_back(column);
      }
    }
    if (others.empty() || (others.size() == 1 && others[0] == key_cell_)) return {};
    return CqlError::Invalid(
        "Non-primary key columns cannot be restricted in the SELECT statement used for "
        "materialized "
        "view " +
        statement_.view.name + " creation (got restrictions on: " + JoinedNames(others) + ")");
  }

  CqlStatus CheckNotNullsInKey(const settings::StatementSettings& settings,
                               settings::Warnings& warnings) const {
    Columns others;
    for (const Relation& relation : statement_.where) {
      if (relation.op != RelationOperator::kIsNotNull) continue;
      const ColumnDefinition* column = base_.FindColumn(relation.columns[0]);
      if (!Contains(key_, column) && !Contains(others, column)) others.push_back(column);
    }
    if (others.empty()) return {};
    const std::string found =
        "The IS NOT NULL restriction is allowed only columns which are part of the view's primary "
        "key, found columns: " +
        JoinedNames(others) + ". ";
    switch (settings.strict_is_not_null_in_views) {
      case settings::RestrictionMode::kAllowed:
        return {};
      case settings::RestrictionMode::kWarned:
        warnings.push_back(
            found +
            "Restrictions on these columns will be silently ignored. The flag "
            "strict_is_not_null_in_views can be used to turn this warning into an error, or to "
            "silence it. (true - error, warn - warning, false - silent)");
        return {};
      case settings::RestrictionMode::kRefused:
        return CqlError::Invalid(found +
                                 "The flag strict_is_not_null_in_views can be used to turn this "
                                 "error into a warning, or "
                                 "to silence it. (true - error, warn - warning, false - silent)");
    }
    LS_UNREACHABLE("every mode is known");
  }

  const CreateViewStatement& statement_;
  const TableDefinition& base_;
  Columns included_;  // none: all
  Columns key_;
  const ColumnDefinition* key_cell_ = nullptr;
  std::vector<ColumnDefinition> columns_;
};

CqlStatus CheckBaseKeyspace(const CreateViewStatement& statement, const std::string& keyspace) {
  if (statement.base.keyspace.empty() || statement.base.keyspace == keyspace) return {};
  return CqlError::Invalid(
      "Cannot create a materialized view on a table in a separate keyspace ('" +
      statement.base.keyspace + "' != '" + keyspace + "')");
}

CqlStatus ApplyViewOptions(const CreateViewStatement& statement, const KeyspaceDefinition& keyspace,
                           const Dialect& dialect, TableOptions& options) {
  options = DefaultTableOptions(dialect);
  const Properties properties(statement.properties);
  LS_RETURN_IF_ERROR(ApplyTableOptions(properties, keyspace, options, TableKind::kView, dialect));
  if (statement.compact_storage) {
    return CqlError::Invalid("Cannot use 'COMPACT STORAGE' when defining a materialized view");
  }
  if (!properties.Has("cdc")) return {};
  return CqlError::Invalid("Cannot enable CDC for a materialized view");
}

}  // namespace

std::string WhereText(const std::vector<Relation>& where) {
  std::string text;
  for (const Relation& relation : where) {
    text += (text.empty() ? "" : " AND ") + ToString(relation);
  }
  return text;
}

CqlOr<std::string> RenameInWhere(const std::string& where, const std::string& from,
                                 const std::string& to) {
  if (where.empty()) return where;
  LS_ASSIGN_OR_RETURN(Statement parsed, ParseStatement("SELECT * FROM v WHERE " + where));
  std::vector<Relation>& relations = std::get<SelectStatement>(parsed.node).where;
  for (Relation& relation : relations) std::ranges::replace(relation.columns, from, to);
  return WhereText(relations);
}

CqlStatus CheckViews(std::shared_ptr<const KeyspaceDefinition> before, const std::string& what,
                     Editor& editor) {
  const std::string keyspace = before->name;
  for (const auto& [name, base] : editor.schema.FindKeyspace(keyspace)->tables) {
    for (const std::string& view : base->views) {
      const CqlOr<ViewPlan> plan =
          PlanView(editor.schema, base, editor.schema.FindTable(keyspace, view));
      if (plan.ok()) continue;
      CqlError error = CqlError::Invalid("Cannot " + what + ": the WHERE of materialized view " +
                                         view + " would be wrong: " + plan.error().message);
      // With it goes the one that is looked at here.
      editor.schema.keyspaces[keyspace] = std::move(before);
      return error;
    }
  }
  return {};
}

CqlOr<SchemaChange> Apply(const CreateViewStatement& statement, Editor& editor) {
  TableDefinition view;
  LS_ASSIGN_OR_RETURN(view.keyspace, KeyspaceOf(statement.view, editor));
  view.name = statement.view.name;
  LS_RETURN_IF_ERROR(CheckModifiable(view.keyspace));
  const KeyspaceDefinition* keyspace = editor.schema.FindKeyspace(view.keyspace);
  LS_RETURN_IF_ERROR(ApplyViewOptions(statement,
                                      keyspace == nullptr ? KeyspaceDefinition() : *keyspace,
                                      editor.context.dialect, view.options));
  LS_RETURN_IF_ERROR(CheckBaseKeyspace(statement, view.keyspace));
  LS_RETURN_IF_ERROR(CheckViewName(view.keyspace, view.name));
  LS_ASSIGN_OR_RETURN(const auto base, TableToChange(view.keyspace, statement.base.name, editor));
  LS_RETURN_IF_ERROR(CheckBase(*base, view.name));
  settings::Warnings warnings;
  LS_ASSIGN_OR_RETURN(
      view.columns,
      ViewMaker(statement, *base).Make(editor.schema, editor.context.settings, warnings));
  LS_RETURN_IF_ERROR(CheckNoTtl(view.options));

  SchemaChange change = OfTable(SchemaChange::Kind::kCreated, view.keyspace, view.name);
  change.warnings = std::move(warnings);
  if (editor.schema.FindTable(view.keyspace, view.name) != nullptr) {
    if (!statement.if_not_exists) {
      return AlreadyExists("Cannot add already existing table \"" + view.name +
                               "\" to keyspace \"" + view.keyspace + "\"",
                           view.keyspace, view.name);
    }
    change.alters_schema = false;
    return change;
  }
  LS_ASSIGN_OR_RETURN(view.id, NewTableId(Properties(statement.properties), editor));
  view.uses_tablets = keyspace->uses_tablets();
  view.view =
      ViewDefinition{base->name, base->id, statement.selectors.empty(), WhereText(statement.where)};
  change.actions.push_back(
      {SchemaAction::Kind::kCreateTable, view.keyspace, view.name, ColumnMap{}});
  change.actions.push_back({SchemaAction::Kind::kFillView, view.keyspace, view.name, ColumnMap{}});
  TableDefinition changed = *base;
  changed.views.push_back(view.name);
  std::ranges::sort(changed.views);
  PutTable(editor, std::move(changed));
  PutTable(editor, std::move(view));
  return change;
}

namespace {

CqlOr<std::shared_ptr<const TableDefinition>> ViewToChange(const std::string& keyspace,
                                                           const std::string& name,
                                                           const Editor& editor) {
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
  LS_ASSIGN_OR_RETURN(auto view, TableToChange(keyspace, name, editor));
  if (view->view) return view;
  return CqlError::Invalid("Cannot use ALTER MATERIALIZED VIEW on Table");
}

}  // namespace

CqlOr<SchemaChange> Apply(const AlterViewStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.view, editor));
  LS_ASSIGN_OR_RETURN(const auto view, ViewToChange(keyspace, statement.view.name, editor));
  const Properties properties(statement.properties);
  if (properties.Has("id")) return CqlError::Config("Cannot alter table id.");
  TableDefinition changed = *view;
  LS_RETURN_IF_ERROR(ApplyTableOptions(properties, *editor.schema.FindKeyspace(keyspace),
                                       changed.options, TableKind::kView, editor.context.dialect));
  if (changed.options.gc_grace_seconds == 0) {
    return CqlError::Invalid(
        "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to "
        "TTL "
        "undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to "
        "expire before being replayed.");
  }
  LS_RETURN_IF_ERROR(CheckNoTtl(changed.options));
  PutTable(editor, std::move(changed));
  // The grace is shown and has no effect: a view keeps no tombstones.
  return OfTable(SchemaChange::Kind::kUpdated, keyspace, statement.view.name);
}

CqlOr<SchemaChange> Apply(const DropViewStatement& statement, Editor& editor) {
  LS_ASSIGN_OR_RETURN(const std::string keyspace, KeyspaceOf(statement.view, editor));
  LS_RETURN_IF_ERROR(CheckModifiable(keyspace));
  const std::string& name = statement.view.name;
  const std::shared_ptr<const TableDefinition> view = editor.schema.FindTable(keyspace, name);
  if (view == nullptr) {
    if (statement.if_exists) return Nothing();
    return CqlError::Config("Cannot drop non existing materialized view '" + name +
                            "' in keyspace '" + keyspace + "'.");
  }
  if (!view->view) {
    return CqlError::Invalid("Cannot use DROP MATERIALIZED VIEW on Table");
  }
  if (view->is_index_view()) {
    return CqlError::Invalid("Cannot use DROP MATERIALIZED VIEW on Index");
  }
  const auto base = editor.schema.FindTable(keyspace, view->view->base);
  LS_CHECK(base != nullptr, "a view has a base");
  TableDefinition changed = *base;
  std::erase(changed.views, name);
  SchemaChange change = OfTable(SchemaChange::Kind::kDropped, keyspace, name);
  change.actions.push_back({SchemaAction::Kind::kRenewTable, keyspace, base->name, ColumnMap{}});
  change.actions.push_back({SchemaAction::Kind::kDropTable, keyspace, name, ColumnMap{}});
  EraseTable(editor, keyspace, name);
  PutTable(editor, std::move(changed));
  return change;
}

}  // namespace liststore::cql::schema_change
