// Random operations on the store and on the plainest thing that does the same: sorted maps.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "liststore/item_key.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace {

// Lists by key, items by item key, newest first. Written from the definitions, with no code of the
// store's.
class ReferenceLists {
 public:
  struct Item {
    uint64_t timestamp_nanos;
    std::string value;
    int64_t expiry_seconds;
  };
  using List = std::map<std::string, Item, std::greater<>>;

  void CreateFeature(const std::string& feature, int64_t ttl) { ttls_.emplace(feature, ttl); }
  void SetTtl(const std::string& feature, int64_t ttl) { ttls_.at(feature) = ttl; }
  bool Exists(const std::string& feature) const { return ttls_.count(feature) != 0; }
  void DeleteFeature(const std::string& feature) {
    ttls_.erase(feature);
    lists_.erase(feature);
  }

  size_t Add(const std::string& feature, const std::string& id, const std::vector<NewItem>& items,
             uint64_t now) {
    size_t stored = 0;
    for (const NewItem& item : items) {
      const auto nanos = static_cast<__int128>(item.timestamp_nanos) +
                         static_cast<__int128>(ttls_.at(feature)) * kSecond - now;
      if (nanos < static_cast<__int128>(kSecond)) continue;
      const auto expiry =
          static_cast<int64_t>(now / kSecond) + static_cast<int64_t>(nanos / kSecond);
      lists_[feature][id][*MakeItemKey(item.timestamp_nanos, item.value)] = {
          item.timestamp_nanos, std::string(item.value), expiry};
      ++stored;
    }
    return stored;
  }
  std::vector<std::pair<std::string, Item>> Get(const std::string& feature, const std::string& id,
                                                const GetOptions& options, uint64_t now) {
    std::vector<std::pair<std::string, Item>> found;
    for (const auto& [key, item] : Live(feature, id, now)) {
      if (found.size() == options.limit) break;
      if (item.timestamp_nanos < options.min_timestamp_nanos) continue;
      if (options.max_timestamp_nanos && item.timestamp_nanos >= *options.max_timestamp_nanos) {
        continue;
      }
      found.emplace_back(key, item);
    }
    return found;
  }
  size_t RemoveValue(const std::string& feature, const std::string& id, std::string_view value,
                     uint64_t now) {
    return std::erase_if(Live(feature, id, now),
                         [&](const auto& entry) { return entry.second.value == value; });
  }
  size_t RemoveAll(const std::string& feature, const std::string& id, uint64_t now) {
    List& list = Live(feature, id, now);
    const size_t removed = list.size();
    list.clear();
    return removed;
  }
  std::set<std::string> Ids(const std::string& feature, uint64_t now) {
    std::set<std::string> ids;
    for (auto& [id, list] : lists_[feature]) {
      if (!Live(feature, id, now).empty()) ids.insert(id);
    }
    return ids;
  }

 private:
  List& Live(const std::string& feature, const std::string& id, uint64_t now) {
    List& list = lists_[feature][id];
    std::erase_if(list, [&](const auto& entry) {
      return entry.second.expiry_seconds <= static_cast<int64_t>(now / kSecond);
    });
    return list;
  }

  std::map<std::string, int64_t> ttls_;
  std::map<std::string, std::map<std::string, List>> lists_;
};

class ListStoreModelTest : public StoreTest {
 protected:
  // Each run switches some operations off, so that lists get to grow, to age, or to come and go.
  explicit ListStoreModelTest() : random(TestSeed()) {}

  void DrawWeights() {
    for (uint64_t& weight : weights) weight = random.OneIn(4) ? 0 : 1 + random.Below(10);
    weights[kAdd] = 5 + random.Below(20);
    values = 1 + random.Below(30);
    ids = 1 + random.Below(40);
    span_nanos = (1 + random.Below(100)) * kSecond;
    value_bytes = random.OneIn(3) ? 300 : 12;
  }
  size_t DrawOperation() {
    uint64_t sum = 0;
    for (const uint64_t weight : weights) sum += weight;
    uint64_t drawn = random.Below(sum);
    size_t operation = 0;
    while (drawn >= weights[operation]) drawn -= weights[operation++];
    return operation;
  }

