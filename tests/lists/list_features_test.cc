// Features and versions, through the store.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace list_features_test {

using ListFeaturesTest = StoreTest;

// "user/history 60: ''=60 'v2'=5; ...", all that ListFeatures says.
std::string Describe(const ListStore& store) {
  std::string text;
  for (const ListFeatureInfo& info : store.ListFeatures()) {
    if (!text.empty()) text += "; ";
    text += info.entity_type + "/" + info.feature + " " + std::to_string(info.ttl_seconds) + ":";
    for (const ListFeatureVersionInfo& version : info.versions) {
      text += " '" + version.version + "'=" + std::to_string(version.ttl_seconds);
    }
  }
  return text;
}

TEST_F(ListFeaturesTest, CreatedOnceAndListedInOrder) {
  EXPECT_EQ(Describe(*store), "");
  EXPECT_EQ(Say(store->CreateListFeature("user", "history", 60)), "OK");
  EXPECT_EQ(Say(store->CreateListFeature("user", "clicks", 5)), "OK");
  EXPECT_EQ(Say(store->CreateListFeature("item", "views", 7)), "OK");
  EXPECT_EQ(Say(store->CreateListFeature("user", "history", 61)),
            "ALREADY_EXISTS: list feature \"history\" of entity type \"user\" exists");
  EXPECT_EQ(Describe(*store), "item/views 7: ''=7; user/clicks 5: ''=5; user/history 60: ''=60");
}

TEST_F(ListFeaturesTest, TtlsHaveBounds) {
  const struct {
    int64_t ttl_seconds;
    std::string says;
  } cases[] = {
      {1, "OK"},
      {kFeatureTtlSecondsMax, "OK"},
      {0, "INVALID_ARGUMENT: ttl 0 s is not within 1 to 630720000"},
      {-1, "INVALID_ARGUMENT: ttl -1 s is not within 1 to 630720000"},
      {INT64_MIN, "INVALID_ARGUMENT: ttl -9223372036854775808 s is not within 1 to 630720000"},
      {kFeatureTtlSecondsMax + 1, "INVALID_ARGUMENT: ttl 630720001 s is not within 1 to 630720000"},
  };
  CreateHistory();
  int number = 0;
  for (const auto& c : cases) {
    const std::string name = "f" + std::to_string(number++);
    EXPECT_EQ(Say(store->CreateListFeature("user", name, c.ttl_seconds)), c.says);
    EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", c.ttl_seconds)), c.says);
    EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", name, c.ttl_seconds)), c.says);
  }
}

TEST_F(ListFeaturesTest, NamesAreChecked) {
  const std::string bad = "INVALID_ARGUMENT: entity type \"a#\" holds '#'";
  EXPECT_EQ(Say(store->CreateListFeature("a#", "f", 1)), bad);
  EXPECT_EQ(Say(store->CreateListFeatureVersion("a#", "f", "v")), bad);
  EXPECT_EQ(Say(store->SetListFeatureTtl("a#", "f", 1)), bad);
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("a#", "f", "v", 1)), bad);
  EXPECT_EQ(Say(store->DeleteListFeature("a#", "f")), bad);
  EXPECT_EQ(Say(store->DeleteListFeatureVersion("a#", "f", "v")), bad);
  EXPECT_EQ(Say(store->FindListFeature("a#", "f")), bad);
  EXPECT_EQ(Say(store->ForEachList("a#", "f", "", [](std::string_view) { return true; })), bad);
}

TEST_F(ListFeaturesTest, AVersionsNamesAreCheckedBeforeItIsLookedFor) {
  CreateHistory();
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "his|tory", "v", 1)),
            "INVALID_ARGUMENT: feature \"his|tory\" holds '|'");
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "", "v", 1)),
            Say(store->CreateListFeatureVersion("user", "", "v", 1)));
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "history", "\xff", 1)),
            "INVALID_ARGUMENT: version \"\\xff\" is not UTF-8");
  const std::string too_long(65'535, 'v');
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "history", too_long, 1)),
            Say(store->CreateListFeatureVersion("user", "history", too_long, 1)));
}

TEST_F(ListFeaturesTest, WhatDoesNotExistIsNotFound) {
  const std::string no_feature = "NOT_FOUND: no list feature \"history\" of entity type \"user\"";
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), no_feature);
  EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", 5)), no_feature);
  EXPECT_EQ(Say(store->DeleteListFeature("user", "history")), no_feature);
  EXPECT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "v2")), no_feature);
  EXPECT_EQ(Say(Add(History("1"), kNow, "x")),
            "NOT_FOUND: no list feature version with the key \"user#history|\"");
  CreateHistory();
  EXPECT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "v2")),
            "NOT_FOUND: no version \"v2\" of list feature \"history\" of entity type \"user\"");
  EXPECT_EQ(Say(Add({"user", "history", "v2", "1"}, kNow, "x")),
            "NOT_FOUND: no list feature version with the key \"user#history|v2\"");
}

