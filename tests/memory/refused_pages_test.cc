// What a pool and its arenas do where the system refuses pages.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "engine/memory/arena.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "tests/support/refusing_memory.h"

namespace liststore {
namespace refused_pages_test {

using memory::Arena;
using memory::PagePool;
using Purpose = memory::MemoryBudget::Purpose;
using testing::RefusingMemory;

class RefusedPages : public ::testing::Test {
 protected:
  // Takes blocks until a reservation is refused; returns whether it was within `most`.
  bool FillUntilRefused(size_t block_bytes, size_t most) {
    for (size_t taken = 0; taken < most; taken += block_bytes) {
      if (!arena_.Reserve(block_bytes)) return true;
      blocks_.emplace_back(arena_.Allocate(block_bytes, Arena::Mobility::kFixed), block_bytes);
    }
    return false;
  }
  void FreeAll() {
    for (const auto& [block, bytes] : blocks_) arena_.Free(block, bytes);
    blocks_.clear();
  }

  RefusingMemory system_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  PagePool pool_{budget_, system_};
  Arena arena_{pool_, budget_};
  std::vector<std::pair<void*, size_t>> blocks_;
};

TEST_F(RefusedPages, TheReserveTakesAddressesAndNoMemory) {
  ASSERT_TRUE(arena_.Reserve(100));
  EXPECT_EQ(system_.mapped(), PagePool::kReserveBytes);
  EXPECT_EQ(pool_.GetStats().mapped_bytes, 0u);
  EXPECT_FALSE(pool_.refuses());
}

TEST_F(RefusedPages, AreRefusedReservationsInEverySize) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  for (const size_t block_bytes : {size_t{100}, size_t{3000}, size_t{30'000}, size_t{300'000},
                                   size_t{1'500'000}, size_t{20'000'000}}) {
    system_.set_limit(system_.mapped() + 64 * kMiB);
    ASSERT_TRUE(FillUntilRefused(block_bytes, 128 * kMiB)) << block_bytes;
    EXPECT_TRUE(pool_.refuses());
    EXPECT_GT(pool_.refused_bytes(), 0u);
    arena_.Verify();
    pool_.Verify();
    FreeAll();
    arena_.ReleaseCredit();
    system_.set_limit(UINT64_MAX);
    ASSERT_TRUE(arena_.Reserve(1)) << "what came free lets writes in again";
    EXPECT_FALSE(pool_.refuses());
    pool_.Verify();
  }
}

// A write that was let in finishes, whatever the system does meanwhile.
TEST_F(RefusedPages, WhatWasReservedIsThereAfterwards) {
  for (const size_t bytes : {size_t{60'000}, size_t{300'000}, size_t{5'000'000}}) {
    for (const size_t block_bytes : {size_t{64}, size_t{700}, size_t{9'000}, size_t{33'000}}) {
      system_.set_limit(UINT64_MAX);
      ASSERT_TRUE(arena_.Reserve(bytes));
      system_.set_limit(0);
      for (size_t taken = 0; taken + block_bytes <= bytes; taken += block_bytes) {
        blocks_.emplace_back(arena_.Allocate(block_bytes, Arena::Mobility::kMovable), block_bytes);
      }
      arena_.Verify();
    }
  }
  system_.set_limit(0);
  EXPECT_FALSE(arena_.Reserve(32 << 20)) << "nothing more is let in";
  FreeAll();
}

// Of those that leave most of a region unused there are as many as were reserved.
TEST_F(RefusedPages, ManyLargeBlocksThatWereReservedAreThere) {
  constexpr size_t kBlocks = 40;
  for (const size_t block_bytes :
       {size_t{130'000}, size_t{264'000}, size_t{527'000}, size_t{1'050'000}, size_t{2'098'000}}) {
    system_.set_limit(UINT64_MAX);
    ASSERT_TRUE(arena_.Reserve(kBlocks * Arena::BlockBytes(block_bytes)));
    system_.set_limit(0);
    for (size_t i = 0; i < kBlocks; ++i) {
      blocks_.emplace_back(arena_.Allocate(block_bytes, Arena::Mobility::kFixed), block_bytes);
    }
    arena_.Verify();
    pool_.Verify();
    FreeAll();
    arena_.ReleaseCredit();
  }
}

// One write, of a batch, reserves in more arenas than the reserve is for.
TEST_F(RefusedPages, WhatManyArenasHaveReservedIsThere) {
  constexpr size_t kArenas = 600;
  constexpr size_t kBlockBytes = 30'000;
  ASSERT_TRUE(pool_.BeginMany(kArenas));
  std::deque<Arena> arenas;
  for (size_t i = 0; i < kArenas; ++i) {
    ASSERT_TRUE(arenas.emplace_back(pool_, budget_).Reserve(kBlockBytes));
  }
  system_.set_limit(0);
  std::vector<void*> blocks;
  for (Arena& arena : arenas)
    blocks.push_back(arena.Allocate(kBlockBytes, Arena::Mobility::kFixed));
  pool_.EndMany(kArenas);
  EXPECT_FALSE(pool_.BeginMany(kArenas));
  pool_.Verify();
  for (size_t i = 0; i < kArenas; ++i) arenas[i].Free(blocks[i], kBlockBytes);
  arenas.clear();
  system_.set_limit(UINT64_MAX);
  ASSERT_TRUE(pool_.BeginMany(kArenas));
  pool_.EndMany(kArenas);
  EXPECT_LE(system_.mapped(), 5 * PagePool::kReserveBytes) << "it becomes smaller again";
}

TEST_F(RefusedPages, DeletionsMayUseHalfOfTheReserve) {
  ASSERT_TRUE(arena_.Reserve(100));
  system_.set_limit(0);
  ASSERT_TRUE(FillUntilRefused(1000, 64 << 20));
  EXPECT_FALSE(arena_.Reserve(1000));
  EXPECT_TRUE(arena_.Reserve(1000, Purpose::kGiveBack));
  size_t taken = 0;
  while (taken < PagePool::kReserveBytes && arena_.Reserve(1000, Purpose::kGiveBack)) {
    blocks_.emplace_back(arena_.Allocate(1000, Arena::Mobility::kFixed), 1000);
    taken += 1000;
  }
  EXPECT_GE(taken, PagePool::kReserveBytes / 4);
  EXPECT_LT(taken, PagePool::kReserveBytes) << "the rest is for what is under way";
  FreeAll();
}

TEST_F(RefusedPages, HolesAreUsedWhereThereAreMany) {
  system_.set_limit(uint64_t{64} << 20);
  ASSERT_TRUE(FillUntilRefused(1000, 128 << 20));
  // Nine of ten, so that pages come free in every region.
  constexpr size_t kKeptPart = 10;
  std::vector<std::pair<void*, size_t>> kept;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (i / 700 % kKeptPart == 0) {
      kept.push_back(blocks_[i]);
    } else {
      arena_.Free(blocks_[i].first, blocks_[i].second);
    }
  }
  blocks_ = std::move(kept);
  const size_t before = blocks_.size();
  FillUntilRefused(1000, 20 << 20);
  EXPECT_GE(blocks_.size(), before + 10'000);
  arena_.Verify();
  pool_.Verify();
  FreeAll();
}

TEST_F(RefusedPages, NothingIsPopulatedOrMappedAheadThatIsRefused) {
  system_.set_limit(uint64_t{32} << 20);
  EXPECT_EQ(pool_.Populate(uint64_t{64} << 20), PagePool::Populated::kRefused);
  EXPECT_GE(pool_.GetStats().kept_bytes, uint64_t{16} << 20);
  ASSERT_EQ(pool_.Populate(0), PagePool::Populated::kYes);
  EXPECT_FALSE(pool_.MapAhead());
  pool_.Verify();
}

TEST_F(RefusedPages, WhatCannotBeUnmappedIsGivenBackAllTheSame) {
  ASSERT_FALSE(FillUntilRefused(1 << 20, 16 << 20));
  ASSERT_FALSE(FillUntilRefused(40'000, 16 << 20));
  system_.set_keeps(true);
  FreeAll();
  arena_.ReleaseCredit();
  while (pool_.DropKept() != 0) {
  }
  pool_.Verify();
  ASSERT_FALSE(FillUntilRefused(1000, 1 << 20));
  arena_.Verify();
  FreeAll();
}

}  // namespace refused_pages_test
}  // namespace liststore
