#include "engine/instruments/faulting_handler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/cql/plan/computed_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/cql/values/partition_key_text.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/write_type.h"

namespace liststore {
namespace {

using Kind = FaultAction::Kind;

// One statement of a request, and what it would be planned as.
struct Part {
  StatementOutline outline;
  std::string_view text;
  std::shared_ptr<const PreparedStatement> prepared;  // nullptr: a text, or unknown
  std::span<const protocol::Value> values;            // of a batch's
};

}  // namespace

// A request as faults look at it, with the memory behind FaultRequest's views.
struct FaultLook {
  StatementOp op = StatementOp::kOther;
  std::vector<Part> parts;
  const protocol::QueryParameters* parameters = nullptr;  // none of PREPARE
  bool is_batch = false;
  bool is_prepared = false;
  std::vector<std::string> tables;
  std::string text;
  std::string prepared_id;  // of EXECUTE, or a batch's first
};

namespace {

Part PartOf(std::string_view text, const ClientState& client) {
  return {OutlineOf(text, client.keyspace), text, nullptr, {}};
}

Part PartOf(const StatementCache& statements, std::string_view id) {
  Part part;
  part.prepared = statements.Find(id);
  if (part.prepared != nullptr) {
    part.outline = part.prepared->outline;
    part.text = part.prepared->text;
  }
  return part;
}

FaultLook LookAt(const protocol::Request& request, const ClientState& client,
                 const StatementCache& statements) {
  FaultLook look;
  if (const auto* query = std::get_if<protocol::Query>(&request.message)) {
    look.parts.push_back(PartOf(query->query, client));
    look.parameters = &query->parameters;
  } else if (const auto* prepare = std::get_if<protocol::Prepare>(&request.message)) {
    look.parts.push_back(PartOf(prepare->query, client));
    look.parts[0].outline.op = StatementOp::kPrepare;
  } else if (const auto* execute = std::get_if<protocol::Execute>(&request.message)) {
    look.parts.push_back(PartOf(statements, execute->id));
    look.parameters = &execute->parameters;
    look.prepared_id = execute->id;
  } else {
    const auto& batch = std::get<protocol::Batch>(request.message);
    look.is_batch = true;
    look.parameters = &batch.parameters;
    for (const protocol::BatchStatement& statement : batch.statements) {
      const bool prepared = statement.kind == protocol::BatchStatement::Kind::kPrepared;
      if (prepared && look.prepared_id.empty()) look.prepared_id = statement.query_or_id;
      look.parts.push_back(prepared ? PartOf(statements, statement.query_or_id)
                                    : PartOf(statement.query_or_id, client));
      look.parts.back().values = statement.values;
    }
  }
  look.op = look.is_batch ? StatementOp::kBatch : look.parts[0].outline.op;
  look.is_prepared = !look.prepared_id.empty();
  for (const Part& part : look.parts) {
    if (!look.text.empty()) look.text += "; ";
    look.text += part.text;
    std::string table = QualifiedTable(part.outline);
    if (!table.empty()) look.tables.push_back(std::move(table));
  }
  return look;
}

bool IsOfKeyspace(const FaultLook& look, std::string_view keyspace) {
  return std::ranges::any_of(
      look.parts, [keyspace](const Part& part) { return part.outline.keyspace == keyspace; });
}

bool IsOfSystem(const FaultLook& look) {
  return std::ranges::all_of(
      look.parts, [](const Part& part) { return IsServersKeyspace(part.outline.keyspace); });
}

bool NamesKey(const TableDefinition& table, const std::vector<KeyAlternatives>& partition_key,
              BoundValues values, std::string_view wanted) {
  std::vector<std::string> keys;
  if (partition_key.empty() ||
      !EncodePartitionKeys(table, partition_key, values, KeyUse::kRead, keys).ok()) {
    return false;
  }
  return std::ranges::any_of(
      keys, [&](const std::string& key) { return PartitionKeyText(table, key) == wanted; });
}

bool NamesKey(const Plan& plan, BoundValues values, std::string_view wanted) {
  if (const auto* select = std::get_if<SelectPlan>(&plan.body)) {
    return NamesKey(*select->table, select->partition_key, values, wanted);
  }
  if (const auto* change = std::get_if<ModificationPlan>(&plan.body)) {
    return NamesKey(*change->table, change->partition_key, values, wanted);
  }
  const auto* batch = std::get_if<BatchPlan>(&plan.body);
  return batch != nullptr &&
         std::ranges::any_of(batch->modifications, [&](const ModificationPlan& part) {
           return NamesKey(*part.table, part.partition_key, values, wanted);
         });
}

std::shared_ptr<const Plan> PlanOf(const Part& part, const QueryProcessor& processor,
                                   const ClientState& client) {
  return part.prepared != nullptr ? part.prepared->plan
                                  : processor.TryPlan(part.text, client.keyspace);
}

// Whether a statement of the request names this partition.
bool HasKey(const FaultLook& look, const QueryProcessor& processor, const ClientState& client,
            std::string_view wanted) {
  if (look.parameters == nullptr) return false;
  std::vector<BoundValue> values;
  ComputedBytes computed;
  return std::ranges::any_of(look.parts, [&](const Part& part) {
    const std::shared_ptr<const Plan> plan = PlanOf(part, processor, client);
    if (plan == nullptr) return false;
    const CqlStatus bound = look.is_batch ? BindBatchValues(*plan, part.values, values)
                                          : BindParameters(*plan, *look.parameters, values);
    if (!bound.ok()) return false;
    AppendPureValues(*plan, values, computed);
    return NamesKey(*plan, values, wanted);
  });
}

// What ScyllaDB would call the write that fails.
protocol::WriteType TypeOfWrite(const FaultLook& look, const protocol::Request& request,
                                const QueryProcessor& processor, const ClientState& client) {
  const auto* batch = std::get_if<protocol::Batch>(&request.message);
  auto type = batch == nullptr ? protocol::WriteType::kSimple : WriteTypeOf(batch->type);
  for (const Part& part : look.parts) {
    const std::shared_ptr<const Plan> plan = PlanOf(part, processor, client);
    if (plan == nullptr) continue;
    const protocol::WriteType of_part = WriteTypeOf(*plan);
    if (of_part != protocol::WriteType::kSimple) type = of_part;
  }
  return type;
}

// What the program gets instead of an answer. The words are ScyllaDB's, with the fault behind them.
void AnswerFault(const FaultHit& hit, const FaultLook& look, protocol::WriteType write_type,
                 const protocol::ResponseContext& context, Outcome& outcome, OutputBuffer& out) {
  const protocol::Consistency consistency =
      look.parameters == nullptr ? protocol::Consistency::kOne : look.parameters->consistency;
  const std::string level(protocol::ConsistencyName(consistency));
  const std::string table = look.tables.empty() ? "" : " for " + look.tables[0];
  const std::string fault = " (fault '" + hit.name + "')";
  const auto answer = [&](protocol::ErrorCode code, const std::string& message, auto details) {
    const std::string text = message + fault;
    outcome.answered = true;
    AnswerError(protocol::ErrorResponse{code, text, details}, context, outcome, out);
  };
  const std::string timed_out =
      "Operation timed out" + table + " - received only 0 responses from 1 CL=" + level + ".";
  using protocol::ErrorCode;
  switch (hit.kind) {
    case Kind::kReadTimeout:
      return answer(ErrorCode::kReadTimeout, timed_out,
                    protocol::ReadTimeoutDetails{consistency, 0, 1, false});
    case Kind::kWriteTimeout:
      return answer(ErrorCode::kWriteTimeout, timed_out,
                    protocol::WriteTimeoutDetails{consistency, 0, 1, write_type});
    case Kind::kUnavailable:
      return answer(ErrorCode::kUnavailable,
                    "Cannot achieve consistency level for cl " + level + ". Requires 1, alive 0",
                    protocol::UnavailableDetails{consistency, 1, 0});
    case Kind::kOverloaded:
      return answer(ErrorCode::kOverloaded, "Too many requests in flight", std::monostate());
    case Kind::kServerError:
      return answer(ErrorCode::kServerError, "The server failed", std::monostate());
    case Kind::kRateLimit:
      return answer(ErrorCode::kRateLimitError, "Per-partition rate limit reached" + table,
                    protocol::RateLimitDetails{look.op != StatementOp::kSelect, true});
    case Kind::kUnprepared:
      outcome.answered = true;
      return AnswerUnprepared(look.prepared_id, context, outcome, out);
    case Kind::kCloseConnection:
    case Kind::kNoAnswer:
    case Kind::kDelay:
      return;
  }
}

}  // namespace

ConnectionOrders FaultingHandler::Handle(std::span<PendingRequest> requests, ClientState& client,
                                         OutputBuffer& out) {
  if (!plan_.armed()) return next_.Handle(requests, client, out);
  ConnectionOrders orders;
  size_t answered = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const FaultLook look = LookAt(*requests[i].request, client, next_.statements());
    const std::optional<FaultHit> hit = HitOf(look, client);
    if (!hit) continue;
    // What came before it is done before it.
    if (answered < i) next_.Handle(requests.subspan(answered, i - answered), client, out);
    answered = i + 1;
    Suffer(*hit, look, requests[i], client, out, orders);
    if (orders.close) return orders;
  }
  if (answered < requests.size()) next_.Handle(requests.subspan(answered), client, out);
  return orders;
}

