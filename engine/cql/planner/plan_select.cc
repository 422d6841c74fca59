#include "engine/cql/planner/plan_select.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/plan_selector.h"
#include "engine/cql/planner/planner.h"
#include "engine/cql/planner/restrictions.h"

namespace liststore::cql {
namespace {

bool HasNestedAggregate(const Selection& selection) {
  if (!selection.is_aggregate()) {
    return std::ranges::any_of(selection.operands, HasNestedAggregate);
  }
  return std::ranges::any_of(selection.operands, &Selection::has_aggregate);
}

CqlStatus PlanSelections(const SelectStatement& statement, Binder& binder, SelectPlan& plan) {
  const TableDefinition& table = *plan.table;
  for (const Selector& selector : statement.selectors) {
    LS_ASSIGN_OR_RETURN(Selection selection, PlanSelector(selector.expression, table, binder));
    if (!selector.alias.empty()) selection.name = selector.alias;
    plan.is_aggregate |= selection.has_aggregate();
    plan.selections.push_back(std::move(selection));
  }
  // Source: ScyllaDB cql3/statements/select_statement.cc, prepare.
  if (std::ranges::any_of(plan.selections, HasNestedAggregate)) {
    return CqlError::Invalid("SELECT clause contains aggeregation of an aggregation");
  }
  if (statement.selectors.empty()) {
    for (const ColumnDefinition& column : table.columns) {
      plan.selections.push_back(SelectColumn(table, column));
    }
  }
  if (statement.json) plan.selections = {SelectAsJson(std::move(plan.selections))};
  return {};
}

// The columns that an expression is made of, each where it stands first.
void AddColumns(const Selection& selection, const TableDefinition& table,
                std::vector<uint16_t>& columns) {
  const auto add = [&](uint16_t column) {
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  };
  switch (selection.kind) {
    case Selection::Kind::kColumn:
    case Selection::Kind::kWriteTime:
    case Selection::Kind::kTtl:
    case Selection::Kind::kWriteTimes:
    case Selection::Kind::kTtls:
    case Selection::Kind::kTimeuuids:
      add(selection.column);
      break;
    case Selection::Kind::kToken:
      // The partition key comes first in a table.
      for (size_t i = 0; i < table.CountOf(ColumnKind::kPartitionKey); ++i) {
        add(static_cast<uint16_t>(i));
      }
      break;
    default:
      for (const Selection& operand : selection.operands) AddColumns(operand, table, columns);
  }
}

std::vector<uint16_t> SelectedColumns(const SelectPlan& plan) {
  std::vector<uint16_t> columns;
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

// ---- WHERE

bool IsAlias(const SelectStatement& statement, const std::string& name) {
  return std::ranges::any_of(statement.selectors,
                             [&](const Selector& selector) { return selector.alias == name; });
}

// Who asks for a column by its alias is told so. Source: ScyllaDB
// cql3/statements/select_statement.cc, prepare_restrictions.
CqlError ExplainAlias(const SelectStatement& statement, CqlError error) {
  for (const Selector& selector : statement.selectors) {
    if (selector.alias.empty() || error.message != "Unrecognized name " + selector.alias) continue;
    return CqlError::Invalid("Aliases aren't allowed in the WHERE clause (name: '" +
                             selector.alias + "')");
  }
  return error;
}

bool RestrictsToOneRow(const SelectPlan& plan) {
  const ClusteringRestriction& clustering = plan.clustering;
  return plan.is_single_partition() && clustering.slices.empty() &&
         clustering.prefix_columns() == plan.table->CountOf(ColumnKind::kClustering) &&
         std::ranges::none_of(clustering.prefix, [](const KeyAlternatives& p) { return p.is_in; });
}

CqlStatus PlanRestrictions(const SelectStatement& statement, Binder& binder, SelectPlan& plan,
                           bool& needs_filtering) {
  auto restricted =
      RestrictSelect(statement, *plan.table, SelectsOnlyStatics(statement, plan), binder);
  if (!restricted.ok()) return ExplainAlias(statement, restricted.error());
  SelectRestrictions restrictions = *std::move(restricted);
  plan.partition_key = std::move(restrictions.partition_key);
  plan.token_bounds = std::move(restrictions.token_bounds);
  plan.clustering = std::move(restrictions.clustering);
  plan.uses_index = restrictions.uses_index;
  plan.index = std::move(restrictions.index);
  plan.filters = std::move(restrictions.filters);
  plan.warns_of_filtering = restrictions.warns_of_filtering;
  plan.not_empty = std::move(restrictions.not_empty);
  needs_filtering = restrictions.needs_filtering;
  plan.at_most_one_row = RestrictsToOneRow(plan);
  return {};
}

// A relation says `=`, or IN of one value, which is the same. Source: ScyllaDB
// cql3/expr/restrictions.cc, validate_and_prepare_new_restriction.
bool SaysEqual(const Relation& relation) {
  if (relation.op == RelationOperator::kEqual) return true;
  const auto* list = relation.value.As<ListLiteral>();
  return relation.op == RelationOperator::kIn && list != nullptr && list->elements.size() == 1;
}

bool IsAbout(const Relation& relation, const std::string& column) {
  return (relation.target == Relation::Target::kColumn ||
          relation.target == Relation::Target::kTuple) &&
         std::ranges::find(relation.columns, column) != relation.columns.end();
}

// No list of partitions is named: all are looked at, or those of a range of tokens, or keys are
// filtered. Source: ScyllaDB cql3/restrictions/statement_restrictions.cc,
// process_partition_key_restrictions.
bool ReadsKeyRange(const SelectStatement& statement, const TableDefinition& table) {
  const std::vector<const ColumnDefinition*> key = table.ColumnsOf(ColumnKind::kPartitionKey);
  return std::ranges::any_of(key, [&](const ColumnDefinition* column) {
    bool restricted = false;
    for (const Relation& relation : statement.where) {
      if (!IsAbout(relation, column->name)) continue;
      restricted = relation.op == RelationOperator::kEqual || relation.op == RelationOperator::kIn;
      if (!restricted) return true;
    }
    return !restricted;
  });
}

// ---- DISTINCT

// Source: ScyllaDB cql3/statements/select_statement.cc, validate_distinct_selection.
CqlStatus CheckDistinct(const SelectStatement& statement, const Dialect& dialect,
                        const SelectPlan& plan) {
  if (!statement.distinct) return {};
  if (dialect.refuses_partition_limit_of_one && statement.per_partition_limit) {
    return CqlError::Invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
  }
  const TableDefinition& table = *plan.table;
  for (const Relation& relation : statement.where) {
    for (const std::string& name : relation.columns) {
      const ColumnDefinition* column = table.FindColumn(name);
      if (column == nullptr || column->kind == ColumnKind::kPartitionKey) continue;
      return CqlError::Invalid(
          "SELECT DISTINCT with WHERE clause only supports restriction by partition key.");
    }
  }
  const std::vector<uint16_t> selected = SelectedColumns(plan);
  for (const uint16_t position : selected) {
    const ColumnDefinition& column = table.columns[position];
    if (column.kind == ColumnKind::kPartitionKey || column.kind == ColumnKind::kStatic) continue;
    return CqlError::Invalid(
        "SELECT DISTINCT queries must only request partition key columns and/or static columns "
        "(not " +
        column.name + ")");
  }
  if (!ReadsKeyRange(statement, table)) return {};
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    const auto position = static_cast<uint16_t>(column - table.columns.data());
    if (std::ranges::find(selected, position) != selected.end()) continue;
    return CqlError::Invalid(
        "SELECT DISTINCT queries must request all the partition key columns (missing " +
        column->name + ")");
  }
  return {};
}

// ---- ORDER BY. Source: ScyllaDB cql3/statements/select_statement.cc

// A column has one value, so that the order may leave it out. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, has_eq_restriction_on_column.
bool IsFixed(const SelectStatement& statement, const std::string& column) {
  return std::ranges::any_of(statement.where, [&](const Relation& relation) {
    return IsAbout(relation, column) && SaysEqual(relation);
  });
}

// prepare_orderings.
CqlOr<std::vector<const ColumnDefinition*>> FindOrderedColumns(const SelectStatement& statement,
                                                               const TableDefinition& table) {
  std::vector<const ColumnDefinition*> columns;
  for (const ColumnOrder& order : statement.order_by) {
    const ColumnDefinition* column = table.FindColumn(order.column);
    if (column == nullptr && IsAlias(statement, order.column)) {
      return CqlError::Invalid("Aliases are not allowed in order by clause ('" + order.column +
                               "')");
    }
    if (column == nullptr) {
      return CqlError::Invalid("Order by on unknown column " + order.column);
    }
    if (column->kind != ColumnKind::kClustering) {
      return CqlError::Invalid(
          "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got " +
          order.column);
    }
    columns.push_back(column);
  }
  return columns;
}

// verify_ordering_is_valid: whether the order is the table's or the reverse of it.
CqlOr<bool> IsReversed(const SelectStatement& statement, const TableDefinition& table,
                       const std::vector<const ColumnDefinition*>& columns) {
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i - 1]->position < columns[i]->position) continue;
    return CqlError::Invalid(
        "Order by currently only supports the ordering of columns following their declared order "
        "in the PRIMARY KEY");
  }
  const auto is_against = [&](size_t i) {
    return statement.order_by[i].descending != columns[i]->descending;
  };
  const std::vector<const ColumnDefinition*> clustering = table.ColumnsOf(ColumnKind::kClustering);
  size_t next = 0;
  for (size_t i = 0; i <= columns.back()->position; ++i) {
    if (columns[next]->position != i) {
      if (IsFixed(statement, clustering[i]->name)) continue;
      return CqlError::Invalid("Unsupported order by relation - column " + clustering[i]->name +
                               " doesn't have an ordering or EQ relation.");
    }
    if (is_against(next) != is_against(0)) {
      return CqlError::Invalid(
          "Unsupported order by relation - only reversing all columns is supported, but column " +
          columns[next]->name + " has opposite ordering");
    }
    ++next;
  }
  return is_against(0);
}

