#include "engine/model/types/decimal.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/three_way.h"
#include "engine/model/types/big_number.h"

namespace liststore {
namespace {

// Zeros that EncodeDecimal writes to avoid a negative scale.
constexpr int64_t kPaddingZerosMax = 38;

bool IsNegative(std::string_view varint) { return (varint[0] & 0x80) != 0; }

// |value| of a varint.
Limbs MagnitudeOf(std::string_view varint) {
  const bool negative = IsNegative(varint);
  Limbs limbs((varint.size() + 3) / 4, 0);
  for (size_t i = 0; i < varint.size(); ++i) {
    const auto byte = static_cast<uint8_t>(varint[varint.size() - 1 - i]);
    limbs[i / 4] |= uint32_t{static_cast<uint8_t>(negative ? ~byte : byte)} << (i % 4 * 8);
  }
  if (negative) {  // -x = ~x + 1
    size_t i = 0;
    while (i < limbs.size() && ++limbs[i] == 0) ++i;
    if (i == limbs.size()) limbs.push_back(1);
  }
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return limbs;
}

// The shortest varint of sign * magnitude.
std::string VarintOf(int sign, const Limbs& limbs) {
  std::string varint(1 + limbs.size() * 4, '\0');
  for (size_t i = 0; i < limbs.size(); ++i) {
    StoreBigEndian32(varint.data() + varint.size() - 4 * (i + 1), limbs[i]);
  }
  if (sign < 0) {
    for (char& byte : varint) byte = static_cast<char>(~byte);
    for (size_t i = varint.size(); i-- > 0 && ++varint[i] == 0;) {
    }
  }
  return std::string(TrimVarint(varint));
}

int CompareLimbs(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

// Where the decimal point of a number with these limbs stands: the number lies between 10 to the
// power of `low` and of `high`.
struct Magnitude {
  double low = 0;
  double high = 0;
};
Magnitude MagnitudeOf(const Limbs& limbs, int32_t scale) {
  constexpr double kDigitsPerBit = 0.30102999566398120;
  // More than all that rounding takes, of 32 bits of scale and 2^31 bits.
  constexpr double kSlack = 1e-3;
  const double bits = 32.0 * static_cast<double>(limbs.size()) - std::countl_zero(limbs.back());
  return {(bits - 1) * kDigitsPerBit - scale - kSlack, bits * kDigitsPerBit - scale + kSlack};
}

struct ScaledLimbs {
  int sign = 0;
  int32_t scale = 0;
  Limbs limbs;
};
ScaledLimbs TakeApart(std::string_view value) {
  LS_CHECK(value.size() >= kDecimalScaleBytes, "a decimal begins with its scale");
  ScaledLimbs number;
  number.scale = static_cast<int32_t>(LoadBigEndian32(value.data()));
  const std::string_view unscaled = value.substr(kDecimalScaleBytes);
  if (unscaled.empty()) return number;
  number.limbs = MagnitudeOf(TrimVarint(unscaled));
  if (!number.limbs.empty()) number.sign = IsNegative(unscaled) ? -1 : 1;
  return number;
}

}  // namespace

std::string_view TrimVarint(std::string_view value) {
  LS_DCHECK(!value.empty(), "a varint has at least one byte");
  while (value.size() > 1 && (value[0] == '\0' || value[0] == '\xff') &&
         (value[0] & 0x80) == (value[1] & 0x80)) {
    value.remove_prefix(1);
  }
  return value;
}

int CompareVarints(std::string_view a, std::string_view b) {
  a = TrimVarint(a);
  b = TrimVarint(b);
  if (IsNegative(a) != IsNegative(b)) return IsNegative(a) ? -1 : 1;
  if (a.size() != b.size()) return (a.size() < b.size()) == IsNegative(a) ? 1 : -1;
  return a.compare(b);
}

NormalDecimal NormalizeDecimal(std::string_view value) {
  LS_CHECK(value.size() >= kDecimalScaleBytes, "a decimal begins with its scale");
  const auto scale = static_cast<int32_t>(LoadBigEndian32(value.data()));
  const std::string_view unscaled = value.substr(kDecimalScaleBytes);
  NormalDecimal number;
  if (unscaled.empty()) return number;
  number.digits = DigitsOfLimbs(MagnitudeOf(TrimVarint(unscaled)));
  if (number.digits.empty()) return number;
  number.sign = IsNegative(unscaled) ? -1 : 1;
  number.exponent = static_cast<int64_t>(number.digits.size()) - scale;
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  return number;
}

std::string EncodeDecimal(const NormalDecimal& number) {
  std::string digits = number.digits;
  int64_t scale = static_cast<int64_t>(digits.size()) - number.exponent;
  // A negative scale means zeros in front of the point. They are written out where they are few, or
  // where the scale would leave its 32 bits (it did not before its zeros were dropped).
  const int64_t scale_min =
      scale >= -kPaddingZerosMax ? 0 : int64_t{std::numeric_limits<int32_t>::min()};
  if (scale < scale_min) {
    digits.append(static_cast<size_t>(scale_min - scale), '0');
    scale = scale_min;
  }
  LS_CHECK(scale <= std::numeric_limits<int32_t>::max(), "a decimal's scale has 32 bits");
  std::string value(kDecimalScaleBytes, '\0');
  StoreBigEndian32(value.data(), static_cast<uint32_t>(static_cast<int32_t>(scale)));
  return value + VarintOf(number.sign, LimbsOfDigits(digits));
}

int CompareDecimals(std::string_view a, std::string_view b) {
  ScaledLimbs left = TakeApart(a);
  ScaledLimbs right = TakeApart(b);
  if (left.sign != right.sign) return ThreeWay(left.sign, right.sign);
  if (left.sign == 0) return 0;
  if (left.scale != right.scale) {
    const Magnitude of_left = MagnitudeOf(left.limbs, left.scale);
    const Magnitude of_right = MagnitudeOf(right.limbs, right.scale);
    if (of_left.high < of_right.low) return -left.sign;
    if (of_right.high < of_left.low) return left.sign;
    // As close as they are, the one with fewer digits behind the point gets no more digits than the
    // other has.
    ScaledLimbs& shorter = left.scale < right.scale ? left : right;
    const int64_t zeros = std::abs(int64_t{left.scale} - right.scale);
    shorter.limbs = TimesPowerOfTen(shorter.limbs, static_cast<uint64_t>(zeros));
  }
  return left.sign * CompareLimbs(left.limbs, right.limbs);
}

int CompareNormalDecimals(const NormalDecimal& a, const NormalDecimal& b) {
  if (a.sign != b.sign) return ThreeWay(a.sign, b.sign);
  if (a.exponent != b.exponent) return a.sign * ThreeWay(a.exponent, b.exponent);
  return a.sign * ThreeWay(a.digits, b.digits);
}

}  // namespace liststore
