// The table liststore.memory: what a server holds, for whom, and within which limits; the limit on
// all of it may be changed. Its columns are described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_MEMORY_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_MEMORY_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/virtual_table.h"

namespace liststore::instruments {

struct MemoryUse {
  std::string kind;
  std::string name;
  uint64_t bytes = 0;
  std::optional<uint64_t> limit_bytes = {};
};

// A statement that changes a limit is carried out: the limit of the row `kind`, 'all'. Why it is
// not; nullopt: it is, and `warnings` may say what that means.
using ChangeLimit = std::function<std::optional<std::string>(std::string_view kind, uint64_t bytes,
                                                             std::vector<std::string>& warnings)>;

// The functions are called with each read and write, by any thread. No `change`: nobody may.
std::unique_ptr<cql::VirtualTable> MakeMemoryTable(std::function<std::vector<MemoryUse>()> uses,
                                                   ChangeLimit change);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_MEMORY_TABLE_H_
