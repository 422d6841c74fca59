#include "engine/instruments/unsupported_table.h"

#include <cstdint>
#include <string>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kUnsupportedSpec = {
    "liststore",
    "unsupported",
    "kind text",
    "code text",
    "count bigint, feature text, first_at timestamp, first_statement text, "
    "instead text",
    "what clients asked for and did not get"};

void ListFeatures(const execute::FeatureTally& tally, cql::RowCollector& rows) {
  for (const execute::FeatureTally::Entry& entry : tally.Met()) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(entry.feature);
    rows.Row()
        .Set("kind", std::string(cql::KindName(facts)))
        .Set("code", std::string(facts.code))
        .Set("count", cql::EncodeBigint(static_cast<int64_t>(entry.count)))
        .Set("feature", std::string(facts.name))
        .Set("first_at", cql::EncodeTimestamp(entry.first_nanos))
        .Set("first_statement", entry.first_statement)
        .Set("instead", std::string(facts.instead));
  }
}

}  // namespace

std::unique_ptr<cql::VirtualTable> MakeUnsupportedTable(const execute::FeatureTally& tally) {
  return std::make_unique<cql::ComputedTable>(
      kUnsupportedSpec, [&tally](const cql::VirtualReadContext& /*context*/,
                                 cql::RowCollector& rows) { ListFeatures(tally, rows); });
}

}  // namespace liststore::instruments
