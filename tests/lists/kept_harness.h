// What the tests of stores with a data directory share.
#ifndef LISTSTORE_TESTS_LISTS_KEPT_HARNESS_H_
#define LISTSTORE_TESTS_LISTS_KEPT_HARNESS_H_

#include <errno.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/lists/kept_store.h"
#include "liststore/list_store.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {

inline Options KeptOptions(const Clock& clock, const std::string& directory, CommitLog mode) {
  Options options;
  options.clock = &clock;
  options.memory_limit_bytes = uint64_t{64} << 20;
  options.shards = 2;
  options.data_dir = directory;
  options.commit_log = mode;
  options.commit_log_segment_bytes = uint64_t{2} << 20;
  return options;
}

// One list as text, its presence and expiries included.
inline std::string TextOfList(const ListStore& store, const ListId& list) {
  ListItems items;
  EXPECT_EQ(Say(store.GetListItems(list, {.limit = SIZE_MAX, .with_expiry = true}, &items)), "OK");
  std::string text = std::to_string(static_cast<int>(items.presence())) + " " +
                     std::to_string(items.fresh_until_seconds()) + ":";
  for (const ListItemView item : items) {
    text += " " + item.item_key() + "=" + std::string(item.value) + "@" +
            std::to_string(item.expires_at_seconds);
  }
  return text;
}

// All that a store has, as text: features, and the lists of these and of `more` feature names.
inline std::string Everything(const ListStore& store, const std::vector<std::string>& more = {}) {
  std::string all;
  std::set<std::pair<std::string, std::string>> versions;
  for (const ListFeatureInfo& info : store.ListFeatures()) {
    all += "feature " + info.feature + " " + std::to_string(info.ttl_seconds) + "\n";
    for (const ListFeatureVersionInfo& version : info.versions) {
      all += "version " + version.version + " " + std::to_string(version.ttl_seconds) + "\n";
      versions.emplace(info.feature, version.version);
    }
  }
  for (const std::string& feature : more) {
    versions.emplace(feature, "");
    versions.emplace(feature, "v2");
  }
  for (const auto& [feature, version] : versions) {
    std::set<std::string> ids;
    EXPECT_EQ(Say(store.ForEachList("user", feature, version,
                                    [&](std::string_view id) {
                                      ids.emplace(id);
                                      return true;
                                    })),
              "OK");
    for (const std::string& id : ids) {
      all += feature + "|" + version + " " + id + " " +
             TextOfList(store, {"user", feature, version, id}) + "\n";
    }
  }
  return all;
}

// Random operations, the same on two stores, which must say the same of each.
class KeptWorkload {
 public:
  KeptWorkload(Random& random, ManualClock& clock) : random_(random), clock_(clock) {}

  static std::vector<std::string> Features() { return {"f0", "f1", "f2"}; }

  void Step(ListStore& kept, ListStore& reference) {
    const std::string feature = "f" + std::to_string(random_.Below(3));
    const std::string version = random_.OneIn(4) ? "v2" : "";
    const std::string id = "id" + std::to_string(random_.Below(6));
    const ListId list{"user", feature, version, id};
    const int64_t ttl = random_.Between(1, 5) * 10;
    const uint64_t what = random_.Below(20);
    const auto both = [&](auto&& operation) {
      const std::string said = operation(kept);
      ASSERT_EQ(said, operation(reference)) << "operation " << what << " on " << feature;
    };
    switch (what) {
      case 0:
        return both(
            [&](ListStore& store) { return Say(store.CreateListFeature("user", feature, ttl)); });
      case 1:
        return both([&](ListStore& store) {
          return Say(store.CreateListFeatureVersion(
              "user", feature, version, ttl > 30 ? std::nullopt : std::optional<int64_t>(ttl)));
        });
      case 2:
        return both(
            [&](ListStore& store) { return Say(store.SetListFeatureTtl("user", feature, ttl)); });
      case 3:
        return both([&](ListStore& store) {
          return Say(store.SetListFeatureVersionTtl("user", feature, version, ttl));
        });
      case 4:
        if (!random_.OneIn(3)) return;
        return both(
            [&](ListStore& store) { return Say(store.DeleteListFeature("user", feature)); });
      case 5:
        if (!random_.OneIn(2)) return;
        return both([&](ListStore& store) {
          return Say(store.DeleteListFeatureVersion("user", feature, version));
        });
      case 6: {
        const std::string value = Value();
        return both([&](ListStore& store) {
          const auto removed = store.RemoveListItemsWithValue(list, value);
          return Say(removed) + std::to_string(removed.value_or(0));
        });
      }
      case 7:
        return both([&](ListStore& store) {
          const auto removed = store.RemoveAllListItems(list);
          return Say(removed) + std::to_string(removed.value_or(0));
        });
      case 8: {
        MakeItems();
        const int64_t fresh =
            random_.OneIn(2) ? 0 : static_cast<int64_t>(clock_.NowNanos() / kSecond) + 20;
        return both([&](ListStore& store) {
          return Say(store.PutList(list, items_, {.fresh_until_seconds = fresh}));
        });
      }
      case 9:
        return both([&](ListStore& store) {
          const auto forgotten = store.ForgetList(list);
          return Say(forgotten) + std::to_string(forgotten.value_or(false));
        });
      case 10:
        clock_.AdvanceNanos(random_.Below(5) * kSecond / 2);
        return;
      case 11: {
        MakeItems();
        const std::string other_id = "id" + std::to_string(random_.Below(6));
        const ListId other{"user", feature, "", other_id};
        const std::vector<ListAddition> additions = {{list, items_}, {other, items_}};
        return both([&](ListStore& store) {
          const auto added = store.AddListItemsMulti(additions);
          return Say(added) + std::to_string(added.ok() ? added->stored : 0);
        });
      }
      case 12:
        kept.Reclaim(100);
        reference.Reclaim(100);
        return;
      default:
        MakeItems();
        return both([&](ListStore& store) {
          const auto added = store.AddListItems(list, items_);
          return Say(added) + std::to_string(added.ok() ? added->stored : 0);
        });
    }
  }

 private:
  std::string Value() { return "value" + std::to_string(random_.Below(12)); }
  void MakeItems() {
    const auto count = static_cast<size_t>(random_.Below(5));
    values_.clear();
    items_.clear();
    for (size_t i = 0; i < count; ++i) values_.push_back(Value());
    for (const std::string& value : values_) {
      items_.push_back({clock_.NowNanos() - random_.Below(20) * kSecond, value});
    }
  }

  Random& random_;
  ManualClock& clock_;
  std::vector<std::string> values_;
  std::vector<NewItem> items_;
};

// The store's process is killed: nothing of what it would do at its end is done.
inline void Kill(SimulatedDisk& disk, std::unique_ptr<ListStore>& store) {
  disk.fault = [](SimulatedDisk::Call, int64_t) { return -EBADF; };
  store.reset();
  disk.fault = nullptr;
  disk.EndProcess();
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_LISTS_KEPT_HARNESS_H_
