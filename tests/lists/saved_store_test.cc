// Saving a store and opening one from the file: what comes back, and when it ends.
#include "liststore/saved_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "tests/lists/saved_store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace saved_store_test {

TEST_F(SavedStoreTest, AnEmptyStoreComesBackEmpty) {
  const auto loaded = SaveAndLoad();
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(Everything(*loaded), "");
  EXPECT_EQ(info.bytes, 136u);
  EXPECT_EQ(info.saved_at_nanos, kNow);
}

TEST_F(SavedStoreTest, FeaturesComeBackWithWhatTheirVersionsInherit) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "follows")), "OK");
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "own", 7)), "OK");
  ASSERT_EQ(Say(store->CreateListFeature("user", "no default", 9)), "OK");
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "no default", "v")), "OK");
  ASSERT_EQ(Say(store->DeleteListFeatureVersion("user", "no default", "")), "OK");
  ASSERT_EQ(Say(store->CreateListFeature("user", "own default", 9)), "OK");
  ASSERT_EQ(Say(store->SetListFeatureVersionTtl("user", "own default", "", 3)), "OK");
  const auto loaded = SaveAndLoad();
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(info.features, 3u);
  EXPECT_EQ(Everything(*loaded), Everything(*store));
  for (ListStore* each : {store.get(), loaded.get()}) {
    for (const char* feature : {"history", "no default", "own default"}) {
      ASSERT_EQ(Say(each->SetListFeatureTtl("user", feature, 50)), "OK");
    }
    ASSERT_EQ(Say(each->CreateListFeatureVersion("user", "no default", "")), "OK");
  }
  EXPECT_EQ(Everything(*loaded), Everything(*store));
  EXPECT_EQ(Say(loaded->CreateListFeature("user", "history", 1)).substr(0, 14), "ALREADY_EXISTS");
}

TEST_F(SavedStoreTest, TheLongestNamesComeBack) {
  CreateHistory();
  constexpr size_t kNamesBytesMax = 65'529;  // of a list, all together
  const size_t rest = kNamesBytesMax - std::string("userhistory").size();
  for (const size_t bytes : {rest - 2, rest - 1, rest}) {
    const std::string id(bytes, 'i');
    ASSERT_EQ(Say(Add(History(id), kNow, "item")), "OK");
  }
  EXPECT_NE(Say(Add(History(std::string(rest + 1, 'i')), kNow, "item")), "OK");
  const auto loaded = SaveAndLoad();
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(info.lists, 3u);
  EXPECT_EQ(Everything(*loaded), Everything(*store));
}

TEST_F(SavedStoreTest, EveryItemEndsAtItsInstant) {
  CreateHistory(1000);
  std::map<int64_t, int> items_by_end;
  for (int64_t age = 0; age < 1000; age += 7) {
    ASSERT_EQ(Say(Add(History(std::to_string(age % 11)), kNow - age * kSecond, "x")), "OK");
    ++items_by_end[kNowSeconds + 1000 - age];
  }
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  // However late it is opened: what ended meanwhile is not there, the rest ends when it would have.
  for (const int64_t late : {0, 6, 7, 500, 999, 1000}) {
    SCOPED_TRACE(late);
    ManualClock other(kNow + static_cast<uint64_t>(late) * kSecond);
    auto loaded = LoadListStore(path, SmallOptions(other), &info);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(info.items, 143u);
    EXPECT_LE((*loaded)->GetStats().tables[0].rows, 143u);
    for (int64_t now = kNowSeconds + late; now <= kNowSeconds + 1001; ++now) {
      size_t expected = 0;
      for (const auto& [end, count] : items_by_end) {
        if (end > now) expected += static_cast<size_t>(count);
      }
      size_t left = 0;
      for (int id = 0; id < 11; ++id) {
        left += *(*loaded)->CountListItems(History(std::to_string(id)));
      }
      ASSERT_EQ(left, expected) << now;
      other.AdvanceSeconds(1);
      if (now % 100 == 0) (*loaded)->Reclaim();
    }
    while ((*loaded)->Reclaim() > 0) {
    }
    EXPECT_EQ((*loaded)->GetStats().tables[0].rows, 0u);
    (*loaded)->Verify();
  }
}

