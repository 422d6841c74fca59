// Marks and resets by rule.
#include "engine/shard/baseline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/shard/named_tables.h"
#include "tests/storage/table_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace baseline_test {

constexpr uint64_t kDay = 86'400 * kNanosPerSecond;

// A store with a table `lists` of one list, and a clock that a reset may set.
class BaselineTest : public ::testing::Test {
 protected:
  BaselineTest() : engine_(Options()), baseline_(engine_) {
    EXPECT_EQ(CreateNamed(engine_, "lists", ListItemsSchema()), OpStatus::kOk);
    AddItem(engine_, Lists(), Key(), 1, "one", now_);
  }

  static shard::EngineOptions Options() {
    shard::EngineOptions options;
    options.shards = 3;
    options.memory_limit_bytes = 64 << 20;
    return options;
  }
  static std::string Key() { return ListKey("feature", "entity"); }
  TableId Lists() { return IdOf(engine_, "lists"); }

  void Mark() {
    ASSERT_EQ(baseline_.Mark([this] { return now_; }), OpStatus::kOk);
  }
  // What it changes; views of indexes are beside the point, but for what they say.
  std::vector<SchemaDifference> Reset(std::vector<SchemaDifference>* of_index_views = nullptr) {
    const uint64_t marked = baseline_.marked_nanos().value_or(kNoonNanos);
    std::vector<SchemaDifference> differences;
    const auto set_clock = [&] { return std::exchange(now_, marked) != marked; };
    EXPECT_EQ(baseline_.Reset(marked, set_clock, differences), OpStatus::kOk);
    engine_.Verify();
    if (of_index_views != nullptr) {
      std::ranges::copy_if(differences, std::back_inserter(*of_index_views),
                           &SchemaDifference::of_index_view);
    }
    std::erase_if(differences, [](const auto& difference) { return difference.of_index_view; });
    return differences;
  }

  uint64_t now_ = kNoonNanos;
  shard::Engine engine_;
  shard::Baseline baseline_;
};

TEST_F(BaselineTest, WithoutAMarkEverythingGoes) {
  EXPECT_EQ(Reset(),
            (std::vector<SchemaDifference>{{SchemaDifference::Kind::kDropped, kAppKeyspace, {}}}));
  EXPECT_EQ(TableNamed(engine_, "lists"), nullptr);
  ReclaimAll(engine_, now_);
  EXPECT_EQ(engine_.held_bytes(), 0u);
  EXPECT_EQ(Reset(), std::vector<SchemaDifference>());
}

TEST_F(BaselineTest, WhatHasNotChangedIsNotTouched) {
  Mark();
  const auto before = engine_.catalog().snapshot();
  const TableId id = Lists();
  EXPECT_TRUE(Reset().empty());
  EXPECT_EQ(engine_.catalog().snapshot(), before);
  EXPECT_EQ(Lists(), id);
  EXPECT_EQ(ReadItems(engine_, id, Key(), now_), (Items{{1, "one"}}));
}

TEST_F(BaselineTest, RowsComeBackUnderTheIdThatStatementsKnow) {
  Mark();
  const auto before = engine_.catalog().snapshot();
  const TableId id = Lists();
  AddItem(engine_, id, Key(), 2, "two", now_);
  RemoveItem(engine_, id, Key(), 1, now_);
  AddItem(engine_, id, ListKey("feature", "other"), 3, "three", now_);
  EXPECT_TRUE(Reset().empty());
  EXPECT_EQ(engine_.catalog().snapshot(), before);
  EXPECT_EQ(Contents(engine_, id, now_), (std::map<std::string, Items>{{Key(), {{1, "one"}}}}));
}

