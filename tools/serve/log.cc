#include "tools/serve/log.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/strings.h"
#include "engine/base/worker_thread.h"
#include "programs/console/json_line.h"

namespace liststore {
namespace {

constexpr std::pair<std::string_view, LogLevel> kLevels[] = {{"error", LogLevel::kError},
                                                             {"warning", LogLevel::kWarning},
                                                             {"info", LogLevel::kInfo},
                                                             {"debug", LogLevel::kDebug}};

// Until a look at whether the log ends, where nobody reads.
constexpr int kPollMillis = 100;
// What a log that ends has to be written.
constexpr std::chrono::seconds kEndTime(1);

// Statements have lines of their own; what is said of them has one.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

// "2026-11-27T10:02:51.123Z", by the machine's clock whatever the server's is.
std::string TimeText() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                         parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                         now.tv_nsec / 1'000'000);
}

// systemd says in the environment which file is its journal.
bool IsJournal(int file) {
  const char* const named = std::getenv("JOURNAL_STREAM");
  struct stat facts {};
  if (named == nullptr || fstat(file, &facts) != 0) return false;
  return absl::StrCat(facts.st_dev, ":", facts.st_ino) == named;
}

// Source: sd-daemon(3).
int PriorityOf(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return 3;
    case LogLevel::kWarning:
      return 4;
    case LogLevel::kInfo:
      return 6;
    case LogLevel::kDebug:
      break;
  }
  return 7;
}

}  // namespace

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  const auto at = std::ranges::find(kLevels, name, [](const auto& level) { return level.first; });
  if (at == std::end(kLevels)) return std::nullopt;
  return at->second;
}

std::string_view NameOf(LogLevel level) {
  return std::ranges::find(kLevels, level, [](const auto& each) { return each.second; })->first;
}

std::optional<uint64_t> LogPace::Pass(Instant now) {
  const Instant::rep at = now.time_since_epoch().count();
  Instant::rep next = next_.load(std::memory_order_relaxed);
  const Instant::rep later = (now + period_).time_since_epoch().count();
  if (at >= next && next_.compare_exchange_strong(next, later, std::memory_order_relaxed)) {
    return left_out_.exchange(0, std::memory_order_relaxed);
  }
  left_out_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

Log::Log(LogLevel level, LogFormat format, int file)
    : format_(format), file_(file), has_priorities_(IsJournal(file)), level_(level) {}

Log::~Log() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
    gives_up_at_ = std::chrono::steady_clock::now() + kEndTime;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Log::Start() {
  // Where there is no thread, lines go on to be written by whoever says them.
  absl::StatusOr<std::thread> thread = StartThread("liststore-log", [this] { Work(); });
  if (!thread.ok()) return;
  thread_ = *std::move(thread);
  const MutexLock lock(mutex_);
  has_thread_ = true;
}

std::string Log::LineOf(const LogEntry& entry) const {
  std::string line;
  if (has_priorities_) line = absl::StrCat("<", PriorityOf(entry.level), ">");
  const std::string text = OneLine(entry.text);
  if (format_ == LogFormat::kText) {
    absl::StrAppend(&line, "liststore: ", text, "\n");
    return line;
  }
  JsonLine json;
  json.Text("time", TimeText());
  json.Text("level", NameOf(entry.level));
  json.Text("event", entry.event.empty() ? "message" : entry.event);
  json.Text("message", text);
  for (const LogField& field : entry.fields) {
    if (const auto* number = std::get_if<uint64_t>(&field.value)) {
      json.Count(field.name, *number);
    } else {
      json.Text(field.name, OneLine(std::get<std::string_view>(field.value)));
    }
  }
  absl::StrAppend(&line, json.Finish(), "\n");
  return line;
}

void Log::Write(const LogEntry& entry) {
  if (!Writes(entry.level)) return;
  const std::string line = LineOf(entry);
  const MutexLock lock(mutex_);
  if (!has_thread_) {
    // In one piece, as far as the file takes it.
    if (write(file_, line.data(), line.size()) < 0) ++dropped_;
    return;
  }
  if (queue_.size() + line.size() > kQueueBytesMax) {
    ++dropped_;
    return;
  }
  queue_ += line;
  changed_.notify_one();
}

uint64_t Log::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

void Log::Work() {
  while (true) {
    std::string lines;
    uint64_t dropped = 0;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !ends_) changed_.wait(mutex_);
      if (queue_.empty()) return;
      lines.swap(queue_);
      dropped = dropped_ - std::exchange(dropped_said_, dropped_);
    }
    if (!WriteOut(lines)) return;
    if (dropped == 0) continue;
    const std::string text =
        absl::StrCat(dropped, " lines of the log were dropped: standard error was not read");
    const LogField fields[] = {{"dropped", dropped}};
    const LogEntry entry{LogLevel::kWarning, "log_dropped", text, fields};
    if (!WriteOut(LineOf(entry))) return;
  }
}

bool Log::WriteOut(std::string_view lines) {
  while (!lines.empty()) {
    pollfd waits{file_, POLLOUT, 0};
    const int ready = poll(&waits, 1, kPollMillis);
    if (ready == 0) {
      const MutexLock lock(mutex_);
      if (ends_ && std::chrono::steady_clock::now() >= gives_up_at_) return false;
      continue;
    }
    // Where a pipe is ready it has room for so much.
    const ssize_t written = write(file_, lines.data(), std::min<size_t>(lines.size(), PIPE_BUF));
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return true;  // nobody will read them
    }
    lines.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace liststore
