// CqlFace: CQL on a server's ports, in front of a RequestHandler. What CqlServer is made of beside
// the engine and the network, and what tests put in front of handlers of their own.
#ifndef LISTSTORE_ENGINE_FACES_CQL_CQL_FACE_H_
#define LISTSTORE_ENGINE_FACES_CQL_CQL_FACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connected_clients.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/faces/cql/server_context.h"
#include "engine/faces/cql/session.h"
#include "engine/network/server.h"
#include "engine/network/tls.h"

namespace liststore::cql_face {

struct CqlFaceOptions {
  std::string address = "127.0.0.1";
  uint16_t cql_port = 0;  // 0: any free one
  bool listens_shard_aware = true;
  // 0: any free one. Absent: 19042 with a fixed cql_port, if that is free, else any free one.
  std::optional<uint16_t> shard_aware_port = {};
  // nullptr: plain ports alone; outlives the server.
  const network::TlsAcceptor* tls = nullptr;
  // With `tls`. The port of TLS beside cql_port, 0: any free one. Absent: cql_port itself takes TLS,
  // and no port of CQL is plain.
  std::optional<uint16_t> tls_port = {};
  // The same beside the shard-aware port, where there is one.
  std::optional<uint16_t> tls_shard_aware_port = {};
  // SUPPORTED says what ScyllaDB's says; else what Cassandra's does.
  bool looks_like_scylla = true;
  // Of Cassandra's SUPPORTED.
  std::string cassandra_cql_version = "3.4.4";
  std::string host_id = {};  // as text, as in system.local; empty: not said
  // Says who may log in; outlives the face. nullptr: everybody, without being asked.
  roles::Authenticator* authenticator = nullptr;
  LoginLimits logins = {};
  // For statements that take long, which then keep no loop; 0: they do.
  uint32_t long_threads = 0;
  // That wait for one of these threads, of all clients; more are refused.
  size_t long_queued_max = 1024;
  // Of results of theirs without pages, all together.
  uint64_t long_result_bytes_max = UINT64_MAX / 4;
  // What large requests of theirs may take while they are dealt with, all together; others wait. Who
  // is told when one is over, by its thread, with what it may have taken, before the next one begins.
  uint64_t work_bytes_max = UINT64_MAX / 4;
  std::function<void(uint64_t bytes)> on_work_given = {};
  // Of all statements of a batch.
  size_t batch_values_max = protocol::RequestScratch::kValuesMax;
  // Where connections are listed; outlives the face. May be nullptr.
  ConnectedClients* clients = nullptr;
  // Called by loops for each that comes and goes; may be empty.
  std::function<void(const CqlConnectionNotice&)> on_connection = {};
};

// ScyllaDB's default.
inline constexpr uint16_t kShardAwarePort = 19042;

// Each loop of the server is a shard. Outlives the server.
class CqlFace {
 public:
  // Binds the ports; `server` is not started yet. `handler` and `events` outlive the server; nobody
  // else subscribes to `events` any more. Errors: Listener::Open's.
  static absl::StatusOr<std::unique_ptr<CqlFace>> Open(network::Server& server,
                                                       const CqlFaceOptions& options,
                                                       execute::RequestHandler& handler,
                                                       EventHub& events);
  CqlFace(const CqlFace&) = delete;
  CqlFace& operator=(const CqlFace&) = delete;

  // Any thread; constant.
  uint16_t cql_port() const { return cql_port_; }
  // 0: there is none.
  uint16_t shard_aware_port() const { return shard_aware_port_; }
  // Those that take TLS, which may be the same two; 0: there is none.
  uint16_t tls_port() const { return tls_port_; }
  uint16_t tls_shard_aware_port() const { return tls_shard_aware_port_; }
  // Waits for statements that take long; those that wait are dropped. When the server has stopped,
  // and before it goes. Again: nothing.
  void Stop() {
    if (context_.long_work != nullptr) context_.long_work->pool.Stop();
  }
  // Statements that took long so far, and those for which there was no room.
  uint64_t long_statements() const {
    return context_.long_work == nullptr ? 0 : context_.long_work->begun.load();
  }
  uint64_t refused_long_statements() const {
    return context_.long_work == nullptr ? 0 : context_.long_work->refused.load();
  }
  // Those that wait for a thread, and those that have one.
  size_t waiting_long_statements() const {
    return context_.long_work == nullptr ? 0 : context_.long_work->pool.queued();
  }
  size_t running_long_statements() const {
    return context_.long_work == nullptr ? 0 : context_.long_work->pool.running();
  }
  // Who has sent wrong passwords, for other faces that ask for some.
  LoginGuard& logins() const { return *context_.logins; }
  // Wrong passwords so far.
  uint64_t refused_logins() const { return context_.logins->failures(); }

 private:
  CqlFace() = default;
  absl::Status Listen(network::Server& server, const CqlFaceOptions& options);
  absl::Status ListenShardAware(network::Server& server, const CqlFaceOptions& options);
  std::vector<network::SessionFactory*> Factories() const;
  void FillSupported(const CqlFaceOptions& options);

  ServerContext context_;
  std::vector<std::unique_ptr<CqlSessionFactory>> factories_;  // one for each loop
  uint16_t cql_port_ = 0;
  uint16_t shard_aware_port_ = 0;
  uint16_t tls_port_ = 0;
  uint16_t tls_shard_aware_port_ = 0;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_CQL_FACE_H_
