#include "engine/durable/keeper.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/commitlog/log_directory.h"
#include "engine/durable/definitions.h"
#include "engine/shard/let_others_work.h"
#include "liststore/clock.h"

namespace liststore::durable {
namespace {

std::string Words(const absl::Status& refusal) {
  return absl::StrCat("nothing was changed: the commit log cannot take it: ", refusal.message());
}

}  // namespace

Keeper::Keeper(DataDirectory directory, Recovered recovered, const KeeperOptions& options)
    : options_(options),
      directory_(std::move(directory)),
      recovered_(std::move(recovered)),
      old_logs_(recovered_.log_ends),
      next_snapshot_(recovered_.snapshot + 1),
      history_(recovered_.history) {}

Keeper::~Keeper() = default;

absl::Status Keeper::Begin(shard::Engine& engine, roles::RoleStore& roles,
                           std::function<ClockState()> clock) {
  LS_CHECK(engine_ == nullptr, "a run begins once");
  engine_ = &engine;
  roles_ = &roles;
  clock_ = std::move(clock);
  if (!options_.log) return SyncOldLogs();
  LogSetOptions set;
  set.log.calls = &directory_.calls();
  set.log.directory = directory_.path();
  set.log.mode = *options_.log;
  set.log.run = recovered_.last_run + 1;
  set.log.period_nanos = options_.period_nanos;
  set.log.segment_bytes = options_.segment_bytes;
  set.log.buffer_bytes = options_.buffer_bytes;
  // A small buffer is made of small pieces.
  if (options_.buffer_bytes < 4 * set.log.chunk_bytes)
    set.log.chunk_bytes = commitlog::kChunkBytesMin;
  set.loops = options_.loops;
  set.on_refusal = [this](const absl::Status& refusal) { SayRefusal(refusal); };
  for (uint32_t shard = 0; shard < engine.router().shards(); ++shard) {
    const auto at = recovered_.log_ends.find(shard);
    set.positions.push_back(at == recovered_.log_ends.end() ? 0 : at->second);
    old_logs_.erase(shard);
  }
  LS_RETURN_IF_ERROR(SyncOldLogs());
  LS_ASSIGN_OR_RETURN(logs_, LogSet::Open(set));
  engine.SetWriteLogs(logs_->logs(), recovered_.last_run + 1);
  LS_RETURN_IF_ERROR(WriteStart());
  roles.set_journal(this);
  return logs_->Keep();
}

// What was recovered from them is believed from now on, whether or not it was synchronised then.
absl::Status Keeper::SyncOldLogs() {
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

absl::Status Keeper::WriteStart() {
  std::string start;
  AppendStart(execute::AllNumbered(*engine_->catalog().snapshot()), start);
  if (!engine_->ReserveBarrier(start.size())) return engine_->log_refusal();
  engine_->AppendBarrier(start, start.size());
  const std::shared_ptr<const roles::RoleState> roles = roles_->snapshot();
  if (!recovered_.events.has_roles || recovered_.events.roles != *roles) {
    std::string event;
    AppendRoleEvent(recovered_.events.roles, *roles, event);
    if (!engine_->AppendEvent(event)) return engine_->log_refusal();
  }
  const ClockState state = clock_();
  const bool is_known =
      recovered_.events.clock && recovered_.events.clock->setting == state.setting;
  const bool is_real = state.setting.mode == ServerClock::Mode::kReal;
  if (is_known ? is_real : is_real && !recovered_.events.clock) return absl::OkStatus();
  std::string event;
  AppendClockEvent(state, event);
  return engine_->AppendEvent(event) ? absl::OkStatus() : engine_->log_refusal();
}

void Keeper::SayRefusal(const absl::Status& refusal) const {
  if (!refusal.ok()) {
    if (options_.say_failure) options_.say_failure(ToStd(refusal.message()));
  } else if (options_.say) {
    options_.say("the commit log is written again: writes are accepted");
  }
}

std::optional<std::string> Keeper::ClockRefusal() const {
  if (logs_ == nullptr) return std::nullopt;
  const absl::Status refusal = engine_->log_refusal();
  if (refusal.ok()) return std::nullopt;
  return Words(refusal);
}

void Keeper::NoteClock() {
  if (logs_ == nullptr) return;
  const MutexLock lock(clock_mutex_);
  std::string event;
  AppendClockEvent(clock_(), event);
  // Refused between the question and the move: the next move says it.
  static_cast<void>(engine_->AppendEvent(event));
}

SnapshotContent Keeper::Content() {
  const std::shared_ptr<const Schema> schema = engine_->catalog().snapshot();
  Definitions definitions;
  {
    const MutexLock lock(mutex_);
    definitions.changes = history_.changes();
  }
  definitions.numbers = execute::AllNumbered(*schema);
  // Its log's position was read before: what is noted behind that comes again, or is here.
  definitions.events.roles = *roles_->SettledSnapshot();
  definitions.events.has_roles = true;
  definitions.events.clock = clock_();
  definitions.last_run = recovered_.last_run + (logs_ != nullptr ? 1 : 0);
  definitions.old_logs = old_logs_;
  SnapshotContent content;
  content.definitions = BytesOf(definitions);
  for (const execute::NumberedTable& table : definitions.numbers) {
    if (schema->FindTable(table.keyspace, table.table)->view) continue;
    content.tables.push_back({table.id, table.keyspace, table.table});
  }
  return content;
}

absl::StatusOr<SnapshotResult> Keeper::WriteSnapshotNow() {
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
      WriteSnapshot(
          directory_.calls(), directory_.SnapshotPath(number), *engine_, clock_().now_nanos,
          [&] { return Content(); }, keep, shard::LetOthersWork));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const SnapshotResult result{number, written.rows, written.bytes,
                              SystemClock::Instance().NowNanos(), took.count()};
  {
    const MutexLock lock(mutex_);
    last_snapshot_ = result;
  }
  // What stays by mistake costs room, no more.
  if (logs_ != nullptr) static_cast<void>(logs_->DropBefore(written.positions));
  DropOldLogs();
  static_cast<void>(directory_.RemoveSnapshotsBefore(number));
  return result;
}

void Keeper::DropOldLogs() {
  for (const auto& [shard, end] : old_logs_) {
    static_cast<void>(
        commitlog::DropSegments(directory_.calls(), directory_.path(), shard, end, end));
  }
}

absl::StatusOr<SnapshotResult> Keeper::TakeSnapshot() {
  LS_CHECK(engine_ != nullptr, "a snapshot is of a run that has begun");
  const MutexLock lock(snapshot_mutex_);
  absl::StatusOr<SnapshotResult> result = absl::InternalError("no snapshot was tried");
  engine_->catalog().Change([&](Schema&) {
    result = WriteSnapshotNow();
    return false;
  });
  return result;
}

SnapshotResult Keeper::last_snapshot() const {
  const MutexLock lock(mutex_);
  return last_snapshot_;
}

uint64_t Keeper::log_bytes() const {
  uint64_t segments = 0;
  for (uint32_t shard = 0; logs_ != nullptr && shard < logs_->shards(); ++shard) {
    segments += logs_->log(shard).counts().segments;
  }
  return segments * options_.segment_bytes;
}

void Keeper::MarkSchema() {
  const MutexLock lock(mutex_);
  mark_ = history_;
}

void Keeper::ForgetMark() {
  const MutexLock lock(mutex_);
  mark_ = {};
}

void Keeper::ResetSchema() {
  const MutexLock lock(mutex_);
  history_ = mark_;
}

uint64_t Keeper::buffered_bytes() const {
  uint64_t bytes = 0;
  for (uint32_t shard = 0; logs_ != nullptr && shard < logs_->shards(); ++shard) {
    bytes += logs_->log(shard).buffered_bytes();
  }
  return bytes;
}

cql::CqlStatus Keeper::Reserve(size_t bytes) {
  if (logs_ == nullptr || engine_->ReserveBarrier(kBarrierBytes + bytes)) return {};
  return cql::CqlError::Server("The change of the schema was refused, and " +
                               Words(engine_->log_refusal()));
}

void Keeper::Unreserve(size_t bytes) {
  if (logs_ != nullptr) engine_->UnreserveBarrier(kBarrierBytes + bytes);
}

void Keeper::Note(const execute::SchemaChangeRecord& record, size_t reserved) {
  {
    const MutexLock lock(mutex_);
    history_.Add(record);
  }
  if (logs_ == nullptr) return;
  std::string payload;
  payload.reserve(kBarrierBytes + reserved);
  AppendChangeBarrier(record, payload);
  engine_->AppendBarrier(payload, kBarrierBytes + reserved);
}

bool Keeper::Note(const roles::RoleState& before, const roles::RoleState& after) {
  if (logs_ == nullptr) return true;
  std::string event;
  AppendRoleEvent(before, after, event);
  return engine_->AppendEvent(event);
}

absl::Status Keeper::Close() {
  if (roles_ != nullptr) roles_->set_journal(nullptr);
  if (logs_ == nullptr) return absl::OkStatus();
  return logs_->Close();
}

}  // namespace liststore::durable
