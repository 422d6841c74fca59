#include "engine/snapshot/rows_decoder.h"

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/model/packed_item_key.h"
#include "engine/snapshot/content_reader.h"
#include "engine/snapshot/rows_format.h"
#include "engine/snapshot/saved_format.h"
#include "engine/snapshot/sound_times.h"

namespace liststore::snapshot {

class RowsDecoder::Input final : public ContentReader {
 public:
  using ContentReader::ContentReader;
};

bool RowsDecoder::TakeRanges(Input& input, uint32_t count) {
  ranges_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    const auto lower_bytes = input.Take<uint32_t>();
    const auto upper_bytes = input.Take<uint32_t>();
    const auto to_end = input.Take<uint8_t>();
    StoredRange range;
    range.tombstone = input.TakeTombstone();
    range.range.lower.bytes = input.TakeBytes(lower_bytes);
    range.range.upper.bytes = input.TakeBytes(upper_bytes);
    range.range.upper.at_end = to_end != 0;
    if (input.bad() || to_end > 1 || !IsSound(range.tombstone)) return false;
    ranges_.push_back(range);
  }
  return true;
}

bool RowsDecoder::TakeCells(Input& input, uint32_t count, const Liveness& marker) {
  for (uint32_t i = 0; i < count; ++i) {
    StoredCell cell;
    cell.column = input.Take<uint16_t>();
    const auto flags = input.Take<uint8_t>();
    cell.view.live = (flags & kCellLive) != 0;
    const bool as_marker = (flags & kCellAsMarker) != 0;
    bool sound = (flags & ~kCellFlags) == 0 && (cell.view.live || !as_marker);
    if (cell.view.live) {
      cell.view.liveness = as_marker ? marker : input.TakeLiveness();
      cell.view.value = input.TakeText();
      sound &= IsSound(cell.view.liveness);
    } else {
      const Tombstone dead = input.TakeTombstone();
      cell.view.liveness.timestamp = dead.timestamp;
      cell.view.deletion_seconds = dead.deletion_seconds;
      sound &= IsSound(dead);
    }
    if ((flags & kCellPath) != 0) {
      cell.path = input.TakeText();
      sound &= !cell.path.empty();
    }
    if (input.bad() || !sound) return false;
    cells_.push_back(cell);
  }
  return true;
}

void RowsDecoder::MoveItems() {
  for (const HotRow& item : items_) {
    rows_.push_back({item.key, item.liveness, {}, {}});
    cells_.push_back({0, {true, item.liveness, 0, item.value}});
    cell_counts_.push_back(1);
  }
  items_.clear();
}

bool RowsDecoder::TakeItem(Input& input) {
  const std::string_view head = input.TakeBytes(kHotRowBytes - 1);
  if (input.bad()) return false;
  HotRow item;
  item.liveness.expiry_seconds = LoadNative<uint32_t>(head.data() + 4);
  item.liveness.ttl_seconds = LoadNative<uint32_t>(head.data() + 8);
  item.liveness.timestamp.micros = LoadNative<int64_t>(head.data() + 12);
  item.key = {head.substr(20), true};
  item.value = input.TakeBytes(LoadNative<uint32_t>(head.data()));
  if (input.bad() || !IsSound(item.liveness) || !IsPackedItemKey(item.key.bytes)) return false;
  items_.push_back(item);
  return true;
}

bool RowsDecoder::TakeOther(Input& input) {
  const auto flags = input.Take<uint8_t>();
  const auto cells = input.Take<uint32_t>();
  StoredRow row;
  row.key = {input.TakeText(), (flags & kRowKeyPacked) != 0};
  if ((flags & kRowHasMarker) != 0) row.marker = input.TakeLiveness();
  if ((flags & kRowHasTombstone) != 0) row.tombstone = input.TakeTombstone();
  if (input.bad() || (flags & ~kOtherRowFlags) != 0 ||
      ((flags & kRowHasMarker) != 0 && !IsSound(row.marker)) ||
      ((flags & kRowHasTombstone) != 0 && !IsSound(row.tombstone)) ||
      (row.key.packed && !IsPackedItemKey(row.key.bytes))) {
    return false;
  }
  if (!TakeCells(input, cells, row.marker)) return false;
  rows_.push_back(row);
  cell_counts_.push_back(cells);
  return true;
}

