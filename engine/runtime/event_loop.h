// EventLoop: a thread that waits for sockets and timers, runs what became ready, and does a slice
// of background work now and then. One for each core that a server uses.
#ifndef LISTSTORE_ENGINE_RUNTIME_EVENT_LOOP_H_
#define LISTSTORE_ENGINE_RUNTIME_EVENT_LOOP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Declared and not included: Asio takes seconds to compile. Sources that wait for sockets include
// it themselves.
namespace boost::asio {
class io_context;
}

namespace liststore::runtime {

// What a post takes of memory.
class PostMemory {
 public:
  PostMemory() = default;
  PostMemory(const PostMemory&) = delete;
  PostMemory& operator=(const PostMemory&) = delete;

 private:
  friend class EventLoop;
  alignas(std::max_align_t) std::array<std::byte, 128> bytes_;
};

// Sockets, timers and posted functions of one thread. The loop sleeps in the kernel while nothing
// is ready; with nothing to do it wakes once a second. About 4 KiB, two descriptors for the kernel,
// and a thread from Start() on. Where the heap refuses something to a function that runs here, that
// function is over, and the loop goes on.
//
// Any thread: Post, Stop. Whoever made it: Start, Join, the destructor. Everything that is bound to
// context() is used on the loop's own thread, or before it starts, and is destroyed before it.
class EventLoop {
 public:
  // A slice of background work, some 30 us at most; true: more waits. Called about once a second,
  // and while more waits between the events of the sockets.
  using Background = std::function<bool()>;
  // Called between two functions. True: a round is over, nothing is ready any more or many functions
  // have run since the last one. Always before the loop sleeps.
  using Between = std::function<void(bool round_is_over)>;

  // ResourceExhausted: the process has no descriptors left. `background` may be empty.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(uint32_t number, Background background);
  // Stops and waits. What was posted and has not run is dropped.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // For what is better done for several functions at once. Before Start, once; what it uses lives
  // until the loop has been joined.
  void SetBetween(Between between);
  // Starts the thread, with all signals blocked: they belong to the program. Once.
  // ResourceExhausted: the system has no thread for it, and the loop does not run.
  [[nodiscard]] absl::Status Start();
  // Runs `work` on the loop's thread, in the order of the calls of one thread. Does not wait.
  void Post(absl::AnyInvocable<void()> work);
  // The same where the heap must not refuse it: `memory` was made before, is in use once at a time,
  // and stays until `work` begins, or is dropped. `work` captures two pointers at most.
  void Post(PostMemory& memory, absl::AnyInvocable<void()> work) noexcept;
  // Runs `work` when everything has run that is ready now, sockets included: a mark in the loop's
  // queue. One at a time. The loop's thread only; two system calls.
  void RunBehindReady(absl::AnyInvocable<void()> work);
  // How often nothing was ready any more, so far. The loop's thread only.
  uint64_t idles() const { return idles_; }
  // The loop ends after the function it is in. Does not wait.
  void Stop();
  // Waits for the thread. Not from the loop itself.
  void Join();

  // The calling thread is the loop's.
  bool IsCurrent() const;
  // From 0: also the number of the shard whose connections it serves.
  uint32_t number() const { return number_; }
  boost::asio::io_context& context();

 private:
  class Impl;
  EventLoop(uint32_t number, std::unique_ptr<Impl> impl);

  const uint32_t number_;
  uint64_t idles_ = 0;
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_EVENT_LOOP_H_
