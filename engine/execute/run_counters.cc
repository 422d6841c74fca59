// Writes of tables of counters: additions, each one step with the look at what was there, and
// deletions.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/write/counter_additions.h"

namespace liststore::execute {
namespace {

// Source: ScyllaDB db/consistency_level.cc.
cql::CqlStatus CheckCounterConsistency(const cql::ModificationPlan& plan,
                                       protocol::Consistency consistency) {
  if (consistency == protocol::Consistency::kAny) {
    return cql::CqlError::Invalid("Consistency level ANY is not yet supported for counter table " +
                                  plan.table->name);
  }
  if (!IsSerial(consistency)) return {};
  return cql::CqlError::Invalid("Counter operations are inherently non-serializable");
}

// Timestamps of clients are left out of account, so that additions and deletions are in the order
// in which they came. A counter that was deleted stays so, whatever is added: its dead cell is
// above all. Source: ScyllaDB mutation/counters.cc, counter_cell_view::apply.
cql::CqlStatus AddStatement(const cql::ModificationPlan& plan, cql::BoundValues values,
                            uint64_t now_nanos, CounterAdditions& additions, WriteSet& deletions) {
  if (plan.kind == cql::ModificationPlan::Kind::kUpdate) return additions.Add(plan, values);
  std::optional<int64_t> timestamp;
  if (plan.kind == cql::ModificationPlan::Kind::kDeleteCells) {
    timestamp = std::numeric_limits<int64_t>::max();
  }
  return deletions.Add(plan, values, timestamp, now_nanos);
}

}  // namespace

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunCounters(const Writes& writes, Call& call) {
  CounterAdditions additions;
  WriteSet& deletions = call.writes;
  deletions.Clear();
  LS_RETURN_IF_ERROR(ForEachWrite(
      writes, call,
      [&](const cql::ModificationPlan& change, cql::BoundValues values,
          cql::ComputedValues*) -> cql::CqlStatus {
        LS_RETURN_IF_ERROR(CheckCounterConsistency(change, call.request.consistency()));
        return AddStatement(change, values, call.now_nanos, additions, deletions);
      }));
  constexpr auto kType = protocol::WriteType::kCounter;
  if (additions.empty()) return ApplyWrites(kType, call);
  const ConditionalReply reply = additions.Apply(engine_, deletions.Commands(), call.now_nanos);
  return AnswerWrite({reply.status, reply.large_row}, kType, call);
}

}  // namespace liststore::execute
