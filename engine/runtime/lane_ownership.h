// Who may touch a lane now, and what the others left for the holder to do: both in one atomic word.
//
// A thread that finds the lane free takes it and does its work where it stands. A thread that finds
// it taken leaves a node in the word; the holder serves what was left before it lets go. Letting go
// is a compare-and-swap from "owned, nothing waits" to "free", which fails exactly when something
// waits, so the release is itself the look into the mailbox and no mail can be stranded in a free
// lane.
//
//   LaneOwnership lane;
//   lane.Run([&] { status = directory.Upsert(...); });   // here, or on the holder's thread
//
// Rules (debug builds check the first three):
//  - no thread enters a lane it holds;
//  - a thread that holds a lane waits for none: Run and Await are called holding nothing. Except
//    Acquire, for whoever needs all lanes: in ascending order, holding none before the first;
//  - only the holder lets go;
//  - work left in a lane may run on any thread: it uses no thread-local state and never blocks. What
//    it throws, std::bad_alloc, comes out of Run on the thread that waits for it; posts throw nothing;
//  - a lane outlives every call on it.
#ifndef LISTSTORE_ENGINE_RUNTIME_LANE_OWNERSHIP_H_
#define LISTSTORE_ENGINE_RUNTIME_LANE_OWNERSHIP_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"

namespace liststore::runtime {

// How much one thread has left in one lane without waiting for it. A holder serves all that was
// left before it lets go, so whoever posts without limit takes the holder's thread for itself; the
// cap sits with the poster, because only the poster can stop. With n threads a holder finds at most
// (n - 1) x kPostsMax posts.
//
// Owned and used by the posting thread; one per lane it posts to. 4 bytes.
class PostBudget {
 public:
  static constexpr uint32_t kPostsMax = 64;

  // True: await the newest post (mail is served in arrival order, so that settles the earlier ones
  // too), then Renew(). Finding single posts done is not enough: a poster that refills at once
  // keeps the holder captured.
  bool Exhausted() const { return unawaited_ == kPostsMax; }
  uint32_t unawaited() const { return unawaited_; }
  // The newest post is done.
  void Renew() { unawaited_ = 0; }

 private:
  friend class LaneOwnership;
  void Spend() {
    LS_CHECK(unawaited_ < kPostsMax, "a thread leaves at most kPostsMax posts un-awaited");
    ++unawaited_;
  }

  uint32_t unawaited_ = 0;
};

// The ownership word of a lane. Any thread may call; one line of 64 bytes, no memory but the nodes.
// Taking a free lane and letting it go costs two locked instructions, 5 ns on a warm line.
//
// Invariants, on the word:
//  (1) 0: free; 1: owned, nothing waits; else owned, and a stack of nodes, newest first;
//  (2) a node enters only while the lane is owned, so it has a holder that will serve it;
//  (3) the holder alone takes nodes out and touches `backlog_`; a free lane has no backlog;
//  (4) mail is served in arrival order, `backlog_` before the word, so the operations of a thread
//      on a lane keep their order whichever way they went;
//  (5) the holder does not touch a node after storing its final state.
class alignas(kCacheLineBytes) LaneOwnership {
 public:
  // A piece of mail. It lives on the stack of the thread that waits for it, or is owned by a
  // poster; either way it stays where it is until IsDone(). Derive from it to carry the work's
  // arguments.
  struct Node {
    using RunFunction = void (*)(Node*);

    explicit Node(RunFunction function) : run(function) {}
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { LS_DCHECK(IsDone(), "mail outlives its time in a lane"); }

    // The work has run and its effects are visible; the node may be posted again or destroyed.
    bool IsDone() const { return state.load(std::memory_order_acquire) == State::kDone; }

    enum class State : uint32_t {
      kPosted,    // in a lane, nobody waits
      kAwaited,   // in a lane, its thread looks at it all the time
      kSleeping,  // in a lane, its thread sleeps until the lane's bell rings
      kDone,      // not in a lane
      kGranted,   // its thread is now the holder and does the work itself
    };

    Node* next = nullptr;   // older mail
    const RunFunction run;  // null: the thread wants the lane itself
    std::atomic<State> state{State::kDone};
  };

  LaneOwnership() = default;
  LaneOwnership(const LaneOwnership&) = delete;
  LaneOwnership& operator=(const LaneOwnership&) = delete;
  ~LaneOwnership();

  // Runs `work` while holding the lane, here or on the holder's thread, and returns when it has
  // run. Its effects are visible to the caller. Waits behind at most what was left in the lane
  // before it. Throws what `work` throws.
  template <typename F>
  void Run(F&& work) {
    if (TryEnter()) {
      const Hold hold(*this);
      work();
      return;
    }
    RunContended(work);
  }

