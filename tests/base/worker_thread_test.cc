#include "engine/base/worker_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>
#include <utility>

#include "tests/support/limited_process.h"

namespace liststore {
namespace worker_thread_test {

TEST(WorkerThread, RunsUnderItsNameWithAllSignalsBlocked) {
  sigset_t mask_before, mask_inside, mask_after;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  char name[16] = {};
  auto thread = StartThread("a-name-that-is-too-long", [&] {
    pthread_getname_np(pthread_self(), name, sizeof(name));
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_inside);
  });
  ASSERT_TRUE(thread.ok()) << thread.status().ToString();
  std::thread started = *std::move(thread);
  started.join();
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  EXPECT_STREQ(name, "a-name-that-is-");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPROF}) {
    EXPECT_EQ(sigismember(&mask_inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&mask_after, signal), sigismember(&mask_before, signal)) << signal;
  }
}

TEST(WorkerThread, IsAnErrorWhereTheSystemRefusesIt) {
  if (!testing::kAddressSpaceCanBeLimited) GTEST_SKIP() << "sanitizers need address space";
  const int result = testing::RunWithAddressSpace(1 << 20, [] {
    const auto thread = StartThread("refused", [] {});
    if (thread.ok()) return 1;
    const std::string message(thread.status().message());
    return message.find("the system refuses the thread 'refused'") == 0 ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace worker_thread_test
}  // namespace liststore
