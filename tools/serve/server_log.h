// ServerLog: what a server tells its program, as lines of the program's log.
#ifndef LISTSTORE_TOOLS_SERVE_SERVER_LOG_H_
#define LISTSTORE_TOOLS_SERVE_SERVER_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "liststore/cql_server.h"
#include "liststore/server_notices.h"
#include "tools/serve/log.h"

namespace liststore {

// What clients bring about is said once a second for each kind of thing, and how often it was in between;
// evictions, of which a cache has some all the time, once a minute; of LogLevel::kDebug each connection and each change
// of the schema. Outlives the server. Thread-safe, but for
// LookAt.
class ServerLog {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  // `log` outlives it. `now`: by which what comes often is said now and then; thread-safe.
  explicit ServerLog(Log& log, std::function<Instant()> now = std::chrono::steady_clock::now)
      : log_(log), now_(std::move(now)) {}

  // From now on a server of these options says all that it has to say here.
  void TakeNotices(CqlServerOptions& options);
  // Says what was refused, shed or evicted since the last time: to be called once a second. One thread.
  void LookAt(std::span<const CqlCounter> counters, Instant now);

 private:
  struct Watched {
    uint64_t value = 0;  // that was said, or was there at first
    Instant next = Instant::min();
  };

  void SayNotice(const CqlNotice& notice);
  void SayMemory(const CqlMemoryNotice& notice);
  void SaySlowRequest(const CqlSlowRequest& slow);
  void SayConnection(const CqlConnectionNotice& connection);
  void SaySchemaChange(const CqlSchemaNotice& change);
  void SayFailure(std::string_view line);

  Log& log_;
  const std::function<Instant()> now_;
  LogPace slow_requests_;
  Mutex mutex_;
  std::map<std::string, LogPace, std::less<>> failures_
      ABSL_GUARDED_BY(mutex_);  // by what they are about
  std::map<std::string, Watched, std::less<>> watched_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SERVER_LOG_H_
