#include "engine/cql/planner/where_clause.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/marshal_name.h"

namespace liststore::cql {
namespace {

bool IsLowerBound(const BoundRelation& relation) {
  return relation.op == RelationOperator::kGreater ||
         relation.op == RelationOperator::kGreaterOrEqual;
}

// The columns of both, in the form of ScyllaDB's messages (expression.cc, get_columns_in_commons).
std::string InCommon(const TableDefinition& table, const std::set<uint16_t>& columns,
                     const BoundRelation& other) {
  std::string names;
  for (const uint16_t column : other.columns) {
    if (!columns.contains(column)) continue;
    names += (names.empty() ? "" : " ,") + table.columns[column].name;
  }
  return names;
}

CqlError PrecededBySlice(std::string_view what, const ColumnDefinition& column,
                         const ColumnDefinition& preceding) {
  return CqlError::Invalid(std::string(what) + ShownInQuotes(column.name) +
                           " cannot be restricted (preceding column " +
                           ShownInQuotes(preceding.name) + " is restricted by a non-EQ relation)");
}

// ---- Where Cassandra differs. Source: Cassandra cql3/restrictions

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// TokenRestriction.java, doMergeWith.
CqlStatus CheckOneBound(const TableDefinition& table, const std::vector<BoundRelation>& before,
                        const BoundRelation& next) {
  std::vector<TokenBound> bounds = next.token_bounds;
  for (const BoundRelation& relation : before) {
    bounds.insert(bounds.end(), relation.token_bounds.begin(), relation.token_bounds.end());
  }
  for (const bool is_lower : {true, false}) {
    if (std::ranges::count(bounds, is_lower, &TokenBound::is_lower) <= 1) continue;
    std::vector<std::string> names;
    for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
      names.push_back(column->name);
    }
    return CqlError::Invalid("More than one restriction was found for the " +
                             std::string(is_lower ? "start" : "end") + " bound on " +
                             Joined(names));
  }
  return {};
}

// Two relations on the same columns: SingleColumnRestriction.java, MultiColumnRestriction.java,
// doMergeWith. `names`: of the columns that they have in common; `later`: of the column that the
// later one of them begins with.
CqlStatus CheckTogether(const BoundRelation& first, const BoundRelation& second,
                        const std::string& names, const std::string& later) {
  const auto is_of_elements = [](const BoundRelation& relation) {
    return relation.is_contains() || relation.element.has_value();
  };
  if (is_of_elements(first)) {
    if (is_of_elements(second)) return {};
    return CqlError::Invalid("Collection column " + names +
                             " can only be restricted by CONTAINS, CONTAINS KEY, or map-entry "
                             "equality");
  }
  if (first.is_equality()) {
    return CqlError::Invalid(names +
                             " cannot be restricted by more than one relation if it includes " +
                             (first.op == RelationOperator::kIn ? "a IN" : "an Equal"));
  }
  if (!first.is_slice()) return {};
  if (!second.is_slice()) {
    return CqlError::Invalid("Column \"" + names +
                             "\" cannot be restricted by both an equality and an inequality "
                             "relation");
  }
  if (first.columns[0] != second.columns[0]) {
    return CqlError::Invalid("Column \"" + later +
                             "\" cannot be restricted by two inequalities not starting with the "
                             "same column");
  }
  if (IsLowerBound(first) != IsLowerBound(second)) return {};
  return CqlError::Invalid("More than one restriction was found for the " +
                           std::string(IsLowerBound(first) ? "start" : "end") + " bound on " +
                           names);
}

CqlStatus CheckOneRelation(const TableDefinition& table, const std::vector<BoundRelation>& before,
                           const BoundRelation& next) {
  for (const BoundRelation& relation : before) {
    std::vector<std::string> names;
    for (const uint16_t column : relation.columns) {
      if (std::ranges::count(next.columns, column) == 0) continue;
      names.push_back(table.columns[column].name);
    }
    if (names.empty()) continue;
    const std::string& later = table.columns[std::max(relation.columns[0], next.columns[0])].name;
    LS_RETURN_IF_ERROR(CheckTogether(relation, next, Joined(names), later));
  }
  return {};
}

CqlError MixesTuples() {
  return CqlError::Invalid(
      "Mixing single column relations and multi column relations on clustering columns is not "
      "allowed");
}

}  // namespace

