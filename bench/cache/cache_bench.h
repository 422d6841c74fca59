// `liststore bench cache`: hit rates of cache policies by simulation, and of the store itself under
// the same accesses.
#ifndef LISTSTORE_BENCH_CACHE_CACHE_BENCH_H_
#define LISTSTORE_BENCH_CACHE_CACHE_BENCH_H_

#include "bench/cache/cache_options.h"

namespace liststore {

// Prints to standard output, progress to standard error. Returns the exit status of the program:
// 0, or 2 when a file cannot be read or written, or an operation was refused.
int RunBenchCache(const BenchCacheOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_CACHE_CACHE_BENCH_H_
