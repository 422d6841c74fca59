// Restrictions: a WHERE clause, sorted by who answers what of it: the partition key, the token, the
// order of the clustering key, a value index, or a look at every row.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_RESTRICTIONS_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_RESTRICTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/bind_where.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/planner/where_clause.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql {

// The relations that the key takes, moved out of `relations`: those left are for filters.
// Of a partition key that equals something in each of its columns all that says so; else nothing.
std::vector<KeyAlternatives> TakePartitionKey(const TableDefinition& table,
                                              const settings::StatementSettings& settings,
                                              std::vector<BoundRelation>& relations);
// All relations on the first clustering columns that equal something, and of the one behind them
// that has slices. Of tuples likewise.
ClusteringRestriction TakeClustering(const TableDefinition& table,
                                     const settings::StatementSettings& settings,
                                     std::vector<BoundRelation>& relations);

// Clustering columns that are restricted come first in the key, and not by CONTAINS. `contains`:
// an index or a filter tells that; `gaps`: they tell columns behind others, too.
CqlStatus CheckClusteringOrder(const TableDefinition& table, const WhereClause& where,
                               bool contains, bool gaps);

// All of that for SELECT, with ScyllaDB's rules of what needs ALLOW FILTERING.
// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc.
struct SelectRestrictions {
  std::vector<KeyAlternatives> partition_key;
  std::vector<TokenBound> token_bounds;
  ClusteringRestriction clustering;
  // Rows are found by an index: one of storage's, `index`, or by a look at partitions and rows.
  bool uses_index = false;
  std::optional<IndexLookup> index;
  std::vector<RowFilter> filters;
  bool warns_of_filtering = false;
  // ALLOW FILTERING was not said, and is wanted: NeedsFiltering, unless ORDER BY or DISTINCT are
  // wrong.
  bool needs_filtering = false;
  std::vector<Operand> not_empty;  // SelectPlan::not_empty
};
CqlError NeedsFiltering();
// `only_statics`: static columns, and those of the partition key, are all that is selected.
CqlOr<SelectRestrictions> RestrictSelect(const SelectStatement& statement,
                                         const TableDefinition& table, bool only_statics,
                                         Binder& binder);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_RESTRICTIONS_H_
