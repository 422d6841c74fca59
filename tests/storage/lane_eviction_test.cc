// What goes of several tables of a lane, and in which order: the oldest first, whichever table it is
// of; what is read stays; no table starves, and none is spared.
#include "engine/storage/lane_eviction.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/memory/memory_budget.h"
#include "engine/storage/table.h"
#include "engine/storage/table_mirror.h"
#include "gtest/gtest.h"
#include "tests/storage/evicting_lane.h"
#include "tests/storage/hash_address.h"
#include "tests/support/collecting_sink.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace lane_eviction_test {

// Reads, and what the model has to know.
class TablesOfALane : public ::testing::Test, protected EvictingLane {
 protected:
  TablesOfALane() : EvictingLane(std::make_unique<HashAddress>(), uint64_t{256} << 20) {}
  void TearDown() override { Verify(); }

  uint64_t Read(size_t table, uint64_t number) {
    CollectingSink sink(/*packs_item_keys=*/false, /*descending=*/true,
                        /*accepts_packed_runs=*/false);
    const std::string key = Key(number);
    return tables_[table]->Read(RefTo(key), {}, kNow, sink);
  }
  bool Has(size_t table, uint64_t number) {
    const std::string key = Key(number);
    return tables_[table]->Count(RefTo(key), {}, kNow) != 0;
  }
  size_t CountOf(size_t table, uint64_t first, uint64_t last) {
    size_t count = 0;
    for (uint64_t i = first; i < last; ++i) count += Has(table, i) ? 1 : 0;
    return count;
  }

  std::map<size_t, bool> ever_took_part_;
};

TEST_F(TablesOfALane, WhatCameFirstGoesFirstWhicheverTableItIsOf) {
  for (int i = 0; i < 3; ++i) AddTable();
  // In bursts of a few hundred, so that queues of all tables interleave.
  constexpr uint64_t kBurst = 300;
  constexpr uint64_t kBursts = 30;
  for (uint64_t burst = 0; burst < kBursts; ++burst) {
    for (uint64_t i = 0; i < kBurst; ++i) {
      ASSERT_EQ(Insert(burst % 3, burst * kBurst + i), OpStatus::kOk);
    }
  }
  // Nothing was read: what is there is what came last, but for what shares a chunk.
  while (Partitions() > kBurst * kBursts / 2) ASSERT_TRUE(Evict());
  const uint64_t left = Partitions();
  const uint64_t first_left = kBurst * kBursts - left;
  for (uint64_t burst = 0; burst < kBursts; ++burst) {
    const size_t there = CountOf(burst % 3, burst * kBurst, (burst + 1) * kBurst);
    if ((burst + 2) * kBurst < first_left) {
      EXPECT_EQ(there, 0u) << "burst " << burst;
    } else if (burst * kBurst > first_left + kBurst) {
      EXPECT_EQ(there, kBurst) << "burst " << burst;
    }
  }
  EXPECT_EQ(eviction_.evictions(), kBurst * kBursts - left);
}

