// Additions, reads and removals of one list, through the store.
#include "liststore/list_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "liststore/item_key.h"
#include "liststore/list_view.h"
#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace list_store_test {

using ListStoreTest = StoreTest;

TEST_F(ListStoreTest, ItemsComeNewestFirst) {
  CreateHistory();
  const std::vector<NewItem> items = {
      {kNow - 2, "older"}, {kNow, "newest"}, {kNow - 1, "middle"}, {kNow - 3, "oldest"}};
  const auto added = store->AddListItems(History("1"), items);
  ASSERT_EQ(Say(added), "OK");
  EXPECT_EQ(added->stored, 4u);
  EXPECT_EQ(added->skipped_expired, 0u);

  ListItems read;
  ASSERT_EQ(Say(store->GetListItems(History("1"), {}, &read)), "OK");
  EXPECT_EQ(Values(read), (Strings{"newest", "middle", "older", "oldest"}));
  EXPECT_EQ(read[1].timestamp_nanos, kNow - 1);
  EXPECT_EQ(read[1].item_key(), *MakeItemKey(kNow - 1, "middle"));
  EXPECT_EQ(read[1].expires_at_seconds, 0);
  EXPECT_EQ(Get(History("2")), Strings{});
}

TEST_F(ListStoreTest, TheExampleOfTheHeader) {
  auto opened = ListStore::Open({});
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE((*opened)->CreateListFeature("user", "reading_history", 30 * 86'400).ok());
  const uint64_t timestamp_nanos = SystemClock::Instance().NowNanos();
  const ListId list{"user", "reading_history", "", "17"};
  const std::vector<NewItem> items = {{timestamp_nanos, "story-4711"}};
  ASSERT_TRUE((*opened)->AddListItems(list, items).ok());
  ListItems newest;
  ASSERT_TRUE((*opened)->GetListItems(list, {.limit = 10}, &newest).ok());
  EXPECT_EQ(Values(newest), Strings{"story-4711"});
}

TEST_F(ListStoreTest, ItemsOfOneTimestampAreToldApartByValue) {
  CreateHistory();
  Strings keys;
  for (const char* value : {"a", "b", "c", "d", ""}) {
    ASSERT_EQ(Say(Add(History("1"), kNow, value)), "OK");
    keys.push_back(*MakeItemKey(kNow, value));
  }
  std::sort(keys.rbegin(), keys.rend());
  ListItems read;
  ASSERT_EQ(Say(store->GetListItems(History("1"), {}, &read)), "OK");
  EXPECT_EQ(Keys(read), keys);
}

TEST_F(ListStoreTest, TheSameItemAgainIsOneItemWithItsTimeAnew) {
  CreateHistory(10);
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "history", 100)), "OK");
  const auto again = Add(History("1"), kNow, "x");
  ASSERT_EQ(Say(again), "OK");
  EXPECT_EQ(again->stored, 1u);
  EXPECT_EQ(Count(History("1")), 1u);
  clock.AdvanceSeconds(99);
  EXPECT_EQ(Get(History("1")), Strings{"x"});
  // Also to a shorter time.
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "history", 100)), "OK");
  const std::vector<NewItem> twice = {{kNow, "x"}, {kNow, "x"}};
  EXPECT_EQ(store->AddListItems(History("1"), twice)->stored, 2u);
  EXPECT_EQ(Count(History("1")), 1u);
  clock.AdvanceSeconds(1);
  EXPECT_EQ(Get(History("1")), Strings{});
}

