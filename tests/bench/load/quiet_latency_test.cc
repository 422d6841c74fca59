#include "bench/load/quiet_latency.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/load/core_gaps.h"
#include "bench/load/server_process.h"
#include "engine/base/run_delay.h"
#include "gtest/gtest.h"

namespace liststore::testing {
namespace quiet_latency_test {

constexpr int64_t kMilli = 1'000'000;

// A request each millisecond from `begin` to `end`, all as slow.
void RecordEach(QuietLatency& quiet, int64_t begin_ms, int64_t end_ms, uint64_t latency) {
  for (int64_t ms = begin_ms; ms < end_ms; ++ms) quiet.Record(ms * kMilli, latency);
}

TEST(QuietLatency, WithoutDisturbanceAllAreThere) {
  QuietLatency quiet;
  RecordEach(quiet, 0, 5'000, 7);
  const Histogram latency = quiet.Finish();
  EXPECT_EQ(latency.Count(), 5'000u);
  EXPECT_EQ(latency.Max(), 7u);
  EXPECT_EQ(quiet.Finish().Count(), 0u) << "a load is told once";
}

// Of 4 ms from 103 on: the backlog takes until 111, and the window behind that goes too.
TEST(QuietLatency, WhatIsDueWhileACoreIsTakenIsLeftOut) {
  QuietLatency quiet;
  RecordEach(quiet, 0, 100, 1);
  quiet.CoreWasTaken(103 * kMilli, 107 * kMilli);
  RecordEach(quiet, 100, 130, 1'000);
  RecordEach(quiet, 130, 200, 1);
  const Histogram latency = quiet.Finish();
  EXPECT_EQ(latency.Count(), 170u);
  EXPECT_EQ(latency.Max(), 1u);
}

// What hangs on the kernel's account alone: a server that is slow by itself stays slow.
TEST(QuietLatency, SlowAnswersOfAQuietMachineAreCounted) {
  QuietLatency quiet;
  quiet.CoreWasTaken(0, kMilli);
  RecordEach(quiet, 0, 100, 5'000'000);
  const Histogram latency = quiet.Finish();
  EXPECT_EQ(latency.Count(), 80u);
  EXPECT_EQ(latency.Min(), 5'000'000u);
}

// A wait is known when it is over, and waits of two cores in no order.
TEST(QuietLatency, WaitsReachBackAndOverlap) {
  QuietLatency quiet;
  RecordEach(quiet, 0, 300, 1);
  quiet.CoreWasTaken(150 * kMilli, 151 * kMilli);
  quiet.CoreWasTaken(105 * kMilli, 155 * kMilli);  // until 205, and the window behind it
  const Histogram latency = quiet.Finish();
  EXPECT_EQ(latency.Count(), 100u + 80u);
}

// Neither a wait of seconds nor requests that come after it close what is to be left out.
TEST(QuietLatency, LongWaits) {
  QuietLatency quiet;
  RecordEach(quiet, 0, 1'000, 1);
  quiet.CoreWasTaken(1'000 * kMilli, 3'000 * kMilli);
  RecordEach(quiet, 1'000, 5'020, 1'000'000'000);
  RecordEach(quiet, 5'020, 6'000, 1);
  const Histogram latency = quiet.Finish();
  EXPECT_EQ(latency.Count(), 1'000u + 980u);
  EXPECT_EQ(latency.Max(), 1u);
}

TEST(QuietLatency, RequestsThatAreVeryLateAreCounted) {
  QuietLatency quiet;
  quiet.Record(2'000 * kMilli, 1);
  quiet.Record(0, 2'000'000'000);
  EXPECT_EQ(quiet.Finish().Max(), 2'000'000'000u);
}

// Two threads on one core: each waits while the other runs, and the kernel says so.
TEST(RunDelay, GrowsWhileAnotherThreadHasTheCore) {
  std::optional<RunDelay> probe = RunDelay::OfThisThread();
  if (!probe) GTEST_SKIP() << "the kernel keeps no account of waits";
  const int core = ChooseWireCores().server;
  std::atomic<bool> over{false};
  std::thread rival([&] {
    PinToCore(core);
    while (!over.load(std::memory_order_relaxed)) {
    }
  });
  int64_t waited = 0;
  std::thread([&] {
    PinToCore(core);
    std::optional<RunDelay> own = RunDelay::OfThisThread();
    ASSERT_TRUE(own);
    const int64_t before = own->Nanos();
    // Until the scheduler has passed the core to and fro.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
      waited = own->Nanos() - before;
    } while (waited < kCoreGapNanosMin && std::chrono::steady_clock::now() < end);
    over = true;
  }).join();
  rival.join();
  EXPECT_GE(waited, kCoreGapNanosMin);
}

TEST(RunDelay, OfAProcessThatIsThere) {
  if (!RunDelay::OfThisThread()) GTEST_SKIP() << "the kernel keeps no account of waits";
  std::optional<RunDelay> own = RunDelay::OfBusiestThread(getpid());
  ASSERT_TRUE(own);
  EXPECT_GE(own->Nanos(), 0);
  RunDelay moved = *std::move(own);
  EXPECT_GE(moved.Nanos(), 0);
  constexpr pid_t kNoProcess = 0x7fffffff;  // above any limit of the kernel
  EXPECT_FALSE(RunDelay::OfBusiestThread(kNoProcess));
}

}  // namespace quiet_latency_test
}  // namespace liststore::testing