CqlOr<WhereClause> WhereClause::Bind(const std::vector<Relation>& where,
                                     const TableDefinition& table, bool allow_filtering,
                                     Binder& binder) {
  WhereClause clause(table, allow_filtering, binder.dialect().tuples_behind_columns);
  for (const Relation& relation : where) {
    LS_ASSIGN_OR_RETURN(BoundRelation next, BindRelation(relation, table, binder));
    if (binder.dialect().one_relation_for_a_column) {
      LS_RETURN_IF_ERROR(next.is_token() ? CheckOneBound(table, clause.token_relations_, next)
                                         : CheckOneRelation(table, clause.relations_, next));
    }
    LS_RETURN_IF_ERROR(clause.Check(next));
    (next.is_token() ? clause.token_relations_ : clause.relations_).push_back(std::move(next));
  }
  return clause;
}

// add_restriction.
CqlStatus WhereClause::Check(const BoundRelation& next) const {
  if (next.op == RelationOperator::kIsNotNull) {
    return CqlError::Invalid("restriction '" + table_->columns[next.columns[0]].name +
                             " IS NOT null' is only supported in materialized view creation");
  }
  if (next.is_tuple() && !tuples_behind_columns_) return CheckTuple(next);
  if (next.is_token()) return CheckToken();
  if (IsOf(next, ColumnKind::kPartitionKey)) return CheckPartitionKey(next);
  if (IsOf(next, ColumnKind::kClustering)) return CheckClustering(next);
  return {};
}

// ScyllaDB has a debugging form of columns between the quotes (schema/schema.cc).
CqlError WhereClause::NormalAndToken() const {
  std::string names;
  const auto restricted = ByColumn();
  for (const ColumnDefinition* column : table_->ColumnsOf(ColumnKind::kPartitionKey)) {
    // The partition key comes first in a table.
    if (!has_token() && !restricted.contains(column->position)) continue;
    names += (names.empty() ? "" : ", ") + ("ColumnDefinition{name=" + column->name) +
             ", type=" + MarshalTypeName(column->type) +
             ", kind=PARTITION_KEY, componentIndex=" + std::to_string(column->position) +
             ", droppedAt=-9223372036854775808}";
  }
  return CqlError::Invalid("Columns " + ShownInQuotes(names) +
                           " cannot be restricted by both a normal relation and a token relation");
}

// add_single_column_parition_key_restriction.
CqlStatus WhereClause::CheckPartitionKey(const BoundRelation& next) const {
  if (!next.is_equality() && !allow_filtering_) {
    return CqlError::Invalid(
        "Only EQ and IN relation are supported on the partition key (unless you use the token() "
        "function or ALLOW FILTERING)");
  }
  if (has_token()) return NormalAndToken();
  return {};
}

// add_token_partition_key_restriction.
CqlStatus WhereClause::CheckToken() const {
  if (!has_token() && Restricts(ColumnKind::kPartitionKey)) return NormalAndToken();
  return {};
}

// add_single_column_clustering_key_restriction. Of tuples their first column counts, as in Cassandra.
CqlStatus WhereClause::CheckClustering(const BoundRelation& next) const {
  if (has_tuples() && !tuples_behind_columns_) return MixesTuples();
  if (allow_filtering_) return {};
  uint16_t last = 0;
  bool any_slice = false;
  for (const BoundRelation& relation : relations_) {
    if (!IsOf(relation, ColumnKind::kClustering)) continue;
    last = std::max(last, relation.columns[0]);
    any_slice |= relation.is_slice();
  }
  if (last == 0) return {};  // the partition key comes first
  const uint16_t column = next.columns[0];
  if (column > last && any_slice) {
    return PrecededBySlice("Clustering column ", table_->columns[column], table_->columns[last]);
  }
  if (column < last && next.is_slice()) {
    return PrecededBySlice("PRIMARY KEY column ", table_->columns[last], table_->columns[column]);
  }
  return {};
}

// add_multi_column_clustering_key_restriction.
CqlStatus WhereClause::CheckTuple(const BoundRelation& next) const {
  if (!Restricts(ColumnKind::kClustering)) return {};
  if (!has_tuples()) return MixesTuples();
  std::set<uint16_t> columns;
  const BoundRelation* first = nullptr;
  for (const BoundRelation& relation : relations_) {
    if (!relation.is_tuple()) continue;
    if (first == nullptr) first = &relation;
    columns.insert(relation.columns.begin(), relation.columns.end());
  }
  const std::string common = InCommon(*table_, columns, next);
  if (next.is_equality()) {
    return CqlError::Invalid(common +
                             " cannot be restricted by more than one relation if it includes a" +
                             (next.op == RelationOperator::kIn ? " IN" : "n Equal"));
  }
  if (!next.is_slice()) return {};
  if (!Any(ColumnKind::kClustering, &BoundRelation::is_slice)) {
    return CqlError::Invalid("Column " + ShownInQuotes(common) +
                             " cannot be restricted by both an equality and an inequality "
                             "relation");
  }
  if (first->relation->in_clustering_order != next.relation->in_clustering_order) {
    const auto name = [](const BoundRelation& relation) -> std::string {
      return relation.relation->in_clustering_order ? "SCYLLA_CLUSTERING_BOUND" : "plain";
    };
    return CqlError::Invalid("Invalid combination of restrictions (" + name(*first) + " / " +
                             name(next) + ")");
  }
  if (!first->is_slice() || IsLowerBound(next) != IsLowerBound(*first)) return {};
  const std::set<uint16_t> of_first(first->columns.begin(), first->columns.end());
  return CqlError::Invalid(std::string("More than one restriction was found for the ") +
                           (IsLowerBound(next) ? "start" : "end") + " bound on " +
                           InCommon(*table_, of_first, next));
}

