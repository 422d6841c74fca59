#include "tests/conformance/read_model.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

#include "engine/model/types/composite_value.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

std::optional<std::string> AggregateOf(std::span<const LiveRow> rows, const Selector& selector,
                                       int64_t now_seconds, const AnswerRules& rules) {
  std::vector<std::string> values;
  for (const LiveRow& row : rows) {
    const std::optional<std::string> value = selector.value(row, now_seconds, rules);
    if (selector.aggregate == Aggregate::kFirst) return value;
    if (value) values.push_back(*value);
  }
  const auto less = [&](const std::string& a, const std::string& b) {
    return CompareValues(selector.type, a, b) < 0;
  };
  switch (selector.aggregate) {
    case Aggregate::kFirst:
      return std::nullopt;
    case Aggregate::kCount:
      return BytesOfInt(static_cast<int64_t>(values.size()), 8);
    case Aggregate::kMin:
      return values.empty() ? std::nullopt : std::optional(*std::ranges::min_element(values, less));
    case Aggregate::kMax:
      return values.empty() ? std::nullopt : std::optional(*std::ranges::max_element(values, less));
    default:
      break;
  }
  int64_t sum = 0;
  for (const std::string& value : values) sum += IntOf(value);
  const bool divides = selector.aggregate == Aggregate::kAvg && !values.empty();
  return VarintOf(divides ? sum / static_cast<int64_t>(values.size()) : sum);
}

ResultRow AggregatesOf(std::span<const LiveRow> rows, const ReadShape& shape, int64_t now_seconds,
                       const AnswerRules& rules) {
  ResultRow aggregates;
  for (const Selector& selector : shape.selectors) {
    aggregates.push_back(AggregateOf(rows, selector, now_seconds, rules));
  }
  return aggregates;
}

ResultRow ValuesOf(const LiveRow& row, const ReadShape& shape, int64_t now_seconds,
                   const AnswerRules& rules) {
  ResultRow values;
  for (const Selector& selector : shape.selectors) {
    values.push_back(selector.value(row, now_seconds, rules));
  }
  return values;
}

// `rows` are in the order of the read.
std::vector<ResultRow> EvaluateGroups(std::span<const LiveRow> rows, const ReadShape& shape,
                                      int64_t now_seconds, const AnswerRules& rules) {
  std::vector<ResultRow> result;
  int64_t of_partition = 0;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const LiveRow& first = rows[begin];
    const auto same = [&](const LiveRow& row) {
      if (row.key != first.key || first.is_static_alone) return &row == &first;
      return std::equal(row.clustering.begin(),
                        row.clustering.begin() + static_cast<ptrdiff_t>(*shape.grouped),
                        first.clustering.begin());
    };
    while (end < rows.size() && same(rows[end])) ++end;
    of_partition = begin > 0 && rows[begin - 1].key == first.key ? of_partition + 1 : 0;
    if (shape.per_partition_limit && of_partition >= *shape.per_partition_limit) continue;
    if (shape.limit && static_cast<int64_t>(result.size()) == *shape.limit) break;
    result.push_back(shape.aggregates
                         ? AggregatesOf(rows.subspan(begin, end - begin), shape, now_seconds, rules)
                         : ValuesOf(first, shape, now_seconds, rules));
  }
  return result;
}

void SortByValue(const ModelSchema& schema, const AnswerRules& rules, std::vector<LiveRow>& rows) {
  std::ranges::stable_sort(rows, [&](const LiveRow& a, const LiveRow& b) {
    if (!rules.in_descends) return CompareKeys(schema, a.partition, b.partition) < 0;
    for (size_t i = 0; i < schema.partition_key.size(); ++i) {
      const ModelColumn& column = schema.partition_key[i];
      const int order = CompareValues(column.type, a.partition[i], b.partition[i]);
      if (order != 0) return column.descending ? order > 0 : order < 0;
    }
    return false;
  });
}

// By the first `columns` of the clustering key, those without a key first. Source: ScyllaDB
// cql3/statements/select_statement.cc, get_ordering_comparator, process_results_complex.
void Merge(const ModelSchema& schema, const ReadShape& shape, const AnswerRules& rules,
           std::vector<LiveRow>& rows) {
  const auto compare = [&](const LiveRow& a, const LiveRow& b) {
    if (a.is_static_alone || b.is_static_alone) return b.is_static_alone - a.is_static_alone;
    for (size_t i = 0; i < shape.merged; ++i) {
      const ModelColumn& column = schema.clustering[i];
      const int order = CompareValues(column.type, a.clustering[i], b.clustering[i]);
      if (order != 0) return column.descending ? -order : order;
    }
    return 0;
  };
  if (rules.in_order_is_stable) {
    std::ranges::stable_sort(rows, [&](const LiveRow& a, const LiveRow& b) {
      return shape.reversed ? compare(a, b) > 0 : compare(a, b) < 0;
    });
    return;
  }
  std::ranges::stable_sort(rows,
                           [&](const LiveRow& a, const LiveRow& b) { return compare(a, b) < 0; });
  if (shape.reversed) std::ranges::reverse(rows);
}

}  // namespace

