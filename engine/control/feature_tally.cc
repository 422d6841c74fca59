#include "engine/control/feature_tally.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// Where the word PASSWORD ends in `text`, in any letter case; npos: it is not there.
size_t EndOfPassword(std::string_view text) {
  constexpr std::string_view kWord = "PASSWORD";
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; };
  const auto at = std::ranges::search(text, kWord, same);
  return at.empty() ? std::string_view::npos : static_cast<size_t>(at.end() - text.begin());
}

std::string KeptStatement(std::string_view text) {
  const size_t end = std::min({text.size(), kTalliedStatementBytesMax, EndOfPassword(text)});
  std::string_view kept = text.substr(0, end);
  kept = kept.substr(0, ValidUtf8Bytes(kept));
  std::string statement(kept);
  if (kept.size() < text.size()) statement += "...";
  return statement;
}

}  // namespace

void FeatureTally::Add(CqlFeature feature, std::string_view statement, uint64_t now_nanos) {
  const auto index = static_cast<size_t>(feature);
  LS_CHECK(index < kCqlFeatures, "a feature is one of the list");
  if (FactsOf(feature).refused) refusals_.fetch_add(1, std::memory_order_relaxed);
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
  for (size_t i = 0; i < kCqlFeatures; ++i) {
    const uint64_t count = counts_[i].load(std::memory_order_relaxed);
    if (count == 0) continue;
    met.push_back({CqlFeatureAt(i), count, firsts_[i].statement, firsts_[i].nanos});
  }
  return met;
}

}  // namespace liststore
