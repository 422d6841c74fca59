// Saving a store and opening one from the file: what comes back, and when it ends.
#include "liststore/saved_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/snapshot/saved_format.h"
#include "liststore/list_cache.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace {

class SavedStoreTest : public StoreTest {
 protected:
  // Saves the store and opens another from the file, on the same clock.
  std::unique_ptr<ListStore> SaveAndLoad(Options options) {
    const auto saved = SaveListStore(*store, path);
    EXPECT_TRUE(saved.ok()) << saved.status();
    auto loaded = LoadListStore(path, std::move(options), &info);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (!loaded.ok() || !saved.ok()) return nullptr;
    EXPECT_EQ(info.bytes, saved->bytes);
    EXPECT_EQ(info.lists, saved->lists);
    EXPECT_EQ(info.items, saved->items);
    EXPECT_EQ(info.features, saved->features);
    EXPECT_EQ(info.saved_at_nanos, saved->saved_at_nanos);
    (*loaded)->Verify();
    return *std::move(loaded);
  }
  std::unique_ptr<ListStore> SaveAndLoad() { return SaveAndLoad(SmallOptions(clock)); }

  // All that can be read of a store, as text.
  static std::string Everything(const ListStore& store) {
    std::string text;
    for (const ListFeatureInfo& feature : store.ListFeatures()) {
      text += feature.entity_type + "/" + feature.feature + " " +
              std::to_string(feature.ttl_seconds) + "\n";
      for (const ListFeatureVersionInfo& version : feature.versions) {
        text += " " + version.version + " " + std::to_string(version.ttl_seconds) + "\n";
        // In the order of tokens whatever the shards.
        EXPECT_EQ(Say(store.ForEachList(feature.entity_type, feature.feature, version.version,
                                        [&](std::string_view id) {
                                          text +=
                                              ItemsOf(store, {feature.entity_type, feature.feature,
                                                              version.version, id});
                                          return true;
                                        })),
                  "OK");
      }
    }
    return text;
  }
  static std::string ItemsOf(const ListStore& store, const ListId& list) {
    ListItems items;
    const GetOptions all{.limit = SIZE_MAX, .with_expiry = true};
    EXPECT_EQ(Say(store.GetListItems(list, all, &items)), "OK");
    std::string text = "  " + std::string(list.entity_id) + ":";
    for (const ListItemView item : items) {
      text += " " + item.item_key() + "=" + std::string(item.value) + "@" +
              std::to_string(item.expires_at_seconds);
    }
    return text + "\n";
  }

  TempFolder folder;
  const std::string path = folder / "lists.saved";
  SavedStoreInfo info;
};

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

// --- What lists know of themselves as parts of a cache

enum class Kind {
  kRejecting,
  kAllThereIs,
  kCopies
};

class SavedCacheTest : public SavedStoreTest {
 protected:
  Options OptionsOf(Kind kind) {
    Options options = SmallOptions(clock);
    if (kind != Kind::kRejecting) options.memory_policy = MemoryPolicy::kEvict;
    options.lists_live_elsewhere = kind == Kind::kCopies;
    return options;
  }
  absl::StatusOr<bool> Put(std::string_view id, std::span<const NewItem> items,
                           int64_t fresh_until_seconds) {
    return store->PutList(History(id), items, {.fresh_until_seconds = fresh_until_seconds});
  }
  // "complete 2 until 17": presence, items, freshness.
  static std::string Known(const ListStore& store, std::string_view id) {
    ListItems items;
    EXPECT_EQ(Say(store.GetListItems(History(id), {.limit = SIZE_MAX}, &items)), "OK");
    const std::string presence = items.presence() == ListPresence::kComplete  ? "complete "
                                 : items.presence() == ListPresence::kPartial ? "partial "
                                                                              : "absent ";
    std::string text = presence + std::to_string(items.size());
    if (items.fresh_until_seconds() != 0) {
      text += " until " + std::to_string(items.fresh_until_seconds() - kNowSeconds);
    }
    return text;
  }
  static constexpr const char* kLists[] = {"put", "fresh", "stale", "added", "empty", "gone"};
  // Lists of every kind; "gone" is kept empty for five seconds.
  void Fill(Kind kind) {
    Reopen(OptionsOf(kind));
    CreateHistory();
    const NewItem items[] = {{kNow - 1, "a"}, {kNow - 2, "b"}};
    ASSERT_TRUE(*Put("put", items, 0));
    ASSERT_TRUE(*Put("fresh", items, kNowSeconds + 60));
    ASSERT_TRUE(*Put("stale", items, kNowSeconds - 60));
    ASSERT_EQ(Say(Add(History("added"), kNow, "x")), "OK");
    ASSERT_TRUE(*Put("empty", {}, kNowSeconds + 90));
    ASSERT_TRUE(*Put("gone", {}, kNowSeconds + 5));
    clock.AdvanceSeconds(5);
  }
};

