// What a replay prints when it has gone through: a report for people, or one line of JSON.
#ifndef LISTSTORE_TOOLS_REPLAY_REPLAY_REPORT_H_
#define LISTSTORE_TOOLS_REPLAY_REPLAY_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "programs/oplog/replay_totals.h"
#include "tools/replay/replay_session.h"

namespace liststore {

struct ReplayReport {
  std::string log_path;
  uint64_t operations = 0;  // of one round
  uint64_t rounds = 1;
  uint64_t first_at_nanos = 0;
  uint64_t last_at_nanos = 0;
  std::string server;     // HOST:PORT; empty: the store was in this process
  uint32_t shards = 0;    // 0: not known, behind a wire
  bool compared = false;  // with expected answers; all were equal
  ReplayTotals totals;    // of one round
  uint64_t expired = 0;
  ReplayMemory memory;
  ReplayTimes times;           // of all rounds together
  double elapsed_seconds = 0;  // wall clock, parsing and comparing included

  double EngineSeconds() const { return static_cast<double>(times.engine_nanos) * 1e-9; }
  double OperationsPerSecond() const {
    const double seconds = EngineSeconds();
    return seconds > 0 ? static_cast<double>(operations * rounds) / seconds : 0;
  }
};

void PrintReport(const ReplayReport& report, std::FILE* out);
// One line; its keys are documented in `liststore replay --help`.
void PrintReportJson(const ReplayReport& report, std::FILE* out);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_REPLAY_REPORT_H_
