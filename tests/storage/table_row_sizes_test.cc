// The largest row: what would be larger is refused before anything of it is applied.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/copy_table.h"
#include "tests/storage/hash_address.h"

namespace liststore::testing {
namespace table_row_sizes_test {

constexpr int64_t kNow = 1'700'000'000;
constexpr size_t kMiB = size_t{1} << 20;
// Of each value, and of the row: see kRowBytesMax.
constexpr size_t kCellBytes = 27;
constexpr size_t kElementBytes = 4;
constexpr size_t kOwnBytes = 41;

TableSchema Schema(size_t columns) {
  TableSchema schema;
  schema.partition_key = {{"p", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kBlob}};
  for (size_t i = 0; i < columns; ++i) {
    schema.regular.push_back({"v" + std::to_string(i), CqlType::kBlob});
    schema.statics.push_back({"s" + std::to_string(i), CqlType::kBlob});
  }
  schema.gc_grace_seconds = 1'000;
  return schema;
}

class TableRowSizesTest : public ::testing::Test {
 protected:
  explicit TableRowSizesTest(size_t columns = 300) : schema_(Schema(columns)) {}

  WriteContext Write() { return {{++timestamp_}, kNow, true}; }

  // The row "c" with so many bytes in each of these columns; borrowed until the test ends.
  RowUpdate Row(const std::vector<std::pair<ColumnId, size_t>>& values) {
    std::vector<CellUpdate>& cells = cells_.emplace_back();
    for (const auto& [column, bytes] : values) {
      cells.push_back({.column = column, .value = std::string_view(zeros_).substr(0, bytes)});
    }
    RowUpdate row;
    row.key = {"c", false};
    row.cells = cells;
    return row;
  }
  // The same of elements of column 0.
  RowUpdate Elements(const std::vector<std::pair<std::string_view, size_t>>& elements) {
    std::vector<CellUpdate>& cells = cells_.emplace_back();
    for (const auto& [path, bytes] : elements) {
      cells.push_back({.value = std::string_view(zeros_).substr(0, bytes), .path = path});
    }
    RowUpdate row;
    row.key = {"c", false};
    row.marker = false;
    row.cells = cells;
    return row;
  }
  RowUpdate Static(RowUpdate row) {
    row.key = {};
    row.marker = false;
    row.of_static_row = true;
    return row;
  }

  OpStatus Upsert(const RowUpdate& row) { return table_.Upsert(partition_, {&row, 1}, Write()); }
  // Refused for a row of so many bytes, and nothing is there that was not there before.
  void ExpectTooLarge(const RowUpdate& row, uint64_t bytes) {
    const uint64_t before = table_.stats().live_bytes;
    EXPECT_EQ(Upsert(row), OpStatus::kRowTooLarge);
    EXPECT_EQ(table_.large_row().bytes, bytes);
    EXPECT_EQ(table_.stats().live_bytes, before);
  }

