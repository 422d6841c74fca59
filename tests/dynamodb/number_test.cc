#include "engine/dynamodb/values/number.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "engine/model/types/decimal.h"
#include "tests/dynamodb/values.h"
#include "tests/support/seed.h"

namespace liststore::dynamodb {
namespace number_test {

std::string Shown(std::string_view text) {
  const ErrorOr<Number> number = Number::Parse(text);
  return number.ok() ? number->ToText() : number.error().message;
}

constexpr std::string_view kTooLong =
    "Attempting to store more than 38 significant digits in a Number";
constexpr std::string_view kOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr std::string_view kUnderflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";

struct NumberTextExample {
  std::string text;
  std::string shown;
};

// Source: DynamoDB's developer guide, Number: 38 digits, 1E-130 to 9.99..E+125, zeros at either end are cut
// off; the texts of errors are Amazon's. Normal forms observed with DynamoDB Local 2.5.4.
TEST(DynamoNumberTest, TextsAreNormalised) {
  const NumberTextExample examples[] = {
      {"1e10", "10000000000"},
      {"0001.50", "1.5"},
      {"-0", "0"},
      {"-0.000e99999", "0"},
      {"+7", "7"},
      {".5", "0.5"},
      {"5.", "5"},
      {"-12.0e-3", "-0.012"},
      {"1E2", "100"},
      {"100", "100"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
      {"-0.00000000000000000000000000000000000001", "-0.00000000000000000000000000000000000001"},
      {"1e125", "1" + std::string(125, '0')},
      {"9.9999999999999999999999999999999999999E+125", std::string(38, '9') + std::string(88, '0')},
      {"1e-130", "0." + std::string(129, '0') + "1"},
      // Zeros at the ends are no digits of it.
      {"0000000000000000000000000000000000000000000000001", "1"},
      {"1" + std::string(60, '0'), "1" + std::string(60, '0')},
      {"0." + std::string(60, '0') + "1" + std::string(60, '0'), "0." + std::string(60, '0') + "1"},
  };
  for (const NumberTextExample& example : examples) {
    EXPECT_EQ(Shown(example.text), example.shown) << example.text;
  }
}

TEST(DynamoNumberTest, WhatIsNoNumberIsRefused) {
  const NumberTextExample examples[] = {
      {"", "The parameter cannot be converted to a numeric value"},
      {"a", "The parameter cannot be converted to a numeric value: a"},
      {"1a", "The parameter cannot be converted to a numeric value: 1a"},
      {" 1", "The parameter cannot be converted to a numeric value:  1"},
      {".", "The parameter cannot be converted to a numeric value: ."},
      {"-", "The parameter cannot be converted to a numeric value: -"},
      {"1.2.3", "The parameter cannot be converted to a numeric value: 1.2.3"},
      {"1e", "The parameter cannot be converted to a numeric value: 1e"},
      {"1e1.5", "The parameter cannot be converted to a numeric value: 1e1.5"},
      {"1ee1", "The parameter cannot be converted to a numeric value: 1ee1"},
      {"--1", "The parameter cannot be converted to a numeric value: --1"},
      {"NaN", "The parameter cannot be converted to a numeric value: NaN"},
      {"Infinity", "The parameter cannot be converted to a numeric value: Infinity"},
      {"0x10", "The parameter cannot be converted to a numeric value: 0x10"},
      {"100000000000000000000000000000000000001", std::string(kTooLong)},
      {"1.00000000000000000000000000000000000001", std::string(kTooLong)},
      {"1e126", std::string(kOverflow)},
      {"-10e125", std::string(kOverflow)},
      {"1e99999999999999999999", std::string(kOverflow)},
      {"0.1e-130", std::string(kUnderflow)},
      {"1e-99999999999999999999", std::string(kUnderflow)},
  };
  for (const NumberTextExample& example : examples) {
    EXPECT_EQ(Shown(example.text), example.shown) << example.text;
  }
}

TEST(DynamoNumberTest, SumsAreExactOrRefused) {
  struct SumExample {
    std::string_view a, b, sum;
  };
  const SumExample examples[] = {
      {"1", "2", "3"},
      {"0.1", "0.2", "0.3"},
      {"1", "-1", "0"},
      {"-5", "3", "-2"},
      {"1e37", "1", "10000000000000000000000000000000000001"},
      // 39 digits.
      {"1e38", "1", kTooLong},
      {"1", "1e38", kTooLong},
      // 39 that a difference makes 38.
      {"1e38", "-1", "99999999999999999999999999999999999999"},
      {"2e38", "-1", kTooLong},
      {"99999999999999999999999999999999999999", "1", "100000000000000000000000000000000000000"},
      {"99999999999999999999999999999999999999", "2", kTooLong},
      {"9.9999999999999999999999999999999999999e125", "1e88", kOverflow},
      {"1e125", "1e-130", kTooLong},
      {"1.1e-130", "-1e-130", kUnderflow},
      {"1e-130", "-1e-130", "0"},
  };
  for (const SumExample& example : examples) {
    const Number a = *Number::Parse(example.a);
    const Number b = *Number::Parse(example.b);
    const ErrorOr<Number> sum = Number::Add(a, b);
    EXPECT_EQ(sum.ok() ? sum->ToText() : sum.error().message, example.sum)
        << example.a << " + " << example.b;
    const ErrorOr<Number> turned = Number::Add(b, a);
    EXPECT_EQ(sum.ok(), turned.ok());
    if (sum.ok() && turned.ok()) {
      EXPECT_EQ(*sum, *turned);
    }
  }
}

TEST(DynamoNumberTest, WholeNumbersAndFloors) {
  struct FloorExample {
    std::string_view text;
    int64_t floor;
    bool whole;
  };
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const FloorExample examples[] = {
      {"0", 0, true},
      {"1.9", 1, false},
      {"-0.5", -1, false},
      {"-1.5", -2, false},
      {"1e-130", 0, false},
      {"-1e-130", -1, false},
      {"9223372036854775807", kMax, true},
      {"9223372036854775808", kMax, false},
      {"-9223372036854775808", kMin, true},
      {"-9223372036854775809", kMin, false},
      {"9223372036854775806.5", kMax - 1, false},
      {"-9223372036854775807.5", kMin, false},
      {"1e18", 1'000'000'000'000'000'000, true},
      {"1e19", kMax, false},
      {"-1e100", kMin, false},
  };
  for (const FloorExample& example : examples) {
    const Number number = *Number::Parse(example.text);
    EXPECT_EQ(number.Floor(), example.floor) << example.text;
    EXPECT_EQ(number.ToInt64().has_value(), example.whole) << example.text;
    if (example.whole) {
      EXPECT_EQ(Number::Of(example.floor), number) << example.text;
    }
  }
}

// Source: DynamoDB's developer guide, "Item sizes and formats": a byte for two significant digits, and one.
TEST(DynamoNumberTest, SizesAreAmazons) {
  struct SizeExample {
    std::string_view text;
    size_t size;
  };
  const SizeExample examples[] = {{"0", 1},     {"1", 2},
                                  {"12", 2},    {"123", 3},
                                  {"-1", 3},    {"100", 2},
                                  {"0.01", 2},  {"1.5", 3},
                                  {"1e125", 2}, {"1234567890123456789012345678901234567.8", 21}};
  for (const SizeExample& example : examples) {
    EXPECT_EQ(Number::Parse(example.text)->SizeInItem(), example.size) << example.text;
  }
}

// Numbers again, as on paper: 460 digits, of which 260 are before the point. A sign beside them.
struct PaperNumber {
  static constexpr int kBefore = 260;
  static constexpr int kAll = 460;
  std::array<int, kAll> digits = {};
  bool negative = false;

  // Of a text without an exponent.
  static PaperNumber Of(std::string_view text) {
    PaperNumber number;
    if (text.starts_with('-')) {
      number.negative = true;
      text.remove_prefix(1);
    }
    const size_t point = std::min(text.find('.'), text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      if (i == point) continue;
      const int place =
          kBefore - static_cast<int>(point) + static_cast<int>(i) - (i > point ? 1 : 0);
      number.digits[static_cast<size_t>(place)] = text[i] - '0';
    }
    return number;
  }
  static int CompareMagnitudes(const PaperNumber& a, const PaperNumber& b) {
    for (size_t i = 0; i < kAll; ++i) {
      if (a.digits[i] != b.digits[i]) return a.digits[i] < b.digits[i] ? -1 : 1;
    }
    return 0;
  }
  bool IsZero() const {
    return std::ranges::all_of(digits, [](int digit) { return digit == 0; });
  }
  static int Compare(const PaperNumber& a, const PaperNumber& b) {
    if (a.IsZero() && b.IsZero()) return 0;
    if (a.negative != b.negative) return a.negative ? -1 : 1;
    return a.negative ? -CompareMagnitudes(a, b) : CompareMagnitudes(a, b);
  }
  static PaperNumber Add(const PaperNumber& a, const PaperNumber& b) {
    PaperNumber sum;
    if (a.negative == b.negative) {
      sum.negative = a.negative;
      int carry = 0;
      for (size_t i = kAll; i-- > 0;) {
        const int digit = a.digits[i] + b.digits[i] + carry;
        sum.digits[i] = digit % 10;
        carry = digit / 10;
      }
      return sum;
    }
    const bool a_larger = CompareMagnitudes(a, b) >= 0;
    const PaperNumber& large = a_larger ? a : b;
    const PaperNumber& small = a_larger ? b : a;
    sum.negative = large.negative;
    int borrow = 0;
    for (size_t i = kAll; i-- > 0;) {
      const int digit = large.digits[i] - small.digits[i] - borrow;
      borrow = digit < 0 ? 1 : 0;
      sum.digits[i] = digit + 10 * borrow;
    }
    return sum;
  }
  // nullopt: DynamoDB has no such number.
  std::optional<std::string> Text() const {
    if (IsZero()) return "0";
    const auto nonzero = [](int digit) { return digit != 0; };
    const auto first = std::ranges::find_if(digits, nonzero) - digits.begin();
    const auto last =
        kAll - 1 - (std::find_if(digits.rbegin(), digits.rend(), nonzero) - digits.rbegin());
    const int exponent = kBefore - 1 - static_cast<int>(first);
    if (last - first + 1 > 38 || exponent > 125 || exponent < -130) return std::nullopt;
    std::string text = negative ? "-" : "";
    for (auto i = std::min<ptrdiff_t>(first, kBefore - 1);
         i <= std::max<ptrdiff_t>(last, kBefore - 1); ++i) {
      if (i == kBefore) text.push_back('.');
      text.push_back(static_cast<char>('0' + digits[static_cast<size_t>(i)]));
    }
    return text;
  }
};

TEST(DynamoNumberTest, OrderSumsAndBytesAgreeWithPaper) {
  Random random(liststore::testing::TestSeed());
  const uint64_t steps = liststore::testing::TestSteps(20'000);
  Number last;
  for (uint64_t step = 0; step < steps; ++step) {
    const Number a = testing::RandomNumber(random);
    const Number b = random.OneIn(4) ? last : testing::RandomNumber(random);
    last = a;
    const PaperNumber paper_a = PaperNumber::Of(a.ToText());
    const PaperNumber paper_b = PaperNumber::Of(b.ToText());
    ASSERT_EQ(paper_a.Text(), a.ToText()) << "step " << step;
    const int order = PaperNumber::Compare(paper_a, paper_b);
    ASSERT_EQ(Number::Compare(a, b), order) << a.ToText() << " and " << b.ToText();
    std::string bytes_a;
    std::string bytes_b;
    a.AppendOrderedBytes(bytes_a);
    b.AppendOrderedBytes(bytes_b);
    ASSERT_LE(bytes_a.size(), 22u);
    const int of_bytes = bytes_a.compare(bytes_b);
    ASSERT_EQ((of_bytes > 0) - (of_bytes < 0), order) << a.ToText() << " and " << b.ToText();
    ASSERT_EQ(Number::FromOrderedBytes(bytes_a), a) << a.ToText();
    const ErrorOr<Number> of_decimal = Number::FromCqlDecimal(a.ToCqlDecimal());
    ASSERT_TRUE(of_decimal.ok());
    ASSERT_EQ(*of_decimal, a);
    // The form of model/types/decimal.h, in which equal numbers of a column have equal bytes.
    ASSERT_EQ(EncodeDecimal(NormalizeDecimal(a.ToCqlDecimal())), a.ToCqlDecimal()) << a.ToText();
    std::string short_text;
    a.AppendShortText(short_text);
    ASSERT_LE(short_text.size(), Number::kShortTextBytesMax + 3);
    ASSERT_EQ(*Number::Parse(short_text), a);
    const ErrorOr<Number> sum = Number::Add(a, b);
    const std::optional<std::string> paper_sum = PaperNumber::Add(paper_a, paper_b).Text();
    ASSERT_EQ(sum.ok(), paper_sum.has_value()) << a.ToText() << " + " << b.ToText();
    if (sum.ok()) {
      ASSERT_EQ(sum->ToText(), *paper_sum);
      const ErrorOr<Number> back = Number::Subtract(*sum, b);
      ASSERT_TRUE(back.ok());
      ASSERT_EQ(*back, a);
    }
  }
}

TEST(DynamoNumberTest, BytesThatAreNoNumberAreRefused) {
  const std::string_view examples[] = {
      std::string_view(),
      std::string_view("\x01\x01", 2),
      std::string_view("\x02", 1),
      std::string_view("\x02\x80", 2),
      std::string_view("\x03\x80\x0b", 3),
      // The first digit is 0; the last pair is; a pair of more than 99.
      std::string_view("\x02\x80\x0a", 3),
      std::string_view("\x02\x80\x0b\x01", 4),
      std::string_view("\x02\x80\x65", 3),
      // A negative one without an end.
      std::string_view("\x00\x80\xf0", 3),
  };
  for (const std::string_view bytes : examples) {
    EXPECT_EQ(Number::FromOrderedBytes(bytes), std::nullopt);
  }
  EXPECT_FALSE(Number::FromCqlDecimal("abc").ok());
}

}  // namespace number_test
}  // namespace liststore::dynamodb
