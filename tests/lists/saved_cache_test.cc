// Saving a store that is a cache: what lists know of themselves comes back.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/snapshot/saved_format.h"
#include "liststore/list_cache.h"
#include "tests/lists/saved_store_fixture.h"

namespace liststore::testing {
namespace saved_cache_test {

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
  ASSERT_TRUE(*Put("forever", {}, 0));
  ASSERT_TRUE(SaveListStore(*store, path).ok());
  for (const int64_t late : {0, 84, 85, 1000}) {
    SCOPED_TRACE(late);
    clock.SetNanos(kNow + static_cast<uint64_t>(5 + late) * kSecond);
    auto loaded = LoadListStore(path, OptionsOf(Kind::kCopies));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    (*loaded)->Verify();
    EXPECT_EQ(Known(**loaded, "empty"), late < 85 ? "complete 0 until 90" : "absent 0");
    EXPECT_EQ(Known(**loaded, "forever"), "complete 0");
    // Its memory comes back when it is over.
    clock.AdvanceSeconds(100);
    EXPECT_EQ(Known(**loaded, "empty"), "absent 0");
    while ((*loaded)->Reclaim() > 0) {
    }
    EXPECT_EQ((*loaded)->GetStats().tables[0].partitions, 5u);
    // An addition to one that is over begins it again.
    const NewItem item{kNow, "x"};
    ASSERT_TRUE((*loaded)->AddListItems(History("empty"), {&item, 1}).ok());
    EXPECT_EQ(Known(**loaded, "empty"), "partial 1");
    ASSERT_TRUE((*loaded)->AddListItems(History("forever"), {&item, 1}).ok());
    EXPECT_EQ(Known(**loaded, "forever"), "complete 1");
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
  bytes[snapshot::kOriginAt] = 0;
  StoreNative(bytes.data() + snapshot::kFileChecksumAt,
              snapshot::Checksum({bytes.data(), snapshot::kFileChecksumAt}, 0));
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
              "INVALID_ARGUMENT: the store of a cache must have MemoryPolicy::kEvict and "
              "lists_live_elsewhere");
  }
  EXPECT_EQ(ListCache::Open(cache_options(), nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace saved_cache_test
}  // namespace liststore::testing
