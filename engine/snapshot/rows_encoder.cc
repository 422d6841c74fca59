#include "engine/snapshot/rows_encoder.h"

#include <cstring>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/snapshot/encoding.h"
#include "engine/snapshot/rows_format.h"

namespace liststore::snapshot {
namespace {

constexpr size_t kSlackBytes = size_t{16} << 10;
constexpr size_t kEmptyBlockBytes = kBlockHeaderBytes + kRowsHeadBytes;
// Offsets in a record's head.
constexpr size_t kRangeCountAt = 8;
constexpr size_t kStaticCountAt = 12;
constexpr size_t kRowCountAt = 16;

bool FitsItem(int64_t seconds) { return seconds >= 0 && seconds <= int64_t{UINT32_MAX}; }

}  // namespace

void RowsEncoder::BeginTable(uint32_t number, bool packs_item_keys) {
  LS_CHECK(blocks_.empty() || open().size() <= kEmptyBlockBytes, "tables have blocks of their own");
  table_ = number;
  packs_item_keys_ = packs_item_keys;
  OpenBlock();
}

void RowsEncoder::OpenBlock() {
  if (finished_ == blocks_.size()) blocks_.emplace_back();
  open().reserve(kBlockBytes + kSlackBytes);
  open().assign(kBlockHeaderBytes, '\0');
  Put(open(), table_);
}

void RowsEncoder::CloseBlock() {
  ++finished_;
  OpenBlock();
}

void RowsEncoder::Finish() {
  if (open().size() > kEmptyBlockBytes) CloseBlock();
}

void RowsEncoder::BeginRecord(uint8_t flags) {
  record_at_ = open().size();
  record_ranges_ = record_statics_ = record_rows_ = 0;
  Put(open(), static_cast<uint32_t>(key_.size()));
  Put(open(), uint32_t{flags});
  Put(open(), uint32_t{0});
  Put(open(), uint32_t{0});
  Put(open(), uint32_t{0});
  open().append(key_);
  if ((flags & kPartitionForeignTimestamps) != 0) Put(open(), grace_start_seconds_);
}

void RowsEncoder::EndRecord() {
  char* const head = open().data() + record_at_;
  StoreNative(head + kRangeCountAt, record_ranges_);
  StoreNative(head + kStaticCountAt, record_statics_);
  StoreNative(head + kRowCountAt, record_rows_);
}

void RowsEncoder::SplitIfLong() {
  if (open().size() < kBlockBytes) return;
  EndRecord();
  CloseBlock();
  split_ = true;
  const auto flags = static_cast<uint8_t>((flags_ & ~kPartitionTombstone) | kPartitionContinues);
  BeginRecord(flags);
  if ((flags & kPartitionFresh) != 0) Put(open(), fresh_until_seconds_);
}

void RowsEncoder::OnPartition(const StoredPartition& partition) {
  key_.assign(partition.key);
  flags_ = 0;
  if (partition.foreign_timestamps) flags_ |= kPartitionForeignTimestamps;
  if (partition.tombstone.present()) flags_ |= kPartitionTombstone;
  if (partition.partial) flags_ |= kPartitionPartial;
  if (partition.kept_empty) flags_ |= kPartitionKeptEmpty;
  if (partition.fresh_until_seconds != 0) flags_ |= kPartitionFresh;
  grace_start_seconds_ = partition.grace_start_seconds;
  fresh_until_seconds_ = partition.fresh_until_seconds;
  split_ = false;
  has_content_ = partition.tombstone.present() || !partition.ranges.empty() ||
                 !partition.static_cells.empty() || partition.kept_empty;
  BeginRecord(flags_);
  if (partition.tombstone.present()) PutTombstone(open(), partition.tombstone);
  if (partition.fresh_until_seconds != 0) Put(open(), fresh_until_seconds_);
  // Those that fit the block, then the static row, then those that do not.
  size_t ranges = 0;
  for (; ranges < partition.ranges.size() && open().size() < kBlockBytes; ++ranges) {
    PutRange(partition.ranges[ranges]);
  }
  for (const StoredCell& cell : partition.static_cells) {
    PutCell(cell, {});
    ++record_statics_;
  }
  for (; ranges < partition.ranges.size(); ++ranges) {
    SplitIfLong();
    PutRange(partition.ranges[ranges]);
  }
}

void RowsEncoder::PutRange(const StoredRange& range) {
  std::string& out = open();
  Put(out, static_cast<uint32_t>(range.range.lower.bytes.size()));
  Put(out, static_cast<uint32_t>(range.range.upper.bytes.size()));
  Put(out, static_cast<uint8_t>(range.range.upper.at_end ? 1 : 0));
  PutTombstone(out, range.tombstone);
  out.append(range.range.lower.bytes);
  out.append(range.range.upper.bytes);
  ++record_ranges_;
}

bool RowsEncoder::PutItem(const StoredRow& row) {
  if (!row.key.packed || row.tombstone.present() || row.cells.size() != 1) return false;
  const CellView& cell = row.cells[0].view;
  const Liveness& marker = row.marker;
  if (row.cells[0].column != 0 || !row.cells[0].path.empty() || !cell.live || !marker.present() ||
      cell.liveness != marker || !FitsItem(marker.expiry_seconds) ||
      !FitsItem(marker.ttl_seconds)) {
    return false;
  }
  char head[kHotRowBytes];
  head[0] = kHotRow;
  StoreNative(head + 1, static_cast<uint32_t>(cell.value.size()));
  StoreNative(head + 5, static_cast<uint32_t>(marker.expiry_seconds));
  StoreNative(head + 9, static_cast<uint32_t>(marker.ttl_seconds));
  StoreNative(head + 13, marker.timestamp.micros);
  std::memcpy(head + 21, row.key.bytes.data(), kPackedItemKeyBytes);
  open().append(head, sizeof(head));
  open().append(cell.value);
  return true;
}

void RowsEncoder::PutCell(const StoredCell& cell, const Liveness& marker) {
  std::string& out = open();
  const bool as_marker = cell.view.live && marker.present() && cell.view.liveness == marker;
  uint8_t flags = 0;
  if (cell.view.live) flags |= kCellLive;
  if (!cell.path.empty()) flags |= kCellPath;
  if (as_marker) flags |= kCellAsMarker;
  Put(out, cell.column);
  Put(out, flags);
  if (cell.view.live) {
    if (!as_marker) PutLiveness(out, cell.view.liveness);
    PutText(out, cell.view.value);
  } else {
    PutTombstone(out, {cell.view.liveness.timestamp, cell.view.deletion_seconds});
  }
  if (!cell.path.empty()) PutText(out, cell.path);
}

void RowsEncoder::PutOther(const StoredRow& row) {
  std::string& out = open();
  uint8_t flags = 0;
  if (row.marker.present()) flags |= kRowHasMarker;
  if (row.tombstone.present()) flags |= kRowHasTombstone;
  if (row.key.packed) flags |= kRowKeyPacked;
  Put(out, kOtherRow);
  Put(out, flags);
  Put(out, static_cast<uint32_t>(row.cells.size()));
  PutText(out, row.key.bytes);
  if (row.marker.present()) PutLiveness(out, row.marker);
  if (row.tombstone.present()) PutTombstone(out, row.tombstone);
  for (const StoredCell& cell : row.cells) PutCell(cell, row.marker);
}

void RowsEncoder::OnRow(const StoredRow& stored) {
  SplitIfLong();
  StoredRow row = stored;
  PackedItemKey packed;
  if (!row.key.packed) row.key = MakeClusteringKey(row.key.bytes, packs_item_keys_, packed);
  if (!PutItem(row)) PutOther(row);
  ++record_rows_;
  ++rows_;
  has_content_ = true;
}

void RowsEncoder::OnPartitionEnd() {
  if (!has_content_) {
    LS_CHECK(!split_, "a record without content is short");
    open().resize(record_at_);
    return;
  }
  EndRecord();
  ++partitions_;
  if (open().size() >= kBlockBytes) CloseBlock();
}

void RowsEncoder::Reset() {
  if (finished_ == 0) return;
  std::swap(blocks_[0], blocks_[finished_]);
  finished_ = 0;
  // What a very long partition took goes back.
  constexpr size_t kSpareBlocksMax = 4;
  if (blocks_.size() > kSpareBlocksMax) blocks_.resize(kSpareBlocksMax);
}

}  // namespace liststore::snapshot
