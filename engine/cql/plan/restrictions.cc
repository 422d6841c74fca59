#include "engine/cql/plan/restrictions.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/index_use.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore {
namespace {

constexpr std::string_view kNeedsFiltering =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

// Place of the first clustering column within TableDefinition::columns.
size_t ClusteringBegin(const TableDefinition& table) {
  return table.CountOf(ColumnKind::kPartitionKey);
}

// ---- Keys

KeyAlternatives ToAlternatives(BoundRelation relation) {
  KeyAlternatives key;
  key.columns = relation.columns.size();
  key.alternatives = std::move(relation.alternatives);
  key.list = std::move(relation.list);
  key.list_is_of_tuples = relation.list_is_of_tuples;
  key.is_in = relation.op == RelationOperator::kIn;
  return key;
}

// True when tuples of these clustering columns compare as the table orders them.
bool OneDirection(const TableDefinition& table, const std::vector<uint16_t>& columns) {
  return std::ranges::all_of(columns, [&](uint16_t column) {
    return table.columns[column].descending == table.columns[columns[0]].descending;
  });
}

// `columns` are the clustering columns from number `first` on, in order.
bool StartsAt(const BoundRelation& relation, size_t first, size_t clustering_begin) {
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    if (relation.columns[i] != clustering_begin + first + i) return false;
  }
  return true;
}

bool IsKey(const TableDefinition& table, const BoundRelation& relation, ColumnKind kind) {
  return table.columns[relation.columns[0]].kind == kind;
}

// ---- SELECT

// The index that finds the rows of `relation` in storage, by a value: 2 a local one, 1 a global
// one, 0 none.
int IndexScore(const TableDefinition& table, const BoundRelation& relation,
               bool is_single_partition) {
  if (!IsKey(table, relation, ColumnKind::kRegular)) return 0;
  int score = 0;
  for (const IndexDefinition& index : table.indexes) {
    if (index.part != IndexedPart::kValue || !Supports(table, index, relation)) continue;
    score = std::max(score, index.local ? (is_single_partition ? 2 : 0) : 1);
  }
  return score;
}

std::optional<IndexLookup> TakeIndexed(const TableDefinition& table, bool is_single_partition,
                                       BoundWhere& where) {
  size_t best = 0;
  int best_score = 0;
  for (size_t i = 0; i < where.relations.size(); ++i) {
    const int score = IndexScore(table, where.relations[i], is_single_partition);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  if (best_score == 0) return std::nullopt;
  BoundRelation& relation = where.relations[best];
  IndexLookup lookup{table.columns[relation.columns[0]].position,
                     std::move(relation.alternatives[0][0])};
  where.relations.erase(where.relations.begin() + static_cast<ptrdiff_t>(best));
  return lookup;
}

// Why a relation on a clustering column is left over: words for the error.
CqlError NotAPrefix(const TableDefinition& table, const ClusteringRestriction& taken,
                    const BoundRelation& left) {
  const std::string name = ShownInQuotes(table.columns[left.columns[0]].name);
  const size_t begin = ClusteringBegin(table);
  const size_t prefix = taken.prefix_columns();
  const std::string preceding = ShownInQuotes(table.columns[begin + prefix].name);
  if (!taken.slices.empty()) {
    return CqlError::Invalid("Clustering column " + name +
                             " cannot be restricted (preceding column " + preceding +
                             " is restricted by a non-EQ relation)");
  }
  return CqlError::Invalid("PRIMARY KEY column " + name +
                           " cannot be restricted as preceding column " + preceding +
                           " is not restricted");
}

// The restricted clustering columns behind the prefix must be those next to it.
CqlStatus CheckNoGap(const TableDefinition& table, const ClusteringRestriction& taken,
                     const BoundWhere& where) {
  std::set<size_t> left;
  for (const BoundRelation& relation : where.relations) {
    if (!IsKey(table, relation, ColumnKind::kClustering)) continue;
    left.insert(relation.columns.begin(), relation.columns.end());
  }
  size_t next = ClusteringBegin(table) + taken.prefix_columns();
  for (const size_t column : left) {
    if (column > next) {
      return CqlError::Invalid("PRIMARY KEY column " + ShownInQuotes(table.columns[column].name) +
                               " cannot be restricted as preceding column " +
                               ShownInQuotes(table.columns[next].name) + " is not restricted");
    }
    next = column + 1;
  }
  return {};
}

bool HasIn(const std::vector<KeyAlternatives>& key) {
  return std::ranges::any_of(key, [](const KeyAlternatives& part) { return part.is_in; });
}
bool IsSinglePartition(const std::vector<KeyAlternatives>& key) {
  return !key.empty() && !HasIn(key);
}

CqlStatus CheckToken(const TableDefinition& table, const BoundWhere& where) {
  if (where.token_relation == nullptr) return {};
  for (const BoundRelation& relation : where.relations) {
    if (!IsKey(table, relation, ColumnKind::kPartitionKey)) continue;
    std::string names;
    for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
      names += (names.empty() ? "" : ", ") + column->name;
    }
    return CqlError::Invalid(
        "Columns " + ShownInQuotes(names) +
        " cannot be restricted by both a normal relation and a token relation");
  }
  return {};
}

