// The heap refuses an allocation, each in turn, in every operation of a list store: the operation
// answers with an error and has changed nothing, or it is done; the store is sound, and the
// operation can be asked for again.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "liststore/list_store.h"
#include "liststore/list_view.h"
#include "liststore/saved_store.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/refusing_new.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace refused_allocation_test {

// Features with their TTLs, and lists with their values.
using State = std::map<std::string, Strings>;

class World {
 public:
  explicit World(bool evicts) : clock(kNow) {
    Options options = SmallOptions(clock);
    options.shards = 1;
    if (evicts) options.memory_policy = MemoryPolicy::kEvict;
    store = OpenStore(options);
    EXPECT_TRUE(store->CreateListFeature("user", "history", 30 * kDay).ok());
    EXPECT_TRUE(store->CreateListFeatureVersion("user", "history", "v2", {}).ok());
    for (int list = 0; list < 4; ++list) EXPECT_TRUE(AddSome(list, 3).ok());
  }

  static std::string Id(int list) { return "entity-" + std::to_string(list); }
  absl::Status AddSome(int list, uint64_t count, size_t value_bytes = 20) {
    const std::string id = Id(list);
    const std::string value(value_bytes, 'v');
    std::vector<NewItem> items;
    for (uint64_t i = 0; i < count; ++i) items.push_back({kNow - i, value});
    return store->AddListItems({"user", "history", "", id}, items).status();
  }
  State Read() const {
    State state;
    for (const ListFeatureInfo& feature : store->ListFeatures()) {
      for (const auto& version : feature.versions) {
        state[feature.entity_type + "/" + feature.feature + "/" + version.version] = {
            std::to_string(version.ttl_seconds)};
      }
    }
    for (int list = 0; list < 8; ++list) {
      ListItems items;
      const std::string id = Id(list);
      EXPECT_TRUE(store->GetListItems({"user", "history", "", id}, {}, &items).ok());
      if (items.size() != 0) state[id] = Values(items);
    }
    return state;
  }

  ManualClock clock;
  std::unique_ptr<ListStore> store;
};

struct Operation {
  const char* name;
  std::function<absl::Status(World&)> run;
};

