#include "engine/control/server_clock.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace {

using Move = ServerClock::Move;

TEST(ServerClockTest, ARealClockGoesAsTheMachinesDoes) {
  ManualClock machine(5);
  ServerClock clock(machine);
  EXPECT_EQ(clock.mode(), ServerClock::Mode::kReal);
  EXPECT_EQ(clock.NowNanos(), 5u);
  machine.AdvanceNanos(2);
  EXPECT_EQ(clock.NowNanos(), 7u);
  EXPECT_EQ(clock.Set(9), Move::kNotManual);
  EXPECT_EQ(clock.Advance(1), Move::kNotManual);
  EXPECT_EQ(clock.NowNanos(), 7u);
}

TEST(ServerClockTest, AManualClockStandsStillUntilMoved) {
  ServerClock clock(100);
  EXPECT_EQ(clock.mode(), ServerClock::Mode::kManual);
  EXPECT_EQ(clock.NowNanos(), 100u);
  EXPECT_EQ(clock.Set(150), Move::kDone);
  EXPECT_EQ(clock.Advance(50), Move::kDone);
  EXPECT_EQ(clock.NowNanos(), 200u);
  EXPECT_EQ(clock.Set(200), Move::kDone) << "the present instant is no way back";
  EXPECT_EQ(clock.Advance(0), Move::kDone);
  EXPECT_EQ(clock.NowNanos(), 200u);
}

TEST(ServerClockTest, NeitherBackwardsNorBeyondTheEnd) {
  ServerClock clock(100);
  EXPECT_EQ(clock.Set(99), Move::kBackwards);
  EXPECT_EQ(clock.Set(ServerClock::kNanosMax + 1), Move::kTooFar);
  EXPECT_EQ(clock.Advance(ServerClock::kNanosMax), Move::kTooFar);
  EXPECT_EQ(clock.Advance(~uint64_t{0}), Move::kTooFar) << "no sum wraps around";
  EXPECT_EQ(clock.NowNanos(), 100u);
  EXPECT_EQ(clock.Set(ServerClock::kNanosMax), Move::kDone);
  EXPECT_EQ(clock.Advance(1), Move::kTooFar);
}

TEST(ServerClockTest, StepsOfSeveralThreadsAddUp) {
  ServerClock clock(uint64_t{0});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&clock] {
      uint64_t last = 0;
      for (int step = 0; step < 1000; ++step) {
        EXPECT_EQ(clock.Advance(3), Move::kDone);
        const uint64_t now = clock.NowNanos();
        EXPECT_GT(now, last);
        last = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.NowNanos(), 12'000u);
}

TEST(ServerClockTest, AResetTakesAManualClockAnywhere) {
  ServerClock clock(100);
  EXPECT_FALSE(clock.ResetTo(100)) << "it is there";
  EXPECT_TRUE(clock.ResetTo(99));
  EXPECT_EQ(clock.NowNanos(), 99);
  EXPECT_TRUE(clock.ResetTo(ServerClock::kNanosMax));
  EXPECT_EQ(clock.NowNanos(), ServerClock::kNanosMax);

  const ManualClock machine(100);
  ServerClock real(machine);
  EXPECT_FALSE(real.ResetTo(99));
  EXPECT_EQ(real.NowNanos(), 100);
}

}  // namespace
}  // namespace liststore
