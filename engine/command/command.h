// Commands: what a front door asks of the engine, as plain data with borrowed bytes, complete
// enough to be written down. The caller keeps what is borrowed alive until the command has been
// executed.
//
// A command addresses one table and, but for the last two, one partition.
#ifndef LISTSTORE_ENGINE_COMMAND_COMMAND_H_
#define LISTSTORE_ENGINE_COMMAND_COMMAND_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/model/eviction.h"
#include "engine/model/mutation.h"
#include "engine/model/read_spec.h"
#include "engine/model/row_view.h"
#include "engine/model/table_schema.h"

namespace liststore {

// INSERT and UPDATE of rows of one partition, all or nothing.
struct UpsertCommand {
  std::span<const RowUpdate> rows;
};
struct DeleteRowsCommand {
  std::span<const ClusteringKeyView> keys;
};
struct DeleteRangeCommand {
  ClusteringRange range;
  // Reply::rows is wanted: O(rows), else most of a long range in a large partition goes in O(1), and
  // its memory in slices.
  bool counts_rows = true;
};
struct DeletePartitionCommand {
  // Reply::rows is wanted: O(rows), else a large partition goes in O(1), and its memory in slices.
  bool counts_rows = true;
};
// One atomic step: the live rows whose cell equals the value go.
struct DeleteByValueCommand {
  ColumnId column = 0;
  std::string_view value;
};
// Both borrowed. A specification may be shared by the reads of a group.
struct ReadCommand {
  const ReadSpec* spec = nullptr;
  RowSink* sink = nullptr;
};
// Where `stopped_at` is given, it ends when it has looked at `looks_max` rows and some more: the
// string, empty before, is the clustering key that the next count begins at.
struct CountCommand {
  ClusteringRange range;
  uint64_t looks_max = UINT64_MAX;
  std::string* stopped_at = nullptr;
};

// The rows become all that the partition has; it is complete then. Without rows it is kept empty
// until `fresh_until_seconds`.
struct PutCommand {
  std::span<const RowUpdate> rows;
  int64_t fresh_until_seconds = 0;  // 0: forever
  // Of Engine::ChangeMark: refused when the partition was changed since.
  std::optional<uint64_t> unless_since;
};
// What is held of the partition goes, without a trace.
struct ForgetCommand {};

using CommandBody =
    std::variant<UpsertCommand, DeleteRowsCommand, DeleteRangeCommand, DeletePartitionCommand,
                 DeleteByValueCommand, ReadCommand, CountCommand, PutCommand, ForgetCommand>;

struct Command {
  TableId table;
  std::string_view partition_key;  // serialised
  CommandBody body;
  // None: the lane gives one, strictly increasing there. Else a client's.
  WriteTimestamp timestamp = WriteTimestamp::None();
  // Where a write tells what was evicted for it; nullptr: nowhere.
  EvictionLog* evictions = nullptr;
  // It takes long, some hundred us: its own thread does it when it has the lane, and not whoever
  // holds that.
  bool waits_its_turn = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_COMMAND_H_
