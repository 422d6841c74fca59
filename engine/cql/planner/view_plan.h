// How the rows of a materialized view follow from those of its base.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_VIEW_PLAN_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_VIEW_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// A row of the base is a row of the view when it has a value for each column of the view's key, and
// the filters take it. Immutable; shared between threads.
struct ViewPlan {
  std::shared_ptr<const TableDefinition> view;
  // Of each column of the view's key the position in the base's columns.
  std::vector<uint16_t> partition_key;
  std::vector<uint16_t> clustering;
  // Those of them that are no keys in the base: the row lives as long as all of their cells. More than one in
  // DynamoDB's keyspace alone.
  std::vector<uint16_t> key_cells;
  // For each regular column of the base, by ColumnId, its ColumnId in the view.
  std::vector<std::optional<ColumnId>> regular;
  // What the WHERE says but IS NOT NULL. Of constants, about columns of the view's key.
  std::vector<RowFilter> filters;
  std::vector<TokenBound> token_bounds;
};

struct ViewPlans {
  std::shared_ptr<const TableDefinition> base;
  std::vector<ViewPlan> views;
};

// Of all views of a table, one under way included; nullptr: it has none. Errors are those of PlanView.
CqlOr<std::shared_ptr<const ViewPlans>> PlanViews(
    const Schema& schema, const std::shared_ptr<const TableDefinition>& base);
// `view` is one of the views of `base`, and both are in `schema`. Its WHERE was checked when it was
// made: no errors but where types have changed since, so that a constant is none of its column's
// any more.
CqlOr<ViewPlan> PlanView(const Schema& schema, const std::shared_ptr<const TableDefinition>& base,
                         const std::shared_ptr<const TableDefinition>& view);

// The relations of a view's WHERE but IS NOT NULL, as of `SELECT ... WHERE ... ALLOW FILTERING` on
// the base. Errors as there; Unsupported: what depends on when it is computed.
struct ViewFilters {
  std::vector<RowFilter> filters;
  std::vector<TokenBound> token_bounds;
};
CqlOr<ViewFilters> PlanViewFilters(const Schema& schema, const TableDefinition& base,
                                   std::vector<Relation> where);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_VIEW_PLAN_H_
