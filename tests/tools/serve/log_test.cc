#include "tools/serve/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tools/serve/server_log.h"

namespace liststore::testing {
namespace log_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Instant = std::chrono::steady_clock::time_point;

// A pipe whose other end a log writes to.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(files_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    CloseEnd(0);
    CloseEnd(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writing() const { return files_[1]; }
  // Until the writing end is closed.
  std::string ReadAll() {
    CloseEnd(1);
    std::string all;
    std::array<char, 65536> bytes;
    for (ssize_t count; (count = read(files_[0], bytes.data(), bytes.size())) > 0;) {
      all.append(bytes.data(), static_cast<size_t>(count));
    }
    return all;
  }
  // Some of what is there.
  std::string ReadSome() {
    std::array<char, 65536> bytes;
    const ssize_t count = read(files_[0], bytes.data(), bytes.size());
    return std::string(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }

 private:
  void CloseEnd(size_t end) {
    if (files_[end] >= 0) close(files_[end]);
    files_[end] = -1;
  }
  std::array<int, 2> files_ = {-1, -1};
};

// How many lines are missing, by what whole lines say of it.
uint64_t SaidToBeDropped(const std::string& read) {
  uint64_t sum = 0;
  for (const absl::string_view line : absl::StrSplit(read, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    uint64_t count = 0;
    if (absl::EndsWith(line, "standard error was not read") && absl::SimpleAtoi(words[1], &count)) {
      sum += count;
    }
  }
  return sum;
}

// Whole lines that are this one.
uint64_t CountOf(const std::string& whole, const std::string& read) {
  uint64_t count = 0;
  const std::vector<absl::string_view> lines = absl::StrSplit(read, '\n');
  // What is behind the last end is not whole.
  for (size_t i = 0; i + 1 < lines.size(); ++i) count += lines[i] == whole ? 1 : 0;
  return count;
}

TEST(Log, SaysWhatIsOfItsLevel) {
  Pipe pipe;
  {
    Log log(LogLevel::kWarning, LogFormat::kText, pipe.writing());
    log.Write(LogLevel::kInfo, "not this");
    log.Write(LogLevel::kError, "one");
    log.Start();
    log.Write(LogLevel::kWarning, "two\nin one line");
    log.SetLevel(LogLevel::kDebug);
    EXPECT_TRUE(log.Writes(LogLevel::kDebug));
    log.Write(LogLevel::kDebug, "three");
  }
  EXPECT_EQ(pipe.ReadAll(), "liststore: one\nliststore: two in one line\nliststore: three\n");
}

// Names of clients' making reach a terminal: nothing in them is for it, or turns a line round.
TEST(Log, WhatControlsATerminalBecomesBlanks) {
  const std::pair<std::string, std::string> kTexts[] = {
      {"a\x1b[2Jb\x7f\r\n", "a [2Jb   "},
      {"a\xc2\x9b"
       "2Jb \xc2\x80\xc2\xa0",
       "a 2Jb  \xc2\xa0"},
      {"a\u2028b\u2029c\u202ed\u2066e\u200ff\u061cg", "a b c d e f g"},
      {"\u00e9\u20ac\U0001f600\u2030\u2070", "\u00e9\u20ac\U0001f600\u2030\u2070"},
      {"a\x9b"
       "b\xff\xe2\x82",
       "a?b???"}};
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    for (const auto& [text, said] : kTexts) {
      Pipe pipe;
      const LogField fields[] = {{"name", text}};
      {
        Log log(LogLevel::kInfo, format, pipe.writing());
        log.Write({LogLevel::kInfo, "event", text, fields});
      }
      const std::string read = pipe.ReadAll();
      if (format == LogFormat::kText) {
        EXPECT_EQ(read, "liststore: " + said + "\n");
        continue;
      }
      const boost::json::object line = boost::json::parse(read).as_object();
      EXPECT_EQ(line.at("message").as_string(), said);
      EXPECT_EQ(line.at("name").as_string(), said);
    }
  }
}

TEST(Log, TextsAreCutAtWholeCharacters) {
  std::string text = "x";
  while (text.size() < 2 * kLogTextBytesMax) text += "\u20ac";
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    log.Write(LogLevel::kInfo, text);
  }
  // One byte, and as many of three as fit.
  EXPECT_EQ(pipe.ReadAll(),
            "liststore: " + text.substr(0, 1 + (kLogTextBytesMax - 1) / 3 * 3) + "...\n");
}

TEST(Log, LinesForPeopleComeInTheirTurn) {
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    log.Start();
    log.Write(LogLevel::kInfo, "one");
    log.WriteLines("\nTwo\n  three\n");
    log.Write(LogLevel::kInfo, "four");
  }
  EXPECT_EQ(pipe.ReadAll(), "liststore: one\n\nTwo\n  three\nliststore: four\n");
}

