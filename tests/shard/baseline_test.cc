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

TEST_F(BaselineTest, MarkingAgainCopiesWhatHasChangedAlone) {
  for (uint64_t i = 0; i < 5'000; i += 100) {
    Items items;
    for (uint64_t n = i; n < i + 100; ++n) items[n] = std::string(100, 'v');
    ASSERT_EQ(AddItems(engine_, Lists(), Key(), items, now_).status, OpStatus::kOk);
  }
  ASSERT_EQ(CreateNamed(engine_, "other", ListItemsSchema()), OpStatus::kOk);
  Mark();
  const uint64_t held = engine_.held_bytes();
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
  EXPECT_LT(engine_.held_bytes(), held);
}

TEST(BaselineMemoryTest, WhatDoesNotFitIsRefusedAndChangesNothing) {
  shard::EngineOptions options;
  options.lanes_per_shard_log2 = 1;
  options.memory_limit_bytes = 4 << 20;
  shard::Engine engine(options);
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  const TableId id = IdOf(engine, "lists");
  uint64_t written = 0;
  const auto fill = [&](uint64_t lists, uint64_t items_each) {
    for (uint64_t i = 0; i < lists; ++i) {
      Items items;
      for (uint64_t n = 0; n < items_each; ++n) items[n] = std::string(1'000, 'v');
      const std::string key = ListKey("feature", std::to_string(written++));
      if (AddItems(engine, id, key, items, kNoonNanos).status != OpStatus::kOk) return;
    }
  };
  fill(110, 10);
  ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
  const std::string marked = StoredIn(engine, id, kNoonNanos);
  // Beside the copy there is no room for as much again.
  fill(UINT64_MAX, 10);
  fill(UINT64_MAX, 1);
  const std::string full = StoredIn(engine, id, kNoonNanos);
  EXPECT_EQ(baseline.Mark([] { return kNoonNanos + 1; }), OpStatus::kOutOfMemory);
  EXPECT_EQ(baseline.marked_nanos(), kNoonNanos);
  std::vector<SchemaDifference> differences;
  const auto no_clock = [] {
    ADD_FAILURE() << "the clock is set once nothing can fail";
    return false;
  };
  EXPECT_EQ(baseline.Reset(kNoonNanos, no_clock, differences), OpStatus::kOutOfMemory);
  EXPECT_EQ(StoredIn(engine, id, kNoonNanos), full);
  engine.Verify();
  // With room it succeeds.
  ASSERT_EQ(engine.TruncateTable(id), OpStatus::kOk);
  ReclaimAll(engine, kNoonNanos);
  EXPECT_EQ(baseline.Reset(
                kNoonNanos, [] { return false; }, differences),
            OpStatus::kOk);
  EXPECT_EQ(StoredIn(engine, id, kNoonNanos), marked);
  engine.Verify();
}

// What others do between the slices of a mark and of a reset; few rows are a slice.
class BaselineSlicesTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kRows = 600;
  static constexpr uint32_t kRowsPerHold = 16;

  BaselineSlicesTest() : engine_(Options()), baseline_(engine_) {
    for (const char* const name : {"lists", "unchanged", "blank"}) {
      EXPECT_EQ(CreateNamed(engine_, name, ListItemsSchema()), OpStatus::kOk);
    }
    for (uint64_t i = 0; i < kRows; ++i) {
      AddItem(engine_, Id("lists"), Key("large"), i, "v", kNoonNanos);
      AddItem(engine_, Id("lists"), Key(std::to_string(i)), i, "v", kNoonNanos);
      AddItem(engine_, Id("unchanged"), Key(std::to_string(i)), i, "v", kNoonNanos);
    }
  }

  static shard::EngineOptions Options() {
    shard::EngineOptions options;
    options.shards = 2;
    options.lanes_per_shard_log2 = 1;
    options.copied_rows_per_hold = kRowsPerHold;
    return options;
  }
  static std::string Key(const std::string& entity) { return ListKey("feature", entity); }
  TableId Id(const std::string& name) { return IdOf(engine_, name); }

  // Adds, removes and writes over, in what was copied and in what comes later, one at a time and in a
  // batch of several lanes.
  void WriteMeanwhile() {
    const uint64_t n = slices_++;
    const TableId id = Id("lists");
    EXPECT_EQ(AddItem(engine_, id, Key("large"), kRows + n, "new", kNoonNanos).status,
              OpStatus::kOk);
    EXPECT_EQ(RemoveItem(engine_, id, Key("large"), n * 7, kNoonNanos).status, OpStatus::kOk);
    EXPECT_EQ(RemoveList(engine_, id, Key(std::to_string(n * 5)), kNoonNanos).status,
              OpStatus::kOk);
    ItemUpserts batch(id);
    for (int i = 0; i < 4; ++i) {
      batch.Add(Key("batch " + std::to_string(i)), {{n, "batch"}}, kNoonNanos);
    }
    std::vector<Reply> replies(4);
    EXPECT_EQ(engine_.ExecuteBatch(batch.commands(), kNoonNanos, replies), OpStatus::kOk);
  }
  std::string Stored(const std::string& name) { return StoredIn(engine_, Id(name), kNoonNanos); }
  OpStatus Mark(absl::FunctionRef<void()> between_slices) {
    return baseline_.Mark([] { return kNoonNanos; }, between_slices);
  }
  OpStatus Reset(absl::FunctionRef<void()> between_slices = [] {}) {
    std::vector<SchemaDifference> differences;
    return baseline_.Reset(
        kNoonNanos, [] { return false; }, differences, between_slices);
  }

  shard::Engine engine_;
  shard::Baseline baseline_;
  uint64_t slices_ = 0;
};

