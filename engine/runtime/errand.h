// Errand: what a loop does whenever somebody asks for it. Asking takes no memory, so that the heap
// cannot refuse what has to happen.
#ifndef LISTSTORE_ENGINE_RUNTIME_ERRAND_H_
#define LISTSTORE_ENGINE_RUNTIME_ERRAND_H_

#include <atomic>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "engine/runtime/event_loop.h"

namespace liststore::runtime {

// Outlives its loop, which may have it before it when both end.
class Errand {
 public:
  Errand(EventLoop& loop, absl::AnyInvocable<void()> work) : loop_(loop), work_(std::move(work)) {}
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

  // Any thread. The loop runs the work soon, once for all who have asked before.
  void Ask() {
    if (is_asked_.exchange(true)) return;
    loop_.Post(memory_, [this] {
      is_asked_.store(false);
      work_();
    });
  }

 private:
  EventLoop& loop_;
  absl::AnyInvocable<void()> work_;  // the loop's thread only
  std::atomic<bool> is_asked_{false};
  PostMemory memory_;
};

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_ERRAND_H_
