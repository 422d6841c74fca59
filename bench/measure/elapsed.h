// Time that has passed, by the clock that only runs forward.
#ifndef LISTSTORE_BENCH_MEASURE_ELAPSED_H_
#define LISTSTORE_BENCH_MEASURE_ELAPSED_H_

#include <chrono>

namespace liststore {

inline double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_ELAPSED_H_
