#include "engine/lists/options_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/lists/store_fixture.h"

namespace liststore {
namespace options_check_test {

using testing::Say;

struct Case {
  const char* rule;
  std::function<void(Options&)> change;
  std::string says;
};

TEST(OptionsCheckTest, EachBoundHasItsMessage) {
  const Case cases[] = {
      {"the defaults are good", [](Options&) {}, "OK"},
      {"keyspace: empty", [](Options& o) { o.keyspace = ""; },
       "INVALID_ARGUMENT: keyspace of 0 characters is not within 1 to 48"},
      {"keyspace: longest", [](Options& o) { o.keyspace = std::string(48, 'k'); }, "OK"},
      {"keyspace: too long", [](Options& o) { o.keyspace = std::string(49, 'k'); },
       "INVALID_ARGUMENT: keyspace of 49 characters is not within 1 to 48"},
      {"keyspace: all kinds of characters", [](Options& o) { o.keyspace = "aZ_09"; }, "OK"},
      {"keyspace: another character", [](Options& o) { o.keyspace = "a-b\n"; },
       "INVALID_ARGUMENT: keyspace \"a-b\\n\" holds a character outside [A-Za-z0-9_]"},
      {"default TTL: zero", [](Options& o) { o.default_ttl_seconds = 0; },
       "INVALID_ARGUMENT: default_ttl_seconds 0 is not within 1 to 630720000"},
      {"default TTL: shortest", [](Options& o) { o.default_ttl_seconds = 1; }, "OK"},
      {"default TTL: longest", [](Options& o) { o.default_ttl_seconds = 630'720'000; }, "OK"},
      {"default TTL: too long", [](Options& o) { o.default_ttl_seconds = 630'720'001; },
       "INVALID_ARGUMENT: default_ttl_seconds 630720001 is not within 1 to 630720000"},
      {"values: only empty ones", [](Options& o) { o.value_bytes_max = 0; }, "OK"},
      {"values: longest", [](Options& o) { o.value_bytes_max = 16u << 20; }, "OK"},
      {"values: too long", [](Options& o) { o.value_bytes_max = (16u << 20) + 1; },
       "INVALID_ARGUMENT: value_bytes_max 16777217 exceeds 16777216"},
      {"memory: smallest", [](Options& o) { o.memory_limit_bytes = 1u << 20; }, "OK"},
      {"memory: too small", [](Options& o) { o.memory_limit_bytes = (1u << 20) - 1; },
       "INVALID_ARGUMENT: memory_limit_bytes 1048575 is less than 1048576"},
      {"shards: most", [](Options& o) { o.shards = 256; }, "OK"},
      {"shards: too many", [](Options& o) { o.shards = 257; },
       "INVALID_ARGUMENT: shards 257 exceeds 256"},
  };
  for (const Case& c : cases) {
    Options options;
    c.change(options);
    EXPECT_EQ(Say(CheckOptions(options)), c.says) << c.rule;
  }
}

TEST(OptionsCheckTest, WhatIsLeftOpenComesFromTheMachine) {
  const auto resolved = ResolveOptions({}, {.cores = 6, .memory_bytes = uint64_t{8} << 30});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->clock, &SystemClock::Instance());
  EXPECT_EQ(resolved->shards, 6u);
  EXPECT_EQ(resolved->memory_limit_bytes, uint64_t{6} << 30);
}

TEST(OptionsCheckTest, WhatIsSaidStands) {
  const ManualClock clock(0);
  Options options;
  options.clock = &clock;
  options.shards = 3;
  options.memory_limit_bytes = uint64_t{5} << 20;
  const auto resolved = ResolveOptions(options, {.cores = 6, .memory_bytes = uint64_t{8} << 30});
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->clock, &clock);
  EXPECT_EQ(resolved->shards, 3u);
  EXPECT_EQ(resolved->memory_limit_bytes, uint64_t{5} << 20);
}

TEST(OptionsCheckTest, UnusualMachines) {
  const auto huge = ResolveOptions({}, {.cores = 4096, .memory_bytes = uint64_t{1} << 45});
  ASSERT_TRUE(huge.ok());
  EXPECT_EQ(huge->shards, 256u);
  const auto tiny = ResolveOptions({}, {.cores = 1, .memory_bytes = 1000});
  ASSERT_TRUE(tiny.ok());
  EXPECT_EQ(tiny->memory_limit_bytes, uint64_t{1} << 20);
  EXPECT_EQ(Say(ResolveOptions({}, {.cores = 1, .memory_bytes = 0})),
            "FAILED_PRECONDITION: memory_limit_bytes is 0, and the memory of the machine is "
            "unknown");
}

}  // namespace options_check_test
}  // namespace liststore
