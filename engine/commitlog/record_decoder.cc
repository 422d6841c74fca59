#include "engine/commitlog/record_decoder.h"

#include "engine/base/byte_coding.h"
#include "engine/model/packed_item_key.h"

namespace liststore::commitlog {

class WriteDecoder::Input final : public ByteReader {
 public:
  using ByteReader::ByteReader;
};

namespace {

// Times that a writer can have had: additions to them do not overflow.
constexpr int64_t kSecondsMax = int64_t{1} << 40;
bool IsSecond(int64_t seconds) { return seconds > -kSecondsMax && seconds < kSecondsMax; }

// As Liveness has it.
bool IsSound(const RowUpdate& row) {
  if (row.ttl_seconds == 0) return row.expiry_seconds == kNoExpiry;
  return row.ttl_seconds > 0 && row.ttl_seconds <= kTtlSecondsMax &&
         row.expiry_seconds != kNoExpiry && IsSecond(row.expiry_seconds);
}

}  // namespace

bool WriteDecoder::DecodeCell(Input& input) {
  CellUpdate& cell = cells_.emplace_back();
  cell.column = input.Take<ColumnId>();
  const auto flags = input.Take<uint8_t>();
  cell.live = (flags & kCellIsLive) != 0;
  cell.makes_way = (flags & kCellMakesWay) != 0;
  if (cell.live) cell.value = input.TakeText();
  if ((flags & kCellHasPath) != 0) cell.path = input.TakeText();
  return !input.bad() && (flags & ~kCellFlags) == 0 && !(cell.live && cell.makes_way) &&
         ((flags & kCellHasPath) == 0 || !cell.path.empty());
}

bool WriteDecoder::DecodeRow(Input& input) {
  RowUpdate& row = rows_.emplace_back();
  const auto flags = input.Take<uint8_t>();
  row.marker = (flags & kRowHasMarker) != 0;
  row.of_static_row = (flags & kRowIsStatic) != 0;
  if (!row.of_static_row) row.key = {input.TakeText(), (flags & kRowKeyIsPacked) != 0};
  if ((flags & kRowExpires) != 0) {
    row.ttl_seconds = input.Take<int64_t>();
    row.expiry_seconds = input.Take<int64_t>();
  }
  const uint32_t cells = input.TakeCount(kCellBytesMin);
  for (uint32_t i = 0; i < cells; ++i) {
    if (!DecodeCell(input)) return false;
  }
  cell_counts_.push_back(cells);
  return !input.bad() && (flags & ~kRowFlags) == 0 && IsSound(row) &&
         (!row.key.packed || IsPackedItemKey(row.key.bytes));
}

bool WriteDecoder::DecodeRows(Input& input, RecordedWrite& write) {
  rows_.clear();
  cells_.clear();
  cell_counts_.clear();
  const uint32_t rows = input.TakeCount(kRowBytesMin);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!DecodeRow(input)) return false;
  }
  // The buffers have stopped moving.
  size_t cell = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].cells = std::span(cells_).subspan(cell, cell_counts_[i]);
    cell += cell_counts_[i];
  }
  write.rows = rows_;
  return true;
}

bool WriteDecoder::DecodeKeys(Input& input, RecordedWrite& write) {
  keys_.clear();
  const uint32_t keys = input.TakeCount(kDeletedKeyBytesMin);
  for (uint32_t i = 0; i < keys; ++i) {
    const auto packed = input.Take<uint8_t>();
    const std::string_view bytes = input.TakeText();
    if (input.bad() || packed > 1 || (packed == 1 && !IsPackedItemKey(bytes))) return false;
    keys_.push_back({bytes, packed == 1});
  }
  write.keys = keys_;
  return true;
}

