// Random operations on the store and on the plainest thing that does the same: sorted maps. A store
// that evicts tells what went, and the maps let it go too.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "liststore/item_key.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_store_model_test {

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
  // What a cache knows of a list beside its items.
  struct Known {
    bool partial = false;
    bool kept_empty = false;
    int64_t fresh_until_seconds = 0;
  };
  enum class Beginning {
    kComplete,  // what an addition begins is complete
    kUnlessEvicted,
    kPartial,
  };

  void SetBeginning(Beginning beginning) { beginning_ = beginning; }
  void CreateFeature(const std::string& feature, int64_t ttl) { ttls_.emplace(feature, ttl); }
  void SetTtl(const std::string& feature, int64_t ttl) { ttls_.at(feature) = ttl; }
  bool Exists(const std::string& feature) const { return ttls_.count(feature) != 0; }
  void DeleteFeature(const std::string& feature) {
    ttls_.erase(feature);
    lists_.erase(feature);
    known_.erase(feature);
  }
  void Drop(const std::string& feature, const std::string& id, bool evicted) {
    lists_[feature].erase(id);
    known_[feature].erase(id);
    if (evicted) evicted_[feature].insert(id);
  }
  ListPresence PresenceOf(const std::string& feature, const std::string& id, uint64_t now) {
    if (AbsenceIsKnown(feature, id, now)) return ListPresence::kComplete;
    if (Live(feature, id, now).empty()) return ListPresence::kAbsent;
    return known_[feature][id].partial ? ListPresence::kPartial : ListPresence::kComplete;
  }
  int64_t FreshUntil(const std::string& feature, const std::string& id, uint64_t now) {
    if (PresenceOf(feature, id, now) == ListPresence::kAbsent) return 0;
    return known_[feature][id].fresh_until_seconds;
  }
  void Put(const std::string& feature, const std::string& id, const std::vector<NewItem>& items,
           int64_t fresh_until_seconds, uint64_t now) {
    lists_[feature][id].clear();
    const size_t stored = Add(feature, id, items, now);
    known_[feature][id] = {
        .partial = false, .kept_empty = stored == 0, .fresh_until_seconds = fresh_until_seconds};
  }

  size_t Add(const std::string& feature, const std::string& id, const std::vector<NewItem>& items,
             uint64_t now) {
    size_t stored = 0;
    const bool begins = Live(feature, id, now).empty() && !AbsenceIsKnown(feature, id, now);
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
    if (stored == 0) return 0;
    Known& known = known_[feature][id];
    known.kept_empty = false;
    if (begins) {
      known = {};
      known.partial = beginning_ == Beginning::kPartial ||
                      (beginning_ == Beginning::kUnlessEvicted && evicted_[feature].contains(id));
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

  bool AbsenceIsKnown(const std::string& feature, const std::string& id, uint64_t now) {
    const Known& known = known_[feature][id];
    return known.kept_empty && (known.fresh_until_seconds == 0 ||
                                known.fresh_until_seconds > static_cast<int64_t>(now / kSecond));
  }

  Beginning beginning_ = Beginning::kComplete;
  std::map<std::string, std::map<std::string, Known>> known_;
  std::map<std::string, std::set<std::string>> evicted_;
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
    ids = 1 + random.Below(evicting && random.OneIn(2) ? 4000 : 40);
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
    const uint64_t now = clock.NowNanos();
    const ListPresence presence = model.PresenceOf(feature, id, now);
    if (!guesses || presence != ListPresence::kComplete) {
      ASSERT_EQ(items.presence(), presence);
    } else {
      // The filter of what was evicted may err on this side.
      ASSERT_NE(items.presence(), ListPresence::kAbsent);
    }
    ASSERT_EQ(items.fresh_until_seconds(), model.FreshUntil(feature, id, now));
  }
  // An evicting store, and a model that hears of it. `elsewhere`: in front of a source.
  void OpenEvicting(bool elsewhere) {
    Options options;
    options.clock = &clock;
    options.shards = 1;
    options.memory_limit_bytes = uint64_t{4} << 20;
    options.memory_policy = MemoryPolicy::kEvict;
    options.lists_live_elsewhere = elsewhere;
    options.eviction_listener = [this](const EvictedList& list) {
      ++told;
      Changed(std::string(list.feature), std::string(list.entity_id),
              list.reason == EvictionReason::kForgotten);
      model.Drop(std::string(list.feature), std::string(list.entity_id),
                 list.reason == EvictionReason::kMemory);
    };
    Reopen(options);
    model.SetBeginning(elsewhere ? ReferenceLists::Beginning::kPartial
                                 : ReferenceLists::Beginning::kUnlessEvicted);
    evicting = true;
    guesses = !elsewhere;
  }
  // The marks of lists that were changed are void.
  void Changed(const std::string& feature, const std::string& id, bool changed = true) {
    if (!changed) return;
    const auto mark = marks.find({feature, id});
    if (mark != marks.end()) mark->second.second = true;
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
    if (added->stored != 0) Changed(feature, id);
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
      const size_t to_one = model.Add(features[i], list_ids[i], items[i], clock.NowNanos());
      if (to_one != 0) Changed(features[i], list_ids[i]);
      stored += to_one;
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
    ASSERT_EQ(Say(store->MultiGetListItems({handle, views}, options, &many)), "OK");
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
    Changed(feature, id);
  }
  void PutSome() {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    std::vector<std::string> kept(random.Below(random.OneIn(4) ? 200 : 4));
    std::vector<NewItem> items;
    for (std::string& value : kept) {
      value = AnyValue();
      items.push_back({AnyInstant(), value});
    }
    PutListOptions options;
    const auto now_seconds = static_cast<int64_t>(clock.NowNanos() / kSecond);
    if (random.OneIn(2)) options.fresh_until_seconds = now_seconds + random.Between(0, 50);
    const auto mark = marks.find({feature, id});
    bool void_mark = false;
    if (mark != marks.end()) {
      options.unless_written_since = mark->second.first;
      void_mark = mark->second.second;
    }
    const auto put = store->PutList({"user", feature, "", id}, items, options);
    if (!model.Exists(feature)) {
      ASSERT_EQ(put.status().code(), absl::StatusCode::kNotFound);
      return;
    }
    ASSERT_TRUE(put.ok()) << put.status();
    if (void_mark) {
      ASSERT_FALSE(*put) << "a list was put that was changed since";
    }
    if (mark == marks.end()) {
      ASSERT_TRUE(*put);
    }
    if (!*put) {
      ++puts_refused;
      marks.erase(mark);
      return;
    }
    model.Put(feature, id, items, options.fresh_until_seconds, clock.NowNanos());
    Changed(feature, id);
  }
  void MarkSome() {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    marks[{feature, id}] = {*store->LoadMark({"user", feature, "", id}), false};
  }
  void ForgetSome() {
    const std::string feature = AnyFeature();
    const std::string id = AnyId();
    const bool there = model.PresenceOf(feature, id, clock.NowNanos()) != ListPresence::kAbsent;
    const bool forgotten = *store->ForgetList({"user", feature, "", id});
    // What has expired may still lie there.
    if (there) {
      ASSERT_TRUE(forgotten);
    }
    Changed(feature, id);
    model.Drop(feature, id, /*evicted=*/false);
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
      for (auto& [list, mark] : marks) mark.second = true;
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
  void Run(uint64_t steps);
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
      case kPut:
        return PutSome();
      case kMark:
        return MarkSome();
      case kForget:
        return ForgetSome();
      case kTime:
        if (random.OneIn(200)) return clock.AdvanceSeconds(30 * kDay);
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
    kPut,
    kMark,
    kForget,
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
  bool evicting = false;
  bool guesses = false;
  uint64_t told = 0;
  uint64_t puts_refused = 0;
  // The mark last taken of a list, and whether the list was changed since.
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, bool>> marks;
  ListItems read;
  std::vector<ListItems> many;
};

void ListStoreModelTest::Run(uint64_t steps) {
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % 500 == 0) DrawWeights();
    if (step % 500 == 1) ChangeFeature();
    Step();
    ASSERT_FALSE(HasFailure()) << "step " << step;
    if (step % 256 == 0) store->Verify();
  }
}

TEST_F(ListStoreModelTest, AgreesWithSortedMaps) { Run(TestSteps(20'000)); }

TEST_F(ListStoreModelTest, AgreesWithSortedMapsThatEvictAsIt) {
  OpenEvicting(/*elsewhere=*/false);
  Run(TestSteps(20'000));
  EXPECT_EQ(store->GetStats().refused_writes, 0u);
  if (TestSteps(20'000) >= 20'000) {
    EXPECT_GT(store->GetStats().cache.evictions, 0u);
  }
}

TEST_F(ListStoreModelTest, AgreesWithSortedMapsInFrontOfASource) {
  OpenEvicting(/*elsewhere=*/true);
  Run(TestSteps(20'000));
  EXPECT_EQ(store->GetStats().refused_writes, 0u);
  if (TestSteps(20'000) >= 20'000) {
    EXPECT_GT(store->GetStats().cache.evictions, 0u);
  }
}

}  // namespace list_store_model_test
}  // namespace liststore::testing
