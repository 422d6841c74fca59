#include "engine/model/clustering_key.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace clustering_key_test {

int Sign(int order) { return (order > 0) - (order < 0); }

// Few timestamps and digests, so that keys meet, and their neighbours.
std::string RandomItemKey(Random& rng) {
  static constexpr std::string_view kNanos[] = {"0000000000000000000", "0000000000000000001",
                                                "1724949845430000000", "9999999999999999999"};
  static constexpr std::string_view kDigests[] = {
      "+++++++++++++++++++++A==", "+++++++++++++++++++++Q==", "h/BJX2HX2dk3iu9EYzSmiQ==",
      "zzzzzzzzzzzzzzzzzzzzzg==", "zzzzzzzzzzzzzzzzzzzzzw=="};
  return std::string(kNanos[rng.Below(4)]) + "#" + std::string(kDigests[rng.Below(5)]);
}

// An item key, something close to one, or anything else.
std::string RandomText(Random& rng) {
  std::string text = RandomItemKey(rng);
  switch (rng.Below(6)) {
    case 0:
      return text;
    case 1:
      text.resize(rng.Below(text.size() + 1));
      return text;
    case 2:
      text.push_back(static_cast<char>(rng.Below(3)));
      return text;
    case 3:
      text[rng.Below(text.size())] = static_cast<char>(rng.Next());
      return text;
    case 4:
      text.resize(kItemKeyDigits + rng.Below(2));
      return text;
    default:
      text.resize(rng.Below(5));
      for (char& byte : text) byte = static_cast<char>(rng.Next());
      return text;
  }
}

TEST(ClusteringKeyTest, ComparesLikePlainBytesWhateverTheForms) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(300'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const std::string a = RandomText(rng);
    const std::string b = RandomText(rng);
    for (const bool packs : {false, true}) {
      PackedItemKey a_scratch, b_scratch;
      const ClusteringKeyView a_key = MakeClusteringKey(a, packs, a_scratch);
      const ClusteringKeyView b_key = MakeClusteringKey(b, packs, b_scratch);
      ASSERT_EQ(Sign(CompareKeys(a_key, b_key)), Sign(a.compare(b)))
          << testing::ToHex(a) << " " << testing::ToHex(b);
      const ClusteringBound bound = ClusteringBound::At(b, packs);
      ASSERT_EQ(CompareKeyToBound(a_key, bound) < 0, a < b)
          << testing::ToHex(a) << " " << testing::ToHex(b);
      char text[kItemKeyTextBytes];
      ASSERT_EQ(PlainKey(a_key, text), a);
    }
  }
}

TEST(ClusteringKeyTest, PacksOnlyWhereTheTableDoes) {
  const std::string_view text = "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==";
  PackedItemKey scratch;
  EXPECT_FALSE(MakeClusteringKey(text, false, scratch).packed);
  EXPECT_TRUE(MakeClusteringKey(text, true, scratch).packed);
  EXPECT_FALSE(MakeClusteringKey("plain", true, scratch).packed);
  EXPECT_FALSE(ClusteringBound::At(text, false).packed.has_value());
}

TEST(ClusteringBoundTest, BeginAndEndEncloseEverything) {
  PackedItemKey scratch;
  for (const std::string_view text :
       {std::string_view(""), std::string_view("\xff\xff\xff"),
        std::string_view("9999999999999999999#zzzzzzzzzzzzzzzzzzzzzw==")}) {
    const ClusteringKeyView key = MakeClusteringKey(text, true, scratch);
    EXPECT_GE(CompareKeyToBound(key, ClusteringBound::Begin()), 0);
    EXPECT_LT(CompareKeyToBound(key, ClusteringBound::End()), 0);
  }
}

TEST(ClusteringBoundTest, AfterPrefix) {
  EXPECT_EQ(BoundAfterPrefix("ab"), "ac");
  EXPECT_EQ(BoundAfterPrefix("a\xff\xff"), "b");
  EXPECT_EQ(BoundAfterPrefix("\x7f"), "\x80");
  EXPECT_EQ(BoundAfterPrefix("\xff\xff"), std::nullopt);
  EXPECT_EQ(BoundAfterPrefix(""), std::nullopt);
  EXPECT_EQ(BoundAfterKey("ab"), std::string("ab\0", 3));
}

}  // namespace clustering_key_test
}  // namespace liststore
