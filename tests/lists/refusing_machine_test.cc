// What a store does where the machine refuses it a thread or memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "liststore/list_store.h"
#include "liststore/saved_store.h"
#include "tests/support/limited_process.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace refusing_machine_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class RefusingMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kAddressSpaceCanBeLimited) GTEST_SKIP() << "sanitizers need address space";
  }
  static Options SmallStore() {
    Options options;
    options.shards = 1;
    options.memory_limit_bytes = 1024 * kMiB;
    return options;
  }
};

TEST_F(RefusingMachine, AThreadThatIsRefusedIsAnErrorOfOpen) {
  // Room for neither of the two threads, for one, for both.
  for (const uint64_t threads : {0, 1, 2}) {
    const int result = RunWithAddressSpace(threads * kLimitedStackBytes + 32 * kMiB, [threads] {
      Options options = SmallStore();
      options.background_reclaim = true;
      const auto store = ListStore::Open(options);
      if (store.ok()) return threads == 2 ? 0 : 1;
      if (threads == 2) return 2;
      return store.status().code() == absl::StatusCode::kResourceExhausted ? 0 : 3;
    });
    EXPECT_EQ(result, 0) << threads;
  }
}

// The masks of this process's threads whose names begin with "liststore-", by name.
std::map<std::string, uint64_t> BlockedSignals() {
  std::map<std::string, uint64_t> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string name, line;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:\t")) name = line.substr(6);
      if (line.starts_with("SigBlk:\t") && name.starts_with("liststore-")) {
        masks[name] = std::stoull(line.substr(8), nullptr, 16);
      }
    }
  }
  return masks;
}

TEST(StoreThreads, BlockAllSignals) {
  Options options;
  options.shards = 1;
  options.memory_limit_bytes = 64 * kMiB;
  options.background_reclaim = true;
  const auto store = ListStore::Open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  // A thread has its name when it has begun.
  std::map<std::string, uint64_t> masks;
  while (masks.size() < 2) masks = BlockedSignals();
  ASSERT_TRUE(masks.contains("liststore-free") && masks.contains("liststore-pages"));
  for (const auto& [name, mask] : masks) {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPROF}) {
      EXPECT_NE(mask >> (signal - 1) & 1, 0u) << name << " " << signal;
    }
  }
}

constexpr uint64_t kNow = 1'724'949'845'000'000'000;

// Adds lists until one is refused; 0: with the right error, and the store goes on.
int FillAndGoOn(ListStore& store) {
  if (!store.CreateListFeature("user", "history", 86'400).ok()) return 1;
  const std::string value(400, 'v');
  std::vector<NewItem> items;
  for (uint64_t i = 0; i < 20; ++i) items.push_back({kNow - i, value});
  int lists = 0;
  absl::Status status;
  for (; status.ok() && lists < 100'000; ++lists) {
    status = store.AddListItems({"user", "history", "", std::to_string(lists)}, items).status();
  }
  if (status.code() != absl::StatusCode::kResourceExhausted) return 2;
  if (std::string(status.message()).find("the machine refuses ") != 0) return 3;
  store.Verify();
  for (int list = 0; list + 1 < lists; ++list) {
    const std::string entity = std::to_string(list);
    const ListId id{"user", "history", "", entity};
    if (store.CountListItems(id).value_or(0) != items.size()) return 4;
    if (!store.RemoveAllListItems(id).ok()) return 5;
  }
  while (store.Reclaim() != 0) {
  }
  store.Verify();
  if (!store.AddListItems({"user", "history", "", "again"}, items).ok()) return 6;
  return 0;
}

TEST_F(RefusingMachine, ARefusedPageIsARefusedWrite) {
  EXPECT_EQ(RunWithAddressSpace(128 * kMiB,
                                [] {
                                  const ManualClock clock(kNow);
                                  Options options = SmallStore();
                                  options.clock = &clock;
                                  auto store = ListStore::Open(options);
                                  return store.ok() ? FillAndGoOn(**store) : 10;
                                }),
            0);
}

TEST_F(RefusingMachine, LockedMemoryIsGivenBackOrStays) {
  const int result = RunWithAddressSpace(128 * kMiB, [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 99;
    const ManualClock clock(kNow);
    Options options = SmallStore();
    options.clock = &clock;
    auto store = ListStore::Open(options);
    return store.ok() ? FillAndGoOn(**store) : 10;
  });
  if (result == 99) GTEST_SKIP() << "this process may not lock its memory";
  EXPECT_EQ(result, 0);
}

// What is saved again where the disk has no room, or the process no descriptor, leaves what there was.
TEST(RefusingDisk, WhatCannotBeSavedLeavesTheOldFile) {
  const TempFolder folder;
  const std::string path = folder / "saved";
  const ManualClock clock(kNow);
  Options options;
  options.shards = 1;
  options.memory_limit_bytes = 64 * kMiB;
  options.clock = &clock;
  auto store = ListStore::Open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->CreateListFeature("user", "history", 86'400).ok());
  ASSERT_TRUE(SaveListStore(**store, path).ok());
  const std::string before = ReadFile(path);
  const std::string value(50'000, 'v');
  const NewItem item{kNow, value};
  ASSERT_TRUE((*store)->AddListItems({"user", "history", "", "one"}, {&item, 1}).ok());
  const auto save = [&] {
    const auto saved = SaveListStore(**store, path);
    if (saved.ok()) return 1;
    return std::string(saved.status().message()).find(path) != std::string::npos ? 0 : 2;
  };
  EXPECT_EQ(RunInProcess([&] {
              signal(SIGXFSZ, SIG_IGN);
              return SetLimit(RLIMIT_FSIZE, before.size() + 4096) ? save() : 100;
            }),
            0);
  EXPECT_EQ(ReadFile(path), before);
  EXPECT_EQ(RunInProcess([&] { return LimitDescriptors(0) ? save() : 100; }), 0);
  EXPECT_EQ(ReadFile(path), before);
  EXPECT_EQ(RunInProcess([&] {
              if (!LimitDescriptors(0)) return 100;
              const auto loaded = LoadListStore(path, options);
              if (loaded.ok()) return 1;
              return std::string(loaded.status().message()).find(path) != std::string::npos ? 0 : 2;
            }),
            0);
  EXPECT_EQ(folder.Names(), std::set<std::string>{"saved"});
  ASSERT_TRUE(SaveListStore(**store, path).ok());
  EXPECT_GT(ReadFile(path).size(), value.size());
}

}  // namespace refusing_machine_test
}  // namespace liststore::testing