// What an operation needs of the heap itself is there before the refusals begin.
const std::string kId = World::Id(1);
const std::string kNewId = World::Id(5);
const std::string kValue(20, 'v');
const std::string kLongValue(60'000, 'x');

ListId List(const std::string& id) { return {"user", "history", "", id}; }

std::vector<NewItem> Items(size_t count, const std::string& value) {
  std::vector<NewItem> items;
  for (size_t i = 0; i < count; ++i) items.push_back({kNow - 100 - i, value});
  return items;
}
const std::vector<NewItem> kFew = Items(3, kValue);
const std::vector<NewItem> kMany = Items(1500, kValue);
const std::vector<NewItem> kLong = Items(3, kLongValue);
// In no order.
const std::vector<NewItem> kMixed = [] {
  std::vector<NewItem> items = Items(300, kValue);
  for (size_t i = 0; i < items.size(); ++i) std::swap(items[i], items[i * 7 % items.size()]);
  return items;
}();

const Operation kOperations[] = {
    {"an addition to a list",
     [](World& world) { return world.store->AddListItems(List(kId), kFew).status(); }},
    {"an addition to a new list",
     [](World& world) { return world.store->AddListItems(List(kNewId), kFew).status(); }},
    {"an addition that makes a list large",
     [](World& world) { return world.store->AddListItems(List(kId), kMany).status(); }},
    {"an addition of long values",
     [](World& world) { return world.store->AddListItems(List(kId), kLong).status(); }},
    {"an addition to many lists",
     [](World& world) {
       const ListAddition additions[] = {
           {List(kId), kFew}, {List(kNewId), kMany}, {List(kId), kLong}};
       return world.store->AddListItemsMulti(additions).status();
     }},
    {"a list that is put",
     [](World& world) { return world.store->PutList(List(kId), kFew).status(); }},
    {"a list of many items that is put",
     [](World& world) { return world.store->PutList(List(kId), kMany).status(); }},
    {"a new list that is put, of items in no order",
     [](World& world) { return world.store->PutList(List(kNewId), kMixed).status(); }},
    {"an addition to a new list, of items in no order",
     [](World& world) { return world.store->AddListItems(List(kNewId), kMixed).status(); }},
    {"a removal by value",
     [](World& world) {
       return world.store->RemoveListItemsWithValue(List(kId), kValue).status();
     }},
    {"the removal of a list",
     [](World& world) { return world.store->RemoveAllListItems(List(kId)).status(); }},
    {"a read",
     [](World& world) {
       ListItems items;
       return world.store->GetListItems(List(kId), {.with_expiry = true}, &items);
     }},
    {"a read of many lists",
     [](World& world) {
       const ListId lists[] = {List(kId), List(kNewId), List(kId)};
       std::vector<ListItems> items;
       return world.store->MultiGetListItems(lists, {}, &items);
     }},
    {"a view, and an addition beside it",
     [](World& world) {
       ListView view;
       absl::Status status = world.store->ViewListItems(List(kId), {}, &view);
       if (!status.ok()) return status;
       return world.store->AddListItems(List(kId), kFew).status();
     }},
    {"a count", [](World& world) { return world.store->CountListItems(List(kId)).status(); }},
    {"a new feature",
     [](World& world) { return world.store->CreateListFeature("user", "clicks", kDay); }},
    {"a new version",
     [](World& world) {
       return world.store->CreateListFeatureVersion("user", "history", "v3", kDay);
     }},
    {"another TTL",
     [](World& world) { return world.store->SetListFeatureTtl("user", "history", 3 * kDay); }},
    {"a version deleted",
     [](World& world) { return world.store->DeleteListFeatureVersion("user", "history", "v2"); }},
    {"a feature deleted",
     [](World& world) { return world.store->DeleteListFeature("user", "history"); }},
    {"a visit to all lists",
     [](World& world) {
       return world.store->ForEachList("user", "history", "",
                                       [](std::string_view) { return true; });
     }},
};

void RefuseEachInTurn(const Operation& operation, bool onwards, bool evicts) {
  SCOPED_TRACE(operation.name);
  SCOPED_TRACE(onwards ? "all after it too" : "once");
  State before, after;
  {
    World world(evicts);
    before = world.Read();
    ASSERT_EQ(Say(operation.run(world)), "OK");
    after = world.Read();
  }
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 10'000u);
    SCOPED_TRACE(nth);
    World world(evicts);
    RefusedNew refusal(nth, onwards);
    absl::Status status;
    bool thrown = false;
    try {
      status = operation.run(world);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    refused = refusal.End();
    ASSERT_FALSE(thrown);
    world.store->Verify();
    if (status.ok()) {
      ASSERT_EQ(world.Read(), after);
    } else {
      ASSERT_TRUE(refused) << status;
      ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      ASSERT_EQ(world.Read(), before) << "half applied";
    }
    while (world.store->Reclaim() != 0) {
    }
    if (!status.ok()) {
      ASSERT_EQ(Say(operation.run(world)), "OK") << "asked for again";
      ASSERT_EQ(world.Read(), after);
    }
    world.store->Verify();
  }
}

TEST(RefusedAllocation, IsAnErrorOfTheOperationThatChangedNothing) {
  for (const Operation& operation : kOperations) {
    for (const bool onwards : {false, true}) {
      for (const bool evicts : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(RefuseEachInTurn(operation, onwards, evicts));
      }
    }
  }
}

TEST(RefusedAllocation, InOpenIsItsError) {
  const ManualClock clock(kNow);
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    Options options = SmallOptions(clock);
    options.shards = 1;
    options.background_reclaim = true;
    RefusedNew refusal(nth);
    auto store = ListStore::Open(options);
    refused = refusal.End();
    if (!store.ok()) {
      ASSERT_EQ(store.status().code(), absl::StatusCode::kResourceExhausted) << nth;
    }
  }
}

TEST(RefusedAllocation, InSavingAndLoadingIsTheirError) {
  const TempFolder folder;
  const std::string path = folder / "saved";
  World world(false);
  ASSERT_EQ(Say(SaveListStore(*world.store, path)), "OK");
  const State expected = world.Read();
  const std::string saved = ReadFile(path);
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    SCOPED_TRACE(nth);
    const std::string other = folder / "other";
    std::filesystem::remove(other);
    RefusedNew refusal(nth);
    const absl::Status status = SaveListStore(*world.store, other).status();
    refused = refusal.End();
    if (!status.ok()) {
      ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      ASSERT_FALSE(folder.Names().contains("other"));
    }
    world.store->Verify();
  }
  refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    SCOPED_TRACE(nth);
    Options options = SmallOptions(world.clock);
    RefusedNew refusal(nth);
    auto loaded = LoadListStore(path, options);
    refused = refusal.End();
    if (!loaded.ok()) {
      ASSERT_EQ(loaded.status().code(), absl::StatusCode::kResourceExhausted) << loaded.status();
      continue;
    }
    (*loaded)->Verify();
    ASSERT_EQ((*loaded)->ListFeatures().size(), world.store->ListFeatures().size());
  }
  EXPECT_EQ(ReadFile(path), saved);
}

}  // namespace refused_allocation_test
}  // namespace liststore::testing
