// The golden vectors of item keys, through the store: keys, orders and ranges as the original makes
// them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lists/store_fixture.h"
#include "tests/support/vectors.h"

namespace liststore::testing {
namespace list_store_vectors_test {

// Timestamps go from 0 to the last of 19 digits: each is added under a clock that stands at it.
class ListStoreVectorsTest : public StoreTest {
 protected:
  ListStoreVectorsTest() : vectors(LoadVectors("item_keys.json")) { CreateHistory(); }
  void AddAt(const ListId& list, uint64_t nanos, std::string_view value) {
    clock.SetNanos(nanos);
    ASSERT_EQ(Say(Add(list, nanos, value)), "OK");
  }
  const boost::json::value vectors;
};

TEST_F(ListStoreVectorsTest, Keys) {
  size_t checked = 0;
  for (const auto& example : ArrayAt(vectors, "cases")) {
    if (example.as_object().if_contains("value_hex") == nullptr) continue;
    const uint64_t nanos = Uint64At(example, "timestamp_ns");
    const std::string value = FromHex(StringAt(example, "value_hex"));
    AddAt(History("1"), nanos, value);
    ListItems items;
    ASSERT_EQ(Say(store->GetListItems(History("1"), {}, &items)), "OK");
    ASSERT_EQ(items.size(), 1u);
    EXPECT_EQ(items[0].item_key(), StringAt(example, "item_key"));
    EXPECT_EQ(items[0].timestamp_nanos, nanos);
    EXPECT_EQ(items[0].value, value);
    ASSERT_EQ(*store->RemoveListItemsWithValue(History("1"), value), 1u);
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

TEST_F(ListStoreVectorsTest, OrderWithinOneTimestamp) {
  for (const auto& example : ArrayAt(vectors, "same_timestamp_sort")) {
    const uint64_t nanos = Uint64At(example, "timestamp_ns");
    for (const auto& hex : ArrayAt(example, "insert_order_value_hex")) {
      AddAt(History("1"), nanos, FromHex({hex.as_string().data(), hex.as_string().size()}));
    }
    Strings keys;
    Strings values;
    const auto& ascending = ArrayAt(example, "ascending");
    for (size_t i = ascending.size(); i-- > 0;) {
      keys.emplace_back(StringAt(ascending[i], "item_key"));
      values.push_back(FromHex(StringAt(ascending[i], "value_hex")));
    }
    ListItems items;
    ASSERT_EQ(Say(store->GetListItems(History("1"), {}, &items)), "OK");
    EXPECT_EQ(Keys(items), keys);
    EXPECT_EQ(Values(items), values);
    ASSERT_EQ(*store->RemoveAllListItems(History("1")), keys.size());
  }
}

TEST_F(ListStoreVectorsTest, Ranges) {
  const auto& range = ValueAt(vectors, "range");
  for (const auto& item : ArrayAt(range, "items")) {
    AddAt(History("1"), Uint64At(item, "timestamp_ns"), FromHex(StringAt(item, "value_hex")));
  }
  for (const auto& example : ArrayAt(range, "cases")) {
    GetOptions options;
    options.min_timestamp_nanos = Uint64At(example, "min_timestamp_ns");
    options.limit = static_cast<size_t>(ValueAt(example, "limit").as_int64());
    Strings expected;
    for (const auto& key : ArrayAt(example, "expected_item_keys_descending")) {
      expected.emplace_back(key.as_string().data(), key.as_string().size());
    }
    ListItems items;
    ASSERT_EQ(Say(store->GetListItems(History("1"), options, &items)), "OK");
    EXPECT_EQ(Keys(items), expected) << "from " << options.min_timestamp_nanos;
  }
}

}  // namespace list_store_vectors_test
}  // namespace liststore::testing
