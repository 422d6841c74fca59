// The options of `liststore bench embedded` on a command line.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_

#include <span>

#include "bench/embedded/embedded_options.h"
#include "bench/embedded/peer.h"
#include "programs/console/command_line.h"

namespace liststore {

// Adds them to `command`; parsing writes into `options`, which outlives it. `peers` are named in
// the help.
void AddBenchEmbeddedArguments(const Subcommand& command, std::span<const BenchPeer> peers,
                               BenchEmbeddedOptions* options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_ARGUMENTS_H_
