// Server: loops, listeners and connections in front of a RequestHandler. What CqlServer is made of
// beside the engine, and what tests put in front of handlers of their own.
#ifndef LISTSTORE_ENGINE_FACES_CQL_SERVER_H_
#define LISTSTORE_ENGINE_FACES_CQL_SERVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connected_clients.h"
#include "engine/faces/cql/cql_session.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/faces/cql/server_context.h"
#include "engine/network/connection_group.h"
#include "engine/network/listener.h"
#include "engine/network/session.h"
#include "engine/protocol/frame.h"
#include "engine/runtime/event_loop.h"

namespace liststore {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t cql_port = 0;  // 0: any free one
  bool listens_shard_aware = true;
  // 0: any free one. Absent: 19042 with a fixed cql_port, if that is free, else any free one.
  std::optional<uint16_t> shard_aware_port = {};
  uint32_t shards = 1;  // each has a loop
  // SUPPORTED says what ScyllaDB's says; else what Cassandra's does.
  bool looks_like_scylla = true;
  // Of Cassandra's SUPPORTED.
  std::string cassandra_cql_version = "3.4.4";
  std::string host_id = {};  // as text, as in system.local; empty: not said
  std::optional<Credentials> credentials = {};
  uint32_t body_bytes_max = protocol::kFrameBodyBytesMax;
  // Where connections are listed; outlives the server. May be nullptr.
  ConnectedClients* clients = nullptr;
  // Called by every loop; see EventLoop. May be empty.
  EventLoop::Background background = {};
};

// ScyllaDB's default.
inline constexpr uint16_t kShardAwarePort = 19042;

// Started by Start, ended by Stop or the destructor; owned by whoever started it. Any thread may
// ask for ports and counts; Stop is called by one, which is none of the loops.
class Server {
 public:
  // `handler` and `events` outlive the server; nobody else subscribes to `events` any more. Errors:
  // Listener::Open's, and ResourceExhausted when the process has no descriptors left.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       RequestHandler& handler, EventHub& events);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Closes the ports, answers what has arrived, ends all connections and the loops. Takes 0.1 s
  // when clients leave their side open, at most 0.5 s and the request that runs when they do not
  // read. Again: nothing.
  void Stop();

  uint16_t cql_port() const { return cql_listener_->port(); }
  // 0: there is none.
  uint16_t shard_aware_port() const {
    return shard_aware_listener_ == nullptr ? uint16_t{0} : shard_aware_listener_->port();
  }
  size_t connection_count() const;

 private:
  explicit Server(RequestHandler& handler) { context_.handler = &handler; }
  absl::Status Open(const ServerOptions& options, EventHub& events);
  absl::Status OpenListeners(const ServerOptions& options);
  absl::StatusOr<std::unique_ptr<Listener>> OpenShardAware(const ServerOptions& options);
  void FillSupported(const ServerOptions& options);

  ServerContext context_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  network::SessionLimits limits_;
  // One for each loop.
  std::vector<std::unique_ptr<CqlSessionFactory>> factories_;
  std::vector<std::unique_ptr<network::ConnectionGroup>> groups_;
  // On the first loop.
  std::unique_ptr<Listener> cql_listener_;
  std::unique_ptr<Listener> shard_aware_listener_;
  uint32_t next_group_ = 0;  // of the first loop's thread
  bool runs_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_FACES_CQL_SERVER_H_
