#include "tools/serve/log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <new>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"
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
// Where a file was ready, and then was not.
constexpr int kRetryMillis = 10;
// What a log that ends has to be written.
constexpr std::chrono::seconds kEndTime(1);

// How many bytes at the front of `text`, which is UTF-8, are one character that has no business in a line: controls
// (C0, DEL, C1), ends of lines and paragraphs, and marks that change the direction of text; 0: it is another one.
size_t ControlBytes(std::string_view text) {
  const auto at = [text](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  if (at(0) < ' ' || at(0) == 0x7f) return 1;
  if (at(0) == 0xc2 && at(1) < 0xa0) return 2;   // U+0080 to U+009F
  if (at(0) == 0xd8 && at(1) == 0x9c) return 2;  // U+061C
  if (at(0) != 0xe2) return 0;
  if (at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f)) return 3;  // U+200E, U+200F
  if (at(1) == 0x80 && at(2) >= 0xa8 && at(2) <= 0xae) return 3;    // U+2028 to U+202E
  if (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9) return 3;    // U+2066 to U+2069
  return 0;
}

// Statements have lines of their own; what is said of them has one. Names are what clients make them.
std::string OneLine(std::string_view text) {
  const std::string_view whole = text;
  text = text.substr(0, kLogTextBytesMax);
  std::string line;
  while (!text.empty()) {
    std::string_view valid = text.substr(0, ValidUtf8Bytes(text));
    text.remove_prefix(valid.size());
    while (!valid.empty()) {
      const size_t control = ControlBytes(valid);
      line += control != 0 ? ' ' : valid.front();
      valid.remove_prefix(std::max<size_t>(control, 1));
    }
    // A character that is cut in half at the end is left out.
    const bool is_cut = whole.size() > kLogTextBytesMax && text.size() < 4;
    if (is_cut) break;
    if (!text.empty()) {
      line += '?';
      text.remove_prefix(1);
    }
  }
  if (whole.size() > kLogTextBytesMax) line += "...";
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

bool IsSocket(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

// A description of the same pipe or terminal that does not block: the one of standard error is shared with other
// processes, which need not know of that. -1: `file` is something else, or it cannot be opened again; what is
// written to a file of a disk does not wait for a reader.
int OpenAgain(int file) {
  struct stat facts {};
  if (fstat(file, &facts) != 0 || (!S_ISFIFO(facts.st_mode) && !S_ISCHR(facts.st_mode))) return -1;
  const std::string path = absl::StrCat("/proc/self/fd/", file);
  return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

uint64_t LinesOf(std::string_view lines) {
  return static_cast<uint64_t>(std::ranges::count(lines, '\n'));
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
    : format_(format),
      file_(file),
      is_socket_(IsSocket(file)),
      own_file_(OpenAgain(file)),
      has_priorities_(IsJournal(file)),
      level_(level) {}

Log::~Log() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
    gives_up_at_ = std::chrono::steady_clock::now() + kEndTime;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (own_file_ >= 0) close(own_file_);
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

void Log::Write(const LogEntry& entry) noexcept {
  if (!Writes(entry.level)) return;
  try {
    Put(LineOf(entry), entry.level == LogLevel::kDebug ? kQueueBytesMax / 2 : kQueueBytesMax);
  } catch (const std::bad_alloc&) {
    NoteDropped(1);
  }
}

void Log::WriteLines(std::string_view lines) noexcept {
  try {
    Put(lines, kQueueBytesMax);
  } catch (const std::bad_alloc&) {
    NoteDropped(LinesOf(lines));
  }
}

void Log::Put(std::string_view lines, size_t queue_bytes_max) {
  const MutexLock lock(mutex_);
  if (!has_thread_) {
    // In one piece, as far as the file takes it.
    if (write(file_, lines.data(), lines.size()) < 0) dropped_ += LinesOf(lines);
    return;
  }
  if (queue_.size() + writing_bytes_ + lines.size() > queue_bytes_max) {
    dropped_ += LinesOf(lines);
    return;
  }
  queue_ += lines;
  changed_.notify_one();
}

void Log::NoteDropped(uint64_t lines) {
  const MutexLock lock(mutex_);
  dropped_ += lines;
}

uint64_t Log::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

void Log::Work() {
  bool has_reader = true;
  while (true) {
    std::string lines;
    uint64_t dropped = 0;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && (!has_reader || dropped_ == dropped_said_) && !ends_) {
        changed_.wait(mutex_);
      }
      if (queue_.empty() && (!has_reader || dropped_ == dropped_said_)) return;
      lines.swap(queue_);
      writing_bytes_ = lines.size();
      dropped = dropped_ - std::exchange(dropped_said_, dropped_);
    }
    Written written = WriteQueue(lines);
    if (written != Written::kEnds && dropped != 0) written = SayDropped(dropped);
    if (written == Written::kEnds) return;
    // Else it is tried again with the next line.
    has_reader = written == Written::kAll;
  }
}

Log::Written Log::WriteQueue(std::string_view lines) {
  const Written written = WriteOut(lines);
  const MutexLock lock(mutex_);
  writing_bytes_ = 0;
  if (written != Written::kAll) dropped_ += LinesOf(lines);
  return written;
}

Log::Written Log::SayDropped(uint64_t dropped) {
  Written written = Written::kLost;
  try {
    const std::string text =
        absl::StrCat(dropped, " lines of the log were dropped: standard error was not read");
    const LogField fields[] = {{"dropped", dropped}};
    const std::string line = LineOf({LogLevel::kWarning, "log_dropped", text, fields});
    std::string_view rest = line;
    written = WriteOut(rest);
  } catch (const std::bad_alloc&) {
    // It is said the next time.
  }
  if (written == Written::kLost) {
    const MutexLock lock(mutex_);
    dropped_said_ -= dropped;
  }
  return written;
}

Log::Written Log::WriteOut(std::string_view& lines) {
  while (!lines.empty()) {
    {
      const MutexLock lock(mutex_);
      if (ends_ && std::chrono::steady_clock::now() >= gives_up_at_) return Written::kEnds;
    }
    pollfd waits{file_, POLLOUT, 0};
    if (poll(&waits, 1, kPollMillis) == 0) continue;
    // Where a pipe is ready it has room for so much.
    const ssize_t written = WriteSome(lines.substr(0, PIPE_BUF));
    if (written >= 0) {
      lines.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // It was ready for less than that, or others were quicker.
      poll(nullptr, 0, kRetryMillis);
    } else if (errno != EINTR) {
      return Written::kLost;
    }
  }
  return Written::kAll;
}

ssize_t Log::WriteSome(std::string_view bytes) const {
  if (is_socket_) return send(file_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return write(own_file_ >= 0 ? own_file_ : file_, bytes.data(), bytes.size());
}

}  // namespace liststore
