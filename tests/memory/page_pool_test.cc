#include "engine/memory/page_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "engine/base/random.h"
#include "tests/support/seed.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // of Linux 6.1, which Debian 12's headers may not know
#endif

namespace liststore {
namespace page_pool_test {

using ::liststore::testing::TestSeed;
using ::liststore::testing::TestSteps;
constexpr size_t kPage = memory::PagePool::kPageBytes;

uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0, resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &pages, &resident);
  std::fclose(file);
  EXPECT_EQ(read, 2);
  return uint64_t{resident} * kPage;
}

class PagePoolTest : public ::testing::Test {
 protected:
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
};

using Purpose = memory::MemoryBudget::Purpose;

TEST(MemoryBudget, HoldsUpToTheLimitExactly) {
  memory::MemoryBudget budget(100);
  EXPECT_TRUE(budget.TryHold(60, Purpose::kFinish));
  EXPECT_FALSE(budget.TryHold(41, Purpose::kFinish));
  EXPECT_TRUE(budget.TryHold(40, Purpose::kFinish));
  EXPECT_FALSE(budget.TryHold(1, Purpose::kFinish));
  EXPECT_TRUE(budget.TryHold(0, Purpose::kFinish));
  EXPECT_FALSE(budget.TryHold(UINT64_MAX, Purpose::kFinish));
  EXPECT_EQ(budget.held_bytes(), 100u);
  budget.set_limit(50);
  EXPECT_FALSE(budget.TryHold(0, Purpose::kFinish)) << "above a lowered limit nothing is let in";
  budget.Release(100);
  EXPECT_TRUE(budget.TryHold(50, Purpose::kFinish));
  budget.Release(50);
}

TEST(MemoryBudget, WritesEndWhereTheSlackBeginsAndDeletionsNearItsEnd) {
  struct Row {
    uint64_t limit;
    uint64_t grow;
    uint64_t give_back;
  };
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const Row rows[] = {
      {400, 300, 375},  // a quarter at most
      {8 * kMiB, 8 * kMiB - 256 * 1024, 8 * kMiB - 64 * 1024},
      {64 * kMiB, 62 * kMiB, 64 * kMiB - kMiB / 2},  // a 32nd
      {4096 * kMiB, 4064 * kMiB, 4088 * kMiB},       // 32 MiB at most
      {memory::MemoryBudget::kUnlimited, memory::MemoryBudget::kUnlimited,
       memory::MemoryBudget::kUnlimited},
  };
  for (const Row& row : rows) {
    memory::MemoryBudget budget(row.limit);
    EXPECT_EQ(budget.grow_limit_bytes(), row.grow);
    ASSERT_TRUE(budget.TryHold(row.grow, Purpose::kGrow));
    const uint64_t more = row.give_back - row.grow;
    if (more > 0) {
      EXPECT_FALSE(budget.TryHold(1, Purpose::kGrow));
    }
    ASSERT_TRUE(budget.TryHold(more, Purpose::kGiveBack));
    EXPECT_FALSE(budget.TryHold(1, Purpose::kGiveBack));
    EXPECT_TRUE(budget.TryHold(row.limit - row.give_back, Purpose::kFinish));
    EXPECT_FALSE(budget.TryHold(1, Purpose::kFinish));
    budget.Release(row.limit);
  }
}

TEST_F(PagePoolTest, MapsNothingBeforeTheFirstRun) {
  EXPECT_EQ(pool_.GetStats().mapped_bytes, 0u);
  void* run = pool_.Allocate(kPage);
  EXPECT_EQ(pool_.GetStats().mapped_bytes, memory::PagePool::kRegionBytes);
  pool_.Free(run, kPage);
  pool_.Verify();
}