TEST_F(BaselineSlicesTest, AMarkHasWhatWasWrittenMeanwhileAndNothingOfAfterwards) {
  ASSERT_EQ(Mark([&] { WriteMeanwhile(); }), OpStatus::kOk);
  EXPECT_GE(slices_, 3 * kRows / kRowsPerHold);
  const std::string marked = Stored("lists");
  engine_.Verify();
  for (int i = 0; i < 20; ++i) WriteMeanwhile();
  EXPECT_NE(Stored("lists"), marked);
  ASSERT_EQ(Reset(), OpStatus::kOk);
  EXPECT_EQ(Stored("lists"), marked);
  engine_.Verify();
}

// What had not changed, or was empty, when the mark began has changed before its instant.
TEST_F(BaselineSlicesTest, AMarkHasTablesThatHaveChangedMeanwhile) {
  ASSERT_EQ(Mark([] {}), OpStatus::kOk);
  WriteMeanwhile();
  ASSERT_EQ(Mark([&] {
              if (++slices_ != 10) return;
              AddItem(engine_, Id("unchanged"), Key("new"), 1, "v", kNoonNanos);
              AddItem(engine_, Id("blank"), Key("new"), 1, "v", kNoonNanos);
            }),
            OpStatus::kOk);
  EXPECT_GE(slices_, 3 * kRows / kRowsPerHold);
  const std::string unchanged = Stored("unchanged");
  const std::string blank = Stored("blank");
  for (const char* const name : {"unchanged", "blank"}) {
    AddItem(engine_, Id(name), Key("new"), 2, "later", kNoonNanos);
  }
  ASSERT_EQ(Reset(), OpStatus::kOk);
  EXPECT_EQ(Stored("unchanged"), unchanged);
  EXPECT_EQ(Stored("blank"), blank);
  EXPECT_EQ(CountItems(engine_, Id("blank"), Key("new"), kNoonNanos), 1u);
  engine_.Verify();
}

