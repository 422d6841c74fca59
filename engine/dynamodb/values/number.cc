#include "engine/dynamodb/values/number.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/model/types/decimal.h"

namespace liststore::dynamodb {
namespace {

using Coefficient = unsigned __int128;

constexpr std::array<Coefficient, kNumberDigitsMax + 1> kPowersOfTen = [] {
  std::array<Coefficient, kNumberDigitsMax + 1> powers = {};
  Coefficient power = 1;
  for (Coefficient& each : powers) {
    each = power;
    power *= 10;
  }
  return powers;
}();

// Of 0: 0.
int DigitsOf(Coefficient value) {
  return static_cast<int>(std::ranges::upper_bound(kPowersOfTen, value) - kPowersOfTen.begin());
}

// The decimal digits of a coefficient, without a terminator.
struct Digits {
  explicit Digits(Coefficient value) {
    size_t at = chars.size();
    // Two divisions of 128 bits at most; the rest is done in 64.
    constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;
    while (value > std::numeric_limits<uint64_t>::max()) {
      auto low = static_cast<uint64_t>(value % kChunk);
      value /= kChunk;
      for (int i = 0; i < 19; ++i, low /= 10) chars[--at] = static_cast<char>('0' + low % 10);
    }
    for (auto rest = static_cast<uint64_t>(value); rest != 0; rest /= 10) {
      chars[--at] = static_cast<char>('0' + rest % 10);
    }
    begin = at;
  }
  std::string_view view() const { return {chars.data() + begin, chars.size() - begin}; }

  std::array<char, 40> chars;
  size_t begin;
};

// A CQL decimal of an unscaled number in two's complement, in as few bytes as show its sign.
std::string DecimalOf(Coefficient unscaled, int32_t scale) {
  std::array<char, kDecimalScaleBytes + sizeof(Coefficient)> bytes;
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(scale));
  for (size_t i = 0; i < sizeof(Coefficient); ++i) {
    bytes[bytes.size() - 1 - i] = static_cast<char>(unscaled >> (8 * i));
  }
  const std::string_view all(bytes.data(), bytes.size());
  std::string decimal(all.substr(0, kDecimalScaleBytes));
  return decimal.append(TrimVarint(all.substr(kDecimalScaleBytes)));
}

Error NotANumber(std::string_view text) {
  std::string message = "The parameter cannot be converted to a numeric value";
  if (!text.empty()) message.append(": ").append(text.substr(0, 200));
  return Invalid(std::move(message));
}
Error TooManyDigits() {
  return Invalid("Attempting to store more than 38 significant digits in a Number");
}
Error Overflow() {
  return Invalid(
      "Number overflow. Attempting to store a number with magnitude larger than supported range");
}
Error Underflow() {
  return Invalid(
      "Number underflow. Attempting to store a number with magnitude smaller than supported range");
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Digits with a point among them, as they come: the significant ones, and the power of ten of the last.
struct Significand {
  // Before anything that is no part of it. False: a second point.
  bool Take(char c) {
    if (c == '.') return !std::exchange(point_seen, true);
    ++digits_seen;
    if (point_seen) --exponent;
    if (c == '0') {
      // They count once another digit follows.
      if (coefficient != 0 || too_long) ++zeros_pending;
      return true;
    }
    const int64_t shift = zeros_pending + 1;
    zeros_pending = 0;
    if (too_long || digits + (digits == 0 ? 1 : shift) > kNumberDigitsMax) {
      too_long = true;
      return true;
    }
    if (digits == 0) {
      coefficient = static_cast<Coefficient>(c - '0');
      digits = 1;
      return true;
    }
    digits += shift;
    coefficient =
        coefficient * kPowersOfTen[static_cast<size_t>(shift)] + static_cast<Coefficient>(c - '0');
    return true;
  }

  Coefficient coefficient = 0;
  int64_t digits = 0;         // of the coefficient
  int64_t zeros_pending = 0;  // behind it
  int64_t exponent = 0;       // of the last digit seen
  size_t digits_seen = 0;
  bool point_seen = false;
  bool too_long = false;  // more than 38 significant digits
};

// What is behind e, held to a range in which no sum overflows. nullopt: none.
std::optional<int64_t> ParseExponent(std::string_view text) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int64_t exponent = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    exponent = std::min(exponent * 10 + (c - '0'), kHuge);
  }
  return negative ? -exponent : exponent;
}

}  // namespace

