#include "engine/durable/data_run.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/commitlog/log_directory.h"
#include "engine/commitlog/log_format.h"
#include "engine/durable/schema_records.h"
#include "engine/shard/let_others_work.h"
#include "liststore/clock.h"

namespace liststore::durable {

std::optional<commitlog::LogMode> LogModeOf(CommitLog commit_log) {
  switch (commit_log) {
    case CommitLog::kOff:
      break;
    case CommitLog::kOs:
      return commitlog::LogMode::kOs;
    case CommitLog::kPeriodic:
      return commitlog::LogMode::kPeriodic;
    case CommitLog::kSync:
      return commitlog::LogMode::kSync;
  }
  return std::nullopt;
}

DataRun::DataRun(DataDirectory directory, const Recovered& recovered, const DataRunOptions& options)
    : options_(options),
      directory_(std::move(directory)),
      run_(recovered.last_run + (options.log ? 1 : 0)),
      log_ends_(recovered.log_ends),
      old_logs_(recovered.log_ends),
      next_snapshot_(recovered.newest_snapshot + 1),
      is_marked_(recovered.is_marked),
      newest_snapshot_(recovered.snapshot) {}

DataRun::~DataRun() = default;

absl::Status DataRun::Begin(shard::Engine& engine) {
  LS_CHECK(logs_ == nullptr, "a run begins once");
  if (!options_.log) return SyncOldLogs();
  LogSetOptions set;
  set.log.calls = &directory_.calls();
  set.log.directory = directory_.path();
  set.log.mode = *options_.log;
  set.log.run = run_;
  set.log.period_nanos = options_.period_nanos;
  set.log.segment_bytes = options_.segment_bytes;
  set.log.buffer_bytes = options_.buffer_bytes;
  set.log.thread = options_.threads;
  set.log.clock = options_.clock;
  // A small buffer is made of small pieces, and so is a small segment.
  if (options_.buffer_bytes < 4 * set.log.chunk_bytes ||
      options_.segment_bytes < 4 * set.log.chunk_bytes) {
    set.log.chunk_bytes = commitlog::kChunkBytesMin;
  }
  set.loops = options_.loops;
  set.on_refusal = [this](const absl::Status& refusal) { SayRefusal(refusal); };
  for (uint32_t shard = 0; shard < engine.router().shards(); ++shard) {
    const auto at = log_ends_.find(shard);
    set.positions.push_back(at == log_ends_.end() ? 0 : at->second);
    old_logs_.erase(shard);
  }
  LS_RETURN_IF_ERROR(SyncOldLogs());
  LS_ASSIGN_OR_RETURN(logs_, LogSet::Open(set));
  engine.SetWriteLogs(logs_->logs(), run_);
  return absl::OkStatus();
}

// What was recovered from them is believed from now on, whether or not it was synchronised then.
absl::Status DataRun::SyncOldLogs() {
  if (old_logs_.empty()) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const std::vector<commitlog::LogFiles> files,
                      commitlog::ListLogs(directory_.calls(), directory_.path()));
  for (const commitlog::LogFiles& log : files) {
    if (!old_logs_.contains(log.shard)) continue;
    for (const uint64_t number : log.segments) {
      LS_RETURN_IF_ERROR(
          commitlog::OpenEarlierSegment(directory_.calls(), directory_.path(), {log.shard, number})
              .status());
    }
  }
  return commitlog::SyncDirectory(directory_.calls(), directory_.path());
}

absl::Status DataRun::WriteStart(shard::Engine& engine, std::span<const NumberedTable> tables) {
  if (logs_ == nullptr) return absl::OkStatus();
  std::string start;
  AppendStart(tables, start);
  if (!engine.ReserveBarrier(start.size())) return engine.log_refusal();
  engine.AppendBarrier(start, start.size());
  return absl::OkStatus();
}

void DataRun::SayRefusal(const absl::Status& refusal) const {
  if (!refusal.ok()) {
    if (options_.say_failure) options_.say_failure(ToStd(refusal.message()));
  } else if (options_.say) {
    options_.say("the commit log is written again: writes are accepted");
  }
}

Definitions DataRun::NewDefinitions() const {
  Definitions definitions;
  definitions.last_run = run_;
  definitions.old_logs = old_logs_;
  return definitions;
}

