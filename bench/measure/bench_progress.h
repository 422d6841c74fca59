// BenchProgress: what a benchmark says on standard error while it measures.
#ifndef LISTSTORE_BENCH_MEASURE_BENCH_PROGRESS_H_
#define LISTSTORE_BENCH_MEASURE_BENCH_PROGRESS_H_

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "programs/console/terminal.h"

namespace liststore {

// On a terminal a bar with what is being measured, which is drawn between measurements and never during one: nothing
// of it runs beside what is measured. Where there is no terminal, lines alone. One thread.
class BenchProgress {
 public:
  // `steps`: as many as there will be.
  explicit BenchProgress(size_t steps) : steps_(std::max<size_t>(steps, 1)) {}

  // The next of the steps begins.
  void Step(std::string_view what) {
    bar_.Stage(static_cast<double>(std::min(begun_, steps_)) / static_cast<double>(steps_), what);
    ++begun_;
  }
  // A line that stays.
  void Say(const std::string& text) {
    bar_.Clear();
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  // The bar goes, for what writes there itself.
  void Clear() { bar_.Clear(); }

 private:
  const size_t steps_;
  size_t begun_ = 0;
  ProgressBar bar_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_BENCH_PROGRESS_H_
