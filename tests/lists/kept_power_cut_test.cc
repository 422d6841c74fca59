// Stores with a data directory whose process is killed, whose machine loses power, and whose disk fails, by
// seed. What an operation said is there again, as far as its mode promises it, and nothing else is.
#include <errno.h>

#include <set>
#include <string>
#include <vector>

#include "engine/disk/file_source.h"
#include "engine/lists/saved_store.h"
#include "tests/lists/kept_harness.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace kept_power_cut_test {

using Call = SimulatedDisk::Call;

Options PlainOptions(const Clock& clock) {
  Options options;
  options.clock = &clock;
  options.memory_limit_bytes = uint64_t{64} << 20;
  options.shards = 1;
  return options;
}

// Runs over one directory, each compared at its end with a store that nothing happened to.
void RunStores(uint64_t seed, CommitLog mode, bool loses_power) {
  Random random(seed);
  const TempFolder folder;
  SimulatedDisk disk;
  ManualClock clock(kNow);
  const std::unique_ptr<ListStore> reference = OpenStore(PlainOptions(clock));
  KeptWorkload workload(random, clock);
  const int64_t runs = random.Between(2, 4);
  for (int64_t run = 0; run < runs; ++run) {
    Options options = KeptOptions(clock, folder.path(), mode);
    options.shards = static_cast<uint32_t>(random.Between(1, 3));
    auto opened = KeptStore::Open(disk, options, clock);
    ASSERT_TRUE(opened.ok()) << opened.status() << " in run " << run;
    std::unique_ptr<ListStore> store = *std::move(opened);
    store->Verify();
    ASSERT_EQ(Everything(*store, KeptWorkload::Features()),
              Everything(*reference, KeptWorkload::Features()))
        << "behind run " << run;
    const uint64_t steps = random.Below(80);
    for (uint64_t step = 0; step < steps; ++step) {
      workload.Step(*store, *reference);
      if (::testing::Test::HasFatalFailure()) return;
      if (random.OneIn(60)) {
        ASSERT_EQ(Say(store->Snapshot()), "OK");
      }
    }
    if (mode == CommitLog::kOff) {
      ASSERT_EQ(Say(store->Snapshot()), "OK");
    }
    // In modes that promise less than a power cut takes, the last thing that was said is Sync.
    if (loses_power && mode == CommitLog::kOs) {
      ASSERT_EQ(Say(store->Sync()), "OK");
    }
    if (random.OneIn(4)) {
      store.reset();
    } else {
      Kill(disk, store);
      if (loses_power) disk.LosePower(random.Next());
    }
  }
}

void RunSeeds(CommitLog mode, bool loses_power, uint64_t seeds) {
  RunEachSeed(seeds, [&](uint64_t seed) { RunStores(seed, mode, loses_power); });
}

TEST(KeptPowerCutTest, SyncKeepsWhatItSaid) { RunSeeds(CommitLog::kSync, true, 60); }
TEST(KeptPowerCutTest, OsKeepsWhatItSaidOverTheEndOfTheProcess) {
  RunSeeds(CommitLog::kOs, false, 60);
}
TEST(KeptPowerCutTest, OsKeepsWhatWasSynchronised) { RunSeeds(CommitLog::kOs, true, 60); }
TEST(KeptPowerCutTest, OffKeepsSnapshots) { RunSeeds(CommitLog::kOff, true, 40); }

