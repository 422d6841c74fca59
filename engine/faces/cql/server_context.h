// ServerContext: what all CQL sessions of a server share. Constant while the server runs.
#ifndef LISTSTORE_ENGINE_FACES_CQL_SERVER_CONTEXT_H_
#define LISTSTORE_ENGINE_FACES_CQL_SERVER_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connected_clients.h"
#include "engine/faces/cql/login_guard.h"
#include "engine/faces/cql/long_statements.h"
#include "engine/network/client_budget.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"
#include "engine/protocol/scylla_options.h"
#include "engine/roles/authenticator.h"
#include "liststore/server_notices.h"

namespace liststore::cql_face {

// Owned by the face; read by every loop.
struct ServerContext {
  execute::RequestHandler* handler = nullptr;  // never null once connections exist
  // Where connections are listed; nullptr: nowhere.
  ConnectedClients* clients = nullptr;
  // Who is told of those that come and go; empty: nobody.
  std::function<void(const CqlConnectionNotice&)> on_connection;
  // What OPTIONS is answered with, for each shard.
  std::vector<std::vector<protocol::SupportedOption>> supported;
  // Extensions that STARTUP may choose.
  protocol::Extensions extensions;
  // Says who may log in; nullptr: everybody, without being asked.
  roles::Authenticator* authenticator = nullptr;
  // What makes guessing slow; never null where clients log in.
  std::unique_ptr<LoginGuard> logins;
  // Where it is counted what is refused; never null once connections exist.
  network::ClientCounters* counters = nullptr;
  // For what all of them hold; never null once connections exist.
  const network::ClientBudget* budget = nullptr;
  // Where statements work that take long; nullptr: on the loops.
  std::unique_ptr<LongWork> long_work;
  // Longest body of a request, as it comes and decompressed.
  uint32_t body_bytes_max = protocol::kFrameBodyBytesMax;
  // Of all statements of a batch.
  size_t batch_values_max = protocol::RequestScratch::kValuesMax;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_SERVER_CONTEXT_H_
