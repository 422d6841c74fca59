#include "engine/cql/plan/plan_select.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bind_timeout.h"
#include "engine/cql/plan/plan_selector.h"
#include "engine/cql/plan/planner.h"
#include "engine/cql/plan/restrictions.h"

namespace liststore {
namespace {

CqlStatus PlanSelections(const SelectStatement& statement, Binder& binder, SelectPlan& plan) {
  const TableDefinition& table = *plan.table;
  for (const Selector& selector : statement.selectors) {
    LS_ASSIGN_OR_RETURN(Selection selection, PlanSelector(selector.expression, table, binder));
    if (!selector.alias.empty()) selection.name = selector.alias;
    plan.is_aggregate |= selection.has_aggregate();
    plan.selections.push_back(std::move(selection));
  }
  if (statement.selectors.empty()) {
    for (const ColumnDefinition& column : table.columns) {
      plan.selections.push_back(SelectColumn(table, column));
    }
  }
  if (statement.json) plan.selections = {SelectAsJson(std::move(plan.selections))};
  return {};
}

// The columns that an expression is made of.
void AddColumns(const Selection& selection, const TableDefinition& table,
                std::set<uint16_t>& columns) {
  switch (selection.kind) {
    case Selection::Kind::kColumn:
    case Selection::Kind::kWriteTime:
    case Selection::Kind::kTtl:
    case Selection::Kind::kWriteTimes:
    case Selection::Kind::kTtls:
    case Selection::Kind::kTimeuuids:
      columns.insert(selection.column);
      break;
    case Selection::Kind::kToken:
      // The partition key comes first in a table.
      for (size_t i = 0; i < table.CountOf(ColumnKind::kPartitionKey); ++i) {
        columns.insert(static_cast<uint16_t>(i));
      }
      break;
    default:
      for (const Selection& operand : selection.operands) AddColumns(operand, table, columns);
  }
}

std::set<uint16_t> SelectedColumns(const SelectPlan& plan) {
  std::set<uint16_t> columns;
  for (const Selection& selection : plan.selections) AddColumns(selection, *plan.table, columns);
  return columns;
}

// Static columns are named, and beside them none but those of the partition key.
bool SelectsOnlyStatics(const SelectStatement& statement, const SelectPlan& plan) {
  if (statement.selectors.empty()) return false;
  bool any_static = false;
  for (const uint16_t position : SelectedColumns(plan)) {
    const ColumnKind kind = plan.table->columns[position].kind;
    if (kind != ColumnKind::kStatic && kind != ColumnKind::kPartitionKey) return false;
    any_static |= kind == ColumnKind::kStatic;
  }
  return any_static;
}

// ---- DISTINCT, ORDER BY, LIMIT

CqlStatus CheckDistinct(const SelectStatement& statement, const SelectPlan& plan) {
  if (!statement.distinct) return {};
  const TableDefinition& table = *plan.table;
  const std::set<uint16_t> selected = SelectedColumns(plan);
  for (const uint16_t position : selected) {
    const ColumnDefinition& column = table.columns[position];
    if (column.kind == ColumnKind::kPartitionKey || column.kind == ColumnKind::kStatic) continue;
    return CqlError::Invalid(
        "SELECT DISTINCT queries must only request partition key columns and/or static columns "
        "(not " +
        column.name + ")");
  }
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    if (selected.contains(static_cast<uint16_t>(column - table.columns.data()))) continue;
    return CqlError::Invalid(
        "SELECT DISTINCT queries must request all the partition key columns (missing " +
        column->name + ")");
  }
  const auto is_of_partition_key = [&](const RowFilter& filter) {
    return table.columns[filter.columns[0]].kind == ColumnKind::kPartitionKey;
  };
  if (!plan.clustering.empty() || plan.index ||
      !std::ranges::all_of(plan.filters, is_of_partition_key)) {
    return CqlError::Invalid(
        "SELECT DISTINCT with WHERE clause only supports restriction by partition key.");
  }
  return {};
}

// True when a column is restricted to one value, so that an order may leave it out.
bool IsFixed(const SelectPlan& plan, size_t clustering_column) {
  size_t column = 0;
  for (const KeyAlternatives& part : plan.clustering.prefix) {
    column += part.columns;
    if (clustering_column < column) return !part.is_in;
  }
  return false;
}

// Is the column of the primary key restricted to one value?
bool IsRestrictedToOne(const SelectPlan& plan, size_t position) {
  const size_t partition_columns = plan.table->CountOf(ColumnKind::kPartitionKey);
  if (position >= partition_columns) return IsFixed(plan, position - partition_columns);
  return position < plan.partition_key.size() && !plan.partition_key[position].is_in;
}

// The columns of the primary key in their order, of which those with one value may be left out.
// Source: ScyllaDB cql3/statements/select_statement.cc, prepare_group_by.
CqlStatus PlanGroups(const SelectStatement& statement, SelectPlan& plan) {
  if (statement.group_by.empty()) return {};
  const TableDefinition& table = *plan.table;
  const size_t partition_columns = table.CountOf(ColumnKind::kPartitionKey);
  const size_t key_columns = partition_columns + table.CountOf(ColumnKind::kClustering);
  size_t next = 0;
  for (const std::string& name : statement.group_by) {
    const ColumnDefinition* column = table.FindColumn(name);
    if (column == nullptr) return CqlError::Invalid("Group by unknown column " + name);
    if (!column->is_key()) return CqlError::Invalid("Group by non-primary-key column " + name);
    const auto position = static_cast<size_t>(column - table.columns.data());
    while (next < key_columns && next < position && IsRestrictedToOne(plan, next)) ++next;
    if (position != next) return CqlError::Invalid("Group by column " + name + " is out of order");
    plan.group_by.push_back(static_cast<uint16_t>(position));
    ++next;
  }
  while (next < partition_columns && IsRestrictedToOne(plan, next)) ++next;
  if (next < partition_columns) {
    return CqlError::Invalid("GROUP BY must include the entire partition key");
  }
  if (plan.distinct && next > partition_columns) {
    // Source: Cassandra cql3/statements/SelectStatement.java.
    return CqlError::Invalid(
        "Grouping on clustering columns is not allowed for SELECT DISTINCT queries");
  }
  plan.is_aggregate = true;
  return {};
}

CqlStatus PlanOrder(const SelectStatement& statement, SelectPlan& plan) {
  if (statement.order_by.empty()) return {};
  const TableDefinition& table = *plan.table;
  if (plan.uses_index) return CqlError::Invalid("ORDER BY with 2ndary indexes is not supported.");
  if (plan.partition_key.empty()) {
    return CqlError::Invalid(
        "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.");
  }
  const std::vector<const ColumnDefinition*> clustering = table.ColumnsOf(ColumnKind::kClustering);
  std::optional<bool> reversed;
  size_t next = 0;
  for (const ColumnOrder& order : statement.order_by) {
    const ColumnDefinition* column = table.FindColumn(order.column);
    if (column == nullptr) {
      return CqlError::Invalid("Order by on unknown column " + order.column);
    }
    if (column->kind != ColumnKind::kClustering) {
      return CqlError::Invalid(
          "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got " +
          order.column);
    }
    while (next < clustering.size() && next < column->position && IsFixed(plan, next)) ++next;
    if (column->position != next) {
      return CqlError::Invalid(
          "Order by currently only supports the ordering of columns following their declared "
          "order in the PRIMARY KEY");
    }
    ++next;
    const bool against = order.descending != column->descending;
    if (reversed && *reversed != against) {
      return CqlError::Invalid(
          "Unsupported order by relation - only reversing all columns is supported, but column " +
          order.column + " has opposite ordering");
    }
    reversed = against;
  }
  plan.reversed = reversed.value_or(false);
  plan.is_ordered = true;
  return {};
}

CqlStatus PlanLimits(const SelectStatement& statement, Binder& binder, SelectPlan& plan) {
  if (statement.limit) {
    LS_ASSIGN_OR_RETURN(plan.limit,
                        binder.Bind(*statement.limit, CqlType::kInt, "[limit]", "[limit]"));
  }
  if (!statement.per_partition_limit) return {};
  if (plan.is_aggregate && plan.group_by.empty()) {
    return CqlError::Invalid("PER PARTITION LIMIT is not allowed with aggregate queries.");
  }
  if (statement.distinct) {
    return CqlError::Invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
  }
  LS_ASSIGN_OR_RETURN(plan.per_partition_limit,
                      binder.Bind(*statement.per_partition_limit, CqlType::kInt,
                                  "[per_partition_limit]", "[per_partition_limit]"));
  return {};
}

}  // namespace