TEST_F(ListStoreTest, AnItemLivesUntilTheSecondItEnds) {
  CreateHistory(10);
  // Half a second into a second: floor(now) + floor(remaining time).
  clock.SetNanos(kNow + kSecond / 2);
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ListItems items;
  ASSERT_EQ(Say(store->GetListItems(History("1"), {.with_expiry = true}, &items)), "OK");
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].expires_at_seconds, kNowSeconds + 9);
  EXPECT_EQ(items[0].value, "x");
  EXPECT_EQ(items[0].item_key(), *MakeItemKey(kNow, "x"));
  clock.SetNanos(kNow + 9 * kSecond - 1);
  EXPECT_EQ(Count(History("1")), 1u);
  clock.SetNanos(kNow + 9 * kSecond);
  EXPECT_EQ(Count(History("1")), 0u);
  EXPECT_EQ(Get(History("1")), Strings{});
}

// A millisecond behind where that is cheaper, as the machine's clock is.
class LateForReads final : public Clock {
 public:
  explicit LateForReads(const ManualClock& clock) : clock_(clock) {}
  uint64_t NowNanos() const override { return clock_.NowNanos(); }
  uint64_t CoarseNanos() const override { return NowNanos() - 1'000'000; }

 private:
  const ManualClock& clock_;
};

TEST_F(ListStoreTest, ReadsGoByTheCoarseInstantAndWritesByTheFineOne) {
  const LateForReads late(clock);
  Options options = SmallOptions(clock);
  options.clock = &late;
  Reopen(options);
  CreateHistory(10);
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  EXPECT_EQ(Get(History("1")), Strings{"x"}) << "before what the write saw";
  ListView view;
  std::vector<ListItems> group;
  const ListId lists[] = {History("1")};
  for (const auto& [nanos, count] : {std::pair<uint64_t, size_t>(kNow + 10 * kSecond, 1),
                                     {kNow + 10 * kSecond + 1'000'000, 0}}) {
    clock.SetNanos(nanos);
    EXPECT_EQ(Get(History("1")).size(), count);
    EXPECT_EQ(Count(History("1")), count);
    ASSERT_EQ(Say(store->ViewListItems(History("1"), {}, &view)), "OK");
    EXPECT_EQ(view.size(), count);
    ASSERT_EQ(Say(store->MultiGetListItems(lists, {}, &group)), "OK");
    EXPECT_EQ(group[0].size(), count);
  }
  clock.SetNanos(kNow + 10 * kSecond);
  const NewItem over[] = {{kNow, "y"}};
  EXPECT_EQ(store->AddListItems(History("1"), over)->skipped_expired, 1u);
  view.Release();
}

TEST_F(ListStoreTest, ItemsWithoutTimeLeftAreSkipped) {
  CreateHistory(10);
  const std::vector<NewItem> items = {{kNow - 9 * kSecond, "one second left"},
                                      {kNow - 9 * kSecond - 1, "less than a second"},
                                      {kNow - 10 * kSecond, "just over"},
                                      {kNow - 10 * kSecond - 1, "floor is -1"},
                                      {0, "the epoch"},
                                      {kNow + 5 * kSecond, "not yet"}};
  const auto added = store->AddListItems(History("1"), items);
  ASSERT_EQ(Say(added), "OK");
  EXPECT_EQ(added->stored, 2u);
  EXPECT_EQ(added->skipped_expired, 4u);
  EXPECT_EQ(Get(History("1")), (Strings{"not yet", "one second left"}));

  const auto none = store->AddListItems(History("2"), std::span(items).subspan(1, 3));
  ASSERT_EQ(Say(none), "OK");
  EXPECT_EQ(none->stored, 0u);
  EXPECT_EQ(none->skipped_expired, 3u);
}

