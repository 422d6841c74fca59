// The blocks of a snapshot of everything, in a file of blocks as a saved store is one: numbers that writer
// and reader share. docs/snapshot.md describes it byte by byte. Everything is little-endian.
//
//   file header | definitions, as many blocks as they take | blocks of rows | blocks of parts | end record
#ifndef LISTSTORE_ENGINE_SNAPSHOT_ROWS_FORMAT_H_
#define LISTSTORE_ENGINE_SNAPSHOT_ROWS_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace liststore::snapshot {

// Rows: the table's number 4, as the definitions count them, then partitions.
inline constexpr size_t kRowsHeadBytes = 4;

// Partition: key bytes 4, flags 1, zero 3, ranges 4, static cells 4, rows 4, then key; where their flags are
// set, start of the grace 8, tombstone 16, fresh until 8; ranges, static cells, rows.
inline constexpr size_t kPartitionHeadBytes = 20;
inline constexpr uint8_t kPartitionForeignTimestamps = 1;
inline constexpr uint8_t kPartitionTombstone = 2;
// More of one that began in a block before: its tombstone, ranges and static cells are there.
inline constexpr uint8_t kPartitionContinues = 4;
inline constexpr uint8_t kPartitionPartial = 8;
inline constexpr uint8_t kPartitionKeptEmpty = 16;
inline constexpr uint8_t kPartitionFresh = 32;
inline constexpr uint8_t kPartitionFlags = 63;

// Range: lower bytes 4, upper bytes 4, to the end 1, tombstone 16, lower bound, upper bound.
inline constexpr size_t kRangeBytesMin = 25;

// Row: kind 1, then
//   item: value bytes 4, expiry 4, TTL 4, timestamp 8, packed key 24, value (as kHotRow of saved_format.h)
//   other: flags 1, cells 4, key bytes 4, key, marker 24, tombstone 16, cells
inline constexpr uint8_t kRowHasMarker = 1;
inline constexpr uint8_t kRowHasTombstone = 2;
inline constexpr uint8_t kRowKeyPacked = 4;
inline constexpr uint8_t kOtherRowFlags = 7;
inline constexpr size_t kRowBytesMin = 10;

// Cell: column 2, flags 1; a live one: its liveness 24, where it is not the marker's, value bytes 4, value; a
// dead one: tombstone 16; path bytes 4, path, where it has one.
inline constexpr uint8_t kCellLive = 1;
inline constexpr uint8_t kCellPath = 2;
inline constexpr uint8_t kCellAsMarker = 4;
inline constexpr uint8_t kCellFlags = 7;
inline constexpr size_t kCellBytesMin = 7;

// Part, of CopiedParts: table's number 4, lane 4, last address 8, position 8.
inline constexpr size_t kPartBytes = 24;

// End record: partitions 8, rows 8, parts 8, last timestamp 8.
inline constexpr size_t kFullEndBytes = 32;

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_ROWS_FORMAT_H_
