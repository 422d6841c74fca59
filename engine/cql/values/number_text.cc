#include "engine/cql/values/number_text.h"

#include <charconv>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/types/decimal.h"

namespace liststore::cql {
namespace {

// Below it, plain decimals have too many zeros behind the point. Source: as PrintDecimal.
constexpr int64_t kPlainExponentMin = -6;

bool AreDigits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// The varint of sign and digits, of which there may be any number of leading zeros.
std::string VarintOf(bool negative, std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  NormalDecimal number;
  number.sign = digits.empty() ? 0 : negative ? -1 : 1;
  // With as many digits in front of the point as there are, the scale comes out as 0.
  number.exponent = static_cast<int64_t>(digits.size());
  number.digits = digits;
  return EncodeDecimal(number).substr(kDecimalScaleBytes);
}

// Sign and digits of a varint; "0" for zero.
std::string DigitsOf(std::string_view varint, bool& negative) {
  LS_CHECK(!varint.empty(), "a varint has at least one byte");
  const NormalDecimal number =
      NormalizeDecimal(std::string(kDecimalScaleBytes, '\0').append(varint));
  negative = number.sign < 0;
  if (number.sign == 0) return "0";
  std::string digits = number.digits;
  digits.append(static_cast<size_t>(number.exponent) - digits.size(), '0');
  return digits;
}

}  // namespace

std::optional<std::string> ParseVarint(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || !AreDigits(text)) return std::nullopt;
  return VarintOf(negative, text);
}

size_t CountDigits(std::string_view text) {
  size_t digits = 0;
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (c >= '0' && c <= '9') ++digits;
  }
  return digits;
}

std::optional<std::string> ParseDecimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int64_t exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    // Far outside of a scale; bounded so that the sum below is not.
    if (exponent > (int64_t{1} << 40) || exponent < -(int64_t{1} << 40)) return std::nullopt;
    text = text.substr(0, e);
  }
  int64_t scale = -exponent;
  std::string digits(text);
  if (const size_t point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    scale += static_cast<int64_t>(digits.size() - point);
  }
  if (digits.empty() || !AreDigits(digits)) return std::nullopt;
  if (scale < std::numeric_limits<int32_t>::min() || scale > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  std::string value(kDecimalScaleBytes, '\0');
  StoreBigEndian32(value.data(), static_cast<uint32_t>(static_cast<int32_t>(scale)));
  return value + VarintOf(negative, digits);
}

std::string PrintVarint(std::string_view varint) {
  bool negative = false;
  const std::string digits = DigitsOf(varint, negative);
  return negative ? "-" + digits : digits;
}

std::string PrintDecimal(std::string_view decimal) {
  LS_CHECK(decimal.size() >= kDecimalScaleBytes, "a decimal begins with its scale");
  const auto scale = int64_t{static_cast<int32_t>(LoadBigEndian32(decimal.data()))};
  const std::string_view unscaled = decimal.substr(kDecimalScaleBytes);
  bool negative = false;
  std::string digits = unscaled.empty() ? "0" : DigitsOf(unscaled, negative);
  const std::string sign = negative ? "-" : "";
  if (scale == 0) return sign + digits;
  const auto count = static_cast<int64_t>(digits.size());
  const int64_t exponent = count - 1 - scale;
  if (scale > 0 && exponent >= kPlainExponentMin) {
    if (count <= scale) digits.insert(0, static_cast<size_t>(scale - count + 1), '0');
    digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    return sign + digits;
  }
  if (count > 1) digits.insert(1, ".");
  return sign + digits + "E" + (exponent >= 0 ? "+" : "") + std::to_string(exponent);
}

}  // namespace liststore::cql