bool WriteDecoder::Decode(std::string_view record, RecordedWrite& write) {
  if (record.size() < kWriteHeadBytes) return false;
  const auto kind = LoadNative<BodyKind>(record.data());
  const auto flags = LoadNative<uint8_t>(record.data() + 1);
  write.kind = kind;
  write.table.value = LoadNative<uint16_t>(record.data() + 2);
  write.table.generation = LoadNative<uint32_t>(record.data() + 4);
  write.write.timestamp.micros = LoadNative<int64_t>(record.data() + 8);
  write.write.now_seconds = LoadNative<int64_t>(record.data() + 16);
  write.write.foreign_timestamp = (flags & kForeignTimestamp) != 0;
  write.grace = {};
  const auto key_bytes = LoadNative<uint32_t>(record.data() + 24);
  Input input(record.substr(kWriteHeadBytes));
  if ((flags & kSeenForeign) != 0) write.grace = {true, input.Take<int64_t>()};
  write.partition_key = input.TakeBytes(key_bytes);
  if (input.bad() || (flags & ~kWriteFlags) != 0 || write.write.timestamp.is_none() ||
      !IsSecond(write.write.now_seconds) || !IsSecond(write.grace.start_seconds)) {
    return false;
  }
  const auto take_bound = [&](ClusteringBound& bound) {
    const auto at_end = input.Take<uint8_t>();
    bound.packed.reset();
    bound.bytes = input.TakeText();
    bound.at_end = at_end == 1;
    return at_end <= 1 && (at_end == 0 || bound.bytes.empty());
  };
  switch (kind) {
    case BodyKind::kHotItem: {
      if (input.left() < kHotItemBytes) return false;
      const std::string_view head = input.TakeBytes(kHotItemBytes);
      hot_cell_.value = input.TakeBytes(input.left());
      hot_row_.key = {head.substr(0, kPackedItemKeyBytes), true};
      hot_row_.expiry_seconds = LoadNative<uint32_t>(head.data() + kPackedItemKeyBytes);
      hot_row_.ttl_seconds = LoadNative<uint32_t>(head.data() + kPackedItemKeyBytes + 4);
      hot_row_.cells = {&hot_cell_, 1};
      write.kind = BodyKind::kUpsert;
      write.rows = {&hot_row_, 1};
      return IsSound(hot_row_) && IsPackedItemKey(hot_row_.key.bytes);
    }
    case BodyKind::kUpsert:
      return DecodeRows(input, write) && input.AtEnd();
    case BodyKind::kDeleteRows:
      return DecodeKeys(input, write) && input.AtEnd();
    case BodyKind::kDeleteRange:
      return take_bound(write.range.lower) && take_bound(write.range.upper) && input.AtEnd();
    case BodyKind::kPut:
      write.fresh_until_seconds = input.Take<int64_t>();
      return write.fresh_until_seconds >= 0 && IsSecond(write.fresh_until_seconds) &&
             DecodeRows(input, write) && input.AtEnd();
    case BodyKind::kDeletePartition:
    case BodyKind::kForget:
      return input.AtEnd();
  }
  return false;
}

std::optional<BatchPartReader> BatchPartReader::Open(std::string_view record) {
  if (record.size() < kBatchHeadBytes) return std::nullopt;
  BatchPartReader part;
  part.batch_ = LoadNative<uint64_t>(record.data());
  part.logs_ = LoadNative<uint32_t>(record.data() + 8);
  auto writes = LoadNative<uint32_t>(record.data() + 12);
  part.rest_ = record.substr(kBatchHeadBytes);
  BatchPartReader look = part;
  for (std::string_view write; look.Next(write); --writes) {
    if (writes == 0) return std::nullopt;
  }
  if (writes != 0 || !look.rest_.empty() || part.logs_ == 0) return std::nullopt;
  return part;
}

bool BatchPartReader::Next(std::string_view& write) {
  if (rest_.size() < sizeof(uint32_t)) return false;
  const auto bytes = LoadNative<uint32_t>(rest_.data());
  if (rest_.size() - sizeof(uint32_t) < bytes) return false;
  write = rest_.substr(sizeof(uint32_t), bytes);
  rest_.remove_prefix(sizeof(uint32_t) + bytes);
  return true;
}

std::optional<RecordedTruncation> DecodeTruncation(std::string_view record) {
  if (record.size() < kTruncationHeadBytes) return std::nullopt;
  RecordedTruncation truncation;
  truncation.step = LoadNative<uint64_t>(record.data());
  truncation.table.value = LoadNative<uint16_t>(record.data() + 8);
  truncation.table.generation = LoadNative<uint32_t>(record.data() + 10);
  const auto of_component = LoadNative<uint8_t>(record.data() + 14);
  const std::string_view rest = record.substr(kTruncationHeadBytes);
  if (of_component > 1 || (of_component == 0 && !rest.empty())) return std::nullopt;
  if (of_component == 1) truncation.component = rest;
  return truncation;
}

std::optional<RecordedBarrier> DecodeBarrier(std::string_view record) {
  if (record.size() < kBarrierHeadBytes) return std::nullopt;
  return RecordedBarrier{LoadNative<uint64_t>(record.data()), record.substr(kBarrierHeadBytes)};
}

}  // namespace liststore::commitlog
