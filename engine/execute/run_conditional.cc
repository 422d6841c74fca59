// Writes with conditions: rows are read, judged and changed in one step, and the answer says what
// they were.
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/planner/plan_conditions.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/select/result_collector.h"
#include "engine/execute/statement_conditions.h"

namespace liststore::execute {
namespace {

cql::CqlStatus WriteAnswer(const StatementConditions::VaryingAnswer& answer,
                           const protocol::ResponseContext& context, OutputBuffer& out) {
  protocol::ColumnsMetadata columns;
  if (const auto error = EncodeColumns(*answer.table, answer.columns, columns)) {
    return ToCqlError(*error);
  }
  protocol::RowsEncoder encoder(out, context, columns,
                                {.skip_metadata = false, .changed_metadata_id = std::nullopt});
  for (const auto& row : answer.rows) {
    for (const std::optional<std::string>& value : row) {
      value ? encoder.AppendBytes(*value) : encoder.AppendNull();
    }
    encoder.EndRow();
    if (encoder.row_bytes() > protocol::kFrameBodyBytesMax) break;  // Finish says so
  }
  encoder.Finish();
  return {};
}

}  // namespace

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunConditional(const Writes& writes, Call& call) {
  LS_RETURN_IF_ERROR(CheckConditionalConsistency(call.request.parameters()));
  StatementConditions conditions(writes.is_batch, options_.dialect);
  WriteSet& set = call.writes;
  set.Clear(&timeuuids_);
  LS_RETURN_IF_ERROR(ForEachWrite(writes, call,
                                  [&](const cql::ModificationPlan& change, cql::BoundValues values,
                                      cql::ComputedValues* computed) -> cql::CqlStatus {
                                    LS_RETURN_IF_ERROR(conditions.Add(change, values));
                                    return set.Add(change, values, std::nullopt, call.now_nanos,
                                                   computed);
                                  }));
  if (conditions.empty()) {
    return cql::CqlError::Invalid("Unrestricted partition key in a conditional BATCH");
  }
  // The answer has columns of them all.
  if (!conditions.are_of_one_schema()) return Ran::kTableGone;
  LS_RETURN_IF_ERROR(CheckConditionalTable(*writes.changes[0]->table));
  if (writes.answer != nullptr) {
    return ApplyConditional(conditions, *writes.answer, *writes.columns, writes.is_batch, call);
  }
  const std::vector<cql::Selection> answer = cql::BatchAnswer(writes.changes);
  protocol::ColumnsMetadata columns;
  if (const auto error = EncodeColumns(*writes.changes[0]->table, answer, columns)) {
    return ToCqlError(*error);
  }
  return ApplyConditional(conditions, answer, columns, writes.is_batch, call);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::ApplyConditional(
    StatementConditions& conditions, const std::vector<cql::Selection>& answer,
    const protocol::ColumnsMetadata& columns, bool is_batch, Call& call) {
  // Timestamps are the engine's, above those of what was read; of a batch the other statements'
  // too. Source: ScyllaDB cql3/statements/cas_request.cc, apply_updates.
  std::vector<Command>& writes = call.scratch.conditional_writes;
  const std::span<const Command> commands = call.writes.Commands();
  writes.assign(commands.begin(), commands.end());
  for (Command& command : writes) command.timestamp = WriteTimestamp::None();
  conditions.Limit(answer, std::min(options_.result_bytes_max, kResultBytesMax));
  std::vector<RowLook> looks = {conditions.Look()};
  const std::span<const RowLook> of_writes = call.writes.Looks();
  looks.insert(looks.end(), of_writes.begin(), of_writes.end());
  const ConditionalReply reply = ExecuteWithViews({.looks = looks, .writes = writes}, call);
  if (reply.status == OpStatus::kOk) LS_RETURN_IF_ERROR(conditions.status());
  // What cannot be written is an error where it would have been.
  if (reply.status == OpStatus::kOk && !reply.applied && conditions.Hold()) {
    return call.writes.LookStatus();
  }
  if (reply.status != OpStatus::kOk) {
    return AnswerWrite({reply.status, reply.large_row}, protocol::WriteType::kCas, call);
  }
  if (options_.dialect.answers_of_conditions_vary) {
    LS_RETURN_IF_ERROR(
        WriteAnswer(conditions.AnswerThatVaries(reply.applied, is_batch), call.context, call.out));
    return Ran::kAnswered;
  }
  protocol::RowsEncoder encoder(call.out, call.context, columns,
                                {.skip_metadata = call.request.parameters().skip_metadata,
                                 .changed_metadata_id = std::nullopt});
  conditions.Append(reply.applied, answer, encoder);
  encoder.Finish();
  return Ran::kAnswered;
}

}  // namespace liststore::execute
