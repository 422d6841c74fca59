// What a cache in front of a slower store promises: one load for all who wait, nothing partial
// taken for the whole, and what happens when the source fails, waits or changes meanwhile.
#include "liststore/list_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace {

using Content = std::vector<std::pair<uint64_t, std::string>>;  // timestamp, value

// The source: lists by entity id, of one feature.
class ListCacheTest : public ::testing::Test {
 protected:
  ListCacheTest() {
    options.store = SmallOptions(clock);
    options.loader = [this](ListLoad& load) { return Load(load); };
  }
  void TearDown() override {
    if (cache != nullptr) cache->store().Verify();
  }

  void Open() {
    auto opened = ListCache::Open(options);
    ASSERT_EQ(Say(opened), "OK");
    cache = *std::move(opened);
    ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", 30 * kDay)), "OK");
  }

  absl::Status Load(ListLoad& load) {
    ++calls;
    lists_of_calls.push_back(load.size());
    if (before_answer) before_answer();
    if (!failure.ok()) return failure;
    for (size_t i = 0; i < load.size(); ++i) {
      const auto at = source.find(std::string(load.list(i).entity_id));
      std::vector<NewItem> loaded;
      if (at != source.end()) {
        for (const auto& [timestamp, value] : at->second) loaded.push_back({timestamp, value});
      }
      load.Answer(i, loaded);
    }
    return absl::OkStatus();
  }

  static ListId History(std::string_view entity_id) { return {"user", "history", "", entity_id}; }
  std::string Get(std::string_view entity_id, const GetOptions& get = {}) {
    const absl::Status status = cache->GetListItems(History(entity_id), get, &items);
    if (!status.ok()) {
      EXPECT_EQ(items.size(), 0u) << "an error comes without items";
      return Say(status);
    }
    EXPECT_EQ(items.presence(), ListPresence::kComplete);
    return Joined();
  }
  std::string Joined() const {
    std::string values;
    for (const std::string& value : Values(items)) values += (values.empty() ? "" : " ") + value;
    return values;
  }
  absl::Status Add(std::string_view entity_id, uint64_t timestamp_nanos, std::string_view value) {
    const NewItem item{timestamp_nanos, value};
    return cache->AddListItems(History(entity_id), {&item, 1});
  }

  ManualClock clock{kNow};
  ListCacheOptions options;
  std::map<std::string, Content> source;
  absl::Status failure;
  std::function<void()> before_answer;
  std::atomic<int> calls{0};
  std::vector<size_t> lists_of_calls;
  std::unique_ptr<ListCache> cache;
  ListItems items;
};

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

// --- Freshness

TEST_F(ListCacheTest, AListIsLoadedAnewWhenItIsNotFreshAnyMore) {
  options.fresh_for_seconds = 60;
  source["a"] = {{kNow, "first"}};
  Open();
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(items.fresh_until_seconds(), kNowSeconds + 60);
  source["a"] = {{kNow, "second"}};
  clock.AdvanceSeconds(59);
  EXPECT_EQ(Get("a"), "first");
  clock.AdvanceSeconds(1);
  EXPECT_EQ(Get("a"), "second");
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, AStaleListIsServedUpToABoundWhenTheSourceFails) {
  options.fresh_for_seconds = 60;
  options.stale_for_seconds = 100;
  source["a"] = {{kNow, "first"}};
  Open();
  EXPECT_EQ(Get("a"), "first");
  failure = absl::UnavailableError("down");
  clock.AdvanceSeconds(159);
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(cache->GetStats().stale_served, 1u);
  EXPECT_EQ(cache->GetStats().load_failures, 1u);
  clock.AdvanceSeconds(1);
  EXPECT_EQ(Get("a"), "UNAVAILABLE: down");
  failure = absl::OkStatus();
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(cache->GetStats().stale_served, 1u);
}

TEST_F(ListCacheTest, AMissIsAnErrorWhenTheSourceFails) {
  options.stale_for_seconds = 100;
  failure = absl::UnavailableError("down");
  Open();
  EXPECT_EQ(Get("a"), "UNAVAILABLE: down");
  const NewItem item{kNow, "part"};
  ASSERT_EQ(Say(cache->store().AddListItems(History("a"), {&item, 1})), "OK");
  EXPECT_EQ(Get("a"), "UNAVAILABLE: down") << "a part is not served in its place";
}

TEST_F(ListCacheTest, ARefreshAheadIsDoneByTheReaderThatFindsItDue) {
  options.fresh_for_seconds = 60;
  options.refresh_ahead_seconds = 10;
  source["a"] = {{kNow, "first"}};
  Open();
  EXPECT_EQ(Get("a"), "first");
  source["a"] = {{kNow, "second"}};
  clock.AdvanceSeconds(50);
  EXPECT_EQ(Get("a"), "first") << "it gets what was there";
  EXPECT_EQ(Get("a"), "second");
  EXPECT_EQ(items.fresh_until_seconds(), kNowSeconds + 110);
  EXPECT_EQ(cache->GetStats().refreshes, 1u);
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, ARefreshThatFailsLeavesTheListAsItIs) {
  options.fresh_for_seconds = 60;
  options.refresh_ahead_seconds = 10;
  source["a"] = {{kNow, "first"}};
  Open();
  EXPECT_EQ(Get("a"), "first");
  failure = absl::UnavailableError("down");
  clock.AdvanceSeconds(55);
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(cache->GetStats().load_failures, 2u);
  clock.AdvanceSeconds(5);
  EXPECT_EQ(Get("a"), "UNAVAILABLE: down");
}