CqlStatus CheckTuplesAreNotMixed(const TableDefinition& table, const BoundWhere& where) {
  bool single = false;
  bool several = false;
  for (const BoundRelation& relation : where.relations) {
    if (!IsKey(table, relation, ColumnKind::kClustering)) continue;
    (relation.relation->target == Relation::Target::kTuple ? several : single) = true;
  }
  if (!single || !several) return {};
  return CqlError::Invalid(
      "Mixing single column relations and multi column relations on clustering columns is not "
      "allowed");
}

// What is left over is for filters; is that allowed without ALLOW FILTERING?
CqlStatus CheckLeftovers(const TableDefinition& table, const SelectRestrictions& restrictions,
                         const IndexUse& use, const BoundWhere& where) {
  for (const BoundRelation& relation : where.relations) {
    // A slice over columns of both directions is told by a look at each row, but needs no leave.
    if (IsKey(table, relation, ColumnKind::kClustering) && relation.is_slice() &&
        !OneDirection(table, relation.columns) &&
        StartsAt(relation, restrictions.clustering.prefix_columns(), ClusteringBegin(table))) {
      continue;
    }
    switch (table.columns[relation.columns[0]].kind) {
      case ColumnKind::kPartitionKey:
        if (!relation.is_equality()) {
          return CqlError::Invalid(
              "Only EQ and IN relation are supported on the partition key (unless you use the "
              "token() function or ALLOW FILTERING)");
        }
        break;
      case ColumnKind::kClustering:
        if (relation.is_contains() && !use.of_clustering) {
          return CqlError::Invalid(
              "Cannot restrict clustering columns by a CONTAINS relation without a secondary index "
              "or filtering");
        }
        if (use.of_clustering && restrictions.clustering.slices.empty()) break;
        if (restrictions.clustering.prefix_columns() == table.CountOf(ColumnKind::kClustering)) {
          break;
        }
        if (restrictions.clustering.slices.empty() &&
            std::ranges::any_of(where.relations, &BoundRelation::always_filters)) {
          LS_RETURN_IF_ERROR(CheckNoGap(table, restrictions.clustering, where));
          break;
        }
        return NotAPrefix(table, restrictions.clustering, relation);
      case ColumnKind::kStatic:
      case ColumnKind::kRegular:
        break;
    }
    if (!use.used) return NeedsFiltering();
  }
  if (!use.used) return {};
  if (HasIn(restrictions.partition_key)) {
    return CqlError::Invalid(
        "Index cannot be used if the partition key is restricted with IN clause. This query would "
        "require filtering instead.");
  }
  return {};
}

}  // namespace

CqlError NeedsFiltering() { return CqlError::Invalid(std::string(kNeedsFiltering)); }

bool RestrictsClustering(const TableDefinition& table, const BoundWhere& where) {
  return std::ranges::any_of(where.relations, [&](const BoundRelation& relation) {
    return IsKey(table, relation, ColumnKind::kClustering);
  });
}