  std::string AnyFeature() { return "f" + std::to_string(random.Below(3)); }
  std::string AnyId() { return std::to_string(random.Below(ids)); }
  std::string AnyValue() {
    const uint64_t number = random.Below(values);
    // Most values have one length, some others.
    const std::string text = std::to_string(number);
    return number % 5 == 0 ? text : text + std::string(value_bytes - text.size(), '.');
  }
  uint64_t AnyInstant() {
    const uint64_t now = clock.NowNanos();
    const uint64_t instant = now - span_nanos / 2 + random.Below(span_nanos);
    // Often on a second, so that timestamps meet.
    return random.OneIn(2) ? instant / kSecond * kSecond : instant;
  }
  GetOptions AnyOptions() {
    GetOptions options;
    if (random.OneIn(2)) options.min_timestamp_nanos = AnyInstant();
    if (random.OneIn(2)) options.max_timestamp_nanos = AnyInstant();
    options.limit = random.OneIn(3) ? 1 + random.Below(5) : 1000;
    options.with_expiry = random.OneIn(3);
    return options;
  }

  void ExpectItems(const ListItems& items, const std::string& feature, const std::string& id,
                   const GetOptions& options) {
    const auto expected = model.Get(feature, id, options, clock.NowNanos());
    ASSERT_EQ(items.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto& [key, item] = expected[i];
      ASSERT_EQ(items[i].item_key(), key);
      ASSERT_EQ(items[i].timestamp_nanos, item.timestamp_nanos);
      ASSERT_EQ(items[i].value, item.value);
      ASSERT_EQ(items[i].expires_at_seconds, options.with_expiry ? item.expiry_seconds : 0);
    }
  }

