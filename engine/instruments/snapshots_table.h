// The table liststore.snapshots: where a server keeps what it has, and how its last snapshot came out; one
// may be asked for. Its columns are described in docs/durability.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_SNAPSHOTS_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_SNAPSHOTS_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/cql/schema/virtual_table.h"

namespace liststore::instruments {

struct SnapshotState {
  std::string directory;
  std::string commit_log;  // "off", "os", "periodic" or "sync"
  uint64_t log_bytes = 0;
  uint64_t last_number = 0;  // 0: none in this run
  uint64_t last_rows = 0;
  uint64_t last_bytes = 0;
  uint64_t last_nanos = 0;  // when it was taken
};

struct SnapshotCalls {
  std::function<SnapshotState()> state;
  // Takes one; why there is none; nullopt: there is.
  std::function<std::optional<std::string>()> take;
};

// The functions are called with each read and write, by any thread. Without functions the table has no
// rows, and refuses.
std::unique_ptr<cql::VirtualTable> MakeSnapshotsTable(SnapshotCalls calls);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_SNAPSHOTS_TABLE_H_
