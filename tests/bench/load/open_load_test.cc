#include "bench/load/open_load.h"

#include <chrono>

#include "gtest/gtest.h"
#include "tests/bench/load/slow_target.h"

namespace liststore::testing {
namespace open_load_test {

TEST(OpenLoad, NinetyFiveOfAHundredAreReads) {
  SlowTarget target(3, 16);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e9, 2e-6, &run).ok());
  EXPECT_EQ(target.appended[0], 1'900u);
  EXPECT_EQ(target.appended[1], 100u);
  EXPECT_EQ(run.select_latency.Count(), 1'900u);
  EXPECT_EQ(run.insert_latency.Count(), 100u);
  EXPECT_EQ(run.rate, 1e9);
  EXPECT_GT(run.achieved, 0);
  EXPECT_LT(run.achieved, 1e9);
}

// A thousand requests are due within a microsecond, and one after the other is answered: the last
// one has waited for all others, although it was sent last.
TEST(OpenLoad, TimeCountsFromWhenARequestWasDue) {
  SlowTarget target(1, 1);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e9, 1e-6, &run).ok());
  EXPECT_EQ(target.sends, 1'000u);
  Histogram all = run.select_latency;
  all.Merge(run.insert_latency);
  const auto whole = static_cast<uint64_t>(
      std::chrono::nanoseconds(target.last_receive - *target.first_append).count());
  EXPECT_GE(all.Max() + 1'000, whole);
  EXPECT_LT(all.Min(), all.Max());
}

TEST(OpenLoad, RunsAddUp) {
  SlowTarget target(2, 4);
  OpenLoad load(target);
  OpenRun run;
  ASSERT_TRUE(load.Run(1e8, 1e-6, &run).ok());
  ASSERT_TRUE(load.Run(1e8, 1e-6, &run).ok());
  EXPECT_EQ(run.select_latency.Count() + run.insert_latency.Count(), 200u);
}

TEST(OpenLoad, AServerThatGoesEndsIt) {
  SlowTarget target(1, 4);
  target.fails = true;
  OpenLoad load(target);
  OpenRun run;
  EXPECT_EQ(load.Run(1e8, 1e-6, &run), absl::UnavailableError("gone"));
}

TEST(OpenLoad, TheRateIsHalfOfWhatAServerCanDoOrItsBound) {
  EXPECT_EQ(OpenRateFor(300'000), 150'000);
  EXPECT_EQ(OpenRateFor(4'000'000), kOpenRateMax);
}

}  // namespace open_load_test
}  // namespace liststore::testing
