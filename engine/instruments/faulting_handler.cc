#include "engine/instruments/faulting_handler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "engine/cql/plan/partitions_of.h"
#include "engine/cql/planner/plan_bytes.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/cql/values/partition_key_text.h"
#include "engine/execute/answers.h"
#include "engine/execute/write/write_type.h"

namespace liststore::instruments {
namespace {

using Kind = FaultAction::Kind;

// Of EXECUTE, or the first in a batch; empty: there is none.
std::string_view IdOf(execute::RequestView& request) {
  const auto statements = request.statements();
  const auto at = std::ranges::find_if(statements, &execute::StatementView::is_prepared);
  return at == statements.end() ? std::string_view() : at->id();
}

cql::StatementOp RequestOpOf(execute::RequestView& request, const execute::ClientState& client) {
  switch (request.kind()) {
    case execute::RequestKind::kPrepare:
      return cql::StatementOp::kPrepare;
    case execute::RequestKind::kBatch:
      return cql::StatementOp::kBatch;
    default:
      return request.statement().Outline(client.keyspace).op;
  }
}

}  // namespace

// What a request has met that was deferred then.
struct FaultingHandler::Met final : execute::RequestMemo {
  FaultRequest look;
  std::optional<FaultHit> hit;
};

execute::ConnectionOrders FaultingHandler::Handle(std::span<execute::RequestView> requests,
                                                  execute::ClientState& client, OutputBuffer& out) {
  const bool was_met = !requests.empty() && requests.front().memo != nullptr;
  if (!plan_.armed() && !was_met) return next_.Handle(requests, client, out);
  execute::ConnectionOrders orders;
  const size_t begin = out.size();
  const auto began_at = std::chrono::steady_clock::now();
  for (size_t i = 0; i < requests.size(); ++i) {
    HandleOne(requests[i], client, out, orders);
    if (orders.close) return orders;
    size_t answer_bytes = out.size() - begin;
    for (const execute::DelayedAnswer& answer : orders.delayed)
      answer_bytes += answer.frames.size();
    // Each is handed on by itself, and whoever gets it knows nothing of the time of those before it.
    const bool goes_on = answer_bytes <= execute::kAnswerBytesPerCall &&
                         !requests[i].holds_back() &&
                         std::chrono::steady_clock::now() - began_at <= execute::kTimePerCall;
    if (goes_on) continue;
    for (execute::RequestView& request : requests.subspan(i + 1)) request.Postpone();
    return orders;
  }
  return orders;
}

void FaultingHandler::HandleOne(execute::RequestView& request, execute::ClientState& client,
                                OutputBuffer& out, execute::ConnectionOrders& orders) {
  auto met = std::static_pointer_cast<const Met>(std::exchange(request.memo, nullptr));
  if (met == nullptr) {
    auto meets = std::make_shared<Met>();
    meets->hit = Meet(request, client, meets->look);
    met = std::move(meets);
  }
  met->hit ? Suffer(*met->hit, met->look, request, client, out, orders)
           : static_cast<void>(next_.Handle({&request, 1}, client, out));
  if (request.outcome.deferral != execute::Deferral::kNo) request.memo = std::move(met);
}

std::optional<FaultHit> FaultingHandler::Meet(execute::RequestView& request,
                                              execute::ClientState& client, FaultRequest& look) {
  look.of_system = !request.statements().empty();
  for (execute::StatementView& statement : request.statements()) {
    statement.Find(client.statements, next_.statements());
    const cql::StatementOutline& outline = statement.Outline(client.keyspace);
    // Whoever controls the server reaches it whatever goes wrong.
    if (outline.keyspace == "liststore") return std::nullopt;
    look.of_system &= cql::IsServersKeyspace(outline.keyspace);
    if (!look.text.empty()) look.text += "; ";
    look.text += statement.text();
    std::string table = cql::QualifiedTable(outline);
    if (!table.empty()) look.tables.push_back(std::move(table));
  }
  look.op = RequestOpOf(request, client);
  look.is_prepared = !IdOf(request).empty();
  if (request.kind() != execute::RequestKind::kPrepare) {
    look.consistency = protocol::ConsistencyName(request.consistency());
  }
  look.address = client.PeerText();
  look.driver = client.driver_name;
  if (plan_.AsksForKeys(look)) look.keys = KeysOf(request, client);
  return plan_.Meet(look);
}

template <typename Visit>
void FaultingHandler::ForEachPlan(execute::RequestView& request, const execute::ClientState& client,
                                  const Visit& visit) const {
  const std::shared_ptr<const Schema> schema = next_.schema();
  const std::shared_ptr<const settings::StatementSettings> settings = next_.settings();
  size_t plan_bytes = 0;
  for (execute::StatementView& statement : request.statements()) {
    if (statement.is_prepared()) {
      if (statement.prepared() != nullptr) visit(statement, *statement.prepared()->plan);
      continue;
    }
    const auto& plan = statement.PlanOf(schema, client.keyspace, next_.dialect(), settings);
    if (!plan.ok()) continue;
    visit(statement, **plan);
    // A whole turn is looked at before the first of its requests runs: together they keep no more
    // than the processor does of one.
    plan_bytes += cql::PlanBytes(**plan);
    if (plan_bytes > next_.dialect().plan_bytes_max / execute::kRequestsPerTurnMax) {
      statement.ForgetPlan();
    }
  }
}

std::vector<std::string> FaultingHandler::KeysOf(execute::RequestView& request,
                                                 const execute::ClientState& client) const {
  std::vector<std::string> keys;
  if (request.kind() == execute::RequestKind::kPrepare) return keys;
  ForEachPlan(request, client, [&](const execute::StatementView& statement, const cql::Plan& plan) {
    std::vector<cql::BoundValue> values;
    if (!request.Bind(statement, plan, values).ok()) return;
    for (const auto& [table, key] : cql::PartitionsOf(plan, std::move(values))) {
      keys.push_back(cql::PartitionKeyText(*table, key));
    }
  });
  return keys;
}

// What ScyllaDB would call the write that fails.
protocol::WriteType FaultingHandler::TypeOfWrite(execute::RequestView& request,
                                                 const execute::ClientState& client) const {
  auto type = request.kind() == execute::RequestKind::kBatch
                  ? execute::WriteTypeOf(request.batch_type())
                  : protocol::WriteType::kSimple;
  ForEachPlan(request, client, [&](const execute::StatementView&, const cql::Plan& plan) {
    const protocol::WriteType of_plan = execute::WriteTypeOf(plan);
    if (of_plan != protocol::WriteType::kSimple) type = of_plan;
  });
  return type;
}

void FaultingHandler::Suffer(const FaultHit& hit, const FaultRequest& look,
                             execute::RequestView& request, execute::ClientState& client,
                             OutputBuffer& out, execute::ConnectionOrders& orders) {
  if (hit.kind == Kind::kDelay || hit.applies) {
    OutputBuffer answer;
    next_.Handle({&request, 1}, client, answer);
    if (request.outcome.deferral != execute::Deferral::kNo) return;
    if (hit.kind == Kind::kDelay) {
      request.outcome.delay = hit.delay;
      orders.delayed.push_back({hit.delay, std::string(answer.view())});
      return;
    }
    // The client does not learn of it; what was read was read.
    const uint64_t dead_rows = std::exchange(request.outcome, {}).dead_rows;
    request.outcome.dead_rows = dead_rows;
  }
  if (hit.kind == Kind::kCloseConnection) orders.close = true;
  request.outcome.answered = hit.kind != Kind::kCloseConnection && hit.kind != Kind::kNoAnswer;
  Answer(hit, look, request, client, out);
}

// The words are ScyllaDB's, with the fault behind them.
void FaultingHandler::Answer(const FaultHit& hit, const FaultRequest& look,
                             execute::RequestView& request, const execute::ClientState& client,
                             OutputBuffer& out) const {
  const protocol::ResponseContext context = execute::ResponseContextOf(request.header(), client);
  const protocol::Consistency consistency = request.consistency();
  const std::string level(protocol::ConsistencyName(consistency));
  const std::string table = look.tables.empty() ? "" : " for " + look.tables[0];
  const std::string fault = " (fault '" + hit.name + "')";
  const auto answer = [&](protocol::ErrorCode code, const std::string& message, auto details) {
    const std::string text = message + fault;
    execute::AnswerError(protocol::ErrorResponse{code, text, details}, context, request.outcome,
                         out);
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
                    protocol::WriteTimeoutDetails{consistency, 0, 1, TypeOfWrite(request, client)});
    case Kind::kUnavailable:
      return answer(ErrorCode::kUnavailable,
                    "Cannot achieve consistency level for cl " + level + ". Requires 1, alive 0",
                    protocol::UnavailableDetails{consistency, 1, 0});
    case Kind::kOverloaded:
      return answer(ErrorCode::kOverloaded, "Too many requests in flight", std::monostate());
    case Kind::kServerError:
      return answer(ErrorCode::kServerError, "The server failed", std::monostate());
    case Kind::kRateLimit:
      return answer(ErrorCode::kRateLimit, "Per-partition rate limit reached" + table,
                    protocol::RateLimitDetails{look.op != cql::StatementOp::kSelect, true});
    case Kind::kUnprepared:
      return execute::AnswerError(execute::Unprepared(IdOf(request)), context, request.outcome,
                                  out);
    case Kind::kCloseConnection:
    case Kind::kNoAnswer:
    case Kind::kDelay:
      return;
  }
}

}  // namespace liststore::instruments
