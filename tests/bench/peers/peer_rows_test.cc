#include "bench/peers/peer_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace peer_rows_test {

constexpr uint64_t kNanos = 1'724'949'845'000'000'000;

std::string RowKey(std::string_view list, const NewItem& item) {
  std::string key;
  PeerRow::AppendKey(list, PeerItemKey(item), &key);
  return key;
}

TEST(PeerRow, KeysOfAListSortNewestFirstAndCanBeReadBack) {
  Random random(TestSeed());
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    const std::string value = std::to_string(random.Next());
    const NewItem item = {kNanos + random.Below(100), value};
    keys.push_back(RowKey("list", item));
    EXPECT_TRUE(PeerRow::IsOf("list", keys.back()));
    EXPECT_EQ(PeerRow::ItemKeyOf(keys.back()), PeerItemKey(item));
  }
  std::sort(keys.begin(), keys.end());
  for (size_t i = 1; i < keys.size(); ++i) {
    const PackedItemKey newer = PeerRow::ItemKeyOf(keys[i - 1]);
    const PackedItemKey older = PeerRow::ItemKeyOf(keys[i]);
    EXPECT_GE(ComparePackedItemKeys(newer.data(), older.data()), 0);
  }
}

TEST(PeerRow, ARowBelongsToItsListAlone) {
  const std::string key = RowKey("user-1", {kNanos, "story"});
  EXPECT_TRUE(PeerRow::IsOf("user-1", key));
  EXPECT_FALSE(PeerRow::IsOf("user-", key));
  EXPECT_FALSE(PeerRow::IsOf("user-12", key));
  EXPECT_FALSE(PeerRow::IsOf("user-2", key));
}

TEST(PeerRow, ARowEndsWithItsTtl) {
  const NewItem item = {kNanos, "story"};
  std::string row;
  PeerRow::AppendValue(item, &row);
  EXPECT_EQ(PeerRow::ValueOf(row), "story");
  const auto seconds = static_cast<int64_t>(kNanos / 1'000'000'000);
  EXPECT_TRUE(PeerRow::Lives(row, seconds + kBenchTtlSeconds - 1));
  EXPECT_FALSE(PeerRow::Lives(row, seconds + kBenchTtlSeconds));
}

TEST(PeerRows, TheFirstIsTheNewest) {
  PeerRows rows;
  EXPECT_EQ(rows.Newest().timestamp_nanos, 0u);
  for (const NewItem item : {NewItem{kNanos + 1, "second"}, NewItem{kNanos, "first"}}) {
    const PackedItemKey key = PeerItemKey(item);
    rows.Append({key.data(), key.size()}, item.value);
  }
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.Newest().timestamp_nanos, kNanos + 1);
  EXPECT_EQ(rows.Newest().value, "second");
  rows.Clear();
  EXPECT_EQ(rows.size(), 0u);
}

}  // namespace peer_rows_test
}  // namespace liststore::testing
