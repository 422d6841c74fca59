// What the programs of odd shapes have measured: latencies and single numbers, for people or as one
// line of JSON.
#ifndef LISTSTORE_BENCH_SHAPES_SHAPE_REPORT_H_
#define LISTSTORE_BENCH_SHAPES_SHAPE_REPORT_H_

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/histogram.h"

namespace liststore {

// One thread. Keys are those of the JSON; names are what people read.
class ShapeReport {
 public:
  // A headline above the lines that follow.
  void Begin(std::string_view shape);
  void Latency(std::string_view key, std::string_view name, const Histogram& latency);
  void Number(std::string_view key, std::string_view name, double value, std::string_view unit);
  // `shape`'s p50 and p99 by `beside`'s.
  void Ratios(std::string_view key, std::string_view name, const Histogram& shape,
              const Histogram& beside);

  void Print(std::FILE* out) const;
  // KEY_p50_ns, KEY_p99_ns, KEY_p999_ns, KEY_latency_ns of a latency; KEY of a number.
  void PrintJson(std::FILE* out) const;

 private:
  struct Line {
    std::string key;  // empty: a headline
    std::string name;
    bool is_latency = false;
    Histogram latency = {};
    double value = 0;
    std::string unit = {};
  };
  std::vector<Line> lines_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SHAPES_SHAPE_REPORT_H_
