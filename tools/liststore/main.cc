// The liststore program: its command line. Each subcommand is a plain struct of options and a
// function in a file of its own; only this file and those called *_options.cc know CLI11.
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdint>
#include <string>

#include "bench/cache/cache_bench.h"
#include "bench/embedded/embedded_arguments.h"
#include "bench/embedded/embedded_bench.h"
#include "bench/peers/built_in_peers.h"
#include "bench/wire/wire_bench.h"
#include "liststore/version.h"
#include "programs/console/exit_codes.h"
#include "tools/copy/copy.h"
#include "tools/liststore/copy_options.h"
#include "tools/replay/replay.h"
#include "tools/report/report.h"
#include "tools/serve/serve.h"

namespace liststore {
namespace {

constexpr char kProgramHelp[] = R"(Examples:
  liststore replay data/touched_files.oplog.jsonl.gz
  liststore replay log.jsonl.gz --expected answers.jsonl.gz --json
  liststore bench embedded --quick
  liststore serve --cql-port 0 --ready-file ready.json
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042

'liststore SUBCOMMAND --help' tells more.

Exit status: 0 done; 1 an answer differs from the expected one; 98 a port is taken; 2 anything else.)";

constexpr char kReplayHelp[] =
    R"(The log holds one JSON object a line, plain or gzip: "op", "at" (nanoseconds since the epoch, never
decreasing; the store's clock stands at it) and

