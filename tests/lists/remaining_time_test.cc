#include "engine/lists/remaining_time.h"

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore {
namespace remaining_time_test {

constexpr uint64_t kS = kNanosPerSecond;
constexpr uint64_t kNow = 1'724'949'845u * kS;
constexpr uint64_t kLastInstant = UINT64_MAX;

struct Case {
  const char* rule;
  uint64_t timestamp_nanos;
  int64_t ttl_seconds;
  uint64_t now_nanos;
  int64_t left_seconds;
};

constexpr Case kCases[] = {
    {"an item of now has the whole TTL", kNow, 60, kNow, 60},
    {"a nanosecond old: the second that has begun is lost", kNow - 1, 60, kNow, 59},
    {"a second old", kNow - kS, 60, kNow, 59},
    {"a nanosecond into the future gains nothing", kNow + 1, 60, kNow, 60},
    {"a second into the future", kNow + kS, 60, kNow, 61},
    {"one second left", kNow - 59 * kS, 60, kNow, 1},
    {"a nanosecond less than one second left: 0", kNow - 59 * kS - 1, 60, kNow, 0},
    {"a nanosecond left: 0", kNow - 60 * kS + 1, 60, kNow, 0},
    {"exactly over: 0", kNow - 60 * kS, 60, kNow, 0},
    {"over by a nanosecond, floor is -1: 0", kNow - 60 * kS - 1, 60, kNow, 0},
    {"over by half a second, floor is -1: 0", kNow - 60 * kS - kS / 2, 60, kNow, 0},
    {"over by far: 0", 0, 1, kLastInstant, 0},
    {"the epoch under a clock at the epoch", 0, 1, 0, 1},
    {"the latest timestamp and the longest TTL at the epoch", kItemKeyNanosMax, kTtlSecondsMax, 0,
     9'999'999'999 + kTtlSecondsMax},
    {"the latest timestamp at the last instant: 0", kItemKeyNanosMax, kTtlSecondsMax, kLastInstant,
     0},
    {"beyond signed nanoseconds on both sides", uint64_t{1} << 63, 5, (uint64_t{1} << 63) + 1, 4},
    {"exactly at the limit", kNow, kTtlSecondsMax, kNow, kTtlSecondsMax},
    {"a second above the limit is told as it is", kNow + kS, kTtlSecondsMax, kNow,
     kTtlSecondsMax + 1},
};

TEST(RemainingTimeTest, EachRule) {
  for (const Case& c : kCases) {
    EXPECT_EQ(RemainingSeconds(c.timestamp_nanos, c.ttl_seconds, c.now_nanos), c.left_seconds)
        << c.rule;
  }
}

TEST(RemainingTimeTest, AgreesWithWideArithmetic) {
  Random random(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(100'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t timestamp = random.Below(kItemKeyNanosMax + 1);
    const int64_t ttl = random.Between(1, kTtlSecondsMax);
    const uint64_t now = random.OneIn(2) ? random.Next() : timestamp + random.Below(2 * kS * ttl);
    const auto nanos = static_cast<__int128>(timestamp) + static_cast<__int128>(ttl) * kS - now;
    const auto expected = nanos <= 0 ? 0 : static_cast<int64_t>(nanos / kS);
    ASSERT_EQ(RemainingSeconds(timestamp, ttl, now), expected) << "step " << step;
  }
}

}  // namespace remaining_time_test
}  // namespace liststore
