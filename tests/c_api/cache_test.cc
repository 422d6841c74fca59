// The C interface as a cache: what of a list is here, lists put whole, evictions, views, walks.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "liststore/liststore.h"

namespace liststore::testing {
namespace cache_test {

constexpr uint64_t kNow = 1'724'949'845'000'000'000u;
constexpr int64_t kNowSeconds = 1'724'949'845;

liststore_bytes Text(const char* text) { return {text, std::strlen(text)}; }
std::string ToString(const liststore_bytes& bytes) { return {bytes.data, bytes.size}; }
liststore_list List(const char* id) {
  return {Text("user"), Text("history"), {nullptr, 0}, Text(id)};
}

class CApiCacheTest : public ::testing::Test {
 protected:
  CApiCacheTest() {
    liststore_options options;
    liststore_options_init(&options, sizeof(options));
    options.clock = clock_;
    options.memory_limit_bytes = 2u << 20;
    options.shards = 1;
    options.memory_policy = LISTSTORE_EVICT;
    options.lists_live_elsewhere = 1;
    options.on_evicted = [](void* context, const liststore_list* list, size_t items,
                            int32_t reason) {
      auto& told = *static_cast<std::vector<std::string>*>(context);
      told.push_back(ToString(list->entity_id) + ":" + std::to_string(items) + ":" +
                     std::to_string(reason));
    };
    options.on_evicted_context = &evicted_;
    EXPECT_EQ(liststore_open(&options, &store_, &error_), LISTSTORE_OK) << error_.text;
    EXPECT_EQ(liststore_create_feature(store_, Text("user"), Text("history"), 1000, &error_), 0);
  }
  ~CApiCacheTest() override {
    liststore_items_destroy(items_);
    liststore_close(store_);
    liststore_clock_destroy(clock_);
  }

  liststore_status Add(const char* id, const std::string& value) {
    const liststore_list list = List(id);
    const liststore_new_item item = {kNow, {value.data(), value.size()}};
    return liststore_add(store_, &list, &item, 1, nullptr, &error_);
  }
  // 1 or 0: whether it was stored.
  int32_t Put(const char* id, std::vector<const char*> values,
              const liststore_put_options* options = nullptr) {
    std::vector<liststore_new_item> content;
    for (const char* value : values) content.push_back({kNow - content.size(), Text(value)});
    const liststore_list list = List(id);
    int32_t stored = -1;
    EXPECT_EQ(
        liststore_put(store_, &list, content.data(), content.size(), options, &stored, &error_),
        LISTSTORE_OK)
        << error_.text;
    return stored;
  }
  // How much of the list is here, and its values.
  std::string Get(const char* id) {
    const liststore_list list = List(id);
    if (liststore_get(store_, &list, nullptr, items_, &error_) != LISTSTORE_OK) return error_.text;
    const char* const names[] = {"absent", "partial", "complete"};
    std::string text = names[liststore_items_presence(items_)];
    for (size_t i = 0; i < liststore_items_size(items_); ++i) {
      liststore_item item;
      EXPECT_EQ(liststore_items_at(items_, i, &item), LISTSTORE_OK);
      text += " " + ToString(item.value);
    }
    return text;
  }
  liststore_stats Stats() {
    liststore_stats stats;
    stats.size = sizeof(stats);
    EXPECT_EQ(liststore_get_stats(store_, &stats, &error_), LISTSTORE_OK);
    return stats;
  }

