#include "bench/target/embedded_load.h"

#include <memory>
#include <string>

#include "bench/embedded/bench_client.h"
#include "bench/embedded/bench_lines.h"
#include "gtest/gtest.h"
#include "liststore/clock.h"

namespace liststore::testing {
namespace embedded_load_test {

constexpr uint64_t kLists = 64;
constexpr uint32_t kItems = 12;

class EmbeddedLoadTest : public ::testing::Test {
 protected:
  EmbeddedLoadTest() : items_(SystemClock::Instance().NowNanos(), kItems, 24) {
    store_ = ListStore::Open(Options{}).value();
    EXPECT_TRUE(store_->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds).ok());
    EXPECT_TRUE(
        store_->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion).ok());
    StoreTarget target(*store_);
    BenchSubject subject(target, items_, kLists, kItems);
    EXPECT_TRUE(LoadLists(subject, 1).ok());
  }

  uint64_t ItemsOf(uint32_t list) {
    const auto feature =
        store_->FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion).value();
    ListItems items;
    EXPECT_TRUE(
        store_->GetListItems({feature, EntityIdOfList(list)}, {.limit = 100'000}, &items).ok());
    return items.size();
  }

  std::unique_ptr<ListStore> store_;
  const BenchItems items_;
};

TEST_F(EmbeddedLoadTest, DoesAllThatIsDueAndAddsToOddLists) {
  EmbeddedLoad load(*store_, items_, {.lists = kLists, .items_per_list = kItems, .threads = 2});
  OpenRun run;
  ASSERT_TRUE(load.Run(100'000, 0.1, &run).ok());
  EXPECT_EQ(run.select_latency.Count(), 9'500u);
  EXPECT_EQ(run.insert_latency.Count(), 500u);
  EXPECT_EQ(run.rate, 100'000);
  EXPECT_GT(run.achieved, 0);
  EXPECT_GE(load.verified(), 9'500u / 64);
  uint64_t added = 0;
  for (uint32_t list = 0; list < kLists; ++list) {
    const uint64_t items = ItemsOf(list);
    if (list % 2 == 0) {
      EXPECT_EQ(items, kItems) << list;
    }
    added += items - kItems;
  }
  EXPECT_EQ(added, 500u);
}

TEST_F(EmbeddedLoadTest, AnotherRunGoesOnWhereTheOneBeforeEnded) {
  EmbeddedLoad load(*store_, items_, {.lists = kLists, .items_per_list = kItems, .threads = 1});
  OpenRun run;
  ASSERT_TRUE(load.Run(100'000, 0.02, &run).ok());
  ASSERT_TRUE(load.Run(100'000, 0.02, &run).ok());
  EXPECT_EQ(run.insert_latency.Count(), 200u);
}

TEST_F(EmbeddedLoadTest, AListThatIsNotAsLoadedIsAnError) {
  const auto feature =
      store_->FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion).value();
  for (uint32_t list = 0; list < kLists; list += 2) {
    ASSERT_TRUE(store_->ForgetList({feature, EntityIdOfList(list)}).ok());
  }
  EmbeddedLoad load(*store_, items_, {.lists = kLists, .items_per_list = kItems, .threads = 1});
  OpenRun run;
  const absl::Status status = load.Run(100'000, 0.02, &run);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(std::string(status.message()).find("10 items expected, 0 came"), std::string::npos)
      << status;
}

}  // namespace embedded_load_test
}  // namespace liststore::testing