TEST_F(ListFeaturesTest, ReadingAndRemovingFromWhatDoesNotExistFindsNothing) {
  EXPECT_EQ(Get(History("1")), Strings{});
  EXPECT_EQ(Count(History("1")), 0u);
  EXPECT_EQ(*store->RemoveAllListItems(History("1")), 0u);
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "x"), 0u);
  EXPECT_EQ(Say(store->ForEachList("user", "history", "",
                                   [](std::string_view) -> bool {
                                     ADD_FAILURE();
                                     return true;
                                   })),
            "OK");
}

TEST_F(ListFeaturesTest, VersionsHaveTheFeaturesTtlOrTheirOwn) {
  CreateHistory(100);
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v3", 7)), "OK");
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v3")),
            "ALREADY_EXISTS: version \"v3\" of list feature \"history\" of entity type \"user\" "
            "exists");
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "")),
            "ALREADY_EXISTS: version \"\" of list feature \"history\" of entity type \"user\" "
            "exists");
  EXPECT_EQ(Describe(*store), "user/history 100: ''=100 'v2'=100 'v3'=7");
  EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", 50)), "OK");
  EXPECT_EQ(Describe(*store), "user/history 50: ''=50 'v2'=50 'v3'=7");
}

TEST_F(ListFeaturesTest, AVersionMayBeGivenATtlOfItsOwnLater) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "history", "v2", 9)), "OK");
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "history", "", 8)), "OK");
  EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", 50)), "OK");
  EXPECT_EQ(Describe(*store), "user/history 50: ''=8 'v2'=9");
  EXPECT_EQ(Say(store->SetListFeatureVersionTtl("user", "history", "v3", 9)),
            "NOT_FOUND: version \"v3\" of list feature \"history\" of entity type \"user\" "
            "does not exist");
  const ListId v2{"user", "history", "v2", "1"};
  ASSERT_EQ(Say(Add(v2, kNow, "short")), "OK");
  clock.AdvanceSeconds(9);
  EXPECT_EQ(Count(v2), 0u);
}

TEST_F(ListFeaturesTest, ATtlHoldsForItemsAddedFromThenOn) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v3", 7)), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow, "before")), "OK");
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "history", 10)), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow, "after")), "OK");
  ASSERT_EQ(Say(Add({"user", "history", "v3", "1"}, kNow, "own")), "OK");
  const ListId v3{"user", "history", "v3", "1"};

  clock.AdvanceSeconds(6);
  EXPECT_EQ(Count(History("1")), 2u);
  EXPECT_EQ(Count(v3), 1u);
  clock.AdvanceSeconds(1);
  EXPECT_EQ(Count(v3), 0u);
  clock.AdvanceSeconds(3);
  EXPECT_EQ(Get(History("1")), Strings{"before"});
  clock.AdvanceSeconds(90);
  EXPECT_EQ(Get(History("1")), Strings{});
}

TEST_F(ListFeaturesTest, TheDefaultVersionMayGoAndComeBack) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ASSERT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "")), "OK");
  EXPECT_EQ(Describe(*store), "user/history 100: 'v2'=100");
  EXPECT_EQ(Get(History("1")), Strings{});
  EXPECT_EQ(Add(History("1"), kNow, "x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", 50)), "OK");
  EXPECT_EQ(Describe(*store), "user/history 50: 'v2'=50");
  EXPECT_EQ(Say(store->CreateListFeatureVersion("user", "history", "", 9)), "OK");
  EXPECT_EQ(Say(store->SetListFeatureTtl("user", "history", 40)), "OK");
  EXPECT_EQ(Describe(*store), "user/history 40: ''=9 'v2'=40");
  EXPECT_EQ(Get(History("1")), Strings{});
}

TEST_F(ListFeaturesTest, AFeatureOutlivesItsVersions) {
  CreateHistory(100);
  ASSERT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "")), "OK");
  EXPECT_EQ(Describe(*store), "user/history 100:");
  EXPECT_EQ(store->CreateListFeature("user", "history", 5).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  EXPECT_EQ(Describe(*store), "");
}