  const TableSchema schema_;
  const std::string zeros_ = std::string(100 * kMiB, '\0');
  std::deque<std::vector<CellUpdate>> cells_;
  HashAddress address_of_;
  memory::MemoryBudget budget_{uint64_t{2} << 30};
  memory::PagePool pool_{budget_};
  storage::Table table_{schema_, pool_, budget_, address_of_};
  const storage::PartitionRef partition_{"p", address_of_("p")};
  int64_t timestamp_ = kNow * 1'000'000;
};

TEST_F(TableRowSizesTest, OneValueInManyColumnsIsCountedInFull) {
  std::vector<std::pair<ColumnId, size_t>> values;
  for (ColumnId column = 0; column < 215; ++column) values.emplace_back(column, 20 * kMiB);
  ExpectTooLarge(Row(values), 215 * (20 * kMiB + kCellBytes) + kOwnBytes);
  EXPECT_EQ(table_.stats().partitions, 0u);
  ExpectTooLarge(Static(Row(values)), 215 * (20 * kMiB + kCellBytes) + kOwnBytes);
  EXPECT_EQ(table_.stats().partitions, 0u);
}

TEST_F(TableRowSizesTest, ARowIsMadeByPiecesUpToTheLimitAndNoFurther) {
  ASSERT_EQ(Upsert(Row({{0, 100 * kMiB}})), OpStatus::kOk);
  const size_t left = kRowBytesMax - 100 * kMiB - 2 * kCellBytes - kOwnBytes;
  ExpectTooLarge(Row({{1, left + 1}}), kRowBytesMax + 1);
  ASSERT_EQ(Upsert(Row({{1, left}})), OpStatus::kOk);
  ExpectTooLarge(Row({{2, 0}}), kRowBytesMax + kCellBytes);
  // What takes the place of what is there makes it no larger.
  ASSERT_EQ(Upsert(Row({{0, 100 * kMiB}, {1, left}})), OpStatus::kOk);
  ASSERT_EQ(Upsert(Row({{1, 10}})), OpStatus::kOk);
  ASSERT_EQ(Upsert(Row({{2, 10}})), OpStatus::kOk);
  table_.Verify();
}

TEST_F(TableRowSizesTest, AStaticRowAndACollectionHaveTheSameLimit) {
  for (const bool of_static_row : {false, true}) {
    const auto row = [&](RowUpdate update) { return of_static_row ? Static(update) : update; };
    const std::string_view paths[] = {"a", "bb"};
    ASSERT_EQ(Upsert(row(Elements({{paths[0], 100 * kMiB}}))), OpStatus::kOk);
    const size_t left =
        kRowBytesMax - 100 * kMiB - 2 * (kCellBytes + kElementBytes) - 1 - 2 - kOwnBytes;
    ExpectTooLarge(row(Elements({{paths[1], left + 1}})), kRowBytesMax + 1);
    ASSERT_EQ(Upsert(row(Elements({{paths[1], left}}))), OpStatus::kOk);
    ASSERT_EQ(table_.DeletePartition(partition_, Write()), OpStatus::kOk);
  }
  table_.Verify();
}

// Two rows of one call with one key are one row.
TEST_F(TableRowSizesTest, RowsOfOneCallAndOfABatchAddUp) {
  const RowUpdate rows[] = {Row({{0, 100 * kMiB}}), Row({{1, 100 * kMiB}})};
  const uint64_t bytes = 2 * (100 * kMiB + kCellBytes) + kOwnBytes;
  EXPECT_EQ(table_.Upsert(partition_, rows, Write()), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().bytes, bytes);
  storage::BatchShare share;
  share.upserts = {{{&rows[0], 1}}, {{&rows[1], 1}}};
  EXPECT_EQ(table_.PledgeShare(partition_, share, Write()), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().bytes, bytes);
  // Over the same column one of them stays, whichever timestamp is the later one.
  const RowUpdate again = Row({{0, 100 * kMiB}});
  const WriteTimestamp late{timestamp_ + 9};
  share.upserts = {{{&rows[0], 1}, late}, {{&again, 1}}};
  EXPECT_EQ(table_.PledgeShare(partition_, share, Write()), OpStatus::kOk);
  table_.ClearPledges();
  EXPECT_EQ(table_.stats().partitions, 0u);
}

TEST_F(TableRowSizesTest, RowsThatDoNotMeetDoNotAddUp) {
  for (const std::string_view key : {"a", "b", "c"}) {
    RowUpdate row = Row({{0, 80 * kMiB}});
    row.key = {key, false};
    ASSERT_EQ(Upsert(row), OpStatus::kOk);
  }
}

// What is stored is not looked at again: a row as large as it may be has a deletion besides.
TEST_F(TableRowSizesTest, ALargestRowIsDeletedAndCopied) {
  const size_t left = kRowBytesMax - 100 * kMiB - 2 * kCellBytes - kOwnBytes;
  const RowUpdate row = Row({{0, 100 * kMiB}, {1, left}});
  WriteContext late = Write();
  late.timestamp.micros += 1'000;
  ASSERT_EQ(table_.Upsert(partition_, {&row, 1}, late), OpStatus::kOk);
  ASSERT_EQ(table_.DeleteRows(partition_, {&row.key, 1}, Write()), OpStatus::kOk);
  storage::Table copy(schema_, pool_, budget_, address_of_);
  ASSERT_EQ(CopyTable(table_, copy, kNow), OpStatus::kOk);
  EXPECT_EQ(copy.Count(partition_, {}, kNow), 1u);
  timestamp_ += 10'000;
  ASSERT_EQ(table_.DeleteRows(partition_, {&row.key, 1}, Write()), OpStatus::kOk);
  EXPECT_EQ(table_.Count(partition_, {}, kNow), 0u);
  table_.Verify();
  copy.Verify();
}

TEST_F(TableRowSizesTest, ARestoredRowIsRefusedAsAnyOther) {
  const std::string_view value = std::string_view(zeros_);
  const Liveness live{{timestamp_}, kNoExpiry, 0};
  const StoredCell cells[] = {{0, {.liveness = live, .value = value}},
                              {1, {.liveness = live, .value = value}}};
  const StoredRow row{{"c", false}, live, {}, cells};
  const StoredPartition head{.key = "p"};
  EXPECT_EQ(table_.Restore(partition_, head, {&row, 1}, kNow), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.stats().partitions, 0u);
}

TEST_F(TableRowSizesTest, WhereLessIsSaidARowHasNoMoreAndALargerOneGetsNoLarger) {
  ASSERT_EQ(Upsert(Row({{0, 10 * kMiB}})), OpStatus::kOk);
  budget_.set_row_bytes_max(4 * kMiB);
  ExpectTooLarge(Row({{1, 10}}), 10 * kMiB + 10 + 2 * kCellBytes + kOwnBytes);
  ASSERT_EQ(Upsert(Row({{0, 10 * kMiB}})), OpStatus::kOk);
  const auto upsert_null = [&](ColumnId column) {
    CellUpdate dead;
    dead.column = column;
    dead.live = false;
    RowUpdate row = Row({});
    row.cells = {&dead, 1};
    return Upsert(row);
  };
  EXPECT_EQ(upsert_null(7), OpStatus::kOk)
      << "where nothing was, it leaves some bytes all the same";
  ASSERT_EQ(Upsert(Row({{0, 9 * kMiB}})), OpStatus::kOk);
  ASSERT_EQ(upsert_null(0), OpStatus::kOk);
  ASSERT_EQ(Upsert(Row({{1, 4 * kMiB - 1000}})), OpStatus::kOk);
  ExpectTooLarge(Row({{2, 1000}}), 4 * kMiB + 2 * kCellBytes + 2 * 19 + kOwnBytes);
  budget_.set_row_bytes_max(UINT64_MAX);
  EXPECT_EQ(budget_.row_bytes_max(), kRowBytesMax);
  ASSERT_EQ(Upsert(Row({{2, 1000}})), OpStatus::kOk);
}

// Elements `first` to `end` of column 0, each without bytes.
class TableRowCellsTest : public TableRowSizesTest {
 protected:
  static constexpr int kMost = static_cast<int>(kRowCellsMax);