CqlStatus PlanOrder(const SelectStatement& statement, SelectPlan& plan) {
  if (statement.order_by.empty()) return {};
  // verify_ordering_is_allowed.
  if (plan.uses_index) return CqlError::Invalid("ORDER BY with 2ndary indexes is not supported.");
  if (ReadsKeyRange(statement, *plan.table)) {
    return CqlError::Invalid(
        "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.");
  }
  LS_ASSIGN_OR_RETURN(const std::vector<const ColumnDefinition*> columns,
                      FindOrderedColumns(statement, *plan.table));
  LS_ASSIGN_OR_RETURN(plan.reversed, IsReversed(statement, *plan.table, columns));
  plan.is_ordered = true;
  plan.ordered_columns = columns.back()->position + size_t{1};
  return {};
}

// ---- GROUP BY. Source: ScyllaDB cql3/statements/select_statement.cc

// equality_restricted: by the words of the statement, where tuples and IN do not count.
bool IsEqualInText(const SelectStatement& statement, const std::string& column) {
  return std::ranges::any_of(statement.where, [&](const Relation& relation) {
    return relation.target == Relation::Target::kColumn &&
           relation.op == RelationOperator::kEqual && relation.columns[0] == column;
  });
}

// prepare_group_by: the columns of the primary key in their order, of which those with one value
// may be left out.
CqlStatus PlanGroups(const SelectStatement& statement, SelectPlan& plan) {
  if (statement.group_by.empty()) return {};
  const TableDefinition& table = *plan.table;
  const size_t partition_columns = table.CountOf(ColumnKind::kPartitionKey);
  size_t next = 0;
  for (const std::string& name : statement.group_by) {
    const ColumnDefinition* column = table.FindColumn(name);
    if (column == nullptr) return CqlError::Invalid("Group by unknown column " + name);
    if (!column->is_key()) return CqlError::Invalid("Group by non-primary-key column " + name);
    // The key comes first in a table.
    const auto position = static_cast<size_t>(column - table.columns.data());
    while (next < position && IsEqualInText(statement, table.columns[next].name)) ++next;
    if (position != next) return CqlError::Invalid("Group by column " + name + " is out of order");
    plan.group_by.push_back(static_cast<uint16_t>(position));
    ++next;
  }
  if (next < partition_columns) {
    return CqlError::Invalid("GROUP BY must include the entire partition key");
  }
  if (plan.distinct && plan.group_by.back() >= partition_columns) {
    return CqlError::Invalid(
        "Grouping on clustering columns is not allowed for SELECT DISTINCT queries");
  }
  plan.is_aggregate = true;
  return {};
}

