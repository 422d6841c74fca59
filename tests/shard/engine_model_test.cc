// Engine against ReferenceEngine, reply by reply: single commands, groups and all-or-nothing
// batches with the lanes' own timestamps and clients', on 1 to 7 shards of 1 to 16 lanes, with
// scans, truncations, reclamation and a clock that jumps.
//
// LISTSTORE_STEPS steps in runs of 4,000, run i under seed LISTSTORE_SEED + i. A failure names its
// run; to replay only that: LISTSTORE_SEED=<seed of the run> LISTSTORE_STEPS=4000.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/reference/reference_engine.h"
#include "tests/shard/command_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_model_test {

constexpr uint64_t kStepsPerRun = 4'000;
#if defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr uint64_t kStepsShare = 10;  // one thread: there is nothing to race with
#else
constexpr uint64_t kStepsShare = 1;
#endif
// Nothing of it is touched that is not used; the worst case of a batch of long rows is large.
constexpr uint64_t kAmpleBytes = uint64_t{1} << 40;

// What a run draws besides its workload.
struct EngineShape {
  explicit EngineShape(uint64_t seed) : rng(seed ^ 0x5eed'0f'5a'9e5) {
    constexpr uint32_t kShards[] = {1, 2, 4, 7};
    options.shards = kShards[rng.Below(std::size(kShards))];
    options.lanes_per_shard_log2 = static_cast<uint32_t>(rng.Below(5));
    tables = static_cast<uint16_t>(rng.Between(1, 3));
  }

  Random rng;
  shard::EngineOptions options;
  uint16_t tables = 1;
};

struct Totals {
  uint64_t commands = 0;
  uint64_t rows_compared = 0;
  uint64_t batches = 0;
  uint64_t refused = 0;
};

class EngineModelRun {
 public:
  EngineModelRun(uint64_t seed, Totals& totals) : EngineModelRun(seed, EngineShape(seed), totals) {}

  void Run(uint64_t steps);

 private:
  EngineModelRun(uint64_t seed, EngineShape shape, Totals& totals)
      : workload_(seed, shape.tables),
        engine_(WithMemory(shape.options, workload_.plan())),
        reference_(engine_.router()),
        totals_(totals) {
    for (uint16_t i = 0; i < shape.tables; ++i) {
      const TableId id = engine_.CreateTable(workload_.schema());
      LS_CHECK(id == reference_.CreateTable(workload_.schema()), "tables are numbered alike");
    }
  }

  // Lanes hold pages of their own: little memory for a table is none for a hundred of them.
  static shard::EngineOptions WithMemory(shard::EngineOptions options, const WorkloadPlan& plan) {
    options.memory_limit_bytes = plan.memory_limit_bytes != 0
                                     ? plan.memory_limit_bytes * (4 + 4 * options.shards)
                                     : kAmpleBytes;
    return options;
  }

  Random& rng() { return workload_.rng(); }
  uint64_t now() const { return workload_.now_nanos(); }
  bool MemoryIsAmple() const { return workload_.plan().memory_limit_bytes == 0; }

  void Step();
  void One(std::unique_ptr<OwnedCommand> owned);
  void Group(TableOp first);
  void Batch();
  // The reply to a command that has run, and what the reference says to it.
  void CompareReply(const OwnedCommand& owned, const Reply& reply);
  void CompareTimestamp(WriteTimestamp actual, WriteTimestamp expected) const;
  void ComparePartition(TableId table, std::string_view partition_key);
  void CompareScan(TableId table);
  void CompareAll();
  void Truncate(bool by_component);
  void DrainAndCheckMemory();

  CommandWorkload workload_;
  shard::Engine engine_;
  ReferenceEngine reference_;
  Totals& totals_;
  uint64_t step_ = 0;
};