std::vector<ResultRow> Evaluate(const TableModel& model, const ReadShape& shape,
                                int64_t now_seconds, const AnswerRules& rules) {
  std::vector<LiveRow> rows;
  uint32_t missed = rules.partitions_missed;
  for (LiveRow& row : model.Live(now_seconds)) {
    if (row.is_static_alone && shape.of_rows) continue;
    if (rules.empty_keys_first && row.key.empty()) row.token = std::numeric_limits<int64_t>::min();
    const auto holds = [&](const ReadShape::Condition& condition) { return condition(row, rules); };
    if (!std::ranges::all_of(shape.conditions, holds)) continue;
    const bool is_missed = row.is_static_alone && (missed & 1) != 0;
    if (row.is_static_alone) missed >>= 1;
    if (!is_missed) rows.push_back(std::move(row));
  }
  if (rules.empty_keys_first) {
    std::ranges::stable_sort(rows, {}, &LiveRow::token);
  }
  const auto compare = [&](const LiveRow& a, const LiveRow& b) {
    const int order = model.CompareClustering(a.clustering, b.clustering);
    return shape.reversed ? order > 0 : order < 0;
  };
  if (shape.reversed) {
    std::ranges::stable_sort(rows, [&](const LiveRow& a, const LiveRow& b) {
      return a.key != b.key ? std::tie(a.token, a.key) < std::tie(b.token, b.key) : compare(a, b);
    });
  }
  if (shape.is_named) SortByValue(model.schema(), rules, rows);
  if (shape.grouped) return EvaluateGroups(rows, shape, now_seconds, rules);
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  const bool merges =
      shape.merged > 0 && !shape.aggregates && (!shape.filters || rules.in_order_is_stable);
  int64_t of_partition_max = shape.distinct ? 1 : shape.per_partition_limit.value_or(kNoLimit);
  if (merges) of_partition_max = std::min(of_partition_max, shape.limit.value_or(kNoLimit));
  std::vector<LiveRow> kept;
  int64_t of_partition = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    of_partition = i > 0 && rows[i].key == rows[i - 1].key ? of_partition + 1 : 0;
    if (of_partition < of_partition_max) kept.push_back(rows[i]);
  }
  if (merges) Merge(model.schema(), shape, rules, kept);
  std::vector<ResultRow> result;
  if (shape.aggregates) return {AggregatesOf(kept, shape, now_seconds, rules)};
  for (const LiveRow& row : kept) {
    // What is merged is made before it is put in order, all of it.
    const bool is_full = shape.limit && static_cast<int64_t>(result.size()) == *shape.limit;
    if (is_full && !merges) break;
    ResultRow values = ValuesOf(row, shape, now_seconds, rules);
    if (!is_full || IsRefused({values})) result.push_back(std::move(values));
  }
  return result;
}

void MakeComparable(const ReadShape& shape, const TimeWindow& window,
                    std::vector<ResultRow>& rows) {
  for (size_t i = 0; i < shape.selectors.size(); ++i) {
    if (!shape.selectors[i].make_comparable) continue;
    ResultRow column;
    for (const ResultRow& row : rows) column.push_back(row.at(i));
    shape.selectors[i].make_comparable(column, window);
    for (size_t row = 0; row < rows.size(); ++row) rows[row][i] = column[row];
  }
}

const std::string kNoJson = "a value has no JSON";

bool IsRefused(const std::vector<ResultRow>& rows) {
  return std::ranges::any_of(
      rows, [](const ResultRow& row) { return std::ranges::find(row, kNoJson) != row.end(); });
}

std::optional<std::string> ClusteringValue(const LiveRow& row, size_t column) {
  return row.is_static_alone ? std::nullopt : std::optional(row.clustering[column]);
}

std::optional<std::string> CellValue(const LiveRow& row, size_t column) {
  return row.cells[column] ? std::optional(row.cells[column]->value) : std::nullopt;
}

bool IsSmall(const DataType& type) {
  constexpr CqlType kSmall[] = {CqlType::kInt, CqlType::kSmallint, CqlType::kTinyint};
  return std::ranges::any_of(kSmall, [&](CqlType small) { return type.is(small); });
}

int64_t IntOf(std::string_view bytes) {
  uint64_t value = !bytes.empty() && (bytes[0] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(value);
}

std::string VarintOf(int64_t value) {
  size_t bytes = 1;
  while (IntOf(BytesOfInt(value, bytes)) != value) ++bytes;
  return BytesOfInt(value, bytes);
}

}  // namespace liststore::testing
