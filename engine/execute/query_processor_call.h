// What the parts of QueryProcessor share: one request on its way, and the memory that requests use
// again and again.
#ifndef LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_CALL_H_
#define LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_CALL_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/computed_values.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/execute/execute_group.h"
#include "engine/execute/feature_tally.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/select/work_pace.h"
#include "engine/execute/write/write_set.h"
#include "engine/settings/live_settings.h"

namespace liststore::execute {

// One thread's.
struct StatementScratch {
  // As of now, kept until they change.
  const settings::StatementSettings& Settings(const settings::LiveSettings& live,
                                              size_t cells_max) {
    if (settings_version != live.version()) [[unlikely]] {  // or another processor's
      settings_version = live.version();
      settings = live.statements();
      runs_alone = settings->run_alone();
      writes.set_cells_max(cells_max);
    }
    return *settings;
  }

  // Behind a request, however it has ended: some 64 KiB of each stay, as much as most requests need.
  void Trim() {
    constexpr size_t kValuesKept = 2048;
    constexpr size_t kStatementsKept = 512;
    constexpr size_t kRowBytesKept = size_t{64} << 10;
    if (values.capacity() > kValuesKept) [[unlikely]]
      std::vector<cql::BoundValue>().swap(values);
    if (rows.capacity() > kRowBytesKept) [[unlikely]] {
      rows.Clear();
      rows.ShrinkTo(kRowBytesKept);
    }
    if (changes.capacity() > kStatementsKept || conditional_writes.capacity() > kStatementsKept ||
        replies.capacity() > kStatementsKept) [[unlikely]] {
      std::vector<const cql::ModificationPlan*>().swap(changes);
      std::vector<Command>().swap(conditional_writes);
      std::vector<Reply>().swap(replies);
    }
    if (!computed.empty()) computed.clear();
    writes.Trim();
  }

  std::shared_ptr<const settings::StatementSettings> settings;
  uint64_t settings_version = 0;
  bool runs_alone = false;  // each request, by those settings
  // Of the request under way.
  settings::Warnings warnings;
  std::vector<std::string_view> warning_views;
  std::vector<cql::BoundValue> values;
  cql::ComputedBytes computed;  // behind the computed ones of `values`
  std::vector<const cql::ModificationPlan*> changes;
  WriteSet writes;
  std::vector<Command> conditional_writes;
  std::vector<Reply> replies;
  OutputBuffer rows;
  ExecuteGroup group;
};

struct QueryProcessor::Turn {
  // The answers are as many as one call makes, or the next request has to wait.
  bool IsFull() const { return ends || out.size() - begin > kAnswerBytesPerCall; }
  // Before a request that is run alone: on a loop it may be the last.
  void NoteTime() {
    if (!client.place.defers()) return;
    const WorkInstant now = std::chrono::steady_clock::now();
    if (!begun_at) begun_at = now;
    ends |= now - *begun_at > kTimePerCall;
  }

  ClientState& client;
  StatementScratch& scratch;
  OutputBuffer& out;
  const size_t begin = out.size();
  // The schema's, looked at before the clock; one instant for all that join the group.
  uint64_t generation = 0;
  uint64_t now_nanos = 0;
  std::optional<WorkInstant> begun_at = {};  // with the first request that is run alone
  bool ends = false;
};

struct QueryProcessor::Call {
  Call(RequestView& of, Turn& turn, uint64_t now, ExecuteGroup* joins = nullptr)
      : request(of),
        client(turn.client),
        context(ResponseContextOf(of.header(), turn.client)),
        scratch(turn.scratch),
        out(turn.out),
        group(joins),
        writes(joins != nullptr ? joins->writes() : turn.scratch.writes),
        settings(*turn.scratch.settings),
        now_nanos(now) {}

  RequestView& request;
  ClientState& client;
  protocol::ResponseContext context;
  StatementScratch& scratch;
  OutputBuffer& out;
  ExecuteGroup* const group;  // to join; nullptr: it is run alone
  WriteSet& writes;
  const settings::StatementSettings& settings;
  // Read once the plan is there: a plan of after a reset never goes by the time of before
  // (Engine::era).
  uint64_t now_nanos;
  WorkPace* pace = nullptr;       // nullptr: it is done at once
  FeatureTally* tally = nullptr;  // nullptr: nothing is counted
  std::string_view text = {};     // of the statement, once it is known
  bool had_written = false;       // the turn, before this
  // What computes values of the plan that is run; nullptr: it has none.
  cql::ComputedValues* computed = nullptr;

  // So much work was done, or is about to be; false: stop.
  [[nodiscard]] bool Spend(uint64_t units) const { return pace == nullptr || pace->Spend(units); }
  bool is_stopped() const { return pace != nullptr && pace->stop() != WorkPace::Stop::kNo; }

  // An error that stands for a feature is counted.
  void Fail(const cql::CqlError& error);
  // The answer says so beside.
  void Warn(settings::Warnings warnings);
  void Count(cql::CqlFeature feature) const;
  // What was accepted without effect, unless the call has failed. Of consistency levels the first
  // alone.
  void CountAccepted(const cql::Plan& plan) const;
  void CountAccepted(const protocol::QueryParameters& parameters) const;
};

// A statement that writes, or those of a batch.
struct QueryProcessor::Writes {
  // Not defaulted: as protocol::QueryParameters.
  Writes() {}

