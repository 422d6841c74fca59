// Deletions of many rows that a view has: what is left for the statement itself, which holds all lanes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cql/planner/view_plan.h"
#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/encode_value.h"
#include "engine/execute/view_deletions.h"
#include "engine/execute/view_follower.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"
#include "engine/shard/run_schema_actions.h"
#include "tests/shard/named_tables.h"

namespace liststore::testing {
namespace view_deletions_test {

constexpr uint64_t kNowNanos = 1'700'000'000'000'000'000;
constexpr int64_t kNowMicros = kNowNanos / 1000;

// Counts what it is shown.
class CountingFollower final : public RowFollower {
 public:
  explicit CountingFollower(std::vector<std::shared_ptr<const cql::ViewPlans>> plans)
      : views_(std::move(plans)) {}

  bool Follows(TableId table) const override { return views_.Follows(table); }
  std::span<const TableId> Derived() const override { return views_.Derived(); }
  void OnAttempt() override { views_.OnAttempt(); }
  void OnRowBefore(TableId table, std::string_view key, const RowView& row) override {
    ++rows_seen;
    views_.OnRowBefore(table, key, row);
  }
  void OnRowAfter(TableId table, std::string_view key, const RowView& row) override {
    views_.OnRowAfter(table, key, row);
  }
  std::span<const DerivedRow> Changes() override { return views_.Changes(); }
  uint64_t BytesTakenOut() const override { return views_.BytesTakenOut(); }

  int rows_seen = 0;

 private:
  execute::ViewFollower views_;
};

class LongDeletions : public ::testing::Test {
 protected:
  LongDeletions() {
    Change(
        "CREATE KEYSPACE app WITH replication = {'class': 'NetworkTopologyStrategy', "
        "'replication_factor': 1}");
    Change("CREATE TABLE t (p int, c int, v int, w text, PRIMARY KEY (p, c))");
    Change(
        "CREATE MATERIALIZED VIEW by_v AS SELECT * FROM t WHERE v IS NOT NULL AND p IS NOT NULL "
        "AND "
        "c IS NOT NULL PRIMARY KEY (v, p, c)");
    const auto schema = engine_.catalog().snapshot();
    base_ = schema->FindTable(kAppKeyspace, "t");
    const auto plans = cql::PlanViews(*schema, base_);
    EXPECT_TRUE(plans.ok());
    plans_ = {*plans};
    const std::string one = Int(1);
    const std::string_view components[] = {one};
    AppendPartitionKey(components, partition_);
  }

  void Change(const std::string& text) {
    const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
    ASSERT_TRUE(statement.ok()) << text;
    engine_.catalog().Change([&](Schema& next) {
      const std::shared_ptr<const Schema> current = engine_.catalog().snapshot();
      const auto new_uuid = [&] { return engine_.catalog().NewUuid(); };
      cql::SchemaChangeContext context{new_uuid, "datacenter1", 0};
      const auto change = cql::ApplySchemaStatement(*statement, "app", context, next);
      EXPECT_TRUE(change.ok()) << text;
      return change.ok() &&
             shard::RunSchemaActions(engine_, *current, change->actions, kNowNanos, next,
                                     execute::MakeViewFollower) == OpStatus::kOk;
    });
  }
  static std::string Int(int value) { return cql::EncodeInteger(value, CqlType::kInt); }

  OpStatus Write(const Command& command, RowFollower& follower) {
    return engine_
        .ExecuteConditional({.looks = {}, .writes = {&command, 1}, .follower = &follower},
                            kNowNanos)
        .status;
  }
  void Put(int c, int64_t micros) {
    const std::string component = Int(c);
    const std::vector<std::string_view> components = {component};
    std::string key;
    AppendClusteringKey(base_->storage.clustering, components, key);
    const std::string value = Int(c % 10);
    const std::vector<CellUpdate> cells = {{.column = 0, .value = value}};
    const RowUpdate row{.key = {key, false}, .cells = cells};
    execute::ViewFollower follower(plans_);
    ASSERT_EQ(
        Write({base_->storage.id, partition_, UpsertCommand{{&row, 1}}, WriteTimestamp{micros}},
              follower),
        OpStatus::kOk);
  }
  uint64_t RowsIn(const std::string& table) { return engine_.StatsOf(IdOf(engine_, table)).rows; }
  // Deletes the partition, what is beforehand and the rest; how many rows the rest looked at.
  int DeletePartition(int64_t micros) {
    const Command command{base_->storage.id, partition_, DeletePartitionCommand{},
                          WriteTimestamp{micros}};
    execute::ViewDeletions deletions(engine_, {&command, 1}, plans_, kNowNanos);
    EXPECT_TRUE(deletions.AreLong());
    int steps = 0;
    EXPECT_EQ(deletions.DeleteBeforehand([&] { return ++steps > 0; }), OpStatus::kOk);
    EXPECT_GT(steps, 1000 / static_cast<int>(execute::ViewDeletions::kRowsPerStep));
    CountingFollower follower(plans_);
    EXPECT_EQ(Write(deletions.rest()[0], follower), OpStatus::kOk);
    return follower.rows_seen;
  }

  shard::Engine engine_{{.lanes_per_shard_log2 = 2}};
  std::shared_ptr<const TableDefinition> base_;
  std::vector<std::shared_ptr<const cql::ViewPlans>> plans_;
  std::string partition_;
};

TEST_F(LongDeletions, OfAPartitionLeaveNothingToLookAtWhereAllIsYounger) {
  for (int c = 0; c < 1000; ++c) Put(c, kNowMicros);
  EXPECT_EQ(DeletePartition(kNowMicros - 1), 0);
  EXPECT_EQ(RowsIn("t"), 1000u);
  EXPECT_EQ(RowsIn("by_v"), 1000u);
  engine_.Verify();
}

TEST_F(LongDeletions, OfAPartitionTakeWhatIsOlder) {
  for (int c = 0; c < 1000; ++c) Put(c, c % 7 == 0 ? kNowMicros + 5 : kNowMicros);
  EXPECT_EQ(DeletePartition(kNowMicros), 0);
  EXPECT_EQ(RowsIn("t"), 143u);
  EXPECT_EQ(RowsIn("by_v"), 143u);
  engine_.Verify();
  // What is older comes no more.
  Put(1, kNowMicros);
  Put(2, kNowMicros + 1);
  EXPECT_EQ(RowsIn("by_v"), 144u);
}

// Between the steps somebody lays a deletion over a part, and writes behind what has been passed.
TEST_F(LongDeletions, OfAPartitionAreWholeWhateverComesBetween) {
  for (int c = 0; c < 1000; ++c) Put(c, kNowMicros);
  const Command command{base_->storage.id, partition_, DeletePartitionCommand{},
                        WriteTimestamp{kNowMicros}};
  execute::ViewDeletions deletions(engine_, {&command, 1}, plans_, kNowNanos);
  int steps = 0;
  ASSERT_EQ(deletions.DeleteBeforehand([&] {
    ++steps;
    Put(steps, kNowMicros + 10);
    Put(1000 + steps, kNowMicros);
    return true;
  }),
            OpStatus::kOk);
  execute::ViewFollower follower(plans_);
  ASSERT_EQ(Write(deletions.rest()[0], follower), OpStatus::kOk);
  EXPECT_EQ(RowsIn("t"), static_cast<uint64_t>(steps));
  EXPECT_EQ(RowsIn("by_v"), static_cast<uint64_t>(steps));
  engine_.Verify();
}

}  // namespace view_deletions_test
}  // namespace liststore::testing
