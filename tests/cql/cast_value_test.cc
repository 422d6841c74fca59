// CAST of values, and sums of numbers of any length.
#include "engine/cql/values/cast_value.h"

#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/decimal_sum.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/decimal.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore {
namespace cast_value_test {

// `literal` as a value of `from`, cast, as a literal again; an error's message.
std::string Cast(CqlType from, std::string_view literal, CqlType to) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(literal);
  EXPECT_TRUE(term.ok()) << literal;
  const cql::CqlOr<std::string> value = cql::EncodeConstant(*term->As<cql::Constant>(), from, "c");
  EXPECT_TRUE(value.ok()) << literal;
  const auto result = cql::CastValue(from, to, *value);
  if (!result.ok()) return result.error().message;
  if (!*result) return "null";
  EXPECT_TRUE(DataType(to).IsValid(**result)) << literal;
  return cql::PrintValue(to, **result);
}

struct CastExample {
  CqlType from;
  std::string_view literal;
  CqlType to;
  std::string_view expected;
};

using enum CqlType;
const CastExample kCasts[] = {
    {kInt, "5", kBigint, "5"},
    {kBigint, "-5", kTinyint, "-5"},
    {kInt, "300", kTinyint, "44"},
    {kBigint, "4294967297", kInt, "1"},
    {kSmallint, "-3", kVarint, "-3"},
    {kInt, "7", kDecimal, "7.0"},
    {kInt, "7", kDouble, "7"},
    {kBigint, "16777217", kFloat, "16777216"},
    {kInt, "-7", kText, "'-7'"},
    {kDouble, "2.9", kInt, "2"},
    {kDouble, "-2.9", kSmallint, "-2"},
    {kDouble, "1e30", kInt, "-2147483648"},
    {kDouble, "NaN", kBigint, "-9223372036854775808"},
    {kFloat, "0.5", kDouble, "0.5"},
    {kDouble, "1e20", kVarint, "100000000000000000000"},
    {kDouble, "-0.5", kVarint, "0"},
    {kDouble, "0.25", kDecimal, "0.25"},
    // ScyllaDB cql3/functions/castas_fcts.cc, castas_fctn_from_float_to_decimal.
    {kDouble, "6.3", kDecimal, "6.3"},
    {kFloat, "5.2", kDecimal, "5.2"},
    {kDouble, "-0.1", kDecimal, "-0.1"},
    {kDouble, "0", kDecimal, "0"},
    {kDouble, "100000", kDecimal, "100000"},
    {kDouble, "123456.5", kDecimal, "123456.5"},
    {kDouble, "1e16", kDecimal, "1E+16"},
    {kDouble, "1.25e-7", kDecimal, "1.25E-7"},
    {kDouble, "NaN", kDecimal, "marshaling error: unable to make BigDecimal from 'nan'"},
    {kDouble, "NaN", kVarint, "Cannot convert a non-finite number to an integer."},
    {kVarint, "18446744073709551617", kInt, "1"},
    {kVarint, "-2", kBigint, "-2"},
    {kVarint, "12345678901234567890", kDouble, "12345678901234567168"},
    {kVarint, "5", kDecimal, "5.0"},
    {kVarint, "5", kAscii, "'5'"},
    {kDecimal, "12.99", kInt, "12"},
    {kDecimal, "-12.99", kVarint, "-12"},
    {kDecimal, "0.99", kVarint, "0"},
    {kDecimal, "-0.99", kVarint, "0"},
    {kDecimal, "12e3", kVarint, "12000"},
    {kDecimal, "12.50", kText, "'12.50'"},
    {kDecimal, "12.5", kDouble, "12.5"},
    {kDecimal, "1e70000", kVarint, "a number of 70000 digits exceeds the maximum of 65535"},
    {kTimestamp, "'2017-12-27T11:57:42Z'", kText, "'2017-12-27T11:57:42.000Z'"},
    {kTimestamp, "'2017-12-27T11:57:42Z'", kDate, "'2017-12-27'"},
    {kDate, "'2017-12-27'", kTimestamp, "'2017-12-27T00:00:00.000Z'"},
    {kDate, "'2017-12-27'", kAscii, "'2017-12-27'"},
    {kTime, "'01:02:03'", kText, "'01:02:03.000000000'"},
    {kTimeuuid, "13814000-1dd2-11b2-8080-808080808080", kTimestamp, "'1970-01-01T00:00:00.000Z'"},
    {kTimeuuid, "13814000-1dd2-11b2-8080-808080808080", kDate, "'1970-01-01'"},
    {kUuid, "13814000-1dd2-11b2-8080-808080808080", kText,
     "'13814000-1dd2-11b2-8080-808080808080'"},
    {kBoolean, "true", kText, "'true'"},
    {kInet, "'::1'", kText, "'::1'"},
    {kAscii, "'it''s'", kText, "'it''s'"},
};

