// What calls of a table take beside rows, and what it says of itself: plain data.
#ifndef LISTSTORE_ENGINE_STORAGE_TABLE_CALLS_H_
#define LISTSTORE_ENGINE_STORAGE_TABLE_CALLS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/model/clustering_key.h"
#include "engine/model/mutation.h"
#include "engine/model/usage.h"
#include "engine/storage/partition/tombstone_counts.h"

namespace liststore::storage {

struct TableStats {
  uint64_t partitions = 0;    // stored, truncated ones that wait for reclamation included
  uint64_t rows = 0;          // stored, expired and dead ones that wait for reclamation included
  uint64_t expired_rows = 0;  // reclaimed because everything in them had expired, ever
  uint64_t tombstones = 0;    // that deletions of rows, ranges and partitions have left, ever
  TombstoneCounts tombstones_held;  // that are there, over ones that wait for reclamation included
  uint64_t live_bytes = 0;          // bytes of blocks in use
  uint64_t held_bytes = 0;          // pages held for them
  // Slabs beyond the limit: of a write for which the slack was too little (memory/memory_budget.h).
  uint64_t slabs_beyond_limit = 0;
  Usage usage;
  uint64_t evicted_bytes = 0;  // blocks that evictions for memory gave back, ever
};

// How far a table is with what expires.
struct ExpiryProgress {
  uint64_t scheduled = 0;  // partitions of which something expires some day, as far as it is known
  uint32_t behind_seconds = 0;  // since when what is given back next is due; 0: nothing is

  void Add(const ExpiryProgress& other) {
    scheduled += other.scheduled;
    behind_seconds = behind_seconds > other.behind_seconds ? behind_seconds : other.behind_seconds;
  }
};

// What a put says beside the rows.
struct PutSpec {
  int64_t fresh_until_seconds = 0;       // 0: forever
  std::optional<uint64_t> unless_since;  // a mark of Table::ChangeMark
};

// Rows of one upsert of a batch, and their timestamp; none: the batch's.
struct SharedUpsert {
  std::span<const RowUpdate> rows;
  WriteTimestamp timestamp = WriteTimestamp::None();
};

// What a batch brings to one partition; for PledgeShare.
struct BatchShare {
  std::vector<SharedUpsert> upserts;  // in the order in which they will be applied
  std::vector<std::span<const ClusteringKeyView>> deleted_rows;
  std::vector<ClusteringRange> deleted_ranges;  // of a partition: everything
};

// An upsert of one row that has yet to be applied. `write.foreign_timestamp`: by then the table has seen
// such a timestamp, be it this one or one before it.
struct ForeseenUpdate {
  const RowUpdate* row = nullptr;
  WriteContext write;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TABLE_CALLS_H_
