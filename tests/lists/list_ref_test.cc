// Every operation takes a list by its names and by a handle, and does the same for both.
#include "liststore/list_ref.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "liststore/list_view.h"
#include "tests/lists/list_cache_fixture.h"
#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace list_ref_test {

std::string Text(const ListId& id) {
  std::string text(id.entity_type);
  for (const std::string_view name : {id.feature, id.version, id.entity_id}) {
    text.append("/").append(name);
  }
  return text;
}

template <typename T>
std::string Say(const absl::StatusOr<T>& result) {
  return result.ok() ? "OK " + std::to_string(*result) : result.status().ToString();
}
std::string Say(const absl::StatusOr<AddResult>& result) {
  if (!result.ok()) return result.status().ToString();
  return "OK " + std::to_string(result->stored) + " " + std::to_string(result->skipped_expired);
}

// All operations on one list, one after the other, and what each of them said.
Strings SayOfAll(ListStore& store, const ListRef& list) {
  const std::vector<NewItem> items = {{kNow, "a"}, {kNow - 1, "b"}, {kNow - 2, "a"}};
  Strings says;
  const auto say = [&](std::string text) { says.push_back(std::move(text)); };
  const auto say_items = [&](const absl::Status& status, const auto& read) {
    std::string text = status.ToString();
    for (const ListItemView item : read) text.append(" ").append(item.value);
    say(text);
  };
  ListItems read;
  ListView view;
  say(Say(store.AddListItems(list, items)));
  const absl::Status got = store.GetListItems(list, {.limit = 2}, &read);
  say_items(got, read);
  const absl::Status viewed = store.ViewListItems(list, {.limit = 2}, &view);
  say_items(viewed, view);
  view.Release();
  say(Say(store.CountListItems(list)));
  say(Say(store.RemoveListItemsWithValue(list, "a")));
  say(Say(store.RemoveAllListItems(list)));

  const ListAddition addition{list, items};
  say(Say(store.AddListItemsMulti({&addition, 1})));
  const absl::StatusOr<uint64_t> mark = store.LoadMark(list);
  say(mark.status().ToString());
  say(Say(store.PutList(list, std::span(items).first(1))));
  const ListPut refused{list, items, {.unless_written_since = mark.value_or(0)}};
  const ListPut put{list, items};
  for (const ListPut& each : {refused, put}) say(Say(store.PutListsMulti({&each, 1})[0]));
  std::vector<ListItems> many;
  const absl::Status status = store.MultiGetListItems(std::array{list, list}, {}, &many);
  for (const ListItems& each : many) say_items(status, each);
  say(Say(store.ForgetList(list)));
  say(Say(store.CountListItems(list)));
  return says;
}

using ListRefTest = StoreTest;

TEST_F(ListRefTest, OperationsDoTheSameByNamesAndByHandle) {
  CreateHistory();
  const ListFeature feature = *store->FindListFeature("user", "history");
  const Strings expected = {"OK 3 0", "OK a b",   "OK a b",   "OK 3", "OK 2",
                            "OK 1",   "OK 3 0",   "OK",       "OK 1", "OK 0",
                            "OK 1",   "OK a b a", "OK a b a", "OK 1", "OK 0"};
  EXPECT_EQ(SayOfAll(*store, History("by id")), expected);
  EXPECT_EQ(SayOfAll(*store, {"user", "history", "", "by names"}), expected);
  EXPECT_EQ(SayOfAll(*store, {feature, "by handle"}), expected);
}

TEST_F(ListRefTest, ErrorsAreTheSameByNamesAndByHandle) {
  const ListFeature missing = *store->FindListFeature("user", "missing");
  const Strings not_found = SayOfAll(*store, {missing, "1"});
  EXPECT_EQ(not_found[0], "NOT_FOUND: no list feature version with the key \"user#missing|\"");
  EXPECT_EQ(not_found[6],
            "NOT_FOUND: list 0: no list feature version with the key \"user#missing|\"");
  EXPECT_EQ(SayOfAll(*store, {"user", "missing", "", "1"}), not_found);

  CreateHistory();
  const ListFeature feature = *store->FindListFeature("user", "history");
  const Strings invalid = SayOfAll(*store, {feature, "\xff"});
  EXPECT_EQ(invalid[0], "INVALID_ARGUMENT: entity id \"\\xff\" is not UTF-8");
  EXPECT_EQ(invalid[11], "INVALID_ARGUMENT: list 0: entity id \"\\xff\" is not UTF-8");
  EXPECT_EQ(SayOfAll(*store, History("\xff")), invalid);
  EXPECT_EQ(Say(store->CountListItems({})), "INVALID_ARGUMENT: entity type is empty");
}

