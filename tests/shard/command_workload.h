// Random commands for whatever runs commands: TableWorkload's operations with all that a Command
// borrows, on one or more tables of one schema.
#ifndef LISTSTORE_TESTS_SHARD_COMMAND_WORKLOAD_H_
#define LISTSTORE_TESTS_SHARD_COMMAND_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/command/command.h"
#include "tests/storage/table_workload.h"
#include "tests/support/collecting_sink.h"

namespace liststore::testing {

// A command and what it borrows, except what the workload owns: that outlives it.
struct OwnedCommand {
  OwnedCommand() = default;
  OwnedCommand(const OwnedCommand&) = delete;
  OwnedCommand& operator=(const OwnedCommand&) = delete;

  Command command;
  TableOp op = TableOp::kUpsert;
  UpsertBatch batch;
  std::vector<ClusteringKeyView> keys;
  OwnedRange range;
  ReadSpec spec;  // of a read
  // Of a read: where its rows go, and where those of the reference go.
  std::unique_ptr<CollectingSink> sink;
  std::unique_ptr<CollectingSink> expected_sink;
};

// Not a command: concerns a table as a whole, or the clock.
bool IsCommand(TableOp op);

class CommandWorkload {
 public:
  CommandWorkload(uint64_t seed, uint16_t tables) : base_(seed), tables_(tables) {}

  TableWorkload& base() { return base_; }
  Random& rng() { return base_.rng(); }
  const TableSchema& schema() const { return base_.schema(); }
  const WorkloadPlan& plan() const { return base_.plan(); }
  const std::vector<std::string>& partition_keys() const { return base_.partition_keys(); }
  uint16_t tables() const { return tables_; }
  TableId RandomTable() { return TableId{static_cast<uint16_t>(rng().Below(tables_))}; }

  // Seconds never go back; within a second the clock jumps to and fro.
  uint64_t now_nanos() const {
    return static_cast<uint64_t>(base_.now_seconds()) * 1'000'000'000 + nanos_in_second_;
  }
  void Tick();
  // A reading of the clock within the present second.
  void JumpInSecond() { nanos_in_second_ = rng().Below(1'000'000'000); }

  // `op` is a command. `with_timestamps`: a client's, where the plan wants them.
  std::unique_ptr<OwnedCommand> Make(TableOp op, uint64_t step, bool with_timestamps = true);
  // Reads everything of a partition.
  std::unique_ptr<OwnedCommand> MakeReadAll(TableId table, std::string_view partition_key,
                                            bool descending, bool accepts_packed_runs) const;

 private:
  void MakeRead(OwnedCommand& owned, bool by_value);
  void MakeSinks(OwnedCommand& owned, bool accepts_packed_runs) const;

  TableWorkload base_;
  const uint16_t tables_;
  uint64_t nanos_in_second_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SHARD_COMMAND_WORKLOAD_H_
