#include "engine/instruments/server_state_tables.h"

#include <utility>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kMemorySpec = {"liststore",
                                        "memory",
                                        "kind text",
                                        "name text",
                                        "bytes bigint, limit_bytes bigint",
                                        "what is held, and for whom"};
constexpr cql::TableSpec kCountersSpec = {
    "liststore", "counters",     "name text",
    "",          "value bigint", "what became of clients since the server started"};

std::string Bigint(uint64_t value) { return cql::EncodeBigint(static_cast<int64_t>(value)); }

}  // namespace

std::unique_ptr<cql::VirtualTable> MakeMemoryTable(std::function<std::vector<MemoryUse>()> uses) {
  return std::make_unique<cql::ComputedTable>(
      kMemorySpec, [uses = std::move(uses)](const cql::VirtualReadContext& /*context*/,
                                            cql::RowCollector& rows) {
        for (MemoryUse& use : uses()) {
          cql::RowCollector& row = rows.Row();
          row.Set("kind", std::move(use.kind)).Set("name", std::move(use.name));
          row.Set("bytes", Bigint(use.bytes));
          if (use.limit_bytes) row.Set("limit_bytes", Bigint(*use.limit_bytes));
        }
      });
}

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
