// RowsEncoder: stored partitions of any table on their way into blocks of a snapshot.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_ROWS_ENCODER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_ROWS_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/model/stored_row.h"
#include "engine/snapshot/saved_format.h"

namespace liststore::snapshot {

// A sink of stored rows, as ListsEncoder: partitions gather in the open block; one that has reached
// kBlockBytes is finished, within a partition too. Used by one thread at a time.
class RowsEncoder final : public StoredRowSink {
 public:
  RowsEncoder() = default;

  // What comes is of this table; not within a partition, and nothing is open. `packs_item_keys`: as the
  // table does; its keys are packed wherever they can be, however they come.
  void BeginTable(uint32_t number, bool packs_item_keys);
  // Ends the open block, if anything is in it.
  void Finish();

  void OnPartition(const StoredPartition& partition) override;
  void OnRow(const StoredRow& row) override;
  void OnPartitionEnd() override;
  bool Full() const override { return finished_ > 0; }

  // The finished blocks, kBlockHeaderBytes in front of each payload left for the header; Reset forgets
  // them.
  std::span<std::string> finished() { return std::span(blocks_).first(finished_); }
  void Reset();

  uint64_t partitions() const { return partitions_; }
  uint64_t rows() const { return rows_; }

 private:
  std::string& open() { return blocks_[finished_]; }
  void OpenBlock();
  void BeginRecord(uint8_t flags);
  void EndRecord();
  void SplitIfLong();
  void PutRange(const StoredRange& range);
  void CloseBlock();
  bool PutItem(const StoredRow& row);
  void PutOther(const StoredRow& row);
  void PutCell(const StoredCell& cell, const Liveness& marker);

  uint32_t table_ = 0;
  bool packs_item_keys_ = false;
  std::vector<std::string> blocks_;  // those finished, then the open one, then spare ones
  size_t finished_ = 0;
  // The record of a partition on its way.
  std::string key_;
  uint8_t flags_ = 0;
  int64_t grace_start_seconds_ = 0;
  int64_t fresh_until_seconds_ = 0;
  size_t record_at_ = 0;
  uint32_t record_ranges_ = 0;
  uint32_t record_statics_ = 0;
  uint32_t record_rows_ = 0;
  bool split_ = false;
  bool has_content_ = false;
  uint64_t partitions_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_ROWS_ENCODER_H_
