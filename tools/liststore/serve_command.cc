#include "tools/liststore/serve_command.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/settings/setting.h"
#include "programs/console/host_port.h"
#include "tools/serve/serve.h"
#include "tools/serve/serve_settings.h"

namespace liststore {
namespace {

constexpr char kServeHelp[] =
    R"(Speaks the CQL native protocol, versions 3 and 4, as a ScyllaDB node does. When clients can connect, one
line of JSON says so on standard output and in the ready file: {"cql_port":..,"shard_aware_port":..,
"pid":..,"clock":"real","address":..,"shards":..,"memory_limit_bytes":..,"memory_policy":..,"instruments":"on",
"auth":"off","version":..}, with "data_dir" and "commit_log" where something is kept. On a terminal some lines
say it for people, and with --json that line. SIGTERM and SIGINT: what has arrived is answered, then it ends,
within a second and the time of the requests that run; the ready file goes. What takes long and has not been
begun is refused as OVERLOADED.

With --tls-certificate clients may connect over TLS: the line then has "tls_port" and
"tls_shard_aware_port" too, and SIGHUP reads the files of TLS again. docs/tls.md shows how to make them. SIGHUP
also reads log-level again, from the file of --config.

Under systemd, with Type=notify, it says when it is ready, reloads and stops, and that its loops turn
(WatchdogSec=). docs/operations.md has the unit.

Every option may come from the environment as well, --cql-port as LISTSTORE_CQL_PORT, and from a file given
with --config, as lines like

  cql-port = 9042
  until-eof = true

The command line comes before the environment, and that before the file. --print-config prints what they
come to.

--scylla-config FILE takes a scylla.yaml, --scylla-option NAME=VALUE an option of it, which comes before the
file. Those that change an answer do so here; those without effect are named on standard error.

Examples:
  liststore serve
  liststore serve --cql-port 0 --ready-file ready.json --until-eof
  liststore serve --address 0.0.0.0 --shards 4 --memory-limit 8G --auth cassandra:secret
  liststore serve --tls-certificate node.crt --tls-key node.key --auth cassandra:secret

What clients may take, and what becomes of those that want more, is in docs/clients.md.

What clients ask for and this server does not do is refused by name and code, and said once on standard
error; the table liststore.unsupported counts it.

The table liststore.requests has the last requests of all clients, with their values and what came of them.

Exit status: 0 it was told to stop, by a signal or, with --until-eof, by the end of standard input;
2 wrong usage, an option out of its bounds, a server that cannot start, or what was to be kept at its
end (--data-dir) could not be written, which is said; 3 it was told to stop, but
--strict was given and something was refused that ScyllaDB does: it is listed on standard error; 98 the port
is taken: one line on standard error names it, and the process that has it, where /proc shows that.)";

// Names the program itself, for the pytest plugin that starts it.
constexpr char kOfThePlugin[] = "LISTSTORE_BINARY";

std::vector<std::pair<std::string, bool>> ChoicesOf(const ServeSetting& row) {
  std::vector<std::pair<std::string, bool>> choices;
  for (const auto& [word, means] : row.choices) choices.emplace_back(word, means);
  return choices;
}

// The flag of a row whose value is kept in `field`.
template <typename Field>
CommandOption AddField(const Subcommand& command, const ServeSetting& row, Field* field) {
  const std::string name = "--" + std::string(row.setting.name);
  const std::string help(row.setting.help);
  if constexpr (std::is_same_v<Field, bool>) {
    if (row.choices.empty()) return command.Flag(name, field, help);
    return command.Choice(name, field, help, ChoicesOf(row));
  } else if constexpr (std::is_same_v<Field, std::optional<bool>>) {
    return command.Choice(name, field, help, ChoicesOf(row));
  } else if constexpr (std::is_same_v<Field, std::vector<std::string>>) {
    return command.Option(name, field, help).OneAtATime();
  } else if constexpr (std::is_same_v<Field, uint32_t>) {
    const CommandOption option = command.Option(name, field, help);
    return row.word.empty() ? option : option.UpToOr(row.most, std::string(row.word));
  } else if constexpr (std::is_same_v<Field, uint64_t>) {
    if (row.setting.type == settings::SettingType::kBytes) return command.Bytes(name, field, help);
    return command.Option(name, field, help).Within(uint64_t{0}, uint64_t{row.most});
  } else {
    return command.Option(name, field, help);
  }
}

void AddSetting(const Subcommand& command, const ServeSetting& row, ServeOptions* options) {
  const CommandOption option =
      std::visit([&](auto field) { return AddField(command, row, &(options->*field)); }, row.field);
  option.In(std::string(row.group));
  if (!row.value.empty()) option.Value(std::string(row.value));
  if (!row.words.empty()) option.OneOf({row.words.begin(), row.words.end()});
  if (row.shows_default) option.ShowDefault();
}

settings::SettingSource ToSettingSource(OptionSource source) {
  switch (source) {
    case OptionSource::kDefault:
      return settings::SettingSource::kDefault;
    case OptionSource::kFile:
      return settings::SettingSource::kFile;
    case OptionSource::kEnvironment:
      return settings::SettingSource::kEnvironment;
    case OptionSource::kCommandLine:
      break;
  }
  return settings::SettingSource::kCommandLine;
}

// What is freed goes back to the system. By itself the C library keeps more the larger the blocks are
// that were freed, up to 64 MiB for each thread, which no limit would count.
// Each arena keeps as much again: there is one for each loop, and two for all other threads, which
// allocate in turn.
void GiveFreedMemoryBack(uint32_t shards) {
#if defined(__GLIBC__)
  constexpr int kKeptBytes = 1 << 20;
  constexpr int kSharedArenas = 2;
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(shards, uint32_t{1})) + kSharedArenas);
#endif
}

