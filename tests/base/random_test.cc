#include "engine/base/random.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace liststore {
namespace random_test {

// From an independent implementation of splitmix64 and xoshiro256**. A change here makes every
// printed seed worthless.
TEST(RandomTest, SequenceIsFixedForEver) {
  struct Row {
    uint64_t seed;
    uint64_t values[4];
  };
  const Row rows[] = {
      {0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
      {1712, {0x1a6f44e632b27cf6, 0x31d67748e7a84b1b, 0x21b37236aef8c70d, 0x83899bba825cf19c}},
  };
  for (const Row& row : rows) {
    Random rng(row.seed);
    for (const uint64_t value : row.values) EXPECT_EQ(rng.Next(), value) << "seed " << row.seed;
  }
}

TEST(RandomTest, BelowIsFixedForEver) {
  Random rng(1712);
  for (const uint64_t value : {10u, 19u, 13u, 51u, 23u, 26u, 33u, 13u}) {
    EXPECT_EQ(rng.Below(100), value);
  }
}

TEST(RandomTest, RangesIncludeTheirEndsAndNothingElse) {
  Random rng(1);
  std::set<int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.Between(-2, 3));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2, 3}));
  for (int i = 0; i < 1000; ++i) {
    const double fraction = rng.Fraction();
    EXPECT_GE(fraction, 0.0);
    EXPECT_LT(fraction, 1.0);
  }
}

TEST(RandomTest, OneInNHappensAboutThatOften) {
  Random rng(2);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += rng.OneIn(10) ? 1 : 0;
  // Ten standard deviations: sqrt(100000 * 0.1 * 0.9) is 95.
  EXPECT_NEAR(hits, 10'000, 950);
  EXPECT_TRUE(rng.OneIn(1));
}

TEST(RandomTest, StreamsOfOneSeedDiffer) {
  Random first(7);
  Random second(7);
  Random a = first.Stream(1);
  Random b = second.Stream(2);
  EXPECT_NE(a.Next(), b.Next());
  Random third(7);
  Random c = third.Stream(1);
  c.Next();
  EXPECT_EQ(a.Next(), c.Next()) << "a stream depends on its seed and name alone";
}

}  // namespace random_test
}  // namespace liststore
