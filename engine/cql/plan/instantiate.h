// Plan + bound values -> the keys and ranges that commands are made of.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_INSTANTIATE_H_
#define LISTSTORE_ENGINE_CQL_PLAN_INSTANTIATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/key_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/model/clustering_key.h"
#include "engine/model/partition_key.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// Rows with lower <= encoded key < upper (clustering_encoding.h).
struct EncodedRange {
  std::string lower;
  std::string upper;
  bool to_end = false;  // `upper` does not count
  // It holds this one key, `lower`, whole.
  bool is_one_key = false;
  std::string work;  // memory of what becomes a bound, kept when a range is encoded again

  ClusteringRange View(bool table_packs_item_keys) const {
    return {ClusteringBound::At(lower, table_packs_item_keys),
            to_end ? ClusteringBound::End() : ClusteringBound::At(upper, table_packs_item_keys)};
  }
};

// The serialised partition keys, ascending by the values of their columns, first to last, none
// twice; none at all when a value is null. Invalid: unset, of a wrong type, too long, an empty key
// of one column. Without IN no allocation but for growth of `keys`.
CqlStatus EncodePartitionKeys(const TableDefinition& table,
                              const std::vector<KeyAlternatives>& partition_key, BoundValues values,
                              KeyUse use, std::vector<std::string>& keys);
// For keys that are restricted to one value a column: appends it to `key`; `found` is false when
// one is null. No allocation but for growth of `key`.
CqlStatus EncodePartitionKey(const TableDefinition& table,
                             const std::vector<KeyAlternatives>& partition_key, BoundValues values,
                             KeyUse use, std::string& key, bool& found);

// The ranges of rows, ascending and disjoint; none when nothing can match. No restriction: one
// range, of everything. Invalid beside the above: a null in a tuple. Without IN no allocation but for growth of `ranges`.
CqlStatus EncodeRanges(const TableDefinition& table, const ClusteringRestriction& restriction,
                       BoundValues values, KeyUse use, std::vector<EncodedRange>& ranges);
// For restrictions without IN: `found` is false when nothing can match.
CqlStatus EncodeRange(const TableDefinition& table, const ClusteringRestriction& restriction,
                      BoundValues values, KeyUse use, EncodedRange& range, bool& found);
// True when EncodeRange may be called.
bool IsOneRange(const ClusteringRestriction& restriction);

// First and last token of a scan, both included; nullopt: no token lies between the bounds.
struct TokenRange {
  int64_t first = INT64_MIN;
  int64_t last = INT64_MAX;
};
CqlStatus EncodeTokenRange(const std::vector<TokenBound>& bounds, BoundValues values,
                           std::optional<TokenRange>& range);

// Filters with their values, each checked. Views into plan and values. In row_filters.cc.
struct BoundFilter {
  const RowFilter* filter = nullptr;
  // As RowFilter::operands; of a bound list its elements. Empty optional: null, matches nothing.
  std::vector<std::optional<std::string_view>> values;
  std::optional<std::string_view> element;  // as RowFilter::element; nullopt: null, there is none
  bool list_is_null = false;                // that of RowFilter::list
};
// What a filter of one column compares: the column's value, or the part of it that is meant, and of
// which type that is.
const DataType& ComparedType(const RowFilter& filter, const TableDefinition& table);
std::optional<std::string_view> ComparedValue(const BoundFilter& filter,
                                              const TableDefinition& table,
                                              std::span<const std::optional<std::string_view>> row);
CqlStatus BindFilters(const std::vector<RowFilter>& filters, BoundValues values,
                      std::vector<BoundFilter>& bound);
// `row`: values in the order of TableDefinition::columns.
bool Matches(const BoundFilter& filter, const TableDefinition& table,
             std::span<const std::optional<std::string_view>> row);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_INSTANTIATE_H_
