#include "tests/shard/command_workload.h"

#include <utility>

#include "engine/base/check.h"

namespace liststore::testing {

bool IsCommand(TableOp op) { return op <= TableOp::kCountRows; }
static_assert(TableOp::kCountRows < TableOp::kScan && TableOp::kScan < TableOp::kTruncateAll);

void CommandWorkload::Tick() {
  base_.Tick();
  JumpInSecond();
}

std::unique_ptr<OwnedCommand> CommandWorkload::Make(TableOp op, uint64_t step,
                                                    bool with_timestamps) {
  auto owned = std::make_unique<OwnedCommand>();
  Command& command = owned->command;
  owned->op = op;
  command.table = RandomTable();
  command.partition_key = base_.RandomPartitionKey();
  const WriteContext context = base_.NextContext(step);
  const bool packs = base_.packs();
  switch (op) {
    case TableOp::kUpsert:
    case TableOp::kUpsertMany:
    case TableOp::kUpsertPledged: {  // a batch where there are batches
      UpsertBatch batch = base_.RandomUpsert(op == TableOp::kUpsertMany);
      owned->batch.rows = std::move(batch.rows);
      owned->batch.cells = std::move(batch.cells);
      command.body = UpsertCommand{owned->batch.rows};
      break;
    }
    case TableOp::kDeleteRows:
      for (int64_t i = rng().Between(1, 4); i > 0; --i) {
        owned->keys.push_back(base_.RandomKey().view);
      }
      command.body = DeleteRowsCommand{owned->keys};
      break;
    case TableOp::kDeleteRange:
      owned->range = base_.RandomRange(plan().large());
      command.body = DeleteRangeCommand{owned->range.View(packs)};
      break;
    case TableOp::kDeletePartition:
      command.body = DeletePartitionCommand{};
      break;
    case TableOp::kDeleteByValue:
      command.body = DeleteByValueCommand{base_.RandomIndexedColumn(), base_.RandomValue()};
      break;
    case TableOp::kRead:
    case TableOp::kReadByValue:
      MakeRead(*owned, op == TableOp::kReadByValue);
      return owned;
    case TableOp::kCountRows:
      owned->range = base_.RandomRange(false);
      command.body = CountCommand{owned->range.View(packs)};
      return owned;
    default:
      LS_UNREACHABLE("the caller asks for commands only");
  }
  if (with_timestamps && context.foreign_timestamp) command.timestamp = context.timestamp;
  return owned;
}

void CommandWorkload::MakeRead(OwnedCommand& owned, bool by_value) {
  ReadSpec& read = owned.spec;
  owned.range = base_.RandomRange(false);
  if (!rng().OneIn(4)) read.range = owned.range.View(base_.packs());
  read.descending = !rng().OneIn(3);
  if (!rng().OneIn(plan().large() ? 40 : 4)) {
    read.limit = static_cast<uint64_t>(rng().Between(1, 60));
  }
  read.with_static_row = rng().OneIn(2);
  if (by_value) {
    read.value_filter = ReadSpec::ValueFilter{base_.RandomIndexedColumn(), base_.RandomValue()};
  }
  MakeSinks(owned, rng().OneIn(2));
}

void CommandWorkload::MakeSinks(OwnedCommand& owned, bool accepts_packed_runs) const {
  const bool descending = owned.spec.descending;
  owned.sink = std::make_unique<CollectingSink>(base_.packs(), descending, accepts_packed_runs);
  owned.expected_sink = std::make_unique<CollectingSink>(base_.packs(), descending, false);
  owned.command.body = ReadCommand{&owned.spec, owned.sink.get()};
}

std::unique_ptr<OwnedCommand> CommandWorkload::MakeReadAll(TableId table,
                                                           std::string_view partition_key,
                                                           bool descending,
                                                           bool accepts_packed_runs) const {
  auto owned = std::make_unique<OwnedCommand>();
  owned->op = TableOp::kRead;
  owned->command.table = table;
  owned->command.partition_key = partition_key;
  owned->spec.descending = descending;
  MakeSinks(*owned, accepts_packed_runs);
  return owned;
}

}  // namespace liststore::testing
