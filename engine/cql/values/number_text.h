// Varints and decimals as text.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_NUMBER_TEXT_H_
#define LISTSTORE_ENGINE_CQL_VALUES_NUMBER_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace liststore::cql {

// Digits of a literal for a varint or decimal.
inline constexpr size_t kLiteralDigitsMax = 65535;
// Bytes of a varint that surely has no more than kLiteralDigitsMax digits: longer ones are not
// printed, since nobody could say them as literals.
inline constexpr size_t kPrintedVarintBytesMax = 27000;

// -?digits -> the shortest varint. nullopt for anything else.
std::optional<std::string> ParseVarint(std::string_view text);
// -?digits[.digits][e[+-]digits] -> scale and unscaled value as written: 1.00 and 1 differ. nullopt
// for anything else and where the scale does not fit in 32 bits.
std::optional<std::string> ParseDecimal(std::string_view text);
// How many digits a number has in front of its exponent.
size_t CountDigits(std::string_view text);

// Of at least one byte, and at most kPrintedVarintBytesMax.
std::string PrintVarint(std::string_view varint);
// Of a valid decimal that is not empty, its number within the same limit. In the form that keeps
// the scale: plain, or with an exponent where the scale is negative or there would be many zeros.
// Source: java.math.BigDecimal.toString, which CQL shells print.
std::string PrintDecimal(std::string_view decimal);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_NUMBER_TEXT_H_
