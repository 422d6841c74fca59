// WriteLog: what the lanes of a shard write to. A record is bytes of a kind; its end is a position
// of the log.
//
//   if (!log.Reserve(bytes)) return ...;            // nothing was applied; log.refusal() says why
//   ... apply, while the lane is held ...
//   const uint64_t end = log.Append(RecordKind::kWrite, record, bytes);
//   // Kept once ShardLog::written() (the process may die) or synced() (the machine may) is there.
//
// Positions are bytes of the log since it first began: that of a record never comes again, not
// after a restart either. Order of positions is the order of Append.
#ifndef LISTSTORE_ENGINE_COMMITLOG_WRITE_LOG_H_
#define LISTSTORE_ENGINE_COMMITLOG_WRITE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace liststore::commitlog {

// A byte of the format: numbers are never given again. What a kind's bytes are is in its header.
enum class RecordKind : uint8_t {
  kWrite = 1,      // what one command did to one partition
  kBatchPart = 2,  // writes of a batch over several partitions, those of this log
  kTruncate = 3,   // in every log, while all lanes are held
  kBarrier = 4,    // in every log: a change of the schema
  kEvent = 5,      // in log 0 alone: roles, moves of the clock
};
inline constexpr uint8_t kRecordKindMax = 5;

// No record is longer: one CQL frame of 256 MiB fits with what is around it.
inline constexpr size_t kRecordBytesMax = size_t{512} << 20;
// AppendEncoded takes no longer ones.
inline constexpr size_t kEncodedBytesMax = size_t{16} << 10;

// Thread-safe. Reserve: one atomic addition; an append: one short lock. No allocation once the
// buffers are warm.
class WriteLog {
 public:
  virtual ~WriteLog() = default;

  // Sets room aside for one record of up to `bytes`, at most kRecordBytesMax. False: writes are
  // refused (the disk is full, failing, read-only or too slow), and refusal() says so. Every true is
  // ended by one Append, AppendEncoded or Unreserve with the same `bytes`.
  virtual bool Reserve(size_t bytes) = 0;
  virtual void Unreserve(size_t bytes) = 0;

  // Appends a record, of at most `reserved` bytes, for which that was set aside; its end position.
  // Never fails. It is in memory: ShardLog::Write hands it to the kernel.
  virtual uint64_t Append(RecordKind kind, std::string_view record, size_t reserved) = 0;
  // The same without a copy: `encode` puts the record to where it is told, at most `reserved` bytes,
  // which are at most kEncodedBytesMax, and returns how many. It runs under the log's lock: it must
  // be short and call nothing of the log.
  virtual uint64_t AppendEncoded(RecordKind kind, size_t reserved,
                                 absl::FunctionRef<size_t(char*)> encode) = 0;

  // The end of the last record. While all lanes that append are held: where a snapshot begins.
  virtual uint64_t appended() const = 0;
  // Why Reserve says no, with the directory, the disk's words and what to do. OK: it does not.
  virtual absl::Status refusal() const = 0;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_WRITE_LOG_H_