TEST(CastValueTest, ValuesBecomeOthers) {
  for (const CastExample& example : kCasts) {
    EXPECT_EQ(Cast(example.from, example.literal, example.to), example.expected)
        << CqlTypeName(example.from) << " " << example.literal << " as " << CqlTypeName(example.to);
  }
}

TEST(CastValueTest, AValueOfNoBytesIsNull) {
  EXPECT_EQ(*cql::CastValue(kInt, kText, ""), std::nullopt);
  EXPECT_EQ(*cql::CastValue(kTimeuuid, kDate, ""), std::nullopt);
  EXPECT_EQ(*cql::CastValue(kAscii, kText, ""), "");
}

TEST(CastValueTest, OnlySomeTypesCast) {
  EXPECT_TRUE(cql::FindCast(DataType(kInt), kText).ok());
  EXPECT_FALSE(cql::FindCast(DataType(kText), kInt).ok());
  EXPECT_FALSE(cql::FindCast(DataType(kText), kAscii).ok());
  EXPECT_FALSE(cql::FindCast(DataType(kTimestamp), kBigint).ok());
  EXPECT_FALSE(cql::FindCast(DataType(kBlob), kText).ok());
  EXPECT_FALSE(cql::FindCast(DataType::List(kInt), kText).ok());
}

// ---- DecimalSum

TEST(DecimalSumTest, AgreesWithWideIntegers) {
  Random random(testing::TestSeed());
  for (int round = 0; round < 500; ++round) {
    __int128 expected = 0;
    cql::DecimalSum sum;
    const uint64_t count = 1 + random.Below(9);
    for (uint64_t i = 0; i < count; ++i) {
      auto value = static_cast<int64_t>(random.Next()) >> random.Below(64);
      if (random.OneIn(4)) value = -value;
      expected += value;
      sum.AddVarint(*cql::ParseVarint(std::to_string(value)));
    }
    const auto text = [](__int128 number) {
      std::string digits;
      unsigned __int128 rest = number < 0 ? -static_cast<unsigned __int128>(number)
                                          : static_cast<unsigned __int128>(number);
      do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
      } while (rest != 0);
      return (number < 0 ? "-" : "") + digits;
    };
    ASSERT_EQ(cql::PrintVarint(sum.Varint()), text(expected));
    ASSERT_EQ(cql::PrintVarint(sum.CutBy(count).Varint()),
              text(expected / static_cast<__int128>(count)))
        << text(expected) << " / " << count;
  }
}

TEST(DecimalSumTest, LongNumbersAreAddedInTheTimeOfTheirBytes) {
  // Through decimal digits each of them took minutes.
  std::string large(1 << 20, '\x7f');
  std::string small(1 << 20, '\x80');
  cql::DecimalSum sum;
  for (int i = 0; i < 4; ++i) sum.AddVarint(large);
  EXPECT_EQ(sum.CutBy(4).Varint(), large);
  for (int i = 0; i < 4; ++i) sum.AddVarint(small);
  for (int i = 0; i < 3; ++i) sum.AddVarint("\xff");
  // 0x7f..7f and what follows 0x80..80 are -1 together.
  EXPECT_EQ(cql::PrintVarint(sum.Varint()), "-7");
  EXPECT_EQ(cql::PrintVarint(sum.CutBy(4).Varint()), "-1");
}

TEST(DecimalSumTest, AgreesWithTwosComplementOfAnyLength) {
  Random random(testing::TestSeed());
  constexpr size_t kWidth = 64;
  for (int round = 0; round < 500; ++round) {
    cql::DecimalSum sum;
    std::string expected(kWidth, '\0');
    for (uint64_t left = random.Below(20); left > 0; --left) {
      std::string varint(1 + random.Below(kWidth / 2), '\0');
      for (char& byte : varint) {
        byte = random.OneIn(3) ? '\xff' : random.OneIn(2) ? '\0' : static_cast<char>(random.Next());
      }
      sum.AddVarint(varint);
      varint.insert(0, kWidth - varint.size(), (varint[0] & 0x80) != 0 ? '\xff' : '\0');
      unsigned carry = 0;
      for (size_t i = kWidth; i-- > 0; carry >>= 8) {
        carry += static_cast<uint8_t>(expected[i]) + static_cast<uint8_t>(varint[i]);
        expected[i] = static_cast<char>(carry);
      }
    }
    ASSERT_EQ(sum.Varint(), TrimVarint(expected));
  }
}

