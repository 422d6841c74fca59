// Natural numbers of any length: their digits in decimal and in binary, and products. All in nearly
// linear time: O(n log^2 n) of n digits, and some 20 bytes of working memory for a byte; what is
// short is done as on paper.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_BIG_NUMBER_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_BIG_NUMBER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

// Digits to the base 2^32, the least significant first, the last not zero; none: zero.
using Limbs = std::vector<uint32_t>;

// '0' to '9', any number of leading zeros.
Limbs LimbsOfDigits(std::string_view digits);
// Without leading zeros; empty for zero.
std::string DigitsOfLimbs(std::span<const uint32_t> limbs);

Limbs MultiplyLimbs(std::span<const uint32_t> a, std::span<const uint32_t> b);
// number * 10^exponent.
Limbs TimesPowerOfTen(std::span<const uint32_t> number, uint64_t exponent);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_BIG_NUMBER_H_
