// print(value) is a literal of the same value, for all types: random ones, and the golden vectors.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"
#include "tests/cql/random_literals.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace literal_round_trip_test {

using testing::FromHex;
using testing::ToHex;

// The value that a printed one is read back as; fails the test where it is not read.
std::string ReadBack(const DataType& type, const std::string& printed) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(printed);
  if (!term.ok()) {
    ADD_FAILURE() << type.ToString() << " " << printed << ": " << term.error().message;
    return "";
  }
  EXPECT_EQ(cql::ToString(*term), printed);
  const cql::CqlOr<std::optional<std::string>> value = cql::EncodeLiteral(*term, type, "c");
  if (!value.ok() || !value->has_value()) {
    ADD_FAILURE() << type.ToString() << " " << printed << ": "
                  << (value.ok() ? "null" : value.error().message);
    return "";
  }
  return **value;
}

TEST(LiteralRoundTripTest, RandomValuesOfAllTypes) {
  Random random(testing::TestSeed());
  uint64_t read_back = 0;
  const uint64_t steps = testing::TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const DataType type = testing::RandomType(random, 3);
    const std::string value = testing::RandomValue(random, type);
    ASSERT_TRUE(type.IsValid(value)) << type.ToString() << " " << ToHex(value);
    const std::string printed = cql::PrintValue(type, value);
    // Empty numbers have no literal.
    if (printed.find("blobas") != std::string::npos) continue;
    ++read_back;
    const std::string again = ReadBack(type, printed);
    ASSERT_TRUE(type.IsValid(again)) << type.ToString() << " " << printed;
    // The first time sets are put in order; from then on nothing changes.
    ASSERT_EQ(cql::PrintValue(type, again),
              cql::PrintValue(type, ReadBack(type, cql::PrintValue(type, again))))
        << type.ToString() << " step " << step;
    ASSERT_EQ(ToHex(ReadBack(type, cql::PrintValue(type, again))), ToHex(again)) << type.ToString();
    if (type.is_native()) {
      ASSERT_EQ(CompareCqlValues(type.native(), value, again), 0)
          << type.ToString() << " " << printed;
    }
  }
  EXPECT_GT(read_back, steps / 2);
}

TEST(LiteralRoundTripTest, ComparingIsAnOrder) {
  Random random(testing::TestSeed(99));
  const uint64_t steps = testing::TestSteps(5'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const DataType type = testing::RandomType(random, 2);
    const std::string a = testing::RandomValue(random, type);
    const std::string b = testing::RandomValue(random, type);
    const std::string c = testing::RandomValue(random, type);
    ASSERT_EQ(CompareValues(type, a, a), 0) << type.ToString();
    ASSERT_EQ(CompareValues(type, a, b) < 0, CompareValues(type, b, a) > 0) << type.ToString();
    if (CompareValues(type, a, b) <= 0 && CompareValues(type, b, c) <= 0) {
      ASSERT_LE(CompareValues(type, a, c), 0) << type.ToString();
    }
  }
}

TEST(LiteralRoundTripTest, GoldenVectors) {
  int count = 0;
  const auto vectors = testing::LoadVectors("cql_types.json");
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(testing::StringAt(example, "type"));
    if (!spec.ok()) continue;
    const cql::CqlOr<DataType> type = cql::ToDataType(*spec, "");
    if (!type.ok()) continue;  // user types and vectors
    ++count;
    const std::string value = FromHex(testing::StringAt(example, "hex"));
    ASSERT_TRUE(type->IsValid(value)) << type->ToString();
    const std::string printed = cql::PrintValue(*type, value);
    const std::string again = ReadBack(*type, printed);
    const bool nan = printed.find("NaN") != std::string::npos;
    EXPECT_EQ(nan ? cql::PrintValue(*type, again) : ToHex(again), nan ? printed : ToHex(value))
        << type->ToString() << " " << printed;
  }
  EXPECT_GT(count, 150);
}

}  // namespace literal_round_trip_test
}  // namespace liststore
