#include "engine/cql/plan/key_combinations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

// Leaves each value once, and not more of them than it takes to see that they are too many: each
// becomes many times its bytes. How many there were, if some were left out; else 0.
size_t TakeDistinct(size_t keys_max, std::vector<std::string_view>& elements) {
  std::ranges::sort(elements);
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  if (elements.size() <= keys_max + 1) return 0;
  const size_t count = elements.size();
  elements.resize(keys_max + 1);
  return count;
}

// Values that a further relation on a column leaves over. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, possible_lhs_values.
CqlStatus KeepThoseOf(const RowFilter& relation, BoundValues values, KeyUse use,
                      std::vector<std::string_view>& kept) {
  const auto less = [&](const DataType& type) {
    return
        [&type](std::string_view a, std::string_view b) { return CompareValues(type, a, b) < 0; };
  };
  std::vector<std::string_view> others;
  if (relation.list) {
    BoundValue list;
    LS_RETURN_IF_ERROR(ResolveSet(*relation.list, values, list));
    if (list.is_null() && use == KeyUse::kWrite) return NullInKey(*relation.list);
    if (list.has_value()) {
      auto elements = SplitCollection(relation.list->type, list.bytes);
      LS_CHECK(elements.has_value(), "the list was checked when it was bound");
      others = *std::move(elements);
    }
  }
  for (const Operand& operand : relation.operands) {
    std::string_view bytes;
    bool found = true;
    const bool is_equal = relation.op == RelationOperator::kEqual;
    LS_RETURN_IF_ERROR(ResolveKey(operand, values, is_equal ? use : KeyUse::kRead, bytes, found));
    if (found) others.push_back(bytes);
  }
  if (others.empty()) {
    kept.clear();
    return {};
  }
  const DataType& type =
      relation.list ? relation.list->type.parameters()[0] : relation.operands[0].type;
  if (!IsSlice(relation.op)) std::ranges::sort(others, less(type));
  std::erase_if(kept, [&](std::string_view value) {
    if (!IsSlice(relation.op)) return !std::ranges::binary_search(others, value, less(type));
    const int order = CompareValues(type, value, others[0]);
    switch (relation.op) {
      case RelationOperator::kLess:
        return order >= 0;
      case RelationOperator::kLessOrEqual:
        return order > 0;
      case RelationOperator::kGreater:
        return order <= 0;
      default:
        return order < 0;
    }
  });
  return {};
}

// All values of one column; nulls are left out, but where a write says one with `=`. `count`: how
// many there are, where so many are left out that they are too many; else 0.
CqlStatus ResolveAlternatives(const KeyAlternatives& part, BoundValues values, KeyUse use,
                              std::vector<KeyValues>& alternatives, size_t& count) {
  std::vector<std::string_view> elements;
  if (part.list) {
    BoundValue list;
    LS_RETURN_IF_ERROR(ResolveSet(*part.list, values, list));
    if (list.is_null() && use == KeyUse::kWrite) return NullInKey(*part.list);
    if (list.has_value()) {
      auto split = SplitCollection(part.list->type, list.bytes);
      LS_CHECK(split.has_value(), "the list was checked when it was bound");
      elements = *std::move(split);
    }
  }
  const bool is_list = part.alternatives.size() != 1;
  for (const std::vector<Operand>& operands : part.alternatives) {
    bool found = true;
    std::string_view bytes;
    LS_RETURN_IF_ERROR(
        ResolveKey(operands[0], values, is_list ? KeyUse::kRead : use, bytes, found));
    if (found) elements.push_back(bytes);
  }
  for (const RowFilter& relation : part.also) {
    LS_RETURN_IF_ERROR(KeepThoseOf(relation, values, use, elements));
  }
  count = TakeDistinct(part.keys_max, elements);
  for (const std::string_view element : elements) alternatives.push_back({element});
  return {};
}

// ---- Tuples. Source: ScyllaDB cql3/restrictions/statement_restrictions.cc,
// multi_column_range_accumulator.

