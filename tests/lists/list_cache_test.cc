// What a cache in front of a slower store promises: one load for all who wait, nothing partial
// taken for the whole, and what becomes of loaders that misbehave.
#include "liststore/list_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lists/list_cache_fixture.h"

namespace liststore::testing {
namespace list_cache_test {

// --- Loading

TEST_F(ListCacheTest, AMissLoadsTheWholeListOnceAndHitsFollow) {
  source["a"] = {{kNow - 3, "x"}, {kNow - 1, "z"}, {kNow - 2, "y"}};
  Open();
  EXPECT_EQ(Get("a", {.limit = 2}), "z y");
  EXPECT_EQ(Get("a"), "z y x") << "all of it was put, whatever the first read asked for";
  EXPECT_EQ(Get("a", {.max_timestamp_nanos = kNow - 1}), "y x");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cache->GetStats().lists_loaded, 1u);
  EXPECT_EQ(cache->store().GetStats().cache.hits, 2u);
}

TEST_F(ListCacheTest, AnAnswerThatWasJustLoadedReadsAsOneFromTheStore) {
  source["a"] = {{kNow - 1, "same"}, {kNow - 1, "other"},  {kNow - 1, "same"},
                 {kNow - 5, ""},     {1, "over long ago"}, {kNow - 9, "longer value"}};
  Open();
  for (const GetOptions& get :
       {GetOptions{}, GetOptions{.limit = 1}, GetOptions{.limit = 2, .with_expiry = true},
        GetOptions{.min_timestamp_nanos = kNow - 5}, GetOptions{.max_timestamp_nanos = kNow - 1},
        GetOptions{.min_timestamp_nanos = kNow, .max_timestamp_nanos = kNow}}) {
    ASSERT_EQ(Say(cache->Invalidate(History("a"))), "OK");
    ListItems loaded;
    ASSERT_EQ(Say(cache->GetListItems(History("a"), get, &loaded)), "OK");
    ASSERT_EQ(Say(cache->GetListItems(History("a"), get, &items)), "OK");
    EXPECT_EQ(Keys(loaded), Keys(items));
    EXPECT_EQ(Values(loaded), Values(items));
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(loaded[i].expires_at_seconds, items[i].expires_at_seconds);
    }
    EXPECT_EQ(loaded.presence(), items.presence());
    EXPECT_EQ(loaded.fresh_until_seconds(), items.fresh_until_seconds());
  }
  EXPECT_EQ(calls, 6);
}

// Keys are compared by their bytes, of which each takes all of its values here.
TEST_F(ListCacheTest, AnAnswerThatWasJustLoadedIsInTheOrderOfTime) {
  std::vector<std::string> newest_first;
  for (uint64_t i = 0; i < 300; ++i) newest_first.push_back(std::to_string(i));
  for (const uint64_t step :
       {uint64_t{1}, uint64_t{1} << 8, uint64_t{1} << 16, uint64_t{1} << 32}) {
    Content& content = source[std::to_string(step)];
    for (uint64_t i = 0; i < 300; ++i) content.emplace_back(kNow - i * step, newest_first[i]);
  }
  Open();
  for (const auto& [id, content] : source) {
    ASSERT_EQ(Say(cache->GetListItems(History(id), {.limit = 300}, &items)), "OK");
    EXPECT_EQ(Values(items), newest_first) << id;
    ASSERT_EQ(Say(cache->Invalidate(History(id))), "OK");
    EXPECT_EQ(Get(id, {.limit = 2}), "0 1") << id;
  }
}

TEST_F(ListCacheTest, APartOfAListIsNotTakenForTheWhole) {
  source["a"] = {{kNow - 2, "old"}, {kNow - 1, "new"}};
  Open();
  const NewItem item{kNow - 1, "new"};
  ASSERT_EQ(Say(cache->store().AddListItems(History("a"), {&item, 1})), "OK");
  EXPECT_EQ(Get("a"), "new old");
  EXPECT_EQ(calls, 1);
}

TEST_F(ListCacheTest, ListsThatTheSourceDoesNotHaveAreRememberedForATime) {
  options.absent_for_seconds = 10;
  Open();
  EXPECT_EQ(Get("nobody"), "");
  EXPECT_EQ(Get("nobody"), "");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cache->GetStats().lists_absent, 1u);
  source["nobody"] = {{kNow, "came later"}};
  clock.AdvanceSeconds(10);
  EXPECT_EQ(Get("nobody"), "came later");
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, AListThatIsOverIsAsGoodAsAbsent) {
  options.absent_for_seconds = 10;
  source["a"] = {{1, "over long ago"}};
  Open();
  EXPECT_EQ(Get("a"), "");
  EXPECT_EQ(items.fresh_until_seconds(), kNowSeconds + 10);
  source["a"].emplace_back(kNow, "new");
  clock.AdvanceSeconds(10);
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(items.fresh_until_seconds(), 0);
}

