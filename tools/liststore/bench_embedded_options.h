// The options of `liststore bench embedded` on a command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_BENCH_EMBEDDED_OPTIONS_H_
#define LISTSTORE_TOOLS_LISTSTORE_BENCH_EMBEDDED_OPTIONS_H_

#include <span>

#include "tools/liststore/bench_embedded.h"
#include "tools/liststore/bench_peers.h"

namespace CLI {
class App;
}

namespace liststore {

// Adds them to `command`; parsing writes into `options`, which outlives it. `peers` are named in
// the help.
void AddBenchEmbeddedOptions(CLI::App* command, std::span<const BenchPeer> peers,
                             BenchEmbeddedOptions* options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_BENCH_EMBEDDED_OPTIONS_H_
