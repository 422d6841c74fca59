#include "engine/execute/select/work_pace.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace liststore::testing {
namespace work_pace_test {

using execute::WorkPace;
using execute::WorkPlace;
using std::chrono::hours;
using std::chrono::milliseconds;
using Stop = WorkPace::Stop;

// Units until it is stopped; 0: not by `units_max`.
uint64_t UnitsUntilStop(WorkPace& pace, uint64_t units_max) {
  for (uint64_t units = 1; units <= units_max; ++units) {
    if (!pace.Spend(1)) return units;
  }
  return 0;
}

TEST(WorkPace, GoesOnWhereNothingIsDeferred) {
  const WorkPlace place;
  WorkPace pace(place);
  EXPECT_EQ(UnitsUntilStop(pace, 100'000), 0u);
  EXPECT_EQ(pace.stop(), Stop::kNo);
  EXPECT_FALSE(pace.IsTooLong(UINT64_MAX));
}

TEST(WorkPace, HasSoManyUnitsInAPlace) {
  const WorkPlace place{.units_max = 10'000, .time_max = hours(1)};
  WorkPace pace(place);
  const uint64_t units = UnitsUntilStop(pace, 100'000);
  EXPECT_GT(units, 10'000u);
  EXPECT_LT(units, 11'000u) << "it looks now and then";
  EXPECT_EQ(pace.stop(), Stop::kTooLong);
  EXPECT_FALSE(pace.Spend(1)) << "what is stopped stays so";
  EXPECT_TRUE(pace.IsTooLong(10'001));
  EXPECT_FALSE(pace.IsTooLong(10'000));
}

TEST(WorkPace, HasSoMuchTimeInAPlace) {
  const WorkPlace place{.units_max = UINT64_MAX, .time_max = milliseconds(1)};
  WorkPace pace(place);
  while (pace.Spend(1'000)) {
  }
  EXPECT_EQ(pace.stop(), Stop::kTooLong);
}

TEST(WorkPace, StopsBeforeWhatIsBegunElsewhere) {
  const WorkPlace place{.units_max = 10'000, .time_max = hours(1)};
  WorkPace pace(place);
  EXPECT_TRUE(pace.defers());
  EXPECT_TRUE(pace.Spend(100));
  pace.StopHere();
  EXPECT_EQ(pace.stop(), Stop::kTooLong);
  EXPECT_FALSE(pace.has_worked()) << "it was not worth a look at the clock";
  EXPECT_FALSE(pace.Spend(0));
  WorkPace worked(place);
  EXPECT_TRUE(worked.Spend(1'000));
  worked.StopHere();
  EXPECT_TRUE(worked.has_worked());
  EXPECT_FALSE(worked.Spend(0));
}

TEST(WorkPace, TimesOutWhenTheClientHasWaitedForSoLong) {
  const WorkPlace place{.begun_at = std::chrono::steady_clock::now() - hours(1)};
  WorkPace patient(place);
  patient.LimitTime(hours(2));
  EXPECT_EQ(UnitsUntilStop(patient, 10'000), 0u);
  WorkPace pace(place);
  pace.LimitTime(hours(1));
  EXPECT_NE(UnitsUntilStop(pace, 10'000), 0u);
  EXPECT_EQ(pace.stop(), Stop::kTimedOut);
}

TEST(WorkPace, StopsWhenNobodyWaits) {
  std::atomic<bool> is_cancelled = false;
  const WorkPlace place{.is_cancelled = &is_cancelled};
  WorkPace pace(place);
  EXPECT_EQ(UnitsUntilStop(pace, 10'000), 0u);
  is_cancelled = true;
  EXPECT_NE(UnitsUntilStop(pace, 10'000), 0u);
  EXPECT_EQ(pace.stop(), Stop::kCancelled);
}

TEST(ResultBudget, IsSharedByResultsThatAreLargerThanAPage) {
  constexpr uint64_t kMiB = 1 << 20;
  execute::ResultBudget budget(10 * kMiB);
  {
    execute::ResultShare one(&budget), other(&budget), small(&budget);
    EXPECT_TRUE(one.Grow(9 * kMiB));
    EXPECT_FALSE(other.Grow(5 * kMiB));
    EXPECT_TRUE(other.Grow(2 * kMiB));
    EXPECT_TRUE(small.Grow(kMiB));
  }
  execute::ResultShare again(&budget);
  EXPECT_TRUE(again.Grow(10 * kMiB)) << "what has ended has given back";
  EXPECT_FALSE(again.Grow(13 * kMiB));
  execute::ResultShare uncounted(nullptr);
  EXPECT_TRUE(uncounted.Grow(UINT64_MAX));
}

}  // namespace work_pace_test
}  // namespace liststore::testing
