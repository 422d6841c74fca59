#include "tools/serve/serve_settings.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace liststore {
namespace {

using T = settings::SettingType;
using S = ServeOptions;

// Headings of help.
constexpr char kConnecting[] = "Where clients connect";
constexpr char kMachine[] = "Cores and memory";
constexpr char kClients[] = "What clients may take";
constexpr char kLook[] = "What clients see";
constexpr char kLogins[] = "Passwords";
constexpr char kTls[] = "TLS";
constexpr char kTests[] = "Time and tests";
constexpr char kKept[] = "What is kept";
constexpr char kProgram[] = "The program";

// The defaults are those of ServeOptions; where it has none, what stands for it.
const std::vector<ServeSetting>& Table() {
  static const std::vector<ServeSetting> kTable = {
      {.setting =
           {"address", T::kText, "127.0.0.1", false,
            "IPv4 or IPv6 address to listen on; a port may follow, as "
            "127.0.0.1:9042 or [::1]:9042, and\nis that of CQL where --cql-port is not given"},
       .field = &S::address,
       .group = kConnecting,
       .shows_default = true},
      {.setting = {"cql-port", T::kUint16, "9042", false, "Port of CQL; 0: any free one"},
       .field = &S::cql_port,
       .group = kConnecting,
       .shows_default = true},
      {.setting = {"shard-aware-port", T::kUint16, "19042 if free; any with --cql-port 0", false,
                   "Port where the client's own port chooses the shard; 0: any free one "
                   "[19042 if free; any with --cql-port 0]"},
       .field = &S::shard_aware_port,
       .group = kConnecting},
      {.setting = {"http-port", T::kUint16, "", false,
                   "Port of HTTP: a page, metrics, health and an API; 0: any free one [no HTTP]"},
       .field = &S::http_port,
       .group = kConnecting},
      {.setting = {"dynamodb-port", T::kUint16, "", false,
                   "Port of DynamoDB's API; 0: any free one [no DynamoDB]"},
       .field = &S::dynamodb_port,
       .group = kConnecting},
      {.setting = {"ready-file", T::kText, "", false, "Write this when clients can connect"},
       .field = &S::ready_file,
       .group = kConnecting,
       .value = "FILE"},
      {.setting = {"json", T::kBoolean, "false", false,
                   "Say on a terminal, too, that clients can connect by the line of JSON alone"},
       .field = &S::json,
       .group = kConnecting},
      {.setting = {"shards", T::kUint32, "1", false,
                   "Shards, with a thread each; off: look like Cassandra, which has none"},
       .field = &S::shards,
       .group = kMachine,
       .value = "1..256|off",
       .shows_default = true,
       .most = 256,
       .word = "off"},
      {.setting = {"memory-limit", T::kBytes, "three quarters of the machine's", true,
                   "Limit on memory of the process, K, M and G as powers of 1024; superusers "
                   "change it\nin the table liststore.memory [three quarters of the machine's]"},
       .field = &S::memory_limit_bytes,
       .group = kMachine},
      {.setting = {"memory-policy", T::kText, "reject", false,
                   "At the limit, refuse writes; or evict partitions that were not read lately, as "
                   "a\ncache does"},
       .field = &S::memory_policy,
       .group = kMachine,
       .shows_default = true,
       .words = {"reject", "evict"}},
      {.setting =
           {"client-memory", T::kBytes, "an eighth of it, 16M to 4G", false,
            "Of it, for what is held for clients: requests, answers, prepared statements, journal\n"
            "[an eighth, 16M to 4G]"},
       .field = &S::client_memory_bytes,
       .group = kMachine},
      {.setting = {"populate", T::kBytes, "0", false,
                   "Memory for data that is taken from the system before clients can connect [0]"},
       .field = &S::populate_bytes,
       .group = kMachine},
      {.setting = {"max-connections", T::kUint32, "what the limit on open files leaves", false,
                   "Connections at the same time; the last are kept for addresses with few\n"
                   "[what the limit on open files leaves]"},
       .field = &S::max_connections,
       .group = kClients,
       .value = "N"},
      {.setting = {"max-connections-per-address", T::kUint32, "three quarters of all", false,
                   "The same for each address [three quarters of all]"},
       .field = &S::max_connections_per_address,
       .group = kClients,
       .value = "N"},
      {.setting = {"idle-timeout", T::kUint32, "0", false,
                   "Close connections that have sent nothing for so long; 0: never"},
       .field = &S::idle_timeout_seconds,
       .group = kClients,
       .value = "SECONDS",
       .shows_default = true},
      {.setting = {"queue-time-max", T::kUint32, "500", false,
                   "Refuse requests that have waited longer to be read, when all have for a while; "
                   "0: none"},
       .field = &S::queue_time_max_ms,
       .group = kClients,
       .value = "MILLISECONDS",
       .shows_default = true},
      {.setting = {"data-center", T::kText, "datacenter1, and keyspaces may name others", false,
                   "Data centres that there are, the node's first; keyspaces may be in no others\n"
                   "[datacenter1, and keyspaces may name others]"},
       .field = &S::data_centers,
       .group = kLook,
       .value = "NAME[,NAME...]"},
      {.setting = {"rack", T::kText, "rack1", false, "Its rack"},
       .field = &S::rack,
       .group = kLook,
       .value = "NAME",
       .shows_default = true},
      {.setting = {"cluster-name", T::kText, "liststore", false, "Name of the cluster"},
       .field = &S::cluster_name,
       .group = kLook,
       .value = "NAME",
       .shows_default = true},
      {.setting = {"release-version", T::kText, "", false,
                   "Version that drivers see: scylla-2025.1 is a ScyllaDB; 3.11.17 or 4.1, with "
                   "--scylla\noff, a Cassandra in what else it has, too"},
       .field = &S::release_version,
       .group = kLook,
       .value = "VERSION"},
      {.setting =
           {"like", T::kText, "scylla:2025.1", false,
            "Look and answer like this database, its rules of CQL included; --shards, --scylla "
            "and\n--release-version, where they are given, count before it. Not given: as the "
            "schema of\n--data-dir or --from was made"},
       .field = &S::like,
       .group = kLook,
       .words = {"scylla:2025.1", "cassandra:3.11", "cassandra:4.1", "cassandra:5.0"}},
      {.setting = {"scylla", T::kSwitch, "on", false, "Look like ScyllaDB in every detail"},
       .field = &S::looks_like_scylla,
       .group = kLook,
       .value = "on|off",
       .choices = {{"on", true}, {"off", false}}},
      {.setting = {"scylla-config", T::kText, "", false,
                   "Take ScyllaDB's options from this scylla.yaml"},
       .field = &S::scylla_config,
       .group = kLook,
       .value = "FILE"},
      {.setting =
           {"scylla-option", T::kTexts, "", false,
            "An option of ScyllaDB, by its name in scylla.yaml; may be given again. In the file "
            "of --config\nthey are lines NAME = VALUE below [scylla-option]"},
       .field = &S::scylla_options,
       .group = kLook,
       .value = "NAME=VALUE"},
      {.setting = {"auth", T::kText, "", false,
                   "Ask clients for name and password; this superuser may make other roles"},
       .field = &S::auth,
       .group = kLogins,
       .value = "USER[:PASSWORD]"},
      {.setting = {"auth-password-file", T::kText, "", false,
                   "The first line of this file is the password of --auth USER"},
       .field = &S::auth_password_file,
       .group = kLogins,
       .value = "FILE"},
      {.setting = {"dynamodb-credentials-file", T::kText, "", false,
                   "Take requests of DynamoDB's API that are signed by an access key of this file, "
                   "which\nhas ID and secret on a line; others are refused [signatures are not "
                   "looked at]"},
       .field = &S::dynamodb_credentials_file,
       .group = kLogins,
       .value = "FILE"},
      {.setting =
           {"tls-certificate", T::kText, "", false,
            "Certificate for TLS, in PEM form, with those between it and its CA; read again\n"
            "on SIGHUP, as the two files below, and where the file of --config names others"},
       .field = &S::tls_certificate,
       .group = kTls,
       .value = "FILE",
       .is_reread = true},
      {.setting = {"tls-key", T::kText, "in the certificate's file", false,
                   "Its private key, without a passphrase [in the certificate's file]"},
       .field = &S::tls_key,
       .group = kTls,
       .value = "FILE",
       .is_reread = true},
      {.setting = {"tls-ca", T::kText, "", false, "CAs that sign the certificates of clients"},
       .field = &S::tls_ca,
       .group = kTls,
       .value = "FILE",
       .is_reread = true},
      {.setting = {"tls-require-client-certificate", T::kBoolean, "false", false,
                   "Let no client in over TLS without a certificate of one of these"},
       .field = &S::tls_requires_client_certificate,
       .group = kTls},
      {.setting = {"tls-port", T::kUint16, "9142; any with --cql-port 0", false,
                   "Port of CQL over TLS, beside the plain one; 0: any free one\n"
                   "[9142; any with --cql-port 0]"},
       .field = &S::tls_port,
       .group = kTls},
      {.setting = {"tls-shard-aware-port", T::kUint16, "19142 with 9142, else any", false,
                   "The same of the shard-aware port [19142 with 9142, else any]"},
       .field = &S::tls_shard_aware_port,
       .group = kTls},
      {.setting = {"tls-only", T::kBoolean, "false", false,
                   "No plain ports: --cql-port and --shard-aware-port take TLS"},
       .field = &S::tls_only,
       .group = kTls},
      {.setting = {"tls-min-version", T::kText, "1.2", false, "The oldest TLS that is spoken"},
       .field = &S::tls_min_version,
       .group = kTls,
       .shows_default = true,
       .words = {"1.2", "1.3"},
       .is_reread = true},
      {.setting = {"tls-ciphers", T::kText, "OpenSSL's", false,
                   "Cipher suites in OpenSSL's names, those of TLS 1.3 (TLS_...) among them\n"
                   "[OpenSSL's]"},
       .field = &S::tls_ciphers,
       .group = kTls,
       .value = "NAME[:NAME...]",
       .is_reread = true},
      {.setting = {"instruments", T::kText,
                   "on; off where --address is not this machine's own and there is no --auth",
                   false,
                   "The tables liststore.data, clock, faults, requests, journal and lint\n"
                   "[on; off where --address is not this machine's own and there is no --auth]"},
       .field = &S::has_instruments,
       .group = kTests,
       .value = "on|off",
       .choices = {{"on", true}, {"off", false}}},
      {.setting =
           {"clock", T::kText, "real", true,
            "Time runs; stands still until it is moved (at START, in seconds since 1970); or\n"
            "runs FACTOR times as fast. Clients change it in the table liststore.clock"},
       .field = &S::clock,
       .group = kTests,
       .value = "real|manual[:START]|scaled:FACTOR",
       .shows_default = true},
      {.setting =
           {"client-timestamps", T::kText, "honour while the clock is real, else replace", false,
            "Timestamps of writes are the client's (the default while the clock is real), or\n"
            "always the server's (the default while it is not)"},
       .field = &S::replaces_client_timestamps,
       .group = kTests,
       .value = "honour|replace",
       .choices = {{"honour", false}, {"replace", true}}},
      {.setting = {"data-dir", T::kText, "", false,
                   "Keep what is written in this directory, and begin with what is there"},
       .field = &S::data_dir,
       .group = kKept,
       .value = "DIR"},
      {.setting = {"commit-log", T::kText, "off", false,
                   "With it: write down everything before it is answered (os), synchronised every\n"
                   "period, or before it is answered (sync); docs/durability.md"},
       .field = &S::commit_log,
       .group = kKept,
       .shows_default = true,
       .words = {"off", "os", "periodic", "sync"}},
      {.setting = {"commit-log-period", T::kUint32, "10", false,
                   "Between two synchronisations with --commit-log periodic"},
       .field = &S::commit_log_period_ms,
       .group = kKept,
       .value = "MILLISECONDS",
       .shows_default = true},
      {.setting = {"commit-log-segment", T::kBytes, "33554432", false,
                   "Size of the log's files, 2M to 1G"},
       .field = &S::commit_log_segment_bytes,
       .group = kKept,
       .shows_default = true},
      {.setting =
           {"snapshot-log", T::kBytes, "1073741824", false,
            "Take a snapshot of everything, and drop the log before it, when the log has grown\n"
            "by this; 0: not for that. Others are taken on SIGUSR1, and by the table\n"
            "liststore.snapshots"},
       .field = &S::snapshot_log_bytes,
       .group = kKept,
       .shows_default = true},
      {.setting = {"snapshot-period", T::kUint32, "0", false,
                   "Take one after this time, too; 0: never"},
       .field = &S::snapshot_period_seconds,
       .group = kKept,
       .value = "SECONDS",
       .shows_default = true},
      {.setting = {"snapshot-compression", T::kText, "none", false,
                   "How snapshots are written; they are read either way"},
       .field = &S::snapshot_compression,
       .group = kKept,
       .shows_default = true,
       .words = {"none", "zstd"}},
      {.setting = {"save-at-end", T::kBoolean, "false", false, "Take one when it is told to stop"},
       .field = &S::save_at_end,
       .group = kKept},
      {.setting = {"from", T::kText, "", false,
                   "Begin with this snapshot; a --data-dir has to be empty then"},
       .field = &S::from,
       .group = kKept,
       .value = "FILE"},
      {.setting = {"demo", T::kBoolean, "false", false,
                   "Begin with a few lists in keyspace demo, and say how to connect"},
       .field = &S::demo,
       .group = kTests},
      {.setting = {"journal", T::kUint64, "10000", true,
                   "Remember the last N requests, in the table liststore.requests; 0: none"},
       .field = &S::journal_entries,
       .group = kTests,
       .value = "N",
       .shows_default = true,
       .most = 100'000},
      {.setting = {"until-eof", T::kBoolean, "false", false, "End when standard input ends"},
       .field = &S::until_eof,
       .group = kTests},
      {.setting = {"strict", T::kBoolean, "false", false,
                   "End with status 3 when something was refused that ScyllaDB does; refuse data\n"
                   "centres that are not there"},
       .field = &S::strict,
       .group = kTests},
      {.setting = {"log-level", T::kText, "info", true,
                   "What is said on standard error; on SIGHUP it is read again from the file of "
                   "--config"},
       .field = &S::log_level,
       .group = kProgram,
       .shows_default = true,
       .words = {"error", "warning", "info", "debug"},
       .is_reread = true},
      {.setting = {"log-format", T::kText, "text", false,
                   "Lines for people, or of JSON with time, level, event and what belongs to it"},
       .field = &S::log_format,
       .group = kProgram,
       .shows_default = true,
       .words = {"text", "json"}},
      {.setting = {"log-slow-requests", T::kText, "0", false,
                   "Log requests that take so long, with the statement's text, as 100ms or 2s; 0: "
                   "none"},
       .field = &S::log_slow_requests,
       .group = kProgram,
       .value = "TIME",
       .shows_default = true},
      {.setting =
           {"print-config", T::kBoolean, "false", false,
            "Print every setting with its value and where that comes from, and end: as a file "
            "for --config,\nor with --json as JSON"},
       .field = &S::print_config,
       .group = kProgram,
       .is_question = true},
  };
  return kTable;
}

std::string ChoiceText(const ServeSetting& setting, bool value) {
  for (const auto& [word, means] : setting.choices) {
    if (means == value) return std::string(word);
  }
  return value ? "true" : "false";
}

}  // namespace

std::span<const ServeSetting> ServeSettings() { return Table(); }

std::string ValueText(const ServeSetting& setting, const ServeOptions& options) {
  return std::visit(
      [&](auto field) -> std::string {
        const auto& value = options.*field;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          return value;
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          std::string joined;
          for (const std::string& element : value) {
            absl::StrAppend(&joined, joined.empty() ? "" : " ", element);
          }
          return joined;
        } else if constexpr (std::is_same_v<Value, bool>) {
          return ChoiceText(setting, value);
        } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
          return value ? ChoiceText(setting, *value) : "";
        } else if constexpr (std::is_same_v<Value, std::optional<uint16_t>>) {
          return value ? std::to_string(*value) : "";
        } else {
          return value == 0 && !setting.word.empty() ? std::string(setting.word)
                                                     : std::to_string(value);
        }
      },
      setting.field);
}

}  // namespace liststore
