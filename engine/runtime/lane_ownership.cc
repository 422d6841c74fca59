#include "engine/runtime/lane_ownership.h"

#include <sched.h>

#include <utility>

namespace liststore::runtime {
namespace {

// How long a caller tries to take a busy lane before it queues. Most lanes are let go within one
// operation (0.2-0.5 us); work that runs on its own thread keeps its data in its own cache.
constexpr int kTriesMax = 64;
// How long a waiting thread spins before it offers its core at every look: the holder may have been
// preempted on this very core.
constexpr int kSpinsMax = 200;
// How often it offers its core before it sleeps. Sleeping costs the holder a wake-up of
// microseconds, so only a wait that is already long gets there: a preempted holder, a lane that is
// being copied.
constexpr int kYieldsMax = 64;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#ifndef NDEBUG
// Checks only, never behaviour: a release build does not have it.
thread_local int lanes_held = 0;
#endif

}  // namespace

LaneOwnership::~LaneOwnership() {
  LS_DCHECK(word_.load(std::memory_order_relaxed) == kFree, "a lane ends free");
  LS_DCHECK(backlog_ == nullptr, "a free lane has no backlog");
}

void LaneOwnership::Acquire() {
  LS_DCHECK(holder_.load(std::memory_order_relaxed) != std::this_thread::get_id(),
            "no thread enters a lane it holds");
  if (TryForAWhile()) return;
  Node request(nullptr);
  if (!TakeOrPost(request, State::kAwaited)) {
    const State end = WaitFor(request);
    LS_CHECK(end == State::kGranted, "a request for a lane ends with the lane");
    NoteTaken();
  }
  request.state.store(State::kDone, std::memory_order_relaxed);
}

bool LaneOwnership::TryRunOrPost(Node& node, PostBudget& budget) {
  LS_DCHECK(node.run != nullptr, "a post carries work");
  LS_DCHECK(node.IsDone(), "a node is in one lane once");
  if (TakeOrPost(node, State::kPosted)) {
    RunHeld(node);
    return true;
  }
  budget.Spend();
  return false;
}

void LaneOwnership::Await(Node& node) {
  CheckMayWait();
  // Whoever waits can take over; whoever only posted cannot. Fails when the node is done.
  State expected = State::kPosted;
  node.state.compare_exchange_strong(expected, State::kAwaited, std::memory_order_relaxed,
                                     std::memory_order_relaxed);
  if (WaitFor(node) == State::kGranted) {
    NoteTaken();
    RunHeld(node);
  }
}

// The caller's frame holds the node and its work.
void LaneOwnership::RunNode(Node& node) {
  if (TryForAWhile() || TakeOrPost(node, State::kAwaited)) {
    RunHeld(node);
  } else if (WaitFor(node) == State::kGranted) {
    NoteTaken();
    RunHeld(node);
  }
}

// The node is this thread's alone: not in the lane, or granted.
void LaneOwnership::RunHeld(Node& node) {
  node.run(&node);
  node.state.store(State::kDone, std::memory_order_release);
  Release();
}

bool LaneOwnership::TryForAWhile() {
  for (int i = 0; i < kTriesMax; ++i) {
    const uintptr_t seen = word_.load(std::memory_order_relaxed);
    if (seen == kFree && TryAcquire()) return true;
    // Mail waits, so the lane will not be free before that is served: queue behind it.
    if (seen > kOwned) return false;
    Pause();
  }
  return false;
}

// Takes the lane (true) or leaves the node in it with `state` (false). Lock-free: a failed exchange
// means that another thread took, left or posted.
bool LaneOwnership::TakeOrPost(Node& node, State state) {
  // Before the node can be seen; a relaxed store, published by the exchange below.
  node.state.store(state, std::memory_order_relaxed);
  uintptr_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == kFree) {
      if (word_.compare_exchange_weak(seen, kOwned, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        NoteTaken();
        return true;
      }
    } else {
      node.next = seen == kOwned ? nullptr : reinterpret_cast<Node*>(seen);
      if (word_.compare_exchange_weak(seen, reinterpret_cast<uintptr_t>(&node),
                                      std::memory_order_release, std::memory_order_relaxed)) {
        return false;
      }
    }
  }
}

