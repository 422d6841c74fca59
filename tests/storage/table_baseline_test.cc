// A table that goes back to what it was at an instant, by rule. At random: table_model_test.cc.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/evicting_lane.h"
#include "tests/storage/hash_address.h"
#include "tests/support/stored_copy.h"

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
  void Put(std::string_view key, int64_t ttl_seconds = 0) { PutIn("p", key, ttl_seconds); }
  void PutIn(const std::string& partition, std::string_view key, int64_t ttl_seconds = 0) {
    const std::array<CellUpdate, 1> cells = {CellUpdate{.value = "value"}};
    RowUpdate row;
    row.key = {key, false};
    row.marker = true;
    row.ttl_seconds = ttl_seconds;
    row.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : kNow + ttl_seconds;
    row.cells = cells;
    ASSERT_EQ(table_.Upsert({partition, address_of_(partition)}, {&row, 1}, Write()),
              OpStatus::kOk);
  }
  void Mark() {
    table_.PrepareBaseline();
    table_.SetBaseline();
    table_.Verify();
  }
  void Return() {
    table_.PrepareBaseline();
    ASSERT_TRUE(table_.ReserveReturn());
    table_.ReturnToBaseline(kNow);
    table_.Verify();
  }
  // All there is, with its times.
  std::string Stored() {
    StoredCopy copy(table_.schema().packs_item_keys());
    table_.ScanPartitions(0, std::nullopt, [&](uint64_t, const storage::Partition& partition) {
      table_.SendStored(partition, INT64_MIN / 2, copy);
      return true;
    });
    std::string text;
    for (const StoredCopy::Part& part : copy.parts()) {
      text += std::string(part.head.key) + (part.head.tombstone.present() ? " deleted" : "") + "\n";
      for (const StoredRow& row : part.rows) {
        text += "  " + std::string(row.key.bytes) + " at " +
                std::to_string(row.marker.timestamp.micros) + " to " +
                std::to_string(row.marker.expiry_seconds) + "\n";
      }
    }
    return text;
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

TEST_F(TableBaselineTest, WhateverTouchesRowsIsUndone) {
  const ClusteringKeyView key{"a", false};
  const auto delete_row = [&] { table_.DeleteRows(partition_, {&key, 1}, Write()); };
  const std::function<void()> changes[] = {
      [&] { Put("a"); },
      [&] { Put("z"); },
      delete_row,
      [&] { table_.DeleteRange(partition_, {}, Write()); },
      [&] { table_.DeletePartition(partition_, Write()); },
      [&] { table_.DeleteRowsByValue(partition_, 0, "value", Write()); },
      [&] { table_.TruncateAll(); },
      [&] { ReclaimAll(table_, kNow + 60); },
      [&] {
        table_.TruncateAll();
        Put("later");
        table_.TruncateAll();
        Put("later still");
      },
  };
  Put("a");
  Put("b", 60);
  Put("c");
  Mark();
  const std::string then = Stored();
  for (const auto& first : changes) {
    for (const auto& second : changes) {
      first();
      second();
      table_.Verify();
      Return();
      EXPECT_EQ(Stored(), then);
      EXPECT_EQ(table_.stats().rows, 3u);
      EXPECT_EQ(table_.NextExpiry(), kNow + 60);
    }
  }
  table_.ForgetBaseline();
  ReclaimAll(table_, kNow);
  table_.Verify();
  EXPECT_EQ(Stored(), then);
}

TEST_F(TableBaselineTest, ADeletionOfBeforeHasNoEffectOnLaterWrites) {
  Put("a");
  Mark();
  WriteContext foreign = Write();
  foreign.foreign_timestamp = true;
  table_.DeletePartition(partition_, foreign);
  EXPECT_TRUE(table_.has_seen_foreign());
  Return();
  EXPECT_FALSE(table_.has_seen_foreign());
  Put("b");
  EXPECT_EQ(table_.Count(partition_, {}, kNow), 2u);
}

TEST_F(TableBaselineTest, TheGraceComesBack) {
  Put("a");
  Mark();
  table_.SetGrace(7);
  Return();
  EXPECT_EQ(table_.schema().gc_grace_seconds, Schema().gc_grace_seconds);
}

// What is kept is a copy of the partitions that were changed.
TEST_F(TableBaselineTest, MemoryGrowsByWhatWasChanged) {
  for (int i = 0; i < 1'000; ++i) PutIn("p" + std::to_string(i), "a");
  const uint64_t before = table_.stats().live_bytes;
  Mark();
  EXPECT_EQ(table_.stats().live_bytes, before);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) PutIn("p" + std::to_string(i), "b");
    PutIn("new", "a");
    EXPECT_LT(table_.stats().live_bytes, before + before / 20);
    Return();
    ReclaimAll(table_, kNow);
    EXPECT_EQ(table_.stats().live_bytes, before);
  }
}

