#include "engine/memory/region_mapper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace liststore::memory {
namespace {

// A tenth of a core where others want all of it, all of one that is idle.
constexpr int kNiceness = 10;

}  // namespace

RegionMapper::RegionMapper(PagePool& pool) : pool_(pool) {
  pool_.ListenToNeed([this] { Wake(); });
  // Signals belong to the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RegionMapper::~RegionMapper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  thread_.join();
  pool_.ListenToNeed({});
}

void RegionMapper::Run() {
  pthread_setname_np(pthread_self(), "liststore-pages");
  // Of Linux threads, each has its own. Refused: it runs as others do.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness));
  while (Wait()) {
    while (pool_.MapAhead()) {
    }
  }
}

void RegionMapper::Wake() {
  {
    MutexLock lock(mutex_);
    if (std::exchange(wanted_, true)) return;
  }
  woken_.notify_one();
}

bool RegionMapper::Wait() {
  MutexLock lock(mutex_);
  while (!wanted_ && !stopping_) woken_.wait(mutex_);
  wanted_ = false;
  return !stopping_;
}

}  // namespace liststore::memory
