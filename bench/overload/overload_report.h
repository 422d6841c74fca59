// What `liststore bench overload` has measured, what of it is judged, and how it says so.
#ifndef LISTSTORE_BENCH_OVERLOAD_OVERLOAD_REPORT_H_
#define LISTSTORE_BENCH_OVERLOAD_OVERLOAD_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/load/server_process.h"
#include "bench/measure/machine.h"
#include "bench/overload/offered_load.h"
#include "bench/overload/overload_options.h"

namespace liststore {

// How often what can be sustained is offered, one after the other; then the load goes back to
// kOverloadAfter at once. Judged is what becomes of kOverloadJudged.
inline constexpr double kOverloadShares[] = {0.5, 0.75, 1, 1.25, 1.5, 2, 3};
inline constexpr double kOverloadJudged = 2;
inline constexpr double kOverloadAfter = 0.5;

inline constexpr double kAnsweredShareBar = 0.9;
inline constexpr uint64_t kAnsweredNanosBar = 10'000'000;
inline constexpr double kRecoverySecondsBar = 1;
// With less of what was to be offered nothing is said of a load.
inline constexpr double kOfferedShareMin = 0.95;

struct OverloadSide {
  std::string key;               // of its keys in the JSON, in front of them
  std::string name;              // as people read it
  double sustained = 0;          // a second, by a closed load
  std::vector<OfferedRun> runs;  // one for each of kOverloadShares
  OfferedRun after;

  // Answered a second, whatever was offered.
  double Best() const;
};

struct Verdict {
  std::string text;
  bool is_reached = false;
};
// Of a server that refuses.
std::vector<Verdict> Judge(const OverloadSide& side);

struct OverloadReport {
  BenchOverloadOptions options;  // as they were used
  MachineFacts machine;
  WireCores cores;
  double first_seconds = 0;         // of each rate, not counted
  std::vector<OverloadSide> sides;  // ours first
};

void PrintOverloadReport(const OverloadReport& report, std::FILE* out);
// One line; its keys are documented in `liststore bench overload --help`.
std::string OverloadJson(const OverloadReport& report);
std::string OverloadSvg(const OverloadReport& report);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_OVERLOAD_REPORT_H_
