#include "liststore/list_item.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/base/md5.h"
#include "engine/base/random.h"
#include "engine/lists/list_items_sink.h"
#include "engine/model/packed_item_key.h"
#include "liststore/item_key.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore {
namespace list_items_test {

using testing::Keys;
using testing::Strings;
using testing::Values;

std::string PackedRow(uint64_t nanos, std::string_view value) {
  uint8_t digest[kMd5Bytes];
  Md5(value, digest);
  PackedItemKey key;
  PackItemKeyFromDigest(nanos, digest, key.data());
  return std::string(key.data(), key.size()) + std::string(value);
}

// Feeds a sink as the engine would.
class Feeder {
 public:
  explicit Feeder(ListItems& items, bool with_expiry = false) : sink(items, with_expiry) {}

  // All values have one length.
  void Run(const std::vector<std::pair<uint64_t, std::string>>& rows) {
    std::string bytes;
    for (const auto& [nanos, value] : rows) bytes += PackedRow(nanos, value);
    sink.OnPackedRun({bytes.data(), rows.size(), bytes.size() / rows.size()});
  }
  void PackedRowOf(uint64_t nanos, std::string_view value, int64_t expiry_seconds = 0) {
    const std::string row = PackedRow(nanos, value);
    Row({std::string_view(row).substr(0, kPackedItemKeyBytes), true}, value, expiry_seconds);
  }
  void PlainRowOf(std::string_view key, std::string_view value, int64_t expiry_seconds = 0) {
    Row({key, false}, value, expiry_seconds);
  }
  void RowWithoutValue(std::string_view key, int64_t expiry_seconds = 0) {
    const RowView row{{key, false}, {WriteTimestamp{1}, expiry_seconds, expiry_seconds != 0}, {}};
    sink.OnRows({&row, 1});
  }

  ListItemsSink sink;