TEST_F(PagePoolTest, RunsAreAlignedAndFoundFromAnyAddress) {
  std::vector<std::pair<char*, size_t>> runs;
  for (size_t pages = 1; pages <= 256; ++pages) {
    const size_t bytes = pages * kPage;
    auto* run = static_cast<char*>(pool_.Allocate(bytes));
    size_t alignment = kPage;
    while (alignment < bytes) alignment *= 2;
    ASSERT_EQ(reinterpret_cast<uintptr_t>(run) % alignment, 0u) << pages << " pages";
    for (const size_t offset : {size_t{0}, bytes / 2, bytes - 1}) {
      ASSERT_EQ(memory::PagePool::RunOf(run + offset), run) << pages << " pages, offset " << offset;
    }
    runs.emplace_back(run, bytes);
  }
  pool_.Verify();
  for (const auto& [run, bytes] : runs) pool_.Free(run, bytes);
  pool_.Verify();
}

TEST_F(PagePoolTest, LargeRunsAreMappedByThemselves) {
  for (const size_t bytes : {memory::PagePool::kRunBytesMax + kPage, memory::PagePool::kRegionBytes,
                             5 * memory::PagePool::kRegionBytes + 3 * kPage}) {
    auto* run = static_cast<char*>(pool_.Allocate(bytes));
    run[0] = run[bytes - 1] = 1;
    const size_t alignment =
        bytes < memory::PagePool::kRegionBytes ? kPage : memory::PagePool::kRegionBytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(run) % alignment, 0u);
    EXPECT_EQ(pool_.GetStats().mapped_bytes, bytes);
    pool_.Free(run, bytes);
    EXPECT_EQ(pool_.GetStats().mapped_bytes, 0u);
  }
}

TEST_F(PagePoolTest, EmptyRegionsAreUnmappedButOne) {
  std::vector<void*> runs(64);
  for (void*& run : runs) run = pool_.Allocate(memory::PagePool::kRunBytesMax);
  EXPECT_EQ(pool_.GetStats().regions, 64u) << "metadata leaves room for one run of half a region";
  for (void* run : runs) pool_.Free(run, memory::PagePool::kRunBytesMax);
  pool_.Verify();
  EXPECT_EQ(pool_.GetStats().regions, 1u);
  EXPECT_EQ(pool_.GetStats().kept_bytes, 0u);
}

TEST_F(PagePoolTest, FullerRegionsGoFirst) {
  std::vector<void*> runs(3 * 31 +
                          10);  // three regions full of 64 KiB runs and a third of a fourth
  for (void*& run : runs) run = pool_.Allocate(memory::PagePool::kGranuleBytes);
  ASSERT_EQ(pool_.GetStats().regions, 4u);
  pool_.Free(runs[5], memory::PagePool::kGranuleBytes);
  EXPECT_EQ(pool_.Allocate(memory::PagePool::kGranuleBytes), runs[5]) << "not from the emptiest";
  for (void* run : runs) pool_.Free(run, memory::PagePool::kGranuleBytes);
}

// Takes `bytes` in granules, each of which is touched.
void AllocateGranules(memory::PagePool& pool, size_t bytes, std::vector<void*>& granules) {
  for (size_t taken = 0; taken < bytes; taken += memory::PagePool::kGranuleBytes) {
    granules.push_back(pool.Allocate(memory::PagePool::kGranuleBytes));
    std::memset(granules.back(), 1, memory::PagePool::kGranuleBytes);
  }
}

void FreeGranules(memory::PagePool& pool, std::vector<void*>& granules) {
  for (void* granule : granules) pool.Free(granule, memory::PagePool::kGranuleBytes);
  granules.clear();
}

// Use falls to a quarter in random order, so that no region becomes free: what is resident follows.
TEST_F(PagePoolTest, FreeMemoryGoesBackToTheSystem) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "shadow memory drowns the measurement";
#endif
  constexpr size_t kTotal = size_t{96} << 20;
  Random rng(TestSeed());
  for (const size_t bytes : {memory::PagePool::kGranuleBytes, 4 * kPage, kPage}) {
    std::vector<void*> runs(kTotal / bytes);
    const uint64_t before = ResidentBytes();
    for (void*& run : runs) {
      run = pool_.Allocate(bytes);
      std::memset(run, 1, bytes);
    }
    EXPECT_GT(ResidentBytes() - before, kTotal * 9 / 10);
    // By granule: single pages in random order would leave none free.
    std::unordered_map<uintptr_t, bool> stays;
    for (void*& run : runs) {
      const uintptr_t granule = reinterpret_cast<uintptr_t>(run) / memory::PagePool::kGranuleBytes;
      if (stays.try_emplace(granule, rng.OneIn(4)).first->second) continue;
      pool_.Free(run, bytes);
      run = nullptr;
    }
    pool_.Verify();
    EXPECT_LT(ResidentBytes() - before, kTotal * 45 / 100) << "runs of " << bytes;
    for (void* run : runs) {
      if (run != nullptr) pool_.Free(run, bytes);
    }
    EXPECT_LT(ResidentBytes(), before + kTotal / 10);
  }
}

