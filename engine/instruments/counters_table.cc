#include "engine/instruments/counters_table.h"

#include <utility>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kCountersSpec = {
    "liststore", "counters",     "name text",
    "",          "value bigint", "what became of clients since the server started"};

std::string Bigint(uint64_t value) { return cql::EncodeBigint(static_cast<int64_t>(value)); }

}  // namespace

std::unique_ptr<cql::VirtualTable> MakeCountersTable(
    std::function<std::vector<Counter>()> counters) {
  return std::make_unique<cql::ComputedTable>(
      kCountersSpec, [counters = std::move(counters)](const cql::VirtualReadContext& /*context*/,
                                                      cql::RowCollector& rows) {
        for (Counter& counter : counters()) {
          rows.Row().Set("name", std::move(counter.name)).Set("value", Bigint(counter.value));
        }
      });
}

}  // namespace liststore::instruments
