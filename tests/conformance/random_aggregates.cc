#include "tests/conformance/random_aggregates.h"

#include <cstdint>
#include <optional>
#include <string>

namespace liststore::testing {
namespace {

// sum(c) or avg(c), as a varint, for the sum need not fit into the column's type.
void AddSum(const Selection& to, size_t i) {
  const bool divides = to.random.OneIn(2);
  to.Say(divides ? "avg(CAST(" : "sum(CAST(");
  to.text << to.schema.ValueColumn(i).name << " AS varint))";
  to.Add(
      [i](const LiveRow& row, int64_t) -> std::optional<std::string> {
        const std::optional<std::string> number = CellValue(row, i);
        // A number of no bytes is none.
        if (!number || number->empty()) return std::nullopt;
        return VarintOf(IntOf(*number));
      },
      divides ? Aggregate::kAvg : Aggregate::kSum);
}

void AddMinOrMax(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  const bool is_max = to.random.OneIn(2);
  to.Say((is_max ? "max(" : "min(") + column.name + ")");
  to.Add([i](const LiveRow& row, int64_t) { return CellValue(row, i); },
         is_max ? Aggregate::kMax : Aggregate::kMin, column.type);
}

void AddCount(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  const bool converts = column.type.is(CqlType::kInt) && to.random.OneIn(2);
  to.Say(converts ? "count(CAST(" : "count(");
  to.text << column.name << (converts ? " AS text))" : ")");
  to.Add(
      [i, converts](const LiveRow& row, int64_t) {
        const std::optional<std::string> counted = CellValue(row, i);
        // A number of no bytes has no text.
        return converts && counted && counted->empty() ? std::nullopt : counted;
      },
      Aggregate::kCount);
}

// Of value `i`.
void AddAggregate(const Selection& to, size_t i) {
  const DataType& type = to.schema.ValueColumn(i).type;
  if (IsSmall(type) && to.random.OneIn(2)) return AddSum(to, i);
  if (type.is_native() && !HasDuration(type) && to.random.OneIn(2)) return AddMinOrMax(to, i);
  AddCount(to, i);
}

}  // namespace

void AddAggregates(const Selection& to) {
  to.shape.aggregates = true;
  to.Say("count(*)");
  to.Add([](const LiveRow&, int64_t) { return std::optional<std::string>(""); }, Aggregate::kCount);
  for (uint64_t left = to.random.Below(3); left > 0; --left) {
    const size_t i = to.random.Below(to.schema.values());
    // A static column alone would be another kind of SELECT.
    if (to.schema.is_static(i)) AddAggregate(to, to.random.Below(to.schema.regular.size()));
    AddAggregate(to, i);
  }
  if (!to.random.OneIn(4)) return;
  to.Say(to.schema.partition_key[0].name);
  to.Add([](const LiveRow& row, int64_t) { return std::optional(row.partition[0]); });
}

}  // namespace liststore::testing
