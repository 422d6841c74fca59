#include "engine/cql/syntax/unsupported.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

// "LS-0042", as a constant of its own for each number.
template <unsigned kNumber>
struct Code {
  static_assert(kNumber > 0 && kNumber < 10'000, "a code has four digits");
  static constexpr char kText[] = {'L',
                                   'S',
                                   '-',
                                   static_cast<char>('0' + kNumber / 1000),
                                   static_cast<char>('0' + kNumber / 100 % 10),
                                   static_cast<char>('0' + kNumber / 10 % 10),
                                   static_cast<char>('0' + kNumber % 10),
                                   '\0'};
};

#define LISTSTORE_REFUSED(feature, number, name, instead) \
  {Code<number>::kText, true, name, instead},
#define LISTSTORE_WITHOUT_EFFECT(feature, number, name, instead) \
  {Code<number>::kText, false, name, instead},
constexpr CqlFeatureFacts kFacts[] = {LISTSTORE_CQL_REFUSED(LISTSTORE_REFUSED)
                                          LISTSTORE_CQL_WITHOUT_EFFECT(LISTSTORE_WITHOUT_EFFECT)};
#undef LISTSTORE_WITHOUT_EFFECT
#undef LISTSTORE_REFUSED

static_assert(std::size(kFacts) == kCqlFeatures, "every feature has its facts");
static_assert(std::ranges::adjacent_find(kFacts, std::greater_equal(), &CqlFeatureFacts::code) ==
                  std::end(kFacts),
              "codes ascend, and each is there once");

// Sources: ScyllaDB cql3/functions/functions.cc, vector_similarity_fcts.hh.
constexpr std::pair<std::string_view, CqlFeature> kFunctions[] = {
    {"similarity_cosine", CqlFeature::kVectors},
    {"similarity_dot_product", CqlFeature::kVectors},
    {"similarity_euclidean", CqlFeature::kVectors},
};
static_assert(std::ranges::is_sorted(kFunctions, {}, [](const auto& entry) { return entry.first; }),
              "look-ups halve it");

}  // namespace

const CqlFeatureFacts& FactsOf(CqlFeature feature) {
  const auto index = static_cast<size_t>(feature);
  LS_CHECK(index < kCqlFeatures, "a feature is one of the list");
  return kFacts[index];
}

CqlFeature CqlFeatureAt(size_t index) {
  LS_CHECK(index < kCqlFeatures, "a feature is one of the list");
  return static_cast<CqlFeature>(index);
}

std::string_view KindName(const CqlFeatureFacts& facts) {
  return facts.refused ? "refused" : "no effect";
}

std::optional<CqlFeature> FeatureOfFunction(std::string_view name) {
  const auto at =
      std::ranges::lower_bound(kFunctions, name, {}, [](const auto& entry) { return entry.first; });
  if (at != std::end(kFunctions) && at->first == name) return at->second;
  return std::nullopt;
}

}  // namespace liststore::cql
