#include "liststore/clock.h"

#include <gtest/gtest.h>
#include <time.h>

#include <cstdint>

namespace liststore {
namespace clock_test {

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

TEST(SystemClockTest, TheCoarseInstantIsATickBehindAtMost) {
  timespec tick;
  ASSERT_EQ(clock_getres(CLOCK_REALTIME_COARSE, &tick), 0);
  const auto tick_nanos = static_cast<uint64_t>(tick.tv_sec * 1'000'000'000 + tick.tv_nsec);
  ASSERT_LE(tick_nanos, 10'000'000u);
  const SystemClock& clock = SystemClock::Instance();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t before = clock.NowNanos();
    const uint64_t coarse = clock.CoarseNanos();
    const uint64_t after = clock.NowNanos();
    EXPECT_LE(coarse, after);
    EXPECT_GE(coarse + 2 * tick_nanos, before);
  }
}

TEST(ManualClockTest, HasNoOtherInstantForReads) {
  ManualClock clock(1'700'000'000'999'999'999);
  EXPECT_EQ(clock.CoarseNanos(), clock.NowNanos());
  clock.AdvanceNanos(1);
  EXPECT_EQ(clock.CoarseNanos(), 1'700'000'001'000'000'000u);
}

TEST(SystemClockTest, IsOneForEverybody) {
  EXPECT_EQ(&SystemClock::Instance(), &SystemClock::Instance());
}

}  // namespace clock_test
}  // namespace liststore
