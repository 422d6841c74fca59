// ListKeeper: what a ListStore has of its data directory (Options::data_dir): the store's tables in it, the
// logs, the clock, and what a write waits for.
#ifndef LISTSTORE_ENGINE_LISTS_LIST_KEEPER_H_
#define LISTSTORE_ENGINE_LISTS_LIST_KEEPER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/disk/file_calls.h"
#include "engine/durable/clock_record.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/data_run.h"
#include "engine/durable/recovery.h"
#include "engine/model/schema_change_record.h"
#include "engine/shard/engine.h"
#include "liststore/options.h"

namespace liststore {

// Thread-safe once it has begun. Outlives the engine's use of it.
class ListKeeper {
 public:
  // What the lists are. A byte of the log.
  enum class Holding : uint8_t {
    kAll = 0,            // all there is
    kAllButEvicted = 1,  // the same, of which some may have been evicted
    kCopies = 2,         // copies from another store
  };
  static Holding HoldingOf(const Options& options);

  // list_items, list_features: as the engine's catalog has them.
  using Tables = std::array<NumberedTable, 2>;

  // Takes the directory, and puts what it has into the tables. `calls` and `log_clock`, by which the disk is
  // tried again, outlive it. `options` are resolved.
  // Unavailable: somebody else has it. FailedPrecondition: it has what no store of this keyspace has; the
  // message names it. Others are those of durable::Recover.
  static absl::StatusOr<std::unique_ptr<ListKeeper>> Open(disk::FileCalls& calls,
                                                          const Clock& log_clock,
                                                          const Options& options,
                                                          shard::Engine& engine,
                                                          const Tables& tables);
  ~ListKeeper();
  ListKeeper(const ListKeeper&) = delete;
  ListKeeper& operator=(const ListKeeper&) = delete;

  // From now on everything is kept. Before there are other threads. Errors are the disk's.
  absl::Status Begin();
  // The same of a directory that was empty, where the tables have something already. Either all of it is in the
  // directory, in a snapshot that comes before any log, or the directory stays as empty as it was, also where
  // the process ends on the way; after an error, as far as the disk lets files be removed.
  absl::Status BeginWithContent(bool past_unknown);

  // The directory had nothing, not even a store without lists.
  bool was_empty() const { return was_empty_; }
  // Lists may be missing that were there once: evicted before, or not in the file that was loaded. What is begun
  // is partial then. Kept with the directory for good.
  bool past_unknown() const { return past_unknown_; }
  bool has_log() const { return run_.logs() != nullptr; }

  // What was written to this shard before, or to all, is kept as the mode promises. Unknown: it is done, and
  // the disk did not take it so far.
  absl::Status Keep(std::string_view partition_key);
  absl::Status KeepAll();
  // All of it is synchronised, in every mode but off.
  absl::Status Sync();
  // After a refusal: tries the disk again where that is due. True: writes are accepted.
  bool MendLogs();
  // What is due where no thread does it.
  void Tick();

  // The manual clock, where there is one, is put down as it stands, if it has been moved. False: a log refuses.
  bool NoteClock();
  absl::Status MoveClock(uint64_t now_nanos);

  // Deletions of lists, which a snapshot without a log could not tell from what it has copied.
  template <typename Work>
  absl::Status WithoutSnapshot(const Work& work) {
    if (has_log()) return work();
    const MutexLock lock(snapshot_mutex_);
    return work();
  }
  absl::StatusOr<durable::SnapshotResult> TakeSnapshot();
  uint64_t log_bytes() const { return run_.log_bytes(); }

 private:
  // What the log has beside rows, as it was found.
  struct Found {
    durable::Recovered directory;
    std::optional<durable::ClockState> clock;
    Holding holding = Holding::kAll;
    bool past_unknown = false;
    std::vector<std::string> other_events;  // of a server: its roles
  };
  class Sink;

  ListKeeper(durable::DataDirectory directory, Found found, const Clock& log_clock,
             const Options& options, shard::Engine& engine, const Tables& tables);
  durable::ClockState ClockNow() const;
  absl::Status WriteMissingChanges();
  durable::SnapshotContent Content();
  absl::StatusOr<durable::SnapshotResult> TakeSnapshotNow();

  ManualClock* const manual_clock_;  // nullptr: there is none
  const Clock& clock_;
  const std::string keyspace_;
  shard::Engine& engine_;
  const Tables tables_;
  const bool was_empty_;
  const Holding found_holding_;
  const bool found_past_unknown_;
  const Holding holding_;
  bool past_unknown_ = false;  // constant behind Begin
  bool has_snapshot_ = false;  // of what it begins with
  const std::optional<durable::ClockState> found_clock_;
  const std::vector<std::string> other_events_;
  durable::SchemaHistory history_;  // constant behind Begin
  durable::DataRun run_;
  Mutex snapshot_mutex_;
  Mutex clock_mutex_;  // moves are written down in their order
  std::optional<uint64_t> noted_nanos_ ABSL_GUARDED_BY(clock_mutex_);
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_LIST_KEEPER_H_
