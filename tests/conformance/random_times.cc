#include "tests/conformance/random_times.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/types/composite_value.h"
#include "tests/conformance/time_model.h"

namespace liststore::testing {
namespace {

using Kind = DataType::Kind;

std::optional<std::string> TimeToLive(const ModelCell* cell, int64_t now_seconds) {
  if (cell == nullptr || cell->ttl_seconds == 0) return std::nullopt;
  return BytesOfInt(cell->expiry_seconds - now_seconds, 4);
}

std::optional<std::string> WriteTime(const ModelCell* cell) {
  return cell == nullptr ? std::nullopt : std::optional(BytesOfInt(cell->timestamp, 8));
}

const std::vector<LiveElement>* ElementsOf(const LiveRow& row, size_t column) {
  const auto at = row.elements.find(column);
  return at == row.elements.end() ? nullptr : &at->second;
}

const ModelCell* ElementOf(const LiveRow& row, size_t column, const ElementKey& key) {
  const std::vector<LiveElement>* elements = ElementsOf(row, column);
  if (elements == nullptr) return nullptr;
  const auto at = std::ranges::find(*elements, key, &LiveElement::first);
  return at == elements->end() ? nullptr : &at->second;
}

// ---- Of a column in one cell

void AddOfColumn(const Selection& to, size_t i, bool all) {
  const std::string& column = to.schema.ValueColumn(i).name;
  const auto cell_of = [i](const LiveRow& row) { return row.cells[i] ? &*row.cells[i] : nullptr; };
  if (all || to.random.OneIn(2)) {
    to.Say("ttl(" + column + ")");
    to.Add([cell_of](const LiveRow& row, int64_t now) { return TimeToLive(cell_of(row), now); });
  }
  if (to.with_write_times && (all || to.random.OneIn(2))) {
    to.Say("writetime(" + column + ")");
    to.Add([cell_of](const LiveRow& row, int64_t) { return WriteTime(cell_of(row)); });
  }
}

// ---- Of a part of one

// "s['a']", "m[1]" or "u.f0" into the text; which it is.
ElementKey AddTimedPart(const Selection& to, const ModelColumn& column) {
  if (column.type.kind() == Kind::kUser) {
    const size_t field = to.random.Below(column.type.parameters().size());
    to.text << column.name << "." << column.type.user().fields[field];
    return {.number = static_cast<int64_t>(field)};
  }
  PoolValue key;
  if (column.type.kind() == Kind::kSet) {
    constexpr const char* kElements[] = {"a", "b", "ab", "c"};
    key.bytes = kElements[to.random.Below(std::size(kElements))];
    key.literal = "'" + key.bytes + "'";
  } else {
    const int64_t number = to.random.Between(-1, 2);
    key = {BytesOfInt(number, 4), std::to_string(number)};
  }
  to.text << column.name << "[";
  to.text.AddValue(key);
  to.text << "]";
  return {.key = key.bytes};
}

// Elements of lists have none.
void AddOfPart(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  if (column.type.kind() == Kind::kList) return;
  const bool is_ttl = !to.with_write_times || to.random.OneIn(2);
  to.Say(is_ttl ? "ttl(" : "writetime(");
  const ElementKey key = AddTimedPart(to, column);
  to.text << ")";
  to.Add([i, key, is_ttl](const LiveRow& row, int64_t now) {
    const ModelCell* cell = ElementOf(row, i, key);
    return is_ttl ? TimeToLive(cell, now) : WriteTime(cell);
  });
}

// ---- Of all parts, by functions that liststore alone has

std::string List(const std::vector<std::string>& values) {
  std::string list = BytesOfInt(static_cast<int64_t>(values.size()), 4);
  for (const std::string& value : values) {
    list += BytesOfInt(static_cast<int64_t>(value.size()), 4) + value;
  }
  return list;
}

// Where an element of a list stands: which it is within a step in the topmost of the 62 bits behind
// the variant, the others as those of the first timeuuid.
// Source: ScyllaDB utils/UUID_gen.hh, get_time_UUID_bytes_from_micros_and_submicros.
std::string PlaceOf(const ElementKey& key) {
  constexpr int kNumberBits = 17;
  const int64_t number = key.number & ((1 << kNumberBits) - 1);
  return TimeuuidOf(key.micros * kTicksPerMicro + (key.number >> kNumberBits),
                    static_cast<uint64_t>(number) << (62 - kNumberBits) ^ kFirstOfTick);
}

// Sets and maps by their elements and keys; the others are in their order.
std::vector<LiveElement> InOrder(const DataType& type, std::vector<LiveElement> elements) {
  if (type.kind() != Kind::kSet && type.kind() != Kind::kMap) return elements;
  std::ranges::sort(elements, [&](const LiveElement& a, const LiveElement& b) {
    return CompareValues(type.parameters()[0], a.first.key, b.first.key) < 0;
  });
  return elements;
}

// Without the step within a microsecond: where nobody says a timestamp, it is the server's.
void ForgetSteps(std::vector<std::optional<std::string>>& lists) {
  constexpr size_t kTimeuuidBytes = 16;
  for (std::optional<std::string>& list : lists) {
    if (!list) continue;
    for (size_t at = 8; at + kTimeuuidBytes <= list->size(); at += 4 + kTimeuuidBytes) {
      const int64_t ticks = TicksOf(list->substr(at, kTimeuuidBytes));
      const std::string micros = BytesOfInt(FloorDivide(ticks, kTicksPerMicro), 8);
      list->replace(at, 8, micros);
    }
  }
}

void AddOfAllParts(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  using Part = std::function<std::string(const ElementKey&, const ModelCell&, int64_t now)>;
  Part part;
  const uint64_t kinds = column.type.kind() == Kind::kList ? 3 : 2;
  const uint64_t kind = to.with_write_times ? to.random.Below(kinds) : 1;
  size_t null_bytes = 8;
  if (kind == 0) {
    to.Say("liststore.writetimes(");
    part = [](const ElementKey&, const ModelCell& cell, int64_t) {
      return BytesOfInt(cell.timestamp, 8);
    };
  } else if (kind == 1) {
    to.Say("liststore.ttls(");
    null_bytes = 4;
    part = [](const ElementKey&, const ModelCell& cell, int64_t now) {
      return BytesOfInt(cell.ttl_seconds == 0 ? 0 : cell.expiry_seconds - now, 4);
    };
  } else {
    to.Say("liststore.timeuuids(");
    part = [](const ElementKey& key, const ModelCell&, int64_t) { return PlaceOf(key); };
  }
  to.text << column.name << ")";
  const bool is_user = column.type.kind() == Kind::kUser;
  const size_t fields = is_user ? column.type.parameters().size() : 0;
  to.Add([=, type = column.type](const LiveRow& row, int64_t now) -> std::optional<std::string> {
    const std::vector<LiveElement>* found = ElementsOf(row, i);
    if (found == nullptr) return std::nullopt;
    const std::vector<LiveElement> elements = InOrder(type, *found);
    // Of a field that is null 0.
    std::vector<std::string> values(fields, BytesOfInt(0, null_bytes));
    for (const auto& [key, cell] : elements) {
      std::string value = part(key, cell, now);
      if (is_user) {
        values.at(static_cast<size_t>(key.number)) = std::move(value);
      } else {
        values.push_back(std::move(value));
      }
    }
    return List(values);
  });
  if (kind != 2) return;
  to.shape.selectors.back().make_comparable = [](std::vector<std::optional<std::string>>& values,
                                                 const TimeWindow&) { ForgetSteps(values); };
}

}  // namespace

void AddTimes(const Selection& to, size_t i, bool all) {
  if (!to.schema.ValueColumn(i).type.is_multi_cell()) return AddOfColumn(to, i, all);
  // A static column alone would be another kind of SELECT.
  if (to.shape.selectors.empty()) return;
  if (to.random.OneIn(3)) AddOfPart(to, i);
  if (to.has_own_functions && (all || to.random.OneIn(4))) AddOfAllParts(to, i);
}

// Source of the words: ScyllaDB cql3/expr/prepare_expr.cc.
RefusedRead RandomRefusedTime(Random& random, const ModelSchema& schema) {
  const std::string& key = schema.partition_key[random.Below(schema.partition_key.size())].name;
  std::vector<std::pair<std::string, std::string>> refused = {
      {key, "is not legal on partition key component " + key}};
  for (size_t i = 0; i < schema.values(); ++i) {
    const auto& [name, type, descending] = schema.ValueColumn(i);
    const Kind kind = type.kind();
    if (type.is_multi_cell()) refused.emplace_back(name, "expects an atomic column, but " + name);
    if (kind == Kind::kList || (kind == Kind::kMap && !type.is_multi_cell())) {
      refused.emplace_back(name + "[1]",
                           "on a subscript is only valid for non-frozen map or set columns");
    }
    if (kind == Kind::kUser && !type.is_multi_cell()) {
      refused.emplace_back(name + "." + type.user().fields[0],
                           "on a field selection is only valid for non-frozen UDT columns");
    }
  }
  const auto& [operand, words] = refused[random.Below(refused.size())];
  RefusedRead read;
  read.sent.text = std::string("SELECT ") + (random.OneIn(2) ? "TTL(" : "WRITETIME(") + operand +
                   ") FROM " + schema.table;
  read.sent.prepared = random.OneIn(2);
  read.words = words;
  return read;
}

}  // namespace liststore::testing
