#include "engine/model/types/big_number.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "engine/base/check.h"

namespace liststore {
namespace {

// A base whose digits have two halves. Numbers are digits, the least significant first, the last
// not zero.
template <uint32_t kHalfBase>
struct Base {
  static constexpr uint32_t kHalf = kHalfBase;
  static constexpr uint64_t kDigit = uint64_t{kHalfBase} * kHalfBase;
};
using Binary = Base<1 << 16>;
using Decimal = Base<10'000>;
constexpr size_t kDecimalDigits = 8;  // of one to that base

using Number = std::vector<uint32_t>;
using NumberView = std::span<const uint32_t>;

void Trim(Number& number) {
  while (!number.empty() && number.back() == 0) number.pop_back();
}

// --- Modulo a prime ------------------------------------------------------------------------------

// 2^64 - 2^32 + 1: it has roots of unity of all orders up to 2^32, and 2^64 is 2^32 - 1 modulo it.
// Sums of products of halves stay below it.
constexpr uint64_t kPrime = 0xffff'ffff'0000'0001;
constexpr uint64_t kEpsilon = 0xffff'ffff;  // 2^64 - kPrime
constexpr uint64_t kGenerator = 7;
constexpr int kRootsLog = 32;

uint64_t AddModulo(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a || sum >= kPrime ? sum - kPrime : sum;
}
uint64_t SubtractModulo(uint64_t a, uint64_t b) { return a >= b ? a - b : a - b + kPrime; }
uint64_t MultiplyModulo(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  const auto low = static_cast<uint64_t>(product);
  const auto high = static_cast<uint64_t>(product >> 64);
  // 2^96 is -1, 2^64 is kEpsilon.
  uint64_t rest = low - (high >> 32);
  if (rest > low) rest -= kEpsilon;
  const uint64_t middle = (high & kEpsilon) * kEpsilon;
  uint64_t sum = rest + middle;
  if (sum < rest) sum += kEpsilon;
  return sum >= kPrime ? sum - kPrime : sum;
}
uint64_t PowerModulo(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent != 0; exponent >>= 1, base = MultiplyModulo(base, base)) {
    if ((exponent & 1) != 0) power = MultiplyModulo(power, base);
  }
  return power;
}

// A transform of a power of two of elements: products of numbers become products of elements.
// Forwards it leaves them in another order, which it takes backwards.
class Transform {
 public:
  explicit Transform(size_t size) : size_(size), roots_(size / 2) {
    LS_CHECK(std::has_single_bit(size) && std::countr_zero(size) <= kRootsLog,
             "there is a root of unity of this order");
    const uint64_t root = PowerModulo(kGenerator, (kPrime - 1) / size);
    uint64_t power = 1;
    for (uint64_t& at : roots_) {
      at = power;
      power = MultiplyModulo(power, root);
    }
  }

  void Forwards(std::vector<uint64_t>& values) const {
    for (size_t length = size_ / 2; length >= 1; length /= 2) {
      const size_t step = size_ / 2 / length;
      for (size_t block = 0; block < size_; block += 2 * length) {
        for (size_t i = 0; i < length; ++i) {
          uint64_t& a = values[block + i];
          uint64_t& b = values[block + i + length];
          const uint64_t difference = SubtractModulo(a, b);
          a = AddModulo(a, b);
          b = MultiplyModulo(difference, roots_[i * step]);
        }
      }
    }
  }
  void Backwards(std::vector<uint64_t>& values) const {
    for (size_t length = 1; length < size_; length *= 2) {
      const size_t step = size_ / 2 / length;
      for (size_t block = 0; block < size_; block += 2 * length) {
        for (size_t i = 0; i < length; ++i) {
          uint64_t& a = values[block + i];
          uint64_t& b = values[block + i + length];
          // The inverse of the root, which is its complement to one half of the circle, negated.
          const uint64_t inverse = i == 0 ? 1 : kPrime - roots_[size_ / 2 - i * step];
          const uint64_t turned = MultiplyModulo(b, inverse);
          b = SubtractModulo(a, turned);
          a = AddModulo(a, turned);
        }
      }
    }
    const uint64_t scale = PowerModulo(size_, kPrime - 2);
    for (uint64_t& value : values) value = MultiplyModulo(value, scale);
  }

 private:
  const size_t size_;
  std::vector<uint64_t> roots_;
};

// --- Products ------------------------------------------------------------------------------------

// Up to here the shorter factor is taken digit by digit.
constexpr size_t kOnPaperMax = 512;

template <typename B>
Number MultiplyOnPaper(NumberView a, NumberView b) {
  Number product(a.size() + b.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      carry += uint64_t{a[i]} * b[j] + product[i + j];
      product[i + j] = static_cast<uint32_t>(carry % B::kDigit);
      carry /= B::kDigit;
    }
    product[i + b.size()] = static_cast<uint32_t>(carry);
  }
  Trim(product);
  return product;
}

template <typename B>
std::vector<uint64_t> Halves(NumberView number, size_t size) {
  std::vector<uint64_t> halves(size, 0);
  for (size_t i = 0; i < number.size(); ++i) {
    halves[2 * i] = number[i] % B::kHalf;
    halves[2 * i + 1] = number[i] / B::kHalf;
  }
  return halves;
}

