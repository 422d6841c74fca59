// Keeper: sees to it that what a server has said yes to is there again when it starts the next time.
#ifndef LISTSTORE_ENGINE_DURABLE_KEEPER_H_
#define LISTSTORE_ENGINE_DURABLE_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/shard_log.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/full_snapshot.h"
#include "engine/durable/log_set.h"
#include "engine/durable/recovery.h"
#include "engine/execute/schema_journal.h"
#include "engine/roles/role_store.h"
#include "engine/shard/engine.h"

namespace liststore::durable {

// A log whose buffer is smaller does not work.
inline constexpr size_t kLogBufferBytesMin = 2 * commitlog::kChunkBytesMin;

// How a snapshot came out.
struct SnapshotResult {
  uint64_t number = 0;  // 0: there is none yet
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t taken_at_nanos = 0;  // by the machine's clock
  double seconds = 0;           // that it took
};

struct KeeperOptions {
  // nullopt: there is no log; what is not in a snapshot goes with the process.
  std::optional<commitlog::LogMode> log;
  uint64_t period_nanos = 10'000'000;  // of LogMode::kPeriodic
  size_t segment_bytes = size_t{32} << 20;
  // What one log may keep in memory; at least kLogBufferBytesMin.
  size_t buffer_bytes = size_t{64} << 20;
  uint32_t loops = 1;
  // Lines for who runs the server: that writes are refused, and that they are accepted again. Any thread;
  // may be empty.
  std::function<void(std::string_view line)> say_failure = {};
  std::function<void(std::string_view line)> say = {};
};

// Made before a server has clients; outlives what writes to the engine. Thread-safe, but for Begin and
// Close.
class Keeper final : public execute::SchemaJournal, public roles::RoleJournal {
 public:
  // `recovered`: of the directory, which the engine now has. The engine and the roles outlive the keeper's
  // use, not the keeper.
  Keeper(DataDirectory directory, Recovered recovered, const KeeperOptions& options);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // What was recovered of it; nullptr: nothing.
  const roles::RoleState* recovered_roles() const {
    return recovered_.events.has_roles ? &recovered_.events.roles : nullptr;
  }
  const std::optional<ClockState>& recovered_clock() const { return recovered_.events.clock; }

  // Opens the logs and writes down with what this run begins. From now on everything is kept: before the
  // first client. Errors are the disk's.
  // `clock`: says what the clock is, from any thread.
  absl::Status Begin(shard::Engine& engine, roles::RoleStore& roles,
                     std::function<ClockState()> clock);

  // nullptr: there is none.
  LogSet* logs() { return logs_.get(); }
  const DataDirectory& directory() const { return directory_; }

  // Before the clock is moved: why it cannot be; nullopt: it can. Behind it: that it was.
  std::optional<std::string> ClockRefusal() const;
  void NoteClock();

  // Writes everything to a new snapshot while others write; changes of the schema wait. Then the one of
  // before goes, and what the logs have from before it. One at a time; others wait. Errors are the
  // disk's, and what was there stays.
  absl::StatusOr<SnapshotResult> TakeSnapshot();
  // The last one of this run.
  SnapshotResult last_snapshot() const;
  // What the logs have on the disk, in bytes of their files.
  uint64_t log_bytes() const;
  // What the logs keep in memory until it is written or synchronised.
  uint64_t buffered_bytes() const;

  // Marks and resets of the data, which go without a log: the schema is that of the mark again, or, without
  // a mark, there is none. Behind the change itself.
  void MarkSchema();
  void ForgetMark();
  void ResetSchema();

  cql::CqlStatus Reserve(size_t bytes) override;
  void Unreserve(size_t bytes) override;
  void Note(const execute::SchemaChangeRecord& record, size_t reserved) override;
  bool Note(const roles::RoleState& before, const roles::RoleState& after) override;

  // Everything is synchronised, and nothing is kept any more. Behind the last client.
  absl::Status Close();

 private:
  absl::Status SyncOldLogs();
  absl::Status WriteStart();
  absl::StatusOr<SnapshotResult> WriteSnapshotNow();  // under snapshot_mutex_
  SnapshotContent Content();
  void DropOldLogs();
  void SayRefusal(const absl::Status& refusal) const;

  const KeeperOptions options_;
  DataDirectory directory_;
  const Recovered recovered_;
  shard::Engine* engine_ = nullptr;  // set by Begin, as the others
  roles::RoleStore* roles_ = nullptr;
  std::function<ClockState()> clock_;
  std::unique_ptr<LogSet> logs_;
  // Logs that nobody writes in this run.
  std::map<uint32_t, uint64_t> old_logs_;
  Mutex snapshot_mutex_;    // one at a time
  uint64_t next_snapshot_;  // under it
  Mutex clock_mutex_;       // moves are written down in their order
  mutable Mutex mutex_;
  SchemaHistory history_ ABSL_GUARDED_BY(mutex_);
  SchemaHistory mark_ ABSL_GUARDED_BY(mutex_);  // nothing without a mark
  SnapshotResult last_snapshot_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_KEEPER_H_
