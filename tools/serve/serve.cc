#include "tools/serve/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/check.h"
#include "engine/base/machine_limits.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/base/worker_thread.h"
#include "liststore/cql_server.h"
#include "liststore/list_store.h"
#include "liststore/server_clock.h"
#include "programs/console/exit_codes.h"
#include "programs/console/text.h"
#include "tools/serve/config_text.h"
#include "tools/serve/demo.h"
#include "tools/serve/file_limit.h"
#include "tools/serve/heap_trim.h"
#include "tools/serve/log.h"
#include "tools/serve/port_owner.h"
#include "tools/serve/reload.h"
#include "tools/serve/scylla_config.h"
#include "tools/serve/server_log.h"
#include "tools/serve/server_options.h"
#include "tools/serve/service_manager.h"
#include "tools/serve/start_lines.h"
#include "tools/serve/wait_for_stop.h"

namespace liststore {
namespace {

// The clock that --clock asks for.
absl::StatusOr<std::unique_ptr<ServerClock>> MakeClock(std::string_view text) {
  constexpr std::string_view kManualAt = "manual:";
  if (text.starts_with(kManualAt)) {
    constexpr uint64_t kSecondsMax = uint64_t{1} << 33;  // the year 2242
    uint64_t seconds = 0;
    if (!absl::SimpleAtoi(ToAbsl(text.substr(kManualAt.size())), &seconds) ||
        seconds > kSecondsMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--clock '", ToAbsl(text), "': START is in seconds since 1970, 0 to ", kSecondsMax));
    }
    return std::make_unique<ServerClock>(seconds * 1'000'000'000);
  }
  const absl::StatusOr<ServerClock::Setting> setting = ParseClockSetting(text);
  if (!setting.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--clock ", setting.status().message()));
  }
  auto clock = std::make_unique<ServerClock>();
  LS_CHECK(clock->SetMode(*setting) == ServerClock::Change::kDone, "a real clock can be changed");
  return clock;
}

// Whoever reads the file finds all of it, or no file.
absl::Status WriteReadyFile(const std::string& path, std::string_view line) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool done = file >= 0 && write(file, line.data(), line.size()) == std::ssize(line);
  if (file >= 0) done = close(file) == 0 && done;
  if (done && rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = absl::UnavailableError(
      absl::StrCat("cannot write the ready file ", path, ": ", strerror(errno)));
  unlink(temporary.c_str());
  return status;
}

// " by NAME, process PID" of the port that `taken` is about; empty: nobody can be seen.
std::string OwnerOf(const absl::Status& taken, const ServeOptions& options) {
  for (const uint16_t port :
       {options.cql_port, options.shard_aware_port.value_or(0), options.tls_port.value_or(kTlsPort),
        options.tls_shard_aware_port.value_or(kTlsShardAwarePort)}) {
    if (port == 0 || !absl::StrContains(taken.message(), absl::StrCat(":", port, " "))) continue;
    const std::optional<PortOwner> owner = FindPortOwner(port);
    return owner ? absl::StrCat(" by ", owner->name, ", process ", owner->pid) : "";
  }
  return "";
}

// One line, for who did not mean it.
void SayWhatIsOpen(Log& log, const ServeOptions& options, int port) {
  if (!IsOpen(options)) return;
  const std::string open = absl::StrCat("open to everybody who reaches ", options.address,
                                        ", port ", port, ", without a password (--auth): all data");
  log.Write(LogLevel::kWarning,
            HasInstruments(options)
                ? absl::StrCat(open,
                               ", resets, the clock, faults and others' requests "
                               "(--instruments on)")
                : absl::StrCat(open,
                               "; liststore.data, clock, faults, requests, journal and lint "
                               "are off (--instruments on)"));
}

// What is accepted, and ends in the kernel's hands when rows fill it.
void SayWhatMemoryIsNotThere(Log& log, uint64_t limit_bytes) {
  const uint64_t machine_bytes = ReadMachineLimits({.cores = false}).memory_bytes;
  if (machine_bytes == 0 || limit_bytes <= machine_bytes) return;
  log.Write(
      LogLevel::kWarning,
      absl::StrCat("--memory-limit is ", Bytes(limit_bytes), ", and this machine has ",
                   Bytes(machine_bytes),
                   ": the kernel ends the process when it takes more; leave the option out for ",
                   Bytes(DefaultMemoryLimitBytes(machine_bytes))));
}

// Snapshots that a signal asks for, one at a time, on a thread of their own: the program goes on to hear
// signals, and to say that all is well.
class SnapshotsOnDemand {
 public:
  // Both outlive it.
  SnapshotsOnDemand(Log& log, CqlServer& server) : log_(log), server_(server) {}
  ~SnapshotsOnDemand() {
    if (thread_.joinable()) thread_.join();
  }
  SnapshotsOnDemand(const SnapshotsOnDemand&) = delete;
  SnapshotsOnDemand& operator=(const SnapshotsOnDemand&) = delete;

  void Take() {
    if (is_busy_.exchange(true)) {
      return log_.Write(LogLevel::kInfo, "SIGUSR1: a snapshot is under way already");
    }
    if (thread_.joinable()) thread_.join();
    absl::StatusOr<std::thread> thread = StartThread("liststore-snap", [this] {
      static_cast<void>(server_.TakeSnapshot());  // which says how it came out
      is_busy_ = false;
    });
    if (thread.ok()) {
      thread_ = *std::move(thread);
      return;
    }
    is_busy_ = false;
    log_.Write(LogLevel::kError,
               absl::StrCat("SIGUSR1: no snapshot was taken: ", thread.status().message()));
  }

 private:
  Log& log_;
  CqlServer& server_;
  std::atomic<bool> is_busy_ = false;
  std::thread thread_;
};

// One line about a server that runs, for who looks after services.
std::string ServiceStatus(const ServeOptions& options, const CqlServer& server) {
  const size_t connections = server.connection_count();
  return absl::StrCat("serves CQL on ", options.address, ", port ", server.cql_port(), "; ",
                      connections, connections == 1 ? " connection" : " connections");
}

// What there was to count, in a few words: those counters that are not 0.
std::string Summary(const CqlServer& server, std::chrono::steady_clock::time_point began) {
  const auto ran =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
  std::string text =
      absl::StrCat("has ended, after ", DurationText(static_cast<uint64_t>(ran.count())));
  for (const CqlCounter& counter : server.Counters()) {
    if (counter.value == 0 || counter.name == "connections") continue;
    absl::StrAppend(&text, "; ", counter.name, " ", counter.value);
  }
  return text;
}

// With --strict the process ends as one that failed when something was refused.
int SayRefusals(Log& log, const CqlServer& server) {
  if (server.refusal_count() == 0) return kExitSame;
  log.Write(LogLevel::kError,
            absl::StrCat("--strict: ", server.refusal_count(), " requests were refused"));
  for (const CqlRefusal& refusal : server.Refusals()) {
    log.Write(LogLevel::kError,
              absl::StrCat("  ", refusal.code, " ", refusal.feature, ": ", refusal.count));
  }
  return kExitRefused;
}

void SayWithoutEffect(Log& log, const ScyllaChoice& scylla) {
  for (const std::string& unknown : scylla.unknown) log.Write(LogLevel::kWarning, unknown);
  if (scylla.without_effect.empty()) return;
  log.Write(LogLevel::kInfo, absl::StrCat("options of ScyllaDB without effect: ",
                                          absl::StrJoin(scylla.without_effect, ", ")));
}

// A password in a file that others of the machine may read.
void SayWhoReadsThePassword(Log& log, const ServeOptions& options) {
  const auto auth = options.sources.find("auth");
  if (auth == options.sources.end() || auth->second.source != settings::SettingSource::kFile ||
      options.auth.find(':') == std::string::npos) {
    return;
  }
  struct stat facts = {};
  if (stat(options.config_file.c_str(), &facts) != 0 || (facts.st_mode & 0077) == 0) return;
  log.Write(
      LogLevel::kWarning,
      absl::StrCat(auth->second.place, ": auth has a password, and others may read this file (",
                   absl::StrFormat("mode %04o", facts.st_mode & 07777u),
                   "): chmod 0600, or auth-password-file, which LoadCredential= of systemd "
                   "hands over"));
}

// What can be said to be wrong without a start.
absl::Status CheckWithoutStart(const ServeOptions& options) {
  LS_RETURN_IF_ERROR(MakeClock(options.clock).status());
  return CheckValues(options);
}

// `chosen`: with what ScyllaDB's options say.
int PrintConfig(const ServeOptions& options, const ServeOptions& chosen, Log& log) {
  if (const absl::Status status = CheckWithoutStart(chosen); !status.ok()) {
    log.Write(LogLevel::kError, ToStd(status.message()));
    return kExitFailed;
  }
  SayWhoReadsThePassword(log, options);
  const auto json = options.sources.find("json");
  const bool as_json = options.json && json != options.sources.end() &&
                       json->second.source == settings::SettingSource::kCommandLine;
  const absl::StatusOr<std::string> text = as_json ? ConfigJson(options) : ConfigText(options);
  if (!text.ok()) {
    log.Write(LogLevel::kError, ToStd(text.status().message()));
    return kExitFailed;
  }
  if (std::fputs(text->c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return kExitSame;
  log.Write(LogLevel::kError,
            absl::StrCat("cannot write the configuration to standard output: ", strerror(errno)));
  return kExitFailed;
}

// Clients can connect: in the ready file, to programs on standard output, and to people on standard error.
absl::Status SayThatItServes(const ServeOptions& options, const StartFacts& facts, Log& log) {
  const std::string ready = ReadyJson(options, facts) + "\n";
  if (!options.ready_file.empty()) LS_RETURN_IF_ERROR(WriteReadyFile(options.ready_file, ready));
  // Who looks at a terminal has the same in lines.
  const bool is_for_people = isatty(STDERR_FILENO) != 0 && !options.json &&
                             options.log_format == "text" && log.Writes(LogLevel::kInfo);
  if (!is_for_people || isatty(STDOUT_FILENO) == 0) {
    std::fputs(ready.c_str(), stdout);
    std::fflush(stdout);
  }
  if (is_for_people) {
    log.WriteLines(StartLines(options, facts));
  } else {
    log.Write({.level = LogLevel::kInfo, .event = "start", .text = StartText(options, facts)});
  }
  return absl::OkStatus();
}

// An error of CqlServer::Start by the name of the flag, where it begins with that of a field.
absl::Status ByFlag(const absl::Status& status) {
  static constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"from_snapshot", "--from"},
      {"populate_bytes", "--populate"},
      {"client_memory_bytes", "--client-memory"},
      {"queue_time_max_ms", "--queue-time-max"}};
  const std::string_view message = ToStd(status.message());
  for (const auto& [field, flag] : kFlags) {
    if (!message.starts_with(std::string(field) + " is ")) continue;
    return {status.code(), absl::StrCat(ToAbsl(flag), ToAbsl(message.substr(field.size())))};
  }
  return status;
}

// A signalfd of those that the program deals with, which it blocks: before any thread exists, so that no thread
// takes them. A closed standard output ends nothing. `rereads`: SIGHUP is one of them; where it means nothing it
// ends the program, as that of a terminal that is closed.
absl::StatusOr<int> OpenSignals(bool rereads) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  if (rereads) sigaddset(&stops, SIGHUP);
  sigaddset(&stops, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const int signals = signalfd(-1, &stops, SFD_CLOEXEC);
  if (signals < 0) return absl::ResourceExhaustedError("no file can be opened");
  return signals;
}

// `trim`, which outlives the server, is told what concerns it.
void TellTrim(HeapTrim& trim, CqlServerOptions& options) {
  options.on_work_memory_freed = [&trim](uint64_t bytes) { trim.NoteFreed(bytes); };
  if (!options.divide_memory) return;
  options.divide_memory = [&trim, divide = options.divide_memory](uint64_t of) {
    const absl::StatusOr<CqlMemoryShares> shares = divide(of);
    if (shares.ok()) trim.SetLimit(of);
    return shares;
  };
}

// A server that clients can connect to, until it has stopped. All outlive it.
class ServerRun {
 public:
  ServerRun(const ServeOptions& options, const ScyllaChoice& scylla, const RereadOptions& reread,
            Log& log, ServerLog& server_log, ServiceManager& service, CqlServer& server)
      : options_(options),
        log_(log),
        server_log_(server_log),
        service_(service),
        server_(server),
        reloader_(scylla, reread, log, server),
        snapshots_(log, server) {}

  // Until it is to stop; returns why.
  std::string_view Wait(int signals) {
    service_.Ready(ServiceStatus(options_, server_));
    WaitCalls calls{.on_hangup = [this] { Reload(); },
                    .on_user = [this] { TakeSnapshot(); },
                    .on_period = [this] { Look(); }};
    if (const auto period = service_.watchdog_period()) {
      calls.period = std::min(calls.period, *period / 2);
    }
    return WaitForStop(signals, options_.until_eof, calls);
  }

  // First the clients go; a snapshot that is under way may take minutes, and is waited for.
  void Stop(std::string_view reason) {
    LeaveOutWhatIsRefused([&] {
      const std::string farewell = absl::StrCat(ToAbsl(reason), ": stops with ",
                                                server_.connection_count(), " connections open");
      service_.Stopping(farewell);
      log_.Write({.level = LogLevel::kInfo, .event = "stop", .text = farewell});
    });
    server_.Stop();
    LeaveOutWhatIsRefused([&] {
      service_.Resend();
      server_log_.LookAt(server_.Counters(), std::chrono::steady_clock::now());
      log_.Write({.level = LogLevel::kInfo, .event = "end", .text = Summary(server_, began_)});
    });
  }

 private:
  void Look() {
    const auto now = std::chrono::steady_clock::now();
    // First: no memory is needed for it.
    service_.LookAfter(server_.LongestTurn(), now);
    if (owes_ready_) SayReady();
    server_log_.LookAt(server_.Counters(), now);
    service_.Status(ServiceStatus(options_, server_));
  }
  void Reload() {
    owes_ready_ = true;
    service_.Reloading();
    reloader_.Reload();
    SayReady();
  }
  // Where the heap refuses this, Look says it: systemd waits for it, however the reload came out.
  void SayReady() {
    service_.Ready(ServiceStatus(options_, server_));
    owes_ready_ = false;
  }
  void TakeSnapshot() {
    if (!options_.data_dir.empty()) return snapshots_.Take();
    log_.Write(LogLevel::kWarning, "SIGUSR1: no snapshot is taken, there is no --data-dir");
  }

  const ServeOptions& options_;
  Log& log_;
  ServerLog& server_log_;
  ServiceManager& service_;
  CqlServer& server_;
  Reloader reloader_;
  SnapshotsOnDemand snapshots_;
  bool owes_ready_ = false;  // it was said that a reload is under way
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// The exit status of a stop that was asked for.
absl::StatusOr<int> Serve(const ServeOptions& options, const ScyllaChoice& scylla,
                          const RereadOptions& reread, Log& log) {
  ServiceManager service;
  LS_ASSIGN_OR_RETURN(const int signals, OpenSignals(!options.tls_certificate.empty() || reread ||
                                                     service.is_there()));
  log.Start();

  LS_ASSIGN_OR_RETURN(CqlServerOptions server_options, ToServerOptions(options, scylla.given));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ServerClock> clock, MakeClock(options.clock));
  server_options.server_clock = clock.get();
  std::unique_ptr<ListStore> demo;
  if (options.demo) {
    LS_ASSIGN_OR_RETURN(demo, OpenDemo(options, server_options.memory_limit_bytes, *clock));
    server_options.store = demo.get();
  }
  ServerLog server_log(log);
  server_log.TakeNotices(server_options);
  RaiseFileLimit();
  HeapTrim heap_trim(server_options.process_memory_bytes);
  TellTrim(heap_trim, server_options);
  const absl::StatusOr<std::unique_ptr<CqlServer>> started = CqlServer::Start(server_options);
  if (!started.ok()) return ByFlag(started.status());
  const std::unique_ptr<CqlServer>& server = *started;
  heap_trim.SetListener([&](uint64_t resident) { return server->NoteResidentBytes(resident); });
  const absl::Cleanup stop_listening = [&] { heap_trim.SetListener({}); };

  const StartFacts facts{.cql_port = server->cql_port(),
                         .shard_aware_port = server->shard_aware_port(),
                         .tls_port = server->tls_port(),
                         .tls_shard_aware_port = server->tls_shard_aware_port(),
                         .http_port = server->http_port(),
                         .dynamodb_port = server->dynamodb_port(),
                         .pid = getpid(),
                         .clock = ClockSettingText(clock->setting()),
                         .memory_limit_bytes = server_options.process_memory_bytes};
  LS_RETURN_IF_ERROR(SayThatItServes(options, facts, log));
  if (!options.config_file.empty()) {
    log.Write(LogLevel::kInfo, absl::StrCat("configuration: ", options.config_file));
  }
  SayWhatIsOpen(log, options, facts.cql_port);
  SayWhoReadsThePassword(log, options);
  SayWhatMemoryIsNotThere(log, options.memory_limit_bytes);
  // Behind the start: a start that fails says that, and nothing beside it.
  for (const std::string& variable : options.unknown_variables) {
    log.Write(LogLevel::kWarning, absl::StrCat("no option takes the variable ", variable));
  }
  if (options.demo) log.WriteLines(HowToConnect(options.address, facts.cql_port));

  ServerRun run(options, scylla, reread, log, server_log, service, *server);
  run.Stop(run.Wait(signals));
  // It would say that somebody listens.
  if (!options.ready_file.empty()) unlink(options.ready_file.c_str());
  close(signals);
  const int by_refusals = options.strict ? SayRefusals(log, *server) : kExitSame;
  return server->stop_status().ok() ? by_refusals : kExitFailed;  // which has been said
}

}  // namespace

int RunServe(const ServeOptions& asked, const RereadOptions& reread) {
  Log log(ParseLogLevel(asked.log_level).value_or(LogLevel::kInfo),
          asked.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  const absl::StatusOr<ScyllaChoice> scylla = ChooseScyllaConfig(asked);
  if (!scylla.ok()) {
    log.Write(LogLevel::kError, ToStd(scylla.status().message()));
    return kExitFailed;
  }
  if (asked.print_config) return PrintConfig(asked, scylla->options, log);
  SayWithoutEffect(log, *scylla);
  ServeOptions options = scylla->options;
  if (options.shards == 0) {
    options.shards = 1;
    options.looks_like_scylla = false;
  }
  const absl::StatusOr<int> exit_status = Serve(options, *scylla, reread, log);
  if (exit_status.ok()) return *exit_status;
  const absl::Status& status = exit_status.status();
  if (!absl::IsAlreadyExists(status)) {
    log.Write(LogLevel::kError, ToStd(status.message()));
    return kExitFailed;
  }
  log.Write(LogLevel::kError, absl::StrCat(status.message(), OwnerOf(status, options)));
  return kExitPortTaken;
}

}  // namespace liststore