  // Lets go, at the end of its scope, of a lane that was taken before it.
  class Hold {
   public:
    explicit Hold(LaneOwnership& lane) : lane_(lane) {}
    ~Hold() { lane_.Release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    LaneOwnership& lane_;
  };

  // Takes the lane if it is free; never waits.
  [[nodiscard]] bool TryAcquire() {
    uintptr_t expected = kFree;
    if (!word_.compare_exchange_strong(expected, kOwned, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      return false;
    }
    NoteTaken();
    return true;
  }

  // The same for whoever has another way of waiting, and holds no lane.
  [[nodiscard]] bool TryEnter() {
    CheckMayWait();
    return TryAcquire();
  }

  // Takes the lane, waiting for its turn: the request queues with the mail, and the holder hands
  // the lane over when it comes to it, so nobody overtakes it for long.
  void Acquire();

  // Lets go. Serves first what was left in the lane, in arrival order, until nothing waits or until
  // kServedMax pieces are served and the next one's thread is there to take over. Holder only.
  void Release() {
    AssertHeld();
    NoteReleased();
    uintptr_t expected = kOwned;
    if (backlog_ == nullptr &&
        word_.compare_exchange_strong(expected, kFree, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
    NoteTaken();  // still the holder
    ServeAndRelease();
  }

  // Runs node.run(&node) now if the lane is free (true), else leaves the node for the holder and
  // returns at once (false). `node` is idle (IsDone) and stays in place until it is done again;
  // `budget` is this thread's for this lane and not exhausted. Never waits, so it may be called
  // holding others.
  bool TryRunOrPost(Node& node, PostBudget& budget);

  // Waits until the node, posted by this thread to this lane, is done; may run it here.
  void Await(Node& node);

  // Somebody holds the lane. A glance from any thread, stale when it returns, as the next one.
  bool IsHeld() const { return word_.load(std::memory_order_relaxed) != kFree; }
  // Something waits in the lane. A glance from any thread, stale when it returns.
  bool MailWaits() const { return word_.load(std::memory_order_relaxed) > kOwned; }

  // The current thread is the holder. Debug builds only.
  void AssertHeld() const {
    LS_DCHECK(holder_.load(std::memory_order_relaxed) == std::this_thread::get_id(),
              "a lane is touched by its holder only");
  }

  // After this many served nodes the holder passes the lane on to a thread that is waiting in it,
  // so that returning callers cannot keep it forever. 64 operations are 15-30 us of borrowed time.
  static constexpr uint32_t kServedMax = 64;

 private:
  using State = Node::State;

  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kOwned = 1;

  // Work by reference: the caller waits, so its frame outlives the node.
  template <typename F>
  struct WorkNode : Node {
    explicit WorkNode(F& f) : Node(&WorkNode::Call), work(std::addressof(f)) {}
    static void Call(Node* node) {
      auto& self = *static_cast<WorkNode*>(node);
      try {
        (*self.work)();
      } catch (...) {
        self.thrown = std::current_exception();
      }
    }
    F* const work;
    std::exception_ptr thrown;
  };

  template <typename F>
  [[gnu::noinline]] void RunContended(F& work) {
    WorkNode<F> node(work);
    RunNode(node);
    if (node.thrown != nullptr) std::rethrow_exception(node.thrown);
  }

  void RunNode(Node& node);
  void RunHeld(Node& node);
  bool TryForAWhile();
  bool TakeOrPost(Node& node, State state);
  State WaitFor(Node& node);
  void SleepUntilServed(Node& node);
  void ServeAndRelease();
  Node* NextMail();
  bool TryHandOver(Node& node, bool* sleeper);
  void RingBell();

  // Debug bookkeeping: who holds the lane, and how many lanes this thread holds.
#ifdef NDEBUG
  void CheckMayWait() const {}
  void NoteTaken() {}
  void NoteReleased() {}
#else
  void CheckMayWait() const;
  void NoteTaken();
  void NoteReleased();
#endif

  std::atomic<uintptr_t> word_{kFree};
  // Mail taken out of the word and not yet served, oldest first. Left by a holder that passed the
  // lane on. Holder only.
  Node* backlog_ = nullptr;
  // Rung after sleepers were served. In the lane and not in the node, because the node may be gone
  // by the time of the ringing.
  std::atomic<uint32_t> bell_{0};
  // Debug builds only; here in all of them so that the layout is one.
  std::atomic<std::thread::id> holder_{};
};

static_assert(sizeof(LaneOwnership) == kCacheLineBytes,
              "a lane's word shares its line with no one");
static_assert(std::atomic<std::thread::id>::is_always_lock_free);

}  // namespace liststore::runtime

#endif  // LISTSTORE_ENGINE_RUNTIME_LANE_OWNERSHIP_H_
