// The expiry listener: what it is told, once, and in which order.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/mutex.h"
#include "liststore/item_key.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_expiry_test {

constexpr size_t kAll = std::numeric_limits<size_t>::max();

// Feature, entity id, value; and when it ended.
struct Told {
  std::string feature, entity_id, value;
  int64_t at = 0;
  auto operator<=>(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Told& item) {
  return out << item.feature << " " << item.entity_id << " " << item.value << " " << item.at;
}

class ListExpiryTest : public ::testing::Test {
 protected:
  void Open(Options options) {
    options.expiry_listener = [this](const ExpiredItem& item) {
      EXPECT_EQ(item.entity_type, "user");
      EXPECT_EQ(item.version, "");
      told.push_back({std::string(item.feature), std::string(item.entity_id),
                      std::string(item.value), item.expired_at_seconds});
      keys.emplace_back(item.item_key);
    };
    store = OpenStore(std::move(options));
    ASSERT_EQ(Say(store->CreateListFeature("user", "short", 10)), "OK");
    ASSERT_EQ(Say(store->CreateListFeature("user", "long", kDay)), "OK");
  }
  void Add(const std::string& feature, const std::string& entity_id, uint64_t timestamp_nanos,
           const std::string& value) {
    const NewItem item{timestamp_nanos, value};
    ASSERT_EQ(Say(store->AddListItems({"user", feature, "", entity_id}, {&item, 1}).status()),
              "OK");
  }
  // Gives back all there is, and returns what was told since the last time.
  std::vector<Told> Reclaim() {
    while (store->Reclaim(kAll) > 0) {
    }
    return std::exchange(told, {});
  }

  ManualClock clock{kNow};
  std::unique_ptr<ListStore> store;
  std::vector<Told> told;
  std::vector<std::string> keys;
};

TEST_F(ListExpiryTest, TellsEachItemOnceInTheOrderOfTheirEnds) {
  Open(SmallOptions(clock));
  Add("long", "a", kNow, "last");
  Add("short", "a", kNow, "first");
  clock.AdvanceSeconds(3);
  Add("short", "b", kNow + 3 * kSecond, "second");
  Add("short", "a", kNow + 3 * kSecond, "second too");
  EXPECT_TRUE(Reclaim().empty());
  clock.AdvanceSeconds(30 * kDay);
  ListItems items;
  ASSERT_EQ(Say(store->GetListItems({"user", "long", "", "a"}, {}, &items)), "OK");
  EXPECT_EQ(items.size(), 0u) << "gone before anybody is told";
  EXPECT_TRUE(told.empty());
  std::vector<Told> got = Reclaim();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0], (Told{"short", "a", "first", kNowSeconds + 10}));
  EXPECT_EQ(got[3], (Told{"long", "a", "last", kNowSeconds + kDay}));
  EXPECT_TRUE(std::ranges::is_sorted(got, {}, &Told::at));
  EXPECT_EQ(keys[0], *MakeItemKey(kNow, "first"));
  EXPECT_TRUE(Reclaim().empty());
  EXPECT_EQ(store->GetStats().expired_items, 4u);
}

TEST_F(ListExpiryTest, SaysNothingOfWhatWasRemovedOrDeleted) {
  Open(SmallOptions(clock));
  Add("short", "a", kNow, "removed");
  Add("short", "a", kNow, "kept");
  ASSERT_TRUE(store->RemoveListItemsWithValue({"user", "short", "", "a"}, "removed").ok());
  Add("long", "a", kNow, "deleted");
  ASSERT_EQ(Say(store->DeleteListFeature("user", "long")), "OK");
  clock.AdvanceSeconds(2 * kDay);
  EXPECT_EQ(Reclaim(), (std::vector<Told>{{"short", "a", "kept", kNowSeconds + 10}}));
}

TEST_F(ListExpiryTest, TellsOfAnItemThatIsAddedAnewUnderALongerTtl) {
  Open(SmallOptions(clock));
  Add("short", "a", kNow, "x");
  clock.AdvanceSeconds(10);
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "short", 100)), "OK");
  Add("short", "a", kNow, "x");
  EXPECT_EQ(Reclaim(), (std::vector<Told>{{"short", "a", "x", kNowSeconds + 10}}));
  // While it lives it is the same item, which ends later.
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "short", 200)), "OK");
  Add("short", "a", kNow, "x");
  clock.AdvanceSeconds(189);
  EXPECT_TRUE(Reclaim().empty());
  clock.AdvanceSeconds(1);
  EXPECT_EQ(Reclaim(), (std::vector<Told>{{"short", "a", "x", kNowSeconds + 200}}));
}

