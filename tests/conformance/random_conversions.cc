#include "tests/conformance/random_conversions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/time_model.h"

namespace liststore::testing {
namespace {

// `text`: a function of whole number `i`, which `convert` computes.
template <typename Convert>
void AddOfNumber(const Selection& to, size_t i, const std::string& text, Convert convert) {
  to.Say(text);
  to.Add([i, convert](const LiveRow& row, int64_t) -> std::optional<std::string> {
    const std::optional<std::string> value = CellValue(row, i);
    // A number of no bytes is none.
    if (!value || value->empty()) return std::nullopt;
    return convert(IntOf(*value));
  });
}

// A time: of what milliseconds, how much is within them, and back into bytes.
struct TimeFunction {
  CqlType from;
  std::string_view name;
  std::string (*result)(int64_t millis);
};

std::string Millis(int64_t millis) { return BytesOfInt(millis, 8); }

constexpr TimeFunction kTimeFunctions[] = {
    {CqlType::kTimestamp, "toUnixTimestamp", Millis},
    {CqlType::kTimestamp, "toDate", DateOfMillis},
    {CqlType::kTimestamp, "minTimeuuid",
     [](int64_t millis) { return TimeuuidOf(millis * kTicksPerMilli, kFirstOfTick); }},
    {CqlType::kTimestamp, "maxTimeuuid",
     [](int64_t millis) { return TimeuuidOf((millis + 1) * kTicksPerMilli - 1, kLastOfTick); }},
    {CqlType::kDate, "toTimestamp", Millis},
    {CqlType::kDate, "toUnixTimestamp", Millis},
    {CqlType::kTimeuuid, "toTimestamp", Millis},
    {CqlType::kTimeuuid, "toUnixTimestamp", Millis},
    {CqlType::kTimeuuid, "toDate", DateOfMillis},
    {CqlType::kTimeuuid, "dateOf", Millis},
    {CqlType::kTimeuuid, "unixTimestampOf", Millis},
};

int64_t MillisOf(CqlType type, std::string_view value) {
  if (type == CqlType::kDate) return MillisOfDate(value);
  return type == CqlType::kTimestamp ? IntOf(value) : FloorDivide(TicksOf(value), kTicksPerMilli);
}

void AddTimeConversion(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  std::vector<const TimeFunction*> functions;
  for (const TimeFunction& function : kTimeFunctions) {
    if (column.type.is(function.from)) functions.push_back(&function);
  }
  if (functions.empty()) return;
  const TimeFunction& function = *functions[to.random.Below(functions.size())];
  to.Say(std::string(function.name) + "(" + column.name + ")");
  to.Add([i, &function](const LiveRow& row, int64_t) -> std::optional<std::string> {
    const std::optional<std::string> value = CellValue(row, i);
    if (!value) return std::nullopt;
    return function.result(MillisOf(function.from, *value));
  });
}

}  // namespace

void AddConversion(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  if (IsSmall(column.type) || column.type.is(CqlType::kBigint)) {
    if (to.random.OneIn(2)) {
      return AddOfNumber(to, i, "CAST(" + column.name + " AS text)",
                         [](int64_t value) { return std::to_string(value); });
    }
    return AddOfNumber(to, i, "CAST(" + column.name + " AS varint)", VarintOf);
  }
  AddTimeConversion(to, i);
}

void AddBlobConversion(const Selection& to, size_t i) {
  const ModelColumn& column = to.schema.ValueColumn(i);
  if (!column.type.is_native() || column.type.is(CqlType::kBlob)) return;
  if (column.type.is(CqlType::kCounter)) return;
  const std::string type(CqlTypeName(column.type.native()));
  const std::string bytes = type + "AsBlob(" + column.name + ")";
  to.Say(to.random.OneIn(2) ? bytes : "blobAs" + type + "(" + bytes + ")");
  to.Add([i](const LiveRow& row, int64_t) { return CellValue(row, i); });
}

}  // namespace liststore::testing
