// Operations on many lists, through the store.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace list_store_multi_test {

class ListStoreMultiTest : public StoreTest {
 protected:
  // Lists "0" to "count - 1", list i with i % 5 items "i.j".
  void Fill(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < i % 5; ++j) {
        ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow - j, Value(i, j))), "OK");
      }
    }
  }
  static std::string Value(size_t list, size_t item) {
    return std::to_string(list) + "." + std::to_string(item);
  }
  static Strings ExpectedValues(size_t list, size_t limit) {
    Strings values;
    for (size_t j = 0; j < std::min(list % 5, limit); ++j) values.push_back(Value(list, j));
    return values;
  }
};

TEST_F(ListStoreMultiTest, ResultsComeInTheOrderAsked) {
  CreateHistory();
  Fill(300);
  const auto handle = *store->FindListFeature("user", "history");
  std::vector<ListItems> items;
  // Around the sizes of a step and of a group, a list asked for twice included.
  for (const size_t count : {0u, 1u, 15u, 16u, 17u, 63u, 64u, 65u, 200u, 3u}) {
    Strings ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i * 7 % 300));
    if (count > 2) ids.back() = ids.front();
    std::vector<ListId> lists;
    for (const std::string& id : ids) lists.push_back(History(id));
    const std::vector<std::string_view> id_views(ids.begin(), ids.end());

    for (const bool by_handle : {false, true}) {
      const GetOptions options{.limit = 3, .with_expiry = by_handle};
      const absl::Status status =
          by_handle ? store->MultiGetListItems({handle, id_views}, options, &items)
                    : store->MultiGetListItems(lists, options, &items);
      ASSERT_EQ(Say(status), "OK");
      ASSERT_EQ(items.size(), count);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(Values(items[i]), ExpectedValues(std::stoul(ids[i]), 3)) << "list " << i;
      }
    }
  }
}

TEST_F(ListStoreMultiTest, OneBadListAndNothingIsRead) {
  CreateHistory();
  Fill(100);
  std::vector<ListId> lists;
  Strings ids;
  for (size_t i = 0; i < 100; ++i) ids.push_back(std::to_string(i));
  for (const std::string& id : ids) lists.push_back(History(id));
  lists[70].feature = "a|b";
  std::vector<ListItems> items;
  EXPECT_EQ(Say(store->MultiGetListItems(lists, {}, &items)),
            "INVALID_ARGUMENT: list 70: feature \"a|b\" holds '|'");
  ASSERT_EQ(items.size(), 100u);
  for (const ListItems& list : items) EXPECT_TRUE(list.empty());
  EXPECT_EQ(Say(store->MultiGetListItems(lists, {.limit = 0}, &items)),
            "INVALID_ARGUMENT: limit 0 is less than 1");
}

TEST_F(ListStoreMultiTest, BoundsHoldForEveryList) {
  CreateHistory();
  Fill(10);
  std::vector<ListItems> items;
  const std::vector<ListId> lists = {History("4"), History("9"), History("1")};
  ASSERT_EQ(Say(store->MultiGetListItems(
                lists, {.min_timestamp_nanos = kNow - 2, .max_timestamp_nanos = kNow}, &items)),
            "OK");
  EXPECT_EQ(Values(items[0]), (Strings{"4.1", "4.2"}));
  EXPECT_EQ(Values(items[1]), (Strings{"9.1", "9.2"}));
  EXPECT_EQ(Values(items[2]), Strings{});
  ASSERT_EQ(Say(store->MultiGetListItems(
                lists, {.min_timestamp_nanos = kNow, .max_timestamp_nanos = kNow}, &items)),
            "OK");
  for (const ListItems& list : items) EXPECT_TRUE(list.empty());
}

TEST_F(ListStoreMultiTest, AddingToManyLists) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->CreateListFeature("user", "clicks", 10)), "OK");
  const std::vector<NewItem> two = {{kNow, "a"}, {kNow - 1, "b"}};
  const std::vector<NewItem> old = {{kNow - 10 * kSecond, "old"}};
  const std::vector<ListAddition> additions = {
      {History("1"), two}, {{"user", "clicks", "", "1"}, old},
      {History("2"), {}},  {History("3"), old},
      {History("1"), old},
  };
  const auto added = store->AddListItemsMulti(additions);
  ASSERT_EQ(Say(added), "OK");
  EXPECT_EQ(added->stored, 4u);
  EXPECT_EQ(added->skipped_expired, 1u);
  EXPECT_EQ(Get(History("1")), (Strings{"a", "b", "old"}));
  EXPECT_EQ(Get(History("2")), Strings{});
  EXPECT_EQ(Get(History("3")), Strings{"old"});
  EXPECT_EQ(Get({"user", "clicks", "", "1"}), Strings{});
  clock.AdvanceSeconds(90);
  EXPECT_EQ(Get(History("1")), (Strings{"a", "b"}));
  EXPECT_EQ(Say(store->AddListItemsMulti({})), "OK");
}