void EngineModelRun::Run(uint64_t steps) {
  const bool large = workload_.plan().large();
  for (; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) {
    Step();
    if (step_ % (large ? 500 : 100) == 0) engine_.Verify();
    if (step_ % (large ? 2'000 : 500) == 0 && !::testing::Test::HasFatalFailure()) CompareAll();
  }
  if (::testing::Test::HasFatalFailure()) return;
  engine_.Verify();
  CompareAll();
  if (!::testing::Test::HasFatalFailure()) DrainAndCheckMemory();
}

void EngineModelRun::Step() {
  if (rng().OneIn(3)) workload_.JumpInSecond();
  const TableOp op = workload_.base().NextOp(step_);
  switch (op) {
    case TableOp::kScan:
      return CompareScan(workload_.RandomTable());
    case TableOp::kTruncateAll:
    case TableOp::kTruncateFirst:
      return Truncate(op == TableOp::kTruncateFirst);
    case TableOp::kTick:
      return workload_.Tick();
    case TableOp::kReclaim: {
      constexpr size_t kBudgets[] = {1, 20, 500, 20'000};
      engine_.Reclaim(now(), workload_.base().Pick(kBudgets));
      return;
    }
    default:
      break;
  }
  if (rng().OneIn(12)) return Group(op);
  const bool batch = op == TableOp::kUpsertPledged || (op == TableOp::kUpsert && rng().OneIn(8));
  if (batch) return Batch();
  One(workload_.Make(op, step_));
}

// --- Commands ---

void EngineModelRun::CompareTimestamp(WriteTimestamp actual, WriteTimestamp expected) const {
  // A write that was tried again after making room took two.
  if (MemoryIsAmple()) {
    ASSERT_EQ(actual.micros, expected.micros);
  }
  ASSERT_GE(actual.micros, expected.micros);
}

void EngineModelRun::CompareReply(const OwnedCommand& owned, const Reply& reply) {
  const Command& command = owned.command;
  ++totals_.commands;
  WriteTimestamp timestamp = command.timestamp;
  if (IsWrite(command)) {
    if (timestamp.is_none()) {
      timestamp = reply.timestamp;
      CompareTimestamp(timestamp, reference_.NextTimestamp(command.partition_key, now()));
      reference_.NoteTimestamp(command.partition_key, timestamp);
    }
    ASSERT_EQ(reply.timestamp.micros, timestamp.micros);
  }
  if (reply.status == OpStatus::kOutOfMemory) {
    ASSERT_FALSE(MemoryIsAmple()) << "memory is ample in this run";
    ASSERT_TRUE(IsWrite(command));
    ++totals_.refused;
    return;
  }
  const Reply expected = reference_.Execute(command, now(), timestamp, owned.expected_sink.get());
  if (owned.sink != nullptr) {
    ASSERT_EQ(FirstDifference(owned.expected_sink->rows(), owned.sink->rows()), "");
    ASSERT_EQ(owned.sink->complaint(), "");
    totals_.rows_compared += reply.rows;
  }
  ASSERT_EQ(reply.rows, expected.rows) << TableOpName(owned.op);
}

void EngineModelRun::One(std::unique_ptr<OwnedCommand> owned) {
  const uint64_t refused = totals_.refused;
  CompareReply(*owned, engine_.Execute(owned->command, now()));
  if (::testing::Test::HasFatalFailure() || totals_.refused == refused) return;
  ComparePartition(owned->command.table, owned->command.partition_key);
}

void EngineModelRun::Group(TableOp first) {
  std::vector<std::unique_ptr<OwnedCommand>> owned;
  std::vector<Command> commands;
  const auto size = static_cast<size_t>(rng().Between(1, 50));
  for (TableOp op = first; IsCommand(op) && owned.size() < size;
       op = workload_.base().NextOp(step_)) {
    owned.push_back(workload_.Make(op, step_));
    commands.push_back(owned.back()->command);
  }
  std::vector<Reply> replies(commands.size());
  engine_.ExecuteGroup(commands, now(), replies);
  for (size_t i = 0; i < owned.size(); ++i) {
    CompareReply(*owned[i], replies[i]);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "command " << i << " of a group";
  }
}

void EngineModelRun::Batch() {
  std::vector<std::unique_ptr<OwnedCommand>> owned;
  std::vector<Command> upserts;
  for (int64_t i = rng().Between(1, 30); i > 0; --i) {
    owned.push_back(workload_.Make(rng().OneIn(8) ? TableOp::kUpsertMany : TableOp::kUpsert, step_,
                                   /*with_timestamps=*/false));
    upserts.push_back(owned.back()->command);
  }
  std::vector<Reply> replies(upserts.size());
  const uint64_t refused_before = engine_.refused_writes();
  const OpStatus status = engine_.ExecuteAllOrNothing(upserts, now(), replies);
  ++totals_.batches;
  if (status == OpStatus::kOutOfMemory) {
    ASSERT_FALSE(MemoryIsAmple()) << "memory is ample in this run";
    ASSERT_EQ(engine_.refused_writes(), refused_before + 1);
    ++totals_.refused;
    return CompareAll();
  }
  const WriteTimestamp expected = reference_.NextTimestamp(upserts, now());
  for (size_t i = 0; i < upserts.size(); ++i) {
    ASSERT_EQ(replies[i].status, OpStatus::kOk);
    CompareTimestamp(replies[i].timestamp, expected);
    ASSERT_EQ(replies[i].timestamp.micros, replies[0].timestamp.micros) << "one for all";
    reference_.Execute(upserts[i], now(), replies[i].timestamp);
  }
}

// --- Contents ---

void EngineModelRun::ComparePartition(TableId table, std::string_view partition_key) {
  for (const bool descending : {true, false}) {
    const auto owned = workload_.MakeReadAll(table, partition_key, descending, rng().OneIn(2));
    CompareReply(*owned, engine_.Execute(owned->command, now()));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void EngineModelRun::CompareScan(TableId table) {
  std::optional<std::string_view> first_component;
  if (workload_.schema().partition_key.size() > 1 && rng().OneIn(2)) {
    first_component = workload_.base().RandomFirstComponent();
  }
  constexpr size_t kLimits[] = {1, 3, 20, 1'000};
  std::vector<std::string> scanned;
  shard::ScanPosition position;
  while (!position.done) {
    const size_t limit = workload_.base().Pick(kLimits);
    std::vector<std::string> page;
    engine_.ScanPartitions(table, first_component, limit, now(), position, page);
    ASSERT_LE(page.size(), limit);
    ASSERT_TRUE(position.done || page.size() == limit) << "a page is full or the last";
    scanned.insert(scanned.end(), page.begin(), page.end());
  }
  ASSERT_EQ(scanned, reference_.LivePartitions(table, first_component, now()));
}

void EngineModelRun::CompareAll() {
  for (uint16_t i = 0; i < workload_.tables(); ++i) {
    for (const std::string& key : workload_.partition_keys()) {
      ComparePartition(TableId{i}, key);
      if (::testing::Test::HasFatalFailure()) return;
    }
    CompareScan(TableId{i});
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_GE(engine_.StatsOf(TableId{i}).rows, reference_.CountAll(TableId{i}, now()));
  }
  ASSERT_LE(engine_.held_bytes(), engine_.memory_limit_bytes());
  const std::optional<int64_t> earliest = reference_.EarliestExpiry(now());
  ASSERT_EQ(engine_.NextExpiry(now()), earliest);
  // For want of memory a partition may be looked at later than that.
  if (!MemoryIsAmple() || !earliest) return;
  const std::optional<int64_t> next = engine_.NextExpirySeconds();
  ASSERT_TRUE(next.has_value()) << "something expires at " << *earliest;
  ASSERT_LE(*next, *earliest);
}

void EngineModelRun::Truncate(bool by_component) {
  const TableId table = workload_.RandomTable();
  if (by_component) {
    const std::string_view component = workload_.base().RandomFirstComponent();
    engine_.TruncateFirstComponent(table, component);
    reference_.TruncateFirstComponent(table, component);
  } else {
    engine_.TruncateTable(table);
    reference_.TruncateTable(table);
  }
}

// Nothing is left of truncated tables once the work is done.
void EngineModelRun::DrainAndCheckMemory() {
  for (uint16_t i = 0; i < workload_.tables(); ++i) {
    engine_.TruncateTable(TableId{i});
    reference_.TruncateTable(TableId{i});
  }
  CompareAll();
  if (::testing::Test::HasFatalFailure()) return;
  constexpr int kTurnsMax = 1'000'000;
  int turns = 0;
  while (engine_.Reclaim(now(), 1'000) > 0) {
    ASSERT_LT(++turns, kTurnsMax) << "reclamation comes to an end";
  }
  engine_.Verify();
  for (uint16_t i = 0; i < workload_.tables(); ++i) {
    ASSERT_EQ(engine_.StatsOf(TableId{i}).partitions, 0u);
    ASSERT_EQ(engine_.StatsOf(TableId{i}).rows, 0u);
    ASSERT_EQ(engine_.StatsOf(TableId{i}).slabs_beyond_limit, 0u) << "the slack was enough";
  }
}

// --- The test ---

TEST(EngineModelTest, AgreesWithTheReference) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(200'000) / kStepsShare;
  Totals totals;
  for (uint64_t run = 0; run * kStepsPerRun < steps; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) +
                 " LISTSTORE_STEPS=" + std::to_string(kStepsPerRun));
    // A failed check ends the process: what ran must be known by then.
    std::printf("run seed=%" PRIu64 "\n", seed + run);
    std::fflush(stdout);
    EngineModelRun model(seed + run, totals);
    model.Run(std::min(kStepsPerRun, steps - run * kStepsPerRun));
    if (HasFatalFailure()) return;
  }
  std::printf("%" PRIu64 " commands, %" PRIu64 " rows compared, %" PRIu64 " batches, %" PRIu64
              " refused\n",
              totals.commands, totals.rows_compared, totals.batches, totals.refused);
}

}  // namespace engine_model_test
}  // namespace liststore::testing
