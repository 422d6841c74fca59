#include "engine/cql/plan/instantiate.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/key_combinations.h"
#include "engine/cql/syntax/statement.h"
#include "engine/cql/values/key_bytes.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

CqlStatus AppendKey(const KeyValues& components, KeyUse use, std::string& key) {
  LS_RETURN_IF_ERROR(CheckKeyBytes(AsSpan(components)));
  // A view has such rows, by cells of its table.
  if (use == KeyUse::kWrite && components.size() == 1 && components[0].empty()) {
    return EmptyKey();
  }
  AppendPartitionKey(AsSpan(components), key);
  return {};
}

// Column for column by its type, ascending; values that compare as equal by their bytes. In a view
// the direction that a column has in its table does not count. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, get_IN_values, partition_ranges_from_singles.
bool ComesBefore(const TableDefinition& table, const std::string& a, const std::string& b) {
  const size_t columns = table.storage.partition_key.size();
  const auto of_a = SplitPartitionKey(a, columns);
  const auto of_b = SplitPartitionKey(b, columns);
  LS_CHECK(of_a && of_b, "keys were made of so many values");
  for (size_t i = 0; i < columns; ++i) {
    // The partition key comes first in a table.
    const int order = CompareValues(table.columns[i].type, (*of_a)[i], (*of_b)[i]);
    if (order != 0) return order < 0;
    if ((*of_a)[i] != (*of_b)[i]) return (*of_a)[i] < (*of_b)[i];
  }
  return false;
}

// ---- Ranges

// Makes of an encoding of all columns (`whole`) or some the bound behind all that begins with it;
// false: nothing lies there.
[[nodiscard]] bool MoveBehind(bool whole, std::string& encoded) {
  if (!whole) return MoveBehindPrefix(encoded);
  encoded.push_back('\0');
  return true;
}

// All rows whose first clustering columns have these values.
void EncodePrefixRange(const TableSchema& schema, const KeyValues& prefix, EncodedRange& range) {
  range.lower.clear();
  range.upper.clear();
  range.to_end = prefix.empty();
  range.is_one_key = false;
  if (prefix.empty()) return;
  AppendClusteringKey(schema.clustering, AsSpan(prefix), range.lower);
  range.is_one_key = prefix.size() == schema.clustering.size();
  if (range.is_one_key) {
    // With the zero byte that every string ends with.
    range.upper.assign(range.lower.c_str(), range.lower.size() + 1);
    return;
  }
  range.upper = range.lower;
  range.to_end = !MoveBehindPrefix(range.upper);
}

// To `range.work`. All of them keep their memory.
void RaiseLower(EncodedRange& range) {
  if (range.work > range.lower) std::swap(range.work, range.lower);
}
void DropUpper(EncodedRange& range) {
  if (range.to_end || range.work < range.upper) std::swap(range.work, range.upper);
  range.to_end = false;
}

// Cuts `range`, that of `prefix`, to what lies on one side of a bound: of `bound`, whose first
// values are those of `prefix`. `is_lower` is about values, whatever their order in the table, or
// about the clustering order.
void ApplyBound(const TableSchema& schema, size_t prefix, const KeyValues& bound, bool is_lower,
                bool inclusive, bool in_clustering_order, EncodedRange& range, bool& found) {
  range.work.clear();
  AppendClusteringKey(schema.clustering, AsSpan(bound), range.work);
  // In encoded order a column that runs against the first one is turned round; the first one is
  // ascending, whatever the clustering order.
  const bool inverted = schema.clustering[0].descending !=
                        (!in_clustering_order && schema.clustering[prefix].descending);
  is_lower = is_lower != inverted;
  // "At" leaves the slice's own rows behind the bound, "after" before it.
  const bool after = is_lower != inclusive;
  const bool whole = bound.size() == schema.clustering.size();
  if (after && !MoveBehind(whole, range.work)) {
    // Nothing lies behind: no rows, or no bound.
    if (is_lower) found = false;
    return;
  }
  is_lower ? RaiseLower(range) : DropUpper(range);
}

