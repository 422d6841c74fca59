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

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/log_buffer.h"
#include "engine/commitlog/segment_supply.h"
#include "engine/commitlog/segment_writer.h"
#include "engine/commitlog/write_log.h"
#include "engine/disk/file_calls.h"
#include "liststore/clock.h"

namespace liststore::commitlog {

enum class LogMode : uint8_t {
  kOs,        // answers do not wait for the disk; a full segment is synchronised later
  kPeriodic,  // every period
  kSync,      // when it is asked for
};

// Told on the log's thread, or on that of who calls Sync, Tick or Close. No lock of the log is held: it
// may call the log, but not Sync, Tick or Close. Must return soon.
class LogListener {
 public:
  virtual ~LogListener() = default;
  // Everything before `position` would survive a loss of power. Calls of two threads may come in the
  // other order.
  virtual void OnSynced(uint64_t position) = 0;
  // Writes are refused from now on, and why; OK: they are accepted again.
  virtual void OnRefusal(const absl::Status& refusal) = 0;
};

struct ShardLogOptions {
  disk::FileCalls* calls = &disk::KernelFileCalls();  // outlives the log
  std::string directory;                              // is there, and locked by the caller
  uint32_t shard = 0;
  uint32_t shards = 1;    // how many logs this run has; for who reads them
  uint32_t run = 0;       // the caller's number of this run; for who reads them
  uint64_t position = 0;  // where it goes on: LogReader::end() of what is there
  LogMode mode = LogMode::kSync;
  size_t segment_bytes = size_t{32} << 20;  // at least four chunks
  size_t buffer_bytes = size_t{64} << 20;   // at least a chunk
  size_t chunk_bytes = size_t{256} << 10;   // what the buffer is made of; 32 KiB to 1 MiB
  uint64_t period_nanos = 10'000'000;       // of kPeriodic
  uint64_t retry_nanos = 1'000'000'000;     // after a failed call
  const Clock* clock = &SystemClock::Instance();
  LogListener* listener = nullptr;  // outlives the log
  // A thread that synchronises and prepares segments. Without one, Tick does both, and Write and Sync
  // what cannot wait: in kOs, the Write that fills a segment synchronises it.
  bool thread = true;
};
inline constexpr size_t kChunkBytesMin = size_t{32} << 10;

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
  uint64_t appended() const override { return buffer_.appended(); }
  absl::Status refusal() const override;

  // OK: everything that was appended before the call is with the kernel. Else it is kept, and tried
  // again later. While more than half of the buffer waits to be synchronised it waits for that, up
  // to 20 ms, if it may: who writes faster than the disk is slowed down before it is refused.
  absl::Status Write(bool may_wait = true);
  // OK: everything that was appended before the call is synchronised. Callers at one time share one
  // call of the kernel. In kOs, but for what an earlier call failed to synchronise: synced() stays
  // before that until DropBefore says that it is in a snapshot.
  absl::Status Sync();
  // Asks the thread for a Sync; returns at once. Without a thread: the next Tick.
  void RequestSync();
  // Everything before is with the kernel; is synchronised. Never go back.
  uint64_t written() const { return written_.load(std::memory_order_acquire); }
  uint64_t synced() const { return synced_.load(std::memory_order_acquire); }

  // Does what is due: tries again what failed, synchronises, prepares segments, gives memory back.
  // The thread calls it; tests that move the clock do.
  void Tick();

  // Removes the segments that end at or before `position`, of earlier runs as well: everything before
  // it is in a snapshot. Never the one that is written.
  absl::Status DropBefore(uint64_t position);

  // Ends the thread; writes and synchronises everything (in every mode), says in the log that it ends
  // here, and gives back what was set aside on the disk. Nothing is appended any more. Again: as the
  // first time. The destructor does it too, and drops the status.
  absl::Status Close();

  ShardLogCounts counts() const;
  // ShardLogCounts::buffered_bytes, without a lock.
  uint64_t buffered_bytes() const { return used_.load(std::memory_order_relaxed); }
  const ShardLogOptions& options() const { return options_; }

 private:
  ShardLog(const ShardLogOptions& options, uint64_t first_segment);

  // Whether `at`, which was set to at most `period` from then, has come. A clock may be set back.
  static bool IsDue(uint64_t at, uint64_t now, uint64_t period) {
    return now >= at || at - now > period;
  }
  bool keeps_until_synced() const { return options_.mode != LogMode::kOs; }
  bool failing() const { return failing_.load(std::memory_order_acquire); }
  bool broken() const { return broken_.load(std::memory_order_acquire); }

