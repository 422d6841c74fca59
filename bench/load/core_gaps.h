// What a machine takes from those who measure on it: the moments in which a thread that was ready
// did not have its core, and what requests at a rate would wait for them.
#ifndef LISTSTORE_BENCH_LOAD_CORE_GAPS_H_
#define LISTSTORE_BENCH_LOAD_CORE_GAPS_H_

#include <cstdint>
#include <vector>

#include "bench/load/server_process.h"
#include "engine/base/histogram.h"

namespace liststore {

// Of the steady clock.
int64_t SteadyNanos();

// In nanoseconds of the steady clock.
struct CoreGap {
  int64_t begin = 0;
  int64_t end = 0;
};

// Shorter ones are none: reading the clock, interrupts.
inline constexpr int64_t kCoreGapNanosMin = 10'000;

// Reads the clock for `seconds` and does nothing else, on the calling thread's core; the gaps in
// their order.
std::vector<CoreGap> ReadClock(double seconds);

// The same on both cores at once, on threads of its own; gaps in no order. It takes as much of the
// cores as a server and a client that do not sleep, so it meets what they would.
std::vector<CoreGap> WatchCores(const WireCores& cores, double seconds);

// The waits of `rate` requests a second over `seconds`, each due at its instant, if they were
// answered in no time but within `gaps`: the least that any server on these cores could show. Gaps
// may overlap, as those of two cores do.
Histogram WaitsForCores(std::vector<CoreGap> gaps, double rate, double seconds);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_LOAD_CORE_GAPS_H_
