// SnapshotSchedule: takes snapshots by itself: after a time, and when the log has grown.
#ifndef LISTSTORE_ENGINE_KEEPING_SNAPSHOT_SCHEDULE_H_
#define LISTSTORE_ENGINE_KEEPING_SNAPSHOT_SCHEDULE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "engine/durable/data_run.h"
#include "engine/keeping/keeper.h"

namespace liststore::keeping {

struct ScheduleOptions {
  uint64_t period_seconds = 0;  // 0: none
  // More than this of files of the log since the last one; 0: however many.
  uint64_t log_bytes = 0;
  // A line for each, and for what failed, which is tried again later. By the schedule's thread; may be empty.
  std::function<void(std::string_view line)> say = {};
  std::function<void(std::string_view line)> say_failure = {};  // that none was taken
};

// One line about a snapshot that was taken.
std::string TextOf(const durable::SnapshotResult& result);
// And about one that was not.
std::string FailureText(const absl::Status& failure);

// A thread, where there is something to do. Looks once a second.
class SnapshotSchedule {
 public:
  // `keeper`, which has begun, outlives it.
  SnapshotSchedule(Keeper& keeper, const ScheduleOptions& options)
      : keeper_(keeper), options_(options) {}
  ~SnapshotSchedule() { Stop(); }
  SnapshotSchedule(const SnapshotSchedule&) = delete;
  SnapshotSchedule& operator=(const SnapshotSchedule&) = delete;

  // ResourceExhausted: the system has no thread for it.
  absl::Status Start();
  // Waits for the snapshot that is under way.
  void Stop();

 private:
  void Work();
  bool Wait();  // a second; false: stop
  void Take();

  Keeper& keeper_;
  const ScheduleOptions options_;
  std::thread thread_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t log_bytes_behind_ = 0;  // the thread's: of the log when it was cut last
};

}  // namespace liststore::keeping

#endif  // LISTSTORE_ENGINE_KEEPING_SNAPSHOT_SCHEDULE_H_
