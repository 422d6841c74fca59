// What an engine promises about conditional writes: one step, one timestamp, all or nothing.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/shard/engine.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"

namespace liststore::testing {
namespace conditional_write_test {

// Holds when the rows looked at are those that are expected to live.
class Expect final : public RowConditions {
 public:
  explicit Expect(std::vector<bool> lives) : lives_(std::move(lives)) {}

  void OnAttempt() override {
    ++attempts_;
    seen_.assign(lives_.size(), false);
    values_.assign(lives_.size(), "");
  }
  void OnRow(size_t index, const RowView& row) override {
    EXPECT_FALSE(seen_.at(index)) << "each range has one row";
    seen_[index] = true;
    values_[index] = row.cells.empty() ? "" : std::string(row.cells[0].value);
  }
  bool Hold() override { return seen_ == lives_; }

  int attempts() const { return attempts_; }
  const std::vector<std::string>& values() const { return values_; }

 private:
  const std::vector<bool> lives_;
  std::vector<bool> seen_;
  std::vector<std::string> values_;
  int attempts_ = 0;
};

class ConditionalWriteTest : public ::testing::Test {
 protected:
  // Items 1 and 2 are looked at; where the conditions hold, `items` are added.
  ConditionalReply Write(Expect& conditions, const Items& items, uint64_t now_nanos,
                         shard::Engine& engine, TableId table) {
    ItemUpserts upserts(table);
    if (!items.empty()) upserts.Add(key_, items, now_nanos);
    std::vector<std::string> bounds;
    std::vector<ClusteringRange> ranges;
    for (const uint64_t number : {1, 2}) {
      char text[kItemKeyTextBytes];
      const PackedItemKey packed = ItemNumber(number);
      const std::string_view bytes(reinterpret_cast<const char*>(packed.data()), packed.size());
      bounds.emplace_back(PlainKey({bytes, true}, text));
      bounds.push_back(BoundAfterKey(bounds.back()));
    }
    for (size_t i = 0; i < bounds.size(); i += 2) {
      ranges.push_back(
          {ClusteringBound::At(bounds[i], true), ClusteringBound::At(bounds[i + 1], true)});
    }
    const RowLook look{
        .table = table, .partition_key = key_, .rows = ranges, .conditions = &conditions};
    return engine.ExecuteConditional({.looks = {&look, 1}, .writes = upserts.commands()},
                                     now_nanos);
  }

  const std::string key_ = ListKey("f", "e");
};

TEST_F(ConditionalWriteTest, WritesWhenTheRowsAreAsExpectedAndNotElse) {
  shard::Engine engine({.shards = 2});
  const TableId table = engine.CreateTable(ListItemsSchema());
  Expect none({false, false});
  EXPECT_TRUE(Write(none, {{1, "one"}}, kNoonNanos, engine, table).applied);
  EXPECT_FALSE(Write(none, {{2, "two"}}, kNoonNanos, engine, table).applied);
  EXPECT_EQ(none.values(), (std::vector<std::string>{"one", ""}));
  EXPECT_EQ(ReadItems(engine, table, key_, kNoonNanos), (Items{{1, "one"}}));
  Expect first({true, false});
  const ConditionalReply looked = Write(first, {}, kNoonNanos, engine, table);
  EXPECT_TRUE(looked.applied) << "without anything to write, too";
  EXPECT_EQ(looked.status, OpStatus::kOk);
  EXPECT_TRUE(Write(first, {{1, "new"}, {2, "two"}}, kNoonNanos, engine, table).applied);
  EXPECT_EQ(first.values()[0], "one") << "what was there before the write";
  EXPECT_EQ(ReadItems(engine, table, key_, kNoonNanos), (Items{{1, "new"}, {2, "two"}}));
  engine.Verify();
}

TEST_F(ConditionalWriteTest, IsStampedAboveTheLaneAndTheRowsItHasRead) {
  shard::Engine engine({.shards = 1});
  const TableId table = engine.CreateTable(ListItemsSchema());
  const WriteTimestamp before = AddItem(engine, table, key_, 1, "a", kNoonNanos).timestamp;
  Expect first({true, false});
  EXPECT_GT(Write(first, {{1, "b"}}, kNoonNanos, engine, table).timestamp, before);
  // A client whose clock is a day ahead.
  const WriteTimestamp ahead{static_cast<int64_t>(kNoonNanos / 1000) + 86'400'000'000};
  AddItem(engine, table, key_, 1, "c", kNoonNanos, 0, ahead);
  EXPECT_EQ(Write(first, {{1, "d"}}, kNoonNanos, engine, table).timestamp.micros, ahead.micros + 1);
  EXPECT_EQ(ReadItems(engine, table, key_, kNoonNanos), (Items{{1, "d"}}));
  EXPECT_LT(AddItem(engine, table, key_, 9, "x", kNoonNanos).timestamp, ahead)
      << "the lane stays with its clock";
  // Nothing is above the last timestamp; it does not wrap.
  const WriteTimestamp last{std::numeric_limits<int64_t>::max()};
  AddItem(engine, table, key_, 1, "e", kNoonNanos, 0, last);
  EXPECT_EQ(Write(first, {{1, "f"}}, kNoonNanos, engine, table).timestamp, last);
  engine.Verify();
}

TEST_F(ConditionalWriteTest, OfATableThatIsGoneSaysSo) {
  shard::Engine engine({.shards = 1});
  const TableId table = engine.CreateTable(ListItemsSchema());
  ASSERT_EQ(engine.DropTable(table), OpStatus::kOk);
  Expect none({false, false});
  EXPECT_EQ(Write(none, {{1, "a"}}, kNoonNanos, engine, table).status, OpStatus::kTableGone);
  EXPECT_EQ(Write(none, {}, kNoonNanos, engine, table).status, OpStatus::kTableGone);
  EXPECT_EQ(none.attempts(), 0) << "nothing was looked at";
}

TEST_F(ConditionalWriteTest, IsRefusedWholeWhenMemoryIsShort) {
  shard::Engine engine({.shards = 1, .memory_limit_bytes = 8 << 20});
  const TableId table = engine.CreateTable(ListItemsSchema());
  Expect none({false, false});
  const std::string large(6 << 20, 'x');
  ConditionalReply reply = Write(none, {{1, large}, {2, large}}, kNoonNanos, engine, table);
  EXPECT_EQ(reply.status, OpStatus::kOutOfMemory);
  EXPECT_TRUE(ReadItems(engine, table, key_, kNoonNanos).empty());
  // Conditions that do not hold need no memory.
  Expect both({true, true});
  reply = Write(both, {{1, large}, {2, large}}, kNoonNanos, engine, table);
  EXPECT_EQ(reply.status, OpStatus::kOk);
  EXPECT_FALSE(reply.applied);
  EXPECT_TRUE(Write(none, {{1, "small"}}, kNoonNanos, engine, table).applied);
  engine.Verify();
}

}  // namespace conditional_write_test
}  // namespace liststore::testing