// An address may have the port behind it, as commands that ask a server have it, so that one variable of
// the environment names it for both. --cql-port comes before it where both are given in one place.
void TakePortOfAddress(const Subcommand& command, ServeOptions* options) {
  const std::optional<HostPort> address = ParseHostPort(options->address);
  if (!address) return;  // the server says what is wrong with it
  options->address = address->host;
  const OptionSource source = command.SourceOf("--address");
  if (!address->port || source <= command.SourceOf("--cql-port")) return;
  options->cql_port = *address->port;
  options->sources.emplace("cql-port", ToSettingSource(source));
}

int Serve(const Subcommand& command, ServeOptions options) {
  GiveFreedMemoryBack(options.shards);
  TakePortOfAddress(command, &options);
  for (const std::string& variable : command.UnknownVariables("LISTSTORE")) {
    if (!variable.starts_with(kOfThePlugin)) options.unknown_variables.push_back(variable);
  }
  for (const ServeSetting& row : ServeSettings()) {
    const std::string name(row.setting.name);
    const settings::SettingSource source = ToSettingSource(command.SourceOf("--" + name));
    if (source != settings::SettingSource::kDefault) options.sources.emplace(name, source);
  }
  const bool is_the_files = command.SourceOf("--log-level") <= OptionSource::kFile;
  if (command.SourceOf("--config") != OptionSource::kDefault && is_the_files) {
    options.reread_log_level = [command]() -> absl::StatusOr<std::string> {
      const absl::StatusOr<std::optional<std::string>> level =
          command.ReadConfigAgain("--log-level");
      if (!level.ok()) return level.status();
      return level->value_or(ServeOptions().log_level);
    };
  }
  return RunServe(options);
}

}  // namespace

void AddServeCommand(const Subcommand& program) {
  const Subcommand command = program.Add("serve", "Serve CQL until told to stop");
  command.Footer(kServeHelp);
  const auto options = std::make_shared<ServeOptions>();
  for (const ServeSetting& row : ServeSettings()) AddSetting(command, row, options.get());
  command.ConfigFile("--config", "Options, a line each")
      .In(std::string(ServeSettings().back().group));
  command.AllFromEnvironment("LISTSTORE");
  command.Runs([command, options] { return Serve(command, *options); });
}

}  // namespace liststore
