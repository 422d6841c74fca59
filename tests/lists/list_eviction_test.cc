// A store that evicts at its limit: what goes, what stays, what is counted and told.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_eviction_test {

constexpr uint64_t kLimitBytes = uint64_t{4} << 20;

Options EvictingOptions(const Clock& clock) {
  Options options;
  options.clock = &clock;
  options.shards = 1;
  options.memory_limit_bytes = kLimitBytes;
  options.memory_policy = MemoryPolicy::kEvict;
  options.feature_stats = true;
  return options;
}

class ListEvictionTest : public StoreTest {
 protected:
  ListEvictionTest() {
    Reopen(EvictingOptions(clock));
    CreateHistory();
  }
  // Lists of one item, `first` to `last`; none is refused.
  void AddLists(uint64_t first, uint64_t last, size_t value_bytes = 100,
                uint64_t limit_bytes = kLimitBytes) {
    std::string value(value_bytes, 'v');
    for (uint64_t i = first; i < last; ++i) {
      ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow, value)), "OK") << i;
      if (i % 16 == 0) {
        ASSERT_LE(store->GetStats().held_bytes, limit_bytes);
      }
    }
  }
  ListPresence PresenceOf(std::string_view id) {
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems(History(id), {.limit = 1}, &items)), "OK");
    return items.presence();
  }
};

TEST_F(ListEvictionTest, NoAdditionIsRefusedAndTheLimitIsKept) {
  constexpr uint64_t kLists = 50'000;
  AddLists(0, kLists);
  const Stats stats = store->GetStats();
  EXPECT_EQ(stats.refused_writes, 0u);
  EXPECT_EQ(stats.cache.additions, kLists);
  EXPECT_EQ(stats.tables[0].partitions + stats.cache.evictions, kLists);
  EXPECT_EQ(stats.tables[0].rows + stats.cache.evicted_items, kLists);
  // A good part of the limit is made use of, small as it is for 16 lanes.
  EXPECT_GT(stats.tables[0].live_bytes, kLimitBytes / 3);
  ASSERT_EQ(stats.features.size(), 1u);
  EXPECT_EQ(stats.features[0].cache.evictions, stats.cache.evictions);
}

TEST_F(ListEvictionTest, WhatIsAddedRemovedEvictedAndExpiredAddsUp) {
  Random random(TestSeed());
  ASSERT_EQ(Say(store->CreateListFeature("user", "short", 50)), "OK");
  uint64_t added = 0;
  uint64_t removed = 0;
  const uint64_t steps = TestSteps(40'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const std::string id = std::to_string(random.Below(step / 2 + 1));
    const ListId list{"user", random.OneIn(3) ? "short" : "history", "", id};
    const uint64_t drawn = random.Below(100);
    if (drawn < 70) {
      // No two items are the same one.
      std::vector<std::string> values(1 + random.Below(random.OneIn(50) ? 300 : 4));
      std::vector<NewItem> items;
      for (std::string& value : values) {
        value = std::to_string(step) + "/" + std::to_string(items.size()) +
                std::string(random.Below(60), '.');
        items.push_back({clock.NowNanos(), value});
      }
      const auto result = store->AddListItems(list, items);
      ASSERT_TRUE(result.ok()) << result.status();
      added += result->stored;
    } else if (drawn < 80) {
      // What has expired and lies there still is counted by nobody when it is removed.
      while (store->Reclaim() != 0) {
      }
      const auto gone = store->RemoveAllListItems(list);
      ASSERT_TRUE(gone.ok());
      removed += *gone;
    } else if (drawn < 98) {
      ListItems items;
      ASSERT_EQ(Say(store->GetListItems(list, {}, &items)), "OK");
    } else {
      clock.AdvanceSeconds(random.Below(20));
      store->Reclaim(random.Below(500));
    }
    if (step % 1000 == 0) store->Verify();
  }
  store->Verify();
  // A removal counts what lived: let all that has expired be counted as expired.
  while (store->Reclaim() != 0) {
  }
  const Stats stats = store->GetStats();
  EXPECT_EQ(stats.refused_writes, 0u);
  if (steps >= 20'000) {  // long enough to reach the limit
    EXPECT_GT(stats.cache.evicted_items, 0u);
    EXPECT_GT(stats.expired_items, 0u);
  }
  EXPECT_EQ(added,
            stats.tables[0].rows + stats.cache.evicted_items + stats.expired_items + removed);
}

