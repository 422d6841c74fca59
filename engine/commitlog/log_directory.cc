#include "engine/commitlog/log_directory.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/commitlog/segment_supply.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;

// Nothing but zeros from `offset` on.
absl::StatusOr<bool> AllZero(disk::FileCalls& calls, int file, const std::string& path) {
  std::string piece(kPieceBytes, '\0');
  for (uint64_t offset = 0;;) {
    const int64_t read = calls.ReadAt(file, piece.data(), piece.size(), offset);
    if (read < 0) return disk::FileError("read", path, read);
    if (read == 0) return true;
    const std::string_view bytes(piece.data(), static_cast<size_t>(read));
    if (bytes.find_first_not_of('\0') != std::string_view::npos) return false;
    offset += static_cast<uint64_t>(read);
  }
}

}  // namespace

absl::StatusOr<std::vector<LogFiles>> ListLogs(disk::FileCalls& calls,
                                               const std::string& directory) {
  std::vector<std::string> names;
  if (const int result = calls.List(directory, names); result < 0) {
    return disk::FileError("list", directory, result);
  }
  std::map<uint32_t, LogFiles> logs;
  for (const std::string& name : names) {
    const std::optional<SegmentName> segment = ParseSegmentFileName(name);
    if (!segment) continue;
    LogFiles& log = logs[segment->shard];
    log.shard = segment->shard;
    log.segments.push_back(segment->number);
  }
  std::vector<LogFiles> sorted;
  for (auto& [shard, log] : logs) {
    std::sort(log.segments.begin(), log.segments.end());
    sorted.push_back(std::move(log));
  }
  return sorted;
}

absl::Status DropSegments(disk::FileCalls& calls, const std::string& directory, uint32_t shard,
                          uint64_t position, uint64_t end) {
  LS_ASSIGN_OR_RETURN(const std::vector<LogFiles> logs, ListLogs(calls, directory));
  for (const LogFiles& log : logs) {
    if (log.shard != shard) continue;
    // What a segment has from the first position of a later one on is there again, or void.
    uint64_t ends_at = end;
    std::vector<std::string> paths;
    for (size_t i = log.segments.size(); i-- > 0;) {
      LS_ASSIGN_OR_RETURN(const EarlierSegment segment,
                          OpenEarlierSegment(calls, directory, {shard, log.segments[i]}));
      if (segment.unused) continue;
      if (ends_at <= position) paths.push_back(segment.path);
      ends_at = std::min(ends_at, segment.position);
    }
    // The oldest first: a later one says what of them is void.
    std::reverse(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      if (const int result = calls.Remove(path); result < 0) {
        return disk::FileError("remove", path, result);
      }
    }
    return SyncDirectory(calls, directory);
  }
  return absl::OkStatus();
}

absl::StatusOr<EarlierSegment> OpenEarlierSegment(disk::FileCalls& calls,
                                                  const std::string& directory,
                                                  const SegmentName& name) {
  EarlierSegment segment;
  segment.path = absl::StrCat(directory, "/", SegmentFileName(name));
  const int file = calls.Open(segment.path, disk::FileCalls::OpenFor::kReading);
  if (file < 0) return disk::FileError("read", segment.path, file);
  absl::Cleanup close = [&] { calls.Close(file); };
  char bytes[kSegmentHeaderBytes];
  const int64_t read = calls.ReadAt(file, bytes, sizeof(bytes), 0);
  if (read < 0) return disk::FileError("read", segment.path, read);
  SegmentHeader header;
  uint32_t later_version = 0;
  const std::string_view head(bytes, static_cast<size_t>(read));
  if (DecodeSegmentHeader(head, name, header, later_version).empty()) {
    segment.position = header.position;
  } else if (later_version == 0) {
    LS_ASSIGN_OR_RETURN(segment.unused, AllZero(calls, file, segment.path));
    if (segment.unused) {
      if (const int result = calls.Remove(segment.path); result < 0) {
        return disk::FileError("remove", segment.path, result);
      }
      return segment;
    }
  }
  if (const int result = calls.SyncData(file); result < 0) {
    return disk::FileError("sync", segment.path, result);
  }
  return segment;
}

}  // namespace liststore::commitlog