TEST_F(TablesOfALane, AnOldTableGoesBeforeAYoungOne) {
  AddTable();
  AddTable();
  for (uint64_t i = 0; i < 2'000; ++i) ASSERT_EQ(Insert(0, i), OpStatus::kOk);
  for (uint64_t i = 0; i < 2'000; ++i) ASSERT_EQ(Insert(1, i), OpStatus::kOk);
  while (tables_[0]->stats().partitions > 200) {
    ASSERT_TRUE(Evict());
    ASSERT_EQ(tables_[1]->stats().partitions, 2'000u);
  }
}

TEST_F(TablesOfALane, ATableThatIsReadSurvivesOneThatIsNot) {
  AddTable();
  AddTable();
  for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(Insert(0, i), OpStatus::kOk);
  for (uint64_t step = 0; step < 200; ++step) {
    for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(Read(0, i), 1u) << "step " << step;
    for (uint64_t i = 0; i < 100; ++i) ASSERT_EQ(Insert(1, step * 100 + i), OpStatus::kOk);
    while (Partitions() > 1'000) ASSERT_TRUE(Evict());
  }
  EXPECT_EQ(CountOf(0, 0, 500), 500u);
}

// Of main partitions the hand takes those that nobody reads, in every table.
TEST_F(TablesOfALane, TheHandComesByEveryTable) {
  constexpr size_t kTables = 5;
  for (size_t i = 0; i < kTables; ++i) AddTable();
  for (uint64_t i = 0; i < 300; ++i) {
    for (size_t table = 0; table < kTables; ++table) {
      ASSERT_EQ(Insert(table, i), OpStatus::kOk);
      Read(table, i);
    }
  }
  // All come to stay, by their one read; from here on nobody reads them.
  while (Partitions() > kTables * 150) ASSERT_TRUE(Evict());
  Verify();
  while (Partitions() > kTables * 20) ASSERT_TRUE(Evict());
  for (size_t table = 0; table < kTables; ++table) {
    EXPECT_LT(tables_[table]->stats().partitions, 300u) << "table " << table;
  }
}

TEST_F(TablesOfALane, WhatTakesNoPartStays) {
  AddTable();
  AddTable(/*takes_part=*/false);
  for (uint64_t i = 0; i < 1'000; ++i) {
    ASSERT_EQ(Insert(0, i), OpStatus::kOk);
    ASSERT_EQ(Insert(1, i), OpStatus::kOk);
  }
  while (Evict()) {
  }
  EXPECT_EQ(tables_[0]->stats().partitions, 0u);
  EXPECT_EQ(tables_[1]->stats().partitions, 1'000u);
  // Later it does, and so does what came before.
  tables_[1]->TakePart(true);
  Verify();
  for (uint64_t i = 1'000; i < 1'500; ++i) ASSERT_EQ(Insert(1, i), OpStatus::kOk);
  tables_[1]->TakePart(false);
  for (uint64_t i = 1'500; i < 2'000; ++i) ASSERT_EQ(Insert(1, i), OpStatus::kOk);
  Verify();
  EXPECT_FALSE(Evict());
  tables_[1]->TakePart(true);
  while (Evict()) {
  }
  EXPECT_EQ(Partitions(), 0u);
}

TEST_F(TablesOfALane, WhatIsGuardedStaysInEveryTable) {
  AddTable();
  AddTable();
  std::vector<uint64_t> guarded;
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_EQ(Insert(i % 2, i), OpStatus::kOk);
    if (i < 20) guarded.push_back(RefTo(Key(i)).address);
  }
  std::sort(guarded.begin(), guarded.end());
  eviction_.Guard(guarded);
  while (Evict()) {
  }
  EXPECT_EQ(Partitions(), 20u);
  for (uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(Has(i % 2, i)) << i;
  eviction_.Guard({});
  while (Evict()) {
  }
  EXPECT_EQ(Partitions(), 0u);
}

TEST_F(TablesOfALane, GrowthOfOneIsPaidForByAll) {
  memory::MemoryBudget& budget = budget_;
  budget.set_limit(uint64_t{8} << 20);
  for (int i = 0; i < 4; ++i) AddTable();
  const std::string value(400, 'v');
  for (uint64_t i = 0; i < 4'000; ++i) ASSERT_EQ(Insert(i % 3, i, value), OpStatus::kOk);
  for (uint64_t i = 0; i < 40'000; ++i) {
    // A directory that doubles takes more than writes keep free: as the engine goes on then.
    while (Insert(3, i, value) != OpStatus::kOk) ASSERT_TRUE(Evict()) << i;
    ASSERT_LE(budget.held_bytes(), budget.limit_bytes());
  }
  for (size_t table = 0; table < 3; ++table) {
    EXPECT_EQ(tables_[table]->stats().partitions, 0u) << "nobody has read table " << table;
  }
  EXPECT_GT(tables_[3]->stats().live_bytes, budget.limit_bytes() / 2);
}

// Tables come, go and are read at random; the model knows what was written, and that what is there is
// as it was written.
TEST_F(TablesOfALane, WhateverGoesGoesAsAWhole) {
  Random random(TestSeed());
  std::map<std::pair<size_t, uint64_t>, uint64_t> rows;  // that were written since it began
  for (int i = 0; i < 6; ++i) AddTable(i % 3 != 0);
  for (uint64_t step = 0; step < TestSteps(30'000); ++step) {
    const size_t table = random.Below(tables_.size());
    const uint64_t number = random.Below(300);
    const uint64_t drawn = random.Below(1'000);
    uint64_t& known = rows[{table, number}];
    if (drawn < 500) {
      // Evicted or not: the row that comes is there.
      if (!Has(table, number)) known = 0;
      const std::string row = std::to_string(step);
      ASSERT_EQ(Insert(table, number, "value", row), OpStatus::kOk);
      ++known;
    } else if (drawn < 900) {
      const uint64_t found = Read(table, number);
      ASSERT_TRUE(found == 0 || found == known) << found << " of " << known << ", step " << step;
      if (found == 0) {
        ASSERT_TRUE(known == 0 || tables_[table]->takes_part() || ever_took_part_[table])
            << "step " << step;
        known = 0;
      }
    } else if (drawn < 940) {
      ASSERT_EQ(Delete(table, number), OpStatus::kOk);
      known = 0;
    } else if (drawn < 990) {
      Evict();
    } else {
      tables_[table]->TakePart(random.OneIn(2));
    }
    ever_took_part_[table] |= tables_[table]->takes_part();
    if (step % 200 == 0) Verify();
  }
}

// Copied a slice at a time, while both are evicted from: what is gone from the one is gone from the
// other.
TEST_F(TablesOfALane, ACopyUnderWayLosesWhatItsTableLoses) {
  Random random(TestSeed());
  for (int round = 0; round < 5; ++round) {
    storage::Table& from = AddTable();
    const size_t at = tables_.size() - 1;
    storage::Table& to = AddTable(/*takes_part=*/false);
    std::map<uint64_t, uint64_t> rows;
    const auto insert = [&](uint64_t number) {
      const std::string row = std::to_string(timestamp_);
      ASSERT_EQ(Insert(at, number, "value", row), OpStatus::kOk);
    };
    for (uint64_t i = 0; i < 1'000; ++i) {
      for (uint64_t row = random.Below(4) + 1; row > 0; --row) insert(i);
    }
    for (uint64_t i = 0; i < 1'000; i += 3) Read(at, i);
    const ColumnMap same = ColumnMap::Same(Schema());
    {
      storage::TableMirror mirror(from, to, same);
      while (!mirror.done()) {
        mirror.CopySlice(kNow, 1 + random.Below(40));
        ASSERT_EQ(mirror.status(), OpStatus::kOk);
        if (random.OneIn(2)) Evict();
        for (int i = 0; i < 5; ++i) insert(random.Below(1'200));
        if (random.OneIn(20)) Verify();
      }
    }
    for (uint64_t i = 0; i < 1'200; ++i) {
      ASSERT_EQ(Read(at, i), Read(at + 1, i)) << "partition " << i << ", round " << round;
    }
    to.TakePart(true);
    from.Drop();
    Verify();
    while (Evict()) {
    }
    EXPECT_EQ(to.stats().partitions, 0u);
  }
}

}  // namespace lane_eviction_test
}  // namespace liststore::testing
