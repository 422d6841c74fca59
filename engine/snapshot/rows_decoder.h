// RowsDecoder: blocks of a snapshot's rows back as stored partitions. Any bytes may come: what no encoder wrote
// is refused, and nothing is read beyond them.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_ROWS_DECODER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_ROWS_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/hot_row.h"
#include "engine/model/stored_row.h"
#include "engine/snapshot/block_reader.h"

namespace liststore::snapshot {

// What is passed is valid during the call. An error ends the decoding.
class RowsSink {
 public:
  virtual ~RowsSink() = default;
  // Some rows of a partition of the table that the definitions give this number: a long one comes in pieces,
  // not in order where several threads read. Keys are packed as they were in the table.
  virtual absl::Status OnRows(uint32_t table, const StoredPartition& partition,
                              std::span<const StoredRow> rows) = 0;
  // The same where all of them are items with packed keys.
  virtual absl::Status OnItems(uint32_t table, const StoredPartition& partition,
                               std::span<const HotRow> rows) = 0;
};

// Buffers of one partition, kept and used again. Used by one thread.
class RowsDecoder {
 public:
  explicit RowsDecoder(RowsSink& sink) : sink_(sink) {}

  // DataLoss: says where in the file. Errors of the sink, with the partition's place in front.
  absl::Status Decode(const Block& block);

  // So far; pieces of one partition count once.
  uint64_t partitions() const { return partitions_; }
  uint64_t rows() const { return row_count_; }

 private:
  class Input;
  absl::Status DecodePartition(uint32_t table, Input& input);
  bool TakeRanges(Input& input, uint32_t count);
  bool TakeCells(Input& input, uint32_t count, const Liveness& marker);
  bool TakeRows(Input& input, uint32_t count);
  bool TakeItem(Input& input);
  bool TakeOther(Input& input);
  void MoveItems();

  RowsSink& sink_;
  std::vector<StoredRange> ranges_;
  std::vector<HotRow> items_;
  std::vector<StoredRow> rows_;
  std::vector<StoredCell> cells_;    // of the static row, then of rows
  std::vector<size_t> cell_counts_;  // by row
  uint64_t partitions_ = 0;
  uint64_t row_count_ = 0;
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_ROWS_DECODER_H_
