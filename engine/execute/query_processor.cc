#include "engine/execute/query_processor.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/planner.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor_call.h"

namespace liststore::execute {
namespace {

// Source: ScyllaDB cql3/query_processor.hh, prepared_statement_is_too_big.
cql::CqlError TooBig(const PreparedStatement& statement, size_t bytes_max) {
  return cql::CqlError::Server("Prepared statement is too big: " + cql::ShownText(statement.text) +
                               " (" + std::to_string(statement.bytes) + " bytes; all have " +
                               std::to_string(bytes_max) + ")");
}

// It may take much memory.
bool TakesJsonApart(const cql::ComputedValue& computed) {
  using Kind = cql::NativeFunction::Kind;
  const Kind kind = computed.function.kind;
  return kind == Kind::kFromJson || kind == Kind::kJsonRow;
}

StatementScratch& ThreadScratch() {
  static thread_local StatementScratch scratch;
  return scratch;
}

}  // namespace

bool IsSerial(protocol::Consistency consistency) {
  return consistency == protocol::Consistency::kSerial ||
         consistency == protocol::Consistency::kLocalSerial;
}

namespace {

// Source: ScyllaDB db/consistency_level.cc.
bool MayRead(protocol::Consistency consistency) {
  return consistency != protocol::Consistency::kAny &&
         consistency != protocol::Consistency::kEachQuorum;
}

}  // namespace

cql::CqlStatus CheckReadConsistency(protocol::Consistency consistency) {
  if (MayRead(consistency)) return {};
  return cql::CqlError::Invalid(std::string(protocol::ConsistencyName(consistency)) +
                                " ConsistencyLevel is only supported for writes");
}
cql::CqlStatus CheckWriteConsistency(protocol::Consistency consistency) {
  if (!IsSerial(consistency)) return {};
  return cql::CqlError::Invalid("You must use conditional updates for serializable writes");
}
// Source: ScyllaDB cql3/statements/modification_statement.cc, read_command.
cql::CqlStatus CheckReadsOfWrites(std::span<const cql::ModificationPlan* const> writes,
                                  protocol::Consistency consistency) {
  if (CheckReadConsistency(consistency).ok()) [[likely]]
    return {};
  const auto reads = [](const cql::ModificationPlan* plan) {
    return std::ranges::any_of(plan->assignments, &cql::CellAssignment::reads) ||
           std::ranges::any_of(plan->static_assignments, &cql::CellAssignment::reads);
  };
  if (std::ranges::none_of(writes, reads)) return {};
  return cql::CqlError::Invalid("Write operation require a read but consistency " +
                                std::string(protocol::ConsistencyName(consistency)) +
                                " is not supported on reads");
}
cql::CqlStatus CheckConditionalConsistency(const protocol::QueryParameters& parameters) {
  if (!IsSerial(parameters.serial_consistency)) {
    return cql::CqlError::Invalid(
        "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
  }
  if (!IsSerial(parameters.consistency)) return {};
  return cql::CqlError::Invalid(
      std::string(protocol::ConsistencyName(parameters.consistency)) +
      " is not supported as conditional update commit consistency. Use ANY if you mean \"make sure "
      "it is accepted but I don't care how many replicas commit it for non-SERIAL reads\"");
}

QueryProcessor::QueryProcessor(shard::Engine& engine, const Clock& clock,
                               const cql::VirtualTables& virtual_tables,
                               QueryProcessorOptions options)
    : engine_(engine),
      clock_(clock),
      virtual_tables_(virtual_tables),
      options_(std::move(options)),
      settings_(options_.settings != nullptr
                    ? options_.settings
                    : std::make_shared<const settings::LiveSettings>(settings::ScyllaConfig())),
      roles_(options_.roles != nullptr ? options_.roles : std::make_shared<roles::RoleStore>()),
      checks_access_(roles_->rules().asks_for_passwords || roles_->rules().checks_permissions),
      statements_(options_.statement_bytes_max),
      timeuuids_(clock, engine.catalog().NewUuid()) {
  engine_.catalog().Change([&](Schema& schema) {
    virtual_tables_.PutInto(schema);
    return true;
  });
}

QueryProcessor::~QueryProcessor() = default;

ConnectionOrders QueryProcessor::Handle(std::span<RequestView> requests, ClientState& client,
                                        OutputBuffer& out) {
  Turn turn{client, ThreadScratch(), out};
  LS_CHECK(turn.scratch.group.empty(), "a turn leaves nothing to the next one, of another client");
  // Where the heap refuses what one of them needs.
  const absl::Cleanup abandon = [&] { turn.scratch.group.Abandon(); };
  turn.scratch.Settings(*settings_, options_.cells_max);
  turn.generation = engine_.catalog().generation();
  turn.now_nanos = clock_.NowNanos();
  for (RequestView& request : requests) {
    turn.IsFull() ? request.Postpone() : Take(request, turn);
  }
  RunGroup(turn);
  return {};
}

const PreparedStatement* QueryProcessor::FindGroupable(RequestView& request,
                                                       const Turn& turn) const {
  if (request.kind() != RequestKind::kExecute || request.row_changes != nullptr ||
      IsToBeCounted(request.tracing(), request.parameters(), options_.tally)) {
    return nullptr;
  }
  const PreparedStatement* const statement =
      request.statement().Find(turn.client.statements, statements_);
  if (turn.scratch.runs_alone) return nullptr;
  // A statement of a later schema may belong to a time that the clock was set back to meanwhile.
  const bool may_join = statement != nullptr && statement->is_groupable &&
                        engine_.catalog().generation() == turn.generation;
  return may_join ? statement : nullptr;
}

bool QueryProcessor::HasAccess(const PreparedStatement& statement, RequestView& request,
                               Turn& turn) {
  Call call(request, turn, turn.now_nanos, &turn.scratch.group);
  return CheckAccess(*statement.plan, call).ok();
}

bool QueryProcessor::JoinsByItems(const PreparedStatement& statement, RequestView& request,
                                  Turn& turn) {
  const protocol::Consistency consistency = request.consistency();
  const bool is_read = statement.item_read.has_value();
  if (!is_read && !statement.item_insert) return false;
  if (IsSerial(consistency) || (is_read && !MayRead(consistency))) return false;
  if (checks_access_ && !HasAccess(statement, request, turn)) return false;
  ExecuteGroup& group = turn.scratch.group;
  if (is_read) {
    return group.AddItemRead(request, turn.client, std::get<cql::SelectPlan>(statement.plan->body),
                             *statement.item_read);
  }
  const auto& plan = std::get<cql::ModificationPlan>(statement.plan->body);
  const std::optional<int64_t> timestamp = TimestampOf(request.parameters());
  return group.AddItemInsert(request, turn.client, plan.table->storage.id, *statement.item_insert,
                             WholeSeconds(turn.now_nanos),
                             timestamp ? WriteTimestamp{*timestamp} : WriteTimestamp::None());
}

void QueryProcessor::Take(RequestView& request, Turn& turn) {
  request.outcome.answered = true;
  const PreparedStatement* const statement = FindGroupable(request, turn);
  if (statement == nullptr || !JoinsByItems(*statement, request, turn)) {
    return TakeAtLength(statement, request, turn);
  }
  if (turn.scratch.group.full()) RunGroup(turn);
}

void QueryProcessor::TakeAtLength(const PreparedStatement* statement, RequestView& request,
                                  Turn& turn) {
  ExecuteGroup& group = turn.scratch.group;
  if (statement != nullptr) {
    Call call(request, turn, turn.now_nanos, &group);
    const cql::CqlOr<Ran> ran = RunPrepared(*statement, call);
    if (ran.ok() && *ran == Ran::kJoined) {
      if (group.full()) RunGroup(turn);
      return;
    }
    // While a group runs nothing else is written, and nothing comes before it.
    RunGroup(turn);
    if (turn.ends) return request.Postpone();
    if (!ran.ok()) return call.Fail(ran.error());
  } else {
    // What came before it is done before it: a client that does not wait still sees its own order.
    RunGroup(turn);
    // One of them was deferred in its place.
    if (turn.ends) return request.Postpone();
  }
  Answer(request, turn);
}

void QueryProcessor::RunGroup(Turn& turn) {
  turn.client.has_written |= turn.scratch.group.Run(engine_, turn.now_nanos, turn.out);
  bool is_first = true;  // which is not overtaken again and again by what is smaller
  for (RequestView* const request : turn.scratch.group.too_large()) {
    turn.IsFull() && !is_first ? request->Postpone() : Answer(*request, turn);
    is_first = false;
  }
}

void QueryProcessor::Answer(RequestView& request, Turn& turn) {
  turn.NoteTime();
  // The request before may have changed them.
  turn.scratch.Settings(*settings_, options_.cells_max);
  Call call(request, turn, clock_.NowNanos());
  WorkPace pace(turn.client.place);
  call.pace = &pace;
  if (!turn.scratch.computed.empty()) turn.scratch.computed.clear();
  call.tally = options_.tally;
  cql::CqlOr<Ran> ran = Ran::kTableGone;
  for (int attempt = 0; attempt < kPlanAttemptsMax; ++attempt) {
    if (attempt > 0) engine_.catalog().WaitForChange();
    ran = Handle(call);
    if (!ran.ok() || *ran != Ran::kTableGone) break;
  }
  if (!ran.ok()) {
    call.Fail(ran.error());
  } else if (*ran == Ran::kDeferred) {
    turn.ends |= request.holds_back();
  } else if (*ran != Ran::kAnswered) {
    call.Fail(cql::CqlError::Server("The schema changes faster than statements run"));
  } else if (request.kind() != RequestKind::kPrepare) {
    call.CountAccepted(request.parameters());
  }
  if (!request.keeps_plans()) {
    for (StatementView& statement : request.statements()) statement.ForgetPlan();
  }
  turn.scratch.Trim();
}

QueryProcessor::Ran QueryProcessor::Defer(Deferral deferral, Call& call) {
  call.request.Defer(deferral);
  return Ran::kDeferred;
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::Handle(Call& call) {
  switch (call.request.kind()) {
    case RequestKind::kQuery:
      return HandleQuery(call);
    case RequestKind::kPrepare:
      return HandlePrepare(call);
    case RequestKind::kExecute:
      return HandleExecute(call);
    case RequestKind::kBatch:
      return HandleBatch(call);
  }
  LS_UNREACHABLE("requests are of one of these kinds");
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::HandleQuery(Call& call) {
  StatementView& statement = call.request.statement();
  call.text = statement.text();
  if (call.pace->IsTooLong(UnitsOfText(call.text))) return Defer(Deferral::kLarge, call);
  const auto plan = statement.PlanOf(engine_.catalog().snapshot(), call.client.keyspace,
                                     options_.dialect, call.scratch.settings);
  if (!plan.ok()) return plan.error();
  call.now_nanos = clock_.NowNanos();
  protocol::ColumnsMetadata variables;
  protocol::ColumnsMetadata columns;
  if (const auto error = EncodeMetadata(**plan, variables, columns)) return ToCqlError(*error);
  LS_ASSIGN_OR_RETURN(const Ran ran, Run(**plan, columns, call));
  if (ran == Ran::kAnswered) call.CountAccepted(**plan);
  return ran;
}

cql::CqlOr<std::shared_ptr<const PreparedStatement>> QueryProcessor::Prepare(StatementView& text,
                                                                             Call& call) {
  const std::string& keyspace = call.client.keyspace;
  auto statement = std::make_shared<PreparedStatement>();
  LS_ASSIGN_OR_RETURN(statement->plan, text.PlanOf(engine_.catalog().snapshot(), keyspace,
                                                   options_.dialect, call.scratch.settings));
  if (const auto* definition = std::get_if<cql::SchemaPlan>(&statement->plan->body)) {
    LS_RETURN_IF_ERROR(CheckPreparedDefinition(*definition, call));
  }
  statement->id = StatementId(keyspace, text.text());
  statement->keyspace = keyspace;
  statement->text = text.text();
  statement->outline = text.Outline(keyspace);
  statement->is_groupable = IsGroupable(*statement->plan);
  if (statement->is_groupable) LookAhead(*statement);
  if (const auto error =
          EncodeMetadata(*statement->plan, statement->variables, statement->columns)) {
    return cql::CqlError::Server(error->message);
  }
  statement->bytes = BytesOf(*statement);
  return std::shared_ptr<const PreparedStatement>(std::move(statement));
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::HandlePrepare(Call& call) {
  call.text = call.request.statement().text();
  if (call.pace->IsTooLong(UnitsOfText(call.text))) return Defer(Deferral::kLarge, call);
  const uint64_t generation = engine_.catalog().generation();
  const cql::CqlOr<std::shared_ptr<const PreparedStatement>> prepared =
      Prepare(call.request.statement(), call);
  if (!prepared.ok()) return prepared.error();
  const PreparedStatement& statement = **prepared;
  if (!statements_.Put(*prepared)) return TooBig(statement, statements_.bytes_max());
  // A change of the schema or the settings that came in between did not see it: the driver prepares
  // it once more.
  if (engine_.catalog().generation() != generation ||
      settings_->version() != call.scratch.settings_version) {
    statements_.Drop(statement.id);
  }
  protocol::PreparedResult result;
  result.id = statement.id;
  result.result_metadata_id = statement.id;
  result.bind_markers = &statement.variables;
  result.partition_key_indexes = statement.plan->partition_key_variables;
  if (statement.plan->result_columns() != nullptr) result.result_columns = &statement.columns;
  result.is_conditional = statement.plan->is_conditional();
  protocol::EncodePrepared(call.out, call.context, result);
  call.CountAccepted(*statement.plan);
  return Ran::kAnswered;
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::HandleExecute(Call& call) {
  const PreparedStatement* const statement =
      call.request.statement().Find(call.client.statements, statements_);
  if (statement == nullptr) {
    statements_.NoteMiss();
    return Unprepared(call.request.statement().id());
  }
  call.now_nanos = clock_.NowNanos();
  LS_ASSIGN_OR_RETURN(const Ran ran, RunPrepared(*statement, call));
  if (ran != Ran::kTableGone) return ran;
  // The next PREPARE is to meet the schema of after the change.
  engine_.catalog().WaitForChange();
  return Unprepared(statement->id);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunPrepared(const PreparedStatement& statement,
                                                            Call& call) {
  call.text = statement.text;
  return Run(*statement.plan, statement.columns, call);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::Run(const cql::Plan& plan,
                                                    const protocol::ColumnsMetadata& columns,
                                                    Call& call) {
  std::vector<cql::BoundValue>& values = call.scratch.values;
  values.clear();
  LS_RETURN_IF_ERROR(call.request.Bind(call.request.statement(), plan, values));
  if (checks_access_) LS_RETURN_IF_ERROR(CheckAccess(plan, call));
  if (call.request.row_changes != nullptr) return RunRowChanges(plan, call);
  if (plan.computed.empty()) return RunBound(plan, columns, values, call);
  if (call.client.place.defers() && call.request.body_bytes() > kLoopTextBytesMax &&
      std::ranges::any_of(plan.computed, TakesJsonApart)) {
    return Defer(Deferral::kLarge, call);
  }
  Functions functions(*this, call.now_nanos);
  cql::ComputedValues computed(plan, functions, values, call.scratch.computed);
  LS_RETURN_IF_ERROR(computed.Compute());
  call.computed = &computed;
  cql::CqlOr<Ran> ran = RunBound(plan, columns, values, call);
  call.computed = nullptr;  // which ends here
  return ran;
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunBound(const cql::Plan& plan,
                                                         const protocol::ColumnsMetadata& columns,
                                                         cql::BoundValues values, Call& call) {
  const auto& body = plan.body;
  if (const auto* select = std::get_if<cql::SelectPlan>(&body)) {
    return RunSelect(*select, columns, values, call);
  }
  if (std::holds_alternative<cql::ModificationPlan>(body) ||
      std::holds_alternative<cql::BatchPlan>(body)) {
    return RunText(plan, columns, values, call);
  }
  call.client.has_written |=
      std::holds_alternative<cql::SchemaPlan>(body) || std::holds_alternative<cql::RolePlan>(body);
  if (const auto* use = std::get_if<cql::UsePlan>(&body)) {
    LS_RETURN_IF_ERROR(RunUse(*use, call));
  } else if (const auto* change = std::get_if<cql::SchemaPlan>(&body)) {
    // Changes wait for each other, and some copy whole tables.
    if (call.client.place.defers()) return Defer(Deferral::kSchema, call);
    LS_RETURN_IF_ERROR(RunSchema(*change, values, call));
  } else if (const auto* describe = std::get_if<cql::DescribePlan>(&body)) {
    LS_RETURN_IF_ERROR(RunDescribe(*describe, call));
  } else if (const auto* roles = std::get_if<cql::RolePlan>(&body)) {
    LS_RETURN_IF_ERROR(RunRoles(*roles, call));
  } else {
    LS_CHECK(std::holds_alternative<cql::PruneViewPlan>(body), "all other plans are above");
    protocol::EncodeVoid(call.out, call.context);
  }
  return Ran::kAnswered;
}

}  // namespace liststore::execute
