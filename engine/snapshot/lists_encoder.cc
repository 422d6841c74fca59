#include "engine/snapshot/lists_encoder.h"

#include <cstring>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/snapshot/encoding.h"

namespace liststore::snapshot {
namespace {

// Beside kBlockBytes, so that the row or record that closes a block rarely makes it move.
constexpr size_t kBlockSlackBytes = size_t{16} << 10;
// Offsets in a record's head.
constexpr size_t kRangesAt = 8;
constexpr size_t kRowsAt = 12;

}  // namespace

ListsEncoder::ListsEncoder() { OpenBlock(); }

void ListsEncoder::OpenBlock() {
  if (finished_ == blocks_.size()) blocks_.emplace_back();
  open().reserve(kBlockBytes + kBlockSlackBytes);
  open().assign(kBlockHeaderBytes, '\0');
}

void ListsEncoder::BeginRecord(uint16_t flags) {
  record_at_ = open().size();
  record_ranges_ = 0;
  record_rows_ = 0;
  Put(open(), static_cast<uint32_t>(key_.size()));
  Put(open(), flags);
  Put(open(), static_cast<uint16_t>(extensions_.size()));
  Put(open(), uint32_t{0});
  Put(open(), uint32_t{0});
  open().append(key_);
  open().append(extensions_);
  if ((flags & kListForeignTimestamps) != 0) Put(open(), grace_start_seconds_);
}

void ListsEncoder::EndRecord() {
  StoreNative(open().data() + record_at_ + kRangesAt, record_ranges_);
  StoreNative(open().data() + record_at_ + kRowsAt, record_rows_);
}

void ListsEncoder::SplitIfLong() {
  if (open().size() < kBlockBytes) return;
  EndRecord();
  ++finished_;
  OpenBlock();
  split_ = true;
  // A partition's tombstone stands in its first record alone.
  BeginRecord(static_cast<uint16_t>((flags_ & ~kListTombstone) | kListContinues));
}

void ListsEncoder::OnPartition(const StoredPartition& partition) {
  LS_CHECK(partition.static_cells.empty(), "tables of lists have no static columns");
  key_.assign(partition.key);
  flags_ = 0;
  if (partition.foreign_timestamps) flags_ |= kListForeignTimestamps;
  if (partition.tombstone.present()) flags_ |= kListTombstone;
  grace_start_seconds_ = partition.grace_start_seconds;
  split_ = false;
  has_content_ = partition.tombstone.present() || !partition.ranges.empty() || partition.kept_empty;
  extensions_.clear();
  uint8_t presence = 0;
  if (partition.partial) presence |= kPresencePartial;
  if (partition.kept_empty) presence |= kPresenceKeptEmpty;
  if (presence != 0 || partition.fresh_until_seconds != 0) {
    Put(extensions_, kPresenceField);
    Put(extensions_, kPresenceFieldBytes);
    Put(extensions_, presence);
    Put<int64_t>(extensions_, partition.fresh_until_seconds);
  }
  BeginRecord(flags_);
  if (partition.tombstone.present()) PutTombstone(open(), partition.tombstone);
  for (const StoredRange& range : partition.ranges) {
    SplitIfLong();
    std::string& out = open();
    Put(out, static_cast<uint32_t>(range.range.lower.bytes.size()));
    Put(out, static_cast<uint32_t>(range.range.upper.bytes.size()));
    Put(out, static_cast<uint8_t>(range.range.upper.at_end ? 1 : 0));
    PutTombstone(out, range.tombstone);
    out.append(range.range.lower.bytes);
    out.append(range.range.upper.bytes);
    ++record_ranges_;
  }
}

bool ListsEncoder::PutHotRow(const StoredRow& row) {
  if (!row.key.packed || row.tombstone.present() || row.cells.size() != 1) return false;
  const CellView& cell = row.cells[0].view;
  const Liveness& marker = row.marker;
  if (row.cells[0].column != 0 || !cell.live || !marker.present() || cell.liveness != marker ||
      marker.expiry_seconds < 0 || marker.expiry_seconds > int64_t{UINT32_MAX} ||
      marker.ttl_seconds < 0 || marker.ttl_seconds > int64_t{UINT32_MAX}) {
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

void ListsEncoder::PutOtherRow(const StoredRow& row) {
  std::string& out = open();
  char text[kItemKeyTextBytes];
  const std::string_view key = PlainKey(row.key, text);
  uint8_t flags = 0;
  if (row.marker.present()) flags |= kRowMarker;
  if (row.tombstone.present()) flags |= kRowTombstone;
  Put(out, kOtherRow);
  Put(out, flags);
  Put(out, static_cast<uint16_t>(row.cells.size()));
  PutText(out, key);
  if (row.marker.present()) PutLiveness(out, row.marker);
  if (row.tombstone.present()) PutTombstone(out, row.tombstone);
  for (const StoredCell& cell : row.cells) {
    Put(out, cell.column);
    Put(out, static_cast<uint8_t>(cell.view.live ? 1 : 0));
    if (cell.view.live) {
      PutLiveness(out, cell.view.liveness);
      PutText(out, cell.view.value);
    } else {
      PutTombstone(out, {cell.view.liveness.timestamp, cell.view.deletion_seconds});
    }
  }
}

void ListsEncoder::OnRow(const StoredRow& row) {
  SplitIfLong();
  if (!PutHotRow(row)) PutOtherRow(row);
  ++record_rows_;
  ++rows_;
  has_content_ = true;
}

void ListsEncoder::OnPartitionEnd() {
  if (!has_content_) {
    LS_CHECK(!split_, "a record without content is short");
    open().resize(record_at_);
    return;
  }
  EndRecord();
  ++lists_;
  if (open().size() >= kBlockBytes) Finish();
}

void ListsEncoder::Finish() {
  if (OpenIsEmpty()) return;
  ++finished_;
  OpenBlock();
}

void ListsEncoder::Reset() {
  if (finished_ == 0) return;
  std::swap(blocks_[0], blocks_[finished_]);
  finished_ = 0;
  // What a very long partition took goes back.
  constexpr size_t kSpareBlocksMax = 4;
  if (blocks_.size() > kSpareBlocksMax) blocks_.resize(kSpareBlocksMax);
}

}  // namespace liststore::snapshot
