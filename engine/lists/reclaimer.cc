#include "engine/lists/reclaimer.h"

#include <chrono>
#include <cstddef>

namespace liststore {
namespace {

// About 100 us of work; each lane is held for a part of it.
constexpr size_t kSliceUnits = 1000;
constexpr std::chrono::milliseconds kIdleWait(100);

}  // namespace

Reclaimer::Reclaimer(shard::Engine& engine, const Clock& clock)
    : engine_(engine), clock_(clock), thread_([this] { Run(); }) {}

Reclaimer::~Reclaimer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_asked_.notify_all();
  thread_.join();
}

void Reclaimer::Run() {
  bool idle = false;
  while (MayGoOn(idle)) idle = engine_.Reclaim(clock_.NowNanos(), kSliceUnits) == 0;
}

bool Reclaimer::MayGoOn(bool idle) {
  MutexLock lock(mutex_);
  if (idle && !stopping_) stop_asked_.wait_for(mutex_, kIdleWait);
  return !stopping_;
}

}  // namespace liststore
