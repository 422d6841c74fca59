// Random commands of all kinds over several tables, written down, and replayed into an engine of another
// shape: both say the same of everything that reads see, with timestamps and expiries; and into one of the
// same shape, which goes on to say the same whatever is written then.
//
// LISTSTORE_STEPS steps in runs of 1,000, run i under seed LISTSTORE_SEED + i.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/shard/engine.h"
#include "engine/shard/replay.h"
#include "gtest/gtest.h"
#include "tests/shard/command_workload.h"
#include "tests/support/memory_log.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace replay_model_test {

constexpr uint64_t kStepsPerRun = 1'000;
constexpr uint64_t kAmpleBytes = uint64_t{1} << 40;

struct Totals {
  uint64_t records = 0;
  uint64_t rows_compared = 0;
  uint64_t refused = 0;
  uint64_t truncations = 0;
  uint64_t batches = 0;
};

class NoSchema final : public shard::ReplaySink {
 public:
  absl::Status OnBarrier(std::string_view, shard::RecordedTables&) override {
    return absl::OkStatus();
  }
  absl::Status OnEvent(std::string_view) override { return absl::OkStatus(); }
};

class ReplayModelRun {
 public:
  ReplayModelRun(uint64_t seed, Totals& totals)
      : workload_(seed, static_cast<uint16_t>(1 + seed % 3)),
        engine_(ShapeOf(seed, workload_.plan().memory_limit_bytes)),
        totals_(totals) {
    for (uint16_t i = 0; i < workload_.tables(); ++i) engine_.CreateTable(workload_.schema());
    std::vector<commitlog::WriteLog*> logs;
    for (uint32_t i = 0; i < engine_.router().shards(); ++i) logs.push_back(&logs_.emplace_back());
    engine_.SetWriteLogs(logs, 1);
  }

  void Run(uint64_t seed, uint64_t steps) {
    for (; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) Step(engine_);
    if (::testing::Test::HasFatalFailure()) return;
    for (MemoryLog& log : logs_) totals_.records += log.records().size();
    {
      shard::Engine other(ShapeOf(seed + 1, 0));
      ReplayInto(other, /*unused_tables=*/1);
      if (::testing::Test::HasFatalFailure()) return;
      Compare(other, 1);
    }
    if (::testing::Test::HasFatalFailure()) return;
    shard::Engine same(ShapeOf(seed, 0));
    ReplayInto(same, 0);
    if (::testing::Test::HasFatalFailure()) return;
    Compare(same, 0);
    if (workload_.plan().memory_limit_bytes == 0) GoOn(same);
  }

 private:
  static shard::EngineOptions ShapeOf(uint64_t seed, uint64_t memory_limit_bytes) {
    constexpr uint32_t kShards[] = {1, 2, 5, 3};
    shard::EngineOptions options;
    options.shards = kShards[seed % std::size(kShards)];
    options.lanes_per_shard_log2 = static_cast<uint32_t>(seed / 4 % 4);
    options.memory_limit_bytes =
        memory_limit_bytes != 0 ? memory_limit_bytes * (6 + 6 * options.shards) : kAmpleBytes;
    return options;
  }

  Random& rng() { return workload_.rng(); }
  uint64_t now() const { return workload_.now_nanos(); }

  void Step(shard::Engine& engine) {
    if (rng().OneIn(3)) workload_.JumpInSecond();
    const TableOp op = workload_.base().NextOp(step_);
    switch (op) {
      case TableOp::kTick:
        return workload_.Tick();
      case TableOp::kReclaim:
        engine.Reclaim(now(), 500);
        return;
      case TableOp::kTruncateAll:
      case TableOp::kTruncateFirst:
        return Truncate(engine, op == TableOp::kTruncateFirst);
      case TableOp::kScan:
        return;
      default:
        break;
    }
    if (rng().OneIn(4)) return Batch(engine, op);
    const auto owned = workload_.Make(op, step_);
    Command command = owned->command;
    PutOrForget(command);
    if (engine.Execute(command, now()).status == OpStatus::kOutOfMemory) ++totals_.refused;
  }

  // Some of the writes are others, which caches make.
  void PutOrForget(Command& command) {
    const auto* upsert = std::get_if<UpsertCommand>(&command.body);
    if (upsert == nullptr || std::ranges::any_of(upsert->rows, &RowUpdate::of_static_row)) return;
    if (rng().OneIn(10)) {
      const int64_t fresh = rng().OneIn(2) ? 0 : workload_.base().now_seconds() + 100;
      command.body = PutCommand{upsert->rows, fresh, {}};
    } else if (rng().OneIn(20)) {
      command.body = ForgetCommand{};
    }
  }

  void Truncate(shard::Engine& engine, bool by_component) {
    ++totals_.truncations;
    const TableId table = workload_.RandomTable();
    const OpStatus status =
        by_component ? engine.TruncateFirstComponent(table, workload_.base().RandomFirstComponent())
                     : engine.TruncateTable(table);
    ASSERT_EQ(status, OpStatus::kOk);
  }

