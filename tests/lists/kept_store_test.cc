// A store with a data directory, closed and opened again.
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "liststore/saved_store.h"
#include "tests/lists/kept_harness.h"

namespace liststore::testing {
namespace kept_store_test {

class KeptStoreTest : public ::testing::Test {
 protected:
  Options OptionsOf(CommitLog mode) {
    Options options = KeptOptions(clock, folder / "data", mode);
    options.on_keeping = [this](std::string_view line) { said.append(line).append("\n"); };
    return options;
  }
  void Open(const Options& options) {
    store.reset();
    auto opened = ListStore::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store = *std::move(opened);
  }
  void Add(std::string_view id, uint64_t nanos, std::string_view value,
           std::string_view feature = "history") {
    const NewItem item{nanos, value};
    ASSERT_EQ(Say(store->AddListItems(ListId{"user", feature, "", id}, {&item, 1})), "OK");
  }
  // Of everything there is.
  void Fill() {
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
    ASSERT_EQ(Say(store->CreateListFeatureVersion("user", "history", "v2", 50)), "OK");
    ASSERT_EQ(Say(store->CreateListFeature("user", "gone", 100)), "OK");
    for (int i = 0; i < 50; ++i) {
      Add("id" + std::to_string(i % 7), kNow + static_cast<uint64_t>(i), "v" + std::to_string(i));
      Add("id" + std::to_string(i % 7), kNow, "w", "gone");
    }
    ASSERT_EQ(store->RemoveListItemsWithValue({"user", "history", "", "id3"}, "v3").value_or(0),
              1u);
    ASSERT_EQ(Say(store->RemoveAllListItems({"user", "history", "", "id4"})), "OK");
    ASSERT_EQ(Say(store->DeleteListFeature("user", "gone")), "OK");
    ASSERT_EQ(Say(store->CreateListFeature("user", "gone", 200)), "OK");
    Add("id1", kNow, "later", "gone");
    ASSERT_EQ(Say(store->DeleteListFeatureVersion("user", "history", "v2")), "OK");
    ASSERT_EQ(Say(store->SetListFeatureTtl("user", "history", 77)), "OK");
    const NewItem whole{kNow, "whole"};
    ASSERT_EQ(Say(store->PutList({"user", "history", "", "put"}, {&whole, 1},
                                 {.fresh_until_seconds = kNowSeconds + 5})),
              "OK");
    ASSERT_EQ(Say(store->PutList({"user", "history", "", "empty"}, {},
                                 {.fresh_until_seconds = kNowSeconds + 9})),
              "OK");
  }
  std::string All() const { return Everything(*store, {"history", "gone"}); }