TEST(Log, LinesOfJsonAreObjectsWithTheFields) {
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kJson, pipe.writing());
    log.Start();
    const LogField fields[] = {{"count", uint64_t{7}}, {"statement", "SELECT \"a\"\n\\"}};
    log.Write({LogLevel::kWarning, "slow_request", "say \"it\"", fields});
    log.Write(LogLevel::kInfo, "plain");
  }
  const std::vector<std::string> lines = absl::StrSplit(pipe.ReadAll(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2u);
  const boost::json::object first = boost::json::parse(lines[0]).as_object();
  EXPECT_EQ(first.at("level").as_string(), "warning");
  EXPECT_EQ(first.at("event").as_string(), "slow_request");
  EXPECT_EQ(first.at("message").as_string(), "say \"it\"");
  EXPECT_EQ(first.at("count").as_int64(), 7);
  EXPECT_EQ(first.at("statement").as_string(), "SELECT \"a\" \\");
  EXPECT_EQ(first.at("time").as_string().size(),
            std::string_view("2026-11-27T10:02:51.123Z").size());
  EXPECT_EQ(boost::json::parse(lines[1]).as_object().at("event").as_string(), "message");
}

TEST(Log, WhoWritesDoesNotWaitForAReader) {
  Pipe pipe;
  uint64_t dropped = 0;
  constexpr uint64_t kLines = 4000;
  const std::string text(1000, 'x');
  std::string read;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    log.Start();
    // Nobody reads: one that waits is ended by the test's time limit.
    for (uint64_t i = 0; i < kLines; ++i) log.Write(LogLevel::kInfo, text);
    dropped = log.dropped();
    EXPECT_GT(dropped, 0u);
    // Once somebody does, all others come, and it is said how many are missing, maybe in two lines.
    while (SaidToBeDropped(read) < dropped ||
           CountOf("liststore: " + text, read) < kLines - dropped) {
      read += pipe.ReadSome();
    }
  }
  read += pipe.ReadAll();
  EXPECT_EQ(SaidToBeDropped(read), dropped);
  EXPECT_EQ(CountOf("liststore: " + text, read), kLines - dropped);
}

// Those that end in vain are ended by the test's time limit.
TEST(Log, EndsWhereNobodyReads) {
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    log.Start();
    for (int i = 0; i < 200; ++i) log.Write(LogLevel::kInfo, std::string(1000, 'x'));
  }
}

// A terminal is ready for a byte, and a write of more waits for whoever holds it: Ctrl-S.
TEST(Log, EndsWhereATerminalIsHeld) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(master, 0);
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  {
    Log log(LogLevel::kInfo, LogFormat::kText, terminal);
    log.Start();
    for (int i = 0; i < 200; ++i) log.Write(LogLevel::kInfo, std::string(1000, 'x'));
  }
  EXPECT_EQ(fcntl(terminal, F_GETFL) & O_NONBLOCK, 0) << "which others have as well";
  close(terminal);
  close(master);
}

// As the journal of systemd is.
TEST(Log, EndsWhereASocketIsNotRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  {
    Log log(LogLevel::kInfo, LogFormat::kText, ends[1]);
    log.Start();
    for (int i = 0; i < 900; ++i) log.Write(LogLevel::kInfo, std::string(1000, 'x'));
  }
  for (const int end : ends) close(end);
}

TEST(Log, LinesWithoutAReaderCountAsDropped) {
  signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> files{};
  ASSERT_EQ(pipe2(files.data(), O_CLOEXEC), 0);
  close(files[0]);
  Log log(LogLevel::kInfo, LogFormat::kText, files[1]);
  log.Start();
  for (int i = 0; i < 10; ++i) log.Write(LogLevel::kInfo, "in vain");
  while (log.dropped() < 10) std::this_thread::yield();
  EXPECT_EQ(log.dropped(), 10u);
  close(files[1]);
}

TEST(Log, LinesOfDebugPushOutNoOthers) {
  Pipe pipe;
  Log log(LogLevel::kDebug, LogFormat::kText, pipe.writing());
  log.Start();
  const std::string text(1000, 'd');
  while (log.dropped() == 0) log.Write(LogLevel::kDebug, text);
  const uint64_t dropped = log.dropped();
  for (int i = 0; i < 300; ++i) log.Write(LogLevel::kWarning, text);
  EXPECT_EQ(log.dropped(), dropped);
}

