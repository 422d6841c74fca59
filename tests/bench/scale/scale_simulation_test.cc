// The simulation of many cores against what formulas of queues say, where there is one.
#include "bench/scale/scale_simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace scale_simulation_test {

// Requests that do nothing but hold a lane, and waiting that costs nothing but its time.
ScaleSetup PlainSetup(double outside_ns, double in_lane_ns) {
  ScaleSetup setup;
  setup.costs = {};
  for (RequestCosts* costs : {&setup.costs.read, &setup.costs.write}) {
    costs->outside_ns = outside_ns;
    costs->in_lane_ns = in_lane_ns;
  }
  setup.costs.transfer_ns = 0;
  setup.costs.wake_ns = 0;
  setup.costs.memory_gb_per_s = 0;
  return setup;
}

struct Queues {
  double per_second = 0;
  double waiting_ns = 0;  // of a request, in all queues it meets
};

// Mean value analysis of a closed network (Reiser and Lavenberg, 1980): `loops` customers, who think and
// then go to one of `lanes` servers, each as likely as the others. Exact for exponential times.
Queues MeanValueAnalysis(uint32_t loops, uint32_t lanes, double outside_ns, double in_lane_ns) {
  double in_queue = 0;  // of one lane, the one served included
  double response = 0, rate = 0;
  for (uint32_t n = 1; n <= loops; ++n) {
    response = in_lane_ns * (1 + in_queue);
    rate = n / (outside_ns + response);
    in_queue = rate * response / lanes;
  }
  return {rate * 1e9, response - in_lane_ns};
}

TEST(ScaleSimulationTest, OneLoopWaitsForNobody) {
  for (const ScaleMix mix : {ScaleMix::kUniform, ScaleMix::kZipf, ScaleMix::kHot}) {
    ScaleSetup setup = PlainSetup(300, 200);
    setup.costs.transfer_ns = 1'000;  // there is nobody to fetch a line from
    setup.costs.read.lane_lines = setup.costs.write.lane_lines = 5;
    setup.costs.read.list_lines = setup.costs.write.list_lines = 5;
    setup.mix = mix;
    const ScaleResult result = ScaleSimulation(setup).Run();
    EXPECT_EQ(result.found_taken, 0u);
    EXPECT_EQ(result.as_mail, 0u);
    EXPECT_EQ(result.waits.Max(), 0u);
    EXPECT_EQ(result.transfer_ns, 0);
    EXPECT_EQ(result.switch_ns, 0);
    EXPECT_NEAR(result.per_second(), 1e9 / 500, 0.01 * 1e9 / 500);
    EXPECT_NEAR(result.work_ns / result.cores_ns, 1, 0.001);
    EXPECT_EQ(result.Limit(), "-");
  }
}

TEST(ScaleSimulationTest, LanesAgreeWithMeanValueAnalysis) {
  struct Case {
    uint32_t loops;
    uint32_t lanes_per_loop;
    ScaleMix mix;
  };
  // One lane under all loops too: the machine with one repairman.
  for (const Case& c : std::vector<Case>{{2, 1, ScaleMix::kUniform},
                                         {8, 1, ScaleMix::kUniform},
                                         {16, 4, ScaleMix::kUniform},
                                         {64, 16, ScaleMix::kUniform},
                                         {2, 16, ScaleMix::kHot},
                                         {4, 16, ScaleMix::kHot},
                                         {16, 16, ScaleMix::kHot}}) {
    SCOPED_TRACE(testing::Message() << c.loops << " loops, " << c.lanes_per_loop
                                    << " lanes each, mix " << static_cast<int>(c.mix));
    constexpr double kOutside = 400, kInLane = 200;
    ScaleSetup setup = PlainSetup(kOutside, kInLane);
    setup.spread = WorkSpread::kExponential;
    setup.loops = c.loops;
    setup.lanes_per_loop = c.lanes_per_loop;
    setup.mix = c.mix;
    const ScaleResult result = ScaleSimulation(setup).Run();
    const uint32_t lanes = c.mix == ScaleMix::kHot ? 1 : setup.lanes();
    const Queues queues = MeanValueAnalysis(c.loops, lanes, kOutside, kInLane);
    EXPECT_NEAR(result.per_second() / queues.per_second, 1, 0.02);
    // Who serves others does not wait meanwhile, so that waits are shorter where there is much mail.
    const double tolerance = c.mix == ScaleMix::kHot ? 0.1 : 0.05;
    EXPECT_NEAR(result.waits.Mean(), queues.waiting_ns, tolerance * queues.waiting_ns + 3);
  }
}

