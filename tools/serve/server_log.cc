#include "tools/serve/server_log.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/strings.h"
#include "tools/serve/memory_text.h"

namespace liststore {
namespace {

// A counter of a server whose growth is worth a line.
struct CounterWords {
  std::string_view name;
  LogLevel level;
  // Behind the number.
  std::string_view text;
  std::chrono::seconds period = std::chrono::seconds(1);
};

constexpr CounterWords kCounters[] = {
    {"connections_refused", LogLevel::kWarning,
     "connections were refused: there are as many as --max-connections and "
     "--max-connections-per-address allow"},
    {"connections_ended_in_handshake", LogLevel::kInfo,
     "connections were ended whose clients did not say in time who they are"},
    {"connections_ended_idle", LogLevel::kDebug, "connections were ended by --idle-timeout"},
    {"connections_ended_not_reading", LogLevel::kWarning,
     "connections were ended whose clients did not take their answers"},
    {"connections_ended_for_memory", LogLevel::kWarning,
     "connections were ended that held most of --client-memory, which was full"},
    {"logins_refused", LogLevel::kWarning, "logins were refused: wrong names or passwords"},
    {"requests_refused_for_memory", LogLevel::kWarning,
     "requests were refused: much of --client-memory is held"},
    {"requests_refused_for_queue_time", LogLevel::kWarning,
     "requests were refused: they had waited longer than --queue-time-max to be read"},
    {"writes_refused_for_memory", LogLevel::kWarning,
     "writes were refused: the memory for rows is full"},
    {"partitions_evicted", LogLevel::kInfo, "partitions were evicted for memory",
     std::chrono::seconds(60)},
    {"tls_handshakes_failed", LogLevel::kInfo, "TLS handshakes failed"},
    {"statements_long_refused", LogLevel::kWarning,
     "statements that take long were refused: too many waited for a thread"},
    {"http_requests_refused", LogLevel::kWarning,
     "HTTP requests were refused for want of a thread or of memory"},
    {"dynamodb_requests_refused", LogLevel::kWarning,
     "requests of DynamoDB's API were refused for want of a thread or of memory"},
};

// Of a failure's text, by which it is told from others; and of those that are told apart.
constexpr size_t kAboutBytesMax = 64;
constexpr size_t kFailuresMax = 64;

uint64_t Micros(std::chrono::nanoseconds time) {
  return static_cast<uint64_t>(std::max<int64_t>(time.count(), 0)) / 1000;
}

std::string Millis(std::chrono::nanoseconds time) {
  return absl::StrFormat("%.1f ms", static_cast<double>(time.count()) / 1e6);
}

std::string SlowRequestText(const CqlSlowRequest& slow, uint64_t left_out) {
  std::string text =
      absl::StrCat("slow request: ", ToAbsl(slow.operation), slow.table.empty() ? "" : " ",
                   ToAbsl(slow.table), " took ", Millis(slow.waited + slow.executed + slow.delayed),
                   " (waited ", Millis(slow.waited), ", executed ", Millis(slow.executed));
  if (slow.delayed.count() > 0) absl::StrAppend(&text, ", kept back ", Millis(slow.delayed));
  absl::StrAppend(&text, ")");
  if (slow.together > 1) absl::StrAppend(&text, ", ", slow.together, " requests together");
  if (slow.rows_read) {
    absl::StrAppend(&text, ", ", *slow.rows_read, " rows looked at, ", slow.dead_rows, " dead, ",
                    slow.rows_returned.value_or(0), " returned");
  }
  absl::StrAppend(&text, ", ", ToAbsl(slow.outcome), ", by ", ToAbsl(slow.client));
  if (!slow.user.empty()) absl::StrAppend(&text, " as ", ToAbsl(slow.user));
  absl::StrAppend(&text, ": ", ToAbsl(slow.statement), slow.is_statement_cut ? "..." : "");
  if (left_out != 0) absl::StrAppend(&text, " (", left_out, " more in between)");
  return text;
}

}  // namespace

void ServerLog::TakeNotices(CqlServerOptions& options) {
  options.on_notice = [this](const CqlNotice& notice) { SayNotice(notice); };
  options.on_memory_notice = [this](const CqlMemoryNotice& notice) { SayMemory(notice); };
  options.on_keeping = [this](std::string_view line) {
    log_.Write({.level = LogLevel::kInfo, .event = "keeping", .text = line});
  };
  options.on_keeping_failure = [this](std::string_view line) { SayFailure(line); };
  options.on_slow_request = [this](const CqlSlowRequest& slow) { SaySlowRequest(slow); };
  options.on_connection = [this](const CqlConnectionNotice& connection) {
    SayConnection(connection);
  };
  options.on_schema_change = [this](const CqlSchemaNotice& change) { SaySchemaChange(change); };
}

void ServerLog::LookAt(std::span<const CqlCounter> counters, Instant now) {
  for (const CqlCounter& counter : counters) {
    const auto words = std::ranges::find(kCounters, counter.name, &CounterWords::name);
    if (words == std::end(kCounters)) continue;
    Watched& watched = watched_[counter.name];
    if (counter.value <= watched.value || now < watched.next) continue;
    const uint64_t grown = counter.value - watched.value;
    watched = {counter.value, now + words->period};
    const std::string text =
        absl::StrCat(grown, " ", ToAbsl(words->text), "; ", counter.value, " since the start");
    const LogField fields[] = {{"count", grown}, {"total", counter.value}};
    log_.Write({words->level, words->name, text, fields});
  }
}

// Each feature once.
void ServerLog::SayNotice(const CqlNotice& notice) {
  const std::string text =
      notice.refused
          ? absl::StrCat(ToAbsl(notice.code), ": does not support ", ToAbsl(notice.feature),
                         "; instead: ", ToAbsl(notice.instead),
                         "; first asked for by: ", ToAbsl(notice.first_statement))
          : absl::StrCat(ToAbsl(notice.code), ": accepted without effect: ", ToAbsl(notice.feature),
                         " (", ToAbsl(notice.instead), ")");
  const LogField fields[] = {{"code", notice.code}, {"feature", notice.feature}};
  log_.Write({notice.refused ? LogLevel::kWarning : LogLevel::kInfo, "unsupported", text, fields});
}

void ServerLog::SayMemory(const CqlMemoryNotice& notice) {
  const bool is_change = notice.kind == CqlMemoryNotice::Kind::kLimitChanged && notice.fits;
  const LogField fields[] = {{"held_bytes", notice.held_bytes},
                             {"limit_bytes", notice.limit_bytes},
                             {"refused_writes", notice.refused_writes},
                             {"evicted_partitions", notice.evicted_partitions}};
  log_.Write(
      {is_change ? LogLevel::kInfo : LogLevel::kWarning, "memory", MemoryText(notice), fields});
}

void ServerLog::SaySlowRequest(const CqlSlowRequest& slow) {
  if (!log_.Writes(LogLevel::kWarning)) return;
  const std::optional<uint64_t> left_out = slow_requests_.Pass(now_());
  if (!left_out) return;
  std::vector<LogField> fields = {{"operation", slow.operation},
                                  {"request", slow.request},
                                  {"table", slow.table},
                                  {"statement", slow.statement},
                                  {"client", slow.client},
                                  {"user", slow.user},
                                  {"outcome", slow.outcome},
                                  {"requests_together", uint64_t{slow.together}},
                                  {"waited_us", Micros(slow.waited)},
                                  {"executed_us", Micros(slow.executed)},
                                  {"delayed_us", Micros(slow.delayed)},
                                  {"dead_rows", slow.dead_rows},
                                  {"left_out", *left_out}};
  if (slow.rows_read) fields.push_back({"rows_read", *slow.rows_read});
  if (slow.rows_returned) fields.push_back({"rows_returned", *slow.rows_returned});
  log_.Write({LogLevel::kWarning, "slow_request", SlowRequestText(slow, *left_out), fields});
}

void ServerLog::SayConnection(const CqlConnectionNotice& connection) {
  if (!log_.Writes(LogLevel::kDebug)) return;
  std::string text =
      absl::StrCat(ToAbsl(connection.protocol), " connection of ", ToAbsl(connection.client),
                   connection.is_open ? " is open" : " has ended");
  if (!connection.user.empty()) absl::StrAppend(&text, ", as ", ToAbsl(connection.user));
  if (!connection.driver.empty()) absl::StrAppend(&text, ", ", ToAbsl(connection.driver));
  const LogField fields[] = {{"protocol", connection.protocol},
                             {"client", connection.client},
                             {"user", connection.user},
                             {"driver", connection.driver}};
  log_.Write({LogLevel::kDebug, connection.is_open ? "connection_opened" : "connection_closed",
              text, fields});
}

void ServerLog::SaySchemaChange(const CqlSchemaNotice& change) {
  if (!log_.Writes(LogLevel::kDebug)) return;
  const std::string text =
      absl::StrCat("schema: ", ToAbsl(change.change), " ", ToAbsl(change.target), " ",
                   ToAbsl(change.keyspace), change.name.empty() ? "" : ".", ToAbsl(change.name));
  const LogField fields[] = {{"change", change.change},
                             {"target", change.target},
                             {"keyspace", change.keyspace},
                             {"name", change.name}};
  log_.Write({LogLevel::kDebug, "schema_change", text, fields});
}

void ServerLog::SayFailure(std::string_view line) {
  // "no snapshot was taken: disk full": the disk's words may differ from time to time.
  const std::string_view about = line.substr(0, std::min(line.find(':'), kAboutBytesMax));
  std::optional<uint64_t> left_out;
  {
    const MutexLock lock(mutex_);
    if (failures_.size() >= kFailuresMax && !failures_.contains(about)) failures_.clear();
    left_out = failures_.try_emplace(std::string(about)).first->second.Pass(now_());
  }
  if (!left_out) return;
  std::string text(line);
  if (*left_out != 0) absl::StrAppend(&text, " (", *left_out, " more in between)");
  const LogField fields[] = {{"left_out", *left_out}};
  log_.Write({LogLevel::kError, "keeping_failed", text, fields});
}

}  // namespace liststore
