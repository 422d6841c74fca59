// What logs there are in a directory.
#ifndef LISTSTORE_ENGINE_COMMITLOG_LOG_DIRECTORY_H_
#define LISTSTORE_ENGINE_COMMITLOG_LOG_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/log_format.h"
#include "engine/disk/file_calls.h"

namespace liststore::commitlog {

struct LogFiles {
  uint32_t shard = 0;
  std::vector<uint64_t> segments;  // numbers, ascending
};

// By shard, ascending; other files are passed over. NotFound: no such directory.
absl::StatusOr<std::vector<LogFiles>> ListLogs(disk::FileCalls& calls,
                                               const std::string& directory);

// Removes the segments of `shard` that end at or before `position`: for logs that nobody writes, of
// shards that are no more. Where the end of one is not known, because none follows, it stays, unless
// `position` is at or behind `end`, that of the whole log (LogReader::end()). Synchronises the
// directory.
absl::Status DropSegments(disk::FileCalls& calls, const std::string& directory, uint32_t shard,
                          uint64_t position, uint64_t end);

// A segment of an earlier run, for who goes on with the log.
struct EarlierSegment {
  std::string path;
  uint64_t position = UINT64_MAX;  // of its first byte; UINT64_MAX: its header is not right
  bool unused = false;             // nothing but zeros, and removed
};
// Synchronises it: a run that was killed may not have, and what was read of it is believed from now
// on. Removes one that was set aside and never written.
absl::StatusOr<EarlierSegment> OpenEarlierSegment(disk::FileCalls& calls,
                                                  const std::string& directory,
                                                  const SegmentName& name);

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_DIRECTORY_H_
