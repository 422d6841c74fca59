#include "engine/cql/syntax/cql_error.h"

#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/syntax/unsupported.h"

namespace liststore::cql {

void CqlStatus::Delete::operator()(CqlError* error) const { delete error; }

CqlError CqlError::Unsupported(CqlFeature feature, std::string_view what) {
  const CqlFeatureFacts& facts = FactsOf(feature);
  LS_CHECK(facts.refused, "what is accepted is no error");
  std::string message = "liststore does not support " + std::string(facts.name);
  if (!what.empty()) message += " (" + ShownText(what) + ")";
  message += "; instead: " + std::string(facts.instead) + " [" + std::string(facts.code) + "]";
  CqlError error = Invalid(std::move(message));
  error.feature = feature;
  return error;
}

}  // namespace liststore::cql
