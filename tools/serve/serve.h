// `liststore serve`: a node that speaks CQL, until it is told to stop.
#ifndef LISTSTORE_TOOLS_SERVE_SERVE_H_
#define LISTSTORE_TOOLS_SERVE_SERVE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/settings/setting.h"

namespace liststore {

// Where a setting's value comes from.
struct SettingOrigin {
  settings::SettingSource source = settings::SettingSource::kDefault;
  std::string place = {};  // "FILE:LINE", or the variable's name; empty: a flag, or nowhere

  bool operator==(const SettingOrigin&) const = default;
};

struct ServeOptions {
  std::string address = "127.0.0.1";
  uint16_t cql_port = 9042;  // 0: any free one
  // 0: any free one. Absent: 19042 if that is free and cql_port is not 0, else any free one.
  std::optional<uint16_t> shard_aware_port;
  std::optional<uint16_t> http_port;      // 0: any free one. Absent: no HTTP.
  std::optional<uint16_t> dynamodb_port;  // 0: any free one. Absent: none.
  std::string dynamodb_credentials_file;  // empty: none
  std::string ready_file;                 // empty: none
  bool json = false;                      // the line of JSON on a terminal, too, and no others
  // Of the environment, that look like an option's and are none's, with what may be meant.
  std::vector<std::string> unknown_variables;
  uint32_t shards = 1;  // 0: none are said, which looks like Cassandra
  // Of the process: rows, clients and the program. 0: three quarters of the machine's.
  uint64_t memory_limit_bytes = 0;
  std::string memory_policy = "reject";  // or "evict"
  // Of it, for what is held for clients. 0: an eighth, 16 MiB to 4 GiB.
  uint64_t client_memory_bytes = 0;
  // As the same of CqlServerOptions.
  uint32_t max_connections = 0;
  uint32_t max_connections_per_address = 0;
  uint32_t idle_timeout_seconds = 0;
  uint32_t queue_time_max_ms = 500;
  // Absent: but where anybody can reach them from elsewhere without a password.
  std::optional<bool> has_instruments;
  uint64_t populate_bytes = 0;  // made ready before clients can connect
  std::string like;             // as the same of CqlServerOptions
  std::optional<bool> looks_like_scylla;
  // "dc1,dc2": the data centres there are, the node's first. Empty: datacenter1, and keyspaces may
  // be in others too, but when `strict`.
  std::string data_centers;
  // As the same of CqlServerOptions.
  std::string rack = "rack1";
  std::string cluster_name = "liststore";
  std::string release_version;
  // "user:password", or "user" and a file with the password; empty: nobody logs in, but
  std::string auth;
  std::string auth_password_file;      // empty: none
  bool auth_by_scylla_config = false;  // where ScyllaDB's options ask for it
  // Files of TLS, as the same of TlsOptions; no certificate: no TLS.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_ca;
  bool tls_requires_client_certificate = false;
  std::string tls_min_version = "1.2";  // or "1.3"
  std::string tls_ciphers;
  // 0: any free one. Absent: 9142, with cql_port 0 any free one.
  std::optional<uint16_t> tls_port;
  // 0: any free one. Absent: 19142 with 9142, else any free one.
  std::optional<uint16_t> tls_shard_aware_port;
  bool tls_only = false;  // cql_port and shard_aware_port take TLS, and there are no others
  // No flags: ScyllaDB's options may say that of one of them.
  bool cql_port_is_tls = false;
  bool shard_aware_port_is_tls = false;
  // Where everything is kept; empty: nowhere.
  std::string data_dir;
  std::string commit_log = "off";  // or "os", "periodic" or "sync"
  uint32_t commit_log_period_ms = 10;
  uint64_t commit_log_segment_bytes = uint64_t{32} << 20;
  uint64_t snapshot_log_bytes = uint64_t{1} << 30;  // 0: none for that
  uint32_t snapshot_period_seconds = 0;             // 0: none
  std::string snapshot_compression = "none";        // or "zstd"
  bool save_at_end = false;
  std::string from;  // a snapshot; empty: none
  // Or "manual", "manual:" and the seconds since the epoch, "scaled:" and a decimal factor.
  std::string clock = "real";
  // Absent: while the clock is not the real one, of which clients know nothing.
  std::optional<bool> replaces_client_timestamps;
  bool demo = false;                        // a few lists to begin with
  uint64_t journal_entries = 10'000;        // requests that are remembered; 0: none
  bool until_eof = false;                   // ends with standard input too
  bool strict = false;                      // what was refused makes the exit status 3
  std::string log_level = "info";           // "error", "warning", "info" or "debug"
  std::string log_format = "text";          // or "json"
  std::string log_slow_requests = "0";      // "100ms", "2s"; 0: none
  std::string scylla_config;                // a scylla.yaml; empty: none
  std::vector<std::string> scylla_options;  // "NAME=VALUE"; come before the file's
  // One for each of them; where there are fewer, the others are flags.
  std::vector<SettingOrigin> scylla_option_origins;
  std::string config_file;    // that was read; empty: none
  bool print_config = false;  // says what the settings are, and ends
  // By the name of its flag; those that are not here are defaults.
  std::map<std::string, SettingOrigin, std::less<>> sources;
};

// What the flags, the environment and the configuration file come to now; InvalidArgument: as when the program is
// started. Empty: there is no file that could have changed.
using RereadOptions = std::function<absl::StatusOr<ServeOptions>()>;

// Serves until SIGTERM or SIGINT. When clients can connect, one line of JSON says where, on
// standard output and in the ready file; on a terminal some lines for people do, unless `json`.
// Everything else goes to standard error. Returns the exit
// status: 0 after a stop that was asked for; 3 when `strict` and something was asked for that
// liststore does not do, which is listed then; kExitPortTaken; else 2. `reread`: asked on SIGHUP.
int RunServe(const ServeOptions& options, const RereadOptions& reread);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SERVE_H_
