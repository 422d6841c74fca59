// What `liststore bench target` has measured, whether it was reached, and how it says so.
#ifndef LISTSTORE_BENCH_TARGET_TARGET_REPORT_H_
#define LISTSTORE_BENCH_TARGET_TARGET_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/load/open_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/machine.h"
#include "bench/target/target_options.h"

namespace liststore {

// Of what was offered so much has to be done within its time: the rest is what the last operations
// of a run take.
inline constexpr double kTargetAchievedShare = 0.995;
// With less of the operations undisturbed, the times of all of them are judged.
inline constexpr double kTargetQuietShareMin = 0.2;
inline constexpr uint64_t kTargetItemsRead = 10;

// One way to ask a store.
struct TargetSide {
  std::string key;   // "embedded", "wire"
  std::string name;  // as people read it
  OpenRun run;
  uint64_t verified = 0;  // answers that were compared in full

  double ReadsPerSecond() const;
  double AdditionsPerSecond() const;
  // The 99th percentile that is judged: of what was due while nobody else had one of the cores,
  // where that is known of enough.
  uint64_t JudgedP99Nanos() const;
  bool JudgesUndisturbed() const;
};

struct TargetVerdict {
  std::string text;
  bool is_reached = false;
};
// What was done of the rate; then the 99th percentile.
std::vector<TargetVerdict> JudgeTarget(const TargetSide& side, const BenchTargetOptions& options);

struct TargetReport {
  BenchTargetOptions options;  // as they were used
  MachineFacts machine;
  WireCores cores;
  std::vector<TargetSide> sides;

  bool IsReached() const;
};

void PrintTargetReport(const TargetReport& report, std::FILE* out);
// One line; its keys are documented in `liststore bench target --help`.
std::string TargetJson(const TargetReport& report);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_TARGET_TARGET_REPORT_H_
