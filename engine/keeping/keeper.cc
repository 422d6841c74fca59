#include "engine/keeping/keeper.h"

#include <memory>
#include <span>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/durable/definitions.h"
#include "engine/keeping/events.h"

namespace liststore::keeping {
namespace {

std::string Words(const absl::Status& refusal) {
  return absl::StrCat("nothing was changed: the commit log cannot take it: ", refusal.message());
}

}  // namespace

Keeper::Keeper(durable::DataDirectory directory, Recovered recovered,
               const durable::DataRunOptions& options)
    : recovered_(std::move(recovered)),
      run_(std::move(directory), recovered_.of_directory, options),
      history_(recovered_.of_directory.history) {
  history_.NameDialect(recovered_.dialect.name);
}

Keeper::~Keeper() = default;

absl::Status Keeper::Begin(shard::Engine& engine, roles::RoleStore& roles,
                           std::function<durable::ClockState()> clock) {
  LS_CHECK(engine_ == nullptr, "a run begins once");
  engine_ = &engine;
  roles_ = &roles;
  clock_ = std::move(clock);
  LS_RETURN_IF_ERROR(run_.Begin(engine));
  if (logs() == nullptr) return absl::OkStatus();
  LS_RETURN_IF_ERROR(WriteStart());
  roles.set_journal(this);
  return logs()->Keep();
}

absl::Status Keeper::WriteStart() {
  LS_RETURN_IF_ERROR(
      run_.WriteStart(*engine_, execute::AllNumbered(*engine_->catalog().snapshot())));
  const std::shared_ptr<const roles::RoleState> roles = roles_->snapshot();
  if (!recovered_.events.has_roles || recovered_.events.roles != *roles) {
    std::string event;
    AppendRoleEvent(recovered_.events.roles, *roles, event);
    if (!engine_->AppendEvent(event)) return engine_->log_refusal();
  }
  const durable::ClockState state = clock_();
  const bool is_known =
      recovered_.events.clock && recovered_.events.clock->setting == state.setting;
  const bool is_real = state.setting.mode == ServerClock::Mode::kReal;
  if (is_known ? is_real : is_real && !recovered_.events.clock) return absl::OkStatus();
  std::string event;
  durable::AppendClockEvent(state, event);
  return engine_->AppendEvent(event) ? absl::OkStatus() : engine_->log_refusal();
}

std::optional<std::string> Keeper::ClockRefusal() const {
  if (logs() == nullptr) return std::nullopt;
  const absl::Status refusal = engine_->log_refusal();
  if (refusal.ok()) return std::nullopt;
  return Words(refusal);
}

void Keeper::NoteClock() {
  if (logs() == nullptr) return;
  const MutexLock lock(clock_mutex_);
  std::string event;
  durable::AppendClockEvent(clock_(), event);
  // Refused between the question and the move: the next move says it.
  static_cast<void>(engine_->AppendEvent(event));
}

std::vector<std::string> Keeper::AllEvents(const roles::RoleState& roles) const {
  std::vector<std::string> events;
  AppendRoleEvent(roles::RoleState(), roles, events.emplace_back());
  if (!recovered_.events.holding.empty()) events.push_back(recovered_.events.holding);
  durable::AppendClockEvent(clock_(), events.emplace_back());
  return events;
}

durable::SnapshotContent Keeper::Content() {
  const std::shared_ptr<const Schema> schema = engine_->catalog().snapshot();
  durable::Definitions definitions = run_.NewDefinitions();
  {
    const MutexLock lock(mutex_);
    definitions.changes = history_.changes();
  }
  definitions.numbers = execute::AllNumbered(*schema);
  // Its log's position was read before: what is noted behind that comes again, or is here.
  definitions.events = AllEvents(*roles_->SettledSnapshot());
  durable::SnapshotContent content;
  content.definitions = BytesOf(definitions);
  for (const NumberedTable& table : definitions.numbers) {
    if (schema->FindTable(table.keyspace, table.table)->view) continue;
    content.tables.push_back({table.id, table.keyspace, table.table});
  }
  return content;
}

absl::StatusOr<durable::SnapshotResult> Keeper::TakeSnapshot() {
  LS_CHECK(engine_ != nullptr, "a snapshot is of a run that has begun");
  absl::StatusOr<durable::SnapshotResult> result = absl::InternalError("no snapshot was tried");
  engine_->catalog().Change([&](Schema&) {
    result = run_.TakeSnapshot(*engine_, clock_().now_nanos, [this] { return Content(); });
    return false;
  });
  return result;
}

OpStatus Keeper::NotKept(const absl::Status& refusal) {
  const MutexLock lock(mutex_);
  refusal_ = Words(refusal);
  return OpStatus::kNotKept;
}

std::string Keeper::Refusal() const {
  const MutexLock lock(mutex_);
  return refusal_;
}

OpStatus Keeper::Mark(Act mark) {
  std::string payload;
  durable::AppendMark(payload);
  std::string record;
  uint64_t step = 0;
  if (logs() != nullptr) {
    if (const absl::Status marked = run_.PrepareMark(); !marked.ok()) return NotKept(marked);
    record.reserve(shard::Engine::BarrierRecordBytes(payload.size()));
    if (!engine_->ReserveBarrier(payload.size())) return NotKept(engine_->log_refusal());
  }
  // What comes behind the instant takes nothing of the heap.
  durable::SchemaHistory history;
  absl::Cleanup unreserve = [&] {
    if (logs() != nullptr) engine_->UnreserveBarrier(payload.size());
  };
  {
    const MutexLock lock(mutex_);
    history = history_;
  }
  const OpStatus status = mark([&](std::span<const TableId> /*tables*/) {
    if (logs() != nullptr) step = engine_->AppendBarrierHeld(payload, payload.size(), record);
  });
  if (status != OpStatus::kOk) return status;
  std::move(unreserve).Cancel();
  const MutexLock lock(mutex_);
  std::swap(marked_history_, history);
  mark_ = step;
  if (logs() != nullptr) run_.NoteMark();
  return status;
}

void Keeper::Forget() {
  run_.ForgetMark();
  const MutexLock lock(mutex_);
  marked_history_ = {};
  mark_ = 0;
}

OpStatus Keeper::Return(std::vector<NumberedTable> tables, Act go_back) {
  OpStatus status = OpStatus::kOk;
  durable::SchemaHistory history;
  {
    const MutexLock lock(mutex_);
    history = marked_history_;
  }
  if (logs() == nullptr) {
    status = go_back([](std::span<const TableId> /*tables*/) {});
  } else {
    roles_->ResetIf([&](const roles::RoleState& roles) {
      status = WriteReturn(roles, std::move(tables), go_back);
      return status == OpStatus::kOk;
    });
  }
  if (status != OpStatus::kOk) return status;
  const MutexLock lock(mutex_);
  std::swap(history_, history);
  return status;
}

// While nobody changes roles.
OpStatus Keeper::WriteReturn(const roles::RoleState& roles, std::vector<NumberedTable> tables,
                             Act go_back) {
  // Of moves of the clock, those that are noted before are told again, and others come behind.
  const MutexLock clock_lock(clock_mutex_);
  durable::ReturnRecord back;
  {
    const MutexLock lock(mutex_);
    back.mark = mark_;
  }
  back.base_snapshot = run_.base_snapshot();
  back.events = AllEvents(roles);
  back.numbers = std::move(tables);
  const size_t marked = back.numbers.size();
  const std::shared_ptr<const Schema> schema = engine_->catalog().snapshot();
  for (NumberedTable& table : execute::AllNumbered(*schema)) {
    if (!schema->FindKeyspace(table.keyspace)->is_system()) continue;
    back.numbers.push_back(std::move(table));
  }
  std::string payload;
  durable::AppendReturn(back, payload);
  const size_t bytes = payload.size();
  std::string record;
  record.reserve(shard::Engine::BarrierRecordBytes(bytes));
  if (!engine_->ReserveBarrier(bytes)) return NotKept(engine_->log_refusal());
  absl::Cleanup unreserve = [&] { engine_->UnreserveBarrier(bytes); };
  const OpStatus status = go_back([&](std::span<const TableId> ids) {
    // As long as before.
    for (size_t i = 0; i < marked; ++i) back.numbers[i].id = ids[i];
    back.events.back().clear();
    durable::AppendClockEvent(clock_(), back.events.back());
    payload.clear();
    durable::AppendReturn(back, payload);
    engine_->AppendBarrierHeld(payload, bytes, record);
  });
  if (status != OpStatus::kOk) return status;
  std::move(unreserve).Cancel();
  run_.NoteReturn();
  return status;
}

cql::CqlStatus Keeper::Reserve(size_t bytes) {
  if (logs() == nullptr || engine_->ReserveBarrier(durable::kBarrierBytes + bytes)) return {};
  return cql::CqlError::Server("The change of the schema was refused, and " +
                               Words(engine_->log_refusal()));
}

void Keeper::Unreserve(size_t bytes) {
  if (logs() != nullptr) engine_->UnreserveBarrier(durable::kBarrierBytes + bytes);
}

void Keeper::Note(const SchemaChangeRecord& record, size_t reserved) {
  {
    const MutexLock lock(mutex_);
    history_.Add(record);
  }
  if (logs() == nullptr) return;
  std::string payload;
  payload.reserve(durable::kBarrierBytes + reserved);
  durable::AppendChangeBarrier(record, payload);
  engine_->AppendBarrier(payload, durable::kBarrierBytes + reserved);
}

bool Keeper::Note(const roles::RoleState& before, const roles::RoleState& after) {
  if (logs() == nullptr) return true;
  std::string event;
  AppendRoleEvent(before, after, event);
  return engine_->AppendEvent(event);
}

absl::Status Keeper::Close() {
  if (roles_ != nullptr) roles_->set_journal(nullptr);
  if (logs() == nullptr) return absl::OkStatus();
  return run_.Close();
}

}  // namespace liststore::keeping
