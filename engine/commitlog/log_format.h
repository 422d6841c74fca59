// The commit log's format: numbers that writer and reader share. docs/commit_log.md describes it
// byte by byte. Everything is little-endian.
//
//   segment: header 64 | blocks: header 56, payload | zeros, as many as were set aside
//   the payloads of all segments in order are the log; records lie in it one after the other, and go
//   over the ends of blocks and segments
#ifndef LISTSTORE_ENGINE_COMMITLOG_LOG_FORMAT_H_
#define LISTSTORE_ENGINE_COMMITLOG_LOG_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore::commitlog {

// A byte above 127, a line end of each kind and the end of text of old systems.
inline constexpr std::string_view kSegmentMagic("\x89LSL\r\n\x1a\n", 8);
inline constexpr uint32_t kLogVersion = 1;

// Segment header: magic 8, version 4, shard 4, shards 4, run 4, number 8, position 8, first segment of
// the run 8, salt 8, checksum 8.
inline constexpr size_t kSegmentHeaderBytes = 64;
inline constexpr size_t kVersionAt = 8;

// Block header: magic 4, payload bytes 4, position 8, synchronised position 8, instant 8, first
// record 4, records 4, checksum of the payload 8, of the 48 bytes before 8.
inline constexpr size_t kBlockHeaderBytes = 56;
inline constexpr std::string_view kBlockMagic("\x9dLSB", 4);

inline constexpr size_t kRecordHeaderBytes = 5;  // length 4, kind 1
// No payload of a block is longer.
inline constexpr size_t kBlockPayloadMax = size_t{1} << 20;

// Which segment a file is: "log-0003-0000000000000017.log" is shard 3's 17th.
struct SegmentName {
  uint32_t shard = 0;
  uint64_t number = 0;
};
std::string SegmentFileName(const SegmentName& name);
// Nothing for names of other files.
std::optional<SegmentName> ParseSegmentFileName(std::string_view file_name);

struct SegmentHeader {
  SegmentName name;
  uint32_t shards = 0;
  uint64_t position = 0;  // of the first byte of the log that is in it
  uint32_t run = 0;
  // The run's first one. What earlier segments than that have from a position of this run on was cut
  // off when the run began: it is void.
  uint64_t first_of_run = 0;
  // Of the run, drawn at random. Nobody can write a value that looks like a block of it.
  uint64_t salt = 0;
};
void EncodeSegmentHeader(const SegmentHeader& header, char to[kSegmentHeaderBytes]);
// Why it is none, or not the one that `name` says; "" when it is. `later_version` is set for those of
// versions that this program does not know.
std::string DecodeSegmentHeader(std::string_view bytes, const SegmentName& name,
                                SegmentHeader& header, uint32_t& later_version);

inline constexpr uint32_t kNoRecord = UINT32_MAX;

struct BlockHeader {
  uint32_t payload_bytes = 0;  // 0: the log was closed here
  uint64_t position = 0;       // of the first byte of the payload
  uint64_t synced = 0;         // everything before was synchronised when this was written
  uint64_t written_at_nanos = 0;
  uint32_t first_record = kNoRecord;  // where in the payload the first record begins
  uint32_t records = 0;               // that begin in it
  uint64_t payload_checksum = 0;

  uint64_t end() const { return position + payload_bytes; }
};
// Of the checksums of a segment's block headers: a block that lies in another segment, or came back
// from an earlier use of the disk, is none.
uint64_t BlockSeed(const SegmentName& segment, uint64_t salt);
// With its own checksum; the payload's is given.
void EncodeBlockHeader(const BlockHeader& header, uint64_t seed, char to[kBlockHeaderBytes]);
// Why the bytes are no valid block header of the segment with this seed; "" when they are.
std::string DecodeBlockHeader(std::string_view bytes, uint64_t seed, BlockHeader& header);
// The payload's.
uint64_t PayloadChecksum(std::string_view payload, uint64_t position);

// While a block is in memory its header holds these alone, unchecked, at their places.
void StoreOpenHeader(const BlockHeader& header, char to[kBlockHeaderBytes]);
BlockHeader LoadOpenHeader(const char from[kBlockHeaderBytes]);

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_FORMAT_H_
