// WorkMemory: what pieces of work may take of memory at the same time, all together. Those for which
// there is no room wait.
#ifndef LISTSTORE_ENGINE_RUNTIME_WORK_MEMORY_H_
#define LISTSTORE_ENGINE_RUNTIME_WORK_MEMORY_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"

namespace liststore::runtime {

// Thread-safe. Pieces are let in by what they may take at most, in the order of their coming, so that
// a large one is not passed by forever. One that wants more than there is has all of it to itself.
// Who has a part never waits for another: then all that wait are let in some time.
class WorkMemory {
 public:
  // What one piece has, until it goes. One thread.
  class Part {
   public:
    // Waits until there are so many bytes, or all there can be.
    Part(WorkMemory& memory, uint64_t bytes) : memory_(memory), bytes_(memory.Take(bytes)) {}
    ~Part() { memory_.Give(bytes_); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    WorkMemory& memory_;
    const uint64_t bytes_;
  };

  // `on_given` is called with what a piece had when it is over, before others have it, by its thread,
  // with nothing locked. May be empty.
  explicit WorkMemory(uint64_t bytes, std::function<void(uint64_t bytes)> on_given = {})
      : bytes_(bytes), on_given_(std::move(on_given)) {}
  WorkMemory(const WorkMemory&) = delete;
  WorkMemory& operator=(const WorkMemory&) = delete;

  uint64_t bytes() const { return bytes_; }
  uint64_t taken() const {
    const MutexLock lock(mutex_);
    return taken_;
  }
  // Pieces for which there is no room yet.
  uint64_t waiting() const {
    const MutexLock lock(mutex_);
    return came_ - let_in_;
  }

 private:
  // Returns what was taken.
  uint64_t Take(uint64_t bytes);
  void Give(uint64_t bytes);

  const uint64_t bytes_;
  const std::function<void(uint64_t bytes)> on_given_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t came_ ABSL_GUARDED_BY(mutex_) = 0;  // so many have come, and been let in
  uint64_t let_in_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_WORK_MEMORY_H_
