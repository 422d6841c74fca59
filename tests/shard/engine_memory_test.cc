// What an engine promises about truncation, reclamation, expiry and its memory limit.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_memory_test {

constexpr uint32_t kShardCounts[] = {1, 2, 3, 7};

shard::EngineOptions WithShards(uint32_t shards, uint32_t lanes_per_shard_log2 = 2) {
  shard::EngineOptions options;
  options.shards = shards;
  options.lanes_per_shard_log2 = lanes_per_shard_log2;
  return options;
}

uint64_t After(int64_t seconds) {
  return kNoonNanos + static_cast<uint64_t>(seconds) * kNanosPerSecond;
}

// Lists short and long, of two features.
void Fill(shard::Engine& engine, TableId table, int lists) {
  for (int i = 0; i < lists; ++i) {
    Items items;
    const uint64_t size = i % 20 == 0 ? 1'500 : 1 + static_cast<uint64_t>(i % 7);
    for (uint64_t number = 0; number < size; ++number) items[number] = std::string(20, 'v');
    const std::string feature = i % 2 == 0 ? "even" : "odd";
    ASSERT_EQ(
        AddItems(engine, table, ListKey(feature, std::to_string(i)), items, kNoonNanos).status,
        OpStatus::kOk);
  }
}

// --- Truncation ---

TEST(EngineTruncationTest, OfATableIsSeenAtOnceEverywhere) {
  for (const uint32_t shards : kShardCounts) {
    shard::Engine engine(WithShards(shards));
    const TableId table = engine.CreateTable(ListItemsSchema());
    const TableId other = engine.CreateTable(ListItemsSchema());
    Fill(engine, table, 200);
    Fill(engine, other, 10);
    const auto untouched = Contents(engine, other, kNoonNanos);
    const uint64_t held = engine.held_bytes();
    engine.TruncateTable(table);
    EXPECT_TRUE(ScanAll(engine, table, kNoonNanos).empty());
    EXPECT_EQ(CountItems(engine, table, ListKey("even", "0"), kNoonNanos), 0u);
    EXPECT_EQ(engine.held_bytes(), held) << "the memory comes back in slices";
    engine.Verify();
    EXPECT_EQ(Contents(engine, other, kNoonNanos), untouched);
  }
}

TEST(EngineTruncationTest, OfAFirstComponentLeavesTheOthers) {
  for (const uint32_t shards : kShardCounts) {
    shard::Engine engine(WithShards(shards));
    const TableId table = engine.CreateTable(ListItemsSchema());
    Fill(engine, table, 200);
    auto expected = Contents(engine, table, kNoonNanos);
    std::erase_if(expected,
                  [](const auto& list) { return list.first.find("even") != std::string::npos; });
    ASSERT_EQ(expected.size(), 100u);
    engine.TruncateFirstComponent(table, "even");
    EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
    ReclaimAll(engine, kNoonNanos);
    EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
    EXPECT_EQ(engine.StatsOf(table).partitions, 100u);
    engine.Verify();
  }
}

TEST(EngineTruncationTest, LaterWritesLiveAndBringNothingBack) {
  for (const bool by_component : {false, true}) {
    for (const bool reclaimed_before : {false, true}) {
      shard::Engine engine(WithShards(3));
      const TableId table = engine.CreateTable(ListItemsSchema());
      Fill(engine, table, 100);
      if (by_component) {
        engine.TruncateFirstComponent(table, "even");
        engine.TruncateFirstComponent(table, "odd");
      } else {
        engine.TruncateTable(table);
      }
      if (reclaimed_before) ReclaimAll(engine, kNoonNanos);
      std::map<std::string, Items> expected;
      for (int i = 0; i < 100; i += 3) {
        const std::string key = ListKey(i % 2 == 0 ? "even" : "odd", std::to_string(i));
        expected[key] = {{7, "new"}};
        AddItem(engine, table, key, 7, "new", kNoonNanos);
      }
      EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
      ReclaimAll(engine, kNoonNanos);
      EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
      EXPECT_EQ(engine.StatsOf(table).partitions, expected.size());
      engine.Verify();
    }
  }
}

