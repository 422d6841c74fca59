// Views of lists: they stay as they were, whatever becomes of the list.
#include "liststore/list_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_view_test {

class ListViewTest : public StoreTest {
 protected:
  ListViewTest() { CreateHistory(1000); }

  // Items of one length, which lie in one run, or of several.
  void Fill(const ListId& list, size_t count, bool one_length) {
    std::vector<std::string> values;
    for (size_t i = 0; i < count; ++i) {
      std::string value = std::to_string(i);
      value.insert(0, 8 - value.size(), '0');
      values.push_back(one_length ? value : value + std::string(i % 5, '.'));
    }
    std::vector<NewItem> items;
    for (size_t i = 0; i < count; ++i) items.push_back({kNow - 2 * i * kSecond, values[i]});
    ASSERT_EQ(Say(store->AddListItems(list, items)), "OK");
  }
  // Everything of a view or a result, as text.
  template <typename Items>
  static std::string Show(const Items& items) {
    std::string text;
    for (const ListItemView item : items) {
      text += item.item_key() + "=" + std::string(item.value) + "@" +
              std::to_string(item.expires_at_seconds) + " ";
    }
    return text;
  }
  std::string Read(const ListId& list, const GetOptions& options) {
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems(list, options, &items)), "OK");
    return Show(items);
  }
  void ReclaimAll() {
    while (store->Reclaim() > 0) {
    }
  }
};

