// The heap refuses an allocation, each in turn, of writes of several rows and partitions: all of it is
// there or nothing, and a write that has begun asks the heap for nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shard/engine.h"
#include "tests/shard/item_commands.h"
#include "tests/shard/named_tables.h"
#include "tests/support/refusing_new.h"

namespace liststore::testing {
namespace refused_batch_test {

constexpr ColumnId kColumns = 12;  // more than a row has room for without the heap
constexpr int64_t kGraceSeconds = 1000;

// Of rows with long keys: several columns, and one.
TableSchema Schema(ColumnId columns) {
  TableSchema schema;
  schema.keyspace = "k";
  schema.name = "t";
  schema.partition_key = {{"p1", CqlType::kText}, {"p2", CqlType::kText}};
  schema.clustering = {{"c", CqlType::kBlob, false}};
  for (ColumnId i = 0; i < columns; ++i) {
    schema.regular.push_back({"v" + std::to_string(10 + i), CqlType::kText});
    schema.statics.push_back({"s" + std::to_string(10 + i), CqlType::kText});
  }
  schema.gc_grace_seconds = kGraceSeconds;
  return schema;
}

// A row's key: longer than a string has room for without the heap.
std::string RowKey(int number) {
  return "a clustering key that is somewhat long, " + std::to_string(100'000 + number);
}

// Commands with all that they borrow.
class Batch {
 public:
  explicit Batch(TableId table) : table_(table) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  struct Row {
    int number = 0;
    ColumnId first = 0;
    ColumnId columns = kColumns;
    std::string value = "value";
    int64_t ttl_seconds = 0;
    bool marker = true;
    bool of_static_row = false;
  };

  Batch& Upsert(const char* partition, const std::vector<Row>& rows, int64_t timestamp) {
    std::vector<RowUpdate>& updates = updates_.emplace_back();
    for (const Row& row : rows) {
      std::vector<CellUpdate>& cells = cells_.emplace_back();
      const std::string& value = strings_.emplace_back(row.value);
      for (ColumnId i = 0; i < row.columns; ++i) {
        cells.push_back(
            {.column = static_cast<ColumnId>(row.first + i), .value = value, .path = {}});
      }
      RowUpdate update;
      update.key = Key(row.number);
      update.marker = row.marker && !row.of_static_row;
      update.of_static_row = row.of_static_row;
      update.ttl_seconds = row.ttl_seconds;
      if (row.ttl_seconds != 0) {
        update.expiry_seconds =
            static_cast<int64_t>(kNoonNanos / kNanosPerSecond) + row.ttl_seconds;
      }
      update.cells = cells;
      updates.push_back(update);
    }
    return Add(partition, UpsertCommand{updates}, timestamp);
  }
  Batch& DeleteRows(const char* partition, const std::vector<int>& numbers, int64_t timestamp) {
    std::vector<ClusteringKeyView>& keys = keys_.emplace_back();
    for (const int number : numbers) keys.push_back(Key(number));
    return Add(partition, DeleteRowsCommand{keys}, timestamp);
  }
  Batch& DeleteRange(const char* partition, int from, int to, int64_t timestamp,
                     bool counts = true) {
    const ClusteringRange range{ClusteringBound::At(Key(from).bytes, false),
                                ClusteringBound::At(Key(to).bytes, false)};
    return Add(partition, DeleteRangeCommand{range, counts}, timestamp);
  }
  Batch& DeletePartition(const char* partition, int64_t timestamp) {
    return Add(partition, DeletePartitionCommand{}, timestamp);
  }

  std::span<const Command> commands() const { return commands_; }

 private:
  ClusteringKeyView Key(int number) { return {strings_.emplace_back(RowKey(number)), false}; }
  Batch& Add(const char* partition, CommandBody body, int64_t timestamp) {
    const std::string& key = strings_.emplace_back(ListKey("feature", partition));
    commands_.push_back({table_, key, std::move(body), WriteTimestamp{timestamp}});
    return *this;
  }

  const TableId table_;
  std::deque<std::string> strings_;
  std::deque<std::vector<CellUpdate>> cells_;
  std::deque<std::vector<RowUpdate>> updates_;
  std::deque<std::vector<ClusteringKeyView>> keys_;
  std::vector<Command> commands_;
};

struct Operation {
  const char* name;
  ColumnId columns;
  std::function<void(Batch&)> before;
  std::function<void(Batch&)> run;
  int64_t later_seconds = 0;  // how much later it is run
};

constexpr int64_t kOld = 1'000, kMiddle = 2'000, kNew = 3'000;

std::vector<Batch::Row> Rows(int count, Batch::Row like = {}) {
  std::vector<Batch::Row> rows;
  for (int i = 0; i < count; ++i) {
    like.number = i;
    rows.push_back(like);
  }
  return rows;
}
// Rows that are not simple, with cells of two times.
void PutMixedRows(Batch& batch, int count) {
  batch.Upsert("p", Rows(count), kOld);
  batch.Upsert("p", Rows(count, {.first = 3, .columns = 5}), kNew);
}
void PutRanges(Batch& batch, int count, int64_t timestamp) {
  for (int i = 0; i < count; ++i) batch.DeleteRange("p", 10 * i, 10 * i + 5, timestamp);
}

const Operation kOperations[] = {
    {"columns of rows with long keys", kColumns,
     [](Batch& batch) { batch.Upsert("p", Rows(4), kOld); },
     [](Batch& batch) { batch.Upsert("p", Rows(4, {.first = 1, .columns = 1}), kNew); }},
    {"many rows in one command", kColumns, [](Batch& batch) { batch.Upsert("p", Rows(4), kOld); },
     [](Batch& batch) {
       std::vector<Batch::Row> rows = Rows(40, {.columns = 2});
       std::swap(rows[3], rows[30]);
       batch.Upsert("p", rows, kNew);
     }},
    {"rows that are partly older than their deletion", kColumns,
     [](Batch& batch) { PutMixedRows(batch, 6); },
     [](Batch& batch) {
       batch.DeleteRows("p", {0, 2, 4}, kMiddle);
     }},
    {"simple rows that are later than their deletion", kColumns,
     [](Batch& batch) { batch.Upsert("p", Rows(6), kNew); },
     [](Batch& batch) {
       batch.DeleteRows("p", {0, 2, 4}, kMiddle);
     }},
    {"a long row that is later than its deletion", kColumns,
     [](Batch& batch) { batch.Upsert("p", Rows(2, {.value = std::string(9'000, 'x')}), kNew); },
     [](Batch& batch) { batch.DeleteRows("p", {0}, kMiddle); }},
    {"a range of rows that stay in part", kColumns, [](Batch& batch) { PutMixedRows(batch, 6); },
     [](Batch& batch) { batch.DeleteRange("p", 1, 5, kMiddle); }},
    {"a range of a large partition", kColumns, [](Batch& batch) { PutMixedRows(batch, 100); },
     [](Batch& batch) { batch.DeleteRange("p", 1, 95, kMiddle, /*counts=*/false); }},
    {"rows that are written and deleted", kColumns, [](Batch& batch) { PutMixedRows(batch, 4); },
     [](Batch& batch) {
       batch.DeleteRange("p", 0, 3, kMiddle);
       batch.DeleteRows("p", {3, 7}, kMiddle);
       batch.Upsert("p", Rows(8, {.columns = 7, .value = std::string(500, 'x')}), kNew);
     }},
    {"a static row, and the partition of a small one", kColumns,
     [](Batch& batch) { PutMixedRows(batch, 4); },
     [](Batch& batch) {
       batch.Upsert("p", {{.of_static_row = true}}, kNew);
       batch.DeletePartition("p", kMiddle);
     }},
    {"a partition with a static row", kColumns,
     [](Batch& batch) {
       PutMixedRows(batch, 4);
       batch.Upsert("p", {{.columns = 6, .of_static_row = true}}, kOld);
       batch.Upsert("p", {{.first = 6, .columns = 6, .of_static_row = true}}, kNew);
     },
     [](Batch& batch) { batch.DeletePartition("p", kMiddle); }},
    {"a range beneath many later ones", kColumns, [](Batch& batch) { PutRanges(batch, 30, kNew); },
     [](Batch& batch) { batch.DeleteRange("p", 3, 290, kMiddle); }},
    {"a range over many earlier ones", kColumns, [](Batch& batch) { PutRanges(batch, 30, kOld); },
     [](Batch& batch) { batch.DeleteRange("p", 3, 290, kMiddle); }},
    {"many ranges that meet", kColumns, [](Batch& batch) { PutRanges(batch, 30, kMiddle); },
     [](Batch& batch) {
       for (int i = 0; i < 20; ++i) {
         batch.DeleteRange("p", 7 * i, 7 * i + 20, i % 2 == 0 ? kOld : kNew);
       }
       batch.DeleteRange("p", 3, 290, kOld);
     }},
    {"rows where many ranges are over", kColumns,
     [](Batch& batch) { PutRanges(batch, 30, kMiddle); },
     [](Batch& batch) {
       batch.Upsert("p", Rows(20, {.columns = 2}), kOld);
       batch.DeleteRange("p", 3, 290, kOld);
     },
     2 * kGraceSeconds},
    {"short values that come too late", 1,
     [](Batch& batch) {
       batch.Upsert("p", Rows(3, {.columns = 1, .value = std::string(9'000, 'x')}), kNew);
       batch.DeleteRows("p", {1}, kOld);  // which makes it a row that is not simple
     },
     [](Batch& batch) { batch.Upsert("p", Rows(3, {.columns = 1}), kMiddle); }},
    {"another value of the same time", 1,
     [](Batch& batch) {
       batch.Upsert("p", Rows(3, {.columns = 1, .value = std::string(9'000, 'x')}), kNew);
     },
     [](Batch& batch) {
       batch.Upsert("p", Rows(2, {.columns = 1, .value = "a"}), kNew);
       batch.Upsert("p", {{.number = 2, .columns = 1, .value = "z"}}, kNew);
     }},
};

class World {
 public:
  explicit World(const Operation& operation)
      : table_(engine_.CreateTable(Schema(operation.columns))) {
    Batch before(table_);
    before.Upsert("other", {{.columns = 1, .value = "there"}}, kOld);
    operation.before(before);
    EXPECT_EQ(Run(before.commands(), kNoonNanos), OpStatus::kOk);
    // What is there when the others are refused.
    for (const char* partition : {"first", "other"}) {
      batch_.Upsert(partition, {{.columns = 1, .value = "new"}}, kNew);
    }
    operation.run(batch_);
  }
  OpStatus Run(std::span<const Command> commands, uint64_t now_nanos) {
    std::vector<Reply> replies(commands.size());
    return engine_.ExecuteBatch(commands, now_nanos, replies);
  }
  // Under a refusal, with nothing of the test's own between.
  OpStatus RunRefused(uint64_t now_nanos, uint64_t nth, bool onwards, bool& refused) {
    std::vector<Reply> replies(batch_.commands().size());
    RefusedNew refusal(nth, onwards);
    OpStatus status = OpStatus::kOutOfMemory;
    try {
      status = engine_.ExecuteBatch(batch_.commands(), now_nanos, replies);
    } catch (const std::bad_alloc&) {
    }
    refused = refusal.End();
    return status;
  }
  std::string State(uint64_t now_nanos) { return StoredIn(engine_, table_, now_nanos); }
  void Verify() { engine_.Verify(); }
  const Batch& batch() const { return batch_; }

 private:
  shard::Engine engine_{{.shards = 1, .lanes_per_shard_log2 = 1}};
  const TableId table_;
  Batch batch_{table_};
};

void RefuseEachInTurn(const Operation& operation, bool onwards) {
  SCOPED_TRACE(operation.name);
  SCOPED_TRACE(onwards ? "all after it too" : "once");
  const uint64_t now =
      kNoonNanos + static_cast<uint64_t>(operation.later_seconds) * kNanosPerSecond;
  std::string before, after;
  {
    World world(operation);
    before = world.State(now);
    ASSERT_EQ(world.Run(world.batch().commands(), now), OpStatus::kOk);
    after = world.State(now);
    ASSERT_NE(before, after);
  }
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 10'000u);
    SCOPED_TRACE(nth);
    World world(operation);
    const OpStatus status = world.RunRefused(now, nth, onwards, refused);
    world.Verify();
    if (status == OpStatus::kOk) {
      ASSERT_EQ(world.State(now), after);
      continue;
    }
    ASSERT_TRUE(refused);
    ASSERT_EQ(world.State(now), before) << "half applied";
    ASSERT_EQ(world.Run(world.batch().commands(), now), OpStatus::kOk) << "asked for again";
    ASSERT_EQ(world.State(now), after);
    world.Verify();
  }
}

TEST(RefusedBatch, IsAppliedWholeOrNotAtAll) {
  for (const Operation& operation : kOperations) {
    for (const bool onwards : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(RefuseEachInTurn(operation, onwards));
    }
  }
}

}  // namespace refused_batch_test
}  // namespace liststore::testing
