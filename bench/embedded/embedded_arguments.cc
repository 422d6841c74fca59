#include "bench/embedded/embedded_arguments.h"

#include <string>

namespace liststore {

void AddBenchEmbeddedArguments(const Subcommand& command, std::span<const BenchPeer> peers,
                               BenchEmbeddedOptions* options) {
  std::string names;
  for (const BenchPeer& peer : peers) {
    if (!names.empty()) names += &peer == &peers.back() ? " or " : ", ";
    names += peer.name;
  }
  command.Number("--lists", &options->lists, "Lists in the store");
  command.Number("--items", &options->items_per_list, "Items in each list");
  command.Number("--value-bytes", &options->value_bytes, "Length of a value");
  command.Number("--seconds", &options->seconds, "Length of one measurement");
  command.Number("--rounds", &options->rounds, "Measurements of each kind");
  command.Number("--threads", &options->threads, "Most threads that call at once");
  command.Number("--seed", &options->seed, "Seed of keys and order");
  command.Flag("--json", &options->json, "Print the result as JSON");
  command.Flag("--quick", &options->quick, "A small store and short measurements");
  const CommandOption peer =
      command.Option("--peer", &options->peer, "What it is compared with: " + names)
          .Value("NAME")
          .ShowDefault();
  const auto no_peer = [options] { options->peer.clear(); };
  command.Flag("--no-peer", no_peer, "Compare it with nothing").Excludes(peer);
  command.Flag("--lines-only", &options->lines_only,
               "Only uniform lists on one thread, and memory");
}

}  // namespace liststore