TEST_F(ListStoreMultiTest, OneBadListOrItemAndNothingIsStored) {
  CreateHistory(kFeatureTtlSecondsMax);
  const std::vector<NewItem> good = {{kNow, "a"}};
  const std::string too_long(65'488, 'v');
  const std::vector<NewItem> bad_value = {{kNow, "a"}, {kNow, too_long}};
  const std::vector<NewItem> bad_timestamp = {{UINT64_MAX, "a"}};
  const std::vector<NewItem> bad_time_left = {{kNow, "a"}, {kNow, "b"}, {kNow + kSecond, "c"}};
  const std::vector<NewItem> many(65'535, {kNow, "a"});
  const struct {
    const char* rule;
    ListAddition addition;
    std::string says;
  } cases[] = {
      {"value",
       {History("2"), bad_value},
       "INVALID_ARGUMENT: list 1: item 1: value of 65488 bytes exceeds 65487"},
      {"timestamp",
       {History("2"), bad_timestamp},
       "INVALID_ARGUMENT: list 1: item 0: timestamp 18446744073709551615 ns exceeds "
       "9999999999999999999"},
      {"time left",
       {History("2"), bad_time_left},
       "INVALID_ARGUMENT: list 1: item 2: remaining time of 630720001 s exceeds 630720000"},
      {"name", {{"", "history", "", "2"}, good}, "INVALID_ARGUMENT: list 1: entity type is empty"},
      {"feature",
       {{"user", "clicks", "", "2"}, good},
       "NOT_FOUND: list 1: no list feature version with the key \"user#clicks|\""},
      {"items of the call",
       {History("2"), many},
       "INVALID_ARGUMENT: call with 65537 items exceeds 65535"},
  };
  for (const auto& c : cases) {
    const std::vector<ListAddition> additions = {
        {History("1"), good}, c.addition, {History("3"), good}};
    EXPECT_EQ(Say(store->AddListItemsMulti(additions)), c.says) << c.rule;
    for (const char* id : {"1", "2", "3"}) EXPECT_EQ(Count(History(id)), 0u) << c.rule;
  }
}

TEST_F(ListStoreMultiTest, WithoutMemoryForAllNothingIsStored) {
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = uint64_t{2} << 20;
  Reopen(options);
  CreateHistory();
  const std::string value(60'000, 'v');
  const std::vector<NewItem> large = {{kNow, value}};
  Strings ids;
  for (int i = 0; i < 50; ++i) ids.push_back(std::to_string(i));
  std::vector<ListAddition> additions;
  for (const std::string& id : ids) additions.push_back({History(id), large});
  EXPECT_EQ(Say(store->AddListItemsMulti(additions)),
            "RESOURCE_EXHAUSTED: memory limit of 2097152 bytes reached; nothing was applied");
  for (const std::string& id : ids) EXPECT_EQ(Count(History(id)), 0u);
  // A part of it fits.
  EXPECT_EQ(Say(store->AddListItemsMulti(std::span(additions).first(3))), "OK");
}

TEST_F(ListStoreMultiTest, VisitsEveryListOnce) {
  CreateHistory();
  ASSERT_EQ(Say(store->CreateListFeature("user", "clicks", kDay)), "OK");
  constexpr size_t kLists = 1500;
  std::set<std::string> expected;
  for (size_t i = 0; i < kLists; ++i) {
    const std::string id = "entity-" + std::to_string(i);
    ASSERT_EQ(Say(Add(History(id), kNow, "x")), "OK");
    if (i % 3 == 0) {
      ASSERT_EQ(Say(Add({"user", "clicks", "", id}, kNow, "x")), "OK");
    }
    expected.insert(id);
  }
  std::set<std::string> seen;
  ASSERT_EQ(Say(store->ForEachList("user", "history", "",
                                   [&](std::string_view id) {
                                     EXPECT_TRUE(seen.emplace(id).second) << id << " came twice";
                                     return true;
                                   })),
            "OK");
  EXPECT_EQ(seen, expected);

  size_t calls = 0;
  ASSERT_EQ(Say(store->ForEachList("user", "history", "",
                                   [&](std::string_view) { return ++calls < 700; })),
            "OK");
  EXPECT_EQ(calls, 700u);
}

TEST_F(ListStoreMultiTest, VisitorsMayChangeTheStore) {
  CreateHistory();
  constexpr size_t kLists = 1500;
  for (size_t i = 0; i < kLists; ++i) {
    ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow, "x")), "OK");
  }
  // Removes the list visited and another one; adds to lists that were not there.
  std::set<std::string> seen;
  std::set<std::string> removed;
  ASSERT_EQ(Say(store->ForEachList("user", "history", "",
                                   [&](std::string_view id) {
                                     EXPECT_TRUE(seen.emplace(id).second) << id << " came twice";
                                     if (id.substr(0, 3) == "new") return true;
                                     const size_t number = std::stoul(std::string(id));
                                     if (number % 2 == 0) {
                                       const std::string other = std::to_string(number + 1);
                                       removed.insert(other);
                                       store->RemoveAllListItems(History(other)).IgnoreError();
                                       store->RemoveAllListItems(History(id)).IgnoreError();
                                     }
                                     Add(History("new" + std::string(id)), kNow, "y").IgnoreError();
                                     return true;
                                   })),
            "OK");
  for (size_t i = 0; i < kLists; ++i) {
    const std::string id = std::to_string(i);
    EXPECT_TRUE(seen.count(id) == 1 || removed.count(id) == 1) << id;
  }
}

TEST_F(ListStoreMultiTest, ListsWithoutALiveItemAreNotVisited) {
  CreateHistory(10);
  ASSERT_EQ(Say(Add(History("expired"), kNow, "x")), "OK");
  ASSERT_EQ(Say(Add(History("removed"), kNow + 5 * kSecond, "x")), "OK");
  ASSERT_EQ(Say(Add(History(""), kNow + 5 * kSecond, "x")), "OK");
  ASSERT_EQ(Say(store->RemoveAllListItems(History("removed"))), "OK");
  clock.AdvanceSeconds(10);
  Strings seen;
  ASSERT_EQ(Say(store->ForEachList("user", "history", "",
                                   [&](std::string_view id) {
                                     seen.emplace_back(id);
                                     return true;
                                   })),
            "OK");
  EXPECT_EQ(seen, Strings{""});
}

}  // namespace list_store_multi_test
}  // namespace liststore::testing
