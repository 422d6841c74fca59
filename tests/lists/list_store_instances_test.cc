// Many stores in one process: they know nothing of each other, start no thread, open no file that
// stays open, and leave nothing behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_store_instances_test {

size_t EntriesOf(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

size_t Mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

Options OptionsOn(const Clock& clock) {
  Options options;
  options.clock = &clock;
  options.memory_limit_bytes = uint64_t{8} << 20;
  options.shards = 1;
  return options;
}

TEST(ListStoreInstancesTest, TwoDoNotNoticeEachOther) {
  ManualClock early(kNow);
  ManualClock late(kNow);
  const auto one = OpenStore(OptionsOn(early));
  const auto two = OpenStore(OptionsOn(late));
  const ListId list{"user", "reading_history", "", "1"};
  ASSERT_EQ(Say(one->CreateListFeature("user", "reading_history", 100)), "OK");
  const NewItem item{kNow, "of one"};
  EXPECT_EQ(two->AddListItems(list, {&item, 1}).status().code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(Say(one->AddListItems(list, {&item, 1})), "OK");
  ASSERT_EQ(Say(two->CreateListFeature("user", "reading_history", 7)), "OK");
  const NewItem other{kNow, "of two"};
  ASSERT_EQ(Say(two->AddListItems(list, {&other, 1})), "OK");

  late.AdvanceNanos(7 * kSecond);
  ListItems items;
  ASSERT_EQ(Say(one->GetListItems(list, {}, &items)), "OK");
  EXPECT_EQ(Values(items), std::vector<std::string>{"of one"});
  ASSERT_EQ(Say(two->GetListItems(list, {}, &items)), "OK");
  EXPECT_EQ(Values(items), std::vector<std::string>{}) << "its time has passed, the other's not";
  ASSERT_EQ(Say(two->DeleteListFeature("user", "reading_history")), "OK");
  EXPECT_EQ(*one->CountListItems(list), 1u);
}

TEST(ListStoreInstancesTest, ThousandsAreOpenedUsedAndClosed) {
  ManualClock clock(kNow);
  const ListId list{"user", "reading_history", "", "1"};
  ListItems items;
  const auto open_and_use = [&] {
    auto store = OpenStore(OptionsOn(clock));
    EXPECT_EQ(Say(store->CreateListFeature("user", "reading_history", 100)), "OK");
    const NewItem item{kNow, "story"};
    EXPECT_EQ(Say(store->AddListItems(list, {&item, 1})), "OK");
    EXPECT_EQ(Say(store->GetListItems(list, {}, &items)), "OK");
    EXPECT_EQ(items.size(), 1u) << "a new store begins empty";
    return store;
  };
  open_and_use();  // what the process keeps from the first on
  const size_t files = EntriesOf("/proc/self/fd");
  const size_t threads = EntriesOf("/proc/self/task");
  const size_t mappings = Mappings();
  for (uint64_t i = TestSteps(10'000); i > 0 && !HasFailure(); --i) open_and_use();

  // Side by side as well.
  std::vector<std::unique_ptr<ListStore>> open;
  for (int i = 0; i < 100; ++i) open.push_back(open_and_use());
  EXPECT_EQ(EntriesOf("/proc/self/fd"), files);
  EXPECT_EQ(EntriesOf("/proc/self/task"), threads) << "a store starts no thread unless asked";
  open.clear();
  EXPECT_EQ(EntriesOf("/proc/self/fd"), files);
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && \
    !defined(ABSL_HAVE_THREAD_SANITIZER)  // which map as they like
  EXPECT_LE(Mappings(), mappings + 16) << "closed stores leave no memory mapped";
#else
  static_cast<void>(mappings);
#endif
}

}  // namespace list_store_instances_test
}  // namespace liststore::testing
