// A server that the machine refuses a thread.
#include <gtest/gtest.h>

#include <cstdint>

#include "liststore/cql_server.h"
#include "tests/support/limited_process.h"

namespace liststore::testing {
namespace refused_threads_test {

TEST(RefusedThreads, AreAnErrorOfStart) {
  if (!kAddressSpaceCanBeLimited) GTEST_SKIP() << "sanitizers need address space";
  // Two loops, the one that accepts, the one that gets memory; and room for the heaps of all.
  constexpr uint64_t kThreads = 4;
  for (uint64_t threads = 0; threads <= kThreads; ++threads) {
    const uint64_t heaps = threads == kThreads ? uint64_t{1} << 30 : uint64_t{32} << 20;
    const int result = RunWithAddressSpace(threads * kLimitedStackBytes + heaps, [threads] {
      CqlServerOptions options;
      options.shards = 2;
      options.memory_limit_bytes = uint64_t{64} << 20;
      const auto server = CqlServer::Start(options);
      if (server.ok()) return threads == kThreads ? 0 : 1;
      if (threads == kThreads) return 2;
      return server.status().code() == absl::StatusCode::kResourceExhausted ? 0 : 3;
    });
    EXPECT_EQ(result, 0) << threads;
  }
}

}  // namespace refused_threads_test
}  // namespace liststore::testing
