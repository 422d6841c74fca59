#include "tools/serve/server_options.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/machine_limits.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

// A process with less has no room for rows beside the program.
constexpr uint64_t kProcessBytesMin = uint64_t{64} << 20;

// What the program takes beside rows and clients: itself, its threads, what a turn of each works
// in, and what is lost between the sizes of blocks.
uint64_t ProgramBytes(uint64_t process_bytes) { return (uint64_t{28} << 20) + process_bytes / 32; }

// Of these, what is for large requests while they are dealt with. What remains is for the program
// itself (some 18 MiB, of which 13 are the file), some tables, scratch of its threads (2 MiB a loop), and holes between blocks of the heap.
uint64_t WorkBytes(uint64_t process_bytes) {
  return std::clamp(process_bytes / 16, uint64_t{8} << 20, uint64_t{512} << 20);
}

// `client_bytes`: that were asked for; 0: an eighth of the process's. `name`: of what says
// `process_bytes`. `hint`: how a larger one is written.
absl::StatusOr<CqlMemoryShares> DivideMemory(uint64_t process_bytes, uint64_t client_bytes,
                                             std::string_view name, std::string_view hint = {}) {
  if (process_bytes < kProcessBytesMin) {
    return absl::InvalidArgumentError(absl::StrCat(ToAbsl(name), " is ", process_bytes,
                                                   " bytes, less than ", kProcessBytesMin,
                                                   ": it is for the whole process", ToAbsl(hint)));
  }
  CqlMemoryShares shares;
  shares.client_bytes = client_bytes != 0
                            ? client_bytes
                            : std::clamp(process_bytes / 8, uint64_t{16} << 20, uint64_t{4} << 30);
  const uint64_t taken = ProgramBytes(process_bytes) + shares.client_bytes;
  constexpr uint64_t kRowsMin = uint64_t{1} << 20;
  if (shares.client_bytes > process_bytes || taken + kRowsMin > process_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--client-memory of ", shares.client_bytes,
                     " bytes leaves no memory for rows: ", ToAbsl(name), " is ", process_bytes,
                     ", and the program takes ", ProgramBytes(process_bytes)));
  }
  shares.rows_bytes = process_bytes - taken;
  return shares;
}

absl::Status ShareMemory(const ServeOptions& options, CqlServerOptions& server) {
  uint64_t process_bytes = options.memory_limit_bytes;
  if (process_bytes == 0) {
    const uint64_t machine_bytes = ReadMachineLimits({.cores = false}).memory_bytes;
    if (machine_bytes == 0) {
      return absl::FailedPreconditionError(
          "the machine does not say how much memory it has (/proc/meminfo): --memory-limit has to, "
          "as "
          "--memory-limit 4G");
    }
    process_bytes = std::max(DefaultMemoryLimitBytes(machine_bytes), kProcessBytesMin);
  }
  const uint64_t client_bytes = options.client_memory_bytes;
  LS_ASSIGN_OR_RETURN(const CqlMemoryShares shares,
                      DivideMemory(process_bytes, client_bytes, "--memory-limit",
                                   "; K, M and G stand for units, as in 4G"));
  server.memory_limit_bytes = shares.rows_bytes;
  server.client_memory_bytes = shares.client_bytes;
  server.process_memory_bytes = process_bytes;
  server.work_memory_bytes = WorkBytes(process_bytes);
  server.divide_memory = [client_bytes](uint64_t bytes) {
    return DivideMemory(bytes, client_bytes, "limit_bytes");
  };
  return absl::OkStatus();
}

bool IsLoopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

// No client comes in without a certificate.
bool AsksForCertificates(const ServeOptions& options) {
  const bool is_tls_alone =
      options.tls_only || (options.cql_port_is_tls && options.shard_aware_port_is_tls);
  return !options.tls_certificate.empty() && options.tls_requires_client_certificate &&
         is_tls_alone;
}

