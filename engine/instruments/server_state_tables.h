// The tables liststore.memory and liststore.counters: what a server holds, and for whom; what it
// has done to clients that asked for too much. Their columns are described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_SERVER_STATE_TABLES_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_SERVER_STATE_TABLES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/schema/virtual_table.h"

namespace liststore::instruments {

struct MemoryUse {
  std::string kind;
  std::string name;
  uint64_t bytes = 0;
  std::optional<uint64_t> limit_bytes = {};
};

struct Counter {
  std::string name;
  uint64_t value = 0;
};

// The functions are called with each read, by any thread.
std::unique_ptr<cql::VirtualTable> MakeMemoryTable(std::function<std::vector<MemoryUse>()> uses);
std::unique_ptr<cql::VirtualTable> MakeCountersTable(
    std::function<std::vector<Counter>()> counters);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_SERVER_STATE_TABLES_H_
