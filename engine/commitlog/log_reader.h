// LogReader: the records of one shard's log, out of all its segments, in order.
//
//   LogReader reader({.calls = &calls, .directory = dir, .shard = 0, .from = position});
//   LS_RETURN_IF_ERROR(reader.Open());
//   LogRecord record;
//   while (true) {
//     LS_ASSIGN_OR_RETURN(const bool more, reader.Next(record));
//     if (!more) break;
//     ...
//   }
//   reader.end(), reader.verdict()
//
// What a crash cut off is no damage: the end of the log that was not yet synchronised. It is left
// out, and the verdict says how much it was. What was synchronised and is not there or not right is:
// Next ends with DataLoss, which names file, offset, and the instants between which what is missing
// was written.
#ifndef LISTSTORE_ENGINE_COMMITLOG_LOG_READER_H_
#define LISTSTORE_ENGINE_COMMITLOG_LOG_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/write_log.h"
#include "engine/disk/file_calls.h"

namespace liststore::commitlog {

struct LogRecord {
  RecordKind kind = RecordKind::kWrite;
  std::string_view bytes;  // valid until the next one is read
  uint64_t begin = 0;      // positions
  uint64_t end = 0;
  uint64_t written_at_nanos =
      0;  // when its last bytes were handed to the kernel, by the clock then
};

// Something that was in the log and is not to be had.
struct LogDamage {
  std::string file;
  uint64_t offset = 0;         // in the file
  uint64_t from_position = 0;  // what is missing, at most: [from, to)
  uint64_t to_position = 0;    // 0: to the end
  // What is missing was written between these instants. 0: not known.
  uint64_t after_nanos = 0;
  uint64_t before_nanos = 0;
  std::string text;  // the whole of it as a sentence
};

struct LogVerdict {
  uint64_t segments = 0;
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  uint64_t begin = 0;   // position of the first byte that is there
  uint64_t end = 0;     // of the last one
  bool closed = false;  // the log says that it ends here: it was closed, not cut off
  // The end that was cut off; 0: none was. Bytes of files, from the first that is not right to the
  // last that is not zero.
  uint64_t torn_bytes = 0;
  std::string torn_text;  // file, offset and why, as a sentence
  uint64_t damages_total = 0;
  std::vector<LogDamage> damages;  // the first 100
};

struct LogReaderOptions {
  disk::FileCalls* calls = &disk::KernelFileCalls();  // outlives the reader
  std::string directory;
  uint32_t shard = 0;
  // Records that begin before are not handed on, and their segments may be missing. The end of a
  // record, or 0.
  uint64_t from = 0;
  // Behind what is damaged it goes on with the next record that is whole; the verdict has what was
  // left out.
  bool go_on_behind_damage = false;
};

class LogPieces;

// Used by one thread. Keeps 2 MiB and the record.
class LogReader {
 public:
  explicit LogReader(const LogReaderOptions& options);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Once. Looks at the segments there are; none is a log of nothing. NotFound: no such directory.
  // FailedPrecondition: a segment is of a later version, whose number and file are named.
  absl::Status Open();

  // True: `record` is the next one. False: the end. DataLoss as above, then again each time.
  // FailedPrecondition: as Open. Else what the disk says.
  absl::StatusOr<bool> Next(LogRecord& record);

  // Where a new log goes on (ShardLogOptions::position), once Next was false. Behind a record that
  // was cut off, at least `from`.
  uint64_t end() const;
  const LogVerdict& verdict() const;

  // Of how many runs and shards it is, as its last segment says; 0 without one.
  uint32_t last_shards() const;
  uint32_t last_run() const;

  // Bytes of segments, those that were set aside included: how far it is.
  uint64_t bytes_done() const;
  uint64_t bytes_total() const;

 private:
  absl::StatusOr<bool> MorePieces();
  std::string_view Take(size_t bytes);
  bool Collect();
  void DropPartial();

  std::unique_ptr<LogPieces> pieces_;
  const uint64_t from_;
  std::string_view rest_;  // of the piece that was read last
  uint64_t position_ = 0;  // of its first byte
  uint64_t written_at_nanos_ = 0;
  uint64_t begin_ = 0;   // of the record
  std::string partial_;  // what there is of it, where it began in an earlier piece
  bool partial_handed_on_ = false;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_LOG_READER_H_
