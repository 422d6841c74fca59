// A view that is filled while its base is written to: between the slices of the fill rows of the base
// come, change and go, and in the end the view is what one is that is filled at rest.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/cql/planner/view_plan.h"
#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/encode_value.h"
#include "engine/execute/view_follower.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"
#include "engine/shard/engine.h"
#include "engine/shard/run_schema_actions.h"
#include "tests/shard/named_tables.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace view_fill_test {

constexpr uint64_t kNowNanos = 1'700'000'000'000'000'000;
constexpr int kPartitions = 6, kRows = 12, kValues = 5;

std::string IntBytes(int64_t value) { return cql::EncodeInteger(value, CqlType::kInt); }

class FilledViews : public ::testing::Test {
 protected:
  static shard::EngineOptions OptionsFor(uint32_t rows_per_hold) {
    shard::EngineOptions options;
    options.lanes_per_shard_log2 = 2;
    options.filled_rows_per_hold = rows_per_hold;
    return options;
  }

  void Start(uint32_t rows_per_hold, uint64_t memory_limit_bytes = uint64_t{1} << 30) {
    shard::EngineOptions options = OptionsFor(rows_per_hold);
    options.memory_limit_bytes = memory_limit_bytes;
    engine_ = std::make_unique<shard::Engine>(options);
    Change(
        "CREATE KEYSPACE app WITH replication = {'class': 'NetworkTopologyStrategy', "
        "'replication_factor': 1}");
    Change("CREATE TABLE t (p int, c int, v int, w text, PRIMARY KEY (p, c))");
  }

  OpStatus Change(
      const std::string& text, absl::FunctionRef<void()> between_slices = [] {}) {
    const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
    EXPECT_TRUE(statement.ok()) << text;
    OpStatus status = OpStatus::kOk;
    engine_->catalog().Change([&](Schema& next) {
      const std::shared_ptr<const Schema> current = engine_->catalog().snapshot();
      const auto new_uuid = [&] { return engine_->catalog().NewUuid(); };
      cql::SchemaChangeContext context{new_uuid, "datacenter1", 0};
      const auto change = cql::ApplySchemaStatement(*statement, "app", context, next);
      EXPECT_TRUE(change.ok()) << text;
      if (!change.ok()) return false;
      status = shard::RunSchemaActions(*engine_, *current, change->actions, kNowNanos, next,
                                       execute::MakeViewFollower, between_slices);
      return status == OpStatus::kOk;
    });
    return status;
  }
  OpStatus CreateView(
      const std::string& name, absl::FunctionRef<void()> between_slices = [] {}) {
    return Change("CREATE MATERIALIZED VIEW " + name +
                      " AS SELECT * FROM t WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL "
                      "PRIMARY KEY (v, p, c)",
                  between_slices);
  }

