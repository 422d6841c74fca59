#include "engine/commitlog/shard_log.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/worker_thread.h"
#include "engine/commitlog/log_directory.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {
namespace {

// A buffer grows by so many chunks at once.
constexpr size_t kChunksAtOnce = 4;
constexpr std::chrono::milliseconds kWaitForTheDisk(20);

uint64_t DrawSalt() {
  uint64_t salt = 0;
  LS_CHECK(getrandom(&salt, sizeof(salt), 0) == sizeof(salt), "the system has random numbers");
  return salt;
}

absl::Status CheckOptions(const ShardLogOptions& options) {
  if (options.chunk_bytes < kChunkBytesMin || options.chunk_bytes > kBlockPayloadMax ||
      options.segment_bytes < 4 * options.chunk_bytes ||
      options.segment_bytes > (size_t{1} << 30) || options.buffer_bytes < options.chunk_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("no log has segments of ", options.segment_bytes,
                                                   " bytes, a buffer of ", options.buffer_bytes,
                                                   " and chunks of ", options.chunk_bytes));
  }
  if (options.shard > 9999) {
    return absl::InvalidArgumentError(absl::StrCat("shard ", options.shard, " exceeds 9999"));
  }
  return absl::OkStatus();
}

}  // namespace

ShardLog::ShardLog(const ShardLogOptions& options, uint64_t first_segment)
    : options_(options),
      segment_usable_(
          SegmentWriter::Usable(options.segment_bytes - kSegmentHeaderBytes, options.chunk_bytes)),
      buffer_(options.chunk_bytes, options.position),
      supply_(*options.calls, options.directory, options.shard, options.segment_bytes,
              first_segment),
      written_(options.position),
      synced_(options.position),
      writer_(*options.calls, supply_, options.segment_bytes, options.chunk_bytes,
              {options.shards, options.run, first_segment, DrawSalt()}),
      told_synced_(options.position) {}

ShardLog::~ShardLog() { Close().IgnoreError(); }

