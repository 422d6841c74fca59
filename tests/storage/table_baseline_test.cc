// What a table offers to those who go back to a state of it: whether it has changed, copies that
// time leaves alone, ids that change.
#include <array>
#include <string>
#include <string_view>

#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/copy_table.h"
#include "tests/storage/hash_address.h"

namespace liststore::testing {
namespace table_baseline_test {

constexpr int64_t kNow = 1'700'000'000;

class TableBaselineTest : public ::testing::Test {
 protected:
  static TableSchema Schema() {
    TableSchema schema;
    schema.partition_key = {{"p", CqlType::kText}};
    schema.clustering = {{"c", CqlType::kBlob}};
    schema.regular = {{"v", CqlType::kBlob}};
    return schema;
  }
  WriteContext Write() {
    WriteContext write;
    write.timestamp = {++timestamp_};
    write.now_seconds = kNow;
    return write;
  }
  void Put(std::string_view key, int64_t ttl_seconds = 0) {
    const std::array<CellUpdate, 1> cells = {CellUpdate{.value = "value"}};
    RowUpdate row;
    row.key = {key, false};
    row.marker = true;
    row.ttl_seconds = ttl_seconds;
    row.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : kNow + ttl_seconds;
    row.cells = cells;
    ASSERT_EQ(table_.Upsert(partition_, {&row, 1}, Write()), OpStatus::kOk);
  }
  // Whether `change` is noted as one.
  bool Changes(auto change) {
    table_.NoteUnchanged();
    change();
    return table_.changed();
  }
  static void ReclaimAll(storage::Table& table, int64_t now_seconds) {
    while (table.Reclaim(now_seconds, 1'000) > 0) {
    }
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  storage::Table table_{Schema(), pool_, budget_, address_of_};
  const storage::PartitionRef partition_{"p", address_of_("p")};
  int64_t timestamp_ = kNow * 1'000'000;
};

TEST_F(TableBaselineTest, WhateverTouchesRowsIsAChange) {
  EXPECT_TRUE(table_.changed()) << "a new table is not what anybody has seen";
  const ClusteringKeyView key{"a", false};
  EXPECT_TRUE(Changes([&] { Put("a"); }));
  EXPECT_TRUE(Changes([&] { Put("a"); })) << "in place, too";
  EXPECT_TRUE(Changes([&] { table_.DeleteRows(partition_, {&key, 1}, Write()); }));
  EXPECT_TRUE(Changes([&] {
    table_.DeleteRows(partition_, {&key, 1}, Write());
  })) << "a deletion of nothing may leave a tombstone";
  EXPECT_TRUE(Changes([&] { table_.DeleteRange(partition_, {}, Write()); }));
  EXPECT_TRUE(Changes([&] { table_.DeletePartition(partition_, Write()); }));
  EXPECT_TRUE(Changes([&] { table_.DeleteRowsByValue(partition_, 0, "value", Write()); }));
  EXPECT_TRUE(Changes([&] { table_.TruncateAll(); }));
  EXPECT_TRUE(Changes([&] { table_.SetGrace(7); }));
}

TEST_F(TableBaselineTest, ReadingAndWorkThatNobodySeesAreNone) {
  Put("a");
  Put("b", 60);
  EXPECT_FALSE(Changes([&] {
    EXPECT_EQ(table_.Count(partition_, {}, kNow), 2u);
    EXPECT_TRUE(table_.schema().indexes.empty());
    ReclaimAll(table_, kNow + 59);
  }));
  EXPECT_TRUE(Changes([&] { ReclaimAll(table_, kNow + 60); })) << "a row is lost to time";
}

TEST_F(TableBaselineTest, TimeTakesNothingOfAFrozenTable) {
  Put("lasts");
  Put("ends", 60);
  storage::Table copy(Schema(), pool_, budget_, address_of_);
  copy.Freeze();
  ASSERT_EQ(CopyTable(table_, copy, kNow), OpStatus::kOk);
  EXPECT_FALSE(copy.WantsReclaim(kNow + 1'000));
  EXPECT_EQ(copy.NextExpiry(), std::nullopt);
  ReclaimAll(copy, kNow + 1'000);
  EXPECT_EQ(copy.stats().rows, 2u);
  copy.Verify();
  storage::Table back(Schema(), pool_, budget_, address_of_);
  ASSERT_EQ(CopyTable(copy, back, kNow), OpStatus::kOk);
  EXPECT_EQ(back.Count(partition_, {}, kNow), 2u);
  EXPECT_EQ(back.NextExpiry(), kNow + 60);
  storage::Table later(Schema(), pool_, budget_, address_of_);
  ASSERT_EQ(CopyTable(copy, later, kNow + 60), OpStatus::kOk);
  EXPECT_EQ(later.stats().rows, 1u);

  // The next table in its shell is not frozen.
  copy.Drop();
  ReclaimAll(copy, kNow);
  ASSERT_TRUE(copy.vacant());
  TableSchema next = Schema();
  next.id = copy.schema().id;
  copy.Reuse(next);
  ASSERT_EQ(CopyTable(table_, copy, kNow), OpStatus::kOk);
  EXPECT_EQ(copy.NextExpiry(), kNow + 60);
}

TEST_F(TableBaselineTest, ATableIsBlankWhileNothingIsSeenOfIt) {
  EXPECT_TRUE(table_.IsBlank());
  Put("a");
  EXPECT_FALSE(table_.IsBlank());
  table_.TruncateAll();
  EXPECT_TRUE(table_.IsBlank()) << "before its memory is back, too";
  ReclaimAll(table_, kNow);
  EXPECT_TRUE(table_.IsBlank());
}

}  // namespace table_baseline_test
}  // namespace liststore::testing