// A mistake that would else look like success.
TEST_F(ListStoreTest, ItemsThatAreSkippedForTheirUnitAreHintedAt) {
  CreateHistory(10);
  struct Row {
    uint64_t timestamp;
    const char* unit;  // nullptr: nothing is said
  };
  for (const Row& row : {Row{kNow / kSecond, "seconds"}, Row{kNow / 1'000'000, "milliseconds"},
                         Row{kNow / 1'000, "microseconds"}, Row{kNow - 11 * kSecond, nullptr},
                         Row{1, nullptr}, Row{kNow, nullptr}}) {
    SCOPED_TRACE(row.timestamp);
    const std::vector<NewItem> items = {{kNow, "x"}, {row.timestamp, "y"}};
    const ListAddition additions[] = {{History("1"), std::span(items).first(1)},
                                      {History("2"), items}};
    for (const auto& added :
         {store->AddListItems(History("1"), items), store->AddListItemsMulti(additions)}) {
      ASSERT_EQ(Say(added), "OK");
      if (row.unit == nullptr) {
        EXPECT_EQ(added->hint, nullptr);
        continue;
      }
      ASSERT_NE(added->hint, nullptr);
      EXPECT_EQ(added->hint, std::string("timestamps of skipped items look like ") + row.unit +
                                 " since 1970; nanoseconds are wanted");
      EXPECT_EQ(added->skipped_expired, 1u);
    }
  }
}

TEST_F(ListStoreTest, OneBadItemAndNoneIsStored) {
  CreateHistory(kFeatureTtlSecondsMax);
  const std::string longest(65'487, 'v');
  const std::string too_long(65'488, 'v');
  const NewItem good{kNow, "good"};
  const struct {
    const char* rule;
    NewItem item;
    std::string says;
  } cases[] = {
      {"longest value", {kNow, longest}, "OK"},
      {"value too long",
       {kNow, too_long},
       "INVALID_ARGUMENT: item 1: value of 65488 bytes exceeds 65487"},
      {"longest time left", {kNow, "x"}, "OK"},
      {"a nanosecond more is floored away", {kNow + kSecond - 1, "x"}, "OK"},
      {"a second too long",
       {kNow + kSecond, "x"},
       "INVALID_ARGUMENT: item 1: remaining time of 630720001 s exceeds 630720000"},
      {"the latest timestamp lies too far ahead",
       {kItemTimestampNanosMax, "x"},
       "INVALID_ARGUMENT: item 1: remaining time of 8905770154 s exceeds 630720000"},
      {"timestamp of 20 digits",
       {kItemTimestampNanosMax + 1, "x"},
       "INVALID_ARGUMENT: item 1: timestamp 10000000000000000000 ns exceeds 9999999999999999999"},
      {"largest number",
       {UINT64_MAX, "x"},
       "INVALID_ARGUMENT: item 1: timestamp 18446744073709551615 ns exceeds 9999999999999999999"},
  };
  for (const auto& c : cases) {
    const std::vector<NewItem> items = {good, c.item, good};
    EXPECT_EQ(Say(store->AddListItems(History("1"), items)), c.says) << c.rule;
    EXPECT_EQ(Count(History("1")) > 0, c.says == "OK") << c.rule;
    ASSERT_EQ(Say(store->RemoveAllListItems(History("1"))), "OK");
  }
}

TEST_F(ListStoreTest, AnotherValueLimit) {
  Options options = SmallOptions(clock);
  options.value_bytes_max = 3;
  Reopen(options);
  CreateHistory();
  EXPECT_EQ(Say(Add(History("1"), kNow, "abc")), "OK");
  EXPECT_EQ(Say(Add(History("1"), kNow, "abcd")),
            "INVALID_ARGUMENT: item 0: value of 4 bytes exceeds 3");
}

TEST_F(ListStoreTest, LargeValues) {
  Options options = SmallOptions(clock);
  options.value_bytes_max = size_t{16} << 20;
  Reopen(options);
  CreateHistory();
  const std::string large(5u << 20, 'L');
  ASSERT_EQ(Say(Add(History("1"), kNow, large)), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow - 1, "small")), "OK");
  EXPECT_EQ(Get(History("1")), (Strings{large, "small"}));
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), large), 1u);
  EXPECT_EQ(Get(History("1")), Strings{"small"});
}

