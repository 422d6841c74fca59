// Many writes of one call to one row. The model test says what comes of them; here are as many as took
// minutes when each of them wrote the whole row again.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/hash_address.h"

namespace liststore::testing {
namespace table_one_row_test {

constexpr int64_t kNow = 1'700'000'000;

class TableOneRowTest : public ::testing::Test {
 protected:
  static TableSchema Schema() {
    TableSchema schema;
    schema.partition_key = {{"p", CqlType::kText}};
    schema.clustering = {{"c", CqlType::kBlob}};
    schema.regular = {{"v", CqlType::kBlob}, {"w", CqlType::kBlob}};
    schema.statics = {{"s", CqlType::kBlob}};
    return schema;
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{uint64_t{256} << 20};
  memory::PagePool pool_{budget_};
  storage::Table table_{Schema(), pool_, budget_, address_of_};
  const storage::PartitionRef partition_{"p", address_of_("p")};
};

TEST_F(TableOneRowTest, ThousandsOfElementsComeTogether) {
  constexpr size_t kElements = 60'000;
  const std::string value(200, 'v');
  std::vector<std::string> paths;
  for (size_t i = 0; i < kElements; ++i) paths.push_back(std::to_string(i));
  for (const bool of_static_row : {false, true}) {
    std::vector<CellUpdate> cells;
    for (const std::string& path : paths) cells.push_back({.value = value, .path = path});
    std::vector<RowUpdate> rows(kElements);
    for (size_t i = 0; i < kElements; ++i) {
      rows[i].key = {"c", false};
      rows[i].marker = false;
      rows[i].of_static_row = of_static_row;
      rows[i].cells = {&cells[i], 1};
    }
    for (int64_t time = 1; time <= 2; ++time) {
      ASSERT_EQ(table_.Upsert(partition_, rows, {{kNow + time}, kNow, true}), OpStatus::kOk);
      size_t seen = 0;
      table_.ScanPartitions(0, std::nullopt, [&](uint64_t, const storage::Partition& partition) {
        if (of_static_row) seen = partition.StaticCells().size();
        partition.ForEachRow([&](const StoredRow& row) {
          if (!of_static_row) seen = row.cells.size();
        });
        return true;
      });
      EXPECT_EQ(seen, kElements);
    }
    table_.Verify();
  }
}

// What one of them takes away the next one writes again.
TEST_F(TableOneRowTest, ThousandsThatUndoEachOtherComeTogether) {
  constexpr size_t kElements = 60'000;
  std::vector<std::string> paths;
  for (size_t i = 0; i < kElements; ++i) paths.push_back(std::to_string(i));
  std::vector<CellUpdate> cells;
  for (const std::string& path : paths) cells.push_back({.value = "v", .path = path});
  RowUpdate all{.key = {"c", false}, .marker = false, .cells = cells};
  ASSERT_EQ(table_.Upsert(partition_, {&all, 1}, {{kNow}, kNow, false}), OpStatus::kOk);
  const CellUpdate dead{.live = false, .path = paths[7]};
  const CellUpdate live{.value = "w", .path = paths[7]};
  std::vector<RowUpdate> rows(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    rows[i].key = {"c", false};
    rows[i].marker = false;
    rows[i].cells = {i % 2 == 0 ? &dead : &live, 1};
  }
  ASSERT_EQ(table_.Upsert(partition_, rows, {{kNow + 1}, kNow, false}), OpStatus::kOk);
  EXPECT_EQ(table_.Count(partition_, {}, kNow), 1u);
  table_.ScanPartitions(0, std::nullopt, [&](uint64_t, const storage::Partition& partition) {
    partition.ForEachRow([&](const StoredRow& row) { EXPECT_EQ(row.cells.size(), kElements); });
    return true;
  });
  table_.Verify();
}

// Each null of a whole column looks at all of them.
TEST_F(TableOneRowTest, WritesThatWouldRewriteALargeRowAgainAndAgainAreRefused) {
  constexpr size_t kElements = 60'000;
  constexpr size_t kTimes = kCellsRewrittenMax / kElements;
  std::vector<std::string> paths;
  for (size_t i = 0; i < kElements; ++i) paths.push_back(std::to_string(i));
  std::vector<CellUpdate> cells;
  for (const std::string& path : paths) cells.push_back({.value = "v", .path = path});
  const RowUpdate all{.key = {"c", false}, .marker = false, .cells = cells};
  ASSERT_EQ(table_.Upsert(partition_, {&all, 1}, {{kNow}, kNow, true}), OpStatus::kOk);
  const CellUpdate null{.column = 1, .live = false};
  std::vector<RowUpdate> rows(kTimes + 1,
                              {.key = {"c", false}, .marker = false, .cells = {&null, 1}});
  EXPECT_EQ(table_.Upsert(partition_, rows, {{kNow + 1}, kNow, true}), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().rewritten_cells, (kTimes + 1) * kElements);
  rows.pop_back();
  EXPECT_EQ(table_.Upsert(partition_, rows, {{kNow + 1}, kNow, true}), OpStatus::kOk);
  // Under timestamps of their own, and where the row is deleted.
  storage::BatchShare share;
  for (size_t i = 0; i <= kTimes; ++i) {
    share.upserts.push_back({{&rows[0], 1}, WriteTimestamp{kNow + static_cast<int64_t>(i)}});
  }
  const WriteContext write{{kNow + 100}, kNow, true};
  EXPECT_EQ(table_.PledgeShare(partition_, share, write), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().rewritten_cells, (kTimes + 1) * (kElements + 1));
  storage::BatchShare deletes;
  deletes.deleted_rows.assign(kTimes + 2, {&all.key, 1});
  EXPECT_EQ(table_.PledgeShare(partition_, deletes, write), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.DeleteRows(partition_, {&all.key, 1}, write), OpStatus::kOk);
  EXPECT_EQ(table_.Count(partition_, {}, kNow), 0u);
  table_.Verify();
}

}  // namespace table_one_row_test
}  // namespace liststore::testing