Number Number::Of(int64_t value) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return *Normalize(negative, magnitude, 0);
}

ErrorOr<Number> Number::Normalize(bool negative, Coefficient coefficient, int64_t exponent) {
  Number number;
  if (coefficient == 0) return number;
  // In 64 bits as soon as it fits: a division of 128 takes ten times as long.
  while (coefficient > std::numeric_limits<uint64_t>::max() && coefficient % 10 == 0) {
    coefficient /= 10;
    ++exponent;
  }
  if (coefficient <= std::numeric_limits<uint64_t>::max()) {
    auto small = static_cast<uint64_t>(coefficient);
    for (; small % 10 == 0; small /= 10) ++exponent;
    coefficient = small;
  }
  const int digits = DigitsOf(coefficient);
  if (digits > kNumberDigitsMax) return TooManyDigits();
  const int64_t first = exponent + digits - 1;
  if (first > kNumberExponentMax) return Overflow();
  if (first < kNumberExponentMin) return Underflow();
  number.coefficient_ = coefficient;
  number.exponent_ = static_cast<int32_t>(exponent);
  number.negative_ = negative;
  return number;
}

ErrorOr<Number> Number::Parse(std::string_view text) {
  const std::string_view whole = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Significand significand;
  size_t at = 0;
  for (; at < text.size() && (IsDigit(text[at]) || text[at] == '.'); ++at) {
    if (!significand.Take(text[at])) return NotANumber(whole);
  }
  if (significand.digits_seen == 0) return NotANumber(whole);
  int64_t exponent = significand.exponent + significand.zeros_pending;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return NotANumber(whole);
    const std::optional<int64_t> written = ParseExponent(text.substr(at + 1));
    if (!written.has_value()) return NotANumber(whole);
    exponent += *written;
  }
  if (significand.too_long) return TooManyDigits();
  return Normalize(negative, significand.coefficient, exponent);
}

void Number::AppendText(std::string& out) const {
  if (is_zero()) {
    out.push_back('0');
    return;
  }
  if (negative_) out.push_back('-');
  const Digits all(coefficient_);
  const std::string_view digits = all.view();
  if (exponent_ >= 0) {
    out.append(digits).append(static_cast<size_t>(exponent_), '0');
    return;
  }
  const auto behind = static_cast<size_t>(-exponent_);
  if (behind < digits.size()) {
    const size_t before = digits.size() - behind;
    out.append(digits.substr(0, before)).push_back('.');
    out.append(digits.substr(before));
  } else {
    out.append("0.").append(behind - digits.size(), '0').append(digits);
  }
}

void Number::AppendShortText(std::string& out) const {
  const size_t from = out.size();
  // A sign, zeros on one side of the digits, a point and a zero before it.
  const int digits = DigitsOf(coefficient_);
  const int plain = exponent_ >= 0 ? digits + exponent_ : std::max(digits + 1, 2 - exponent_);
  if (is_zero() || static_cast<size_t>(plain + (negative_ ? 1 : 0)) <= kShortTextBytesMax) {
    AppendText(out);
    LS_DCHECK(out.size() - from <= kShortTextBytesMax, "short texts are short");
    return;
  }
  if (negative_) out.push_back('-');
  out.append(Digits(coefficient_).view()).push_back('E');
  out.append(std::to_string(exponent_));
}

std::string Number::ToText() const {
  std::string text;
  AppendText(text);
  return text;
}

std::optional<int64_t> Number::ToInt64() const {
  if (exponent_ < 0 || exponent_ > 18) return std::nullopt;
  // Below 10^19 * 10^18.
  if (coefficient_ >= kPowersOfTen[19]) return std::nullopt;
  const Coefficient magnitude = coefficient_ * kPowersOfTen[static_cast<size_t>(exponent_)];
  constexpr auto kMax = static_cast<Coefficient>(std::numeric_limits<int64_t>::max());
  if (magnitude > kMax + (negative_ ? 1 : 0)) return std::nullopt;
  const auto low = static_cast<uint64_t>(magnitude);
  return static_cast<int64_t>(negative_ ? 0 - low : low);
}