// `first`: the clustering column that they begin with.
CqlStatus AppendTuples(const TableDefinition& table, size_t first, const KeyAlternatives& part,
                       BoundValues values, std::vector<KeyValues>& tuples) {
  BoundValue list;
  LS_RETURN_IF_ERROR(ResolveSet(*part.list, values, list));
  if (list.is_null()) return {};
  const auto elements = SplitCollection(part.list->type, list.bytes);
  LS_CHECK(elements.has_value(), "the list was checked when it was bound");
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(ColumnKind::kClustering);
  for (const std::string_view element : *elements) {
    const auto fields = SplitTuple(part.list->type.parameters()[0], element);
    LS_CHECK(fields.has_value(), "the list was checked when it was bound");
    KeyValues& tuple = tuples.emplace_back();
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!(*fields)[i]) {
        return CqlError::Invalid("Invalid null value in condition for column " +
                                 columns[first + i]->name);
      }
      tuple.push_back(*(*fields)[i]);
    }
  }
  return {};
}

// Those of IN, each once. There may be any number of them.
CqlStatus ResolveTuples(const TableDefinition& table, size_t first, const KeyAlternatives& part,
                        BoundValues values, std::vector<KeyValues>& tuples) {
  if (part.list) {
    LS_RETURN_IF_ERROR(AppendTuples(table, first, part, values, tuples));
  }
  for (const std::vector<Operand>& operands : part.alternatives) {
    KeyValues& tuple = tuples.emplace_back();
    for (const Operand& operand : operands) {
      std::string_view bytes;
      bool found = true;
      LS_RETURN_IF_ERROR(ResolveKey(operand, values, KeyUse::kRead, bytes, found));
      tuple.push_back(bytes);
    }
    LS_RETURN_IF_ERROR(CheckNoNull(operands, values));
  }
  std::ranges::sort(tuples);
  tuples.erase(std::unique(tuples.begin(), tuples.end()), tuples.end());
  return {};
}

}  // namespace

CqlStatus ForEachCombination(const TableDefinition& table,
                             const std::vector<KeyAlternatives>& parts, BoundValues values,
                             KeyUse use, std::string_view kind,
                             absl::FunctionRef<CqlStatus(const KeyValues&)> visit) {
  std::vector<std::vector<KeyValues>> choices(parts.size());
  const size_t keys_max = parts.empty() ? kKeysPerStatementMax : parts[0].keys_max;
  size_t combinations = 1;
  size_t column = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t count = 0;
    LS_RETURN_IF_ERROR(parts[i].is_tuple
                           ? ResolveTuples(table, column, parts[i], values, choices[i])
                           : ResolveAlternatives(parts[i], values, use, choices[i], count));
    column += parts[i].columns;
    std::ranges::sort(choices[i]);
    // Not std::ranges::unique, which Clang 14 cannot compile with this library.
    choices[i].erase(std::unique(choices[i].begin(), choices[i].end()), choices[i].end());
    if (choices[i].empty()) return {};
    // Column for column: those behind one that makes too many do not count.
    combinations *= count == 0 ? choices[i].size() : count;
    if (combinations <= keys_max) continue;
    // Tuples alone have no limit, as where they begin the key.
    if (parts[i].is_tuple && combinations == choices[i].size()) continue;
    const std::string key(kind);
    return CqlError::Server("size of " + key + "-key IN list or " + key +
                            "-key cartesian product of IN list " + std::to_string(combinations) +
                            " is greater than maximum " + std::to_string(keys_max) +
                            ". Use --max-" + key +
                            "-key-restrictions-per-query configuration option to change default "
                            "setting.");
  }
  std::vector<size_t> at(parts.size(), 0);
  while (true) {
    KeyValues combination;
    for (size_t i = 0; i < parts.size(); ++i) {
      combination.insert(combination.end(), choices[i][at[i]].begin(), choices[i][at[i]].end());
    }
    LS_RETURN_IF_ERROR(visit(combination));
    size_t part = parts.size();
    while (part > 0 && ++at[part - 1] == choices[part - 1].size()) at[--part] = 0;
    if (part == 0) return {};
  }
}

}  // namespace liststore::cql
