#include "engine/lists/list_key.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "engine/model/partition_key.h"
#include "tests/lists/store_fixture.h"

namespace liststore {
namespace list_key_test {

using testing::Say;

struct Case {
  const char* rule;
  ListId list;
  std::string says;
};

TEST(ListKeyTest, EachNameHasItsBounds) {
  const std::string long_feature = std::string(70, 'x') + "|";
  const Case cases[] = {
      {"plain names", {"user", "history", "v2", "17"}, "OK"},
      {"version and entity id may be empty", {"user", "history", "", ""}, "OK"},
      {"separators of the other names", {"us|er", "his#tory", "#|", "#|"}, "OK"},
      {"names beyond ASCII", {"käufer", "历史", "ü", "🙂"}, "OK"},
      {"a zero byte is UTF-8", {{"a\0b", 3}, {"\0", 1}, {"\0", 1}, {"\0", 1}}, "OK"},
      {"entity type: empty", {"", "f", "", "1"}, "INVALID_ARGUMENT: entity type is empty"},
      {"feature: empty", {"user", "", "", "1"}, "INVALID_ARGUMENT: feature is empty"},
      {"entity type: '#'",
       {"us#er", "f", "", "1"},
       "INVALID_ARGUMENT: entity type \"us#er\" holds '#'"},
      {"feature: '|'", {"user", "f|", "", "1"}, "INVALID_ARGUMENT: feature \"f|\" holds '|'"},
      {"entity type: no UTF-8",
       {"us\xff", "f", "", "1"},
       "INVALID_ARGUMENT: entity type \"us\\xff\" is not UTF-8"},
      {"feature: a cut character",
       {"user", "\xc3", "", "1"},
       "INVALID_ARGUMENT: feature \"\\xc3\" is not UTF-8"},
      {"version: a surrogate",
       {"user", "f", "\xed\xa0\x80", "1"},
       "INVALID_ARGUMENT: version \"\\xed\\xa0\\x80\" is not UTF-8"},
      {"entity id: an overlong form behind eight bytes",
       {"user", "f", "", "12345678\xc0\x80"},
       "INVALID_ARGUMENT: entity id \"12345678\\xc0\\x80\" is not UTF-8"},
      {"long names are cut in messages",
       {"user", long_feature, "", "1"},
       "INVALID_ARGUMENT: feature \"" + std::string(64, 'x') + "...\" holds '|'"},
  };
  for (const Case& c : cases) {
    ListKey key;
    EXPECT_EQ(Say(key.Assign(c.list)), c.says) << c.rule;
  }
}

// Assigns the key of a list with an entity id of `entity_id_bytes`.
absl::Status AssignLong(size_t entity_id_bytes, ListKey& key) {
  const std::string entity_id(entity_id_bytes, 'e');
  return key.Assign({"user", "history", "v2", entity_id});
}

TEST(ListKeyTest, TheKeyWithItsFramingHasABound) {
  // "user#history|v2" is 15 bytes, framing 4.
  const size_t longest = kKeyBytesMax - 15 - 4;
  ListKey key;
  EXPECT_EQ(Say(AssignLong(longest, key)), "OK");
  EXPECT_EQ(key.partition_key().size(), 65'537u);
  EXPECT_EQ(EntityIdOf(key.partition_key()).size(), longest);
  EXPECT_EQ(Say(AssignLong(longest + 1, key)),
            "INVALID_ARGUMENT: list key of 65536 bytes (feature key 15, entity id 65517, framing "
            "4) exceeds 65535");
  // No overflow of the length prefix may let a far longer one through.
  EXPECT_FALSE(AssignLong(longest + 65'536, key).ok());

  const std::string feature(65'535, 'f');
  EXPECT_EQ(Say(CheckFeatureNames("user", feature, "")),
            "INVALID_ARGUMENT: list key of 65545 bytes (feature key 65541, entity id 0, framing 4) "
            "exceeds 65535");
}

TEST(ListKeyTest, BothWaysGiveTheSerialisedComposite) {
  ListKey by_names;
  ListKey by_feature;
  // Shrinking and growing, so that one object goes from its own room to the heap and back.
  for (const size_t bytes : {0u, 1u, 107u, 108u, 109u, 1000u, 20u, 5000u, 900u}) {
    const std::string entity_id(bytes, 'e');
    const std::string feature_key = FeatureKey("user", "history", "v2");
    ASSERT_EQ(feature_key, "user#history|v2");
    std::string expected;
    AppendPartitionKey(std::array<std::string_view, 2>{feature_key, entity_id}, expected);
    ASSERT_EQ(Say(by_names.Assign({"user", "history", "v2", entity_id})), "OK");
    EXPECT_EQ(by_names.partition_key(), expected);
    EXPECT_EQ(by_names.feature_key(), feature_key);
    ASSERT_EQ(Say(by_feature.Assign(FramedFeatureKey(feature_key), entity_id)), "OK");
    EXPECT_EQ(by_feature.partition_key(), expected);
    EXPECT_EQ(by_feature.feature_key(), feature_key);
    EXPECT_EQ(EntityIdOf(expected), entity_id);
  }
}

}  // namespace list_key_test
}  // namespace liststore