// Into items_ while there are no others, else into rows_.
bool RowsDecoder::TakeRows(Input& input, uint32_t count) {
  const size_t statics = cells_.size();
  items_.clear();
  rows_.clear();
  cell_counts_.clear();
  bool all_items = true;
  for (uint32_t i = 0; i < count; ++i) {
    const char kind = input.Take<char>();
    if (input.bad()) return false;
    if (kind == kHotRow) {
      if (!TakeItem(input)) return false;
    } else if (kind == kOtherRow) {
      all_items = false;
      MoveItems();
      if (!TakeOther(input)) return false;
    } else {
      return false;
    }
    if (!all_items) MoveItems();
  }
  // The buffers have stopped moving.
  size_t cell = statics;
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].cells = std::span(cells_).subspan(cell, cell_counts_[i]);
    cell += cell_counts_[i];
  }
  return true;
}

absl::Status RowsDecoder::DecodePartition(uint32_t table, Input& input) {
  const auto damaged = [] {
    return absl::DataLossError("a partition is none, or passes the end of its block");
  };
  const auto key_bytes = input.Take<uint32_t>();
  const auto flags = input.Take<uint32_t>();
  const auto ranges = input.Take<uint32_t>();
  const auto statics = input.Take<uint32_t>();
  const auto rows = input.Take<uint32_t>();
  StoredPartition partition;
  partition.key = input.TakeBytes(key_bytes);
  if ((flags & kPartitionForeignTimestamps) != 0) {
    partition.foreign_timestamps = true;
    partition.grace_start_seconds = input.Take<int64_t>();
  }
  if ((flags & kPartitionTombstone) != 0) partition.tombstone = input.TakeTombstone();
  if ((flags & kPartitionFresh) != 0) partition.fresh_until_seconds = input.Take<int64_t>();
  partition.partial = (flags & kPartitionPartial) != 0;
  partition.kept_empty = (flags & kPartitionKeptEmpty) != 0;
  if (input.bad() || (flags & ~kPartitionFlags) != 0 ||
      (partition.partial && (partition.kept_empty || partition.fresh_until_seconds != 0)) ||
      ((flags & kPartitionTombstone) != 0 && !IsSound(partition.tombstone)) ||
      partition.fresh_until_seconds < 0 || !IsSoundSecond(partition.fresh_until_seconds) ||
      !IsSoundSecond(partition.grace_start_seconds)) {
    return damaged();
  }
  cells_.clear();
  if (!TakeRanges(input, ranges) || !TakeCells(input, statics, {}) || !TakeRows(input, rows)) {
    return damaged();
  }
  partition.ranges = ranges_;
  partition.static_cells = std::span(cells_).first(statics);
  if ((flags & kPartitionContinues) == 0) ++partitions_;
  row_count_ += rows;
  const bool items_alone = rows_.empty() && !items_.empty();
  return items_alone ? sink_.OnItems(table, partition, items_)
                     : sink_.OnRows(table, partition, rows_);
}

absl::Status RowsDecoder::Decode(const Block& block) {
  Input input(block.payload);
  const auto table = input.Take<uint32_t>();
  if (input.bad()) return Damaged(block.payload_at, block.number, "a block of rows without a head");
  while (!input.AtEnd()) {
    const uint64_t at = block.payload_at + input.taken();
    const absl::Status status = DecodePartition(table, input);
    if (status.ok()) continue;
    if (absl::IsDataLoss(status)) {
      return Damaged(at, block.number, std::string(status.message()));
    }
    return {status.code(), absl::StrCat("partition at offset ", at, ": ", status.message())};
  }
  return absl::OkStatus();
}

}  // namespace liststore::snapshot
