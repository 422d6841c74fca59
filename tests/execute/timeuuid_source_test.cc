#include "engine/execute/write/timeuuid_source.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/model/types/cql_type.h"
#include "liststore/clock.h"

namespace liststore {
namespace timeuuid_source_test {

constexpr uint64_t kStart = 1'700'000'000'000'000'000;
const Uuid kNode = Uuid::FromRandomBits(0x1234'5678'9abc'def0, 0x0fed'cba9'8765'4321);

bool Ascend(const Uuid& a, const Uuid& b) {
  return CompareCqlValues(CqlType::kTimeuuid, a.view(), b.view()) < 0;
}

TEST(TimeuuidSourceTest, TheyAreTimeuuidsOfThePresent) {
  ManualClock clock(kStart);
  execute::TimeuuidSource source(clock, kNode);
  const Uuid first = source.Next();
  EXPECT_TRUE(IsValidCqlValue(CqlType::kTimeuuid, first.view()));
  EXPECT_EQ(static_cast<unsigned char>(first.bytes[8]) >> 6, 2u) << "the variant of RFC 4122";
  EXPECT_EQ(MillisecondsOfTimeuuid(first.view()), 1'700'000'000'000);
  clock.AdvanceSeconds(3600);
  EXPECT_EQ(MillisecondsOfTimeuuid(source.Next().view()), 1'700'003'600'000);
}

TEST(TimeuuidSourceTest, TheyAscendWhileTheClockStands) {
  ManualClock clock(kStart);
  execute::TimeuuidSource source(clock, kNode);
  Uuid last = source.Next();
  for (int i = 0; i < 1000; ++i) {
    const Uuid next = source.Next();
    ASSERT_TRUE(Ascend(last, next)) << i;
    last = next;
  }
  EXPECT_EQ(MillisecondsOfTimeuuid(last.view()), 1'700'000'000'000) << "by 100 ns each";
  // A step that is shorter than what was taken ahead.
  clock.AdvanceNanos(200);
  EXPECT_TRUE(Ascend(last, source.Next()));
}

TEST(TimeuuidSourceTest, TheyGoBackWithTheClockAndStayUnique) {
  ManualClock clock(kStart);
  execute::TimeuuidSource source(clock, kNode);
  std::set<std::string> seen;
  for (int round = 0; round < 100; ++round) {
    clock.SetNanos(kStart);
    for (int i = 0; i < 3; ++i) {
      const Uuid next = source.Next();
      EXPECT_TRUE(seen.insert(next.ToString()).second) << next.ToString();
      EXPECT_EQ(MillisecondsOfTimeuuid(next.view()), 1'700'000'000'000);
      EXPECT_TRUE(IsValidCqlValue(CqlType::kTimeuuid, next.view()));
    }
    clock.AdvanceNanos(1'000'000);
    source.Next();
  }
}

TEST(TimeuuidSourceTest, TwoServersDiffer) {
  ManualClock clock(kStart);
  execute::TimeuuidSource one(clock, kNode);
  execute::TimeuuidSource other(clock, Uuid::FromRandomBits(0, 0));
  EXPECT_NE(one.Next(), other.Next());
}

}  // namespace timeuuid_source_test
}  // namespace liststore
