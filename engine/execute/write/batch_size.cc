#include "engine/execute/write/batch_size.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"

namespace liststore::execute {
namespace {

// Sources: ScyllaDB mutation/mutation_partition.cc, external_memory_usage; the sizes of its structs
// on 64 bits.
constexpr size_t kRowBytes = 144;             // rows_entry
constexpr size_t kRangeTombstoneBytes = 128;  // range_tombstone_entry, two bounds
constexpr size_t kBlobHeaderBytes = 8;        // of bytes that lie outside
constexpr size_t kInlineBytesMax = 15;        // managed_bytes
constexpr size_t kCellHeaderBytes = 9;        // flags, timestamp
constexpr size_t kExpiryBytes = 12;           // of a cell with a TTL, or a dead one
constexpr size_t kElementBytes = 4 + 4;       // of a collection: lengths of key and cell
constexpr size_t kNodeHeadBytes = 16;         // utils/compact-radix-tree.hh
constexpr size_t kCellSlotBytes = 24;         // cell_and_hash

size_t OutsideBytes(size_t bytes) {
  return bytes <= kInlineBytesMax ? 0 : bytes + kBlobHeaderBytes;
}

size_t CellBytes(const RowUpdate& row, const CellUpdate& cell) {
  const bool has_end = row.ttl_seconds != 0 || !cell.live;
  return kCellHeaderBytes + (has_end ? kExpiryBytes : 0) + cell.value.size();
}

// The nodes have room for 4, 8, 16 or 32 cells, and for the indices of those, in whole words.
size_t NodeBytes(size_t cells) {
  if (cells == 0) return 0;
  size_t capacity = 4;
  while (capacity < cells && capacity < 32) capacity *= 2;
  capacity = std::max(capacity, cells);
  return kNodeHeadBytes + (capacity + 7) / 8 * 8 + capacity * kCellSlotBytes;
}

size_t BytesOf(const RowUpdate& row) {
  size_t bytes = row.of_static_row ? 0 : kRowBytes + OutsideBytes(row.key.bytes.size());
  size_t columns = 0;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const CellUpdate& cell = row.cells[i];
    columns += i == 0 || cell.column != row.cells[i - 1].column ? 1 : 0;
    bytes += cell.path.empty() ? OutsideBytes(CellBytes(row, cell))
                               : kElementBytes + cell.path.size() + CellBytes(row, cell);
  }
  return bytes + NodeBytes(columns);
}

size_t BytesOf(const Command& command) {
  if (const auto* upsert = std::get_if<UpsertCommand>(&command.body)) {
    size_t bytes = 0;
    for (const RowUpdate& row : upsert->rows) bytes += BytesOf(row);
    return bytes;
  }
  if (const auto* rows = std::get_if<DeleteRowsCommand>(&command.body)) {
    size_t bytes = 0;
    for (const ClusteringKeyView& key : rows->keys) {
      bytes += kRowBytes + OutsideBytes(key.bytes.size());
    }
    return bytes;
  }
  return std::holds_alternative<DeleteRangeCommand>(command.body) ? kRangeTombstoneBytes : 0;
}

// Statements about the same row make one row there, of which the largest is counted.
class RowsOnce {
 public:
  void Add(const Command& command) {
    if (const auto* upsert = std::get_if<UpsertCommand>(&command.body)) {
      for (const RowUpdate& row : upsert->rows) {
        Note(command, row.of_static_row ? "s" : "r", row.key.bytes, BytesOf(row));
      }
    } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&command.body)) {
      for (const ClusteringKeyView& key : rows->keys) {
        Note(command, "r", key.bytes, kRowBytes + OutsideBytes(key.bytes.size()));
      }
    } else {
      bytes_ += BytesOf(command);
    }
  }
  size_t bytes() const { return bytes_; }

 private:
  void Note(const Command& command, std::string_view kind, std::string_view key, size_t bytes) {
    std::string name = std::to_string(command.table.value) + ":" +
                       std::to_string(command.partition_key.size()) + ":";
    name.append(command.partition_key).append(kind).append(key);
    size_t& counted = rows_[std::move(name)];
    bytes_ += bytes - std::min(bytes, counted);
    counted = std::max(bytes, counted);
  }

  std::unordered_map<std::string, size_t, absl::Hash<std::string>> rows_;
  size_t bytes_ = 0;
};

}  // namespace

// Source: ScyllaDB cql3/statements/batch_statement.cc, verify_batch_size: batches on one partition
// have no limit.
cql::CqlStatus CheckBatchSize(std::span<const Command> commands, uint64_t bytes_max) {
  size_t bytes = 0;
  bool one_partition = true;
  for (const Command& command : commands) {
    bytes += BytesOf(command);
    one_partition &=
        command.partition_key == commands[0].partition_key && command.table == commands[0].table;
  }
  if (one_partition || bytes <= bytes_max) return {};
  RowsOnce rows;
  for (const Command& command : commands) rows.Add(command);
  if (rows.bytes() <= bytes_max) return {};
  return cql::CqlError::Invalid("Batch too large");
}

}  // namespace liststore::execute