absl::Status ChooseTls(const ServeOptions& options, CqlServerOptions& server) {
  if (options.tls_certificate.empty()) {
    const std::pair<std::string_view, bool> asked[] = {
        {"tls-key", !options.tls_key.empty()},
        {"tls-ca", !options.tls_ca.empty()},
        {"tls-require-client-certificate", options.tls_requires_client_certificate},
        {"tls-port", options.tls_port.has_value()},
        {"tls-shard-aware-port", options.tls_shard_aware_port.has_value()},
        {"tls-only", options.tls_only},
        {"tls-ciphers", !options.tls_ciphers.empty()}};
    for (const auto& [flag, is_asked] : asked) {
      if (!is_asked) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", ToAbsl(flag), " is given, but no --tls-certificate"));
    }
    return absl::OkStatus();
  }
  if (options.tls_only && (options.tls_port || options.tls_shard_aware_port)) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.tls_port ? "--tls-port" : "--tls-shard-aware-port",
                     ": with --tls-only, --cql-port and --shard-aware-port are the ports of TLS"));
  }
  LS_ASSIGN_OR_RETURN(server.tls, TlsOptionsOf(options));
  if (options.tls_only) return absl::OkStatus();
  if (!options.cql_port_is_tls) {
    server.tls_port = options.tls_port.value_or(options.cql_port == 0 ? 0 : kTlsPort);
  }
  if (!options.shard_aware_port_is_tls) {
    const bool is_default = server.tls_port == kTlsPort;
    server.tls_shard_aware_port =
        options.tls_shard_aware_port.value_or(is_default ? kTlsShardAwarePort : 0);
  }
  return absl::OkStatus();
}

// The first line of a file, which may be without an end.
absl::StatusOr<std::string> ReadPassword(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--auth-password-file ", path, ": ",
                     file.is_open() ? "has no line with a password" : strerror(errno)));
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--auth-password-file ", path, ": its first line is empty"));
  }
  return line;
}

// A file of access keys, whole.
absl::StatusOr<std::string> ReadCredentials(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dynamodb-credentials-file ", path, ": ", strerror(errno)));
  }
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dynamodb-credentials-file ", path, ": it is empty"));
  }
  return text;
}

absl::Status CheckCredentials(const ServeOptions& options) {
  const bool has_file = !options.auth_password_file.empty();
  if (options.auth.empty()) {
    if (!has_file) return absl::OkStatus();
    return absl::InvalidArgumentError("--auth-password-file is for the user that --auth names");
  }
  const size_t colon = options.auth.find(':');
  if (has_file) {
    if (colon == std::string::npos) return absl::OkStatus();
    return absl::InvalidArgumentError("--auth has a password, and so has --auth-password-file");
  }
  const bool has_both =
      colon != std::string::npos && colon != 0 && colon + 1 != options.auth.size();
  if (has_both) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--auth is not USER:PASSWORD, nor USER with --auth-password-file");
}

absl::Status TakeCredentials(const ServeOptions& options, CqlServerOptions& server) {
  LS_RETURN_IF_ERROR(CheckCredentials(options));
  if (options.auth.empty()) return absl::OkStatus();
  const size_t colon = options.auth.find(':');
  server.user = options.auth.substr(0, colon);
  if (options.auth_password_file.empty()) {
    server.password = options.auth.substr(colon + 1);
    return absl::OkStatus();
  }
  LS_ASSIGN_OR_RETURN(server.password, ReadPassword(options.auth_password_file));
  return absl::OkStatus();
}

absl::Status ChooseKeeping(const ServeOptions& options, CqlServerOptions& server) {
  using CommitLog = CqlServerOptions::CommitLog;
  if (options.data_dir.empty() && options.commit_log != "off") {
    return absl::InvalidArgumentError(
        "--commit-log is given, but no --data-dir DIR in which the log would be");
  }
  if (options.demo && !(options.data_dir.empty() && options.from.empty())) {
    return absl::InvalidArgumentError(
        "--demo is of a store of its own, not together with --data-dir or --from");
  }
  if (options.data_dir.empty() && (options.save_at_end || options.snapshot_period_seconds != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.save_at_end ? "--save-at-end" : "--snapshot-period",
                     " is given, but no --data-dir for snapshots"));
  }
  server.data_dir = options.data_dir;
  server.commit_log = options.commit_log == "os"         ? CommitLog::kOs
                      : options.commit_log == "periodic" ? CommitLog::kPeriodic
                      : options.commit_log == "sync"     ? CommitLog::kSync
                                                         : CommitLog::kOff;
  server.commit_log_period_ms = options.commit_log_period_ms;
  server.commit_log_segment_bytes = options.commit_log_segment_bytes;
  server.snapshot_log_bytes = options.snapshot_log_bytes;
  server.snapshot_period_seconds = options.snapshot_period_seconds;
  server.snapshot_compression = options.snapshot_compression == "zstd" ? SnapshotCompression::kZstd
                                                                       : SnapshotCompression::kNone;
  server.snapshot_at_end = options.save_at_end;
  server.from_snapshot = options.from;
  return absl::OkStatus();
}

