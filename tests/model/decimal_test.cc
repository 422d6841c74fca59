#include "engine/model/types/decimal.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace decimal_test {

using testing::FromHex;
using testing::ToHex;
using int128 = __int128;

std::string Varint(int128 value) {
  std::string bytes(16, '\0');
  for (size_t i = 0; i < 16; ++i) bytes[15 - i] = static_cast<char>(value >> (8 * i));
  return std::string(TrimVarint(bytes));
}

std::string Decimal(int128 unscaled, int32_t scale) {
  std::string bytes(kDecimalScaleBytes, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(scale));
  return bytes + Varint(unscaled);
}

int Sign(int128 value) { return (value > 0) - (value < 0); }

struct Example {
  std::string_view hex;
  int sign;
  int64_t exponent;
  std::string_view digits;
};

// The values of the vectors, read by hand.
constexpr Example kExamples[] = {
    {"0000000000", 0, 0, ""},
    {"0000000001", 1, 1, "1"},
    {"00000000ff", -1, 1, "1"},
    {"000000010f", 1, 1, "15"},
    {"00000002ff6a", -1, 1, "15"},
    {"0000000301", 1, -2, "1"},
    {"0000000927e41b3246bec9b16e398115", 1, 20, "12345678901234567890123456789"},
    {"fffffffd01", 1, 4, "1"},
    {"0000000aff", -1, -9, "1"},
    {"0000000080", -1, 3, "128"},
    {"000000000080", 1, 3, "128"},
    {"00000000ff00000000", -1, 10, "4294967296"},
    {"800000000a", 1, 2147483650, "1"},
    {"7fffffff01", 1, -2147483646, "1"},
};

TEST(DecimalTest, NormalForm) {
  for (const Example& example : kExamples) {
    const NormalDecimal number = NormalizeDecimal(FromHex(example.hex));
    EXPECT_EQ(number.sign, example.sign) << example.hex;
    EXPECT_EQ(number.exponent, example.exponent) << example.hex;
    EXPECT_EQ(number.digits, example.digits) << example.hex;
    EXPECT_EQ(NormalizeDecimal(EncodeDecimal(number)), number) << example.hex;
  }
}

TEST(DecimalTest, EncodesWholeNumbersWithoutAScale) {
  EXPECT_EQ(ToHex(EncodeDecimal(NormalizeDecimal(Decimal(100, 0)))), "0000000064");
  EXPECT_EQ(ToHex(EncodeDecimal(NormalizeDecimal(Decimal(150, 2)))), "000000010f");
  EXPECT_EQ(ToHex(EncodeDecimal(NormalizeDecimal(Decimal(1, -50)))), "ffffffce01");
}

// Numbers small enough to compare exactly in 128 bits.
TEST(DecimalTest, AgreesWithArithmetic) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(50'000);
  int128 tens[16] = {1};
  for (int i = 1; i < 16; ++i) tens[i] = tens[i - 1] * 10;
  for (uint64_t step = 0; step < steps; ++step) {
    const int32_t a_scale = static_cast<int32_t>(rng.Below(16));
    const int32_t b_scale = static_cast<int32_t>(rng.Below(16));
    const int128 a = rng.Between(-(int64_t{1} << rng.Below(62)), int64_t{1} << rng.Below(62));
    int128 b = rng.Between(-(int64_t{1} << rng.Below(62)), int64_t{1} << rng.Below(62));
    if (rng.OneIn(3) && b_scale >= a_scale) b = a * tens[b_scale - a_scale];
    const NormalDecimal a_normal = NormalizeDecimal(Decimal(a, a_scale));
    const NormalDecimal b_normal = NormalizeDecimal(Decimal(b, b_scale));
    const int128 difference = a * tens[15 - a_scale] - b * tens[15 - b_scale];
    ASSERT_EQ(CompareNormalDecimals(a_normal, b_normal), Sign(difference)) << "step " << step;
    ASSERT_EQ(CompareDecimals(Decimal(a, a_scale), Decimal(b, b_scale)), Sign(difference))
        << "step " << step;
    ASSERT_EQ(a_normal == b_normal, difference == 0) << "step " << step;
    ASSERT_EQ(NormalizeDecimal(EncodeDecimal(a_normal)), a_normal) << "step " << step;
  }
}

