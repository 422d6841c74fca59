// Numbers of DynamoDB: 38 significant decimal digits, magnitudes from 1E-130 below 1E126, exact.
// Source: DynamoDB's developer guide, "Naming rules and data types", Number.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_NUMBER_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

inline constexpr int kNumberDigitsMax = 38;
// Of the first significant digit: 1E-130 to 9.99E+125.
inline constexpr int kNumberExponentMin = -130;
inline constexpr int kNumberExponentMax = 125;
// Of a number as text: a sign, and 126 digits before the point, or "0." and 129 zeros and 38 digits behind it.
inline constexpr size_t kNumberTextBytesMax = 172;

// A number in normal form: equal values are equal in all members. 32 bytes, copied freely.
class Number {
 public:
  // Zero.
  constexpr Number() = default;
  // Every int64_t has at most 19 digits.
  static Number Of(int64_t value);

  // `text`: [+-] digits [. digits] [e [+-] digits], with digits on one side of the point at least.
  // Validation errors, in Amazon's words: "The parameter cannot be converted to a numeric value: x",
  // "Attempting to store more than 38 significant digits in a Number", "Number overflow. Attempting to
  // store a number with magnitude larger than supported range", "Number underflow. ...". O(bytes).
  static ErrorOr<Number> Parse(std::string_view text);

  bool is_zero() const { return coefficient_ == 0; }
  // Of zero: false.
  bool is_negative() const { return negative_; }

  // As DynamoDB answers it: "10000000000" of 1e10, "1.5" of 0001.50, "0" of -0; never an exponent.
  void AppendText(std::string& out) const;
  std::string ToText() const;
  // The same where that is at most kShortTextBytesMax bytes, else digits, E and an exponent. Parse reads it.
  static constexpr size_t kShortTextBytesMax = 42;
  void AppendShortText(std::string& out) const;

  // The value if it is whole and fits. For TTL attributes, which are seconds.
  std::optional<int64_t> ToInt64() const;
  // The largest int64_t not above it, and the ends of int64_t beyond: 1.9 is 1, -0.5 is -1.
  int64_t Floor() const;

  // Exact. The errors of Parse: a result of more than 38 digits, or beyond the range.
  static ErrorOr<Number> Add(const Number& a, const Number& b);
  static ErrorOr<Number> Subtract(const Number& a, const Number& b);

  bool operator==(const Number&) const = default;
  // -1, 0, 1 by value.
  static int Compare(const Number& a, const Number& b);
  bool operator<(const Number& other) const { return Compare(*this, other) < 0; }

  // Bytes whose order as unsigned bytes, shorter before longer, is the order of the numbers; equal
  // numbers have equal bytes. At most 22: a sign, an exponent, two digits a byte.
  void AppendOrderedBytes(std::string& out) const;
  // nullopt: `bytes` are none that AppendOrderedBytes writes.
  static std::optional<Number> FromOrderedBytes(std::string_view bytes);

  // What a CQL column of type decimal holds: a scale, and the unscaled number in two's complement
  // (model/types/decimal.h). Equal numbers have equal bytes.
  std::string ToCqlDecimal() const;
  // The errors of Parse: a decimal may be larger, and have more digits. InternalServerError: no decimal.
  static ErrorOr<Number> FromCqlDecimal(std::string_view bytes);

  // What the number adds to the size of an item, as Amazon counts: a byte for two digits, one more, and
  // one for a sign.
  size_t SizeInItem() const;

 private:
  using Coefficient = unsigned __int128;  // 38 digits are below 2^127

  // The normal form of coefficient * 10^exponent; the errors of Parse.
  static ErrorOr<Number> Normalize(bool negative, Coefficient coefficient, int64_t exponent);

  // value = coefficient_ * 10^exponent_. The last digit of the coefficient is not 0; zero is 0 * 10^0 and
  // not negative.
  Coefficient coefficient_ = 0;
  int32_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_NUMBER_H_