// Cuts `range`, that of `prefix`, to the slice.
CqlStatus ApplySlice(const TableSchema& schema, const ClusteringSlice& slice, BoundValues values,
                     const KeyValues& prefix, EncodedRange& range, bool& found) {
  KeyValues all = prefix;
  for (const Operand& operand : slice.values) {
    std::string_view bytes;
    LS_RETURN_IF_ERROR(ResolveKey(operand, values, KeyUse::kRead, bytes, found));
    all.push_back(bytes);
  }
  if (!found) {
    if (slice.is_tuple) return CheckNoNull(slice.values, values);
    return {};
  }
  LS_RETURN_IF_ERROR(CheckClusteringBytes(AsSpan(all)));
  ApplyBound(schema, prefix.size(), all, slice.is_lower, slice.inclusive, slice.in_clustering_order,
             range, found);
  return {};
}

CqlStatus EncodeRangeOf(const TableDefinition& table, const KeyValues& prefix,
                        const std::vector<ClusteringSlice>& slices, BoundValues values,
                        EncodedRange& range, bool& found) {
  LS_RETURN_IF_ERROR(CheckClusteringBytes(AsSpan(prefix)));
  EncodePrefixRange(table.storage, prefix, range);
  if (slices.empty()) return {};
  for (const ClusteringSlice& slice : slices) {
    LS_RETURN_IF_ERROR(ApplySlice(table.storage, slice, values, prefix, range, found));
    if (!found) return {};
  }
  if (!range.to_end && range.upper <= range.lower) found = false;
  return {};
}

// ---- Slices of tuples whose columns run in both directions

// One side of what tuples are compared with, behind the values of the columns before them; no more
// than those: there is no bound.
struct TupleBound {
  KeyValues values;
  bool is_lower = false;
  bool inclusive = false;
};

// Whether fewer tuples lie within `a` than within `b`, a bound of the same side.
bool IsTighter(const std::vector<const ColumnDefinition*>& columns, const TupleBound& a,
               const TupleBound& b) {
  const size_t common = std::min(a.values.size(), b.values.size());
  for (size_t i = 0; i < common; ++i) {
    const int order = CompareValues(columns[i]->type, a.values[i], b.values[i]);
    if (order != 0) return a.is_lower ? order > 0 : order < 0;
  }
  // The shorter one takes in, or leaves out, all tuples that begin with it.
  if (a.values.size() == b.values.size()) return !a.inclusive && b.inclusive;
  return a.values.size() < b.values.size() ? !a.inclusive : b.inclusive;
}

// ScyllaDB refuses a second bound of one side only where it is compared with it, and that is the first
// relation alone: of those that remain the tightest one counts.
CqlStatus ResolveBounds(const std::vector<const ColumnDefinition*>& columns,
                        const std::vector<ClusteringSlice>& slices, BoundValues values,
                        const KeyValues& prefix, TupleBound& lower, TupleBound& upper) {
  lower.is_lower = true;
  lower.values = prefix;
  upper.values = prefix;
  for (const ClusteringSlice& slice : slices) {
    TupleBound bound{.values = prefix, .is_lower = slice.is_lower, .inclusive = slice.inclusive};
    for (const Operand& operand : slice.values) {
      std::string_view bytes;
      bool found = true;
      LS_RETURN_IF_ERROR(ResolveKey(operand, values, KeyUse::kRead, bytes, found));
      bound.values.push_back(bytes);
    }
    LS_RETURN_IF_ERROR(CheckNoNull(slice.values, values));
    LS_RETURN_IF_ERROR(CheckClusteringBytes(AsSpan(bound.values)));
    TupleBound& side = slice.is_lower ? lower : upper;
    const bool is_first = side.values.size() == prefix.size();
    if (is_first || IsTighter(columns, bound, side)) side = std::move(bound);
  }
  return {};
}