  const TempFolder folder;
  ManualClock clock{kNow};
  std::string said;
  std::unique_ptr<ListStore> store;
};

TEST_F(KeptStoreTest, EverythingIsThereAgain) {
  for (const CommitLog mode : {CommitLog::kOs, CommitLog::kPeriodic, CommitLog::kSync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    Options options = OptionsOf(mode);
    options.data_dir = folder / std::to_string(static_cast<int>(mode));
    Open(options);
    Fill();
    const std::string all = All();
    const std::string empty = TextOfList(*store, {"user", "history", "", "empty"});
    for (const uint32_t shards : {1u, 3u, 2u}) {
      options.shards = shards;
      Open(options);
      store->Verify();
      EXPECT_EQ(All(), all) << shards << " shards";
      EXPECT_EQ(TextOfList(*store, {"user", "history", "", "empty"}), empty);
    }
    // What comes later wins over what was there.
    ASSERT_EQ(Say(store->RemoveAllListItems({"user", "history", "", "id1"})), "OK");
    EXPECT_EQ(Say(store->CreateListFeature("user", "history", 1)),
              "ALREADY_EXISTS: list feature \"history\" of entity type \"user\" exists");
    const std::string after = All();
    Open(options);
    EXPECT_EQ(All(), after);
    // Items end when they would have ended.
    clock.AdvanceSeconds(78);
    Open(options);
    EXPECT_EQ(store->CountListItems({"user", "history", "", "id2"}).value_or(9), 7u);
    clock.AdvanceSeconds(30);
    EXPECT_EQ(store->CountListItems({"user", "history", "", "id2"}).value_or(9), 0u);
    clock.SetNanos(kNow);
  }
}

// A saved store has every row with its write timestamp, TTL and expiry, and the last timestamp given out.
TEST_F(KeptStoreTest, RowsHaveTheirTimestampsAgain) {
  const Options options = OptionsOf(CommitLog::kOs);
  Open(options);
  Fill();
  ASSERT_EQ(Say(SaveListStore(*store, folder / "before")), "OK");
  Open(options);
  ASSERT_EQ(Say(SaveListStore(*store, folder / "after")), "OK");
  EXPECT_TRUE(ReadFile(folder / "before") == ReadFile(folder / "after"));
  ASSERT_EQ(Say(store->Snapshot()), "OK");
  Open(options);
  ASSERT_EQ(Say(SaveListStore(*store, folder / "after a snapshot")), "OK");
  EXPECT_TRUE(ReadFile(folder / "before") == ReadFile(folder / "after a snapshot"));
}

TEST_F(KeptStoreTest, WithoutALogASnapshotIsWhatThereIs) {
  const Options options = OptionsOf(CommitLog::kOff);
  Open(options);
  Fill();
  const auto taken = store->Snapshot();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->number, 1u);
  EXPECT_GT(taken->rows, 40u);
  const std::string all = All();
  Add("later", kNow, "not in it");
  Open(options);
  EXPECT_EQ(All(), all);
  EXPECT_EQ(store->GetStats().log_bytes, 0u);
  // And a mode with a log goes on from it.
  Open(OptionsOf(CommitLog::kSync));
  EXPECT_EQ(All(), all);
  Add("later", kNow, "in the log");
  const std::string more = All();
  Open(OptionsOf(CommitLog::kPeriodic));
  EXPECT_EQ(All(), more);
}

TEST_F(KeptStoreTest, ASnapshotTakesThePlaceOfTheLogBeforeIt) {
  const Options options = OptionsOf(CommitLog::kOs);
  Open(options);
  Fill();
  const std::string value(50'000, 'x');
  for (uint64_t i = 0; i < 200; ++i) Add("long", kNow + i, value);
  const uint64_t before = store->GetStats().log_bytes;
  EXPECT_GT(before, uint64_t{10} << 20);
  ASSERT_EQ(Say(store->Snapshot()), "OK");
  EXPECT_LT(store->GetStats().log_bytes, before);
  const auto second = store->Snapshot();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->number, 2u);
  EXPECT_FALSE(std::filesystem::exists(folder / "data/snapshot-0000000000000001.snapshot"));
  ASSERT_EQ(Say(store->DeleteListFeature("user", "gone")), "OK");
  Add("behind it", kNow, "v");
  const std::string all = All();
  for (const uint32_t shards : {3u, 1u}) {
    Options other = options;
    other.shards = shards;
    Open(other);
    EXPECT_EQ(All(), all);
  }
  EXPECT_EQ(Say(OpenStore(SmallOptions(clock))->Snapshot()),
            "FAILED_PRECONDITION: nothing is kept: Options::data_dir was not given");
}

TEST_F(KeptStoreTest, ADirectoryIsOfOneStoreAtATime) {
  const Options options = OptionsOf(CommitLog::kOs);
  Open(options);
  EXPECT_EQ(ListStore::Open(options).status().code(), absl::StatusCode::kUnavailable);
  Open(options);
}

TEST_F(KeptStoreTest, AnotherKeyspaceIsRefusedByName) {
  Open(OptionsOf(CommitLog::kOs));
  store.reset();
  Options other = OptionsOf(CommitLog::kOs);
  other.keyspace = "Other_one";
  const auto opened = ListStore::Open(other);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(Say(opened).find("has the keyspace feature_store"), std::string::npos) << Say(opened);
}

TEST_F(KeptStoreTest, WhatDoesNotFitTheMemoryLimitIsRefused) {
  Open(OptionsOf(CommitLog::kOs));
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
  const std::string value(60'000, 'x');
  for (uint64_t i = 0; i < 100; ++i) Add("id" + std::to_string(i), kNow, value);
  Options smaller = OptionsOf(CommitLog::kOs);
  smaller.memory_limit_bytes = uint64_t{3} << 20;
  store.reset();
  EXPECT_EQ(ListStore::Open(smaller).status().code(), absl::StatusCode::kResourceExhausted);
  Open(OptionsOf(CommitLog::kOs));
  EXPECT_EQ(store->CountListItems({"user", "history", "", "id99"}).value_or(0), 1u);
}

TEST_F(KeptStoreTest, AnEndThatWasCutOffIsLeftOutAndSaid) {
  const Options options = OptionsOf(CommitLog::kOs);
  Open(options);
  Fill();
  // What a process that is killed leaves: the log is not closed.
  std::filesystem::copy(folder / "data", folder / "copy");
  Add("id1", kNow + 99, "more");
  std::filesystem::remove_all(folder / "cut");
  std::filesystem::copy(folder / "data", folder / "cut");
  // In one of the logs the last block is torn.
  bool cut = false;
  for (const std::string name :
       {"log-0000-0000000000000001.log", "log-0001-0000000000000001.log"}) {
    const std::string before = ReadFile(folder / ("copy/" + name));
    std::string after = ReadFile(folder / ("cut/" + name));
    if (before == after) continue;
    const size_t end = after.find_last_not_of('\0');
    after[end] = static_cast<char>(after[end] ^ 1);
    WriteFile(folder / ("cut/" + name), after);
    cut = true;
  }
  ASSERT_TRUE(cut);
  Options other = options;
  other.data_dir = folder / "copy";
  Open(other);
  const std::string all = All();
  said.clear();
  other.data_dir = folder / "cut";
  Open(other);
  EXPECT_EQ(All(), all);
  EXPECT_NE(said.find("its end was cut off and is left out"), std::string::npos) << said;
}

TEST_F(KeptStoreTest, DamageIsRefusedWithWhatToDo) {
  const Options options = OptionsOf(CommitLog::kSync);
  Open(options);
  Fill();
  store.reset();
  const std::string path = folder / "data/log-0000-0000000000000001.log";
  std::string bytes = ReadFile(path);
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  WriteFile(path, bytes);
  const auto opened = ListStore::Open(options);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(Say(opened).find("liststore recover " + options.data_dir), std::string::npos)
      << Say(opened);
}

TEST_F(KeptStoreTest, AManualClockStandsWhereItStood) {
  ManualClock moved(kNow);
  Options options = OptionsOf(CommitLog::kOs);
  options.clock = nullptr;
  options.manual_clock = &moved;
  Open(options);
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
  ASSERT_EQ(Say(store->MoveClock(kNow + 40 * kSecond)), "OK");
  EXPECT_EQ(moved.NowNanos(), kNow + 40 * kSecond);
  moved.SetNanos(kNow);
  Open(options);
  EXPECT_EQ(moved.NowNanos(), kNow + 40 * kSecond);
  // A move that goes by the store is kept with the next write.
  moved.AdvanceSeconds(5);
  Add("id", kNow + 40 * kSecond, "v");
  moved.SetNanos(kNow);
  Open(options);
  EXPECT_EQ(moved.NowNanos(), kNow + 45 * kSecond);
  ASSERT_EQ(Say(store->Snapshot()), "OK");
  moved.SetNanos(kNow);
  Open(options);
  EXPECT_EQ(moved.NowNanos(), kNow + 45 * kSecond);
  // With another clock it is passed by, and so it is from then on.
  Open(OptionsOf(CommitLog::kOs));
  EXPECT_EQ(store->MoveClock(kNow).code(), absl::StatusCode::kFailedPrecondition);
  store.reset();
  moved.SetNanos(kNow + 1);
  Open(options);
  EXPECT_EQ(moved.NowNanos(), kNow + 1);
  options.clock = &clock;
  EXPECT_EQ(ListStore::Open(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(KeptStoreTest, ASavedStoreBecomesTheFirstSnapshot) {
  Open(OptionsOf(CommitLog::kOs));
  Fill();
  const std::string all = All();
  ASSERT_EQ(Say(SaveListStore(*store, folder / "saved")), "OK");
  store.reset();
  EXPECT_EQ(LoadListStore(folder / "saved", OptionsOf(CommitLog::kOs)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  Options other = OptionsOf(CommitLog::kOs);
  other.data_dir = folder / "other";
  {
    auto loaded = LoadListStore(folder / "saved", other);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
  }
  Open(other);
  EXPECT_EQ(All(), all);
}

// A list that is begun is partial where lists may be missing, and a restart knows that still.
TEST_F(KeptStoreTest, AnUnknownPastIsUnknownBehindARestart) {
  const auto evicting = [&](std::string_view directory) {
    Options options = OptionsOf(CommitLog::kOs);
    options.memory_policy = MemoryPolicy::kEvict;
    options.data_dir = folder / std::string(directory);
    return options;
  };
  const auto presence = [&](std::string_view id) {
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems(ListId{"user", "history", "", id}, {}, &items)), "OK");
    return items.presence();
  };
  const auto expect_unknown = [&](const Options& options) {
    int number = 0;
    const auto add_and_look = [&] {
      // Lists of all logs.
      for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(number) + "/" + std::to_string(i);
        Add(id, kNow, "v");
        EXPECT_EQ(presence(id), ListPresence::kPartial) << id;
      }
      ++number;
    };
    add_and_look();
    for (const bool snapshot : {false, true, false}) {
      Open(options);
      // Those that the log begins are read again as they were.
      for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(number - 1) + "/" + std::to_string(i);
        EXPECT_EQ(presence(id), ListPresence::kPartial) << id;
      }
      add_and_look();
      if (snapshot) {
        ASSERT_EQ(Say(store->Snapshot()), "OK");
      }
    }
    // So says a file of it.
    ASSERT_EQ(Say(SaveListStore(*store, folder / "saved again")), "OK");
    Options plain = SmallOptions(clock);
    auto loaded = LoadListStore(folder / "saved again", plain);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    store = *std::move(loaded);
    Add("another", kNow, "v");
    EXPECT_EQ(presence("another"), ListPresence::kPartial);
  };
  // From a file of a store that evicts.
  Open(evicting("saved from"));
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
  ASSERT_EQ(Say(SaveListStore(*store, folder / "saved")), "OK");
  Options options = OptionsOf(CommitLog::kOs);
  auto loaded = LoadListStore(folder / "saved", options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  store = *std::move(loaded);
  expect_unknown(options);
  // In a directory of one.
  Open(evicting("other"));
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
  options.data_dir = folder / "other";
  Open(options);
  expect_unknown(options);
  // Where nothing was ever evicted, all is known.
  options.data_dir = folder / "third";
  Open(options);
  ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
  Open(options);
  Add("a", kNow, "v");
  EXPECT_EQ(presence("a"), ListPresence::kComplete);
}

TEST_F(KeptStoreTest, AFileThatCannotBeLoadedLeavesTheDirectoryEmpty) {
  store = OpenStore(SmallOptions(clock));
  Fill();
  const std::string all = All();
  ASSERT_EQ(Say(SaveListStore(*store, folder / "saved")), "OK");
  const std::string bytes = ReadFile(folder / "saved");
  store.reset();
  const Options options = OptionsOf(CommitLog::kSync);
  WriteFile(folder / "none", "something else");
  EXPECT_EQ(LoadListStore(folder / "none", options).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(options.data_dir));
  WriteFile(folder / "cut", bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(LoadListStore(folder / "cut", options).status().code(), absl::StatusCode::kDataLoss);
  auto loaded = LoadListStore(folder / "saved", options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  store = *std::move(loaded);
  EXPECT_EQ(All(), all);
  Add("later", kNow, "v");
  const std::string more = All();
  Open(options);
  EXPECT_EQ(All(), more);
}

TEST_F(KeptStoreTest, SeveralThreadsWrite) {
  for (const CommitLog mode : {CommitLog::kOs, CommitLog::kSync}) {
    Options options = OptionsOf(mode);
    options.data_dir = folder / std::to_string(static_cast<int>(mode));
    Open(options);
    ASSERT_EQ(Say(store->CreateListFeature("user", "history", 100)), "OK");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (uint64_t i = 0; i < 50; ++i) {
          Add("id" + std::to_string((static_cast<uint64_t>(thread) + i) % 5), kNow + i,
              "v" + std::to_string(thread));
          if (i % 20 == 0 && thread == 0) {
            EXPECT_EQ(Say(store->Snapshot()), "OK");
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Say(store->Sync()), "OK");
    const std::string all = All();
    Open(options);
    EXPECT_EQ(All(), all);
  }
}

}  // namespace kept_store_test
}  // namespace liststore::testing