TEST_F(ListEvictionTest, ListsThatAreReadStay) {
  AddLists(0, 1000);
  for (uint64_t i = 1000; i < 40'000; i += 100) {
    for (int hot = 0; hot < 50; ++hot) PresenceOf(std::to_string(hot));
    AddLists(i, i + 100);
  }
  size_t kept = 0;
  for (int hot = 0; hot < 50; ++hot) {
    kept += PresenceOf(std::to_string(hot)) != ListPresence::kAbsent ? 1 : 0;
  }
  EXPECT_EQ(kept, 50u);
  EXPECT_EQ(PresenceOf("900"), ListPresence::kAbsent);
}

TEST_F(ListEvictionTest, ListsThatAreOnlyWrittenDoNotStay) {
  AddLists(0, 100);
  const std::string value(100, 'v');
  for (uint64_t i = 100; i < 40'000; ++i) {
    AddLists(i, i + 1);
    if (i % 100 == 0 && Count(History("17")) == 0) return;  // to count is not to read
    // The same item again: it takes no memory.
    if (i < 1000) {
      ASSERT_EQ(Say(Add(History("17"), kNow, value)), "OK");
    }
  }
  FAIL() << "a list that was not read while others came is still there";
}

TEST_F(ListEvictionTest, FeaturesStay) {
  AddLists(0, 40'000);
  EXPECT_GT(store->GetStats().cache.evictions, 0u);
  ASSERT_EQ(store->ListFeatures().size(), 1u);
  EXPECT_EQ(store->GetStats().tables[1].rows, 1u);
}

TEST_F(ListEvictionTest, AnAdditionToManyListsEvictsNoneOfThem) {
  Options options = EvictingOptions(clock);
  options.memory_limit_bytes = uint64_t{16} << 20;
  Reopen(options);
  CreateHistory();
  AddLists(0, 60'000, 200, options.memory_limit_bytes);
  const std::string value(300, 'v');
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i)
      ids.push_back(std::to_string(round % 3) + "/" + std::to_string(i));
    std::vector<ListAddition> additions;
    const NewItem item{kNow + static_cast<uint64_t>(round), value};
    for (const std::string& id : ids) additions.push_back({History(id), {&item, 1}});
    const auto added = store->AddListItemsMulti(additions);
    ASSERT_TRUE(added.ok()) << added.status();
    for (const std::string& id : ids) {
      ListItems items;
      ASSERT_EQ(Say(store->GetListItems(History(id), {.limit = 1}, &items)), "OK");
      ASSERT_EQ(items.size(), 1u) << "round " << round << " list " << id;
      ASSERT_EQ(items[0].timestamp_nanos, item.timestamp_nanos);
    }
    ASSERT_LE(store->GetStats().held_bytes, options.memory_limit_bytes);
  }
  store->Verify();
}

TEST_F(ListEvictionTest, LargeListsGoWhole) {
  Options options = EvictingOptions(clock);
  options.memory_limit_bytes = uint64_t{16} << 20;
  Reopen(options);
  CreateHistory();
  for (int list = 0; list < 100; ++list) {
    for (int chunk = 0; chunk < 10; ++chunk) {
      std::vector<std::string> values;
      for (int i = 0; i < 200; ++i) {
        values.push_back(std::to_string(chunk * 200 + i) + std::string(100, '.'));
      }
      std::vector<NewItem> items;
      for (const std::string& value : values) items.push_back({kNow, value});
      const auto added = store->AddListItems(History(std::to_string(list)), items);
      ASSERT_TRUE(added.ok()) << added.status();
      ASSERT_LE(store->GetStats().held_bytes, options.memory_limit_bytes);
    }
  }
  store->Verify();
  // Large lists are taken apart in slices.
  while (store->Reclaim() != 0) {
  }
  const Stats stats = store->GetStats();
  EXPECT_GT(stats.cache.evictions, 0u);
  EXPECT_EQ(stats.cache.evicted_items + stats.tables[0].rows, 100u * 2000u);
  EXPECT_EQ(Count(History("99")), 2000u) << "the list that is written stays whole";
}

