#include "engine/runtime/work_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace liststore::testing {
namespace work_memory_test {

using runtime::WorkMemory;

// Takes a part on a thread of its own, and gives it back when it is told to.
class Taker {
 public:
  Taker(WorkMemory& memory, uint64_t bytes)
      : thread_([this, &memory, bytes] {
          const WorkMemory::Part part(memory, bytes);
          has_it_ = true;
          has_it_.notify_all();
          gives_.wait(false);
        }) {}
  ~Taker() { Give(); }

  bool has_it() const { return has_it_; }
  void AwaitPart() { has_it_.wait(false); }
  void Give() {
    gives_ = true;
    gives_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> has_it_ = false;
  std::atomic<bool> gives_ = false;
  std::thread thread_;
};

TEST(WorkMemory, LetsInAsMuchAsThereIs) {
  WorkMemory memory(100);
  Taker first(memory, 60);
  first.AwaitPart();
  Taker second(memory, 40);
  second.AwaitPart();
  EXPECT_EQ(memory.taken(), 100u);
  Taker third(memory, 30);
  Taker fourth(memory, 30);
  first.Give();
  third.AwaitPart();
  fourth.AwaitPart();
  EXPECT_EQ(memory.taken(), 100u);
  second.Give();
  third.Give();
  fourth.Give();
  EXPECT_EQ(memory.taken(), 0u);
}

TEST(WorkMemory, WhoWantsMoreThanThereIsHasAllOfIt) {
  WorkMemory memory(100);
  auto small = std::make_unique<Taker>(memory, 1);
  small->AwaitPart();
  Taker large(memory, 1'000'000);
  while (memory.waiting() != 1) std::this_thread::yield();
  // Whoever comes later does not pass it by, though there would be room.
  Taker later(memory, 1);
  while (memory.waiting() != 2) std::this_thread::yield();
  EXPECT_FALSE(large.has_it());
  EXPECT_FALSE(later.has_it());
  small->Give();
  large.AwaitPart();
  EXPECT_EQ(memory.taken(), 100u);
  EXPECT_FALSE(later.has_it());
  large.Give();
  later.AwaitPart();
  EXPECT_EQ(memory.taken(), 1u);
}

TEST(WorkMemory, TellsWhatWasGivenBeforeOthersHaveIt) {
  uint64_t given = 0;
  uint64_t taken = 0;
  WorkMemory* told = nullptr;
  WorkMemory memory(100, [&](uint64_t bytes) {
    given += bytes;
    taken = told->taken();
  });
  told = &memory;
  { const WorkMemory::Part part(memory, 70); }
  EXPECT_EQ(given, 70u);
  EXPECT_EQ(taken, 70u);
}

}  // namespace work_memory_test
}  // namespace liststore::testing
