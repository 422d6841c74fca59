#include "engine/durable/definitions.h"

#include "engine/base/byte_coding.h"

namespace liststore::durable {
namespace {

// Of the definitions alone; the file has a version of its own.
constexpr uint8_t kVersion = 2;
// Had two events, either of which may be empty.
constexpr uint8_t kVersionOfTwoEvents = 1;

}  // namespace

std::string BytesOf(const Definitions& definitions) {
  std::string out;
  Put(out, kVersion);
  Put(out, static_cast<uint32_t>(definitions.changes.size()));
  for (const SchemaChangeRecord& change : definitions.changes) {
    AppendSchemaChange(change, out);
  }
  AppendNumbers(definitions.numbers, out);
  Put(out, static_cast<uint32_t>(definitions.events.size()));
  for (const std::string& event : definitions.events) PutText(out, event);
  Put(out, definitions.last_run);
  Put(out, static_cast<uint32_t>(definitions.old_logs.size()));
  for (const auto& [shard, end] : definitions.old_logs) {
    Put(out, shard);
    Put(out, end);
  }
  return out;
}

std::optional<Definitions> DefinitionsIn(std::string_view bytes) {
  ByteReader input(bytes);
  const auto version = input.Take<uint8_t>();
  if (version != kVersion && version != kVersionOfTwoEvents) return std::nullopt;
  Definitions definitions;
  const uint32_t changes = input.TakeCount(sizeof(uint64_t));
  for (uint32_t i = 0; i < changes; ++i) {
    if (!ReadSchemaChange(input, definitions.changes.emplace_back())) return std::nullopt;
  }
  if (!ReadNumbers(input, definitions.numbers)) return std::nullopt;
  const uint32_t events = version == kVersion ? input.TakeCount(sizeof(uint32_t)) : 2;
  for (uint32_t i = 0; i < events; ++i) {
    const std::string_view event = input.TakeText();
    if (!event.empty()) definitions.events.emplace_back(event);
  }
  definitions.last_run = input.Take<uint32_t>();
  const uint32_t logs = input.TakeCount(sizeof(uint32_t) + sizeof(uint64_t));
  for (uint32_t i = 0; i < logs; ++i) {
    const auto shard = input.Take<uint32_t>();
    definitions.old_logs[shard] = input.Take<uint64_t>();
  }
  if (!input.AtEnd()) return std::nullopt;
  return definitions;
}

}  // namespace liststore::durable
