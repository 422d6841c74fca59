// Stores that evict, and caches, with a data directory.
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "liststore/list_cache.h"
#include "tests/lists/kept_harness.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace kept_cache_test {

Options CopiesOf(Options options) {
  options.memory_policy = MemoryPolicy::kEvict;
  options.lists_live_elsewhere = true;
  return options;
}

class KeptCacheTest : public ::testing::Test {
 protected:
  void OpenCache(CommitLog mode, uint32_t shards = 2) {
    cache.reset();
    ListCacheOptions options;
    options.store = KeptOptions(clock, folder.path(), mode);
    options.store.shards = shards;
    options.fresh_for_seconds = 60;
    options.absent_for_seconds = 30;
    options.loader = [this](ListLoad& load) {
      for (size_t i = 0; i < load.size(); ++i) {
        ++loads;
        const NewItem item{kNow, source};
        if (load.list(i).entity_id == "absent") {
          load.Answer(i, {});
        } else {
          load.Answer(i, {&item, 1});
        }
      }
      return absl::OkStatus();
    };
    auto opened = ListCache::Open(std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    cache = *std::move(opened);
  }
  std::string Get(std::string_view id) {
    ListItems items;
    EXPECT_EQ(Say(cache->GetListItems(ListId{"user", "history", "", id}, {.limit = 10}, &items)),
              "OK");
    std::string text;
    for (const ListItemView item : items) text += std::string(item.value) + " ";
    return text;
  }

  const TempFolder folder;
  ManualClock clock{kNow};
  std::string source = "v1";
  int loads = 0;
  std::unique_ptr<ListCache> cache;
};

TEST_F(KeptCacheTest, IsWarmAgain) {
  OpenCache(CommitLog::kOs);
  ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", 1'000)), "OK");
  EXPECT_EQ(Get("1"), "v1 ");
  EXPECT_EQ(Get("2"), "v1 ");
  EXPECT_EQ(Get("absent"), "");
  EXPECT_EQ(loads, 3);
  // Told of a change, it has it again; one that it was told to forget is loaded again.
  const NewItem more{kNow + 1, "v2"};
  ASSERT_EQ(Say(cache->AddListItems(ListId{"user", "history", "", "1"}, {&more, 1})), "OK");
  ASSERT_EQ(Say(cache->Invalidate(ListId{"user", "history", "", "2"})), "OK");
  clock.AdvanceSeconds(10);
  for (const CommitLog mode : {CommitLog::kOs, CommitLog::kSync, CommitLog::kPeriodic}) {
    OpenCache(mode, mode == CommitLog::kSync ? 3 : 1);
    loads = 0;
    EXPECT_EQ(Get("1"), "v2 v1 ");
    EXPECT_EQ(Get("absent"), "");
    EXPECT_EQ(loads, 0);
    EXPECT_EQ(Get("2"), "v1 ");
    EXPECT_EQ(loads, 1);
    ASSERT_EQ(Say(cache->Invalidate(ListId{"user", "history", "", "2"})), "OK");
  }
  // From a snapshot alone.
  OpenCache(CommitLog::kOff);
  ASSERT_EQ(Say(cache->store().Snapshot()), "OK");
  OpenCache(CommitLog::kOff);
  loads = 0;
  EXPECT_EQ(Get("1"), "v2 v1 ");
  EXPECT_EQ(loads, 0);
  // Freshness ends when it would have ended.
  clock.AdvanceSeconds(21);
  EXPECT_EQ(Get("absent"), "");
  EXPECT_EQ(loads, 1);
  source = "v3";
  clock.AdvanceSeconds(30);
  EXPECT_EQ(Get("1"), "v3 ");
  EXPECT_EQ(loads, 2);
}

TEST_F(KeptCacheTest, AnotherKindOfStoreIsRefusedByName) {
  OpenCache(CommitLog::kOs);
  ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", 1'000)), "OK");
  Get("1");
  cache.reset();
  const auto opened = ListStore::Open(KeptOptions(clock, folder.path(), CommitLog::kOs));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(Say(opened).find("copies of lists that live elsewhere"), std::string::npos)
      << Say(opened);
  // Also behind a snapshot.
  OpenCache(CommitLog::kOff);
  ASSERT_EQ(Say(cache->store().Snapshot()), "OK");
  cache.reset();
  EXPECT_EQ(ListStore::Open(KeptOptions(clock, folder.path(), CommitLog::kOs)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Lists of a store that evicts, as text: how much of each is there, and what.
std::vector<std::string> AllLists(const ListStore& store) {
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) {
    texts.push_back(TextOfList(store, {"user", "history", "", std::to_string(i)}));
  }
  return texts;
}

// Of a list as text.
std::set<std::string> ItemsIn(const std::string& list) {
  std::istringstream words(list.substr(list.find(':') + 1));
  return {std::istream_iterator<std::string>(words), {}};
}

void RunEvictions(uint64_t seed, bool copies) {
  Random random(seed);
  const TempFolder folder;
  SimulatedDisk disk;
  ManualClock clock(kNow);
  Options options = KeptOptions(clock, folder.path(), CommitLog::kOs);
  options.memory_policy = MemoryPolicy::kEvict;
  options.lists_live_elsewhere = copies;
  options.memory_limit_bytes = uint64_t{4} << 20;
  options.shards = 1;
  std::vector<std::string> before;
  uint64_t evictions = 0;
  for (int run = 0; run < 3; ++run) {
    auto opened = KeptStore::Open(disk, options, clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    std::unique_ptr<ListStore> store = *std::move(opened);
    store->Verify();
    if (run == 0) {
      ASSERT_EQ(Say(store->CreateListFeature("user", "history", 1'000'000)), "OK");
    } else {
      const std::vector<std::string> after = AllLists(*store);
      size_t lost = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        if (after[i] == before[i]) continue;
        // It may have been evicted while it was read: all of it, or what it had before later additions,
        // and then nobody says that it is complete.
        if (after[i] == "0 0:") {
          ++lost;
          continue;
        }
        ASSERT_EQ(after[i].substr(0, 1), "1") << i;
        for (const std::string& item : ItemsIn(after[i])) {
          ASSERT_TRUE(ItemsIn(before[i]).contains(item)) << i << ": " << item.substr(0, 60);
        }
      }
      ASSERT_LT(lost, before.size() / 2);
    }
    for (int step = 0; step < 1'500; ++step) {
      const std::string id = std::to_string(random.Below(400));
      const ListId list{"user", "history", "", id};
      const std::string value(1'000 + random.Below(60'000), static_cast<char>('a' + run));
      const NewItem item{kNow + static_cast<uint64_t>(step), value};
      switch (random.Below(6)) {
        case 0:
          ASSERT_EQ(Say(store->PutList(list, {&item, 1}, {.fresh_until_seconds = kNowSeconds + 9})),
                    "OK");
          break;
        case 1:
          ASSERT_EQ(Say(store->ForgetList(list)), "OK");
          break;
        case 2:
          ASSERT_EQ(Say(store->RemoveAllListItems(list)), "OK");
          break;
        default:
          ASSERT_EQ(Say(store->AddListItems(list, {&item, 1})), "OK");
      }
      if (random.OneIn(700)) {
        ASSERT_EQ(Say(store->Snapshot()), "OK");
      }
    }
    evictions += store->GetStats().cache.evictions;
    before = AllLists(*store);
    Kill(disk, store);
  }
  EXPECT_GT(evictions, 100u);
}

TEST(KeptEvictionsTest, WhatWasEvictedDoesNotComeBack) {
  RunEachSeed(4, [](uint64_t seed) {
    for (const bool copies : {true, false}) {
      RunEvictions(seed, copies);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(KeptEvictionsTest, WhatDoesNotFitASmallerLimitIsEvicted) {
  for (const bool from_snapshot : {false, true}) {
    SCOPED_TRACE(from_snapshot);
    const TempFolder folder;
    SimulatedDisk disk;
    ManualClock clock(kNow);
    Options options = CopiesOf(KeptOptions(clock, folder.path(), CommitLog::kOs));
    const auto open = [&](std::unique_ptr<ListStore>& store) {
      auto opened = KeptStore::Open(disk, options, clock);
      ASSERT_TRUE(opened.ok()) << opened.status();
      store = *std::move(opened);
      store->Verify();
    };
    std::unique_ptr<ListStore> store;
    open(store);
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", 1'000'000)), "OK");
    const std::string value(40'000, 'x');
    for (int i = 0; i < 400; ++i) {
      const NewItem item{kNow, value};
      ASSERT_EQ(Say(store->PutList({"user", "history", "", std::to_string(i)}, {&item, 1})), "OK");
    }
    if (from_snapshot) {
      ASSERT_EQ(Say(store->Snapshot()), "OK");
    }
    const std::vector<std::string> before = AllLists(*store);
    Kill(disk, store);
    options.memory_limit_bytes = uint64_t{6} << 20;
    open(store);
    const std::vector<std::string> after = AllLists(*store);
    size_t held = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i] == "0 0:") continue;
      EXPECT_TRUE(after[i] == before[i]) << i;
      ++held;
    }
    EXPECT_GT(held, 20u);
    EXPECT_LT(held, 200u);
    EXPECT_LE(store->GetStats().held_bytes, options.memory_limit_bytes);
    Kill(disk, store);
    // What went does not come back where there is room for it.
    options.memory_limit_bytes = uint64_t{64} << 20;
    open(store);
    EXPECT_TRUE(AllLists(*store) == after);
  }
}

TEST(KeptEvictionsTest, WhatIsForgottenIsGoneOnAFullDiskToo) {
  const TempFolder folder;
  SimulatedDisk disk;
  ManualClock clock(kNow);
  Options options = CopiesOf(KeptOptions(clock, folder.path(), CommitLog::kSync));
  options.shards = 1;
  auto opened = KeptStore::Open(disk, options, clock);
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::unique_ptr<ListStore> store = *std::move(opened);
  ASSERT_EQ(Say(store->CreateListFeature("user", "f", 1'000'000)), "OK");
  const ListId list{"user", "f", "", "a"};
  const NewItem item{kNow, "v"};
  ASSERT_EQ(Say(store->PutList(list, {&item, 1})), "OK");
  disk.capacity = uint64_t{7} << 20;
  const std::string value(60'000, 'x');
  for (uint64_t i = 0; i < 1'000; ++i) {
    const NewItem large{kNow + i, value};
    if (!store->AddListItems({"user", "f", "", "b"}, {&large, 1}).ok()) break;
  }
  const auto forgotten = store->ForgetList(list);
  EXPECT_TRUE(absl::IsUnknown(forgotten.status())) << forgotten.status();
  EXPECT_EQ(TextOfList(*store, list), "0 0:");
  // Nothing is written before that is.
  EXPECT_TRUE(absl::IsResourceExhausted(store->PutList(list, {&item, 1}).status()));
  disk.capacity = UINT64_MAX;
  clock.AdvanceNanos(1'000'000'000);
  ASSERT_EQ(Say(store->AddListItems({"user", "f", "", "c"}, {&item, 1})), "OK");
  Kill(disk, store);
  disk.LosePower(1);
  opened = KeptStore::Open(disk, options, clock);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(TextOfList(**opened, list), "0 0:");
  EXPECT_EQ((*opened)->CountListItems({"user", "f", "", "c"}).value_or(0), 1u);
}

}  // namespace kept_cache_test
}  // namespace liststore::testing