// The same numbers, and their neighbours, with other scales.
TEST(DecimalTest, ThousandsOfDigitsCompareAsTheirNormalForms) {
  Random rng(testing::TestSeed());
  for (int step = 0; step < 40; ++step) {
    std::string value(kDecimalScaleBytes + 1 + rng.Below(600), '\0');
    for (char& byte : value) byte = static_cast<char>(rng.Next());
    StoreBigEndian32(value.data(), static_cast<uint32_t>(rng.Between(-40, 40)));
    const NormalDecimal number = NormalizeDecimal(value);
    NormalDecimal near = number;
    if (rng.OneIn(2)) near.digits += std::to_string(1 + rng.Below(9));
    if (rng.OneIn(4)) ++near.exponent;
    const std::string other = EncodeDecimal(near);
    ASSERT_EQ(CompareDecimals(value, other), CompareNormalDecimals(number, near)) << step;
    ASSERT_EQ(CompareDecimals(other, value), CompareNormalDecimals(near, number)) << step;
    ASSERT_EQ(CompareDecimals(value, EncodeDecimal(number)), 0) << step;
  }
}

// With the largest scales there are nothing is multiplied out: it would be gigabytes.
TEST(DecimalTest, FarExponentsAreComparedByTheirDigits) {
  const std::string huge = Decimal(1, std::numeric_limits<int32_t>::min());
  const std::string tiny = Decimal(99, std::numeric_limits<int32_t>::max());
  EXPECT_EQ(CompareDecimals(huge, tiny), 1);
  EXPECT_EQ(CompareDecimals(tiny, huge), -1);
  EXPECT_EQ(CompareDecimals(Decimal(-1, std::numeric_limits<int32_t>::min()), tiny), -1);
  EXPECT_EQ(CompareDecimals(tiny, Decimal(0, std::numeric_limits<int32_t>::min())), 1);
  EXPECT_EQ(CompareDecimals(Decimal(0, 5), Decimal(0, -5)), 0);
}

TEST(DecimalTest, ThousandsOfDigitsComeBack) {
  Random rng(testing::TestSeed());
  for (int step = 0; step < 20; ++step) {
    std::string value(kDecimalScaleBytes + 1 + rng.Below(3'000), '\0');
    for (char& byte : value) byte = static_cast<char>(rng.Next());
    const NormalDecimal number = NormalizeDecimal(value);
    ASSERT_EQ(NormalizeDecimal(EncodeDecimal(number)), number) << "step " << step;
    const std::string_view unscaled = std::string_view(value).substr(kDecimalScaleBytes);
    if (number.digits.back() != '0' && number.exponent < 0) {
      const std::string again = EncodeDecimal(number);
      if (again.substr(0, 4) == value.substr(0, 4)) {
        ASSERT_EQ(again.substr(4), TrimVarint(unscaled)) << "step " << step;
      }
    }
  }
}

TEST(VarintTest, ComparesByValue) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(100'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const int128 a = rng.Between(-(int64_t{1} << rng.Below(62)), int64_t{1} << rng.Below(62));
    const int128 b = rng.OneIn(3) ? a : a + rng.Between(-300, 300);
    std::string a_bytes = Varint(a);
    if (rng.OneIn(2)) a_bytes.insert(0, rng.Below(4), a < 0 ? '\xff' : '\0');
    ASSERT_EQ(Sign(CompareVarints(a_bytes, Varint(b))), Sign(a - b)) << "step " << step;
    ASSERT_EQ(TrimVarint(a_bytes), Varint(a)) << "step " << step;
  }
}

}  // namespace decimal_test
}  // namespace liststore
