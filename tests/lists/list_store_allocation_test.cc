// In the steady state the store's operations do not touch the heap: what they store goes to its own
// pages, what they read to a result that is used again.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/lists/store_fixture.h"
#include "tests/support/counting_new.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace list_store_allocation_test {

class AllocationTest : public StoreTest {
 protected:
  AllocationTest() {
    // One pass of everything, twice, to warm up: buffers, scratch, pages.
    CreateHistory();
    for (int i = 0; i < kLists; ++i) ids.push_back("entity-" + std::to_string(i));
    for (const std::string& id : ids) lists.push_back(History(id));
    id_views.assign(ids.begin(), ids.end());
    for (uint64_t i = 0; i < 50; ++i) items.push_back({kNow - i, "story-4711"});
    for (const ListId& list : lists) additions.push_back({list, std::span(items).first(5)});
    handle = *store->FindListFeature("user", "history");
  }
  // Allocations of the third of three calls.
  template <typename Operation>
  uint64_t AllocationsOf(Operation&& operation) {
    operation();
    operation();
    const uint64_t before = CountOfNew();
    operation();
    return CountOfNew() - before;
  }

  static constexpr int kLists = 100;
  Strings ids;
  std::vector<std::string_view> id_views;
  std::vector<ListId> lists;
  std::vector<NewItem> items;
  std::vector<ListAddition> additions;
  std::optional<ListFeature> handle;
  ListItems read;
  std::vector<ListItems> many;
};

TEST_F(AllocationTest, TheCountWorks) {
  EXPECT_GE(AllocationsOf([] { delete new std::string(100, 'x'); }), 2u);
}

TEST_F(AllocationTest, Additions) {
  EXPECT_EQ(AllocationsOf([&] { (void)store->AddListItems(lists[0], items); }), 0u);
  EXPECT_EQ(AllocationsOf([&] { (void)store->AddListItems({*handle, ids[1]}, items); }), 0u);
}

TEST_F(AllocationTest, Reads) {
  ASSERT_EQ(Say(store->AddListItemsMulti(additions)), "OK");
  ASSERT_EQ(Say(store->AddListItems(lists[0], items)), "OK");
  ASSERT_EQ(Say(Add(lists[0], kNow, "another length")), "OK");
  for (const bool with_expiry : {false, true}) {
    const GetOptions options{.min_timestamp_nanos = kNow - 40,
                             .max_timestamp_nanos = kNow + 1,
                             .limit = 30,
                             .with_expiry = with_expiry};
    EXPECT_EQ(AllocationsOf([&] { (void)store->GetListItems(lists[0], options, &read); }), 0u);
    EXPECT_EQ(AllocationsOf([&] {
                (void)store->GetListItems({*handle, ids[0]}, options, &read);
              }),
              0u);
    EXPECT_EQ(AllocationsOf([&] { (void)store->MultiGetListItems(lists, options, &many); }), 0u);
    EXPECT_EQ(AllocationsOf([&] {
                (void)store->MultiGetListItems({*handle, id_views}, options, &many);
              }),
              0u);
    EXPECT_EQ(AllocationsOf([&] { (void)store->CountListItems(lists[0], options); }), 0u);
  }
  EXPECT_EQ(read.size(), 30u);
}

TEST_F(AllocationTest, Removals) {
  // What goes by value is collected first when there is something to collect.
  EXPECT_EQ(AllocationsOf([&] { (void)store->RemoveListItemsWithValue(lists[0], "other"); }), 0u);
  EXPECT_EQ(AllocationsOf([&] {
              (void)store->AddListItems(lists[0], items);
              (void)store->RemoveAllListItems(lists[0]);
            }),
            0u);
}

// Of a store that is kept: nor do its writes, but for a removal by value that finds something.
TEST_F(AllocationTest, WritesThatAreKept) {
  const TempFolder folder;
  for (const CommitLog mode : {CommitLog::kOff, CommitLog::kOs, CommitLog::kSync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    Options options = SmallOptions(clock);
    options.feature_stats = false;
    options.data_dir = folder / std::to_string(static_cast<int>(mode));
    options.commit_log = mode;
    Reopen(options);
    CreateHistory();
    const ListFeature feature = *store->FindListFeature("user", "history");
    EXPECT_EQ(AllocationsOf([&] { (void)store->AddListItems(lists[0], items); }), 0u);
    EXPECT_EQ(AllocationsOf([&] {
                (void)store->AddListItems({feature, ids[1]}, std::span(items).first(1));
              }),
              0u);
    EXPECT_EQ(AllocationsOf([&] {
                (void)store->AddListItems(lists[0], items);
                (void)store->RemoveAllListItems(lists[0]);
              }),
              0u);
    EXPECT_EQ(store->CountListItems(lists[1]).value_or(0), 1u);
  }
}

}  // namespace list_store_allocation_test
}  // namespace liststore::testing
