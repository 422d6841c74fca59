// Keeper: sees to it that what a server has said yes to is there again when it starts the next time.
#ifndef LISTSTORE_ENGINE_KEEPING_KEEPER_H_
#define LISTSTORE_ENGINE_KEEPING_KEEPER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/durable/clock_record.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/data_run.h"
#include "engine/durable/full_snapshot.h"
#include "engine/durable/log_set.h"
#include "engine/durable/schema_records.h"
#include "engine/execute/schema_journal.h"
#include "engine/keeping/recovery.h"
#include "engine/roles/role_store.h"
#include "engine/shard/baseline_journal.h"
#include "engine/shard/engine.h"

namespace liststore::keeping {

// Made before a server has clients; outlives what writes to the engine. Thread-safe, but for Begin and
// Close.
class Keeper final : public execute::SchemaJournal,
                     public roles::RoleJournal,
                     public shard::BaselineJournal {
 public:
  // `recovered`: of the directory, which the engine now has. The engine and the roles outlive the keeper's
  // use, not the keeper.
  Keeper(durable::DataDirectory directory, Recovered recovered,
         const durable::DataRunOptions& options);
  ~Keeper() override;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // What was recovered of it; nullptr: nothing.
  const roles::RoleState* recovered_roles() const {
    return recovered_.events.has_roles ? &recovered_.events.roles : nullptr;
  }
  const std::optional<durable::ClockState>& recovered_clock() const {
    return recovered_.events.clock;
  }

  // Opens the logs and writes down with what this run begins. From now on everything is kept: before the
  // first client. Errors are the disk's.
  // `clock`: says what the clock is, from any thread.
  absl::Status Begin(shard::Engine& engine, roles::RoleStore& roles,
                     std::function<durable::ClockState()> clock);

  // nullptr: there is none.
  durable::LogSet* logs() const { return run_.logs(); }
  const durable::DataDirectory& directory() const { return run_.directory(); }

  // Before the clock is moved: why it cannot be; nullopt: it can. Behind it: that it was.
  std::optional<std::string> ClockRefusal() const;
  void NoteClock();

  // Writes everything to a new snapshot while others write; changes of the schema wait. Then the one of
  // before goes, and what the logs have from before it. One at a time; others wait. Errors are the
  // disk's, and what was there stays.
  absl::StatusOr<durable::SnapshotResult> TakeSnapshot();
  // The last one of this run.
  durable::SnapshotResult last_snapshot() const { return run_.last_snapshot(); }
  // What the logs have on the disk, in bytes of their files.
  uint64_t log_bytes() const { return run_.log_bytes(); }
  // What the logs keep in memory until it is written or synchronised.
  uint64_t buffered_bytes() const { return run_.buffered_bytes(); }

  // Marks and returns of the data: with them goes the schema that snapshots have, and, where there is a log, what it
  // has of roles and of the clock: a return resets the roles as well.
  OpStatus Mark(Act mark) override;
  OpStatus Return(std::vector<NumberedTable> tables, Act go_back) override;
  std::string Refusal() const override;
  void Forget() override;

  cql::CqlStatus Reserve(size_t bytes) override;
  void Unreserve(size_t bytes) override;
  void Note(const SchemaChangeRecord& record, size_t reserved) override;
  bool Note(const roles::RoleState& before, const roles::RoleState& after) override;

  // Everything is synchronised, and nothing is kept any more. Behind the last client.
  absl::Status Close();

 private:
  absl::Status WriteStart();
  durable::SnapshotContent Content();
  // What events have come to, the clock's last.
  std::vector<std::string> AllEvents(const roles::RoleState& roles) const;
  OpStatus WriteReturn(const roles::RoleState& roles, std::vector<NumberedTable> tables,
                       Act go_back);
  OpStatus NotKept(const absl::Status& refusal);

  const Recovered recovered_;
  durable::DataRun run_;
  shard::Engine* engine_ = nullptr;  // set by Begin, as the others
  roles::RoleStore* roles_ = nullptr;
  std::function<durable::ClockState()> clock_;
  Mutex clock_mutex_;  // moves are written down in their order
  mutable Mutex mutex_;
  durable::SchemaHistory history_ ABSL_GUARDED_BY(mutex_);
  // At the mark; nothing without one.
  durable::SchemaHistory marked_history_ ABSL_GUARDED_BY(mutex_);
  uint64_t mark_ ABSL_GUARDED_BY(mutex_) = 0;  // its step in the logs
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::keeping

#endif  // LISTSTORE_ENGINE_KEEPING_KEEPER_H_