int64_t Number::Floor() const {
  if (const std::optional<int64_t> whole = ToInt64()) return *whole;
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (exponent_ >= 0) return negative_ ? kMin : kMax;
  const int behind = -exponent_;
  // Not whole, as the last digit of the coefficient is not 0.
  if (behind > kNumberDigitsMax) return negative_ ? -1 : 0;
  const Coefficient magnitude = coefficient_ / kPowersOfTen[static_cast<size_t>(behind)];
  if (magnitude >= static_cast<Coefficient>(kMax)) return negative_ ? kMin : kMax;
  const auto small = static_cast<int64_t>(magnitude);
  return negative_ ? -small - 1 : small;
}

ErrorOr<Number> Number::Add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const Number& high = a.exponent_ >= b.exponent_ ? a : b;
  const Number& low = a.exponent_ >= b.exponent_ ? b : a;
  // Aligned to the lower exponent. Where that shifts anything, the last digit of the sum is that of `low`,
  // which is not 0: no digit is lost. 39 digits may become 38 where the first is a 1 that a difference takes
  // away (1E38 - 1), and only there; they and 38 more fit 2^128.
  const int shift = high.exponent_ - low.exponent_;
  const int digits = DigitsOf(high.coefficient_);
  if (digits + shift > kNumberDigitsMax + 1) return TooManyDigits();
  if (digits + shift > kNumberDigitsMax &&
      high.coefficient_ / kPowersOfTen[static_cast<size_t>(digits - 1)] != 1) {
    return TooManyDigits();
  }
  const Coefficient large = high.coefficient_ * kPowersOfTen[static_cast<size_t>(shift)];
  if (high.negative_ == low.negative_) {
    return Normalize(high.negative_, large + low.coefficient_, low.exponent_);
  }
  if (large >= low.coefficient_) {
    return Normalize(high.negative_, large - low.coefficient_, low.exponent_);
  }
  return Normalize(low.negative_, low.coefficient_ - large, low.exponent_);
}

ErrorOr<Number> Number::Subtract(const Number& a, const Number& b) {
  Number negated = b;
  if (!b.is_zero()) negated.negative_ = !b.negative_;
  return Add(a, negated);
}

int Number::Compare(const Number& a, const Number& b) {
  const auto sign = [](const Number& n) { return n.is_zero() ? 0 : n.negative_ ? -1 : 1; };
  const int sign_a = sign(a);
  if (sign_a != sign(b)) return sign_a < sign(b) ? -1 : 1;
  if (sign_a == 0) return 0;
  const int digits_a = DigitsOf(a.coefficient_);
  const int digits_b = DigitsOf(b.coefficient_);
  const int first_a = a.exponent_ + digits_a;
  const int first_b = b.exponent_ + digits_b;
  if (first_a != first_b) return first_a < first_b ? -sign_a : sign_a;
  // The same first place: as many digits of both, which are 38 at most.
  const int digits = std::max(digits_a, digits_b);
  const Coefficient all_a = a.coefficient_ * kPowersOfTen[static_cast<size_t>(digits - digits_a)];
  const Coefficient all_b = b.coefficient_ * kPowersOfTen[static_cast<size_t>(digits - digits_b)];
  if (all_a == all_b) return 0;
  return all_a < all_b ? -sign_a : sign_a;
}

// A sign (0 negative, 1 zero, 2 positive); of others than zero the place of the first digit, from 0, and two
// digits a byte, 1 to 100. Of negative numbers these are complemented, and 255 ends them, so that of two that
// begin alike the longer, which is the smaller number, comes first.
void Number::AppendOrderedBytes(std::string& out) const {
  if (is_zero()) {
    out.push_back(1);
    return;
  }
  const Digits all(coefficient_);
  const std::string_view digits = all.view();
  const uint8_t flip = negative_ ? 0xff : 0;
  const auto put = [&](int byte) {
    out.push_back(static_cast<char>(static_cast<uint8_t>(byte) ^ flip));
  };
  out.push_back(negative_ ? 0 : 2);
  put(exponent_ + static_cast<int>(digits.size()) - 1 - kNumberExponentMin);
  for (size_t at = 0; at < digits.size(); at += 2) {
    const int second = at + 1 < digits.size() ? digits[at + 1] - '0' : 0;
    put((digits[at] - '0') * 10 + second + 1);
  }
  if (negative_) out.push_back(static_cast<char>(0xff));
}

