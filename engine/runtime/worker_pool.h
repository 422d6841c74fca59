// WorkerPool: threads for work that would keep a loop for too long, and memory for it. Clients have
// them in turn.
#ifndef LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_
#define LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>
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
//
// What takes much memory says so, and is begun when there is as much for it, by what it may take at
// most. Until then it has no thread. Whose turn it is has the next that comes free: none that needs
// memory passes it by, so that it is begun some time, however large it is. What wants more than there
// is has all of it to itself.
class WorkerPool {
 public:
  struct Terms {
    uint64_t memory_bytes = 0;  // while it runs
    // Has the turns and threads of this client, not those of its own.
    std::optional<uint64_t> turns_of = {};
  };

  // Up to `threads_max` threads; what waits for one is `queued_max` pieces at most. What all have of
  // memory together is `memory_bytes`. `on_memory_given` is called with what a piece had of it when
  // it is over, before others have it, by its thread, with nothing locked. May be empty.
  WorkerPool(uint32_t threads_max, size_t queued_max, uint64_t memory_bytes = 0,
             std::function<void(uint64_t bytes)> on_memory_given = {});
  // Stops.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `work` some time on one of the threads. False: it is not run, because too much waits,
  // the pool has stopped, or the system has no thread for it.
  [[nodiscard]] bool Post(uint64_t client, absl::AnyInvocable<void()> work) {
    return Post(client, std::move(work), Terms());
  }
  [[nodiscard]] bool Post(uint64_t client, absl::AnyInvocable<void()> work, const Terms& terms);
  // What the client has posted and is not begun goes, with what it holds. What runs goes on.
  void Drop(uint64_t client);
  // Waits for what runs, and drops what waits. Not from one of the threads. Again: nothing.
  void Stop();

  size_t queued() const;
  // Pieces that are being worked at.
  size_t running() const;
  size_t queued_max() const { return queued_max_; }
  uint64_t memory_taken() const;

 private:
  struct Piece {
    absl::AnyInvocable<void()> work;
    uint64_t client = 0;  // who posted it
    uint64_t memory_bytes = 0;
  };
  struct Client {
    std::deque<Piece> waits;
    uint32_t runs = 0;
  };
  using Clients = std::map<uint64_t, Client>;

  bool AddThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Whose turn it is of those that may have a thread; the end: nobody.
  Clients::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Clients::iterator FirstToBegin(Clients::iterator at, Clients::iterator end)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayHaveThread(const Client& client) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !client.waits.empty() && client.runs < per_client_max_;
  }
  bool HasMemoryFor(const Piece& piece) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return piece.memory_bytes <= memory_bytes_ - memory_taken_;
  }

  const uint32_t threads_max_;
  const uint32_t per_client_max_;
  const size_t queued_max_;
  const uint64_t memory_bytes_;
  const std::function<void(uint64_t bytes)> on_memory_given_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  Clients clients_ ABSL_GUARDED_BY(mutex_);           // with work that waits, or runs
  uint64_t last_client_ ABSL_GUARDED_BY(mutex_) = 0;  // whose turn was last
  uint64_t memory_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  // Whose turn it was when there was no memory for it: has the next that comes free.
  std::optional<uint64_t> waits_for_memory_ ABSL_GUARDED_BY(mutex_);
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait for work
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_WORKER_POOL_H_
