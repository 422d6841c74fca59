// ServerMemory: what of a server's memory is held, who changes its limit, and who is told when it runs
// short.
#ifndef LISTSTORE_ENGINE_SERVE_SERVER_MEMORY_H_
#define LISTSTORE_ENGINE_SERVE_SERVER_MEMORY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/instruments/hot_partitions.h"
#include "engine/instruments/journal.h"
#include "engine/instruments/memory_table.h"
#include "engine/network/client_budget.h"
#include "engine/serve/handler_factory.h"
#include "engine/serve/memory_shares.h"
#include "engine/serve/memory_watch.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"
#include "liststore/cql_server.h"

namespace liststore {

// Thread-safe. A change of the limit may take long, with no lane held between its steps; the rest is
// a few loads.
class ServerMemory {
 public:
  // What shares the memory. Everything outlives it.
  struct Parts {
    shard::Engine& engine;
    const Clock& clock;
    network::ClientBudget& connections;
    StatementHandler& statements;
    instruments::Journal& journal;
    const instruments::HotPartitions& hot_partitions;
    // What commit logs keep in memory. Empty: there are none.
    std::function<uint64_t()> log_bytes;
  };
  // `log_limit_bytes`: what commit logs may keep, for good.
  ServerMemory(const CqlServerOptions& options, const Parts& parts, uint64_t log_limit_bytes);
  ServerMemory(const ServerMemory&) = delete;
  ServerMemory& operator=(const ServerMemory&) = delete;

  // For liststore.memory: what is held.
  std::vector<instruments::MemoryUse> Uses() const;
  // As instruments::ChangeLimit. Bounds of a single request stay those of the start.
  std::optional<std::string> ChangeLimit(std::string_view kind, uint64_t bytes,
                                         std::vector<std::string>& warnings);
  // As CqlServer::NoteResidentBytes.
  bool NoteResident(uint64_t resident_bytes);
  // Looks whether there is something to say. Any loop, now and then, with no lane held.
  void Tick();

 private:
  // What large requests take comes and goes, and has its share.
  static constexpr size_t kLooks = 4;
  // Rows' limit follows by so much.
  static constexpr uint64_t kStepBytes = uint64_t{256} << 10;

  // What is counted of what the process has.
  uint64_t CountedBytes() const;
  CqlMemoryNotice Notice(CqlMemoryNotice::Kind kind) const;
  // Another limit is shared out. InvalidArgument: it cannot be.
  absl::StatusOr<CqlMemoryShares> SharesOf(std::string_view kind, uint64_t bytes) const;

  const Parts parts_;
  const uint64_t log_limit_bytes_;
  const std::function<absl::StatusOr<CqlMemoryShares>(uint64_t)> divide_;
  const std::function<void(const CqlMemoryNotice&)> tell_;
  std::atomic<uint64_t> process_limit_bytes_;  // 0: there is none
  // What the process has beside what is counted, at least, in the last looks.
  std::atomic<uint64_t> program_bytes_ = 0;
  std::atomic<uint64_t> program_limit_bytes_ = 0;  // what rows and clients leave of the process's
  // Held by a change until it is told, so that nobody is told of a limit's effects before its change.
  Mutex mutex_;
  MemoryWatch watch_ ABSL_GUARDED_BY(mutex_);
  uint64_t rows_share_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of which rows have all, or less
  uint64_t limit_set_ ABSL_GUARDED_BY(mutex_) = 0;         // of the engine, by this
  std::array<uint64_t, kLooks> looks_ ABSL_GUARDED_BY(mutex_) = {};  // program_bytes_ of each
  size_t next_look_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_SERVER_MEMORY_H_