// ---- LIMIT

CqlStatus PlanLimits(const SelectStatement& statement, Binder& binder, SelectPlan& plan) {
  binder.EnterClause("LIMIT clause");
  if (statement.limit) {
    LS_ASSIGN_OR_RETURN(plan.limit,
                        binder.Bind(*statement.limit, CqlType::kInt, "[limit]", "[limit]"));
  }
  if (!statement.per_partition_limit) return {};
  LS_ASSIGN_OR_RETURN(plan.per_partition_limit, binder.Bind(*statement.per_partition_limit,
                                                            CqlType::kInt, "[limit]", "[limit]"));
  return {};
}

// ---- Where Cassandra differs. Source: Cassandra cql3/statements/SelectStatement.java

// A view's column has the order that it has in its table.
std::vector<bool> DescendingKeys(const Schema& schema, const TableDefinition& table) {
  const auto base = table.view ? schema.FindTable(table.keyspace, table.view->base) : nullptr;
  if (base == nullptr) return {};
  std::vector<bool> descending;
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    const ColumnDefinition* of_base = base->FindColumn(column->name);
    descending.push_back(of_base != nullptr && of_base->descending);
  }
  if (std::ranges::count(descending, true) == 0) return {};
  return descending;
}

bool SaysIn(const SelectStatement& statement, const TableDefinition& table) {
  return std::ranges::any_of(statement.where, [&](const Relation& relation) {
    if (relation.target != Relation::Target::kColumn) return false;
    return relation.op == RelationOperator::kIn &&
           table.FindColumn(relation.columns[0])->kind == ColumnKind::kPartitionKey;
  });
}

