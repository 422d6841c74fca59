#include "engine/execute/query_processor.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/planner.h"
#include "engine/cql/schema/list_roles.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor_call.h"

namespace liststore {
namespace {

// Source: ScyllaDB cql3/query_processor.hh, prepared_statement_is_too_big.
CqlError TooBig(const PreparedStatement& statement) {
  return CqlError::Server("Prepared statement is too big: " + ShownText(statement.text) + " (" +
                          std::to_string(statement.bytes) + " bytes; all have " +
                          std::to_string(StatementCache::kBytesMax) + ")");
}

StatementScratch& ThreadScratch() {
  static thread_local StatementScratch scratch;
  return scratch;
}

}  // namespace

BoundValue ToBound(const protocol::Value& value) {
  if (value.has_bytes()) return {BoundValue::State::kValue, value.bytes()};
  return {value.is_unset() ? BoundValue::State::kUnset : BoundValue::State::kNull, {}};
}

// Where a name is among those of a request's values; of one that comes twice the first. There may
// be 65,535 of them: where there are more than some, not each is looked for among all.
class ValueNames {
 public:
  explicit ValueNames(std::span<const std::string_view> names) : names_(names) {
    if (names.size() <= kSearched) return;
    indexes_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) indexes_.emplace(names[i], i);
  }

  std::optional<size_t> Find(std::string_view name) const {
    if (names_.size() > kSearched) {
      const auto at = indexes_.find(name);
      return at == indexes_.end() ? std::nullopt : std::optional(at->second);
    }
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) return std::nullopt;
    return static_cast<size_t>(at - names_.begin());
  }

 private:
  static constexpr size_t kSearched = 32;

  std::span<const std::string_view> names_;
  std::unordered_map<std::string_view, size_t> indexes_;
};

CqlStatus BindParameters(const Plan& plan, const protocol::QueryParameters& parameters,
                         std::vector<BoundValue>& values) {
  values.clear();
  if (parameters.value_names.empty()) {
    if (parameters.values.size() != plan.variables.size()) {
      return CqlError::Invalid("Invalid amount of bind variables: expected " +
                               std::to_string(plan.variables.size()) + " received " +
                               std::to_string(parameters.values.size()));
    }
    for (const protocol::Value& value : parameters.values) values.push_back(ToBound(value));
    return {};
  }
  const ValueNames names(parameters.value_names);
  for (const BindVariable& variable : plan.variables) {
    const std::optional<size_t> at = names.Find(variable.name);
    if (!at) return CqlError::Invalid("Missing value for bind marker with name: " + variable.name);
    values.push_back(ToBound(parameters.values[*at]));
  }
  return {};
}

CqlStatus BindBatchValues(const Plan& plan, std::span<const protocol::Value> bound,
                          std::vector<BoundValue>& values) {
  values.clear();
  if (bound.size() != plan.variables.size()) {
    return CqlError::Invalid("There were " + std::to_string(plan.variables.size()) +
                             " markers(?) in CQL but " + std::to_string(bound.size()) +
                             " bound variables");
  }
  for (const protocol::Value& value : bound) values.push_back(ToBound(value));
  return {};
}

bool IsSerial(protocol::Consistency consistency) {
  return consistency == protocol::Consistency::kSerial ||
         consistency == protocol::Consistency::kLocalSerial;
}