TEST_F(ListStoreTest, HowManyItemsACallMayCarry) {
  // The worst case of every item is set aside before the first is stored.
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = uint64_t{1} << 30;
  Reopen(options);
  CreateHistory();
  std::vector<NewItem> items(kItemsPerAddMax);
  for (size_t i = 0; i < items.size(); ++i) items[i] = {kNow - i, "v"};
  EXPECT_EQ(Say(store->AddListItems(History("1"), items)), "OK");
  EXPECT_EQ(Count(History("1")), 65'535u);
  items.push_back({kNow, "v"});
  EXPECT_EQ(Say(store->AddListItems(History("2"), items)),
            "INVALID_ARGUMENT: call with 65536 items exceeds 65535");
  EXPECT_EQ(Count(History("2")), 0u);
  EXPECT_EQ(Say(store->AddListItems(History("2"), {})), "OK");
  EXPECT_EQ(Count(History("2")), 0u);

  ListItems read;
  ASSERT_EQ(Say(store->GetListItems(History("1"), {.limit = 100'000}, &read)), "OK");
  ASSERT_EQ(read.size(), 65'535u);
  for (size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i].timestamp_nanos, kNow - i);
}

TEST_F(ListStoreTest, NamesAreCheckedEverywhere) {
  const ListId bad{"user", "a|b", "", "1"};
  const std::string says = "INVALID_ARGUMENT: feature \"a|b\" holds '|'";
  ListItems items;
  EXPECT_EQ(Say(store->AddListItems(bad, {})), says);
  EXPECT_EQ(Say(store->GetListItems(bad, {}, &items)), says);
  EXPECT_EQ(Say(store->CountListItems(bad)), says);
  EXPECT_EQ(Say(store->RemoveAllListItems(bad)), says);
  EXPECT_EQ(Say(store->RemoveListItemsWithValue(bad, "")), says);

  CreateHistory();
  const auto handle = *store->FindListFeature("user", "history");
  const std::string bad_id = "INVALID_ARGUMENT: entity id \"\\xff\" is not UTF-8";
  EXPECT_EQ(Say(store->AddListItems({handle, "\xff"}, {})), bad_id);
  EXPECT_EQ(Say(store->GetListItems({handle, "\xff"}, {}, &items)), bad_id);
  EXPECT_EQ(Say(store->RemoveAllListItems({handle, "\xff"})), bad_id);
  EXPECT_EQ(Say(store->RemoveListItemsWithValue({handle, "\xff"}, "")), bad_id);
}

TEST_F(ListStoreTest, ALimitOfNothingIsRefusedAndTheResultEmptied) {
  CreateHistory();
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ListItems items;
  ASSERT_EQ(Say(store->GetListItems(History("1"), {}, &items)), "OK");
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(Say(store->GetListItems(History("1"), {.limit = 0}, &items)),
            "INVALID_ARGUMENT: limit 0 is less than 1");
  EXPECT_TRUE(items.empty());
  // Counting has no limit.
  EXPECT_EQ(Count(History("1"), {.limit = 0}), 1u);
}

TEST_F(ListStoreTest, BoundsOfReads) {
  CreateHistory();
  // Two items at 20.
  const uint64_t base = kNow - 100;
  for (const auto& [nanos, value] :
       std::vector<std::pair<uint64_t, const char*>>{{10, "a"}, {20, "b"}, {20, "b'"}, {30, "c"}}) {
    ASSERT_EQ(Say(Add(History("1"), base + nanos, value)), "OK");
  }
  Strings both = {"b", "b'"};
  std::sort(both.begin(), both.end(), [](const std::string& x, const std::string& y) {
    return *MakeItemKey(1, x) > *MakeItemKey(1, y);
  });
  const struct {
    const char* rule;
    uint64_t min;
    std::optional<uint64_t> max;
    size_t limit;
    Strings values;
  } cases[] = {
      {"no bounds", 0, {}, 100, {"c", both[0], both[1], "a"}},
      {"the newest", 0, {}, 1, {"c"}},
      {"a limit within one timestamp", 0, {}, 2, {"c", both[0]}},
      {"the lower bound is inclusive", base + 20, {}, 100, {"c", both[0], both[1]}},
      {"just above", base + 21, {}, 100, {"c"}},
      {"the upper bound is exclusive", 0, base + 20, 100, {"a"}},
      {"just above all of 20", 0, base + 21, 100, {both[0], both[1], "a"}},
      {"both", base + 10, base + 30, 100, {both[0], both[1], "a"}},
      {"one instant", base + 20, base + 21, 100, {both[0], both[1]}},
      {"one instant, limited", base + 20, base + 21, 1, {both[0]}},
      {"nothing between", base + 11, base + 20, 100, {}},
      {"equal bounds", base + 20, base + 20, 100, {}},
      {"bounds the wrong way round", base + 30, base + 10, 100, {}},
      {"before zero", 0, 0, 100, {}},
      {"before one", 0, 1, 100, {}},
      {"from the latest on", kItemTimestampNanosMax, {}, 100, {}},
      {"up to the latest", base + 30, kItemTimestampNanosMax, 100, {"c"}},
      {"from beyond the latest on", kItemTimestampNanosMax + 1, {}, 100, {}},
      {"up to beyond the latest", base + 30, UINT64_MAX, 100, {"c"}},
      {"from the largest number on", UINT64_MAX, {}, 100, {}},
  };
  for (const auto& c : cases) {
    GetOptions options;
    options.min_timestamp_nanos = c.min;
    options.max_timestamp_nanos = c.max;
    options.limit = c.limit;
    EXPECT_EQ(Get(History("1"), options), c.values) << c.rule;
    options.with_expiry = true;
    EXPECT_EQ(Get(History("1"), options), c.values) << c.rule << ", with expiry";
    options.limit = SIZE_MAX;
    EXPECT_EQ(Count(History("1"), options), Get(History("1"), options).size()) << c.rule;
  }
}

TEST_F(ListStoreTest, LowestAndHighestTimestamps) {
  // A clock near the epoch and one near the end of 19 digits.
  clock.SetNanos(0);
  CreateHistory(kDay);
  ASSERT_EQ(Say(Add(History("low"), 0, "zero")), "OK");
  ASSERT_EQ(Say(Add(History("low"), 1, "one")), "OK");
  EXPECT_EQ(Get(History("low")), (Strings{"one", "zero"}));
  EXPECT_EQ(Get(History("low"), {.max_timestamp_nanos = 1}), Strings{"zero"});
  EXPECT_EQ(Get(History("low"), {.min_timestamp_nanos = 1}), Strings{"one"});

  clock.SetNanos(kItemTimestampNanosMax);
  ASSERT_EQ(Say(Add(History("high"), kItemTimestampNanosMax, "last")), "OK");
  ASSERT_EQ(Say(Add(History("high"), kItemTimestampNanosMax - 1, "before")), "OK");
  EXPECT_EQ(Get(History("high")), (Strings{"last", "before"}));
  EXPECT_EQ(Get(History("high"), {.min_timestamp_nanos = kItemTimestampNanosMax}), Strings{"last"});
  EXPECT_EQ(Get(History("high"), {.max_timestamp_nanos = kItemTimestampNanosMax}),
            Strings{"before"});
  EXPECT_EQ(Get(History("high"), {.max_timestamp_nanos = kItemTimestampNanosMax + 1}).size(), 2u);
  ListItems items;
  ASSERT_EQ(Say(store->GetListItems(History("high"), {}, &items)), "OK");
  EXPECT_EQ(items[0].timestamp_nanos, kItemTimestampNanosMax);
}

TEST_F(ListStoreTest, RemovingByValue) {
  CreateHistory();
  const std::vector<NewItem> items = {
      {kNow, "a"}, {kNow - 1, "b"}, {kNow - 2, "a"}, {kNow - 3, ""}, {kNow - 4, "ab"}};
  ASSERT_EQ(Say(store->AddListItems(History("1"), items)), "OK");
  ASSERT_EQ(Say(store->AddListItems(History("2"), items)), "OK");
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "nothing"), 0u);
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "a"), 2u);
  EXPECT_EQ(Get(History("1")), (Strings{"b", "", "ab"}));
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "a"), 0u);
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), ""), 1u);
  EXPECT_EQ(Get(History("1")), (Strings{"b", "ab"}));
  EXPECT_EQ(Get(History("2")).size(), 5u);
  // What was removed may be added again.
  ASSERT_EQ(Say(Add(History("1"), kNow, "a")), "OK");
  EXPECT_EQ(Get(History("1")), (Strings{"a", "b", "ab"}));
}