CqlStatus PlanAsCassandra(const SelectStatement& statement, const Binder& binder,
                          SelectPlan& plan) {
  const Dialect& dialect = binder.dialect();
  const bool is_one_group = plan.is_aggregate && plan.group_by.empty();
  if (dialect.refuses_partition_limit_of_one && is_one_group && plan.per_partition_limit) {
    return CqlError::Invalid("PER PARTITION LIMIT is not allowed with aggregate queries.");
  }
  const bool has_in = !plan.partition_key.empty() && !plan.is_single_partition();
  if (dialect.in_as_base_orders && has_in) {
    plan.in_descending = DescendingKeys(binder.schema(), *plan.table);
  }
  plan.refuses_pages =
      dialect.refuses_pages_of_merged && plan.is_ordered && SaysIn(statement, *plan.table);
  plan.merges_filtered_and_stably = dialect.merges_filtered_and_stably;
  plan.scans_serially = dialect.scans_serially;
  // The pager's execute. Tables of the node itself have no partitions that are somewhere.
  if (!plan.is_aggregate || plan.table->is_virtual) return {};
  if (has_in) {
    plan.warning = "Aggregation query used on multiple partition keys (IN restriction)";
  } else if (plan.partition_key.empty() && plan.token_bounds.empty()) {
    plan.warning = "Aggregation query used without partition key";
  }
  return {};
}

}  // namespace

bool SelectPlan::is_single_partition() const {
  return !partition_key.empty() &&
         std::ranges::none_of(partition_key, [](const KeyAlternatives& p) { return p.is_in; });
}

// Source of the order in which what is wrong is told: ScyllaDB cql3/statements/select_statement.cc,
// prepare.
CqlOr<SelectPlan> PlanSelect(const SelectStatement& statement, Binder& binder) {
  SelectPlan plan;
  LS_ASSIGN_OR_RETURN(plan.table, binder.FindTable(statement.table));
  plan.distinct = statement.distinct;
  LS_RETURN_IF_ERROR(PlanSelections(statement, binder, plan));
  bool needs_filtering = false;
  LS_RETURN_IF_ERROR(PlanRestrictions(statement, binder, plan, needs_filtering));
  LS_RETURN_IF_ERROR(CheckDistinct(statement, binder.dialect(), plan));
  LS_RETURN_IF_ERROR(PlanOrder(statement, plan));
  if (needs_filtering) return NeedsFiltering();
  LS_RETURN_IF_ERROR(PlanGroups(statement, plan));
  LS_ASSIGN_OR_RETURN(plan.timeout, BindTimeout(statement.timeout, binder));
  LS_RETURN_IF_ERROR(PlanLimits(statement, binder, plan));
  if (binder.dialect().is_cassandra) LS_RETURN_IF_ERROR(PlanAsCassandra(statement, binder, plan));
  return plan;
}

}  // namespace liststore::cql