std::vector<KeyAlternatives> TakePartitionKey(const TableDefinition& table, BoundWhere& where) {
  const size_t columns = table.CountOf(ColumnKind::kPartitionKey);
  std::vector<size_t> chosen;
  for (size_t column = 0; column < columns; ++column) {
    const auto at = std::ranges::find_if(where.relations, [&](const BoundRelation& relation) {
      return relation.columns[0] == column && relation.is_equality();
    });
    if (at == where.relations.end()) return {};
    chosen.push_back(static_cast<size_t>(at - where.relations.begin()));
  }
  std::vector<KeyAlternatives> key;
  for (const size_t index : chosen) key.push_back(ToAlternatives(where.relations[index]));
  std::ranges::sort(chosen, std::greater());
  for (const size_t index : chosen) {
    where.relations.erase(where.relations.begin() + static_cast<ptrdiff_t>(index));
  }
  return key;
}

ClusteringRestriction TakeClustering(const TableDefinition& table, BoundWhere& where) {
  ClusteringRestriction taken;
  const size_t begin = ClusteringBegin(table);
  const size_t columns = table.CountOf(ColumnKind::kClustering);
  size_t next = 0;
  while (next < columns) {
    const auto at = std::ranges::find_if(where.relations, [&](const BoundRelation& relation) {
      return relation.is_equality() && StartsAt(relation, next, begin);
    });
    if (at == where.relations.end()) break;
    next += at->columns.size();
    taken.prefix.push_back(ToAlternatives(std::move(*at)));
    where.relations.erase(at);
  }
  std::erase_if(where.relations, [&](BoundRelation& relation) {
    if (next == columns || !relation.is_slice() || !StartsAt(relation, next, begin) ||
        !OneDirection(table, relation.columns)) {
      return false;
    }
    ClusteringSlice slice;
    slice.is_lower = relation.op == RelationOperator::kGreater ||
                     relation.op == RelationOperator::kGreaterOrEqual;
    slice.inclusive = relation.op == RelationOperator::kGreaterOrEqual ||
                      relation.op == RelationOperator::kLessOrEqual;
    slice.values = std::move(relation.alternatives[0]);
    taken.slices.push_back(std::move(slice));
    return true;
  });
  return taken;
}
CqlOr<SelectRestrictions> RestrictSelect(const SelectStatement& statement,
                                         const TableDefinition& table, bool only_statics,
                                         Binder& binder) {
  LS_ASSIGN_OR_RETURN(BoundWhere where, BindWhere(statement.where, table, binder));
  LS_RETURN_IF_ERROR(CheckToken(table, where));
  LS_RETURN_IF_ERROR(CheckTuplesAreNotMixed(table, where));
  if (only_statics && RestrictsClustering(table, where)) {
    return CqlError::Invalid(
        "Cannot restrict clustering columns when selecting only static columns");
  }
  SelectRestrictions restrictions;
  if (table.is_virtual) {
    // Rows are made when they are read: all that counts is which of them are wanted.
    for (const BoundRelation& relation : where.relations) {
      restrictions.filters.push_back(ToFilter(relation));
    }
  }
  const IndexUse use = FindIndexUse(table, where);
  restrictions.uses_index = use.used;
  restrictions.token_bounds = std::move(where.token_bounds);
  restrictions.partition_key = TakePartitionKey(table, where);
  restrictions.clustering = TakeClustering(table, where);
  if (use.used || statement.allow_filtering) {
    restrictions.index = TakeIndexed(table, IsSinglePartition(restrictions.partition_key), where);
  }
  if (!statement.allow_filtering) {
    LS_RETURN_IF_ERROR(CheckLeftovers(table, restrictions, use, where));
    restrictions.needs_filtering = use.used && use.needs_filtering;
    restrictions.warns_of_filtering =
        restrictions.partition_key.empty() && !use.used && !restrictions.clustering.empty();
  }
  if (table.is_virtual) return restrictions;
  for (BoundRelation& relation : where.relations) {
    restrictions.filters.push_back(ToFilter(std::move(relation)));
  }
  return restrictions;
}

}  // namespace liststore