// The rows that agree with the first `same` values of `bounds` and lie within them in the column
// behind those. A bound without values, or with no more than those, says nothing here.
void AppendRangeOf(const TableSchema& schema, size_t same,
                   std::initializer_list<const TupleBound*> bounds,
                   std::vector<EncodedRange>& ranges) {
  const auto begin_of = [](const KeyValues& values, size_t count) {
    return KeyValues(values.begin(), values.begin() + static_cast<ptrdiff_t>(count));
  };
  EncodedRange range;
  bool found = true;
  for (const TupleBound* bound : bounds) {
    if (bound->values.size() < same) continue;
    EncodePrefixRange(schema, begin_of(bound->values, same), range);
    break;
  }
  for (const TupleBound* bound : bounds) {
    if (bound->values.size() <= same) continue;
    const bool whole = bound->values.size() == same + 1;
    ApplyBound(schema, same, begin_of(bound->values, same + 1), bound->is_lower,
               whole && bound->inclusive, /*in_clustering_order=*/false, range, found);
    if (!found) return;
  }
  if (range.to_end || range.lower < range.upper) ranges.push_back(std::move(range));
}

// Can any tuple lie between the bounds, which agree in the first `same` values, those of the
// columns before the tuples (`prefix`) included?
bool AreInOrder(const TableDefinition& table, size_t prefix, const TupleBound& lower,
                const TupleBound& upper, size_t same) {
  if (lower.values.size() == prefix || upper.values.size() == prefix) return true;
  // One with no further values stands for all that begin with it.
  if (lower.values.size() == same && !lower.inclusive) return false;
  if (upper.values.size() == same && !upper.inclusive) return false;
  if (lower.values.size() == same || upper.values.size() == same) return true;
  const DataType& type = table.ColumnsOf(ColumnKind::kClustering)[same]->type;
  return CompareValues(type, lower.values[same], upper.values[same]) < 0;
}

// (a, b) > (1, 2) is a > 1, or a = 1 and b > 2: rows of one range each, whatever the directions.
// Source: ScyllaDB cql3/restrictions/statement_restrictions.cc, get_equivalent_ranges.
CqlStatus EncodeRangesAcross(const TableDefinition& table, const KeyValues& prefix,
                             const std::vector<ClusteringSlice>& slices, BoundValues values,
                             std::vector<EncodedRange>& ranges) {
  TupleBound lower;
  TupleBound upper;
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(ColumnKind::kClustering);
  LS_RETURN_IF_ERROR(ResolveBounds(columns, slices, values, prefix, lower, upper));
  size_t same = prefix.size();
  while (same < std::min(lower.values.size(), upper.values.size()) &&
         CompareValues(columns[same]->type, lower.values[same], upper.values[same]) == 0) {
    ++same;
  }
  if (!AreInOrder(table, prefix.size(), lower, upper, same)) return {};
  AppendRangeOf(table.storage, same, {&lower, &upper}, ranges);
  for (const TupleBound* bound : {&lower, &upper}) {
    for (size_t first = same + 1; first < bound->values.size(); ++first) {
      AppendRangeOf(table.storage, first, {bound}, ranges);
    }
  }
  return {};
}

}  // namespace

CqlStatus EncodePartitionKey(const TableDefinition& table,
                             const std::vector<KeyAlternatives>& partition_key, BoundValues values,
                             KeyUse use, std::string& key, bool& found) {
  LS_DCHECK(partition_key.size() == table.storage.partition_key.size(), "the key is whole");
  found = true;
  KeyValues components;
  for (const KeyAlternatives& part : partition_key) {
    LS_DCHECK(!part.is_in && part.alternatives.size() == 1, "one value for each column");
    std::string_view bytes;
    LS_RETURN_IF_ERROR(ResolveKey(part.alternatives[0][0], values, use, bytes, found));
    components.push_back(bytes);
  }
  if (!found) return {};
  return AppendKey(components, use, key);
}

CqlStatus EncodePartitionKeys(const TableDefinition& table,
                              const std::vector<KeyAlternatives>& partition_key, BoundValues values,
                              KeyUse use, std::vector<std::string>& keys) {
  LS_DCHECK(partition_key.size() == table.storage.partition_key.size(), "the key is whole");
  if (std::ranges::none_of(partition_key, &KeyAlternatives::is_in)) {
    keys.resize(1);
    keys[0].clear();
    bool found = true;
    LS_RETURN_IF_ERROR(EncodePartitionKey(table, partition_key, values, use, keys[0], found));
    if (!found) keys.clear();
    return {};
  }
  keys.clear();
  LS_RETURN_IF_ERROR(ForEachCombination(table, partition_key, values, use, "partition",
                                        [&](const KeyValues& components) -> CqlStatus {
                                          LS_RETURN_IF_ERROR(
                                              AppendKey(components, use, keys.emplace_back()));
                                          return {};
                                        }));
  std::ranges::sort(
      keys, [&](const std::string& a, const std::string& b) { return ComesBefore(table, a, b); });
  return {};
}

