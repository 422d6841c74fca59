// What `liststore bench wire` has measured, and how it says so: a report for people, or one line of
// JSON.
#ifndef LISTSTORE_BENCH_WIRE_WIRE_REPORT_H_
#define LISTSTORE_BENCH_WIRE_WIRE_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/load/open_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/machine.h"
#include "bench/wire/wire_line.h"
#include "bench/wire/wire_options.h"

namespace liststore {

struct WireReport {
  BenchWireOptions options;  // as they were used
  MachineFacts machine;
  std::string server;
  WireCores cores;
  double load_seconds = 0;
  uint64_t populated_bytes = 0;
  uint64_t resident_bytes = 0;  // 0: not known
  std::vector<WireLine> lines;
  // With TLS: beside each SELECT of `lines` the same without, to a server of its own; handshakes.
  std::vector<WireLine> plain_lines;
  HandshakeLine handshakes;
  OpenRun open;
  uint64_t verified = 0;  // replies that were read in full
};

void PrintWireReport(const WireReport& report, std::FILE* out);
// One line; its keys are documented in `liststore bench wire --help`.
void PrintWireReportJson(const WireReport& report, std::FILE* out);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_WIRE_REPORT_H_
