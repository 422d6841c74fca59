// Reclaimer: the thread that reclaims memory with Options::background_reclaim.
#ifndef LISTSTORE_ENGINE_LISTS_RECLAIMER_H_
#define LISTSTORE_ENGINE_LISTS_RECLAIMER_H_

#include <condition_variable>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore {

// Calls Engine::Reclaim in slices until there is nothing to reclaim, then tries again every 100 ms.
// The thread runs until destruction; `engine` and `clock` must outlive the object. Stopping takes at
// most one slice.
class Reclaimer {
 public:
  // ResourceExhausted: the system has no thread for it.
  static absl::StatusOr<std::unique_ptr<Reclaimer>> Start(shard::Engine& engine,
                                                          const Clock& clock);
  ~Reclaimer();
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;

 private:
  Reclaimer(shard::Engine& engine, const Clock& clock) : engine_(engine), clock_(clock) {}
  void Run();
  // Returns false when the thread must stop. `idle`: first waits for the next try.
  bool MayGoOn(bool idle) ABSL_LOCKS_EXCLUDED(mutex_);

  shard::Engine& engine_;
  const Clock& clock_;

  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::condition_variable_any stop_asked_;

  std::thread thread_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_RECLAIMER_H_
