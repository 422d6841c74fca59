// ShardLog: the log of one shard, written to segments of a fixed size.
//
//   LS_ASSIGN_OR_RETURN(auto log, ShardLog::Open(options));
//   log->Reserve(...), log->Append(...)      // lanes, see write_log.h
//   log->Write();                            // a turn's end: everything appended is with the kernel
//   log->RequestSync();                      // kSync: OnSynced tells when answers may leave
//
// Bytes are in memory until the mode's promise holds for them: kOs, until they are written; kPeriodic
// and kSync, until they are synchronised. That is at most Options::buffer_bytes, or half of it and one
// record; Reserve refuses beyond. It also counts against the segments that were set aside on the disk,
// so that a full disk is met before anything is applied.
//
// When a call of the disk fails, writes are refused; what was promised room is kept in memory, and
// once a second it is tried again, in a new segment. A failed synchronisation is never taken for
// done: what was not synchronised is written again, and that is synchronised.
#ifndef LISTSTORE_ENGINE_COMMITLOG_SHARD_LOG_H_
#define LISTSTORE_ENGINE_COMMITLOG_SHARD_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/commitlog/write_log.h"
#include "engine/disk/file_calls.h"
#include "liststore/clock.h"

namespace liststore::commitlog {

enum class LogMode : uint8_t {
  kOs,        // never synchronised for an answer; full segments are, behind it
  kPeriodic,  // every period
  kSync,      // when it is asked for
};

// Told on the log's thread, or on that of who calls Sync or Tick. No lock of the log is held: it may
// call the log, but not Sync, Tick or Close. Must return soon.
class LogListener {
 public:
  virtual ~LogListener() = default;
  // Everything before `position` would survive a loss of power.
  virtual void OnSynced(uint64_t position) = 0;
  // Writes are refused from now on, and why; OK: they are accepted again.
  virtual void OnRefusal(const absl::Status& refusal) = 0;
};

struct ShardLogOptions {
  disk::FileCalls* calls = &disk::KernelFileCalls();  // outlives the log
  std::string directory;                              // is there, and locked by the caller
  uint32_t shard = 0;
  uint32_t shards = 1;    // how many logs this run has; for who reads them
  uint64_t run = 0;       // the caller's number of this run; for who reads them
  uint64_t position = 0;  // where it goes on: LogReader::end() of what is there
  LogMode mode = LogMode::kSync;
  size_t segment_bytes = size_t{32} << 20;  // at least kSegmentBytesMin
  size_t buffer_bytes = size_t{64} << 20;   // at least kBufferBytesMin
  uint64_t period_nanos = 10'000'000;       // of kPeriodic
  uint64_t retry_nanos = 1'000'000'000;     // after a failed call
  const Clock* clock = &SystemClock::Instance();
  LogListener* listener = nullptr;  // outlives the log
  // A thread that synchronises and prepares segments. Without one, Tick does both, and Write what
  // cannot wait.
  bool thread = true;
};
inline constexpr size_t kSegmentBytesMin = size_t{2} << 20;
inline constexpr size_t kBufferBytesMin = size_t{2} << 20;

// What a log has done and holds, for tables and metrics.
struct ShardLogCounts {
  uint64_t writes = 0;          // calls of the kernel
  uint64_t written_bytes = 0;   // with headers
  uint64_t syncs = 0;           // that succeeded
  uint64_t failures = 0;        // calls of the disk that failed
  uint64_t buffered_bytes = 0;  // kept in memory now
  uint64_t segments = 0;        // on the disk now, those ahead included
};

// Thread-safe.
class ShardLog final : public WriteLog {
 public:
  // Makes the first segments, with numbers behind those in the directory, whose segments of this
  // shard are synchronised first: what was recovered from them is kept. InvalidArgument: options.
  // ResourceExhausted, PermissionDenied and others: the disk's.
  static absl::StatusOr<std::unique_ptr<ShardLog>> Open(const ShardLogOptions& options);
  ~ShardLog() override;
  ShardLog(const ShardLog&) = delete;
  ShardLog& operator=(const ShardLog&) = delete;

  bool Reserve(size_t bytes) override;
  void Unreserve(size_t bytes) override;
  uint64_t Append(RecordKind kind, std::string_view record, size_t reserved) override;
  uint64_t AppendEncoded(RecordKind kind, size_t reserved,
                         absl::FunctionRef<size_t(char*)> encode) override;
  uint64_t appended() const override;
  absl::Status refusal() const override;

  // OK: everything that was appended before the call is with the kernel. Else it is kept, and tried
  // again later. Where twice as much waits for the disk's synchronisation as half of the buffer,
  // waits up to 20 ms for it: who writes faster than the disk is slowed down before it is refused.
  absl::Status Write();
  // OK: everything that was appended before the call is synchronised. Callers at one time share one
  // call of the kernel.
  absl::Status Sync();
  // Asks the thread for a Sync of what is written; returns at once. Without a thread: the next Tick.
  void RequestSync();
  // Everything before is with the kernel; is synchronised. Never go back.
  uint64_t written() const;
  uint64_t synced() const;

  // Does what is due: tries again what failed, synchronises, prepares segments, gives memory back.
  // The thread calls it; tests that move the clock do.
  void Tick();

  // Removes the segments that end at or before `position`, of earlier runs as well: everything before
  // it is in a snapshot. Never the one that is written.
  absl::Status DropBefore(uint64_t position);

  // Ends the thread; writes and synchronises everything (in every mode), says in the log that it ends
  // here, and gives back what was set aside on the disk. Nothing is appended any more. Once; the
  // destructor does it too, and drops the status.
  absl::Status Close();

  ShardLogCounts counts() const;
  const ShardLogOptions& options() const;

 private:
  class Impl;
  explicit ShardLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_SHARD_LOG_H_
