#include "engine/instruments/requests_table.h"

#include <string>
#include <string_view>
#include <utility>

#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"
#include "engine/instruments/request_reading.h"

namespace liststore::instruments {
namespace {

constexpr uint64_t kNanosPerMicro = 1000;

constexpr cql::TableSpec kRequestsSpec = {
    "liststore",
    "requests",
    "journal text",
    "seq bigint",
    "at timestamp, client text, consistency text, dead_rows bigint, driver text, duration_us "
    "bigint, error text, "
    "key text, op text, outcome text, page_size int, prepared boolean, serial_consistency text, "
    "statement text, tbl text, timestamp bigint, user text, values list<text>",
    "the last requests of clients"};

// Empty texts are null: nothing was said.
void PutText(cql::RowCollector& row, std::string_view column, std::string_view text) {
  if (!text.empty()) row.Set(column, std::string(text));
}

std::vector<std::string> LiteralsOf(const RequestReading& reading) {
  std::vector<std::string> literals;
  for (const StatementReading& statement : reading.statements) {
    literals.insert(literals.end(), statement.literals.begin(), statement.literals.end());
  }
  return literals;
}

void SetFacts(const JournalRecord& record, cql::RowCollector& row) {
  row.Set("journal", "requests")
      .Set("seq", cql::EncodeBigint(static_cast<int64_t>(record.seq())))
      .Set("at", cql::EncodeTimestamp(record.at_nanos))
      .Set("duration_us",
           cql::EncodeBigint(static_cast<int64_t>(record.duration_nanos / kNanosPerMicro)))
      .Set("dead_rows", cql::EncodeBigint(static_cast<int64_t>(record.dead_rows)))
      .Set("outcome", std::string(record.outcome));
  PutText(row, "client", record.client->address);
  PutText(row, "driver", record.client->driver);
  PutText(row, "user", record.client->user);
  PutText(row, "consistency", record.consistency);
  PutText(row, "serial_consistency", record.serial_consistency);
  PutText(row, "error", record.error());
  if (record.page_size) row.Set("page_size", cql::EncodeInt(*record.page_size));
  if (record.timestamp) row.Set("timestamp", cql::EncodeBigint(*record.timestamp));
}

void SetReading(const RequestReading& reading, cql::RowCollector& row) {
  row.Set("op", std::string(cql::ToString(reading.op)))
      .Set("prepared", cql::EncodeBoolean(reading.prepared));
  PutText(row, "statement", reading.text);
  PutText(row, "tbl", reading.table);
  if (reading.key) row.Set("key", *reading.key);
  const std::vector<std::string> literals = LiteralsOf(reading);
  if (!literals.empty()) row.Set("values", cql::EncodeTextList(literals));
}

}  // namespace

RequestsTable::RequestsTable(Journal& journal)
    : journal_(journal), definition_(cql::MakeVirtualDefinition(kRequestsSpec)) {}

std::vector<cql::VirtualRow> RequestsTable::Rows(const cql::VirtualReadContext& context) const {
  cql::RowCollector rows(*definition_);
  journal_.ForEach([&](const JournalRecord& record) {
    SetFacts(record, rows.Row());
    SetReading(ReadRequest(record, context.schema), rows);
  });
  return rows.Take();
}

}  // namespace liststore::instruments