TEST_F(SavedStoreTest, ListsOfAllSizesComeBack) {
  CreateHistory();
  const std::string long_value(60'000, 'v');
  size_t number = 0;
  for (const size_t size : {1u, 2u, 20u, 300u, 5'000u, 60'000u}) {
    std::vector<std::string> kept;
    std::vector<NewItem> items;
    for (size_t i = 0; i < size; ++i) kept.push_back(std::to_string(i % 7 == 0 ? i : i * i));
    for (size_t i = 0; i < size; ++i) items.push_back({kNow - i * 1000, kept[i]});
    const std::string id = std::to_string(number++);
    ASSERT_EQ(Say(store->AddListItems(History(id), items)), "OK");
    if (size <= 2) continue;
    ASSERT_EQ(Say(Add(History(id), kNow - 1, long_value)), "OK");
  }
  const std::string long_id(2'000, 'i');
  ASSERT_EQ(Say(Add(History(long_id), kNow, "its key stands alone")), "OK");
  for (const uint32_t shards : {1u, 2u, 7u}) {
    Options options = SmallOptions(clock);
    options.shards = shards;
    const auto loaded = SaveAndLoad(options);
    ASSERT_NE(loaded, nullptr);
    EXPECT_EQ(info.lists, 7u);
    EXPECT_TRUE(Everything(*loaded) == Everything(*store)) << shards;
    EXPECT_EQ(*loaded->RemoveListItemsWithValue(History("5"), "1"), 1u);
    loaded->Verify();
  }
}

// What is loaded was written before whatever is written now.
TEST_F(SavedStoreTest, WritesComeAfterWhatWasLoaded) {
  CreateHistory();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Say(Add(History("1"), kNow - 5 * kSecond, "same")), "OK");
  }
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  // A clock that has gone back.
  ManualClock earlier(kNow - 3 * kSecond);
  auto loaded = LoadListStore(path, SmallOptions(earlier));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(*(*loaded)->RemoveListItemsWithValue(History("1"), "same"), 1u);
  EXPECT_EQ(*(*loaded)->CountListItems(History("1")), 0u);
  const NewItem again{kNow - 5 * kSecond, "same"};
  ASSERT_TRUE((*loaded)->AddListItems(History("1"), {&again, 1}).ok());
  EXPECT_EQ(*(*loaded)->CountListItems(History("1")), 1u);
}

TEST_F(SavedStoreTest, AnotherSaveReplacesTheFile) {
  CreateHistory();
  ASSERT_EQ(Say(Add(History("1"), kNow, "first")), "OK");
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  ASSERT_EQ(Say(Add(History("1"), kNow, "second")), "OK");
  ASSERT_TRUE(SaveListStore(*store, path, {.sync = false}).ok());
  auto loaded = LoadListStore(path, SmallOptions(clock));
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(*(*loaded)->CountListItems(History("1")), 2u);
  EXPECT_EQ(folder.Names(), std::set<std::string>{"lists.saved"});
}

// Random content, through a file and on: both stores answer alike, whatever is done to them.
TEST_F(SavedStoreTest, ALoadedStoreGoesOnLikeTheSavedOne) {
  Random random(TestSeed());
  const uint64_t rounds = TestSteps(2'000) / 100;
  std::unique_ptr<ListStore> other;
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Options options = SmallOptions(clock);
    options.shards = 1 + static_cast<uint32_t>(random.Below(5));
    other = SaveAndLoad(options);
    ASSERT_NE(other, nullptr);
    ASSERT_TRUE(Everything(*other) == Everything(*store));
    for (int step = 0; step < 100; ++step) {
      const std::string feature = "f" + std::to_string(random.Below(3));
      const std::string id = std::to_string(random.Below(20));
      const ListId list{"user", feature, "", id};
      const std::string value = std::to_string(random.Below(50)) +
                                std::string(random.OneIn(20) ? 3'000 : random.Below(30), '.');
      std::vector<NewItem> items;
      for (uint64_t i = 1 + random.Below(random.OneIn(10) ? 400 : 5); i > 0; --i) {
        items.push_back({clock.NowNanos() - random.Below(60 * kSecond), value});
      }
      const uint64_t kind = random.Below(12);
      const int64_t ttl = random.Between(1, 100);
      if (random.OneIn(8)) clock.AdvanceNanos(random.Below(5 * kSecond));
      const auto run = [&](ListStore& on) -> std::string {
        switch (kind) {
          case 0:
            return Say(on.CreateListFeature("user", feature, ttl));
          case 1:
            return random.OneIn(1) && ttl > 90 ? Say(on.DeleteListFeature("user", feature)) : "";
          case 2:
            return std::to_string(*on.RemoveListItemsWithValue(list, value));
          case 3:
            return std::to_string(*on.RemoveAllListItems(list));
          case 4:
            on.Reclaim(100);
            return "";
          default:
            return Say(on.AddListItems(list, items));
        }
      };
      ASSERT_EQ(run(*store), run(*other));
    }
    ASSERT_TRUE(Everything(*other) == Everything(*store));
    other->Verify();
    store = std::move(other);
  }
}

TEST_F(SavedStoreTest, ASmallerLimitIsSaidAndNothingIsOpened) {
  CreateHistory();
  const std::string value(1000, 'v');
  for (int i = 0; i < 4'000; ++i) {
    ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow, value)), "OK");
  }
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = 2 << 20;
  const auto loaded = LoadListStore(path, options);
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kResourceExhausted);
  const std::string message(loaded.status().message());
  EXPECT_NE(message.find(path + ": list "), std::string::npos) << message;
  EXPECT_NE(message.find("does not fit the memory limit of 2097152 bytes"), std::string::npos)
      << message;
  options.memory_limit_bytes = 8 << 20;
  EXPECT_TRUE(LoadListStore(path, options).ok());
}

