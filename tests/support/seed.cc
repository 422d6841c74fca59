#include "tests/support/seed.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace liststore::testing {
namespace {

uint64_t FromEnvironment(const char* variable, const char* label, uint64_t fallback) {
  const char* text = std::getenv(variable);
  const uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
  std::printf("%s=%" PRIu64 " (replay with %s=%" PRIu64 ")\n", label, value, variable, value);
  std::fflush(stdout);
  return value;
}

}  // namespace

uint64_t TestSeed(uint64_t fallback) { return FromEnvironment("LISTSTORE_SEED", "seed", fallback); }

uint64_t TestSteps(uint64_t fallback) {
  return FromEnvironment("LISTSTORE_STEPS", "steps", fallback);
}

}  // namespace liststore::testing
