#include "engine/execute/loop_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace liststore::testing {
namespace loop_gate_test {

using execute::LoopGate;

TEST(LoopGate, LetsNobodyPassWhileItIsClosed) {
  LoopGate gate(2);
  EXPECT_FALSE(LoopGate::Pass(gate, 0).is_refused());
  {
    const LoopGate::Closing one(gate);
    EXPECT_TRUE(LoopGate::Pass(gate, 0).is_refused());
    { const LoopGate::Closing other(gate); }
    EXPECT_TRUE(LoopGate::Pass(gate, 1).is_refused()) << "it is closed by one still";
  }
  EXPECT_FALSE(LoopGate::Pass(gate, 0).is_refused());
  EXPECT_FALSE(LoopGate::Pass(gate, 1).is_refused());
}

TEST(LoopGate, ClosesWhenAllAreOut) {
  LoopGate gate(3);
  std::optional<LoopGate::Pass> inside;
  inside.emplace(gate, 2);
  ASSERT_FALSE(inside->is_refused());
  std::atomic<bool> is_out = false;
  std::thread closer([&] {
    const LoopGate::Closing closing(gate);
    EXPECT_TRUE(is_out);
  });
  // From now on it lets nobody in.
  while (!LoopGate::Pass(gate, 0).is_refused()) std::this_thread::yield();
  is_out = true;
  inside.reset();
  closer.join();
}

// What is changed under a closed gate, and read by those who pass, is never both at once.
TEST(LoopGate, KeepsLoopsOutOfWhatIsChanged) {
  constexpr int kLoops = 2, kPasses = 20'000, kChanges = 50;
  LoopGate gate(kLoops);
  int64_t value = 0;  // no atomic: ThreadSanitizer would see
  std::vector<std::thread> threads;
  for (int loop = 0; loop < kLoops; ++loop) {
    threads.emplace_back([&, loop] {
      for (int i = 0; i < kPasses; ++i) {
        const LoopGate::Pass pass(gate, static_cast<uint32_t>(loop));
        if (pass.is_refused()) continue;
        EXPECT_EQ(value % 2, 0);
      }
    });
  }
  for (int i = 0; i < kChanges; ++i) {
    const LoopGate::Closing closing(gate);
    ++value;
    std::this_thread::yield();
    ++value;
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace loop_gate_test
}  // namespace liststore::testing
