#include "engine/memory/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/base/config.h"
#include "absl/container/btree_set.h"
#include "engine/base/random.h"
#include "engine/memory/arena_allocator.h"
#include "tests/support/seed.h"

namespace liststore {
namespace arena_test {

using ::liststore::testing::TestSeed;
using ::liststore::testing::TestSteps;
using Mobility = memory::Arena::Mobility;
constexpr uint64_t kMiB = uint64_t{1} << 20;

// Blocks with recognisable contents, moved along when the arena moves them.
class Blocks : public memory::Arena::Relocator {
 public:
  explicit Blocks(memory::Arena& arena) : arena_(arena) {}

  size_t count() const { return blocks_.size(); }
  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t moves() const { return moves_; }

  void Add(size_t bytes, Mobility mobility) {
    auto* at = static_cast<char*>(arena_.Allocate(bytes, mobility));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % 16, 0u);
    const auto mark = static_cast<unsigned char>(++marks_);
    std::memset(at, mark, memory::Arena::BlockBytes(bytes));
    index_of_[at] = blocks_.size();
    blocks_.push_back({at, bytes, mark, mobility});
    live_bytes_ += memory::Arena::BlockBytes(bytes);
  }

  void Remove(size_t index) {
    Check(index);
    const Block block = blocks_[index];
    // Any number of the same class names the size.
    arena_.Free(block.at,
                block.mark % 2 == 0 ? block.bytes : memory::Arena::BlockBytes(block.bytes));
    index_of_.erase(block.at);
    live_bytes_ -= memory::Arena::BlockBytes(block.bytes);
    blocks_[index] = blocks_.back();
    blocks_.pop_back();
    if (index < blocks_.size()) index_of_[blocks_[index].at] = index;
  }

  void RemoveAll() {
    while (!blocks_.empty()) Remove(blocks_.size() - 1);
  }

  void Check(size_t index) const {
    const Block& block = blocks_[index];
    const auto* bytes = reinterpret_cast<const unsigned char*>(block.at);
    const size_t size = memory::Arena::BlockBytes(block.bytes);
    ASSERT_TRUE(std::all_of(bytes, bytes + size, [&](unsigned char b) { return b == block.mark; }))
        << "block " << index << " of " << size;
  }
  void CheckAll() const {
    for (size_t i = 0; i < blocks_.size(); ++i) Check(i);
  }

  void Moved(void* from, void* to, size_t bytes) override {
    const auto found = index_of_.find(static_cast<char*>(from));
    ASSERT_NE(found, index_of_.end());
    const size_t index = found->second;
    Block& block = blocks_[index];
    ASSERT_EQ(block.mobility, Mobility::kMovable);
    ASSERT_TRUE(MayMove(from));
    ASSERT_EQ(memory::Arena::BlockBytes(block.bytes), bytes);
    index_of_.erase(found);
    block.at = static_cast<char*>(to);
    ASSERT_TRUE(index_of_.emplace(block.at, index).second) << "moved onto a live block";
    ++moves_;
  }

  // That many marks of 256 are of blocks that stay where they are.
  bool MayMove(const void* block) const override {
    return *static_cast<const unsigned char*>(block) >= pinned_of_256;
  }
  unsigned pinned_of_256 = 0;

