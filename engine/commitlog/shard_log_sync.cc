// Synchronising, trying again, and the thread that does both.
#include "engine/commitlog/shard_log.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/commitlog/log_directory.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {
namespace {

constexpr uint64_t kUntilWoken = UINT64_MAX;
constexpr uint64_t kLookAtTheClockNanos = 1'000'000'000;

}  // namespace

absl::Status ShardLog::OpenEarlier(const std::vector<uint64_t>& numbers) {
  for (const uint64_t number : numbers) {
    LS_ASSIGN_OR_RETURN(
        const EarlierSegment segment,
        OpenEarlierSegment(*options_.calls, options_.directory, {options_.shard, number}));
    if (segment.unused) continue;
    MutexLock lock(io_mutex_);
    writer_.AddEarlier({{options_.shard, number}, segment.path, -1}, segment.position);
  }
  return absl::OkStatus();
}

absl::Status ShardLog::Sync() {
  const uint64_t target = appended();
  absl::Status status;
  if (synced() < target) {
    MutexLock lock(sync_mutex_);
    // Whoever came before may have done it.
    if (synced() < target) status = SyncFiles(/*full_only=*/false);
  }
  // Who syncs also makes what the thread would have ready.
  if (!options_.thread && supply_.ahead() == 0) PrepareNext();
  Tell();
  return status;
}

absl::Status ShardLog::SyncFiles(bool full_only) {
  if (broken()) return refusal();
  absl::Status status = SyncOnce(full_only);
  // In new segments at once: most failures of a disk are of one place, or are over.
  if (!status.ok() && keeps_until_synced() && status.code() == absl::StatusCode::kAborted) {
    status = TryAgain();
    // What was appended meanwhile nobody could write.
    if (status.ok() && written() < appended()) RequestSync();
  }
  return status;
}

// Aborted: the disk did not synchronise, and what was not is to be written again. Others: it did not
// even write.
absl::Status ShardLog::SyncOnce(bool full_only) {
  LogBuffer::Mark mark;
  uint64_t end = 0;
  size_t cost = 0;
  {
    MutexLock lock(io_mutex_);
    if (!full_only) LS_RETURN_IF_ERROR(WriteSealed());
    writer_.ListUnsynced(full_only, unsynced_);
    end = full_only ? writer_.PositionOfCurrent(written()) : written();
    mark = buffer_.mark();
    MutexLock room(room_mutex_);
    cost = kept_cost_;
  }
  for (const SegmentWriter::Unsynced& segment : unsynced_) {
    absl::Status status = supply_.SyncNames(segment.number);
    if (const int result = status.ok() ? options_.calls->SyncData(segment.file) : 0; result < 0) {
      status = disk::FileError(
          "sync",
          absl::StrCat(options_.directory, "/", SegmentFileName({options_.shard, segment.number})),
          result);
    }
    if (!status.ok()) {
      GiveUp(status);
      return absl::AbortedError(status.message());
    }
  }
  {
    MutexLock lock(io_mutex_);
    writer_.Synced(unsynced_);
    if (keeps_until_synced()) buffer_.Release(mark);
    MutexLock room(room_mutex_);
    if (keeps_until_synced()) {
      kept_cost_ -= cost;
      used_.fetch_sub(cost, std::memory_order_relaxed);
      buffer_full_ = false;
      room_made_.notify_all();
    }
    UpdateLimit();
  }
  syncs_.fetch_add(1, std::memory_order_relaxed);
  if (lost_end_ == 0 && end > synced()) synced_.store(end, std::memory_order_release);
  return absl::OkStatus();
}

void ShardLog::GiveUp(const absl::Status& status) {
  {
    MutexLock lock(io_mutex_);
    writer_.GiveUp(/*written_again=*/keeps_until_synced());
    if (keeps_until_synced()) {
      given_up_from_ = synced();
      buffer_.TakeAgain();
    } else {
      lost_end_ = written();
    }
    MutexLock room(room_mutex_);
    kept_cost_ = 0;  // counted again when it is written again
    current_room_ = 0;
  }
  Fail(status, /*breaks=*/true);
}

absl::Status ShardLog::TryAgain() {
  size_t segments = 0;
  {
    MutexLock room(room_mutex_);
    segments = std::max<size_t>(SegmentsWanted(), 1);
  }
  LS_RETURN_IF_ERROR(Prepare(segments));
  if (keeps_until_synced()) {
    LS_RETURN_IF_ERROR(SyncOnce(/*full_only=*/false));
  } else {
    MutexLock lock(io_mutex_);
    LS_RETURN_IF_ERROR(WriteSealed());
  }
  MutexLock lock(io_mutex_);
  writer_.Recovered(given_up_from_);
  MutexLock room(room_mutex_);
  failing_.store(false, std::memory_order_release);
  broken_.store(false, std::memory_order_release);
  failure_ = absl::OkStatus();
  UpdateLimit();
  return absl::OkStatus();
}

void ShardLog::RequestSync() {
  if (!requested_.exchange(true, std::memory_order_acq_rel)) Wake();
}

void ShardLog::SyncWhatIsDue(uint64_t now_nanos) {
  bool due = requested_.exchange(false, std::memory_order_acq_rel);
  if (dirty_.load(std::memory_order_acquire) &&
      IsDue(sync_at_nanos_.load(std::memory_order_relaxed), now_nanos, options_.period_nanos)) {
    dirty_.store(false, std::memory_order_release);
    due = true;
  }
  // Failures are remembered where they happen.
  if (due && !keeps_until_synced()) Write().IgnoreError();
  if (due && keeps_until_synced()) {
    Sync().IgnoreError();
  } else {
    SyncFull();
  }
}