// Background work gives back what Free leaves: granules in excess go, a region's at a time, and
// what is kept for the next slab stays.
TEST_F(PagePoolTest, GranulesInExcessAreDroppedOnRequest) {
  std::vector<void*> runs(16 * 31);
  for (void*& run : runs) run = pool_.Allocate(memory::PagePool::kGranuleBytes);
  EXPECT_EQ(pool_.DropKept(), 0u) << "nothing is free";
  // An eighth of each region is free, more than is kept and less than Free minds.
  for (size_t i = 0; i < runs.size(); i += 8) {
    pool_.Free(runs[i], memory::PagePool::kGranuleBytes);
    runs[i] = nullptr;
  }
  const memory::PagePool::Stats before = pool_.GetStats();
  ASSERT_GT(before.kept_bytes,
            std::max<uint64_t>(before.used_bytes / 16, memory::PagePool::kRegionBytes));
  uint64_t dropped = 0;
  while (const uint64_t bytes = pool_.DropKept()) {
    EXPECT_LE(bytes, memory::PagePool::kRegionBytes);
    dropped += bytes;
  }
  const memory::PagePool::Stats after = pool_.GetStats();
  EXPECT_EQ(before.kept_bytes - dropped, after.kept_bytes);
  EXPECT_GT(dropped, 0u);
  EXPECT_LE(after.kept_bytes,
            std::max<uint64_t>(after.used_bytes / 16, memory::PagePool::kRegionBytes));
  EXPECT_GT(after.kept_bytes, 0u) << "some are kept for the next slab";
  pool_.Verify();
  for (void* run : runs) {
    if (run != nullptr) pool_.Free(run, memory::PagePool::kGranuleBytes);
  }
}

// Does now what Linux does by itself after some time: puts small pages together to 2 MiB, and fills the
// holes among them. False: it does not, here or at all.
bool PutsTogether(uintptr_t region) {
  return madvise(reinterpret_cast<void*>(region), memory::PagePool::kRegionBytes, MADV_COLLAPSE) ==
         0;
}

bool PutsTogetherAnywhere() {
  memory::SystemMemory& system = memory::SystemMemory::Instance();
  constexpr size_t kBytes = memory::PagePool::kRegionBytes;
  char* const region = system.MapAligned(kBytes, kBytes, nullptr);
  region[0] = 1;
  const bool puts_together = PutsTogether(reinterpret_cast<uintptr_t>(region));
  EXPECT_TRUE(system.Unmap(region, kBytes));
  return puts_together;
}

