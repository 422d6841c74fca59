#include "tools/selftest/server_checks.h"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/wire/throwaway_certificate.h"
#include "engine/base/status_macros.h"
#include "liststore/cql_server.h"
#include "liststore/server_clock.h"
#include "programs/client/cql_client.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kStartNanos = 1'700'000'000'000'000'000;
constexpr int32_t kRows = 100;
constexpr uint64_t kRowsBytes = uint64_t{64} << 20;
constexpr uint64_t kClientBytes = uint64_t{32} << 20;

constexpr char kMakeKeyspace[] =
    "CREATE KEYSPACE selftest WITH replication = {'class': 'SimpleStrategy', "
    "'replication_factor': 1}";
constexpr char kMakeTable[] =
    "CREATE TABLE selftest.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))";

// What ends a process before its folder is gone is noted, and looked at between steps.
volatile sig_atomic_t ending_signal = 0;

class EndingSignals {
 public:
  EndingSignals() {
    ending_signal = 0;
    struct sigaction action = {};
    action.sa_handler = [](int signal) { ending_signal = signal; };
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
    // A file that may not grow is an error of the step that writes it.
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &action, &before_file_size_);
  }
  // Ends the process after all where one of them has come.
  ~EndingSignals() {
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    ::sigaction(SIGXFSZ, &before_file_size_, nullptr);
    if (ending_signal != 0) ::raise(ending_signal);
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)] = {};
  struct sigaction before_file_size_ = {};
};

// One step: OK, and what was found; or why it does not work.
using Step = std::function<absl::StatusOr<std::string>()>;

class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Make(const std::string& parent) {
    std::string path = parent + "/liststore-selftest-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("cannot make a folder in ", parent, ": ", std::strerror(errno)));
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

absl::StatusOr<std::unique_ptr<CqlClient>> ConnectToPort(uint16_t port,
                                                         const ClientTlsOptions& tls = {}) {
  return CqlClient::Connect(absl::StrCat("127.0.0.1:", port), {}, tls);
}

// Fails unless the statement has so many rows.
absl::Status ExpectRows(CqlClient& client, const std::string& statement, size_t expected) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client.Query(statement));
  if (rows.size() == expected) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(statement, ": ", rows.size(), " rows, not ", expected));
}

// `usual`, but where the status tells the cause.
std::string AdviceFor(const absl::Status& status, const std::string& usual) {
  if (!absl::StrContains(status.message(), std::strerror(EMFILE))) return usual;
  return "a process may have too few open files here: raise the limit with 'ulimit -n 1024'";
}

// Fails unless the statement's only row is `expected`, integers alone.
absl::Status ExpectRow(CqlClient& client, const std::string& statement,
                       std::initializer_list<int64_t> expected) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client.Query(statement));
  std::vector<int64_t> found;
  for (size_t column = 0; rows.size() == 1 && column < rows.columns(); ++column) {
    found.push_back(rows.Integer(0, column));
  }
  if (std::ranges::equal(found, expected)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(statement, ": ", rows.size(), " rows, of values (",
                                          absl::StrJoin(found, ", "), "), not one of (",
                                          absl::StrJoin(expected, ", "), ")"));
}

class ServerChecks {
 public:
  explicit ServerChecks(const std::string& folder) : folder_(folder) {}

  std::vector<Check> Run() &&;

 private:
  // False: it failed, and what builds on it cannot be tried.
  bool Try(const std::string& name, const std::string& advice, const Step& step);
  CqlServerOptions Options() const;

  absl::StatusOr<std::string> Start();
  absl::StatusOr<std::string> MakeTable();
  absl::StatusOr<std::string> Write();
  absl::StatusOr<std::string> Read();
  absl::StatusOr<std::string> Expire();
  absl::StatusOr<std::string> UseIndex();
  absl::StatusOr<std::string> ConnectOverTls();
  absl::StatusOr<std::string> Keep();

  const std::string folder_;
  // In the order in which they are made; the clock outlives the server.
  ServerClock clock_{kStartNanos};
  std::unique_ptr<ThrowawayCertificate> certificate_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlClient> client_;
  std::vector<Check> checks_;
};

