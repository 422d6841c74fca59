// Batches of upserts and deletions, rebuilt tables and scans of token ranges against
// ReferenceEngine. The reference has neither batches nor copies: a batch is its writes in the order
// that ExecuteBatch promises, and a copy must not be seen, whatever is written between its slices.
//
// LISTSTORE_STEPS steps in runs of 1,000, run i under seed LISTSTORE_SEED + i.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/reference/reference_engine.h"
#include "tests/shard/command_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_batch_model_test {

constexpr uint64_t kStepsPerRun = 1'000;
constexpr uint64_t kAmpleBytes = uint64_t{1} << 40;
constexpr uint16_t kTables = 2;

struct Totals {
  uint64_t batches = 0;
  uint64_t refused = 0;
  uint64_t rebuilt = 0;
  uint64_t meanwhile = 0;  // steps while one was
};

class BatchModelRun {
 public:
  BatchModelRun(uint64_t seed, Totals& totals)
      : workload_(seed, kTables),
        engine_(OptionsFor(seed, workload_.plan())),
        reference_(engine_.router()),
        totals_(totals) {
    for (uint16_t i = 0; i < kTables; ++i) {
      ids_.push_back(engine_.CreateTable(workload_.schema()));
      reference_.CreateTable(workload_.schema());
    }
  }

  void Run(uint64_t steps) {
    for (; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) {
      Step();
      if (step_ % 100 == 99) engine_.Verify();
      if (step_ % 250 == 249 && !::testing::Test::HasFatalFailure()) CompareAll();
    }
  }

 private:
  static shard::EngineOptions OptionsFor(uint64_t seed, const WorkloadPlan& plan) {
    constexpr uint32_t kShards[] = {1, 2, 5};
    shard::EngineOptions options;
    options.shards = kShards[seed % std::size(kShards)];
    options.lanes_per_shard_log2 = seed % 4;
    constexpr uint32_t kRowsPerHold[] = {1, 2, 7, 512};
    options.copied_rows_per_hold = kRowsPerHold[seed / 7 % std::size(kRowsPerHold)];
    options.memory_limit_bytes = plan.memory_limit_bytes != 0
                                     ? plan.memory_limit_bytes * (6 + 6 * options.shards)
                                     : kAmpleBytes;
    return options;
  }

  Random& rng() { return workload_.rng(); }
  uint64_t now() const { return workload_.now_nanos(); }
  bool MemoryIsAmple() const { return workload_.plan().memory_limit_bytes == 0; }

  void Step() {
    const TableOp op = workload_.base().NextOp(step_);
    if (op == TableOp::kTick) return workload_.Tick();
    if (op == TableOp::kReclaim) {
      engine_.Reclaim(now(), 500);
      return;
    }
    if (rng().OneIn(40)) return Rebuild();
    if (rng().OneIn(20)) return CompareTokenRange();
    Batch();
  }

  void Batch() {
    constexpr TableOp kOps[] = {TableOp::kUpsert,      TableOp::kUpsert,
                                TableOp::kUpsertMany,  TableOp::kDeleteRows,
                                TableOp::kDeleteRange, TableOp::kDeletePartition};
    std::vector<std::unique_ptr<OwnedCommand>> owned;
    std::vector<Command> writes;
    const bool with_timestamps = rng().OneIn(2);
    for (int64_t i = rng().Between(1, 12); i > 0; --i) {
      owned.push_back(workload_.Make(workload_.base().Pick(kOps), step_, with_timestamps));
      writes.push_back(owned.back()->command);
      writes.back().table = ids_[owned.back()->command.table.value];
    }
    std::vector<Reply> replies(writes.size());
    const OpStatus status = engine_.ExecuteBatch(writes, now(), replies);
    ++totals_.batches;
    if (status == OpStatus::kOutOfMemory) {
      ASSERT_FALSE(MemoryIsAmple()) << "memory is ample in this run";
      ++totals_.refused;
      return CompareAll();
    }
    ASSERT_EQ(status, OpStatus::kOk);
    const WriteTimestamp common = reference_.NextTimestamp(writes, now());
    const auto apply = [&](const Command& command) {
      return reference_.Execute(command, now(),
                                command.timestamp.is_none() ? common : command.timestamp);
    };
    for (size_t i = 0; i < owned.size(); ++i) {
      if (std::holds_alternative<UpsertCommand>(writes[i].body)) apply(owned[i]->command);
    }
    for (const auto& one : owned) {
      if (std::holds_alternative<UpsertCommand>(one->command.body)) ApplyNulls(*one, apply);
    }
    for (size_t i = 0; i < owned.size(); ++i) {
      ASSERT_EQ(replies[i].timestamp.micros,
                (writes[i].timestamp.is_none() ? common : writes[i].timestamp).micros);
      if (std::holds_alternative<UpsertCommand>(writes[i].body)) continue;
      ASSERT_EQ(replies[i].rows, apply(owned[i]->command).rows) << "command " << i;
    }
  }

