// Deletions where the limit refuses writes. Tables keep tombstones here: timestamps are the
// client's.
#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/hash_address.h"

namespace liststore::testing {
namespace table_limit_test {

constexpr int64_t kNow = 1'700'000'000;

TableSchema Schema(bool indexed) {
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kBlob}};
  schema.regular = {{"v", CqlType::kBlob}};
  if (indexed) schema.indexes = {{"by_v", 0}};
  schema.gc_grace_seconds = 1'000;
  return schema;
}

struct Shape {
  const char* name;
  uint64_t limit_bytes;
  int partitions;
  size_t value_bytes;
  bool indexed;
  // Of partitions that are smaller than what a deletion leaves of them, as many as the slack has
  // room for; of others all.
  int deletable = INT_MAX;
};

const Shape kShapes[] = {
    {"many small partitions", uint64_t{1} << 20, 3'000, 40, false, 400},
    {"few large partitions", uint64_t{1} << 20, 4, 40, false},
    {"large, indexed partitions", uint64_t{8} << 20, 4, 40, true},
    {"rows of middle length", uint64_t{4} << 20, 50, 400, true},
    {"rows with blocks of their own", uint64_t{8} << 20, 50, 5'000, false},
};

class TableLimitTest : public ::testing::TestWithParam<Shape> {
 protected:
  WriteContext Write() { return {{++timestamp_}, kNow, true}; }
  std::string KeyOf(int partition) const { return "partition " + std::to_string(partition); }
  storage::PartitionRef RefTo(const std::string& key) const { return {key, address_of_(key)}; }

  // Rows in turn, one for each partition, until one is refused.
  void Fill() {
    std::string value(GetParam().value_bytes, 'v');
    for (int i = 0;; ++i) {
      std::string key = KeyOf(i % GetParam().partitions);
      std::string row_key = std::to_string(100'000'000 + i);
      value.replace(0, row_key.size(), row_key);
      const std::array<CellUpdate, 1> cells = {CellUpdate{.value = value}};
      RowUpdate row;
      row.key = {row_key, false};
      row.cells = cells;
      if (table_.Upsert(RefTo(key), {&row, 1}, Write()) != OpStatus::kOk) break;
      rows_.emplace_back(std::move(key), std::move(row_key));
    }
    ASSERT_GT(rows_.size() * GetParam().value_bytes, GetParam().limit_bytes / 4) << "much went in";
  }
  uint64_t LiveRows() {
    uint64_t rows = 0;
    for (int i = 0; i < GetParam().partitions; ++i) rows += table_.Count(RefTo(KeyOf(i)), {}, kNow);
    return rows;
  }
  int Deletable() const { return std::min(GetParam().partitions, GetParam().deletable); }
  void ExpectGone(int partitions) {
    if (partitions == GetParam().partitions) {
      EXPECT_EQ(LiveRows(), 0u);
    }
    EXPECT_LE(budget_.held_bytes(), budget_.limit_bytes());
    EXPECT_EQ(table_.stats().slabs_beyond_limit, 0u);
    table_.Verify();
    // The tombstones go with the grace, and all memory with them.
    while (table_.Reclaim(kNow + 2'000, 1'000) > 0) {
    }
    table_.ReleaseCredit();
    if (partitions < GetParam().partitions) return;
    EXPECT_EQ(table_.stats().partitions, 0u);
    EXPECT_LE(table_.stats().held_bytes, GetParam().limit_bytes / 4);
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{GetParam().limit_bytes};
  memory::PagePool pool_{budget_};
  storage::Table table_{Schema(GetParam().indexed), pool_, budget_, address_of_};
  int64_t timestamp_ = kNow * 1'000'000;
  std::vector<std::pair<std::string, std::string>> rows_;  // partition and row
};

TEST_P(TableLimitTest, EveryRowCanBeDeleted) {
  Fill();
  for (const auto& [key, row_key] : rows_) {
    const ClusteringKeyView row{row_key, false};
    uint64_t removed = 0;
    ASSERT_EQ(table_.DeleteRows(RefTo(key), {&row, 1}, Write(), &removed), OpStatus::kOk);
    ASSERT_EQ(removed, 1u);
  }
  ExpectGone(GetParam().partitions);
}

TEST_P(TableLimitTest, EveryPartitionCanBeDeleted) {
  Fill();
  for (int i = 0; i < Deletable(); ++i) {
    ASSERT_EQ(table_.DeletePartition(RefTo(KeyOf(i)), Write()), OpStatus::kOk);
  }
  ExpectGone(Deletable());
}

TEST_P(TableLimitTest, RangesCanBeDeleted) {
  Fill();
  for (int i = 0; i < Deletable(); ++i) {
    const std::string key = KeyOf(i);
    const std::array<std::string, 3> ends = {"1", "100002", "2"};
    for (size_t range = 0; range + 1 < ends.size(); ++range) {
      ClusteringRange part;
      part.lower.bytes = ends[range];
      part.upper.bytes = ends[range + 1];
      ASSERT_EQ(table_.DeleteRange(RefTo(key), part, Write()), OpStatus::kOk);
    }
  }
  ExpectGone(Deletable());
}

// As a batch of deletions is carried out.
TEST_P(TableLimitTest, ABatchOfDeletionsIsLetIn) {
  Fill();
  for (const auto& [key, row_key] : rows_) {
    const ClusteringKeyView row{row_key, false};
    const WriteContext write = Write();
    ASSERT_EQ(
        table_.PledgeShare(
            RefTo(key), {.upserts = {}, .deleted_rows = {{&row, 1}}, .deleted_ranges = {}}, write),
        OpStatus::kOk);
    table_.RedeemPledges();
    ASSERT_EQ(table_.DeleteRows(RefTo(key), {&row, 1}, write), OpStatus::kOk);
    table_.ClearPledges();
  }
  ExpectGone(GetParam().partitions);
}

// Tombstones over nothing are no reason to pass the limit.
TEST_P(TableLimitTest, DeletionsOfWhatIsNotThereEndAtTheLimit) {
  Fill();
  OpStatus status = OpStatus::kOk;
  for (uint64_t i = 0; i < GetParam().limit_bytes / 16 && status == OpStatus::kOk; ++i) {
    const std::string row_key = "absent " + std::to_string(i);
    const ClusteringKeyView row{row_key, false};
    status = table_.DeleteRows(RefTo(KeyOf(0)), {&row, 1}, Write());
  }
  EXPECT_EQ(status, OpStatus::kOutOfMemory);
  EXPECT_LE(budget_.held_bytes(), budget_.limit_bytes());
  EXPECT_EQ(table_.stats().slabs_beyond_limit, 0u);
  EXPECT_EQ(LiveRows(), rows_.size());
}

INSTANTIATE_TEST_SUITE_P(Shapes, TableLimitTest, ::testing::ValuesIn(kShapes),
                         [](const auto& shape) {
                           std::string name = shape.param.name;
                           std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
                           return name;
                         });

// What clients may do over and over at a full limit, where each step takes a little of the slack.
class FullTableTest : public ::testing::Test {
 protected:
  WriteContext Write() { return {{++timestamp_}, now_, true}; }
  storage::PartitionRef RefTo(const std::string& key) const { return {key, address_of_(key)}; }
  OpStatus Put(const std::string& key, const std::string& row_key, std::string_view value,
               int64_t ttl_seconds = 0) {
    const std::array<CellUpdate, 1> cells = {CellUpdate{.value = value}};
    RowUpdate row;
    row.key = {row_key, false};
    row.ttl_seconds = ttl_seconds;
    row.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : now_ + ttl_seconds;
    row.cells = cells;
    return table_.Upsert(RefTo(key), {&row, 1}, Write());
  }
  int Fill(int64_t ttl_seconds) {
    int rows = 0;
    const std::string value(24, 'v');
    while (Put("p" + std::to_string(rows % 7), std::to_string(100'000'000 + rows), value,
               ttl_seconds) == OpStatus::kOk) {
      ++rows;
    }
    return rows;
  }
  void ExpectWithinLimit() {
    EXPECT_LE(budget_.held_bytes(), budget_.limit_bytes());
    EXPECT_EQ(table_.stats().slabs_beyond_limit, 0u);
    table_.Verify();
  }
  void ReclaimAll() {
    while (table_.Reclaim(now_, 1'000) > 0) {
    }
  }

  HashAddress address_of_;
  memory::MemoryBudget budget_{uint64_t{1} << 20};
  memory::PagePool pool_{budget_};
  storage::Table table_{Schema(false), pool_, budget_, address_of_};
  int64_t now_ = kNow;
  int64_t timestamp_ = kNow * 1'000'000;
};

TEST_F(FullTableTest, ShadowsOfRowsThatAreOverStayWithinTheLimit) {
  ASSERT_GT(Fill(/*ttl_seconds=*/10), 1'000);
  for (now_ += 11; now_ < kNow + 500; now_ += 61) {
    ReclaimAll();
    ExpectWithinLimit();
  }
  now_ = kNow + 2'000;  // the shadows go with the grace
  ReclaimAll();
  EXPECT_EQ(table_.stats().partitions, 0u);
}

TEST_F(FullTableTest, APartitionThatIsDeletedAgainAndAgainTakesNoMore) {
  Fill(0);
  const std::string key(40'000, 'k');
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(table_.DeletePartition(RefTo(key), Write()), OpStatus::kOk);
    ASSERT_LE(budget_.held_bytes(), budget_.limit_bytes());
  }
  ExpectWithinLimit();
}

TEST_F(FullTableTest, TombstonesOfLongKeysAreCounted) {
  Fill(0);
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(std::to_string(i) + std::string(30'000, 'k'));
  std::vector<ClusteringKeyView> views;
  for (const std::string& key : keys) views.push_back({key, false});
  EXPECT_EQ(table_.DeleteRows(RefTo("p0"), views, Write()), OpStatus::kOutOfMemory);
  ExpectWithinLimit();
}

TEST_F(FullTableTest, WritesDoNotFollowDeletionsIntoTheSlack) {
  const int rows = Fill(0);
  int more = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string absent = "absent " + std::to_string(i);
    const ClusteringKeyView row{absent, false};
    if (table_.DeleteRows(RefTo("p1"), {&row, 1}, Write()) != OpStatus::kOk) break;
    more += Put("p2", "more " + std::to_string(i), "value") == OpStatus::kOk ? 1 : 0;
  }
  EXPECT_LT(more, rows / 20) << "writes go on where the slack begins";
  ExpectWithinLimit();
}

// Rows keep blocks of their own when a deletion shortens them. When a key that cannot be packed comes
// to their leaf, it is written again whole: as inline rows they would be forty times what fits.
TEST(PackedLeafTest, RowsThatWereShortenedWhereTheyLieStayThere) {
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kText}};
  schema.regular = {{"v", CqlType::kBlob}, {"w", CqlType::kBlob}};
  ASSERT_TRUE(schema.packs_item_keys());
  memory::MemoryBudget budget(memory::MemoryBudget::kUnlimited);
  memory::PagePool pool(budget);
  const HashAddress address_of;
  storage::Table table(schema, pool, budget, address_of);
  const storage::PartitionRef partition{"p", address_of("p")};
  constexpr int kRows = 300;
  const std::string covered(3'000, 'v');
  const std::string stays(1'900, 'w');
  const auto put = [&](std::string_view text, ColumnId column, std::string_view value,
                       int64_t timestamp) {
    const std::array<CellUpdate, 1> cells = {CellUpdate{.column = column, .value = value}};
    PackedItemKey packed;
    RowUpdate row;
    row.key = MakeClusteringKey(text, true, packed);
    row.cells = cells;
    ASSERT_EQ(table.Upsert(partition, {&row, 1}, {{timestamp}, kNow, true}), OpStatus::kOk);
    if (text.size() == kItemKeyTextBytes) {
      ASSERT_TRUE(row.key.packed);
    }
  };
  for (int i = 0; i < kRows; ++i) {
    const std::string number = std::to_string(1'000'000'000'000'000'000 + i);
    const std::string text = number + "#" + "AAAAAAAAAAAAAAAAAAAAAA==";
    put(text, 0, covered, 10);
    put(text, 1, stays, 30);
  }
  ASSERT_EQ(table.DeleteRange(partition, {}, {{20}, kNow, true}), OpStatus::kOk);
  put("no item key", 1, "x", 30);
  table.Verify();
  EXPECT_EQ(table.Count(partition, {}, kNow), kRows + 1u);
}

}  // namespace table_limit_test
}  // namespace liststore::testing
