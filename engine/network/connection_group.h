// ConnectionGroup: the connections of one loop, of whatever protocol.
#ifndef LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_
#define LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/network/connection.h"
#include "engine/network/descriptor.h"
#include "engine/network/session.h"
#include "engine/network/tls.h"
#include "engine/runtime/errand.h"
#include "engine/runtime/event_loop.h"

namespace liststore::network {

// Owned by the server, one for each loop. Destroyed when it is empty and its loop is gone.
class ConnectionGroup {
 public:
  // What connections share beside what is the loop's own. Outlives the groups.
  struct Shared {
    const SessionLimits& limits;
    ClientBudget& budget;
    ClientCounters& counters;
    // The time that limits are measured by. Called by every loop.
    const std::function<Instant()>& now;
    // Who holds most of all groups' clients is to end. Called by every loop.
    std::function<void()> make_room;
    // By which answers leave; nullptr: none.
    AnswerGate* gate = nullptr;
  };

  // `loop` and `shared` outlive the group.
  ConnectionGroup(runtime::EventLoop& loop, const Shared& shared);
  ~ConnectionGroup();
  ConnectionGroup(const ConnectionGroup&) = delete;
  ConnectionGroup& operator=(const ConnectionGroup&) = delete;

  // --- Any thread; done when the loop comes to it -----------------------------------------------

  // Takes over a connected, non-blocking socket; closes it if the group has begun to stop. `face`,
  // which is of this loop, makes its session. `tls`: nullptr for plain bytes; outlives the group.
  void Adopt(Descriptor socket, SessionFactory& face, const TlsAcceptor* tls,
             Admission::Ticket ticket);
  // Ends connections that have taken too long. Without being asked this is done once a second.
  void CheckTimes() { check_times_.Ask(); }
  // Ends the connection that the budget has condemned, if it is of this group.
  void EndCondemned() { end_condemned_.Ask(); }
  // Every connection answers what it has received, then ends; new ones are refused.
  void BeginStop() { begin_stop_.Ask(); }
  // Ends what BeginStop left over.
  void AbortAll() { abort_all_.Ask(); }
  // After BeginStop: until no connection is left. False: `timeout` has passed.
  bool WaitUntilEmpty(std::chrono::milliseconds timeout);
  size_t connection_count() const;
  // When the loop has come by last, or the group was made.
  Instant ticked_at() const {
    return Instant(Instant::duration(ticked_at_.load(std::memory_order_relaxed)));
  }

  // --- The loop's thread: now and then, once a second at least. A look at the clock ------------

  void Tick();

 private:
  static constexpr std::chrono::seconds kCheckTime{1};

  void Add(Descriptor socket, SessionFactory& face, const TlsAcceptor* tls,
           Admission::Ticket ticket);
  void NoteTick(Instant now) {
    ticked_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void CheckTimesNow(Instant now);
  void Remove(uint64_t id);
  void FinishAll();
  // Answers of one round leave together: the gate's round ends with the loop's, or before it when it
  // has become large or long. Who comes late waits for the others no longer than that.
  static constexpr size_t kEntriesMax = 32;
  static constexpr std::chrono::microseconds kRoundTimeMax{200};
  void EndTurn(bool round_is_over);
  static constexpr uint64_t kNoRound = 0;
  // Those go on whose numbers have passed the gate. Who has the number that was closed just now has not waited.
  void PassGate(uint64_t closed_now);
  // A step of the next one that has begun, and of the next that has not.
  void ShakeHands();
  void NoteCount();

  const Shared& shared_;

  // The loop's thread only.
  LoopShare share_;
  Instant next_check_;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t next_id_ = 0;
  Instant round_began_{};  // of the gate
  bool round_is_open_ = false;
  bool stopping_ = false;

  // Any thread.
  runtime::Errand pass_gate_;
  runtime::Errand begin_round_;
  runtime::Errand shake_hands_;
  runtime::Errand check_times_;
  runtime::Errand end_condemned_;
  runtime::Errand begin_stop_;
  runtime::Errand abort_all_;
  std::atomic<Instant::rep> ticked_at_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  size_t connection_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool empty_and_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_
