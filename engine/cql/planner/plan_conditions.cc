#include "engine/cql/planner/plan_conditions.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/bind_where.h"
#include "engine/cql/planner/plan_selector.h"

namespace liststore::cql {
namespace {

// [applied] and these columns, by their positions in the table.
std::vector<Selection> AnswerOf(const TableDefinition& table, const std::set<uint16_t>& columns) {
  std::vector<Selection> answer = {{Selection::Kind::kApplied, 0, "[applied]", CqlType::kBoolean}};
  for (const uint16_t column : columns) {
    answer.push_back(SelectColumn(table, table.columns[column]));
  }
  return answer;
}

std::set<uint16_t> AllColumns(const TableDefinition& table) {
  std::set<uint16_t> columns;
  for (uint16_t i = 0; i < table.columns.size(); ++i) columns.insert(i);
  return columns;
}

CqlStatus CheckMayBeConditional(const ModificationPlan& plan) {
  if (plan.table->is_virtual) {
    return CqlError::Unsupported(CqlFeature::kVirtualWrites, "IF");
  }
  if (plan.is_counter) {
    return CqlError::Invalid("Conditional updates are not supported on counter tables");
  }
  if (!plan.timestamp) return {};
  return CqlError::Invalid("Cannot provide custom timestamp for conditional updates");
}

bool IsConditional(const ModificationPlan* plan) { return plan->condition.has_value(); }

}  // namespace

CqlStatus PlanExistence(ConditionPlan::Existence existence, ModificationPlan& plan) {
  LS_DCHECK(existence != ConditionPlan::Existence::kAny, "something is asked for");
  LS_RETURN_IF_ERROR(CheckMayBeConditional(plan));
  plan.condition.emplace().existence = existence;
  plan.answer = AnswerOf(*plan.table, AllColumns(*plan.table));
  return {};
}

CqlStatus PlanConditions(bool if_exists, const std::vector<Relation>& conditions, Binder& binder,
                         ModificationPlan& plan) {
  LS_DCHECK(!if_exists || conditions.empty(), "the parser takes one or the other");
  if (if_exists) return PlanExistence(ConditionPlan::Existence::kExists, plan);
  if (conditions.empty()) return {};
  LS_RETURN_IF_ERROR(CheckMayBeConditional(plan));
  binder.EnterClause("IF clause");
  ConditionPlan& condition = plan.condition.emplace();
  condition.empty_is_null = binder.dialect().refuses_order_of_empty_collections;
  std::set<uint16_t> columns;
  for (const Relation& relation : conditions) {
    LS_ASSIGN_OR_RETURN(RowFilter cell, BindCondition(relation, *plan.table, binder));
    columns.insert(cell.columns[0]);
    condition.cells.push_back(std::move(cell));
  }
  plan.answer = AnswerOf(*plan.table, columns);
  return {};
}

bool AsksRegularColumns(const ModificationPlan& plan) {
  return plan.condition && std::ranges::any_of(plan.condition->cells, [&](const RowFilter& cell) {
           return plan.table->columns[cell.columns[0]].kind == ColumnKind::kRegular;
         });
}

// Source: ScyllaDB cql3/statements/modification_statement.cc, add_operation, add_condition.
bool SelectsCollection(const ModificationPlan& plan) {
  const auto regular = plan.table->ColumnsOf(ColumnKind::kRegular);
  if (std::ranges::any_of(plan.assignments, [&](const CellAssignment& assignment) {
        return regular[assignment.column]->type.is_collection();
      })) {
    return true;
  }
  return plan.condition && std::ranges::any_of(plan.condition->cells, [&](const RowFilter& cell) {
           const ColumnDefinition& column = plan.table->columns[cell.columns[0]];
           return column.kind == ColumnKind::kRegular && column.type.is_collection();
         });
}

// Source: ScyllaDB cql3/statements/modification_statement.cc, validate_where_clause_for_conditions.
CqlStatus CheckConditionalRows(const WhereClause& where, const ModificationPlan& plan) {
  const bool deletes = plan.kind == ModificationPlan::Kind::kDeleteCells ||
                       plan.kind == ModificationPlan::Kind::kDeleteRows;
  const std::string what = deletes ? "deletions" : "updates";
  if (where.HasIn(ColumnKind::kPartitionKey)) {
    return CqlError::Invalid("IN on the partition key is not supported with conditional " + what);
  }
  if (where.HasIn(ColumnKind::kClustering)) {
    return CqlError::Invalid("IN on the clustering key columns is not supported with conditional " +
                             what);
  }
  if (!deletes || plan.only_statics) return {};
  const bool only_equals = !where.Any(ColumnKind::kClustering, &BoundRelation::is_slice) &&
                           !where.Any(ColumnKind::kClustering, &BoundRelation::always_filters);
  if (only_equals &&
      where.Restricted(ColumnKind::kClustering) == plan.table->CountOf(ColumnKind::kClustering)) {
    return {};
  }
  const bool deletes_statics = plan.assignments.empty() && !plan.static_assignments.empty();
  return CqlError::Invalid(
      std::string("DELETE statements must restrict all PRIMARY KEY columns with equality relations "
                  "in order to ") +
      (deletes_statics ? "use IF condition on non static columns" : "delete non static columns"));
}

CqlStatus CheckConditionalBatch(std::span<const ModificationPlan* const> statements,
                                bool has_timestamp) {
  if (std::ranges::none_of(statements, IsConditional)) return {};
  if (has_timestamp) {
    return CqlError::Invalid("Cannot provide custom timestamp for conditional BATCH");
  }
  const TableDefinition& first = *statements[0]->table;
  const auto is_of_another = [&](const ModificationPlan* statement) {
    return statement->table->keyspace != first.keyspace || statement->table->name != first.name;
  };
  if (std::ranges::any_of(statements, is_of_another)) {
    return CqlError::Invalid("BATCH with conditions cannot span multiple tables");
  }
  return {};
}

std::vector<Selection> BatchAnswer(std::span<const ModificationPlan* const> statements) {
  if (std::ranges::none_of(statements, IsConditional)) return {};
  const TableDefinition& table = *statements[0]->table;
  std::set<uint16_t> columns;
  for (uint16_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].is_key()) columns.insert(i);
  }
  for (const ModificationPlan* statement : statements) {
    for (const Selection& selection : statement->answer) {
      if (selection.kind == Selection::Kind::kColumn) columns.insert(selection.column);
    }
  }
  return AnswerOf(table, columns);
}

bool Plan::is_conditional() const {
  if (const auto* change = std::get_if<ModificationPlan>(&body)) {
    return change->condition.has_value();
  }
  const auto* batch = std::get_if<BatchPlan>(&body);
  return batch != nullptr && !batch->answer.empty();
}

const std::vector<Selection>* Plan::result_columns() const {
  if (const auto* select = std::get_if<SelectPlan>(&body)) return &select->selections;
  if (!is_conditional() || answer_varies) return nullptr;
  const auto* change = std::get_if<ModificationPlan>(&body);
  return change != nullptr ? &change->answer : &std::get<BatchPlan>(body).answer;
}

}  // namespace liststore::cql
