#include "engine/cql/values/cast_value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/evaluate_function.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/marshal_name.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/decimal.h"

namespace liststore::cql {
namespace {

using Result = CqlOr<std::optional<std::string>>;

bool IsInteger(CqlType type) {
  return type == CqlType::kTinyint || type == CqlType::kSmallint || type == CqlType::kInt ||
         type == CqlType::kBigint;
}
bool IsFloating(CqlType type) { return type == CqlType::kFloat || type == CqlType::kDouble; }
bool IsNumber(CqlType type) {
  return IsInteger(type) || IsFloating(type) || type == CqlType::kVarint ||
         type == CqlType::kDecimal;
}
bool IsText(CqlType type) { return type == CqlType::kText || type == CqlType::kAscii; }

// Has it a text other than a number's?
bool HasText(CqlType type) {
  switch (type) {
    case CqlType::kTimestamp:
    case CqlType::kDate:
    case CqlType::kTime:
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
    case CqlType::kBoolean:
    case CqlType::kInet:
      return true;
    default:
      return false;
  }
}

bool HasCast(CqlType from, CqlType to) {
  if (IsNumber(from) || from == CqlType::kCounter) return IsNumber(to) || IsText(to);
  if (IsText(to)) return HasText(from) || (from == CqlType::kAscii && to == CqlType::kText);
  if (from == CqlType::kTimeuuid) return to == CqlType::kTimestamp || to == CqlType::kDate;
  return (from == CqlType::kTimestamp && to == CqlType::kDate) ||
         (from == CqlType::kDate && to == CqlType::kTimestamp);
}

// ---- Numbers

std::string FromFloating(double value, CqlType to) {
  return to == CqlType::kFloat ? EncodeFloat(static_cast<float>(value)) : EncodeDouble(value);
}

double ToFloating(CqlType from, std::string_view value) {
  if (from == CqlType::kFloat) return std::bit_cast<float>(LoadBigEndian32(value.data()));
  return std::bit_cast<double>(LoadBigEndian64(value.data()));
}

// As the processors do that ScyllaDB runs on: what does not fit is the smallest integer.
template <typename Int>
int64_t Truncated(double value) {
  constexpr double kEnd = -static_cast<double>(std::numeric_limits<Int>::min());
  if (!(value > -kEnd - 1 && value < kEnd)) return std::numeric_limits<Int>::min();
  return static_cast<Int>(value);
}

Result TooLong(size_t digits) {
  return CqlError::Server("a number of " + std::to_string(digits) +
                          " digits exceeds the maximum of " + std::to_string(kLiteralDigitsMax));
}

// Bytes of a trimmed varint that is larger than every double, and than every float.
constexpr size_t kInfiniteVarintBytes = 130;
static_assert(8 * (kInfiniteVarintBytes - 1) > std::numeric_limits<double>::max_exponent);

// Digits are not made of numbers without end. `unscaled` may be empty.
bool IsPrinted(std::string_view unscaled) {
  return unscaled.empty() || TrimVarint(unscaled).size() <= kPrintedVarintBytesMax;
}
CqlError NotPrinted(std::string_view value) {
  return CqlError::Server("a number of " + std::to_string(value.size()) +
                          " bytes exceeds the maximum of " +
                          std::to_string(kPrintedVarintBytesMax) +
                          " bytes of a CAST to digits: select it without CAST");
}

// A number in decimal digits, maybe with a fraction and an exponent.
Result FromText(const std::string& text, CqlType to) {
  if (const size_t digits = CountDigits(text); digits > kLiteralDigitsMax) return TooLong(digits);
  std::optional<std::string> value =
      to == CqlType::kDecimal ? ParseDecimal(text) : ParseVarint(text);
  if (!value) {
    return CqlError::Invalid("marshaling error: unable to make " +
                             std::string(to == CqlType::kDecimal ? "BigDecimal" : "int") +
                             " from '" + text + "'");
  }
  return value;
}

Result CastInteger(int64_t value, CqlType to) {
  if (IsInteger(to)) return std::optional(EncodeInteger(value, to));
  // Through the type itself: by way of a double a float would be rounded twice.
  if (to == CqlType::kFloat) {
    return std::optional(FromFloating(static_cast<double>(static_cast<float>(value)), to));
  }
  if (to == CqlType::kDouble) return std::optional(FromFloating(static_cast<double>(value), to));
  const std::string text = std::to_string(value);
  return FromText(to == CqlType::kDecimal ? text + ".0" : text, to);
}

// The shortest digits that make the same number, without an exponent where that is below 16.
// Source: ScyllaDB cql3/functions/castas_fcts.cc, castas_fctn_from_float_to_decimal.
template <typename Float>
std::string DecimalText(Float value) {
  char text[64];
  const auto [end, failure] =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  LS_CHECK(failure == std::errc(), "the shortest form of a number has few digits");
  std::string number(text, end);
  const size_t e = number.find('e');
  const size_t point = std::min(number.find('.'), e);
  const int exponent = std::atoi(number.c_str() + e + 1);
  const auto fraction = static_cast<int>(point < e ? e - point - 1 : 0);
  if (exponent >= 16 || exponent <= fraction) return number;
  number.resize(e);
  if (point < e) number.erase(point, 1);
  return number.append(static_cast<size_t>(exponent - fraction), '0');
}

Result CastFloating(CqlType from, double value, CqlType to) {
  if (IsFloating(to)) return std::optional(FromFloating(value, to));
  if (to == CqlType::kBigint) return std::optional(EncodeInteger(Truncated<int64_t>(value), to));
  if (IsInteger(to)) return std::optional(EncodeInteger(Truncated<int32_t>(value), to));
  if (to == CqlType::kDecimal && std::isfinite(value)) {
    return FromText(
        from == CqlType::kFloat ? DecimalText(static_cast<float>(value)) : DecimalText(value), to);
  }
  char text[400];  // the largest double has 309 digits
  if (to == CqlType::kDecimal) {
    std::snprintf(text, sizeof(text), "%g", value);  // what the error says
  } else if (std::isfinite(value)) {
    std::snprintf(text, sizeof(text), "%.0f", std::trunc(value));
    if (std::string_view(text) == "-0") return FromText("0", to);
  } else {
    return CqlError::Server("Cannot convert a non-finite number to an integer.");
  }
  return FromText(text, to);
}

// The whole part of a decimal, as a varint.
Result WholePart(std::string_view decimal) {
  const auto scale = int64_t{static_cast<int32_t>(LoadBigEndian32(decimal.data()))};
  const std::string_view unscaled = decimal.substr(kDecimalScaleBytes);
  if (unscaled.empty()) return FromText("0", CqlType::kVarint);
  std::string text = PrintVarint(unscaled);
  const size_t sign = text.starts_with('-') ? 1 : 0;
  if (scale >= static_cast<int64_t>(text.size() - sign)) {
    text = "0";
  } else if (scale >= 0) {
    text.resize(text.size() - static_cast<size_t>(scale));
  } else if (-scale > static_cast<int64_t>(kLiteralDigitsMax)) {
    return TooLong(static_cast<size_t>(-scale));
  } else {
    text.append(static_cast<size_t>(-scale), '0');
  }
  return FromText(text, CqlType::kVarint);
}

Result CastVarint(std::string_view value, CqlType to) {
  if (IsInteger(to)) return std::optional(EncodeInteger(DecodeInteger(value), to));
  value = TrimVarint(value);
  if (IsFloating(to) && value.size() >= kInfiniteVarintBytes) {
    const double infinity = std::numeric_limits<double>::infinity();
    return std::optional(FromFloating((value[0] & 0x80) != 0 ? -infinity : infinity, to));
  }
  if (!IsPrinted(value)) return NotPrinted(value);
  const std::string text = PrintVarint(value);
  if (to == CqlType::kDecimal) return FromText(text + ".0", to);
  LS_CHECK(IsFloating(to), "the other numbers are floating ones");
  return std::optional(FromFloating(to == CqlType::kFloat ? std::strtof(text.c_str(), nullptr)
                                                          : std::strtod(text.c_str(), nullptr),
                                    to));
}

Result CastDecimal(std::string_view value, CqlType to) {
  if (!IsPrinted(value.substr(kDecimalScaleBytes))) return NotPrinted(value);
  if (IsFloating(to)) {
    const std::string text = PrintDecimal(value);
    return std::optional(FromFloating(to == CqlType::kFloat ? std::strtof(text.c_str(), nullptr)
                                                            : std::strtod(text.c_str(), nullptr),
                                      to));
  }
  Result whole = WholePart(value);
  if (!whole.ok() || to == CqlType::kVarint) return whole;
  return CastVarint(**whole, to);
}

// ---- Text

// As its literal, without quotes.
std::string TextOf(CqlType type, std::string_view value) {
  if (type == CqlType::kTimestamp) {
    return PrintTimestampText(static_cast<int64_t>(LoadBigEndian64(value.data())));
  }
  if (type == CqlType::kDate) return PrintDateText(LoadBigEndian32(value.data()));
  std::string text = PrintValue(type, value);
  if (text.size() >= 2 && text.front() == '\'') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

CqlOr<NativeFunction> FindCast(const DataType& from, CqlType to) {
  if (from.is_native() && HasCast(from.native(), to)) {
    return NativeFunction{
        NativeFunction::Kind::kCast, "castas" + std::string(CqlTypeName(to)), {from}, to};
  }
  return CqlError::Invalid(MarshalTypeName(from) + " cannot be cast to " + MarshalTypeName(to));
}

Result CastValue(CqlType from, CqlType to, std::string_view value) {
  LS_CHECK(HasCast(from, to), "a cast is looked for before it is used");
  if (from == CqlType::kCounter) return CastValue(CqlType::kBigint, to, value);
  if (IsText(to) && IsText(from)) return std::optional(std::string(value));
  if (value.empty()) return std::optional<std::string>();
  if (IsText(to)) {
    if (from == CqlType::kVarint) {
      return IsPrinted(value) ? Result(PrintVarint(value)) : NotPrinted(value);
    }
    if (from == CqlType::kDecimal) {
      return IsPrinted(value.substr(kDecimalScaleBytes)) ? Result(PrintDecimal(value))
                                                         : NotPrinted(value);
    }
    return std::optional(TextOf(from, value));
  }
  if (IsInteger(from)) return CastInteger(DecodeInteger(value), to);
  if (IsFloating(from)) return CastFloating(from, ToFloating(from, value), to);
  if (from == CqlType::kVarint) return CastVarint(value, to);
  if (from == CqlType::kDecimal) return CastDecimal(value, to);
  // Times are the functions that have a name of their own.
  NativeFunction function;
  function.kind =
      to == CqlType::kDate ? NativeFunction::Kind::kToDate : NativeFunction::Kind::kToTimestamp;
  function.arguments.emplace_back(from);
  function.result = to;
  const std::optional<std::string_view> argument = value;
  return EvaluateFunction(function, {&argument, 1}, nullptr);
}

}  // namespace liststore::cql
