#include "engine/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore {
namespace histogram_test {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

// Half a bucket: 1/64 of the value, and one for the rounding of the middle.
void ExpectWithinBucket(uint64_t expected, uint64_t actual) {
  const uint64_t distance = expected > actual ? expected - actual : actual - expected;
  EXPECT_LE(distance, expected / 64 + 1) << "expected about " << expected << ", got " << actual;
}

TEST(HistogramTest, EmptyAnswersZero) {
  const Histogram histogram;
  histogram.Verify();
  EXPECT_EQ(histogram.Count(), 0u);
  EXPECT_EQ(histogram.Min(), 0u);
  EXPECT_EQ(histogram.Max(), 0u);
  EXPECT_EQ(histogram.Mean(), 0);
  EXPECT_EQ(histogram.Percentile(50), 0u);
  EXPECT_EQ(histogram.Percentile(100), 0u);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (uint64_t value = 0; value < 64; ++value) histogram.Record(value);
  histogram.Verify();
  for (uint64_t rank = 1; rank <= 64; ++rank) {
    EXPECT_EQ(histogram.Percentile(static_cast<double>(rank) * 100 / 64), rank - 1);
  }
}

TEST(HistogramTest, EveryPowerOfTwoAndItsNeighboursStayWithinTheError) {
  for (int bit = 0; bit < 64; ++bit) {
    for (int offset = -1; offset <= 1; ++offset) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(offset);
      Histogram histogram;
      // Two strangers around it, so that the answer comes from the bucket and not from Min or Max.
      histogram.Record(0);
      histogram.Record(value);
      histogram.Record(kLargest);
      histogram.Verify();
      ExpectWithinBucket(value, histogram.Percentile(50));
    }
  }
}

TEST(HistogramTest, EndsAreExact) {
  Histogram histogram;
  histogram.Record(1'000'003);
  histogram.Record(5'000'000'009, 7);
  histogram.Record(kLargest);
  histogram.Verify();
  EXPECT_EQ(histogram.Percentile(0), 1'000'003u);
  EXPECT_EQ(histogram.Min(), 1'000'003u);
  EXPECT_EQ(histogram.Percentile(100), kLargest);
  EXPECT_EQ(histogram.Max(), kLargest);
  EXPECT_EQ(histogram.Count(), 9u);
}

TEST(HistogramTest, OneValueIsAllItsPercentiles) {
  Histogram histogram;
  histogram.Record(123'456'789, 1000);
  for (const double percent : {0.0, 1.0, 50.0, 99.9, 100.0}) {
    EXPECT_EQ(histogram.Percentile(percent), 123'456'789u);
  }
  EXPECT_DOUBLE_EQ(histogram.Mean(), 123'456'789);
}

TEST(HistogramTest, CountOfZeroRecordsNothing) {
  Histogram histogram;
  histogram.Record(5, 0);
  histogram.Verify();
  EXPECT_EQ(histogram.Count(), 0u);
  EXPECT_EQ(histogram.Min(), 0u);
}

// Against the sorted observations themselves, and in parts merged against the whole.
TEST(HistogramTest, AgreesWithSortedValues) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(20'000);
  std::vector<uint64_t> values;
  Histogram whole;
  Histogram parts[3];
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t value = rng.Next() >> rng.Below(64);
    values.push_back(value);
    whole.Record(value);
    parts[rng.Below(3)].Record(value);
  }
  std::sort(values.begin(), values.end());
  Histogram merged;
  for (const Histogram& part : parts) merged.Merge(part);
  whole.Verify();
  merged.Verify();
  EXPECT_EQ(merged.Count(), values.size());
  EXPECT_EQ(merged.Min(), values.front());
  EXPECT_EQ(merged.Max(), values.back());
  for (int percent = 1; percent < 100; ++percent) {
    const size_t rank = (values.size() * static_cast<size_t>(percent) + 99) / 100;
    EXPECT_EQ(whole.Percentile(percent), merged.Percentile(percent));
    ExpectWithinBucket(values[rank - 1], whole.Percentile(percent));
  }
}

TEST(HistogramTest, ClearForgets) {
  Histogram histogram;
  histogram.Record(99);
  histogram.Clear();
  histogram.Verify();
  EXPECT_EQ(histogram.Count(), 0u);
  EXPECT_EQ(histogram.Max(), 0u);
}

TEST(HistogramTest, FormatsDurations) {
  struct Row {
    uint64_t nanos;
    const char* text;
  };
  const Row rows[] = {
      {0, "0ns"},           {999, "999ns"},          {1'000, "1.0us"},   {4'250, "4.2us"},
      {9'949, "9.9us"},     {9'951, "10us"},         {210'000, "210us"}, {1'400'000, "1.4ms"},
      {9'000'000, "9.0ms"}, {12'000'000'000, "12s"},
  };
  for (const Row& row : rows) EXPECT_EQ(FormatNanos(row.nanos), row.text);
}

TEST(HistogramTest, SummaryNamesTheTail) {
  Histogram histogram;
  histogram.Record(31'000, 999);
  histogram.Record(9'000'000);
  EXPECT_EQ(histogram.Summary(), "n=1000 mean=40us p50=31us p99=31us p99.9=31us max=9.0ms");
}

TEST(HistogramDeathTest, PercentileOutsideItsRangeEndsTheProcess) {
  Histogram histogram;
  EXPECT_DEATH(histogram.Percentile(101), "between 0 and 100");
}

}  // namespace histogram_test
}  // namespace liststore
