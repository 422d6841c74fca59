// What an engine promises about timestamps, scans, groups and statistics. Truncation, reclamation
// and memory are in engine_memory_test.cc.
#include "engine/shard/engine.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/shard/engine_groups.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/collecting_sink.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_test {

constexpr uint32_t kShardCounts[] = {1, 2, 3, 7};

shard::EngineOptions WithShards(uint32_t shards, uint32_t lanes_per_shard_log2 = 2) {
  shard::EngineOptions options;
  options.shards = shards;
  options.lanes_per_shard_log2 = lanes_per_shard_log2;
  return options;
}

uint32_t LaneOf(const shard::Engine& engine, std::string_view partition_key) {
  return engine.router().PlaceOf(TokenOf(partition_key)).lane;
}

std::vector<std::string> ListKeys(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back(ListKey("feature", std::to_string(i)));
  return keys;
}

std::vector<std::string> InTokenOrder(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
    return TokenOf(a).value < TokenOf(b).value;
  });
  return keys;
}

// --- Timestamps ---

TEST(EngineTimestampTest, StrictlyIncreaseInALaneWhateverTheClockSays) {
  Random rng(TestSeed());
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const TableId other = engine.CreateTable(ListItemsSchema());
  const std::vector<std::string> keys = ListKeys(50);
  std::map<uint32_t, WriteTimestamp> last;
  for (int step = 0; step < 5'000; ++step) {
    const std::string& key = keys[rng.Below(keys.size())];
    // To and fro, and standing still for the most part.
    const uint64_t now = kNoonNanos + (rng.OneIn(10) ? rng.Below(1'000'000'000) : 0);
    const TableId into = rng.OneIn(2) ? table : other;
    const Reply reply = rng.OneIn(3) ? RemoveItem(engine, into, key, rng.Below(10), now)
                                     : AddItem(engine, into, key, rng.Below(10), "v", now);
    WriteTimestamp& before = last[LaneOf(engine, key)];
    ASSERT_GT(reply.timestamp.micros, before.micros) << "step " << step;
    ASSERT_GE(reply.timestamp.micros, static_cast<int64_t>(now / 1'000));
    before = reply.timestamp;
  }
  EXPECT_GT(last.size(), 6u) << "many lanes were concerned";
}

TEST(EngineTimestampTest, FollowTheClockWhenItMovesOn) {
  shard::Engine engine(WithShards(1));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  for (uint64_t second = 0; second < 10; ++second) {
    const uint64_t now = kNoonNanos + second * kNanosPerSecond;
    EXPECT_EQ(AddItem(engine, table, key, 1, "v", now).timestamp.micros,
              static_cast<int64_t>(now / 1'000));
  }
}

TEST(EngineTimestampTest, ABatchHasOneAboveAllOfItsLanes) {
  Random rng(TestSeed());
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::vector<std::string> keys = ListKeys(60);
  std::map<uint32_t, WriteTimestamp> last;
  for (int round = 0; round < 200; ++round) {
    // The lanes drift apart: the clock stands, and each write takes a microsecond.
    for (int i = 0; i < 20; ++i) {
      const std::string& key = keys[rng.Below(i % 2 == 0 ? 5 : keys.size())];
      last[LaneOf(engine, key)] = AddItem(engine, table, key, 1, "v", kNoonNanos).timestamp;
    }
    ItemUpserts batch(table);
    std::set<uint32_t> lanes;
    for (uint64_t i = 1 + rng.Below(12); i > 0; --i) {
      const std::string& key = keys[rng.Below(keys.size())];
      batch.Add(key, {{2, "batch"}});
      lanes.insert(LaneOf(engine, key));
    }
    std::vector<Reply> replies(batch.commands().size());
    ASSERT_EQ(engine.ExecuteAllOrNothing(batch.commands(), kNoonNanos, replies), OpStatus::kOk);
    int64_t highest = 0;
    for (const uint32_t lane : lanes) highest = std::max(highest, last[lane].micros);
    for (const Reply& reply : replies) {
      ASSERT_EQ(reply.timestamp.micros, replies[0].timestamp.micros);
      ASSERT_GT(reply.timestamp.micros, highest);
    }
    for (const uint32_t lane : lanes) last[lane] = replies[0].timestamp;
    // Each of its lanes goes on above the batch.
    const std::string& key = keys[rng.Below(keys.size())];
    const WriteTimestamp next = AddItem(engine, table, key, 3, "v", kNoonNanos).timestamp;
    ASSERT_GT(next.micros, last[LaneOf(engine, key)].micros);
    last[LaneOf(engine, key)] = next;
  }
}

TEST(EngineTimestampTest, ABatchOfNothingIsDone) {
  shard::Engine engine(WithShards(2));
  EXPECT_EQ(engine.ExecuteAllOrNothing({}, kNoonNanos, {}), OpStatus::kOk);
}

struct ClientRule {
  const char* rule;
  int64_t first;
  int64_t second;
  const char* value;  // that lives in the end
};

TEST(EngineTimestampTest, AClientsIsHonoured) {
  constexpr int64_t kOwn = std::numeric_limits<int64_t>::min();  // the lane gives one
  constexpr int64_t kFuture = static_cast<int64_t>(kNoonNanos / 1'000) + 3'600'000'000;
  constexpr ClientRule kRules[] = {
      {"the later timestamp wins though it came first", 200, 100, "first"},
      {"the later timestamp wins when it comes last", 100, 200, "second"},
      {"on a tie the larger value wins", 100, 100, "second"},
      {"the lane's own is above the past", 100, kOwn, "second"},
      {"the lane's own is below the future", kFuture, kOwn, "first"},
      {"the past does not undo the lane's own", kOwn, 100, "first"},
      {"negative timestamps are timestamps", -5, -7, "first"},
  };
  for (const ClientRule& rule : kRules) {
    shard::Engine engine(WithShards(2));
    const TableId table = engine.CreateTable(ListItemsSchema());
    const std::string key = ListKey("f", "e");
    const Reply first = AddItem(engine, table, key, 1, "first", kNoonNanos, 0, {rule.first});
    const Reply second = AddItem(engine, table, key, 1, "second", kNoonNanos, 0, {rule.second});
    EXPECT_EQ(ReadItems(engine, table, key, kNoonNanos), (Items{{1, rule.value}})) << rule.rule;
    if (rule.first != kOwn) {
      EXPECT_EQ(first.timestamp.micros, rule.first) << rule.rule;
    }
    if (rule.second != kOwn) {
      EXPECT_EQ(second.timestamp.micros, rule.second) << rule.rule;
    }
  }
}

TEST(EngineTimestampTest, AClientsDeletionCoversWhatIsOlder) {
  shard::Engine engine(WithShards(2));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  AddItem(engine, table, key, 1, "a", kNoonNanos, 0, {100});
  EXPECT_EQ(RemoveItem(engine, table, key, 1, kNoonNanos, {50}).rows, 0u);
  EXPECT_EQ(CountItems(engine, table, key, kNoonNanos), 1u);
  const Reply reply = RemoveItem(engine, table, key, 1, kNoonNanos, {150});
  EXPECT_EQ(reply.rows, 1u);
  EXPECT_EQ(reply.timestamp.micros, 150);
  AddItem(engine, table, key, 1, "b", kNoonNanos, 0, {120});
  EXPECT_EQ(CountItems(engine, table, key, kNoonNanos), 0u) << "older than the deletion";
  AddItem(engine, table, key, 1, "c", kNoonNanos, 0, {151});
  EXPECT_EQ(CountItems(engine, table, key, kNoonNanos), 1u);
}

// A client's timestamp far ahead must not carry the lane's own away from the clock.
TEST(EngineTimestampTest, AClientsLeavesTheLanesOwnAlone) {
  shard::Engine engine(WithShards(1));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  AddItem(engine, table, key, 1, "a", kNoonNanos, 0, {std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(AddItem(engine, table, key, 2, "b", kNoonNanos).timestamp.micros,
            static_cast<int64_t>(kNoonNanos / 1'000));
}

// --- Scans ---

TEST(EngineScanTest, TheOrderIsThatOfTokensOnAnyNumberOfShards) {
  const std::vector<std::string> keys = ListKeys(600);
  const std::vector<std::string> expected = InTokenOrder(keys);
  for (const uint32_t shards : kShardCounts) {
    for (const uint32_t lanes_log2 : {0u, 4u}) {
      shard::Engine engine(WithShards(shards, lanes_log2));
      const TableId table = engine.CreateTable(ListItemsSchema());
      for (const std::string& key : keys) AddItem(engine, table, key, 1, "v", kNoonNanos);
      for (const size_t limit : {1u, 2u, 7u, 600u, 10'000u}) {
        EXPECT_EQ(ScanAll(engine, table, kNoonNanos, limit), expected)
            << shards << " shards, pages of " << limit;
      }
    }
  }
}

TEST(EngineScanTest, OnlyPartitionsWithALiveRow) {
  shard::Engine engine(WithShards(2));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const TableId other = engine.CreateTable(ListItemsSchema());
  AddItem(engine, table, ListKey("f", "lives"), 1, "v", kNoonNanos);
  AddItem(engine, table, ListKey("f", "expires"), 1, "v", kNoonNanos, 10);
  AddItem(engine, table, ListKey("f", "emptied"), 1, "v", kNoonNanos);
  RemoveItem(engine, table, ListKey("f", "emptied"), 1, kNoonNanos);
  AddItem(engine, table, ListKey("f", "deleted"), 1, "v", kNoonNanos);
  RemoveList(engine, table, ListKey("f", "deleted"), kNoonNanos);
  AddItem(engine, other, ListKey("f", "elsewhere"), 1, "v", kNoonNanos);
  EXPECT_EQ(ScanAll(engine, table, kNoonNanos).size(), 2u);
  EXPECT_EQ(ScanAll(engine, table, kNoonNanos + 10 * kNanosPerSecond),
            std::vector<std::string>{ListKey("f", "lives")});
}

TEST(EngineScanTest, OfOneFirstComponent) {
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::string feature = i % 3 == 0 ? "wanted" : "wanted too";
    const std::string key = ListKey(feature, std::to_string(i));
    AddItem(engine, table, key, 1, "v", kNoonNanos);
    if (i % 3 == 0) expected.push_back(key);
  }
  std::vector<std::string> scanned;
  shard::ScanPosition position;
  while (!position.done) {
    std::vector<std::string> page;
    engine.ScanPartitions(table, "wanted", 7, kNoonNanos, position, page);
    scanned.insert(scanned.end(), page.begin(), page.end());
  }
  EXPECT_EQ(scanned, InTokenOrder(expected));
}

TEST(EngineScanTest, NothingIsScannedFromNothing) {
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  EXPECT_TRUE(ScanAll(engine, table, kNoonNanos).empty());
  shard::ScanPosition position;
  std::vector<std::string> page = {"left over"};
  engine.ScanPartitions(table, std::nullopt, 0, kNoonNanos, position, page);
  EXPECT_TRUE(page.empty());
  EXPECT_FALSE(position.done) << "nothing was looked at";
}

// Partitions that are there all the time are seen once, whatever comes and goes between the pages.
TEST(EngineScanTest, WhatStaysIsSeenOnceWhileOthersComeAndGo) {
  Random rng(TestSeed());
  for (const uint32_t shards : kShardCounts) {
    shard::Engine engine(WithShards(shards));
    const TableId table = engine.CreateTable(ListItemsSchema());
    std::vector<std::string> staying;
    std::vector<std::string> passing;
    for (int i = 0; i < 300; ++i) {
      staying.push_back(ListKey("stays", std::to_string(i)));
      passing.push_back(ListKey("passes", std::to_string(i)));
      AddItem(engine, table, staying.back(), 1, "v", kNoonNanos);
    }
    const std::set<std::string> stays(staying.begin(), staying.end());
    std::vector<std::string> seen;
    std::vector<std::string> all_seen;
    shard::ScanPosition position;
    while (!position.done) {
      std::vector<std::string> page;
      engine.ScanPartitions(table, std::nullopt, 1 + rng.Below(4), kNoonNanos, position, page);
      for (const std::string& key : page) {
        all_seen.push_back(key);
        if (stays.contains(key)) seen.push_back(key);
      }
      for (int i = 0; i < 8; ++i) {
        const std::string& key = passing[rng.Below(passing.size())];
        if (rng.OneIn(2)) {
          AddItem(engine, table, key, 1, "v", kNoonNanos);
        } else {
          RemoveList(engine, table, key, kNoonNanos);
        }
      }
      // Where the scan stands may go as well.
      if (!page.empty() && !stays.contains(page.back()) && rng.OneIn(2)) {
        RemoveList(engine, table, page.back(), kNoonNanos);
      }
      engine.Reclaim(kNoonNanos, 50);
    }
    EXPECT_EQ(seen, InTokenOrder(staying)) << shards << " shards";
    EXPECT_EQ(all_seen, InTokenOrder(all_seen));
    EXPECT_EQ(std::set<std::string>(all_seen.begin(), all_seen.end()).size(), all_seen.size())
        << "no partition twice";
  }
}

// --- Groups ---

TEST(EngineGroupTest, TheRepliesAreThoseOfOneByOne) {
  for (const size_t size : {1u, 15u, 16u, 17u, 100u}) {
    Random rng(TestSeed() + size);
    shard::Engine grouped(WithShards(3));
    shard::Engine single(WithShards(3));
    const TableId table = grouped.CreateTable(ListItemsSchema());
    ASSERT_EQ(table, single.CreateTable(ListItemsSchema()));
    // Most of them unknown at first; a group meets the same one often.
    const std::vector<std::string> keys = ListKeys(10);
    for (int round = 0; round < 30; ++round) {
      ItemUpserts upserts(table);
      const PackedItemKey doomed = ItemNumber(1 + rng.Below(6));
      const ClusteringKeyView doomed_view = {std::string_view(doomed.data(), doomed.size()), true};
      std::vector<Command> commands;
      for (size_t i = 0; i < size; ++i) {
        const std::string& key = keys[rng.Below(keys.size())];
        upserts.Add(key, {{1 + rng.Below(6), std::to_string(i)}});
        switch (rng.Below(5)) {
          case 0:
            commands.push_back({table, key, CountCommand{}});
            break;
          case 1:
            commands.push_back({table, key, DeleteRowsCommand{{&doomed_view, 1}}});
            break;
          case 2:
            commands.push_back({table, key, DeletePartitionCommand{}});
            break;
          default:
            commands.push_back(upserts.commands().back());
            break;
        }
      }
      std::vector<Reply> replies(size);
      grouped.ExecuteGroup(commands, kNoonNanos, replies);
      for (size_t i = 0; i < size; ++i) {
        const Reply expected = single.Execute(commands[i], kNoonNanos);
        ASSERT_EQ(replies[i].status, expected.status);
        ASSERT_EQ(replies[i].rows, expected.rows) << "command " << i << " of " << size;
        ASSERT_EQ(replies[i].timestamp.micros, expected.timestamp.micros);
      }
    }
    EXPECT_EQ(Contents(grouped, table, kNoonNanos), Contents(single, table, kNoonNanos));
  }
}

TEST(EngineGroupTest, CommandsOfOnePartitionRunInOrder) {
  shard::Engine engine(WithShards(2));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string key = ListKey("f", "e");
  ItemUpserts upserts(table);
  std::vector<Command> commands;
  for (int i = 0; i < 50; ++i) {
    upserts.Add(key, {{static_cast<uint64_t>(i % 3), std::to_string(i)}});
    commands.push_back(upserts.commands().back());
    commands.push_back({table, key, CountCommand{}});
  }
  std::vector<Reply> replies(commands.size());
  engine.ExecuteGroup(commands, kNoonNanos, replies);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(replies[2 * i + 1].rows, std::min<size_t>(i + 1, 3));
  EXPECT_EQ(ReadItems(engine, table, key, kNoonNanos), (Items{{0, "48"}, {1, "49"}, {2, "47"}}));
}

// Lists that are not there, empty ones and long ones; runs as they lie and rows one by one.
TEST(EngineGroupTest, ReadsAreThoseOfCommands) {
  for (const size_t size : {0u, 1u, 15u, 16u, 17u, 100u}) {
    Random rng(TestSeed() + size);
    shard::Engine engine(WithShards(3));
    const TableId table = engine.CreateTable(ListItemsSchema());
    const std::vector<std::string> keys = ListKeys(20);
    for (size_t i = 0; i < keys.size() / 2; ++i) {
      for (uint64_t n = rng.Below(60); n > 0; --n) {
        AddItem(engine, table, keys[i], n, std::string(1 + rng.Below(2), 'v'), kNoonNanos,
                static_cast<int64_t>(60 * rng.Below(3)));
      }
    }
    const uint64_t now_nanos = kNoonNanos + 70 * kNanosPerSecond;
    for (const bool takes_runs : {false, true}) {
      ReadSpec spec;
      spec.limit = 1 + rng.Below(20);
      std::vector<CollectingSink> sinks(size, CollectingSink(true, true, takes_runs));
      GroupOfReads group;
      for (size_t i = 0; i < size; ++i) {
        group.reads.push_back({keys[rng.Below(keys.size())], &sinks[i]});
      }
      ASSERT_TRUE(engine.ReadGroup(table, spec, now_nanos, group));
      const std::vector<GroupOfReads::Read>& reads = group.reads;
      for (size_t i = 0; i < size; ++i) {
        CollectingSink expected(true, true, takes_runs);
        const Reply reply = engine.Execute(
            {table, reads[i].partition_key, ReadCommand{&spec, &expected}}, now_nanos);
        ASSERT_EQ(FirstDifference(expected.rows(), sinks[i].rows()), "") << i << " of " << size;
        ASSERT_EQ(reads[i].info.presence, reply.info.presence);
        ASSERT_EQ(reads[i].info.dead_rows, reply.info.dead_rows);
      }
    }
  }
}

TEST(EngineGroupTest, NothingIsAGroup) {
  shard::Engine engine(WithShards(2));
  engine.ExecuteGroup({}, kNoonNanos, {});
}

// --- Tables and statistics ---

TEST(EngineTableTest, TablesShareNothing) {
  shard::Engine engine(WithShards(2));
  constexpr uint16_t kTables = 40;  // lanes begin with room for fewer
  const std::vector<std::string> keys = ListKeys(20);
  for (uint16_t i = 0; i < kTables; ++i) {
    const TableId table = engine.CreateTable(ListItemsSchema());
    ASSERT_EQ(table.value, i) << "dense, in order";
    for (const std::string& key : keys) {
      AddItem(engine, table, key, i, std::to_string(i), kNoonNanos);
    }
  }
  engine.TruncateTable(TableId{7});
  for (uint16_t i = 0; i < kTables; ++i) {
    const Items expected = i == 7 ? Items{} : Items{{i, std::to_string(i)}};
    for (const std::string& key : keys) {
      ASSERT_EQ(ReadItems(engine, TableId{i}, key, kNoonNanos), expected) << "table " << i;
    }
  }
  engine.Verify();
}

TEST(EngineTableTest, TablesAreMadeWhileOthersAreRead) {
  shard::Engine engine(WithShards(2, 1));
  const TableId first = engine.CreateTable(ListItemsSchema());
  const std::vector<std::string> keys = ListKeys(40);
  for (const std::string& key : keys) AddItem(engine, first, key, 1, "v", kNoonNanos);
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> groups = 0;
  std::thread reader([&] {
    std::vector<Command> commands;
    for (const std::string& key : keys) commands.push_back({first, key, CountCommand{}});
    std::vector<Reply> replies(commands.size());
    const ReadSpec everything;
    GroupOfReads group{std::vector<GroupOfReads::Read>(keys.size())};
    while (!stop.load(std::memory_order_relaxed)) {
      engine.ExecuteGroup(commands, kNoonNanos, replies);
      for (const Reply& reply : replies) EXPECT_EQ(reply.rows, 1u);
      std::vector<CollectingSink> sinks(keys.size(), CollectingSink(true, true, true));
      for (size_t i = 0; i < keys.size(); ++i) group.reads[i] = {keys[i], &sinks[i]};
      EXPECT_TRUE(engine.ReadGroup(first, everything, kNoonNanos, group));
      for (const CollectingSink& sink : sinks) EXPECT_EQ(sink.rows().size(), 1u);
      groups.fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (uint16_t i = 1; i < 70; ++i) {
    const TableId table = engine.CreateTable(ListItemsSchema());
    EXPECT_EQ(table.value, i);
    AddItem(engine, table, keys[0], 2, "w", kNoonNanos);
    // Each array that grew is met by a reader.
    const uint64_t before = groups.load(std::memory_order_relaxed);
    while (groups.load(std::memory_order_relaxed) == before) std::this_thread::yield();
  }
  stop.store(true, std::memory_order_relaxed);
  reader.join();
  engine.Verify();
}

TEST(EngineStatsTest, AddUpOverLanesAndTables) {
  for (const uint32_t shards : kShardCounts) {
    shard::Engine engine(WithShards(shards));
    const TableId small = engine.CreateTable(ListItemsSchema());
    const TableId large = engine.CreateTable(ListItemsSchema());
    for (const std::string& key : ListKeys(200)) {
      AddItem(engine, small, key, 1, "v", kNoonNanos);
      AddItems(engine, large, key, {{1, "a"}, {2, "b"}, {3, std::string(100, 'c')}}, kNoonNanos);
    }
    EXPECT_EQ(engine.StatsOf(small).partitions, 200u);
    EXPECT_EQ(engine.StatsOf(small).rows, 200u);
    EXPECT_EQ(engine.StatsOf(large).partitions, 200u);
    EXPECT_EQ(engine.StatsOf(large).rows, 600u);
    EXPECT_GT(engine.StatsOf(large).live_bytes, engine.StatsOf(small).live_bytes + 200u * 100u);
    EXPECT_LE(engine.StatsOf(large).live_bytes, engine.StatsOf(large).held_bytes);
    EXPECT_EQ(engine.held_bytes(),
              engine.StatsOf(small).held_bytes + engine.StatsOf(large).held_bytes)
        << "what tables hold is what the engine holds";
    EXPECT_EQ(engine.refused_writes(), 0u);
  }
}

}  // namespace engine_test
}  // namespace liststore::testing