  // As a statement does it that is planned now.
  OpStatus Write(int p, const CommandBody& body) {
    const auto schema = engine_->catalog().snapshot();
    const auto base = schema->FindTable(kAppKeyspace, "t");
    const auto plans = cql::PlanViews(*schema, base);
    EXPECT_TRUE(plans.ok());
    const std::string component = IntBytes(p);
    const std::string_view components[] = {component};
    std::string key;
    AppendPartitionKey(components, key);
    const Command command{base->storage.id, key, body, WriteTimestamp::None()};
    if (*plans == nullptr) return engine_->Execute(command, kNowNanos).status;
    execute::ViewFollower follower({*plans});
    return engine_
        ->ExecuteConditional({.looks = {}, .writes = {&command, 1}, .follower = &follower},
                             kNowNanos)
        .status;
  }
  std::string RowKey(int c) {
    const std::string component = IntBytes(c);
    const std::vector<std::string_view> components = {component};
    std::string key;
    AppendClusteringKey(TableNamed(*engine_, "t")->storage.clustering, components, key);
    return key;
  }
  OpStatus Put(int p, int c, int v, const std::string& w) {
    const std::string key = RowKey(c);
    const std::string value = IntBytes(v);
    const std::vector<CellUpdate> cells = {{.column = 0, .value = value},
                                           {.column = 1, .value = w}};
    RowUpdate row{.key = {key, false}, .cells = cells};
    return Write(p, UpsertCommand{{&row, 1}});
  }
  // One statement, or a batch of several: rows with and without markers, values, nulls and TTLs, deletions
  // of all kinds, at times under timestamps of clients.
  struct AnyWrite {
    std::string partition, key, value, text;
    std::vector<CellUpdate> cells;
    RowUpdate row;
    ClusteringKeyView key_view;
    Command command;
  };
  void FillAny(Random& rng, bool with_timestamps, AnyWrite& any) {
    const std::string component = IntBytes(static_cast<int>(rng.Below(kPartitions)));
    const std::string_view components[] = {component};
    AppendPartitionKey(components, any.partition);
    any.key = RowKey(static_cast<int>(rng.Below(kRows)));
    any.key_view = {any.key, false};
    any.value = IntBytes(static_cast<int>(rng.Below(kValues)));
    any.text = std::to_string(++written_);
    Command& command = any.command;
    command.table = TableNamed(*engine_, "t")->storage.id;
    command.partition_key = any.partition;
    command.timestamp = WriteTimestamp::None();
    if (with_timestamps && rng.Below(2) == 0) {
      command.timestamp.micros = static_cast<int64_t>(kNowNanos / 1000 + rng.Below(12)) - 6;
    }
    const ClusteringBound bound = ClusteringBound::At(any.key, false);
    switch (rng.Below(10)) {
      case 0:
        command.body = DeleteRowsCommand{{&any.key_view, 1}};
        return;
      case 1:
        command.body = DeleteRangeCommand{{bound, ClusteringBound::End()}};
        return;
      case 2:
        command.body = DeleteRangeCommand{{ClusteringBound::Begin(), bound}};
        return;
      case 3:
        command.body = DeletePartitionCommand{};
        return;
      default:
        break;
    }
    any.row.key = any.key_view;
    any.row.marker = rng.Below(2) == 0;
    if (rng.Below(4) == 0) {
      any.row.ttl_seconds = static_cast<int64_t>(1 + rng.Below(100));
      any.row.expiry_seconds =
          static_cast<int64_t>(kNowNanos / 1'000'000'000) + any.row.ttl_seconds;
    }
    if (rng.Below(4) != 0) {
      any.cells.push_back({.column = 0, .live = rng.Below(5) != 0, .value = any.value});
    }
    if (rng.Below(3) != 0) {
      any.cells.push_back({.column = 1, .live = rng.Below(5) != 0, .value = any.text});
    }
    for (CellUpdate& cell : any.cells) {
      if (!cell.live) cell.value = {};
    }
    any.row.marker |= any.cells.empty();
    any.row.cells = any.cells;
    command.body = UpsertCommand{{&any.row, 1}};
  }
  void WriteManyThings(Random& rng, bool with_timestamps) {
    const auto schema = engine_->catalog().snapshot();
    const auto plans = cql::PlanViews(*schema, schema->FindTable(kAppKeyspace, "t"));
    ASSERT_TRUE(plans.ok());
    std::deque<AnyWrite> writes(1 + rng.Below(2) * rng.Below(6));
    std::vector<Command> commands;
    for (AnyWrite& any : writes) {
      FillAny(rng, with_timestamps, any);
      commands.push_back(any.command);
    }
    execute::ViewFollower follower({*plans});
    const ConditionalReply reply = engine_->ExecuteConditional(
        {.looks = {}, .writes = commands, .follower = &follower}, kNowNanos);
    ASSERT_EQ(reply.status, OpStatus::kOk);
  }
  void WriteAnything(Random& rng) {
    const auto p = static_cast<int>(rng.Below(kPartitions));
    const auto c = static_cast<int>(rng.Below(kRows));
    OpStatus status = OpStatus::kOk;
    switch (rng.Below(8)) {
      case 0: {
        const std::string key = RowKey(c);
        const ClusteringKeyView view{key, false};
        status = Write(p, DeleteRowsCommand{{&view, 1}});
        break;
      }
      case 1: {
        const std::string from = RowKey(c);
        status = Write(
            p, DeleteRangeCommand{{ClusteringBound::At(from, false), ClusteringBound::End()}});
        break;
      }
      case 2:
        status = Write(p, DeletePartitionCommand{});
        break;
      default:
        status = Put(p, c, static_cast<int>(rng.Below(kValues)), std::to_string(++written_));
    }
    ASSERT_EQ(status, OpStatus::kOk);
  }
  std::string Stored(const std::string& table) {
    return StoredIn(*engine_, IdOf(*engine_, table), kNowNanos);
  }

  std::unique_ptr<shard::Engine> engine_;
  int written_ = 0;
};

TEST_F(FilledViews, AreWhatTheirBasesAreInTheEnd) {
  const uint64_t seed = TestSeed();
  const uint64_t runs = TestSteps(60);
  uint64_t all_slices = 0;
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) + " LISTSTORE_STEPS=1");
    Random rng(seed + run);
    Start(static_cast<uint32_t>(rng.Between(1, 9)));
    for (int i = 0; i < 60; ++i) WriteAnything(rng);
    uint64_t slices = 0;
    ASSERT_EQ(CreateView("filled",
                         [&] {
                           ++slices;
                           EXPECT_EQ(TableNamed(*engine_, "filled"), nullptr)
                               << "nobody finds it before it is filled";
                           for (uint64_t i = rng.Below(4); i > 0; --i) WriteAnything(rng);
                         }),
              OpStatus::kOk);
    all_slices += slices;
    ASSERT_EQ(CreateView("at_rest"), OpStatus::kOk);
    ASSERT_EQ(Stored("filled"), Stored("at_rest"));
    for (int i = 0; i < 10; ++i) WriteAnything(rng);
    ASSERT_EQ(Stored("filled"), Stored("at_rest")) << "both are followed";
    engine_->Verify();
    if (HasFatalFailure()) return;
  }
  std::printf("slices=%" PRIu64 "\n", all_slices);
  EXPECT_GT(all_slices, 2 * runs);
}