// "100ms", "2s", "0" or milliseconds without a unit; at most an hour.
absl::StatusOr<uint32_t> SlowRequestMillis(std::string_view text) {
  constexpr uint32_t kMillisMax = 3'600'000;
  const bool is_in_millis = text.ends_with("ms");
  const bool is_in_seconds = !is_in_millis && text.ends_with("s");
  const std::string_view number = text.substr(0, text.size() - (is_in_millis    ? 2
                                                                : is_in_seconds ? 1
                                                                                : 0));
  uint32_t value = 0;
  if (!absl::SimpleAtoi(ToAbsl(number), &value) ||
      value > kMillisMax / (is_in_seconds ? 1000 : 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--log-slow-requests '", ToAbsl(text),
                     "' is no time as 100ms or 2s, an hour at most, or 0 for none"));
  }
  return is_in_seconds ? value * 1000 : value;
}

}  // namespace

absl::StatusOr<TlsOptions> TlsOptionsOf(const ServeOptions& options) {
  TlsOptions tls;
  tls.certificate_file = options.tls_certificate;
  tls.key_file = options.tls_key;
  tls.ca_file = options.tls_ca;
  if (options.tls_requires_client_certificate && options.tls_ca.empty()) {
    return absl::InvalidArgumentError(
        "--tls-require-client-certificate: --tls-ca has to name the CAs that sign them");
  }
  tls.require_client_certificate = options.tls_requires_client_certificate;
  tls.min_version = options.tls_min_version == "1.3" ? TlsVersion::k1_3 : TlsVersion::k1_2;
  tls.ciphers = options.tls_ciphers;
  return tls;
}

MemoryPolicy MemoryPolicyOf(const ServeOptions& options) {
  return options.memory_policy == "evict" ? MemoryPolicy::kEvict : MemoryPolicy::kReject;
}

bool IsOpen(const ServeOptions& options) {
  return options.auth.empty() && !options.auth_by_scylla_config && !IsLoopback(options.address) &&
         !AsksForCertificates(options);
}

bool HasInstruments(const ServeOptions& options) {
  return options.has_instruments.value_or(!IsOpen(options));
}

absl::Status CheckValues(const ServeOptions& options) {
  LS_RETURN_IF_ERROR(SlowRequestMillis(options.log_slow_requests).status());
  if (!options.dynamodb_credentials_file.empty() && !options.dynamodb_port) {
    return absl::InvalidArgumentError(
        "--dynamodb-credentials-file is given, but no --dynamodb-port");
  }
  return CheckCredentials(options);
}

absl::StatusOr<CqlServerOptions> ToServerOptions(const ServeOptions& options,
                                                 std::vector<ScyllaOption> scylla) {
  CqlServerOptions server;
  server.scylla_options = std::move(scylla);
  server.max_connections = options.max_connections;
  server.max_connections_per_address = options.max_connections_per_address;
  server.idle_timeout_seconds = options.idle_timeout_seconds;
  server.queue_time_max_ms = options.queue_time_max_ms;
  server.instruments = HasInstruments(options);
  server.address = options.address;
  server.cql_port = options.cql_port;
  server.shard_aware_port = options.shard_aware_port;
  server.http_port = options.http_port;
  server.dynamodb_port = options.dynamodb_port;
  if (!options.dynamodb_credentials_file.empty()) {
    LS_ASSIGN_OR_RETURN(server.dynamodb_credentials,
                        ReadCredentials(options.dynamodb_credentials_file));
  }
  server.shards = options.shards;
  LS_RETURN_IF_ERROR(ChooseTls(options, server));
  LS_RETURN_IF_ERROR(ShareMemory(options, server));
  // Of a demo the store's is.
  if (!options.demo) server.memory_policy = MemoryPolicyOf(options);
  server.populate_bytes = options.populate_bytes;
  server.like = options.like;
  server.looks_like_scylla = options.looks_like_scylla;
  server.journal_entries = options.journal_entries;
  LS_ASSIGN_OR_RETURN(server.slow_request_ms, SlowRequestMillis(options.log_slow_requests));
  server.refuses_unknown_data_centers = options.strict || !options.data_centers.empty();
  if (!options.data_centers.empty()) {
    server.other_data_centers = absl::StrSplit(options.data_centers, ',');
    server.data_center = server.other_data_centers.front();
    server.other_data_centers.erase(server.other_data_centers.begin());
  }
  server.rack = options.rack;
  server.cluster_name = options.cluster_name;
  server.release_version = options.release_version;
  using ClientTimestamps = CqlServerOptions::ClientTimestamps;
  if (options.replaces_client_timestamps) {
    server.client_timestamps = *options.replaces_client_timestamps ? ClientTimestamps::kReplace
                                                                   : ClientTimestamps::kHonour;
  }
  LS_RETURN_IF_ERROR(TakeCredentials(options, server));
  LS_RETURN_IF_ERROR(ChooseKeeping(options, server));
  return server;
}

}  // namespace liststore
