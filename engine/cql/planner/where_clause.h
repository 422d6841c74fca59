// WhereClause: the relations of WHERE, gathered one after the other in the order of the text. Each
// is bound and held against those before it; what they say together is asked of the whole.
// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_WHERE_CLAUSE_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_WHERE_CLAUSE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/bind_where.h"
#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

class WhereClause {
 public:
  using Relations = std::vector<const BoundRelation*>;

  // `where` and `table` outlive it. Invalid: what BindRelation refuses, or a relation that does not
  // go with those before it.
  static CqlOr<WhereClause> Bind(const std::vector<Relation>& where, const TableDefinition& table,
                                 bool allow_filtering, Binder& binder);

  // On columns, in the order of the text.
  const std::vector<BoundRelation>& relations() const { return relations_; }
  std::vector<BoundRelation> TakeRelations() && { return std::move(relations_); }
  // Those on the token.
  const std::vector<BoundRelation>& token_relations() const { return token_relations_; }
  std::vector<TokenBound> TokenBounds() const;
  // The relations on each column, tuples with each of theirs. By position: key columns come in
  // their order.
  std::map<uint16_t, Relations> ByColumn() const;

  bool has_token() const { return !token_relations_.empty(); }
  bool has_tuples() const { return AnyTuple(relations_); }
  // How many columns of the kind are restricted.
  size_t Restricted(ColumnKind kind) const;
  bool Restricts(ColumnKind kind) const { return Restricted(kind) > 0; }
  // Of columns that are no keys.
  size_t RestrictedValues() const {
    return Restricted(ColumnKind::kStatic) + Restricted(ColumnKind::kRegular);
  }
  // Some relation on a column of the kind is so.
  bool Any(ColumnKind kind, bool (BoundRelation::*is)() const) const;
  bool HasIn(ColumnKind kind) const;

  // One partition is named, or none: each of its columns equals something.
  bool NamesOnePartition() const;
  // The same, or its token equals something, which is enough for a local index.
  bool FixesToken() const;
  bool PartitionKeyNeedsFiltering() const;
  // All partitions are looked at, or those of a range of tokens, or keys are filtered.
  bool ReadsKeyRange() const {
    return has_token() || !Restricts(ColumnKind::kPartitionKey) || PartitionKeyNeedsFiltering();
  }
  // The restricted columns are no prefix of the clustering key that ends in a slice at most.
  bool ClusteringNeedsFiltering() const;

 private:
  WhereClause(const TableDefinition& table, bool allow_filtering, bool tuples_behind_columns)
      : table_(&table),
        allow_filtering_(allow_filtering),
        tuples_behind_columns_(tuples_behind_columns) {}

  static bool AnyTuple(const std::vector<BoundRelation>& relations);
  bool IsOf(const BoundRelation& relation, ColumnKind kind) const {
    return table_->columns[relation.columns[0]].kind == kind;
  }
  CqlStatus Check(const BoundRelation& next) const;
  CqlStatus CheckPartitionKey(const BoundRelation& next) const;
  CqlStatus CheckToken() const;
  CqlStatus CheckClustering(const BoundRelation& next) const;
  CqlStatus CheckTuple(const BoundRelation& next) const;
  CqlError NormalAndToken() const;

  const TableDefinition* table_;
  bool allow_filtering_;
  bool tuples_behind_columns_;  // as in Dialect
  std::vector<BoundRelation> relations_;
  std::vector<BoundRelation> token_relations_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_WHERE_CLAUSE_H_