// Its own lane has nothing else to give: the others give what they have.
TEST_F(ListEvictionTest, OneListMayTakeTheMemoryOfAllOthers) {
  Options options = EvictingOptions(clock);
  options.memory_limit_bytes = uint64_t{16} << 20;
  Reopen(options);
  CreateHistory();
  AddLists(0, 60'000, 200, options.memory_limit_bytes);
  size_t items_in_list = 0;
  for (int chunk = 0; chunk < 5000; ++chunk) {
    std::vector<std::string> values;
    for (int i = 0; i < 10; ++i) {
      values.push_back(std::to_string(chunk * 10 + i) + std::string(100, '.'));
    }
    std::vector<NewItem> items;
    for (const std::string& value : values) items.push_back({kNow, value});
    const auto added = store->AddListItems(History("big"), items);
    ASSERT_TRUE(added.ok()) << "chunk " << chunk << ": " << added.status();
    items_in_list += values.size();
    if (chunk % 100 == 0) {
      ASSERT_LE(store->GetStats().held_bytes, options.memory_limit_bytes);
    }
  }
  EXPECT_EQ(Count(History("big")), items_in_list);
  EXPECT_EQ(PresenceOf("big"), ListPresence::kComplete);
  store->Verify();
}

TEST_F(ListEvictionTest, WhatCannotFitIsRefusedAndEvictsNothing) {
  AddLists(0, 100);
  std::vector<std::string> values;
  for (int i = 0; i < 200; ++i) values.push_back(std::to_string(i) + std::string(60'000, '.'));
  std::vector<NewItem> items;
  for (const std::string& value : values) items.push_back({kNow, value});
  const auto added = store->AddListItems(History("huge"), items);
  EXPECT_EQ(added.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(PresenceOf("huge"), ListPresence::kAbsent);
  // Nothing was evicted in vain.
  EXPECT_EQ(store->GetStats().cache.evictions, 0u);
  EXPECT_EQ(store->GetStats().refused_writes, 1u);
  store->Verify();
  AddLists(100, 200);
}

TEST_F(ListEvictionTest, TheListenerIsToldWhenTheCallsWorkIsDone) {
  std::multiset<std::string> told;
  size_t items = 0;
  Options options = EvictingOptions(clock);
  bool forgetting = false;
  options.eviction_listener = [&](const EvictedList& list) {
    EXPECT_EQ(list.entity_type, "user");
    EXPECT_EQ(list.feature, "history");
    EXPECT_EQ(list.version, "v|2#");
    EXPECT_EQ(list.reason, forgetting ? EvictionReason::kForgotten : EvictionReason::kMemory);
    items += list.items;
    told.emplace(list.entity_id);
    // It may call the store, and finds the list gone.
    ListItems read;
    EXPECT_EQ(Say(store->GetListItems(
                  {list.entity_type, list.feature, list.version, list.entity_id}, {}, &read)),
              "OK");
    EXPECT_EQ(read.presence(), ListPresence::kAbsent);
  };
  Reopen(options);
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", kDay)), "OK");
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v|2#")), "OK");
  const std::string value(100, 'v');
  for (int i = 0; i < 30'000; ++i) {
    ASSERT_EQ(Say(Add({"user", "history", "v|2#", std::to_string(i)}, kNow, value)), "OK");
  }
  const Stats stats = store->GetStats();
  EXPECT_EQ(told.size(), stats.cache.evictions);
  EXPECT_EQ(items, stats.cache.evicted_items);
  EXPECT_EQ(std::set<std::string>(told.begin(), told.end()).size(), told.size());
  forgetting = true;
  ASSERT_TRUE(*store->ForgetList({"user", "history", "v|2#", "29999"}));
  EXPECT_EQ(told.size(), stats.cache.evictions + 1);
}

// Lists of a deleted feature go before others, and are not told.
TEST_F(ListEvictionTest, DeletedListsGoFirst) {
  AddLists(0, 20'000);
  const uint64_t evicted = store->GetStats().cache.evictions;
  ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  CreateHistory();
  AddLists(20'000, 22'000);
  // A lane that is rid of its own may give some while others are not.
  const uint64_t since = store->GetStats().cache.evictions - evicted;
  EXPECT_LT(since, 200u);
  uint64_t absent = 0;
  for (uint64_t i = 20'000; i < 22'000; ++i) {
    absent += PresenceOf(std::to_string(i)) == ListPresence::kAbsent ? 1 : 0;
  }
  EXPECT_EQ(absent, since);
}

// Lists that come and go without ever reaching the limit must not make the queue grow.
TEST_F(ListEvictionTest, WhatComesAndGoesLeavesNothingBehind) {
  for (int round = 0; round < 300; ++round) {
    AddLists(0, 100);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(store->RemoveAllListItems(History(std::to_string(i))).ok());
    }
  }
  while (store->Reclaim() != 0) {
  }
  store->Verify();
  EXPECT_LT(store->GetStats().live_bytes, uint64_t{200} << 10);
}

TEST_F(ListEvictionTest, ManyThreads) {
  constexpr int kThreads = 4;
  const uint64_t steps = TestSteps(20'000);
  Options options = EvictingOptions(clock);
  options.shards = 2;
  std::atomic<uint64_t> told{0};
  options.eviction_listener = [&](const EvictedList&) { told.fetch_add(1); };
  Reopen(options);
  CreateHistory();
  const uint64_t seed = TestSeed();
  std::atomic<uint64_t> added{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      Random random(seed + static_cast<uint64_t>(number));
      ListItems items;
      for (uint64_t step = 0; step < steps; ++step) {
        const std::string id = std::to_string(random.Below(steps));
        const std::string value = std::to_string(number) + "/" + std::to_string(step) +
                                  std::string(random.Below(300), '.');
        const NewItem item{kNow, value};
        switch (random.Below(10)) {
          case 0:
            EXPECT_EQ(Say(store->PutList(History(id), {&item, 1},
                                         {.fresh_until_seconds = kNowSeconds + 10})),
                      "OK");
            break;
          case 1:
            EXPECT_TRUE(store->ForgetList(History(id)).ok());
            break;
          case 2:
          case 3:
          case 4: {
            EXPECT_EQ(Say(store->GetListItems(History(id), {}, &items)), "OK");
            EXPECT_TRUE(items.presence() != ListPresence::kAbsent || items.empty());
            break;
          }
          case 5: {
            const std::string other = std::to_string(random.Below(steps));
            const ListAddition additions[] = {{History(id), {&item, 1}},
                                              {History(other), {&item, 1}}};
            EXPECT_EQ(Say(store->AddListItemsMulti(additions)), "OK");
            added += 2;
            break;
          }
          default:
            EXPECT_EQ(Say(store->AddListItems(History(id), {&item, 1})), "OK");
            ++added;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  store->Verify();
  const Stats stats = store->GetStats();
  EXPECT_EQ(stats.refused_writes, 0u);
  EXPECT_EQ(stats.cache.additions, added.load());
  EXPECT_EQ(stats.cache.evictions + stats.cache.forgotten, told.load());
  EXPECT_LE(stats.held_bytes, kLimitBytes);
}

}  // namespace list_eviction_test
}  // namespace liststore::testing
