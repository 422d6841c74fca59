// ReferenceEngine: what Engine must do, one ReferenceTable for each table and lane. Linked into
// tests only.
//
// Lanes count here because two promises are made for a lane and not for an engine: its write
// timestamps strictly increase, and its tables keep tombstones from the first foreign timestamp on
// that reached this lane.
#ifndef LISTSTORE_TESTS_REFERENCE_REFERENCE_ENGINE_H_
#define LISTSTORE_TESTS_REFERENCE_REFERENCE_ENGINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/command/command.h"
#include "engine/command/reply.h"
#include "engine/shard/router.h"
#include "tests/reference/reference_table.h"

namespace liststore::testing {

bool IsWrite(const Command& command);

class ReferenceEngine {
 public:
  explicit ReferenceEngine(const shard::Router& router)
      : router_(router), last_timestamps_(router.lanes(), WriteTimestamp{0}) {}

  TableId CreateTable(TableSchema schema);

  // What a lane gives to the next write on this partition that brings no timestamp.
  WriteTimestamp NextTimestamp(std::string_view partition_key, uint64_t now_nanos) const;
  // The same for a batch: above all of its lanes.
  WriteTimestamp NextTimestamp(std::span<const Command> upserts, uint64_t now_nanos) const;
  // A lane gave this one out; of no use for a client's.
  void NoteTimestamp(std::string_view partition_key, WriteTimestamp timestamp);

  // Runs a command, a write under `timestamp`, whoever gave it. Rows of a read go to `sink` and not
  // to the command's own.
  Reply Execute(const Command& command, uint64_t now_nanos, WriteTimestamp timestamp,
                RowSink* sink = nullptr);

  void TruncateTable(TableId table);
  void TruncateFirstComponent(TableId table, std::string_view component);

  // Keys of partitions with a live row, in token order.
  std::vector<std::string> LivePartitions(TableId table,
                                          std::optional<std::string_view> first_component,
                                          uint64_t now_nanos) const;
  // Live rows of a table.
  uint64_t CountAll(TableId table, uint64_t now_nanos) const;
  // The earliest expiry after `now_nanos` of anything that lives then.
  std::optional<int64_t> EarliestExpiry(uint64_t now_nanos) const;

 private:
  shard::Router::Place PlaceOf(std::string_view partition_key) const {
    return router_.PlaceOf(TokenOf(partition_key));
  }

  const shard::Router router_;
  std::vector<WriteTimestamp> last_timestamps_;      // by lane
  std::vector<std::vector<ReferenceTable>> tables_;  // by table, then lane
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_REFERENCE_REFERENCE_ENGINE_H_
