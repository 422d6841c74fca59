#include "engine/keeping/keeper.h"

#include <memory>
#include <utility>

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

durable::SnapshotContent Keeper::Content() {
  const std::shared_ptr<const Schema> schema = engine_->catalog().snapshot();
  durable::Definitions definitions = run_.NewDefinitions();
  {
    const MutexLock lock(mutex_);
    definitions.changes = history_.changes();
  }
  definitions.numbers = execute::AllNumbered(*schema);
  // Its log's position was read before: what is noted behind that comes again, or is here.
  AppendRoleEvent(roles::RoleState(), *roles_->SettledSnapshot(),
                  definitions.events.emplace_back());
  durable::AppendClockEvent(clock_(), definitions.events.emplace_back());
  if (!recovered_.events.holding.empty()) {
    definitions.events.push_back(recovered_.events.holding);
  }
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
