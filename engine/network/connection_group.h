// ConnectionGroup: the connections of one loop, of whatever protocol.
#ifndef LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_
#define LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "engine/base/mutex.h"
#include "engine/network/connection.h"
#include "engine/network/session.h"
#include "engine/runtime/event_loop.h"

namespace liststore::network {

// Owned by the server, one for each loop. Destroyed when it is empty and its loop has ended.
class ConnectionGroup {
 public:
  // `loop` and `limits` outlive the group.
  ConnectionGroup(EventLoop& loop, const SessionLimits& limits);
  ~ConnectionGroup();
  ConnectionGroup(const ConnectionGroup&) = delete;
  ConnectionGroup& operator=(const ConnectionGroup&) = delete;

  // --- Any thread; done when the loop comes to it -----------------------------------------------

  // Takes over a connected, non-blocking socket; closes it if the group has begun to stop. `face`,
  // which is of this loop, makes its session.
  void Adopt(int fd, SessionFactory& face);
  // Every connection answers what it has received, then ends; new ones are refused.
  void BeginStop();
  // Ends what BeginStop left over.
  void AbortAll();
  // After BeginStop: until no connection is left. False: `timeout` has passed.
  bool WaitUntilEmpty(std::chrono::milliseconds timeout);
  size_t connection_count() const;

 private:
  void Add(int fd, SessionFactory& face);
  void Remove(uint64_t id);
  void NoteCount();

  // The loop's thread only.
  LoopShare share_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t next_id_ = 0;
  bool stopping_ = false;

  // Any thread.
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  size_t connection_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool empty_and_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_CONNECTION_GROUP_H_
