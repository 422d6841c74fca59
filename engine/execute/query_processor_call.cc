#include "engine/execute/query_processor_call.h"

#include "engine/execute/answers.h"

namespace liststore::execute {
namespace {

// Asks for more than one copy.
bool IsAboveOne(protocol::Consistency consistency) {
  switch (consistency) {
    case protocol::Consistency::kTwo:
    case protocol::Consistency::kThree:
    case protocol::Consistency::kQuorum:
    case protocol::Consistency::kAll:
    case protocol::Consistency::kLocalQuorum:
    case protocol::Consistency::kEachQuorum:
      return true;
    default:
      return false;
  }
}

// Nearly all requests of a client that asks for more than one copy do so: the first alone counts.
bool IsNewLevel(protocol::Consistency consistency, const FeatureTally& tally) {
  return IsAboveOne(consistency) && !tally.has(cql::CqlFeature::kConsistencyLevels);
}

}  // namespace

void QueryProcessor::Call::Fail(const cql::CqlError& error) {
  if (error.feature) Count(*error.feature);
  AnswerError(error, context, request.outcome, out);
}

void QueryProcessor::Call::Warn(settings::Warnings warnings) {
  if (warnings.empty()) return;
  scratch.warnings = std::move(warnings);
  scratch.warning_views.assign(scratch.warnings.begin(), scratch.warnings.end());
  context.warnings = scratch.warning_views;
}

void QueryProcessor::Call::Count(cql::CqlFeature feature) const {
  if (tally != nullptr) tally->Add(feature, text, now_nanos);
}

void QueryProcessor::Call::CountAccepted(const cql::Plan& plan) const {
  if (request.outcome.error) return;
  for (const cql::CqlFeature feature : plan.without_effect) Count(feature);
}

void QueryProcessor::Call::CountAccepted(const protocol::QueryParameters& parameters) const {
  if (request.outcome.error || !IsToBeCounted(request.tracing(), parameters, tally)) return;
  if (request.tracing()) Count(cql::CqlFeature::kTracing);
  if (IsNewLevel(parameters.consistency, *tally)) Count(cql::CqlFeature::kConsistencyLevels);
}

bool IsToBeCounted(bool tracing, const protocol::QueryParameters& parameters,
                   const FeatureTally* tally) {
  return tally != nullptr && (tracing || IsNewLevel(parameters.consistency, *tally));
}

}  // namespace liststore::execute
