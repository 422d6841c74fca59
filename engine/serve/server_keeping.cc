#include "engine/serve/server_keeping.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/disk/file_calls.h"
#include "engine/durable/data_directory.h"
#include "engine/keeping/recovery.h"

namespace liststore {
namespace {

std::string_view NameOf(CommitLog commit_log) {
  switch (commit_log) {
    case CommitLog::kOff:
      return "off";
    case CommitLog::kOs:
      return "os";
    case CommitLog::kPeriodic:
      return "periodic";
    case CommitLog::kSync:
      return "sync";
  }
  LS_UNREACHABLE("every mode has a name");
}

std::function<void(std::string_view)> SayFailureOf(const CqlServerOptions& options) {
  return options.on_keeping_failure ? options.on_keeping_failure : options.on_keeping;
}

durable::DataRunOptions RunOptions(const CqlServerOptions& options, uint64_t log_bytes) {
  durable::DataRunOptions run;
  run.log = durable::LogModeOf(options.commit_log);
  run.period_nanos = uint64_t{options.commit_log_period_ms} * 1'000'000;
  run.segment_bytes = options.commit_log_segment_bytes;
  run.buffer_bytes = std::max<uint64_t>(log_bytes / options.shards, durable::kLogBufferBytesMin);
  run.compression = options.snapshot_compression;
  run.loops = options.shards;
  run.say = options.on_keeping;
  run.say_failure = SayFailureOf(options);
  return run;
}

}  // namespace

ServerKeeping::ServerKeeping(const CqlServerOptions& options, uint64_t log_bytes)
    : say_(options.on_keeping),
      say_failure_(SayFailureOf(options)),
      takes_snapshot_at_end_(options.snapshot_at_end),
      commit_log_(NameOf(options.commit_log)),
      run_options_(RunOptions(options, log_bytes)),
      schedule_options_{.period_seconds = options.snapshot_period_seconds,
                        .log_bytes = options.snapshot_log_bytes,
                        .say = say_,
                        .say_failure = say_failure_},
      from_snapshot_(options.from_snapshot) {}

absl::StatusOr<std::optional<cql::Dialect>> ServerKeeping::Recover(
    const CqlServerOptions& options, const std::optional<cql::Dialect>& asked,
    shard::Engine& engine, ServerClock& clock, bool goes_on_behind_damage) {
  clock_ = &clock;
  keeping::RecoveryOptions recovery;
  recovery.dialect = asked;
  recovery.now_nanos = clock.NowNanos();
  recovery.of_directory.goes_on_behind_damage = goes_on_behind_damage;
  recovery.of_directory.threads = options.shards;
  recovery.of_directory.say = say_;
  if (options.data_dir.empty()) {
    if (from_snapshot_.empty()) return std::nullopt;
    LS_ASSIGN_OR_RETURN(
        const keeping::Recovered recovered,
        keeping::RecoverFrom(from_snapshot_, disk::KernelFileCalls(), engine, recovery));
    return recovered.dialect;
  }
  LS_ASSIGN_OR_RETURN(durable::DataDirectory directory,
                      durable::DataDirectory::Open(options.data_dir));
  keeping::Recovered recovered;
  if (from_snapshot_.empty()) {
    absl::StatusOr<keeping::Recovered> found = keeping::Recover(directory, engine, recovery);
    if (!found.ok() && !goes_on_behind_damage) {
      return durable::WithAdvice(found.status(), options.data_dir);
    }
    LS_ASSIGN_OR_RETURN(recovered, std::move(found));
  } else {
    LS_ASSIGN_OR_RETURN(const bool is_empty, directory.IsEmpty());
    if (!is_empty) {
      return absl::FailedPreconditionError(
          absl::StrCat("from_snapshot is given, and ", options.data_dir,
                       " has something already, which it would take the place of"));
    }
    LS_ASSIGN_OR_RETURN(recovered,
                        keeping::RecoverFrom(from_snapshot_, directory.calls(), engine, recovery));
  }
  const auto& kept_clock = recovered.events.clock;
  if (kept_clock && kept_clock->setting.mode != ServerClock::Mode::kReal) {
    clock.ResetTo(kept_clock->setting, kept_clock->now_nanos);
  }
  const cql::Dialect dialect = recovered.dialect;
  keeper_ =
      std::make_unique<keeping::Keeper>(std::move(directory), std::move(recovered), run_options_);
  return dialect;
}

absl::Status ServerKeeping::Begin(shard::Engine& engine, roles::RoleStore& roles) {
  if (keeper_ == nullptr) return absl::OkStatus();
  LS_RETURN_IF_ERROR(keeper_->Begin(engine, roles, [clock = clock_] {
    return durable::ClockState{clock->setting(), clock->NowNanos()};
  }));
  if (keeper_->logs() != nullptr) gate_.emplace(*keeper_->logs());
  return absl::OkStatus();
}

absl::Status ServerKeeping::TakeOver() {
  if (keeper_ == nullptr || from_snapshot_.empty()) return absl::OkStatus();
  return TakeSnapshot();
}

absl::Status ServerKeeping::StartSchedule() {
  if (keeper_ == nullptr) return absl::OkStatus();
  has_started_ = true;
  schedule_.emplace(*keeper_, schedule_options_);
  return schedule_->Start();
}

instruments::SnapshotCalls ServerKeeping::SnapshotCalls() {
  if (keeper_ == nullptr) return {};
  return {.state =
              [this] {
                const durable::SnapshotResult last = keeper_->last_snapshot();
                return instruments::SnapshotState{.directory = keeper_->directory().path(),
                                                  .commit_log = std::string(commit_log_),
                                                  .log_bytes = keeper_->log_bytes(),
                                                  .last_number = last.number,
                                                  .last_rows = last.rows,
                                                  .last_bytes = last.bytes,
                                                  .last_nanos = last.taken_at_nanos};
              },
          .take = [this]() -> std::optional<std::string> {
            const absl::Status taken = TakeSnapshot();
            if (taken.ok()) return std::nullopt;
            return std::string(ToStd(taken.message()));
          }};
}

absl::Status ServerKeeping::TakeSnapshot() {
  if (keeper_ == nullptr) {
    return absl::FailedPreconditionError("nothing is kept: there is no data_dir");
  }
  const MutexLock lock(taking_);
  if (has_closed_) return absl::FailedPreconditionError("the server has stopped");
  const absl::StatusOr<durable::SnapshotResult> taken = keeper_->TakeSnapshot();
  SayOf(taken);
  return taken.status();
}

void ServerKeeping::Stop() {
  if (schedule_) schedule_->Stop();
  if (keeper_ == nullptr || has_closed_.exchange(true)) return;
  // Whoever takes a snapshot is waited for; those that come later are refused.
  const MutexLock taking(taking_);
  absl::Status status;
  if (has_started_ && takes_snapshot_at_end_) {
    keeper_->Forget();  // nobody goes back any more
    absl::StatusOr<durable::SnapshotResult> taken = HeapRefused();
    try {
      taken = keeper_->TakeSnapshot();
    } catch (const std::bad_alloc&) {
      // The log is closed all the same.
    }
    SayOf(taken);
    status.Update(taken.status());
  }
  const absl::Status closed = keeper_->Close();
  if (!closed.ok() && say_failure_) {
    say_failure_(ToStd(absl::StrCat("the commit log was not closed well: ", closed.message())));
  }
  status.Update(closed);
  const MutexLock lock(mutex_);
  stop_status_ = std::move(status);
}

absl::Status ServerKeeping::stop_status() {
  const MutexLock lock(mutex_);
  return stop_status_;
}

void ServerKeeping::SayOf(const absl::StatusOr<durable::SnapshotResult>& taken) const {
  if (!taken.ok()) {
    if (say_failure_) say_failure_(keeping::FailureText(taken.status()));
  } else if (say_) {
    say_(keeping::TextOf(*taken));
  }
}

}  // namespace liststore
