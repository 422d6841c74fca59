// How many tombstones a table holds, step by step. At random: Table::Verify of the other tests counts
// them one by one.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/storage/table.h"
#include "tests/storage/hash_address.h"
#include "tests/storage/table_script.h"

namespace liststore::storage {

// For messages.
void PrintTo(const TombstoneCounts& counts, std::ostream* out) {
  *out << counts.rows << " rows, " << counts.ranges << " ranges, " << counts.partitions
       << " partitions";
}

}  // namespace liststore::storage

namespace liststore::testing {
namespace tombstone_counts_test {

using storage::TombstoneCounts;

struct Step {
  ScriptStep step;
  TombstoneCounts held;  // behind it, once nothing is left to be given back
};

class TombstoneCountsTest : public ::testing::Test {
 protected:
  void Run(const std::vector<Step>& steps) {
    Script script;
    for (const Step& step : steps) script.push_back(step.step);
    size_t done = 0;
    ScriptRunner<storage::Table>(table_, partition_, /*item_keys=*/false)
        .Run(script, [&](int64_t now_seconds) {
          while (table_.Reclaim(now_seconds, 10) > 0) {
          }
          table_.Verify();
          EXPECT_EQ(table_.stats().tombstones_held, steps[done++].held);
        });
    EXPECT_EQ(done, steps.size());
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  storage::Table table_{ScriptSchema(/*with_w=*/true), pool_, budget_, address_of_};
  const std::string key_ = std::string("\0\1a\0\0\1b\0", 8);
  const storage::PartitionRef partition_ = {key_, address_of_(key_)};
};

TEST_F(TombstoneCountsTest, TheyComeWithDeletionsAndGoWithStrongerOnesAndTheGrace) {
  Run({{Insert("a", 1).V("x"), {}},
       {DeleteRow("a", 5), {1, 0, 0}},
       {DeleteRow("a", 6), {1, 0, 0}},
       {Insert("a", 7).V("y"), {1, 0, 0}},
       {DeleteRow("q", 5), {2, 0, 0}},
       {DeleteRange("c", "f", 5), {2, 1, 0}},
       {DeleteRange("d", "e", 6), {2, 3, 0}},
       {DeleteRange("c", "f", 7), {2, 1, 0}},
       {DeleteRange("m", "n", 7), {2, 2, 0}},
       {Wait(kScriptGraceSeconds / 2), {2, 2, 0}},
       {DeletePartition(8), {0, 0, 1}},
       {DeletePartition(9), {0, 0, 1}},
       {Insert("a", 10).V("z"), {0, 0, 1}},
       {DeleteRow("b", 11), {1, 0, 1}},
       {Wait(kScriptGraceSeconds + 1), {}},
       {Sees("a=z"), {}}});
}

TEST_F(TombstoneCountsTest, TheyGoWithTheirPartitions) {
  Run({{Insert("a", 1).V("x"), {}},
       {DeleteRow("b", 5), {1, 0, 0}},
       {Truncate(), {}},
       {DeleteRow("b", 5), {1, 0, 0}},
       {DeleteRange("c", "f", 5), {1, 1, 0}},
       {DeleteRange("g", "h", 5), {1, 2, 0}},
       {DeletePartition(3), {1, 2, 1}},
       {Truncate(), {}}});
}

TEST_F(TombstoneCountsTest, WithTimestampsOfItsOwnATableHasNone) {
  Run({{Insert("a", 1).V("x").Own(), {}},
       {DeleteRow("a", 2).Own(), {}},
       {DeleteRange("a", "c", 3).Own(), {}},
       {DeletePartition(4).Own(), {}}});
}

// Many leaves: rows with tombstones are split, merged, cut out and copied.
TEST_F(TombstoneCountsTest, OfALargePartitionAndItsBaseline) {
  constexpr uint64_t kRows = 2'000;
  const WriteContext write{{5}, kScriptStartSeconds, /*foreign_timestamp=*/true};
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kRows; ++i) keys.push_back(std::to_string(10'000 + i));
  const auto key_of = [&](uint64_t i) { return ClusteringKeyView{keys[i], false}; };
  const auto held = [&] {
    table_.Verify();
    return table_.stats().tombstones_held;
  };
  const auto reclaim = [&] {
    while (table_.Reclaim(kScriptStartSeconds, 100) > 0) {
    }
  };
  const std::string value(50, 'v');
  const std::array<CellUpdate, 1> cells = {CellUpdate{.value = value}};
  for (uint64_t i = 0; i < kRows; ++i) {
    if (i % 2 == 0) {
      const ClusteringKeyView key = key_of(i);
      ASSERT_EQ(table_.DeleteRows(partition_, {&key, 1}, write), OpStatus::kOk);
      continue;
    }
    RowUpdate row;
    row.key = key_of(i);
    row.marker = true;
    row.cells = cells;
    ASSERT_EQ(table_.Upsert(partition_, {&row, 1}, write), OpStatus::kOk);
  }
  EXPECT_EQ(held(), (TombstoneCounts{kRows / 2, 0, 0}));
  table_.PrepareBaseline();
  table_.SetBaseline();
  // Leaves within the range are cut out; what is kept as it was counts no more.
  WriteContext later = write;
  later.timestamp = {6};
  const ClusteringRange range = {ClusteringBound::At(keys[200], false),
                                 ClusteringBound::At(keys[1'800], false)};
  ASSERT_EQ(table_.DeleteRange(partition_, range, later), OpStatus::kOk);
  reclaim();
  EXPECT_EQ(held(), (TombstoneCounts{200, 1, 0}));
  table_.TruncateAll();
  reclaim();
  EXPECT_EQ(held(), TombstoneCounts{});
  table_.PrepareBaseline();
  ASSERT_TRUE(table_.ReserveReturn());
  table_.ReturnToBaseline(kScriptStartSeconds);
  EXPECT_EQ(held(), (TombstoneCounts{kRows / 2, 0, 0}));
  reclaim();
  EXPECT_EQ(held(), (TombstoneCounts{kRows / 2, 0, 0}));
  table_.ForgetBaseline();
  ASSERT_EQ(table_.DeletePartition(partition_, later), OpStatus::kOk);
  reclaim();
  EXPECT_EQ(held(), (TombstoneCounts{0, 0, 1}));
}

}  // namespace tombstone_counts_test
}  // namespace liststore::testing