TEST_F(SavedCacheTest, AListIsCompleteWhereThatMeantAsMuch) {
  const Strings as_they_were = {"complete 2", "complete 2 until 60", "complete 2 until -60",
                                "complete 1", "complete 0 until 90", "absent 0"};
  Strings copies = as_they_were;
  copies[3] = "partial 1";
  const Strings nothing_known = {"partial 2", "partial 2",           "partial 2",
                                 "partial 1", "complete 0 until 90", "absent 0"};
  const struct {
    Kind saved;
    Kind loaded;
    const Strings& expected;
    const char* begun;  // a list that an addition begins afterwards
  } kCases[] = {
      {Kind::kRejecting, Kind::kRejecting, as_they_were, "complete 1"},
      {Kind::kRejecting, Kind::kAllThereIs, as_they_were, "complete 1"},
      {Kind::kRejecting, Kind::kCopies, nothing_known, "partial 1"},
      {Kind::kAllThereIs, Kind::kRejecting, as_they_were, "partial 1"},
      {Kind::kAllThereIs, Kind::kAllThereIs, as_they_were, "partial 1"},
      {Kind::kAllThereIs, Kind::kCopies, nothing_known, "partial 1"},
      {Kind::kCopies, Kind::kRejecting, copies, "partial 1"},
      {Kind::kCopies, Kind::kAllThereIs, copies, "partial 1"},
      {Kind::kCopies, Kind::kCopies, copies, "partial 1"},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(std::to_string(static_cast<int>(one.saved)) + " to " +
                 std::to_string(static_cast<int>(one.loaded)));
    clock.SetNanos(kNow);
    Fill(one.saved);
    store = SaveAndLoad(OptionsOf(one.loaded));
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(info.lists, 5u) << "one that is kept empty counts";
    Strings found;
    for (const char* id : kLists) found.push_back(Known(*store, id));
    EXPECT_EQ(found, one.expected);
    ASSERT_EQ(Say(Add(History("begun"), kNow, "y")), "OK");
    EXPECT_EQ(Known(*store, "begun"), one.begun);
    // Through another file, into a store of the same kind: nothing becomes more than it was.
    found.push_back(one.begun);
    store = SaveAndLoad(OptionsOf(one.loaded));
    ASSERT_NE(store, nullptr);
    for (size_t i = 0; i < std::size(kLists); ++i) EXPECT_EQ(Known(*store, kLists[i]), found[i]);
    EXPECT_EQ(Known(*store, "begun"), one.begun);
    ASSERT_EQ(Say(Add(History("begun later"), kNow, "y")), "OK");
    EXPECT_EQ(Known(*store, "begun later"),
              one.loaded == Kind::kRejecting ? one.begun : "partial 1");
  }
}