  void Batch(shard::Engine& engine, TableOp first) {
    constexpr TableOp kOps[] = {TableOp::kUpsert, TableOp::kUpsertMany, TableOp::kDeleteRows,
                                TableOp::kDeleteRange, TableOp::kDeletePartition};
    const bool upserts_alone = first == TableOp::kUpsertPledged;
    const bool with_timestamps = !upserts_alone && rng().OneIn(2);
    std::vector<std::unique_ptr<OwnedCommand>> owned;
    std::vector<Command> writes;
    for (int64_t i = rng().Between(1, 8); i > 0; --i) {
      const TableOp op = upserts_alone ? TableOp::kUpsert : workload_.base().Pick(kOps);
      owned.push_back(workload_.Make(op, step_, with_timestamps));
      writes.push_back(owned.back()->command);
    }
    std::vector<Reply> replies(writes.size());
    const OpStatus status = upserts_alone ? engine.ExecuteAllOrNothing(writes, now(), replies)
                                          : engine.ExecuteBatch(writes, now(), replies);
    ++totals_.batches;
    if (status == OpStatus::kOutOfMemory) ++totals_.refused;
  }

  void ReplayInto(shard::Engine& other, uint16_t unused_tables) {
    shard::RecordedTables tables;
    for (uint16_t i = 0; i < unused_tables; ++i) other.CreateTable(workload_.schema());
    for (uint16_t i = 0; i < workload_.tables(); ++i) {
      tables.Set(TableId{i}, other.CreateTable(workload_.schema()));
    }
    std::vector<shard::ReplayedLog> logs;
    for (uint32_t i = 0; i < logs_.size(); ++i) logs.push_back(logs_[i].AsShard(i));
    NoSchema sink;
    const auto result = shard::ReplayLogs(other, tables, logs, sink);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->batches_cut, 0u);
    other.Verify();
  }

  std::vector<CollectedRow> Read(shard::Engine& engine, TableId table, std::string_view key) {
    const auto owned = workload_.MakeReadAll(table, key, true, false);
    owned->spec.with_static_row = true;
    EXPECT_EQ(engine.Execute(owned->command, now()).status, OpStatus::kOk);
    return owned->sink->rows();
  }

  void Compare(shard::Engine& other, uint16_t first_table) {
    for (uint16_t i = 0; i < workload_.tables(); ++i) {
      const TableId there{static_cast<uint16_t>(first_table + i)};
      for (const std::string& key : workload_.partition_keys()) {
        const auto expected = Read(engine_, TableId{i}, key);
        totals_.rows_compared += expected.size();
        ASSERT_EQ(FirstDifference(expected, Read(other, there, key)), "") << "table " << i;
      }
      std::vector<std::string> keys;
      std::vector<std::string> keys_there;
      shard::ScanPosition position;
      engine_.ScanPartitions(TableId{i}, std::nullopt, SIZE_MAX, now(), position, keys);
      shard::ScanPosition position_there;
      other.ScanPartitions(there, std::nullopt, SIZE_MAX, now(), position_there, keys_there);
      ASSERT_EQ(keys, keys_there);
    }
    ASSERT_EQ(engine_.NextExpiry(now()), other.NextExpiry(now()));
  }

  // The same commands to both.
  void GoOn(shard::Engine& same) {
    workload_.base().SetTime(workload_.base().now_seconds() + 1);
    for (int i = 0; i < 200 && !::testing::Test::HasFatalFailure(); ++i, ++step_) {
      const TableOp op = workload_.base().NextOp(step_);
      if (op == TableOp::kTick) {
        workload_.Tick();
        continue;
      }
      if (!IsCommand(op) || op == TableOp::kRead || op == TableOp::kReadByValue) continue;
      const auto owned = workload_.Make(op, step_);
      const Reply reply = engine_.Execute(owned->command, now());
      const Reply reply_there = same.Execute(owned->command, now());
      ASSERT_EQ(reply.rows, reply_there.rows) << TableOpName(op);
    }
    if (!::testing::Test::HasFatalFailure()) Compare(same, 0);
  }

  CommandWorkload workload_;
  std::deque<MemoryLog> logs_;  // outlive the engine
  shard::Engine engine_;
  Totals& totals_;
  uint64_t step_ = 0;
};

TEST(ReplayModelTest, WhatWasWrittenDownComesAgain) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(100'000);
  Totals totals;
  for (uint64_t done = 0; done < steps; done += kStepsPerRun) {
    const uint64_t run_seed = seed + done / kStepsPerRun;
    SCOPED_TRACE("seed of the run: " + std::to_string(run_seed));
    ReplayModelRun(run_seed, totals).Run(run_seed, std::min(kStepsPerRun, steps - done));
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("%" PRIu64 " records, %" PRIu64 " rows compared, %" PRIu64 " batches, %" PRIu64
              " truncations, %" PRIu64 " refused\n",
              totals.records, totals.rows_compared, totals.batches, totals.truncations,
              totals.refused);
}

}  // namespace replay_model_test
}  // namespace liststore::testing