// Of one leaf, of some, and of so many that values are indexed; until nothing is left.
TEST_F(ListStoreTest, RemovingByValueFromListsOfEveryLength) {
  CreateHistory();
  for (const size_t length : {50, 400, 405, 900, 905, 4000, 4005}) {
    SCOPED_TRACE(length);
    const std::string id = std::to_string(length);
    // Some values lie in every leaf; in some lists some are so long that their rows lie elsewhere.
    const bool has_long = length % 2 == 1;
    std::vector<std::string> values;
    for (size_t i = 0; i < length; ++i) {
      const std::string number = std::to_string(i % (length / 5));
      values.push_back(has_long && i % 7 == 0 ? std::string(3000, 'l') + number
                                              : "story-" + number);
    }
    std::vector<NewItem> items;
    for (size_t i = 0; i < length; ++i) items.push_back({kNow - i * 1000, values[i]});
    ASSERT_EQ(Say(store->AddListItems(History(id), items)), "OK");
    std::vector<std::string> left = values;
    for (size_t i = 0; i < length; i = i * 5 / 4 + 1) {
      const std::string& value = values[i];
      const size_t before = left.size();
      std::erase(left, value);
      EXPECT_EQ(*store->RemoveListItemsWithValue(History(id), value), before - left.size());
      ASSERT_EQ(Get(History(id), {.limit = length}), left);
    }
    for (const std::string& value : values) {
      ASSERT_TRUE(store->RemoveListItemsWithValue(History(id), value).ok());
    }
    EXPECT_EQ(Get(History(id)), Strings{});
    store->Verify();
  }
}

