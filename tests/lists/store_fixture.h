// A store on a clock that stands still, with short words for what tests of lists do all the time.
#ifndef LISTSTORE_TESTS_LISTS_STORE_FIXTURE_H_
#define LISTSTORE_TESTS_LISTS_STORE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liststore/list_store.h"

namespace liststore::testing {

inline constexpr uint64_t kSecond = 1'000'000'000u;
inline constexpr uint64_t kNow = 1'724'949'845u * kSecond;
inline constexpr int64_t kNowSeconds = 1'724'949'845;
inline constexpr int64_t kDay = 86'400;

inline std::unique_ptr<ListStore> OpenStore(Options options) {
  auto store = ListStore::Open(std::move(options));
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

inline Options SmallOptions(const Clock& clock) {
  Options options;
  options.clock = &clock;
  options.memory_limit_bytes = uint64_t{64} << 20;
  options.shards = 2;
  options.feature_stats = true;
  return options;
}

// A status as a test sentence: "OK", "NOT_FOUND: no such thing".
inline std::string Say(const absl::Status& status) { return status.ToString(); }
template <typename T>
std::string Say(const absl::StatusOr<T>& result) {
  return result.status().ToString();
}

// The values of a result, newest first.
inline std::vector<std::string> Values(const ListItems& items) {
  std::vector<std::string> values;
  for (const ListItemView item : items) values.emplace_back(item.value);
  return values;
}

inline std::vector<std::string> Keys(const ListItems& items) {
  std::vector<std::string> keys;
  for (const ListItemView item : items) keys.push_back(item.item_key());
  return keys;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() { Reopen(SmallOptions(clock)); }
  void TearDown() override {
    if (store != nullptr) store->Verify();
  }
  void Reopen(const Options& options) {
    store.reset();
    store = OpenStore(options);
  }

  // A feature whose lists the shortcuts below use.
  void CreateHistory(int64_t ttl_seconds = 30 * kDay) {
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", ttl_seconds)), "OK");
  }
  static ListId History(std::string_view entity_id) { return {"user", "history", "", entity_id}; }
  absl::StatusOr<AddResult> Add(const ListId& list, uint64_t timestamp_nanos,
                                std::string_view value) {
    const NewItem item{timestamp_nanos, value};
    return store->AddListItems(list, {&item, 1});
  }
  std::vector<std::string> Get(const ListId& list, const GetOptions& options = {}) {
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems(list, options, &items)), "OK");
    return Values(items);
  }
  size_t Count(const ListId& list, const GetOptions& options = {}) {
    const auto count = store->CountListItems(list, options);
    EXPECT_TRUE(count.ok()) << count.status();
    return count.value_or(0);
  }

  ManualClock clock{kNow};
  std::unique_ptr<ListStore> store;
};

using Strings = std::vector<std::string>;

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_LISTS_STORE_FIXTURE_H_