TEST_F(BaselineTest, WritesOlderThanADeletionOfBeforeLive) {
  Mark();
  const auto at = [](int64_t micros) { return WriteTimestamp{micros}; };
  AddItem(engine_, Lists(), Key(), 2, "old", now_, 0, at(500));
  RemoveItem(engine_, Lists(), Key(), 2, now_, at(1'000));
  AddItem(engine_, Lists(), Key(), 2, "shadowed", now_, 0, at(900));
  EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 1u);
  Reset();
  AddItem(engine_, Lists(), Key(), 2, "lives", now_, 0, at(900));
  EXPECT_EQ(ReadItems(engine_, Lists(), Key(), now_), (Items{{1, "one"}, {2, "lives"}}));
}

TEST_F(BaselineTest, WhatTimeHasTakenComesBackWithTheTime) {
  AddItem(engine_, Lists(), Key(), 2, "a minute", now_, 60);
  Mark();
  now_ += 30 * kDay;
  ReclaimAll(engine_, now_);
  EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 1u);
  EXPECT_EQ(engine_.StatsOf(Lists()).rows, 1u);
  for (int i = 0; i < 3; ++i) {
    Reset();
    EXPECT_EQ(now_, kNoonNanos);
    EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 2u);
    // Its minute counts from the mark again, and its memory comes back when it is over.
    now_ += 59 * kNanosPerSecond;
    ReclaimAll(engine_, now_);
    EXPECT_EQ(engine_.StatsOf(Lists()).rows, 2u);
    now_ += kNanosPerSecond;
    EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 1u);
    ReclaimAll(engine_, now_);
    EXPECT_EQ(engine_.StatsOf(Lists()).rows, 1u);
  }
}

// The wheel's time may be a little ahead of the clock's (TtlWheel::kStepBackSecondsMax): not in a
// table that is filled again.
TEST_F(BaselineTest, TimersOfWhatIsWrittenAfterwardsAreNotHeldUp) {
  Mark();
  AddItem(engine_, Lists(), Key(), 2, "short", now_, 10);
  now_ += 40 * kNanosPerSecond;
  ReclaimAll(engine_, now_);
  for (int i = 0; i < 2; ++i) {
    Reset();
    AddItem(engine_, Lists(), Key(), 2, "short", now_, 10);
    now_ += 11 * kNanosPerSecond;
    ReclaimAll(engine_, now_);
    EXPECT_EQ(engine_.StatsOf(Lists()).rows, 1u);
  }
}

TEST_F(BaselineTest, WriteTimestampsGoOnFromTheMark) {
  Mark();
  const Reply before = AddItem(engine_, Lists(), Key(), 5, "v", now_);
  now_ += 30 * kDay;
  AddItem(engine_, Lists(), Key(), 6, "v", now_);
  Reset();
  EXPECT_EQ(AddItem(engine_, Lists(), Key(), 5, "v", now_).timestamp, before.timestamp);
}