// kOs. Failures are remembered where they happen.
void ShardLog::SyncFull() {
  if (!full_.exchange(false, std::memory_order_acq_rel)) return;
  MutexLock lock(sync_mutex_);
  SyncFiles(/*full_only=*/true).IgnoreError();
}

void ShardLog::ShrinkWhenDue(uint64_t now_nanos) {
  MutexLock lock(room_mutex_);
  if (!IsDue(shrink_at_nanos_, now_nanos, options_.retry_nanos)) return;
  shrink_at_nanos_ = now_nanos + options_.retry_nanos;
  // The limit first: who reserves by the old one has been counted in what is used then.
  const size_t fewer = std::max(limit_.load() / 2, used_.load() + options_.chunk_bytes);
  limit_.store(std::min(limit_.load(), fewer));
  buffer_.Shrink(std::max(fewer, used_.load()));
  UpdateLimit();
}

void ShardLog::Tick() {
  if (closed_.load(std::memory_order_acquire)) return;
  try {
    DoWhatIsDue();
  } catch (const std::bad_alloc&) {
    // What was asked for may have been forgotten with it.
    requested_.store(true, std::memory_order_release);
  }
  Tell();
}

void ShardLog::DoWhatIsDue() {
  const uint64_t now = options_.clock->NowNanos();
  bool try_again = false;
  {
    MutexLock lock(room_mutex_);
    try_again = failing() && IsDue(retry_at_nanos_, now, options_.retry_nanos);
  }
  if (try_again) {
    MutexLock lock(sync_mutex_);
    // What was appended meanwhile, to room from before, has been told that it could not be written.
    if (failing() && TryAgain().ok()) requested_.store(true, std::memory_order_release);
  }
  // On a full disk there is no room for more, and what has room already is kept as ever.
  if (!broken()) SyncWhatIsDue(now);
  if (!failing()) {
    PrepareNext();
    if (supply_.has_new_names()) supply_.SyncNames(supply_.last_number()).IgnoreError();
    ShrinkWhenDue(now);
  }
}

void ShardLog::Tell() {
  uint64_t position = 0;
  bool changed = false;
  absl::Status refusal;
  {
    MutexLock lock(room_mutex_);
    if (synced() > told_synced_) position = told_synced_ = synced();
    changed = failing() != told_failing_;
    told_failing_ = failing();
    if (changed) refusal = failure_;
  }
  if (options_.listener == nullptr) return;
  if (position > 0) options_.listener->OnSynced(position);
  if (changed) options_.listener->OnRefusal(refusal);
}

void ShardLog::Wake() {
  if (!options_.thread) return;
  MutexLock lock(wake_mutex_);
  woken_ = true;
  wake_.notify_one();
}

uint64_t ShardLog::NanosToWait() {
  const uint64_t now = options_.clock->NowNanos();
  uint64_t until = kUntilWoken;
  MutexLock lock(room_mutex_);
  if (failing()) until = retry_at_nanos_;
  if (!broken() && dirty_.load(std::memory_order_acquire)) {
    until = std::min(until, sync_at_nanos_.load(std::memory_order_relaxed));
  }
  if (!failing() && !buffer_.is_small()) until = std::min(until, shrink_at_nanos_);
  if (until == kUntilWoken) return until;
  // It may be moved.
  return until > now ? std::min(until - now, kLookAtTheClockNanos) : 0;
}

void ShardLog::RunThread() {
  while (true) {
    const uint64_t nanos = NanosToWait();
    {
      MutexLock lock(wake_mutex_);
      const bool until_woken = nanos == kUntilWoken;
      const auto until = std::chrono::steady_clock::now() +
                         std::chrono::nanoseconds(until_woken ? 0 : static_cast<int64_t>(nanos));
      while (!woken_ && !stopping_) {
        if (until_woken) {
          wake_.wait(wake_mutex_);
        } else if (wake_.wait_until(wake_mutex_, until) == std::cv_status::timeout) {
          break;
        }
      }
      if (stopping_) return;
      woken_ = false;
    }
    Tick();
  }
}

absl::Status ShardLog::Close() {
  if (thread_.joinable()) {
    {
      MutexLock lock(wake_mutex_);
      stopping_ = true;
      wake_.notify_one();
    }
    thread_.join();
  }
  absl::Status status;
  {
    MutexLock lock(sync_mutex_);
    if (!closed_.exchange(true, std::memory_order_acq_rel)) {
      close_status_ = CloseFiles();
    }
    status = close_status_;
  }
  Tell();
  return status;
}

absl::Status ShardLog::CloseFiles() {
  absl::Status status = broken() ? TryAgain() : absl::OkStatus();
  if (status.ok()) status = SyncFiles(/*full_only=*/false);
  supply_.RemoveAhead();
  if (status.ok()) {
    MutexLock lock(io_mutex_);
    status = writer_.WriteEnd({synced(), options_.clock->NowNanos()}, written());
  }
  if (status.ok()) status = SyncDirectory(*options_.calls, options_.directory);
  return status;
}

}  // namespace liststore::commitlog
