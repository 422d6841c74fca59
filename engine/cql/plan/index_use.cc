#include "engine/cql/plan/index_use.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/check.h"

namespace liststore {
namespace {

// The relations of a clause by the columns that they are about, and what follows from their kinds.
class IndexFinder {
 public:
  IndexFinder(const TableDefinition& table, const BoundWhere& where)
      : table_(table), has_token_(where.token_relation != nullptr) {
    for (const BoundRelation& relation : where.relations) {
      for (const uint16_t column : relation.columns) columns_[column].push_back(&relation);
      has_tuples_ |= relation.relation->target == Relation::Target::kTuple;
    }
  }

  IndexUse Find() const {
    const bool of_partition_key = !has_token_ && Indexed(ColumnKind::kPartitionKey);
    const bool of_values = Indexed(ColumnKind::kStatic) || Indexed(ColumnKind::kRegular);
    const bool reads_ranges =
        has_token_ || Restricted(ColumnKind::kPartitionKey) == 0 || PartitionKeyNeedsFiltering();
    IndexUse use;
    use.of_clustering = !has_tuples_ && Indexed(ColumnKind::kClustering);
    use.used = (PartitionKeyNeedsFiltering() && of_partition_key) ||
               ((ClusteringNeedsFiltering() || reads_ranges) && use.of_clustering) ||
               (of_values && !HasIn(ColumnKind::kPartitionKey));
    use.needs_filtering = NeedsFiltering(use, of_partition_key, of_values);
    return use;
  }

 private:
  using Relations = std::vector<const BoundRelation*>;

  bool IsOf(uint16_t column, ColumnKind kind) const { return table_.columns[column].kind == kind; }
  // How many columns of the kind are restricted.
  size_t Restricted(ColumnKind kind) const {
    return static_cast<size_t>(std::ranges::count_if(
        columns_, [&](const auto& column) { return IsOf(column.first, kind); }));
  }
  template <typename Predicate>
  bool AnyRelation(ColumnKind kind, Predicate&& holds) const {
    return std::ranges::any_of(columns_, [&](const auto& column) {
      return IsOf(column.first, kind) && std::ranges::any_of(column.second, holds);
    });
  }
  bool HasIn(ColumnKind kind) const {
    return AnyRelation(
        kind, [](const BoundRelation* relation) { return relation->op == RelationOperator::kIn; });
  }
  // One partition is named.
  bool OfOnePartition() const {
    return Restricted(ColumnKind::kPartitionKey) == table_.CountOf(ColumnKind::kPartitionKey) &&
           !AnyRelation(ColumnKind::kPartitionKey, [](const BoundRelation* relation) {
             return relation->op != RelationOperator::kEqual;
           });
  }

  // Some column of the kind has an index that answers all that is asked of it.
  bool Indexed(ColumnKind kind) const {
    return std::ranges::any_of(columns_, [&](const auto& column) {
      return IsOf(column.first, kind) &&
             std::ranges::any_of(table_.indexes, [&](const IndexDefinition& index) {
               return IndexAnswers(index, column.second);
             });
    });
  }
  bool IndexAnswers(const IndexDefinition& index, const Relations& relations) const {
    if (index.local && !OfOnePartition()) return false;
    return std::ranges::all_of(relations, [&](const BoundRelation* relation) {
      return Supports(table_, index, *relation);
    });
  }

  bool PartitionKeyNeedsFiltering() const {
    const size_t restricted = Restricted(ColumnKind::kPartitionKey);
    if (restricted == 0) return false;
    return restricted < table_.CountOf(ColumnKind::kPartitionKey) ||
           AnyRelation(ColumnKind::kPartitionKey,
                       [](const BoundRelation* relation) { return !relation->is_equality(); });
  }
  // The restricted columns are no prefix of the clustering key that ends in a slice at most.
  bool ClusteringNeedsFiltering() const {
    if (has_tuples_) return false;
    size_t next = table_.CountOf(ColumnKind::kPartitionKey);
    for (const auto& [column, relations] : columns_) {
      if (!IsOf(column, ColumnKind::kClustering)) continue;
      if (column != next || std::ranges::any_of(relations, &BoundRelation::always_filters)) {
        return true;
      }
      const bool sliced = std::ranges::any_of(relations, &BoundRelation::is_slice);
      next = sliced ? SIZE_MAX : next + 1;
    }
    return false;
  }

  bool NeedsFiltering(const IndexUse& use, bool of_partition_key, bool of_values) const {
    const size_t partition_key = Restricted(ColumnKind::kPartitionKey);
    const size_t clustering = Restricted(ColumnKind::kClustering);
    const size_t values = Restricted(ColumnKind::kStatic) + Restricted(ColumnKind::kRegular);
    if (use.used && has_token_) return clustering + values > 1;
    if (partition_key > 0 && partition_key < table_.CountOf(ColumnKind::kPartitionKey)) {
      return partition_key > 1 || !of_partition_key || clustering > 0 || values > 0;
    }
    if (PartitionKeyNeedsFiltering()) return true;
    if (values > 1 || (values == 1 && !of_values)) return true;
    if (values == 1) {
      if (partition_key == 0 && clustering == 0) return false;
      return !OfOnePartition() || ClusteringNeedsFiltering() || has_tuples_;
    }
    if (use.of_clustering && use.used) return clustering > 1;
    return ClusteringNeedsFiltering();
  }

  const TableDefinition& table_;
  const bool has_token_;
  bool has_tuples_ = false;
  std::map<uint16_t, Relations> columns_;  // by position: key columns come in their order
};

}  // namespace

IndexUse FindIndexUse(const TableDefinition& table, const BoundWhere& where) {
  // Most tables have none.
  if (table.indexes.empty()) return {};
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

}  // namespace liststore
