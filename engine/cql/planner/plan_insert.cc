// INSERT, of values and of JSON. Declared in plan_modification_impl.h.
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/planner/plan_conditions.h"
#include "engine/cql/planner/plan_modification_impl.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/json_row.h"

namespace liststore::cql {
namespace {

using FunctionKind = NativeFunction::Kind;

KeyAlternatives Equals(Operand operand) {
  KeyAlternatives key;
  key.alternatives.emplace_back();
  key.alternatives[0].push_back(std::move(operand));
  return key;
}

void InsertValue(const ColumnDefinition& column, Operand operand, ModificationPlan& plan) {
  if (!column.is_key()) {
    AssignmentsOf(column, plan).push_back(SetColumn(column, std::move(operand)));
    return;
  }
  std::vector<KeyAlternatives>& key =
      column.kind == ColumnKind::kPartitionKey ? plan.partition_key : plan.clustering.prefix;
  if (key.size() <= column.position) key.resize(column.position + size_t{1});
  key[column.position] = Equals(std::move(operand));
}

CqlStatus CheckWhole(const TableDefinition& table, ColumnKind kind,
                     const std::vector<KeyAlternatives>& key) {
  for (const ColumnDefinition* column : table.ColumnsOf(kind)) {
    if (key.size() > column->position && !key[column->position].alternatives.empty()) continue;
    return CqlError::Invalid("Missing mandatory PRIMARY KEY part " + column->name);
  }
  return {};
}

// No clustering column has a value behind one that has none. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, process_clustering_columns_restrictions.
CqlStatus CheckNoGap(const ModificationPlan& plan) {
  const ColumnDefinition* missing = nullptr;
  for (const ColumnDefinition* column : plan.table->ColumnsOf(ColumnKind::kClustering)) {
    const auto& prefix = plan.clustering.prefix;
    const bool given =
        prefix.size() > column->position && !prefix[column->position].alternatives.empty();
    if (given && missing != nullptr) {
      return CqlError::Invalid("PRIMARY KEY column " + ShownInQuotes(column->name) +
                               " cannot be restricted as preceding column " +
                               ShownInQuotes(missing->name) + " is not restricted");
    }
    if (!given && missing == nullptr) missing = column;
  }
  return {};
}

// Every key column has a value, or only static columns and those of the partition key have one.
// Source: ScyllaDB cql3/statements/modification_statement.cc, process_where_clause.
CqlStatus CheckInsertedKey(ModificationPlan& plan) {
  if (!SelectsCollection(plan)) LS_RETURN_IF_ERROR(CheckNoGap(plan));
  plan.only_statics =
      plan.clustering.empty() && plan.assignments.empty() && !plan.static_assignments.empty();
  if (!plan.only_statics) {
    LS_RETURN_IF_ERROR(CheckWhole(*plan.table, ColumnKind::kClustering, plan.clustering.prefix));
  }
  return CheckWhole(*plan.table, ColumnKind::kPartitionKey, plan.partition_key);
}

// What becomes of a column that the text does not name. Columns of virtual tables stay as they are:
// they may not all be written.
FunctionKind CellKindOf(const ColumnDefinition& column, const InsertJsonStatement& statement,
                        const TableDefinition& table) {
  if (column.is_key()) return FunctionKind::kJsonKey;
  const bool stays = statement.default_unset || table.is_virtual;
  return stays ? FunctionKind::kJsonOpenCell : FunctionKind::kJsonCell;
}

// Known already, and left open?
bool IsLeftOut(const Operand& row, size_t column, FunctionKind kind) {
  return kind == FunctionKind::kJsonOpenCell && !row.marker &&
         !JsonCellOf(*row.constant, column).is_named;
}

}  // namespace

CqlOr<ModificationPlan> PlanInsert(const InsertStatement& statement, Binder& binder) {
  ModificationPlan plan;
  plan.kind = ModificationPlan::Kind::kInsert;
  LS_ASSIGN_OR_RETURN(plan.table, FindModifiable(statement.table, binder));
  LS_RETURN_IF_ERROR(PlanAttributes(statement.attributes, binder, plan));
  if (plan.is_counter) {
    return CqlError::Invalid(
        "INSERT statement are not allowed on counter tables, use UPDATE instead");
  }
  if (statement.if_not_exists) {
    LS_RETURN_IF_ERROR(PlanExistence(ConditionPlan::Existence::kNotExists, plan));
  }
  if (statement.columns.size() != statement.values.size()) {
    return CqlError::Invalid("Unmatched column names/values");
  }
  if (statement.columns.empty()) return CqlError::Invalid("No columns provided to INSERT");
  // What is set comes before what is the key. Source: ScyllaDB
  // cql3/statements/update_statement.cc, insert_statement::prepare_internal.
  std::set<std::string_view> seen;
  std::vector<std::pair<const ColumnDefinition*, const Expression*>> keys;
  binder.EnterClause("SET clause");
  for (size_t i = 0; i < statement.columns.size(); ++i) {
    const std::string& name = statement.columns[i];
    const ColumnDefinition* column = plan.table->FindColumn(name);
    if (column == nullptr) return CqlError::Invalid("Unknown identifier " + name);
    if (!seen.insert(name).second) {
      return CqlError::Invalid("Multiple definitions found for column " + name);
    }
    if (column->is_key()) {
      keys.emplace_back(column, &statement.values[i]);
      continue;
    }
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(*column, statement.values[i]));
    InsertValue(*column, std::move(operand), plan);
  }
  binder.EnterClause("WHERE clause");
  for (const auto& [column, value] : keys) {
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(*column, *value));
    InsertValue(*column, std::move(operand), plan);
  }
  LS_RETURN_IF_ERROR(CheckInsertedKey(plan));
  return plan;
}

CqlOr<ModificationPlan> PlanInsertJson(const InsertJsonStatement& statement, Binder& binder) {
  ModificationPlan plan;
  plan.kind = ModificationPlan::Kind::kInsert;
  LS_ASSIGN_OR_RETURN(plan.table, FindModifiable(statement.table, binder));
  LS_RETURN_IF_ERROR(PlanAttributes(statement.attributes, binder, plan));
  // Before the text is looked at, which is done when the statement is executed.
  if (plan.table->view) return CqlError::Invalid("Cannot directly modify a materialized view");
  const std::vector<ColumnDefinition>& columns = plan.table->columns;
  for (const ColumnDefinition& column : columns) {
    if (!column.type.is(CqlType::kCounter)) continue;
    return CqlError::Invalid("Cannot set the value of counter column " + column.name + " in JSON");
  }
  if (statement.if_not_exists) {
    LS_RETURN_IF_ERROR(PlanExistence(ConditionPlan::Existence::kNotExists, plan));
  }
  LS_ASSIGN_OR_RETURN(const Operand row, binder.BindJsonRow(statement.json));
  for (size_t i = 0; i < columns.size(); ++i) {
    // Those are looked at, and never written. Source: ScyllaDB
    // cql3/statements/update_statement.cc, insert_prepared_json_statement.
    const bool is_static = columns[i].kind == ColumnKind::kStatic;
    if (is_static && !binder.dialect().json_writes_statics) continue;
    const FunctionKind kind = CellKindOf(columns[i], statement, *plan.table);
    if (IsLeftOut(row, i, kind)) continue;
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindJsonCell(row, columns[i], kind));
    InsertValue(columns[i], std::move(operand), plan);
  }
  return plan;
}

}  // namespace liststore::cql
