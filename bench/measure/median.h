// The figure that stands for several rounds.
#ifndef LISTSTORE_BENCH_MEASURE_MEDIAN_H_
#define LISTSTORE_BENCH_MEASURE_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace liststore {

// The middle one, or the mean of the two in the middle; 0 of nothing.
inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_MEDIAN_H_