std::optional<Number> Number::FromOrderedBytes(std::string_view bytes) {
  if (bytes.size() == 1 && bytes[0] == 1) return Number();
  if (bytes.size() < 3 || (bytes[0] != 0 && bytes[0] != 2)) return std::nullopt;
  const bool negative = bytes[0] == 0;
  const uint8_t flip = negative ? 0xff : 0;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]) ^ flip; };
  size_t end = bytes.size();
  if (negative && static_cast<uint8_t>(bytes[--end]) != 0xff) return std::nullopt;
  if (end < 3 || end - 2 > kNumberDigitsMax / 2) return std::nullopt;
  Coefficient coefficient = 0;
  for (size_t i = 2; i < end; ++i) {
    if (at(i) < 1 || at(i) > 100) return std::nullopt;
    coefficient = coefficient * 100 + static_cast<Coefficient>(at(i) - 1);
  }
  // The first digit and the last pair are not 0.
  if (at(2) <= 10 || at(end - 1) == 1) return std::nullopt;
  const auto digits = static_cast<int64_t>(2 * (end - 2));
  ErrorOr<Number> number =
      Normalize(negative, coefficient, at(1) + kNumberExponentMin + 1 - digits);
  if (!number.ok()) return std::nullopt;
  return *number;
}

std::string Number::ToCqlDecimal() const {
  const int zeros = std::max(exponent_, 0);
  if (DigitsOf(coefficient_) + zeros <= kNumberDigitsMax) {
    const Coefficient magnitude = coefficient_ * kPowersOfTen[static_cast<size_t>(zeros)];
    return DecimalOf(negative_ ? 0 - magnitude : magnitude, exponent_ < 0 ? -exponent_ : 0);
  }
  NormalDecimal decimal;
  decimal.sign = negative_ ? -1 : 1;
  decimal.digits = Digits(coefficient_).view();
  decimal.exponent = exponent_ + static_cast<int64_t>(decimal.digits.size());
  return EncodeDecimal(decimal);
}

ErrorOr<Number> Number::FromCqlDecimal(std::string_view bytes) {
  if (bytes.size() < kDecimalScaleBytes) {
    return Error{ErrorCode::kInternalServerError,
                 "a number is stored as bytes that are no decimal"};
  }
  const std::string_view unscaled = bytes.substr(kDecimalScaleBytes);
  if (unscaled.size() <= sizeof(Coefficient)) {
    const bool negative = !unscaled.empty() && (unscaled[0] & 0x80) != 0;
    Coefficient value = negative ? ~Coefficient{0} : 0;
    for (const char byte : unscaled) value = value << 8 | static_cast<uint8_t>(byte);
    const auto scale = static_cast<int32_t>(LoadBigEndian32(bytes.data()));
    return Normalize(negative, negative ? 0 - value : value, -int64_t{scale});
  }
  const NormalDecimal decimal = NormalizeDecimal(bytes);
  if (decimal.digits.size() > kNumberDigitsMax) return TooManyDigits();
  Coefficient coefficient = 0;
  for (const char c : decimal.digits) {
    coefficient = coefficient * 10 + static_cast<Coefficient>(c - '0');
  }
  return Normalize(decimal.sign < 0, coefficient,
                   decimal.exponent - static_cast<int64_t>(decimal.digits.size()));
}

size_t Number::SizeInItem() const {
  if (is_zero()) return 1;
  // Pairs of digits lie at even places from the point on.
  const int digits = DigitsOf(coefficient_);
  const int first = exponent_ + digits - 1;
  const auto pair_of = [](int place) { return place >= 0 ? place / 2 : (place - 1) / 2; };
  const int pairs = pair_of(first) - pair_of(exponent_) + 1;
  return static_cast<size_t>(pairs) + 1 + (negative_ ? 1 : 0);
}

}  // namespace liststore::dynamodb
