#include "bench/load/core_watch.h"

#include <algorithm>

namespace liststore {
namespace {

// Of a core, between two looks; the kernel's own threads take a few microseconds now and then.
constexpr int64_t kTakenNanosMin = 100'000;

}  // namespace

void CoreWatch::Begin() {
  looked_nanos_ = 0;
  for (WatchedThread& thread : threads_) thread.waited = thread.delay.Nanos();
}

void CoreWatch::Look(int64_t elapsed) {
  int64_t waited = 0;
  for (WatchedThread& thread : threads_) {
    const int64_t before = std::exchange(thread.waited, thread.delay.Nanos());
    waited = std::max(waited, thread.waited - before);
  }
  // It ended after the last look, and may have begun before.
  if (waited >= kTakenNanosMin) quiet_.CoreWasTaken(looked_nanos_ - waited, elapsed);
  looked_nanos_ = elapsed;
}

Histogram CoreWatch::Finish(int64_t elapsed) {
  Look(elapsed);
  return quiet_.Finish();
}

}  // namespace liststore
