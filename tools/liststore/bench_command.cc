#include "tools/liststore/bench_command.h"

#include <memory>

#include "bench/cache/cache_bench.h"
#include "bench/embedded/embedded_arguments.h"
#include "bench/embedded/embedded_bench.h"
#include "bench/overload/overload_bench.h"
#include "bench/peers/built_in_peers.h"
#include "bench/target/target_bench.h"
#include "bench/wire/wire_bench.h"
#include "tools/liststore/tls_arguments.h"

namespace liststore {
namespace {

constexpr char kBenchHelp[] =
    R"(Each takes half a minute or more; with --quick a few seconds, for a first look.

Examples:
  liststore bench target
  liststore bench embedded --quick
  liststore bench wire --via 127.0.0.1:9042

'liststore bench SUBCOMMAND --help' tells more.)";

constexpr char kBenchEmbeddedHelp[] =
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
requests under way on each connection, and 10 items by 64 connections that wait for each answer. Every reply
to a SELECT has its length checked, one of 64 is read in full; at the end 1,000 lists are read back.

Then an open loop: 500,000 requests a second, or half of what was measured where that is less, 95 SELECTs to 5
INSERTs, each sent at its instant whether or not others are answered. Its latency counts from when a request
was due.

Keys of --json. KIND is select10_64, select10_16, insert1_64, insert1_16 or
select10_1x64:
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

With --tls all of this is over TLS; its own server has a certificate made for the occasion. To that server
SELECTs are also measured without, in turn (plain_select10_64, plain_select10_16, and KIND_vs_plain, the ratio).
Both sides encrypt, each on its core. handshakes: connections made one after the other, a second, hands shaken
in full, with keys on P-256; handshakes_per_core_second: by the server's time on its core.

Examples:
  liststore bench wire --quick
  liststore bench wire --tls
  liststore bench wire --seconds 5 --json)";

constexpr char kBenchOverloadHelp[] =
    R"(Starts a server of one shard on one core and asks it from one thread on another, as `bench wire` does: 95
SELECTs of 10 items to 5 INSERTs. A closed load of 64 requests on each connection finds what can be sustained.
Then 0.5, 0.75, 1, 1.25, 1.5, 2 and 3 times as many are offered a second, each due at its instant whether or not
others are answered, and its time counts from then; at the end the load goes back to the half at once. The first
half second of each load is not counted: a server waits for a tenth of a second before it takes a load for more
than a burst. Then the same of a Redis server, which refuses nothing.

Judged: at twice the load at least 90 % of the best throughput is still answered, 99 of 100 answers come within
10 ms, and the last refusal comes within a second after the load has gone.

Keys of --json; the same of Redis begin with redis_. Lists have a number for each of `loads`:
  sustained_per_s, best_per_s   by the closed load; the most that was answered, whatever was offered
  due_per_s, sent_per_s, sent_late_share   what was due, what the sockets took, and the part of that which was
                          sent more than a millisecond after it was due
  answered_per_s, refused_per_s, p50_ns, p99_ns, refusal_p99_ns
  longest_ns              of the answers, the first half second included
  after_answered_per_s, after_p99_ns, after_last_refusal_s   after the load went
  verdict                 "reached" or "short"

Exit status: 0 all that is judged was reached; 1 something was not; 2 a server cannot be used, or an answer was
wrong.

Examples:
  liststore bench overload --quick --no-redis
  liststore bench overload --json overload.json --svg overload.svg)";

constexpr char kBenchTargetHelp[] =
    R"(Offers the load that the store is made for: 1,000,000 operations a second, 95 reads of the ten newest items
to 5 additions of one, of lists drawn at random. First to a store in this process, asked by --threads threads, then
to a server of one shard on one core over CQL, asked from one thread on another by prepared statements. Each
operation is due at its instant, whether or not those before it are done, and its time counts from then. What the
client does is included: it makes each request, reads the clock, and looks at every answer; one of 64 is compared
in full.

Reached means: 99.5 % of the rate was done, and 99 of 100 operations within --p99-max of their instant. Those that
were due while somebody else had one of the cores are left out of the second, where the kernel tells and enough
are left; the report shows all of them beside.

Keys of --json. SIDE is embedded or wire:
  SIDE_per_s              operations done a second
  SIDE_items_fetched_per_s, _items_stored_per_s
  SIDE_read_..., SIDE_add_...   their times from when they were due: p50_ns, p99_ns, p999_ns, and latency_ns, its
                          percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 and 100
  SIDE_quiet_...          of both, due while nobody else had one of the cores; _quiet_share: how many those are
  SIDE_machine_...        what they would wait for the cores alone, measured in turn
  SIDE_judged_p99_ns, SIDE_verified   answers that were compared in full
  verdict                 "reached" or "short"

Exit status: 0 reached; 1 not; 2 an answer was wrong, or an option cannot be used.

Examples:
  liststore bench target
  liststore bench target --rate 2000000 --only embedded)";

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

void AddBenchEmbedded(const Subcommand& bench) {
  const Subcommand command =
      bench.Add("embedded", "The embedded store: throughput, latency, bytes an item");
  command.Footer(kBenchEmbeddedHelp);
  const auto options = std::make_shared<BenchEmbeddedOptions>();
  AddBenchEmbeddedArguments(command, BuiltInPeers(), options.get());
  command.Runs([options] { return RunBenchEmbedded(*options, BuiltInPeers()); });
}