TEST_F(ListStoreTest, RemovingCountsOnlyWhatIsAlive) {
  CreateHistory(10);
  ASSERT_EQ(Say(Add(History("1"), kNow, "a")), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow + 5 * kSecond, "a")), "OK");
  ASSERT_EQ(Say(Add(History("2"), kNow, "a")), "OK");
  ASSERT_EQ(Say(Add(History("2"), kNow + 5 * kSecond, "b")), "OK");
  clock.AdvanceSeconds(10);
  EXPECT_EQ(*store->RemoveListItemsWithValue(History("1"), "a"), 1u);
  EXPECT_EQ(*store->RemoveAllListItems(History("2")), 1u);
  EXPECT_EQ(*store->RemoveAllListItems(History("2")), 0u);
  EXPECT_EQ(Count(History("1")) + Count(History("2")), 0u);
}

TEST_F(ListStoreTest, RemovingAll) {
  CreateHistory();
  std::vector<NewItem> items(1000);
  for (size_t i = 0; i < items.size(); ++i) items[i] = {kNow - i, "v"};
  ASSERT_EQ(Say(store->AddListItems(History("1"), items)), "OK");
  ASSERT_EQ(Say(Add(History("2"), kNow, "other")), "OK");
  EXPECT_EQ(*store->RemoveAllListItems(History("1")), 1000u);
  EXPECT_EQ(Get(History("1")), Strings{});
  EXPECT_EQ(Get(History("2")), Strings{"other"});
  ASSERT_EQ(Say(Add(History("1"), kNow - 5, "v")), "OK");
  EXPECT_EQ(Get(History("1")), Strings{"v"});
}