template <typename B>
Number MultiplyByTransform(NumberView a, NumberView b) {
  const size_t size = std::bit_ceil(2 * (a.size() + b.size()));
  const Transform transform(size);
  std::vector<uint64_t> left = Halves<B>(a, size);
  std::vector<uint64_t> right = Halves<B>(b, size);
  transform.Forwards(left);
  transform.Forwards(right);
  for (size_t i = 0; i < size; ++i) left[i] = MultiplyModulo(left[i], right[i]);
  transform.Backwards(left);
  Number product(a.size() + b.size());
  uint64_t carry = 0;
  const auto next = [&](uint64_t sum) {
    carry += sum;
    const auto half = static_cast<uint32_t>(carry % B::kHalf);
    carry /= B::kHalf;
    return half;
  };
  for (size_t i = 0; i < product.size(); ++i) {
    const uint32_t low = next(left[2 * i]);
    product[i] = low + B::kHalf * next(left[2 * i + 1]);
  }
  LS_CHECK(carry == 0, "a product has as many digits as its factors");
  Trim(product);
  return product;
}

template <typename B>
Number Multiply(NumberView a, NumberView b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() <= kOnPaperMax) return MultiplyOnPaper<B>(a, b);
  // One that is much longer is taken in pieces of the other's length.
  Number product(a.size() + b.size() + 1, 0);
  for (size_t at = 0; at < b.size(); at += a.size()) {
    const NumberView piece = b.subspan(at, std::min(a.size(), b.size() - at));
    const Number part = MultiplyByTransform<B>(a, piece);
    uint64_t carry = 0;
    for (size_t i = 0; i < part.size() || carry != 0; ++i) {
      carry += product[at + i] + (i < part.size() ? uint64_t{part[i]} : 0);
      product[at + i] = static_cast<uint32_t>(carry % B::kDigit);
      carry /= B::kDigit;
    }
  }
  Trim(product);
  return product;
}

// --- From one base to the other ------------------------------------------------------------------

// Numbers of so many digits are converted digit by digit.
constexpr size_t kConvertedOnPaper = 512;

template <typename From, typename To>
class Converter {
 public:
  Number Convert(NumberView number) {
    if (number.size() <= kConvertedOnPaper) return ConvertOnPaper(number);
    // The largest piece of 512 * 2^n digits that leaves something.
    size_t level = 0;
    while ((kConvertedOnPaper << (level + 1)) < number.size()) ++level;
    const size_t below = kConvertedOnPaper << level;
    Number high = Multiply<To>(Convert(number.subspan(below)), Power(level));
    const Number low = Convert(number.first(below));
    if (high.size() < low.size()) high.resize(low.size(), 0);
    uint64_t carry = 0;
    for (size_t i = 0; i < low.size() || carry != 0; ++i) {
      if (i == high.size()) high.push_back(0);
      carry += high[i] + (i < low.size() ? uint64_t{low[i]} : 0);
      high[i] = static_cast<uint32_t>(carry % To::kDigit);
      carry /= To::kDigit;
    }
    Trim(high);
    return high;
  }

 private:
  static Number ConvertOnPaper(NumberView number) {
    Number converted;
    for (size_t at = number.size(); at-- > 0;) {
      uint64_t carry = number[at];
      for (uint32_t& digit : converted) {
        carry += digit * From::kDigit;
        digit = static_cast<uint32_t>(carry % To::kDigit);
        carry /= To::kDigit;
      }
      for (; carry != 0; carry /= To::kDigit) {
        converted.push_back(static_cast<uint32_t>(carry % To::kDigit));
      }
    }
    return converted;
  }

  // The base to the power of 512 * 2^level.
  const Number& Power(size_t level) {
    if (powers_.empty()) {
      Number digits(kConvertedOnPaper + 1, 0);
      digits.back() = 1;
      powers_.push_back(ConvertOnPaper(digits));
    }
    while (powers_.size() <= level) powers_.push_back(Multiply<To>(powers_.back(), powers_.back()));
    return powers_[level];
  }

  std::vector<Number> powers_;
};

}  // namespace

Limbs LimbsOfDigits(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  Number number;
  number.reserve(digits.size() / kDecimalDigits + 1);
  while (!digits.empty()) {
    const size_t size = std::min(digits.size(), kDecimalDigits);
    uint32_t digit = 0;
    for (const char c : digits.substr(digits.size() - size)) {
      digit = digit * 10 + static_cast<uint32_t>(c - '0');
    }
    number.push_back(digit);
    digits.remove_suffix(size);
  }
  return Converter<Decimal, Binary>().Convert(number);
}

std::string DigitsOfLimbs(std::span<const uint32_t> limbs) {
  const Number number = Converter<Binary, Decimal>().Convert(limbs);
  std::string digits(number.size() * kDecimalDigits, '0');
  for (size_t i = 0; i < number.size(); ++i) {
    uint32_t rest = number[number.size() - 1 - i];
    for (size_t j = kDecimalDigits; j-- > 0; rest /= 10) {
      digits[i * kDecimalDigits + j] = static_cast<char>('0' + rest % 10);
    }
  }
  digits.erase(0, digits.find_first_not_of('0'));
  return digits;
}

Limbs MultiplyLimbs(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  return Multiply<Binary>(a, b);
}

Limbs TimesPowerOfTen(std::span<const uint32_t> number, uint64_t exponent) {
  if (number.empty()) return {};
  Limbs power = {1};
  for (int bit = static_cast<int>(std::bit_width(exponent)) - 1; bit >= 0; --bit) {
    power = Multiply<Binary>(power, power);
    if ((exponent >> bit & 1) != 0) {
      const uint32_t ten[] = {10};
      power = Multiply<Binary>(power, ten);
    }
  }
  return Multiply<Binary>(number, power);
}

}  // namespace liststore
