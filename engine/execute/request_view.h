// RequestView: one request on its way past faults, the processor and the journal. What one of them
// finds out about it the others need not find out again.
#ifndef LISTSTORE_ENGINE_EXECUTE_REQUEST_VIEW_H_
#define LISTSTORE_ENGINE_EXECUTE_REQUEST_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/execute/outcome.h"
#include "engine/execute/statement_cache.h"
#include "engine/model/schema.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"
#include "engine/settings/statement_settings.h"

namespace liststore::execute {

class RowChanges;

enum class RequestKind : uint8_t {
  kQuery,
  kPrepare,
  kExecute,
  kBatch
};

// A statement of a request: a text, or one that was prepared. Views into the request.
class StatementView {
 public:
  StatementView() = default;
  explicit StatementView(const protocol::BatchStatement& statement)
      : text_or_id_(statement.query_or_id),
        is_prepared_(statement.kind == protocol::BatchStatement::Kind::kPrepared),
        values_(statement.values),
        sent_values_(statement.sent_values) {}
  // From now on it is the statement of another request, which is no batch.
  void Begin(bool is_prepared, std::string_view text_or_id) {
    text_or_id_ = text_or_id;
    is_prepared_ = is_prepared;
    prepared_ = nullptr;
  }

  bool is_prepared() const { return is_prepared_; }
  std::string_view id() const { return is_prepared_ ? text_or_id_ : std::string_view(); }
  // Empty for a prepared one that is not known.
  std::string_view text() const;
  // Those of a batch's statement; other requests have theirs among the parameters.
  std::span<const protocol::Value> values() const { return values_; }
  std::string_view sent_values() const { return sent_values_; }

  // The one of its id as it is now; nullptr: not known, or a text. Valid until the memo's EndTurn.
  const PreparedStatement* Find(StatementMemo& memo, const StatementCache& cache) {
    if (is_prepared_) prepared_ = memo.Find(cache, text_or_id_);
    return prepared_;
  }
  // What Find has said last.
  const PreparedStatement* prepared() const { return prepared_; }

  // Made once for a keyspace. A prepared one has its own; empty for one that is not known.
  const cql::StatementOutline& Outline(std::string_view keyspace);
  // Of a text: made once for a schema, keyspace and settings (nullptr: ScyllaDB's defaults). The
  // dialect is the server's.
  const cql::CqlOr<std::shared_ptr<const cql::Plan>>& PlanOf(
      const std::shared_ptr<const Schema>& schema, std::string_view keyspace,
      const cql::Dialect& dialect,
      const std::shared_ptr<const settings::StatementSettings>& settings = nullptr);
  // The one that was prepared, or found for a text and not forgotten; nullptr: there is none.
  const cql::Plan* kept_plan() const {
    if (prepared_ != nullptr) return prepared_->plan.get();
    return found_ != nullptr && found_->schema != nullptr && found_->plan.ok() ? found_->plan->get()
                                                                               : nullptr;
  }
  // What it has said last, or of one that was prepared.
  const cql::Plan& plan() const { return prepared_ != nullptr ? *prepared_->plan : **found_->plan; }
  // Plans that wait for the end of a turn cost more than those that are freed at once.
  void ForgetPlan() {
    if (found_ == nullptr || found_->schema == nullptr) return;
    found_->schema.reset();
    found_->plan = std::shared_ptr<const cql::Plan>();
  }
  void Forget() {
    ForgetPlan();
    if (found_ != nullptr) found_->outline.reset();
  }

 private:
  // About a text.
  struct Found {
    std::optional<cql::StatementOutline> outline;
    std::string outline_keyspace;
    std::shared_ptr<const Schema> schema;
    std::shared_ptr<const settings::StatementSettings> settings;
    std::string plan_keyspace;
    cql::CqlOr<std::shared_ptr<const cql::Plan>> plan = std::shared_ptr<const cql::Plan>();
  };
  Found& found();