TEST_F(ListViewTest, ShowsWhatAReadShows) {
  Fill(History("run"), 20, true);
  Fill(History("places"), 20, false);
  Fill(History("large"), 3'000, true);
  ASSERT_EQ(Say(Add(History("long"), kNow, std::string(5'000, 'v'))), "OK");
  ASSERT_EQ(Say(Add(History("long"), kNow - 1, "short")), "OK");
  ASSERT_EQ(Say(Add(History("empty value"), kNow, "")), "OK");
  ListView view;
  for (const char* id : {"run", "places", "large", "long", "empty value", "none"}) {
    for (const bool with_expiry : {false, true}) {
      for (const size_t limit : {1u, 7u, 1'000u, 5'000u}) {
        for (const uint64_t min : {uint64_t{0}, kNow - 11 * kSecond}) {
          const GetOptions options{.min_timestamp_nanos = min,
                                   .max_timestamp_nanos = kNow,
                                   .limit = limit,
                                   .with_expiry = with_expiry};
          ASSERT_EQ(Say(store->ViewListItems(History(id), options, &view)), "OK");
          EXPECT_EQ(Show(view), Read(History(id), options)) << id << " " << limit;
        }
      }
    }
  }
  const auto handle = *store->FindListFeature("user", "history");
  ASSERT_EQ(Say(store->ViewListItems({handle, "run"}, {}, &view)), "OK");
  EXPECT_EQ(view.size(), 20u);
  EXPECT_EQ(view.copied_items(), 0u);
  ASSERT_EQ(Say(store->ViewListItems(History("large"), {}, &view)), "OK");
  EXPECT_EQ(view.copied_items(), 100u);
  ASSERT_EQ(Say(store->ViewListItems(History("long"), {}, &view)), "OK");
  EXPECT_EQ(view.copied_items(), 1u);
  EXPECT_EQ(Say(store->ViewListItems(History("run"), {.limit = 0}, &view)),
            "INVALID_ARGUMENT: limit 0 is less than 1");
  EXPECT_TRUE(view.empty());
}

TEST_F(ListViewTest, StaysAsItWas) {
  const struct {
    const char* change;
    std::function<void()> run;
  } kChanges[] = {
      {"a newer item", [&] { ASSERT_EQ(Say(Add(History("1"), kNow + 1, "newer")), "OK"); }},
      {"an older item",
       [&] { ASSERT_EQ(Say(Add(History("1"), kNow - 400 * kSecond, "x")), "OK"); }},
      {"an item in between", [&] { ASSERT_EQ(Say(Add(History("1"), kNow - kSecond, "x")), "OK"); }},
      {"the same item again", [&] { ASSERT_EQ(Say(Add(History("1"), kNow, "00000000")), "OK"); }},
      {"many items",
       [&] {
         std::vector<NewItem> items;
         for (uint64_t i = 0; i < 50; ++i) items.push_back({kNow - 3 * i * kSecond, "many"});
         ASSERT_EQ(Say(store->AddListItems(History("1"), items)), "OK");
       }},
      {"an addition to many lists",
       [&] {
         const NewItem item{kNow - kSecond, "multi"};
         const ListAddition additions[] = {{History("1"), {&item, 1}}, {History("2"), {&item, 1}}};
         ASSERT_EQ(Say(store->AddListItemsMulti(additions)), "OK");
       }},
      {"growth to a large list", [&] { Fill(History("1"), 2'000, false); }},
      {"growth and splits",
       [&] {
         Fill(History("1"), 4'000, true);
         Fill(History("1"), 8'000, false);
       }},
      {"a long value",
       [&] { ASSERT_EQ(Say(Add(History("1"), kNow - 1, std::string(9'000, 'l'))), "OK"); }},
      {"removal by value",
       [&] { ASSERT_EQ(*store->RemoveListItemsWithValue(History("1"), "00000005"), 1u); }},
      {"removal of a value that is not there",
       [&] { ASSERT_EQ(*store->RemoveListItemsWithValue(History("1"), "none"), 0u); }},
      {"removal of all", [&] { ASSERT_EQ(*store->RemoveAllListItems(History("1")), 20u); }},
      {"removal of all, and another list",
       [&] {
         ASSERT_EQ(*store->RemoveAllListItems(History("1")), 20u);
         Fill(History("1"), 20, true);
         Fill(History("3"), 20, true);
       }},
      {"deletion of the feature",
       [&] { ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK"); }},
      {"some items expire", [&] { clock.AdvanceSeconds(980); }},
      {"all items expire", [&] { clock.AdvanceSeconds(2'000); }},
      {"compaction",
       [&] {
         for (int i = 0; i < 640; ++i) Fill(History("x" + std::to_string(i)), 20, true);
         for (int i = 0; i < 640; ++i) {
           if (i % 16 == 0) continue;
           ASSERT_EQ(*store->RemoveAllListItems(History("x" + std::to_string(i))), 20u);
         }
       }},
  };
  for (const auto& [change, run] : kChanges) {
    for (const bool one_length : {true, false}) {
      SCOPED_TRACE(std::string(change) + (one_length ? ", one length" : ""));
      clock.SetNanos(kNow);
      Reopen(SmallOptions(clock));
      CreateHistory(1000);
      Fill(History("1"), 20, one_length);
      ListView view, second, page;
      ASSERT_EQ(Say(store->ViewListItems(History("1"), {}, &view)), "OK");
      ASSERT_EQ(Say(store->ViewListItems(History("1"), {.limit = 3}, &page)), "OK");
      ASSERT_EQ(view.copied_items(), 0u);
      const std::string before = Show(view);
      const std::string page_before = Show(page);
      run();
      if (HasFatalFailure()) return;
      EXPECT_EQ(Show(view), before);
      store->Verify();
      ReclaimAll();
      store->Verify();
      EXPECT_EQ(Show(view), before);
      EXPECT_EQ(Show(page), page_before);
      // What the list is now does not depend on the views.
      const std::string now = Read(History("1"), {.limit = 100'000});
      ASSERT_EQ(Say(store->ViewListItems(History("1"), {.limit = 100'000}, &second)), "OK");
      EXPECT_EQ(Show(second), now);
      view.Release();
      EXPECT_TRUE(view.empty());
      EXPECT_EQ(Show(page), page_before);
      page = ListView();
      ReclaimAll();
      store->Verify();
      EXPECT_EQ(Show(second), now);
      EXPECT_EQ(Read(History("1"), {.limit = 100'000}), now);
    }
  }
}

TEST_F(ListViewTest, MemoryComesBackWithTheLastView) {
  for (int i = 0; i < 200; ++i) Fill(History(std::to_string(i)), 20, true);
  std::vector<ListView> views(400);
  for (size_t i = 0; i < views.size(); ++i) {
    ASSERT_EQ(Say(store->ViewListItems(History(std::to_string(i / 2)), {}, &views[i])), "OK");
  }
  ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  ReclaimAll();
  EXPECT_GT(store->GetStats().tables[0].live_bytes, 200u * 20 * (24 + 8 + 16));
  EXPECT_EQ(store->GetStats().tables[0].rows, 0u);
  ListView moved = std::move(views[7]);
  EXPECT_TRUE(views[7].empty());
  EXPECT_EQ(moved.size(), 20u);
  views.clear();
  moved.Release();
  moved.Release();
  ReclaimAll();
  store->Verify();
  EXPECT_LT(store->GetStats().tables[0].live_bytes, 100'000u);
}

TEST_F(ListViewTest, AWriteAtTheLimitIsRefusedWhole) {
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = 4 << 20;
  options.shards = 1;
  Reopen(options);
  CreateHistory(1000);
  size_t filled = 0;
  std::vector<std::string> values;
  for (int i = 0; i < 10; ++i) values.push_back(std::to_string(i) + std::string(300, 'v'));
  for (bool full = false; !full; ++filled) {
    std::vector<NewItem> items;
    for (uint64_t i = 0; i < 10; ++i) items.push_back({kNow - i, values[i]});
    full = !store->AddListItems(History(std::to_string(filled)), items).ok();
  }
  --filled;
  ASSERT_GT(filled, 100u);
  std::vector<ListView> views(filled);
  std::vector<std::string> before(filled);
  for (size_t i = 0; i < filled; ++i) {
    ASSERT_EQ(Say(store->ViewListItems(History(std::to_string(i)), {}, &views[i])), "OK");
    before[i] = Show(views[i]);
  }
  size_t refused = 0;
  for (size_t i = 0; i < filled; ++i) {
    const std::string now = Read(History(std::to_string(i)), {});
    const auto removed = store->RemoveListItemsWithValue(History(std::to_string(i)), values[3]);
    if (!removed.ok()) {
      EXPECT_EQ(removed.status().code(), absl::StatusCode::kResourceExhausted);
      EXPECT_EQ(Read(History(std::to_string(i)), {}), now);
      ++refused;
    } else {
      EXPECT_EQ(*removed, 1u);
    }
    EXPECT_EQ(Show(views[i]), before[i]);
  }
  EXPECT_GT(refused, 0u);
  store->Verify();
  EXPECT_LE(store->GetStats().held_bytes, options.memory_limit_bytes);
  // A list goes as a whole even so, and without views everything fits again.
  const ListId last = History("0");
  const size_t left = *store->CountListItems(last);
  EXPECT_EQ(*store->RemoveAllListItems(last), left);
  views.clear();
  for (size_t i = 0; i < filled; ++i) {
    ASSERT_TRUE(store->RemoveListItemsWithValue(History(std::to_string(i)), values[3]).ok()) << i;
  }
}

// Views taken and dropped at random among random changes: each is what a read was at its instant.
TEST_F(ListViewTest, AgreesWithCopiesTakenAtTheSameInstant) {
  Random random(TestSeed());
  const uint64_t steps = TestSteps(20'000);
  std::vector<std::pair<ListView, std::string>> views;
  for (uint64_t step = 0; step < steps; ++step) {
    const std::string id = std::to_string(random.Below(30));
    const std::string value = std::to_string(random.Below(12)) +
                              std::string(random.OneIn(40) ? 2'500 : random.Below(3), '.');
    const uint64_t now = clock.NowNanos();
    switch (random.Below(12)) {
      case 0:
        (void)*store->RemoveListItemsWithValue(History(id), value);
        break;
      case 1:
        if (random.OneIn(3)) (void)*store->RemoveAllListItems(History(id));
        break;
      case 2:
        store->Reclaim(random.Below(200));
        if (random.OneIn(10)) clock.AdvanceSeconds(random.Below(100));
        break;
      case 3:
      case 4:
      case 5: {
        const GetOptions options{.limit = 1 + random.Below(40), .with_expiry = random.OneIn(2)};
        ListView view;
        ASSERT_EQ(Say(store->ViewListItems(History(id), options, &view)), "OK");
        std::string copy = Read(History(id), options);
        ASSERT_EQ(Show(view), copy);
        views.emplace_back(std::move(view), std::move(copy));
        break;
      }
      case 6:
        if (views.empty()) break;
        std::swap(views[random.Below(views.size())], views.back());
        ASSERT_EQ(Show(views.back().first), views.back().second) << "step " << step;
        views.pop_back();
        break;
      case 7:
        if (random.OneIn(200)) {
          ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
          CreateHistory(1000);
        }
        break;
      default: {
        std::vector<NewItem> items;
        for (uint64_t i = 1 + random.Below(random.OneIn(20) ? 300 : 4); i > 0; --i) {
          items.push_back({now - random.Below(900 * kSecond), value});
        }
        ASSERT_EQ(Say(store->AddListItems(History(id), items)), "OK");
      }
    }
    if (step % 500 == 0) {
      store->Verify();
      for (const auto& [view, copy] : views) ASSERT_EQ(Show(view), copy) << "step " << step;
    }
    if (views.size() > 100) views.erase(views.begin(), views.begin() + 50);
  }
  views.clear();
}

// Views are handed to other threads and dropped there while lists change.
TEST_F(ListViewTest, AreUsedAndDroppedByOtherThreads) {
  const uint64_t steps = TestSteps(4'000);
  const uint64_t seed = TestSeed();
  std::mutex mutex;
  std::vector<std::pair<ListView, std::string>> handed;
  std::atomic<int> makers{2};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Random random(seed + t);
      for (uint64_t step = 0; step < steps; ++step) {
        const std::string id = std::to_string(random.Below(8));
        const std::string value = std::to_string(random.Below(8));
        const NewItem item{kNow - random.Below(100 * kSecond), value};
        switch (random.Below(6)) {
          case 0:
            EXPECT_TRUE(store->RemoveListItemsWithValue(History(id), value).ok());
            break;
          case 1:
            if (step % 16 == 0) (void)*store->RemoveAllListItems(History(id));
            store->Reclaim(10);
            break;
          case 2: {
            ListView view;
            EXPECT_TRUE(store->ViewListItems(History(id), {.limit = 10}, &view).ok());
            std::string shown = Show(view);
            const std::lock_guard lock(mutex);
            handed.emplace_back(std::move(view), std::move(shown));
            break;
          }
          default:
            EXPECT_TRUE(store->AddListItems(History(id), {&item, 1}).ok());
        }
      }
      --makers;
    });
  }
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (bool last = false; !last;) {
        last = makers == 0;
        std::vector<std::pair<ListView, std::string>> mine;
        {
          const std::lock_guard lock(mutex);
          mine.swap(handed);
        }
        for (const auto& [view, shown] : mine) EXPECT_EQ(Show(view), shown);
        if (mine.empty()) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  handed.clear();
  ReclaimAll();
}

using ListViewDeathTest = ListViewTest;

TEST_F(ListViewDeathTest, AStoreWithViewsIsNotDestroyed) {
  Fill(History("1"), 20, true);
  EXPECT_DEATH(
      {
        ListView view;
        (void)store->ViewListItems(History("1"), {}, &view);
        store.reset();
      },
      "views go before their store");
}

}  // namespace list_view_test
}  // namespace liststore::testing
