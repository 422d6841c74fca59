// A snapshot of everything, taken while others write, and the logs behind it: what comes of them in another
// engine is what there was, to the write.
//
// LISTSTORE_STEPS steps in runs of 1,000, run i under seed LISTSTORE_SEED + i.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "engine/durable/full_snapshot.h"
#include "engine/model/token.h"
#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/shard/logged_run.h"
#include "tests/storage/table_workload.h"
#include "tests/support/memory_log.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace full_snapshot_test {

constexpr uint64_t kStepsPerRun = 1'000;

struct Totals {
  LoggedTotals logged;
  uint64_t rows = 0;
  uint64_t slices = 0;
};

durable::SnapshotContent ContentOf(LoggedRun& run) {
  durable::SnapshotContent content{"definitions of any kind", {}};
  for (uint16_t i = 0; i < run.workload().tables(); ++i) {
    content.tables.push_back({TableId{i}, "keyspace", "table" + std::to_string(i)});
  }
  return content;
}

absl::Status KeepNothing(std::span<const uint64_t>) { return absl::OkStatus(); }

absl::StatusOr<durable::LoadedSnapshot> LoadInto(LoggedRun& run, shard::Engine& other,
                                                 const std::string& path, uint16_t first_table,
                                                 shard::RecordedTables& tables) {
  return durable::LoadSnapshot(
      disk::KernelFileCalls(), path, other,
      [&](const durable::SnapshotContent& content) -> absl::StatusOr<shard::RecordedTables> {
        EXPECT_EQ(content.definitions, "definitions of any kind");
        EXPECT_EQ(content.tables.size(), run.workload().tables());
        EXPECT_EQ(content.tables[0].name, "table0");
        tables = run.MakeTables(other, first_table);
        return tables;
      },
      /*threads=*/2);
}

void RunOnce(uint64_t seed, uint64_t steps, Totals& totals) {
  TempFolder folder;
  const std::string path = folder / "snapshot-1.snapshot";
  LoggedRun run(seed, totals.logged);
  const auto fails = [] { return ::testing::Test::HasFatalFailure(); };
  for (uint64_t i = 0; i < steps / 2 && !fails(); ++i) run.Step();
  const auto written = durable::WriteSnapshot(
      disk::KernelFileCalls(), path, run.engine(), run.workload().now_nanos(),
      [&] {
        for (int i = 0; i < 5 && !fails(); ++i) run.Step();
        return ContentOf(run);
      },
      KeepNothing,
      [&] {
        ++totals.slices;
        for (int i = 0; i < 20 && !fails(); ++i) run.Step();
      },
      seed % 2 == 0 ? SnapshotCompression::kZstd : SnapshotCompression::kNone);
  ASSERT_TRUE(written.ok()) << written.status();
  totals.rows += written->rows;
  for (uint64_t i = 0; i < steps / 2 && !fails(); ++i) run.Step();
  for (const auto first_table : {uint16_t{1}, uint16_t{0}}) {
    if (fails()) return;
    shard::Engine other(LoggedRun::ShapeOf(seed + first_table));
    shard::RecordedTables tables;
    const auto loaded = LoadInto(run, other, path, first_table, tables);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    ASSERT_EQ(loaded->positions, written->positions);
    ASSERT_EQ(loaded->rows, written->rows);
    ASSERT_EQ(loaded->partitions, written->partitions);
    ASSERT_EQ(loaded->bytes, written->bytes);
    ASSERT_EQ(loaded->run, 1u);
    run.ReplayInto(other, tables, loaded->positions, &loaded->copied);
    if (!fails()) run.Compare(other, first_table);
    if (!fails() && first_table == 0 && run.MemoryIsAmple()) run.GoOn(other);
  }
}