  RowUpdate Numbered(int first, int end, bool live = true) {
    std::vector<CellUpdate>& cells = cells_.emplace_back();
    for (int i = first; i < end; ++i) {
      std::string& path = paths_.emplace_back(std::to_string(1'000'000 + i));
      cells.push_back({.live = live, .path = path});
    }
    RowUpdate row;
    row.key = {"c", false};
    row.marker = false;
    row.cells = cells;
    return row;
  }
  // Refused for a row of so many cells, and nothing is there that was not there before.
  void ExpectTooMany(const RowUpdate& row, uint64_t cells) {
    const uint64_t before = table_.stats().live_bytes;
    EXPECT_EQ(Upsert(row), OpStatus::kRowTooLarge);
    EXPECT_EQ(table_.large_row().bytes, 0u);
    EXPECT_EQ(table_.large_row().cells, cells);
    EXPECT_EQ(table_.stats().live_bytes, before);
  }

  std::deque<std::string> paths_;
};

TEST_F(TableRowCellsTest, ARowHasSoManyCellsAndNoMore) {
  for (const bool of_static_row : {false, true}) {
    const auto row = [&](RowUpdate update) { return of_static_row ? Static(update) : update; };
    ExpectTooMany(row(Numbered(0, kMost + 1)), kMost + 1);
    ASSERT_EQ(Upsert(row(Numbered(0, kMost - 1))), OpStatus::kOk);
    ExpectTooMany(row(Numbered(kMost - 1, kMost + 4)), kMost + 4);
    ASSERT_EQ(Upsert(row(Numbered(kMost - 1, kMost))), OpStatus::kOk);
    ExpectTooMany(row(Numbered(kMost, kMost + 1)), kMost + 1);
    // What takes the place of what is there, and what is set to null.
    EXPECT_EQ(Upsert(row(Numbered(0, kMost))), OpStatus::kOk);
    EXPECT_EQ(Upsert(row(Numbered(100, 200, /*live=*/false))), OpStatus::kOk);
    CellUpdate null;
    null.live = false;
    RowUpdate all = row(Numbered(0, 0));
    all.cells = {&null, 1};
    EXPECT_EQ(Upsert(all), OpStatus::kOk);
    EXPECT_EQ(Upsert(row(Numbered(0, 1'000))), OpStatus::kOk);
    ASSERT_EQ(table_.DeletePartition(partition_, Write()), OpStatus::kOk);
  }
  table_.Verify();
}

TEST_F(TableRowCellsTest, RowsOfOneCallAndOfABatchAddUp) {
  const RowUpdate rows[] = {Numbered(0, kMost / 2), Numbered(kMost / 2, kMost + 1)};
  EXPECT_EQ(table_.Upsert(partition_, rows, Write()), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().cells, kRowCellsMax + 1);
  storage::BatchShare share;
  share.upserts = {{{&rows[0], 1}}, {{&rows[1], 1}, WriteTimestamp{timestamp_ + 9}}};
  EXPECT_EQ(table_.PledgeShare(partition_, share, Write()), OpStatus::kRowTooLarge);
  EXPECT_EQ(table_.large_row().cells, kRowCellsMax + 1);
  // The same elements twice are there once; and rows that do not meet do not add up.
  RowUpdate other = Numbered(0, kMost / 2 + 1);
  other.key = {"d", false};
  const RowUpdate fits[] = {Numbered(0, kMost), Numbered(0, kMost), other};
  EXPECT_EQ(table_.Upsert(partition_, fits, Write()), OpStatus::kOk);
  EXPECT_EQ(table_.Count(partition_, {}, kNow), 2u);
}

// It was written before there was a limit.
TEST_F(TableRowCellsTest, WhatWasWrittenDownIsLetInAndGetsNoLarger) {
  {
    const storage::Table::Replayed replayed(table_, /*has_seen_foreign=*/true, kNow);
    ASSERT_EQ(Upsert(Numbered(0, kMost + 1'000)), OpStatus::kOk);
  }
  ExpectTooMany(Numbered(kMost + 1'000, kMost + 1'001), kMost + 1'001);
  EXPECT_EQ(Upsert(Numbered(5, 900)), OpStatus::kOk);
  storage::Table copy(schema_, pool_, budget_, address_of_);
  ASSERT_EQ(CopyTable(table_, copy, kNow), OpStatus::kOk);
  EXPECT_EQ(copy.Count(partition_, {}, kNow), 1u);
}

class TableOfOneColumn : public TableRowSizesTest {
 protected:
  TableOfOneColumn() : TableRowSizesTest(1) {}
};

TEST_F(TableOfOneColumn, APutIsRefused) {
  const std::string large(kRowBytesMax, 'v');
  const CellUpdate cell{.value = large};
  RowUpdate row;
  row.key = {"c", false};
  row.cells = {&cell, 1};
  bool refused = false;
  EXPECT_EQ(table_.Put(partition_, {&row, 1}, {}, Write(), refused), OpStatus::kRowTooLarge);
  EXPECT_FALSE(refused);
  EXPECT_EQ(table_.large_row().bytes, kRowBytesMax + kCellBytes + kOwnBytes);
  EXPECT_EQ(table_.stats().partitions, 0u);
}

}  // namespace table_row_sizes_test
}  // namespace liststore::testing
