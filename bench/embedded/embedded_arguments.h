// The options of `liststore bench embedded` on a command line.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_

#include <span>

#include "bench/embedded/embedded_options.h"
#include "bench/embedded/peer.h"

namespace CLI {
class App;
}

namespace liststore {

// Adds them to `command`; parsing writes into `options`, which outlives it. `peers` are named in
// the help.
void AddBenchEmbeddedOptions(CLI::App* command, std::span<const BenchPeer> peers,
                             BenchEmbeddedOptions* options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_
