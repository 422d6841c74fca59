// ConnectionGroup: the connections of one loop, and the buffers that they use in turn.
#ifndef LISTSTORE_ENGINE_FACES_CQL_CONNECTION_GROUP_H_
#define LISTSTORE_ENGINE_FACES_CQL_CONNECTION_GROUP_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "engine/base/mutex.h"
#include "engine/base/output_buffer.h"
#include "engine/faces/cql/connection.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/faces/cql/server_context.h"
#include "engine/faces/cql/session.h"
#include "engine/runtime/event_loop.h"

namespace liststore {

// Owned by the server, one for each loop, whose number is the shard of its connections. Destroyed
// when it is empty and its loop has ended.
class ConnectionGroup {
 public:
  // `loop` and `server` outlive the group.
  ConnectionGroup(EventLoop& loop, const ServerContext& server);
  ~ConnectionGroup();
  ConnectionGroup(const ConnectionGroup&) = delete;
  ConnectionGroup& operator=(const ConnectionGroup&) = delete;

  // --- Any thread; done when the loop comes to it -----------------------------------------------

  // Takes over a connected, non-blocking socket; closes it if the group has begun to stop.
  void Adopt(int fd);
  // Sends an event to the connections that registered for it.
  void Push(const PushedEvent& event);
  // Every connection answers what it has received, then ends; new ones are refused.
  void BeginStop();
  // Ends what BeginStop left over.
  void AbortAll();
  // After BeginStop: until no connection is left. False: `timeout` has passed.
  bool WaitUntilEmpty(std::chrono::milliseconds timeout);
  size_t connection_count() const;

  // --- The loop's thread only: what connections use in turn -------------------------------------

  EventLoop& loop() { return loop_; }
  const ServerContext& server() const { return server_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  // Connection::kReadBufferBytes bytes.
  char* read_buffer() { return read_buffer_.get(); }
  // Empty between two turns.
  OutputBuffer& out() { return out_; }
  // Enters a connection into the server's directory, or renews its entry.
  void List(uint64_t id, const ClientState& client);
  // Destroys the connection.
  void Remove(uint64_t id);

 private:
  void Add(int fd);
  void NoteCount();

  EventLoop& loop_;
  const ServerContext& server_;

  // The loop's thread only.
  Dispatcher dispatcher_;
  const std::unique_ptr<char[]> read_buffer_;
  OutputBuffer out_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t next_id_ = 0;
  bool stopping_ = false;

  // Any thread.
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  size_t connection_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool empty_and_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_FACES_CQL_CONNECTION_GROUP_H_
