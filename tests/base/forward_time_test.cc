#include "engine/base/forward_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "liststore/clock.h"

namespace liststore {
namespace forward_time_test {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'700'000'000 * kSecond + 250'000'000;

class ForwardTimeTest : public ::testing::Test {
 protected:
  uint64_t Show() {
    return time_.Show(machine_.NowNanos(), [this] { return steady_.NowNanos(); });
  }
  // Both clocks run.
  void Pass(uint64_t nanos) {
    machine_.AdvanceNanos(nanos);
    steady_.AdvanceNanos(nanos);
  }
  void SetBack(uint64_t nanos) { machine_.SetNanos(machine_.NowNanos() - nanos); }

  ManualClock machine_{kStart};
  ManualClock steady_{5 * kSecond};
  ForwardTime time_;
};

TEST_F(ForwardTimeTest, IsTheMachinesAsLongAsThatGoesForward) {
  for (const uint64_t step : {uint64_t{0}, uint64_t{1}, kSecond / 2, kSecond, 3'600 * kSecond}) {
    Pass(step);
    EXPECT_EQ(Show(), machine_.NowNanos());
  }
  machine_.AdvanceSeconds(86'400);  // set forward
  EXPECT_EQ(Show(), machine_.NowNanos());
}

TEST_F(ForwardTimeTest, GoesOnAtItsPaceWhereTheMachineIsSetBack) {
  ASSERT_EQ(Show(), kStart);
  SetBack(3'600 * kSecond);
  EXPECT_EQ(Show(), kStart);
  for (uint64_t seconds = 1; seconds <= 1'000; ++seconds) {
    Pass(kSecond);
    ASSERT_EQ(Show(), kStart + seconds * kSecond);
  }
  SetBack(3'600 * kSecond);  // and once more
  Pass(kSecond);
  EXPECT_EQ(Show(), kStart + 1'001 * kSecond);
}

TEST_F(ForwardTimeTest, MeetsTheMachineAgainWhereThatIsSetForward) {
  ASSERT_EQ(Show(), kStart);
  SetBack(100 * kSecond);
  ASSERT_EQ(Show(), kStart);
  Pass(10 * kSecond);
  ASSERT_EQ(Show(), kStart + 10 * kSecond);
  machine_.AdvanceSeconds(60);  // not enough
  EXPECT_EQ(Show(), kStart + 10 * kSecond);
  machine_.AdvanceSeconds(60);
  EXPECT_EQ(Show(), machine_.NowNanos());
  Pass(5 * kSecond);
  EXPECT_EQ(Show(), machine_.NowNanos());
}

TEST_F(ForwardTimeTest, AClockOfACoarserGrainDoesNotSetItBack) {
  Pass(kSecond);
  const uint64_t shown = Show();
  const uint64_t second = shown - shown % kSecond;
  const auto steady = [this] { return steady_.NowNanos(); };
  EXPECT_EQ(time_.Show(second - 4'000'000, steady), second) << "the second that was shown";
  EXPECT_EQ(Show(), shown) << "it was no step";
}

TEST_F(ForwardTimeTest, SecondsOfManyThreadsNeverGoBack) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      uint64_t last = 0;
      for (int step = 0; step < 20'000; ++step) {
        const uint64_t second = Show() / kSecond;
        ASSERT_GE(second, last);
        last = second;
      }
    });
  }
  for (int step = 0; step < 2'000; ++step) {
    Pass(kSecond / 3);
    if (step % 7 == 0) SetBack(20 * kSecond);
    if (step % 11 == 0) machine_.AdvanceSeconds(20);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace forward_time_test
}  // namespace liststore
