#include "tests/reference/reference_engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/model/partition_key.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kSecondInNanos = 1'000'000'000;

int64_t SecondsOf(uint64_t now_nanos) { return static_cast<int64_t>(now_nanos / kSecondInNanos); }

}  // namespace

bool IsWrite(const Command& command) {
  return !std::holds_alternative<ReadCommand>(command.body) &&
         !std::holds_alternative<CountCommand>(command.body);
}

TableId ReferenceEngine::CreateTable(TableSchema schema) {
  schema.id = TableId{static_cast<uint16_t>(tables_.size())};
  tables_.emplace_back(router_.lanes(), ReferenceTable(schema));
  return schema.id;
}

// --- Timestamps ---

WriteTimestamp ReferenceEngine::NextTimestamp(std::string_view partition_key,
                                              uint64_t now_nanos) const {
  const WriteTimestamp last = last_timestamps_[PlaceOf(partition_key).lane];
  return {std::max(last.micros + 1, static_cast<int64_t>(now_nanos / 1'000))};
}

WriteTimestamp ReferenceEngine::NextTimestamp(std::span<const Command> upserts,
                                              uint64_t now_nanos) const {
  WriteTimestamp next;
  for (const Command& upsert : upserts) {
    next = std::max(next, NextTimestamp(upsert.partition_key, now_nanos));
  }
  return next;
}

void ReferenceEngine::NoteTimestamp(std::string_view partition_key, WriteTimestamp timestamp) {
  WriteTimestamp& last = last_timestamps_[PlaceOf(partition_key).lane];
  last = std::max(last, timestamp);
}

// --- Commands ---

Reply ReferenceEngine::Execute(const Command& command, uint64_t now_nanos, WriteTimestamp timestamp,
                               RowSink* sink) {
  const shard::Router::Place place = PlaceOf(command.partition_key);
  ReferenceTable& table = tables_[command.table.value][place.lane];
  const storage::PartitionRef partition = {command.partition_key, place.address};
  const WriteContext context = {timestamp, SecondsOf(now_nanos), !command.timestamp.is_none()};
  Reply reply;
  if (IsWrite(command)) {
    if (command.timestamp.is_none()) NoteTimestamp(command.partition_key, timestamp);
    reply.timestamp = timestamp;
  }
  if (const auto* upsert = std::get_if<UpsertCommand>(&command.body)) {
    reply.status = table.Upsert(partition, upsert->rows, context);
  } else if (const auto* rows = std::get_if<DeleteRowsCommand>(&command.body)) {
    reply.status = table.DeleteRows(partition, rows->keys, context, &reply.rows);
  } else if (const auto* range = std::get_if<DeleteRangeCommand>(&command.body)) {
    reply.status = table.DeleteRange(partition, range->range, context, &reply.rows);
  } else if (std::holds_alternative<DeletePartitionCommand>(command.body)) {
    reply.status = table.DeletePartition(partition, context, &reply.rows);
  } else if (const auto* by_value = std::get_if<DeleteByValueCommand>(&command.body)) {
    reply.status =
        table.DeleteRowsByValue(partition, by_value->column, by_value->value, context, &reply.rows);
  } else if (const auto* read = std::get_if<ReadCommand>(&command.body)) {
    LS_CHECK(sink != nullptr, "the rows of a read go somewhere");
    reply.rows = table.Read(partition, *read->spec, context.now_seconds, *sink);
  } else {
    const auto& count = std::get<CountCommand>(command.body);
    reply.rows = table.Count(partition, count.range, context.now_seconds);
  }
  return reply;
}

void ReferenceEngine::TruncateTable(TableId table) {
  for (ReferenceTable& part : tables_[table.value]) part.TruncateAll();
}

void ReferenceEngine::TruncateFirstComponent(TableId table, std::string_view component) {
  for (ReferenceTable& part : tables_[table.value]) part.TruncateFirstComponent(component);
}

// --- Looking at all of it ---

std::vector<std::string> ReferenceEngine::LivePartitions(
    TableId table, std::optional<std::string_view> first_component, uint64_t now_nanos) const {
  std::vector<std::pair<Token, std::string>> partitions;
  for (const ReferenceTable& part : tables_[table.value]) {
    part.ScanPartitions(0, std::nullopt, SecondsOf(now_nanos), [&](uint64_t, std::string_view key) {
      if (!first_component || FirstComponent(key) == *first_component) {
        partitions.emplace_back(TokenOf(key), key);
      }
      return true;
    });
  }
  std::sort(partitions.begin(), partitions.end());
  std::vector<std::string> keys;
  for (auto& [token, key] : partitions) keys.push_back(std::move(key));
  return keys;
}

uint64_t ReferenceEngine::CountAll(TableId table, uint64_t now_nanos) const {
  uint64_t rows = 0;
  for (const ReferenceTable& part : tables_[table.value]) {
    rows += part.CountAll(SecondsOf(now_nanos));
  }
  return rows;
}

std::optional<int64_t> ReferenceEngine::EarliestExpiry(uint64_t now_nanos) const {
  std::optional<int64_t> earliest;
  for (const auto& table : tables_) {
    for (const ReferenceTable& part : table) {
      const std::optional<int64_t> expiry = part.EarliestExpiry(SecondsOf(now_nanos));
      if (expiry && (!earliest || *expiry < *earliest)) earliest = expiry;
    }
  }
  return earliest;
}

}  // namespace liststore::testing