TEST_F(ListCacheTest, WithoutATimeForThemTheyAreNot) {
  options.absent_for_seconds = 0;
  source["over"] = {{1, "over long ago"}};
  Open();
  EXPECT_EQ(Get("over"), "");
  EXPECT_EQ(Get("over"), "");
  EXPECT_EQ(calls.exchange(0), 2);
  EXPECT_EQ(Get("nobody"), "");
  EXPECT_EQ(Get("nobody"), "");
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, AListLargerThanTheStoreIsServedAndNotKept) {
  options.store.memory_limit_bytes = 1 << 20;
  options.store.shards = 1;
  for (uint64_t i = 0; i < 40; ++i) source["big"].push_back({kNow - i, std::string(60'000, 'x')});
  source["small"] = {{kNow, "s"}};
  Open();
  EXPECT_EQ(Get("small"), "s");
  ASSERT_EQ(Say(cache->GetListItems(History("big"), {}, &items)), "OK");
  EXPECT_EQ(items.size(), 40u);
  EXPECT_EQ(cache->GetStats().loads_not_kept, 1u);
  ASSERT_EQ(Say(cache->GetListItems(History("big"), {.limit = 3}, &items)), "OK");
  EXPECT_EQ(items.size(), 3u);
  EXPECT_GE(calls, 3);
}

// --- Many at once

TEST_F(ListCacheTest, AMultiGetLoadsWhatIsMissingByOneCallAndAnswersInOrder) {
  for (int i = 0; i < 200; ++i) source["e" + std::to_string(i)] = {{kNow, "v" + std::to_string(i)}};
  Open();
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back("e" + std::to_string((i * 7) % 200));
  for (int i = 0; i < 200; ++i) {
    if (i % 4 != 0) {
      ASSERT_EQ(Get(ids[i]), "v" + ids[i].substr(1));
    }
  }
  calls = 0;
  lists_of_calls.clear();
  std::vector<ListId> lists;
  for (const std::string& id : ids) lists.push_back(History(id));
  std::vector<ListItems> many;
  ASSERT_EQ(Say(cache->MultiGetListItems(lists, {}, &many)), "OK");
  ASSERT_EQ(many.size(), 200u);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(Values(many[i]), std::vector<std::string>{"v" + ids[i].substr(1)}) << i;
  }
  EXPECT_EQ(lists_of_calls, std::vector<size_t>{50});
}

TEST_F(ListCacheTest, AMultiGetAsksForNoMoreThanALoadMayHave) {
  options.lists_per_load_max = 3;
  Open();
  const std::vector<std::string> ids = {"a", "b", "a", "c", "d", "e", "f", "g"};
  std::vector<ListId> lists;
  for (const std::string& id : ids) {
    source[id] = {{kNow, id}};
    lists.push_back(History(id));
  }
  std::vector<ListItems> many;
  ASSERT_EQ(Say(cache->MultiGetListItems(lists, {}, &many)), "OK");
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(Values(many[i]), std::vector{ids[i]}) << i;
  EXPECT_EQ(lists_of_calls, (std::vector<size_t>{3, 3, 1})) << "a list that comes twice is one";
}

TEST_F(ListCacheTest, AnErrorOfAMultiGetIsTheFirstListsAndTheOthersAreAnswered) {
  source["a"] = {{kNow, "a"}};
  source["c"] = {{kNow, "c"}};
  options.loader = [](ListLoad& load) {
    for (size_t i = 0; i < load.size(); ++i) {
      const NewItem item{kNow, load.list(i).entity_id};
      if (load.list(i).entity_id == "b") {
        load.Fail(i, absl::UnavailableError("down"));
      } else {
        load.Answer(i, {&item, 1});
      }
    }
    return absl::OkStatus();
  };
  Open();
  const std::vector<ListId> lists = {History("a"), History("b"), History("c")};
  std::vector<ListItems> many;
  EXPECT_EQ(Say(cache->MultiGetListItems(lists, {}, &many)), "UNAVAILABLE: list 1: down");
  EXPECT_EQ(Values(many[0]), std::vector<std::string>{"a"});
  EXPECT_TRUE(many[1].empty());
  EXPECT_EQ(many[1].presence(), ListPresence::kAbsent);
  EXPECT_EQ(Values(many[2]), std::vector<std::string>{"c"});
}

TEST_F(ListCacheTest, SixtyFourThreadsThatMissOneListCauseOneLoad) {
  constexpr int kThreads = 64;
  source["a"] = {{kNow, "once"}};
  Open();
  // The load lasts until everybody else has joined it.
  before_answer = [&] {
    while (cache->GetStats().reads_joined < kThreads - 1) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ListItems mine;
      if (!cache->GetListItems(History("a"), {}, &mine).ok()) return;
      if (Values(mine) == std::vector<std::string>{"once"}) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(calls, 1);
}

// --- Loaders that misbehave

TEST_F(ListCacheTest, TheFirstAnswerCounts) {
  options.loader = [](ListLoad& load) {
    const NewItem first{kNow, "first"};
    const NewItem second{kNow, "second"};
    load.Answer(0, {&first, 1});
    load.Answer(0, {&second, 1});
    load.Fail(0, absl::UnavailableError("too late"));
    return absl::UnavailableError("too late as well");
  };
  Open();
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(cache->GetStats().answers_ignored, 2u);
  EXPECT_EQ(cache->GetStats().load_failures, 0u);
}

TEST_F(ListCacheTest, WhatIsNotAnsweredIsAnError) {
  options.loader = [](ListLoad&) { return absl::OkStatus(); };
  Open();
  EXPECT_EQ(Get("a"), "INTERNAL: the loader did not answer for the list");
}

TEST_F(ListCacheTest, ABadItemIsTheListsErrorAndNothingIsKept) {
  source["a"] = {{kNow, "good"}, {kNow, std::string(65'488, 'x')}};
  Open();
  EXPECT_EQ(Get("a"), "INVALID_ARGUMENT: item 1: value of 65488 bytes exceeds 65487");
  EXPECT_EQ(cache->store().GetStats().tables[0].rows, 0u);
}

TEST_F(ListCacheTest, ALoaderMayAskForOtherListsAndNotForItsOwn) {
  source["b"] = {{kNow, "of b"}};
  std::string own;
  options.loader = [&](ListLoad& load) -> absl::Status {
    if (load.list(0).entity_id == "b") return Load(load);
    ListItems inner;
    own = Say(cache->GetListItems(load.list(0), {}, &inner));
    absl::Status status = cache->GetListItems(History("b"), {}, &inner);
    if (!status.ok()) return status;
    const NewItem item{kNow, inner[0].value};
    load.Answer(0, {&item, 1});
    return absl::OkStatus();
  };
  Open();
  EXPECT_EQ(Get("a"), "of b");
  EXPECT_EQ(own, "FAILED_PRECONDITION: the loader asked for a list that it is loading");
}

TEST_F(ListCacheTest, ALoaderMayNotAskForTheListsOfTheNextCall) {
  options.lists_per_load_max = 1;
  std::string next;
  options.loader = [&](ListLoad& load) -> absl::Status {
    ListItems inner;
    if (next.empty()) next = Say(cache->GetListItems(History("b"), {}, &inner));
    return Load(load);
  };
  Open();
  const std::vector<ListId> lists = {History("a"), History("b")};
  std::vector<ListItems> many;
  EXPECT_EQ(Say(cache->MultiGetListItems(lists, {}, &many)), "OK");
  EXPECT_EQ(next, "FAILED_PRECONDITION: the loader asked for a list that it is loading");
}

TEST_F(ListCacheTest, ALoaderThatThrowsLeavesNobodyWaiting) {
  bool throws = true;
  options.loader = [&](ListLoad& load) { return throws ? throw 1 : Load(load); };
  options.fresh_for_seconds = 60;
  options.refresh_ahead_seconds = 10;
  std::vector<std::function<void()>> tasks;
  options.executor = [&](std::function<void()> task) { tasks.push_back(std::move(task)); };
  Open();
  EXPECT_THROW(Get("a"), int);
  EXPECT_EQ(cache->GetStats().load_failures, 1u);
  throws = false;
  source["a"] = {{kNow, "first"}};
  EXPECT_EQ(Get("a"), "first");
  throws = true;
  clock.AdvanceSeconds(55);
  EXPECT_EQ(Get("a"), "first");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_THROW(tasks[0](), int);
  EXPECT_EQ(cache->GetStats().load_failures, 2u);
  cache.reset();  // waits for nobody
}

TEST_F(ListCacheTest, AFeatureThatDoesNotExistIsTheListsError) {
  source["a"] = {{kNow, "x"}};
  Open();
  ListItems mine;
  EXPECT_EQ(Say(cache->GetListItems({"user", "other", "", "a"}, {}, &mine)),
            "NOT_FOUND: no list feature version with the key \"user#other|\"");
}

// --- Options

TEST_F(ListCacheTest, OptionsAreChecked) {
  const auto open = [&] { return Say(ListCache::Open(options)); };
  options.refresh_ahead_seconds = 60;
  options.fresh_for_seconds = 60;
  EXPECT_EQ(open(),
            "INVALID_ARGUMENT: refresh_ahead_seconds 60 is not less than fresh_for_seconds 60");
  options.refresh_ahead_seconds = 0;
  options.lists_per_load_max = 0;
  EXPECT_EQ(open(), "INVALID_ARGUMENT: lists_per_load_max 0 is not within 1 to 65535");
  options.lists_per_load_max = 1;
  options.stale_for_seconds = -1;
  EXPECT_EQ(open(), "INVALID_ARGUMENT: stale_for_seconds -1 is not within 0 to 630720000");
  options.stale_for_seconds = 0;
  options.loader = nullptr;
  EXPECT_EQ(open(), "INVALID_ARGUMENT: loader is not set");
}

}  // namespace list_cache_test
}  // namespace liststore::testing
