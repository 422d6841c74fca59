#include "engine/model/types/cql_type.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/vectors.h"

namespace liststore {
namespace cql_type_test {

using testing::FromHex;
using testing::ToHex;

constexpr CqlType kLastType = CqlType::kVarint;

TEST(CqlTypeTest, NamesAreReadBack) {
  for (int i = 0; i <= static_cast<int>(kLastType); ++i) {
    const auto type = static_cast<CqlType>(i);
    EXPECT_EQ(ParseCqlType(CqlTypeName(type)), type) << CqlTypeName(type);
  }
  EXPECT_EQ(ParseCqlType("varchar"), CqlType::kText);
  EXPECT_EQ(ParseCqlType("list<int>"), std::nullopt);
  EXPECT_EQ(ParseCqlType(""), std::nullopt);
}

TEST(CqlTypeTest, EveryVectorOfANativeTypeIsValid) {
  const auto vectors = testing::LoadVectors("cql_types.json");
  int native = 0;
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    const std::optional<CqlType> type = ParseCqlType(testing::StringAt(example, "type"));
    if (!type) continue;
    ++native;
    const std::string_view hex = testing::StringAt(example, "hex");
    EXPECT_TRUE(IsValidCqlValue(*type, FromHex(hex))) << CqlTypeName(*type) << " " << hex;
  }
  EXPECT_GT(native, 100);
}

struct Example {
  std::string_view rule;
  CqlType type;
  std::string_view hex;
  bool valid;
};

constexpr Example kExamples[] = {
    {"empty values are valid", CqlType::kInt, "", true},
    {"but no counters", CqlType::kCounter, "", false},
    {"and no durations", CqlType::kDuration, "", false},
    {"an int has 4 bytes", CqlType::kInt, "000001", false},
    {"an int has no more than 4 bytes", CqlType::kInt, "0000000001", false},
    {"a smallint has 2", CqlType::kSmallint, "00000001", false},
    {"a boolean has 1", CqlType::kBoolean, "0101", false},
    {"any byte is a boolean", CqlType::kBoolean, "7f", true},
    {"ascii ends at 7f", CqlType::kAscii, "7f", true},
    {"ascii does not hold 80", CqlType::kAscii, "6180", false},
    {"text is UTF-8", CqlType::kText, "c3a9", true},
    {"text is not Latin-1", CqlType::kText, "e9", false},
    {"blobs are anything", CqlType::kBlob, "e9ff00", true},
    {"an address has 4 bytes or 16", CqlType::kInet, "0000000000", false},
    {"a decimal has a scale", CqlType::kDecimal, "000000", false},
    {"a scale alone is a zero", CqlType::kDecimal, "00000001", true},
    {"varints may be longer than they must", CqlType::kVarint, "0000000001", true},
    {"the last nanosecond of a day", CqlType::kTime, "00004e94914effff", true},
    {"behind the last nanosecond", CqlType::kTime, "00004e94914f0000", false},
    {"before the first nanosecond", CqlType::kTime, "ffffffffffffffff", false},
    {"a timeuuid is of version 1", CqlType::kTimeuuid, "00000000000010008080808080808080", true},
    {"and of no other", CqlType::kTimeuuid, "00000000000040008080808080808080", false},
    {"a uuid is of any version", CqlType::kUuid, "00000000000040008080808080808080", true},
    {"a duration has three parts", CqlType::kDuration, "0002", false},
    {"and no fourth", CqlType::kDuration, "00020400", false},
    {"all of one sign", CqlType::kDuration, "000201", false},
    {"zeros go with any sign", CqlType::kDuration, "010001", true},
    {"months have 32 bits", CqlType::kDuration, "f1000000000000", false},
    {"days have 32 bits", CqlType::kDuration, "00f1ffffffff00", false},
    {"nanoseconds have 64", CqlType::kDuration, "0000fffffffffffffffffe", true},
    {"a part is not cut off", CqlType::kDuration, "0000ffffffffffffff", false},
};

TEST(CqlTypeTest, Validity) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(IsValidCqlValue(example.type, FromHex(example.hex)), example.valid) << example.rule;
  }
}

struct Ascending {
  CqlType type;
  std::vector<std::string_view> hex;
};

