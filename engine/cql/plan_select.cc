#include "engine/cql/plan_select.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner.h"
#include "engine/cql/restrictions.h"

namespace liststore {
namespace {

std::string JoinNames(const std::vector<const ColumnDefinition*>& columns) {
  std::string names;
  for (const ColumnDefinition* column : columns) {
    names += (names.empty() ? "" : ", ") + column->name;
  }
  return names;
}

uint16_t PositionOf(const TableDefinition& table, const ColumnDefinition& column) {
  return static_cast<uint16_t>(&column - table.columns.data());
}

CqlOr<const ColumnDefinition*> FindColumn(const TableDefinition& table, const std::string& name) {
  const ColumnDefinition* column = table.FindColumn(name);
  if (column == nullptr) return CqlError::Invalid("Unrecognized name " + name);
  return column;
}

Selection Column(const TableDefinition& table, const ColumnDefinition& column) {
  return {Selection::Kind::kColumn, PositionOf(table, column), column.name, column.type};
}

// ---- Selectors

CqlOr<Selection> PlanSelector(const Expression& expression, const TableDefinition& table);

CqlOr<Selection> PlanCellAttribute(const CellAttribute& attribute, const TableDefinition& table) {
  const bool is_ttl = attribute.kind == CellAttribute::Kind::kTtl;
  const auto* name = attribute.operand[0].As<ColumnName>();
  if (name == nullptr) {
    LS_ASSIGN_OR_RETURN(const Selection part, PlanSelector(attribute.operand[0], table));
    return CqlError::Unsupported(CqlFeature::kElements, part.name);
  }
  LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table, name->name));
  if (column->is_key()) {
    return CqlError::Invalid(std::string(is_ttl ? "TTL" : "WRITETIME") +
                             " is not legal on partition key component " + column->name);
  }
  if (is_ttl) {
    return Selection{Selection::Kind::kTtl, PositionOf(table, *column), "ttl(" + column->name + ")",
                     CqlType::kInt};
  }
  return Selection{Selection::Kind::kWriteTime, PositionOf(table, *column),
                   "writetime(" + column->name + ")", CqlType::kBigint};
}

CqlOr<Selection> PlanToken(const FunctionCall& call, const TableDefinition& table) {
  const std::vector<const ColumnDefinition*> key = table.ColumnsOf(ColumnKind::kPartitionKey);
  bool in_order = call.arguments.size() == key.size();
  for (size_t i = 0; in_order && i < key.size(); ++i) {
    const auto* name = call.arguments[i].As<ColumnName>();
    in_order = name != nullptr && name->name == key[i]->name;
  }
  if (!in_order) return CqlError::Unsupported(CqlFeature::kTokenOfValues, "in the selection");
  return Selection{Selection::Kind::kToken, 0, "system.token(" + JoinNames(key) + ")",
                   CqlType::kBigint};
}

CqlOr<Selection> PlanCall(const FunctionCall& call, const TableDefinition& table) {
  const std::string& name = call.function.name;
  if (name == "token") return PlanToken(call, table);
  if (name == "count" && call.arguments.size() == 1 && call.arguments[0].Is<Constant>()) {
    return Selection{Selection::Kind::kCountRows, 0, "count", CqlType::kBigint};
  }
  const bool counts = name == "count";
  if (!counts && name != "min" && name != "max") return RefuseCall(call.function);
  if (call.arguments.size() != 1) {
    return CqlError::Invalid("Invalid number of arguments in call to function system." + name +
                             ": 1 required but " + std::to_string(call.arguments.size()) +
                             " provided");
  }
  const auto* argument = call.arguments[0].As<ColumnName>();
  if (argument == nullptr) {
    return CqlError::Unsupported(CqlFeature::kNestedAggregates, name + "()");
  }
  LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table, argument->name));
  Selection selection;
  selection.kind = counts          ? Selection::Kind::kCountCells
                   : name == "min" ? Selection::Kind::kMin
                                   : Selection::Kind::kMax;
  selection.column = PositionOf(table, *column);
  selection.name = "system." + name + "(" + column->name + ")";
  selection.type = counts ? DataType(CqlType::kBigint) : column->type;
  return selection;
}

// Source of the words: ScyllaDB cql3/expr/prepare_expr.cc.
CqlOr<Selection> PlanField(const FieldAccess& access, const TableDefinition& table) {
  LS_ASSIGN_OR_RETURN(Selection selection, PlanSelector(access.operand[0], table));
  const std::string structure = ToString(access.operand[0]);
  if (selection.type.kind() != DataType::Kind::kUser) {
    return CqlError::Invalid("Invalid field selection: " + structure + " of type " +
                             selection.type.ToString() + " is not a user type");
  }
  const std::vector<std::string>& fields = selection.type.user().fields;
  const auto at = std::ranges::find(fields, access.field);
  if (at == fields.end()) {
    return CqlError::Invalid(structure + " of type " + selection.type.ToString() +
                             " has no field " + access.field);
  }
  if (selection.kind != Selection::Kind::kColumn && selection.kind != Selection::Kind::kField) {
    return CqlError::Unsupported(CqlFeature::kElements, structure + "." + access.field);
  }
  const auto field = static_cast<uint16_t>(at - fields.begin());
  selection.kind = Selection::Kind::kField;
  selection.fields.push_back(field);
  selection.name += "." + access.field;
  const DataType type = selection.type.parameters()[field];
  selection.type = type;
  return selection;
}

