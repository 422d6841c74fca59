// INSERT, UPDATE, DELETE and batches of them, as text or as BATCH messages.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/counters.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/cql/planner/plan_bytes.h"
#include "engine/cql/planner/plan_conditions.h"
#include "engine/execute/answers.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/query_processor_call.h"
#include "engine/execute/view_deletions.h"
#include "engine/execute/view_follower.h"
#include "engine/execute/write/batch_size.h"
#include "engine/execute/write/write_type.h"
#include "engine/shard/let_others_work.h"

namespace liststore::execute {
namespace {

bool IsConditional(const cql::ModificationPlan* plan) { return plan->condition.has_value(); }

cql::CqlError NoVirtualWrites() {
  return cql::CqlError::Unsupported(cql::CqlFeature::kVirtualWrites, "BATCH");
}

cql::CqlError NotAModification() {
  return cql::CqlError::Invalid(
      "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.");
}

}  // namespace

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::ApplyWrites(protocol::WriteType type, Call& call) {
  std::span<const Command> commands = call.writes.Commands();
  if (call.group != nullptr) {
    if (commands.size() != 1) return Ran::kAlone;
    call.group->AddWrite(call.request, call.context, commands[0]);
    return Ran::kJoined;
  }
  const std::span<const RowLook> looks = call.writes.Looks();
  WriteRefusal written{OpStatus::kOk};
  const bool has_views = !call.writes.Views().empty();
  std::optional<ViewDeletions> deletions;
  if (has_views && looks.empty()) {
    deletions.emplace(engine_, commands, call.writes.Views(), call.now_nanos);
    if (deletions->AreLong()) {
      if (call.client.place.defers()) return Defer(Deferral::kInOrder, call);
      const OpStatus status = deletions->DeleteBeforehand([&call] {
        shard::LetOthersWork();
        return call.Spend(ViewDeletions::kRowsPerStep);
      });
      if (status != OpStatus::kOk) return AnswerWrite(WriteRefusal{status}, type, call);
      if (call.is_stopped()) return Stopped();
      commands = deletions->rest();
    }
  }
  if (!looks.empty() || has_views) {
    const ConditionalReply reply = ExecuteWithViews({.looks = looks, .writes = commands}, call);
    if (reply.status == OpStatus::kOk && !reply.applied) return call.writes.LookStatus();
    written = {reply.status, reply.large_row};
  } else if (commands.size() == 1 && !call.writes.NullsMayMeetValues()) {
    const Reply reply = engine_.Execute(commands[0], call.now_nanos);
    written = {reply.status, reply.large_row};
  } else if (!commands.empty()) {
    call.scratch.replies.resize(commands.size());
    written.status = engine_.ExecuteBatch(commands, call.now_nanos, call.scratch.replies);
    written.large_row = call.scratch.replies.front().large_row;
  }
  return AnswerWrite(written, type, call);
}

ConditionalReply QueryProcessor::ExecuteWithViews(ConditionalWrite write, Call& call) {
  const auto views = call.writes.Views();
  if (views.empty()) return engine_.ExecuteConditional(write, call.now_nanos);
  ViewFollower follower({views.begin(), views.end()});
  write.follower = &follower;
  return engine_.ExecuteConditional(write, call.now_nanos);
}

QueryProcessor::Ran QueryProcessor::AnswerWrite(const WriteRefusal& refusal,
                                                protocol::WriteType type, Call& call) {
  switch (refusal.status) {
    case OpStatus::kOk:
      protocol::EncodeVoid(call.out, call.context);
      return Ran::kAnswered;
    case OpStatus::kTableGone:
      return Ran::kTableGone;
    default:
      // Nothing was written down: what the disk refuses is told at once.
      if (refusal.status == OpStatus::kNotKept) call.client.has_written = call.had_written;
      AnswerRefusedWrite(refusal, engine_, call.request.consistency(), type, call.context,
                         call.request.outcome, call.out);
      return Ran::kAnswered;
  }
}

void QueryProcessor::Writes::SetBatch(std::span<const cql::ModificationPlan* const> all,
                                      protocol::WriteType of_type) {
  changes = all;
  type = of_type;
  is_batch = true;
  any_conditional = std::ranges::any_of(all, IsConditional);
  any_counter = type == protocol::WriteType::kCounter ||
                std::ranges::any_of(all, &cql::ModificationPlan::is_counter);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunText(const cql::Plan& plan,
                                                        const protocol::ColumnsMetadata& columns,
                                                        cql::BoundValues values, Call& call) {
  Writes writes;
  writes.values = values;
  writes.timestamp = TimestampOf(call.request.parameters());
  writes.columns = &columns;
  if (const auto* change = std::get_if<cql::ModificationPlan>(&plan.body)) {
    writes.changes = {&change, 1};
    writes.any_conditional = change->condition.has_value();
    writes.any_counter = change->is_counter;
    writes.answer = &change->answer;
    if (change->timeout) writes.timeout = &*change->timeout;
    if (call.settings.restrict_future_timestamp) {
      LS_RETURN_IF_ERROR(CheckNotInFuture(change->timestamp, values, call.now_nanos));
    }
    return RunWrites(writes, call);
  }
  const auto& batch = std::get<cql::BatchPlan>(plan.body);
  std::vector<const cql::ModificationPlan*>& changes = call.scratch.changes;
  changes.clear();
  for (const cql::ModificationPlan& change : batch.modifications) changes.push_back(&change);
  writes.SetBatch(changes, WriteTypeOf(batch));
  writes.answer = &batch.answer;
  if (batch.timeout) writes.timeout = &*batch.timeout;
  if (call.settings.restrict_future_timestamp) {
    LS_RETURN_IF_ERROR(CheckNotInFuture(batch.timestamp, values, call.now_nanos));
  }
  LS_RETURN_IF_ERROR(ResolveTimestamp(batch.timestamp, values, writes.timestamp));
  return RunWrites(writes, call);
}

// Sources: ScyllaDB cql3/statements/modification_statement.cc, modification_statement_timeout;
// batch_statement.cc, timeout_for_type.
uint32_t QueryProcessor::WriteTimeout(const Writes& writes,
                                      const settings::StatementSettings& settings) {
  return writes.any_counter ? settings.counter_write_timeout_ms : settings.write_timeout_ms;
}

namespace {

cql::CqlStatus CheckKeys(const cql::ModificationPlan& change, cql::BoundValues values) {
  std::vector<std::string> keys;
  std::vector<cql::EncodedRange> ranges;
  LS_RETURN_IF_ERROR(cql::EncodePartitionKeys(*change.table, change.partition_key, values,
                                              cql::KeyUse::kWrite, keys));
  return cql::EncodeRanges(*change.table, change.clustering, values, cql::KeyUse::kWrite, ranges);
}

}  // namespace

// Sources: ScyllaDB service/storage_proxy.cc, paxos_response_handler::prepare_ballot,
// mutate_counters.
QueryProcessor::Ran QueryProcessor::AnswerTimedOut(const Writes& writes, Call& call) {
  protocol::Consistency consistency = call.request.consistency();
  protocol::WriteType type = writes.type;
  if (writes.any_conditional) {
    consistency = call.request.parameters().serial_consistency;
    type = protocol::WriteType::kCas;
  } else if (writes.any_counter) {
    type = protocol::WriteType::kCounter;
  }
  AnswerWriteTimeout(*writes.changes[0]->table, consistency, type, call.context,
                     call.request.outcome, call.out);
  return Ran::kAnswered;
}

QueryProcessor::Ran QueryProcessor::AnswerStopped(const Writes& writes, Call& call) {
  if (call.pace->stop() != WorkPace::Stop::kTimedOut) return Defer(Deferral::kInOrder, call);
  return AnswerTimedOut(writes, call);
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::RunWrites(const Writes& writes, Call& call) {
  // What joins a group is done at once, and has no timeout that would be over by then.
  if (call.group != nullptr) return ApplyAll(writes, call);
  // All other writes come through here, and none is answered before it is kept.
  call.had_written = std::exchange(call.client.has_written, true);
  int64_t timeout_ms = WriteTimeout(writes, call.settings);
  // What is kept nowhere never times out by itself: without it nobody could undo the setting.
  bool times_out = !writes.changes.empty() && !writes.changes[0]->table->is_virtual;
  // Source: ScyllaDB cql3/statements/modification_statement.cc, execute_with_condition, which waits
  // as long as the node says.
  if (writes.timeout != nullptr && !writes.any_conditional) {
    LS_ASSIGN_OR_RETURN(timeout_ms, cql::ResolveTimeout(*writes.timeout, writes.values));
    times_out = !writes.changes.empty();
  }
  if (times_out && timeout_ms == 0) return AnswerTimedOut(writes, call);
  if (times_out) call.pace->LimitTime(std::chrono::milliseconds(timeout_ms));
  cql::CqlOr<Ran> ran = ApplyAll(writes, call);
  return call.is_stopped() ? AnswerStopped(writes, call) : ran;
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::ApplyAll(const Writes& writes, Call& call) {
  if (writes.any_conditional) return RunConditional(writes, call);
  if (writes.any_counter) return RunCounters(writes, call);
  if (const cql::CqlStatus level = CheckWriteConsistency(call.request.consistency()); !level.ok())
      [[unlikely]] {
    // What is wrong with a key comes first. Source: ScyllaDB
    // cql3/statements/modification_statement.cc, do_execute.
    LS_RETURN_IF_ERROR(
        ForEachWrite(writes, call,
                     [](const cql::ModificationPlan& change, cql::BoundValues values,
                        cql::ComputedValues*) { return CheckKeys(change, values); }));
    return level.error();
  }
  LS_RETURN_IF_ERROR(CheckReadsOfWrites(writes.changes, call.request.consistency()));
  if (!writes.is_batch && writes.changes[0]->table->is_virtual) {
    return WriteVirtual(*writes.changes[0], writes.values, call);
  }
  if (call.group == nullptr && call.client.place.defers() &&
      call.request.body_bytes() > kLoopTextBytesMax &&
      std::ranges::any_of(writes.changes, WritesElements)) [[unlikely]] {
    return Defer(Deferral::kLarge, call);
  }
  WriteSet& set = call.writes;
  set.Clear(&timeuuids_);
  LS_RETURN_IF_ERROR(ForEachWrite(writes, call,
                                  [&](const cql::ModificationPlan& change, cql::BoundValues values,
                                      cql::ComputedValues* computed) {
                                    if (change.table->is_virtual)
                                      return cql::CqlStatus(NoVirtualWrites());
                                    return set.Add(change, values, writes.timestamp, call.now_nanos,
                                                   computed);
                                  }));
  if (writes.is_batch) {
    LS_RETURN_IF_ERROR(CheckBatchSize(set.Commands(), call.settings.batch_fail_bytes));
  }
  return ApplyWrites(writes.type, call);
}

cql::CqlStatus QueryProcessor::PlanBatchStatement(StatementView& statement, size_t& plan_bytes,
                                                  Call& call) {
  if (statement.is_prepared()) {
    const PreparedStatement* const prepared = statement.Find(call.client.statements, statements_);
    if (prepared == nullptr) {
      statements_.NoteMiss();
      return Unprepared(statement.id());
    }
    call.text = prepared->text;
  } else {
    call.text = statement.text();
    const auto& plan = statement.PlanOf(engine_.catalog().snapshot(), call.client.keyspace,
                                        options_.dialect, call.scratch.settings);
    if (!plan.ok()) return plan.error();
    // Many statements of a few bytes each may have long plans.
    plan_bytes += cql::PlanBytes(**plan);
    const size_t bytes_max = options_.dialect.plan_bytes_max;
    if (plan_bytes > bytes_max) return cql::BatchTooLarge(bytes_max);
  }
  const auto* change = std::get_if<cql::ModificationPlan>(&statement.plan().body);
  if (change == nullptr) return NotAModification();
  if (change->table->is_virtual) return NoVirtualWrites();
  // Before the next statement is looked at, as in ScyllaDB (transport/server.cc, process_batch).
  if (statement.values().size() != statement.plan().variables.size()) {
    std::vector<cql::BoundValue> values;
    LS_RETURN_IF_ERROR(call.request.Bind(statement, statement.plan(), values));
  }
  call.scratch.changes.push_back(change);
  return {};
}

cql::CqlOr<QueryProcessor::Ran> QueryProcessor::HandleBatch(Call& call) {
  const std::span<StatementView> statements = call.request.statements();
  std::vector<const cql::ModificationPlan*>& changes = call.scratch.changes;
  const uint64_t generation = engine_.catalog().generation();
  call.now_nanos = clock_.NowNanos();
  changes.clear();
  size_t plan_bytes = 0;
  std::string_view prepared_id;
  if (statements.size() > options_.batch_statements_max) {
    return cql::CqlError::Invalid("Batch too large: it has more than " +
                                  std::to_string(options_.batch_statements_max) + " statements");
  }
  // Nothing is written before all of it was looked at.
  if (call.pace->IsTooLong(statements.size() * kUnitsOfStatement)) {
    return Defer(Deferral::kInOrder, call);
  }
  for (StatementView& statement : statements) {
    const uint64_t of_text = statement.is_prepared() ? 0 : UnitsOfText(statement.text());
    if (!call.Spend(kUnitsOfStatement + of_text)) return Defer(Deferral::kInOrder, call);
    if (statement.is_prepared()) prepared_id = statement.id();
    LS_RETURN_IF_ERROR(PlanBatchStatement(statement, plan_bytes, call));
  }
  // Some of its plans may be of a later schema, and the clock set back meanwhile.
  if (engine_.catalog().generation() != generation) return Ran::kTableGone;
  if (checks_access_) {
    for (const cql::ModificationPlan* const change : changes) {
      LS_RETURN_IF_ERROR(CheckModification(*change, call));
    }
  }
  // As the planner does it for a text.
  const protocol::BatchType type = call.request.batch_type();
  LS_RETURN_IF_ERROR(cql::CheckConditionalBatch(changes, /*has_timestamp=*/false));
  if (std::ranges::none_of(changes, IsConditional)) {
    LS_RETURN_IF_ERROR(cql::CheckCounterBatch(KindOf(type), /*has_timestamp=*/false, changes));
  }
  Writes writes;
  writes.SetBatch(changes, WriteTypeOf(type));
  writes.statements = statements;
  writes.timestamp = TimestampOf(call.request.parameters());
  LS_ASSIGN_OR_RETURN(const Ran ran, call.request.row_changes != nullptr
                                         ? RunRowChanges(changes, call)
                                         : RunWrites(writes, call));
  if (ran == Ran::kTableGone && !prepared_id.empty()) return Unprepared(prepared_id);
  // Once, whether it was deferred before or not.
  if (ran == Ran::kAnswered) CountAcceptedOf(statements, call);
  return ran;
}

void QueryProcessor::CountAcceptedOf(std::span<StatementView> statements, Call& call) {
  const std::string_view last = call.text;
  for (StatementView& statement : statements) {
    if (statement.is_prepared()) continue;  // was counted with its PREPARE
    call.text = statement.text();
    call.CountAccepted(statement.plan());
  }
  call.text = last;
}

}  // namespace liststore::execute
