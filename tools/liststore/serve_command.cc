#include "tools/liststore/serve_command.h"

#include <cstdint>
#include <memory>

#include "tools/serve/serve.h"

namespace liststore {
namespace {

constexpr char kServeHelp[] =
    R"(Speaks the CQL native protocol, versions 3 and 4, as a ScyllaDB node does. When clients can connect, one
line of JSON says so on standard output and in the ready file: {"cql_port":..,"shard_aware_port":..,
"pid":..,"clock":"real"}. SIGTERM and SIGINT: what has arrived is answered, then it ends, within a second;
the ready file goes.

Every option may come from the environment as well, --cql-port as LISTSTORE_CQL_PORT, and from a file given
with --config, as lines like

  cql-port = 9042
  until-eof = true

The command line comes before the environment, and that before the file.

Examples:
  liststore serve
  liststore serve --cql-port 0 --ready-file ready.json --until-eof
  liststore serve --address 0.0.0.0 --shards 4 --memory-limit 8G --auth cassandra:secret

What clients ask for and this server does not do is refused by name and code, and said once on standard
error; the table liststore.unsupported counts it.

The table liststore.requests has the last requests of all clients, with their values and what came of them.

Exit status: 0 it was told to stop, by a signal or, with --until-eof, by the end of standard input;
2 wrong usage, an option out of its bounds, or a server that cannot start; 3 it was told to stop, but
--strict was given and something was refused that ScyllaDB does: it is listed on standard error; 98 the port
is taken: one line on standard error names it, and the process that has it, where /proc shows that.)";

void AddTopology(const Subcommand& command, ServeOptions* options) {
  command
      .Option("--data-center", &options->data_centers,
              "Data centres that there are, the node's first; keyspaces may be in no others\n"
              "[datacenter1, and keyspaces may name others]")
      .Value("NAME[,NAME...]");
  command.Option("--rack", &options->rack, "Its rack").Value("NAME").ShowDefault();
  command.Option("--cluster-name", &options->cluster_name, "Name of the cluster")
      .Value("NAME")
      .ShowDefault();
  command
      .Option("--release-version", &options->release_version,
              "Version that drivers see: scylla-2025.1 is a ScyllaDB; 3.11.17 or 4.1, with "
              "--scylla\noff, a Cassandra in what else it has, too")
      .Value("VERSION");
}

void AddSockets(const Subcommand& command, ServeOptions* options) {
  command.Option("--address", &options->address, "IPv4 or IPv6 address to listen on").ShowDefault();
  command.Option("--cql-port", &options->cql_port, "Port of CQL; 0: any free one").ShowDefault();
  command.Option("--shard-aware-port", &options->shard_aware_port,
                 "Port where the client's own port chooses the shard; 0: any free one "
                 "[19042 if free; any with --cql-port 0]");
  command.Option("--ready-file", &options->ready_file, "Write this when clients can connect")
      .Value("FILE");
}

void AddMemory(const Subcommand& command, ServeOptions* options) {
  command
      .Option("--shards", &options->shards,
              "Shards, with a thread each; off: look like Cassandra, which has none")
      .UpToOr(256, "off")
      .Value("1..256|off")
      .ShowDefault();
  command.Bytes("--memory-limit", &options->memory_limit_bytes,
                "Limit on memory for data, K, M and G as powers of 1024 "
                "[three quarters of the machine's]");
  command.Bytes("--populate", &options->populate_bytes,
                "Memory for data that is taken from the system before clients can connect [0]");
}

void AddInstruments(const Subcommand& command, ServeOptions* options) {
  command
      .Option("--clock", &options->clock,
              "Time runs; stands still until it is moved (at START, in seconds since 1970); or\n"
              "runs FACTOR times as fast. Clients change it in the table liststore.clock")
      .Value("real|manual[:START]|scaled:FACTOR")
      .ShowDefault();
  command
      .Choice("--client-timestamps", &options->replaces_client_timestamps,
              "Timestamps of writes are the client's (the default while the clock is real), or\n"
              "always the server's (the default while it is not)",
              {{"honour", false}, {"replace", true}})
      .Value("honour|replace");
  command.Flag("--demo", &options->demo,
               "Begin with a few lists in keyspace demo, and say how to connect");
  command
      .Number("--journal", &options->journal_entries,
              "Remember the last N requests, in the table liststore.requests; 0: none")
      .Within(uint64_t{0}, uint64_t{100'000});
}

}  // namespace

void AddServeCommand(const Subcommand& program) {
  const Subcommand command = program.Add("serve", "Serve CQL until told to stop");
  command.Footer(kServeHelp);
  const auto options = std::make_shared<ServeOptions>();
  command.ConfigFile("--config", "Options, a line each");
  AddSockets(command, options.get());
  AddMemory(command, options.get());
  AddTopology(command, options.get());
  command
      .Choice("--scylla", &options->looks_like_scylla, "Look like ScyllaDB in every detail",
              {{"on", true}, {"off", false}})
      .Value("on|off");
  command.Option("--auth", &options->auth, "Ask clients for this name and password")
      .Value("USER:PASSWORD");
  AddInstruments(command, options.get());
  command.Flag("--until-eof", &options->until_eof, "End when standard input ends");
  command.Flag("--strict", &options->strict,
               "End with status 3 when something was refused that ScyllaDB does; refuse data\n"
               "centres that are not there");
  command.Option("--log-level", &options->log_level, "What is said on standard error")
      .OneOf({"error", "warning", "info", "debug"})
      .ShowDefault();
  command.AllFromEnvironment("LISTSTORE");
  command.Runs([options] { return RunServe(*options); });
}

}  // namespace liststore
