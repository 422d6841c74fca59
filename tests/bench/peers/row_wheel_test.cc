#include "bench/peers/row_wheel.h"

#include <map>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace row_wheel_test {

constexpr int64_t kNow = 1'700'000'000;

PackedItemKey KeyOf(uint64_t number) {
  PackedItemKey key{};
  for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}

TEST(RowWheel, ARowGoesAtItsSecondAndAListWithItsLastRow) {
  RowWheel wheel(kNow, 100);
  wheel.Add("a", KeyOf(1), "one", kNow + 1);
  wheel.Add("a", KeyOf(2), "two", kNow + 100);
  wheel.Add("b", KeyOf(1), "", kNow + 1);
  wheel.Verify();
  EXPECT_EQ(wheel.Advance(kNow), 0u);
  EXPECT_EQ(wheel.Advance(kNow + 1), 2u);
  wheel.Verify();
  EXPECT_EQ(wheel.RowsOf("a"), 1u);
  EXPECT_EQ(wheel.lists(), 1u);
  EXPECT_EQ(wheel.Advance(kNow + 99), 0u);
  EXPECT_EQ(wheel.Advance(kNow + 100), 1u);
  EXPECT_EQ(wheel.rows(), 0u);
  EXPECT_EQ(wheel.lists(), 0u);
}

TEST(RowWheel, MatchesAModel) {
  Random random(TestSeed());
  constexpr int64_t kSecondsMax = 50;
  RowWheel wheel(kNow, kSecondsMax);
  std::map<std::string, std::vector<int64_t>> model;  // expiries, by list
  int64_t now = kNow;
  for (int step = 0; step < 5'000; ++step) {
    if (random.OneIn(20)) {
      now += random.Between(0, 10);
      size_t due = 0;
      for (auto at = model.begin(); at != model.end();) {
        due += std::erase_if(at->second, [now](int64_t expiry) { return expiry <= now; });
        at = at->second.empty() ? model.erase(at) : std::next(at);
      }
      ASSERT_EQ(wheel.Advance(now), due) << "step " << step;
    } else {
      const std::string list = std::to_string(random.Below(40));
      const int64_t expiry = now + random.Between(1, kSecondsMax);
      wheel.Add(list, KeyOf(static_cast<uint64_t>(step)), "value", expiry);
      model[list].push_back(expiry);
      ASSERT_EQ(wheel.RowsOf(list), model[list].size()) << "step " << step;
    }
    ASSERT_EQ(wheel.lists(), model.size()) << "step " << step;
    if (step % 64 == 0) wheel.Verify();
  }
}

}  // namespace row_wheel_test
}  // namespace liststore::testing