// Truncations that come while the work of earlier ones is under way, in slices of any length.
TEST(EngineTruncationTest, ManyInSuccession) {
  Random rng(TestSeed());
  shard::Engine engine(WithShards(2));
  const TableId table = engine.CreateTable(ListItemsSchema());
  std::map<std::string, Items> expected;
  for (int step = 0; step < 3'000; ++step) {
    const std::string feature = "f" + std::to_string(rng.Below(3));
    const std::string key = ListKey(feature, std::to_string(rng.Below(60)));
    switch (rng.Below(40)) {
      case 0:
        engine.TruncateTable(table);
        expected.clear();
        break;
      case 1:
      case 2:
        engine.TruncateFirstComponent(table, feature);
        std::erase_if(expected, [&](const auto& list) {
          return list.first.starts_with(ListKey(feature, "").substr(0, 2 + feature.size()));
        });
        break;
      case 3:
      case 4:
      case 5:
        engine.Reclaim(kNoonNanos, 1 + rng.Below(40));
        break;
      default: {
        const uint64_t number = rng.Below(5);
        expected[key][number] = std::to_string(step);
        AddItem(engine, table, key, number, std::to_string(step), kNoonNanos);
        break;
      }
    }
    if (step % 100 == 0) {
      ASSERT_EQ(Contents(engine, table, kNoonNanos), expected) << "step " << step;
      engine.Verify();
    }
  }
  EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
}