bool ServerChecks::Try(const std::string& name, const std::string& advice, const Step& step) {
  if (ending_signal != 0) return false;
  const SteadyClock::time_point begin = SteadyClock::now();
  const absl::StatusOr<std::string> found = step();
  const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begin;
  if (found.ok()) {
    checks_.push_back(
        {.name = name, .found = absl::StrFormat("%s (%.1f ms)", *found, took.count())});
  } else {
    checks_.push_back({.name = name,
                       .outcome = CheckOutcome::kFailed,
                       .found = std::string(found.status().message()),
                       .advice = AdviceFor(found.status(), advice)});
  }
  return found.ok();
}

CqlServerOptions ServerChecks::Options() const {
  CqlServerOptions options;
  options.memory_limit_bytes = kRowsBytes;
  options.client_memory_bytes = kClientBytes;
  return options;
}

absl::StatusOr<std::string> ServerChecks::Start() {
  CqlServerOptions options = Options();
  options.server_clock = &clock_;
  // Without a certificate it is tried all the same, and TLS says why there is none.
  if (auto certificate = ThrowawayCertificate::Make(); certificate.ok()) {
    certificate_ = *std::move(certificate);
    options.tls = TlsOptions{.certificate_file = certificate_->path()};
    options.tls_port = 0;
  }
  LS_ASSIGN_OR_RETURN(server_, CqlServer::Start(options));
  LS_ASSIGN_OR_RETURN(client_, ConnectToPort(server_->cql_port()));
  return absl::StrCat("listens and answers on 127.0.0.1:", server_->cql_port());
}

absl::StatusOr<std::string> ServerChecks::MakeTable() {
  LS_RETURN_IF_ERROR(client_->Query(kMakeKeyspace).status());
  LS_RETURN_IF_ERROR(client_->Query(kMakeTable).status());
  return "a keyspace and a table are made";
}

absl::StatusOr<std::string> ServerChecks::Write() {
  LS_ASSIGN_OR_RETURN(
      const std::string statement,
      client_->Prepare("INSERT INTO selftest.clicks (user, ts, item) VALUES (?, ?, ?)"));
  CqlRows rows;
  for (int32_t i = 0; i < kRows; ++i) {
    const std::string ts = CqlInt(i), item = CqlBigint(i % 10);
    const std::string_view values[] = {"u1", ts, item};
    LS_RETURN_IF_ERROR(client_->Execute("an INSERT", statement, values, {}, &rows));
  }
  return absl::StrCat(kRows, " rows are written by a prepared statement");
}

absl::StatusOr<std::string> ServerChecks::Read() {
  const std::string of_user = " FROM selftest.clicks WHERE user = 'u1'";
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client_->Query("SELECT ts, item" + of_user));
  if (rows.size() != kRows) {
    return absl::DataLossError(absl::StrCat(rows.size(), " rows are read, not ", kRows));
  }
  for (int64_t i = 0; i < kRows; ++i) {
    const auto row = static_cast<size_t>(i);
    if (rows.Integer(row, 0) == i && rows.Integer(row, 1) == i % 10) continue;
    return absl::DataLossError(absl::StrCat("row ", i, " is read as ts ", rows.Integer(row, 0),
                                            ", item ", rows.Integer(row, 1), ", not as ", i,
                                            " and ", i % 10));
  }
  LS_RETURN_IF_ERROR(ExpectRow(*client_, "SELECT ts, item" + of_user + " ORDER BY ts DESC LIMIT 1",
                               {kRows - 1, 9}));
  return "they are read, and the newest first";
}

