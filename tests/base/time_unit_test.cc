#include "engine/base/time_unit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace liststore {
namespace time_unit_test {

constexpr uint64_t kNow = 1'795'000'000'000'000'000;  // 2026

TEST(TimeUnitTest, ATimeIsKnownByItsSize) {
  constexpr uint64_t kSeconds = kNow / 1'000'000'000;
  for (const uint64_t seconds :
       {kSeconds, kSeconds - 86'400 * 365, uint64_t{946'684'800}, kSeconds + 86'400 * 3'650}) {
    EXPECT_EQ(LikelyUnit(seconds, kNow), TimeUnit::kSeconds) << seconds;
    EXPECT_EQ(LikelyUnit(seconds * 1'000, kNow), TimeUnit::kMilliseconds) << seconds;
    EXPECT_EQ(LikelyUnit(seconds * 1'000'000, kNow), TimeUnit::kMicroseconds) << seconds;
    EXPECT_EQ(LikelyUnit(seconds * 1'000'000'000, kNow), TimeUnit::kNanoseconds) << seconds;
  }
}

TEST(TimeUnitTest, OthersAreOfNone) {
  for (const uint64_t time : {uint64_t{0}, uint64_t{1}, uint64_t{1'000'000}, uint64_t{900'000'000},
                              kNow / 1'000'000'000 + 86'400 * 3'654, UINT64_MAX}) {
    EXPECT_EQ(LikelyUnit(time, kNow), std::nullopt) << time;
  }
  // By a clock that has just begun no year 2000 has come.
  EXPECT_EQ(LikelyUnit(1'795'000'000, 5), std::nullopt);
  EXPECT_EQ(ToString(TimeUnit::kMilliseconds), "milliseconds");
}

}  // namespace time_unit_test
}  // namespace liststore
