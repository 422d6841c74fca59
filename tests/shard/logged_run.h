// LoggedRun: random commands of all kinds over several tables of an engine that keeps logs in memory, and what
// another engine has to say when they were replayed into it.
#ifndef LISTSTORE_TESTS_SHARD_LOGGED_RUN_H_
#define LISTSTORE_TESTS_SHARD_LOGGED_RUN_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shard/engine.h"
#include "engine/shard/replay.h"
#include "gtest/gtest.h"
#include "tests/shard/command_workload.h"
#include "tests/support/memory_log.h"

namespace liststore::testing {

struct LoggedTotals {
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

class LoggedRun {
 public:
  LoggedRun(uint64_t seed, LoggedTotals& totals)
      : workload_(seed, static_cast<uint16_t>(1 + seed % 3)),
        engine_(ShapeOf(seed, workload_.plan().memory_limit_bytes)),
        totals_(totals) {
    for (uint16_t i = 0; i < workload_.tables(); ++i) engine_.CreateTable(workload_.schema());
    std::vector<commitlog::WriteLog*> logs;
    for (uint32_t i = 0; i < engine_.router().shards(); ++i) logs.push_back(&logs_.emplace_back());
    engine_.SetWriteLogs(logs, 1);
  }

  CommandWorkload& workload() { return workload_; }
  shard::Engine& engine() { return engine_; }
  std::deque<MemoryLog>& logs() { return logs_; }
  bool MemoryIsAmple() const { return workload_.plan().memory_limit_bytes == 0; }

  // What a run of this seed has; with ample memory, whatever the plan says, by default.
  static shard::EngineOptions ShapeOf(uint64_t seed, uint64_t memory_limit_bytes = 0) {
    constexpr uint32_t kShards[] = {1, 2, 5, 3};
    shard::EngineOptions options;
    options.shards = kShards[seed % std::size(kShards)];
    options.lanes_per_shard_log2 = static_cast<uint32_t>(seed / 4 % 4);
    constexpr uint32_t kCopiedPerHold[] = {1, 2, 7, 512};
    options.copied_rows_per_hold = kCopiedPerHold[seed / 3 % std::size(kCopiedPerHold)];
    options.memory_limit_bytes =
        memory_limit_bytes != 0 ? memory_limit_bytes * (6 + 6 * options.shards) : uint64_t{1} << 40;
    return options;
  }

  // A command, a batch, a truncation, some time.
  void Step() {
    shard::Engine& engine = engine_;
    ++step_;
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

  // Makes the tables there, behind some that are others.
  shard::RecordedTables MakeTables(shard::Engine& other, uint16_t first_table) {
    shard::RecordedTables tables;
    for (uint16_t i = 0; i < first_table; ++i) other.CreateTable(workload_.schema());
    for (uint16_t i = 0; i < workload_.tables(); ++i) {
      tables.Set(TableId{i}, other.CreateTable(workload_.schema()));
    }
    return tables;
  }

  // All logs, from these positions on.
  void ReplayInto(shard::Engine& other, shard::RecordedTables tables,
                  std::span<const uint64_t> positions = {},
                  const shard::CopiedParts* copied = nullptr) {
    std::vector<shard::ReplayedLog> logs;
    for (uint32_t i = 0; i < logs_.size(); ++i) {
      logs.push_back(logs_[i].AsShard(i, positions.empty() ? 0 : positions[i]));
    }
    NoSchema sink;
    const auto result = shard::ReplayLogs(other, tables, logs, sink, copied);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->batches_cut, 0u);
    other.Verify();
  }

  // Both say the same now; tables there begin at `first_table`.
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

 private:
  Random& rng() { return workload_.rng(); }
  uint64_t now() const { return workload_.now_nanos(); }

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

  std::vector<CollectedRow> Read(shard::Engine& engine, TableId table, std::string_view key) {
    const auto owned = workload_.MakeReadAll(table, key, true, false);
    owned->spec.with_static_row = true;
    EXPECT_EQ(engine.Execute(owned->command, now()).status, OpStatus::kOk);
    return owned->sink->rows();
  }

  CommandWorkload workload_;
  std::deque<MemoryLog> logs_;  // outlive the engine
  shard::Engine engine_;
  LoggedTotals& totals_;
  uint64_t step_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SHARD_LOGGED_RUN_H_