TEST_F(ListExpiryTest, MayCallTheStore) {
  Options options = SmallOptions(clock);
  Open(options);
  size_t calls = 0;
  options.expiry_listener = [&](const ExpiredItem& item) {
    ++calls;
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems({"user", item.feature, "", item.entity_id}, {}, &items)),
              "OK");
    const NewItem again{kNow, "again"};
    EXPECT_EQ(Say(store->AddListItems({"user", "long", "", "again"}, {&again, 1}).status()), "OK");
  };
  store = OpenStore(options);
  ASSERT_EQ(Say(store->CreateListFeature("user", "short", 10)), "OK");
  ASSERT_EQ(Say(store->CreateListFeature("user", "long", kDay)), "OK");
  Add("short", "a", kNow, "x");
  clock.AdvanceSeconds(10);
  Reclaim();
  EXPECT_EQ(calls, 1u);
}

TEST_F(ListExpiryTest, AgreesWithAPlainModel) {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t bound) { return random() % bound; };
  Open(SmallOptions(clock));
  std::set<Told> living;
  int64_t now = kNowSeconds;
  std::vector<Told> due;
  const auto end_what_is_due = [&] {
    std::erase_if(living, [&](const Told& item) {
      if (item.at <= now) due.push_back(item);
      return item.at <= now;
    });
  };
  const uint64_t steps = TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t choice = below(100);
    const std::string feature = below(4) == 0 ? "long" : "short";
    const std::string entity_id = absl::StrCat(below(8));
    if (choice < 80) {
      // Some lists become large ones.
      const std::string value = absl::StrCat(below(entity_id == "0" ? 2000 : 30));
      Add(feature, entity_id, static_cast<uint64_t>(now) * kSecond, value);
      living.insert({feature, entity_id, value, now + (feature == "long" ? kDay : 10)});
    } else if (choice < 85) {
      const std::string value = absl::StrCat(below(30));
      ASSERT_TRUE(store->RemoveListItemsWithValue({"user", feature, "", entity_id}, value).ok());
      std::erase_if(living, [&](const Told& item) {
        return item.feature == feature && item.entity_id == entity_id && item.value == value;
      });
    } else if (choice < 86) {
      ASSERT_TRUE(store->RemoveAllListItems({"user", feature, "", entity_id}).ok());
      std::erase_if(living, [&](const Told& item) {
        return item.feature == feature && item.entity_id == entity_id;
      });
    } else if (choice < 96) {
      const uint64_t seconds = below(20) == 0 ? below(2 * kDay) : below(6);
      clock.AdvanceSeconds(seconds);
      now += static_cast<int64_t>(seconds);
      end_what_is_due();
    } else {
      std::vector<Told> got = Reclaim();
      std::ranges::sort(got);
      std::ranges::sort(due);
      ASSERT_EQ(got, due) << "step " << step;
      due.clear();
    }
  }
}

TEST(ListExpiry, IsToldByTheThreadThatGivesBack) {
  ManualClock clock(kNow);
  Options options = SmallOptions(clock);
  options.background_reclaim = true;
  Mutex mutex;
  std::condition_variable_any came;
  std::multiset<std::string> values;
  options.expiry_listener = [&](const ExpiredItem& item) {
    const MutexLock lock(mutex);
    values.emplace(item.value);
    came.notify_all();
  };
  const std::unique_ptr<ListStore> store = OpenStore(options);
  ASSERT_EQ(Say(store->CreateListFeature("user", "short", 10)), "OK");
  for (int i = 0; i < 3; ++i) {
    const std::string value = absl::StrCat(i);
    const NewItem item{kNow, value};
    ASSERT_TRUE(store->AddListItems({"user", "short", "", absl::StrCat(i)}, {&item, 1}).ok());
  }
  clock.AdvanceSeconds(11);
  const MutexLock lock(mutex);
  while (values.size() < 3) came.wait(mutex);
  EXPECT_EQ(values, (std::multiset<std::string>{"0", "1", "2"}));
}

}  // namespace list_expiry_test
}  // namespace liststore::testing
