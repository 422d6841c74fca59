// How long a cache's lists are served, and what happens to a load when its list changes meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lists/list_cache_fixture.h"

namespace liststore::testing {
namespace list_cache_freshness_test {

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

}  // namespace list_cache_freshness_test
}  // namespace liststore::testing
