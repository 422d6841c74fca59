#include "engine/cql/planner/index_use.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

// Of the parts of a collection: an index of those answers one relation and no more. Source: ScyllaDB
// index/secondary_index_manager.cc, supports_expression; cql3/restrictions/statement_restrictions.cc,
// is_supported_by_helper.
bool IsOfParts(const IndexDefinition& index) { return index.part != IndexedPart::kValue; }

class IndexFinder {
 public:
  IndexFinder(const TableDefinition& table, const WhereClause& where)
      : table_(table), where_(where), columns_(where.ByColumn()) {}

  IndexUse Find() const {
    IndexUse use;
    use.of_partition_key = !where_.has_token() && Indexed(ColumnKind::kPartitionKey);
    use.of_clustering = !where_.has_tuples() && Indexed(ColumnKind::kClustering);
    use.of_values = Indexed(ColumnKind::kStatic) || Indexed(ColumnKind::kRegular);
    use.used =
        (where_.PartitionKeyNeedsFiltering() && use.of_partition_key) ||
        ((where_.ClusteringNeedsFiltering() || where_.ReadsKeyRange()) && use.of_clustering) ||
        (use.of_values && !where_.HasIn(ColumnKind::kPartitionKey));
    use.needs_filtering = NeedsFiltering(use);
    return use;
  }

 private:
  // Some column of the kind has an index that answers all that is asked of it.
  bool Indexed(ColumnKind kind) const {
    return std::ranges::any_of(columns_, [&](const auto& column) {
      return table_.columns[column.first].kind == kind &&
             std::ranges::any_of(table_.indexes, [&](const IndexDefinition& index) {
               return IndexAnswers(index, column.second);
             });
    });
  }
  bool IndexAnswers(const IndexDefinition& index, const WhereClause::Relations& relations) const {
    if (index.local && !where_.FixesToken()) return false;
    if (IsOfParts(index) && relations.size() > 1) return false;
    return std::ranges::all_of(relations, [&](const BoundRelation* relation) {
      return Supports(table_, index, *relation);
    });
  }

  // need_filtering.
  bool NeedsFiltering(const IndexUse& use) const {
    const size_t partition_key = where_.Restricted(ColumnKind::kPartitionKey);
    const size_t clustering = where_.Restricted(ColumnKind::kClustering);
    const size_t values = where_.RestrictedValues();
    if (use.used && where_.has_token()) return clustering + values > 1;
    if (partition_key > 0 && partition_key < table_.CountOf(ColumnKind::kPartitionKey)) {
      return partition_key > 1 || !use.of_partition_key || clustering > 0 || values > 0;
    }
    if (where_.PartitionKeyNeedsFiltering()) return true;
    if (values > 1 || (values == 1 && !use.of_values)) return true;
    if (values == 1) {
      if (partition_key == 0 && clustering == 0) return false;
      return !where_.FixesToken() || where_.ClusteringNeedsFiltering() || where_.has_tuples();
    }
    if (use.of_clustering && use.used) return clustering > 1;
    return where_.ClusteringNeedsFiltering();
  }

  const TableDefinition& table_;
  const WhereClause& where_;
  const std::map<uint16_t, WhereClause::Relations> columns_;
};

}  // namespace

IndexUse FindIndexUse(const TableDefinition& table, const WhereClause& where) {
  return IndexFinder(table, where).Find();
}

bool Supports(const TableDefinition& table, const IndexDefinition& index,
              const BoundRelation& relation) {
  if (table.columns[relation.columns[0]].name != index.column) return false;
  const bool is_equal = relation.op == RelationOperator::kEqual;
  switch (index.part) {
    case IndexedPart::kValue:
      return is_equal && relation.relation->target == Relation::Target::kColumn;
    case IndexedPart::kValues:
      return relation.op == RelationOperator::kContains;
    case IndexedPart::kKeys:
      return relation.op == RelationOperator::kContainsKey;
    case IndexedPart::kEntries:
      return is_equal && relation.relation->target == Relation::Target::kElement;
  }
  LS_UNREACHABLE("all parts are above");
}

}  // namespace liststore::cql
