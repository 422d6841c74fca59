#include "tools/liststore/replay_command.h"

#include <cstdint>
#include <memory>

#include "tools/liststore/tls_arguments.h"
#include "tools/replay/replay.h"

namespace liststore {
namespace {

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

}  // namespace

void AddReplayCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("replay", "Replay a log of list operations through a store");
  command.Footer(kReplayHelp);
  const auto options = std::make_shared<ReplayOptions>();
  command.Option("FILE", &options->log_path, "The log, plain or gzip; - is standard input")
      .Required();
  command.Option("--expected", &options->expected_path, "Compare every answer with this file")
      .Value("FILE");
  command.Flag("--json", &options->json,
               "Print the summary as one line of JSON (--show then goes to standard error)");
  const CommandOption show =
      command
          .Option("--show", &options->show_entity,
                  "Show this entity's lists at the end instead of the one with most items")
          .Value("ENTITY");
  command.Number("--show-rows", &options->show_rows, "Rows of a list that is shown")
      .Within(uint64_t{1}, uint64_t{1'000'000'000});
  const CommandOption shards =
      command.Option("--shards", &options->shards, "Shards of the store [one for each core]")
          .Within(1, 256)
          .Value("N");
  const CommandOption memory_limit =
      command.Bytes("--memory-limit", &options->memory_limit_bytes,
                    "Limit on memory for data, K, M and G as powers of 1024 "
                    "[three quarters of the machine's]");
  const CommandOption repeat =
      command.Option("--repeat", &options->rounds, "Replay N times, each into a fresh store")
          .Within(1, 1'000'000)
          .Value("N");
  const CommandOption via =
      command.Option("--via", &options->via, "Replay into this server, over CQL")
          .Value("HOST:PORT");
  AddTlsArguments(command, "", "it", &options->tls);
  for (const CommandOption& other : {show, shards, memory_limit, repeat}) via.Excludes(other);
  command.Runs([options] { return RunReplay(*options); });
}

}  // namespace liststore
