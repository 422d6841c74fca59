#include "engine/commitlog/record_encoder.h"

#include <cstring>
#include <span>
#include <variant>

#include "engine/base/big_endian.h"
#include "engine/base/byte_coding.h"
#include "engine/base/check.h"
#include "engine/commitlog/record_format.h"

namespace liststore::commitlog {
namespace {

// In the head of a batch's part.
constexpr size_t kLogsAt = 8;
constexpr size_t kWritesAt = 12;

bool FitsItem(int64_t seconds) { return seconds >= 0 && seconds <= int64_t{UINT32_MAX}; }

// Appends `bytes` bytes and gives where they begin.
char* Grow(std::string& out, size_t bytes) {
  const size_t at = out.size();
  out.resize(at + bytes);
  return out.data() + at;
}

// The head of a write; where its body begins.
char* EncodeHead(BodyKind kind, TableId table, std::string_view partition_key,
                 const WriteContext& write, const RecordedGrace& grace, char* to) {
  uint8_t flags = 0;
  if (write.foreign_timestamp) flags |= kForeignTimestamp;
  if (grace.has_seen_foreign) flags |= kSeenForeign;
  StoreNative(to, kind);
  StoreNative(to + 1, flags);
  StoreNative(to + 2, table.value);
  StoreNative(to + 4, table.generation);
  StoreNative(to + 8, write.timestamp.micros);
  StoreNative(to + 16, write.now_seconds);
  StoreNative(to + 24, static_cast<uint32_t>(partition_key.size()));
  to += kWriteHeadBytes;
  if (grace.has_seen_foreign) {
    StoreNative(to, grace.start_seconds);
    to += sizeof(grace.start_seconds);
  }
  if (!partition_key.empty()) std::memcpy(to, partition_key.data(), partition_key.size());
  return to + partition_key.size();
}

size_t HeadBytes(std::string_view partition_key, const RecordedGrace& grace) {
  return kWriteHeadBytes + (grace.has_seen_foreign ? sizeof(grace.start_seconds) : 0) +
         partition_key.size();
}

void PutCell(const CellUpdate& cell, std::string& out) {
  uint8_t flags = 0;
  if (cell.live) flags |= kCellIsLive;
  if (cell.makes_way) flags |= kCellMakesWay;
  if (!cell.path.empty()) flags |= kCellHasPath;
  Put(out, cell.column);
  Put(out, flags);
  if (cell.live) PutText(out, cell.value);
  if (!cell.path.empty()) PutText(out, cell.path);
}

void PutRows(std::span<const RowUpdate> rows, std::string& out) {
  Put(out, static_cast<uint32_t>(rows.size()));
  for (const RowUpdate& row : rows) {
    const bool expires = row.ttl_seconds != 0 || row.expiry_seconds != kNoExpiry;
    uint8_t flags = 0;
    if (row.marker) flags |= kRowHasMarker;
    if (row.of_static_row) flags |= kRowIsStatic;
    if (row.key.packed && !row.of_static_row) flags |= kRowKeyIsPacked;
    if (expires) flags |= kRowExpires;
    Put(out, flags);
    if (!row.of_static_row) PutText(out, row.key.bytes);
    if (expires) {
      Put<int64_t>(out, row.ttl_seconds);
      Put<int64_t>(out, row.expiry_seconds);
    }
    Put(out, static_cast<uint32_t>(row.cells.size()));
    for (const CellUpdate& cell : row.cells) PutCell(cell, out);
  }
}

void PutBound(const ClusteringBound& bound, std::string& out) {
  Put(out, static_cast<uint8_t>(bound.at_end ? 1 : 0));
  PutText(out, bound.at_end ? std::string_view() : bound.bytes);
}

BodyKind KindOf(const CommandBody& body) {
  if (const auto* upsert = std::get_if<UpsertCommand>(&body)) {
    return IsHotItem(upsert->rows) ? BodyKind::kHotItem : BodyKind::kUpsert;
  }
  if (std::holds_alternative<DeleteRowsCommand>(body)) return BodyKind::kDeleteRows;
  if (std::holds_alternative<DeleteRangeCommand>(body)) return BodyKind::kDeleteRange;
  if (std::holds_alternative<DeletePartitionCommand>(body)) return BodyKind::kDeletePartition;
  if (std::holds_alternative<PutCommand>(body)) return BodyKind::kPut;
  LS_CHECK(std::holds_alternative<ForgetCommand>(body), "what is written down is a write");
  return BodyKind::kForget;
}

}  // namespace

bool IsHotItem(std::span<const RowUpdate> rows) {
  if (rows.size() != 1) return false;
  const RowUpdate& row = rows[0];
  if (!row.key.packed || !row.marker || row.of_static_row || row.cells.size() != 1) return false;
  const CellUpdate& cell = row.cells[0];
  return cell.column == 0 && cell.live && !cell.makes_way && cell.path.empty() &&
         FitsItem(row.expiry_seconds) && FitsItem(row.ttl_seconds);
}

size_t HotItemRecordBytes(std::string_view partition_key, std::span<const RowUpdate> rows,
                          const RecordedGrace& grace) {
  return HeadBytes(partition_key, grace) + kHotItemBytes + rows[0].cells[0].value.size();
}

void EncodeHotItem(TableId table, std::string_view partition_key, std::span<const RowUpdate> rows,
                   const WriteContext& write, const RecordedGrace& grace, char* to) {
  const RowUpdate& row = rows[0];
  const std::string_view value = row.cells[0].value;
  to = EncodeHead(BodyKind::kHotItem, table, partition_key, write, grace, to);
  std::memcpy(to, row.key.bytes.data(), kPackedItemKeyBytes);
  StoreNative(to + kPackedItemKeyBytes, static_cast<uint32_t>(row.expiry_seconds));
  StoreNative(to + kPackedItemKeyBytes + 4, static_cast<uint32_t>(row.ttl_seconds));
  if (!value.empty()) std::memcpy(to + kHotItemBytes, value.data(), value.size());
}

void AppendWrite(TableId table, std::string_view partition_key, const CommandBody& body,
                 const WriteContext& write, const RecordedGrace& grace, std::string& out) {
  const BodyKind kind = KindOf(body);
  if (kind == BodyKind::kHotItem) {
    const std::span<const RowUpdate> rows = std::get<UpsertCommand>(body).rows;
    const size_t bytes = HotItemRecordBytes(partition_key, rows, grace);
    return EncodeHotItem(table, partition_key, rows, write, grace, Grow(out, bytes));
  }
  EncodeHead(kind, table, partition_key, write, grace, Grow(out, HeadBytes(partition_key, grace)));
  if (kind == BodyKind::kUpsert) {
    PutRows(std::get<UpsertCommand>(body).rows, out);
  } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&body)) {
    Put(out, static_cast<uint32_t>(rows->keys.size()));
    for (const ClusteringKeyView& key : rows->keys) {
      Put(out, static_cast<uint8_t>(key.packed ? 1 : 0));
      PutText(out, key.bytes);
    }
  } else if (const auto* range = std::get_if<DeleteRangeCommand>(&body)) {
    PutBound(range->range.lower, out);
    PutBound(range->range.upper, out);
  } else if (const auto* put = std::get_if<PutCommand>(&body)) {
    Put<int64_t>(out, put->fresh_until_seconds);
    PutRows(put->rows, out);
  }
}