TEST_F(SavedCacheTest, AnEmptyListIsKeptWhileItsFreshnessLasts) {
  Fill(Kind::kCopies);
  ASSERT_TRUE(*Put("for ever", {}, 0));
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  for (const int64_t late : {0, 84, 85, 1000}) {
    SCOPED_TRACE(late);
    clock.SetNanos(kNow + static_cast<uint64_t>(5 + late) * kSecond);
    auto loaded = LoadListStore(path, OptionsOf(Kind::kCopies));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    (*loaded)->Verify();
    EXPECT_EQ(Known(**loaded, "empty"), late < 85 ? "complete 0 until 90" : "absent 0");
    EXPECT_EQ(Known(**loaded, "for ever"), "complete 0");
    // Its memory comes back when it is over.
    clock.AdvanceSeconds(100);
    EXPECT_EQ(Known(**loaded, "empty"), "absent 0");
    while ((*loaded)->Reclaim() > 0) {
    }
    EXPECT_EQ((*loaded)->GetStats().tables[0].partitions, 5u);
    // An addition to one that is over begins it anew.
    const NewItem item{kNow, "x"};
    ASSERT_TRUE((*loaded)->AddListItems(History("empty"), {&item, 1}).ok());
    EXPECT_EQ(Known(**loaded, "empty"), "partial 1");
    ASSERT_TRUE((*loaded)->AddListItems(History("for ever"), {&item, 1}).ok());
    EXPECT_EQ(Known(**loaded, "for ever"), "complete 1");
    (*loaded)->Verify();
  }
}

