#include "engine/cql/plan/instantiate.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/values/key_bytes.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/composite_value.h"
#include "engine/model/partition_key.h"

namespace liststore {
namespace {

using Views = absl::InlinedVector<std::string_view, 8>;

std::span<const std::string_view> Span(const Views& views) { return {views.data(), views.size()}; }

// A key's value: something must be there. `found` becomes false for a null in a read.
CqlStatus ResolveKey(const Operand& operand, BoundValues values, KeyUse use,
                     std::string_view& bytes, bool& found) {
  BoundValue value;
  LS_RETURN_IF_ERROR(ResolveSet(operand, values, value));
  bytes = value.bytes;
  if (value.has_value()) return {};
  if (use == KeyUse::kWrite) return NullInKey(operand);
  found = false;
  return {};
}

CqlStatus AppendKey(const Views& components, KeyUse use, std::string& key) {
  LS_RETURN_IF_ERROR(CheckKeyBytes(Span(components)));
  // A view has such rows, by cells of its table.
  if (use == KeyUse::kWrite && components.size() == 1 && components[0].empty()) {
    return EmptyKey();
  }
  AppendPartitionKey(Span(components), key);
  return {};
}

// ---- Alternatives

// Leaves each value once, and not more of them than it takes to see that they are too many: each
// becomes many times its bytes. How many there were, if some were left out; else 0.
size_t TakeDistinct(const KeyAlternatives& part, std::vector<std::string_view>& elements) {
  std::ranges::sort(elements);
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  // Of tuples those with a null do not count, in the end.
  constexpr size_t kTuplesMax = 65'536;
  const size_t most = part.list_is_of_tuples ? kTuplesMax : kKeysPerStatementMax + 1;
  if (elements.size() <= most) return 0;
  const size_t count = elements.size();
  elements.resize(most);
  return count;
}

// All alternatives of one part, as values; those with a null are left out. `count`: how many there
// are, where so many are left out that they are too many; else 0.
CqlStatus ResolveAlternatives(const KeyAlternatives& part, BoundValues values, KeyUse use,
                              std::vector<Views>& alternatives, size_t& count) {
  if (part.list) {
    BoundValue list;
    LS_RETURN_IF_ERROR(ResolveSet(*part.list, values, list));
    if (list.is_null()) {
      if (use == KeyUse::kRead) return {};
      return NullInKey(*part.list);
    }
    auto elements = SplitCollection(part.list->type, list.bytes);
    LS_CHECK(elements.has_value(), "the list was checked when it was bound");
    count = TakeDistinct(part, *elements);
    for (const std::string_view element : *elements) {
      if (!part.list_is_of_tuples) {
        alternatives.push_back({element});
        continue;
      }
      const auto fields = SplitTuple(part.list->type.parameters()[0], element);
      LS_CHECK(fields.has_value(), "the list was checked when it was bound");
      Views alternative;
      for (const auto& field : *fields) {
        if (field) alternative.push_back(*field);
      }
      const bool whole = alternative.size() == fields->size();
      if (!whole && use == KeyUse::kWrite) return NullInKey(*part.list);
      if (whole) alternatives.push_back(std::move(alternative));
    }
    return {};
  }
  for (const std::vector<Operand>& operands : part.alternatives) {
    Views alternative;
    bool found = true;
    for (const Operand& operand : operands) {
      std::string_view bytes;
      LS_RETURN_IF_ERROR(ResolveKey(operand, values, use, bytes, found));
      alternative.push_back(bytes);
    }
    if (found) alternatives.push_back(std::move(alternative));
  }
  return {};
}

// Calls visit(values) for each combination of the parts' alternatives. `kind`: partition or
// clustering, for the message.
template <typename Visit>
CqlStatus ForEachCombination(const std::vector<KeyAlternatives>& parts, BoundValues values,
                             KeyUse use, std::string_view kind, Visit&& visit) {
  std::vector<std::vector<Views>> choices(parts.size());
  size_t combinations = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t count = 0;
    LS_RETURN_IF_ERROR(ResolveAlternatives(parts[i], values, use, choices[i], count));
    std::ranges::sort(choices[i]);
    // Not std::ranges::unique, which Clang 14 cannot compile with this library.
    choices[i].erase(std::unique(choices[i].begin(), choices[i].end()), choices[i].end());
    if (choices[i].empty()) return {};
    // Column for column: those behind one that makes too many do not count.
    combinations *= count == 0 ? choices[i].size() : count;
    if (combinations <= kKeysPerStatementMax) continue;
    const std::string key(kind);
    return CqlError::Server("size of " + key + "-key IN list or " + key +
                            "-key cartesian product of IN list " + std::to_string(combinations) +
                            " is greater than maximum " + std::to_string(kKeysPerStatementMax) +
                            ". Use --max-" + key +
                            "-key-restrictions-per-query configuration option to change default "
                            "setting.");
  }
  std::vector<size_t> at(parts.size(), 0);
  while (true) {
    Views combination;
    for (size_t i = 0; i < parts.size(); ++i) {
      combination.insert(combination.end(), choices[i][at[i]].begin(), choices[i][at[i]].end());
    }
    LS_RETURN_IF_ERROR(visit(combination));
    size_t part = parts.size();
    while (part > 0 && ++at[part - 1] == choices[part - 1].size()) at[--part] = 0;
    if (part == 0) return {};
  }
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
void EncodePrefixRange(const TableSchema& schema, const Views& prefix, EncodedRange& range) {
  range.lower.clear();
  range.upper.clear();
  range.to_end = prefix.empty();
  range.is_one_key = false;
  if (prefix.empty()) return;
  AppendClusteringKey(schema.clustering, Span(prefix), range.lower);
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

// Cuts `range`, that of `prefix`, to the slice.
CqlStatus ApplySlice(const TableSchema& schema, const ClusteringSlice& slice, BoundValues values,
                     KeyUse use, const Views& prefix, EncodedRange& range, bool& found) {
  Views all = prefix;
  for (const Operand& operand : slice.values) {
    std::string_view bytes;
    LS_RETURN_IF_ERROR(ResolveKey(operand, values, use, bytes, found));
    all.push_back(bytes);
  }
  if (!found) return {};
  LS_RETURN_IF_ERROR(CheckKeyBytes(Span(all)));
  range.work.clear();
  AppendClusteringKey(schema.clustering, Span(all), range.work);
  // In encoded order a column that runs against the first one is turned round.
  const bool inverted =
      schema.clustering[prefix.size()].descending != schema.clustering[0].descending;
  const bool is_lower = slice.is_lower != inverted;
  // "At" leaves the slice's own rows behind the bound, "after" before it.
  const bool after = is_lower != slice.inclusive;
  const bool whole = all.size() == schema.clustering.size();
  if (after && !MoveBehind(whole, range.work)) {
    // Nothing lies behind: no rows, or no bound.
    if (is_lower) found = false;
    return {};
  }
  is_lower ? RaiseLower(range) : DropUpper(range);
  return {};
}

CqlStatus EncodeRangeOf(const TableDefinition& table, const Views& prefix,
                        const std::vector<ClusteringSlice>& slices, BoundValues values, KeyUse use,
                        EncodedRange& range, bool& found) {
  LS_RETURN_IF_ERROR(CheckKeyBytes(Span(prefix)));
  EncodePrefixRange(table.storage, prefix, range);
  if (slices.empty()) return {};
  for (const ClusteringSlice& slice : slices) {
    LS_RETURN_IF_ERROR(ApplySlice(table.storage, slice, values, use, prefix, range, found));
    if (!found) return {};
  }
  if (!range.to_end && range.upper <= range.lower) found = false;
  return {};
}

}  // namespace

CqlStatus EncodePartitionKey(const TableDefinition& table,
                             const std::vector<KeyAlternatives>& partition_key, BoundValues values,
                             KeyUse use, std::string& key, bool& found) {
  LS_DCHECK(partition_key.size() == table.storage.partition_key.size(), "the key is whole");
  found = true;
  Views components;
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
  LS_RETURN_IF_ERROR(ForEachCombination(
      partition_key, values, use, "partition", [&](const Views& components) -> CqlStatus {
        LS_RETURN_IF_ERROR(AppendKey(components, use, keys.emplace_back()));
        return {};
      }));
  std::ranges::sort(
      keys, [&](const std::string& a, const std::string& b) { return ComesBefore(table, a, b); });
  return {};
}

bool IsOneRange(const ClusteringRestriction& restriction) {
  return std::ranges::none_of(restriction.prefix, &KeyAlternatives::is_in);
}

CqlStatus EncodeRange(const TableDefinition& table, const ClusteringRestriction& restriction,
                      BoundValues values, KeyUse use, EncodedRange& range, bool& found) {
  LS_DCHECK(IsOneRange(restriction), "a restriction with IN has several ranges");
  found = true;
  Views prefix;
  for (const KeyAlternatives& part : restriction.prefix) {
    for (const Operand& operand : part.alternatives[0]) {
      std::string_view bytes;
      LS_RETURN_IF_ERROR(ResolveKey(operand, values, use, bytes, found));
      prefix.push_back(bytes);
    }
  }
  if (!found) return {};
  return EncodeRangeOf(table, prefix, restriction.slices, values, use, range, found);
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
  LS_RETURN_IF_ERROR(ForEachCombination(
      restriction.prefix, values, use, "clustering", [&](const Views& prefix) -> CqlStatus {
        EncodedRange range;
        bool found = true;
        LS_RETURN_IF_ERROR(
            EncodeRangeOf(table, prefix, restriction.slices, values, use, range, found));
        if (found) ranges.push_back(std::move(range));
        return {};
      }));
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
    if (!value.has_value() || value.bytes.size() != sizeof(int64_t)) {
      return CqlError::Invalid("Invalid null token in a relation of token()");
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

}  // namespace liststore