TEST_F(SavedStoreTest, OptionsAreCheckedBeforeTheFile) {
  Options options;
  options.shards = 257;
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  EXPECT_EQ(Say(LoadListStore(path, options)),
            "INVALID_ARGUMENT: " + path + ": shards 257 exceeds 256");
  EXPECT_EQ(LoadListStore(folder / "none", {}).status().code(), absl::StatusCode::kNotFound);
}

// A feature that is deleted, and created again, while it is saved: nothing of the old one comes
// back.
TEST_F(SavedStoreTest, SavingGoesOnBesideEverythingElse) {
  const uint64_t rounds = TestSteps(1'000) / 100;
  for (uint64_t round = 0; round < rounds; ++round) {
    CreateHistory();
    ASSERT_EQ(Say(store->CreateListFeature("user", "kept", kDay)), "OK");
    std::vector<std::string> ids;
    for (int i = 0; i < 2'000; ++i) ids.push_back(std::to_string(i));
    const NewItem old{kNow - 2, "old"};
    const NewItem kept[] = {{kNow - 2, "a"}, {kNow - 3, "b"}};
    for (const std::string& id : ids) {
      ASSERT_TRUE(store->AddListItems(History(id), {&old, 1}).ok());
      ASSERT_TRUE(store->AddListItems({"user", "kept", "", id}, kept).ok());
    }
    std::atomic<bool> saving{true};
    std::thread writer([&] {
      for (uint64_t life = 0; saving; ++life) {
        EXPECT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
        EXPECT_EQ(Say(store->CreateListFeature("user", "history", kDay)), "OK");
        const std::string value = "life " + std::to_string(life);
        const NewItem item{kNow - 1, value};
        for (size_t i = 0; i < ids.size(); i += 100) {
          EXPECT_TRUE(store->AddListItems(History(ids[i]), {&item, 1}).ok());
        }
        // Both items of a list, or none.
        EXPECT_TRUE(store->RemoveAllListItems({"user", "kept", "", ids[life % ids.size()]}).ok());
      }
    });
    const auto saved = SaveListStore(*store, path, {.sync = false});
    saving = false;
    writer.join();
    ASSERT_TRUE(saved.ok()) << saved.status();
    auto loaded = LoadListStore(path, SmallOptions(clock));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    (*loaded)->Verify();
    std::set<std::string> lives;
    for (const std::string& id : ids) {
      ListItems items;
      ASSERT_TRUE((*loaded)->GetListItems(History(id), {}, &items).ok());
      for (const ListItemView item : items) lives.emplace(item.value);
      ASSERT_LE(items.size(), 1u) << id;
      ASSERT_TRUE((*loaded)->GetListItems({"user", "kept", "", id}, {}, &items).ok());
      ASSERT_TRUE(items.empty() || items.size() == 2) << id;
    }
    // One life of the feature at most; the first, "old", if nothing was deleted yet.
    EXPECT_LE(lives.size(), 1u) << *lives.begin();
    ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
    ASSERT_EQ(Say(store->DeleteListFeature("user", "kept")), "OK");
    while (store->Reclaim() > 0) {
    }
  }
}

}  // namespace saved_store_test
}  // namespace liststore::testing
