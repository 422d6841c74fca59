// Deletions of long ranges in one partition: what they take at once, what they leave to reclamation,
// and what is seen of it meanwhile.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/storage/table.h"
#include "engine/storage/table_mirror.h"
#include "gtest/gtest.h"
#include "tests/storage/copy_table.h"
#include "tests/storage/hash_address.h"
#include "tests/support/collecting_sink.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace table_long_range_test {

constexpr int64_t kNow = 1'700'000'000;

class LongRangeTest : public ::testing::Test {
 protected:
  LongRangeTest() { Begin(/*indexed=*/false); }

  void Begin(bool indexed) {
    TableSchema schema;
    schema.partition_key = {{"p", CqlType::kText}};
    schema.clustering = {{"c", CqlType::kBlob}};
    schema.regular = {{"v", CqlType::kBlob}};
    schema.gc_grace_seconds = 1'000;
    if (indexed) schema.indexes = {{"by_v", 0}};
    rows_.clear();
    table_ = std::make_unique<storage::Table>(schema, pool_, budget_, address_of_);
  }
  static std::string KeyOf(uint64_t number) {
    std::string digits = std::to_string(number);
    return std::string(8 - digits.size(), '0') + digits;
  }
  WriteContext Write(bool foreign = false) {
    WriteContext write;
    write.timestamp = {++timestamp_};
    write.now_seconds = kNow;
    write.foreign_timestamp = foreign;
    return write;
  }
  // Some twelve rows are a leaf.
  static std::string ValueOf(uint64_t kind) {
    return std::to_string(kind) + "/" + std::string(1'200, 'v');
  }
  void Put(uint64_t number, uint64_t kind, const WriteContext& write) {
    const std::string key = KeyOf(number);
    const std::string value = ValueOf(kind);
    const CellUpdate cell{.value = value};
    RowUpdate row;
    row.key = {key, false};
    row.cells = {&cell, 1};
    ASSERT_EQ(table_->Upsert(partition_, {&row, 1}, write), OpStatus::kOk);
    rows_[number] = value;
  }
  void Fill(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) Put(i, i % 7, Write());
  }
  // Rows from `first` on, up to but not `last`; nullopt: all that are behind.
  void Delete(uint64_t first, std::optional<uint64_t> last, const WriteContext& write) {
    const std::string lower = KeyOf(first);
    const std::string upper = last ? KeyOf(*last) : "";
    const ClusteringRange range{ClusteringBound::At(lower, false),
                                last ? ClusteringBound::At(upper, false) : ClusteringBound::End()};
    ASSERT_EQ(table_->DeleteRange(partition_, range, write), OpStatus::kOk);
    rows_.erase(rows_.lower_bound(first), last ? rows_.lower_bound(*last) : rows_.end());
  }
  void ExpectRows() {
    CollectingSink sink(/*packs_item_keys=*/false, /*descending=*/false, false);
    ReadSpec spec;
    spec.descending = false;
    table_->Read(partition_, spec, kNow, sink);
    ASSERT_EQ(sink.rows().size(), rows_.size());
    auto expected = rows_.begin();
    for (const CollectedRow& row : sink.rows()) {
      EXPECT_EQ(row.cells[0].value, expected->second);
      ++expected;
    }
    EXPECT_EQ(table_->Count(partition_, {}, kNow), rows_.size());
  }
  void ExpectFoundByValue(uint64_t kind) {
    const std::string value = ValueOf(kind);
    CollectingSink sink(/*packs_item_keys=*/false, /*descending=*/true, false);
    ReadSpec spec;
    spec.value_filter = ReadSpec::ValueFilter{0, value};
    table_->Read(partition_, spec, kNow, sink);
    EXPECT_EQ(sink.rows().size(),
              static_cast<size_t>(std::ranges::count_if(
                  rows_, [&](const auto& row) { return row.second == value; })));
  }
  // In steps of `budget`; how many.
  uint64_t ReclaimInSteps(size_t budget) {
    uint64_t steps = 0;
    while (table_->WantsReclaim(kNow)) {
      const uint64_t before = table_->stats().rows;
      const size_t units = table_->Reclaim(kNow, budget);
      if (units == 0) break;
      EXPECT_LE(units, 2 * budget + 256);
      EXPECT_LE(before - table_->stats().rows, 40 * budget);
      ++steps;
    }
    return steps;
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  std::unique_ptr<storage::Table> table_;
  const storage::PartitionRef partition_{"p", address_of_("p")};
  int64_t timestamp_ = kNow * 1'000'000;
  std::map<uint64_t, std::string> rows_;
};

TEST_F(LongRangeTest, RowsGoFromSightAtOnceAndTheirMemoryInSteps) {
  constexpr uint64_t kRows = 20'000;
  Fill(kRows);
  Delete(10, kRows - 10, Write());
  EXPECT_GT(table_->stats().rows, kRows * 3 / 4) << "few were taken apart";
  ExpectRows();
  table_->Verify();
  const uint64_t bytes = table_->stats().live_bytes;
  EXPECT_GT(ReclaimInSteps(128), 30u);
  EXPECT_EQ(table_->stats().rows, 20u);
  EXPECT_LT(table_->stats().live_bytes, bytes / 50);
  ExpectRows();
  table_->Verify();
}

TEST_F(LongRangeTest, RowsMayComeAgainBeforeTheMemoryIsBack) {
  constexpr uint64_t kRows = 10'000;
  for (const bool indexed : {false, true}) {
    Begin(indexed);
    Fill(kRows);
    Delete(10, kRows - 10, Write());
    for (uint64_t i = 0; i < kRows; i += 50) Put(i, 3, Write());
    ExpectRows();
    ExpectFoundByValue(3);
    ExpectFoundByValue(4);
    table_->Verify();
    Delete(100, std::nullopt, Write());
    ExpectRows();
    ExpectFoundByValue(3);
    ReclaimInSteps(64);
    table_->Verify();
    ExpectRows();
    ExpectFoundByValue(3);
    EXPECT_EQ(table_->stats().rows, rows_.size());
  }
}

TEST_F(LongRangeTest, ItsTombstoneHidesOlderWrites) {
  constexpr uint64_t kRows = 10'000;
  Fill(kRows);
  const WriteContext before = Write(/*foreign=*/true);
  Delete(10, kRows - 10, Write(/*foreign=*/true));
  EXPECT_GT(table_->stats().rows, kRows / 2);
  const uint64_t left = rows_.size();
  Put(5'000, 1, before);
  rows_.erase(5'000);
  EXPECT_EQ(rows_.size(), left);
  ExpectRows();
  table_->Verify();
  EXPECT_GT(ReclaimInSteps(128), 10u);
  Put(5'000, 1, before);
  rows_.erase(5'000);
  ExpectRows();
  table_->Verify();
}

// A row that was written later than the deletion stays, and those of its partition are looked at.
TEST_F(LongRangeTest, LaterRowsStay) {
  constexpr uint64_t kRows = 5'000;
  Fill(kRows);
  const WriteContext deletion = Write(/*foreign=*/true);
  Put(2'500, 1, Write(/*foreign=*/true));
  const std::string later = rows_[2'500];
  Delete(10, kRows - 10, deletion);
  rows_[2'500] = later;
  ExpectRows();
  table_->Verify();
}

TEST_F(LongRangeTest, WhereTheirNumberIsAskedItIsTold) {
  constexpr uint64_t kRows = 5'000;
  Fill(kRows);
  uint64_t removed = 0;
  const std::string lower = KeyOf(10);
  ASSERT_EQ(
      table_->DeleteRange(partition_, {ClusteringBound::At(lower, false), ClusteringBound::End()},
                          Write(), &removed),
      OpStatus::kOk);
  EXPECT_EQ(removed, kRows - 10);
}

TEST_F(LongRangeTest, ThePartitionMayGoMeanwhile) {
  constexpr uint64_t kRows = 5'000;
  const auto cut = [&] {
    Fill(kRows);
    Delete(10, kRows - 10, Write());
    EXPECT_TRUE(table_->WantsReclaim(kNow));
  };
  const auto expect_nothing_left = [&] {
    rows_.clear();
    ExpectRows();
    ReclaimInSteps(1'000);
    table_->Verify();
    EXPECT_EQ(table_->stats().rows, 0u);
    EXPECT_EQ(table_->stats().live_bytes, 0u);
  };
  cut();
  ASSERT_EQ(table_->DeletePartition(partition_, Write()), OpStatus::kOk);
  expect_nothing_left();
  cut();
  Delete(0, std::nullopt, Write());
  expect_nothing_left();
  cut();
  table_->TruncateAll();
  expect_nothing_left();
  cut();
  table_->Drop();
  while (!table_->vacant()) ASSERT_GT(table_->Reclaim(kNow, 100), 0u);
  EXPECT_EQ(table_->stats().live_bytes, 0u);
}

TEST_F(LongRangeTest, ACopyIsOfWhatIsSeen) {
  constexpr uint64_t kRows = 5'000;
  Fill(kRows);
  Delete(10, kRows - 10, Write());
  storage::Table copy(table_->schema(), pool_, budget_, address_of_);
  ASSERT_EQ(CopyTable(*table_, copy, kNow), OpStatus::kOk);
  EXPECT_EQ(copy.stats().rows, 20u);
  copy.Verify();
}

// It goes to a baseline without its rows, and is freed in steps all the same.
TEST_F(LongRangeTest, WhatWasCutIsNotKeptForABaseline) {
  constexpr uint64_t kRows = 5'000;
  Fill(kRows);
  Delete(10, kRows - 10, Write());
  table_->PrepareBaseline();
  table_->SetBaseline();
  Fill(10);  // the copy has nothing of what was cut
  table_->Verify();
  ReclaimInSteps(1'000);
  table_->Verify();
  table_->PrepareBaseline();
  ASSERT_TRUE(table_->ReserveReturn());
  table_->ReturnToBaseline(kNow);
  table_->Verify();
  EXPECT_EQ(table_->Count(partition_, {}, kNow), 20u);
  ReclaimInSteps(1'000);
  table_->Verify();
  EXPECT_EQ(table_->stats().rows, 20u);
}

// Stretches 3 i to 3 i + 2, each under a tombstone of its own.
constexpr uint64_t kStretches = 3'000;

TEST_F(LongRangeTest, ManyRangeTombstonesAreCopiedInSlices) {
  const WriteContext before = Write(/*foreign=*/true);
  for (uint64_t i = 0; i < kStretches; ++i) Delete(3 * i, 3 * i + 2, Write(/*foreign=*/true));
  storage::Table copy(table_->schema(), pool_, budget_, address_of_);
  const ColumnMap same = ColumnMap::Same(table_->schema());
  uint64_t slices = 0;
  {
    storage::TableMirror mirror(*table_, copy, same);
    while (!mirror.done()) {
      EXPECT_LE(mirror.CopySlice(kNow, 50), 60u);
      ++slices;
      // In what was copied, and in what comes.
      Delete(slices, slices + 1, Write(/*foreign=*/true));
      Delete(9'000 + slices, 9'000 + slices + 1, Write(/*foreign=*/true));
      Put(20'000 + slices, 1, Write(/*foreign=*/true));
      ASSERT_EQ(mirror.status(), OpStatus::kOk);
    }
  }
  EXPECT_GT(slices, kStretches / 60);
  copy.Verify();
  EXPECT_EQ(copy.Count(partition_, {}, kNow), rows_.size());
  for (uint64_t key = 0; key < 9'000 + slices; ++key) {
    const std::string name = KeyOf(key);
    const CellUpdate cell{.value = "older"};
    RowUpdate row;
    row.key = {name, false};
    row.cells = {&cell, 1};
    ASSERT_EQ(table_->Upsert(partition_, {&row, 1}, before), OpStatus::kOk);
    ASSERT_EQ(copy.Upsert(partition_, {&row, 1}, before), OpStatus::kOk);
  }
  EXPECT_GT(table_->Count(partition_, {}, kNow), rows_.size()) << "between the stretches";
  EXPECT_EQ(copy.Count(partition_, {}, kNow), table_->Count(partition_, {}, kNow));
}

TEST_F(LongRangeTest, ADeletionOverManyRangeTombstonesLeavesThemToReclamation) {
  for (uint64_t i = 0; i < kStretches; ++i) Delete(3 * i, 3 * i + 2, Write(/*foreign=*/true));
  const uint64_t bytes = table_->stats().live_bytes;
  Delete(1, 3 * kStretches - 4, Write(/*foreign=*/true));
  EXPECT_GT(table_->stats().live_bytes, bytes * 9 / 10) << "few were freed";
  table_->Verify();
  EXPECT_GT(ReclaimInSteps(64), kStretches / 128);
  EXPECT_LT(table_->stats().live_bytes, bytes / 20);
  table_->Verify();
}

TEST_F(LongRangeTest, RangeTombstonesThatAreOverGoInSteps) {
  const WriteContext before = Write(/*foreign=*/true);
  for (uint64_t i = 0; i < kStretches; ++i) Delete(3 * i, 3 * i + 2, Write(/*foreign=*/true));
  // One that is not, so that they do not go together.
  WriteContext late = Write(/*foreign=*/true);
  late.now_seconds += 900;
  Delete(20'000, 20'001, late);
  const uint64_t bytes = table_->stats().live_bytes;
  constexpr int64_t kOver = kNow + 1'000;
  // What is over counts no more, whether or not it is there.
  WriteContext older = before;
  older.now_seconds = kOver;
  Put(4, 1, older);
  Put(3, 1, older);
  EXPECT_EQ(table_->Count(partition_, {}, kOver), 2u);
  EXPECT_GT(table_->stats().live_bytes, bytes / 2) << "few were freed";
  uint64_t steps = 0;
  while (table_->WantsReclaim(kOver) && table_->Reclaim(kOver, 64) > 0) ++steps;
  EXPECT_GT(steps, kStretches / 256);
  EXPECT_LT(table_->stats().live_bytes, bytes / 20);
  table_->Verify();
}

// Against a map: random ranges, long ones among them, rows that come again, steps of reclamation.
TEST_F(LongRangeTest, IsWhatAMapIs) {
  const uint64_t seed = TestSeed();
  constexpr uint64_t kStepsOfRun = 20'000;  // as long as those of the other tests, about
  const uint64_t runs = std::max<uint64_t>(TestSteps(6 * kStepsOfRun) / kStepsOfRun, 1);
  for (uint64_t run = 0; run < runs && !HasFailure(); ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) + " LISTSTORE_STEPS=1");
    Random rng(seed + run);
    Begin(/*indexed=*/rng.OneIn(2));
    const bool foreign = rng.OneIn(2);
    constexpr uint64_t kRows = 6'000;
    Fill(kRows);
    for (int step = 0; step < 40 && !HasFailure(); ++step) {
      switch (rng.Below(4)) {
        case 0: {
          const uint64_t first = rng.Below(kRows);
          const auto last =
              rng.OneIn(4) ? std::nullopt : std::optional(first + rng.Below(kRows - first + 1));
          Delete(first, last, Write(foreign));
          break;
        }
        case 1:
          table_->Reclaim(kNow, rng.Below(500));
          break;
        default: {
          const uint64_t first = rng.Below(kRows);
          const uint64_t last = std::min(kRows, first + rng.Below(kRows / 2));
          for (uint64_t i = first; i < last; ++i) Put(i, rng.Below(7), Write(foreign));
        }
      }
      ExpectRows();
      ExpectFoundByValue(rng.Below(7));
      table_->Verify();
    }
  }
}

}  // namespace table_long_range_test
}  // namespace liststore::testing
