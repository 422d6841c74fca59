#include "engine/model/partition_key.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace partition_key_test {

using Components = std::vector<std::string_view>;

std::string Serialised(const Components& components) {
  std::string key;
  AppendPartitionKey(components, key);
  return key;
}

TEST(PartitionKeyTest, EveryVector) {
  const auto vectors = testing::LoadVectors("tokens.json");
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    std::vector<std::string> values;
    for (const auto& component : testing::ArrayAt(example, "components")) {
      values.push_back(testing::FromHex(testing::StringAt(component, "hex")));
    }
    const Components components(values.begin(), values.end());
    const std::string_view hex = testing::StringAt(example, "partition_key_hex");
    const std::string key = Serialised(components);
    EXPECT_EQ(testing::ToHex(key), hex);
    EXPECT_EQ(SplitPartitionKey(key, components.size()), components) << hex;
    if (components.size() > 1) {
      EXPECT_EQ(FirstComponent(key), components[0]) << hex;
    }
  }
}

TEST(PartitionKeyTest, RandomKeysComeBack) {
  Random rng(testing::TestSeed());
  for (uint64_t step = 0; step < 2'000; ++step) {
    std::vector<std::string> values(1 + rng.Below(4));
    for (std::string& value : values) {
      value.resize(rng.OneIn(100) ? rng.Below(65'536) : rng.Below(20));
      for (char& byte : value) byte = static_cast<char>(rng.Below(4));
    }
    const Components components(values.begin(), values.end());
    ASSERT_EQ(SplitPartitionKey(Serialised(components), components.size()), components)
        << "step " << step;
  }
}

struct Malformed {
  std::string_view rule;
  std::string_view hex;
};

constexpr Malformed kMalformed[] = {
    {"empty", ""},
    {"cut off in a length", "00"},
    {"cut off in a component", "000361"},
    {"no zero byte behind a component", "000161"},
    {"another byte behind a component", "00016101000000"},
    {"one component too few", "00016100"},
    {"one component too many", "000161000001620000016300"},
    {"bytes behind the last component", "0001610000016200ff"},
};

TEST(PartitionKeyTest, RefusesWhatIsNotTwoComponents) {
  for (const Malformed& example : kMalformed) {
    const std::string key = testing::FromHex(example.hex);
    EXPECT_EQ(SplitPartitionKey(key, 2), std::nullopt) << example.rule;
  }
}

TEST(PartitionKeyTest, ASingleComponentIsItsBytesWhateverTheyAre) {
  EXPECT_EQ(Serialised({"ab"}), "ab");
  EXPECT_EQ(SplitPartitionKey("", 1), Components{""});
  EXPECT_EQ(Serialised({"", ""}), std::string(6, '\0'));
}

}  // namespace partition_key_test
}  // namespace liststore