// A table that was filled, truncated and reclaimed is as small as one that was never filled.
TEST(EngineTruncationTest, TheMemoryComesBack) {
  for (const bool by_component : {false, true}) {
    shard::Engine engine(WithShards(2));
    const TableId table = engine.CreateTable(ListItemsSchema());
    const uint64_t fresh_bytes = engine.StatsOf(table).live_bytes;
    Fill(engine, table, 2'000);
    const uint64_t full_bytes = engine.StatsOf(table).live_bytes;
    ASSERT_GT(full_bytes, 1'000'000u);
    if (by_component) {
      engine.TruncateFirstComponent(table, "even");
      engine.TruncateFirstComponent(table, "odd");
    } else {
      engine.TruncateTable(table);
    }
    ReclaimAll(engine, kNoonNanos);
    engine.Verify();
    const storage::TableStats stats = engine.StatsOf(table);
    std::printf("live bytes: fresh %" PRIu64 ", full %" PRIu64 ", reclaimed %" PRIu64
                "; held then %" PRIu64 "\n",
                fresh_bytes, full_bytes, stats.live_bytes, stats.held_bytes);
    EXPECT_EQ(stats.partitions, 0u);
    EXPECT_EQ(stats.rows, 0u);
    EXPECT_EQ(stats.live_bytes, fresh_bytes);
  }
}

// --- Reclamation and expiry ---

// Nor does an engine that was emptied stay at what its lanes had set aside for writes to come.
TEST(EngineTruncationTest, CreditComesBackToo) {
  for (const uint32_t shards : kShardCounts) {
    shard::Engine engine(WithShards(shards));
    const TableId table = engine.CreateTable(ListItemsSchema());
    Fill(engine, table, 2'000);
    engine.TruncateTable(table);
    ReclaimAll(engine, kNoonNanos);
    EXPECT_EQ(engine.StatsOf(table).live_bytes, 0u);
    EXPECT_EQ(engine.held_bytes(), 0u);
    engine.Verify();
    Fill(engine, table, 20);
    EXPECT_EQ(engine.StatsOf(table).partitions, 20u);
  }
}

TEST(EngineReclaimTest, NothingWaitsInAFreshEngine) {
  shard::Engine engine(WithShards(3));
  EXPECT_EQ(engine.Reclaim(kNoonNanos, 1'000), 0u);
  engine.CreateTable(ListItemsSchema());
  EXPECT_EQ(engine.Reclaim(kNoonNanos, 1'000), 0u);
  EXPECT_EQ(engine.Reclaim(kNoonNanos, 0), 0u);
}

TEST(EngineReclaimTest, NothingIsDueBeforeItExpires) {
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  for (int i = 0; i < 200; ++i) {
    AddItem(engine, table, ListKey("f", std::to_string(i)), 1, "v", kNoonNanos, 100 + i);
  }
  // Timers may be brought into a finer order on the way.
  ReclaimAll(engine, After(99));
  EXPECT_EQ(engine.StatsOf(table).rows, 200u);
  ReclaimAll(engine, After(100));
  EXPECT_EQ(engine.StatsOf(table).rows, 199u);
  EXPECT_EQ(engine.StatsOf(table).expired_rows, 1u);
  EXPECT_EQ(engine.Reclaim(After(100), 1'000'000), 0u);
  ReclaimAll(engine, After(10'000));
  EXPECT_EQ(engine.StatsOf(table).partitions, 0u);
  EXPECT_EQ(engine.StatsOf(table).expired_rows, 200u);
}

// A slice does about what it was asked for, and slices add up to all of it.
TEST(EngineReclaimTest, ABudgetBoundsASlice) {
  for (const size_t budget : {1u, 10u, 300u}) {
    shard::Engine engine(WithShards(3));
    const TableId table = engine.CreateTable(ListItemsSchema());
    constexpr int kLists = 1'000;
    for (int i = 0; i < kLists; ++i) {
      AddItem(engine, table, ListKey("f", std::to_string(i)), 1, "v", kNoonNanos, 5);
    }
    size_t slices = 0;
    // What is looked at in one go: an entry that is due with its rows, or the free granules of a
    // region of 2 MiB, 8 KiB of which are a unit.
    constexpr size_t kUnitsAtOnceMax = 256;
    for (size_t units; (units = engine.Reclaim(After(5), budget)) > 0; ++slices) {
      ASSERT_LE(units, budget + kUnitsAtOnceMax);
      ASSERT_LT(slices, 1'000'000u);
    }
    EXPECT_EQ(engine.StatsOf(table).rows, 0u);
    EXPECT_GE(slices * (budget + kUnitsAtOnceMax), static_cast<size_t>(kLists));
    engine.Verify();
  }
}

// A reader that stays in its lane until somebody else is about to want it, and a while longer.
class LingeringSink : public RowSink {
 public:
  void OnRows(std::span<const RowView> /*rows*/) override { Linger(); }
  void OnPackedRun(const PackedRun& /*run*/) override { Linger(); }
  bool AcceptsPackedRuns() const override { return true; }

  std::atomic<bool> held{false};
  std::atomic<bool> asked{false};

 private:
  void Linger() {
    held.store(true, std::memory_order_release);
    while (!asked.load(std::memory_order_acquire)) std::this_thread::yield();
    for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
  }
};

// "Nothing waits" is not said of a lane that nobody looked into.
TEST(EngineReclaimTest, WaitsForALaneThatIsTakenWhereNothingElseIsToBeDone) {
  shard::Engine engine(WithShards(1));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const std::string list = ListKey("f", "e");
  AddItem(engine, table, list, 1, "due", kNoonNanos, 5);
  AddItem(engine, table, list, 2, "stays", kNoonNanos);
  LingeringSink sink;
  std::thread reader([&] {
    const ReadSpec everything = {};
    const ReadCommand read = {&everything, &sink};
    EXPECT_EQ(engine.Execute({table, list, read}, After(5)).rows, 1u);
  });
  while (!sink.held.load(std::memory_order_acquire)) std::this_thread::yield();
  sink.asked.store(true, std::memory_order_release);
  EXPECT_GT(engine.Reclaim(After(5), 1'000), 0u);
  reader.join();
  ReclaimAll(engine, After(5));
  EXPECT_EQ(engine.StatsOf(table).expired_rows, 1u);
  EXPECT_EQ(engine.StatsOf(table).rows, 1u);
}

TEST(EngineReclaimTest, NextExpiryIsNoLaterThanTheFirstOne) {
  Random rng(TestSeed());
  shard::Engine engine(WithShards(3));
  const TableId table = engine.CreateTable(ListItemsSchema());
  const TableId other = engine.CreateTable(ListItemsSchema());
  EXPECT_EQ(engine.NextExpirySeconds(), std::nullopt);
  AddItem(engine, table, ListKey("f", "lasts"), 1, "v", kNoonNanos);
  EXPECT_EQ(engine.NextExpirySeconds(), std::nullopt);
  const auto noon = static_cast<int64_t>(kNoonNanos / kNanosPerSecond);
  int64_t earliest = INT64_MAX;
  for (int i = 0; i < 300; ++i) {
    const int64_t ttl = rng.Between(1, 1) << rng.Below(24);
    AddItem(engine, rng.OneIn(2) ? table : other, ListKey("f", std::to_string(rng.Below(50))),
            static_cast<uint64_t>(i), "v", kNoonNanos, ttl);
    earliest = std::min(earliest, noon + ttl);
    const std::optional<int64_t> next = engine.NextExpirySeconds();
    ASSERT_TRUE(next.has_value());
    ASSERT_LE(*next, earliest);
  }
  // Sleeping until it says so and reclaiming then gets to the end, and misses nothing on the way.
  int turns = 0;
  for (std::optional<int64_t> next; (next = engine.NextExpirySeconds()).has_value();) {
    ASSERT_LT(++turns, 100'000);
    const uint64_t then = static_cast<uint64_t>(*next) * kNanosPerSecond;
    ReclaimAll(engine, then);
    ASSERT_NE(engine.NextExpirySeconds(), next) << "what was due is done";
  }
  EXPECT_EQ(engine.StatsOf(table).rows, 1u);
  EXPECT_EQ(engine.StatsOf(other).rows, 0u);
}

// --- The memory limit ---

// Adds lists until one is refused.
std::map<std::string, Items> FillToTheLimit(shard::Engine& engine, TableId table,
                                            size_t value_bytes) {
  std::map<std::string, Items> added;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string key = ListKey("f", std::to_string(i % 4'000));
    const auto number = static_cast<uint64_t>(i);
    const std::string value(value_bytes, static_cast<char>('a' + i % 26));
    if (AddItem(engine, table, key, number, value, kNoonNanos).status != OpStatus::kOk) break;
    added[key][number] = value;
  }
  return added;
}

TEST(EngineLimitTest, ARefusedWriteLeavesNothingBehind) {
  for (const uint32_t shards : kShardCounts) {
    shard::EngineOptions options = WithShards(shards);
    options.memory_limit_bytes = uint64_t{4} << 20;
    shard::Engine engine(options);
    const TableId table = engine.CreateTable(ListItemsSchema());
    const auto expected = FillToTheLimit(engine, table, 200);
    EXPECT_EQ(engine.refused_writes(), 1u);
    EXPECT_LE(engine.held_bytes(), engine.memory_limit_bytes());
    EXPECT_GT(expected.size(), 1'000u) << "much went in before";
    EXPECT_EQ(Contents(engine, table, kNoonNanos), expected);
    engine.Verify();
    // Deletion works without memory and makes room.
    for (const auto& [key, items] : expected) {
      ASSERT_EQ(RemoveList(engine, table, key, kNoonNanos).rows, items.size());
    }
    EXPECT_EQ(AddItem(engine, table, ListKey("f", "0"), 1, "v", kNoonNanos).status, OpStatus::kOk);
    EXPECT_EQ(engine.refused_writes(), 1u);
  }
}

TEST(EngineLimitTest, ABatchThatDoesNotFitLeavesNothingOnAnyShard) {
  Random rng(TestSeed());
  for (const uint32_t shards : kShardCounts) {
    shard::EngineOptions options = WithShards(shards);
    options.memory_limit_bytes = uint64_t{2} << 20;
    shard::Engine engine(options);
    const TableId table = engine.CreateTable(ListItemsSchema());
    auto expected = FillToTheLimit(engine, table, 200);
    uint64_t refused = engine.refused_writes();
    uint64_t refused_batches = 0;
    for (int round = 0; round < 16; ++round) {
      ItemUpserts batch(table);
      std::map<std::string, Items> in_batch;
      // Known lists and new ones; the first commands alone would often fit.
      for (uint64_t i = 0; i < 30; ++i) {
        const std::string key = ListKey("f", std::to_string(rng.Below(8'000)));
        const std::string value(rng.OneIn(4) ? 10'000 : 100, 'z');
        batch.Add(key, {{1'000'000 + i, value}});
        in_batch[key][1'000'000 + i] = value;
      }
      std::vector<Reply> replies(batch.commands().size());
      const OpStatus status = engine.ExecuteAllOrNothing(batch.commands(), kNoonNanos, replies);
      if (status == OpStatus::kOk) {
        for (const auto& [key, items] : in_batch) {
          for (const auto& [number, value] : items) expected[key][number] = value;
        }
      } else {
        ++refused_batches;
        ++refused;
      }
      ASSERT_EQ(engine.refused_writes(), refused);
      ASSERT_LE(engine.held_bytes(), engine.memory_limit_bytes());
      if (round % 4 == 0) engine.Verify();
      ASSERT_EQ(Contents(engine, table, kNoonNanos), expected) << "round " << round;
      // Make room now and then, so that some fit.
      for (int i = 0; i < 20 && !expected.empty(); ++i) {
        RemoveList(engine, table, expected.begin()->first, kNoonNanos);
        expected.erase(expected.begin());
      }
    }
    EXPECT_GT(refused_batches, 0u) << shards << " shards";
  }
}

// What a batch sets aside for a list grows with all that it brings for this list, not with each
// alone.
TEST(EngineLimitTest, ABatchMayNameOneListOften) {
  Random rng(TestSeed());
  shard::EngineOptions options = WithShards(1, 0);
  options.memory_limit_bytes = uint64_t{4} << 20;
  shard::Engine engine(options);
  const TableId table = engine.CreateTable(ListItemsSchema());
  auto expected = FillToTheLimit(engine, table, 200);
  uint64_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    ItemUpserts batch(table);
    const std::string key = ListKey("often", std::to_string(rng.Below(20)));
    Items items;
    const size_t bytes = 1 + rng.Below(2'000);
    for (uint64_t i = 1 + rng.Below(60); i > 0; --i) {
      const auto number = static_cast<uint64_t>(round) * 1'000 + i;
      items[number] = std::string(rng.Below(bytes), 'z');
      batch.Add(key, {{number, items[number]}});
    }
    std::vector<Reply> replies(batch.commands().size());
    if (engine.ExecuteAllOrNothing(batch.commands(), kNoonNanos, replies) == OpStatus::kOk) {
      expected[key].insert(items.begin(), items.end());
    } else {
      ++refused;
      for (int i = 0; i < 100 && !expected.empty(); ++i) {
        RemoveList(engine, table, expected.begin()->first, kNoonNanos);
        expected.erase(expected.begin());
      }
    }
    ASSERT_LE(engine.held_bytes(), engine.memory_limit_bytes()) << "round " << round;
    ASSERT_EQ(ReadItems(engine, table, key, kNoonNanos), expected[key]) << "round " << round;
    if (expected[key].empty()) expected.erase(key);
  }
  EXPECT_GT(refused, 0u);
  engine.Verify();
}

// Memory that one lane set aside and does not use is another lane's for the asking.
TEST(EngineLimitTest, OneLaneMayHaveWhatOthersGaveBack) {
  shard::EngineOptions options = WithShards(4, 4);
  options.memory_limit_bytes = uint64_t{16} << 20;
  shard::Engine engine(options);
  const TableId table = engine.CreateTable(ListItemsSchema());
  const auto filled = FillToTheLimit(engine, table, 200);
  for (const auto& [key, items] : filled) RemoveList(engine, table, key, kNoonNanos);
  ReclaimAll(engine, kNoonNanos);
  const std::string key = ListKey("f", "one");
  uint64_t added = 0;
  const std::string value(10'000, 'v');
  while (AddItem(engine, table, key, added, value, kNoonNanos).status == OpStatus::kOk) ++added;
  EXPECT_GT(added * value.size(), options.memory_limit_bytes / 2) << "most of the limit";
  EXPECT_EQ(CountItems(engine, table, key, kNoonNanos), added);
  engine.Verify();
}

}  // namespace engine_memory_test
}  // namespace liststore::testing
