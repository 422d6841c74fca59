// What `liststore bench embedded` has measured, and how it says so: a report for people, or one
// line of JSON.
#ifndef LISTSTORE_BENCH_EMBEDDED_EMBEDDED_REPORT_H_
#define LISTSTORE_BENCH_EMBEDDED_EMBEDDED_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/embedded/embedded_options.h"
#include "bench/embedded/situations.h"
#include "bench/measure/machine.h"
#include "bench/measure/workload.h"
#include "engine/base/histogram.h"

namespace liststore {

struct BenchFigures {
  // Operations a second, one for each round: by the wall clock, and by the time on a core.
  std::vector<double> rates;
  std::vector<double> core_rates;
  Histogram latency;  // of all rounds
};

// One kind of operation. Round i of both sides ran one right after the other.
struct BenchLine {
  BenchKind kind;
  bool zipf;
  BenchFigures ours;
  BenchFigures peer;  // without rounds when it was left out

  // Ours by the peer's of each round, by the time on a core.
  std::vector<double> Ratios() const;
  double Ratio() const;  // their median
};

struct BenchThreadsLine {
  BenchKind kind;
  std::vector<double> one;   // operations a second on one thread, one for each round
  std::vector<double> many;  // on all of them together

  double Ratio() const;
};

struct BenchMemory {
  uint64_t items = 0;
  // Growth of resident memory by loading: right after it, and when Reclaim had nothing left to do.
  uint64_t resident_loaded = 0;
  uint64_t resident_compacted = 0;
  // The engine's own counters then.
  uint64_t live_bytes = 0;
  uint64_t held_bytes = 0;
  uint64_t held_bytes_after = 0;  // after all lines
  uint64_t resident_peer = 0;
  double load_seconds = 0;
  double compact_seconds = 0;
  double load_seconds_peer = 0;

  double PerItem(uint64_t bytes) const {
    return items == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(items);
  }
};

struct BenchReport {
  BenchEmbeddedOptions options;  // as they were used
  std::string peer_title;        // "the plain structure"
  MachineFacts machine;
  BenchMemory memory;
  std::vector<BenchLine> lines;
  std::vector<BenchThreadsLine> threads;
  ExpiryResult expiry;
  DeletionResult deletion;
  LimitResult limit;
  double elapsed_seconds = 0;

  // What the thread that was timed had of its core: below 1, others wanted it too.
  double CoreShare() const;
  // The smallest of the threads' lines; 0 without them.
  double ThreadsRatio() const;
};

void PrintBenchReport(const BenchReport& report, std::FILE* out);
// One line; its keys are documented in `liststore bench embedded --help`.
void PrintBenchReportJson(const BenchReport& report, std::FILE* out);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_EMBEDDED_REPORT_H_
