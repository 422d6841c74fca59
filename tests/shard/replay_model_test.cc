// Random commands of all kinds over several tables, written down, and replayed into an engine of another
// shape: both say the same of everything that reads see, with timestamps and expiries; and into one of the
// same shape, which goes on to say the same whatever is written then.
//
// LISTSTORE_STEPS steps in runs of 1,000, run i under seed LISTSTORE_SEED + i.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/shard/logged_run.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace replay_model_test {

constexpr uint64_t kStepsPerRun = 1'000;

void RunOnce(uint64_t seed, uint64_t steps, LoggedTotals& totals) {
  LoggedRun run(seed, totals);
  for (uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) run.Step();
  if (::testing::Test::HasFatalFailure()) return;
  for (MemoryLog& log : run.logs()) totals.records += log.records().size();
  {
    shard::Engine other(LoggedRun::ShapeOf(seed + 1));
    run.ReplayInto(other, run.MakeTables(other, 1));
    if (!::testing::Test::HasFatalFailure()) run.Compare(other, 1);
  }
  if (::testing::Test::HasFatalFailure()) return;
  shard::Engine same(LoggedRun::ShapeOf(seed));
  run.ReplayInto(same, run.MakeTables(same, 0));
  if (!::testing::Test::HasFatalFailure()) run.Compare(same, 0);
  if (!::testing::Test::HasFatalFailure() && run.MemoryIsAmple()) run.GoOn(same);
}

TEST(ReplayModelTest, WhatWasWrittenDownComesAgain) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(100'000);
  LoggedTotals totals;
  for (uint64_t done = 0; done < steps; done += kStepsPerRun) {
    const uint64_t run_seed = seed + done / kStepsPerRun;
    SCOPED_TRACE("seed of the run: " + std::to_string(run_seed));
    RunOnce(run_seed, std::min(kStepsPerRun, steps - done), totals);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("%" PRIu64 " records, %" PRIu64 " rows compared, %" PRIu64 " batches, %" PRIu64
              " truncations, %" PRIu64 " refused\n",
              totals.records, totals.rows_compared, totals.batches, totals.truncations,
              totals.refused);
}

}  // namespace replay_model_test
}  // namespace liststore::testing
