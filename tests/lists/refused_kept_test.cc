// The heap refuses an allocation, each in turn, in operations of a store with a data directory.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "liststore/list_store.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/refusing_new.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace refused_kept_test {

class RefusedKept : public ::testing::Test {
 protected:
  Options OptionsFor(uint64_t nth) {
    Options options = SmallOptions(clock);
    options.shards = 1;
    options.background_reclaim = false;
    options.data_dir = folder / std::to_string(nth);
    options.commit_log = CommitLog::kOs;
    options.commit_log_segment_bytes = uint64_t{2} << 20;
    return options;
  }

  const TempFolder folder;
  ManualClock clock{kNow};
};

// The versions of "history" with their TTLs.
std::string Features(const ListStore& store) {
  std::string text;
  for (const ListFeatureInfo& info : store.ListFeatures()) {
    for (const ListFeatureVersionInfo& version : info.versions) {
      text += "'" + version.version + "' " + std::to_string(version.ttl_seconds) + " ";
    }
  }
  return text;
}

TEST_F(RefusedKept, AFeatureWhoseDeletionIsRefusedTakesItemsAsBefore) {
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 10'000u);
    SCOPED_TRACE(nth);
    const std::unique_ptr<ListStore> store = OpenStore(OptionsFor(nth));
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", 30 * kDay)), "OK");
    ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2", kDay)), "OK");
    const std::string before = Features(*store);
    const NewItem item{kNow, "value"};
    const ListId lists[] = {{"user", "history", "", "a"}, {"user", "history", "v2", "a"}};
    for (const ListId& list : lists) {
      ASSERT_EQ(Say(store->AddListItems(list, {&item, 1})), "OK");
    }
    RefusedNew refusal(nth);
    const absl::Status status = store->DeleteListFeature("user", "history");
    refused = refusal.End();
    const std::string after = Features(*store);
    if (after.empty()) continue;  // it is done, whatever came behind it
    ASSERT_FALSE(status.ok());
    ASSERT_EQ(after, before);
    for (const ListId& list : lists) {
      ASSERT_EQ(Say(store->AddListItems(list, {&item, 1})), "OK");
    }
    ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
    store->Verify();
  }
}

// What was forgotten, and could not be written down, is in no log: a snapshot makes up for it.
TEST_F(RefusedKept, ALaneThatLostAnEvictionWritesAgainBehindASnapshot) {
  const std::string id(20'000, 'x');  // its record finds no memory that is there
  const ListId list{"user", "history", "", id};
  const NewItem item{kNow, "value"};
  int lost = 0;
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 10'000u);
    SCOPED_TRACE(nth);
    Options options = OptionsFor(nth);
    options.memory_policy = MemoryPolicy::kEvict;
    options.lists_live_elsewhere = true;
    std::unique_ptr<ListStore> store = OpenStore(options);
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", 30 * kDay)), "OK");
    ASSERT_EQ(Say(store->PutList(list, {&item, 1})), "OK");
    RefusedNew refusal(nth);
    const absl::Status status = store->ForgetList(list).status();
    refused = refusal.End();
    ListItems items;
    ASSERT_EQ(Say(store->GetListItems(list, {}, &items)), "OK");
    const bool is_gone = items.presence() == ListPresence::kAbsent;
    if (status.ok()) {
      ASSERT_TRUE(is_gone);
    }
    if (is_gone && !store->PutList(list, {&item, 1}).ok()) {
      ++lost;
      ASSERT_TRUE(absl::IsUnknown(status)) << status;
      ASSERT_EQ(Say(store->Snapshot()), "OK");
      Options copy = options;
      copy.data_dir = folder / "copy";
      std::filesystem::remove_all(copy.data_dir);
      std::filesystem::copy(options.data_dir, copy.data_dir);
      ASSERT_EQ(Say(OpenStore(copy)->GetListItems(list, {}, &items)), "OK");
      ASSERT_EQ(items.presence(), ListPresence::kAbsent);
    }
    ASSERT_EQ(Say(store->PutList(list, {&item, 1})), "OK");
    store->Verify();
  }
  EXPECT_GT(lost, 0);
}

}  // namespace refused_kept_test
}  // namespace liststore::testing
