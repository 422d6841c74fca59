// An engine whose machine refuses pages below the memory limit.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/shard/engine.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/refusing_memory.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_refusal_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class EngineRefusal : public ::testing::Test {
 protected:
  std::string Key(int list) const { return ListKey("feature", std::to_string(list)); }
  // Writes lists until one is refused, and notes those that were not.
  void Fill(uint64_t items, size_t value_bytes) {
    for (int list = 0;; ++list) {
      ASSERT_LT(list, 1'000'000) << "the machine refuses in the end";
      Items written;
      for (uint64_t i = 0; i < items; ++i) written[i] = std::string(value_bytes, 'v');
      const Reply reply = AddItems(engine_, table_, Key(list), written, kNoonNanos);
      if (reply.status != OpStatus::kOk) {
        ASSERT_EQ(reply.status, OpStatus::kOutOfMemory);
        return;
      }
      expected_[Key(list)] = written;
    }
  }

  RefusingMemory system_;
  shard::Engine engine_{{.shards = 2, .lanes_per_shard_log2 = 2, .system = &system_}};
  const TableId table_ = engine_.CreateTable(ListItemsSchema());
  std::map<std::string, Items> expected_;
};

TEST_F(EngineRefusal, ARefusedPageIsARefusedWriteThatSaysSo) {
  system_.set_limit(48 * kMiB);
  Fill(20, 200);
  const MemoryRefusal refusal = engine_.memory_refusal();
  EXPECT_GT(refusal.machine_bytes, 0u);
  EXPECT_EQ(refusal.Text().find("the machine refuses "), 0u) << refusal.Text();
  EXPECT_GE(engine_.refused_writes(), 1u);
  EXPECT_EQ(Contents(engine_, table_, kNoonNanos), expected_) << "nothing of it was applied";
  engine_.Verify();
}

TEST_F(EngineRefusal, WhatIsStoredCanBeReadAndDeletedAndTheRoomUsedAgain) {
  for (const size_t value_bytes : {size_t{20}, size_t{500}, size_t{50'000}, size_t{1'500'000}}) {
    system_.set_limit(system_.mapped() + 48 * kMiB);
    ASSERT_NO_FATAL_FAILURE(Fill(value_bytes > 10'000 ? 3 : 30, value_bytes));
    EXPECT_EQ(Contents(engine_, table_, kNoonNanos), expected_);
    engine_.Verify();
    for (const auto& [key, items] : expected_) {
      ASSERT_EQ(RemoveList(engine_, table_, key, kNoonNanos).status, OpStatus::kOk);
    }
    expected_.clear();
    ReclaimAll(engine_, kNoonNanos);
    EXPECT_TRUE(Contents(engine_, table_, kNoonNanos).empty());
    engine_.Verify();
    EXPECT_EQ(AddItem(engine_, table_, Key(0), 1, "again", kNoonNanos).status, OpStatus::kOk);
    EXPECT_EQ(engine_.memory_refusal().machine_bytes, 0u) << "it is over";
    RemoveList(engine_, table_, Key(0), kNoonNanos);
  }
}

// What one batch takes in very many tables is there as a whole, or the batch is refused.
TEST_F(EngineRefusal, ABatchOfManyTablesIsAppliedOrRefused) {
  constexpr int kTables = 300;
  std::vector<TableId> tables;
  for (int i = 0; i < kTables; ++i) tables.push_back(engine_.CreateTable(ListItemsSchema()));
  const std::string value(26'000, 'v');
  Items expected;
  int refused = 0;
  for (uint64_t room = 0; room <= 1024 * kMiB; room += 64 * kMiB) {
    std::deque<ItemUpserts> upserts;
    std::vector<Command> commands;
    for (const TableId table : tables) {
      upserts.emplace_back(table).Add(Key(1), {{room, value}});
      commands.push_back(upserts.back().commands()[0]);
    }
    std::vector<Reply> replies(commands.size());
    system_.set_limit(system_.mapped() + room);
    const OpStatus status = engine_.ExecuteBatch(commands, kNoonNanos, replies);
    system_.set_limit(UINT64_MAX);
    if (status == OpStatus::kOk) {
      expected[room] = value;
    } else {
      ASSERT_EQ(status, OpStatus::kOutOfMemory);
      ++refused;
    }
    for (const TableId table : tables) {
      ASSERT_EQ(ReadItems(engine_, table, Key(1), kNoonNanos), expected) << room;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(expected.empty());
  engine_.Verify();
}

// The machine's limit moves at random under random writes; the contents are those of the writes
// that were let in.
TEST_F(EngineRefusal, AgreesWithAModelUnderAMovingLimit) {
  Random rng(TestSeed());
  const int steps = static_cast<int>(TestSteps(20'000));
  int refused = 0;
  for (int step = 0; step < steps; ++step) {
    if (rng.Below(50) == 0) {
      system_.set_limit(rng.Below(3) == 0 ? UINT64_MAX : system_.mapped() + rng.Below(20 * kMiB));
    }
    const std::string key = Key(static_cast<int>(rng.Below(300)));
    if (rng.Below(4) == 0) {
      ASSERT_EQ(RemoveList(engine_, table_, key, kNoonNanos).status, OpStatus::kOk);
      expected_.erase(key);
    } else {
      const size_t sizes[] = {10, 300, 5'000, 80'000, 1'200'000};
      const size_t bytes = sizes[rng.Below(rng.Below(20) == 0 ? 5 : 3)];
      const uint64_t number = rng.Below(200);
      const std::string value(1 + rng.Below(bytes), 'v');
      const Reply reply = AddItem(engine_, table_, key, number, value, kNoonNanos);
      if (reply.status == OpStatus::kOk) {
        expected_[key][number] = value;
      } else {
        ASSERT_EQ(reply.status, OpStatus::kOutOfMemory);
        ++refused;
      }
    }
    if (rng.Below(20) == 0) engine_.Reclaim(kNoonNanos, rng.Below(500));
    if (step % 2'000 == 0) {
      engine_.Verify();
      ASSERT_EQ(Contents(engine_, table_, kNoonNanos), expected_) << "step " << step;
    }
  }
  EXPECT_EQ(Contents(engine_, table_, kNoonNanos), expected_);
  engine_.Verify();
  if (steps >= 10'000) {
    EXPECT_GT(refused, 0);
  }
}

}  // namespace engine_refusal_test
}  // namespace liststore::testing
