#include "tools/liststore/top_command.h"

#include <memory>
#include <string>

#include "tools/liststore/connection_arguments.h"
#include "tools/top/top.h"

namespace liststore {
namespace {

constexpr char kTopHelp[] =
    R"(Requests a second by kind, their latency in the server, memory by owner against its limit, rows, connections,
the hottest tables, the hottest partitions of the last five minutes and the last slow turns: what the tables
liststore.requests, memory, counters, data, hot_partitions and slow_turns say. On a terminal each frame takes the
place of the one before; elsewhere they follow each other.

How many requests came is exact. Kinds, tables, outcomes and latencies are those of the newest 2,000 of a
frame that the journal still has, taken for all.

Examples:
  liststore top
  liststore top --once
  liststore top --json --interval 10 >> top.jsonl
)";

}  // namespace

void AddTopCommand(const Subcommand& program) {
  const Subcommand command = program.Add("top", "Show what a server is at, second by second");
  command.Footer(std::string(kTopHelp) + kConnectionHelp);
  const auto options = std::make_shared<TopOptions>();
  command.Number("--interval", &options->interval_seconds, "Seconds between two frames")
      .Within(0.05, 3600.0);
  command.Flag("--once", &options->once, "One frame, after one interval, and no more");
  command.Flag("--json", &options->json, "A line of JSON for each frame");
  AddConnectionArguments(command, &options->server);
  command.Runs([options] { return RunTop(*options); });
}

}  // namespace liststore
