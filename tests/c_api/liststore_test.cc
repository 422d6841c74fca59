// The C interface: the same store behind it, every NULL an error, structures that grow.
#include "liststore/liststore.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace liststore_test {

constexpr uint64_t kNow = 1'724'949'845'000'000'000u;

liststore_bytes Text(const char* text) { return {text, std::strlen(text)}; }
liststore_list List(const char* id) {
  return {Text("user"), Text("history"), {nullptr, 0}, Text(id)};
}

class CApiTest : public ::testing::Test {
 protected:
  CApiTest() {
    liststore_options_init(&options, sizeof(options));
    options.clock = clock;
    options.memory_limit_bytes = 64u << 20;
    options.shards = 2;
    EXPECT_EQ(liststore_open(&options, &store, &error), LISTSTORE_OK) << error.text;
    EXPECT_EQ(liststore_create_feature(store, Text("user"), Text("history"), 1000, &error), 0);
  }
  ~CApiTest() override {
    liststore_items_destroy(items);
    liststore_close(store);
    liststore_clock_destroy(clock);
  }
  void Add(const char* id, std::vector<const char*> values) {
    std::vector<liststore_new_item> added;
    for (const char* value : values) added.push_back({kNow - added.size(), Text(value)});
    const liststore_list list = List(id);
    liststore_add_result result;
    ASSERT_EQ(liststore_add(store, &list, added.data(), added.size(), &result, &error), 0)
        << error.text;
    ASSERT_EQ(result.stored, values.size());
    ASSERT_STREQ(error.text, "");
  }
  std::string Get(const liststore_store* from, const char* id,
                  const liststore_get_options* get = nullptr) {
    const liststore_list list = List(id);
    if (liststore_get(from, &list, get, items, &error) != LISTSTORE_OK) return error.text;
    std::string text;
    for (size_t i = 0; i < liststore_items_size(items); ++i) {
      liststore_item item;
      EXPECT_EQ(liststore_items_at(items, i, &item), LISTSTORE_OK);
      text += std::string(item.value.data, item.value.size) + " ";
    }
    return text;
  }

  // What a call that was to be refused has said.
  std::string Refusal(liststore_status status) const {
    return status == LISTSTORE_INVALID_ARGUMENT ? error.text : std::to_string(status);
  }

  liststore_clock* clock = liststore_clock_create(kNow);
  liststore_items* items = liststore_items_create();
  liststore_options options;
  liststore_store* store = nullptr;
  liststore_error error;
};