TEST_F(BaselineTest, WhatWasReadFromTheClockBeforeIsVoid) {
  AddItem(engine_, Lists(), Key(), 2, "a minute", now_, 60);
  Mark();
  const TableId before = Lists();
  now_ += 30 * kDay;
  const uint64_t era = engine_.era();
  const uint64_t read = now_;
  Reset();
  EXPECT_EQ(engine_.era(), era + 1);
  EXPECT_EQ(AddItem(engine_, before, Key(), 3, "late", read).status, OpStatus::kTableGone);
  EXPECT_EQ(engine_.Reclaim(read, 1'000, era), 0u);
  EXPECT_EQ(engine_.StatsOf(Lists()).rows, 2u) << "nothing is taken by a time of before";
  // The definition has the new id, and is the same to drivers.
  EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 2u);
  // Where the time is the same, so is the id.
  const TableId after = Lists();
  AddItem(engine_, after, Key(), 4, "v", now_);
  Reset();
  EXPECT_EQ(Lists(), after);
  EXPECT_EQ(engine_.era(), era + 1);
}

TEST_F(BaselineTest, TheSchemaComesBackWithItsIds) {
  Mark();
  const auto marked = engine_.catalog().snapshot();
  ASSERT_EQ(DropNamed(engine_, "lists"), OpStatus::kOk);
  ASSERT_EQ(CreateNamed(engine_, "passing", ListItemsSchema()), OpStatus::kOk);
  using Kind = SchemaDifference::Kind;
  EXPECT_EQ(Reset(), (std::vector<SchemaDifference>{{Kind::kDropped, kAppKeyspace, "passing"},
                                                    {Kind::kCreated, kAppKeyspace, "lists"}}));
  EXPECT_EQ(TableNamed(engine_, "lists")->id, marked->FindTable(kAppKeyspace, "lists")->id);
  EXPECT_EQ(ReadItems(engine_, Lists(), Key(), now_), (Items{{1, "one"}}));

  ASSERT_EQ(AddColumnTo(engine_, "lists", now_), OpStatus::kOk);
  EXPECT_EQ(Reset(), (std::vector<SchemaDifference>{{Kind::kUpdated, kAppKeyspace, "lists"}}));
  EXPECT_EQ(TableNamed(engine_, "lists")->columns.size(),
            marked->FindTable(kAppKeyspace, "lists")->columns.size());
  EXPECT_EQ(ReadItems(engine_, Lists(), Key(), now_), (Items{{1, "one"}}));

  ASSERT_EQ(RetimeNamed(engine_, "lists", 7), OpStatus::kOk);
  EXPECT_EQ(Reset(), (std::vector<SchemaDifference>{{Kind::kUpdated, kAppKeyspace, "lists"}}));
  EXPECT_EQ(TableNamed(engine_, "lists")->storage.gc_grace_seconds, 864'000);
}

TEST_F(BaselineTest, ViewsOfIndexesGoAndComeWithTheirTables) {
  Mark();
  ASSERT_EQ(DropNamed(engine_, "lists"), OpStatus::kOk);
  EXPECT_EQ(TableNamed(engine_, "lists_list_items_by_value_index"), nullptr);
  std::vector<SchemaDifference> of_views;
  Reset(&of_views);
  ASSERT_EQ(of_views.size(), 1u);
  EXPECT_EQ(of_views[0].kind, SchemaDifference::Kind::kCreated);
  EXPECT_EQ(of_views[0].table, "lists_list_items_by_value_index");
  EXPECT_NE(TableNamed(engine_, "lists_list_items_by_value_index"), nullptr);
}

TEST_F(BaselineTest, ATableOfTheSameNameIsNotTheSame) {
  Mark();
  const Uuid id = TableNamed(engine_, "lists")->id;
  ASSERT_EQ(DropNamed(engine_, "lists"), OpStatus::kOk);
  ASSERT_EQ(CreateNamed(engine_, "lists", ListItemsSchema()), OpStatus::kOk);
  using Kind = SchemaDifference::Kind;
  EXPECT_EQ(Reset(), (std::vector<SchemaDifference>{{Kind::kDropped, kAppKeyspace, "lists"},
                                                    {Kind::kCreated, kAppKeyspace, "lists"}}));
  EXPECT_EQ(TableNamed(engine_, "lists")->id, id);
  EXPECT_EQ(ReadItems(engine_, Lists(), Key(), now_), (Items{{1, "one"}}));
}

TEST_F(BaselineTest, AMarkTakesNoMemory) {
  for (uint64_t i = 0; i < 5'000; i += 100) {
    Items items;
    for (uint64_t n = i; n < i + 100; ++n) items[n] = std::string(100, 'v');
    ASSERT_EQ(AddItems(engine_, Lists(), Key(), items, now_).status, OpStatus::kOk);
  }
  ASSERT_EQ(CreateNamed(engine_, "other", ListItemsSchema()), OpStatus::kOk);
  const uint64_t held = engine_.held_bytes();
  Mark();
  EXPECT_EQ(engine_.held_bytes(), held);
  AddItem(engine_, IdOf(engine_, "other"), Key(), 1, "v", now_);
  Mark();
  ReclaimAll(engine_, now_);
  EXPECT_LT(engine_.held_bytes(), held + held / 10);
  RemoveList(engine_, Lists(), Key(), now_);
  Reset();
  EXPECT_EQ(CountItems(engine_, Lists(), Key(), now_), 5'000u);
  EXPECT_EQ(CountItems(engine_, IdOf(engine_, "other"), Key(), now_), 1u);
  baseline_.Forget();
  ReclaimAll(engine_, now_);
  EXPECT_LT(engine_.held_bytes(), held + held / 10);
}

// What is kept of a partition takes as much as it did, for its copy; what finds no room is refused.
TEST(BaselineMemoryTest, WritesThatFindNoRoomForWhatIsKeptAreRefused) {
  shard::EngineOptions options;
  options.lanes_per_shard_log2 = 1;
  options.memory_limit_bytes = 4 << 20;
  shard::Engine engine(options);
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  const TableId id = IdOf(engine, "lists");
  constexpr int kListsMax = 10'000;
  const auto key = [](int list) { return ListKey("feature", std::to_string(list)); };
  const auto add = [&](int list, uint64_t items_each, uint64_t first) {
    Items items;
    for (uint64_t n = first; n < first + items_each; ++n) items[n] = std::string(1'000, 'v');
    return AddItems(engine, id, key(list), items, kNoonNanos).status;
  };
  int lists = 0;
  while (lists < kListsMax && add(lists, 10, 0) == OpStatus::kOk) ++lists;
  ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
  const std::string marked = StoredIn(engine, id, kNoonNanos);
  int changed = 0;
  while (changed < lists && add(changed, 1, 0) == OpStatus::kOk) ++changed;
  EXPECT_LT(changed, lists / 2);
  const std::string full = StoredIn(engine, id, kNoonNanos);
  EXPECT_EQ(add(changed, 1, 0), OpStatus::kOutOfMemory);
  EXPECT_EQ(StoredIn(engine, id, kNoonNanos), full);
  engine.Verify();
  // What takes no room goes on: all of a list needs no copy.
  for (int list = changed; list < lists; ++list) {
    EXPECT_EQ(RemoveList(engine, id, key(list), kNoonNanos).status, OpStatus::kOk) << list;
  }
  std::vector<SchemaDifference> differences;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(baseline.Reset(
                  kNoonNanos, [] { return false; }, differences),
              OpStatus::kOk);
    EXPECT_EQ(StoredIn(engine, id, kNoonNanos), marked);
    engine.Verify();
    ASSERT_EQ(engine.TruncateTable(id), OpStatus::kOk);
  }
  baseline.Forget();
  ReclaimAll(engine, kNoonNanos);
  EXPECT_LT(engine.held_bytes(), uint64_t{1} << 20);
  engine.Verify();
}

// Work of many partitions is taken apart in slices; whatever comes in between, the answers are those
// of the mark.
TEST(BaselineMemoryTest, WhatIsLeftOfManyChangesGoesInSlices) {
  shard::EngineOptions options;
  options.shards = 2;
  shard::Engine engine(options);
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  const TableId id = IdOf(engine, "lists");
  constexpr int kLists = 2'000;
  const auto key = [](int list) { return ListKey("feature", std::to_string(list)); };
  for (int list = 0; list < kLists; ++list) AddItem(engine, id, key(list), 1, "then", kNoonNanos);
  const std::string marked = StoredIn(engine, id, kNoonNanos);
  const uint64_t held = engine.held_bytes();
  for (int round = 0; round < 4; ++round) {
    ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
    if (round == 2) {
      ASSERT_EQ(engine.TruncateTable(id), OpStatus::kOk);
    }
    for (int list = 0; list < kLists; ++list) {
      AddItem(engine, id, key(list), 2, "later", kNoonNanos);
      AddItem(engine, id, key(list + kLists), 2, "new", kNoonNanos);
      if (round == 3) RemoveList(engine, id, key(list), kNoonNanos);
    }
    std::vector<SchemaDifference> differences;
    ASSERT_EQ(baseline.Reset(
                  kNoonNanos, [] { return false; }, differences),
              OpStatus::kOk);
    for (int slice = 0; slice < 3; ++slice) {
      EXPECT_EQ(StoredIn(engine, id, kNoonNanos), marked);
      engine.Verify();
      engine.Reclaim(kNoonNanos, 500);
    }
    if (round == 1) baseline.Forget();
  }
  baseline.Forget();
  ReclaimAll(engine, kNoonNanos);
  EXPECT_LT(engine.held_bytes(), held + held / 4);
}

// Everybody else goes on meanwhile; meant for ThreadSanitizer, too. Each thread writes lists of a
// group under one timestamp: after a reset a reader finds a batch whole or not at all.
TEST(BaselineThreadsTest, BatchesHappenBeforeOrAfterAsAWhole) {
  shard::EngineOptions options;
  options.shards = 2;
  shard::Engine engine(options);
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  std::atomic<uint64_t> now{kNoonNanos};
  std::atomic<bool> done{false};
  const auto key = [](int thread, int i) {
    return ListKey("feature", std::to_string(thread) + "/" + std::to_string(i));
  };
  const auto work = [&](int thread) {
    for (uint64_t n = 1; !done.load(); ++n) {
      const uint64_t at = now.load();
      const TableId id = IdOf(engine, "lists");
      ItemUpserts upserts(id);
      for (int i = 0; i < 4; ++i) upserts.Add(key(thread, i), {{n, "batch"}}, at, 3'600);
      std::vector<Reply> replies(4);
      const OpStatus status = engine.ExecuteBatch(upserts.commands(), at, replies);
      EXPECT_TRUE(status == OpStatus::kOk || status == OpStatus::kTableGone);
      const uint64_t era = engine.era();
      engine.Reclaim(now.load(), 200, era);
      now.fetch_add(kNanosPerSecond);
      if (n % 8 == 0) std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) threads.emplace_back(work, thread);
  const uint64_t steps = TestSteps(20'000) / 50;
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % 8 == 0) {
      ASSERT_EQ(baseline.Mark([&] { return now.load(); }), OpStatus::kOk);
    }
    std::vector<SchemaDifference> differences;
    const uint64_t marked = *baseline.marked_nanos();
    const bool back = step % 3 == 0;
    const uint64_t afterwards = back ? marked : now.load();
    const auto set_clock = [&] {
      if (back) now.store(marked);
      return back;
    };
    ASSERT_EQ(baseline.Reset(afterwards, set_clock, differences), OpStatus::kOk);
    EXPECT_TRUE(differences.empty());
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  engine.Verify();
  for (int thread = 0; thread < 2; ++thread) {
    const Items first = ReadItems(engine, IdOf(engine, "lists"), key(thread, 0), kNoonNanos);
    for (int i = 1; i < 4; ++i) {
      EXPECT_EQ(ReadItems(engine, IdOf(engine, "lists"), key(thread, i), kNoonNanos), first);
    }
  }
}

// Asserts nothing about the time it takes, and prints it.
TEST(BaselineCostTest, OfASmallStore) {
  constexpr int kTables = 40;
  constexpr int kListsPerTable = 10;
#if defined(ABSL_HAVE_THREAD_SANITIZER) || defined(ABSL_HAVE_ADDRESS_SANITIZER)
  constexpr int kRounds = 2;
#else
  constexpr int kRounds = 50;
#endif
  for (const int written : {kTables, 5, 0}) {
    shard::Engine engine(shard::EngineOptions{});
    shard::Baseline baseline(engine);
    for (int t = 0; t < kTables; ++t) {
      const std::string name = "t" + std::to_string(t);
      ASSERT_EQ(CreateNamed(engine, name, ListItemsSchema()), OpStatus::kOk);
      for (uint64_t i = 0; i < kListsPerTable; ++i) {
        AddItem(engine, IdOf(engine, name), ListKey("f", std::to_string(i)), i, "value",
                kNoonNanos);
      }
    }
    using Clock = std::chrono::steady_clock;
    const auto micros = [](Clock::duration time) {
      return std::chrono::duration<double, std::micro>(time).count();
    };
    const auto began = Clock::now();
    ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
    const double mark = micros(Clock::now() - began);
    double first = 0;
    double rest = 0;
    for (int round = 0; round < kRounds; ++round) {
      for (int t = 0; t < written; ++t) {
        AddItem(engine, IdOf(engine, "t" + std::to_string(t)), ListKey("f", "new"), 1, "value",
                kNoonNanos);
      }
      std::vector<SchemaDifference> differences;
      const auto start = Clock::now();
      ASSERT_EQ(baseline.Reset(
                    kNoonNanos, [] { return false; }, differences),
                OpStatus::kOk);
      (round == 0 ? first : rest) += micros(Clock::now() - start);
      engine.Reclaim(kNoonNanos, 10'000);
    }
    for (int t = 0; t < kTables; ++t) {
      EXPECT_EQ(engine.StatsOf(IdOf(engine, "t" + std::to_string(t))).rows, kListsPerTable);
    }
    std::printf(
        "%d tables, %d rows, %d tables written to: mark %.0f us, first reset %.0f us, "
        "others %.0f us\n",
        kTables, kTables * kListsPerTable, written, mark, first, rest / (kRounds - 1));
  }
}

// The same with LISTSTORE_STEPS rows (for the figures of docs/test_double.md: 2,000,000), and 100
// writes in between.
TEST(BaselineCostTest, OfALargeStore) {
  constexpr uint64_t kRowsPerList = 10;
  constexpr uint64_t kWrites = 100;
  shard::Engine engine(shard::EngineOptions{});
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  const TableId id = IdOf(engine, "lists");
  const uint64_t lists = TestSteps(20'000) / kRowsPerList;
  const auto key = [](uint64_t list) { return ListKey("f", std::to_string(list)); };
  for (uint64_t list = 0; list < lists; ++list) {
    Items items;
    for (uint64_t n = 0; n < kRowsPerList; ++n) items[n] = std::string(40, 'v');
    AddItems(engine, id, key(list), items, kNoonNanos);
  }
  ReclaimAll(engine, kNoonNanos);  // directories that have grown
  const uint64_t rows = engine.StatsOf(id).rows;
  const uint64_t bytes = engine.StatsOf(id).live_bytes;
  ASSERT_EQ(rows, lists * kRowsPerList);
  using Clock = std::chrono::steady_clock;
  const auto micros = [](Clock::time_point since) {
    return std::chrono::duration<double, std::micro>(Clock::now() - since).count();
  };
  const auto report = [&](const char* what, uint64_t writes, auto&& write) {
    auto began = Clock::now();
    ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
    const double mark = micros(began);
    began = Clock::now();
    write();
    const double written = micros(began);
    const uint64_t more = engine.StatsOf(id).live_bytes - bytes;
    std::vector<SchemaDifference> differences;
    began = Clock::now();
    ASSERT_EQ(baseline.Reset(
                  kNoonNanos, [] { return false; }, differences),
              OpStatus::kOk);
    const double reset = micros(began);
    EXPECT_EQ(engine.StatsOf(id).rows, rows);
    std::printf(
        "%llu rows in %llu lists, %llu %s: mark %.0f us, reset %.0f us; writes %.0f us, %llu bytes "
        "of %llu more\n",
        static_cast<unsigned long long>(rows), static_cast<unsigned long long>(lists),
        static_cast<unsigned long long>(writes), what, mark, reset, written,
        static_cast<unsigned long long>(more), static_cast<unsigned long long>(bytes));
    ReclaimAll(engine, kNoonNanos);
    EXPECT_EQ(engine.StatsOf(id).live_bytes, bytes);
  };
  for (int round = 0; round < 2; ++round) {
    report("lists written to", kWrites, [&] {
      for (uint64_t i = 0; i < kWrites; ++i) {
        AddItem(engine, id, key(i * lists / kWrites), kRowsPerList, "value", kNoonNanos);
      }
    });
  }
  report("lists removed", kWrites, [&] {
    for (uint64_t i = 0; i < kWrites; ++i) RemoveList(engine, id, key(i), kNoonNanos);
  });
  report("lists written to", lists, [&] {
    for (uint64_t i = 0; i < lists; ++i) {
      AddItem(engine, id, key(i), kRowsPerList, "value", kNoonNanos);
    }
  });
  report("table truncated", 1, [&] {
    ASSERT_EQ(engine.TruncateTable(id), OpStatus::kOk);
    ReclaimAll(engine, kNoonNanos);
  });
}

}  // namespace baseline_test
}  // namespace liststore::testing