  create_feature  entity_type, feature, version, ttl_s
  add             the list, items: [{"ts": nanoseconds, "value": text}]
  get             the list, min_ts (nanoseconds, inclusive), limit
  remove_value    the list, value
  remove_all      the list

where the list is entity_type, feature, version, entity_id. Creating a feature again changes the TTL of
what is added from then on.

Expected answers: a line {"line", "items", "md5"} for each get, in order; md5 of the item keys returned,
newest first, joined by newlines. Behind them one line of totals: reads, returned, stored,
skipped_expired, removed_live, live_at_end, md5 (of the reads' digests, one after the other). The first
difference ends the replay.

Keys of --json beside these totals:
  seconds          inside the store's calls, all rounds together; parsing, digests and reclamation apart
  ops_per_s        operations by those seconds
  bytes_per_item   bytes in use for list items (keys, indexes, timers, directory included) by the rows
                   stored, expired ones not yet reclaimed included, when there were most of them
  peak_rows, peak_live_bytes, peak_held_bytes   that moment; held: the pages that count at the limit
  expired          items reclaimed because their time had passed
  p50_us, p99_us, p99_9_us, max_us, by_operation   latency of a call, in microseconds
  operations, shards, rounds, compared, reclaim_seconds, elapsed_seconds

With --via the operations run over CQL, one after the other, by the statements that a service sends to
ScyllaDB: the list model's table in the keyspace feature_store, which must have no items. The server's clock
is moved to the time of each operation, so it must be a manual one that stands before the log begins:
'liststore serve --clock manual:0'. Then seconds and latencies are those of answers over the wire, for
removals of several statements, and bytes_per_item, peak_..., expired and shards are 0: not known here.

Examples:
  liststore replay data/touched_files.oplog.jsonl.gz --expected data/touched_files.expected.jsonl.gz
  liststore replay log.jsonl --show 0de2e01663d444b3 --show-rows 50
  zcat logs/*.gz | liststore replay - --json --shards 4
  liststore replay log.jsonl --via 127.0.0.1:9042

Exit status: 0 replayed, answers as expected; 1 an answer differs: its line is named; 2 a malformed line or
a refused operation (FILE:LINE: reason), a file that cannot be read, wrong usage.)";

constexpr char kBenchHelp[] =
    R"(Loads the store and, unless --no-peer is given, a peer: `plain`, a hash map of ordered maps with an index
by value behind sharded mutexes, or `bare`, one block of rows for each list, with no TTL, index, lock or limit,
in memory populated beforehand, which shows how far the store is from what memory allows. Then runs each kind of operation on both in turn. Lists keep their
size: what a batch changes is changed back before the next one, outside of what is timed. Answers are
checked. At the end: a feature deleted with all its lists while others are read, a million rows that expire
in one second while they are read, mixed load at a memory limit.

Keys of --json. KIND is get10, get50, multiget16, add1, add10, mixed (nine get10 to one add1) or remove
(by value); each also as KIND_zipf, for lists drawn by Zipf's law with exponent 0.99:
  KIND                    operations a second on one thread, median of the rounds; a multi-get of 16 is 16
  KIND_p50_ns, _p99_ns, _p999_ns   latency of a call, one reading of the clock included
  KIND_latency_ns         its percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 and 100
  KIND_rounds             operations a second of each round
  plain_KIND...           the same of the peer: the plain structure, or with --peer bare the bare reference,
                          which does nothing but keep rows; bare_KIND then
  KIND_vs_plain           ratio of the two, by the time that the thread had a core; core_share is how much
                          it had; _rounds: of each round
  KIND_one_thread, KIND_threads, KIND_threads_ratio   get10, add1 and mixed on one and on --threads threads
  two_threads_ratio       the smallest of these ratios (threads_ratio for another number of threads)
  bytes_per_item          growth of resident memory by loading, Reclaim done; _before_compaction: without it;
                          _engine, _held: by the store's counters, in use and in pages; _held_after_writes:
                          after all measurements; _plain or _bare: the peer
  expiry_..., deletion_...   _read_max_ns, _read_p999_ns and _reads_above_2ms by the wall clock; with
                          _on_core the time in which the reader was ready and others had the cores is taken
                          off; _quiet_ is the time before, when another thread reads the clock and nothing
                          else: _clock_gap... is what the machine did to that one; _control_ is behind as much
                          memory given back at once that was never the store's
  limit_resident_ratio    growth of resident memory by the limit; limit_left_behind: refused additions of
                          which something was found

Examples:
  liststore bench embedded --quick
  liststore bench embedded --lists 100000 --items 50 --json)";

constexpr char kBenchWireHelp[] =
    R"(Starts a server of one shard on one core, or takes one that is there (--via; it must have no list items),
and asks it from one thread on another core, by prepared statements of the list model: lists are loaded by
batches, then 10 items of lists drawn at random are read, and single items inserted, with 64 and with 16
requests under way on each connection. Every reply to a SELECT has its length checked, one of 64 is read in
full; at the end 1,000 lists are read back.

Then an open loop: 500,000 requests a second, or half of what was measured where that is less, 95 SELECTs to 5
INSERTs, each sent at its instant whether or not others are answered. Its latency counts from when a request
was due.

Keys of --json. KIND is select10_64, select10_16, insert1_64 or insert1_16:
  KIND                    requests a second, median of the rounds
  KIND_p50_ns, _p99_ns, _p999_ns   from the write of a request to the read that brought its reply
  KIND_client_share, _server_share   of a core; KIND_per_core_second: requests by the server's time on its
                          core (both only of a server of its own)
  KIND_rounds, KIND_latency_ns   single rounds; percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95,
                          99.99 and 100
  open_loop_per_s, open_loop_achieved_per_s   offered and answered; open_loop_p50_ns and so on: of all requests,
                          open_loop_select_... and open_loop_insert_...: of these;
                          open_loop_machine_...: what they would wait for their cores alone, measured in turn;
                          open_loop_quiet_...: of those due while the client and the server of its own had
                          their cores, and open_loop_quiet_share: how many those are of all
  load_seconds, server_populated_bytes, server_resident_bytes, replies_verified

Examples:
  liststore bench wire --quick
  liststore bench wire --seconds 5 --json)";

constexpr char kBenchCacheHelp[] =
    R"(Simulates FIFO, LRU, W-TinyLFU, S3-FIFO and what the store makes of it, over keys of one size, on Zipf
traces of three exponents, on one with scans in between, and on a history; each at 1, 5, 10 and 25 per cent of
the lists. Then does the same with a store that evicts: a list is read, and put when it is not there. Hits count
after the first quarter.

Keys of --json, a line for each trace and size: fifo, lru, w_tinylfu, s3_fifo, s3_fifo_hand: hit rates of the
simulation; store: of the store, store_lists: lists that it held on average, lru_as_large, fifo_as_large: hit
rates of policies that hold as many.

Then lists of one item are pushed through a limit (flood_*: bytes held and resident, lists held, evictions,
additions a second and their latency once the limit is reached). Then ten items are read of lists that are
there (hits_...), and every tenth time one is added (mixed_...): _store, a store that rejects; _evicting, one
that evicts; _without_features, which does not count for each feature; _lru, a plain structure with an LRU
list: operations a second of the core. _vs_lru: the one that evicts beside that structure; _features_share:
beside the one that does not count.

Examples:
  liststore bench cache --quick
  liststore bench cache --history data/touched_files.oplog.jsonl.gz --svg hit_rates.svg)";

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

void AddReplay(CLI::App* app, ReplayOptions* options) {
  CLI::App* const command =
      app->add_subcommand("replay", "Replay a log of list operations through a store");
  command->footer(kReplayHelp);
  command->add_option("FILE", options->log_path, "The log, plain or gzip; - is standard input")
      ->required();
  command->add_option("--expected", options->expected_path, "Compare every answer with this file")
      ->type_name("FILE");
  command->add_flag("--json", options->json,
                    "Print the summary as one line of JSON (--show then goes to standard error)");
  command
      ->add_option("--show", options->show_entity,
                   "Show this entity's lists at the end instead of the one with most items")
      ->type_name("ENTITY");
  command->add_option("--show-rows", options->show_rows, "Rows of a list that is shown")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--shards", options->shards, "Shards of the store [one for each core]")
      ->check(CLI::Range(1, 256))
      ->type_name("N");
  command
      ->add_option("--memory-limit", options->memory_limit_bytes,
                   "Limit on memory for data, K, M and G as powers of 1024 "
                   "[three quarters of the machine's]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command->add_option("--repeat", options->rounds, "Replay N times, each into a fresh store")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  CLI::Option* const via =
      command->add_option("--via", options->via, "Replay into this server, over CQL")
          ->type_name("HOST:PORT");
  for (const char* other : {"--show", "--shards", "--memory-limit", "--repeat"}) {
    via->excludes(command->get_option(other));
  }
}

void AddBenchEmbedded(CLI::App* bench, BenchEmbeddedOptions* options) {
  CLI::App* const command =
      bench->add_subcommand("embedded", "The embedded store: throughput, latency, bytes an item");
  command->footer(kBenchHelp);
  AddBenchEmbeddedOptions(command, BuiltInPeers(), options);
}

void AddBenchWire(CLI::App* bench, BenchWireOptions* options) {
  CLI::App* const command =
      bench->add_subcommand("wire", "A server over CQL: throughput and latency");
  command->footer(kBenchWireHelp);
  const auto number = [command](const char* name, auto* field, const char* text) {
    command->add_option(name, *field, text)->type_name("N")->capture_default_str();
  };
  command->add_option("--via", options->via, "Measure this server instead of one of its own")
      ->type_name("HOST:PORT");
  number("--lists", &options->lists, "Lists on the server");
  number("--items", &options->items_per_list, "Items in each list");
  number("--value-bytes", &options->value_bytes, "Length of a value");
  number("--connections", &options->connections, "Connections");
  number("--seconds", &options->seconds, "Length of one measurement");
  number("--rounds", &options->rounds, "Measurements of each kind");
  number("--rate", &options->rate, "Requests a second of the open loop; 0: as said below");
  number("--seed", &options->seed, "Seed of the order");
  command
      ->add_option("--populate", options->populate_bytes,
                   "Memory that its own server takes before it is loaded [twice what lists take]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command->add_flag("--no-index", options->no_index,
                    "Make no local index: for servers that have none, as Cassandra");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->add_flag("--quick", options->quick, "Few lists and short measurements");
}

void AddBenchCache(CLI::App* bench, BenchCacheOptions* options) {
  CLI::App* const command =
      bench->add_subcommand("cache", "Hit rates of cache policies, and of the store");
  command->footer(kBenchCacheHelp);
  const auto number = [command](const char* name, auto* field, const char* text) {
    command->add_option(name, *field, text)->type_name("N")->capture_default_str();
  };
  number("--lists", &options->lists, "Lists of the Zipf traces");
  number("--accesses", &options->accesses, "Accesses of each of them");
  command->add_option("--history", options->history, "A log of operations as one more trace")
      ->type_name("FILE");
  number("--seed", &options->seed, "Seed of the traces");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->add_flag("--quick", options->quick, "Few lists and short traces");
  number("--flood-lists", &options->flood_lists, "Lists pushed through a limit; 0: none");
  command
      ->add_option("--flood-limit", options->flood_limit_bytes,
                   "That limit, K, M and G as powers of 1024 [512M]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  number("--hit-lists", &options->hit_lists, "Lists of the measurement of hits; 0: without it");
  number("--seconds", &options->seconds, "Length of a round of it");
  command->add_flag("--simulation-only", options->simulation_only, "Leave out the store");
  command->add_option("--svg", options->svg, "Write a chart")->type_name("FILE");
}

constexpr char kReportHelp[] =
    R"(Reads the table liststore.lint of a server that runs and keeps a journal (serve --journal N): statements
that come again and again without being prepared, ALLOW FILTERING, batches over several partitions, IN with
many keys, rows without TTL, timestamps from the future. Run it at the end of a test run, before the server
ends.

Examples:
  liststore report --via 127.0.0.1:9042
  liststore report --via 127.0.0.1:9042 --junit lint.xml

Exit status: 0 nothing was found; 1 something was; 2 the server cannot be asked, or the file not written.)";

void AddReport(CLI::App* app, ReportOptions* options) {
  CLI::App* const command =
      app->add_subcommand("report", "Tell what clients of a server do that hurts at scale");
  command->footer(kReportHelp);
  command->add_option("--via", options->via, "The server")->type_name("HOST:PORT")->required();
  command->add_option("--junit", options->junit_path, "Write the findings as JUnit XML")
      ->type_name("FILE");
}

// `text` as the name of a variable of the environment: "cql-port", LISTSTORE_CQL_PORT.
std::string EnvironmentName(const std::string& text) {
  std::string name = "LISTSTORE_";
  for (const char c : text) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

// "off" is the number 0, which nobody may write.
std::string ShardsOrOff(std::string& text) {
  if (text == "off") {
    text = "0";
    return "";
  }
  uint32_t shards = 0;
  if (CLI::detail::lexical_cast(text, shards) && shards >= 1 && shards <= 256) return "";
  return "'" + text + "' is not 1 to 256, or off";
}

void AddTopology(CLI::App* command, ServeOptions* options) {
  command->add_option("--data-center", options->data_center, "Data centre of the node")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--rack", options->rack, "Its rack")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--cluster-name", options->cluster_name, "Name of the cluster")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--release-version", options->release_version,
                   "Version that drivers see: scylla-2025.1 is a ScyllaDB; 3.11.17 or 4.1, with "
                   "--scylla\noff, a Cassandra in what else it has, too")
      ->type_name("VERSION");
}

CLI::App* AddServe(CLI::App* app, ServeOptions* options, std::string* config) {
  CLI::App* const command = app->add_subcommand("serve", "Serve CQL until told to stop");
  command->footer(kServeHelp);
  command->add_option("--config", *config, "Options, a line each")->type_name("FILE");
  command->add_option("--address", options->address, "IPv4 or IPv6 address to listen on")
      ->capture_default_str();
  command->add_option("--cql-port", options->cql_port, "Port of CQL; 0: any free one")
      ->capture_default_str();
  command->add_option("--shard-aware-port", options->shard_aware_port,
                      "Port where the client's own port chooses the shard; 0: any free one "
                      "[19042 if free; any with --cql-port 0]");
  command->add_option("--ready-file", options->ready_file, "Write this when clients can connect")
      ->type_name("FILE");
  command
      ->add_option("--shards", options->shards,
                   "Shards, with a thread each; off: look like Cassandra, which has none")
      ->transform(CLI::Validator(ShardsOrOff, ""))
      ->type_name("1..256|off")
      ->capture_default_str();
  command
      ->add_option("--memory-limit", options->memory_limit_bytes,
                   "Limit on memory for data, K, M and G as powers of 1024 "
                   "[three quarters of the machine's]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command
      ->add_option("--populate", options->populate_bytes,
                   "Memory for data that is taken from the system before clients can connect [0]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  AddTopology(command, options);
  command->add_option("--scylla", options->looks_like_scylla, "Look like ScyllaDB in every detail")
      ->transform(CLI::CheckedTransformer({{"on", "true"}, {"off", "false"}}))
      ->type_name("on|off");
  command->add_option("--auth", options->auth, "Ask clients for this name and password")
      ->type_name("USER:PASSWORD");
  command
      ->add_option(
          "--clock", options->clock,
          "Time runs; stands still until it is moved (at START, in seconds since 1970); or\n"
          "runs FACTOR times as fast. Clients change it in the table liststore.clock")
      ->type_name("real|manual[:START]|scaled:FACTOR")
      ->capture_default_str();
  command
      ->add_option(
          "--client-timestamps", options->replaces_client_timestamps,
          "Timestamps of writes are the client's (the default while the clock is real), or\n"
          "always the server's (the default while it is not)")
      ->transform(CLI::CheckedTransformer({{"honour", "false"}, {"replace", "true"}}))
      ->type_name("honour|replace");
  command->add_flag("--demo", options->demo,
                    "Begin with a few lists in keyspace demo, and say how to connect");
  command
      ->add_option("--journal", options->journal_entries,
                   "Remember the last N requests, in the table liststore.requests; 0: none")
      ->check(CLI::Range(uint64_t{0}, uint64_t{100'000}))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--until-eof", options->until_eof, "End when standard input ends");
  command->add_flag("--strict", options->strict,
                    "End with status 3 when something was refused that ScyllaDB does");
  command->add_option("--log-level", options->log_level, "What is said on standard error")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}))
      ->capture_default_str();
  for (CLI::Option* option : command->get_options()) {
    if (option != command->get_help_ptr())
      option->envname(EnvironmentName(option->get_lnames()[0]));
  }
  return command;
}

// Takes from a file what neither the command line nor the environment has said.
void ReadServeConfig(CLI::App* command, const std::string& path) {
  for (const CLI::ConfigItem& item : CLI::ConfigINI().from_file(path)) {
    CLI::Option* const option = command->get_option_no_throw("--" + item.name);
    if (option == nullptr || !item.parents.empty()) {
      throw CLI::ConfigError(path + ": no option " + item.fullname());
    }
    if (option->count() > 0) continue;
    option->add_result(item.inputs);
    option->run_callback();
  }
}

int Main(int argc, char** argv) {
  CLI::App app("An in-memory store of lists with ScyllaDB's data model.", "liststore");
  app.set_version_flag("--version", std::string("liststore ") + kVersion);
  app.require_subcommand(1);
  app.footer(kProgramHelp);
  ReplayOptions replay;
  BenchEmbeddedOptions bench_embedded;
  AddReplay(&app, &replay);
  ReportOptions report;
  AddReport(&app, &report);
  CopyOptions export_options, import_options;
  AddExport(&app, &export_options);
  AddImport(&app, &import_options);
  CLI::App* const bench = app.add_subcommand("bench", "Measure the store");
  bench->require_subcommand(1);
  BenchWireOptions bench_wire;
  AddBenchEmbedded(bench, &bench_embedded);
  AddBenchWire(bench, &bench_wire);
  BenchCacheOptions bench_cache;
  AddBenchCache(bench, &bench_cache);
  ServeOptions serve;
  std::string serve_config;
  CLI::App* const serve_command = AddServe(&app, &serve, &serve_config);
  try {
    app.parse(argc, argv);
    if (!serve_config.empty()) ReadServeConfig(serve_command, serve_config);
  } catch (const CLI::ParseError& error) {  // --help and --version come this way too
    return app.exit(error) == 0 ? kExitSame : kExitFailed;
  }
  if (app.got_subcommand("replay")) return RunReplay(replay);
  if (app.got_subcommand("report")) return RunReport(report);
  if (app.got_subcommand("export")) return RunCopy(export_options);
  if (app.got_subcommand("import")) return RunCopy(import_options);
  if (app.got_subcommand(serve_command)) return RunServe(serve);
  if (bench->got_subcommand("cache")) return RunBenchCache(bench_cache);
  if (bench->got_subcommand("wire")) return RunBenchWire(bench_wire);
  return RunBenchEmbedded(bench_embedded, BuiltInPeers());
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
