// Stores that are kept in a directory, through the C interface.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "liststore/liststore.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace kept_test {

constexpr uint64_t kNow = 1'724'949'845'000'000'000u;

liststore_bytes Text(const char* text) { return {text, std::strlen(text)}; }

class KeptCApiTest : public ::testing::Test {
 protected:
  KeptCApiTest() {
    liststore_options_init(&options, sizeof(options));
    options.manual_clock = clock;
    options.memory_limit_bytes = 64u << 20;
    options.shards = 2;
    options.data_dir = directory.c_str();
    options.commit_log = LISTSTORE_LOG_SYNC;
    options.commit_log_segment_bytes = 2u << 20;
  }
  ~KeptCApiTest() override {
    liststore_close(store);
    liststore_clock_destroy(clock);
  }
  void Open() {
    liststore_close(store);
    store = nullptr;
    ASSERT_EQ(liststore_open(&options, &store, &error), LISTSTORE_OK) << error.text;
  }
  void Add(const char* value) {
    const liststore_new_item item = {kNow, Text(value)};
    liststore_add_result result;
    ASSERT_EQ(liststore_add(store, &list, &item, 1, &result, &error), LISTSTORE_OK) << error.text;
  }
  uint64_t Count() {
    size_t count = 0;
    EXPECT_EQ(liststore_count(store, &list, nullptr, &count, &error), LISTSTORE_OK) << error.text;
    return count;
  }

  const TempFolder folder;
  const std::string directory = folder / "data";
  const liststore_list list = {Text("user"), Text("history"), {nullptr, 0}, Text("17")};
  liststore_clock* clock = liststore_clock_create(kNow);
  liststore_options options;
  liststore_store* store = nullptr;
  liststore_error error;
};

TEST_F(KeptCApiTest, WhatWasWrittenIsThereAgain) {
  Open();
  ASSERT_EQ(liststore_create_feature(store, Text("user"), Text("history"), 1000, &error), 0);
  Add("a");
  ASSERT_EQ(liststore_move_clock(store, kNow + 1'000'000'000u, &error), LISTSTORE_OK);
  liststore_snapshot_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(liststore_snapshot(store, &info, &error), LISTSTORE_OK) << error.text;
  EXPECT_EQ(info.number, 1u);
  EXPECT_EQ(info.rows, 2u);
  EXPECT_GT(info.bytes, 100u);
  Add("b");
  EXPECT_EQ(liststore_sync(store, &error), LISTSTORE_OK);
  ASSERT_EQ(liststore_clock_set(clock, kNow), LISTSTORE_OK);
  for (const uint32_t mode : {LISTSTORE_LOG_OFF, LISTSTORE_LOG_PERIODIC, LISTSTORE_LOG_DEFAULT}) {
    options.commit_log = mode;
    Open();
    EXPECT_EQ(Count(), 2u);
    EXPECT_EQ(liststore_clock_now(clock), kNow + 1'000'000'000u);
  }
}

TEST_F(KeptCApiTest, WhatIsWrongIsSaid) {
  options.commit_log = 5;
  EXPECT_EQ(liststore_open(&options, &store, &error), LISTSTORE_INVALID_ARGUMENT);
  options.commit_log = LISTSTORE_LOG_OS;
  options.clock = clock;
  EXPECT_EQ(liststore_open(&options, &store, &error), LISTSTORE_INVALID_ARGUMENT);
  options.clock = nullptr;
  Open();
  liststore_store* second = nullptr;
  EXPECT_EQ(liststore_open(&options, &second, &error), LISTSTORE_UNAVAILABLE);
  EXPECT_NE(std::strstr(error.text, "LOCK"), nullptr) << error.text;
  liststore_snapshot_info info = {};
  EXPECT_EQ(liststore_snapshot(store, &info, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_snapshot(nullptr, nullptr, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_sync(nullptr, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_move_clock(nullptr, 1, &error), LISTSTORE_INVALID_ARGUMENT);
  EXPECT_EQ(liststore_snapshot(store, nullptr, &error), LISTSTORE_OK) << error.text;
  // Nothing is kept without a directory.
  options.data_dir = nullptr;
  Open();
  EXPECT_EQ(liststore_snapshot(store, nullptr, &error), LISTSTORE_FAILED_PRECONDITION);
  EXPECT_EQ(liststore_sync(store, &error), LISTSTORE_OK);
}

}  // namespace kept_test
}  // namespace liststore::testing