 private:
  struct Block {
    char* at;
    size_t bytes;
    unsigned char mark;
    Mobility mobility;
  };
  memory::Arena& arena_;
  std::vector<Block> blocks_;
  std::unordered_map<char*, size_t> index_of_;
  uint64_t live_bytes_ = 0;
  uint64_t marks_ = 0;
  uint64_t moves_ = 0;
};

class ArenaTest : public ::testing::Test {
 protected:
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  memory::Arena arena_{pool_, budget_};
};

TEST(ArenaBlockBytes, SizesAreMultiplesOfSixteenAboutAnEighthApart) {
  for (size_t bytes = 0; bytes <= 70'000; ++bytes) {
    const size_t size = memory::Arena::BlockBytes(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_GE(size, 16u);
    ASSERT_EQ(size % 16, 0u);
    ASSERT_EQ(memory::Arena::BlockBytes(size), size) << "the usable size is a fixed point";
    ASSERT_LE(size, std::max(bytes + 16, bytes * 9 / 8 + 32)) << bytes;
    if (bytes > 32'768) {
      ASSERT_EQ(size, (bytes + 4095) / 4096 * 4096);
    }
  }
}

TEST_F(ArenaTest, MovableAndFixedBlocksNeverShareASlab) {
  ASSERT_TRUE(arena_.Reserve(200));
  void* fixed = arena_.Allocate(100, Mobility::kFixed);
  void* movable = arena_.Allocate(100, Mobility::kMovable);
  EXPECT_NE(memory::PagePool::RunOf(fixed), memory::PagePool::RunOf(movable));
}

TEST_F(ArenaTest, SmallArenasHoldLittle) {
  ASSERT_TRUE(arena_.Reserve(3000));
  static_cast<void>(arena_.Allocate(1400, Mobility::kMovable));
  static_cast<void>(arena_.Allocate(100, Mobility::kFixed));
  EXPECT_LE(arena_.held_bytes(), 12'288u);
  EXPECT_LE(arena_.credit_bytes(), 32'768u);
  arena_.Verify();
}

TEST_F(ArenaTest, EverythingIsGivenBack) {
  {
    memory::Arena arena(pool_, budget_);
    Blocks blocks(arena);
    ASSERT_TRUE(arena.Reserve(20 * kMiB));
    for (size_t i = 0; i < 1000; ++i) {
      blocks.Add(i * 20, i % 2 == 0 ? Mobility::kFixed : Mobility::kMovable);
    }
    blocks.Add(3 * kMiB, Mobility::kFixed);
    arena.Verify();
    blocks.RemoveAll();
    arena.Verify();
    EXPECT_EQ(arena.live_bytes(), 0u);
    EXPECT_LE(arena.held_bytes(), 64u << 10) << "one empty slab is kept";
    arena.ReleaseCredit();
    EXPECT_EQ(arena.held_bytes(), 0u);
    EXPECT_EQ(arena.credit_bytes(), 0u);
    EXPECT_EQ(budget_.held_bytes(), 0u);
    EXPECT_EQ(pool_.GetStats().used_bytes, 0u);
    ASSERT_TRUE(arena.Reserve(100'000));
    blocks.Add(100, Mobility::kFixed);
    blocks.Add(50'000, Mobility::kFixed);
  }
  EXPECT_EQ(budget_.held_bytes(), 0u) << "live blocks go with their arena";
  EXPECT_EQ(pool_.GetStats().used_bytes, 0u);
}

TEST_F(ArenaTest, ReservationsFailWholeAtTheLimit) {
  budget_.set_limit(kMiB);
  Blocks blocks(arena_);
  size_t count = 0;
  while (arena_.Reserve(1000)) {
    blocks.Add(1000, Mobility::kFixed);
    ++count;
    ASSERT_LE(budget_.held_bytes(), kMiB);
  }
  EXPECT_GT(count * 1000, budget_.grow_limit_bytes() * 9 / 10) << "close to where the slack begins";
  const uint64_t held = budget_.held_bytes();
  const uint64_t credit = arena_.credit_bytes();
  EXPECT_FALSE(arena_.Reserve(100'000));
  EXPECT_FALSE(arena_.Reserve(2 * kMiB));
  EXPECT_EQ(budget_.held_bytes(), held);
  EXPECT_EQ(arena_.credit_bytes(), credit);
  blocks.CheckAll();
  blocks.RemoveAll();
  arena_.Verify();
  EXPECT_TRUE(arena_.Reserve(100'000)) << "memory that was freed is to be had again";
}

// What a write takes that was let in, slabs that it begins included, stays within the limit.
TEST_F(ArenaTest, WhatReservationsLeaveOutComesFromTheSlack) {
  Random rng(TestSeed());
  const uint64_t steps = TestSteps(3'000);
  Blocks blocks(arena_);
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % 100 == 0) {
      budget_.set_limit(rng.OneIn(3) ? 256 * kMiB : rng.OneIn(2) ? 24 * kMiB : 3 * kMiB);
      if (rng.OneIn(2)) blocks.RemoveAll();
      if (rng.OneIn(4)) arena_.ReleaseCredit();
    }
    size_t allocations = 1 + rng.Below(7);
    size_t bytes = rng.Below(rng.OneIn(10) ? 400'000 : rng.OneIn(4) ? 60'000 : 4'000);
    const uint64_t before = budget_.held_bytes();
    if (!arena_.Reserve(bytes)) {
      ASSERT_EQ(budget_.held_bytes(), before);
      if (blocks.count() > 0) blocks.Remove(rng.Below(blocks.count()));
      continue;
    }
    for (; allocations > 0; --allocations) {
      // Sizes of all classes; the last takes what is left.
      const size_t size = allocations == 1
                              ? bytes
                              : std::min<size_t>(bytes, rng.Below(bytes * 2 / allocations + 1));
      blocks.Add(size, rng.OneIn(2) ? Mobility::kFixed : Mobility::kMovable);
      bytes -= size;
      if (rng.OneIn(3)) blocks.Remove(rng.Below(blocks.count()));  // between, slabs come back
    }
    // Not where the limit has just been lowered below what is held.
    if (before <= budget_.grow_limit_bytes()) {
      ASSERT_LE(budget_.held_bytes(), budget_.limit_bytes());
    }
    ASSERT_EQ(budget_.held_bytes(), arena_.held_bytes() + arena_.credit_bytes());
    if (step % 32 == 0) arena_.Verify();
  }
  blocks.CheckAll();
}

TEST_F(ArenaTest, RandomBlocksKeepTheirContents) {
  Random rng(TestSeed());
  const uint64_t steps = std::max<uint64_t>(TestSteps(60'000), 20'000);  // enough to move some
  Blocks blocks(arena_);
  for (uint64_t step = 0; step < steps; ++step) {
    const bool grow = step / 5'000 % 2 == 0;
    const uint64_t dice = rng.Below(100);
    if (dice < (grow ? 60u : 30u)) {
      const size_t bytes = rng.OneIn(200)  ? rng.Below(100'000)
                           : rng.OneIn(10) ? rng.Below(12'000)
                                           : rng.Below(1'500);
      ASSERT_TRUE(arena_.Reserve(bytes));
      blocks.Add(bytes, rng.OneIn(4) ? Mobility::kFixed : Mobility::kMovable);
    } else if (dice < 97) {
      if (blocks.count() > 0) blocks.Remove(rng.Below(blocks.count()));
    } else {
      const uint64_t before = arena_.held_bytes();
      const size_t blocks_max = 1 + rng.Below(20);
      const bool worth = arena_.WorthCompacting();
      const uint64_t moves = blocks.moves();
      const size_t moved = arena_.Compact(blocks_max, blocks);
      ASSERT_LE(moved, blocks_max);
      ASSERT_EQ(moved, blocks.moves() - moves);
      ASSERT_LE(arena_.held_bytes(), before) << "compaction takes no memory";
      if (!worth) {
        ASSERT_EQ(moved, 0u);
      }
    }
    ASSERT_EQ(arena_.live_bytes(), blocks.live_bytes());
    if (step % 256 == 0) {
      arena_.Verify();
      pool_.Verify();
    }
    if (step % 4096 == 0) blocks.CheckAll();
  }
  EXPECT_GT(blocks.moves(), 0u);
  blocks.CheckAll();
  blocks.RemoveAll();
  arena_.Verify();
}

TEST_F(ArenaTest, CompactionClosesTheHolesOfGrowth) {
  Random rng(TestSeed());
  Blocks blocks(arena_);
  for (int i = 0; i < 40'000; ++i) {
    const size_t bytes = 200 + rng.Below(600);
    ASSERT_TRUE(arena_.Reserve(bytes));
    blocks.Add(bytes, Mobility::kMovable);
  }
  for (int i = 0; i < 25'000; ++i) blocks.Remove(rng.Below(blocks.count()));
  EXPECT_TRUE(arena_.WorthCompacting());
  EXPECT_GT(arena_.held_bytes(), arena_.live_bytes() * 2);
  size_t total = 0;
  while (const size_t moved = arena_.Compact(16, blocks)) {
    ASSERT_LE(moved, 16u);
    total += moved;
  }
  EXPECT_FALSE(arena_.WorthCompacting());
  arena_.Verify();
  blocks.CheckAll();
  EXPECT_LT(arena_.held_bytes(), arena_.live_bytes() * 120 / 100);
  EXPECT_LT(total, 25'000u);
}

// Whatever share of the blocks must stay: compaction ends, moves none of them, and closes what
// holes it can.
TEST_F(ArenaTest, CompactionPassesByBlocksThatMayNotMove) {
  for (const unsigned pinned : {256u, 200u, 60u, 2u}) {
    SCOPED_TRACE(pinned);
    Random rng(TestSeed());
    Blocks blocks(arena_);
    for (int i = 0; i < 10'000; ++i) {
      const size_t bytes = 300 + rng.Below(300);
      ASSERT_TRUE(arena_.Reserve(bytes));
      blocks.Add(bytes, Mobility::kMovable);
    }
    for (int i = 0; i < 7'000; ++i) blocks.Remove(rng.Below(blocks.count()));
    blocks.pinned_of_256 = pinned;
    const uint64_t held = arena_.held_bytes();
    int turns = 0;
    while (arena_.Compact(16, blocks) > 0) ASSERT_LT(++turns, 10'000);
    arena_.Verify();
    blocks.CheckAll();
    EXPECT_EQ(blocks.moves() == 0, pinned == 256);
    EXPECT_LE(arena_.held_bytes(), held);
    if (pinned == 2) {
      EXPECT_LT(arena_.held_bytes(), held * 2 / 3);
    }
    // Once they may move again, nothing of it is left behind.
    blocks.pinned_of_256 = 0;
    while (arena_.Compact(16, blocks) > 0) ASSERT_LT(++turns, 20'000);
    EXPECT_FALSE(arena_.WorthCompacting());
    arena_.Verify();
    blocks.RemoveAll();
  }
}

TEST_F(ArenaTest, FixedBlocksAreNeverMoved) {
  Blocks blocks(arena_);
  for (int i = 0; i < 4'000; ++i) {
    ASSERT_TRUE(arena_.Reserve(700));
    blocks.Add(700, Mobility::kFixed);
  }
  for (size_t i = 0; i < 2'500; ++i) blocks.Remove((i * 7919) % blocks.count());
  EXPECT_FALSE(arena_.WorthCompacting());
  EXPECT_EQ(arena_.Compact(1000, blocks), 0u);
}

// Four lanes compete for one budget; at no instant is more held than allowed.
TEST(ArenaThreads, TogetherTheyStayBelowTheLimit) {
  constexpr uint64_t kLimit = 8 * kMiB;
  const uint64_t seed = TestSeed();
  const uint64_t steps = std::max<uint64_t>(TestSteps(20'000), 5'000);  // enough to be refused
  memory::MemoryBudget budget(kLimit);
  memory::PagePool pool(budget);
  std::atomic<uint64_t> refused{0}, granted{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random rng = Random(seed).Stream(t);
      memory::Arena arena(pool, budget);
      Blocks blocks(arena);
      for (uint64_t step = 0; step < steps; ++step) {
        const size_t bytes = rng.Below(3'000);
        if (arena.Reserve(2 * bytes)) {
          granted.fetch_add(1);
          blocks.Add(bytes, Mobility::kMovable);
          blocks.Add(bytes / 2, Mobility::kFixed);
        } else {
          refused.fetch_add(1);
          for (int i = 0; i < 20 && blocks.count() > 0; ++i)
            blocks.Remove(rng.Below(blocks.count()));
          static_cast<void>(arena.Compact(16, blocks));
          if (rng.OneIn(10)) arena.ReleaseCredit();
        }
        ASSERT_LE(budget.held_bytes(), kLimit);
        ASSERT_LE(pool.GetStats().used_bytes, kLimit);
      }
      arena.Verify();
      blocks.CheckAll();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(refused.load(), 0u);
  EXPECT_GT(granted.load(), 0u);
  EXPECT_EQ(budget.held_bytes(), 0u);
  EXPECT_EQ(pool.GetStats().used_bytes, 0u);
}

TEST(ArenaFootprint, ManyArenasStaySmall) {
  memory::MemoryBudget budget(memory::MemoryBudget::kUnlimited);
  memory::PagePool pool(budget);
  std::vector<std::unique_ptr<memory::Arena>> arenas;
  for (int i = 0; i < 1'000; ++i) arenas.push_back(std::make_unique<memory::Arena>(pool, budget));
  EXPECT_EQ(budget.held_bytes(), 0u);
  EXPECT_EQ(pool.GetStats().mapped_bytes, 0u) << "an unused arena costs nothing";
  for (const auto& arena : arenas) {
    ASSERT_TRUE(arena->Reserve(300));
    static_cast<void>(arena->Allocate(200, Mobility::kMovable));
    static_cast<void>(arena->Allocate(100, Mobility::kFixed));
  }
  EXPECT_EQ(pool.GetStats().used_bytes, 1'000u * 2 * 4096);
}

TEST(ArenaFootprint, StoresOpenAndCloseCheaply) {
  for (int i = 0; i < 2'000; ++i) {
    memory::MemoryBudget budget(64 * kMiB);
    memory::PagePool pool(budget);
    memory::Arena arena(pool, budget);
    ASSERT_TRUE(arena.Reserve(1000));
    std::memset(arena.Allocate(1000, Mobility::kMovable), 1, 1000);
  }
}

TEST_F(ArenaTest, ContainersLiveInIt) {
  using Allocator = memory::ArenaAllocator<uint64_t>;
  std::vector<uint64_t, Allocator> numbers{Allocator(&arena_)};
  absl::btree_set<uint64_t, std::less<>, Allocator> set{Allocator(&arena_)};
  Random rng(TestSeed());
  for (uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(arena_.Reserve(2 * 8 * (numbers.size() + 1) + 8 * 512));
    numbers.push_back(i);
    set.insert(rng.Below(5'000));
  }
  arena_.Verify();
  EXPECT_GE(arena_.live_bytes(), numbers.capacity() * 8 + set.size() * 8);
  for (uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(numbers[i], i);
  EXPECT_TRUE(std::is_sorted(set.begin(), set.end()));
  set.clear();
  numbers = std::vector<uint64_t, Allocator>{Allocator(&arena_)};
  EXPECT_EQ(arena_.live_bytes(), 0u);
}

TEST_F(ArenaTest, WhatTheSlackDoesNotCoverPassesTheLimitAndIsCounted) {
  memory::MemoryBudget tight(64 * 1024);
  memory::PagePool pool(tight);
  memory::Arena arena(pool, tight);
  EXPECT_FALSE(arena.Reserve(100'000));
  void* within = arena.Allocate(40'000, Mobility::kFixed);
  EXPECT_EQ(arena.slabs_beyond_limit(), 0u);
  void* beyond = arena.Allocate(100'000, Mobility::kFixed);
  EXPECT_EQ(arena.slabs_beyond_limit(), 1u);
  EXPECT_GT(tight.held_bytes(), tight.limit_bytes());
  EXPECT_FALSE(arena.Reserve(16)) << "beyond the limit nothing more is set aside";
  arena.Free(beyond, 100'000);
  arena.Free(within, 40'000);
  arena.ReleaseCredit();
  arena.Verify();
  EXPECT_EQ(tight.held_bytes(), 0u);
  EXPECT_TRUE(arena.Reserve(16));
}

using ArenaDeathTest = ArenaTest;

TEST_F(ArenaDeathTest, MisuseEndsTheProcess) {
  ASSERT_TRUE(arena_.Reserve(200));
  auto* block = static_cast<char*>(arena_.Allocate(100, Mobility::kFixed));
  EXPECT_DEATH(arena_.Free(block, 200), "with its size");
  EXPECT_DEATH(arena_.Free(block + 16, 100), "by its start");
  EXPECT_DEATH(
      {
        arena_.Free(block, 100);
        arena_.Free(block, 100);
      },
      "freed once");
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
  EXPECT_DEATH(
      {
        arena_.Free(block, 100);
        *static_cast<volatile char*>(block) = 1;
      },
      "use-after-poison");
#endif
}

}  // namespace arena_test
}  // namespace liststore