// They are answered, and gone.
TEST_F(BaselineSlicesTest, AResetTakesWhatIsWrittenMeanwhile) {
  ASSERT_EQ(Mark([] {}), OpStatus::kOk);
  const std::string marked = Stored("lists");
  const std::string unchanged = Stored("unchanged");
  WriteMeanwhile();
  slices_ = 0;
  ASSERT_EQ(Reset([&] {
              WriteMeanwhile();
              if (slices_ == 10) {
                AddItem(engine_, Id("unchanged"), Key("new"), 1, "v", kNoonNanos);
              }
              // They are under way to another time.
              engine_.Reclaim(kNoonNanos + kDay, 1'000);
            }),
            OpStatus::kOk);
  EXPECT_GE(slices_, 2 * kRows / kRowsPerHold);
  EXPECT_EQ(Stored("lists"), marked);
  EXPECT_EQ(Stored("unchanged"), unchanged);
  engine_.Verify();
}

TEST_F(BaselineSlicesTest, RowsThatAResetBringsBackEndAtTheirTime) {
  AddItem(engine_, Id("lists"), Key("short"), 1, "a minute", kNoonNanos, 60);
  ASSERT_EQ(Mark([] {}), OpStatus::kOk);
  WriteMeanwhile();
  // The clock is far ahead of the mark until the last step.
  ASSERT_EQ(Reset([&] { engine_.Reclaim(kNoonNanos + kDay, 1'000); }), OpStatus::kOk);
  EXPECT_EQ(CountItems(engine_, Id("lists"), Key("short"), kNoonNanos), 1u);
  EXPECT_EQ(engine_.NextExpirySeconds(), kNoonNanos / kNanosPerSecond + 60);
  ReclaimAll(engine_, kNoonNanos + kDay);
  EXPECT_EQ(CountItems(engine_, Id("lists"), Key("short"), kNoonNanos), 0u);
}

TEST_F(BaselineSlicesTest, TheTimeOfAMarkIsThatOfItsLastStep) {
  uint64_t now = kNoonNanos;
  ASSERT_EQ(baseline_.Mark([&] { return now; }, [&] { now += kNanosPerSecond; }), OpStatus::kOk);
  EXPECT_EQ(baseline_.marked_nanos(), now);
  EXPECT_GT(now, kNoonNanos);
}

// The mark from before stands, and so does what was written.
TEST_F(BaselineSlicesTest, AMarkIsRefusedForWhatIsWrittenMeanwhile) {
  shard::EngineOptions options = Options();
  options.memory_limit_bytes = 8 << 20;
  shard::Engine engine(options);
  shard::Baseline baseline(engine);
  ASSERT_EQ(CreateNamed(engine, "lists", ListItemsSchema()), OpStatus::kOk);
  const TableId id = IdOf(engine, "lists");
  AddItem(engine, id, Key("first"), 1, "v", kNoonNanos);
  ASSERT_EQ(baseline.Mark([] { return kNoonNanos; }), OpStatus::kOk);
  for (uint64_t i = 0; i < kRows; ++i) {
    AddItem(engine, id, Key(std::to_string(i)), i, "v", kNoonNanos);
  }
  uint64_t written = 0;
  const auto write_much = [&] {
    for (int i = 0; i < 200; ++i) {
      const Reply reply = AddItem(engine, id, Key("much " + std::to_string(written)), 1,
                                  std::string(1'000, 'n'), kNoonNanos);
      if (reply.status == OpStatus::kOk) ++written;
    }
  };
  EXPECT_EQ(baseline.Mark([] { return kNoonNanos + 1; }, write_much), OpStatus::kOutOfMemory);
  EXPECT_GT(written, 0u);
  uint64_t found = 0;
  for (uint64_t i = 0; i < written; ++i) {
    found += CountItems(engine, id, Key("much " + std::to_string(i)), kNoonNanos);
  }
  EXPECT_EQ(found, written);
  EXPECT_EQ(baseline.marked_nanos(), kNoonNanos);
  engine.Verify();
  ASSERT_EQ(engine.TruncateTable(id), OpStatus::kOk);
  ReclaimAll(engine, kNoonNanos);
  std::vector<SchemaDifference> differences;
  ASSERT_EQ(baseline.Reset(
                kNoonNanos, [] { return false; }, differences),
            OpStatus::kOk);
  EXPECT_EQ(Contents(engine, IdOf(engine, "lists"), kNoonNanos),
            (std::map<std::string, Items>{{Key("first"), {{1, "v"}}}}));
  baseline.Forget();
  engine.Verify();
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

}  // namespace baseline_test
}  // namespace liststore::testing
