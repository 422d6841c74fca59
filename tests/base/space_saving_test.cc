#include "engine/base/space_saving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace liststore::testing {
namespace space_saving_test {

struct Nothing {};

// What is promised of every counter and key, by exact counts.
template <typename Detail>
void ExpectBounds(const SpaceSaving<Detail>& sketch, const std::map<std::string, uint64_t>& exact,
                  uint64_t counters) {
  sketch.Verify();
  uint64_t total = 0;
  for (const auto& [key, count] : exact) {
    total += count;
    const auto* const counter = sketch.Find(key);
    if (counter == nullptr) {
      ASSERT_LE(count, sketch.least()) << key;
      continue;
    }
    ASSERT_GE(counter->count, count) << key;
    ASSERT_LE(counter->count - counter->error, count) << key;
  }
  EXPECT_EQ(sketch.total(), total);
  EXPECT_LE(sketch.least(), total / counters);
}

TEST(SpaceSavingTest, FewKeysAreCountedExactly) {
  SpaceSaving<int> sketch(3);
  EXPECT_EQ(sketch.bytes(), 0u);
  sketch.Add("a", 2) = 7;
  sketch.Add("b", 1);
  sketch.Add("a", 3) += 1;
  sketch.Add("", 1);
  ExpectBounds(sketch, {{"a", 5}, {"b", 1}, {"", 1}}, 3);
  EXPECT_EQ(sketch.least(), 1u);
  ASSERT_NE(sketch.Find("a"), nullptr);
  EXPECT_EQ(sketch.Find("a")->count, 5u);
  EXPECT_EQ(sketch.Find("a")->error, 0u);
  EXPECT_EQ(sketch.Find("a")->detail, 8);
  EXPECT_GT(sketch.bytes(), 0u);
  sketch.Clear();
  EXPECT_EQ(sketch.Find("a"), nullptr);
  EXPECT_EQ(sketch.bytes(), 0u);
  EXPECT_EQ(sketch.total(), 0u);
}

TEST(SpaceSavingTest, AnotherKeyTakesOverTheSmallestCounter) {
  SpaceSaving<int> sketch(2);
  sketch.Add("a", 5);
  sketch.Add("b", 2) = 9;
  EXPECT_EQ(sketch.Add("c", 1), 0) << "the detail begins anew";
  EXPECT_EQ(sketch.Find("b"), nullptr);
  ASSERT_NE(sketch.Find("c"), nullptr);
  EXPECT_EQ(sketch.Find("c")->count, 3u);
  EXPECT_EQ(sketch.Find("c")->error, 2u);
  EXPECT_EQ(sketch.Find("a")->count, 5u);
  sketch.Verify();
}

TEST(SpaceSavingTest, BoundsHoldForRandomStreams) {
  Random random(88213);
  for (int run = 0; run < 200; ++run) {
    const auto counters = static_cast<uint32_t>(1 + random.Below(20));
    const uint64_t keys = 1 + random.Below(60);
    SpaceSaving<Nothing> sketch(counters);
    std::map<std::string, uint64_t> exact;
    for (int i = 0; i < 400; ++i) {
      // Longer than a string holds within itself, too.
      const std::string key =
          std::string(random.OneIn(2) ? 30 : 0, 'k') + std::to_string(random.Below(keys));
      const uint64_t weight = random.OneIn(3) ? 1 + random.Below(1000) : 1;
      sketch.Add(key, weight);
      exact[key] += weight;
      if (i % 40 == 0) ExpectBounds(sketch, exact, counters);
    }
    ExpectBounds(sketch, exact, counters);
  }
}

// Of 20,000 keys whose shares fall as those of users do. The hottest are named in their order, and each
// that has more than 1 / counters of the stream is there.
TEST(SpaceSavingTest, TheHottestOfAZipfStreamAreFound) {
  constexpr uint64_t kKeys = 20'000;
  constexpr uint32_t kCounters = 256;
  constexpr uint64_t kStream = 100'000;
  for (const double exponent : {0.9, 1.1, 1.5}) {
    SCOPED_TRACE(exponent);
    std::vector<double> sums(kKeys);
    double sum = 0;
    for (uint64_t i = 0; i < kKeys; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -exponent);
      sums[i] = sum;
    }
    Random random(17);
    SpaceSaving<Nothing> sketch(kCounters);
    std::map<std::string, uint64_t> exact;
    for (uint64_t i = 0; i < kStream; ++i) {
      const auto at = std::ranges::lower_bound(sums, random.Fraction() * sum);
      const std::string key = "user" + std::to_string(at - sums.begin());
      sketch.Add(key, 1);
      ++exact[key];
    }
    ExpectBounds(sketch, exact, kCounters);
    std::vector<std::pair<uint64_t, std::string>> hottest, found;
    for (const auto& [key, count] : exact) {
      hottest.emplace_back(count, key);
      if (count > kStream / kCounters) {
        EXPECT_NE(sketch.Find(key), nullptr) << key;
      }
    }
    for (const auto& counter : sketch.counters()) {
      found.emplace_back(counter.count - counter.error, counter.key);
    }
    std::ranges::sort(hottest, std::ranges::greater());
    std::ranges::sort(found, std::ranges::greater());
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(found[i].second, hottest[i].second) << i;
  }
}

}  // namespace space_saving_test
}  // namespace liststore::testing
