// RegionMapper: a thread that touches memory before writers need it.
#ifndef LISTSTORE_ENGINE_MEMORY_REGION_MAPPER_H_
#define LISTSTORE_ENGINE_MEMORY_REGION_MAPPER_H_

#include <condition_variable>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/memory/page_pool.h"

namespace liststore::memory {

// Calls PagePool::MapAhead whenever the pool says that it would help; sleeps otherwise. The thread
// runs until destruction, with less weight than others where cores are short: who would wait for it
// can touch memory as well. Made before other threads use the pool, ended after.
class RegionMapper {
 public:
  // ResourceExhausted: the system has no thread for it.
  static absl::StatusOr<std::unique_ptr<RegionMapper>> Start(PagePool& pool);
  ~RegionMapper();
  RegionMapper(const RegionMapper&) = delete;
  RegionMapper& operator=(const RegionMapper&) = delete;

 private:
  explicit RegionMapper(PagePool& pool) : pool_(pool) {}
  void Run();
  // Any thread, whatever it holds: one lock and, where the thread sleeps, a system call.
  void Wake();
  // False: it is time to stop.
  bool Wait() ABSL_LOCKS_EXCLUDED(mutex_);

  PagePool& pool_;

  Mutex mutex_;  // nobody takes another one while holding it
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::condition_variable_any woken_;

  std::thread thread_;
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_REGION_MAPPER_H_
