#include "engine/execute/request_view.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/cql/planner/planner.h"

namespace liststore::execute {
namespace {

// Where a name is among those of a request's values; of one that comes twice the first. There may
// be 65,535 of them: where there are more than some, not each is looked for among all.
class ValueNames {
 public:
  explicit ValueNames(std::span<const std::string_view> names) : names_(names) {
    if (names.size() <= kSearched) return;
    indexes_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) indexes_.emplace(names[i], i);
  }

  std::optional<size_t> Find(std::string_view name) const {
    if (names_.size() > kSearched) {
      const auto at = indexes_.find(name);
      return at == indexes_.end() ? std::nullopt : std::optional(at->second);
    }
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) return std::nullopt;
    return static_cast<size_t>(at - names_.begin());
  }

 private:
  static constexpr size_t kSearched = 32;

  std::span<const std::string_view> names_;
  std::unordered_map<std::string_view, size_t> indexes_;
};

cql::CqlStatus BindByName(const cql::Plan& plan, const protocol::QueryParameters& parameters,
                          std::vector<cql::BoundValue>& values) {
  const ValueNames names(parameters.value_names);
  for (const cql::BindVariable& variable : plan.variables) {
    const std::optional<size_t> at = names.Find(variable.name);
    if (!at)
      return cql::CqlError::Invalid("Missing value for bind marker with name: " + variable.name);
    values.push_back(ToBound(parameters.values[*at]));
  }
  return {};
}

cql::CqlError WrongNumber(size_t expected, size_t received, bool of_batch) {
  const std::string variables = std::to_string(expected);
  const std::string values = std::to_string(received);
  return cql::CqlError::Invalid(
      of_batch ? "There were " + variables + " markers(?) in CQL but " + values + " bound variables"
               : "Invalid amount of bind variables: expected " + variables + " received " + values);
}

}  // namespace

std::string_view StatementView::text() const {
  if (!is_prepared_) return text_or_id_;
  return prepared_ == nullptr ? std::string_view() : std::string_view(prepared_->text);
}

StatementView::Found& StatementView::found() {
  if (found_ == nullptr) found_ = std::make_unique<Found>();
  return *found_;
}

const cql::StatementOutline& StatementView::Outline(std::string_view keyspace) {
  static const cql::StatementOutline kNone;
  if (is_prepared_) return prepared_ == nullptr ? kNone : prepared_->outline;
  Found& found = this->found();
  if (!found.outline || found.outline_keyspace != keyspace) {
    found.outline = cql::OutlineOf(text_or_id_, keyspace);
    found.outline_keyspace = keyspace;
  }
  return *found.outline;
}

const cql::CqlOr<std::shared_ptr<const cql::Plan>>& StatementView::PlanOf(
    const std::shared_ptr<const Schema>& schema, std::string_view keyspace,
    const cql::Dialect& dialect,
    const std::shared_ptr<const settings::StatementSettings>& settings) {
  Found& found = this->found();
  LS_DCHECK(!is_prepared_, "what was prepared has its plan");
  if (found.schema != schema || found.settings != settings || found.plan_keyspace != keyspace) {
    found.plan = settings == nullptr
                     ? cql::PlanText(text_or_id_, *schema, keyspace, dialect)
                     : cql::PlanText(text_or_id_, *schema, keyspace, dialect, *settings);
    found.schema = schema;
    found.settings = settings;
    found.plan_keyspace = keyspace;
  }
  return found.plan;
}

void RequestView::Begin(const protocol::FrameHeader& header, const protocol::Request& request) {
  header_ = header;
  body_bytes_ = header.body_bytes;
  tracing_ = request.tracing;
  parameters_ = nullptr;
  const auto& message = request.message;
  if (const auto* execute = std::get_if<protocol::Execute>(&message)) {
    kind_ = RequestKind::kExecute;
    parameters_ = &execute->parameters;
    statement_.Begin(/*is_prepared=*/true, execute->id);
  } else if (const auto* query = std::get_if<protocol::Query>(&message)) {
    kind_ = RequestKind::kQuery;
    parameters_ = &query->parameters;
    statement_.Begin(/*is_prepared=*/false, query->query);
  } else if (const auto* prepare = std::get_if<protocol::Prepare>(&message)) {
    kind_ = RequestKind::kPrepare;
    statement_.Begin(/*is_prepared=*/false, prepare->query);
  } else {
    batch_ = std::get_if<protocol::Batch>(&message);
    LS_CHECK(batch_ != nullptr, "connections keep other requests to themselves");
    kind_ = RequestKind::kBatch;
    parameters_ = &batch_->parameters;
    statement_.Begin(/*is_prepared=*/false, {});
  }
  outcome.answered = false;
  outcome.postponed = false;
  outcome.deferral = Deferral::kNo;
  outcome.has_row_counts = false;
  outcome.dead_rows = 0;
  outcome.delay = {};
}

std::span<StatementView> RequestView::statements() {
  if (kind_ != RequestKind::kBatch) return {&statement_, 1};
  if (of_batch_.empty()) {
    of_batch_.reserve(batch_->statements.size());
    for (const protocol::BatchStatement& statement : batch_->statements) {
      of_batch_.emplace_back(statement);
    }
  }
  return of_batch_;
}

cql::CqlStatus RequestView::Bind(const StatementView& statement, const cql::Plan& plan,
                                 std::vector<cql::BoundValue>& values) const {
  const bool of_batch = kind_ == RequestKind::kBatch;
  if (!of_batch && !parameters_->value_names.empty()) {
    return BindByName(plan, *parameters_, values);
  }
  const std::span<const protocol::Value> sent = of_batch ? statement.values() : parameters_->values;
  if (sent.size() != plan.variables.size()) {
    return WrongNumber(plan.variables.size(), sent.size(), of_batch);
  }
  for (const protocol::Value& value : sent) values.push_back(ToBound(value));
  return {};
}

}  // namespace liststore::execute
