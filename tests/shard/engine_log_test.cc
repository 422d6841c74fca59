// What the engine writes down, what it refuses, and what comes of it again: single cases.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/commitlog/record_decoder.h"
#include "engine/shard/engine.h"
#include "engine/shard/replay.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/memory_log.h"

namespace liststore::testing {
namespace engine_log_test {

using commitlog::RecordKind;

// An engine with a table of lists and a log for each shard.
struct Logged {
  explicit Logged(uint32_t shards) : engine({.shards = shards, .lanes_per_shard_log2 = 1}) {
    table = engine.CreateTable(ListItemsSchema());
    std::vector<commitlog::WriteLog*> pointers;
    for (uint32_t i = 0; i < shards; ++i) pointers.push_back(&logs.emplace_back());
    engine.SetWriteLogs(pointers, 3);
  }
  size_t records() {
    size_t count = 0;
    for (MemoryLog& log : logs) count += log.records().size();
    return count;
  }
  // A list of this shard.
  std::string ListOf(uint32_t shard, int number = 0) {
    for (int i = 0;; ++i) {
      std::string key = ListKey("views", std::to_string(i));
      if (engine.router().ShardOf(TokenOf(key)).value == shard && number-- == 0) return key;
    }
  }

  std::deque<MemoryLog> logs;
  shard::Engine engine;
  TableId table;
};

class NoSchema : public shard::ReplaySink {
 public:
  absl::Status OnBarrier(std::string_view payload, shard::RecordedTables&) override {
    barriers.emplace_back(payload);
    return absl::OkStatus();
  }
  absl::Status OnEvent(std::string_view payload) override {
    events.emplace_back(payload);
    return absl::OkStatus();
  }
  std::vector<std::string> barriers;
  std::vector<std::string> events;
};

// An engine of another shape, into which logs go.
struct Replayed {
  explicit Replayed(uint32_t shards = 3) : engine({.shards = shards, .lanes_per_shard_log2 = 2}) {
    engine.CreateTable(ListItemsSchema());  // so that the ids differ
    table = engine.CreateTable(ListItemsSchema());
  }
  absl::StatusOr<shard::ReplayResult> Run(Logged& from,
                                          const std::map<uint32_t, size_t>& counts = {}) {
    tables.Set(from.table, table);
    std::vector<shard::ReplayedLog> logs;
    for (uint32_t i = 0; i < from.logs.size(); ++i) {
      const auto count = counts.find(i);
      logs.push_back(from.logs[i].AsShard(i, 0, count == counts.end() ? SIZE_MAX : count->second));
    }
    return shard::ReplayLogs(engine, tables, logs, sink);
  }

