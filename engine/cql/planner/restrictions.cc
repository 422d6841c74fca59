#include "engine/cql/planner/restrictions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/planner/index_use.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore::cql {
namespace {

constexpr std::string_view kNeedsFiltering =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you want to execute this query despite the performance unpredictability, use "
    "ALLOW FILTERING";

// ---- Keys

bool IsOf(const TableDefinition& table, const BoundRelation& relation, ColumnKind kind) {
  return table.columns[relation.columns[0]].kind == kind;
}

// Takes the relations for which `takes` holds, in their order.
template <typename Takes>
std::vector<BoundRelation> TakeIf(std::vector<BoundRelation>& relations, Takes&& takes) {
  const auto rest =
      std::stable_partition(relations.begin(), relations.end(),
                            [&](const BoundRelation& relation) { return !takes(relation); });
  std::vector<BoundRelation> taken(std::make_move_iterator(rest),
                                   std::make_move_iterator(relations.end()));
  relations.erase(rest, relations.end());
  return taken;
}

// `relations` are on the same columns, and one of them is an equality. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, possible_lhs_values.
KeyAlternatives ToAlternatives(std::vector<BoundRelation> relations) {
  const auto base = std::ranges::find_if(relations, &BoundRelation::is_equality);
  KeyAlternatives key;
  key.columns = base->columns.size();
  key.is_tuple = base->is_tuple();
  key.alternatives = std::move(base->alternatives);
  key.list = std::move(base->list);
  key.list_is_of_tuples = base->list_is_of_tuples;
  key.is_in = base->op == RelationOperator::kIn || relations.size() > 1;
  for (auto relation = relations.begin(); relation != relations.end(); ++relation) {
    if (relation != base) key.also.push_back(ToFilter(std::move(*relation)));
  }
  return key;
}

ClusteringSlice ToSlice(BoundRelation relation) {
  ClusteringSlice slice;
  slice.is_lower =
      relation.op == RelationOperator::kGreater || relation.op == RelationOperator::kGreaterOrEqual;
  slice.inclusive = relation.op == RelationOperator::kGreaterOrEqual ||
                    relation.op == RelationOperator::kLessOrEqual;
  slice.is_tuple = relation.is_tuple();
  slice.in_clustering_order = relation.relation->in_clustering_order;
  slice.values = std::move(relation.alternatives[0]);
  return slice;
}

// True when tuples of these clustering columns compare as the table orders them.
bool OneDirection(const TableDefinition& table, const std::vector<uint16_t>& columns) {
  return std::ranges::all_of(columns, [&](uint16_t column) {
    return table.columns[column].descending == table.columns[columns[0]].descending;
  });
}

// Tuples, and single columns where the dialect has them side by side: one after the other, until
// slices end it or a column has nothing.
ClusteringRestriction TakeTuples(const TableDefinition& table,
                                 const settings::StatementSettings& settings,
                                 std::vector<BoundRelation>& relations) {
  ClusteringRestriction taken;
  size_t next = table.CountOf(ColumnKind::kPartitionKey);
  while (taken.slices.empty()) {
    std::vector<BoundRelation> of_next = TakeIf(relations, [&](const BoundRelation& relation) {
      return relation.columns[0] == next && !relation.always_filters() &&
             IsOf(table, relation, ColumnKind::kClustering);
    });
    if (of_next.empty()) break;
    if (of_next[0].is_equality()) {
      taken.prefix.push_back(ToAlternatives(std::move(of_next)));
      taken.prefix.back().keys_max = settings.clustering_keys_max;
      taken.is_one_range &= !taken.prefix.back().is_in;
      next += taken.prefix.back().columns;
      continue;
    }
    for (BoundRelation& relation : of_next) {
      taken.slices_run_across |=
          !relation.relation->in_clustering_order && !OneDirection(table, relation.columns);
      taken.slices.push_back(ToSlice(std::move(relation)));
    }
    taken.is_one_range &= !taken.slices_run_across;
  }
  return taken;
}

// ---- SELECT

// The index that finds the rows of `relation` in storage, by a value: 2 a local one, 1 a global
// one, 0 none.
int IndexScore(const TableDefinition& table, const BoundRelation& relation,
               bool is_single_partition) {
  if (!IsOf(table, relation, ColumnKind::kRegular)) return 0;
  int score = 0;
  for (const IndexDefinition& index : table.indexes) {
    if (index.part != IndexedPart::kValue || !Supports(table, index, relation)) continue;
    score = std::max(score, index.local ? (is_single_partition ? 2 : 0) : 1);
  }
  return score;
}

std::optional<IndexLookup> TakeIndexed(const TableDefinition& table, bool is_single_partition,
                                       std::vector<BoundRelation>& relations) {
  size_t best = 0;
  int best_score = 0;
  for (size_t i = 0; i < relations.size(); ++i) {
    const int score = IndexScore(table, relations[i], is_single_partition);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  if (best_score == 0) return std::nullopt;
  BoundRelation& relation = relations[best];
  IndexLookup lookup{table.columns[relation.columns[0]].position,
                     std::move(relation.alternatives[0][0])};
  relations.erase(relations.begin() + static_cast<ptrdiff_t>(best));
  return lookup;
}

// What is wrong with all of it together, in the order of the constructor of
// statement_restrictions.
CqlStatus CheckSelect(const SelectStatement& statement, const TableDefinition& table,
                      const WhereClause& where, const IndexUse& use, bool only_statics) {
  const bool filters = statement.allow_filtering;
  if (!filters && where.PartitionKeyNeedsFiltering() && !use.of_partition_key) {
    return NeedsFiltering();
  }
  if (only_statics && where.Restricts(ColumnKind::kClustering)) {
    return CqlError::Invalid(
        "Cannot restrict clustering columns when selecting only static columns");
  }
  if (!filters) {
    LS_RETURN_IF_ERROR(CheckClusteringOrder(table, where, /*contains=*/use.of_clustering,
                                            /*gaps=*/use.of_clustering));
  }
  const bool has_in = where.HasIn(ColumnKind::kPartitionKey);
  if (!filters && where.RestrictedValues() > 0 && (!use.of_values || has_in)) {
    return NeedsFiltering();
  }
  if (!filters && use.used && has_in) {
    return CqlError::Invalid(
        "Index cannot be used if the partition key is restricted with IN clause. This query would "
        "require filtering instead.");
  }
  return {};
}

// Whether ALLOW FILTERING is missing. What names its partitions and uses no index is never asked
// for it. Source: ScyllaDB cql3/statements/select_statement.cc, check_needs_filtering.
bool LacksAllowFiltering(const WhereClause& where, const IndexUse& use) {
  // NOT IN, which that source does not have.
  const bool excludes = std::ranges::any_of(where.relations(), [&](const BoundRelation& relation) {
    return relation.op == RelationOperator::kNotIn;
  });
  if (excludes) return true;
  return (where.ReadsKeyRange() || use.used) && use.needs_filtering;
}

// ---- Where Cassandra differs. Source: Cassandra cql3/restrictions/StatementRestrictions.java

// An index is used, even where the key tells all.
bool IsByIndex(const TableDefinition& table, const IndexUse& use, const BoundRelation& relation) {
  if (table.columns[relation.columns[0]].is_key() && !use.used) return false;
  return std::ranges::any_of(table.indexes, [&](const IndexDefinition& index) {
    return Supports(table, index, relation);
  });
}

CqlStatus RestrictAsCassandra(const Dialect& dialect, const TableDefinition& table,
                              const IndexUse& use, const WhereClause& where,
                              std::vector<Operand>& not_empty) {
  std::vector<const BoundRelation*> by_index;
  for (const BoundRelation& relation : where.relations()) {
    if (IsByIndex(table, use, relation)) by_index.push_back(&relation);
  }
  const bool has_in = where.HasIn(ColumnKind::kPartitionKey);
  if (dialect.refuses_index_beside_in && !by_index.empty() && has_in) {
    return CqlError::Invalid(
        "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported");
  }
  // Of several Cassandra takes the one that it expects to find fewer rows by.
  if (dialect.refuses_empty_indexed && by_index.size() == 1 && !by_index[0]->element) {
    not_empty.push_back(by_index[0]->alternatives[0][0]);
  }
  if (!dialect.refuses_empty_keys || table.CountOf(ColumnKind::kPartitionKey) != 1) return {};
  for (const BoundRelation& relation : where.relations()) {
    if (!relation.is_equality() || !IsOf(table, relation, ColumnKind::kPartitionKey)) continue;
    if (relation.list) not_empty.push_back(*relation.list);
    for (const std::vector<Operand>& alternative : relation.alternatives) {
      not_empty.insert(not_empty.end(), alternative.begin(), alternative.end());
    }
  }
  return {};
}

// MultiColumnRestriction.java, addToRowFilter.
CqlStatus CheckFilteredTuples(const std::vector<BoundRelation>& filters) {
  for (const BoundRelation& relation : filters) {
    if (!relation.is_tuple()) continue;
    if (relation.is_slice()) {
      return CqlError::Invalid("Multi-column slice restrictions cannot be used for filtering.");
    }
    if (relation.op == RelationOperator::kIn) {
      return CqlError::Invalid("IN restrictions are not supported on indexed columns");
    }
  }
  return {};
}

}  // namespace

CqlError NeedsFiltering() { return CqlError::Invalid(std::string(kNeedsFiltering)); }

std::vector<KeyAlternatives> TakePartitionKey(const TableDefinition& table,
                                              const settings::StatementSettings& settings,
                                              std::vector<BoundRelation>& relations) {
  const size_t columns = table.CountOf(ColumnKind::kPartitionKey);
  for (size_t column = 0; column < columns; ++column) {
    const bool equals = std::ranges::any_of(relations, [&](const BoundRelation& relation) {
      return relation.columns[0] == column && relation.is_equality();
    });
    if (!equals) return {};
  }
  std::vector<KeyAlternatives> key;
  for (size_t column = 0; column < columns; ++column) {
    key.push_back(ToAlternatives(TakeIf(relations, [&](const BoundRelation& relation) {
      return relation.columns[0] == column && relation.is_equality();
    })));
    key.back().keys_max = settings.partition_keys_max;
  }
  return key;
}

// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc,
// extract_clustering_prefix_restrictions.
ClusteringRestriction TakeClustering(const TableDefinition& table,
                                     const settings::StatementSettings& settings,
                                     std::vector<BoundRelation>& relations) {
  if (std::ranges::any_of(relations, &BoundRelation::is_tuple)) {
    return TakeTuples(table, settings, relations);
  }
  ClusteringRestriction taken;
  const size_t begin = table.CountOf(ColumnKind::kPartitionKey);
  const size_t end = begin + table.CountOf(ColumnKind::kClustering);
  for (size_t column = begin; column < end; ++column) {
    bool equals = false;
    bool slices = false;
    bool filters = false;
    for (const BoundRelation& relation : relations) {
      if (relation.columns[0] != column) continue;
      equals |= relation.is_equality();
      slices |= relation.is_slice();
      filters |= relation.always_filters();
    }
    if (filters || (!equals && !slices)) break;
    std::vector<BoundRelation> of_column = TakeIf(
        relations, [&](const BoundRelation& relation) { return relation.columns[0] == column; });
    if (equals) {
      taken.prefix.push_back(ToAlternatives(std::move(of_column)));
      taken.prefix.back().keys_max = settings.clustering_keys_max;
      taken.is_one_range &= !taken.prefix.back().is_in;
    } else {
      for (BoundRelation& relation : of_column) {
        taken.slices.push_back(ToSlice(std::move(relation)));
      }
    }
    if (slices) break;
  }
  return taken;
}

// process_clustering_columns_restrictions.
CqlStatus CheckClusteringOrder(const TableDefinition& table, const WhereClause& where,
                               bool contains, bool gaps) {
  if (!contains && where.Any(ColumnKind::kClustering, &BoundRelation::is_contains)) {
    return CqlError::Invalid(
        "Cannot restrict clustering columns by a CONTAINS relation without a secondary index or "
        "filtering");
  }
  if (gaps || !where.ClusteringNeedsFiltering()) return {};
  size_t next = table.CountOf(ColumnKind::kPartitionKey);
  for (const auto& [column, relations] : where.ByColumn()) {
    if (table.columns[column].kind != ColumnKind::kClustering) continue;
    if (column != next) {
      return CqlError::Invalid("PRIMARY KEY column " + ShownInQuotes(table.columns[column].name) +
                               " cannot be restricted as preceding column " +
                               ShownInQuotes(table.columns[next].name) + " is not restricted");
    }
    ++next;
  }
  return {};
}

CqlOr<SelectRestrictions> RestrictSelect(const SelectStatement& statement,
                                         const TableDefinition& table, bool only_statics,
                                         Binder& binder) {
  LS_ASSIGN_OR_RETURN(WhereClause where,
                      WhereClause::Bind(statement.where, table, statement.allow_filtering, binder));
  const IndexUse use = FindIndexUse(table, where);
  SelectRestrictions restrictions;
  const Dialect& dialect = binder.dialect();
  if (dialect.is_cassandra) {
    LS_RETURN_IF_ERROR(RestrictAsCassandra(dialect, table, use, where, restrictions.not_empty));
  }
  LS_RETURN_IF_ERROR(CheckSelect(statement, table, where, use, only_statics));
  restrictions.uses_index = use.used;
  restrictions.token_bounds = where.TokenBounds();
  if (!statement.allow_filtering) {
    restrictions.needs_filtering = LacksAllowFiltering(where, use);
    // Source: ScyllaDB cql3/statements/select_statement.cc, needs_allow_filtering_anyway.
    const bool is_slice_of_all =
        (where.has_token() || !where.Restricts(ColumnKind::kPartitionKey)) &&
        where.Restricts(ColumnKind::kClustering) && !use.used;
    const settings::RestrictionMode mode = binder.settings().strict_allow_filtering;
    restrictions.needs_filtering |=
        is_slice_of_all &&
        (mode == settings::RestrictionMode::kRefused || dialect.slices_of_all_need_filtering);
    restrictions.warns_of_filtering = is_slice_of_all && mode == settings::RestrictionMode::kWarned;
  }
  if (table.is_virtual) {
    // Rows are made when they are read: all that counts is which of them are wanted.
    for (const BoundRelation& relation : where.relations()) {
      restrictions.filters.push_back(ToFilter(relation));
    }
  }
  const bool names_partition = where.NamesOnePartition();
  std::vector<BoundRelation> relations = std::move(where).TakeRelations();
  restrictions.partition_key = TakePartitionKey(table, binder.settings(), relations);
  restrictions.clustering = TakeClustering(table, binder.settings(), relations);
  if (use.used || statement.allow_filtering) {
    restrictions.index = TakeIndexed(table, names_partition, relations);
  }
  if (table.is_virtual) return restrictions;
  if (dialect.tuples_behind_columns) LS_RETURN_IF_ERROR(CheckFilteredTuples(relations));
  for (BoundRelation& relation : relations) {
    restrictions.filters.push_back(ToFilter(std::move(relation)));
  }
  return restrictions;
}

}  // namespace liststore::cql
