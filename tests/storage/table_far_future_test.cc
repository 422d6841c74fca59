// Time past the year 2106, where the 32-bit seconds of row metas end. Found by replaying a history
// of the year 2262: reclaiming it never came to an end.
#include <array>

#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/storage/hash_address.h"

namespace liststore {
namespace table_far_future_test {

constexpr int64_t kYear2262 = 9'223'372'040;

class TableFarFutureTest : public ::testing::Test {
 protected:
  static TableSchema Schema() {
    TableSchema schema;
    schema.partition_key = {{"p", CqlType::kText}};
    schema.clustering = {{"c", CqlType::kText, true}};
    schema.regular = {{"v", CqlType::kBlob}};
    schema.indexes = {{"by_v", 0}};
    return schema;
  }

  void Put(std::string_view key, int64_t ttl_seconds, int64_t now_seconds) {
    const std::array<CellUpdate, 1> cells = {CellUpdate{.value = "value"}};
    RowUpdate row;
    row.key = {key, false};
    row.ttl_seconds = ttl_seconds;
    row.expiry_seconds = ttl_seconds == 0 ? kNoExpiry : now_seconds + ttl_seconds;
    row.cells = cells;
    WriteContext write;
    write.timestamp = {++timestamp_};
    write.now_seconds = now_seconds;
    ASSERT_EQ(table_.Upsert(partition_, {&row, 1}, write), OpStatus::kOk);
  }
  uint64_t Count(int64_t now_seconds) { return table_.Count(partition_, {}, now_seconds); }

  HashAddress address_of_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  storage::Table table_{Schema(), pool_, budget_, address_of_};
  const storage::PartitionRef partition_{"p", address_of_("p")};
  int64_t timestamp_ = kYear2262 * 1'000'000;
};

TEST_F(TableFarFutureTest, LastingRowsLast) {
  Put("lasting", 0, kYear2262);
  EXPECT_EQ(Count(kYear2262), 1u);
  EXPECT_EQ(Count(2 * kYear2262), 1u);
}

TEST_F(TableFarFutureTest, ExpiringRowsExpireAndReclaimingEnds) {
  Put("lasting", 0, kYear2262);
  Put("short", 10, kYear2262);
  EXPECT_EQ(Count(kYear2262 + 9), 2u);
  EXPECT_EQ(Count(kYear2262 + 10), 1u);
  for (int slice = 0; table_.Reclaim(kYear2262 + 10, 100) > 0; ++slice) ASSERT_LT(slice, 100);
  EXPECT_EQ(Count(kYear2262 + 10), 1u);
  table_.Verify();
}

TEST_F(TableFarFutureTest, AClockThatJumpsPast2106EndsWhatItPasses) {
  constexpr int64_t kNow = 1'700'000'000;
  timestamp_ = kNow * 1'000'000;
  Put("lasting", 0, kNow);
  Put("long", kTtlSecondsMax, kNow);
  EXPECT_EQ(Count(kNow), 2u);
  for (int slice = 0; table_.Reclaim(kYear2262, 100) > 0; ++slice) ASSERT_LT(slice, 100);
  EXPECT_EQ(Count(kYear2262), 1u);
  EXPECT_EQ(table_.stats().rows, 1u);
  table_.Verify();
}

}  // namespace table_far_future_test
}  // namespace liststore
