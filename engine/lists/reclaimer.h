// Reclaimer: the thread that gives memory back where a store is asked to have one
// (Options::background_reclaim).
#ifndef LISTSTORE_ENGINE_LISTS_RECLAIMER_H_
#define LISTSTORE_ENGINE_LISTS_RECLAIMER_H_

#include <condition_variable>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore {

// Calls Engine::Reclaim in slices until nothing waits, then looks again every 100 ms. The thread
// runs from construction to destruction; `engine` and `clock` outlive the object. Stopping takes
// one slice at most.
class Reclaimer {
 public:
  Reclaimer(Engine& engine, const Clock& clock);
  ~Reclaimer();
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

 private:
  void Run();
  // False: it is time to stop. `idle`: waits for the next look first.
  bool MayGoOn(bool idle) ABSL_LOCKS_EXCLUDED(mutex_);

  Engine& engine_;
  const Clock& clock_;

  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::condition_variable_any stop_asked_;

  std::thread thread_;  // last: it uses the others
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_RECLAIMER_H_
