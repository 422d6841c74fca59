#include "engine/instruments/journal_table.h"

#include <string>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr char kJournalKey[] = "journal";

constexpr cql::TableSpec kJournalSpec = {
    "liststore",
    "journal",
    "key text",
    "",
    "capacity int, dropped bigint, enabled boolean, kept int, recorded bigint",
    "the journal of requests: how much of it there is"};

cql::CqlError RefuseJournal(std::string_view why) {
  return cql::CqlError::Invalid(std::string("liststore.journal: ").append(why));
}

}  // namespace

JournalTable::JournalTable(Journal& journal)
    : journal_(journal), definition_(cql::MakeVirtualDefinition(kJournalSpec)) {}

std::vector<cql::VirtualRow> JournalTable::Rows(const cql::VirtualReadContext& /*context*/) const {
  const JournalCounts counts = journal_.counts();
  cql::RowCollector rows(*definition_);
  rows.Row()
      .Set("key", kJournalKey)
      .Set("capacity", cql::EncodeInt(static_cast<int32_t>(counts.capacity)))
      .Set("dropped", cql::EncodeBigint(static_cast<int64_t>(counts.dropped)))
      .Set("enabled", cql::EncodeBoolean(counts.enabled))
      .Set("kept", cql::EncodeInt(static_cast<int32_t>(counts.kept)))
      .Set("recorded", cql::EncodeBigint(static_cast<int64_t>(counts.recorded)));
  return rows.Take();
}

std::optional<cql::CqlError> JournalTable::Write(const Values& values) {
  std::optional<bool> enabled;
  std::optional<int64_t> capacity;
  for (const auto& [column, value] : values) {
    if (column == "key") {
      if (value != kJournalKey) return RefuseJournal("the only key is 'journal'");
      continue;
    }
    if (column != "enabled" && column != "capacity")
      return RefuseJournal(column + " cannot be set");
    // Empty values are valid for numbers.
    if (!value || value->empty()) return RefuseJournal(column + " cannot be null");
    if (column == "enabled") {
      enabled = value->front() != 0;
    } else {
      capacity = static_cast<int32_t>(LoadBigEndian32(value->data()));
    }
  }
  if (!enabled && !capacity) return RefuseJournal("set enabled, capacity or both");
  cql::CqlStatus status = journal_.Configure(enabled, capacity);
  if (!status.ok()) return status.TakeError();
  return std::nullopt;
}

}  // namespace liststore::instruments