// What will follow from writes is known before they are applied: it is what follows from what they have
// made of the table.
TEST_F(FilledViews, FollowWhateverIsWritten) {
  const uint64_t seed = TestSeed();
  const uint64_t runs = TestSteps(200);
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("replay with LISTSTORE_SEED=" + std::to_string(seed + run) + " LISTSTORE_STEPS=1");
    Random rng(seed + run);
    Start(64);
    ASSERT_EQ(CreateView("followed"), OpStatus::kOk);
    const bool with_timestamps = rng.Below(3) != 0;
    for (int i = 0; i < 40; ++i) {
      WriteManyThings(rng, with_timestamps);
      if (HasFatalFailure()) return;
    }
    ASSERT_EQ(CreateView("at_rest"), OpStatus::kOk);
    ASSERT_EQ(Stored("followed"), Stored("at_rest"));
    engine_->Verify();
  }
}

// A partition of many rows is gone through in slices, too.
TEST_F(FilledViews, TakeFewRowsAtATime) {
  Start(8);
  for (int c = 0; c < 2000; ++c) ASSERT_EQ(Put(1, c, c % kValues, "w"), OpStatus::kOk);
  int slices = 0;
  ASSERT_EQ(CreateView("filled", [&] { ++slices; }), OpStatus::kOk);
  EXPECT_GE(slices, 2000 / 8);
  EXPECT_EQ(engine_->StatsOf(IdOf(*engine_, "filled")).rows, 2000u);
}

TEST_F(FilledViews, WithoutMemoryThereIsNoneAndItsBaseIsWrittenAsBefore) {
  Start(8, 4 << 20);
  const std::string w(400, 'w');
  int rows = 0;
  while (engine_->held_bytes() < (5 << 19)) {
    ASSERT_EQ(Put(rows % kPartitions, rows, rows % kValues, w), OpStatus::kOk);
    ++rows;
  }
  int slices = 0;
  EXPECT_EQ(CreateView("filled", [&] { ++slices; }), OpStatus::kOutOfMemory);
  EXPECT_GT(slices, 0);
  EXPECT_EQ(TableNamed(*engine_, "filled"), nullptr);
  EXPECT_EQ(TableNamed(*engine_, "t")->view_under_way, nullptr);
  EXPECT_EQ(engine_->StatsOf(IdOf(*engine_, "t")).rows, static_cast<uint64_t>(rows));
  while (engine_->Reclaim(kNowNanos, 1000) != 0) {
  }
  EXPECT_EQ(Put(1, 1, 1, "short"), OpStatus::kOk);
  engine_->Verify();
}

// Whoever was told that the base is gone by its old id goes on with the schema that stands
// meanwhile, and does not wait for the fill.
TEST_F(FilledViews, DoNotKeepTheWritersOfTheirBases) {
  Start(8);
  for (int c = 0; c < 100; ++c) ASSERT_EQ(Put(c % kPartitions, c, 1, "w"), OpStatus::kOk);
  const TableId before = IdOf(*engine_, "t");
  int slices = 0;
  ASSERT_EQ(CreateView("filled",
                       [&] {
                         if (++slices > 1) return;
                         EXPECT_EQ(engine_->StatsOf(before).rows, 0u) << "that id is gone";
                         engine_->catalog().WaitForChange();
                         EXPECT_EQ(Put(1, 1000, 1, "meanwhile"), OpStatus::kOk);
                       }),
            OpStatus::kOk);
  EXPECT_EQ(engine_->StatsOf(IdOf(*engine_, "filled")).rows, 101u);
}

}  // namespace view_fill_test
}  // namespace liststore::testing
