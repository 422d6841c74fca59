#include "engine/model/types/big_number.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore {
namespace big_number_test {

using testing::TestSeed;

void Trim(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

// As on paper, digit by digit.
Limbs Product(const Limbs& a, const Limbs& b) {
  Limbs product(a.size() + b.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      carry += uint64_t{a[i]} * b[j] + product[i + j];
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.size()] = static_cast<uint32_t>(carry);
  }
  Trim(product);
  return product;
}
Limbs LimbsOf(const std::string& digits) {
  Limbs limbs;
  for (const char digit : digits) {
    uint64_t carry = static_cast<uint64_t>(digit - '0');
    for (uint32_t& limb : limbs) {
      carry += uint64_t{limb} * 10;
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
  }
  return limbs;
}

// Of a size below `size`; often with the largest and smallest limbs.
Limbs AnyLimbs(Random& rng, uint64_t size) {
  Limbs limbs(rng.Below(size));
  const uint64_t kind = rng.Below(4);
  for (uint32_t& limb : limbs) {
    limb = kind == 0 ? UINT32_MAX : kind == 1 ? 0 : static_cast<uint32_t>(rng.Next());
  }
  if (!limbs.empty() && kind == 1) limbs.back() = 1;
  Trim(limbs);
  return limbs;
}

TEST(BigNumberTest, ProductsAreThoseOnPaper) {
  Random rng(TestSeed());
  for (const uint64_t size : {3, 40, 600, 2'500}) {
    for (int step = 0; step < 60; ++step) {
      const Limbs a = AnyLimbs(rng, size);
      const Limbs b = AnyLimbs(rng, rng.OneIn(3) ? 3'000 : size);
      ASSERT_EQ(MultiplyLimbs(a, b), Product(a, b)) << a.size() << " by " << b.size();
    }
  }
}

TEST(BigNumberTest, DigitsAreThoseOnPaper) {
  Random rng(TestSeed());
  for (const uint64_t size : {2, 20, 700, 20'000}) {
    for (int step = 0; step < (size > 1'000 ? 4 : 60); ++step) {
      std::string digits(1 + rng.Below(size), '9');
      const uint64_t kind = rng.Below(3);
      if (kind == 0) std::fill(digits.begin() + 1, digits.end(), '0');
      for (char& digit : digits) {
        if (kind == 1) digit = static_cast<char>('0' + rng.Below(10));
      }
      const Limbs limbs = LimbsOfDigits(digits);
      ASSERT_EQ(limbs, LimbsOf(digits)) << digits;
      digits.erase(0, digits.find_first_not_of('0'));
      ASSERT_EQ(DigitsOfLimbs(limbs), digits);
    }
  }
  EXPECT_EQ(DigitsOfLimbs({}), "");
  EXPECT_TRUE(LimbsOfDigits("000").empty());
  EXPECT_TRUE(LimbsOfDigits("").empty());
}

TEST(BigNumberTest, PowersOfTenAreZeros) {
  const std::array<uint32_t, 1> seven = {7};
  for (const uint64_t exponent : {0, 1, 9, 64, 1'000, 12'345}) {
    EXPECT_EQ(DigitsOfLimbs(TimesPowerOfTen(seven, exponent)), "7" + std::string(exponent, '0'));
  }
  EXPECT_TRUE(TimesPowerOfTen({}, 5).empty());
}

// What took minutes when it was quadratic.
TEST(BigNumberTest, MillionsOfDigits) {
  Random rng(TestSeed());
  std::string digits(2'500'000, '1');
  for (char& digit : digits) digit = static_cast<char>('0' + rng.Below(10));
  digits.front() = '3';
  const Limbs limbs = LimbsOfDigits(digits);
  EXPECT_TRUE(DigitsOfLimbs(limbs) == digits);
  EXPECT_TRUE(DigitsOfLimbs(TimesPowerOfTen(limbs, 7'777)) == digits + std::string(7'777, '0'));
}

}  // namespace big_number_test
}  // namespace liststore
