#include "engine/memory/region_mapper.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"

namespace liststore {
namespace region_mapper_test {

constexpr size_t kGranule = memory::PagePool::kGranuleBytes;

// Whole regions, so that nothing of them is kept.
void Grow(memory::PagePool& pool, size_t bytes, std::vector<void*>& granules) {
  for (size_t taken = 0; taken < bytes; taken += kGranule) {
    granules.push_back(pool.Allocate(kGranule));
  }
}

TEST(RegionMapperTest, HasARegionReadyBeforeTheNextIsNeeded) {
  memory::MemoryBudget budget(memory::MemoryBudget::kUnlimited);
  memory::PagePool pool(budget);
  std::vector<void*> granules;
  {
    const auto mapper = memory::RegionMapper::Start(pool);
    ASSERT_TRUE(mapper.ok());
    Grow(pool, size_t{80} << 20, granules);
    for (int i = 0; i < 3; ++i) {
      // Its thread has been told; the test's limit of time ends this if it does not come.
      while (pool.GetStats().kept_bytes < memory::PagePool::kRegionBytes - kGranule) {
        std::this_thread::yield();
      }
      const uint64_t regions = pool.GetStats().regions;
      pool.Verify();
      Grow(pool, memory::PagePool::kRegionBytes - kGranule, granules);
      EXPECT_GE(pool.GetStats().regions, regions);
      Grow(pool, kGranule, granules);
    }
  }
  pool.Verify();
  Grow(pool, size_t{8} << 20, granules);  // nobody listens any more
  for (void* granule : granules) pool.Free(granule, kGranule);
}

TEST(RegionMapperTest, EndsWhileItIsBusy) {
  for (int i = 0; i < 20; ++i) {
    memory::MemoryBudget budget(memory::MemoryBudget::kUnlimited);
    memory::PagePool pool(budget);
    std::vector<void*> granules;
    {
      const auto mapper = memory::RegionMapper::Start(pool);
      ASSERT_TRUE(mapper.ok());
      Grow(pool, size_t{72} << 20, granules);
    }
    pool.Verify();
    for (void* granule : granules) pool.Free(granule, kGranule);
  }
}

}  // namespace region_mapper_test
}  // namespace liststore