void AddBenchWire(const Subcommand& bench) {
  const Subcommand command = bench.Add("wire", "A server over CQL: throughput and latency");
  command.Footer(kBenchWireHelp);
  const auto options = std::make_shared<BenchWireOptions>();
  command.Option("--via", &options->via, "Measure this server instead of one of its own")
      .Value("HOST:PORT");
  AddTlsArguments(command, "", "the server", &options->tls);
  command.Number("--lists", &options->lists, "Lists on the server");
  command.Number("--items", &options->items_per_list, "Items in each list");
  command.Number("--value-bytes", &options->value_bytes, "Length of a value");
  command.Number("--connections", &options->connections, "Connections");
  command.Number("--seconds", &options->seconds, "Length of one measurement");
  command.Number("--rounds", &options->rounds, "Measurements of each kind");
  command.Number("--rate", &options->rate, "Requests a second of the open loop; 0: as said below");
  command.Number("--seed", &options->seed, "Seed of the order");
  command.Bytes("--populate", &options->populate_bytes,
                "Memory that its own server takes before it is loaded [twice what lists take]");
  command.Flag("--no-index", &options->no_index,
               "Make no local index: for servers that have none, as Cassandra");
  command.Flag("--unchecked", &options->unchecked,
               "Look at the lengths of replies alone: for servers that answer what they like");
  command.Number("--server-pid", &options->server_pid,
                 "The process of the server of --via, for its time on its core");
  command.Flag("--json", &options->json, "Print the result as JSON");
  command.Flag("--quick", &options->quick, "Few lists and short measurements");
  command.Runs([options] { return RunBenchWire(*options); });
}

void AddBenchOverload(const Subcommand& bench) {
  const Subcommand command =
      bench.Add("overload", "A server that is asked for more than it can do: answers and refusals");
  command.Footer(kBenchOverloadHelp);
  const auto options = std::make_shared<BenchOverloadOptions>();
  command.Number("--lists", &options->lists, "Lists on the server");
  command.Number("--items", &options->items_per_list, "Items in each list");
  command.Number("--value-bytes", &options->value_bytes, "Length of a value");
  command.Number("--connections", &options->connections, "Connections");
  command.Number("--seconds", &options->seconds, "Length of each load");
  command.Number("--rate", &options->rate,
                 "Requests a second that are once the load; 0: what a closed load gets");
  command.Number("--queue-time-max", &options->queue_time_max_ms,
                 "Milliseconds after which the server refuses; 0: it never does");
  command.Number("--seed", &options->seed, "Seed of the order");
  command.Option("--redis", &options->redis, "The Redis server beside ours")
      .Value("PROGRAM")
      .ShowDefault();
  command.Flag("--no-redis", &options->no_redis, "Leave Redis out");
  command.Option("--json", &options->json, "Write the result as one line of JSON").Value("FILE");
  command.Option("--svg", &options->svg, "Write a chart").Value("FILE");
  command.Flag("--quick", &options->quick, "Few lists and short measurements");
  command.Runs([options] { return RunBenchOverload(*options); });
}

void AddBenchTarget(const Subcommand& bench) {
  const Subcommand command =
      bench.Add("target", "A million operations a second: whether this machine does them");
  command.Footer(kBenchTargetHelp);
  const auto options = std::make_shared<BenchTargetOptions>();
  command.Number("--rate", &options->rate, "Operations a second");
  command.Number("--p99-max", &options->p99_max_ms,
                 "Milliseconds in which 99 of 100 have to be done");
  command.Option("--only", &options->only, "Ask the embedded store alone, or the server")
      .OneOf({"embedded", "wire"});
  command.Number("--lists", &options->lists, "Lists");
  command.Number("--items", &options->items_per_list, "Items in each list");
  command.Number("--value-bytes", &options->value_bytes, "Length of a value");
  command.Number("--threads", &options->threads, "Threads that ask the embedded store");
  command.Number("--connections", &options->connections, "Connections to the server");
  command.Number("--seconds", &options->seconds, "Length of each load");
  command.Number("--seed", &options->seed, "Seed of the order");
  command.Flag("--json", &options->json, "Print the result as JSON");
  command.Flag("--quick", &options->quick, "Few lists and a moment of each load");
  command.Runs([options] { return RunBenchTarget(*options); });
}

void AddBenchCache(const Subcommand& bench) {
  const Subcommand command = bench.Add("cache", "Hit rates of cache policies, and of the store");
  command.Footer(kBenchCacheHelp);
  const auto options = std::make_shared<BenchCacheOptions>();
  command.Number("--lists", &options->lists, "Lists of the Zipf traces");
  command.Number("--accesses", &options->accesses, "Accesses of each of them");
  command.Option("--history", &options->history, "A log of operations as one more trace")
      .Value("FILE");
  command.Number("--seed", &options->seed, "Seed of the traces");
  command.Flag("--json", &options->json, "Print the result as JSON");
  command.Flag("--quick", &options->quick, "Few lists and short traces");
  command.Number("--flood-lists", &options->flood_lists, "Lists pushed through a limit; 0: none");
  command.Bytes("--flood-limit", &options->flood_limit_bytes,
                "That limit, K, M and G as powers of 1024 [512M]");
  command.Number("--hit-lists", &options->hit_lists,
                 "Lists of the measurement of hits; 0: without it");
  command.Number("--seconds", &options->seconds, "Length of a round of it");
  command.Flag("--simulation-only", &options->simulation_only, "Leave out the store");
  command.Option("--svg", &options->svg, "Write a chart").Value("FILE");
  command.Runs([options] { return RunBenchCache(*options); });
}

}  // namespace

void AddBenchCommand(const Subcommand& program) {
  const Subcommand command = program.Add("bench", "Measure the store");
  command.Footer(kBenchHelp);
  command.RequireSubcommand();
  AddBenchTarget(command);
  AddBenchEmbedded(command);
  AddBenchWire(command);
  AddBenchOverload(command);
  AddBenchCache(command);
}

}  // namespace liststore