  template <typename Apply>
  void ApplyNulls(const OwnedCommand& owned, Apply&& apply) {
    for (const RowUpdate& row : owned.batch.rows) {
      std::vector<CellUpdate> dead;
      std::ranges::copy_if(row.cells, std::back_inserter(dead),
                           [](const CellUpdate& cell) { return !cell.live && !cell.makes_way; });
      if (dead.empty()) continue;
      RowUpdate alone;
      alone.key = row.key;
      alone.marker = false;
      alone.of_static_row = row.of_static_row;
      alone.cells = dead;
      Command command = owned.command;
      command.body = UpsertCommand{std::span(&alone, 1)};
      apply(command);
    }
  }

  void Rebuild() {
    const auto i = static_cast<size_t>(rng().Below(kTables));
    const TableId before = ids_[i];
    shard::TableRebuild rebuild{before, workload_.schema(), ColumnMap::Same(workload_.schema())};
    // Others go on meanwhile, in most.
    const bool is_alone = rng().OneIn(4);
    const OpStatus status = engine_.RebuildTables({&rebuild, 1}, now(), [&] {
      if (is_alone || ::testing::Test::HasFatalFailure() || !rng().OneIn(3)) return;
      ++totals_.meanwhile;
      if (rng().OneIn(8)) return workload_.Tick();
      if (rng().OneIn(8)) return static_cast<void>(engine_.Reclaim(now(), 500));
      Batch();
    });
    if (::testing::Test::HasFatalFailure()) return;
    if (status == OpStatus::kOutOfMemory) {
      ASSERT_FALSE(MemoryIsAmple()) << "memory is ample in this run";
    } else {
      ASSERT_EQ(status, OpStatus::kOk);
      ids_[i] = rebuild.schema.id;
      ++totals_.rebuilt;
      ASSERT_EQ(engine_.DropTable(before), OpStatus::kTableGone);
    }
    engine_.Verify();
    CompareAll();
  }

  void CompareTokenRange() {
    const auto i = static_cast<uint16_t>(rng().Below(kTables));
    const std::vector<std::string> all = reference_.LivePartitions(TableId{i}, std::nullopt, now());
    Token first{static_cast<int64_t>(rng().Next())};
    Token last{static_cast<int64_t>(rng().Next())};
    if (!all.empty() && rng().OneIn(2)) first = TokenOf(workload_.base().Pick(all));
    if (!all.empty() && rng().OneIn(2)) last = TokenOf(workload_.base().Pick(all));
    std::vector<std::string> expected;
    for (const std::string& key : all) {
      if (TokenOf(key) >= first && TokenOf(key) <= last) expected.push_back(key);
    }
    std::vector<std::string> scanned;
    shard::ScanPosition position = engine_.PositionAt(first);
    std::vector<std::string> page;
    while (!position.done) {
      const auto limit = static_cast<size_t>(rng().Between(1, 4));
      ASSERT_EQ(engine_.ScanPartitions(ids_[i], std::nullopt, limit, now(), position, page, last),
                OpStatus::kOk);
      scanned.insert(scanned.end(), page.begin(), page.end());
      // As a client would go on that knows only the last key it has seen.
      if (!position.done && !page.empty()) position = engine_.PositionBehind(page.back());
    }
    ASSERT_EQ(scanned, expected);
  }

  void CompareAll() {
    for (uint16_t i = 0; i < kTables; ++i) {
      for (const std::string& key : workload_.partition_keys()) {
        const auto owned = workload_.MakeReadAll(TableId{i}, key, true, false);
        Command command = owned->command;
        command.table = ids_[i];
        engine_.Execute(command, now());
        reference_.Execute(owned->command, now(), {}, owned->expected_sink.get());
        ASSERT_EQ(FirstDifference(owned->expected_sink->rows(), owned->sink->rows()), "");
      }
    }
    ASSERT_LE(engine_.held_bytes(), engine_.memory_limit_bytes());
  }

  CommandWorkload workload_;
  shard::Engine engine_;
  ReferenceEngine reference_;
  Totals& totals_;
  std::vector<TableId> ids_;  // of the tables that the reference knows as 0 and 1
  uint64_t step_ = 0;
};

TEST(EngineBatchModelTest, AgreesWithTheReference) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(10'000);
  Totals totals;
  for (uint64_t run = 0; run * kStepsPerRun < steps; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) +
                 " LISTSTORE_STEPS=" + std::to_string(kStepsPerRun));
    std::printf("run seed=%" PRIu64 "\n", seed + run);
    BatchModelRun(seed + run, totals).Run(std::min(kStepsPerRun, steps - run * kStepsPerRun));
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("batches=%" PRIu64 " refused=%" PRIu64 " rebuilt=%" PRIu64 " meanwhile=%" PRIu64 "\n",
              totals.batches, totals.refused, totals.rebuilt, totals.meanwhile);
  EXPECT_GT(totals.meanwhile, 0u);
}

}  // namespace engine_batch_model_test
}  // namespace liststore::testing
