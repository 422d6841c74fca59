#include "tests/conformance/random_selection.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/types/composite_value.h"
#include "tests/conformance/json_model.h"
#include "tests/conformance/random_aggregates.h"
#include "tests/conformance/random_conversions.h"
#include "tests/conformance/random_filters.h"
#include "tests/conformance/random_moments.h"
#include "tests/conformance/random_times.h"

namespace liststore::testing {
namespace {

// ---- Columns

// `name` is told each column's.
template <typename Name>
void AddColumnsAs(const Selection& to, const Name& name) {
  for (size_t i = 0; i < to.schema.partition_key.size(); ++i) {
    name(to.schema.partition_key[i].name);
    to.Add([i](const LiveRow& row, int64_t) { return std::optional(row.partition[i]); });
  }
  for (size_t i = 0; i < to.schema.clustering.size(); ++i) {
    name(to.schema.clustering[i].name);
    to.Add([i](const LiveRow& row, int64_t) { return ClusteringValue(row, i); });
  }
  const auto add_value = [&](size_t i) {
    name(to.schema.ValueColumn(i).name);
    to.Add([i](const LiveRow& row, int64_t) { return CellValue(row, i); });
  };
  const size_t regular = to.schema.regular.size();
  for (size_t i = regular; i < to.schema.values(); ++i) add_value(i);
  for (size_t i = 0; i < regular; ++i) add_value(i);
}

void AddColumns(const Selection& to) {
  AddColumnsAs(to, [&](const std::string& name) { to.Say(name); });
}

// ---- JSON

JsonStyle StyleBy(const AnswerRules& rules) {
  return rules.json_of_java ? JsonStyle::kJava : JsonStyle::kScylla;
}

// Of a column that may hold numbers of no bytes, which have no JSON, not often: most of the reads
// would be refused.
bool IsTaken(Random& random, const DataType& type) { return HaveJson(type) || random.OneIn(4); }

// ---- Parts of columns

using PartOfValue = std::function<std::optional<std::string>(const std::string& value)>;

// What stands behind the column's name in `end` is a part of it, or its JSON.
template <typename AddEnd>
void AddPartOf(const Selection& to, size_t i, const DataType& type, const PartOfValue& part,
               const AddEnd& add_end) {
  const bool is_json = to.has_own_functions && IsTaken(to.random, type) && to.random.OneIn(3);
  to.Say((is_json ? "toJson(" : "") + to.schema.ValueColumn(i).name);
  add_end();
  if (is_json) {
    to.text << ")";
    to.text.CountAs(kJsonOfElement);
  }
  to.Add([=](const LiveRow& row, int64_t) -> std::optional<std::string> {
    const std::optional<std::string> value = CellValue(row, i);
    const std::optional<std::string> found = value ? part(*value) : std::nullopt;
    return is_json ? JsonOf(type, found, JsonStyle::kScylla).value_or(kNoJson) : found;
  });
}

void AddFieldOf(const Selection& to, size_t i) {
  const DataType& type = to.schema.ValueColumn(i).type;
  const size_t field = to.random.Below(type.parameters().size());
  const PartOfValue part = [type, field](const std::string& value) -> std::optional<std::string> {
    const auto found = SplitTuple(type, value)->at(field);
    return found ? std::optional(std::string(*found)) : std::nullopt;
  };
  AddPartOf(to, i, type.parameters()[field], part,
            [&] { to.text << "." << type.user().fields[field]; });
}

// c[k], of a list or map, or c.f.
void AddElementOf(const Selection& to, size_t i) {
  const DataType& type = to.schema.ValueColumn(i).type;
  if (type.kind() == DataType::Kind::kUser) return AddFieldOf(to, i);
  if (type.kind() == DataType::Kind::kSet) return;
  const int64_t number = to.random.Between(-1, 2);
  const PartOfValue part =
      [type, key = BytesOfInt(number, 4)](const std::string& value) -> std::optional<std::string> {
    const auto element = ElementAt(type, value, key);
    return element ? std::optional(std::string(*element)) : std::nullopt;
  };
  AddPartOf(to, i, type.parameters().back(), part, [&] {
    to.text << "[";
    to.text.AddNumber(number, 4);
    to.text << "]";
  });
}

// ---- JSON of columns

// toJson(c) of some columns, those of the key included.
void AddToJson(const Selection& to) {
  if (to.shape.selectors.empty()) return;
  const auto add = [&](const ModelColumn& column, const ValueOfRow& value) {
    if (!to.random.OneIn(6) || !IsTaken(to.random, column.type)) return;
    to.Say("toJson(" + column.name + ")");
    to.AddByRules(
        [type = column.type, value](const LiveRow& row, int64_t, const AnswerRules& rules) {
          const std::optional<std::string> bytes = value(row);
          const std::optional<std::string> json = JsonOf(type, bytes, JsonStyle::kScylla);
          if (json && rules.json_of_java) return JsonOf(type, bytes, JsonStyle::kJava);
          // Cassandra takes a number of no bytes for null, unless it is part of a row.
          return std::optional(json.value_or(rules.json_of_java ? "null" : kNoJson));
        });
  };
  for (size_t i = 0; i < to.schema.partition_key.size(); ++i) {
    add(to.schema.partition_key[i],
        [i](const LiveRow& row) { return std::optional(row.partition[i]); });
  }
  for (size_t i = 0; i < to.schema.clustering.size(); ++i) {
    add(to.schema.clustering[i], [i](const LiveRow& row) { return ClusteringValue(row, i); });
  }
  for (size_t i = 0; i < to.schema.values(); ++i) {
    add(to.schema.ValueColumn(i), [i](const LiveRow& row) { return CellValue(row, i); });
  }
}

// ---- Selectors

// Keys, values, their times and the token; `all`, or some of them.
void AddSelectors(const Selection& to, bool all) {
  Random& random = to.random;
  if (all || random.OneIn(2)) AddColumns(to);
  for (size_t i = 0; i < to.schema.values(); ++i) {
    // A static column alone would be another kind of SELECT.
    if (to.schema.is_static(i) && to.shape.selectors.empty()) to.AddColumn(0);
    const DataType& type = to.schema.ValueColumn(i).type;
    if (type.is_multi_cell() || type.kind() == DataType::Kind::kUser) {
      if (!to.shape.selectors.empty() && random.OneIn(3)) AddElementOf(to, i);
    }
    AddTimes(to, i, all);
  }
  for (size_t i = 0; i < to.schema.regular.size(); ++i) {
    if (random.OneIn(4)) AddConversion(to, i);
    if (random.OneIn(3)) AddBlobConversion(to, i);
  }
  AddToJson(to);
  if (!to.shape.selectors.empty() && random.OneIn(6)) AddMoment(to);
  if (!to.shape.selectors.empty() && !random.OneIn(3)) return;
  to.Say("token(" + KeyNames(to.schema) + ")");
  to.Add([](const LiveRow& row, int64_t) { return std::optional(BytesOfInt(row.token, 8)); });
}

// JSON of some columns; of a regular one at least, for static columns alone are another kind of
// SELECT.
void AddJson(const Selection& to) {
  std::vector<std::string> names;
  AddColumnsAs(to, [&](const std::string& name) { names.push_back(name); });
  struct Member {
    std::string name;
    DataType type = CqlType::kInt;
    Selector selector;
  };
  std::vector<Member> members;
  for (size_t i = 0; i < names.size(); ++i) {
    const DataType& type = to.schema.TypeOf(names[i]);
    const bool must = i + to.schema.regular.size() == names.size();
    if (must || IsTaken(to.random, type)) {
      members.push_back({names[i], type, to.shape.selectors[i]});
    }
  }
  to.text << "JSON ";
  for (const Member& member : members) {
    to.text << (&member == &members[0] ? "" : ", ") << member.name;
  }
  to.shape.selectors.clear();
  to.AddByRules([members](const LiveRow& row, int64_t now, const AnswerRules& rules) {
    std::string object = "{";
    for (const Member& member : members) {
      const std::optional<std::string> json =
          JsonOf(member.type, member.selector.value(row, now, rules), StyleBy(rules));
      if (!json) return std::optional(kNoJson);
      object += (object.size() == 1 ? "" : ", ") + QuotedJson(member.name) + ": " + *json;
    }
    return std::optional(object + "}");
  });
}

}  // namespace

void Selection::AddColumn(size_t value) const {
  Say(schema.ValueColumn(value).name);
  Add([value](const LiveRow& row, int64_t) { return CellValue(row, value); });
}

void AddSelection(const Selection& selection) {
  if (selection.random.OneIn(6)) {
    AddAggregates(selection);
  } else if (selection.random.OneIn(5)) {
    AddJson(selection);
  } else if (selection.random.OneIn(3)) {
    selection.text << "*";
    AddColumnsAs(selection, [](const std::string&) {});
  } else {
    AddSelectors(selection, false);
  }
}

void AddWholeSelection(const Selection& selection) { AddSelectors(selection, true); }

void AddDistinctSelection(const Selection& selection, bool may_leave_out_keys) {
  const ModelSchema& schema = selection.schema;
  for (size_t i = 0; i < schema.partition_key.size(); ++i) {
    const bool is_last = i + 1 == schema.partition_key.size();
    if (may_leave_out_keys && selection.random.OneIn(2)) {
      // Something is selected.
      if (!is_last || !selection.shape.selectors.empty()) continue;
      if (!schema.statics.empty()) {
        selection.AddColumn(schema.regular.size());
        continue;
      }
    }
    selection.Say(schema.partition_key[i].name);
    selection.Add([i](const LiveRow& row, int64_t) { return std::optional(row.partition[i]); });
  }
  for (size_t i = schema.regular.size(); i < schema.values(); ++i) {
    if (selection.random.OneIn(2)) selection.AddColumn(i);
  }
}

std::string KeyNames(const ModelSchema& schema) {
  std::string names;
  for (const ModelColumn& column : schema.partition_key) {
    names += (names.empty() ? "" : ", ") + column.name;
  }
  return names;
}

}  // namespace liststore::testing