  std::span<const cql::ModificationPlan* const> changes;
  // Of a BATCH message one for each, with values of its own; else none.
  std::span<const StatementView> statements = {};
  cql::BoundValues values = {};  // of a text, whose statements share them
  // Where its time may be over at once; nullptr: it is not.
  const cql::Operand* timeout = nullptr;
  // What the request or batch gives.
  std::optional<int64_t> timestamp = {};
  protocol::WriteType type = protocol::WriteType::kSimple;
  bool is_batch = false;
  // At least one of them is so.
  bool any_conditional = false;
  bool any_counter = false;
  // Of conditional writes as text: names and types of the answer.
  const std::vector<cql::Selection>* answer = nullptr;
  const protocol::ColumnsMetadata* columns = nullptr;

  // Those of a batch.
  void SetBatch(std::span<const cql::ModificationPlan* const> all, protocol::WriteType of_type);
};

// What functions of one statement have their results from.
class QueryProcessor::Functions final : public cql::FunctionContext {
 public:
  Functions(QueryProcessor& processor, uint64_t now_nanos)
      : processor_(processor), now_nanos_(now_nanos) {}

  uint64_t now_nanos() const override { return now_nanos_; }
  Uuid NewTimeuuid() override { return processor_.timeuuids_.Next(); }
  Uuid NewUuid() override { return processor_.engine_.catalog().NewUuid(); }
  size_t json_values_max() const override { return processor_.options_.json_values_max; }
  size_t json_bytes_max() const override { return processor_.options_.result_bytes_max; }

 private:
  QueryProcessor& processor_;
  const uint64_t now_nanos_;
};

// Whether Call::CountAccepted would count something of a request's parameters. Two comparisons for
// most.
bool IsToBeCounted(bool tracing, const protocol::QueryParameters& parameters,
                   const FeatureTally* tally);

// A table was dropped or rebuilt under a plan: how often that is tried again. A tester who resets
// as fast as he can has done so between the plan and its run four times of ten where cores are
// short; each attempt waits for the change that was in its way.
inline constexpr int kPlanAttemptsMax = 100;

// The values of one statement of a BATCH message, in the call's scratch, computed ones too.
class QueryProcessor::BatchValues {
 public:
  BatchValues(QueryProcessor& processor, const cql::Plan& plan, Call& call)
      : plan_(plan),
        values_(call.scratch.values),
        functions_(processor, call.now_nanos),
        computed_(plan, functions_, call.scratch.values, call.scratch.computed) {}

  cql::CqlStatus Bind(const RequestView& request, const StatementView& statement) {
    values_.clear();
    const cql::CqlStatus status = request.Bind(statement, plan_, values_);
    return !status.ok() || plan_.computed.empty() ? status : computed_.Compute();
  }
  cql::BoundValues values() const { return values_; }
  // As WriteSet::Add takes it.
  cql::ComputedValues* computed() { return plan_.computed.empty() ? nullptr : &computed_; }

 private:
  const cql::Plan& plan_;
  std::vector<cql::BoundValue>& values_;
  Functions functions_;
  cql::ComputedValues computed_;
};

// What a statement of a batch is as work, beside its bytes.
inline constexpr uint64_t kUnitsOfStatement = 16;

// What parsing and planning a text is as work: some 10 ns a byte. One that takes much memory is too
// much for a loop.
inline uint64_t UnitsOfText(std::string_view text) {
  return text.size() / 4 + (text.size() > kLoopTextBytesMax ? kLoopUnitsMax : 0);
}

// Of statements that were stopped, which nobody sees.
inline cql::CqlError Stopped() { return cql::CqlError::Server("stopped"); }

// Calls `visit` with each statement, its values, and what computes some of them (nullptr: nothing
// does), until it fails, or the call is stopped.
template <typename Visit>
cql::CqlStatus QueryProcessor::ForEachWrite(const Writes& writes, Call& call, const Visit& visit) {
  for (size_t i = 0; i < writes.changes.size(); ++i) {
    if (!call.Spend(kUnitsOfStatement)) return Stopped();
    if (writes.statements.empty()) {
      LS_RETURN_IF_ERROR(visit(*writes.changes[i], writes.values, call.computed));
      continue;
    }
    BatchValues bound(*this, writes.statements[i].plan(), call);
    LS_RETURN_IF_ERROR(bound.Bind(call.request, writes.statements[i]));
    LS_RETURN_IF_ERROR(visit(*writes.changes[i], bound.values(), bound.computed()));
  }
  return {};
}

bool IsSerial(protocol::Consistency consistency);
cql::CqlStatus CheckReadConsistency(protocol::Consistency consistency);
cql::CqlStatus CheckWriteConsistency(protocol::Consistency consistency);
// Of writes that depend on the elements that are there.
cql::CqlStatus CheckReadsOfWrites(std::span<const cql::ModificationPlan* const> writes,
                                  protocol::Consistency consistency);
cql::CqlStatus CheckConditionalConsistency(const protocol::QueryParameters& parameters);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_QUERY_PROCESSOR_CALL_H_