// Keys that come and go leave nothing behind.
TEST_F(TableBaselineTest, WhatCameAndWentIsNotKept) {
  Put("a");
  Mark();
  const uint64_t before = table_.stats().live_bytes;
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "p" + std::to_string(i);
    PutIn(key, "b");
    table_.DeletePartition({key, address_of_(key)}, Write());
  }
  ReclaimAll(table_, kNow);
  EXPECT_EQ(table_.stats().live_bytes, before);
  table_.Verify();
}

TEST_F(TableBaselineTest, TimeTakesNothingOfATableThatIsSetAside) {
  Put("lasts");
  Put("ends", 60);
  Mark();
  const TableId id = table_.id();
  table_.SetAside();
  EXPECT_FALSE(table_.id() == id) << "nobody finds it";
  EXPECT_FALSE(table_.WantsReclaim(kNow + 1'000));
  EXPECT_EQ(table_.NextExpiry(), std::nullopt);
  ReclaimAll(table_, kNow + 1'000);
  EXPECT_EQ(table_.stats().rows, 2u);
  Return();
  EXPECT_FALSE(table_.set_aside());
  EXPECT_EQ(table_.NextExpiry(), kNow + 60);
  ReclaimAll(table_, kNow + 60);
  EXPECT_EQ(table_.stats().rows, 1u);

  table_.SetAside();
  table_.Drop();
  ReclaimAll(table_, kNow);
  ASSERT_TRUE(table_.vacant());
  EXPECT_EQ(table_.stats().live_bytes, 0u);
}

// Its memory would not come back. What was changed since goes, and comes back with the others.
TEST(TableBaselineEvictionTest, WhatABaselineHasIsNotEvicted) {
  EvictingLane lane(std::make_unique<HashAddress>(), uint64_t{64} << 20);
  storage::Table& table = lane.AddTable();
  const auto back = [&] {
    table.PrepareBaseline();
    ASSERT_TRUE(table.ReserveReturn());
    table.ReturnToBaseline(EvictingLane::kNow);
    lane.Verify();
  };
  for (uint64_t i = 0; i < 1'000; ++i) ASSERT_EQ(lane.Insert(0, i), OpStatus::kOk);
  table.PrepareBaseline();
  table.SetBaseline();
  for (uint64_t i = 0; i < 10; ++i) ASSERT_EQ(lane.Insert(0, i, "changed"), OpStatus::kOk);
  for (uint64_t i = 1'000; i < 1'100; ++i) ASSERT_EQ(lane.Insert(0, i), OpStatus::kOk);
  while (lane.Evict()) lane.Verify();
  EXPECT_EQ(lane.Partitions(), 990u);
  for (int i = 0; i < 2; ++i) {
    back();
    EXPECT_EQ(lane.Partitions(), 1'000u);
    table.TruncateAll();
    lane.Verify();
    ASSERT_EQ(lane.Insert(0, 5), OpStatus::kOk);
    lane.Verify();
  }
  back();
  table.ForgetBaseline();
  while (lane.Evict()) lane.Verify();
  EXPECT_EQ(lane.Partitions(), 0u);
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