// Source: ScyllaDB db/consistency_level.cc.
CqlStatus CheckReadConsistency(protocol::Consistency consistency) {
  if (consistency != protocol::Consistency::kAny &&
      consistency != protocol::Consistency::kEachQuorum) {
    return {};
  }
  return CqlError::Invalid(std::string(protocol::ConsistencyName(consistency)) +
                           " ConsistencyLevel is only supported for writes");
}
CqlStatus CheckWriteConsistency(protocol::Consistency consistency) {
  if (!IsSerial(consistency)) return {};
  return CqlError::Invalid("You must use conditional updates for serializable writes");
}
CqlStatus CheckConditionalConsistency(const protocol::QueryParameters& parameters) {
  if (!IsSerial(parameters.serial_consistency)) {
    return CqlError::Invalid(
        "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
  }
  if (!IsSerial(parameters.consistency)) return {};
  return CqlError::Invalid(
      std::string(protocol::ConsistencyName(parameters.consistency)) +
      " is not supported as conditional update commit consistency. Use ANY if you mean \"make sure "
      "it is accepted but I don't care how many replicas commit it for non-SERIAL reads\"");
}

QueryProcessor::QueryProcessor(Engine& engine, const Clock& clock,
                               const VirtualTables& virtual_tables, QueryProcessorOptions options)
    : engine_(engine),
      clock_(clock),
      virtual_tables_(virtual_tables),
      options_(std::move(options)),
      timeuuids_(clock, engine.catalog().NewUuid()) {
  engine_.catalog().Change([&](Schema& schema) {
    virtual_tables_.PutInto(schema);
    return true;
  });
}

QueryProcessor::~QueryProcessor() = default;

ConnectionOrders QueryProcessor::Handle(std::span<PendingRequest> requests, ClientState& client,
                                        OutputBuffer& out) {
  StatementScratch& scratch = ThreadScratch();
  LS_DCHECK(scratch.group.empty(), "a turn leaves nothing behind");
  // One reading of the clock for what came together.
  Turn turn;
  turn.generation = engine_.catalog().generation();
  turn.now_nanos = clock_.NowNanos();
  for (PendingRequest& pending : requests) {
    const auto* execute = std::get_if<protocol::Execute>(&pending.request->message);
    if (execute != nullptr &&
        !IsToBeCounted(pending.request->tracing, execute->parameters, options_.tally) &&
        AddToGroup(*execute, pending, client, scratch, turn, out)) {
      continue;
    }
    // What came before it is done before it: a client that does not wait still sees its own order.
    RunGroup(client, scratch, turn, out);
    HandleOne(pending, client, scratch, out);
  }
  RunGroup(client, scratch, turn, out);
  return {};
}

void QueryProcessor::RunGroup(ClientState& client, StatementScratch& scratch, const Turn& turn,
                              OutputBuffer& out) {
  scratch.group.Run(engine_, turn.now_nanos, out);
  for (PendingRequest* const pending : scratch.group.too_large()) {
    HandleOne(*pending, client, scratch, out);
  }
}

// Takes an EXECUTE of a hot shape into the group; or answers it, when its values are wrong.
bool QueryProcessor::AddToGroup(const protocol::Execute& execute, PendingRequest& pending,
                                ClientState& client, StatementScratch& scratch, const Turn& turn,
                                OutputBuffer& out) {
  const std::shared_ptr<const PreparedStatement>& statement =
      client.statements.Find(statements_, execute.id);
  if (statement == nullptr || !statement->is_groupable) return false;
  // A statement of a later schema may belong to a time that the clock was set back to meanwhile.
  if (engine_.catalog().generation() != turn.generation) return false;
  const protocol::QueryParameters& parameters = execute.parameters;
  const bool reads = std::holds_alternative<SelectPlan>(statement->plan->body);
  const protocol::ResponseContext context = ResponseContextOf(pending.header, client);
  // A group's answers are written when it runs; until then nothing else is written.
  const auto refuse = [&](const CqlError& error) {
    RunGroup(client, scratch, turn, out);
    pending.outcome.answered = true;
    AnswerError(error, context, pending.outcome, out);
    return true;
  };
  CqlStatus status = reads ? CheckReadConsistency(parameters.consistency)
                           : CheckWriteConsistency(parameters.consistency);
  if (status.ok()) status = BindParameters(*statement->plan, parameters, scratch.values);
  if (!status.ok()) return refuse(status.error());
  const CqlOr<ExecuteGroup::Added> added =
      scratch.group.Add(pending, statement, parameters, context, scratch.values,
                        TimestampOf(parameters), turn.now_nanos);
  if (!added.ok()) return refuse(added.error());
  if (*added == ExecuteGroup::Added::kNo) return false;
  if (scratch.group.full()) RunGroup(client, scratch, turn, out);
  return true;
}

void QueryProcessor::HandleOne(PendingRequest& pending, ClientState& client,
                               StatementScratch& scratch, OutputBuffer& out) {
  pending.outcome.answered = true;
  Call call{client,          ResponseContextOf(pending.header, client),
            scratch,         out,
            pending.outcome, clock_.NowNanos()};
  if (!scratch.computed.empty()) scratch.computed.clear();
  call.tally = options_.tally;
  call.tracing = pending.request->tracing;
  const auto& message = pending.request->message;
  if (const auto* query = std::get_if<protocol::Query>(&message)) return HandleQuery(*query, call);
  if (const auto* prepare = std::get_if<protocol::Prepare>(&message)) {
    return HandlePrepare(*prepare, call);
  }
  if (const auto* execute = std::get_if<protocol::Execute>(&message)) {
    return HandleExecute(*execute, call);
  }
  if (const auto* batch = std::get_if<protocol::Batch>(&message)) return HandleBatch(*batch, call);
  LS_UNREACHABLE("connections keep other requests to themselves");
}

void QueryProcessor::HandleQuery(const protocol::Query& query, Call& call) {
  call.text = query.query;
  for (int attempt = 0; attempt < kPlanAttemptsMax; ++attempt) {
    const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
    const CqlOr<std::shared_ptr<const Plan>> plan =
        PlanText(query.query, *schema, call.client.keyspace);
    if (!plan.ok()) return call.Fail(plan.error());
    call.now_nanos = clock_.NowNanos();
    protocol::ColumnsMetadata variables;
    protocol::ColumnsMetadata columns;
    if (const auto error = EncodeMetadata(**plan, variables, columns)) {
      return call.Fail(error->code, error->message);
    }
    if (Run(**plan, columns, query.query, query.parameters, call)) {
      call.CountAccepted(**plan);
      return call.CountAccepted(query.parameters);
    }
    engine_.catalog().WaitForChange();
  }
  call.Fail(protocol::ErrorCode::kServerError, "The schema changes faster than statements run");
}

CqlOr<std::shared_ptr<const PreparedStatement>> QueryProcessor::Prepare(std::string_view text,
                                                                        std::string_view keyspace) {
  const std::shared_ptr<const Schema> schema = engine_.catalog().snapshot();
  auto statement = std::make_shared<PreparedStatement>();
  LS_ASSIGN_OR_RETURN(statement->plan, PlanText(text, *schema, keyspace));
  statement->id = StatementId(keyspace, text);
  statement->keyspace = keyspace;
  statement->text = text;
  statement->outline = OutlineOf(text, keyspace);
  statement->is_groupable = IsGroupable(*statement->plan);
  if (const auto error =
          EncodeMetadata(*statement->plan, statement->variables, statement->columns)) {
    return CqlError::Server(error->message);
  }
  statement->bytes = BytesOf(*statement);
  return std::shared_ptr<const PreparedStatement>(std::move(statement));
}

std::shared_ptr<const Plan> QueryProcessor::TryPlan(std::string_view text,
                                                    std::string_view keyspace) const {
  const CqlOr<std::shared_ptr<const Plan>> plan =
      PlanText(text, *engine_.catalog().snapshot(), keyspace);
  return plan.ok() ? *plan : nullptr;
}

void QueryProcessor::HandlePrepare(const protocol::Prepare& prepare, Call& call) {
  call.text = prepare.query;
  const uint64_t generation = engine_.catalog().generation();
  const CqlOr<std::shared_ptr<const PreparedStatement>> prepared =
      Prepare(prepare.query, call.client.keyspace);
  if (!prepared.ok()) return call.Fail(prepared.error());
  const PreparedStatement& statement = **prepared;
  if (!statements_.Put(*prepared)) return call.Fail(TooBig(statement));
  // A change of the schema that came in between did not see it: the driver prepares it once more.
  if (engine_.catalog().generation() != generation) statements_.Drop(statement.id);
  protocol::PreparedResult result;
  result.id = statement.id;
  result.result_metadata_id = statement.id;
  result.bind_markers = &statement.variables;
  result.partition_key_indexes = statement.plan->partition_key_variables;
  if (statement.plan->result_columns() != nullptr) result.result_columns = &statement.columns;
  result.is_conditional = statement.plan->is_conditional();
  protocol::EncodePrepared(call.out, call.context, result);
  call.CountAccepted(*statement.plan);
}

void QueryProcessor::HandleExecute(const protocol::Execute& execute, Call& call) {
  const std::shared_ptr<const PreparedStatement> statement = statements_.Find(execute.id);
  if (statement == nullptr)
    return AnswerUnprepared(execute.id, call.context, call.outcome, call.out);
  call.text = statement->text;
  call.now_nanos = clock_.NowNanos();
  if (!Run(*statement->plan, statement->columns, statement->text, execute.parameters, call)) {
    // The next PREPARE is to meet the schema of after the change.
    engine_.catalog().WaitForChange();
    return AnswerUnprepared(execute.id, call.context, call.outcome, call.out);
  }
  call.CountAccepted(execute.parameters);
}

bool QueryProcessor::Run(const Plan& plan, const protocol::ColumnsMetadata& columns,
                         std::string_view text, const protocol::QueryParameters& parameters,
                         Call& call) {
  CqlStatus bound = BindParameters(plan, parameters, call.scratch.values);
  Functions functions(*this, call.now_nanos);
  ComputedValues computed(plan, functions, call.scratch.values, call.scratch.computed);
  if (bound.ok() && !plan.computed.empty()) {
    call.computed = &computed;
    bound = computed.Compute();
  }
  if (!bound.ok()) {
    call.Fail(bound.error());
    return true;
  }
  const bool done = RunBound(plan, columns, text, call.scratch.values, parameters, call);
  call.computed = nullptr;
  return done;
}

bool QueryProcessor::RunBound(const Plan& plan, const protocol::ColumnsMetadata& columns,
                              std::string_view text, BoundValues values,
                              const protocol::QueryParameters& parameters, Call& call) {
  if (const auto* select = std::get_if<SelectPlan>(&plan.body)) {
    return RunSelect(*select, columns, text, values.first(plan.variables.size()), values,
                     parameters, call);
  }
  if (const auto* change = std::get_if<ModificationPlan>(&plan.body)) {
    return RunModification(*change, columns, values, parameters, call);
  }
  if (const auto* batch = std::get_if<BatchPlan>(&plan.body)) {
    return RunBatch(*batch, columns, values, parameters, call);
  }
  if (const auto* use = std::get_if<UsePlan>(&plan.body)) {
    RunUse(*use, call);
  } else if (const auto* change = std::get_if<SchemaPlan>(&plan.body)) {
    RunSchema(*change, call);
  } else if (const auto* describe = std::get_if<DescribePlan>(&plan.body)) {
    RunDescribe(*describe, parameters, call);
  } else if (const auto* list = std::get_if<ListPlan>(&plan.body)) {
    AnswerDescription(ListRoles(list->statement, options_.node, call.client.user), parameters,
                      call);
  } else {
    LS_CHECK(std::holds_alternative<PruneViewPlan>(plan.body), "all other plans are above");
    protocol::EncodeVoid(call.out, call.context);
  }
  return true;
}

}  // namespace liststore
