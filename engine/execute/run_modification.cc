// INSERT, UPDATE, DELETE and batches of them, as text or as BATCH messages.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/plan_bytes.h"
#include "engine/cql/plan/planner.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/view_follower.h"
#include "engine/execute/write_type.h"

namespace liststore {
namespace {

// Source: ScyllaDB db/config.cc, batch_size_fail_threshold_in_kb. Batches on one partition have no
// limit.
constexpr size_t kBatchBytesMax = 1024 * 1024;

size_t BytesOf(const Command& command) {
  size_t bytes = command.partition_key.size();
  if (const auto* upsert = std::get_if<UpsertCommand>(&command.body)) {
    for (const RowUpdate& row : upsert->rows) {
      bytes += row.key.bytes.size();
      for (const CellUpdate& cell : row.cells) bytes += cell.value.size() + cell.path.size();
    }
  }
  return bytes;
}

CqlStatus CheckBatchSize(std::span<const Command> commands) {
  size_t bytes = 0;
  bool one_partition = true;
  for (const Command& command : commands) {
    bytes += BytesOf(command);
    one_partition &=
        command.partition_key == commands[0].partition_key && command.table == commands[0].table;
  }
  if (one_partition || bytes <= kBatchBytesMax) return {};
  return CqlError::Invalid("Batch too large");
}

CqlError NotAModification() {
  return CqlError::Invalid(
      "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.");
}

bool ChangesCounters(const std::shared_ptr<const Plan>& plan) {
  return std::get<ModificationPlan>(plan->body).is_counter;
}

}  // namespace

bool QueryProcessor::ApplyWrites(protocol::Consistency consistency, protocol::WriteType type,
                                 Call& call) {
  const std::span<const Command> commands = call.scratch.writes.Commands();
  const std::span<const RowLook> looks = call.scratch.writes.Looks();
  OpStatus status = OpStatus::kOk;
  const bool has_views = !call.scratch.writes.Views().empty();
  if (!looks.empty() || has_views) {
    const ConditionalReply reply = ExecuteWithViews({.looks = looks, .writes = commands}, call);
    if (reply.status == OpStatus::kOk && !reply.applied) {
      call.Fail(call.scratch.writes.LookStatus().error());
      return true;
    }
    status = reply.status;
  } else if (commands.size() == 1 && !call.scratch.writes.NullsMayMeetValues()) {
    status = engine_.Execute(commands[0], call.now_nanos).status;
  } else if (!commands.empty()) {
    call.scratch.replies.resize(commands.size());
    status = engine_.ExecuteBatch(commands, call.now_nanos, call.scratch.replies);
  }
  return AnswerWrite(status, consistency, type, call);
}

ConditionalReply QueryProcessor::ExecuteWithViews(ConditionalWrite write, Call& call) {
  const auto views = call.scratch.writes.Views();
  if (views.empty()) return engine_.ExecuteConditional(write, call.now_nanos);
  ViewFollower follower({views.begin(), views.end()});
  write.follower = &follower;
  return engine_.ExecuteConditional(write, call.now_nanos);
}

bool QueryProcessor::AnswerWrite(OpStatus status, protocol::Consistency consistency,
                                 protocol::WriteType type, Call& call) {
  switch (status) {
    case OpStatus::kOk:
      protocol::EncodeVoid(call.out, call.context);
      return true;
    case OpStatus::kTableGone:
      return false;
    default:
      AnswerOutOfMemory(engine_.memory_limit_bytes(), consistency, type, call.context, call.outcome,
                        call.out);
      return true;
  }
}

bool QueryProcessor::RunModification(const ModificationPlan& plan,
                                     const protocol::ColumnsMetadata& columns, BoundValues values,
                                     const protocol::QueryParameters& parameters, Call& call) {
  if (plan.condition) {
    return RunConditional({&plan, 1}, plan.answer, columns, values, parameters, call);
  }
  if (plan.is_counter) return RunCounters({&plan, 1}, values, parameters, call);
  CqlStatus status = CheckWriteConsistency(parameters.consistency);
  if (status.ok() && plan.table->is_virtual) {
    status = WriteVirtual(plan, values);
    if (status.ok()) {
      protocol::EncodeVoid(call.out, call.context);
      return true;
    }
  }
  call.scratch.writes.Clear(&timeuuids_);
  if (status.ok()) {
    status = call.scratch.writes.Add(plan, values, TimestampOf(parameters), call.now_nanos,
                                     call.computed);
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(parameters.consistency, protocol::WriteType::kSimple, call);
}

CqlStatus QueryProcessor::AddBatch(const BatchPlan& plan, BoundValues values,
                                   const protocol::QueryParameters& parameters, Call& call) {
  std::optional<int64_t> timestamp = TimestampOf(parameters);
  LS_RETURN_IF_ERROR(ResolveTimestamp(plan.timestamp, values, call.now_nanos, timestamp));
  for (const ModificationPlan& part : plan.modifications) {
    if (part.table->is_virtual) return CqlError::Unsupported(CqlFeature::kVirtualWrites, "BATCH");
    LS_RETURN_IF_ERROR(
        call.scratch.writes.Add(part, values, timestamp, call.now_nanos, call.computed));
  }
  return CheckBatchSize(call.scratch.writes.Commands());
}

bool QueryProcessor::RunBatch(const BatchPlan& plan, const protocol::ColumnsMetadata& columns,
                              BoundValues values, const protocol::QueryParameters& parameters,
                              Call& call) {
  if (!plan.answer.empty()) {
    return RunConditional(plan.modifications, plan.answer, columns, values, parameters, call);
  }
  // Batches are of counters alone, or without any.
  if (!plan.modifications.empty() && plan.modifications[0].is_counter) {
    return RunCounters(plan.modifications, values, parameters, call);
  }
  CqlStatus status = CheckWriteConsistency(parameters.consistency);
  call.scratch.writes.Clear(&timeuuids_);
  if (status.ok()) status = AddBatch(plan, values, parameters, call);
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(parameters.consistency, WriteTypeOf(plan), call);
}

// One statement of a BATCH message into the write set. `keep`: what its commands point into.
CqlStatus QueryProcessor::AddBatchStatement(const protocol::BatchStatement& statement,
                                            const protocol::QueryParameters& parameters,
                                            std::vector<std::shared_ptr<const Plan>>& keep,
                                            Call& call) {
  std::shared_ptr<const Plan> plan;
  if (statement.kind == protocol::BatchStatement::Kind::kPrepared) {
    const auto prepared = statements_.Find(statement.query_or_id);
    if (prepared == nullptr) {
      return CqlError{
          CqlErrorCode::kUnprepared, {}, UnpreparedDetail{std::string(statement.query_or_id)}};
    }
    plan = std::shared_ptr<const Plan>(prepared, prepared->plan.get());  // its text lives as long
    call.text = prepared->text;
  } else {
    call.text = statement.query_or_id;
    LS_ASSIGN_OR_RETURN(
        plan, PlanText(statement.query_or_id, *engine_.catalog().snapshot(), call.client.keyspace));
    call.CountAccepted(*plan);
  }
  // Many statements of a few bytes each may have long plans.
  if (statement.kind == protocol::BatchStatement::Kind::kQuery) {
    call.plan_bytes += PlanBytes(*plan);
    if (call.plan_bytes > kPlanBytesMax) return BatchTooLarge();
  }
  // Constants of the plan are borrowed until the batch has run.
  keep.push_back(plan);
  const auto* change = std::get_if<ModificationPlan>(&plan->body);
  if (change == nullptr) return NotAModification();
  if (change->table->is_virtual) return CqlError::Unsupported(CqlFeature::kVirtualWrites, "BATCH");
  BatchValues bound(*this, *plan, call);
  LS_RETURN_IF_ERROR(bound.Bind(statement.values));
  if (change->is_counter) return {};  // what it adds is no write yet
  return call.scratch.writes.Add(*change, bound.values(), TimestampOf(parameters), call.now_nanos,
                                 bound.computed());
}

// Runs the statements of a BATCH message, which were planned and are in the write set but for
// additions to counters; false as Run.
bool QueryProcessor::RunMessage(const protocol::Batch& batch,
                                std::span<const std::shared_ptr<const Plan>> plans, Call& call) {
  if (std::ranges::any_of(plans, [](const auto& plan) { return plan->is_conditional(); })) {
    return RunConditionalMessage(batch, plans, call);
  }
  if (batch.type == protocol::BatchType::kCounter || std::ranges::any_of(plans, ChangesCounters)) {
    return RunCounterMessage(batch, plans, call);
  }
  const CqlStatus status = CheckWriteConsistency(batch.parameters.consistency);
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(batch.parameters.consistency, WriteTypeOf(batch.type), call);
}

void QueryProcessor::HandleBatch(const protocol::Batch& batch, Call& call) {
  for (int attempt = 0; attempt < kPlanAttemptsMax; ++attempt) {
    const uint64_t generation = engine_.catalog().generation();
    call.now_nanos = clock_.NowNanos();
    call.scratch.writes.Clear(&timeuuids_);
    call.plan_bytes = 0;
    std::vector<std::shared_ptr<const Plan>> keep;
    std::string_view prepared_id;
    for (const protocol::BatchStatement& statement : batch.statements) {
      if (statement.kind == protocol::BatchStatement::Kind::kPrepared) {
        prepared_id = statement.query_or_id;
      }
      const CqlStatus status = AddBatchStatement(statement, batch.parameters, keep, call);
      if (status.ok()) continue;
      if (status.error().code == CqlErrorCode::kUnprepared) {
        return AnswerUnprepared(statement.query_or_id, call.context, call.outcome, call.out);
      }
      return call.Fail(status.error());
    }
    const CqlStatus size = CheckBatchSize(call.scratch.writes.Commands());
    if (!size.ok()) return call.Fail(size.error());
    // Some of its plans may be of a later schema, and the clock set back meanwhile.
    if (engine_.catalog().generation() != generation) continue;
    if (RunMessage(batch, keep, call)) {
      return call.CountAccepted(batch.parameters);
    }
    if (!prepared_id.empty())
      return AnswerUnprepared(prepared_id, call.context, call.outcome, call.out);
    engine_.catalog().WaitForChange();
  }
  call.Fail(protocol::ErrorCode::kServerError, "The schema changes faster than statements run");
}

}  // namespace liststore