bool IsOneRange(const ClusteringRestriction& restriction) { return restriction.is_one_range; }

CqlStatus EncodeRange(const TableDefinition& table, const ClusteringRestriction& restriction,
                      BoundValues values, KeyUse use, EncodedRange& range, bool& found) {
  LS_DCHECK(IsOneRange(restriction), "a restriction with IN has several ranges");
  found = true;
  KeyValues prefix;
  for (const KeyAlternatives& part : restriction.prefix) {
    for (const Operand& operand : part.alternatives[0]) {
      std::string_view bytes;
      LS_RETURN_IF_ERROR(ResolveKey(operand, values, use, bytes, found));
      prefix.push_back(bytes);
    }
  }
  if (!found) {
    for (const KeyAlternatives& part : restriction.prefix) {
      if (part.is_tuple) LS_RETURN_IF_ERROR(CheckNoNull(part.alternatives[0], values));
    }
    return {};
  }
  return EncodeRangeOf(table, prefix, restriction.slices, values, range, found);
}

CqlStatus EncodeRanges(const TableDefinition& table, const ClusteringRestriction& restriction,
                       BoundValues values, KeyUse use, std::vector<EncodedRange>& ranges) {
  if (IsOneRange(restriction)) {
    ranges.resize(1);
    bool found = true;
    LS_RETURN_IF_ERROR(EncodeRange(table, restriction, values, use, ranges[0], found));
    if (!found) ranges.clear();
    return {};
  }
  ranges.clear();
  const auto append = [&](const KeyValues& prefix) -> CqlStatus {
    if (restriction.slices_run_across) {
      return EncodeRangesAcross(table, prefix, restriction.slices, values, ranges);
    }
    EncodedRange range;
    bool found = true;
    LS_RETURN_IF_ERROR(EncodeRangeOf(table, prefix, restriction.slices, values, range, found));
    if (found) ranges.push_back(std::move(range));
    return {};
  };
  if (restriction.prefix.empty()) {
    LS_RETURN_IF_ERROR(append({}));
  } else {
    LS_RETURN_IF_ERROR(
        ForEachCombination(table, restriction.prefix, values, use, "clustering", append));
  }
  // Different values may have one encoding, and IN lists come in any order.
  std::ranges::sort(ranges, {}, &EncodedRange::lower);
  const auto same = [](const EncodedRange& a, const EncodedRange& b) { return a.lower == b.lower; };
  ranges.erase(std::unique(ranges.begin(), ranges.end(), same), ranges.end());
  return {};
}

CqlStatus EncodeTokenRange(const std::vector<TokenBound>& bounds, BoundValues values,
                           std::optional<TokenRange>& range) {
  range = TokenRange{};
  for (const TokenBound& bound : bounds) {
    BoundValue value;
    LS_RETURN_IF_ERROR(ResolveSet(bound.value, values, value));
    // Nothing compares with null.
    if (!value.has_value() || value.bytes.size() != sizeof(int64_t)) {
      range.reset();
      return {};
    }
    auto token = static_cast<int64_t>(LoadBigEndian64(value.bytes.data()));
    if (bound.is_lower) {
      if (!bound.inclusive && token == INT64_MAX) range.reset();
      if (!range) return {};
      range->first = std::max(range->first, bound.inclusive ? token : token + 1);
    } else {
      // The smallest token, which no key has, stands for the end of the ring as an upper bound.
      // Source: ScyllaDB dht/i_partitioner.hh, to_partition_range.
      if (token == INT64_MIN)
        token = INT64_MAX;
      else if (!bound.inclusive)
        --token;
      range->last = std::min(range->last, token);
    }
  }
  if (range->first > range->last) range.reset();
  return {};
}

}  // namespace liststore::cql
