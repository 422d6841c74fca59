// `liststore bench target`: whether this machine does what the store is made for.
#ifndef LISTSTORE_BENCH_TARGET_TARGET_BENCH_H_
#define LISTSTORE_BENCH_TARGET_TARGET_BENCH_H_

#include "bench/target/target_options.h"

namespace liststore {

// Measures and prints to standard output, progress to standard error. Returns the exit status of
// the program: 0 when the rate was reached, 1 when it was not, 2 when an answer was wrong or an
// option cannot be used.
int RunBenchTarget(const BenchTargetOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_TARGET_TARGET_BENCH_H_