// ---- What they say together

bool WhereClause::AnyTuple(const std::vector<BoundRelation>& relations) {
  return std::ranges::any_of(relations, &BoundRelation::is_tuple);
}

std::vector<TokenBound> WhereClause::TokenBounds() const {
  std::vector<TokenBound> bounds;
  for (const BoundRelation& relation : token_relations_) {
    bounds.insert(bounds.end(), relation.token_bounds.begin(), relation.token_bounds.end());
  }
  return bounds;
}

std::map<uint16_t, WhereClause::Relations> WhereClause::ByColumn() const {
  std::map<uint16_t, Relations> columns;
  for (const BoundRelation& relation : relations_) {
    for (const uint16_t column : relation.columns) columns[column].push_back(&relation);
  }
  return columns;
}

size_t WhereClause::Restricted(ColumnKind kind) const {
  std::set<uint16_t> columns;
  for (const BoundRelation& relation : relations_) {
    if (IsOf(relation, kind)) columns.insert(relation.columns.begin(), relation.columns.end());
  }
  return columns.size();
}

bool WhereClause::Any(ColumnKind kind, bool (BoundRelation::*is)() const) const {
  return std::ranges::any_of(relations_, [&](const BoundRelation& relation) {
    return IsOf(relation, kind) && (relation.*is)();
  });
}

bool WhereClause::HasIn(ColumnKind kind) const {
  return std::ranges::any_of(relations_, [&](const BoundRelation& relation) {
    return IsOf(relation, kind) && relation.op == RelationOperator::kIn;
  });
}

// token_known: relations on the token are relations on all columns of the key.
bool WhereClause::FixesToken() const {
  if (!has_token()) return NamesOnePartition();
  return std::ranges::all_of(token_relations_, [](const BoundRelation& relation) {
    return relation.op == RelationOperator::kEqual;
  });
}

bool WhereClause::NamesOnePartition() const {
  return !has_token() &&
         Restricted(ColumnKind::kPartitionKey) == table_->CountOf(ColumnKind::kPartitionKey) &&
         std::ranges::none_of(relations_, [&](const BoundRelation& relation) {
           return IsOf(relation, ColumnKind::kPartitionKey) &&
                  relation.op != RelationOperator::kEqual;
         });
}

// pk_restrictions_need_filtering.
bool WhereClause::PartitionKeyNeedsFiltering() const {
  const size_t restricted = Restricted(ColumnKind::kPartitionKey);
  if (restricted == 0) return false;
  return restricted < table_->CountOf(ColumnKind::kPartitionKey) ||
         std::ranges::any_of(relations_, [&](const BoundRelation& relation) {
           return IsOf(relation, ColumnKind::kPartitionKey) && !relation.is_equality();
         });
}

// clustering_key_restrictions_need_filtering; of tuples behind columns Cassandra
// cql3/restrictions/ClusteringColumnRestrictions.java, needFiltering.
bool WhereClause::ClusteringNeedsFiltering() const {
  if (has_tuples() && !tuples_behind_columns_) return false;
  size_t next = table_->CountOf(ColumnKind::kPartitionKey);
  for (const auto& [column, relations] : ByColumn()) {
    if (table_->columns[column].kind != ColumnKind::kClustering) continue;
    if (std::ranges::any_of(relations, &BoundRelation::always_filters)) return true;
    // A slice of tuples is judged at its first column.
    if (std::ranges::any_of(relations, [first = column](const BoundRelation* relation) {
          return relation->is_slice() && relation->columns[0] < first;
        })) {
      continue;
    }
    if (column != next) return true;
    const bool sliced = std::ranges::any_of(relations, &BoundRelation::is_slice);
    next = sliced ? SIZE_MAX : next + 1;
  }
  return false;
}

}  // namespace liststore::cql
