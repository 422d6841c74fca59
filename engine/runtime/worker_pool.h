// WorkerPool: threads for work that would keep a loop for too long. Clients have them in turn.
#ifndef LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_
#define LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "engine/base/mutex.h"

namespace liststore::runtime {

// Thread-safe. A thread is started when all there are have work, and stays; each takes as much
// memory as its stack has used. Threads run at a lower priority than others of the process, where
// the system lets them: what loops wait for they do first.
//
// What a client posts is begun in its order, on half of the threads at most, so that some are left
// for others. While others wait, a client gets a thread when it is its turn, however much it has
// posted.
class WorkerPool {
 public:
  // Up to `threads_max` threads; what waits for one is `queued_max` pieces at most.
  WorkerPool(uint32_t threads_max, size_t queued_max);
  // Stops.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `work` some time on one of the threads. False: it is not run, because too much waits,
  // the pool has stopped, or the system has no thread for it.
  [[nodiscard]] bool Post(uint64_t client, absl::AnyInvocable<void()> work);
  // What the client has posted and is not begun goes, with what it holds. What runs goes on.
  void Drop(uint64_t client);
  // Waits for what runs, and drops what waits. Not from one of the threads. Again: nothing.
  void Stop();

  size_t queued() const;
  size_t queued_max() const { return queued_max_; }

 private:
  struct Client {
    std::deque<absl::AnyInvocable<void()>> waits;
    uint32_t runs = 0;
  };
  using Clients = std::map<uint64_t, Client>;

  bool AddThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Whose turn it is of those that may have a thread; the end: nobody.
  Clients::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t threads_max_;
  const uint32_t per_client_max_;
  const size_t queued_max_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  Clients clients_ ABSL_GUARDED_BY(mutex_);           // with work that waits, or runs
  uint64_t last_client_ ABSL_GUARDED_BY(mutex_) = 0;  // whose turn was last
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait for work
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_
