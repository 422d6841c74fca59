#include "engine/instruments/unsupported_table.h"

#include <cstdint>
#include <string>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/cql/values/encode_value.h"

namespace liststore {
namespace {

constexpr TableSpec kUnsupportedSpec = {
    "liststore",
    "unsupported",
    "kind text",
    "code text",
    "count bigint, feature text, first_at timestamp, first_statement text, "
    "instead text",
    "what clients asked for and did not get"};

void ListFeatures(const FeatureTally& tally, RowCollector& rows) {
  for (const FeatureTally::Entry& entry : tally.Met()) {
    const CqlFeatureFacts& facts = FactsOf(entry.feature);
    rows.Row()
        .Set("kind", std::string(KindName(facts)))
        .Set("code", std::string(facts.code))
        .Set("count", EncodeBigint(static_cast<int64_t>(entry.count)))
        .Set("feature", std::string(facts.name))
        .Set("first_at", EncodeTimestamp(entry.first_nanos))
        .Set("first_statement", entry.first_statement)
        .Set("instead", std::string(facts.instead));
  }
}

}  // namespace

std::unique_ptr<VirtualTable> MakeUnsupportedTable(const FeatureTally& tally) {
  return std::make_unique<ComputedTable>(
      kUnsupportedSpec, [&tally](const VirtualReadContext& /*context*/, RowCollector& rows) {
        ListFeatures(tally, rows);
      });
}

}  // namespace liststore
