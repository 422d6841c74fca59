#include "liststore/item_key.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/md5.h"
#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace item_key_test {

using testing::FromHex;

std::string ValueOf(const boost::json::value& example) {
  const boost::json::value* rule = example.as_object().if_contains("value_rule");
  if (rule == nullptr) return FromHex(testing::StringAt(example, "value_hex"));
  const int64_t seed = testing::ValueAt(*rule, "seed").as_int64();
  std::string value(static_cast<size_t>(testing::ValueAt(*rule, "length").as_int64()), '\0');
  for (size_t i = 0; i < value.size(); ++i) {
    value[i] = static_cast<char>(31 * seed + 7 * static_cast<int64_t>(i) +
                                 13 * static_cast<int64_t>(i >> 8));
  }
  return value;
}

TEST(ItemKeyTest, EveryVector) {
  const auto vectors = testing::LoadVectors("item_keys.json");
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    const uint64_t nanos = testing::Uint64At(example, "timestamp_ns");
    const std::string value = ValueOf(example);
    const absl::StatusOr<std::string> key = MakeItemKey(nanos, value);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(*key, testing::StringAt(example, "item_key"));

    ItemKeyParts parts{nanos, {}};
    Md5(value, parts.value_md5.data());
    const absl::StatusOr<ItemKeyParts> parsed = ParseItemKey(*key);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, parts) << *key;
  }
}

TEST(ItemKeyTest, ItemsOfOneTimestampSortAsTheVectorsSay) {
  const auto vectors = testing::LoadVectors("item_keys.json");
  for (const auto& group : testing::ArrayAt(vectors, "same_timestamp_sort")) {
    std::vector<std::string> keys;
    for (const auto& hex : testing::ArrayAt(group, "insert_order_value_hex")) {
      const std::string value = FromHex({hex.as_string().data(), hex.as_string().size()});
      keys.push_back(MakeItemKey(testing::Uint64At(group, "timestamp_ns"), value).value());
    }
    std::sort(keys.begin(), keys.end());
    const auto& ascending = testing::ArrayAt(group, "ascending");
    ASSERT_EQ(keys.size(), ascending.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(keys[i], testing::StringAt(ascending[i], "item_key"));
    }
  }
}

TEST(ItemKeyTest, LowerBoundsSelectAsTheVectorsSay) {
  const auto vectors = testing::LoadVectors("item_keys.json");
  const auto& range = testing::ValueAt(vectors, "range");
  std::vector<std::string> keys;
  for (const auto& item : testing::ArrayAt(range, "items")) {
    keys.push_back(MakeItemKey(testing::Uint64At(item, "timestamp_ns"),
                               FromHex(testing::StringAt(item, "value_hex")))
                       .value());
  }
  std::sort(keys.rbegin(), keys.rend());
  for (const auto& example : testing::ArrayAt(range, "cases")) {
    const std::string bound = ItemKeyLowerBound(testing::Uint64At(example, "min_timestamp_ns"));
    EXPECT_EQ(bound, testing::StringAt(example, "bound"));
    std::vector<std::string> page;
    const auto limit = static_cast<size_t>(testing::ValueAt(example, "limit").as_int64());
    for (const std::string& key : keys) {
      if (key >= bound && page.size() < limit) page.push_back(key);
    }
    std::vector<std::string> expected;
    for (const auto& key : testing::ArrayAt(example, "expected_item_keys_descending")) {
      expected.emplace_back(key.as_string().data(), key.as_string().size());
    }
    EXPECT_EQ(page, expected) << bound << " limit " << limit;
  }
}

TEST(ItemKeyTest, TimestampsEndWhereNineteenDigitsDo) {
  EXPECT_TRUE(MakeItemKey(kItemTimestampNanosMax, "v").ok());
  const absl::StatusOr<std::string> beyond = MakeItemKey(kItemTimestampNanosMax + 1, "v");
  EXPECT_EQ(beyond.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(beyond.status().message(),
            "timestamp 10000000000000000000 ns exceeds 9999999999999999999 ns");
  EXPECT_EQ(ItemKeyLowerBound(kItemTimestampNanosMax), "9999999999999999999");
  EXPECT_EQ(ItemKeyLowerBound(0), "0000000000000000000");
  EXPECT_GT(ItemKeyLowerBound(kItemTimestampNanosMax + 1),
            MakeItemKey(kItemTimestampNanosMax, "v").value());
}

struct Refused {
  std::string_view key;
  std::string_view message;
};

constexpr Refused kRefused[] = {
    {"", "item key has 0 bytes, not 44"},
    {"1724949845430000000", "item key has 19 bytes, not 44"},
    {"17249498x5430000000#h/BJX2HX2dk3iu9EYzSmiQ==",
     "item key has 'x' at position 8 where a decimal digit is expected"},
    {"1724949845430000000:h/BJX2HX2dk3iu9EYzSmiQ==",
     "item key has ':' at position 19 where '#' is expected"},
    {"1724949845430000000#h_BJX2HX2dk3iu9EYzSmiQ==",
     "item key has '_' at position 21 where a character of base64 is expected"},
    {"1724949845430000000#h\xff"
     "BJX2HX2dk3iu9EYzSmiQ==",
     "item key has 0xff at position 21 where a character of base64 is expected"},
    {"1724949845430000000#h/BJX2HX2dk3iu9EYzSmiR==",
     "item key has 'R' at position 41 where one of 'A', 'Q', 'g', 'w' is expected"},
    {"1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ=A",
     "item key has 'A' at position 43 where '=' is expected"},
};

TEST(ItemKeyTest, SaysWhatIsWrongAndWhere) {
  for (const Refused& refused : kRefused) {
    const absl::Status status = ParseItemKey(refused.key).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()), refused.message);
  }
}

TEST(ItemKeyTest, ParsesExactlyWhatItMakes) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t nanos = rng.Below(kItemTimestampNanosMax) + 1;
    const std::string value = std::to_string(rng.Next());
    std::string key = MakeItemKey(nanos, value).value();
    ASSERT_EQ(ParseItemKey(key)->timestamp_nanos, nanos);
    ASSERT_GT(key, ItemKeyLowerBound(nanos));
    ASSERT_LT(key, ItemKeyLowerBound(nanos + 1));
    key[rng.Below(key.size())] = static_cast<char>(rng.Next());
    const absl::StatusOr<ItemKeyParts> parts = ParseItemKey(key);
    if (parts.ok()) {
      ASSERT_EQ(ItemKeyLowerBound(parts->timestamp_nanos), key.substr(0, 19)) << key;
    }
  }
}

}  // namespace item_key_test
}  // namespace liststore
