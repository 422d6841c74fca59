#include "engine/lists/reclaimer.h"

#include <chrono>
#include <cstddef>
#include <new>
#include <utility>

#include "engine/base/worker_thread.h"

namespace liststore {
namespace {

// About 100 us of work; each lane is held for a part of it.
constexpr size_t kSliceUnits = 1000;
constexpr std::chrono::milliseconds kIdleWait(100);

}  // namespace

absl::StatusOr<std::unique_ptr<Reclaimer>> Reclaimer::Start(shard::Engine& engine,
                                                            const Clock& clock) {
  std::unique_ptr<Reclaimer> reclaimer(new Reclaimer(engine, clock));
  absl::StatusOr<std::thread> thread =
      StartThread("liststore-free", [reclaimer = reclaimer.get()] { reclaimer->Run(); });
  if (!thread.ok()) return thread.status();
  reclaimer->thread_ = *std::move(thread);
  return reclaimer;
}

Reclaimer::~Reclaimer() {
  if (!thread_.joinable()) return;  // it was refused
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_asked_.notify_all();
  thread_.join();
}

void Reclaimer::Run() {
  bool idle = false;
  while (MayGoOn(idle)) {
    try {
      idle = engine_.Reclaim(clock_.NowNanos(), kSliceUnits) == 0;
    } catch (const std::bad_alloc&) {
      idle = true;  // the heap may have more at the next try
    }
  }
}

bool Reclaimer::MayGoOn(bool idle) {
  MutexLock lock(mutex_);
  if (idle && !stopping_) stop_asked_.wait_for(mutex_, kIdleWait);
  return !stopping_;
}

}  // namespace liststore