bool SelectPlan::is_single_partition() const {
  return !partition_key.empty() &&
         std::ranges::none_of(partition_key, [](const KeyAlternatives& p) { return p.is_in; });
}

bool SelectPlan::at_most_one_row() const {
  return is_single_partition() && clustering.slices.empty() &&
         clustering.prefix_columns() == table->CountOf(ColumnKind::kClustering) &&
         std::ranges::none_of(clustering.prefix, [](const KeyAlternatives& p) { return p.is_in; });
}

CqlOr<SelectPlan> PlanSelect(const SelectStatement& statement, Binder& binder) {
  SelectPlan plan;
  LS_ASSIGN_OR_RETURN(plan.table, binder.FindTable(statement.table));
  plan.distinct = statement.distinct;
  LS_RETURN_IF_ERROR(PlanSelections(statement, binder, plan));
  LS_ASSIGN_OR_RETURN(
      SelectRestrictions restrictions,
      RestrictSelect(statement, *plan.table, SelectsOnlyStatics(statement, plan), binder));
  plan.partition_key = std::move(restrictions.partition_key);
  plan.token_bounds = std::move(restrictions.token_bounds);
  plan.clustering = std::move(restrictions.clustering);
  plan.uses_index = restrictions.uses_index;
  plan.index = std::move(restrictions.index);
  plan.filters = std::move(restrictions.filters);
  plan.warns_of_filtering = restrictions.warns_of_filtering;
  LS_RETURN_IF_ERROR(CheckDistinct(statement, plan));
  LS_RETURN_IF_ERROR(PlanGroups(statement, plan));
  LS_RETURN_IF_ERROR(PlanOrder(statement, plan));
  LS_RETURN_IF_ERROR(PlanLimits(statement, binder, plan));
  LS_RETURN_IF_ERROR(BindTimeout(statement.timeout, binder));
  return plan;
}

}  // namespace liststore
