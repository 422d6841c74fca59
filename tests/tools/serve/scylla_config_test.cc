// What `liststore serve` takes from a scylla.yaml, a configuration file, the environment and its flags.
#include "tools/serve/scylla_config.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/conformance/cql_session.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"
#include "tools/serve/scylla_yaml.h"
#include "tools/serve/serve_settings.h"

namespace liststore::testing {
namespace scylla_config_test {

// In the shape of the file that ScyllaDB's packages bring.
constexpr char kScyllaYaml[] = R"(# Scylla storage config YAML
cluster_name: 'Orders of the test'
num_tokens: 16
data_file_directories:
    - /var/lib/scylla/data
    - /mnt/second disk
commitlog_directory: /var/lib/scylla/commitlog
commitlog_sync: periodic
commitlog_sync_period_in_ms: 10000
seed_provider:
    # The addresses of hosts deemed contact points.
    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
      parameters:
          - seeds: "127.0.0.1,127.0.0.2"
listen_address: localhost
native_transport_port: 0
native_shard_aware_transport_port: 0
read_request_timeout_in_ms: 5000
cas_contention_timeout_in_ms: 1000
endpoint_snitch: SimpleSnitch
rpc_address: 127.0.0.1
api_port: 10000
batch_size_warn_threshold_in_kb: 128
batch_size_fail_threshold_in_kb: 2
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
authenticator: PasswordAuthenticator
initial_token:
broadcast_address: null
server_encryption_options:
    internode_encryption: none
    certificate: conf/scylla.crt
client_encryption_options: {enabled: false}
hinted_handoff_enabled: 'enabled'
developer_mode: Yes
experimental_features: [udf, alternator-streams]
strict_is_not_null_in_views: true
strict_allow_filtering: &strict "true"
restrict_twcs_without_default_ttl: *strict
minimum_replication_factor_warn_threshold: -1
replication_strategy_warn_list: []
rocket_fuel: 7
)";

TEST(ScyllaYaml, ItsValuesAreTextsWithTheirLines) {
  const auto entries = ParseScyllaYaml(kScyllaYaml, "scylla.yaml");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  const auto value_of = [&](const std::string& name) -> std::string {
    for (const ScyllaYamlEntry& entry : *entries) {
      if (entry.name == name) return entry.value;
    }
    return "none";
  };
  EXPECT_EQ((*entries)[1].name, "num_tokens");
  EXPECT_EQ((*entries)[1].line, 3u);
  EXPECT_EQ(value_of("cluster_name"), "Orders of the test");
  EXPECT_EQ(value_of("data_file_directories"), "[/var/lib/scylla/data,\"/mnt/second disk\"]");
  EXPECT_EQ(value_of("client_encryption_options"), "{enabled:false}");
  EXPECT_EQ(value_of("replication_strategy_warn_list"), "[]");
  EXPECT_EQ(value_of("restrict_twcs_without_default_ttl"), "true") << "an alias";
  EXPECT_EQ(value_of("initial_token"), "none");
  EXPECT_EQ(value_of("broadcast_address"), "none");
  EXPECT_TRUE(ParseScyllaYaml("", "scylla.yaml")->empty());
}

TEST(ScyllaYaml, WhatIsNoneSaysWhere) {
  struct Row {
    const char* text;
    const char* said;
  };
  for (const Row& row : {
           Row{"a: 1\nb: [1, 2\n", "scylla.yaml:3: "},
           Row{"- a\n", "scylla.yaml:1: the file is not a map of names and values"},
           Row{"a: 1\n[b]: 2\n", "scylla.yaml:2: a name is not a text"},
           Row{"a: &a [*a]\n", "scylla.yaml:1: nested too deep"},
       }) {
    const auto entries = ParseScyllaYaml(row.text, "scylla.yaml");
    ASSERT_FALSE(entries.ok()) << row.text;
    EXPECT_EQ(std::string(entries.status().message()).substr(0, std::string(row.said).size()),
              row.said);
  }
  EXPECT_EQ(ReadScyllaYaml("/nowhere/scylla.yaml").status().message(),
            "cannot read /nowhere/scylla.yaml: No such file or directory");
}

uint16_t PortOf(const std::string& ready) {
  return boost::json::value_to<uint16_t>(boost::json::parse(ready).as_object().at("cql_port"));
}

TEST(ScyllaConfig, AServerTakesItsOptionsFromAScyllaYaml) {
  const ScratchFiles files;
  std::string yaml = kScyllaYaml;
  // Who logs in is another test's.
  yaml.erase(yaml.find("authenticator: "),
             std::string("authenticator: PasswordAuthenticator\n").size());
  const std::string path = files.Write("scylla.yaml", yaml);
  RunningProgram program({"serve", "--scylla-config", path, "--scylla-option",
                          "minimum-replication-factor-fail-threshold=2", "--scylla-option",
                          "batch_size_fail_threshold_in_kb=3"});
  CqlSession session(PortOf(program.ReadLine()));
  const auto cell = [&](const std::string& text) {
    const CqlAnswer answer = session.Run({text, {}});
    return answer.rows.size() == 1 ? answer.rows[0][0].value_or("null") : answer.error;
  };
  const auto shown = [&](const std::string& column, const std::string& name) {
    return cell("SELECT " + column + " FROM system.config WHERE name = '" + name + "'");
  };
  EXPECT_EQ(cell("SELECT cluster_name FROM system.local"), "Orders of the test");
  EXPECT_EQ(shown("value", "num_tokens"), "16");
  EXPECT_EQ(shown("source", "num_tokens"), "config");
  EXPECT_EQ(shown("value", "batch_size_fail_threshold_in_kb"), "3") << "flags come first";
  EXPECT_EQ(shown("source", "batch_size_fail_threshold_in_kb"), "cli");
  EXPECT_EQ(shown("value", "developer_mode"), "true");
  EXPECT_EQ(shown("value", "experimental_features"), "[\"udf\",\"alternator-streams\"]");
  EXPECT_EQ(shown("value", "seed_provider"), "\"seed_provider_type\"");
  const std::string keyspace =
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': ";
  EXPECT_NE(session.Run({keyspace + "1}", {}}).error, "");
  const CqlAnswer made = session.Run({keyspace + "2}", {}});
  EXPECT_EQ(made.error, "");
  EXPECT_TRUE(made.warnings.empty());
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("scylla.yaml:40: rocket_fuel: ScyllaDB has no such option"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("options of ScyllaDB without effect: api_port, "), std::string::npos)
      << result.err;
}

TEST(ScyllaConfig, PasswordsAreAskedForWhereTheFileSaysSo) {
  const ScratchFiles files;
  RunningProgram program(
      {"serve", "--cql-port", "0", "--scylla-config", files.Write("scylla.yaml", kScyllaYaml)});
  RawCqlClient client(PortOf(program.ReadLine()));
  EXPECT_EQ(client.Ask({.opcode = 0x01, .body = StartupBody()})->opcode, 0x03) << "AUTHENTICATE";
}

TEST(ScyllaConfig, WhatIsWrongIsNamedWithItsPlace) {
  const ScratchFiles files;
  struct Row {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::string bad = files.Write("bad.yaml", "cluster_name: a\nnum_tokens: many\n");
  for (const Row& row : std::vector<Row>{
           {{"--scylla-config", bad},
            bad + ":2: num_tokens: 'many' is not a number from 0 to 4294967295"},
           {{"--scylla-config", "/nowhere/scylla.yaml"}, "cannot read /nowhere/scylla.yaml"},
           {{"--scylla-option", "num_tokens"}, "--scylla-option 'num_tokens' is not NAME=VALUE"},
           {{"--scylla-option", "num_token=1"},
            "num_token: ScyllaDB has no such option; did you mean num_tokens?"},
           {{"--scylla-option", "strict_allow_filtering=2"},
            "strict_allow_filtering: '2' is not true, false or warn"},
           {{"--config", files.Write("config", "cql-prot = 1\n")},
            "no option cql-prot; did you mean cql-port?"},
           {{"--cql-prot=1"}, "no flag '--cql-prot'; did you mean '--cql-port'?"},
       }) {
    std::vector<std::string> arguments = {"serve", "--cql-port", "0"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_status, 2) << row.said;
    EXPECT_NE(result.err.find(row.said), std::string::npos) << result.err;
  }
}

// The line of --print-config about `name`, without the blanks in its middle; a comment where it is not set.
std::string LineOf(const std::string& text, const std::string& name) {
  size_t at = text.find("\n" + name + " = ");
  if (at == std::string::npos) at = text.find("\n# " + name + " = ");
  if (at == std::string::npos) return "";
  std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  for (size_t two = line.find("  "); two != std::string::npos; two = line.find("  ")) {
    line.erase(two, 1);
  }
  return line;
}

TEST(PrintConfig, SaysWhatEachSettingIsAndWhereItComesFrom) {
  const ScratchFiles files;
  const std::string yaml = files.Write(
      "scylla.yaml", "native_transport_port: 7000\nnum_tokens: 8\nshadow_round_ms: 1\n");
  const std::string config = files.Write("config", "rack = \"r7\"\nshards = 4\n");
  RunningProgram program({"serve", "--print-config", "--shards", "off", "--config", config,
                          "--scylla-config", yaml, "--scylla-option", "twcs_max_window_count=3"},
                         {"LISTSTORE_DATA_CENTER=dc9", "LISTSTORE_AUTH=u:secret"});
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const struct {
    const char* name;
    std::string line;
  } kLines[] = {
      {"rack", "rack = \"r7\" # " + config + ":1"},
      {"shards", "shards = \"off\" # flag"},
      {"data-center", "data-center = \"dc9\" # LISTSTORE_DATA_CENTER"},
      {"auth", "auth = (not shown) # LISTSTORE_AUTH"},
      {"address", "# address = \"127.0.0.1\" # default"},
      {"scylla", "# scylla = \"on\" # default"},
      {"memory-limit", "# memory-limit = (three quarters of the machine's) # default"},
      {"cql-port", "# cql-port = 7000 # native_transport_port, " + yaml + ":1"},
      {"num_tokens", "# num_tokens = 8 # " + yaml + ":2"},
      {"twcs_max_window_count", "twcs_max_window_count = 3 # flag"},
      {"shadow_round_ms", "# shadow_round_ms = 1 # " + yaml + ":3, without effect"},
      {"strict_allow_filtering", "# strict_allow_filtering = \"warn\" # default"},
  };
  for (const auto& row : kLines) EXPECT_EQ(LineOf(result.out, row.name), row.line) << result.out;
}

// A package's file has both ports; servers side by side have one of their own each.
TEST(PrintConfig, APortOfCqlThatIsGivenLeavesTheFilesOtherPortOut) {
  const ScratchFiles files;
  const std::string yaml = files.Write(
      "scylla.yaml", "native_transport_port: 7000\nnative_shard_aware_transport_port: 7001\n");
  const ProgramResult both = RunProgram({"serve", "--print-config", "--scylla-config", yaml});
  EXPECT_EQ(LineOf(both.out, "shard-aware-port"),
            "# shard-aware-port = 7001 # native_shard_aware_transport_port, " + yaml + ":2");
  const ProgramResult given =
      RunProgram({"serve", "--print-config", "--scylla-config", yaml, "--cql-port", "0"});
  EXPECT_EQ(LineOf(given.out, "cql-port"), "cql-port = 0 # flag");
  EXPECT_NE(LineOf(given.out, "shard-aware-port").find("# default"), std::string::npos);
}

// ---- docs/settings.md

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string EnvironmentName(std::string_view flag) {
  std::string name = "LISTSTORE_";
  for (const char c : flag) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

std::string TypeOf(const ServeSetting& row) {
  if (!row.value.empty()) return Escaped(row.value);
  if (!row.words.empty()) {
    std::string words;
    for (const std::string_view word : row.words) {
      words.append(words.empty() ? "" : ", ").append(word);
    }
    return words;
  }
  return row.setting.type == settings::SettingType::kText ? "a text"
                                                          : settings::BoundsOf(row.setting.type);
}

std::string TableOfFlags() {
  std::string table =
      "| setting | environment | value | default | changes while it runs | what it does |\n"
      "|---|---|---|---|---|---|\n";
  for (const ServeSetting& row : ServeSettings()) {
    const settings::Setting& setting = row.setting;
    // A question has no name but its flag.
    const std::string variable = "`" + EnvironmentName(setting.name) + "`";
    const char* const changes = row.is_reread ? "SIGHUP" : setting.is_live ? "clients" : "no";
    table += "| `" + std::string(setting.name) + "` | " + (row.is_question ? "" : variable) +
             " | " + TypeOf(row) + " | " + Escaped(setting.default_value) + " | " + changes +
             " | " + Escaped(setting.help) + " |\n";
  }
  return table;
}

std::string TableOfScyllaOptions() {
  std::string table =
      "| option | value | default | changes while it runs | what it does "
      "|\n|---|---|---|---|---|\n";
  for (const settings::Setting& setting : settings::ScyllaSettings()) {
    if (!setting.has_effect()) continue;
    table += "| `" + std::string(setting.name) + "` | " + settings::BoundsOf(setting.type) + " | " +
             Escaped(setting.default_value) + " | " + (setting.is_live ? "yes" : "no") + " | " +
             Escaped(setting.help) + " |\n";
  }
  return table;
}

// Every setting has its row in the documentation, and the documentation has no others.
TEST(SettingsDocument, IsTheTable) {
  const std::string page = ReadFile(LISTSTORE_DOCS_DIR "/settings.md");
  for (const std::string& table : {TableOfFlags(), TableOfScyllaOptions()}) {
    EXPECT_NE(page.find("\n" + table + "\n"), std::string::npos)
        << "docs/settings.md has to have this table:\n"
        << table;
  }
}

// What help and documents show is what a server does without flags.
TEST(ServeSettings, DefaultsAreThoseOfTheOptions) {
  for (const ServeSetting& row : ServeSettings()) {
    if (row.shows_default) {
      EXPECT_EQ(ValueText(row, ServeOptions()), row.setting.default_value) << row.setting.name;
    }
    EXPECT_TRUE(row.setting.has_effect()) << row.setting.name;
  }
}

}  // namespace scylla_config_test
}  // namespace liststore::testing
