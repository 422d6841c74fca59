#include "tools/serve/start_lines.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "engine/base/strings.h"
#include "liststore/version.h"
#include "programs/console/host_port.h"
#include "programs/console/json_line.h"
#include "programs/console/text.h"
#include "tools/serve/server_options.h"

namespace liststore {
namespace {

bool AsksForPasswords(const ServeOptions& options) {
  return !options.auth.empty() || options.auth_by_scylla_config;
}

// Two columns.
void AppendRow(std::string_view name, std::string_view text, std::string& lines) {
  constexpr size_t kNameColumns = 13;
  absl::StrAppend(&lines, "  ", Padded(std::string(name), kNameColumns), ToAbsl(text), "\n");
}

std::string PortsText(const ServeOptions& options, uint16_t port, uint16_t shard_aware_port) {
  std::string text = HostPortText(options.address, port);
  if (shard_aware_port != 0) absl::StrAppend(&text, ", shard-aware ", shard_aware_port);
  return text;
}

std::string DataText(const ServeOptions& options) {
  if (options.demo) return "keyspace demo in memory; what is in memory goes with the process";
  if (options.data_dir.empty()) {
    return "in memory, and goes with the process (--data-dir DIR --commit-log periodic keeps it)";
  }
  return absl::StrCat(options.data_dir, ", commit log ", options.commit_log,
                      options.commit_log == "off" ? ": kept by snapshots alone" : "");
}

// What is typed next.
std::string ConnectText(const ServeOptions& options, const StartFacts& facts) {
  // Every interface can be reached at this one.
  const bool is_any = options.address == "0.0.0.0" || options.address == "::";
  const std::string host = is_any ? "127.0.0.1" : options.address;
  std::string text = absl::StrCat("liststore query --via ", HostPortText(host, facts.cql_port));
  if (facts.tls_port == facts.cql_port) absl::StrAppend(&text, " --tls");
  if (AsksForPasswords(options)) absl::StrAppend(&text, " --user NAME");
  return text;
}

}  // namespace

std::string ReadyJson(const ServeOptions& options, const StartFacts& facts) {
  JsonLine json;
  json.Count("cql_port", facts.cql_port);
  json.Count("shard_aware_port", facts.shard_aware_port);
  if (facts.tls_port != 0) {
    json.Count("tls_port", facts.tls_port);
    json.Count("tls_shard_aware_port", facts.tls_shard_aware_port);
  }
  if (facts.http_port != 0) json.Count("http_port", facts.http_port);
  if (facts.dynamodb_port != 0) json.Count("dynamodb_port", facts.dynamodb_port);
  json.Count("pid", static_cast<uint64_t>(facts.pid));
  json.Text("clock", facts.clock);
  json.Text("address", options.address);
  json.Count("shards", options.shards);
  json.Count("memory_limit_bytes", facts.memory_limit_bytes);
  json.Text("memory_policy", options.memory_policy);
  json.Text("instruments", HasInstruments(options) ? "on" : "off");
  json.Text("auth", AsksForPasswords(options) ? "on" : "off");
  if (!options.data_dir.empty()) {
    json.Text("data_dir", options.data_dir);
    json.Text("commit_log", options.commit_log);
  }
  json.Text("version", kVersion);
  return json.Finish();
}

std::string StartText(const ServeOptions& options, const StartFacts& facts) {
  std::string text = absl::StrCat("serves CQL on ", options.address, ", port ", facts.cql_port,
                                  ", shard-aware ", facts.shard_aware_port);
  if (facts.tls_port != 0) {
    absl::StrAppend(&text, "; TLS on port ", facts.tls_port, ", shard-aware ",
                    facts.tls_shard_aware_port);
  }
  if (facts.http_port != 0) absl::StrAppend(&text, "; HTTP on port ", facts.http_port);
  if (facts.dynamodb_port != 0) {
    absl::StrAppend(&text, "; DynamoDB on port ", facts.dynamodb_port);
  }
  absl::StrAppend(&text, "; ", options.shards, options.shards == 1 ? " shard" : " shards",
                  "; memory limit ", Bytes(facts.memory_limit_bytes), "; clock ", facts.clock);
  return text;
}

std::string StartLines(const ServeOptions& options, const StartFacts& facts) {
  std::string lines = absl::StrCat("liststore ", kVersion, " serves, process ", facts.pid, "\n");
  const bool is_tls_alone = facts.tls_port == facts.cql_port;
  AppendRow(is_tls_alone ? "CQL over TLS" : "CQL",
            PortsText(options, facts.cql_port, facts.shard_aware_port), lines);
  if (facts.tls_port != 0 && !is_tls_alone) {
    AppendRow("CQL over TLS", PortsText(options, facts.tls_port, facts.tls_shard_aware_port),
              lines);
  }
  if (facts.http_port != 0) {
    AppendRow("HTTP",
              absl::StrCat(facts.tls_port != 0 ? "https://" : "http://",
                           HostPortText(options.address, facts.http_port), "/"),
              lines);
  }
  if (facts.dynamodb_port != 0) {
    AppendRow("DynamoDB",
              absl::StrCat(facts.tls_port != 0 ? "https://" : "http://",
                           HostPortText(options.address, facts.dynamodb_port)),
              lines);
  }
  AppendRow("memory",
            absl::StrCat(
                Bytes(facts.memory_limit_bytes), " for the process; at the limit ",
                options.memory_policy == "evict" ? "partitions are evicted" : "writes are refused"),
            lines);
  AppendRow("shards", absl::StrCat(options.shards), lines);
  AppendRow("clock", facts.clock, lines);
  AppendRow("instruments", HasInstruments(options) ? "on" : "off", lines);
  AppendRow("logins", AsksForPasswords(options) ? "with a password" : "none are asked for", lines);
  AppendRow("data", DataText(options), lines);
  AppendRow("connect", ConnectText(options, facts), lines);
  // The demo says that itself, behind how to connect.
  return options.demo ? lines : lines + "Ctrl-C ends it.\n";
}

}  // namespace liststore
