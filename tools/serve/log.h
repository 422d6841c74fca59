// Log: what `liststore serve` says on standard error while it runs: lines of text, or of JSON.
#ifndef LISTSTORE_TOOLS_SERVE_LOG_H_
#define LISTSTORE_TOOLS_SERVE_LOG_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"

namespace liststore {

enum class LogLevel : uint8_t {
  kError,
  kWarning,
  kInfo,
  kDebug
};
// "error", "warning", "info" or "debug"; nullopt: none of them.
std::optional<LogLevel> ParseLogLevel(std::string_view name);
std::string_view NameOf(LogLevel level);

enum class LogFormat : uint8_t {
  kText,  // "liststore: TEXT"
  kJson,  // {"time":"2026-11-27T10:02:51.123Z","level":"info","event":"...","message":"TEXT", fields}
};

// Of a line of JSON, beside its message.
struct LogField {
  std::string_view name;
  std::variant<uint64_t, std::string_view> value;
};

// Of a text in a line, at whole characters: the longest that is meant to be said whole has 2 KiB or so.
inline constexpr size_t kLogTextBytesMax = 8192;

// One line. Views are valid during the call alone.
struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  std::string_view event = {};  // what kind of thing it is about, "slow_request"; in JSON
  // Of this, and of each field's text, kLogTextBytesMax are said. What comes of it is one line: what controls a
  // terminal, or the direction of text, becomes blanks, and what is not UTF-8 '?'.
  std::string_view text = {};
  std::span<const LogField> fields = {};
};

// How often something is said that may happen a thousand times a second: once in each period, and the next
// time with how often it was not said in between. Thread-safe: two atomic operations.
class LogPace {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  explicit LogPace(std::chrono::nanoseconds period = std::chrono::seconds(1)) : period_(period) {}

  // nullopt: not now. Else how often it was "not now" since the last time.
  std::optional<uint64_t> Pass(Instant now);

 private:
  const std::chrono::nanoseconds period_;
  std::atomic<Instant::rep> next_ = INT64_MIN;
  std::atomic<uint64_t> left_out_ = 0;
};

// Thread-safe. A line is put together by whoever says it, and written by a thread of the log's own: who
// writes waits for no reader of standard error. Where nobody reads, what does not fit kQueueBytesMax is
// counted, and said when there is a reader again; lines of kDebug may have half of that, so that they push out no
// others. So are lines that the heap refuses, and that were being written to a reader who has gone. A mutex for as
// long as it takes to copy a line. Throws nothing once it is made.
class Log {
 public:
  // Of lines that wait, those that are being written included.
  static constexpr size_t kQueueBytesMax = size_t{1} << 20;

  // Writes to `file`, which stays open; to a pipe or a terminal through a description of its own, which does not
  // block and leaves the one of others as it is. Until Start, and where there is no thread, lines are written by
  // whoever says them.
  Log(LogLevel level, LogFormat format, int file = 2);
  // What was said is written, if somebody reads it within a second.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Once. The thread has all signals blocked.
  void Start();

  bool Writes(LogLevel level) const { return level <= level_.load(std::memory_order_relaxed); }
  void SetLevel(LogLevel level) { level_.store(level, std::memory_order_relaxed); }
  LogLevel level() const { return level_.load(std::memory_order_relaxed); }

  void Write(const LogEntry& entry) noexcept;
  void Write(LogLevel level, std::string_view text) noexcept {
    Write({.level = level, .text = text});
  }
  // Lines for people, each with its end, as they are, behind what was said before.
  void WriteLines(std::string_view lines) noexcept;
  // Lines that were not written, so far.
  uint64_t dropped() const;

 private:
  enum class Written : uint8_t {
    kAll,
    kLost,  // there is no reader: nobody will have the rest
    kEnds,  // nobody reads, and the log is to end
  };

  std::string LineOf(const LogEntry& entry) const;
  // Lines that are whole, into the queue or the file.
  void Put(std::string_view lines, size_t queue_bytes_max);
  void NoteDropped(uint64_t lines);
  void Work();
  Written WriteQueue(std::string_view lines);
  Written SayDropped(uint64_t dropped);
  // Writes in pieces that a pipe takes whole, and takes off `lines` what was written.
  Written WriteOut(std::string_view& lines);
  ssize_t WriteSome(std::string_view bytes) const;

  const LogFormat format_;
  const int file_;
  const bool is_socket_;
  const int own_file_;         // of the same, which does not block; -1: there is none
  const bool has_priorities_;  // the journal of systemd reads them in front of lines
  std::atomic<LogLevel> level_;
  std::thread thread_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::string queue_ ABSL_GUARDED_BY(mutex_);
  size_t writing_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // taken out of it, and not yet written
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point gives_up_at_ ABSL_GUARDED_BY(mutex_) = {};
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t dropped_said_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_LOG_H_