// A file is loaded into an empty directory, and the process is killed, or a call fails, at each call of the
// disk in turn: all of it is there, or nothing.
void RunLoads(CommitLog mode, bool is_killed) {
  const TempFolder folder;
  ManualClock clock(kNow);
  const std::string path = folder / "saved";
  std::string all;
  {
    const std::unique_ptr<ListStore> reference = OpenStore(PlainOptions(clock));
    ASSERT_EQ(Say(reference->CreateListFeature("user", "f", 1'000'000)), "OK");
    for (int id = 0; id < 20; ++id) {
      const NewItem item{kNow, "v"};
      ASSERT_EQ(Say(reference->AddListItems({"user", "f", "", std::to_string(id)}, {&item, 1})),
                "OK");
    }
    ASSERT_EQ(Say(SaveListStore(*reference, path)), "OK");
    all = Everything(*reference);
  }
  Options options = KeptOptions(clock, folder / "data", mode);
  const auto load = [&](SimulatedDisk& disk) {
    disk::FileSource source(disk::KernelFileCalls(), path);
    EXPECT_EQ(Say(source.Open()), "OK");
    return SavedStore::Load(source, options, nullptr, disk, clock);
  };
  int nothing = 0;
  for (int64_t at = 0;; ++at) {
    SCOPED_TRACE(at);
    SimulatedDisk disk;
    bool is_over = false;
    disk.fault = [&](Call, int64_t number) {
      if (is_over && is_killed) return -EBADF;
      if (number < at || is_over) return 0;
      is_over = true;
      return is_killed ? -EBADF : -EIO;
    };
    auto loaded = load(disk);
    const bool is_loaded = loaded.ok();
    const bool has_failed = is_over;
    if (!has_failed) {
      ASSERT_TRUE(is_loaded) << loaded.status();
    }
    std::unique_ptr<ListStore> store;
    if (is_loaded) store = *std::move(loaded);
    if (store != nullptr) Kill(disk, store);
    disk.fault = nullptr;
    disk.EndProcess();
    if (is_killed) disk.LosePower(static_cast<uint64_t>(at));
    if (is_loaded) {
      auto opened = KeptStore::Open(disk, options, clock);
      ASSERT_TRUE(opened.ok()) << opened.status();
      ASSERT_EQ(Everything(**opened), all);
    } else {
      auto again = load(disk);
      if (again.ok()) {
        ASSERT_EQ(Everything(**again), all);
        ++nothing;
      } else {
        // Killed behind the snapshot.
        ASSERT_TRUE(is_killed) << again.status();
        ASSERT_TRUE(absl::IsFailedPrecondition(again.status())) << again.status();
        auto opened = KeptStore::Open(disk, options, clock);
        ASSERT_TRUE(opened.ok()) << opened.status();
        ASSERT_EQ(Everything(**opened), all);
      }
    }
    if (!has_failed) break;
  }
  EXPECT_GT(nothing, 10);
}

TEST(KeptLoadTest, OneThatEndsOnTheWayHasAllOrNothing) {
  for (const CommitLog mode : {CommitLog::kSync, CommitLog::kOs, CommitLog::kOff}) {
    SCOPED_TRACE(static_cast<int>(mode));
    ASSERT_NO_FATAL_FAILURE(RunLoads(mode, true));
    ASSERT_NO_FATAL_FAILURE(RunLoads(mode, false));
  }
}

