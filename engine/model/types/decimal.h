// Integers and decimals of any length, as CQL's varint and decimal encode them: two's complement,
// big endian; a decimal has a 4-byte scale in front, value = unscaled * 10^-scale.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_DECIMAL_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_DECIMAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace liststore {

inline constexpr size_t kDecimalScaleBytes = 4;
// A decimal has 2.5 million digits at most: to compare two of different scales takes some 20 bytes
// of memory for each of theirs.
inline constexpr size_t kDecimalBytesMax = size_t{1} << 20;

// The shortest form of a varint of at least one byte: without bytes that repeat the sign.
std::string_view TrimVarint(std::string_view value);
// Three-way by value; both of at least one byte.
int CompareVarints(std::string_view a, std::string_view b);

// A decimal by its value: sign * 0.d1d2d3... * 10^exponent, d1 and the last digit not zero. The
// scale is forgotten: equal numbers have equal forms.
struct NormalDecimal {
  int sign = 0;          // -1, 0, 1; zero has no digits and exponent 0
  int64_t exponent = 0;  // of a scale of 32 bits and at most 160,000 digits: far inside 64 bits
  std::string digits;    // '0' to '9'

  bool operator==(const NormalDecimal&) const = default;
};

// `value` has a scale; missing unscaled bytes count as zero. O(n log^2 n) of its bytes.
NormalDecimal NormalizeDecimal(std::string_view value);
// A decimal of that value, with scale 0 where that costs at most 38 zeros (100 and not 1E+2).
std::string EncodeDecimal(const NormalDecimal& number);

int CompareNormalDecimals(const NormalDecimal& a, const NormalDecimal& b);
// Three-way by value, as of their normal forms. O(bytes) where the scales are the same, or the
// numbers of digits tell; else O(n log n) of their bytes.
int CompareDecimals(std::string_view a, std::string_view b);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_DECIMAL_H_