  liststore_error error_;
  std::vector<std::string> evicted_;
  liststore_clock* clock_ = liststore_clock_create(kNow);
  liststore_store* store_ = nullptr;
  liststore_items* items_ = liststore_items_create();
};

TEST_F(CApiCacheTest, ReadsTellHowMuchIsHere) {
  EXPECT_EQ(Get("1"), "absent");
  ASSERT_EQ(Add("1", "new"), LISTSTORE_OK);
  EXPECT_EQ(Get("1"), "partial new") << "the source may have more";
  liststore_put_options fresh;
  liststore_put_options_init(&fresh, sizeof(fresh));
  fresh.fresh_until_seconds = kNowSeconds + 60;
  EXPECT_EQ(Put("1", {"new", "old"}, &fresh), 1);
  EXPECT_EQ(Get("1"), "complete new old");
  EXPECT_EQ(liststore_items_fresh_until(items_), kNowSeconds + 60);
  EXPECT_EQ(Put("2", {}, &fresh), 1);
  EXPECT_EQ(Get("2"), "complete") << "known to be empty";

  const liststore_list lists[] = {List("1"), List("3"), List("2")};
  liststore_multi_items* many = liststore_multi_items_create();
  ASSERT_EQ(liststore_multi_get(store_, lists, 3, nullptr, many, &error_), LISTSTORE_OK);
  EXPECT_EQ(liststore_multi_items_presence(many, 0), LISTSTORE_COMPLETE);
  EXPECT_EQ(liststore_multi_items_presence(many, 1), LISTSTORE_ABSENT);
  EXPECT_EQ(liststore_multi_items_presence(many, 2), LISTSTORE_COMPLETE);
  EXPECT_EQ(liststore_multi_items_fresh_until(many, 2), kNowSeconds + 60);
  EXPECT_EQ(liststore_multi_items_fresh_until(many, 3), 0) << "there is none";
  liststore_multi_items_destroy(many);
}

TEST_F(CApiCacheTest, AMarkRefusesWhatWasLoadedBeforeAChange) {
  const liststore_list list = List("1");
  liststore_put_options put;
  liststore_put_options_init(&put, sizeof(put));
  ASSERT_EQ(liststore_load_mark(store_, &list, &put.mark, &error_), LISTSTORE_OK);
  put.has_mark = 1;
  ASSERT_EQ(Add("1", "meanwhile"), LISTSTORE_OK);
  EXPECT_EQ(Put("1", {"old"}, &put), 0);
  EXPECT_EQ(Get("1"), "partial meanwhile");
  ASSERT_EQ(liststore_load_mark(store_, &list, &put.mark, &error_), LISTSTORE_OK);
  EXPECT_EQ(Put("1", {"meanwhile", "old"}, &put), 1);
  EXPECT_EQ(Get("1"), "complete meanwhile old");
}

TEST_F(CApiCacheTest, ForgettingTellsTheListener) {
  const liststore_list list = List("1");
  int32_t held = -1;
  EXPECT_EQ(liststore_forget(store_, &list, &held, &error_), LISTSTORE_OK);
  EXPECT_EQ(held, 0);
  EXPECT_EQ(Put("1", {"a", "b"}), 1);
  EXPECT_EQ(liststore_forget(store_, &list, &held, &error_), LISTSTORE_OK);
  EXPECT_EQ(held, 1);
  EXPECT_EQ(Get("1"), "absent");
  EXPECT_EQ(evicted_, std::vector<std::string>{"1:2:1"});
  EXPECT_EQ(Stats().forgotten, 1u);
}

TEST_F(CApiCacheTest, EvictionMakesRoomAndIsCounted) {
  const std::string value(1000, 'v');
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(Add(std::to_string(i).c_str(), value), LISTSTORE_OK) << error_.text;
  }
  const liststore_stats stats = Stats();
  EXPECT_GT(stats.evictions, 2000u) << "2 MiB hold no 5 MB";
  EXPECT_EQ(stats.lists + stats.evictions, 5000u);
  EXPECT_EQ(stats.evicted_items, stats.evictions);
  EXPECT_GT(stats.evicted_bytes, stats.evictions * value.size());
  EXPECT_EQ(evicted_.size(), stats.evictions);
  EXPECT_EQ(std::set(evicted_.begin(), evicted_.end()).size(), evicted_.size()) << "each once";
  EXPECT_LE(stats.held_bytes, stats.memory_limit_bytes);
  EXPECT_EQ(stats.additions, 5000u);
}

TEST_F(CApiCacheTest, AViewStaysAsItWas) {
  ASSERT_EQ(Put("1", {"a", "b"}), 1);
  liststore_view* view = liststore_view_create();
  EXPECT_EQ(liststore_view_size(view), 0u);
  const liststore_list list = List("1");
  ASSERT_EQ(liststore_view_list(store_, &list, nullptr, view, &error_), LISTSTORE_OK);
  ASSERT_EQ(Put("1", {"c"}), 1);
  ASSERT_EQ(liststore_view_size(view), 2u);
  liststore_item item;
  ASSERT_EQ(liststore_view_at(view, 1, &item), LISTSTORE_OK);
  EXPECT_EQ(ToString(item.value), "b");
  EXPECT_EQ(item.timestamp_nanos, kNow - 1);
  EXPECT_EQ(liststore_view_at(view, 2, &item), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(Get("1"), "complete c");
  liststore_view_release(view);
  EXPECT_EQ(liststore_view_size(view), 0u);
  liststore_view_destroy(view);
}

TEST_F(CApiCacheTest, WalksSeeEverythingUntilTheyAreEnded) {
  ASSERT_EQ(liststore_create_feature_version(store_, Text("user"), Text("history"), Text("v2"), 0,
                                             &error_),
            LISTSTORE_OK);
  ASSERT_EQ(liststore_set_feature_version_ttl(store_, Text("user"), Text("history"), Text("v2"), 77,
                                              &error_),
            LISTSTORE_OK);
  std::vector<std::string> seen;
  const auto note_feature = [](void* context, const liststore_feature_info* info) -> int32_t {
    static_cast<std::vector<std::string>*>(context)->push_back(
        ToString(info->entity_type) + "#" + ToString(info->feature) + "|" +
        ToString(info->version) + " " + std::to_string(info->ttl_seconds));
    return 1;
  };
  ASSERT_EQ(liststore_for_each_feature(store_, note_feature, &seen, &error_), LISTSTORE_OK);
  EXPECT_EQ(seen, (std::vector<std::string>{"user#history| 1000", "user#history|v2 77"}));

  for (const char* id : {"1", "2", "3"}) ASSERT_EQ(Add(id, "x"), LISTSTORE_OK);
  std::multiset<std::string> ids;
  const auto note_list = [](void* context, liststore_bytes id) -> int32_t {
    static_cast<std::multiset<std::string>*>(context)->insert(ToString(id));
    return 1;
  };
  ASSERT_EQ(liststore_for_each_list(store_, Text("user"), Text("history"), Text(""), note_list,
                                    &ids, &error_),
            LISTSTORE_OK);
  EXPECT_EQ(ids, (std::multiset<std::string>{"1", "2", "3"}));
  ids.clear();
  const auto end_at_once = [](void* context, liststore_bytes id) -> int32_t {
    static_cast<std::multiset<std::string>*>(context)->insert(ToString(id));
    return 0;
  };
  ASSERT_EQ(liststore_for_each_list(store_, Text("user"), Text("history"), Text(""), end_at_once,
                                    &ids, &error_),
            LISTSTORE_OK);
  EXPECT_EQ(ids.size(), 1u);
  int64_t next = -1;
  ASSERT_EQ(liststore_next_expiry(store_, &next, &error_), LISTSTORE_OK);
  EXPECT_GT(next, kNowSeconds);
  EXPECT_LE(next, kNowSeconds + 1000);
}

TEST_F(CApiCacheTest, NoExceptionOfAVisitorLeavesTheLibrary) {
  const auto throws = [](void*, const liststore_feature_info*) -> int32_t { throw 1; };
  EXPECT_EQ(liststore_for_each_feature(store_, throws, nullptr, &error_), LISTSTORE_INTERNAL);
  EXPECT_STREQ(error_.text, "exception of an unknown type");
}

TEST_F(CApiCacheTest, WhatIsWrongIsNamed) {
  liststore_options options;
  liststore_options_init(&options, sizeof(options));
  options.memory_policy = 2;
  liststore_store* none = nullptr;
  EXPECT_EQ(liststore_open(&options, &none, &error_), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.text, "memory_policy 2 is neither reject (0) nor evict (1)");
  EXPECT_EQ(none, nullptr);
  const liststore_list list = List("1");
  EXPECT_EQ(liststore_load_mark(store_, &list, nullptr, &error_), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.text, "mark is NULL");
  EXPECT_EQ(liststore_put(store_, &list, nullptr, 1, nullptr, nullptr, &error_),
            LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.text, "items is NULL");
  EXPECT_EQ(liststore_forget(nullptr, &list, nullptr, &error_), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_view_list(store_, &list, nullptr, nullptr, &error_),
            LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.text, "view is NULL");
  EXPECT_EQ(liststore_for_each_feature(store_, nullptr, nullptr, &error_),
            LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_items_presence(nullptr), LISTSTORE_ABSENT);
  EXPECT_EQ(liststore_view_size(nullptr), 0u);
  liststore_view_release(nullptr);
  liststore_view_destroy(nullptr);
}

}  // namespace cache_test
}  // namespace liststore::testing
