// Records of the commit log: numbers that encoder and decoder share. docs/commit_log.md describes them
// byte by byte. Everything is little-endian; a record's length is known to whoever hands it over.
#ifndef LISTSTORE_ENGINE_COMMITLOG_RECORD_FORMAT_H_
#define LISTSTORE_ENGINE_COMMITLOG_RECORD_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace liststore::commitlog {

// A write: what it does to one partition. Head: body 1, flags 1, table number 2, table generation 4,
// write timestamp 8, now 8, key bytes 4; where kSeenForeign is set, start of the grace 8; then the key
// and the body.
enum class BodyKind : uint8_t {
  kHotItem = 1,  // packed key 24, expiry 4, TTL 4, value: the rest
  kUpsert = 2,   // rows
  kDeleteRows = 3,
  kDeleteRange = 4,
  kDeletePartition = 5,  // nothing
  kPut = 6,              // fresh until 8, rows
  kForget = 7,           // nothing
};
inline constexpr size_t kWriteHeadBytes = 28;
// The timestamp came from outside, and the lane does not follow it.
inline constexpr uint8_t kForeignTimestamp = 1;
// The lane's part of the table had seen such a timestamp before this write.
inline constexpr uint8_t kSeenForeign = 2;
inline constexpr uint8_t kWriteFlags = 3;

// Body of kHotItem, its value not counted.
inline constexpr size_t kHotItemBytes = 32;

// Rows: their number 4, then each: flags 1, [key bytes 4, key], [TTL 8, expiry 8], cells 4, then each of
// those: column 2, flags 1, [value bytes 4, value], [path bytes 4, path].
inline constexpr uint8_t kRowHasMarker = 1;
inline constexpr uint8_t kRowIsStatic = 2;  // no key
inline constexpr uint8_t kRowKeyIsPacked = 4;
inline constexpr uint8_t kRowExpires = 8;
inline constexpr uint8_t kRowFlags = 15;
inline constexpr size_t kRowBytesMin = 5;
inline constexpr uint8_t kCellIsLive = 1;  // has a value
inline constexpr uint8_t kCellMakesWay = 2;
inline constexpr uint8_t kCellHasPath = 4;
inline constexpr uint8_t kCellFlags = 7;
inline constexpr size_t kCellBytesMin = 3;

// Deleted rows: their number 4, then each: packed 1, key bytes 4, key.
inline constexpr size_t kDeletedKeyBytesMin = 5;
// A range: of both bounds, the lower one first: at the end 1, bytes 4, bytes.

// A part of a batch: batch 8, logs that have a part 4, writes 4, then each: bytes 4, write.
inline constexpr size_t kBatchHeadBytes = 16;

// Numbers of batches and steps are the run of the process, then a counter, so that those of a later run are
// larger.
inline constexpr int kRunShift = 40;

// A step of all logs. Truncation: step 8, table number 2, table generation 4, of a component 1, the
// component: the rest. Barrier: step 8, payload: the rest.
inline constexpr size_t kTruncationHeadBytes = 15;
inline constexpr size_t kBarrierHeadBytes = 8;

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_RECORD_FORMAT_H_
