// A server that the machine refuses descriptors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "liststore/cql_server.h"
#include "tests/support/limited_process.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace refused_descriptors_test {

CqlServerOptions Small() {
  CqlServerOptions options;
  options.shards = 2;
  options.memory_limit_bytes = uint64_t{64} << 20;
  return options;
}

TEST(RefusedDescriptors, AreAnErrorOfStart) {
  if (!kAllDescriptorsCanBeRefused) GTEST_SKIP() << "the sanitizer needs some for itself";
  // Too few of them, one more each time, until the server starts.
  constexpr int kStarts = 1;
  int result = 0;
  int descriptors = 0;
  for (; result == 0; ++descriptors) {
    ASSERT_LT(descriptors, 100);
    result = RunInProcess([descriptors] {
      if (!LimitDescriptors(descriptors)) return 100;
      const auto server = CqlServer::Start(Small());
      if (server.ok()) return kStarts;
      const absl::StatusCode code = server.status().code();
      return code == absl::StatusCode::kResourceExhausted ||
                     code == absl::StatusCode::kFailedPrecondition
                 ? 0
                 : 2;
    });
  }
  EXPECT_EQ(result, kStarts) << descriptors;
  EXPECT_GT(descriptors, 5);
}

TEST(RefusedDescriptors, KeepClientsWaitingUntilThereAreSome) {
  const int result = RunInProcess([] {
    if (!LimitDescriptors(200)) return 100;
    const auto server = CqlServer::Start(Small());
    if (!server.ok()) return 1;
    std::vector<int> others;
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO)) others.push_back(fd);
    if (others.size() < 10) return 2;
    close(others.back());
    others.pop_back();
    RawCqlClient client((*server)->cql_port());  // the last one is its own
    if (!client.Send({.opcode = 0x05})) return 3;
    for (const int fd : others) close(fd);
    const auto answer = client.Read();
    return answer && answer->opcode == 0x06 ? 0 : 4;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace refused_descriptors_test
}  // namespace liststore::testing
