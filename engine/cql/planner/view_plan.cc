#include "engine/cql/planner/view_plan.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/planner/bind_where.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/planner/restrictions.h"
#include "engine/cql/planner/where_clause.h"
#include "engine/cql/syntax/parser.h"

namespace liststore::cql {
namespace {

uint16_t PositionByName(const TableDefinition& table, const ColumnDefinition& column) {
  const ColumnDefinition* found = table.FindColumn(column.name);
  LS_CHECK(found != nullptr, "a view has columns of its base");
  return static_cast<uint16_t>(found - table.columns.data());
}

}  // namespace

CqlOr<ViewFilters> PlanViewFilters(const Schema& schema, const TableDefinition& base,
                                   std::vector<Relation> where) {
  std::erase_if(
      where, [](const Relation& relation) { return relation.op == RelationOperator::kIsNotNull; });
  const std::vector<std::string> no_markers;
  const settings::StatementSettings settings;  // none of them is about what a view keeps
  Binder binder(schema, base.keyspace, no_markers, settings);
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto found,
                      binder.FindTable({base.keyspace, base.name, {}}));
  ViewFilters planned;
  {
    // For its rules alone.
    SelectStatement select;
    select.where = where;
    select.allow_filtering = true;
    LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto restrictions,
                        RestrictSelect(select, base, /*only_statics=*/false, binder));
  }
  LS_ASSIGN_OR_RETURN(WhereClause bound,
                      WhereClause::Bind(where, base, /*allow_filtering=*/true, binder));
  if (!binder.TakeComputed().empty()) {
    return CqlError::Unsupported(CqlFeature::kViewFunctions, "CREATE MATERIALIZED VIEW");
  }
  planned.token_bounds = bound.TokenBounds();
  for (const BoundRelation& relation : bound.relations()) {
    planned.filters.push_back(ToFilter(relation));
  }
  // What is wrong with a value shows when it is looked at: writes to the base do not fail by it.
  std::vector<BoundFilter> filters;
  std::optional<TokenRange> tokens;
  LS_RETURN_IF_ERROR(BindFilters(planned.filters, {}, filters));
  LS_RETURN_IF_ERROR(EncodeTokenRange(planned.token_bounds, {}, tokens));
  return planned;
}

CqlOr<ViewPlan> PlanView(const Schema& schema, const std::shared_ptr<const TableDefinition>& base,
                         const std::shared_ptr<const TableDefinition>& view) {
  LS_CHECK(view->view.has_value(), "the plan is of a view");
  ViewPlan plan;
  plan.view = view;
  plan.regular.resize(base->storage.regular.size());
  for (const ColumnDefinition& column : view->columns) {
    const uint16_t position = PositionByName(*base, column);
    const ColumnDefinition& of_base = base->columns[position];
    if (column.is_key()) {
      (column.kind == ColumnKind::kPartitionKey ? plan.partition_key : plan.clustering)
          .push_back(position);
      if (!of_base.is_key()) plan.key_cells.push_back(position);
    } else {
      plan.regular[of_base.position] = column.position;
    }
  }
  if (view->view->where.empty()) return plan;
  LS_ASSIGN_OR_RETURN(Statement parsed,
                      ParseStatement("SELECT * FROM v WHERE " + view->view->where));
  LS_ASSIGN_OR_RETURN(
      ViewFilters filters,
      PlanViewFilters(schema, *base, std::move(std::get<SelectStatement>(parsed.node).where)));
  plan.filters = std::move(filters.filters);
  plan.token_bounds = std::move(filters.token_bounds);
  return plan;
}

CqlOr<std::shared_ptr<const ViewPlans>> PlanViews(
    const Schema& schema, const std::shared_ptr<const TableDefinition>& base) {
  if (base->views.empty() && base->view_under_way == nullptr) {
    return std::shared_ptr<const ViewPlans>();
  }
  auto plans = std::make_shared<ViewPlans>();
  plans->base = base;
  for (const std::string& name : base->views) {
    const std::shared_ptr<const TableDefinition> view = schema.FindTable(base->keyspace, name);
    LS_CHECK(view != nullptr, "a table knows its views");
    LS_ASSIGN_OR_RETURN(ViewPlan plan, PlanView(schema, base, view));
    plans->views.push_back(std::move(plan));
  }
  if (base->view_under_way != nullptr) {
    LS_ASSIGN_OR_RETURN(ViewPlan plan, PlanView(schema, base, base->view_under_way));
    plans->views.push_back(std::move(plan));
  }
  return std::shared_ptr<const ViewPlans>(std::move(plans));
}

}  // namespace liststore::cql