// What was given back is not brought back by the system, which nobody would count.
TEST_F(PagePoolTest, WhatWasDroppedStaysAway) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "shadow memory drowns the measurement";
#endif
  if (!PutsTogetherAnywhere()) GTEST_SKIP() << "the system does not put pages together on request";
  constexpr size_t kTotal = 32 * 31 * memory::PagePool::kGranuleBytes;  // of whole regions
  const uint64_t before = ResidentBytes();
  std::vector<void*> granules;
  AllocateGranules(pool_, kTotal, granules);
  std::set<uintptr_t> regions;
  std::vector<void*> some;
  for (void* const granule : std::exchange(granules, {})) {
    const auto region =
        reinterpret_cast<uintptr_t>(granule) & ~(memory::PagePool::kRegionBytes - 1);
    (regions.insert(region).second ? some : granules).push_back(granule);
  }
  FreeGranules(pool_, granules);
  while (pool_.DropKept() != 0) {
  }
  pool_.Verify();
  const memory::PagePool::Stats thin = pool_.GetStats();
  EXPECT_EQ(thin.used_bytes, some.size() * memory::PagePool::kGranuleBytes);
  EXPECT_GT(thin.thinned_regions, regions.size() / 2) << "the first 8 MiB are small pages";
  const auto put_together = [&] {
    return std::count_if(regions.begin(), regions.end(), PutsTogether);
  };
  const auto again_early = put_together();
  const memory::PagePool::Stats stats = pool_.GetStats();
  // One page in each region is its table.
  const uint64_t counted =
      stats.used_bytes + stats.kept_bytes + stats.loose_bytes + stats.regions * kPage;
  EXPECT_LT(ResidentBytes(), before + counted + (size_t{4} << 20));

  // Whole again, they may be pages of 2 MiB again.
  AllocateGranules(pool_, kTotal - thin.used_bytes, some);
  pool_.Verify();
  EXPECT_EQ(pool_.GetStats().thinned_regions, 0u);
  EXPECT_GT(put_together(), again_early);
  EXPECT_LT(ResidentBytes(), before + kTotal + (size_t{4} << 20));
  FreeGranules(pool_, some);
}

// While a table is emptied, granules wait for the rest of their regions; regions go on request.
TEST_F(PagePoolTest, WhileEmptyingOnlyWholeRegionsGo) {
  std::vector<void*> runs(16 * 31);
  for (void*& run : runs) run = pool_.Allocate(memory::PagePool::kGranuleBytes);
  pool_.SetEmptying(true);
  // Nine of ten go: without the mark, Free would drop nearly all of them.
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i % 10 == 0) continue;
    pool_.Free(runs[i], memory::PagePool::kGranuleBytes);
    runs[i] = nullptr;
  }
  EXPECT_GT(pool_.GetStats().kept_bytes, 8 * pool_.GetStats().used_bytes);
  EXPECT_EQ(pool_.DropRegion(), 0u) << "every region has a run in use";
  for (void*& run : runs) {
    if (run != nullptr) pool_.Free(run, memory::PagePool::kGranuleBytes);
  }
  EXPECT_EQ(pool_.GetStats().regions, 16u);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(pool_.DropRegion(), memory::PagePool::kRegionBytes);
  EXPECT_EQ(pool_.DropRegion(), 0u) << "the last region stays";
  EXPECT_GT(pool_.GetStats().kept_bytes, 0u);
  while (pool_.DropKept() != 0) {
  }
  EXPECT_EQ(pool_.GetStats().kept_bytes, 0u);
  pool_.Verify();
}

// What is resident beside what is in use stays within a 64th of the limit, whatever the holes are.
TEST(PagePoolLimitTest, NearTheLimitSinglePagesGoBackToo) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "shadow memory drowns the measurement";
#endif
  constexpr size_t kLimit = size_t{64} << 20;
  constexpr size_t kShort = kLimit * 9 / 10;
  memory::MemoryBudget budget(kLimit);
  memory::PagePool pool(budget);
  Random rng(TestSeed());
  std::vector<void*> pages(kShort / kPage);
  const uint64_t before = ResidentBytes();
  const auto allocate = [&](size_t bytes) {
    void* run = pool.Allocate(bytes);
    std::memset(run, 1, bytes);
    return run;
  };
  for (void*& page : pages) page = allocate(kPage);
  // A third goes, page by page, and longer runs take its place: not in its holes.
  size_t freed = 0;
  for (void*& page : pages) {
    if (!rng.OneIn(3)) continue;
    pool.Free(page, kPage);
    page = nullptr;
    freed += kPage;
  }
  pool.Verify();
  EXPECT_GT(pool.GetStats().loose_bytes, kLimit / 64) << "far from the limit they are kept";
  std::vector<void*> runs;
  for (; freed >= memory::PagePool::kGranuleBytes; freed -= memory::PagePool::kGranuleBytes) {
    runs.push_back(allocate(memory::PagePool::kGranuleBytes));
  }
  pool.Verify();
  const memory::PagePool::Stats stats = pool.GetStats();
  EXPECT_LE(stats.used_bytes + stats.kept_bytes + stats.loose_bytes, kLimit + kLimit / 64);
  EXPECT_LT(ResidentBytes() - before, kLimit * 105 / 100);
  for (void* page : pages) {
    if (page != nullptr) pool.Free(page, kPage);
  }
  for (void* run : runs) pool.Free(run, memory::PagePool::kGranuleBytes);
  pool.Verify();
}