  shard::Engine engine;
  TableId table;
  shard::RecordedTables tables;
  NoSchema sink;
};

TEST(EngineLogTest, EveryWriteIsARecordAndNothingElseIs) {
  Logged logged(1);
  const std::string list = logged.ListOf(0);
  AddItem(logged.engine, logged.table, list, 1, "a", kNoonNanos);
  ASSERT_EQ(logged.records(), 1u);
  EXPECT_EQ(logged.logs[0].records()[0].kind, RecordKind::kWrite);
  ReadItems(logged.engine, logged.table, list, kNoonNanos);
  CountItems(logged.engine, logged.table, list, kNoonNanos);
  EXPECT_EQ(logged.records(), 1u);
  RemoveItem(logged.engine, logged.table, list, 1, kNoonNanos);
  EXPECT_EQ(logged.records(), 2u);
  logged.engine.Execute({.table = logged.table, .partition_key = list, .body = ForgetCommand{}},
                        kNoonNanos);
  EXPECT_EQ(logged.records(), 2u) << "nothing was there";
  EXPECT_EQ(logged.engine
                .Execute({.table = {logged.table.value, 9},
                          .partition_key = list,
                          .body = DeletePartitionCommand{}},
                         kNoonNanos)
                .status,
            OpStatus::kTableGone);
  EXPECT_EQ(logged.records(), 2u);
  EXPECT_EQ(logged.logs[0].reserved(), 0u);
}

TEST(EngineLogTest, DeletionsByValueAreOfTheRowsThatTheyFound) {
  Logged logged(1);
  const std::string list = logged.ListOf(0);
  AddItems(logged.engine, logged.table, list, {{1, "a"}, {2, "b"}, {3, "a"}}, kNoonNanos);
  const auto remove = [&](std::string_view value) {
    return logged.engine.Execute(
        {.table = logged.table, .partition_key = list, .body = DeleteByValueCommand{0, value}},
        kNoonNanos);
  };
  EXPECT_EQ(remove("c").rows, 0u);
  EXPECT_EQ(logged.records(), 1u);
  EXPECT_EQ(remove("a").rows, 2u);
  ASSERT_EQ(logged.records(), 2u);
  commitlog::WriteDecoder decoder;
  commitlog::RecordedWrite write;
  ASSERT_TRUE(decoder.Decode(logged.logs[0].records()[1].bytes, write));
  EXPECT_EQ(write.kind, commitlog::BodyKind::kDeleteRows);
  EXPECT_EQ(write.keys.size(), 2u);
  Replayed replayed;
  ASSERT_TRUE(replayed.Run(logged).ok());
  EXPECT_EQ(ReadItems(replayed.engine, replayed.table, list, kNoonNanos), (Items{{2, "b"}}));
}

TEST(EngineLogTest, WithoutRoomNothingIsApplied) {
  Logged logged(2);
  const std::string here = logged.ListOf(0);
  const std::string there = logged.ListOf(1);
  AddItem(logged.engine, logged.table, here, 1, "a", kNoonNanos);
  logged.logs[0].set_room(0);
  EXPECT_EQ(AddItem(logged.engine, logged.table, here, 2, "b", kNoonNanos).status,
            OpStatus::kNotKept);
  EXPECT_EQ(RemoveList(logged.engine, logged.table, here, kNoonNanos).status, OpStatus::kNotKept);
  EXPECT_EQ(ReadItems(logged.engine, logged.table, here, kNoonNanos), (Items{{1, "a"}}));
  EXPECT_EQ(AddItem(logged.engine, logged.table, there, 1, "a", kNoonNanos).status, OpStatus::kOk);
  // A batch, in all of its logs or in none.
  ItemUpserts batch(logged.table);
  batch.Add(here, {{5, "e"}});
  batch.Add(there, {{5, "e"}});
  std::vector<Reply> replies(2);
  EXPECT_EQ(logged.engine.ExecuteBatch(batch.commands(), kNoonNanos, replies), OpStatus::kNotKept);
  EXPECT_EQ(logged.engine.ExecuteAllOrNothing(batch.commands(), kNoonNanos, replies),
            OpStatus::kNotKept);
  EXPECT_EQ(ReadItems(logged.engine, logged.table, there, kNoonNanos), (Items{{1, "a"}}));
  EXPECT_EQ(logged.engine.TruncateTable(logged.table), OpStatus::kNotKept);
  EXPECT_EQ(logged.engine.TruncateFirstComponent(logged.table, "views"), OpStatus::kNotKept);
  EXPECT_FALSE(logged.engine.ReserveBarrier(8));
  EXPECT_FALSE(logged.engine.AppendEvent("event"));
  EXPECT_TRUE(absl::IsResourceExhausted(logged.engine.log_refusal()));
  EXPECT_EQ(logged.logs[1].reserved(), 0u);
  EXPECT_EQ(logged.records(), 2u);
  // And there is room again.
  logged.logs[0].set_room(UINT64_MAX);
  EXPECT_EQ(logged.engine.ExecuteBatch(batch.commands(), kNoonNanos, replies), OpStatus::kOk);
  EXPECT_EQ(logged.records(), 4u);
}

TEST(EngineLogTest, RefusedForMemoryIsNotWrittenDown) {
  Logged logged(1);
  shard::Engine small({.shards = 1, .lanes_per_shard_log2 = 0, .memory_limit_bytes = 1 << 20});
  const TableId table = small.CreateTable(ListItemsSchema());
  MemoryLog log;
  commitlog::WriteLog* const logs[] = {&log};
  small.SetWriteLogs(logs, 1);
  const std::string value(10'000, 'v');
  size_t written = 0;
  while (AddItem(small, table, ListKey("views", "1"), written, value, kNoonNanos).status ==
         OpStatus::kOk) {
    ++written;
  }
  EXPECT_EQ(log.records().size(), written);
  EXPECT_EQ(log.reserved(), 0u);
}

TEST(EngineLogTest, PutsAndForgettingsComeAgain) {
  Logged logged(1);
  const std::string list = logged.ListOf(0);
  AddItems(logged.engine, logged.table, list, {{1, "a"}, {2, "b"}}, kNoonNanos);
  ItemUpserts rows(logged.table);
  rows.Add(list, {{7, "new"}});
  const auto& upsert = std::get<UpsertCommand>(rows.commands()[0].body);
  const uint64_t mark = logged.engine.ChangeMark(logged.table, list);
  const auto put = [&](std::optional<uint64_t> since) {
    return logged.engine.Execute({.table = logged.table,
                                  .partition_key = list,
                                  .body = PutCommand{upsert.rows, 1'800'000'000, since}},
                                 kNoonNanos);
  };
  EXPECT_FALSE(put(mark).refused);
  EXPECT_TRUE(put(mark).refused);
  EXPECT_EQ(logged.records(), 2u) << "what was refused is not written down";
  Replayed replayed;
  ASSERT_TRUE(replayed.Run(logged).ok());
  EXPECT_EQ(ReadItems(replayed.engine, replayed.table, list, kNoonNanos), (Items{{7, "new"}}));
  logged.engine.Execute({.table = logged.table, .partition_key = list, .body = ForgetCommand{}},
                        kNoonNanos);
  Replayed again;
  ASSERT_TRUE(again.Run(logged).ok());
  EXPECT_TRUE(ReadItems(again.engine, again.table, list, kNoonNanos).empty());
}

TEST(EngineLogTest, BatchesThatWereCutAreNotThereAtAll) {
  Logged logged(2);
  const std::string here = logged.ListOf(0);
  const std::string there = logged.ListOf(1);
  const auto batch = [&](uint64_t number) {
    ItemUpserts upserts(logged.table);
    upserts.Add(here, {{number, "batch"}});
    upserts.Add(there, {{number, "batch"}});
    std::vector<Reply> replies(2);
    ASSERT_EQ(logged.engine.ExecuteBatch(upserts.commands(), kNoonNanos, replies), OpStatus::kOk);
  };
  batch(1);
  AddItem(logged.engine, logged.table, here, 2, "alone", kNoonNanos);
  batch(3);
  AddItem(logged.engine, logged.table, here, 4, "alone", kNoonNanos);
  const size_t kept = logged.logs[1].records().size() - 1;
  Replayed replayed;
  const auto result = replayed.Run(logged, {{1, kept}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->batches, 1u);
  EXPECT_EQ(result->batches_cut, 1u);
  EXPECT_EQ(ReadItems(replayed.engine, replayed.table, here, kNoonNanos),
            (Items{{1, "batch"}, {2, "alone"}, {4, "alone"}}));
  EXPECT_EQ(ReadItems(replayed.engine, replayed.table, there, kNoonNanos), (Items{{1, "batch"}}));
}

TEST(EngineLogTest, StepsAreAppliedOnceInTheirPlaceWhateverLogHasThem) {
  for (int cut = 0; cut < 3; ++cut) {
    Logged logged(3);
    std::vector<std::string> lists;
    for (uint32_t i = 0; i < 3; ++i) lists.push_back(logged.ListOf(i));
    const auto add = [&](uint64_t number) {
      for (const std::string& list : lists) {
        AddItem(logged.engine, logged.table, list, number, "v", kNoonNanos);
      }
    };
    add(1);
    ASSERT_EQ(logged.engine.TruncateTable(logged.table), OpStatus::kOk);
    add(2);
    ASSERT_TRUE(logged.engine.ReserveBarrier(100));
    logged.engine.AppendBarrier("schema", 100);
    ASSERT_TRUE(logged.engine.AppendEvent("event"));
    add(3);
    ASSERT_EQ(logged.engine.TruncateFirstComponent(logged.table, "views"), OpStatus::kOk);
    std::map<uint32_t, size_t> counts;
    // The last truncation is cut off two logs, or the barrier and the item before it too.
    if (cut == 1) counts = {{1, 5}, {2, 5}};
    if (cut == 2) counts = {{1, 2}, {2, 3}};
    Replayed replayed(2);
    const auto result = replayed.Run(logged, counts);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->truncations, 2u);
    EXPECT_EQ(result->last_run, 3u);
    EXPECT_EQ(replayed.sink.barriers, std::vector<std::string>{"schema"});
    EXPECT_EQ(replayed.sink.events, std::vector<std::string>{"event"});
    for (const std::string& list : lists) {
      EXPECT_TRUE(ReadItems(replayed.engine, replayed.table, list, kNoonNanos).empty());
    }
  }
}

TEST(EngineLogTest, AStepWaitsForWhatWasBeforeIt) {
  Logged logged(2);
  const std::string list = logged.ListOf(1);
  for (uint64_t i = 0; i < 5'000; ++i) {
    AddItem(logged.engine, logged.table, list, i, "before", kNoonNanos);
  }
  ASSERT_EQ(logged.engine.TruncateTable(logged.table), OpStatus::kOk);
  AddItem(logged.engine, logged.table, list, 1, "behind", kNoonNanos);
  Replayed replayed(1);
  ASSERT_TRUE(replayed.Run(logged).ok());
  EXPECT_EQ(ReadItems(replayed.engine, replayed.table, list, kNoonNanos), (Items{{1, "behind"}}));
}

TEST(EngineLogTest, TimestampsGoOnAboveThoseThatWereGiven) {
  Logged logged(1);
  const std::string list = logged.ListOf(0);
  WriteTimestamp last;
  for (uint64_t i = 0; i < 10; ++i) {
    last = AddItem(logged.engine, logged.table, list, i, "v", kNoonNanos).timestamp;
  }
  Replayed replayed;
  ASSERT_TRUE(replayed.Run(logged).ok());
  const Reply reply =
      AddItem(replayed.engine, replayed.table, list, 1, "w", kNoonNanos - 1'000'000);
  EXPECT_GT(reply.timestamp, last);
}

TEST(EngineLogTest, WhatIsNoRecordIsDamage) {
  Logged logged(1);
  const std::string list = logged.ListOf(0);
  AddItem(logged.engine, logged.table, list, 1, "a", kNoonNanos);
  {
    Replayed replayed;
    replayed.tables.Set(logged.table, replayed.table);
    const std::vector<shard::ReplayedLog> logs{logged.logs[0].AsShard(0)};
    shard::RecordedTables none;
    EXPECT_TRUE(
        absl::IsDataLoss(shard::ReplayLogs(replayed.engine, none, logs, replayed.sink).status()));
  }
  MemoryLog::Kept& record = logged.logs[0].records()[0];
  record.bytes.resize(record.bytes.size() - 8);
  for (const RecordKind kind : {RecordKind::kWrite, RecordKind::kBatchPart, RecordKind::kTruncate,
                                static_cast<RecordKind>(77)}) {
    record.kind = kind;
    Replayed replayed;
    EXPECT_TRUE(absl::IsDataLoss(replayed.Run(logged).status()));
  }
}

// Of a run before the snapshot's, which had more shards.
TEST(EngineLogTest, LogsOfShardsThatTheSnapshotDidNotHaveAreOlder) {
  Logged logged(2);
  const std::string list = logged.ListOf(1);
  AddItem(logged.engine, logged.table, list, 1, "old", kNoonNanos);
  ASSERT_TRUE(logged.engine.ReserveBarrier(4));
  logged.engine.AppendBarrier("run3", 4);
  const auto run = [&](uint32_t run_of_snapshot) {
    const shard::CopiedParts copied(1, 0, run_of_snapshot);
    Replayed replayed;
    replayed.tables.Set(logged.table, replayed.table);
    const std::vector<shard::ReplayedLog> logs{logged.logs[1].AsShard(1)};
    const auto result =
        shard::ReplayLogs(replayed.engine, replayed.tables, logs, replayed.sink, &copied);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(ReadItems(replayed.engine, replayed.table, list, kNoonNanos).empty());
    return replayed.sink.barriers.size();
  };
  EXPECT_EQ(run(2), 1u);
  EXPECT_EQ(run(3), 0u);
}

// What a deletion left or did not leave where it was made decides there, too, when the table has seen
// timestamps of clients elsewhere.
TEST(EngineLogTest, DeletionsHaveTheEffectThatTheyHad) {
  Logged logged(2);
  const std::string own = logged.ListOf(0);
  const std::string foreign = logged.ListOf(1);
  AddItem(logged.engine, logged.table, own, 1, "a", kNoonNanos);
  RemoveItem(logged.engine, logged.table, own, 1, kNoonNanos);
  // No tombstone was kept: an older write is seen.
  AddItem(logged.engine, logged.table, own, 1, "old", kNoonNanos, 0, WriteTimestamp{5});
  // Here one was.
  AddItem(logged.engine, logged.table, foreign, 1, "a", kNoonNanos, 0, WriteTimestamp{7});
  RemoveItem(logged.engine, logged.table, foreign, 1, kNoonNanos);
  AddItem(logged.engine, logged.table, foreign, 1, "old", kNoonNanos, 0, WriteTimestamp{5});
  ASSERT_EQ(ReadItems(logged.engine, logged.table, own, kNoonNanos), (Items{{1, "old"}}));
  ASSERT_EQ(ReadItems(logged.engine, logged.table, foreign, kNoonNanos), Items{});
  for (int i = 0; i < 20; ++i) {  // whichever log comes first
    Replayed replayed(1);
    ASSERT_TRUE(replayed.Run(logged).ok());
    EXPECT_EQ(ReadItems(replayed.engine, replayed.table, own, kNoonNanos), (Items{{1, "old"}}));
    EXPECT_EQ(ReadItems(replayed.engine, replayed.table, foreign, kNoonNanos), Items{});
  }
}

}  // namespace engine_log_test
}  // namespace liststore::testing
