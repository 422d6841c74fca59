#include "engine/keeping/snapshot_schedule.h"

#include <chrono>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/base/worker_thread.h"

namespace liststore::keeping {

std::string TextOf(const durable::SnapshotResult& result) {
  return absl::StrFormat("snapshot %d: %d rows, %d bytes, in %.2f s", result.number, result.rows,
                         result.bytes, result.seconds);
}

std::string FailureText(const absl::Status& failure) {
  return absl::StrCat("no snapshot was taken: ", failure.message());
}

absl::Status SnapshotSchedule::Start() {
  const bool by_log = options_.log_bytes != 0 && keeper_.logs() != nullptr;
  if (options_.period_seconds == 0 && !by_log) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(thread_, StartThread("snapshots", [this] { Work(); }));
  return absl::OkStatus();
}

void SnapshotSchedule::Stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool SnapshotSchedule::Wait() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  MutexLock lock(mutex_);
  while (!stops_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  return !stops_;
}

void SnapshotSchedule::Work() {
  auto last = std::chrono::steady_clock::now();
  while (Wait()) {
    const auto now = std::chrono::steady_clock::now();
    const bool by_time =
        options_.period_seconds != 0 && now - last >= std::chrono::seconds(options_.period_seconds);
    const bool by_log =
        options_.log_bytes != 0 && keeper_.log_bytes() > log_bytes_behind_ + options_.log_bytes;
    if (!by_time && !by_log) continue;
    Take();
    last = std::chrono::steady_clock::now();
    log_bytes_behind_ = keeper_.log_bytes();
  }
}

void SnapshotSchedule::Take() {
  absl::StatusOr<durable::SnapshotResult> result =
      absl::ResourceExhaustedError("the heap has no room");
  try {
    result = keeper_.TakeSnapshot();
  } catch (const std::bad_alloc&) {
  }
  if (!result.ok()) {
    if (options_.say_failure) options_.say_failure(FailureText(result.status()));
  } else if (options_.say) {
    options_.say(TextOf(*result));
  }
}

}  // namespace liststore::keeping