TEST(LogPace, SaysOnceInAPeriodAndHowOftenNot) {
  LogPace pace(seconds(1));
  const Instant start = std::chrono::steady_clock::now();
  EXPECT_EQ(pace.Pass(start), 0u);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(pace.Pass(start + milliseconds(i * 100)), std::nullopt);
  EXPECT_EQ(pace.Pass(start + seconds(1)), 9u);
  EXPECT_EQ(pace.Pass(start + milliseconds(1999)), std::nullopt);
  EXPECT_EQ(pace.Pass(start + seconds(60)), 1u);
}

// What a server log says of these counters, looked at once a second.
std::string SaidOf(const std::vector<std::vector<CqlCounter>>& looks, LogLevel level) {
  Pipe pipe;
  {
    Log log(level, LogFormat::kText, pipe.writing());
    ServerLog server_log(log);
    Instant now = std::chrono::steady_clock::now();
    for (const std::vector<CqlCounter>& counters : looks) {
      server_log.LookAt(counters, now);
      now += seconds(1);
    }
  }
  return pipe.ReadAll();
}

TEST(ServerLog, SaysWhatHasGrownSinceTheLastLook) {
  EXPECT_EQ(SaidOf({{{"logins_refused", 0}}, {{"logins_refused", 0}}}, LogLevel::kDebug), "");
  EXPECT_EQ(SaidOf({{{"connections", 5}, {"logins_refused", 2}},
                    {{"connections", 9}, {"logins_refused", 2}},
                    {{"connections", 9}, {"logins_refused", 12}}},
                   LogLevel::kInfo),
            "liststore: 2 logins were refused: wrong names or passwords; 2 since the start\n"
            "liststore: 10 logins were refused: wrong names or passwords; 12 since the start\n");
  EXPECT_EQ(SaidOf({{{"logins_refused", 2}}}, LogLevel::kError), "");
}

TEST(ServerLog, SaysEvictionsOnceAMinute) {
  std::vector<std::vector<CqlCounter>> looks;
  for (uint64_t second = 1; second <= 100; ++second) {
    looks.push_back({{"partitions_evicted", second}});
  }
  EXPECT_EQ(SaidOf(looks, LogLevel::kInfo),
            "liststore: 1 partitions were evicted for memory; 1 since the start\n"
            "liststore: 60 partitions were evicted for memory; 61 since the start\n");
}

TEST(ServerLog, SaysFailuresOfAKindOnceASecond) {
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    Instant now = std::chrono::steady_clock::now();
    ServerLog server_log(log, [&now] { return now; });
    CqlServerOptions options;
    server_log.TakeNotices(options);
    for (int i = 0; i < 5; ++i) options.on_keeping_failure("writes are refused: disk full");
    options.on_keeping_failure("no snapshot was taken: disk full");
    options.on_keeping("snapshot 1");
    now += seconds(1);
    options.on_keeping_failure("writes are refused: disk full");
  }
  EXPECT_EQ(pipe.ReadAll(),
            "liststore: writes are refused: disk full\n"
            "liststore: no snapshot was taken: disk full\n"
            "liststore: snapshot 1\n"
            "liststore: writes are refused: disk full (4 more in between)\n");
}

TEST(ServerLog, ASlowRequestIsOneLine) {
  Pipe pipe;
  {
    Log log(LogLevel::kInfo, LogFormat::kText, pipe.writing());
    ServerLog server_log(log, [now = std::chrono::steady_clock::now()] { return now; });
    CqlServerOptions options;
    server_log.TakeNotices(options);
    CqlSlowRequest slow;
    slow.operation = "SELECT";
    slow.table = "feat.clicks";
    slow.statement = "SELECT *\nFROM feat.clicks";
    slow.is_statement_cut = true;
    slow.client = "127.0.0.1:4711";
    slow.user = "alice";
    slow.outcome = "ok";
    slow.waited = milliseconds(5);
    slow.executed = milliseconds(200);
    slow.rows_read = 40;
    slow.rows_returned = 12;
    slow.dead_rows = 3;
    options.on_slow_request(slow);
    options.on_slow_request(slow);
    options.on_connection({.protocol = "CQL", .client = "127.0.0.1:1"});
  }
  EXPECT_EQ(pipe.ReadAll(),
            "liststore: slow request: SELECT feat.clicks took 205.0 ms (waited 5.0 ms, executed "
            "200.0 ms), 40 rows looked at, 3 dead, 12 returned, ok, by 127.0.0.1:4711 as alice: "
            "SELECT * FROM feat.clicks...\n");
}

}  // namespace log_test
}  // namespace liststore::testing