TEST_F(ListRefTest, ManyListsMayBeGivenEachInItsOwnWay) {
  CreateHistory();
  ASSERT_EQ(testing::Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  const ListFeature history = *store->FindListFeature("user", "history");
  const ListFeature v2 = *store->FindListFeature("user", "history", "v2");
  const NewItem items[] = {{kNow, "old"}, {kNow, "new"}, {kNow, "other"}};
  const ListAddition additions[] = {{{history, "1"}, std::span(items).first(1)},
                                    {{v2, "1"}, std::span(items).subspan(1, 1)},
                                    {History("2"), std::span(items).last(1)}};
  ASSERT_EQ(Say(store->AddListItemsMulti(additions)), "OK 3 0");

  std::vector<ListItems> read;
  const auto values = [&] {
    Strings all;
    for (const ListItems& list : read) all.push_back(Values(list).empty() ? "" : Values(list)[0]);
    return all;
  };
  const std::vector<ListRef> lists = {{v2, "1"}, History("2"), {history, "1"}, {v2, "2"}};
  ASSERT_EQ(testing::Say(store->MultiGetListItems(lists, {}, &read)), "OK");
  EXPECT_EQ(values(), (Strings{"new", "other", "old", ""}));
  const ListId ids[] = {History("2"), History("1")};
  ASSERT_EQ(testing::Say(store->MultiGetListItems(ids, {}, &read)), "OK");
  EXPECT_EQ(values(), (Strings{"other", "old"}));
  const std::vector<std::string_view> entity_ids = {"2", "1"};
  ASSERT_EQ(testing::Say(store->MultiGetListItems({history, entity_ids}, {}, &read)), "OK");
  EXPECT_EQ(values(), (Strings{"other", "old"}));
}

TEST_F(ListRefTest, KnowsItsNames) {
  const ListFeature feature = *store->FindListFeature("user", "a#b", "v|2");
  EXPECT_EQ(Text(ListRef(feature, "17").id()), "user/a#b/v|2/17");
  EXPECT_EQ(Text(ListRef("user", "a#b", "v|2", "17").id()), "user/a#b/v|2/17");
  const std::vector<std::string_view> entity_ids = {"1", "2"};
  const ListRefs lists(feature, entity_ids);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(Text(lists[1].id()), "user/a#b/v|2/2");
}

class CacheByRefTest : public ListCacheTest {
 protected:
  // Reads, writes and reads again; what was said, and what the loader and the writer were told.
  Strings UseOf(const std::function<ListRef(ListStore&)>& list_of) {
    Strings says;
    options.writer = [&](const ListChange& change) {
      says.push_back("write " + Text(change.list));
      return absl::OkStatus();
    };
    options.loader = [&](ListLoad& load) {
      for (size_t i = 0; i < load.size(); ++i) {
        says.push_back("load " + Text(load.list(i)));
        const NewItem item{kNow, "loaded"};
        load.Answer(i, {&item, 1});
      }
      return absl::OkStatus();
    };
    Open();
    const ListRef list = list_of(cache->store());
    const auto read = [&] {
      EXPECT_EQ(testing::Say(cache->GetListItems(list, {}, &items)), "OK");
      says.push_back(Joined());
    };
    read();
    const NewItem added{kNow + 1, "added"};
    EXPECT_EQ(testing::Say(cache->AddListItems(list, {&added, 1})), "OK");
    read();
    EXPECT_EQ(testing::Say(cache->RemoveListItemsWithValue(list, "loaded")), "OK");
    read();
    EXPECT_EQ(testing::Say(cache->RemoveAllListItems(list)), "OK");
    EXPECT_EQ(testing::Say(cache->Invalidate(list)), "OK");
    std::vector<ListItems> many;
    EXPECT_EQ(testing::Say(cache->MultiGetListItems(std::array{list}, {}, &many)), "OK");
    says.push_back(Values(many.at(0)).at(0));
    return says;
  }
};

TEST_F(CacheByRefTest, ACacheDoesTheSameByNamesAndByHandle) {
  const std::string name = "user/history//1";
  const Strings expected = {"load " + name,  "loaded",        "write " + name,
                            "added loaded",  "write " + name, "added",
                            "write " + name, "load " + name,  "loaded"};
  EXPECT_EQ(UseOf([](ListStore&) -> ListRef { return History("1"); }), expected);
  EXPECT_EQ(UseOf([](ListStore& store) -> ListRef {
              return {*store.FindListFeature("user", "history"), "1"};
            }),
            expected);
}

}  // namespace list_ref_test
}  // namespace liststore::testing