TEST_F(PagePoolTest, MapsAheadOnceItIsLarge) {
  EXPECT_FALSE(pool_.MapAhead()) << "a small pool waits for the need";
  std::vector<void*> granules;
  AllocateGranules(pool_, size_t{72} << 20, granules);
  while (pool_.MapAhead()) {
  }
  const uint64_t regions = pool_.GetStats().regions;
  pool_.Verify();
  EXPECT_GE(pool_.GetStats().kept_bytes,
            memory::PagePool::kRegionBytes - memory::PagePool::kGranuleBytes)
      << "one region is ready";
  EXPECT_EQ(pool_.DropKept(), 0u) << "and is not too much";
  AllocateGranules(pool_, memory::PagePool::kRegionBytes - memory::PagePool::kGranuleBytes,
                   granules);
  EXPECT_EQ(pool_.GetStats().regions, regions) << "it is used";
  pool_.Verify();

  AllocateGranules(pool_, size_t{256} << 20, granules);
  uint64_t ahead = 0;
  while (pool_.MapAhead()) ++ahead;
  EXPECT_LE(ahead, 8u) << "whatever is in use";
  EXPECT_GE(ahead, 4u) << "a 32nd of what is in use";
  pool_.Verify();
  FreeGranules(pool_, granules);
}

TEST_F(PagePoolTest, SaysWhenItWouldMapAhead) {
  int needs = 0;
  pool_.ListenToNeed([&] { ++needs; });
  std::vector<void*> granules;
  AllocateGranules(pool_, size_t{16} << 20, granules);
  EXPECT_EQ(needs, 0) << "small";
  AllocateGranules(pool_, size_t{80} << 20, granules);
  EXPECT_GT(needs, 0);
  while (pool_.MapAhead()) {
  }
  needs = 0;
  AllocateGranules(pool_, 2 * memory::PagePool::kRegionBytes, granules);
  EXPECT_GT(needs, 0) << "it was taken";
  FreeGranules(pool_, granules);
}

TEST_F(PagePoolTest, PopulatedMemoryIsUsedFirstAndStays) {
  constexpr size_t kBytes = size_t{40} << 20;
  ASSERT_EQ(pool_.Populate(kBytes), memory::PagePool::Populated::kYes);
  const memory::PagePool::Stats before = pool_.GetStats();
  EXPECT_GE(before.kept_bytes, kBytes);
  EXPECT_EQ(before.used_bytes, 0u);
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER)
  EXPECT_GE(ResidentBytes(), kBytes);
#endif
  pool_.Verify();
  std::vector<void*> granules;
  AllocateGranules(pool_, kBytes, granules);
  EXPECT_EQ(pool_.GetStats().regions, before.regions) << "nothing else was mapped";
  FreeGranules(pool_, granules);
  EXPECT_EQ(pool_.DropKept(), 0u);
  EXPECT_EQ(pool_.GetStats().regions, before.regions);
  EXPECT_GE(pool_.GetStats().kept_bytes, kBytes);
  pool_.Verify();
  ASSERT_EQ(pool_.Populate(0), memory::PagePool::Populated::kYes);
  while (pool_.DropKept() != 0) {
  }
  EXPECT_LE(pool_.GetStats().kept_bytes, memory::PagePool::kRegionBytes);
  pool_.Verify();
}

TEST(PagePoolLimitTest, NoMoreIsPopulatedThanTheLimitAllows) {
  memory::MemoryBudget budget(uint64_t{32} << 20);
  memory::PagePool pool(budget);
  EXPECT_EQ(pool.Populate(uint64_t{64} << 20), memory::PagePool::Populated::kOverLimit);
  EXPECT_EQ(pool.GetStats().mapped_bytes, 0u);
  EXPECT_EQ(pool.Populate(uint64_t{32} << 20), memory::PagePool::Populated::kYes);
  const memory::PagePool::Stats stats = pool.GetStats();
  EXPECT_LE(stats.kept_bytes + stats.loose_bytes, (uint64_t{32} << 20) / 64 * 65);
  EXPECT_GE(stats.kept_bytes, uint64_t{28} << 20);
  pool.Verify();
}

