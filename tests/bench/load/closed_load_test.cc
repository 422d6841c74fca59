#include "bench/load/closed_load.h"

#include <chrono>

#include "gtest/gtest.h"
#include "tests/bench/load/slow_target.h"

namespace liststore::testing {
namespace closed_load_test {

TEST(ClosedLoad, RunsUntilTheSourceHasNoMoreAndAllIsAnswered) {
  SlowTarget target(3, 16);
  target.requests_max = 1'000;
  ClosedLoad load(target);
  Histogram latency;
  ClosedRun run;
  ASSERT_TRUE(load.Run(0, &latency, &run).ok());
  EXPECT_EQ(target.appended[0], 1'000u);
  EXPECT_EQ(target.appended[1], 0u);
  EXPECT_EQ(target.UnderWay(), 0u);
  EXPECT_EQ(latency.Count(), 1'000u);
  // What was still under way when the source ended is waited for, and not counted: all places
  // but that of the answer which found the end, and of those that came with it.
  EXPECT_GE(run.replies, 1'000u - 3 * 16 + 1);
  EXPECT_LE(run.replies, 1'000u - 3 * 16 + 3);
}

// All go with one write, and each read brings one answer: no time is longer than the whole.
TEST(ClosedLoad, TimeCountsFromTheWrite) {
  SlowTarget target(1, 100);
  target.requests_max = 100;
  ClosedLoad load(target);
  Histogram latency;
  ClosedRun run;
  ASSERT_TRUE(load.Run(0, &latency, &run).ok());
  EXPECT_EQ(target.sends, 1u);
  const auto whole = static_cast<uint64_t>(
      std::chrono::nanoseconds(target.last_receive - *target.first_append).count());
  EXPECT_EQ(latency.Count(), 100u);
  EXPECT_LE(latency.Max(), whole);
}

TEST(ClosedLoad, EndsWithItsTimeAndRunsAgain) {
  SlowTarget target(2, 4);
  ClosedLoad load(target);
  for (int i = 0; i < 2; ++i) {
    ClosedRun run;
    ASSERT_TRUE(load.Run(1e-9, nullptr, &run).ok());
    EXPECT_GE(run.replies, 1u);
    EXPECT_GE(run.seconds, 1e-9);
    EXPECT_EQ(target.UnderWay(), 0u);
  }
}

TEST(ClosedLoad, AServerThatGoesEndsIt) {
  SlowTarget target(1, 4);
  target.fails = true;
  ClosedLoad load(target);
  ClosedRun run;
  EXPECT_EQ(load.Run(1, nullptr, &run), absl::UnavailableError("gone"));
}

}  // namespace closed_load_test
}  // namespace liststore::testing