absl::StatusOr<std::unique_ptr<ShardLog>> ShardLog::Open(const ShardLogOptions& options) try {
  LS_RETURN_IF_ERROR(CheckOptions(options));
  LS_ASSIGN_OR_RETURN(const std::vector<LogFiles> logs,
                      ListLogs(*options.calls, options.directory));
  std::vector<uint64_t> earlier;
  for (const LogFiles& log : logs) {
    if (log.shard == options.shard) earlier = log.segments;
  }
  std::unique_ptr<ShardLog> log(new ShardLog(options, earlier.empty() ? 1 : earlier.back() + 1));
  LS_RETURN_IF_ERROR(log->OpenEarlier(earlier));
  if (!log->buffer_.Grow(kChunksAtOnce * options.chunk_bytes / 2)) return HeapRefused();
  LS_RETURN_IF_ERROR(log->supply_.Prepare(1));
  LS_RETURN_IF_ERROR(log->supply_.SyncNames(log->supply_.last_number()));
  {
    MutexLock lock(log->room_mutex_);
    log->UpdateLimit();
  }
  if (options.thread) {
    LS_ASSIGN_OR_RETURN(log->thread_, StartThread(absl::StrCat("log-", options.shard),
                                                  [raw = log.get()] { raw->RunThread(); }));
  }
  return log;
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

void ShardLog::UpdateLimit() {
  const size_t disk = kept_cost_ + current_room_ + supply_.ahead() * segment_usable_;
  limit_.store(failing() ? 0 : std::min(buffer_.capacity(), disk));
}

size_t ShardLog::SegmentsWanted() const {
  const size_t used = used_.load(std::memory_order_relaxed);
  const size_t here = kept_cost_ + current_room_;
  return used <= here ? 0 : (used - here + segment_usable_ - 1) / segment_usable_;
}

bool ShardLog::Reserve(size_t bytes) {
  LS_CHECK(bytes <= kRecordBytesMax, "a record is no longer than a request");
  const size_t cost = LogBuffer::CostOf(bytes);
  // In one order with who lowers the limit and then looks at what is used (ShrinkWhenDue).
  const size_t used = used_.fetch_add(cost) + cost;
  if (used <= limit_.load()) return true;
  return ReserveSlowly(cost);
}

// Its cost is in used_ already. Comes here about once for each segment and each growth of the buffer.
bool ShardLog::ReserveSlowly(size_t cost) {
  // Others may take what was made for this one.
  for (int round = 0; round < 100; ++round) {
    size_t segments = 0;
    {
      MutexLock lock(room_mutex_);
      UpdateLimit();
      const size_t used = used_.load(std::memory_order_relaxed);
      if (!failing() && used <= limit_.load(std::memory_order_relaxed)) return true;
      if (failing()) break;
      if (used > buffer_.capacity()) {
        // A record longer than the buffer fits as long as that is not much used.
        buffer_full_ = used > options_.buffer_bytes && used - cost > options_.buffer_bytes / 2;
        if (buffer_full_) {
          if (keeps_until_synced()) RequestSync();
          break;
        }
        const size_t more = buffer_.capacity() + kChunksAtOnce * options_.chunk_bytes;
        buffer_full_ = !buffer_.Grow(std::max(used, std::min(more, options_.buffer_bytes)));
        if (buffer_full_) break;
      }
      segments = SegmentsWanted();
    }
    if (segments > supply_.ahead() && !Prepare(segments).ok()) break;
  }
  used_.fetch_sub(cost, std::memory_order_relaxed);
  return false;
}

absl::Status ShardLog::Prepare(size_t ahead) {
  absl::Status status;
  try {
    status = supply_.Prepare(ahead);
  } catch (const std::bad_alloc&) {
    status = HeapRefused();
  }
  if (!status.ok()) {
    Fail(status, /*breaks=*/false);
    return status;
  }
  MutexLock lock(room_mutex_);
  UpdateLimit();
  return status;
}

// Ahead of need: where there is no room, there may be when it is needed.
void ShardLog::PrepareNext() {
  if (supply_.ahead() > 0) return;
  const uint64_t now = options_.clock->NowNanos();
  if (!IsDue(prepare_at_nanos_.load(std::memory_order_relaxed), now, options_.retry_nanos)) return;
  absl::Status status;
  try {
    status = supply_.Prepare(1);
  } catch (const std::bad_alloc&) {
    status = HeapRefused();
  }
  if (!status.ok()) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    prepare_at_nanos_.store(now + options_.retry_nanos, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(room_mutex_);
  UpdateLimit();
}

void ShardLog::Unreserve(size_t bytes) {
  used_.fetch_sub(LogBuffer::CostOf(bytes), std::memory_order_relaxed);
}

uint64_t ShardLog::Append(RecordKind kind, std::string_view record, size_t reserved) {
  LS_CHECK(record.size() <= reserved, "a record is no longer than what was set aside");
  const uint64_t end = buffer_.Append(kind, record);
  if (record.size() < reserved) {
    used_.fetch_sub(reserved - record.size(), std::memory_order_relaxed);
  }
  return end;
}

uint64_t ShardLog::AppendEncoded(RecordKind kind, size_t reserved,
                                 absl::FunctionRef<size_t(char*)> encode) {
  LS_CHECK(reserved <= kEncodedBytesMax, "longer records are appended");
  size_t bytes = 0;
  const uint64_t end = buffer_.AppendEncoded(kind, reserved, encode, bytes);
  if (bytes < reserved) used_.fetch_sub(reserved - bytes, std::memory_order_relaxed);
  return end;
}

absl::Status ShardLog::FailureText(const absl::Status& status) const {
  const char* const advice = status.code() == absl::StatusCode::kResourceExhausted
                                 ? "make room there"
                                 : "see to the disk, or whether it may be written";
  return absl::Status(status.code(),
                      absl::StrCat("writes are refused, the commit log in ", options_.directory,
                                   " cannot keep them: ", status.message(), "; ", advice,
                                   ", and they are accepted again by themselves"));
}

absl::Status ShardLog::refusal() const {
  MutexLock lock(room_mutex_);
  if (failing()) return failure_;
  if (!buffer_full_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "writes are refused, ", used_.load(std::memory_order_relaxed),
      " bytes wait for the disk of the commit log in ", options_.directory, ", of at most ",
      options_.buffer_bytes, "; write more slowly, or use a faster disk"));
}

// The caller may hold any lock but the room's.
void ShardLog::Fail(const absl::Status& status, bool breaks) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t now = options_.clock->NowNanos();
  {
    MutexLock lock(room_mutex_);
    failure_ = FailureText(status);
    retry_at_nanos_ = now + options_.retry_nanos;
    if (breaks) broken_.store(true, std::memory_order_release);
    failing_.store(true, std::memory_order_release);
    UpdateLimit();
    room_made_.notify_all();  // none is: who waits for it need not
  }
  Wake();
}

