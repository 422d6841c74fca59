#include "engine/execute/feature_tally.h"

#include "engine/base/check.h"
#include "engine/execute/kept_text.h"

namespace liststore::execute {
namespace {

std::string KeptStatement(std::string_view text) {
  const std::string_view kept = KeptText(text, kTalliedStatementBytesMax);
  std::string statement(kept);
  if (kept.size() < text.size()) statement += "...";
  return statement;
}

}  // namespace

void FeatureTally::Add(cql::CqlFeature feature, std::string_view statement, uint64_t now_nanos) {
  const auto index = static_cast<size_t>(feature);
  LS_CHECK(index < cql::kCqlFeatures, "a feature is one of the list");
  if (cql::FactsOf(feature).refused) refusals_.fetch_add(1, std::memory_order_relaxed);
  if (has(feature)) {
    counts_[index].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::string kept;
  {
    const MutexLock lock(mutex_);
    const bool first = !has(feature);
    if (first) {
      kept = KeptStatement(statement);
      firsts_[index] = {kept, now_nanos};
    }
    counts_[index].fetch_add(1, std::memory_order_relaxed);
    if (!first) return;
  }
  if (on_first_) on_first_(feature, kept);
}

std::vector<FeatureTally::Entry> FeatureTally::Met() const {
  std::vector<Entry> met;
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) {
    const uint64_t count = counts_[i].load(std::memory_order_relaxed);
    if (count == 0) continue;
    met.push_back({cql::CqlFeatureAt(i), count, firsts_[i].statement, firsts_[i].nanos});
  }
  return met;
}

}  // namespace liststore::execute