TEST(FullSnapshotTest, WithTheLogsBehindItNothingIsMissingAndNothingComesTwice) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(50'000);
  Totals totals;
  for (uint64_t done = 0; done < steps; done += kStepsPerRun) {
    const uint64_t run_seed = seed + done / kStepsPerRun;
    SCOPED_TRACE("seed of the run: " + std::to_string(run_seed));
    RunOnce(run_seed, std::min(kStepsPerRun, steps - done), totals);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("%" PRIu64 " rows in snapshots, %" PRIu64 " slices, %" PRIu64 " rows compared\n",
              totals.rows, totals.slices, totals.logged.rows_compared);
}

// It goes over what was copied before it, in whatever log, and not over what came behind it.
TEST(FullSnapshotTest, ATruncationBetweenTwoPieces) {
  TempFolder folder;
  const std::string path = folder / "snapshot-1.snapshot";
  std::deque<MemoryLog> logs(2);
  shard::Engine engine({.shards = 2, .lanes_per_shard_log2 = 0});
  const TableId table = engine.CreateTable(ListItemsSchema());
  engine.SetWriteLogs(std::vector<commitlog::WriteLog*>{&logs[0], &logs[1]}, 1);
  const auto list_of = [&](uint32_t shard) {
    for (int i = 0;; ++i) {
      std::string key = ListKey("views", std::to_string(i));
      if (engine.router().ShardOf(TokenOf(key)).value == shard) return key;
    }
  };
  AddItem(engine, table, list_of(0), 1, "before", kNoonNanos);
  AddItem(engine, table, list_of(1), 1, "before", kNoonNanos);
  bool first = true;
  const auto written = durable::WriteSnapshot(
      disk::KernelFileCalls(), path, engine, kNoonNanos,
      [&] {
        return durable::SnapshotContent{"", {{table, "lists", "items"}}};
      },
      KeepNothing,
      [&] {
        if (!std::exchange(first, false)) return;
        ASSERT_EQ(engine.TruncateTable(table), OpStatus::kOk);
        AddItem(engine, table, list_of(1), 2, "behind", kNoonNanos);
      });
  ASSERT_TRUE(written.ok()) << written.status();
  for (int i = 0; i < 20; ++i) {  // whichever log comes last
    shard::Engine other({.shards = 1, .lanes_per_shard_log2 = 0});
    shard::RecordedTables tables;
    const TableId there = other.CreateTable(ListItemsSchema());
    tables.Set(table, there);
    const auto loaded = durable::LoadSnapshot(
        disk::KernelFileCalls(), path, other,
        [&](const durable::SnapshotContent&) -> absl::StatusOr<shard::RecordedTables> {
          return tables;
        },
        1);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    std::vector<shard::ReplayedLog> replayed;
    for (uint32_t log = 0; log < 2; ++log) {
      replayed.push_back(logs[log].AsShard(log, loaded->positions[log]));
    }
    NoSchema sink;
    ASSERT_TRUE(shard::ReplayLogs(other, tables, replayed, sink, &loaded->copied).ok());
    ASSERT_TRUE(ReadItems(other, there, list_of(0), kNoonNanos).empty());
    ASSERT_EQ(ReadItems(other, there, list_of(1), kNoonNanos), (Items{{2, "behind"}}));
  }
}

// Writers that do not wait for it, and a truncation now and then.
TEST(FullSnapshotTest, WhileThreadsWrite) {
  constexpr int kWriters = 3;
  const uint64_t steps = TestSteps(50'000) / 10;
  TempFolder folder;
  const std::string path = folder / "snapshot-1.snapshot";
  std::deque<MemoryLog> logs(3);
  shard::Engine engine({.shards = 3, .lanes_per_shard_log2 = 2, .copied_rows_per_hold = 4});
  const TableId table = engine.CreateTable(ListItemsSchema());
  engine.SetWriteLogs(std::vector<commitlog::WriteLog*>{&logs[0], &logs[1], &logs[2]}, 1);
  std::atomic<uint64_t> written_by_all{0};
  std::atomic<int> writing{kWriters};
  // Until they have done so much, or have ended.
  const auto wait_for = [&](uint64_t writes) {
    while (written_by_all.load() < writes && writing.load() != 0) std::this_thread::yield();
  };
  const auto write = [&](uint64_t seed) {
    const absl::Cleanup end = [&] { --writing; };
    Random rng(seed);
    const auto list = [&] {
      return ListKey(rng.OneIn(3) ? "a" : "b", std::to_string(rng.Below(200)));
    };
    for (uint64_t i = 0; i < steps; ++i) {
      ++written_by_all;
      if (rng.OneIn(10)) {
        ItemUpserts batch(table);
        for (int64_t n = rng.Between(2, 6); n > 0; --n) {
          batch.Add(list(), {{rng.Below(50), std::to_string(i)}});
        }
        std::vector<Reply> replies(batch.commands().size());
        engine.ExecuteBatch(batch.commands(), kNoonNanos, replies);
      } else if (rng.OneIn(5)) {
        RemoveItem(engine, table, list(), rng.Below(50), kNoonNanos);
      } else if (rng.OneIn(20)) {
        RemoveList(engine, table, list(), kNoonNanos);
      } else if (rng.OneIn(500)) {
        engine.TruncateFirstComponent(table, "a");
      } else {
        AddItem(engine, table, list(), rng.Below(50), std::to_string(i), kNoonNanos);
      }
    }
  };
  std::vector<std::thread> writers;
  for (uint64_t i = 0; i < kWriters; ++i) writers.emplace_back(write, TestSeed() + i);
  wait_for(steps);
  const auto written = durable::WriteSnapshot(
      disk::KernelFileCalls(), path, engine, kNoonNanos,
      [&] {
        return durable::SnapshotContent{"", {{table, "lists", "items"}}};
      },
      KeepNothing, [&] { wait_for(written_by_all.load() + 20); });
  for (std::thread& writer : writers) writer.join();
  ASSERT_TRUE(written.ok()) << written.status();

  shard::Engine other({.shards = 2, .lanes_per_shard_log2 = 1});
  shard::RecordedTables tables;
  const TableId there = other.CreateTable(ListItemsSchema());
  const auto loaded = durable::LoadSnapshot(
      disk::KernelFileCalls(), path, other,
      [&](const durable::SnapshotContent&) -> absl::StatusOr<shard::RecordedTables> {
        tables.Set(table, there);
        return tables;
      },
      2);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::vector<shard::ReplayedLog> replayed;
  for (uint32_t i = 0; i < 3; ++i) replayed.push_back(logs[i].AsShard(i, loaded->positions[i]));
  NoSchema sink;
  const auto result = shard::ReplayLogs(other, tables, replayed, sink, &loaded->copied);
  ASSERT_TRUE(result.ok()) << result.status();
  std::printf("%" PRIu64 " records applied, %" PRIu64 " in the snapshot\n", result->writes,
              result->in_snapshot);
  EXPECT_EQ(Contents(engine, table, kNoonNanos), Contents(other, there, kNoonNanos));
}

class FullSnapshotDamageTest : public ::testing::TestWithParam<SnapshotCompression> {};

TEST_P(FullSnapshotDamageTest, EveryFlippedByteAndEveryCutIsTold) {
  TempFolder folder;
  const std::string path = folder / "whole.snapshot";
  LoggedTotals totals;
  LoggedRun run(7, totals);
  for (int i = 0; i < 60; ++i) run.Step();
  ASSERT_TRUE(durable::WriteSnapshot(
                  disk::KernelFileCalls(), path, run.engine(), run.workload().now_nanos(),
                  [&] { return ContentOf(run); }, KeepNothing, [] {}, GetParam())
                  .ok());
  ASSERT_TRUE(durable::CheckSnapshot(disk::KernelFileCalls(), path).ok());
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::string damaged = folder / "damaged.snapshot";
  const auto check = [&](std::string_view bytes) {
    std::ofstream(damaged, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return durable::CheckSnapshot(disk::KernelFileCalls(), damaged).status();
  };
  const size_t step = std::max<size_t>(whole.size() / 2'000, 1);
  for (size_t at = 0; at < whole.size(); at += at < 2'000 ? 1 : step) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    EXPECT_FALSE(check(bytes).ok()) << "byte " << at;
    EXPECT_FALSE(check(std::string_view(whole).substr(0, at)).ok()) << "cut at " << at;
  }
  EXPECT_FALSE(check(whole + "x").ok());
  EXPECT_TRUE(check(whole).ok());
}

INSTANTIATE_TEST_SUITE_P(Compression, FullSnapshotDamageTest,
                         ::testing::Values(SnapshotCompression::kNone, SnapshotCompression::kZstd));

}  // namespace full_snapshot_test
}  // namespace liststore::testing
