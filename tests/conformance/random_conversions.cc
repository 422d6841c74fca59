#include "tests/conformance/random_conversions.h"

#include <cstdint>
#include <optional>
#include <string>

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
  if (!column.type.is(CqlType::kTimestamp)) return;
  if (to.random.OneIn(2)) {
    return AddOfNumber(to, i, "toUnixTimestamp(" + column.name + ")",
                       [](int64_t millis) { return BytesOfInt(millis, 8); });
  }
  AddOfNumber(to, i, "toDate(" + column.name + ")", [](int64_t millis) {
    constexpr int64_t kDay = 86'400'000;
    const int64_t days = millis / kDay - (millis % kDay < 0 ? 1 : 0);
    return BytesOfInt(days + (int64_t{1} << 31), 4);
  });
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