  std::string_view text_or_id_;
  const PreparedStatement* prepared_ = nullptr;
  std::unique_ptr<Found> found_;
  bool is_prepared_ = false;
  // Of a batch's statement alone.
  std::span<const protocol::Value> values_;
  std::string_view sent_values_;
};

// What a handler wants to know again of a request that it was handed before. Its own type.
struct RequestMemo {
  virtual ~RequestMemo() = default;
};

// QUERY, PREPARE, EXECUTE or BATCH. One thread. All that an EXECUTE without an error needs is in its
// first two cache lines: a turn's requests with all that belongs to them are to stay in the nearest
// cache while they are decoded, carried out and written down one after the other.
class alignas(64) RequestView {
  protocol::FrameHeader header_;
  size_t body_bytes_ = 0;
  RequestKind kind_ = RequestKind::kQuery;
  bool tracing_ = false;
  bool keeps_plans_ = false;
  const protocol::QueryParameters* parameters_ = nullptr;
  StatementView statement_;

 public:
  RequestView() = default;
  RequestView(const protocol::FrameHeader& header, const protocol::Request& request) {
    Begin(header, request);
  }
  // From now on it is of this request, until End, which lets go of all but its own memory.
  void Begin(const protocol::FrameHeader& header, const protocol::Request& request);
  void End() {
    statement_.Forget();
    if (kind_ == RequestKind::kBatch) of_batch_ = std::vector<StatementView>();
    if (outcome.error) outcome = {};
  }

  const protocol::FrameHeader& header() const { return header_; }
  // Decompressed.
  size_t body_bytes() const { return body_bytes_; }
  void set_body_bytes(size_t bytes) { body_bytes_ = bytes; }
  RequestKind kind() const { return kind_; }
  bool tracing() const { return tracing_; }
  // Not of PREPARE.
  const protocol::QueryParameters& parameters() const { return *parameters_; }
  protocol::Consistency consistency() const {
    return parameters_ == nullptr ? protocol::Consistency::kOne : parameters_->consistency;
  }
  protocol::BatchType batch_type() const { return batch_->type; }

  // Somebody wants to see the plans of its texts when it has been dealt with, and lets go of them.
  bool keeps_plans() const { return keeps_plans_; }
  void set_keeps_plans(bool keeps) { keeps_plans_ = keeps; }

  // Instead of an answer.
  void Postpone() {
    outcome.answered = false;
    outcome.postponed = true;
  }

  // Of a batch maybe none, of others one.
  std::span<StatementView> statements();
  // Of what is no batch.
  StatementView& statement() { return statement_; }

  // Appends the statement's values in the order of the plan's variables: views into the request.
  // Invalid: not as many as there are, or a name is missing.
  cql::CqlStatus Bind(const StatementView& statement, const cql::Plan& plan,
                      std::vector<cql::BoundValue>& values) const;

  // Nothing was done: it is handed over again elsewhere.
  void Defer(Deferral deferral) {
    outcome.answered = false;
    outcome.deferral = deferral;
  }
  // It has no answer yet, and those behind it have to wait for that.
  bool holds_back() const { return outcome.postponed || outcome.deferral >= Deferral::kInOrder; }

  // Whoever answers fills it.
  Outcome outcome;
  // Of a request that was deferred, what a handler has found out about it and need not, or must
  // not, find out again. nullptr: nothing.
  std::shared_ptr<const RequestMemo> memo;
  // What its statements write, where that is not for them to say (row_changes.h). Of an EXECUTE or a BATCH of
  // the server's own; outlives it. nullptr: they say it.
  RowChanges* row_changes = nullptr;

 private:
  const protocol::Batch* batch_ = nullptr;
  std::vector<StatementView> of_batch_;  // once they were asked for
};

// A view into the request.
inline cql::BoundValue ToBound(const protocol::Value& value) {
  if (value.has_bytes()) return {cql::BoundValue::State::kValue, value.bytes()};
  return {value.is_unset() ? cql::BoundValue::State::kUnset : cql::BoundValue::State::kNull, {}};
}

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_REQUEST_VIEW_H_
