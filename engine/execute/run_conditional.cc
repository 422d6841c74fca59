// Writes with conditions: rows are read, judged and changed in one step, and the answer says what
// they were.
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/plan_conditions.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/statement_conditions.h"

namespace liststore {

CqlOr<QueryProcessor::Ran> QueryProcessor::RunConditional(const Writes& writes, Call& call) {
  LS_RETURN_IF_ERROR(CheckConditionalConsistency(call.request.parameters()));
  StatementConditions conditions(writes.is_batch);
  WriteSet& set = call.writes;
  set.Clear(&timeuuids_);
  LS_RETURN_IF_ERROR(ForEachWrite(writes, call,
                                  [&](const ModificationPlan& change, BoundValues values,
                                      ComputedValues* computed) -> CqlStatus {
                                    LS_RETURN_IF_ERROR(conditions.Add(change, values));
                                    return set.Add(change, values, std::nullopt, call.now_nanos,
                                                   computed);
                                  }));
  if (conditions.empty()) {
    return CqlError::Invalid("Unrestricted partition key in a conditional BATCH");
  }
  // The answer has columns of them all.
  if (!conditions.are_of_one_schema()) return Ran::kTableGone;
  if (writes.answer != nullptr) {
    return ApplyConditional(conditions, *writes.answer, *writes.columns, call);
  }
  const std::vector<Selection> answer = BatchAnswer(writes.changes);
  protocol::ColumnsMetadata columns;
  if (const auto error = EncodeColumns(*writes.changes[0]->table, answer, columns)) {
    return ToCqlError(*error);
  }
  return ApplyConditional(conditions, answer, columns, call);
}

CqlOr<QueryProcessor::Ran> QueryProcessor::ApplyConditional(
    StatementConditions& conditions, const std::vector<Selection>& answer,
    const protocol::ColumnsMetadata& columns, Call& call) {
  // Timestamps are the engine's, above those of what was read; of a batch the other statements'
  // too. Source: ScyllaDB cql3/statements/cas_request.cc, apply_updates.
  std::vector<Command>& writes = call.scratch.conditional_writes;
  const std::span<const Command> commands = call.writes.Commands();
  writes.assign(commands.begin(), commands.end());
  for (Command& command : writes) command.timestamp = WriteTimestamp::None();
  std::vector<RowLook> looks = {conditions.Look()};
  const std::span<const RowLook> of_writes = call.writes.Looks();
  looks.insert(looks.end(), of_writes.begin(), of_writes.end());
  const ConditionalReply reply = ExecuteWithViews({.looks = looks, .writes = writes}, call);
  // What cannot be written is an error where it would have been.
  if (reply.status == OpStatus::kOk && !reply.applied && conditions.Hold()) {
    return call.writes.LookStatus();
  }
  if (reply.status != OpStatus::kOk) {
    return AnswerWrite(reply.status, protocol::WriteType::kCas, call);
  }
  protocol::RowsEncoder encoder(call.out, call.context, columns,
                                {.skip_metadata = call.request.parameters().skip_metadata,
                                 .changed_metadata_id = std::nullopt});
  conditions.Append(reply.applied, answer, encoder);
  encoder.Finish();
  return Ran::kAnswered;
}

}  // namespace liststore