 private:
  void Row(ClusteringKeyView key, std::string_view value, int64_t expiry_seconds) {
    const Liveness liveness{WriteTimestamp{1}, expiry_seconds, expiry_seconds != 0};
    const LiveCellView cell{0, liveness, value};
    const RowView row{key, liveness, {&cell, 1}};
    sink.OnRows({&row, 1});
  }
};

TEST(ListItemsTest, StartsEmpty) {
  const ListItems items;
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(items.size(), 0u);
  EXPECT_TRUE(items.begin() == items.end());
}

TEST(ListItemsTest, ARunOfOneLength) {
  ListItems items;
  Feeder feeder(items);
  EXPECT_TRUE(feeder.sink.AcceptsPackedRuns());
  feeder.Run({{30, "abc"}, {20, "def"}});
  feeder.Run({{10, "ghi"}});
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(Values(items), (Strings{"abc", "def", "ghi"}));
  EXPECT_EQ(items[1].timestamp_nanos, 20u);
  EXPECT_EQ(items[1].item_key(), *MakeItemKey(20, "def"));
  EXPECT_EQ(items[1].expires_at_seconds, 0);
}

TEST(ListItemsTest, EmptyValues) {
  ListItems items;
  Feeder feeder(items);
  feeder.Run({{2, ""}, {1, ""}});
  EXPECT_EQ(Values(items), (Strings{"", ""}));
  EXPECT_EQ(items[1].timestamp_nanos, 1u);
}

TEST(ListItemsTest, LengthsMayChangeAnywhere) {
  ListItems items;
  Feeder feeder(items);
  feeder.Run({{60, "aa"}, {50, "bb"}});
  feeder.Run({{40, "c"}});
  feeder.PackedRowOf(30, "dd");
  feeder.Run({{20, "ee"}});
  feeder.PackedRowOf(10, "");
  EXPECT_EQ(Values(items), (Strings{"aa", "bb", "c", "dd", "ee", ""}));
  EXPECT_EQ(Keys(items),
            (Strings{*MakeItemKey(60, "aa"), *MakeItemKey(50, "bb"), *MakeItemKey(40, "c"),
                     *MakeItemKey(30, "dd"), *MakeItemKey(20, "ee"), *MakeItemKey(10, "")}));
}

TEST(ListItemsTest, KeysThatAreNoItemKeys) {
  ListItems items;
  Feeder feeder(items);
  feeder.PlainRowOf("zebra", "1");
  feeder.PackedRowOf(7, "22");
  feeder.PlainRowOf("0000000000000000042#short", "333");
  feeder.PlainRowOf("0000000000000000042", "4444");
  feeder.PlainRowOf("000000000000000004x-not-digits", "5");
  feeder.PlainRowOf("", "6");
  feeder.RowWithoutValue("9999999999999999999");
  EXPECT_EQ(Values(items), (Strings{"1", "22", "333", "4444", "5", "6", ""}));
  EXPECT_EQ(items[0].timestamp_nanos, 0u);
  EXPECT_EQ(items[0].item_key(), "zebra");
  EXPECT_EQ(items[1].timestamp_nanos, 7u);
  EXPECT_EQ(items[2].timestamp_nanos, 42u);
  EXPECT_EQ(items[2].item_key(), "0000000000000000042#short");
  EXPECT_EQ(items[3].timestamp_nanos, 42u);
  EXPECT_EQ(items[4].timestamp_nanos, 0u);
  EXPECT_EQ(items[5].item_key(), "");
  EXPECT_EQ(items[6].timestamp_nanos, kItemKeyNanosMax);
}

TEST(ListItemsTest, ExpiryOnRequest) {
  ListItems items;
  Feeder feeder(items, /*with_expiry=*/true);
  EXPECT_FALSE(feeder.sink.AcceptsPackedRuns());
  feeder.PackedRowOf(2, "a", 100);
  feeder.PackedRowOf(1, "b", 0);
  feeder.RowWithoutValue("0", 300);
  EXPECT_EQ(items[0].expires_at_seconds, 100);
  EXPECT_EQ(items[1].expires_at_seconds, 0);
  EXPECT_EQ(items[2].expires_at_seconds, 300);
}

TEST(ListItemsTest, ClearedItTakesAnotherResult) {
  ListItems items;
  Feeder(items).PlainRowOf("odd", "value");
  items.clear();
  EXPECT_TRUE(items.empty());
  Feeder(items).Run({{5, "x"}});
  EXPECT_EQ(Keys(items), (Strings{*MakeItemKey(5, "x")}));
}

TEST(ListItemsTest, MovingLeavesAnEmptyOne) {
  ListItems first;
  Feeder(first).Run({{5, "x"}, {4, "y"}});
  ListItems second(std::move(first));
  EXPECT_EQ(Values(second), (Strings{"x", "y"}));
  EXPECT_TRUE(first.empty());  // NOLINT: promised
  Feeder(first).Run({{3, "long"}});
  second = std::move(first);
  EXPECT_EQ(Values(second), (Strings{"long"}));
  EXPECT_TRUE(first.empty());  // NOLINT: promised
  Feeder(first).PlainRowOf("odd", "z");
  EXPECT_EQ(Values(first), (Strings{"z"}));
}

TEST(ListItemsDeathTest, AnIndexBehindTheEndIsAMistake) {
  const ListItems items;
  EXPECT_DEATH((void)items[0], "the item is one of the result");
}

TEST(ListItemsTest, AnyMixComesBackAsItWent) {
  Random random(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(500);
  ListItems items;
  for (uint64_t step = 0; step < steps; ++step) {
    items.clear();
    Feeder feeder(items);
    Strings keys;
    Strings values;
    for (uint64_t call = random.Below(6); call > 0; --call) {
      const std::string value(random.Below(3) * 5, static_cast<char>('a' + random.Below(26)));
      const uint64_t nanos = random.Below(kItemKeyNanosMax);
      const uint64_t kind = random.Below(4);
      const size_t count = kind == 0 ? 1 + random.Below(40) : 1;
      const std::string odd = "odd" + std::to_string(nanos);
      if (kind == 0) feeder.Run({count, {nanos, value}});
      if (kind == 1 || kind == 2) feeder.PackedRowOf(nanos, value);
      if (kind == 3) feeder.PlainRowOf(odd, value);
      keys.insert(keys.end(), count, kind == 3 ? odd : *MakeItemKey(nanos, value));
      values.insert(values.end(), count, value);
    }
    ASSERT_EQ(Keys(items), keys) << "step " << step;
    ASSERT_EQ(Values(items), values) << "step " << step;
  }
}

}  // namespace list_items_test
}  // namespace liststore
