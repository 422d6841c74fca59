// What a snapshot says beside rows: whatever it takes to make the tables again, and events.
#ifndef LISTSTORE_ENGINE_DURABLE_DEFINITIONS_H_
#define LISTSTORE_ENGINE_DURABLE_DEFINITIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/durable/schema_records.h"
#include "engine/model/schema_change_record.h"

namespace liststore::durable {

struct Definitions {
  std::vector<SchemaChangeRecord> changes;  // that made the schema
  std::vector<NumberedTable> numbers;       // of all tables, as the logs have them
  // As the log has them, in their order; what they come to is what all that were before come to.
  std::vector<std::string> events;
  uint32_t last_run = 0;  // that wrote to a log; 0: none has
  // Of logs in the directory that nobody wrote any more, of shards that were: where they end.
  std::map<uint32_t, uint64_t> old_logs;
};

std::string BytesOf(const Definitions& definitions);
// nullopt: no encoder wrote this.
std::optional<Definitions> DefinitionsIn(std::string_view bytes);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_DEFINITIONS_H_
