#include "engine/cql/values/print_value.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hex.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/inet_text.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/composite_value.h"

namespace liststore::cql {
namespace {

// The shortest digits that are read back as the same number.
template <typename Float>
std::string PrintFloat(Float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  char text[64];
  const auto [end, failure] = std::to_chars(text, text + sizeof(text), number);
  LS_CHECK(failure == std::errc(), "the shortest form of a float has few digits");
  return {text, end};
}

std::string PrintUuid(std::string_view bytes) {
  const std::string hex = LowerHex(bytes);
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

std::string PrintTimestamp(std::string_view value) {
  const auto milliseconds = static_cast<int64_t>(LoadBigEndian64(value.data()));
  return HasTimestampText(milliseconds) ? QuoteString(PrintTimestampText(milliseconds))
                                        : std::to_string(milliseconds);
}

std::string PrintDate(std::string_view value) {
  const uint32_t days = LoadBigEndian32(value.data());
  return HasDateText(days) ? QuoteString(PrintDateText(days)) : std::to_string(days);
}

// As the function that makes it of its bytes.
std::string PrintAsBlob(CqlType type, std::string_view value) {
  return "blobas" + std::string(CqlTypeName(type)) + "(" + PrintBlob(value) + ")";
}

std::string PrintNative(CqlType type, std::string_view value) {
  if (value.empty()) {
    if (type == CqlType::kBlob) return "0x";
    return HasQuotes(type) ? "''" : PrintAsBlob(type, value);
  }
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return QuoteString(value);
    case CqlType::kBlob:
      return PrintBlob(value);
    case CqlType::kBoolean:
      return value[0] != 0 ? "true" : "false";
    case CqlType::kTinyint:
      return std::to_string(static_cast<int8_t>(value[0]));
    case CqlType::kSmallint:
      return std::to_string(static_cast<int16_t>(LoadBigEndian16(value.data())));
    case CqlType::kInt:
      return std::to_string(static_cast<int32_t>(LoadBigEndian32(value.data())));
    case CqlType::kBigint:
    case CqlType::kCounter:
      return std::to_string(static_cast<int64_t>(LoadBigEndian64(value.data())));
    case CqlType::kFloat:
      return PrintFloat(std::bit_cast<float>(LoadBigEndian32(value.data())));
    case CqlType::kDouble:
      return PrintFloat(std::bit_cast<double>(LoadBigEndian64(value.data())));
    case CqlType::kVarint:
      if (value.size() > kPrintedVarintBytesMax) return PrintAsBlob(type, value);
      return PrintVarint(value);
    case CqlType::kDecimal:
      if (value.size() > kPrintedVarintBytesMax) return PrintAsBlob(type, value);
      return PrintDecimal(value);
    case CqlType::kDate:
      return PrintDate(value);
    case CqlType::kTime:
      return QuoteString(PrintTimeText(static_cast<int64_t>(LoadBigEndian64(value.data()))));
    case CqlType::kTimestamp:
      return PrintTimestamp(value);
    case CqlType::kDuration: {
      const std::string text = PrintDurationText(*DecodeDuration(value));
      return text.empty() ? "0ns" : text;
    }
    case CqlType::kInet:
      return QuoteString(PrintInet(value));
    case CqlType::kUuid:
    case CqlType::kTimeuuid:
      return PrintUuid(value);
  }
  LS_UNREACHABLE("a type is one of the enum");
}

std::string PrintElements(const DataType& type, std::string_view value) {
  const std::optional<std::vector<std::string_view>> elements = SplitCollection(type, value);
  LS_CHECK(elements, "values are validated before they are printed");
  const bool list = type.kind() == DataType::Kind::kList;
  const bool map = type.kind() == DataType::Kind::kMap;
  std::string text = list ? "[" : "{";
  for (size_t i = 0; i < elements->size(); ++i) {
    if (i != 0) text += map && i % 2 == 1 ? ": " : ", ";
    text += PrintValue(type.parameters()[i % type.parameters().size()], (*elements)[i]);
  }
  return text + (list ? "]" : "}");
}

std::string PrintFields(const DataType& type, std::string_view value) {
  const auto fields = SplitTuple(type, value);
  LS_CHECK(fields, "values are validated before they are printed");
  const bool user = type.kind() == DataType::Kind::kUser;
  std::string text = user ? "{" : "(";
  for (size_t i = 0; i < fields->size(); ++i) {
    if (i != 0) text += ", ";
    if (user) text += QuoteIdentifier(type.user().fields[i]) + ": ";
    text += PrintValue(type.parameters()[i], (*fields)[i]);
  }
  return text + (user ? "}" : ")");
}

}  // namespace

bool HasQuotes(CqlType type) {
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kDate:
    case CqlType::kInet:
    case CqlType::kText:
    case CqlType::kTime:
    case CqlType::kTimestamp:
      return true;
    default:
      return false;
  }
}

std::string PrintValue(const DataType& type, std::optional<std::string_view> value) {
  if (!value) return "null";
  LS_DCHECK(type.IsValid(*value), "values are validated before they are printed");
  if (type.is_native()) return PrintNative(type.native(), *value);
  return type.has_fields() ? PrintFields(type, *value) : PrintElements(type, *value);
}

std::string PrintBlob(std::string_view bytes) { return "0x" + LowerHex(bytes); }

}  // namespace liststore::cql