// With many lanes for each loop the others are in few of them: a request finds its lane taken as often as
// one of the others is there.
TEST(ScaleSimulationTest, FewLanesAreFoundTakenWhereThereAreMany) {
  constexpr double kOutside = 300, kInLane = 100;
  for (const uint32_t loops : {2u, 16u, 64u}) {
    ScaleSetup setup = PlainSetup(kOutside, kInLane);
    setup.loops = loops;
    setup.lanes_per_loop = 64;
    const ScaleResult result = ScaleSimulation(setup).Run();
    const double others = (loops - 1) * kInLane / (kOutside + kInLane);
    const double expected = others / setup.lanes();
    EXPECT_NEAR(result.found_taken_share(), expected, 0.1 * expected) << loops << " loops";
  }
}

TEST(ScaleSimulationTest, OneHotListGivesNoMoreThanItsLane) {
  ScaleSetup setup = PlainSetup(1'000, 100);
  setup.mix = ScaleMix::kHot;
  for (const uint32_t loops : {4u, 64u}) {
    setup.loops = loops;
    const double bound = std::min(loops / 1'100e-9, 1 / 100e-9);
    const double rate = ScaleSimulation(setup).Run().per_second();
    EXPECT_LE(rate, bound * 1.01) << loops << " loops";
    EXPECT_GE(rate, bound * 0.85) << loops << " loops";
  }
}

TEST(ScaleSimulationTest, MemoryAndNetworkAreSharedByAll) {
  ScaleSetup setup = PlainSetup(400, 100);
  setup.loops = 16;
  setup.costs.read.memory_bytes = setup.costs.write.memory_bytes = 1'000;
  setup.costs.memory_gb_per_s =
      10;  // 10 million requests a second, of 32 million that cores could do
  const ScaleResult by_memory = ScaleSimulation(setup).Run();
  EXPECT_NEAR(by_memory.per_second(), 1e7, 2e5);
  EXPECT_EQ(by_memory.Limit().substr(0, 6), "memory");

  setup.costs.memory_gb_per_s = 0;
  setup.costs.read.network_bytes = setup.costs.write.network_bytes = 500;
  setup.costs.network_gbit_per_s = 20;  // 5 million
  const ScaleResult by_network = ScaleSimulation(setup).Run();
  EXPECT_NEAR(by_network.per_second(), 5e6, 1e5);
  EXPECT_EQ(by_network.Limit().substr(0, 7), "network");
}

TEST(ScaleSimulationTest, OneLockUnderAllIsALimit) {
  ScaleSetup setup = PlainSetup(400, 100);
  setup.loops = 16;
  setup.costs.group = 16;
  setup.costs.requests_a_turn = 64;
  setup.costs.journal_ns = 100;  // 10 million requests a second
  const ScaleResult result = ScaleSimulation(setup).Run();
  EXPECT_NEAR(result.per_second(), 1e7, 2e5);
  EXPECT_EQ(result.Limit().substr(0, 7), "journal");
}

// Every request finds the lines of its lane elsewhere as often as another core had it before.
TEST(ScaleSimulationTest, LinesComeFromTheCoreThatHadTheLane) {
  ScaleSetup setup = PlainSetup(10'000, 100);
  setup.costs.transfer_ns = 100;
  setup.costs.read.lane_lines = setup.costs.write.lane_lines = 3;
  setup.milliseconds = 200;
  for (const uint32_t loops : {2u, 8u}) {
    setup.loops = loops;
    const ScaleResult result = ScaleSimulation(setup).Run();
    const double expected = 300.0 * (loops - 1) / loops;
    EXPECT_NEAR(result.transfer_ns / static_cast<double>(result.requests), expected,
                0.03 * expected);
  }
}

TEST(ScaleSimulationTest, RequestsThatComeToTheirShardMeetNobody) {
  ScaleSetup setup = PlainSetup(400, 100);
  setup.costs.transfer_ns = 100;
  setup.costs.read.lane_lines = setup.costs.write.lane_lines = 3;
  setup.loops = 8;
  setup.aware_percent = 100;
  const ScaleResult all = ScaleSimulation(setup).Run();
  EXPECT_EQ(all.found_taken, 0u);
  EXPECT_EQ(all.transfer_ns, 0);
  EXPECT_NEAR(all.per_second(), 8 * 1e9 / 500, 0.01 * 8 * 1e9 / 500);
  setup.aware_percent = 50;
  const ScaleResult half = ScaleSimulation(setup).Run();
  setup.aware_percent = 0;
  const ScaleResult none = ScaleSimulation(setup).Run();
  EXPECT_GT(half.transfer_ns, 0);
  EXPECT_LT(half.per_second(), all.per_second());
  EXPECT_LT(none.per_second(), half.per_second());
}

TEST(ScaleSimulationTest, MoreLoopsThanCoresCostWhatTheirChangesCost) {
  ScaleSetup setup = PlainSetup(10'000, 10);
  setup.costs.slice_ns = 100'000;
  setup.costs.switch_ns = 5'000;
  setup.loops = setup.cores = 2;
  const double rate = ScaleSimulation(setup).Run().per_second();
  setup.loops = 8;
  const ScaleResult result = ScaleSimulation(setup).Run();
  // A slice of 100 us, then 5 us until the next thread has the core.
  EXPECT_NEAR(result.per_second() / rate, 100.0 / 105, 0.02);
  EXPECT_NEAR(result.switch_ns / result.cores_ns, 5.0 / 105, 0.005);
}

// A thread that loses its core with a lane in hand keeps others out of it; they give it theirs.
TEST(ScaleSimulationTest, WhoWaitsForALoopWithoutACoreLetsItGoOn) {
  ScaleSetup setup = PlainSetup(100, 300);
  setup.mix = ScaleMix::kHot;
  setup.loops = 4;
  setup.cores = 1;
  setup.milliseconds = 100;
  const ScaleResult result = ScaleSimulation(setup).Run();
  EXPECT_GT(result.found_taken, 0u);
  EXPECT_GT(result.per_second(), 0.9e9 / 400);
}

TEST(ScaleSimulationTest, TheSeedDecidesAndNothingElse) {
  ScaleSetup setup = PlainSetup(300, 200);
  setup.costs.transfer_ns = 80;
  setup.costs.read.lane_lines = 2;
  setup.costs.group = 16;
  setup.mix = ScaleMix::kZipf;
  setup.loops = 8;
  setup.cores = 3;
  const auto figures = [&setup] {
    const ScaleResult result = ScaleSimulation(setup).Run();
    return std::vector<double>{static_cast<double>(result.requests),
                               static_cast<double>(result.found_taken),
                               static_cast<double>(result.as_mail),
                               static_cast<double>(result.waits.Percentile(99.9)),
                               result.work_ns,
                               result.transfer_ns,
                               result.switch_ns};
  };
  const std::vector<double> first = figures();
  EXPECT_EQ(figures(), first);
  setup.seed = 2;
  EXPECT_NE(figures(), first);
}

}  // namespace scale_simulation_test
}  // namespace liststore
