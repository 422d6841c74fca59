// `liststore bench overload`: what a server answers, and what it refuses, when it is asked for more
// than it can do.
#ifndef LISTSTORE_BENCH_OVERLOAD_OVERLOAD_BENCH_H_
#define LISTSTORE_BENCH_OVERLOAD_OVERLOAD_BENCH_H_

#include "bench/overload/overload_options.h"

namespace liststore {

// Measures and prints to standard output, progress to standard error. Returns the exit status of
// the program: 0 when all that is judged was reached, 1 when something was not, 2 when an answer
// was wrong, a server cannot be used, or an option cannot.
int RunBenchOverload(const BenchOverloadOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_OVERLOAD_BENCH_H_