// Returns kDone or kGranted.
LaneOwnership::State LaneOwnership::WaitFor(Node& node) {
  for (int i = 0;; ++i) {
    const State state = node.state.load(std::memory_order_acquire);
    if (state == State::kDone || state == State::kGranted) return state;
    if (i < kSpinsMax) {
      Pause();
    } else if (i < kSpinsMax + kYieldsMax) {
      sched_yield();
    } else {
      SleepUntilServed(node);
    }
  }
}

// A sleeper cannot be missed: who serves the node finds kSleeping in it and then rings, and the
// bell is read here before the state. Either this thread sees the final state, or it waits for a
// bell value that the ringing has yet to change.
void LaneOwnership::SleepUntilServed(Node& node) {
  State expected = State::kAwaited;
  if (!node.state.compare_exchange_strong(expected, State::kSleeping, std::memory_order_relaxed,
                                          std::memory_order_relaxed)) {
    return;  // just served
  }
  for (;;) {
    const uint32_t heard = bell_.load(std::memory_order_acquire);
    if (node.state.load(std::memory_order_acquire) != State::kSleeping) return;
    bell_.wait(heard, std::memory_order_acquire);
  }
}

void LaneOwnership::RingBell() {
  // Sequentially consistent: ordered before the count of waiters that notify_all looks at.
  bell_.fetch_add(1, std::memory_order_seq_cst);
  bell_.notify_all();
}

void LaneOwnership::ServeAndRelease() {
  bool sleeper = false;
  uint32_t served = 0;
  while (Node* node = NextMail()) {
    if ((node->run == nullptr || served >= kServedMax) && TryHandOver(*node, &sleeper)) break;
    node->run(node);
    ++served;
    // The node may be gone after this.
    sleeper |= node->state.exchange(State::kDone, std::memory_order_acq_rel) == State::kSleeping;
  }
  // Not the holder any more: of the lane only the bell is touched from here on.
  if (sleeper) RingBell();
}

// The oldest piece of mail, unlinked; or null when nothing waits, and then the lane is free.
LaneOwnership::Node* LaneOwnership::NextMail() {
  if (backlog_ == nullptr) {
    uintptr_t newest = kOwned;
    NoteReleased();
    if (word_.compare_exchange_strong(newest, kFree, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return nullptr;
    }
    NoteTaken();
    newest = word_.exchange(kOwned, std::memory_order_acquire);
    LS_CHECK(newest > kOwned, "letting go fails only when mail waits");
    for (Node* node = reinterpret_cast<Node*>(newest); node != nullptr;) {
      Node* const older = std::exchange(node->next, backlog_);
      backlog_ = node;
      node = older;
    }
  }
  return std::exchange(backlog_, backlog_->next);
}

// Makes the thread that waits for `node` the holder, with the rest of the mail. False, and nothing
// has changed, if the node carries work and its thread is not looking: waking it would leave the
// lane idle.
bool LaneOwnership::TryHandOver(Node& node, bool* sleeper) {
  NoteReleased();
  if (node.run == nullptr) {
    const State was = node.state.exchange(State::kGranted, std::memory_order_acq_rel);
    LS_CHECK(was == State::kAwaited || was == State::kSleeping, "a request waits for its lane");
    *sleeper |= was == State::kSleeping;
    return true;
  }
  State expected = State::kAwaited;
  if (node.state.compare_exchange_strong(expected, State::kGranted, std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
    return true;
  }
  NoteTaken();
  return false;
}

#ifndef NDEBUG
void LaneOwnership::CheckMayWait() const {
  LS_CHECK(holder_.load(std::memory_order_relaxed) != std::this_thread::get_id(),
           "no thread enters a lane it holds");
  LS_CHECK(lanes_held == 0, "a thread that holds a lane waits for none");
}

void LaneOwnership::NoteTaken() {
  LS_CHECK(holder_.load(std::memory_order_relaxed) == std::thread::id(), "a lane has one holder");
  holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  ++lanes_held;
}

void LaneOwnership::NoteReleased() {
  holder_.store(std::thread::id(), std::memory_order_relaxed);
  --lanes_held;
}
#endif

}  // namespace liststore::runtime
