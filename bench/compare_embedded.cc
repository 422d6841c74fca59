// `liststore bench embedded` with peers that take libraries of their own, which the program is not
// to be linked with.
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/embedded/embedded_arguments.h"
#include "bench/embedded/embedded_bench.h"
#include "bench/peers/built_in_peers.h"
#include "bench/peers/library_peers.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"

int main(int argc, char** argv) {
  namespace ls = liststore;
  std::vector<ls::BenchPeer> peers(ls::BuiltInPeers().begin(), ls::BuiltInPeers().end());
  const std::vector<ls::BenchPeer> libraries = ls::LibraryPeers();
  peers.insert(peers.end(), libraries.begin(), libraries.end());

  ls::BenchEmbeddedOptions options;
  bool list_peers = false;
  ls::CommandLine line("liststore bench embedded, with peers that take libraries",
                       "compare_embedded");
  const ls::Subcommand program = line.program();
  program.Footer(
      "`liststore bench embedded --help` says what is measured, and the keys of --json.");
  ls::AddBenchEmbeddedArguments(program, peers, &options);
  program.Flag("--list-peers", &list_peers, "Print the names of the peers, and measure nothing");
  program.Runs([&] {
    if (!list_peers) return ls::RunBenchEmbedded(options, peers);
    for (const ls::BenchPeer& peer : peers) absl::PrintF("%s\n", std::string(peer.name));
    return ls::kExitSame;
  });
  return line.Run(argc, argv);
}
