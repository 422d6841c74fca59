// A cache in front of a source of one feature, whose loads can be counted, held up and made to
// fail.
#ifndef LISTSTORE_TESTS_LISTS_LIST_CACHE_FIXTURE_H_
#define LISTSTORE_TESTS_LISTS_LIST_CACHE_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liststore/list_cache.h"
#include "tests/lists/store_fixture.h"

namespace liststore::testing {

// The source: lists by entity id, of one feature.
class ListCacheTest : public ::testing::Test {
 protected:
  using Content = std::vector<std::pair<uint64_t, std::string>>;  // timestamp, value

  ListCacheTest() {
    options.store = SmallOptions(clock);
    options.loader = [this](ListLoad& load) { return Load(load); };
  }
  void TearDown() override {
    if (cache != nullptr) cache->store().Verify();
  }

  void Open() {
    auto opened = ListCache::Open(options);
    ASSERT_EQ(Say(opened), "OK");
    cache = *std::move(opened);
    ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", 30 * kDay)), "OK");
  }

  absl::Status Load(ListLoad& load) {
    ++calls;
    lists_of_calls.push_back(load.size());
    if (before_answer) before_answer();
    if (!failure.ok()) return failure;
    for (size_t i = 0; i < load.size(); ++i) {
      const auto at = source.find(std::string(load.list(i).entity_id));
      std::vector<NewItem> loaded;
      if (at != source.end()) {
        for (const auto& [timestamp, value] : at->second) loaded.push_back({timestamp, value});
      }
      load.Answer(i, loaded);
    }
    return absl::OkStatus();
  }

  static ListId History(std::string_view entity_id) { return {"user", "history", "", entity_id}; }
  std::string Get(std::string_view entity_id, const GetOptions& get = {}) {
    const absl::Status status = cache->GetListItems(History(entity_id), get, &items);
    if (!status.ok()) {
      EXPECT_EQ(items.size(), 0u) << "an error comes without items";
      return Say(status);
    }
    EXPECT_EQ(items.presence(), ListPresence::kComplete);
    return Joined();
  }
  std::string Joined() const {
    std::string values;
    for (const std::string& value : Values(items)) values += (values.empty() ? "" : " ") + value;
    return values;
  }
  absl::Status Add(std::string_view entity_id, uint64_t timestamp_nanos, std::string_view value) {
    const NewItem item{timestamp_nanos, value};
    return cache->AddListItems(History(entity_id), {&item, 1});
  }

  ManualClock clock{kNow};
  ListCacheOptions options;
  std::map<std::string, Content> source;
  absl::Status failure;
  std::function<void()> before_answer;
  std::atomic<int> calls{0};
  std::vector<size_t> lists_of_calls;
  std::unique_ptr<ListCache> cache;
  ListItems items;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_LISTS_LIST_CACHE_FIXTURE_H_