TEST_F(ListStoreTest, HandlesDoTheSame) {
  CreateHistory();
  const auto handle = *store->FindListFeature("user", "history");
  const std::vector<NewItem> items = {{kNow, "a"}, {kNow - 1, "b"}, {kNow - 2, "a"}};
  EXPECT_EQ(store->AddListItems({handle, "1"}, items)->stored, 3u);
  ListItems read;
  ASSERT_EQ(Say(store->GetListItems({handle, "1"}, {.limit = 2}, &read)), "OK");
  EXPECT_EQ(Values(read), (Strings{"a", "b"}));
  EXPECT_EQ(Get(History("1")), (Strings{"a", "b", "a"}));
  EXPECT_EQ(*store->RemoveListItemsWithValue({handle, "1"}, "a"), 2u);
  EXPECT_EQ(*store->RemoveAllListItems({handle, "1"}), 1u);
}

TEST_F(ListStoreTest, ListsThatDifferInOneNameOnlyAreDifferent) {
  ASSERT_EQ(Say(store->CreateListFeature("user", "h", kDay)), "OK");
  ASSERT_EQ(Say(store->CreateListFeature("use", "rh", kDay)), "OK");
  ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "h", "1")), "OK");
  const ListId lists[] = {{"user", "h", "", "1"},  {"user", "h", "1", ""}, {"user", "h", "1", "1"},
                          {"user", "h", "", "11"}, {"user", "h", "", ""},  {"use", "rh", "", "1"}};
  for (size_t i = 0; i < std::size(lists); ++i) {
    ASSERT_EQ(Say(Add(lists[i], kNow, std::to_string(i))), "OK");
  }
  for (size_t i = 0; i < std::size(lists); ++i) {
    EXPECT_EQ(Get(lists[i]), Strings{std::to_string(i)});
  }
}

TEST_F(ListStoreTest, TheMemoryLimitRefusesWholeCalls) {
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = uint64_t{16} << 20;
  Reopen(options);
  CreateHistory();
  const std::string value(1000, 'v');
  std::vector<NewItem> items(100);
  absl::Status status;
  size_t lists = 0;
  for (; status.ok() && lists < 1000; ++lists) {
    for (size_t i = 0; i < items.size(); ++i) items[i] = {kNow - i, value};
    status = store->AddListItems(History(std::to_string(lists)), items).status();
  }
  EXPECT_EQ(Say(status),
            "RESOURCE_EXHAUSTED: memory limit of 16777216 bytes reached; nothing was applied");
  EXPECT_EQ(Count(History(std::to_string(lists - 1))), 0u);
  for (size_t i = 0; i + 1 < lists; ++i) EXPECT_EQ(Count(History(std::to_string(i))), 100u);
  const Stats stats = store->GetStats();
  EXPECT_GE(stats.refused_writes, 1u);
  EXPECT_LE(stats.held_bytes, stats.memory_limit_bytes);
  // What is removed makes room.
  for (size_t i = 0; i + 1 < lists; ++i) {
    ASSERT_EQ(*store->RemoveAllListItems(History(std::to_string(i))), 100u);
  }
  while (store->Reclaim() != 0) {
  }
  EXPECT_EQ(Say(store->AddListItems(History("again"), items)), "OK");
}

