// ListsEncoder: stored partitions on their way into blocks of a saved store.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_LISTS_ENCODER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_LISTS_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/model/stored_row.h"
#include "engine/snapshot/saved_format.h"

namespace liststore::snapshot {

// A sink of stored rows. Records gather in the open block; one that has reached kBlockBytes is
// finished, within a partition too, whose record goes on in the next. Used by one thread at a time;
// buffers are kept and used again. Holds what one slice brings: as a rule a block or two, and all
// of a partition that is longer.
class ListsEncoder final : public StoredRowSink {
 public:
  ListsEncoder();

  void OnPartition(const StoredPartition& partition) override;
  void OnRow(const StoredRow& row) override;
  void OnPartitionEnd() override;
  bool Full() const override { return finished_ > 0; }

  // Ends the open block, if anything is in it. Not within a partition.
  void Finish();
  // The finished blocks, kBlockHeaderBytes in front of each payload left for the header.
  std::span<std::string> finished() { return std::span(blocks_).first(finished_); }
  // Forgets them.
  void Reset();

  uint64_t lists() const { return lists_; }
  uint64_t rows() const { return rows_; }

 private:
  std::string& open() { return blocks_[finished_]; }
  bool OpenIsEmpty() const { return blocks_[finished_].size() == kBlockHeaderBytes; }
  void OpenBlock();
  void BeginRecord(uint16_t flags);
  void EndRecord();
  void SplitIfLong();
  bool PutHotRow(const StoredRow& row);
  void PutOtherRow(const StoredRow& row);

  std::vector<std::string> blocks_;  // those finished, then the open one, then spare ones
  size_t finished_ = 0;
  // The record of a partition on its way.
  std::string key_;
  uint16_t flags_ = 0;
  int64_t grace_start_seconds_ = 0;
  std::string extensions_;  // the same in all of its records
  size_t record_at_ = 0;    // in the open block
  uint32_t record_ranges_ = 0;
  uint32_t record_rows_ = 0;
  bool split_ = false;        // a record of it is in a finished block
  bool has_content_ = false;  // its tombstone, ranges or rows, or that it is kept empty
  uint64_t lists_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_LISTS_ENCODER_H_
