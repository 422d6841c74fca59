#include "engine/memory/region_mapper.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "engine/base/worker_thread.h"

namespace liststore::memory {
namespace {

// A tenth of a core where others want all of it, all of one that is idle.
constexpr int kNiceness = 10;

}  // namespace

absl::StatusOr<std::unique_ptr<RegionMapper>> RegionMapper::Start(PagePool& pool) {
  std::unique_ptr<RegionMapper> mapper(new RegionMapper(pool));
  absl::StatusOr<std::thread> thread =
      StartThread("liststore-pages", [mapper = mapper.get()] { mapper->Run(); });
  if (!thread.ok()) return thread.status();
  mapper->thread_ = *std::move(thread);
  pool.ListenToNeed([mapper = mapper.get()] { mapper->Wake(); });
  return mapper;
}

RegionMapper::~RegionMapper() {
  if (!thread_.joinable()) return;  // it was refused
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  thread_.join();
  pool_.ListenToNeed({});
}

void RegionMapper::Run() {
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