// Additions of values that never come twice to a disk whose calls fail: those that were kept, those that
// were refused, and those of which nobody knows.
void RunFaults(uint64_t seed, CommitLog mode) {
  Random random(seed);
  const TempFolder folder;
  SimulatedDisk disk;
  ManualClock clock(kNow);
  std::set<std::string> kept;
  std::set<std::string> refused;
  std::set<std::string> unknown;
  uint64_t number = 0;
  bool fails = false;
  const auto fault = [&](Call call, int64_t) -> int {
    if (!fails || !random.OneIn(4)) return 0;
    switch (call) {
      case Call::kWrite:
      case Call::kAllocate:
        return random.OneIn(2) ? -ENOSPC : -EIO;
      case Call::kSync:
        // In kOs it may take what was written before, which nobody has any more.
        return mode == CommitLog::kSync ? -EIO : 0;
      case Call::kOpen:
      case Call::kSyncDirectory:
        return -EIO;
      default:
        return 0;
    }
  };
  for (int run = 0; run < 3; ++run) {
    disk.fault = fault;
    auto opened = KeptStore::Open(disk, KeptOptions(clock, folder.path(), mode), clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    std::unique_ptr<ListStore> store = *std::move(opened);
    if (run == 0) {
      ASSERT_EQ(Say(store->CreateListFeature("user", "f", 1'000'000)), "OK");
    }
    std::set<std::string> found;
    for (int id = 0; id < 4; ++id) {
      ListItems items;
      const std::string name = std::to_string(id);
      const ListId list{"user", "f", "", name};
      ASSERT_EQ(Say(store->GetListItems(list, {.limit = SIZE_MAX}, &items)), "OK");
      for (const ListItemView item : items) found.emplace(item.value);
    }
    for (const std::string& value : kept) ASSERT_TRUE(found.contains(value)) << value;
    for (const std::string& value : refused) ASSERT_FALSE(found.contains(value)) << value;
    // What nobody knew is known now.
    for (const std::string& value : unknown) (found.contains(value) ? kept : refused).insert(value);
    unknown.clear();
    for (int step = 0; step < 120; ++step) {
      if (random.OneIn(15)) fails = !fails;
      if (random.OneIn(10)) clock.AdvanceNanos(1'000'000'000);
      const std::string value = std::to_string(number++) + std::string(random.Below(9'000), 'x');
      const NewItem item{kNow + number, value};
      const std::string name = std::to_string(random.Below(4));
      const ListId list{"user", "f", "", name};
      const size_t before = store->CountListItems(list).value_or(0);
      const absl::Status status = store->AddListItems(list, {&item, 1}).status();
      const size_t after = store->CountListItems(list).value_or(0);
      const bool is_done = status.ok() || absl::IsUnknown(status);
      ASSERT_EQ(after, before + (is_done ? 1 : 0)) << status;
      if (status.ok()) {
        kept.insert(value);
      } else if (absl::IsUnknown(status)) {
        unknown.insert(value);
      } else {
        ASSERT_TRUE(absl::IsUnavailable(status) || absl::IsResourceExhausted(status)) << status;
        refused.insert(value);
      }
    }
    fails = false;
    // It is sound again: a second later writes are accepted.
    clock.AdvanceNanos(2'000'000'000);
    const std::string value = "last" + std::to_string(run);
    const NewItem last{kNow, value};
    ASSERT_EQ(Say(store->AddListItems({"user", "f", "", "0"}, {&last, 1})), "OK");
    kept.insert(value);
    // What was not kept so far is now: it is before this one in the log, or in another log.
    if (mode == CommitLog::kSync && random.OneIn(2)) {
      ASSERT_EQ(Say(store->Sync()), "OK");
      kept.merge(unknown);
      unknown.clear();
    }
    Kill(disk, store);
    if (mode == CommitLog::kSync) disk.LosePower(random.Next());
  }
}

TEST(KeptFaultsTest, WhatWasSaidIsSoOnADiskThatFails) {
  RunEachSeed(60, [](uint64_t seed) {
    for (const CommitLog mode : {CommitLog::kSync, CommitLog::kOs}) {
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)));
      RunFaults(seed, mode);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// A feature of so many versions that the log has room for a part of its deletion alone.
TEST(KeptFaultsTest, ADeletionThatIsRefusedTakesNothing) {
  constexpr int kVersions = 800;
  const auto name = [](int version) {
    return "v" + std::to_string(version) + std::string(100, 'x');
  };
  const std::string value(60'000, 'x');
  // How many additions there is room for, then one less.
  uint64_t additions = UINT64_MAX;
  for (const bool deletes : {false, true}) {
    const TempFolder folder;
    SimulatedDisk disk;
    ManualClock clock(kNow);
    Options options = KeptOptions(clock, folder.path(), CommitLog::kSync);
    options.shards = 1;
    auto opened = KeptStore::Open(disk, options, clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    std::unique_ptr<ListStore> store = *std::move(opened);
    ASSERT_EQ(Say(store->CreateListFeature("user", "f", 1'000'000)), "OK");
    const NewItem small{kNow, "v"};
    for (int i = 0; i < kVersions; ++i) {
      ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "f", name(i))), "OK");
      ASSERT_EQ(Say(store->AddListItems(ListId{"user", "f", name(i), "a"}, {&small, 1})), "OK");
    }
    disk.capacity = uint64_t{7} << 20;
    uint64_t added = 0;
    while (added < additions) {
      const NewItem item{kNow + added, value};
      if (!store->AddListItems(ListId{"user", "f", "", "a"}, {&item, 1}).ok()) break;
      ++added;
    }
    if (!deletes) {
      ASSERT_GT(added, 1u);
      additions = added - 1;
      continue;
    }
    const std::string all = Everything(*store);
    EXPECT_TRUE(absl::IsResourceExhausted(store->DeleteListFeature("user", "f")));
    EXPECT_TRUE(all == Everything(*store));
    // It is still one that takes items.
    disk.capacity = UINT64_MAX;
    clock.AdvanceNanos(1'000'000'000);
    EXPECT_EQ(Say(store->AddListItems(ListId{"user", "f", name(7), "b"}, {&small, 1})), "OK");
    EXPECT_EQ(Say(store->DeleteListFeature("user", "f")), "OK");
    EXPECT_EQ(store->CountListItems(ListId{"user", "f", name(3), "a"}).value_or(9), 0u);
  }
}

// Without a thread, the call that finds it says it.
TEST(KeptFaultsTest, ADiskThatFailsIsSaidAtOnce) {
  for (const CommitLog mode : {CommitLog::kSync, CommitLog::kOs}) {
    const TempFolder folder;
    SimulatedDisk disk;
    ManualClock clock(kNow);
    std::string said;
    Options options = KeptOptions(clock, folder.path(), mode);
    options.shards = 1;
    options.on_keeping = [&](std::string_view line) { said.append(line).append("\n"); };
    auto opened = KeptStore::Open(disk, options, clock);
    ASSERT_TRUE(opened.ok()) << opened.status();
    std::unique_ptr<ListStore> store = *std::move(opened);
    ASSERT_EQ(Say(store->CreateListFeature("user", "f", 1'000'000)), "OK");
    const NewItem item{kNow, "v"};
    disk.fault = [](Call call, int64_t) { return call == Call::kWrite ? -EIO : 0; };
    EXPECT_TRUE(absl::IsUnknown(store->AddListItems({"user", "f", "", "a"}, {&item, 1}).status()));
    EXPECT_NE(said.find("writes are refused"), std::string::npos) << said;
    disk.fault = nullptr;
    clock.AdvanceNanos(1'000'000'000);
    EXPECT_EQ(Say(store->AddListItems({"user", "f", "", "b"}, {&item, 1})), "OK");
    EXPECT_NE(said.find("writes are accepted"), std::string::npos) << said;
    if (mode == CommitLog::kSync) continue;
    // One that was written, and whose file was not synchronised.
    said.clear();
    const std::string value(60'000, 'x');
    disk.fault = [](Call call, int64_t) { return call == Call::kSync ? -EIO : 0; };
    for (uint64_t i = 0; said.empty() && i < 100; ++i) {
      const NewItem large{kNow + i, value};
      ASSERT_EQ(Say(store->AddListItems({"user", "f", "", "c"}, {&large, 1})), "OK");
    }
    EXPECT_NE(said.find("writes are refused"), std::string::npos) << said;
    Kill(disk, store);
  }
}

TEST(KeptFaultsTest, AFullDiskRefusesWritesAndNotReads) {
  const TempFolder folder;
  SimulatedDisk disk;
  ManualClock clock(kNow);
  Options options = KeptOptions(clock, folder.path(), CommitLog::kSync);
  options.shards = 1;
  auto opened = KeptStore::Open(disk, options, clock);
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::unique_ptr<ListStore> store = *std::move(opened);
  ASSERT_EQ(Say(store->CreateListFeature("user", "f", 1'000'000)), "OK");
  // Room for the segments that are there and one more.
  disk.capacity = uint64_t{7} << 20;
  const std::string value(60'000, 'x');
  absl::Status refusal;
  uint64_t added = 0;
  while (refusal.ok() && added < 1'000) {
    const NewItem item{kNow + added, value};
    refusal = store->AddListItems({"user", "f", "", "a"}, {&item, 1}).status();
    if (refusal.ok()) ++added;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refusal)) << refusal;
  for (const std::string& part :
       {folder.path(), std::string("make room there"), std::string("nothing was applied")}) {
    EXPECT_NE(Say(refusal).find(part), std::string::npos) << refusal;
  }
  EXPECT_EQ(store->CountListItems({"user", "f", "", "a"}).value_or(0), added);
  EXPECT_TRUE(absl::IsResourceExhausted(store->CreateListFeature("user", "g", 10)));
  EXPECT_TRUE(absl::IsResourceExhausted(store->DeleteListFeature("user", "f")));
  // Refused, it is as it was.
  EXPECT_EQ(store->CountListItems({"user", "f", "", "a"}).value_or(0), added);
  ASSERT_EQ(store->ListFeatures().size(), 1u);
  disk.capacity = UINT64_MAX;
  clock.AdvanceNanos(1'000'000'000);
  const NewItem item{kNow + added, "v"};
  EXPECT_EQ(Say(store->AddListItems({"user", "f", "", "a"}, {&item, 1})), "OK");
  EXPECT_EQ(Say(store->DeleteListFeature("user", "f")), "OK");
  Kill(disk, store);
  disk.LosePower(1);
  opened = KeptStore::Open(disk, options, clock);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE((*opened)->ListFeatures().empty());
}

}  // namespace kept_power_cut_test
}  // namespace liststore::testing
