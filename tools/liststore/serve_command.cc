#include "tools/liststore/serve_command.h"

#include <malloc.h>
#include <sys/prctl.h>

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
also reads the file of --config again, takes log-level and the files of TLS from it, and says on standard error
what else has changed there and takes a restart.

Under systemd, with Type=notify, it says when it is ready, reloads and stops, and that its loops turn
(WatchdogSec=). docs/operations.md has the unit.

Every option may come from the environment as well, --cql-port as LISTSTORE_CQL_PORT, and from a file given
with --config, in TOML, by the same names:

  cql-port = 9042
  memory-limit = "8G"
  until-eof = true

  [scylla-option]
  strict_allow_filtering = true

The command line comes before the environment, and that before the file. A name that no option has, and a value
that is none, are errors with file, line and what was meant. --print-config prints what all of them come to, as
such a file, each with where it comes from: with --config FILE it also checks the file, and starts nothing.

--scylla-config FILE takes a scylla.yaml, --scylla-option NAME=VALUE an option of it, which comes before the
file. Those that change an answer do so here; those without effect are named on standard error. What a flag, a
variable or the file of --config says of a port, the address, the cluster's name, logins and TLS comes before
what a scylla.yaml says.

Examples:
  liststore serve
  liststore serve --cql-port 0 --ready-file ready.json --until-eof
  liststore serve --address 0.0.0.0 --shards 4 --memory-limit 8G --auth cassandra:secret
  liststore serve --tls-certificate node.crt --tls-key node.key --auth cassandra:secret
  liststore serve --config /etc/liststore/liststore.toml --print-config

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
  if (row.is_question) option.OnCommandLineOnly();
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

SettingOrigin ToSettingOrigin(const OptionOrigin& origin) {
  return {ToSettingSource(origin.source), origin.place};
}

// What is freed goes back to the system. By itself the C library keeps more the larger the blocks are
// that were freed, up to 64 MiB for each thread, which no limit would count.
// Each arena keeps as much again: there is one for each loop, and two for all other threads, which
// allocate in turn. Where the system makes pages of 2 MiB of whatever memory, a heap or a stack would be
// resident as a whole: rows ask for theirs. Linux before 6.18 does not know how, and it stays as it is.
void GiveFreedMemoryBack(uint32_t shards) {
  constexpr unsigned long kButWhatAsksForThem = 1 << 1;  // PR_THP_DISABLE_EXCEPT_ADVISED
  if (::prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 0) {
    static_cast<void>(::prctl(PR_SET_THP_DISABLE, 1UL, kButWhatAsksForThem, 0UL, 0UL));
  }
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
  const OptionOrigin origin = command.OriginOf("--address");
  if (!address->port || origin.source <= command.SourceOf("--cql-port")) return;
  options->cql_port = *address->port;
  options->sources["cql-port"] = ToSettingOrigin(origin);
}

// `options` as they were parsed, with where each of them comes from.
ServeOptions WithOrigins(const Subcommand& command, ServeOptions options) {
  for (const ServeSetting& row : ServeSettings()) {
    const std::string name(row.setting.name);
    const OptionOrigin origin = command.OriginOf("--" + name);
    if (origin.source != OptionSource::kDefault) {
      options.sources.emplace(name, ToSettingOrigin(origin));
    }
  }
  TakePortOfAddress(command, &options);
  for (const OptionOrigin& origin : command.OriginsOf("--scylla-option")) {
    options.scylla_option_origins.push_back(ToSettingOrigin(origin));
  }
  options.config_file = command.config_path();
  for (const std::string& variable : command.UnknownVariables("LISTSTORE")) {
    if (!variable.starts_with(kOfThePlugin)) options.unknown_variables.push_back(variable);
  }
  return options;
}

Subcommand DefineServe(const Subcommand& program, ServeOptions* options) {
  const Subcommand command = program.Add("serve", "Serve CQL until told to stop");
  command.Footer(kServeHelp);
  for (const ServeSetting& row : ServeSettings()) AddSetting(command, row, options);
  command
      .ConfigFile("--config",
                  "Options in TOML, a line each, as cql-port = 9042; of a folder its "
                  "liststore.toml, where there "
                  "is\none",
                  "liststore.toml")
      .In(std::string(ServeSettings().back().group));
  command.AllFromEnvironment("LISTSTORE");
  return command;
}

// What the same command line comes to now: the file may have changed.
absl::StatusOr<ServeOptions> ReadAgain(const std::vector<std::string>& arguments) {
  CommandLine line("", "liststore");
  ServeOptions options;
  const Subcommand command = DefineServe(line.program(), &options);
  if (const absl::Status status = line.Parse(arguments); !status.ok()) return status;
  return WithOrigins(command, options);
}

int Serve(const Subcommand& command, const ServeOptions& parsed) {
  const ServeOptions options = WithOrigins(command, parsed);
  GiveFreedMemoryBack(options.shards);
  RereadOptions reread;
  if (command.SourceOf("--config") != OptionSource::kDefault) {
    reread = [arguments = command.arguments()] { return ReadAgain(arguments); };
  }
  return RunServe(options, reread);
}

}  // namespace

void AddServeCommand(const Subcommand& program) {
  const auto options = std::make_shared<ServeOptions>();
  const Subcommand command = DefineServe(program, options.get());
  command.Runs([command, options] { return Serve(command, *options); });
}

}  // namespace liststore
