#include "bench/load/core_gaps.h"

#include "gtest/gtest.h"

namespace liststore::testing {
namespace core_gaps_test {

constexpr int64_t kMilli = 1'000'000;

TEST(CoreGaps, WithoutGapsNobodyWaits) {
  const Histogram waits = WaitsForCores({}, 1000, 2);
  EXPECT_EQ(waits.Count(), 2000u);
  EXPECT_EQ(waits.Max(), 0u);
}

// One request each millisecond, and ten of them while a core is away: the first waits until it is
// back, the last hardly.
TEST(CoreGaps, WhatIsDueInAGapWaitsForItsEnd) {
  const Histogram waits = WaitsForCores({{100 * kMilli, 110 * kMilli}}, 1000, 1);
  EXPECT_EQ(waits.Count(), 1000u);
  EXPECT_EQ(waits.Max(), 10u * kMilli);
  EXPECT_EQ(waits.Percentile(99), 0u);
  EXPECT_NEAR(static_cast<double>(waits.Percentile(99.5)), 5e6, 5e5);
}

// A request needs both cores: it waits for the union of their gaps, once.
TEST(CoreGaps, GapsOfTwoCoresThatOverlapAreOne) {
  const Histogram together = WaitsForCores(
      {{7 * kMilli, 12 * kMilli}, {0, 8 * kMilli}, {2 * kMilli, 3 * kMilli}}, 1000, 1);
  const Histogram one = WaitsForCores({{0, 12 * kMilli}}, 1000, 1);
  EXPECT_EQ(together.Count(), one.Count());
  EXPECT_EQ(together.Max(), 12u * kMilli);
  EXPECT_EQ(together.Mean(), one.Mean());
  const Histogram apart = WaitsForCores({{0, 6 * kMilli}, {7 * kMilli, 13 * kMilli}}, 1000, 1);
  EXPECT_EQ(apart.Max(), 6u * kMilli);
}

// However busy the machine is: no core stands still for longer than it was watched.
TEST(CoreGaps, WatchedCoresStandStillNoLongerThanTheyAreWatched) {
  constexpr int64_t kWatched = 20 * kMilli;
  int64_t still = 0;
  for (const CoreGap& gap : WatchCores(ChooseWireCores(), 1e-9 * kWatched)) {
    EXPECT_GT(gap.end, gap.begin);
    still += gap.end - gap.begin;
  }
  EXPECT_LE(still, 2 * kWatched);
}

}  // namespace core_gaps_test
}  // namespace liststore::testing
