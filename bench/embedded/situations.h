// Situations in which a store may stall or swell: a million rows that expire in one second, a
// feature that is deleted with all its lists, the memory limit.
#ifndef LISTSTORE_BENCH_EMBEDDED_SITUATIONS_H_
#define LISTSTORE_BENCH_EMBEDDED_SITUATIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/histogram.h"
#include "liststore/list_store.h"

namespace liststore {

// A read should never take longer.
inline constexpr uint64_t kReadNanosMax = 2'000'000;

// Reads of one thread, by the wall clock. A core is not always this thread's: for reads above
// kReadNanosMax, what the kernel counts as time spent ready without a core is taken off in
// `longest_on_core_nanos`. That is a floor, not an excuse: a thread that yields while it waits for
// another one is ready too, so both figures are shown.
struct ReadWatch {
  Histogram latency;
  uint64_t above_max = 0;          // by the wall clock
  uint64_t above_max_on_core = 0;  // without the time when others had the core
  uint64_t longest_on_core_nanos = 0;
};

// What the machine itself does to a thread that reads the clock and nothing else, beside a reader:
// the time between two readings. Where cores are shared, stalls like these hit reads as well.
struct ClockGaps {
  uint64_t above_max = 0;  // longer than kReadNanosMax
  uint64_t longest_nanos = 0;
};

struct ExpiryResult {
  uint64_t rows = 0;   // due in the same second
  ReadWatch quiet;     // before, while another thread reads the clock
  ClockGaps clock;     // of that one
  ReadWatch reads;     // from that second until the last row was reclaimed
  double seconds = 0;  // until then
};
// A store with a reclaiming thread, half of its lists due at once; one thread reads both halves.
absl::StatusOr<ExpiryResult> MeasureExpiry(uint64_t rows, uint32_t items_per_list, double seconds);

struct DeletionResult {
  uint64_t lists = 0;
  ReadWatch quiet;
  ClockGaps clock;
  ReadWatch reads;  // from the call until its memory was back
  // Afterwards, behind as much memory given back at once that was never the store's: what the
  // machine makes readers wait for it, a virtual one that passes it on to its host 40 ms and more.
  ReadWatch control;
  ClockGaps control_clock;
  double call_seconds = 0;     // DeleteListFeature itself
  double reclaim_seconds = 0;  // until all memory was given back, by ListStore::Reclaim(1000)
  double longest_slice_seconds = 0;
  uint64_t resident_before = 0;
  uint64_t resident_after = 0;
};
// Deletes kBenchFeature of `store`, whose system clock runs, while a thread reads another feature.
absl::StatusOr<DeletionResult> MeasureDeletion(ListStore& store, uint64_t lists, double seconds);

struct LimitResult {
  uint64_t limit_bytes = 0;
  uint64_t held_bytes = 0;      // the most that the store counted
  uint64_t resident_bytes = 0;  // the most by which resident memory grew, looked at every 5 ms
  uint64_t operations = 0;
  uint64_t refused = 0;        // additions, of one list and of several
  uint64_t left_behind = 0;    // refused additions of which something was found
  uint64_t lists_checked = 0;  // read whole at the end, each as it should be
  double seconds = 0;
};
// Additions of values between 8 bytes and 16 KiB to one list and to eight at once, reads, removals,
// on `threads` threads, until the limit is reached and for `seconds` from then on.
absl::StatusOr<LimitResult> MeasureMemoryLimit(uint64_t limit_bytes, uint32_t threads,
                                               double seconds, uint64_t seed);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_SITUATIONS_H_