absl::StatusOr<std::string> ServerChecks::Expire() {
  LS_RETURN_IF_ERROR(
      client_
          ->Query("INSERT INTO selftest.clicks (user, ts, item) VALUES ('u2', 1, 1) USING TTL 60")
          .status());
  const std::string select = "SELECT ts FROM selftest.clicks WHERE user = 'u2'";
  const auto advance = [&](const std::string& by) {
    return client_->Query("UPDATE liststore.clock SET advance = " + by + " WHERE key = 'clock'")
        .status();
  };
  LS_RETURN_IF_ERROR(advance("59s"));
  LS_RETURN_IF_ERROR(ExpectRows(*client_, select, 1));
  LS_RETURN_IF_ERROR(advance("1s"));
  LS_RETURN_IF_ERROR(ExpectRows(*client_, select, 0));
  return "a row ends with its TTL, by a clock that is moved";
}

absl::StatusOr<std::string> ServerChecks::UseIndex() {
  LS_RETURN_IF_ERROR(
      client_->Query("CREATE INDEX clicks_by_item ON selftest.clicks ((user), item)").status());
  LS_RETURN_IF_ERROR(
      ExpectRows(*client_, "SELECT ts FROM selftest.clicks WHERE user = 'u1' AND item = 7", 10));
  return "rows are found by their value";
}

absl::StatusOr<std::string> ServerChecks::ConnectOverTls() {
  if (certificate_ == nullptr) return ThrowawayCertificate::Make().status();
  ClientTlsOptions tls;
  tls.ca_file = certificate_->path();
  LS_ASSIGN_OR_RETURN(const auto client, ConnectToPort(server_->tls_port(), tls));
  LS_RETURN_IF_ERROR(ExpectRows(*client, "SELECT key FROM system.local", 1));
  return absl::StrCat("a client connects on port ", server_->tls_port(),
                      ", and believes the certificate");
}

absl::StatusOr<std::string> ServerChecks::Keep() {
  LS_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::Make(folder_));
  CqlServerOptions options = Options();
  options.data_dir = folder->path() + "/data";
  options.commit_log = CqlServerOptions::CommitLog::kOs;
  {
    LS_ASSIGN_OR_RETURN(const auto server, CqlServer::Start(options));
    LS_ASSIGN_OR_RETURN(const auto client, ConnectToPort(server->cql_port()));
    for (const char* statement :
         {kMakeKeyspace, kMakeTable,
          "INSERT INTO selftest.clicks (user, ts, item) VALUES ('u1', 1, 7)"}) {
      LS_RETURN_IF_ERROR(client->Query(statement).status());
    }
    server->Stop();
    LS_RETURN_IF_ERROR(server->stop_status());
  }
  LS_ASSIGN_OR_RETURN(const auto server, CqlServer::Start(options));
  LS_ASSIGN_OR_RETURN(const auto client, ConnectToPort(server->cql_port()));
  LS_RETURN_IF_ERROR(
      ExpectRow(*client, "SELECT ts, item FROM selftest.clicks WHERE user = 'u1'", {1, 7}));
  return "what was written is there after a restart, in " + folder_;
}

std::vector<Check> ServerChecks::Run() && {
  const std::string bug = "this is a fault of liststore: please report it, with these lines";
  const auto step = [this](absl::StatusOr<std::string> (ServerChecks::*method)()) -> Step {
    return [this, method] { return (this->*method)(); };
  };
  if (Try("server", "a server needs a free port on 127.0.0.1, threads, files and about 100 MiB",
          step(&ServerChecks::Start)) &&
      Try("schema", bug, step(&ServerChecks::MakeTable)) &&
      Try("writes", bug, step(&ServerChecks::Write))) {
    Try("reads", bug, step(&ServerChecks::Read));
    Try("expiry", bug, step(&ServerChecks::Expire));
    Try("index", bug, step(&ServerChecks::UseIndex));
  }
  if (server_ != nullptr) {
    Try("TLS", "look at OpenSSL's configuration (OPENSSL_CONF)",
        step(&ServerChecks::ConnectOverTls));
  }
  client_.reset();
  server_.reset();
  Try("data directory",
      "'serve --data-dir' needs a file system that can be written to, with room; name another "
      "folder to try in TMPDIR",
      step(&ServerChecks::Keep));
  return std::move(checks_);
}

}  // namespace

std::vector<Check> CheckServer(const std::string& folder) {
  const EndingSignals signals;
  return ServerChecks(folder).Run();
}

}  // namespace liststore