absl::Status ShardLog::WriteSealed() {
  const uint64_t end = buffer_.Seal();
  SegmentWriter::Done done;
  absl::Status status;
  try {
    status = writer_.WriteAll(buffer_, {synced(), options_.clock->NowNanos()}, done);
  } catch (const std::bad_alloc&) {
    status = HeapRefused();
  }
  writes_.fetch_add(done.calls, std::memory_order_relaxed);
  written_bytes_.fetch_add(done.bytes, std::memory_order_relaxed);
  if (!keeps_until_synced()) buffer_.Release(buffer_.mark());
  {
    MutexLock lock(room_mutex_);
    current_room_ = writer_.room();
    if (keeps_until_synced()) {
      kept_cost_ += done.cost;
    } else {
      used_.fetch_sub(done.cost, std::memory_order_relaxed);
      buffer_full_ = false;
    }
    UpdateLimit();
  }
  const uint64_t reached = status.ok() ? end : done.end_position;
  if (reached > written()) written_.store(reached, std::memory_order_release);
  if (!status.ok()) Fail(status, /*breaks=*/true);
  return status;
}

absl::Status ShardLog::Write(bool may_wait) {
  if (written() >= appended()) return absl::OkStatus();
  bool full = false;
  bool short_of_room = false;
  absl::Status status;
  {
    MutexLock lock(io_mutex_);
    if (broken()) return refusal();
    status = WriteSealed();
    full = writer_.has_full();
    short_of_room = writer_.room() < segment_usable_ / 4;
  }
  if (!status.ok()) {
    if (!options_.thread) Tell();  // which it would do
    return status;
  }
  switch (options_.mode) {
    case LogMode::kOs:
      if (full && !full_.exchange(true, std::memory_order_acq_rel)) {
        if (options_.thread) {
          Wake();
        } else {
          SyncFull();
          Tell();
        }
      }
      break;
    case LogMode::kPeriodic:
      if (!dirty_.load(std::memory_order_acquire)) {
        sync_at_nanos_.store(options_.clock->NowNanos() + options_.period_nanos,
                             std::memory_order_relaxed);
        if (!dirty_.exchange(true, std::memory_order_acq_rel)) Wake();
      }
      break;
    case LogMode::kSync:
      break;
  }
  if (supply_.ahead() == 0) {
    Wake();
    // The thread was not in time, or there is none. What was written is written all the same.
    if (short_of_room || !options_.thread) PrepareNext();
  }
  if (may_wait && keeps_until_synced() && options_.thread) WaitForTheDisk();
  return absl::OkStatus();
}

void ShardLog::WaitForTheDisk() {
  MutexLock lock(room_mutex_);
  if (kept_cost_ <= options_.buffer_bytes / 2) return;
  RequestSync();
  const auto until = std::chrono::steady_clock::now() + kWaitForTheDisk;
  while (kept_cost_ > options_.buffer_bytes / 2 && !failing()) {
    if (room_made_.wait_until(room_mutex_, until) == std::cv_status::timeout) return;
  }
}

absl::Status ShardLog::DropBefore(uint64_t position) {
  {
    MutexLock lock(sync_mutex_);
    if (position >= lost_end_) lost_end_ = 0;
  }
  std::vector<std::string> paths;
  {
    MutexLock lock(io_mutex_);
    paths = writer_.TakeBefore(position);
  }
  for (const std::string& path : paths) {
    if (const int result = options_.calls->Remove(path); result < 0) {
      return disk::FileError("remove", path, result);
    }
  }
  return absl::OkStatus();
}

ShardLogCounts ShardLog::counts() const {
  ShardLogCounts counts;
  counts.writes = writes_.load(std::memory_order_relaxed);
  counts.written_bytes = written_bytes_.load(std::memory_order_relaxed);
  counts.syncs = syncs_.load(std::memory_order_relaxed);
  counts.failures = failures_.load(std::memory_order_relaxed);
  counts.buffered_bytes = used_.load(std::memory_order_relaxed);
  MutexLock lock(io_mutex_);
  counts.segments = writer_.segments() + supply_.ahead();
  return counts;
}

}  // namespace liststore::commitlog