  // Room, shard_log.cc.
  bool ReserveSlowly(size_t cost);
  void UpdateLimit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(room_mutex_);
  // Segments that must be ahead for all that is promised.
  size_t SegmentsWanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(room_mutex_);
  absl::Status Prepare(size_t ahead);
  void PrepareNext();
  absl::Status WriteSealed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(io_mutex_);
  // `breaks`: what is appended cannot be kept as it should be. Else there is no room for more.
  void Fail(const absl::Status& status, bool breaks);
  absl::Status FailureText(const absl::Status& status) const;
  void WaitForTheDisk();

  // Synchronising and what runs by itself, shard_log_sync.cc.
  absl::Status OpenEarlier(const std::vector<uint64_t>& numbers);
  absl::Status SyncFiles(bool full_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sync_mutex_);
  absl::Status SyncOnce(bool full_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sync_mutex_);
  void GiveUp(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sync_mutex_);
  absl::Status TryAgain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(sync_mutex_);
  void SyncFull();
  void SyncWhatIsDue(uint64_t now_nanos);
  void ShrinkWhenDue(uint64_t now_nanos);
  void DoWhatIsDue();
  void Tell();
  void Wake();
  void RunThread();
  uint64_t NanosToWait();
  absl::Status CloseFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(sync_mutex_);

  const ShardLogOptions options_;
  const size_t segment_usable_;

  // Any thread.
  LogBuffer buffer_;
  SegmentSupply supply_;
  std::atomic<size_t> used_{0};   // cost of what is set aside, appended and kept
  std::atomic<size_t> limit_{0};  // of used_; 0: refused
  std::atomic<uint64_t> written_;
  std::atomic<uint64_t> synced_;
  std::atomic<bool> failing_{false};           // nothing more is set aside
  std::atomic<bool> broken_{false};            // and nothing is written before it was tried again
  std::atomic<uint64_t> prepare_at_nanos_{0};  // not sooner
  std::atomic<bool> closed_{false};
  std::atomic<bool> dirty_{false};          // kPeriodic: something was written since the last Sync
  std::atomic<bool> requested_{false};      // RequestSync
  std::atomic<bool> full_{false};           // kOs: a full segment is to be synchronised
  std::atomic<uint64_t> sync_at_nanos_{0};  // kPeriodic: when, if dirty_
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> written_bytes_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<uint64_t> failures_{0};

  // Locks in this order. The first two are held while the disk works.
  Mutex sync_mutex_;
  std::vector<SegmentWriter::Unsynced> unsynced_ ABSL_GUARDED_BY(sync_mutex_);
  uint64_t given_up_from_ ABSL_GUARDED_BY(sync_mutex_) = 0;
  // kOs: some of what lies before was not synchronised and never will be. 0: nothing.
  uint64_t lost_end_ ABSL_GUARDED_BY(sync_mutex_) = 0;
  absl::Status close_status_ ABSL_GUARDED_BY(sync_mutex_);
  mutable Mutex io_mutex_;
  SegmentWriter writer_ ABSL_GUARDED_BY(io_mutex_);
  mutable Mutex room_mutex_;
  size_t kept_cost_ ABSL_GUARDED_BY(room_mutex_) = 0;     // written, not given back
  size_t current_room_ ABSL_GUARDED_BY(room_mutex_) = 0;  // of the segment that is written
  bool buffer_full_ ABSL_GUARDED_BY(room_mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(room_mutex_);
  uint64_t retry_at_nanos_ ABSL_GUARDED_BY(room_mutex_) = 0;
  uint64_t shrink_at_nanos_ ABSL_GUARDED_BY(room_mutex_) = 0;
  bool told_failing_ ABSL_GUARDED_BY(room_mutex_) = false;
  uint64_t told_synced_ ABSL_GUARDED_BY(room_mutex_);
  std::condition_variable_any room_made_;  // something was given back, with room_mutex_

  Mutex wake_mutex_;
  bool woken_ ABSL_GUARDED_BY(wake_mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(wake_mutex_) = false;
  std::condition_variable_any wake_;
  std::thread thread_;  // of who opens and closes
};

}  // namespace liststore::commitlog

#endif  // LISTSTORE_ENGINE_COMMITLOG_SHARD_LOG_H_
