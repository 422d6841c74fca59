// The next expiry of an engine: what a clock jumps to. The random workloads of
// engine_model_test.cc compare it with the reference as well.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_expiry_test {

constexpr int64_t kNoon = kNoonNanos / kNanosPerSecond;

shard::EngineOptions Shards(uint32_t shards) {
  shard::EngineOptions options;
  options.shards = shards;
  options.lanes_per_shard_log2 = 2;
  return options;
}

// One cell of a row, or with `marker` the row.
OpStatus Write(shard::Engine& engine, TableId table, std::string_view partition, uint64_t row,
               ColumnId column, int64_t now_seconds, int64_t ttl_seconds, bool marker) {
  const std::string list = ListKey("feature", partition);
  const PackedItemKey key = ItemNumber(row);
  const CellUpdate cell{.column = column, .value = "value"};
  RowUpdate update;
  update.key = {{key.data(), key.size()}, true};
  update.marker = marker;
  update.ttl_seconds = ttl_seconds;
  update.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : now_seconds + ttl_seconds;
  update.cells = {&cell, 1};
  Command command{table, list, UpsertCommand{{&update, 1}}};
  return engine.Execute(command, static_cast<uint64_t>(now_seconds) * kNanosPerSecond).status;
}

TableSchema TwoColumns() {
  TableSchema schema = ListItemsSchema();
  schema.regular.push_back(schema.regular[0]);
  schema.indexes.clear();
  return schema;
}

TEST(EngineExpiryTest, NothingExpiresWhereNothingHasATtl) {
  shard::Engine engine(Shards(2));
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), std::nullopt) << "there is no table";
  const TableId table = engine.CreateTable(ListItemsSchema());
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), std::nullopt);
  ASSERT_EQ(Write(engine, table, "a", 1, 0, kNoon, 0, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), std::nullopt);
  ASSERT_EQ(Write(engine, table, "a", 2, 0, kNoon, 7, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 7);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos + 7 * kNanosPerSecond), std::nullopt)
      << "what has expired, though its bytes are still there";
}

TEST(EngineExpiryTest, CellsOfOneRowExpireOneAfterTheOther) {
  shard::Engine engine(Shards(1));
  const TableId table = engine.CreateTable(TwoColumns());
  ASSERT_EQ(Write(engine, table, "a", 1, 0, kNoon, 100, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, table, "a", 1, 1, kNoon, 40, false), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 40);
  const uint64_t later = kNoonNanos + 40 * kNanosPerSecond;
  EXPECT_EQ(engine.NextExpiry(later), kNoon + 100);
  ReclaimAll(engine, later);
  EXPECT_EQ(engine.NextExpiry(later), kNoon + 100);
}

TEST(EngineExpiryTest, WhatIsDeletedTruncatedOrDroppedDoesNotCount) {
  shard::Engine engine(Shards(3));
  const TableId kept = engine.CreateTable(ListItemsSchema());
  const TableId truncated = engine.CreateTable(ListItemsSchema());
  const TableId dropped = engine.CreateTable(ListItemsSchema());
  ASSERT_EQ(Write(engine, kept, "a", 1, 0, kNoon, 10, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, kept, "b", 1, 0, kNoon, 20, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, truncated, "a", 1, 0, kNoon, 5, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, dropped, "a", 1, 0, kNoon, 6, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 5);
  ASSERT_EQ(engine.TruncateTable(truncated), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 6);
  ASSERT_EQ(engine.DropTable(dropped), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 10);
  ASSERT_EQ(RemoveItem(engine, kept, ListKey("feature", "a"), 1, kNoonNanos).status, OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 20);
}

TEST(EngineExpiryTest, CopiesOfAnImageDoNotCount) {
  shard::Engine engine(Shards(2));
  const TableId table = engine.CreateTable(ListItemsSchema());
  ASSERT_EQ(Write(engine, table, "a", 1, 0, kNoon, 10, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, table, "b", 1, 0, kNoon, 20, true), OpStatus::kOk);
  shard::EngineImage image;
  ASSERT_EQ(engine.TakeImage(
                {&table, 1}, [] { return kNoonNanos; }, image),
            OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 10);
  ASSERT_EQ(RemoveItem(engine, table, ListKey("feature", "a"), 1, kNoonNanos).status,
            OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), kNoon + 20);
  ASSERT_EQ(RemoveItem(engine, table, ListKey("feature", "b"), 1, kNoonNanos).status,
            OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kNoonNanos), std::nullopt);
  engine.DropImage(image);
}

// The year 2106 ends what the leaves know of an expiry without looking at the row.
TEST(EngineExpiryTest, ExpiriesOfTheNextCenturyAreFound) {
  constexpr int64_t kLate = 4'294'967'000;
  constexpr uint64_t kLateNanos = kLate * kNanosPerSecond;
  shard::Engine engine(Shards(1));
  const TableId table = engine.CreateTable(ListItemsSchema());
  ASSERT_EQ(Write(engine, table, "a", 1, 0, kLate, 100'000, true), OpStatus::kOk);
  ASSERT_EQ(Write(engine, table, "b", 1, 0, kLate, 0, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kLateNanos), kLate + 100'000);
  ASSERT_EQ(Write(engine, table, "c", 1, 0, kLate, 90'000, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kLateNanos), kLate + 90'000);
  ASSERT_EQ(Write(engine, table, "d", 1, 0, kLate, 8, true), OpStatus::kOk);
  EXPECT_EQ(engine.NextExpiry(kLateNanos), kLate + 8);
  EXPECT_EQ(engine.NextExpiry(kLateNanos + 8 * kNanosPerSecond), kLate + 90'000);
}

// Jumps from expiry to expiry, with partitions that take several holds of a lane, and a model that
// is a map of expiries.
TEST(EngineExpiryTest, JumpsMeetEveryExpiryOnce) {
  Random rng(TestSeed());
  for (const uint32_t shards : {1u, 2u, 5u}) {
    shard::Engine engine(Shards(shards));
    const TableId tables[] = {engine.CreateTable(ListItemsSchema()),
                              engine.CreateTable(TwoColumns())};
    std::map<int64_t, int> expiries;  // second -> rows and cells
    const auto add = [&](int64_t table, uint64_t list, uint64_t row) {
      const int64_t ttl = rng.OneIn(4) ? 0 : rng.Between(1, 400);
      const auto column = static_cast<ColumnId>(table == 0 ? 0 : rng.Below(2));
      const bool marker = table == 0 || rng.OneIn(2);
      ASSERT_EQ(Write(engine, tables[table], std::to_string(list), row, column, kNoon, ttl, marker),
                OpStatus::kOk);
      if (ttl != 0) ++expiries[kNoon + ttl];
    };
    uint64_t row = 0;
    for (int i = 0; i < 12'000; ++i) add(i % 2, rng.Below(3), ++row);
    for (int i = 0; i < 3'000; ++i) add(i % 2, 10 + rng.Below(2'000), ++row);
    uint64_t now = kNoonNanos;
    while (!expiries.empty()) {
      if (rng.OneIn(8)) ReclaimAll(engine, now);
      ASSERT_EQ(engine.NextExpiry(now), expiries.begin()->first) << shards << " shards";
      now = static_cast<uint64_t>(expiries.begin()->first) * kNanosPerSecond;
      expiries.erase(expiries.begin());
    }
    EXPECT_EQ(engine.NextExpiry(now), std::nullopt);
    engine.Verify();
  }
}

}  // namespace engine_expiry_test
}  // namespace liststore::testing
