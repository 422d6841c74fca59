// ForeseenRows: the rows of one partition as a batch will leave them, before any of it is applied.
#ifndef LISTSTORE_ENGINE_SHARD_FORESEEN_ROWS_H_
#define LISTSTORE_ENGINE_SHARD_FORESEEN_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "engine/model/clustering_key.h"
#include "engine/model/mutation.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/row_view.h"
#include "engine/storage/table.h"

namespace liststore::shard {

// Told of the writes in the order in which they will be applied, deletions behind all upserts; sends the
// rows that they touch and that will live, each once, in key order. By the holder of the lane, under one
// hold with the writes. Borrows what it is told.
//
// O(updates log updates), and the cells of each row; a range of deletions as long as the rows in it.
class ForeseenRows {
 public:
  ForeseenRows(storage::Table& table, const storage::PartitionRef& partition, int64_t now_seconds)
      : table_(table), partition_(partition), now_seconds_(now_seconds) {}

  // `write.foreign_timestamp` as ForeseenUpdate has it.
  void Upsert(std::span<const RowUpdate> rows, const WriteContext& write);
  void DeleteRows(std::span<const ClusteringKeyView> keys, WriteTimestamp timestamp);
  void DeleteRange(const ClusteringRange& range, WriteTimestamp timestamp);
  void DeletePartition(WriteTimestamp timestamp);
  void Send(RowSink& sink);

 private:
  // What is done to one row, or, without an update, that somebody asks for it.
  struct Step {
    ClusteringKeyView key;
    storage::ForeseenUpdate update;
    WriteTimestamp covered;  // without one: what a deletion of the row covers
  };
  struct Row {
    ClusteringKeyView key;
    size_t first_update = 0;
    size_t updates = 0;
    WriteTimestamp covered;
  };
  struct RangeDeletion {
    ClusteringRange range;
    WriteTimestamp timestamp;
  };
  // Keys of rows that are there and in a range.
  struct Key {
    std::string plain;
    PackedItemKey packed;
  };

  void TouchRange(const ClusteringRange& range);
  std::vector<Row> GatherRows(std::vector<storage::ForeseenUpdate>& updates);
  void CoverRanges(std::span<Row> rows);

  storage::Table& table_;
  const storage::PartitionRef partition_;
  const int64_t now_seconds_;
  std::vector<Step> steps_;
  std::vector<RangeDeletion> ranges_;
  std::deque<Key> keys_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_FORESEEN_ROWS_H_
