#include "liststore/clock.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace liststore {
namespace {

TEST(ManualClockTest, StandsStillUntilMoved) {
  ManualClock clock(1'700'000'000'000'000'000);
  EXPECT_EQ(clock.NowNanos(), 1'700'000'000'000'000'000u);
  EXPECT_EQ(clock.NowNanos(), 1'700'000'000'000'000'000u);
  clock.AdvanceNanos(1);
  EXPECT_EQ(clock.NowNanos(), 1'700'000'000'000'000'001u);
  clock.AdvanceSeconds(30 * 86'400);
  EXPECT_EQ(clock.NowNanos(), 1'702'592'000'000'000'001u);
  clock.SetNanos(5);
  EXPECT_EQ(clock.NowNanos(), 5u) << "it may also go back";
}

TEST(SystemClockTest, TellsNanosecondsSinceTheEpoch) {
  const uint64_t now = SystemClock::Instance().NowNanos();
  // 2020 and 2286: wide enough for any machine, narrow enough to catch a wrong unit.
  EXPECT_GT(now, 1'577'836'800'000'000'000u);
  EXPECT_LT(now, 9'999'999'999'000'000'000u);
}

TEST(SystemClockTest, IsOneForEverybody) {
  EXPECT_EQ(&SystemClock::Instance(), &SystemClock::Instance());
}

}  // namespace
}  // namespace liststore
