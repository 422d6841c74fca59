// INSERT, of values and of JSON. Declared in plan_modification_impl.h.
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/plan_conditions.h"
#include "engine/cql/plan/plan_modification_impl.h"
#include "engine/cql/values/json_row.h"

namespace liststore {
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

// Every key column has a value, or only static columns and those of the partition key have one.
// Source: ScyllaDB cql3/statements/modification_statement.cc, process_where_clause.
CqlStatus CheckInsertedKey(ModificationPlan& plan) {
  plan.only_statics =
      plan.clustering.empty() && plan.assignments.empty() && !plan.static_assignments.empty();
  if (!plan.only_statics) {
    LS_RETURN_IF_ERROR(CheckWhole(*plan.table, ColumnKind::kClustering, plan.clustering.prefix));
  }
  return CheckWhole(*plan.table, ColumnKind::kPartitionKey, plan.partition_key);
}

// What becomes of a column that the text does not name. Static columns stay as they are: ScyllaDB
// never writes those by JSON, and others' rows would lose them. So do columns of virtual tables,
// which may not all be written.
FunctionKind CellKindOf(const ColumnDefinition& column, const InsertJsonStatement& statement,
                        const TableDefinition& table, const Dialect& dialect) {
  if (column.is_key()) return FunctionKind::kJsonKey;
  const bool is_kept = column.kind == ColumnKind::kStatic && !dialect.json_writes_statics;
  const bool stays = statement.default_unset || is_kept || table.is_virtual;
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
  std::set<std::string_view> seen;
  for (size_t i = 0; i < statement.columns.size(); ++i) {
    const std::string& name = statement.columns[i];
    const ColumnDefinition* column = plan.table->FindColumn(name);
    if (column == nullptr) return CqlError::Invalid("Unknown identifier " + name);
    if (!seen.insert(name).second) {
      return CqlError::Invalid("Multiple definitions found for column " + name);
    }
    binder.EnterClause(column->is_key() ? "WHERE clause" : "SET clause");
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindTo(*column, statement.values[i]));
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
    const FunctionKind kind = CellKindOf(columns[i], statement, *plan.table, binder.dialect());
    if (IsLeftOut(row, i, kind)) continue;
    LS_ASSIGN_OR_RETURN(Operand operand, binder.BindJsonCell(row, columns[i], kind));
    InsertValue(columns[i], std::move(operand), plan);
  }
  return plan;
}

}  // namespace liststore