// Leaves, trees that come in several records, keys that stand alone: each has its own place for a
// freshness.
TEST_F(SavedCacheTest, ListsOfAllSizesKeepTheirFreshness) {
  Reopen(OptionsOf(Kind::kCopies));
  CreateHistory();
  Strings ids;
  for (const size_t size : {1u, 20u, 300u, 20'000u}) {
    for (const bool long_id : {false, true}) {
      std::string id = std::to_string(size) + (long_id ? std::string(1'500, 'i') : "");
      std::vector<NewItem> items;
      for (size_t i = 0; i < size; ++i) {
        items.push_back({kNow - i * 1000, i % 7 == 0 ? "another value" : "value"});
      }
      ASSERT_TRUE(*Put(id, items, kNowSeconds + static_cast<int64_t>(size))) << size;
      ids.push_back(std::move(id));
    }
  }
  const auto loaded = SaveAndLoad(OptionsOf(Kind::kCopies));
  ASSERT_NE(loaded, nullptr);
  EXPECT_TRUE(Everything(*loaded) == Everything(*store));
  for (const std::string& id : ids) EXPECT_EQ(Known(*loaded, id), Known(*store, id));
  EXPECT_EQ(Known(*loaded, "300"), "complete 300 until 300");
}

TEST_F(SavedCacheTest, WhatAFileWithoutAnOriginHoldsIsPartial) {
  Fill(Kind::kRejecting);
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  // As it was written before there were origins.
  std::string bytes = ReadFile(path);
  bytes[saved::kOriginAt] = 0;
  StoreNative(bytes.data() + saved::kFileChecksumAt,
              saved::Checksum({bytes.data(), saved::kFileChecksumAt}, 0));
  WriteFile(path, bytes);
  for (const Kind kind : {Kind::kRejecting, Kind::kAllThereIs, Kind::kCopies}) {
    auto loaded = LoadListStore(path, OptionsOf(kind));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    Strings found;
    for (const char* id : kLists) found.push_back(Known(**loaded, id));
    EXPECT_EQ(found, (Strings{"partial 2", "partial 2", "partial 2", "partial 1", "absent 0",
                              "absent 0"}));
    (*loaded)->Verify();
  }
}

TEST_F(SavedCacheTest, ASmallerEvictingStoreTakesWhatFits) {
  Reopen(OptionsOf(Kind::kCopies));
  CreateHistory();
  const std::string value(1000, 'v');
  const NewItem item{kNow, value};
  for (int i = 0; i < 4'000; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(*Put(id, {&item, 1}, kNowSeconds + 60 + i));
    ASSERT_TRUE(*Put("no " + id, {}, kNowSeconds + 60 + i));
  }
  Options options = OptionsOf(Kind::kCopies);
  options.memory_limit_bytes = 2 << 20;
  const auto loaded = SaveAndLoad(options);
  ASSERT_NE(loaded, nullptr);
  int held = 0;
  for (int i = 0; i < 4'000; ++i) {
    const std::string found = Known(*loaded, std::to_string(i));
    if (found == "absent 0") continue;
    ASSERT_EQ(found, "complete 1 until " + std::to_string(60 + i));
    ++held;
  }
  EXPECT_GT(held, 0);
}

TEST_F(SavedCacheTest, AListCacheGoesOnFromAFileWithoutALoad) {
  int calls = 0;
  const auto cache_options = [&] {
    ListCacheOptions options;
    options.fresh_for_seconds = 60;
    options.store = OptionsOf(Kind::kCopies);
    options.loader = [&](ListLoad& load) {
      ++calls;
      const NewItem items[] = {{kNow - 2, "b"}, {kNow - 1, "a"}};
      for (size_t i = 0; i < load.size(); ++i) {
        const bool there = load.list(i).entity_id != "nobody";
        load.Answer(i, there ? std::span<const NewItem>(items) : std::span<const NewItem>());
      }
      return absl::OkStatus();
    };
    return options;
  };
  auto cache = *ListCache::Open(cache_options());
  ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", 30 * kDay)), "OK");
  ListItems items;
  for (const char* id : {"1", "2", "nobody"}) {
    ASSERT_EQ(Say(cache->GetListItems(History(id), {}, &items)), "OK");
  }
  const NewItem part{kNow, "part"};
  ASSERT_EQ(Say(cache->store().AddListItems(History("part"), {&part, 1})), "OK");
  EXPECT_EQ(calls, 3);
  ASSERT_TRUE(SaveListStore(cache->store(), path).ok());

  auto loaded = LoadListStore(path, OptionsOf(Kind::kCopies));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto opened = ListCache::Open(cache_options(), *std::move(loaded));
  ASSERT_EQ(Say(opened), "OK");
  cache = *std::move(opened);
  clock.AdvanceSeconds(9);
  for (const char* id : {"1", "2"}) {
    ASSERT_EQ(Say(cache->GetListItems(History(id), {}, &items)), "OK");
    EXPECT_EQ(Values(items), (Strings{"a", "b"}));
    EXPECT_EQ(items.fresh_until_seconds(), kNowSeconds + 60);
  }
  ASSERT_EQ(Say(cache->GetListItems(History("nobody"), {}, &items)), "OK");
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(calls, 3) << "all that was fresh is";
  ASSERT_EQ(Say(cache->GetListItems(History("part"), {}, &items)), "OK");
  EXPECT_EQ(Values(items), (Strings{"a", "b"}));
  EXPECT_EQ(calls, 4) << "a part is not taken for the whole";
  clock.AdvanceSeconds(1);
  ASSERT_EQ(Say(cache->GetListItems(History("nobody"), {}, &items)), "OK");
  EXPECT_EQ(calls, 5);
  clock.AdvanceSeconds(50);
  ASSERT_EQ(Say(cache->GetListItems(History("1"), {}, &items)), "OK");
  EXPECT_EQ(calls, 6) << "its freshness is over";

  for (const Kind kind : {Kind::kRejecting, Kind::kAllThereIs}) {
    EXPECT_EQ(Say(ListCache::Open(cache_options(), OpenStore(OptionsOf(kind)))),
              "INVALID_ARGUMENT: the store under a cache has MemoryPolicy::kEvict and "
              "lists_live_elsewhere");
  }
  EXPECT_EQ(ListCache::Open(cache_options(), nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace liststore::testing
