// Writes of tables of counters: additions, each one step with the look at what was there, and
// deletions.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/execute/counter_additions.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/write_type.h"

namespace liststore {
namespace {

// Source: ScyllaDB db/consistency_level.cc.
CqlStatus CheckCounterConsistency(const ModificationPlan& plan, protocol::Consistency consistency) {
  if (consistency == protocol::Consistency::kAny) {
    return CqlError::Invalid("Consistency level ANY is not yet supported for counter table " +
                             plan.table->name);
  }
  if (!IsSerial(consistency)) return {};
  return CqlError::Invalid("Counter operations are inherently non-serializable");
}

// Timestamps of clients are left out of account, so that additions and deletions are in the order
// in which they came. A counter that was deleted stays so, whatever is added: its dead cell is
// above all. Source: ScyllaDB mutation/counters.cc, counter_cell_view::apply.
CqlStatus AddStatement(const ModificationPlan& plan, BoundValues values, uint64_t now_nanos,
                       CounterAdditions& additions, WriteSet& deletions) {
  if (plan.kind == ModificationPlan::Kind::kUpdate) return additions.Add(plan, values);
  std::optional<int64_t> timestamp;
  if (plan.kind == ModificationPlan::Kind::kDeleteCells) {
    timestamp = std::numeric_limits<int64_t>::max();
  }
  return deletions.Add(plan, values, timestamp, now_nanos);
}

}  // namespace

bool QueryProcessor::RunCounters(std::span<const ModificationPlan> statements, BoundValues values,
                                 Call& call) {
  CounterAdditions additions;
  WriteSet& deletions = call.scratch.writes;
  deletions.Clear();
  CqlStatus status;
  for (const ModificationPlan& statement : statements) {
    if (status.ok()) status = CheckCounterConsistency(statement, call.request.consistency());
    if (status.ok()) {
      status = AddStatement(statement, values, call.now_nanos, additions, deletions);
    }
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyCounters(additions, call);
}

bool QueryProcessor::RunCounterMessage(std::span<const std::shared_ptr<const Plan>> plans,
                                       Call& call) {
  const std::span<StatementView> sent = call.request.statements();
  LS_CHECK(plans.size() == sent.size(), "every statement was planned");
  std::vector<const ModificationPlan*> statements;
  for (const auto& plan : plans) statements.push_back(&std::get<ModificationPlan>(plan->body));
  CqlStatus status =
      CheckCounterBatch(KindOf(call.request.batch_type()), /*has_timestamp=*/false, statements);
  CounterAdditions additions;
  WriteSet& deletions = call.scratch.writes;
  deletions.Clear();
  for (size_t i = 0; i < plans.size() && status.ok(); ++i) {
    status = CheckCounterConsistency(*statements[i], call.request.consistency());
    BatchValues bound(*this, *plans[i], call);
    if (status.ok()) status = bound.Bind(call.request, sent[i]);
    if (status.ok()) {
      status = AddStatement(*statements[i], bound.values(), call.now_nanos, additions, deletions);
    }
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyCounters(additions, call);
}

bool QueryProcessor::ApplyCounters(const CounterAdditions& additions, Call& call) {
  if (additions.empty()) return ApplyWrites(protocol::WriteType::kCounter, call);
  const OpStatus status = additions.Apply(engine_, call.scratch.writes.Commands(), call.now_nanos);
  return AnswerWrite(status, protocol::WriteType::kCounter, call);
}

}  // namespace liststore