const Ascending kAscending[] = {
    {CqlType::kText, {"", "00", "61", "6100", "6161", "62", "c3a9"}},
    {CqlType::kBlob, {"", "00", "0000", "7f", "80", "ff", "ff00"}},
    {CqlType::kBoolean, {"", "00", "01"}},
    {CqlType::kTinyint, {"", "80", "ff", "00", "7f"}},
    {CqlType::kSmallint, {"", "8000", "ffff", "0000", "7fff"}},
    {CqlType::kInt, {"", "80000000", "ffffffff", "00000000", "7fffffff"}},
    {CqlType::kBigint, {"", "8000000000000000", "ffffffffffffffff", "0000000000000001"}},
    {CqlType::kTimestamp, {"", "fffffdfdae01dc00", "0000000000000000", "000001919f05d5b6"}},
    {CqlType::kTime, {"", "0000000000000000", "00004e94914effff"}},
    {CqlType::kDate, {"", "00000000", "7fffffff", "80000000", "ffffffff"}},
    // -infinity, -2.25, -0.0, 0.0, the smallest above zero, 1.5, infinity, NaN
    {CqlType::kFloat,
     {"", "ff800000", "c0100000", "80000000", "00000000", "00000001", "3fc00000", "7f800000",
      "7fc00000"}},
    {CqlType::kDouble,
     {"", "fff0000000000000", "c002000000000000", "8000000000000000", "0000000000000000",
      "0000000000000001", "3ff8000000000000", "7ff0000000000000", "fff8000000000001"}},
    {CqlType::kInet, {"", "00000000", "00000000000000000000000000000001", "7f000001", "ffffffff"}},
    // -2^15 - 1, -2^15, -129, -128, -1, 0, 127, 128, 2^15, 2^63
    {CqlType::kVarint,
     {"", "ff7fff", "8000", "ff7f", "80", "ff", "00", "7f", "0080", "008000",
      "008000000000000000"}},
    // -10^3, -1.5, -1.49, -10^-10, 0, 10^-10, 0.001, 1, 1.5, 10, 10^3
    {CqlType::kDecimal,
     {"", "fffffffdff", "00000001f1", "00000002ff6b", "0000000aff", "0000000000", "0000000a01",
      "0000000301", "0000000001", "000000010f", "000000000a", "fffffffd01"}},
    // By version; version 1 by time (middle and high first), then unsigned; version 4 as bytes.
    {CqlType::kUuid,
     {"", "ffffffffffff0fffffffffffffffffff", "ffffffff000010000000000000000000",
      "00000000000110000000000000000000", "00000000000110007f00000000000000",
      "00000000000110008000000000000000", "00000000000010010000000000000000",
      "00000000ffff4fff0000000000000000", "00000001000040000000000000000000"}},
    // By time, then as signed bytes.
    {CqlType::kTimeuuid,
     {"", "ffffffff000010000000000000000000", "00000000000110008000000000000080",
      "000000000001100080000000000000ff", "00000000000110008000000000000000",
      "0000000000011000ff00000000000000", "00000000000110000000000000000000",
      "00000000000110007f00000000000000", "00000000000010010000000000000000"}},
};

int Sign(int order) { return (order > 0) - (order < 0); }

TEST(CqlTypeTest, Order) {
  for (const Ascending& ascending : kAscending) {
    for (size_t i = 0; i < ascending.hex.size(); ++i) {
      for (size_t k = 0; k < ascending.hex.size(); ++k) {
        const std::string a = FromHex(ascending.hex[i]);
        const std::string b = FromHex(ascending.hex[k]);
        EXPECT_EQ(Sign(CompareCqlValues(ascending.type, a, b)), (i > k) - (i < k))
            << CqlTypeName(ascending.type) << " " << ToHex(a) << " " << ToHex(b);
      }
    }
  }
}

struct Equal {
  std::string_view rule;
  CqlType type;
  std::string_view a;
  std::string_view b;
};

constexpr Equal kEqual[] = {
    {"1.0 and 1.00", CqlType::kDecimal, "000000010a", "0000000264"},
    {"1000 and 1E+3", CqlType::kDecimal, "0000000003e8", "fffffffd01"},
    {"zeros of any scale", CqlType::kDecimal, "0000000200", "ffffff0000"},
    {"a scale alone and zero", CqlType::kDecimal, "00000005", "0000000000"},
    {"-1.50 in more bytes", CqlType::kDecimal, "00000001f1", "00000002ffffff6a"},
    {"varint 1", CqlType::kVarint, "01", "000001"},
    {"varint -1", CqlType::kVarint, "ff", "ffffff"},
    {"varint -128", CqlType::kVarint, "80", "ff80"},
    {"NaNs", CqlType::kFloat, "7fc00000", "ffc00001"},
    {"what is not false is true", CqlType::kBoolean, "01", "ff"},
};

TEST(CqlTypeTest, DifferentBytesCanBeEqual) {
  for (const Equal& equal : kEqual) {
    EXPECT_EQ(CompareCqlValues(equal.type, FromHex(equal.a), FromHex(equal.b)), 0) << equal.rule;
  }
}

}  // namespace cql_type_test
}  // namespace liststore