TEST_F(ListCacheTest, WithAnExecutorRefreshesRunThereAndReadsGoOn) {
  options.fresh_for_seconds = 60;
  options.refresh_ahead_seconds = 10;
  std::vector<std::function<void()>> tasks;
  options.executor = [&](std::function<void()> task) { tasks.push_back(std::move(task)); };
  source["a"] = {{kNow, "first"}};
  source["b"] = {{kNow, "b"}};
  Open();
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(Get("b"), "b");
  source["a"] = {{kNow, "second"}};
  clock.AdvanceSeconds(55);
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(Get("a"), "first") << "one refresh at a time";
  ASSERT_EQ(tasks.size(), 1u);
  const std::vector<ListId> lists = {History("a"), History("b")};
  std::vector<ListItems> many;
  ASSERT_EQ(Say(cache->MultiGetListItems(lists, {}, &many)), "OK");
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(calls, 2);
  for (const auto& task : tasks) task();
  EXPECT_EQ(Get("a"), "second");
  EXPECT_EQ(calls, 4);
}

// --- Loads that meet changes

TEST_F(ListCacheTest, AWriteThroughReachesTheSourceFirstAndThenTheCopy) {
  source["a"] = {{kNow - 1, "old"}};
  options.writer = [this](const ListChange& change) {
    if (!failure.ok()) return failure;
    Content& content = source[std::string(change.list.entity_id)];
    switch (change.kind) {
      case ListChange::Kind::kAdd:
        for (const NewItem& item : change.items) {
          content.emplace_back(item.timestamp_nanos, item.value);
        }
        break;
      case ListChange::Kind::kRemoveWithValue:
        std::erase_if(content, [&](const auto& item) { return item.second == change.value; });
        break;
      case ListChange::Kind::kRemoveAll:
        content.clear();
        break;
    }
    return absl::OkStatus();
  };
  Open();
  EXPECT_EQ(Get("a"), "old");
  ASSERT_EQ(Say(Add("a", kNow, "new")), "OK");
  EXPECT_EQ(Get("a"), "new old");
  EXPECT_EQ(calls, 1) << "the copy was changed";
  ASSERT_EQ(Say(cache->RemoveListItemsWithValue(History("a"), "old")), "OK");
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(Say(Add("not here", kNow, "n")), "OK");
  EXPECT_EQ(cache->store().GetStats().tables[0].partitions, 1u) << "it is not begun by a write";
  EXPECT_EQ(Get("not here"), "n");
  ASSERT_EQ(Say(cache->RemoveAllListItems(History("a"))), "OK");
  EXPECT_EQ(Get("a"), "");

  ASSERT_EQ(Say(Add("a", kNow, "once more")), "OK");
  const int calls_before = calls;
  failure = absl::DeadlineExceededError("perhaps");
  EXPECT_EQ(Say(Add("a", kNow, "lost?")), "DEADLINE_EXCEEDED: perhaps");
  failure = absl::OkStatus();
  EXPECT_EQ(Get("a"), "once more");
  EXPECT_GT(calls, calls_before) << "what is unknown is asked for";
  EXPECT_EQ(cache->GetStats().writer_failures, 1u);
}

TEST_F(ListCacheTest, AWriteAroundLetsTheCopyGo) {
  options.write_policy = CacheWritePolicy::kAround;
  source["a"] = {{kNow - 1, "old"}};
  Open();
  EXPECT_EQ(Get("a"), "old");
  source["a"].emplace_back(kNow, "new");
  ASSERT_EQ(Say(Add("a", kNow, "new")), "OK");
  EXPECT_EQ(Get("a"), "new old");
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, ALoadThatAWriteOvertookIsAnsweredAndNotKept) {
  source["a"] = {{kNow - 1, "old"}};
  Open();
  before_answer = [&] {
    // After the source was asked, before it answers.
    before_answer = nullptr;
    ASSERT_EQ(Say(Add("a", kNow, "new")), "OK");
  };
  EXPECT_EQ(Get("a"), "old") << "the read began before the write";
  EXPECT_EQ(cache->GetStats().loads_overtaken, 1u);
  source["a"].emplace_back(kNow, "new");
  EXPECT_EQ(Get("a"), "new old");
  EXPECT_EQ(calls, 2);
}

TEST_F(ListCacheTest, AReadAfterAWriteDoesNotJoinALoadFromBefore) {
  source["a"] = {{kNow - 1, "old"}};
  Open();
  std::atomic<bool> go{false};
  std::atomic<bool> loading{false};
  before_answer = [&] {
    if (loading.exchange(true)) return;
    while (!go) std::this_thread::yield();
    source["a"].pop_back();  // what this load has seen
  };
  std::thread reader([&] {
    ListItems mine;
    EXPECT_EQ(Say(cache->GetListItems(History("a"), {}, &mine)), "OK");
    EXPECT_EQ(Values(mine), std::vector<std::string>{"old"});
  });
  while (!loading) std::this_thread::yield();
  source["a"].emplace_back(kNow, "new");
  ASSERT_EQ(Say(Add("a", kNow, "new")), "OK");
  EXPECT_EQ(Get("a"), "new old");
  go = true;
  reader.join();
  EXPECT_EQ(Get("a"), "new old") << "the older load did not replace it";
  EXPECT_EQ(calls, 2);
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
  EXPECT_EQ(own, "FAILED_PRECONDITION: the loader asks for the list that it is loading");
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
  EXPECT_EQ(next, "FAILED_PRECONDITION: the loader asks for the list that it is loading");
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
  EXPECT_EQ(open(), "INVALID_ARGUMENT: there is no loader");
}

}  // namespace
}  // namespace liststore::testing
