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

bool QueryProcessor::ApplyWrites(protocol::WriteType type, Call& call) {
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
  return AnswerWrite(status, type, call);
}

ConditionalReply QueryProcessor::ExecuteWithViews(ConditionalWrite write, Call& call) {
  const auto views = call.scratch.writes.Views();
  if (views.empty()) return engine_.ExecuteConditional(write, call.now_nanos);
  ViewFollower follower({views.begin(), views.end()});
  write.follower = &follower;
  return engine_.ExecuteConditional(write, call.now_nanos);
}

bool QueryProcessor::AnswerWrite(OpStatus status, protocol::WriteType type, Call& call) {
  switch (status) {
    case OpStatus::kOk:
      protocol::EncodeVoid(call.out, call.context);
      return true;
    case OpStatus::kTableGone:
      return false;
    default:
      AnswerOutOfMemory(engine_.memory_limit_bytes(), call.request.consistency(), type,
                        call.context, call.request.outcome, call.out);
      return true;
  }
}

bool QueryProcessor::RunModification(const ModificationPlan& plan,
                                     const protocol::ColumnsMetadata& columns, BoundValues values,
                                     Call& call) {
  if (plan.condition) {
    return RunConditional({&plan, 1}, plan.answer, columns, values, call);
  }
  if (plan.is_counter) return RunCounters({&plan, 1}, values, call);
  CqlStatus status = CheckWriteConsistency(call.request.consistency());
  if (status.ok() && plan.table->is_virtual) {
    status = WriteVirtual(plan, values);
    if (status.ok()) {
      protocol::EncodeVoid(call.out, call.context);
      return true;
    }
  }
  call.scratch.writes.Clear(&timeuuids_);
  if (status.ok()) {
    status = call.scratch.writes.Add(plan, values, TimestampOf(call.request.parameters()),
                                     call.now_nanos, call.computed);
  }
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(protocol::WriteType::kSimple, call);
}

CqlStatus QueryProcessor::AddBatch(const BatchPlan& plan, BoundValues values, Call& call) {
  std::optional<int64_t> timestamp = TimestampOf(call.request.parameters());
  LS_RETURN_IF_ERROR(ResolveTimestamp(plan.timestamp, values, call.now_nanos, timestamp));
  for (const ModificationPlan& part : plan.modifications) {
    if (part.table->is_virtual) return CqlError::Unsupported(CqlFeature::kVirtualWrites, "BATCH");
    LS_RETURN_IF_ERROR(
        call.scratch.writes.Add(part, values, timestamp, call.now_nanos, call.computed));
  }
  return CheckBatchSize(call.scratch.writes.Commands());
}

bool QueryProcessor::RunBatch(const BatchPlan& plan, const protocol::ColumnsMetadata& columns,
                              BoundValues values, Call& call) {
  if (!plan.answer.empty()) {
    return RunConditional(plan.modifications, plan.answer, columns, values, call);
  }
  // Batches are of counters alone, or without any.
  if (!plan.modifications.empty() && plan.modifications[0].is_counter) {
    return RunCounters(plan.modifications, values, call);
  }
  CqlStatus status = CheckWriteConsistency(call.request.consistency());
  call.scratch.writes.Clear(&timeuuids_);
  if (status.ok()) status = AddBatch(plan, values, call);
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(WriteTypeOf(plan), call);
}

// One statement of a BATCH message into the write set. `keep`: what its commands point into.
CqlStatus QueryProcessor::AddBatchStatement(StatementView& statement,
                                            std::vector<std::shared_ptr<const Plan>>& keep,
                                            Call& call) {
  std::shared_ptr<const Plan> plan;
  if (statement.is_prepared()) {
    const PreparedStatement* const prepared = statement.Find(call.client.statements, statements_);
    if (prepared == nullptr) {
      return CqlError{CqlErrorCode::kUnprepared, {}, UnpreparedDetail{std::string(statement.id())}};
    }
    plan = prepared->plan;
    call.text = prepared->text;
  } else {
    call.text = statement.text();
    LS_ASSIGN_OR_RETURN(plan, statement.PlanOf(engine_.catalog().snapshot(), call.client.keyspace));
    call.CountAccepted(*plan);
  }
  // Many statements of a few bytes each may have long plans.
  if (!statement.is_prepared()) {
    call.plan_bytes += PlanBytes(*plan);
    if (call.plan_bytes > kPlanBytesMax) return BatchTooLarge();
  }
  // Constants of the plan are borrowed until the batch has run.
  keep.push_back(plan);
  const auto* change = std::get_if<ModificationPlan>(&plan->body);
  if (change == nullptr) return NotAModification();
  if (change->table->is_virtual) return CqlError::Unsupported(CqlFeature::kVirtualWrites, "BATCH");
  BatchValues bound(*this, *plan, call);
  LS_RETURN_IF_ERROR(bound.Bind(call.request, statement));
  if (change->is_counter) return {};  // what it adds is no write yet
  return call.scratch.writes.Add(*change, bound.values(), TimestampOf(call.request.parameters()),
                                 call.now_nanos, bound.computed());
}

// Runs the statements of a BATCH message, which were planned and are in the write set but for
// additions to counters; false as Run.
bool QueryProcessor::RunMessage(std::span<const std::shared_ptr<const Plan>> plans, Call& call) {
  if (std::ranges::any_of(plans, [](const auto& plan) { return plan->is_conditional(); })) {
    return RunConditionalMessage(plans, call);
  }
  const protocol::BatchType type = call.request.batch_type();
  if (type == protocol::BatchType::kCounter || std::ranges::any_of(plans, ChangesCounters)) {
    return RunCounterMessage(plans, call);
  }
  const CqlStatus status = CheckWriteConsistency(call.request.consistency());
  if (!status.ok()) {
    call.Fail(status.error());
    return true;
  }
  return ApplyWrites(WriteTypeOf(type), call);
}

void QueryProcessor::HandleBatch(Call& call) {
  for (int attempt = 0; attempt < kPlanAttemptsMax; ++attempt) {
    const uint64_t generation = engine_.catalog().generation();
    call.now_nanos = clock_.NowNanos();
    call.scratch.writes.Clear(&timeuuids_);
    call.plan_bytes = 0;
    std::vector<std::shared_ptr<const Plan>> keep;
    std::string_view prepared_id;
    for (StatementView& statement : call.request.statements()) {
      if (statement.is_prepared()) prepared_id = statement.id();
      const CqlStatus status = AddBatchStatement(statement, keep, call);
      if (status.ok()) continue;
      if (status.error().code == CqlErrorCode::kUnprepared) {
        return call.FailUnprepared(statement.id());
      }
      return call.Fail(status.error());
    }
    const CqlStatus size = CheckBatchSize(call.scratch.writes.Commands());
    if (!size.ok()) return call.Fail(size.error());
    // Some of its plans may be of a later schema, and the clock set back meanwhile.
    if (engine_.catalog().generation() != generation) continue;
    if (RunMessage(keep, call)) return call.CountAccepted(call.request.parameters());
    if (!prepared_id.empty()) return call.FailUnprepared(prepared_id);
    engine_.catalog().WaitForChange();
  }
  call.Fail(protocol::ErrorCode::kServerError, "The schema changes faster than statements run");
}

}  // namespace liststore
