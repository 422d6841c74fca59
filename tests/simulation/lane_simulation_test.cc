// Callers, holders, mail, time and reclamation in seeded orders on one thread; see
// lane_simulation.h.
//
// LISTSTORE_STEPS turns in runs of 5,000, run i under seed LISTSTORE_SEED + i. To replay one run:
// LISTSTORE_SEED=<its seed> LISTSTORE_STEPS=5000.
#include "tests/simulation/lane_simulation.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace lane_simulation_test {

constexpr uint64_t kTurnsPerRun = 5'000;

TEST(LaneSimulationTest, EveryOrderOfTurnsGivesWhatTheReferenceGives) {
  const uint64_t seed = TestSeed();
  const uint64_t turns = TestSteps(200'000);
  LaneSimulation::Counts total;
  for (uint64_t run = 0; run * kTurnsPerRun < turns; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) +
                 " LISTSTORE_STEPS=" + std::to_string(kTurnsPerRun));
    // A failed check ends the process: what ran must be known by then.
    std::printf("run seed=%" PRIu64, seed + run);
    std::fflush(stdout);
    LaneSimulation simulation(seed + run);
    simulation.Run(std::min(kTurnsPerRun, turns - run * kTurnsPerRun));
    std::printf(" digest=%016" PRIx64 "\n", simulation.digest());
    if (HasFailure()) return;
    const LaneSimulation::Counts& counts = simulation.counts();
    total.commands += counts.commands;
    total.as_mail += counts.as_mail;
    total.budgets_spent += counts.budgets_spent;
    total.lanes_found_taken += counts.lanes_found_taken;
    total.mail_at_once_max = std::max(total.mail_at_once_max, counts.mail_at_once_max);
    total.truncations += counts.truncations;
    total.reclaimed_units += counts.reclaimed_units;
    total.rows_compared += counts.rows_compared;
  }
  std::printf(
      "%" PRIu64 " commands, %" PRIu64 " of them as mail, up to %" PRIu64
      " at once; budgets spent %" PRIu64 " times, lanes found taken %" PRIu64 " times; %" PRIu64
      " truncations, %" PRIu64 " units reclaimed, %" PRIu64 " rows compared\n",
      total.commands, total.as_mail, total.mail_at_once_max, total.budgets_spent,
      total.lanes_found_taken, total.truncations, total.reclaimed_units, total.rows_compared);
  // Else the orders that this is about did not come up. Short runs may miss some.
  if (turns < 100'000) return;
  EXPECT_GT(total.as_mail, total.commands / 20);
  EXPECT_GT(total.mail_at_once_max, uint64_t{runtime::LaneOwnership::kServedMax});
  EXPECT_GT(total.budgets_spent, 0u);
  EXPECT_GT(total.lanes_found_taken, 0u);
  EXPECT_GT(total.truncations, 0u);
  EXPECT_GT(total.reclaimed_units, 0u);
}

TEST(LaneSimulationTest, TheSeedDecidesAndNothingElse) {
  const uint64_t seed = TestSeed();
  constexpr uint64_t kRuns = 8;
  constexpr uint64_t kTurns = 1'000;
  std::set<uint64_t> digests;
  for (uint64_t run = 0; run < kRuns; ++run) {
    LaneSimulation first(seed + run);
    first.Run(kTurns);
    LaneSimulation second(seed + run);
    second.Run(kTurns);
    ASSERT_EQ(first.digest(), second.digest()) << "seed " << seed + run;
    digests.insert(first.digest());
  }
  EXPECT_EQ(digests.size(), kRuns) << "different seeds differ";
}

}  // namespace lane_simulation_test
}  // namespace liststore::testing