std::string SumOf(std::initializer_list<std::string_view> decimals, uint64_t divisor) {
  cql::DecimalSum sum;
  for (const std::string_view decimal : decimals) {
    if (!sum.AddDecimal(*cql::ParseDecimal(decimal))) return "too far apart";
  }
  return cql::PrintDecimal((divisor == 0 ? sum : sum.RoundedBy(divisor)).Decimal());
}

TEST(DecimalSumTest, DecimalsKeepTheLargestScaleAndRoundHalfToEven) {
  EXPECT_EQ(SumOf({}, 0), "0");
  EXPECT_EQ(SumOf({"1.50", "2.5"}, 0), "4.00");
  EXPECT_EQ(SumOf({"1e3", "0.001"}, 0), "1000.001");
  EXPECT_EQ(SumOf({"-1.5", "1.5"}, 0), "0.0");
  EXPECT_EQ(SumOf({"1.0", "2.0"}, 2), "1.5");
  EXPECT_EQ(SumOf({"1", "2"}, 2), "2") << "1.5 to the even";
  EXPECT_EQ(SumOf({"2", "3"}, 2), "2") << "2.5 to the even";
  EXPECT_EQ(SumOf({"-1", "-2"}, 2), "-2");
  EXPECT_EQ(SumOf({"-1", "0"}, 2), "0");
  EXPECT_EQ(SumOf({"10", "10", "0"}, 3), "7");
  EXPECT_EQ(SumOf({"1e-70000", "1"}, 0), "too far apart");
  EXPECT_EQ(SumOf({"1e40000", "1e-40000"}, 0), "too far apart");
  EXPECT_EQ(SumOf({"0.1", "-0.01", "1e2", "-3e1", "5"}, 0), "75.09");
  EXPECT_EQ(SumOf({"-0.1", "0.01", "-1e2", "3e1", "-5"}, 7), "-10.73");
}

// Their digits would take minutes: they are told by their length.
TEST(CastValueTest, VeryLongNumbersAreCastInLinearTimeOrRefused) {
  constexpr size_t kBytes = 8 << 20;
  const std::string positive = '\x01' + std::string(kBytes, '\xab');
  const std::string negative = '\xfe' + std::string(kBytes, '\xab');
  const std::string decimal = std::string(kDecimalScaleBytes, '\0') + positive;
  for (const CqlType to : {kFloat, kDouble}) {
    EXPECT_EQ(cql::PrintValue(to, **cql::CastValue(kVarint, to, positive)), "Infinity");
    EXPECT_EQ(cql::PrintValue(to, **cql::CastValue(kVarint, to, negative)), "-Infinity");
  }
  EXPECT_EQ(cql::PrintValue(kTinyint, **cql::CastValue(kVarint, kTinyint, positive)), "-85");
  const auto refusal = [](size_t bytes) {
    return "a number of " + std::to_string(bytes) +
           " bytes exceeds the maximum of 27000 bytes of a CAST to digits: select it without CAST";
  };
  for (const CqlType to : {kText, kAscii, kDecimal}) {
    const auto result = cql::CastValue(kVarint, to, positive);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, refusal(positive.size()));
  }
  for (const CqlType to : {kText, kDouble, kFloat, kVarint, kInt}) {
    const auto result = cql::CastValue(kDecimal, to, decimal);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, refusal(decimal.size()));
  }
}

// On both sides of where the length alone tells.
TEST(CastValueTest, VarintsNearTheLargestDoubleAreRoundedExactly) {
  std::string largest(129, '\0');  // 2^1024 - 2^971
  for (size_t i = 1; i < 7; ++i) largest[i] = '\xff';
  largest[7] = '\xf8';
  EXPECT_EQ(cql::PrintValue(kDouble, **cql::CastValue(kVarint, kDouble, largest)),
            "1.7976931348623157e+308");
  EXPECT_EQ(cql::PrintValue(kFloat, **cql::CastValue(kVarint, kFloat, largest)), "Infinity");
  std::string infinite = largest;
  infinite[0] = 1;
  EXPECT_EQ(cql::PrintValue(kDouble, **cql::CastValue(kVarint, kDouble, infinite)), "Infinity");
  const std::string padded = std::string(40'000, '\0') + '\x05';  // the sign repeated
  EXPECT_EQ(cql::PrintValue(kDouble, **cql::CastValue(kVarint, kDouble, padded)), "5");
  EXPECT_EQ(**cql::CastValue(kVarint, kText, padded), "5");
}

}  // namespace cast_value_test
}  // namespace liststore