TEST_F(CApiTest, EveryOperationOnce) {
  Add("1", {"a", "b", "a"});
  EXPECT_EQ(Get(store, "1"), "a b a ");
  liststore_get_options get;
  liststore_get_options_init(&get, sizeof(get));
  get.limit = 1;
  get.with_expiry = 1;
  get.has_max = 1;
  get.max_timestamp_nanos = kNow;
  EXPECT_EQ(Get(store, "1", &get), "b ");
  liststore_item item;
  ASSERT_EQ(liststore_items_at(items, 0, &item), LISTSTORE_OK);
  EXPECT_EQ(item.timestamp_nanos, kNow - 1);
  EXPECT_EQ(item.expires_at_seconds, 1'724'949'845 + 999);
  char key[45];
  ASSERT_EQ(liststore_items_key(items, 0, key, sizeof(key)), LISTSTORE_OK);
  EXPECT_EQ(std::string(key).substr(0, 20), "1724949844999999999#");
  EXPECT_EQ(liststore_items_key(items, 0, key, 44), LISTSTORE_INVALID_ARGUMENT);

  const liststore_list lists[] = {List("1"), List("2"), List("none")};
  size_t count = 0;
  EXPECT_EQ(liststore_count(store, &lists[0], nullptr, &count, &error), LISTSTORE_OK);
  EXPECT_EQ(count, 3u);

  const liststore_new_item more[] = {{kNow, Text("x")}, {kNow, Text("y")}};
  const liststore_addition additions[] = {
      {lists[0], more, 1}, {lists[2], nullptr, 0}, {lists[1], more, 2}};
  liststore_add_result result;
  ASSERT_EQ(liststore_add_multi(store, additions, 3, &result, &error), 0) << error.text;
  EXPECT_EQ(result.stored, 3u);
  EXPECT_EQ(result.hint, nullptr);
  const liststore_new_item in_seconds = {kNow / 1'000'000'000, Text("z")};
  ASSERT_EQ(liststore_add(store, &lists[0], &in_seconds, 1, &result, &error), 0) << error.text;
  EXPECT_EQ(result.skipped_expired, 1u);
  ASSERT_NE(result.hint, nullptr);
  EXPECT_NE(std::string(result.hint).find("look like seconds"), std::string::npos);

  liststore_multi_items* many = liststore_multi_items_create();
  ASSERT_EQ(liststore_multi_get(store, lists, 3, nullptr, many, &error), 0) << error.text;
  EXPECT_EQ(liststore_multi_items_lists(many), 3u);
  EXPECT_EQ(liststore_multi_items_size(many, 0), 4u);
  EXPECT_EQ(liststore_multi_items_size(many, 1), 2u);
  EXPECT_EQ(liststore_multi_items_size(many, 2), 0u);
  EXPECT_EQ(liststore_multi_items_size(many, 3), 0u);
  ASSERT_EQ(liststore_multi_items_at(many, 1, 0, &item), LISTSTORE_OK);
  EXPECT_EQ(item.timestamp_nanos, kNow);
  EXPECT_EQ(liststore_multi_items_at(many, 1, 2, &item), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_multi_items_at(many, 3, 0, &item), LISTSTORE_INVALID_ARGUMENT);
  liststore_multi_items_destroy(many);

  size_t removed = 0;
  EXPECT_EQ(liststore_remove_value(store, &lists[0], Text("a"), &removed, &error), LISTSTORE_OK);
  EXPECT_EQ(removed, 2u);
  EXPECT_EQ(liststore_remove_all(store, &lists[0], &removed, &error), LISTSTORE_OK);
  EXPECT_EQ(removed, 2u);

  EXPECT_EQ(
      liststore_create_feature_version(store, Text("user"), Text("history"), Text("v2"), 7, &error),
      LISTSTORE_OK);
  EXPECT_EQ(liststore_set_feature_ttl(store, Text("user"), Text("history"), 70, &error), 0);
  EXPECT_EQ(
      liststore_delete_feature_version(store, Text("user"), Text("history"), Text("v2"), &error),
      LISTSTORE_OK);

  liststore_stats stats = {};
  stats.size = sizeof(stats);
  ASSERT_EQ(liststore_get_stats(store, &stats, &error), LISTSTORE_OK);
  EXPECT_EQ(stats.lists, 1u);
  EXPECT_EQ(stats.items, 2u);
  EXPECT_EQ(stats.memory_limit_bytes, 64u << 20);
  EXPECT_EQ(stats.shards, 2u);

  EXPECT_EQ(liststore_clock_advance(clock, 2'000'000'000'000u), LISTSTORE_OK);
  EXPECT_EQ(liststore_clock_now(clock), kNow + 2'000'000'000'000u);
  EXPECT_EQ(Get(store, "2"), "");
  size_t done = 0;
  EXPECT_EQ(liststore_reclaim(store, 1000, &done, &error), LISTSTORE_OK);
  EXPECT_GT(done, 0u);
  EXPECT_EQ(liststore_set_memory_limit(store, 32u << 20, &error), LISTSTORE_OK);
  ASSERT_EQ(liststore_get_stats(store, &stats, &error), LISTSTORE_OK);
  EXPECT_EQ(stats.memory_limit_bytes, 32u << 20);
  EXPECT_EQ(liststore_set_memory_limit(store, 1, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "memory limit 1 is less than 1048576");
  EXPECT_EQ(liststore_clock_set(clock, kNow), LISTSTORE_OK);
  EXPECT_EQ(liststore_delete_feature(store, Text("user"), Text("history"), &error), LISTSTORE_OK);
  EXPECT_EQ(liststore_delete_feature(store, Text("user"), Text("history"), &error),
            LISTSTORE_NOT_FOUND);
  EXPECT_STREQ(error.text, "no list feature \"history\" of entity type \"user\"");
  EXPECT_STRNE(liststore_version(), "");
}

TEST_F(CApiTest, AStoreIsSavedAndLoaded) {
  const TempFolder folder;
  const std::string path = folder / "lists.saved";
  Add("1", {"a", "b"});
  ASSERT_EQ(liststore_save(store, path.c_str(), 1, &error), LISTSTORE_OK) << error.text;
  liststore_store* loaded = nullptr;
  ASSERT_EQ(liststore_load(&options, path.c_str(), &loaded, &error), LISTSTORE_OK) << error.text;
  EXPECT_EQ(Get(loaded, "1"), "a b ");
  liststore_close(loaded);
  WriteFile(path, "something else");
  EXPECT_EQ(liststore_load(&options, path.c_str(), &loaded, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(loaded, nullptr);
  EXPECT_NE(std::string(error.text).find("not a saved store"), std::string::npos);
  EXPECT_EQ(liststore_load(&options, (path + "x").c_str(), &loaded, &error), LISTSTORE_NOT_FOUND);
}

TEST_F(CApiTest, NullIsAnErrorThatNamesTheArgument) {
  const liststore_list list = List("1");
  const liststore_bytes bytes = Text("user");
  const liststore_bytes no_bytes = {nullptr, 3};
  const liststore_new_item item = {kNow, bytes};
  const liststore_addition addition = {list, nullptr, 1};
  const liststore_list bad_list = {bytes, no_bytes, bytes, bytes};
  liststore_stats stats = {};
  stats.size = sizeof(stats);
  size_t count = 0;
  liststore_store* store_out = nullptr;
  liststore_multi_items* many = liststore_multi_items_create();
  EXPECT_EQ(Refusal(liststore_open(&options, nullptr, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_load(&options, nullptr, &store_out, &error)), "path is NULL");
  EXPECT_EQ(Refusal(liststore_save(nullptr, "x", 0, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_save(store, nullptr, 0, &error)), "path is NULL");
  EXPECT_EQ(Refusal(liststore_create_feature(nullptr, bytes, bytes, 1, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_create_feature(store, bytes, no_bytes, 1, &error)),
            "data of feature is NULL, but its size is 3");
  EXPECT_EQ(Refusal(liststore_create_feature_version(nullptr, bytes, bytes, bytes, 1, &error)),
            "store is NULL");
  EXPECT_EQ(Refusal(liststore_set_feature_ttl(nullptr, bytes, bytes, 1, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_delete_feature(nullptr, bytes, bytes, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_delete_feature_version(nullptr, bytes, bytes, bytes, &error)),
            "store is NULL");
  EXPECT_EQ(Refusal(liststore_add(nullptr, &list, &item, 1, nullptr, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_add(store, nullptr, &item, 1, nullptr, &error)), "list is NULL");
  EXPECT_EQ(Refusal(liststore_add(store, &list, nullptr, 1, nullptr, &error)), "items is NULL");
  EXPECT_EQ(Refusal(liststore_add(store, &bad_list, &item, 1, nullptr, &error)),
            "data of feature is NULL, but its size is 3");
  EXPECT_EQ(Refusal(liststore_add_multi(nullptr, &addition, 1, nullptr, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_add_multi(store, nullptr, 1, nullptr, &error)), "additions is NULL");
  EXPECT_EQ(Refusal(liststore_add_multi(store, &addition, 1, nullptr, &error)), "items is NULL");
  EXPECT_EQ(Refusal(liststore_remove_value(nullptr, &list, bytes, nullptr, &error)),
            "store is NULL");
  EXPECT_EQ(Refusal(liststore_remove_value(store, nullptr, bytes, nullptr, &error)),
            "list is NULL");
  EXPECT_EQ(Refusal(liststore_remove_value(store, &list, no_bytes, nullptr, &error)),
            "data of value is NULL, but its size is 3");
  EXPECT_EQ(Refusal(liststore_remove_all(nullptr, &list, nullptr, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_get(nullptr, &list, nullptr, items, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_get(store, nullptr, nullptr, items, &error)), "list is NULL");
  EXPECT_EQ(Refusal(liststore_get(store, &list, nullptr, nullptr, &error)), "items is NULL");
  EXPECT_EQ(Refusal(liststore_multi_get(nullptr, &list, 1, nullptr, many, &error)),
            "store is NULL");
  EXPECT_EQ(Refusal(liststore_multi_get(store, nullptr, 1, nullptr, many, &error)),
            "lists is NULL");
  EXPECT_EQ(Refusal(liststore_multi_get(store, &list, 1, nullptr, nullptr, &error)),
            "items is NULL");
  EXPECT_EQ(Refusal(liststore_count(nullptr, &list, nullptr, &count, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_count(store, &list, nullptr, nullptr, &error)), "count is NULL");
  EXPECT_EQ(Refusal(liststore_get_stats(nullptr, &stats, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_get_stats(store, nullptr, &error)), "stats is NULL");
  EXPECT_EQ(Refusal(liststore_reclaim(nullptr, 1, nullptr, &error)), "store is NULL");
  EXPECT_EQ(Refusal(liststore_set_memory_limit(nullptr, uint64_t{1} << 30, &error)),
            "store is NULL");
  // Without a place for the text.
  EXPECT_EQ(liststore_get(nullptr, &list, nullptr, items, nullptr), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_items_at(nullptr, 0, nullptr), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_items_at(items, 0, nullptr), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_items_key(nullptr, 0, nullptr, 0), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_items_size(nullptr), 0u);
  EXPECT_EQ(liststore_multi_items_at(nullptr, 0, 0, nullptr), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_multi_items_lists(nullptr), 0u);
  EXPECT_EQ(liststore_clock_set(nullptr, 1), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_clock_advance(nullptr, 1), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_clock_now(nullptr), 0u);
  liststore_options_init(nullptr, 0);
  liststore_get_options_init(nullptr, 0);
  liststore_items_destroy(nullptr);
  liststore_multi_items_destroy(nullptr);
  liststore_clock_destroy(nullptr);
  liststore_close(nullptr);
  liststore_multi_items_destroy(many);
}

TEST_F(CApiTest, StructuresMayBeOlderOrNewer) {
  liststore_store* other = nullptr;
  // One that knew nothing behind the clock.
  options.size = offsetof(liststore_options, keyspace);
  options.shards = 999;
  ASSERT_EQ(liststore_open(&options, &other, &error), LISTSTORE_OK) << error.text;
  liststore_close(other);
  options.size = sizeof(options);
  EXPECT_EQ(liststore_open(&options, &other, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "shards 999 exceeds 256");
  EXPECT_EQ(other, nullptr);
  options.size = 0;
  EXPECT_EQ(liststore_open(&options, &other, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "size 0 of liststore_options is less than 8");
  struct {
    liststore_options known;
    uint64_t later;
  } larger = {};
  larger.known.size = sizeof(larger);
  larger.known.memory_limit_bytes = 64u << 20;
  ASSERT_EQ(liststore_open(&larger.known, &other, &error), LISTSTORE_OK) << error.text;
  liststore_close(other);
  larger.later = 1;
  EXPECT_EQ(liststore_open(&larger.known, &other, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("that this library does not know"), std::string::npos);
  // An older reader of figures gets as much as it has room for.
  liststore_stats stats = {};
  stats.size = offsetof(liststore_stats, items);
  stats.items = 77;
  Add("1", {"a"});
  ASSERT_EQ(liststore_get_stats(store, &stats, &error), LISTSTORE_OK);
  EXPECT_EQ(stats.lists, 1u);
  EXPECT_EQ(stats.items, 77u);
}

// A program that was compiled with an older header has less room than the library knows of.
TEST_F(CApiTest, DefaultsStayWithinTheStructureOfTheCaller) {
  struct {
    char older[offsetof(liststore_options, shards)];
    uint64_t behind = 42;
  } given;
  static_assert(sizeof(given.older) % 8 == 0);
  liststore_options_init(reinterpret_cast<liststore_options*>(given.older), sizeof(given.older));
  EXPECT_EQ(given.behind, 42u);
  liststore_store* opened = nullptr;
  EXPECT_EQ(liststore_open(reinterpret_cast<liststore_options*>(given.older), &opened, &error),
            LISTSTORE_OK)
      << error.text;
  liststore_close(opened);

  struct {
    liststore_get_options known;
    uint64_t newer = 42;
  } larger;
  liststore_get_options_init(&larger.known, sizeof(larger));
  EXPECT_EQ(larger.known.size, sizeof(larger));
  EXPECT_EQ(larger.known.limit, 100u);
  EXPECT_EQ(larger.newer, 0u) << "what the library does not know must be 0";
}

TEST_F(CApiTest, TextsAreCutToTheirPlace) {
  const std::string long_name(2'000, '#');
  EXPECT_EQ(
      liststore_create_feature(store, {long_name.data(), long_name.size()}, Text("f"), 1, &error),
      LISTSTORE_INVALID_ARGUMENT);
  EXPECT_LT(std::strlen(error.text), sizeof(error.text));
}

TEST_F(CApiTest, EveryThreadHasItsOwnError) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      liststore_error mine;
      const std::string name = "feature" + std::to_string(t);
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(liststore_delete_feature(store, Text("user"), Text(name.c_str()), &mine),
                  LISTSTORE_NOT_FOUND);
        EXPECT_NE(std::string(mine.text).find(name), std::string::npos);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace liststore_test
}  // namespace liststore::testing