std::optional<FaultHit> FaultingHandler::HitOf(const FaultLook& look, const ClientState& client) {
  // Whoever controls the server reaches it whatever goes wrong.
  if (IsOfKeyspace(look, "liststore")) return std::nullopt;
  const std::string address = client.PeerText();
  FaultRequest request;
  request.op = look.op;
  request.tables = look.tables;
  request.of_system = IsOfSystem(look) && !look.parts.empty();
  request.text = look.text;
  if (look.parameters != nullptr) {
    request.consistency = protocol::ConsistencyName(look.parameters->consistency);
  }
  request.address = address;
  request.driver = client.driver_name;
  request.is_prepared = look.is_prepared;
  request.has_key = [&](std::string_view key) { return HasKey(look, next_, client, key); };
  return plan_.Meet(request);
}

void FaultingHandler::Suffer(const FaultHit& hit, const FaultLook& look, PendingRequest& pending,
                             ClientState& client, OutputBuffer& out, ConnectionOrders& orders) {
  if (hit.kind == Kind::kDelay || hit.applies) {
    OutputBuffer answer;
    next_.Handle({&pending, 1}, client, answer);
    if (hit.kind == Kind::kDelay) {
      pending.outcome.delay = hit.delay;
      orders.delayed.push_back({hit.delay, std::string(answer.view())});
      return;
    }
    // The client does not learn of it; what was read was read.
    const uint64_t dead_rows = pending.outcome.dead_rows;
    pending.outcome = {};
    pending.outcome.dead_rows = dead_rows;
  }
  if (hit.kind == Kind::kCloseConnection) orders.close = true;
  const protocol::WriteType write_type = TypeOfWrite(look, *pending.request, next_, client);
  AnswerFault(hit, look, write_type, ResponseContextOf(pending.header, client), pending.outcome,
              out);
}

}  // namespace liststore
