// What moves between the cores of this machine, and what waiting on them costs.
#ifndef LISTSTORE_BENCH_SCALE_MACHINE_COSTS_H_
#define LISTSTORE_BENCH_SCALE_MACHINE_COSTS_H_

#include <cstdio>

namespace liststore {

// Measures for some seconds on the first two cores that this process may use, and prints a line for each
// figure. Of many short measurements the lower quartile: what others take of the cores only adds. On a
// machine with one core it says what cannot be measured.
void PrintMachineCosts(std::FILE* out);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_MACHINE_COSTS_H_
