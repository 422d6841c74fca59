#include "liststore/server_clock.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore {
namespace server_clock_test {

using Change = ServerClock::Change;
using Mode = ServerClock::Mode;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr ServerClock::Setting kRealMode = {.mode = Mode::kReal};
constexpr ServerClock::Setting kManualMode = {.mode = Mode::kManual};

ServerClock::Setting Scaled(uint64_t factor_millionths) {
  return {.mode = Mode::kScaled, .factor_millionths = factor_millionths};
}

TEST(ServerClockTest, ARealClockGoesAsTheMachinesDoes) {
  ManualClock machine(5);
  ServerClock clock(machine);
  EXPECT_EQ(clock.mode(), Mode::kReal);
  EXPECT_EQ(clock.NowNanos(), 5u);
  machine.AdvanceNanos(2);
  EXPECT_EQ(clock.NowNanos(), 7u);
  EXPECT_EQ(clock.Set(9), Change::kFollowsMachine);
  EXPECT_EQ(clock.Advance(1), Change::kFollowsMachine);
  EXPECT_EQ(clock.NowNanos(), 7u);
}

TEST(ServerClockTest, AManualClockStandsStillUntilMoved) {
  ServerClock clock(100);
  EXPECT_EQ(clock.mode(), Mode::kManual);
  EXPECT_EQ(clock.NowNanos(), 100u);
  EXPECT_EQ(clock.Set(150), Change::kDone);
  EXPECT_EQ(clock.Advance(50), Change::kDone);
  EXPECT_EQ(clock.NowNanos(), 200u);
  EXPECT_EQ(clock.Set(200), Change::kDone) << "the present instant is no way back";
  EXPECT_EQ(clock.Advance(0), Change::kDone);
  EXPECT_EQ(clock.NowNanos(), 200u);
}

TEST(ServerClockTest, NeitherBackwardsNorBeyondTheEnd) {
  ServerClock clock(100);
  EXPECT_EQ(clock.Set(99), Change::kBackwards);
  EXPECT_EQ(clock.Set(ServerClock::kNanosMax + 1), Change::kTooFar);
  EXPECT_EQ(clock.Advance(ServerClock::kNanosMax), Change::kTooFar);
  EXPECT_EQ(clock.Advance(~uint64_t{0}), Change::kTooFar) << "no sum wraps around";
  EXPECT_EQ(clock.NowNanos(), 100u);
  EXPECT_EQ(clock.Set(ServerClock::kNanosMax), Change::kDone);
  EXPECT_EQ(clock.Advance(1), Change::kTooFar);
}

TEST(ServerClockTest, StepsOfSeveralThreadsAddUp) {
  ServerClock clock(uint64_t{0});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&clock] {
      uint64_t last = 0;
      for (int step = 0; step < 1000; ++step) {
        EXPECT_EQ(clock.Advance(3), Change::kDone);
        const uint64_t now = clock.NowNanos();
        EXPECT_GT(now, last);
        last = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.NowNanos(), 12'000u);
}

// A clock that can change, in front of a machine whose time the test moves.
struct Machine {
  ManualClock machine{1'000 * kSecond};
  ManualClock steady{5 * kSecond};  // counts from somewhere else
  ServerClock clock{machine, steady};

  void Pass(uint64_t nanos) {
    machine.AdvanceNanos(nanos);
    steady.AdvanceNanos(nanos);
  }
};

TEST(ServerClockTest, FreezesAtThePresentInstant) {
  Machine at;
  EXPECT_EQ(at.clock.setting(), kRealMode);
  at.Pass(7);
  EXPECT_EQ(at.clock.SetMode(kManualMode), Change::kDone);
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.mode(), Mode::kManual);
  EXPECT_EQ(at.clock.NowNanos(), 1'000 * kSecond + 7);
  EXPECT_EQ(at.clock.Advance(3), Change::kDone);
  EXPECT_EQ(at.clock.SetMode(kManualMode), Change::kDone) << "it is manual already";
  EXPECT_EQ(at.clock.NowNanos(), 1'000 * kSecond + 10);
}

TEST(ServerClockTest, AScaledClockGoesOnByItsFactor) {
  Machine at;
  EXPECT_EQ(at.clock.SetMode(Scaled(3'600'000'000)), Change::kDone);
  EXPECT_EQ(at.clock.NowNanos(), 1'000 * kSecond) << "from the present instant";
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 4'600 * kSecond) << "a second is an hour";
  EXPECT_EQ(at.clock.Advance(10), Change::kDone);
  EXPECT_EQ(at.clock.NowNanos(), 4'600 * kSecond + 10);
  EXPECT_EQ(at.clock.Set(4'000 * kSecond), Change::kBackwards);
  EXPECT_EQ(at.clock.Set(5'000 * kSecond), Change::kDone);
  at.Pass(kSecond / 2);
  EXPECT_EQ(at.clock.NowNanos(), 6'800 * kSecond);
  EXPECT_EQ(at.clock.SetMode(Scaled(500'000)), Change::kDone) << "half as fast as the machine's";
  at.Pass(2 * kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 6'801 * kSecond);
  EXPECT_EQ(at.clock.SetMode(kManualMode), Change::kDone);
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 6'801 * kSecond);
  EXPECT_EQ(at.clock.SetMode(Scaled(2'000'000)), Change::kDone);
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 6'803 * kSecond);
}

TEST(ServerClockTest, AScaledClockDoesNotFollowWhoeverSetsTheMachines) {
  Machine at;
  EXPECT_EQ(at.clock.SetMode(Scaled(1'000'000)), Change::kDone);
  at.machine.SetNanos(1);
  at.steady.AdvanceNanos(4);
  EXPECT_EQ(at.clock.NowNanos(), 1'000 * kSecond + 4);
}

TEST(ServerClockTest, AScaledClockStopsAtTheLastInstant) {
  Machine at;
  EXPECT_EQ(at.clock.SetMode(Scaled(ServerClock::kFactorMax)), Change::kDone);
  at.Pass(ServerClock::kNanosMax);
  EXPECT_EQ(at.clock.NowNanos(), ServerClock::kNanosMax);
  EXPECT_EQ(at.clock.Advance(1), Change::kTooFar);
  EXPECT_EQ(at.clock.SetMode(kManualMode), Change::kDone);
  EXPECT_EQ(at.clock.NowNanos(), ServerClock::kNanosMax);
}

TEST(ServerClockTest, FollowsTheMachineAgainWhereItIsNotAhead) {
  Machine at;
  EXPECT_EQ(at.clock.SetMode(kManualMode), Change::kDone);
  EXPECT_EQ(at.clock.Advance(60 * kSecond), Change::kDone);
  EXPECT_EQ(at.clock.SetMode(kRealMode), Change::kBackwards);
  EXPECT_EQ(at.clock.setting(), kManualMode) << "nothing has changed";
  EXPECT_EQ(at.clock.NowNanos(), 1'060 * kSecond);
  at.Pass(60 * kSecond);
  EXPECT_EQ(at.clock.SetMode(kRealMode), Change::kDone) << "the machine has come as far";
  at.Pass(1);
  EXPECT_EQ(at.clock.NowNanos(), 1'060 * kSecond + 1);

  EXPECT_EQ(at.clock.SetMode(Scaled(1'000)), Change::kDone);
  at.Pass(1'000 * kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 1'061 * kSecond + 1);
  EXPECT_EQ(at.clock.SetMode(kRealMode), Change::kDone);
  EXPECT_EQ(at.clock.NowNanos(), 2'060 * kSecond + 1) << "it was behind, and jumps";
}

TEST(ServerClockTest, AManualStartCanLieBeforeTheMachinesTime) {
  ServerClock clock(uint64_t{12});
  EXPECT_EQ(clock.SetMode(kRealMode), Change::kDone);
  EXPECT_GT(clock.NowNanos(), 1'600'000'000 * kSecond);
}

TEST(ServerClockTest, TheModeOfAClockThatWasHandedInStays) {
  ManualClock manual(9);
  ServerClock shared(&manual);
  ServerClock followed(static_cast<const Clock&>(manual));
  EXPECT_TRUE(shared.is_shared());
  EXPECT_FALSE(followed.is_shared());
  for (ServerClock* clock : {&shared, &followed}) {
    EXPECT_TRUE(clock->mode_is_fixed());
    for (const auto& setting : {kRealMode, kManualMode, Scaled(5)}) {
      EXPECT_EQ(clock->SetMode(setting), Change::kModeIsFixed);
    }
    EXPECT_EQ(clock->NowNanos(), 9u);
  }
  EXPECT_EQ(shared.Advance(1), Change::kDone);
  EXPECT_EQ(manual.NowNanos(), 10u) << "the program sees it move";
}

TEST(ServerClockTest, SettingsAreWrittenAsTheyAreRead) {
  const struct {
    const char* text;
    ServerClock::Setting setting;
    const char* written;
  } kValid[] = {
      {"real", kRealMode, "real"},
      {"manual", kManualMode, "manual"},
      {"scaled:3600", Scaled(3'600'000'000), "scaled:3600"},
      {"scaled:0.5", Scaled(500'000), "scaled:0.5"},
      {"scaled:00010.250", Scaled(10'250'000), "scaled:10.25"},
      {"scaled:0.000001", Scaled(1), "scaled:0.000001"},
      {"scaled:1000000", Scaled(ServerClock::kFactorMax), "scaled:1000000"},
      {"scaled:1000000.000000", Scaled(ServerClock::kFactorMax), "scaled:1000000"},
  };
  for (const auto& valid : kValid) {
    const auto setting = ParseClockSetting(valid.text);
    ASSERT_TRUE(setting.ok()) << setting.status();
    EXPECT_EQ(*setting, valid.setting) << valid.text;
    EXPECT_EQ(ClockSettingText(*setting), valid.written);
  }
  for (const char* text : {"", "Real", "scaled", "manual:5", "fast"}) {
    EXPECT_EQ(std::string(ParseClockSetting(text).status().message()),
              "'" + std::string(text) + "' is not real, manual or scaled:FACTOR");
  }
  for (const char* factor : {"", "0", "0.0", "-1", "1e3", "1.", ".5", "1.0000001", "1000001",
                             "1000000.000001", "99999999999999999999999999", "1.2.3", " 1"}) {
    const std::string text = std::string("scaled:") + factor;
    EXPECT_EQ(std::string(ParseClockSetting(text).status().message()),
              "'" + text + "': the factor is a decimal number from 0.000001 to 1000000");
  }
}

// Every look at it is a tick later than the one before.
class TickingClock final : public Clock {
 public:
  uint64_t NowNanos() const override { return ticks_.fetch_add(100) + 100; }

 private:
  mutable std::atomic<uint64_t> ticks_{kSecond};
};

// Readers tell each other what they have seen: nobody sees less afterwards, whatever the clock is
// made to do meanwhile.
TEST(ServerClockTest, NobodySeesTimeGoBackWhileTheModeChanges) {
  const TickingClock machine;
  ServerClock clock(machine, machine);
  std::atomic<uint64_t> seen{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        uint64_t before = seen.load();
        const uint64_t now = clock.NowNanos();
        ASSERT_GE(now, before);
        while (before < now && !seen.compare_exchange_weak(before, now)) {
        }
      }
    });
  }
  Random rng(testing::TestSeed());
  int changes = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t before = seen.load();
    switch (rng.Below(4)) {
      case 0:
        changes += clock.SetMode(kManualMode) == Change::kDone;
        break;
      case 1:
        // Slow enough that the real mode can be had again.
        changes += clock.SetMode(Scaled(1 + rng.Below(ServerClock::kFactorOne))) == Change::kDone;
        break;
      case 2:
        changes += clock.SetMode(kRealMode) == Change::kDone;
        break;
      default:
        changes += clock.Advance(rng.Below(1'000)) == Change::kDone;
    }
    ASSERT_GE(clock.NowNanos(), before);
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(changes, 10'000);
}

TEST(ServerClockTest, AResetTakesAManualClockAnywhere) {
  const ServerClock::Setting manual{.mode = ServerClock::Mode::kManual};
  ServerClock clock(100);
  EXPECT_FALSE(clock.ResetTo(manual, 100)) << "it is there";
  EXPECT_TRUE(clock.ResetTo(manual, 99));
  EXPECT_EQ(clock.NowNanos(), 99);
  EXPECT_TRUE(clock.ResetTo(manual, ServerClock::kNanosMax));
  EXPECT_EQ(clock.NowNanos(), ServerClock::kNanosMax);

  const ManualClock machine(100);
  ServerClock real(machine);
  EXPECT_FALSE(real.ResetTo(manual, 99)) << "its mode is fixed";
  EXPECT_EQ(real.NowNanos(), 100);

  Machine at;
  ASSERT_EQ(at.clock.SetMode(Scaled(2'000'000)), Change::kDone);
  at.Pass(kSecond);
  EXPECT_TRUE(at.clock.ResetTo(Scaled(2'000'000), 7 * kSecond));
  EXPECT_EQ(at.clock.NowNanos(), 7 * kSecond);
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 9 * kSecond) << "it goes on from there";
}

TEST(ServerClockTest, AResetTakesTheModeBackToo) {
  const ServerClock::Setting real{}, manual{.mode = ServerClock::Mode::kManual};
  const ServerClock::Setting scaled = Scaled(3'000'000);
  Machine at;
  const uint64_t start = at.clock.NowNanos();
  EXPECT_FALSE(at.clock.ResetTo(real, 7)) << "it goes as the machine does";
  EXPECT_EQ(at.clock.NowNanos(), start);

  EXPECT_TRUE(at.clock.ResetTo(manual, start + kSecond));
  EXPECT_EQ(at.clock.setting(), manual);
  EXPECT_EQ(at.clock.NowNanos(), start + kSecond);
  EXPECT_TRUE(at.clock.ResetTo(real, 7)) << "it was ahead of the machine";
  EXPECT_EQ(at.clock.setting(), real);
  EXPECT_EQ(at.clock.NowNanos(), start);

  EXPECT_TRUE(at.clock.ResetTo(scaled, 50 * kSecond));
  EXPECT_EQ(at.clock.setting(), scaled);
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 53 * kSecond);
  EXPECT_FALSE(at.clock.ResetTo(manual, 53 * kSecond)) << "only the mode was another";
  at.Pass(kSecond);
  EXPECT_EQ(at.clock.NowNanos(), 53 * kSecond);
}

}  // namespace server_clock_test
}  // namespace liststore
