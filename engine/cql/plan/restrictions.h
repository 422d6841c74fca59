// Restrictions: a WHERE clause, sorted by who answers what of it: the partition key, the token, the
// order of the clustering key, a value index, or a look at every row.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_RESTRICTIONS_H_
#define LISTSTORE_ENGINE_CQL_PLAN_RESTRICTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/cql/plan/bind_where.h"
#include "engine/cql/plan/binder.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore {

// Whether any relation is about a clustering column.
bool RestrictsClustering(const TableDefinition& table, const BoundWhere& where);

// The relations of `where` that the key takes, moved out of it: those left are for filters.
// Takes what restricts the partition key whole; nothing when a column of it is left out.
std::vector<KeyAlternatives> TakePartitionKey(const TableDefinition& table, BoundWhere& where);
// Takes equalities on the first clustering columns and slices of what follows.
ClusteringRestriction TakeClustering(const TableDefinition& table, BoundWhere& where);

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
  // The index does not answer all, and ALLOW FILTERING was not said: NeedsFiltering, unless ORDER BY
  // or DISTINCT are wrong.
  bool needs_filtering = false;
};
CqlError NeedsFiltering();
// `only_statics`: static columns, and those of the partition key, are all that is selected.
CqlOr<SelectRestrictions> RestrictSelect(const SelectStatement& statement,
                                         const TableDefinition& table, bool only_statics,
                                         Binder& binder);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_PLAN_RESTRICTIONS_H_
