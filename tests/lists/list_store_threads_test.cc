// A store under several threads: what must hold whatever their order. Meant for ThreadSanitizer,
// too.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_store_threads_test {

constexpr int kThreads = 4;

template <typename Work>
void OnThreads(int count, Work&& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : threads) thread.join();
}

using ListStoreThreadsTest = StoreTest;

TEST_F(ListStoreThreadsTest, AllOperationsAtOnce) {
  Options options = SmallOptions(clock);
  options.background_reclaim = true;
  Reopen(options);
  CreateHistory(50);
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(2000);
  OnThreads(kThreads, [&](int t) {
    Random random(seed + static_cast<uint64_t>(t));
    ListItems items;
    std::vector<ListItems> many;
    for (uint64_t step = 0; step < steps; ++step) {
      const std::string id = std::to_string(random.Below(20));
      const uint64_t now = clock.NowNanos();
      const std::string value = std::to_string(random.Below(10));
      const NewItem item{now - random.Below(40 * kSecond), value};
      const ListAddition additions[] = {{History(id), {&item, 1}}, {History("0"), {&item, 1}}};
      const ListId lists[] = {History(id), History("1"), History("2")};
      switch (random.Below(10)) {
        case 0:
          EXPECT_TRUE(store->AddListItemsMulti(additions).ok());
          break;
        case 1:
          EXPECT_TRUE(store->RemoveListItemsWithValue(History(id), value).ok());
          break;
        case 2:
          EXPECT_TRUE(store->RemoveAllListItems(History(id)).ok());
          break;
        case 3:
          EXPECT_TRUE(store->MultiGetListItems(lists, {}, &many).ok());
          break;
        case 4:
          EXPECT_TRUE(store->CountListItems(History(id)).ok());
          break;
        case 5:
          if (step % 50 == 0) clock.AdvanceSeconds(1);
          store->Reclaim(10);
          (void)store->NextExpirySeconds();
          break;
        case 6:
          EXPECT_TRUE(store->SetListFeatureTtl("user", "history", random.Between(41, 60)).ok());
          EXPECT_TRUE(store->FindListFeature("user", "history", value).ok());
          break;
        case 7:
          EXPECT_TRUE(store->AddListItems(History(id), {&item, 1}).ok());
          break;
        default:
          EXPECT_TRUE(store->GetListItems(History(id), {.limit = 10}, &items).ok());
          for (size_t i = 1; i < items.size(); ++i) {
            EXPECT_GT(items[i - 1].item_key(), items[i].item_key());
          }
      }
      if (step % 500 == 0) (void)store->GetStats();
    }
  });
}

// Items of one call appear and go together.
TEST_F(ListStoreThreadsTest, OneCallOnOneListIsAtomic) {
  CreateHistory();
  std::atomic<bool> done{false};
  const uint64_t rounds = TestSteps(1000);
  OnThreads(2, [&](int t) {
    if (t == 0) {
      std::vector<NewItem> items;
      for (uint64_t i = 0; i < 8; ++i) items.push_back({kNow - i, "x"});
      for (uint64_t round = 0; round < rounds; ++round) {
        EXPECT_EQ(store->AddListItems(History("1"), items)->stored, 8u);
        if (round % 2 == 0) {
          EXPECT_EQ(*store->RemoveAllListItems(History("1")), 8u);
        } else {
          EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "x"), 8u);
        }
      }
      done = true;
    } else {
      ListItems items;
      while (!done) {
        EXPECT_TRUE(store->GetListItems(History("1"), {}, &items).ok());
        EXPECT_TRUE(items.empty() || items.size() == 8) << items.size();
      }
    }
  });
}

// Whatever additions are under way: once a deletion has returned, nothing is left, and what is
// added to the feature created again stays.
TEST_F(ListStoreThreadsTest, NoAdditionOutlivesTheDeletionOfItsFeature) {
  std::atomic<bool> done{false};
  const uint64_t rounds = TestSteps(200);
  OnThreads(kThreads, [&](int t) {
    if (t != 0) {
      const NewItem item{kNow, "stray"};
      for (uint64_t i = 0; !done; ++i) {
        const auto added = store->AddListItems(History(std::to_string(i % 8)), {&item, 1});
        EXPECT_TRUE(added.ok() || added.status().code() == absl::StatusCode::kNotFound)
            << added.status();
      }
      return;
    }
    for (uint64_t round = 0; round < rounds; ++round) {
      CreateHistory();
      const NewItem mine{kNow - 1, "mine"};
      EXPECT_EQ(Say(store->AddListItems(History("mine"), {&mine, 1})), "OK");
      for (int spin = 0; spin < 20; ++spin) std::this_thread::yield();
      EXPECT_EQ(Get(History("mine")), Strings{"mine"}) << "round " << round;
      EXPECT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(Get(History(std::to_string(i))), Strings{}) << "round " << round;
      }
      EXPECT_EQ(Get(History("mine")), Strings{}) << "round " << round;
      store->Reclaim();
    }
    done = true;
  });
}

TEST_F(ListStoreThreadsTest, FeaturesChangeWhileOthersUseThem) {
  const uint64_t rounds = TestSteps(300);
  OnThreads(kThreads, [&](int t) {
    const std::string mine = "feature" + std::to_string(t);
    const ListId list{"user", mine, "", "1"};
    ListItems items;
    for (uint64_t round = 0; round < rounds; ++round) {
      EXPECT_EQ(Say(store->CreateListFeature("user", mine, kDay)), "OK");
      EXPECT_EQ(Say(store->CreateListFeatureVersion("user", mine, "v2", 5)), "OK");
      EXPECT_EQ(Say(Add(list, kNow, "x")), "OK");
      EXPECT_TRUE(store->GetListItems(list, {}, &items).ok());
      EXPECT_EQ(items.size(), 1u);
      EXPECT_GE(store->ListFeatures().size(), 1u);
      EXPECT_EQ(Say(store->DeleteListFeature("user", mine)), "OK");
    }
  });
  EXPECT_TRUE(store->ListFeatures().empty());
}

}  // namespace list_store_threads_test
}  // namespace liststore::testing