absl::StatusOr<SnapshotResult> DataRun::TakeSnapshot(shard::Engine& engine, uint64_t now_nanos,
                                                     absl::FunctionRef<SnapshotContent()> content) {
  const MutexLock lock(snapshot_mutex_);
  const auto begun = std::chrono::steady_clock::now();
  const uint64_t number = next_snapshot_++;
  const auto keep = [&](std::span<const uint64_t>) -> absl::Status {
    for (uint32_t shard = 0; logs_ != nullptr && shard < logs_->shards(); ++shard) {
      LS_RETURN_IF_ERROR(logs_->log(shard).Sync());
    }
    return absl::OkStatus();
  };
  LS_ASSIGN_OR_RETURN(
      const WrittenSnapshot written,
      WriteSnapshot(directory_.calls(), directory_.SnapshotPath(number), engine, now_nanos, content,
                    keep, shard::LetOthersWork, options_.compression));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const SnapshotResult result{number,
                              written.partitions,
                              written.rows,
                              written.bytes,
                              SystemClock::Instance().NowNanos(),
                              took.count()};
  {
    const MutexLock result_lock(mutex_);
    last_snapshot_ = result;
    newest_snapshot_ = number;
    // A return will begin from what was before.
    if (base_snapshot_) {
      static_cast<void>(directory_.RemoveSnapshotsBefore(number, *base_snapshot_));
      return result;
    }
  }
  // What stays by mistake costs room, no more.
  if (logs_ != nullptr) static_cast<void>(logs_->DropBefore(written.positions));
  DropOldLogs();
  static_cast<void>(directory_.RemoveSnapshotsBefore(number));
  if (is_marked_ && directory_.ClearMarked().ok()) is_marked_ = false;
  return result;
}

absl::Status DataRun::PrepareMark() {
  if (is_marked_) return absl::OkStatus();
  LS_RETURN_IF_ERROR(directory_.SetMarked());
  is_marked_ = true;
  return absl::OkStatus();
}

void DataRun::NoteMark() {
  const MutexLock lock(mutex_);
  base_snapshot_ = newest_snapshot_;
}

void DataRun::ForgetMark() {
  const MutexLock lock(mutex_);
  base_snapshot_.reset();
}

void DataRun::NoteReturn() {
  const MutexLock lock(mutex_);
  if (base_snapshot_) newest_snapshot_ = *base_snapshot_;
}

uint64_t DataRun::base_snapshot() const {
  const MutexLock lock(mutex_);
  return base_snapshot_.value_or(0);
}

void DataRun::DropOldLogs() {
  for (const auto& [shard, end] : old_logs_) {
    static_cast<void>(
        commitlog::DropSegments(directory_.calls(), directory_.path(), shard, end, end));
  }
}

SnapshotResult DataRun::last_snapshot() const {
  const MutexLock lock(mutex_);
  return last_snapshot_;
}

uint64_t DataRun::log_bytes() const {
  uint64_t segments = 0;
  for (uint32_t shard = 0; logs_ != nullptr && shard < logs_->shards(); ++shard) {
    segments += logs_->log(shard).counts().segments;
  }
  return segments * options_.segment_bytes;
}

uint64_t DataRun::buffered_bytes() const {
  uint64_t bytes = 0;
  for (uint32_t shard = 0; logs_ != nullptr && shard < logs_->shards(); ++shard) {
    bytes += logs_->log(shard).buffered_bytes();
  }
  return bytes;
}

void DataRun::Undo() {
  if (logs_ != nullptr) logs_->Close().IgnoreError();
  const auto logs = commitlog::ListLogs(directory_.calls(), directory_.path());
  if (!logs.ok()) return;
  for (const commitlog::LogFiles& log : *logs) {
    for (const uint64_t number : log.segments) {
      const std::string name = commitlog::SegmentFileName({log.shard, number});
      if (directory_.calls().Remove(absl::StrCat(directory_.path(), "/", name)) < 0) return;
    }
  }
  if (!commitlog::SyncDirectory(directory_.calls(), directory_.path()).ok()) return;
  static_cast<void>(directory_.RemoveSnapshotsBefore(next_snapshot_));
}

absl::Status DataRun::Close() { return logs_ == nullptr ? absl::OkStatus() : logs_->Close(); }

}  // namespace liststore::durable