CqlOr<Selection> PlanSelector(const Expression& expression, const TableDefinition& table) {
  if (const auto* name = expression.As<ColumnName>()) {
    LS_ASSIGN_OR_RETURN(const ColumnDefinition* column, FindColumn(table, name->name));
    return Column(table, *column);
  }
  if (expression.Is<CountRows>()) {
    return Selection{Selection::Kind::kCountRows, 0, "count", CqlType::kBigint};
  }
  if (const auto* attribute = expression.As<CellAttribute>()) {
    return PlanCellAttribute(*attribute, table);
  }
  if (const auto* call = expression.As<FunctionCall>()) return PlanCall(*call, table);
  if (expression.Is<SelectorCast>()) {
    return CqlError::Unsupported(CqlFeature::kCasts, ToString(expression));
  }
  if (const auto* access = expression.As<ElementAccess>()) {
    LS_ASSIGN_OR_RETURN(const Selection operand, PlanSelector(access->operand_and_key[0], table));
    return RefuseElement(operand.name, operand.type, ToString(expression));
  }
  if (const auto* access = expression.As<FieldAccess>()) {
    return PlanField(*access, table);
  }
  return CqlError::Unsupported(CqlFeature::kSelectedValues, ToString(expression));
}

CqlStatus PlanSelections(const SelectStatement& statement, SelectPlan& plan) {
  const TableDefinition& table = *plan.table;
  for (const Selector& selector : statement.selectors) {
    LS_ASSIGN_OR_RETURN(Selection selection, PlanSelector(selector.expression, table));
    if (!selector.alias.empty()) selection.name = selector.alias;
    plan.is_aggregate |= selection.is_aggregate();
    plan.selections.push_back(std::move(selection));
  }
  if (statement.selectors.empty()) {
    for (const ColumnDefinition& column : table.columns) {
      plan.selections.push_back(Column(table, column));
    }
  }
  return {};
}

// ---- DISTINCT, ORDER BY, LIMIT

CqlStatus CheckDistinct(const SelectStatement& statement, const SelectPlan& plan) {
  if (!statement.distinct) return {};
  const TableDefinition& table = *plan.table;
  for (const Selection& selection : plan.selections) {
    const ColumnDefinition& column = table.columns[selection.column];
    const bool is_column = selection.kind == Selection::Kind::kColumn;
    if (is_column && column.kind != ColumnKind::kPartitionKey &&
        column.kind != ColumnKind::kStatic) {
      return CqlError::Invalid(
          "SELECT DISTINCT queries must only request partition key columns and/or static columns "
          "(not " +
          column.name + ")");
    }
    if (!is_column) return CqlError::Unsupported(CqlFeature::kDistinctFunctions, selection.name);
  }
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    const bool found = std::ranges::any_of(plan.selections, [&](const Selection& selection) {
      return selection.column == PositionOf(table, *column);
    });
    if (found) continue;
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

CqlStatus PlanOrder(const SelectStatement& statement, SelectPlan& plan) {
  if (statement.order_by.empty()) return {};
  const TableDefinition& table = *plan.table;
  if (plan.index) return CqlError::Invalid("ORDER BY with 2ndary indexes is not supported.");
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
  if (plan.is_aggregate) {
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
  if (statement.json) return CqlError::Unsupported(CqlFeature::kJson, "SELECT JSON");
  if (!statement.group_by.empty()) return CqlError::Unsupported(CqlFeature::kGroupBy, "");
  plan.distinct = statement.distinct;
  LS_RETURN_IF_ERROR(PlanSelections(statement, plan));
  LS_ASSIGN_OR_RETURN(SelectRestrictions restrictions,
                      RestrictSelect(statement, *plan.table, binder));
  plan.partition_key = std::move(restrictions.partition_key);
  plan.token_bounds = std::move(restrictions.token_bounds);
  plan.clustering = std::move(restrictions.clustering);
  plan.index = std::move(restrictions.index);
  plan.filters = std::move(restrictions.filters);
  plan.warns_of_filtering = restrictions.warns_of_filtering;
  LS_RETURN_IF_ERROR(CheckDistinct(statement, plan));
  LS_RETURN_IF_ERROR(PlanOrder(statement, plan));
  LS_RETURN_IF_ERROR(PlanLimits(statement, binder, plan));
  if (statement.timeout && statement.timeout->Is<BindMarker>()) {
    LS_ASSIGN_OR_RETURN(
        [[maybe_unused]] const Operand timeout,
        binder.Bind(*statement.timeout, CqlType::kDuration, "[timeout]", "[timeout]"));
  }
  return plan;
}

}  // namespace liststore