  void AddSome() {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    std::vector<std::string> kept(1 + random.Below(random.OneIn(4) ? 200 : 8));
    std::vector<NewItem> items;
    for (std::string& value : kept) {
      value = AnyValue();
      items.push_back({AnyInstant(), value});
    }
    const auto added = store->AddListItems({"user", feature, "", id}, items);
    if (!model.Exists(feature)) {
      ASSERT_EQ(added.status().code(), absl::StatusCode::kNotFound);
      return;
    }
    ASSERT_TRUE(added.ok()) << added.status();
    ASSERT_EQ(added->stored, model.Add(feature, id, items, clock.NowNanos()));
    ASSERT_EQ(added->stored + added->skipped_expired, items.size());
  }
  void AddToMany() {
    std::vector<std::string> features(1 + random.Below(5));
    std::vector<std::string> list_ids(features.size());
    std::vector<std::string> kept(features.size());
    std::vector<std::vector<NewItem>> items(features.size());
    std::vector<ListAddition> additions;
    bool all_exist = true;
    for (size_t i = 0; i < features.size(); ++i) {
      features[i] = AnyFeature();
      all_exist = all_exist && model.Exists(features[i]);
      list_ids[i] = AnyId();
      kept[i] = AnyValue();
      items[i] = {{AnyInstant(), kept[i]}, {AnyInstant(), kept[i]}};
      additions.push_back({{"user", features[i], "", list_ids[i]}, items[i]});
    }
    const auto added = store->AddListItemsMulti(additions);
    if (!all_exist) {
      ASSERT_EQ(added.status().code(), absl::StatusCode::kNotFound);
      return;
    }
    ASSERT_TRUE(added.ok()) << added.status();
    size_t stored = 0;
    for (size_t i = 0; i < features.size(); ++i) {
      stored += model.Add(features[i], list_ids[i], items[i], clock.NowNanos());
    }
    ASSERT_EQ(added->stored, stored);
  }
  void GetSome() {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    const GetOptions options = AnyOptions();
    ASSERT_EQ(Say(store->GetListItems({"user", feature, "", id}, options, &read)), "OK");
    ExpectItems(read, feature, id, options);
    GetOptions all = options;
    all.limit = SIZE_MAX;
    ASSERT_EQ(*store->CountListItems({"user", feature, "", id}, options),
              model.Get(feature, id, all, clock.NowNanos()).size());
  }
  void GetMany() {
    const std::string feature = AnyFeature();
    std::vector<std::string> list_ids(random.Below(100));
    for (std::string& id : list_ids) id = AnyId();
    const std::vector<std::string_view> views(list_ids.begin(), list_ids.end());
    const GetOptions options = AnyOptions();
    const auto handle = *store->FindListFeature("user", feature);
    ASSERT_EQ(Say(store->MultiGetListItems(handle, views, options, &many)), "OK");
    for (size_t i = 0; i < views.size(); ++i) ExpectItems(many[i], feature, list_ids[i], options);
  }
  void RemoveSome(bool all) {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    const ListId list{"user", feature, "", id};
    const uint64_t now = clock.NowNanos();
    if (all) {
      ASSERT_EQ(*store->RemoveAllListItems(list), model.RemoveAll(feature, id, now));
    } else {
      const std::string value = AnyValue();
      ASSERT_EQ(*store->RemoveListItemsWithValue(list, value),
                model.RemoveValue(feature, id, value, now));
    }
  }
  void ChangeFeature() {
    const std::string feature = AnyFeature();
    const int64_t ttl = random.Between(1, 60);
    if (!model.Exists(feature)) {
      ASSERT_EQ(Say(store->CreateListFeature("user", feature, ttl)), "OK");
      model.CreateFeature(feature, ttl);
    } else if (random.OneIn(10)) {
      ASSERT_EQ(Say(store->DeleteListFeature("user", feature)), "OK");
      model.DeleteFeature(feature);
    } else {
      ASSERT_EQ(Say(store->SetListFeatureTtl("user", feature, ttl)), "OK");
      model.SetTtl(feature, ttl);
    }
  }
  void Scan() {
    const std::string feature = AnyFeature();
    std::set<std::string> seen;
    ASSERT_EQ(Say(store->ForEachList("user", feature, "",
                                     [&](std::string_view id) {
                                       EXPECT_TRUE(seen.emplace(id).second);
                                       return true;
                                     })),
              "OK");
    ASSERT_EQ(seen, model.Ids(feature, clock.NowNanos()));
  }
  void Step() {
    switch (DrawOperation()) {
      case kAdd:
        return AddSome();
      case kAddMany:
        return AddToMany();
      case kGet:
        return GetSome();
      case kGetMany:
        return GetMany();
      case kRemoveValue:
        return RemoveSome(/*all=*/false);
      case kRemoveAll:
        return RemoveSome(/*all=*/true);
      case kFeature:
        return ChangeFeature();
      case kScan:
        return Scan();
      case kTime:
        return clock.AdvanceNanos(random.Below(random.OneIn(20) ? 100 * kSecond : kSecond));
      case kReclaim:
        return static_cast<void>(store->Reclaim(random.Below(100)));
    }
  }

  enum Operation {
    kAdd,
    kAddMany,
    kGet,
    kGetMany,
    kRemoveValue,
    kRemoveAll,
    kFeature,
    kScan,
    kTime,
    kReclaim,
    kOperations
  };

  Random random;
  ReferenceLists model;
  uint64_t weights[kOperations] = {};
  uint64_t values = 1;
  uint64_t ids = 1;
  uint64_t span_nanos = kSecond;
  size_t value_bytes = 12;
  ListItems read;
  std::vector<ListItems> many;
};

TEST_F(ListStoreModelTest, AgreesWithSortedMaps) {
  const uint64_t steps = TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % 500 == 0) DrawWeights();
    if (step % 500 == 1) ChangeFeature();
    Step();
    ASSERT_FALSE(HasFailure()) << "step " << step;
    if (step % 256 == 0) store->Verify();
  }
}

}  // namespace
}  // namespace liststore::testing
