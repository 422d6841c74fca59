// Records back as what they say. Any bytes may come: what no encoder wrote is refused, and nothing is read
// beyond them.
#ifndef LISTSTORE_ENGINE_COMMITLOG_RECORD_DECODER_H_
#define LISTSTORE_ENGINE_COMMITLOG_RECORD_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/commitlog/record_encoder.h"
#include "engine/commitlog/record_format.h"
#include "engine/model/mutation.h"
#include "engine/model/table_schema.h"

namespace liststore::commitlog {

// A write as it was decided. Bytes are those of the record, spans of the decoder, until its next call.
struct RecordedWrite {
  BodyKind kind = BodyKind::kUpsert;  // kHotItem comes as kUpsert
  TableId table;
  std::string_view partition_key;
  WriteContext write;
  RecordedGrace grace;
  std::span<const RowUpdate> rows;          // kUpsert, kPut
  std::span<const ClusteringKeyView> keys;  // kDeleteRows
  ClusteringRange range;                    // kDeleteRange; bounds without their packed form
  int64_t fresh_until_seconds = 0;          // kPut
};

// Buffers for the rows of one write, kept and used again. Used by one thread.
class WriteDecoder {
 public:
  // False: no encoder wrote this. Throws std::bad_alloc, of no more than some 40 times the record.
  bool Decode(std::string_view record, RecordedWrite& write);

 private:
  class Input;
  bool DecodeRows(Input& input, RecordedWrite& write);
  bool DecodeRow(Input& input);
  bool DecodeCell(Input& input);
  bool DecodeKeys(Input& input, RecordedWrite& write);

  RowUpdate hot_row_;
  CellUpdate hot_cell_;
  std::vector<RowUpdate> rows_;
  std::vector<CellUpdate> cells_;
  std::vector<size_t> cell_counts_;  // by row
  std::vector<ClusteringKeyView> keys_;
};

// A part of a batch, write by write.
class BatchPartReader {
 public:
  // False: no encoder wrote this.
  static std::optional<BatchPartReader> Open(std::string_view record);

  uint64_t batch() const { return batch_; }
  uint32_t logs() const { return logs_; }
  // The next write's record; false: there is none. Lengths were looked at by Open.
  bool Next(std::string_view& write);

 private:
  uint64_t batch_ = 0;
  uint32_t logs_ = 0;
  std::string_view rest_;
};

struct RecordedTruncation {
  uint64_t step = 0;
  TableId table;
  std::optional<std::string_view> component;  // all partitions where it is not there
};
std::optional<RecordedTruncation> DecodeTruncation(std::string_view record);

struct RecordedBarrier {
  uint64_t step = 0;
  std::string_view payload;
};
std::optional<RecordedBarrier> DecodeBarrier(std::string_view record);

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_RECORD_DECODER_H_
