// The seed of a randomised test: printed when asked for, so that a failure can be replayed.
#ifndef LISTSTORE_TESTS_SUPPORT_SEED_H_
#define LISTSTORE_TESTS_SUPPORT_SEED_H_

#include <cstdint>

namespace liststore::testing {

// The value of the environment variable LISTSTORE_SEED, or `fallback`. Prints "seed=N".
uint64_t TestSeed(uint64_t fallback = 1712);

// The value of LISTSTORE_STEPS, or `fallback`: how long a randomised test runs. Sanitizer runs are
// given fewer steps, a night's run more. Prints "steps=N".
uint64_t TestSteps(uint64_t fallback);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_SEED_H_