TEST_F(ListStoreTest, StatsTellWhatIsThere) {
  CreateHistory();
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow - 1, "y")), "OK");
  ASSERT_EQ(Say(Add(History("2"), kNow, "x")), "OK");
  const Stats stats = store->GetStats();
  ASSERT_EQ(stats.tables.size(), 2u);
  EXPECT_EQ(stats.tables[0].keyspace, "feature_store");
  EXPECT_EQ(stats.tables[0].table, "list_items");
  EXPECT_EQ(stats.tables[0].partitions, 2u);
  EXPECT_EQ(stats.tables[0].rows, 3u);
  EXPECT_EQ(stats.tables[1].table, "list_features");
  EXPECT_EQ(stats.tables[1].rows, 1u);
  EXPECT_EQ(stats.live_bytes, stats.tables[0].live_bytes + stats.tables[1].live_bytes);
  EXPECT_EQ(stats.memory_limit_bytes, uint64_t{64} << 20);
  EXPECT_EQ(stats.shards, 2u);
}

TEST_F(ListStoreTest, ExpiredItemsAreReclaimed) {
  CreateHistory(10);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow, "x")), "OK");
  }
  while (store->Reclaim() != 0) {
  }
  EXPECT_EQ(store->GetStats().tables[0].rows, 100u);
  const auto next = store->NextExpirySeconds();
  ASSERT_TRUE(next.has_value());
  EXPECT_LE(*next, kNowSeconds + 10);
  EXPECT_GT(*next, kNowSeconds - 1);
  clock.AdvanceSeconds(10);
  while (store->Reclaim(7) != 0) store->Verify();
  const Stats stats = store->GetStats();
  EXPECT_EQ(stats.tables[0].rows, 0u);
  EXPECT_EQ(stats.tables[0].expired_rows, 100u);
  EXPECT_EQ(store->NextExpirySeconds(), std::nullopt);
}

TEST_F(ListStoreTest, TheBackgroundThreadReclaimsAndStops) {
  Options options = SmallOptions(clock);
  options.background_reclaim = true;
  Reopen(options);
  CreateHistory(10);
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  clock.AdvanceSeconds(10);
  while (store->GetStats().tables[0].rows != 0) std::this_thread::yield();
}

TEST_F(ListStoreTest, PopulatedMemoryIsWithinTheLimit) {
  Options options = SmallOptions(clock);
  options.memory_limit_bytes = 16 << 20;
  Reopen(options);
  CreateHistory();
  EXPECT_EQ(store->Populate(32 << 20).code(), absl::StatusCode::kResourceExhausted);
  const uint64_t held = store->GetStats().held_bytes;
  ASSERT_EQ(Say(store->Populate(8 << 20)), "OK");
  EXPECT_EQ(store->GetStats().held_bytes, held) << "what is ready is not yet of the limit";
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  store->Verify();
}

TEST_F(ListStoreTest, StoresDoNotNoticeEachOther) {
  ManualClock other_clock(kNow + kDay * kSecond);
  const auto other = OpenStore(SmallOptions(other_clock));
  CreateHistory();
  EXPECT_TRUE(other->ListFeatures().empty());
  ASSERT_EQ(Say(other->CreateListFeature("user", "history", 5)), "OK");
  ASSERT_EQ(Say(Add(History("1"), kNow, "x")), "OK");
  ListItems items;
  ASSERT_EQ(Say(other->GetListItems(History("1"), {}, &items)), "OK");
  EXPECT_TRUE(items.empty());
}

TEST_F(ListStoreTest, OptionsAreCheckedWhenItOpens) {
  Options options = SmallOptions(clock);
  options.shards = 1000;
  EXPECT_EQ(Say(ListStore::Open(options)), "INVALID_ARGUMENT: shards 1000 exceeds 256");
}

TEST_F(ListStoreTest, HowManyShardsNeverChangesWhatIsRead) {
  for (const uint32_t shards : {1u, 3u, 16u, 256u}) {
    Options options = SmallOptions(clock);
    options.shards = shards;
    Reopen(options);
    CreateHistory();
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(Say(Add(History(std::to_string(i)), kNow, std::to_string(i))), "OK");
    }
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(Get(History(std::to_string(i))), Strings{std::to_string(i)});
    }
  }
}

}  // namespace list_store_test
}  // namespace liststore::testing
