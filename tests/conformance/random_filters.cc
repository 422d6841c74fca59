#include "tests/conformance/random_filters.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "engine/model/types/composite_value.h"

namespace liststore::testing {
namespace {

// A value that some of the collection's parts with this number, of each element, equal.
void AddPart(Random& random, const ModelColumn& column, size_t number, const ValueOfRow& value,
             StatementText& text, ReadShape& shape) {
  const DataType& type = column.type;
  const PoolValue& wanted = RandomPoolValue(random, {"", type.parameters()[number], false});
  text.AddValue(wanted);
  shape.conditions.push_back([=, bytes = wanted.bytes](const LiveRow& row, const AnswerRules&) {
    const std::optional<std::string> found = value(row);
    if (!found) return false;
    const auto parts = SplitCollection(type, *found);
    for (size_t i = number; i < parts->size(); i += type.parameters().size()) {
      if ((*parts)[i] == bytes) return true;
    }
    return false;
  });
}

// CONTAINS: what a collection of several cells is asked for.
void AddContains(Random& random, std::string_view before, const ModelColumn& column,
                 const ValueOfRow& value, StatementText& text, ReadShape& shape) {
  text << before << column.name << " CONTAINS ";
  AddPart(random, column, column.type.parameters().size() - 1, value, text, shape);
}

void AddIn(Random& random, const ModelColumn& column, const ValueOfRow& value, StatementText& text,
           ReadShape& shape) {
  std::vector<PoolValue> list;
  for (uint64_t left = random.Below(4); left > 0; --left) {
    list.push_back(RandomPoolValue(random, column));
  }
  text << " IN ";
  const bool is_bound = text.AddList(list);
  shape.conditions.push_back([=, type = column.type](const LiveRow& row, const AnswerRules& rules) {
    const auto is_empty = [](const PoolValue& v) { return v.literal.empty(); };
    if (is_bound && rules.bound_empties_spoil && std::ranges::any_of(list, is_empty)) {
      return false;
    }
    const bool ends = is_bound && rules.bound_empties_end;
    const auto end = ends ? std::ranges::find_if(list, is_empty) : list.end();
    return std::any_of(list.begin(), end, [&](const PoolValue& v) {
      const bool is_null = is_bound && rules.bound_empties_are_null && v.literal.empty();
      const std::optional<std::string> found = value(row);
      return !is_null && found && CompareValues(type, *found, v.bytes) == 0;
    });
  });
}

// m[k] = v
void AddEntry(Random& random, const ModelColumn& column, const ValueOfRow& value,
              StatementText& text, ReadShape& shape) {
  const DataType& type = column.type;
  const PoolValue& key = RandomPoolValue(random, {"", type.parameters()[0], false});
  const PoolValue& wanted = RandomPoolValue(random, {"", type.parameters()[1], false});
  text << column.name << "[";
  text.AddValue(key);
  text << "] = ";
  text.AddValue(wanted);
  shape.conditions.push_back(
      [=, key = key.bytes, bytes = wanted.bytes](const LiveRow& row, const AnswerRules&) {
        const std::optional<std::string> found = value(row);
        if (!found) return false;
        const auto element = ElementAt(type, *found, key);
        return element && *element == bytes;
      });
}

}  // namespace

bool AddFilter(Random& random, std::string_view before, const ModelColumn& column,
               const ValueOfRow& value, StatementText& text, ReadShape& shape) {
  if (column.type.is_multi_cell()) {
    AddContains(random, before, column, value, text, shape);
    return false;
  }
  text << before << column.name;
  if (random.OneIn(5)) {
    AddIn(random, column, value, text, shape);
    return true;
  }
  constexpr std::string_view kOperators[] = {" = ", " < ", " <= ", " > ", " >= "};
  // Durations have no order.
  const size_t op = HasDuration(column.type) ? 0 : random.Below(std::size(kOperators));
  text << kOperators[op];
  const PoolValue& other = RandomPoolValue(random, column);
  text.AddValue(other);
  shape.conditions.push_back(
      [=, type = column.type, bytes = other.bytes](const LiveRow& row, const AnswerRules&) {
        const std::optional<std::string> found = value(row);
        if (!found) return false;
        const int order = CompareValues(type, *found, bytes);
        return op == 0   ? order == 0
               : op == 1 ? order < 0
               : op == 2 ? order <= 0
               : op == 3 ? order > 0
                         : order >= 0;
      });
  return op == 0;
}

void AddIndexCondition(Random& random, const ModelSchema& schema, const ValueOfRow& value,
                       StatementText& text, ReadShape& shape) {
  const ModelIndex& index = *schema.index;
  const ModelColumn& column = schema.IndexedColumn();
  if (index.of_entries) return AddEntry(random, column, value, text, shape);
  if (index.of_keys) {
    text << column.name << " CONTAINS KEY ";
    return AddPart(random, column, 0, value, text, shape);
  }
  if (column.type.is_multi_cell()) return AddContains(random, "", column, value, text, shape);
  const auto add = [&](const PoolValue& wanted) {
    text << column.name << " = ";
    text.AddValue(wanted);
    shape.conditions.push_back([=, bytes = wanted.bytes](const LiveRow& row, const AnswerRules&) {
      return value(row) == bytes;
    });
  };
  const PoolValue& wanted = RandomPoolValue(random, column);
  add(wanted);
  if (!random.OneIn(6)) return;
  // As often as it is said, it is one use of the index. Source: ScyllaDB
  // index/secondary_index_manager.cc, supports_expression.
  text.CountAs(kSeveralOfIndexed);
  text << " AND ";
  add(random.OneIn(2) ? wanted : RandomPoolValue(random, column));
}

}  // namespace liststore::testing