TEST_F(ListFeaturesTest, DeletionTakesAllListsOfAllVersionsAndNoOthers) {
  CreateHistory();
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  ASSERT_EQ(Say(store->CreateListFeature("user", "clicks", kDay)), "OK");
  for (int i = 0; i < 50; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_EQ(Say(Add(History(id), kNow, "h")), "OK");
    ASSERT_EQ(Say(Add({"user", "history", "v2", id}, kNow, "v")), "OK");
    ASSERT_EQ(Say(Add({"user", "clicks", "", id}, kNow, "c")), "OK");
  }
  ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_EQ(Get(History(id)), Strings{});
      EXPECT_EQ(Get({"user", "history", "v2", id}), Strings{});
      EXPECT_EQ(Get({"user", "clicks", "", id}), Strings{"c"});
    }
    while (store->Reclaim() != 0) {
    }
    store->Verify();
  }
}

TEST_F(ListFeaturesTest, DeletingAVersionLeavesTheOthers) {
  CreateHistory();
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2")), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow, "h")), "OK");
  ASSERT_EQ(Say(Add({"user", "history", "v2", "1"}, kNow, "v")), "OK");
  ASSERT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "v2")), "OK");
  EXPECT_EQ(Get(History("1")), Strings{"h"});
  EXPECT_EQ(Get({"user", "history", "v2", "1"}), Strings{});
}

TEST_F(ListFeaturesTest, CreatingAgainBringsNothingBack) {
  CreateHistory();
  for (int life = 0; life < 5; ++life) {
    const std::string value = "life " + std::to_string(life);
    ASSERT_EQ(Say(Add(History("1"), kNow, value)), "OK");
    EXPECT_EQ(Get(History("1")), Strings{value});
    ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
    EXPECT_EQ(Get(History("1")), Strings{});
    CreateHistory();
    EXPECT_EQ(Get(History("1")), Strings{});
    if (life % 2 == 0) store->Reclaim(3);
    store->Verify();
  }
}

TEST_F(ListFeaturesTest, AHandleMeansTheNamesNotOneLife) {
  const auto handle = store->FindListFeature("user", "history");
  ASSERT_TRUE(handle.ok());
  const NewItem item{kNow, "x"};
  EXPECT_EQ(Say(store->AddListItems({*handle, "1"}, {&item, 1})),
            "NOT_FOUND: no list feature version with the key \"user#history|\"");
  EXPECT_EQ(Describe(*store), "");
  CreateHistory();
  EXPECT_EQ(Say(store->AddListItems({*handle, "1"}, {&item, 1})), "OK");
  EXPECT_EQ(Get(History("1")), Strings{"x"});
  ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  EXPECT_EQ(store->AddListItems({*handle, "1"}, {&item, 1}).status().code(),
            absl::StatusCode::kNotFound);
  CreateHistory();
  EXPECT_EQ(Say(store->AddListItems({*handle, "2"}, {&item, 1})), "OK");
  EXPECT_EQ(Get(History("1")), Strings{});
  EXPECT_EQ(Get(History("2")), Strings{"x"});
}

TEST_F(ListFeaturesTest, ADefaultTtlAdmitsUnknownFeatures) {
  Options options = SmallOptions(clock);
  options.default_ttl_seconds = 10;
  Reopen(options);
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  EXPECT_EQ(Describe(*store), "");
  EXPECT_EQ(store->DeleteListFeature("user", "history").code(), absl::StatusCode::kNotFound);
  // A feature that exists has its own TTL.
  CreateHistory(100);
  ASSERT_EQ(Say(Add(History("1"), kNow, "y")), "OK");
  clock.AdvanceSeconds(10);
  EXPECT_EQ(Get(History("1")), Strings{"y"});
  ASSERT_EQ(Say(store->DeleteListFeature("user", "history")), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow + kSecond, "z")), "OK");
  EXPECT_EQ(Get(History("1")), Strings{"z"});
}

TEST_F(ListFeaturesTest, LongNamesWork) {
  // As long as a key may be, with the entity id of one byte.
  const std::string feature(65'535 - 4 - 6 - 1, 'f');
  ASSERT_EQ(Say(store->CreateListFeature("user", feature, kDay)), "OK");
  const ListId list{"user", feature, "", "1"};
  ASSERT_EQ(Say(Add(list, kNow, "x")), "OK");
  EXPECT_EQ(Get(list), Strings{"x"});
  ASSERT_EQ(Say(store->DeleteListFeature("user", feature)), "OK");
  EXPECT_EQ(Get(list), Strings{});
}

}  // namespace list_features_test
}  // namespace liststore::testing
