// What the reports of all benchmarks begin with: which program, when, on which machine.
#ifndef LISTSTORE_BENCH_MEASURE_REPORT_HEAD_H_
#define LISTSTORE_BENCH_MEASURE_REPORT_HEAD_H_

#include <cstdio>
#include <string>
#include <string_view>

#include "bench/measure/machine.h"
#include "programs/console/json_line.h"

namespace liststore {

// "liststore 1.2.3, <bench>", the date, the machine.
void PrintReportHead(std::string_view bench, const MachineFacts& machine, std::FILE* out);
// One more line below it.
void PrintReportLine(std::string_view name, const std::string& text, std::FILE* out);
// The keys version, date, cpu, cores, memory_bytes, huge_pages, kernel and compiler.
void AddMachine(const MachineFacts& machine, JsonLine* json);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_REPORT_HEAD_H_
