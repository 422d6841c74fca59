// `liststore bench embedded`: what the embedded store does on this machine, and a peer in the same
// run to compare it with.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_

#include <span>

#include "bench/embedded/embedded_options.h"
#include "bench/embedded/peer.h"

namespace liststore {

// Measures and prints to standard output, progress to standard error. Returns the exit status of
// the program: 0, or 2 when an answer was wrong, an operation was refused, or an option cannot be
// used. `peers`: what options.peer may name.
int RunBenchEmbedded(const BenchEmbeddedOptions& options, std::span<const BenchPeer> peers);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_BENCH_H_
