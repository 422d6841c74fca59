#include "engine/durable/schema_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace liststore::durable {
namespace {

constexpr uint8_t kStart = 1;
constexpr uint8_t kChange = 2;
constexpr uint8_t kMark = 3;
constexpr uint8_t kReturn = 4;

constexpr uint8_t kKnowsDatacenters = 1;
constexpr uint8_t kTablets = 2;
constexpr uint8_t kDrops = 4;
constexpr uint8_t kHasDropTime = 8;
constexpr uint8_t kHasDialect = 16;
constexpr uint8_t kFlags = 31;

constexpr size_t kNumberedBytesMin = 2 * sizeof(uint32_t) + 6;

}  // namespace

void AppendNumbers(std::span<const NumberedTable> tables, std::string& out) {
  Put(out, static_cast<uint32_t>(tables.size()));
  for (const NumberedTable& table : tables) {
    Put<uint16_t>(out, table.id.value);
    Put<uint32_t>(out, table.id.generation);
    PutText(out, table.keyspace);
    PutText(out, table.table);
  }
}

bool ReadNumbers(ByteReader& input, std::vector<NumberedTable>& tables) {
  const uint32_t count = input.TakeCount(kNumberedBytesMin);
  for (uint32_t i = 0; i < count && !input.bad(); ++i) {
    NumberedTable& table = tables.emplace_back();
    table.id.value = input.Take<uint16_t>();
    table.id.generation = input.Take<uint32_t>();
    table.keyspace = input.TakeText();
    table.table = input.TakeText();
  }
  return !input.bad();
}

void AppendSchemaChange(const SchemaChangeRecord& record, std::string& out) {
  const unsigned flags = (record.knows_datacenters ? kKnowsDatacenters : 0u) |
                         (record.enable_tablets ? kTablets : 0u) | (record.drops ? kDrops : 0u) |
                         (record.drop_micros ? kHasDropTime : 0u) |
                         (record.dialect.empty() ? 0u : kHasDialect);
  Put(out, static_cast<uint8_t>(flags));
  PutText(out, record.statement);
  PutText(out, record.current_keyspace);
  Put(out, record.now_micros);
  Put(out, record.now_nanos);
  Put<int64_t>(out, record.drop_micros.value_or(0));
  Put(out, static_cast<uint32_t>(record.uuids.size()));
  for (const Uuid& uuid : record.uuids) out.append(uuid.view());
  PutText(out, record.datacenter);
  Put(out, static_cast<uint32_t>(record.other_datacenters.size()));
  for (const std::string& other : record.other_datacenters) PutText(out, other);
  PutText(out, record.keyspace);
  PutText(out, record.table);
  PutText(out, record.type);
  if (!record.dialect.empty()) PutText(out, record.dialect);
  AppendNumbers(record.numbered, out);
}

bool ReadSchemaChange(ByteReader& input, SchemaChangeRecord& record) {
  const auto flags = input.Take<uint8_t>();
  if ((flags & ~unsigned{kFlags}) != 0) return false;
  record.knows_datacenters = (flags & kKnowsDatacenters) != 0;
  record.enable_tablets = (flags & kTablets) != 0;
  record.drops = (flags & kDrops) != 0;
  record.statement = input.TakeText();
  record.current_keyspace = input.TakeText();
  record.now_micros = input.Take<int64_t>();
  record.now_nanos = input.Take<uint64_t>();
  const auto drop_micros = input.Take<int64_t>();
  if ((flags & kHasDropTime) != 0) record.drop_micros = drop_micros;
  const uint32_t uuids = input.TakeCount(sizeof(Uuid));
  for (uint32_t i = 0; i < uuids; ++i) record.uuids.push_back(input.Take<Uuid>());
  record.datacenter = input.TakeText();
  const uint32_t others = input.TakeCount(sizeof(uint32_t));
  for (uint32_t i = 0; i < others; ++i) record.other_datacenters.emplace_back(input.TakeText());
  record.keyspace = input.TakeText();
  record.table = input.TakeText();
  record.type = input.TakeText();
  if ((flags & kHasDialect) != 0) record.dialect = input.TakeText();
  return ReadNumbers(input, record.numbered);
}

void AppendStart(std::span<const NumberedTable> tables, std::string& out) {
  Put(out, kStart);
  AppendNumbers(tables, out);
}

void AppendMark(std::string& out) { Put(out, kMark); }

void AppendReturn(const ReturnRecord& record, std::string& out) {
  Put(out, kReturn);
  Put(out, record.mark);
  Put(out, record.base_snapshot);
  AppendNumbers(record.numbers, out);
  Put(out, static_cast<uint32_t>(record.events.size()));
  for (const std::string& event : record.events) PutText(out, event);
}

void AppendChangeBarrier(const SchemaChangeRecord& record, std::string& out) {
  Put(out, kChange);
  AppendSchemaChange(record, out);
}

std::optional<Barrier> DecodeBarrierPayload(std::string_view payload) {
  ByteReader input(payload);
  Barrier barrier;
  switch (input.Take<uint8_t>()) {
    case kStart:
      if (!ReadNumbers(input, barrier.numbers.emplace())) return std::nullopt;
      break;
    case kMark:
      barrier.is_mark = true;
      break;
    case kReturn: {
      ReturnRecord& back = barrier.back.emplace();
      back.mark = input.Take<uint64_t>();
      back.base_snapshot = input.Take<uint64_t>();
      if (!ReadNumbers(input, back.numbers)) return std::nullopt;
      const uint32_t events = input.TakeCount(sizeof(uint32_t));
      for (uint32_t i = 0; i < events; ++i) back.events.emplace_back(input.TakeText());
      break;
    }
    case kChange:
      if (!ReadSchemaChange(input, barrier.change)) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  if (!input.AtEnd()) return std::nullopt;
  return barrier;
}

void SchemaHistory::NameDialect(std::string_view dialect) {
  for (SchemaChangeRecord& change : changes_) {
    if (change.dialect.empty()) change.dialect = dialect;
  }
}

void SchemaHistory::Add(const SchemaChangeRecord& record) {
  if (record.statement.empty()) return;
  // A type that goes may be in a column of long ago: its changes stay.
  const bool ends = record.drops && record.type.empty();
  if (!ends) {
    changes_.push_back(record);
    changes_.back().numbered.clear();
    return;
  }
  std::erase_if(changes_, [&](const SchemaChangeRecord& known) {
    if (known.keyspace != record.keyspace) return false;
    return record.table.empty() || known.table == record.table;
  });
}

}  // namespace liststore::durable
