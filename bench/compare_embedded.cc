// `liststore bench embedded` with peers that take libraries of their own, which the program is not
// to be linked with.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/embedded/embedded_arguments.h"
#include "bench/embedded/embedded_bench.h"
#include "bench/peers/built_in_peers.h"
#include "bench/peers/library_peers.h"

int main(int argc, char** argv) {
  namespace ls = liststore;
  std::vector<ls::BenchPeer> peers(ls::BuiltInPeers().begin(), ls::BuiltInPeers().end());
  const std::vector<ls::BenchPeer> libraries = ls::LibraryPeers();
  peers.insert(peers.end(), libraries.begin(), libraries.end());

  ls::BenchEmbeddedOptions options;
  bool list_peers = false;
  CLI::App app("liststore bench embedded, with peers that take libraries");
  app.footer("`liststore bench embedded --help` says what is measured, and the keys of --json.");
  ls::AddBenchEmbeddedOptions(&app, peers, &options);
  app.add_flag("--list-peers", list_peers, "Print the names of the peers, and measure nothing");
  CLI11_PARSE(app, argc, argv);
  if (!list_peers) return ls::RunBenchEmbedded(options, peers);
  for (const ls::BenchPeer& peer : peers) absl::PrintF("%s\n", std::string(peer.name));
  return 0;
}
