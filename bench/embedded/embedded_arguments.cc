#include "bench/embedded/embedded_arguments.h"

#include <CLI/CLI.hpp>
#include <string>

namespace liststore {

void AddBenchEmbeddedOptions(CLI::App* command, std::span<const BenchPeer> peers,
                             BenchEmbeddedOptions* options) {
  std::string names;
  for (const BenchPeer& peer : peers) {
    if (!names.empty()) names += &peer == &peers.back() ? " or " : ", ";
    names += peer.name;
  }
  const auto number = [command](const char* name, auto* field, const char* text) {
    command->add_option(name, *field, text)->type_name("N")->capture_default_str();
  };
  number("--lists", &options->lists, "Lists in the store");
  number("--items", &options->items_per_list, "Items in each list");
  number("--value-bytes", &options->value_bytes, "Length of a value");
  number("--seconds", &options->seconds, "Length of one measurement");
  number("--rounds", &options->rounds, "Measurements of each kind");
  number("--threads", &options->threads, "Most threads that call at once");
  number("--seed", &options->seed, "Seed of keys and order");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->add_flag("--quick", options->quick, "A small store and short measurements");
  CLI::Option* const peer =
      command->add_option("--peer", options->peer, "What it is compared with: " + names)
          ->type_name("NAME")
          ->capture_default_str();
  command
      ->add_flag_callback(
          "--no-peer", [options] { options->peer.clear(); }, "Compare it with nothing")
      ->excludes(peer);
  command->add_flag("--lines-only", options->lines_only,
                    "Only uniform lists on one thread, and memory");
}

}  // namespace liststore
