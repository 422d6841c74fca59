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

inline constexpr std::string_view kSegmentMagic("\x89LSL\r\n\x1a\n", 8);
inline constexpr uint32_t kLogVersion = 1;
inline constexpr size_t kSegmentHeaderBytes = 64;
inline constexpr size_t kBlockHeaderBytes = 56;
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

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_FORMAT_H_
