// How simulated machines are told.
#ifndef LISTSTORE_BENCH_SCALE_SCALE_REPORT_H_
#define LISTSTORE_BENCH_SCALE_SCALE_REPORT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "bench/scale/scale_setup.h"

namespace liststore {

// One machine, and what one loop on one core of it does under the same requests.
struct ScaleLine {
  std::string form;
  ScaleSetup setup;
  ScaleResult result;
  double one_per_second = 0;

  // Throughput beside as many times one loop as there are cores. 1: nothing is lost.
  double efficiency() const {
    return one_per_second > 0 ? result.per_second() / (one_per_second * setup.cores_used()) : 0;
  }
};

// "uniform", "zipf", "hot".
const char* NameOf(ScaleMix mix);

// A table for people, or one line of JSON for each machine.
void PrintScale(const std::vector<ScaleLine>& lines, std::FILE* out);
void PrintScaleJson(const std::vector<ScaleLine>& lines, std::FILE* out);
// A chart: throughput by cores, a curve for each form and mix, beside what no loss would give.
std::string ScaleChart(const std::vector<ScaleLine>& lines);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_SCALE_REPORT_H_