// Against a map of ranges: no overlap, contents stay, totals agree.
TEST_F(PagePoolTest, RandomRunsNeverOverlap) {
  Random rng(TestSeed());
  const uint64_t steps = TestSteps(20'000);
  std::map<char*, std::pair<size_t, char>> model;
  uint64_t used = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    const bool grow = step / 1500 % 2 == 0;
    if (model.empty() || rng.OneIn(grow ? 2 : 4)) {
      const size_t pages = 1 + rng.Below(rng.OneIn(50) ? 600 : rng.OneIn(4) ? 80 : 8);
      const size_t bytes = pages * kPage;
      auto* run = static_cast<char*>(pool_.Allocate(bytes));
      const auto mark = static_cast<char>(rng.Next());
      run[0] = run[bytes / 2] = run[bytes - 1] = mark;
      const auto next = model.lower_bound(run);
      ASSERT_TRUE(next == model.end() || run + bytes <= next->first) << "step " << step;
      ASSERT_TRUE(next == model.begin() ||
                  std::prev(next)->first + std::prev(next)->second.first <= run)
          << "step " << step;
      model.emplace(run, std::pair(bytes, mark));
      used += bytes;
    } else if (!grow || rng.OneIn(3)) {
      auto it = std::next(model.begin(),
                          static_cast<long>(rng.Below(std::min<size_t>(model.size(), 64))));
      const auto [bytes, mark] = it->second;
      ASSERT_TRUE(it->first[0] == mark && it->first[bytes / 2] == mark &&
                  it->first[bytes - 1] == mark)
          << "step " << step;
      pool_.Free(it->first, bytes);
      model.erase(it);
      used -= bytes;
    }
    ASSERT_EQ(pool_.GetStats().used_bytes, used);
    if (step % 64 == 0) pool_.Verify();
  }
  for (const auto& [run, contents] : model) pool_.Free(run, contents.first);
  pool_.Verify();
}

TEST_F(PagePoolTest, ThreadsShareIt) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(5'000);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, seed, steps] {
      Random rng = Random(seed).Stream(t);
      std::vector<std::pair<uint64_t*, size_t>> runs;
      for (uint64_t step = 0; step < steps; ++step) {
        if (runs.size() < 100 && rng.OneIn(2)) {
          const size_t bytes = (1 + rng.Below(32)) * kPage;
          auto* run = static_cast<uint64_t*>(pool_.Allocate(bytes));
          *run = bytes + t;
          runs.emplace_back(run, bytes);
        } else if (!runs.empty()) {
          std::swap(runs[rng.Below(runs.size())], runs.back());
          const auto [run, bytes] = runs.back();
          EXPECT_EQ(*run, bytes + t);
          EXPECT_EQ(memory::PagePool::RunOf(reinterpret_cast<char*>(run) + bytes - 1), run);
          pool_.Free(run, bytes);
          runs.pop_back();
        }
      }
      for (const auto& [run, bytes] : runs) pool_.Free(run, bytes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  pool_.Verify();
  EXPECT_EQ(pool_.GetStats().used_bytes, 0u);
}

using PagePoolDeathTest = PagePoolTest;

TEST_F(PagePoolDeathTest, MisuseEndsTheProcess) {
  void* run = pool_.Allocate(4 * kPage);
  EXPECT_DEATH(pool_.Free(run, 2 * kPage), "order");
  EXPECT_DEATH(pool_.Free(static_cast<char*>(run) + kPage, 4 * kPage), "by its start");
  EXPECT_DEATH(
      {
        pool_.Free(run, 4 * kPage);
        pool_.Free(run, 4 * kPage);
      },
      "freed once");
  pool_.Free(run, 4 * kPage);
}

}  // namespace page_pool_test
}  // namespace liststore
