// ServerKeeping: what a server keeps on the disk, from what is there when it starts to the snapshot at
// its end.
#ifndef LISTSTORE_ENGINE_SERVE_SERVER_KEEPING_H_
#define LISTSTORE_ENGINE_SERVE_SERVER_KEEPING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/durable/clock_record.h"
#include "engine/durable/data_run.h"
#include "engine/instruments/snapshots_table.h"
#include "engine/keeping/keeper.h"
#include "engine/keeping/snapshot_schedule.h"
#include "engine/roles/role_store.h"
#include "engine/serve/log_gate.h"
#include "engine/shard/engine.h"
#include "liststore/cql_server.h"
#include "liststore/server_clock.h"

namespace liststore {

// Made before the engine, which is destroyed between Stop and this. Recover, Begin, TakeOver and
// StartSchedule are called in this order by whoever starts the server, Stop by whoever ends it; the rest
// by any thread once it has begun. Without a data directory nothing is kept, and there is no keeper.
class ServerKeeping {
 public:
  // `log_bytes`: what all commit logs may keep in memory.
  ServerKeeping(const CqlServerOptions& options, uint64_t log_bytes);
  ServerKeeping(const ServerKeeping&) = delete;
  ServerKeeping& operator=(const ServerKeeping&) = delete;

  // Fills the engine, and sets the clock, which outlives this, by what the directory or the snapshot to
  // begin with has. `goes_on_behind_damage`: by what is behind damage as well. Gives the dialect in which
  // the schema was made there; FailedPrecondition: it is not the one that is `asked` for. nullopt:
  // nothing is kept, and there is nothing to begin with.
  absl::StatusOr<std::optional<cql::Dialect>> Recover(const CqlServerOptions& options,
                                                      const std::optional<cql::Dialect>& asked,
                                                      shard::Engine& engine, ServerClock& clock,
                                                      bool goes_on_behind_damage);
  // What was recovered of them; nullptr: nothing.
  const roles::RoleState* recovered_roles() const {
    return keeper_ == nullptr ? nullptr : keeper_->recovered_roles();
  }
  // From now on everything is kept: before the first client.
  absl::Status Begin(shard::Engine& engine, roles::RoleStore& roles);
  // The log does not have what a snapshot elsewhere has brought: it is taken again, here.
  absl::Status TakeOver();
  // From now on snapshots are taken when it is time, and at the end where that was asked for.
  absl::Status StartSchedule();

  // nullptr: nothing is kept.
  keeping::Keeper* keeper() const { return keeper_.get(); }
  // By which answers leave. nullptr: there are no logs.
  LogGate* gate() { return gate_ ? &*gate_ : nullptr; }
  uint64_t buffered_bytes() const { return keeper_ == nullptr ? 0 : keeper_->buffered_bytes(); }
  // For liststore.snapshots; without functions where nothing is kept. Valid as long as this.
  instruments::SnapshotCalls SnapshotCalls();

  // FailedPrecondition: nothing is kept, or it has stopped. Says how it came out.
  absl::Status TakeSnapshot();
  // When nobody writes any more: the last snapshot, if it was asked for, and the end of the logs. Waits for a
  // snapshot that is under way.
  // Again: nothing.
  void Stop();
  // What became of that.
  absl::Status stop_status();

 private:
  void SayOf(const absl::StatusOr<durable::SnapshotResult>& taken) const;

  const std::function<void(std::string_view)> say_;
  const std::function<void(std::string_view)> say_failure_;
  const bool takes_snapshot_at_end_;
  const std::string_view commit_log_;  // its mode
  const durable::DataRunOptions run_options_;
  const keeping::ScheduleOptions schedule_options_;
  const std::string from_snapshot_;  // empty: none
  ServerClock* clock_ = nullptr;     // once something was recovered
  std::unique_ptr<keeping::Keeper> keeper_;
  std::optional<LogGate> gate_;
  std::optional<keeping::SnapshotSchedule> schedule_;
  bool has_started_ = false;
  std::atomic<bool> has_closed_ = false;
  Mutex taking_;  // held while somebody takes a snapshot, and while all is closed
  Mutex mutex_;
  absl::Status stop_status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_SERVER_KEEPING_H_
