#include "engine/dynamodb/values/item_bytes.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "engine/dynamodb/values/item_json.h"
#include "tests/dynamodb/values.h"
#include "tests/support/seed.h"

namespace liststore::dynamodb {
namespace item_bytes_test {

using testing::ItemOf;
using testing::RandomItem;

TEST(ItemBytesTest, TheFormIsAsWritten) {
  const Item item =
      ItemOf(R"({"n":{"N":"1.50"},"a":{"L":[{"S":"x"},{"BOOL":true},{"NULL":true}]}})");
  const std::string_view bytes(
      "\x01\x02"
      "\x01"
      "a\x08\x06\x03\x00\x01x\x03\x01\x04"
      "\x01"
      "n\x05\x01\x03"
      "1.5",
      21);
  EXPECT_EQ(ItemBytes(item), bytes);
  EXPECT_EQ(ItemBytes(Item()), std::string_view("\x01\x00", 2));
  EXPECT_EQ(ValueBytes(AttributeValue::OfNumber(*Number::Parse("1e100"))),
            "\x81\x01\x05"
            "1E100");
}

TEST(ItemBytesTest, ItemsComeBackTheSame) {
  Random random(liststore::testing::TestSeed());
  const uint64_t steps = liststore::testing::TestSteps(3'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const Item item = RandomItem(random, 4);
    const std::string json = ToJson(item);
    ASSERT_EQ(ItemOf(json), item) << json;
    const std::string bytes = ItemBytes(item);
    ASSERT_EQ(ItemFromBytes(bytes), item) << json;
    ASSERT_EQ(ItemSizeOfBytes(bytes), ItemSize(item));
    std::string of_bytes = "before ";
    ASSERT_TRUE(AppendItemJsonOfBytes(bytes, of_bytes));
    ASSERT_EQ(of_bytes, "before " + json);
    std::string members;
    ASSERT_TRUE(AppendMembersJsonOfBytes(bytes, members));
    ASSERT_EQ("{" + members + "}", json);

    const ItemView view(bytes);
    ASSERT_TRUE(view.whole());
    ASSERT_EQ(view.size(), item.size());
    Item some;
    for (const std::string_view name : {"b", "d", "z"}) {
      const AttributeValue* const value = item.Find(name);
      const std::optional<AttributeValue> found = view.Find(name);
      ASSERT_EQ(found.has_value(), value != nullptr);
      if (value == nullptr) continue;
      ASSERT_EQ(*found, *value);
      some.Set(name, *value);
      std::string value_json;
      ASSERT_TRUE(AppendValueJsonOfEncoded(*view.FindEncoded(name), value_json));
      ASSERT_EQ(value_json, ToJson(*value));
      ASSERT_EQ(ValueFromBytes(ValueBytes(*value)), *value);
    }
    ASSERT_EQ(view.Select(std::vector<std::string_view>{"z", "d", "b", "d"}), some);
    // Whatever is cut off is missed.
    const size_t cut = random.Below(bytes.size());
    ASSERT_EQ(ItemFromBytes(std::string_view(bytes).substr(0, cut)), std::nullopt);
    ASSERT_EQ(ItemSizeOfBytes(std::string_view(bytes).substr(0, cut)), std::nullopt);
    std::string nothing = "x";
    ASSERT_FALSE(AppendItemJsonOfBytes(std::string_view(bytes).substr(0, cut), nothing));
    ASSERT_EQ(nothing, "x");
    ASSERT_EQ(ItemFromBytes(bytes + '\0'), std::nullopt);
  }
}

TEST(ItemBytesTest, WhatIsBrokenIsRefused) {
  const std::string_view examples[] = {
      std::string_view(),
      // Another version; one of a value.
      std::string_view("\x02\x00", 2),
      std::string_view("\x81\x04", 2),
      // More attributes than bytes.
      std::string_view("\x01\xff\xff\xff\xff\x0f", 6),
      // A length in more bytes than it takes; in more than five.
      std::string_view("\x01\x80\x00", 3),
      std::string_view("\x01\xff\xff\xff\xff\xff\x0f", 7),
      // Names out of order, and twice.
      std::string_view("\x01\x02\x01"
                       "b\x01\x04\x01"
                       "a\x01\x04",
                       10),
      std::string_view("\x01\x02\x01"
                       "a\x01\x04\x01"
                       "a\x01\x04",
                       10),
      // No such type; a boolean of 2; a value longer than said, and shorter.
      std::string_view("\x01\x01\x01"
                       "a\x01\x0a",
                       6),
      std::string_view("\x01\x01\x01"
                       "a\x02\x03\x02",
                       7),
      std::string_view("\x01\x01\x01"
                       "a\x02\x04\x04",
                       7),
      std::string_view("\x01\x01\x01"
                       "a\x01\x03",
                       6),
      // A text that is no UTF-8; a number that is none, and one in another form than its own.
      std::string_view("\x01\x01\x01"
                       "a\x03\x00\x01\xff",
                       8),
      std::string_view("\x01\x01\x01"
                       "a\x03\x01\x01-",
                       8),
      std::string_view("\x01\x01\x01"
                       "a\x05\x01\x03"
                       "1.0",
                       10),
      // An empty set; one out of order.
      std::string_view("\x01\x01\x01"
                       "a\x02\x07\x00",
                       7),
      std::string_view("\x01\x01\x01"
                       "a\x06\x07\x02\x01"
                       "b\x01"
                       "a",
                       11),
  };
  for (const std::string_view bytes : examples) {
    EXPECT_EQ(ItemFromBytes(bytes), std::nullopt) << ::testing::PrintToString(bytes);
    EXPECT_EQ(ItemSizeOfBytes(bytes), std::nullopt) << ::testing::PrintToString(bytes);
    (void)ItemView(bytes).Select(std::vector<std::string_view>{"a", "b"});
  }
}

TEST(ItemBytesTest, NestingIsBounded) {
  const auto nested = [](size_t levels) {
    std::string bytes = "\x81";
    for (size_t i = 0; i < levels; ++i) bytes += "\x06\x01";
    return bytes + "\x04";
  };
  EXPECT_TRUE(ValueFromBytes(nested(kNestingMax)).has_value());
  EXPECT_FALSE(ValueFromBytes(nested(kNestingMax + 1)).has_value());
  std::string out;
  EXPECT_TRUE(AppendValueJsonOfEncoded(nested(kNestingMax).substr(1), out));
  EXPECT_FALSE(AppendValueJsonOfEncoded(nested(100'000).substr(1), out));
}

}  // namespace item_bytes_test
}  // namespace liststore::dynamodb