void BeginBatchPart(uint64_t batch, std::string& out) {
  Put(out, batch);
  Put(out, uint32_t{0});
  Put(out, uint32_t{0});
}

size_t BeginBatchWrite(std::string& out) {
  Put(out, uint32_t{0});
  return out.size();
}

void EndBatchWrite(size_t begun, std::string& out) {
  StoreNative(out.data() + begun - sizeof(uint32_t), static_cast<uint32_t>(out.size() - begun));
  StoreNative(out.data() + kWritesAt, WritesOfPart(out) + 1);
}

void EndBatchPart(uint32_t logs, std::string& out) { StoreNative(out.data() + kLogsAt, logs); }

uint32_t WritesOfPart(std::string_view part) {
  return LoadNative<uint32_t>(part.data() + kWritesAt);
}

std::string_view FirstWriteOfPart(std::string_view part) {
  const auto bytes = LoadNative<uint32_t>(part.data() + kBatchHeadBytes);
  return part.substr(kBatchHeadBytes + sizeof(uint32_t), bytes);
}

void AppendTruncation(uint64_t step, TableId table, std::optional<std::string_view> component,
                      std::string& out) {
  Put(out, step);
  Put(out, table.value);
  Put(out, table.generation);
  Put(out, static_cast<uint8_t>(component ? 1 : 0));
  if (component) out.append(*component);
}

void AppendBarrier(uint64_t step, std::string_view payload, std::string& out) {
  Put(out, step);
  out.append(payload);
}

}  // namespace liststore::commitlog
