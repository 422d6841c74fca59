// The seed of a randomised test: printed when asked for, so that a failure can be replayed.
#ifndef LISTSTORE_TESTS_SUPPORT_SEED_H_
#define LISTSTORE_TESTS_SUPPORT_SEED_H_

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace liststore::testing {

// The value of the environment variable LISTSTORE_SEED, or `fallback`. Prints "seed=N".
uint64_t TestSeed(uint64_t fallback = 1712);

// The value of LISTSTORE_STEPS, or `fallback`: how long a randomised test runs. Sanitizer runs are
// given fewer steps, a night's run more. Prints "steps=N".
uint64_t TestSteps(uint64_t fallback);

// Calls run(seed) for TestSteps(`seeds`) seeds from TestSeed() on, to the first of them that fails, of
// which the failure says how to run it alone.
template <typename Run>
void RunEachSeed(uint64_t seeds, Run&& run) {
  const uint64_t first = TestSeed();
  const uint64_t end = first + TestSteps(seeds);
  for (uint64_t seed = first; seed < end; ++seed) {
    SCOPED_TRACE("LISTSTORE_SEED=" + std::to_string(seed) + " LISTSTORE_STEPS=1");
    run(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_SEED_H_
