// `liststore bench wire`: what a server of one shard does over CQL, asked by one thread.
#ifndef LISTSTORE_BENCH_WIRE_WIRE_BENCH_H_
#define LISTSTORE_BENCH_WIRE_WIRE_BENCH_H_

#include "bench/wire/wire_options.h"

namespace liststore {

// Measures and prints to standard output, progress to standard error. Returns the exit status of
// the program: 0, or 2 when an answer was wrong, the server cannot be used, or an option cannot.
int RunBenchWire(const BenchWireOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_WIRE_BENCH_H_
