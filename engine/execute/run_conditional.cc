// Writes with conditions: rows are read, judged and changed in one step, and the answer says what
// they were.
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/plan_conditions.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/statement_conditions.h"

namespace liststore {

bool QueryProcessor::RunConditional(std::span<const ModificationPlan> statements,
                                    const std::vector<Selection>& answer,
                                    const protocol::ColumnsMetadata& columns, BoundValues values,
                                    Call& call) {
  StatementConditions conditions;
  call.scratch.writes.Clear(&timeuuids_);
  CqlStatus status = CheckConditionalConsistency(call.request.parameters());
  for (const ModificationPlan& statement : statements) {
    if (status.ok()) status = conditions.Add(statement, values);
    if (status.ok()) {
      status =
          call.scratch.writes.Add(statement, values, std::nullopt, call.now_nanos, call.computed);
    }
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyConditional(conditions, answer, columns, call);
}

bool QueryProcessor::RunConditionalMessage(std::span<const std::shared_ptr<const Plan>> plans,
                                           Call& call) {
  const std::span<StatementView> sent = call.request.statements();
  LS_CHECK(plans.size() == sent.size(), "every statement was planned");
  std::vector<const ModificationPlan*> statements;
  for (const auto& plan : plans) statements.push_back(&std::get<ModificationPlan>(plan->body));
  CqlStatus status = CheckConditionalBatch(statements, /*has_timestamp=*/false);
  if (status.ok()) status = CheckConditionalConsistency(call.request.parameters());
  StatementConditions conditions;
  // Once more, with the values that the conditions see: a function may give another one each time.
  call.scratch.writes.Clear(&timeuuids_);
  for (size_t i = 0; i < plans.size() && status.ok(); ++i) {
    BatchValues bound(*this, *plans[i], call);
    status = bound.Bind(call.request, sent[i]);
    if (status.ok()) status = conditions.Add(*statements[i], bound.values());
    if (status.ok()) {
      status = call.scratch.writes.Add(*statements[i], bound.values(), std::nullopt, call.now_nanos,
                                       bound.computed());
    }
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  // The answer has columns of them all.
  if (!conditions.are_of_one_schema()) return false;
  const std::vector<Selection> answer = BatchAnswer(statements);
  protocol::ColumnsMetadata columns;
  if (const auto error = EncodeColumns(*statements[0]->table, answer, columns)) {
    call.Fail(error->code, error->message);
    return true;
  }
  return ApplyConditional(conditions, answer, columns, call);
}

bool QueryProcessor::ApplyConditional(StatementConditions& conditions,
                                      const std::vector<Selection>& answer,
                                      const protocol::ColumnsMetadata& columns, Call& call) {
  if (!conditions.are_of_one_schema()) return false;
  // Timestamps are the engine's, above those of what was read; of a batch the other statements'
  // too. Source: ScyllaDB cql3/statements/cas_request.cc, apply_updates.
  std::vector<Command>& writes = call.scratch.conditional_writes;
  const std::span<const Command> commands = call.scratch.writes.Commands();
  writes.assign(commands.begin(), commands.end());
  for (Command& command : writes) command.timestamp = WriteTimestamp::None();
  std::vector<RowLook> looks = {conditions.Look()};
  const std::span<const RowLook> of_writes = call.scratch.writes.Looks();
  looks.insert(looks.end(), of_writes.begin(), of_writes.end());
  const ConditionalReply reply = ExecuteWithViews({.looks = looks, .writes = writes}, call);
  // What cannot be written is an error where it would have been.
  if (reply.status == OpStatus::kOk && !reply.applied && conditions.Hold()) {
    call.Fail(call.scratch.writes.LookStatus().error());
    return true;
  }
  if (reply.status != OpStatus::kOk) {
    return AnswerWrite(reply.status, protocol::WriteType::kCas, call);
  }
  protocol::RowsEncoder encoder(call.out, call.context, columns,
                                {.skip_metadata = call.request.parameters().skip_metadata,
                                 .changed_metadata_id = std::nullopt});
  conditions.Append(reply.applied, answer, encoder);
  encoder.Finish();
  return true;
}

}  // namespace liststore
