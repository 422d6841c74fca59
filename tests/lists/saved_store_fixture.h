// A store that is saved to a file and opened again.
#ifndef LISTSTORE_TESTS_LISTS_SAVED_STORE_FIXTURE_H_
#define LISTSTORE_TESTS_LISTS_SAVED_STORE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "liststore/saved_store.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {

class SavedStoreTest : public StoreTest {
 protected:
  // Saves the store and opens another from the file, on the same clock.
  std::unique_ptr<ListStore> SaveAndLoad(Options options) {
    const auto saved = SaveListStore(*store, path);
    EXPECT_TRUE(saved.ok()) << saved.status();
    auto loaded = LoadListStore(path, std::move(options), &info);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (!loaded.ok() || !saved.ok()) return nullptr;
    EXPECT_EQ(info.bytes, saved->bytes);
    EXPECT_EQ(info.lists, saved->lists);
    EXPECT_EQ(info.items, saved->items);
    EXPECT_EQ(info.features, saved->features);
    EXPECT_EQ(info.saved_at_nanos, saved->saved_at_nanos);
    (*loaded)->Verify();
    return *std::move(loaded);
  }
  std::unique_ptr<ListStore> SaveAndLoad() { return SaveAndLoad(SmallOptions(clock)); }

  // All that can be read of a store, as text.
  static std::string Everything(const ListStore& store) {
    std::string text;
    for (const ListFeatureInfo& feature : store.ListFeatures()) {
      text += feature.entity_type + "/" + feature.feature + " " +
              std::to_string(feature.ttl_seconds) + "\n";
      for (const ListFeatureVersionInfo& version : feature.versions) {
        text += " " + version.version + " " + std::to_string(version.ttl_seconds) + "\n";
        // In the order of tokens whatever the shards.
        EXPECT_EQ(Say(store.ForEachList(feature.entity_type, feature.feature, version.version,
                                        [&](std::string_view id) {
                                          text +=
                                              ItemsOf(store, {feature.entity_type, feature.feature,
                                                              version.version, id});
                                          return true;
                                        })),
                  "OK");
      }
    }
    return text;
  }
  static std::string ItemsOf(const ListStore& store, const ListId& list) {
    ListItems items;
    const GetOptions all{.limit = SIZE_MAX, .with_expiry = true};
    EXPECT_EQ(Say(store.GetListItems(list, all, &items)), "OK");
    std::string text = "  " + std::string(list.entity_id) + ":";
    for (const ListItemView item : items) {
      text += " " + item.item_key() + "=" + std::string(item.value) + "@" +
              std::to_string(item.expires_at_seconds);
    }
    return text + "\n";
  }

  TempFolder folder;
  const std::string path = folder / "lists.saved";
  SavedStoreInfo info;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_LISTS_SAVED_STORE_FIXTURE_H_
