// DataRun: one process's time with a data directory: the logs that it writes, and the snapshots that make
// older ones go.
#ifndef LISTSTORE_ENGINE_DURABLE_DATA_RUN_H_
#define LISTSTORE_ENGINE_DURABLE_DATA_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/commitlog/shard_log.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/definitions.h"
#include "engine/durable/full_snapshot.h"
#include "engine/durable/log_set.h"
#include "engine/durable/recovery.h"
#include "engine/model/schema_change_record.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"
#include "liststore/options.h"

namespace liststore::durable {

// A log whose buffer is smaller does not work.
inline constexpr size_t kLogBufferBytesMin = 2 * commitlog::kChunkBytesMin;

// How a snapshot came out.
struct SnapshotResult {
  uint64_t number = 0;  // 0: there is none yet
  uint64_t partitions = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t taken_at_nanos = 0;  // by the machine's clock
  double seconds = 0;           // that it took
};

// nullopt: there is no log.
std::optional<commitlog::LogMode> LogModeOf(CommitLog commit_log);

struct DataRunOptions {
  // nullopt: there is no log; what is not in a snapshot goes with the process.
  std::optional<commitlog::LogMode> log;
  uint64_t period_nanos = 10'000'000;  // of LogMode::kPeriodic
  size_t segment_bytes = size_t{32} << 20;
  // What one log may keep in memory; at least kLogBufferBytesMin.
  size_t buffer_bytes = size_t{64} << 20;
  SnapshotCompression compression = SnapshotCompression::kNone;
  uint32_t loops = 0;                             // that wait at the logs' gate
  bool threads = true;                            // one for each log; see ShardLogOptions::thread
  const Clock* clock = &SystemClock::Instance();  // of the logs; see ShardLogOptions::clock
  // Lines: that writes are refused, and that they are accepted again. Any thread; may be empty.
  std::function<void(std::string_view line)> say_failure = {};
  std::function<void(std::string_view line)> say = {};
};

// Thread-safe, but for Begin and Close. Outlives what writes to the engine.
class DataRun {
 public:
  // `recovered`: of the directory, which the engine now has.
  DataRun(DataDirectory directory, const Recovered& recovered, const DataRunOptions& options);
  ~DataRun();
  DataRun(const DataRun&) = delete;
  DataRun& operator=(const DataRun&) = delete;

  // What was recovered is believed from now on: it is synchronised. Opens the logs, and the engine writes to
  // them. Errors are the disk's.
  absl::Status Begin(shard::Engine& engine);
  // Writes down which numbers tables have. Before anybody writes to them.
  absl::Status WriteStart(shard::Engine& engine, std::span<const NumberedTable> tables);

  // nullptr: there is none.
  LogSet* logs() const { return logs_.get(); }
  const DataDirectory& directory() const { return directory_; }
  // What a snapshot says that this knows.
  Definitions NewDefinitions() const;

  // Writes everything to a new snapshot while others write. Then the one of before goes, and what the logs
  // have from before it. One at a time; others wait. No table may come, go or be rebuilt meanwhile. Errors are
  // the disk's, and what was there stays.
  absl::StatusOr<SnapshotResult> TakeSnapshot(shard::Engine& engine, uint64_t now_nanos,
                                              absl::FunctionRef<SnapshotContent()> content);
  // --- Marks of the data, in the logs. Not while a snapshot is taken, but for ForgetMark.
  // While there is a mark, the snapshot that a return to it begins from stays, and so do the logs behind it.
  // Before a mark is written down. Errors are the disk's.
  absl::Status PrepareMark();
  void NoteMark();
  void ForgetMark();
  // The data went back to the mark.
  void NoteReturn();
  // Of the mark: ReturnRecord::base_snapshot.
  uint64_t base_snapshot() const;

  // The last one of this run.
  SnapshotResult last_snapshot() const;
  // What the logs have on the disk, in bytes of their files.
  uint64_t log_bytes() const;
  // What the logs keep in memory until it is written or synchronised.
  uint64_t buffered_bytes() const;

  // Of a run whose directory was empty, and that nobody uses any more: removes what it has written, as far as
  // the disk lets it. A snapshot goes last: without it, logs would pass for all there was.
  void Undo();
  // Everything is synchronised, and nothing is kept any more. Behind the last who writes.
  absl::Status Close();

 private:
  absl::Status SyncOldLogs();
  void DropOldLogs();
  void SayRefusal(const absl::Status& refusal) const;

  const DataRunOptions options_;
  DataDirectory directory_;
  const uint32_t run_;
  const std::map<uint32_t, uint64_t> log_ends_;
  // Logs that nobody writes in this run.
  std::map<uint32_t, uint64_t> old_logs_;
  std::unique_ptr<LogSet> logs_;
  Mutex snapshot_mutex_;    // one at a time
  uint64_t next_snapshot_;  // under it
  bool is_marked_;          // so is the directory; by who writes marks or snapshots
  mutable Mutex mutex_;
  SnapshotResult last_snapshot_ ABSL_GUARDED_BY(mutex_);
  uint64_t newest_snapshot_ ABSL_GUARDED_BY(mutex_);  // that has nothing of what was undone
  std::optional<uint64_t> base_snapshot_ ABSL_GUARDED_BY(mutex_);  // nullopt: there is no mark
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_DATA_RUN_H_
